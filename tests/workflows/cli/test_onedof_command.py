"""basepar onedof and basepar reproduce eksergian."""

import json
import re

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.metrics import regimes
from basepar_core.single_dof import machines, survey
from workflows.cli.main import main
from workflows.drawing.single_dof import curves_figure
from workflows.views.single_dof import show


@pytest.mark.slow
def test_dwell_as_json(capsys):
    words = ["--force", "S:rocker:y", "--dwell", "Q:0.01", "--dwell", "S", "--json"]
    assert main(["onedof", "dwell", *words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["coordinate"] == "A"
    assert said["range"]["closed"]
    assert said["regime"]["state"] == "turning"
    measures = said["regime"]["measures"]
    # The reference regime, printed to 12 digits; ours is asked for 1e-7 of the speed's range.
    assert said["errors"]["accurate"]
    assert said["regime"]["accurate"]
    assert measures["period"] == pytest.approx(0.26956803624, rel=1e-6)
    assert measures["reaction_peak(S,rocker,y)"] == pytest.approx(150.4988872, rel=1e-4)
    # Called as in sweeps, and in the same units.
    known = regimes.known(load("dwell"))
    assert {name: known[name].unit for name in measures} == said["regime"]["units"]
    # Reactions of a joint that is followed: what stands still is no curve of rounding.
    assert (said["samples"], said["errors"]["curves"] < 1e-10) == (256, True)
    for name, band in (("Q", 0.01), ("S", None)):
        values = np.array(said["joints"][name]["values"])
        found = said["dwells"][name]
        band = band or 0.01 * np.ptp(values)  # between its 180 places, to second order
        assert found["band"] == pytest.approx(band, rel=2e-4)
        twice = np.append(values[:-1], values + values[-1] - values[0])
        longest = max(
            count
            for start in range(180)
            for count in range(1, 181)
            if np.ptp(twice[start : start + count]) <= band
        )
        step = np.radians(2)
        assert (longest - 1) * step <= found["stretch"] < (longest + 1) * step
        assert sum(b - a for a, b in found["where"]) == pytest.approx(found["stretch"], abs=step)
        assert measures[f"dwell({name})"] == pytest.approx(found["stretch"], abs=step / 4)
    assert len(said["curves"]["q"]) == len(said["reactions"][0]["m_e1"])


@pytest.mark.slow
def test_bicycle_needs_its_speed(capsys, tmp_path):
    assert main(["onedof", "bicycle"]) == 0
    assert "--period" in capsys.readouterr().out
    assert main(["onedof", "bicycle", "--speed", "0.1"]) == 0
    assert "stalled: started at the given speed" in capsys.readouterr().out
    table = tmp_path / "bicycle.csv"
    assert main(["onedof", "bicycle", "--period", "1", "-o", str(table)]) == 0
    lines = table.read_text().splitlines()
    assert lines[0] == (
        "q [rad],t [s],speed [rad/s],acceleration [rad/s^2],m [kg*m^2],m_prime [kg*m^2/rad],"
        "potential_slope [N*m],potential [J],hip_1 [rad],hip_2 [rad]"
    )
    q, _, w, a, m, slope, *_ = np.array([line.split(",") for line in lines[1:]], float).T
    assert w[0] == pytest.approx(6.2142566551, rel=1e-6)
    # d(½ m q̇²)/dq = m q̈ + ½ m′ q̇²; but where muscles jump, second differences are 1e-5 off.
    work, power = np.gradient(m * w**2 / 2, q), m * a + slope * w**2 / 2
    assert np.median(np.abs(work - power)[1:-1]) < 1e-4 * np.ptp(power)


@pytest.mark.slow
def test_from_standstill_into_the_regime(capsys, tmp_path):
    table = tmp_path / "start.csv"
    words = ["onedof", "dwell", "--moment", "A:crank", "--time", "0.3", "-o", str(table), "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    ran, steady = said["run"], said["regime"]["motion"]
    assert ran["end"] == "time"
    assert ran["t"][-1] == pytest.approx(0.3)
    assert ran["speed"][0] == ran["currents"]["drive"][0] == 0
    # A turn multiplies deviations by 1e-9: what the second one does is the regime.
    later = [(q - 2 * np.pi, w) for q, w in zip(ran["q"], ran["speed"], strict=True) if q > 6.3]
    q, speed = np.array(later).T
    np.testing.assert_allclose(np.interp(q, steady["q"], steady["speed"]), speed, rtol=1e-5)
    # The crank's own bearing transmits the motor's moment too.
    moment = np.array(steady["reactions"]["moment A:crank:z"])
    flow = np.array(steady["currents"]["drive"])
    np.testing.assert_allclose(moment, 0.064 * 8 * flow, atol=1e-9)
    header, first = table.read_text().splitlines()[:2]
    assert header.startswith("q [rad],t [s],speed [rad/s],current drive [A],m [kg*m^2],")
    assert [float(x) for x in first.split(",")[:4]] == [0, 0, 0, 0]


@pytest.mark.slow
def test_a_range_and_its_drawing(capsys, tmp_path):
    picture = tmp_path / "p.png"
    assert main(["onedof", "parallelogram", "-o", str(picture)]) == 0
    assert "dead points at" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000
    table = tmp_path / "part.csv"
    words = ["--range", "-30deg", "60deg", "--force", "A:crank:x", "-o", str(table), "--json"]
    assert main(["onedof", "four-bar", *words]) == 0
    said = json.loads(capsys.readouterr().out)
    # Without a steady turn a force is what it is made of, in the table too.
    parts = np.genfromtxt(table, delimiter=",", skip_header=1)[:, -3:].T
    for name, row in zip(("m_e1", "m_e2", "at_rest"), parts, strict=True):
        np.testing.assert_allclose(row, said["reactions"][0][name], rtol=1e-11, atol=1e-11)
    assert (
        ",force A:crank:x m_e1 [N*s^2/rad],force A:crank:x m_e2 [N*s^2/rad^2],"
        in (table.read_text().splitlines()[0])
    )
    show(said)
    assert "no steady regime: a range was asked for" in capsys.readouterr().out
    ends = said["range"]["from"], said["range"]["to"]
    assert ends == pytest.approx((-np.pi / 6, np.pi / 3), rel=1e-15)
    titles = [axes.get_title(loc="left") for axes in curves_figure(said).axes]
    assert titles[2:] == ["slope of the potential V′, N m", "joints, °"]


def test_what_is_not_accurate_is_said(capsys, monkeypatch):
    monkeypatch.setattr(machines, "MOST", 720)
    monkeypatch.setattr(survey, "MOST", 128)
    assert main(["onedof", "dwell", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["errors"]["accurate"], said["regime"]["accurate"]) == (False, False)
    assert said["errors"]["curves"] > survey.CURVE_ACCURACY
    assert said["regime"]["error"] > machines.SPEED_ACCURACY
    show(said)
    assert capsys.readouterr().out.count("not as accurate") == 2


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["five-bar"], 1, "degrees of freedom"),
        (["dwell", "--dwell", "X:1deg"], 2, "no joint value 'X'; there are A, B"),
        (["dwell", "--dwell", "Q:2mm"], 2, "is in mm, but rad is expected"),
        (["dwell", "--range", "0", "360"], 2, "is 360 rad, 57.3 turns; write 0deg 360deg"),
        (["bicycle", "--period", "0"], 2, "--period is 0 s; it must be positive"),
        (["dwell", "--time", "-1s"], 2, "--time is -1 s; it must be positive"),
        (
            ["dwell", "--range", "90deg", "180deg", "--time", "1"],
            2,
            "start at A = 0: the range go",
        ),
        (["dwell", "--range", "0", "1", "--dwell", "Q"], 2, "a range was asked for"),
        (
            ["dwell", "--range", "-1e-3", "-2e-3"],
            2,
            r"ends \(-0.002\) before it begins \(-0.001\)",
        ),
        (["dwell", "--range", "0", "1", "--period", "1"], 2, "Leave --range or --period out"),
        (["dwell", "--range", "0", "1", "--speed", "1"], 2, "Leave --range or --speed out"),
        (["bicycle", "--speed", "9", "--period", "1"], 2, "Leave one out"),
        (["rsur", "--period", "1"], 2, "neutral regimes, .* rsur has no steady regime"),
        (["dwell", "--speed", "-20"], 2, "a steady turn goes forwards"),
        (["dwell", "--speed", "3m/s"], 2, "--speed 3m/s: .* but rad/s is expected"),
        (["dwell", "--force", "S:rocker:z"], 2, "direction"),
        (["dwell", "-o", "x.bmp"], 2, "png"),
    ],
)
def test_mistakes(words, status, message, capsys):
    assert main(["onedof", *words]) == status
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.slow
def test_the_paper_again(capsys, tmp_path):
    assert main(["reproduce", "eksergian", "-o", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["reproduced"]
    assert len(said["figures"]) == 4
    assert said["counts"]["agrees"] == 15
