"""Columns of a record that are exchanged: recognised where that explains it, and only there."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import UsageError
from basepar_core.files import loads
from basepar_core.identification.declared import declared
from basepar_core.identification.exchanges import best_order, left_by_fit, products
from basepar_core.identification.measurement import Measurement
from basepar_core.identification.observed import observe_record
from basepar_core.identification.preparation import prepare_record
from basepar_core.identification.simulated import motion_of, simulate

ARM = """\
name: arm
space: planar
gravity: [0, -9.81]
geometry:
  l1: {value: 0.3, unit: m}
  l2: {value: 0.25, unit: m}
bodies:
  upper: {mass: 2 kg, centre: [l1/2, 0], central_inertia: 0.016}
  fore: {mass: 1.2 kg, centre: [l2/2, 0], central_inertia: 0.007}
joints:
  shoulder: {type: revolute, connects: [ground, upper], at: [[0, 0], [0, 0]]}
  elbow: {type: revolute, connects: [upper, fore], at: [[l1, 0], [0, 0]]}
coordinates: [shoulder, elbow]
friction: {shoulder: {viscous: 0.2, coulomb: 0.3}, elbow: {viscous: 0.1, coulomb: 0.15}}
noise: {shoulder: 0.05 N*m, elbow: 0.05 N*m}
excitation: {kind: fourier, harmonics: 5, base_frequency: 0.2 Hz, samples: 600, seed: 2,
  amplitude: {shoulder: 60 deg, elbow: 70 deg}}
