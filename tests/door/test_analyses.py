"""Reduce, identify, excite and one_dof from Python: as the commands, and as mechanics says."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest

import basepar
from workflows import jobs
from workflows.cli.main import main


@pytest.fixture
def command(capsys):
    """What a command prints with --json."""

    def run(*words):
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(scope="module")
def model():
    return basepar.load("four-bar")


def swing(model, count=801):
    """A crank that swings, and the torque that Lagrange's equation gives it by differences."""
    t = np.linspace(0.0, 4.0, count)
    q = 0.6 + 0.5 * np.sin(3 * t) + 0.2 * np.cos(5 * t)
    qd = 1.5 * np.cos(3 * t) - np.sin(5 * t)
    qdd = -4.5 * np.sin(3 * t) - 5 * np.cos(5 * t)
    phi = model.phi()
    h = 1e-5

    def energy(at, rate):
        return model.energy_regressor(at[:, None], rate[:, None]) @ phi

    # With E = ½ m q̇² + V: τ q̇ = dE/dt. Rates by differences along the motion itself.
    def along(shift):
        return q + shift * qd + shift**2 / 2 * qdd, qd + shift * qdd

    power = (energy(*along(h)) - energy(*along(-h))) / (2 * h)
    return t, q, qd, qdd, power / np.where(np.abs(qd) < 0.05, np.nan, qd)


def test_reduction_is_the_command_s(model, command):
    found = basepar.reduce(model, tolerance=0.05, criteria=["tolerance", "bic"])
    told = command("reduce", "four-bar", "--tolerance", "0.05", "--criteria", "tolerance,bic")
    assert json.loads(json.dumps(found.document())) == told
    assert found.sizes == {name: one["size"] for name, one in told["selected"].items()}
    table = found.to_dataframe()
    assert list(table["size"]) == [one["size"] for one in told["steps"]]
    assert table["bic"].idxmin() == len(table) - 1 - found.sizes["bic"]


def test_a_reduced_model_s_torque_is_as_wrong_as_it_says(model):
    """Least squares by hand on the cycle, with the columns that the reduction kept."""
    found = basepar.reduce(model, criteria=["tolerance"], tolerance=0.2)
    base = model.base()
    motion = np.linspace(0, 2 * np.pi, 129)[:-1] + model.assembly[0]
    W = model.regressor(motion[:, None], [2 * np.pi * 0.999493], [0.0])
    tau = W @ model.phi()
    kept = [base.columns[base.names.index(name)] for name in found.parameters("tolerance")]
    fitted, *_ = np.linalg.lstsq(W[:, 0, kept], tau[:, 0], rcond=None)
    error = np.linalg.norm(tau[:, 0] - W[:, 0, kept] @ fitted) / np.linalg.norm(tau)
    # 6.28 rad/s in the file, and samples of the same turn: the quadrature differs by nothing,
    # the speed's last digits by less than a percent of the error.
    assert found.torque_errors["tolerance"] == pytest.approx(error, rel=1e-2)


def test_identified_parameters_are_the_file_s(model):
    """Torque from energy differences, not from W: what is identified from it is φ_b."""
    t, q, qd, qdd, tau = swing(model)
    frame = pd.DataFrame({"t": t, "A": q, "A'": qd, "A''": qdd, "tau.A": tau})
    found = basepar.identify(model, frame)
    expected = dict(zip(model.base().names, model.base().base_parameters(), strict=True))
    size = max(map(abs, expected.values()))
    # Central differences of 1e-5 s err by 1e-9 of the torque; conditioning takes three digits.
    assert found.values == pytest.approx(expected, rel=1e-4, abs=1e-5 * size)
    assert found.relative_error < 1e-6
    assert set(found.to_dataframe().columns) >= {"unit", "value", "deviation", "file"}


def test_a_table_and_its_file_say_the_same(model, command, tmp_path):
    t, q, _, _, tau = swing(model)
    frame = pd.DataFrame({"t": t, "A [deg]": np.degrees(q), "tau.A": tau})
    path = tmp_path / "run.csv"
    frame.to_csv(path, index=False)
    found = basepar.identify(model, frame).document()
    told = command("identify", "four-bar", str(path))
    for of in (found, told):
        del of["record"]
    assert json.loads(json.dumps(found)) == told


def test_tables_that_are_no_records(model):
    with pytest.raises(basepar.FileError, match="columns are of one length"):
        basepar.identify(model, {"t": [0, 1, 2], "A": [0, 1], "tau.A": [0, 1, 2]})
    with pytest.raises(basepar.FileError, match=r"has no column tau\.A"):
        basepar.identify(model, {"t": [0, 1, 2], "A": [0, 1, 2]})
    with pytest.raises(basepar.UsageError, match="Q cannot be limited; known are A, B, C, D"):
        basepar.excite(model, range={"Q": (0, 1)})