"""
#: What a record is identified with: the file itself; without values of its friction; with masses
#: wrong by half; without inertias.
NO_VALUES = ARM.replace("{viscous: 0.2, coulomb: 0.3}", "[viscous, coulomb]").replace(
    "{viscous: 0.1, coulomb: 0.15}", "[viscous, coulomb]"
)
ROUGH = NO_VALUES.replace("mass: 2 kg", "mass: 4 kg").replace("mass: 1.2 kg", "mass: 0.7 kg")
NONE = "\n".join(
    line.split("{")[0] + "{}" if line.startswith(("  upper:", "  fore:")) else line
    for line in NO_VALUES.splitlines()
)
FILES = {"exact": ARM, "no values": NO_VALUES, "rough": ROUGH, "no inertias": NONE}
WAYS = {
    "torques": ("tau.shoulder=tau.elbow,tau.elbow=tau.shoulder", False, True),
    "positions": ("shoulder=elbow,elbow=shoulder", True, False),
    "joints": (
        "shoulder=elbow,tau.shoulder=tau.elbow,elbow=shoulder,tau.elbow=tau.shoulder",
        True,
        True,
    ),
}


def record_of(text_or_name: str, seed: int = 1) -> Measurement:
    """The excitation with noise, and titles as of a CSV file."""
    made = prepare(loads(text_or_name) if "\n" in text_or_name else load(text_or_name))
    mechanism = made.mechanism
    columns = declared(mechanism, ["friction"]) if "\n" in text_or_name else ()
    motion = motion_of(made, "excitation")
    names = mechanism.coordinates
    noise = np.full(len(names), 0.05)
    found = simulate(made, motion, noise, 0 * noise, columns, seed)
    titles = {title: title for name in names for title in (name, f"tau.{name}")}
    return replace(found, titles={"t": "t", **titles})


def exchanged(record: Measurement, positions: bool, torques: bool) -> Measurement:
    """The last two titles of positions, torques or both exchanged."""
    order = [*range(len(record.tau) - 2), len(record.tau) - 1, len(record.tau) - 2]
    found = replace(record, q=record.q[order]) if positions else record
    return replace(found, tau=record.tau[order]) if torques else found


def notes(text: str, record: Measurement, friction: bool = True):
    model = prepare(loads(text) if "\n" in text else load(text))
    friction = friction and "\n" in text
    columns = declared(model.mechanism, ["friction"]) if friction else ()
    return observe_record(model, record, prepare_record(model, record), columns)[1]


@pytest.fixture(scope="module")
def run():
    return record_of(ARM)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", FILES)
def test_exchanged_columns_are_recognised(run, file, way):
    given, *kinds = WAYS[way]
    (note,) = notes(FILES[file], exchanged(run, *kinds))
    assert note.kind == "exchanged"
    assert note.text.endswith(f"exchange their titles, or give `columns={given}`")
    by_file = "the file's inertias give the measured torque (correlation" in note.text
    assert by_file != (file == "no inertias")
    assert by_file or "least squares leave" in note.text


@pytest.mark.parametrize("file", FILES)
def test_a_record_in_order_has_no_note(run, file):
    assert notes(FILES[file], run) == ()
    assert notes(FILES[file], run, friction=False) == ()


def test_the_record_keeps_other_titles(run):
    """The remedy is complete: titles that were assigned before stay so."""
    titles = {**run.titles, "shoulder": "q1", "tau.shoulder": "T1", "tau.elbow": "T2"}
    (note,) = notes(ARM, replace(exchanged(run, False, True), titles=titles))
    assert note.text.endswith("`columns=shoulder=q1,tau.shoulder=T2,tau.elbow=T1`")
    (note,) = notes(ARM, replace(exchanged(run, False, True), titles={}))
    assert note.text.endswith("of a log in its `mapping=FILE`)")


def test_two_small_torques_of_many():
    """The wrist of seven joints: overall the torque is explained all the same."""
    (note,) = notes("panda", exchanged(record_of("panda"), False, True))
    assert note.kind == "exchanged"
    assert note.text.startswith("with tau.q6 and tau.q7 exchanged the file's inertias")


def test_positions_that_cannot_be_followed():
    record = exchanged(record_of("five-bar"), True, False)
    with pytest.raises(
        UsageError, match=r"Exchanged: with A and E exchanged .* cannot be followed"
    ):
        notes("five-bar", record)


def test_a_sign_without_inertias(run):
    """Which of two torques it is nothing tells without inertias; rough ones do."""
    for file, named in ((NONE, ("shoulder", "elbow")), (ROUGH, ("elbow",))):
        (note,) = notes(file, replace(run, tau=run.tau * [[1], [-1]]))
        assert note.kind == "sign"
        assert "negate that column, or all other torques" in note.text
        assert note.text.startswith(tuple(f"with the sign of tau.{name} " for name in named))


def test_wrenches_and_coupled_motors_are_left_alone(run):
    """Their joint torques are no columns of the record."""
    model = prepare(loads(NONE))
    wrong = exchanged(run, False, True)
    ready = replace(prepare_record(model, wrong), motor_to_joint=np.eye(2))
    columns = declared(model.mechanism, ["friction"])
    assert observe_record(model, wrong, ready, columns)[1] == ()


def test_three_torques_in_another_order():
    """By correlation any order is found; one that is as good as it stands is kept."""
    noise = np.random.default_rng(3).standard_normal
    foretold = noise((4, 200)) * np.array([[9.0], [5.0], [3.0], [1.0]])
    nothing = np.zeros((200, 4, 0))
    order = [1, 2, 0, 3]
    measured = np.empty_like(foretold)
    measured[order] = foretold  # column order[k] holds the torque of k
    measured += 0.05 * noise((4, 200))
    assert best_order(products(measured, foretold, nothing)) == tuple(order)
    measured[order[:3]] = measured[order[0]] + 0.01 * noise((3, 200))
    foretold[:3] = foretold[0]
    assert best_order(products(measured, foretold, nothing)) == (0, 1, 2, 3)


def test_what_least_squares_leave_does_not_see_sizes():
    """Every coordinate's residual counts as a share of its own torque."""
    noise = np.random.default_rng(4).standard_normal
    W, tau = noise((100, 2, 3)), noise((2, 100))
    W[:, 0, 2] = W[:, 1, :2] = 0  # so that scaling rows of a coordinate scales its own columns
    sizes = np.array([100.0, 0.01])
    plain = left_by_fit(W, tau)
    shares = [
        np.linalg.lstsq(W[:, k, own], row, rcond=None)[1][0] / (row @ row)
        for k, (row, own) in enumerate(zip(tau, ([0, 1], [2]), strict=True))
    ]
    assert plain == pytest.approx(np.sqrt(np.mean(shares)), rel=1e-12)
    scaled = left_by_fit(W * sizes[:, None], tau * sizes[:, None])
    assert scaled == pytest.approx(plain, rel=1e-12)