@pytest.mark.slow
def test_an_exciting_motion_keeps_its_limits(model, command, tmp_path):
    found = basepar.excite(model, speed={"A": 2.0}, range={"D": (-1.45, -1.1)}, random=4, starts=1)
    assert np.abs(found.qd).max() <= 2.0
    D = model.close(found.q)["D"]
    assert D.min() >= -1.45
    assert D.max() <= -1.1
    W = model.regressor(found.q, found.qd, found.qdd)[:, 0, model.base().columns]
    by_hand = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert found.condition == pytest.approx(by_hand, rel=1e-6)
    words = ["--speed", "A=2.0", "--range", "D=-1.45:-1.1", "--random", "4", "--starts", "1"]
    assert json.loads(json.dumps(found.document())) == command("excite", "four-bar", *words)
    again = basepar.load(found.write(tmp_path / "exciting.yaml"))
    assert again.name == "four-bar"


def test_reduced_inertia_is_twice_the_kinetic_energy(model):
    """m(q) and V(q) against the energy regressor at unit speed."""
    found = basepar.one_dof(model)
    phi, rest = model.phi(), [0.0]
    q = found.q[:, None]
    V = model.energy_regressor(q, rest) @ phi
    m = 2 * (model.energy_regressor(q, [1.0]) @ phi - V)
    # Curves pass through samples, and are held to 1e-8 of their range between them.
    assert np.abs(found.m - m).max() < 1e-7 * np.ptp(m)
    inertia, slope, potential = found.at(found.q[5:9])
    assert np.abs(inertia - m[5:9]).max() < 1e-7 * np.ptp(m)
    assert np.abs(np.diff(potential) - np.diff(V[5:9])).max() < 1e-7 * np.ptp(V)
    assert slope == pytest.approx(found.potential_slope[5:9])
    assert len(found.to_dataframe()) == found.q.size


@pytest.mark.slow
def test_one_dof_is_the_command_s(command):
    found = basepar.one_dof("dwell", force="S:rocker:y", dwell=["Q"])
    told = command("onedof", "dwell", "--force", "S:rocker:y", "--dwell", "Q")
    assert json.loads(json.dumps(found.document())) == told
    assert found.regime == told["regime"]["measures"]
    closed = found.at(found.q[[3, 4]] + 2 * np.pi)
    assert closed == pytest.approx(found.at(found.q[[3, 4]]))


def test_what_one_dof_rejects():
    with pytest.raises(basepar.UsageError, match=r"`period=` is -1 s; it must be positive"):
        basepar.one_dof("dwell", period=-1.0)
    with pytest.raises(basepar.UsageError, match="no joint value 'X'"):
        basepar.one_dof("dwell", dwell="X")
    with pytest.raises(basepar.UsageError, match="not asked for"):
        basepar.reduce("four-bar", criteria=["bic"]).parameters("aic")
    open_way = basepar.one_dof("four-bar", range=(0.3, 0.9))
    with pytest.raises(basepar.UsageError, match="1 of 2 places lie outside the motion"):
        open_way.at([0.5, 2.0])


@pytest.mark.parametrize(
    ("ours", "shared"),
    [
        (basepar.reduce, jobs.reduced),
        (basepar.reduce, jobs.reduced_to_record),
        (basepar.identify, jobs.identified),
        (basepar.excite, jobs.excited),
        (basepar.one_dof, jobs.one_dof),
    ],
)
def test_defaults_are_the_command_s(ours, shared):
    """What both name has one default; names of joint values may be a word, a list or nothing."""
    here, there = inspect.signature(ours).parameters, inspect.signature(shared).parameters
    both = (here.keys() & there.keys()) - {"model", "data", "dwell"}
    assert both
    assert {n: here[n].default for n in both} == {n: there[n].default for n in both}


@pytest.mark.slow
def test_an_excitation_of_other_values_is_written_as_samples(tmp_path):
    """No file states them, and a file with the old ones would be another mechanism's."""
    found = basepar.excite(basepar.load("four-bar", {"lx1": 0.31}), random=2, starts=1)
    with pytest.raises(basepar.UsageError, match=r"No file states 'four-bar at lx1 = 0\.31 m'"):
        found.write(tmp_path / "exciting.yaml")
    assert found.write(tmp_path / "exciting.csv").is_file()
