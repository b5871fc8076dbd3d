"""Mechanisms written in every dialect and read back: the same torque."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.api import changed, load
from basepar_core.dynamics import Model, Motion, at_geometry, observe_alone, prepare
from basepar_core.errors import MechanismError, UsageError
from basepar_core.files import loads
from basepar_core.imported import read_file
from basepar_core.mechanism import joint_type
from tests.core.dynamics.test_couplings import DIFFERENTIAL
from workflows.robots import DIALECTS, exported, robot_file

ENDINGS = {"mjcf": ".xml", "sdf": ".sdf"}
#: Importers meet directions and rotations to 1e-13 rad; loops lose up to a digit by it.
SHARE = 1e-12


def torques(model: Model, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """W φ (sample, coordinate) at states (coordinate, sample)."""
    seen = observe_alone(model, Motion(np.arange(float(q.shape[1])), q, *rates))
    assert seen.closed.all()
    return seen.W[0] @ model.mechanism.inertial_parameters(model.mechanism.nominal)


def read_back(model: Model, dialect: str, folder) -> tuple[Model, np.ndarray]:
    """The file's own mechanism with the same coordinates, and where these are zero in ours."""
    path = folder / f"robot{ENDINGS.get(dialect, '.urdf')}"
    exported(model, path, dialect).write(path)
    found = read_file(path).mechanism
    known = {value for joint in found.joints for value in joint.values}
    called = []
    for name in model.mechanism.coordinates:
        joint, _, place = name.partition(".")
        body = model.mechanism.value(name).joint.bodies[1]
        plain = f"{joint}_{place}"  # a slide and a turn are one joint again, named for the turn
        words = (name, plain, f"{plain}.{place}", f"{body}_base.{place}")
        called.append(next(word for word in words if word in known))
    found = replace(found, coordinates=tuple(called), actuated=(), excitation=None)
    graph, it = model.topology, model.mechanism
    counted = bool(graph.cuts or (graph.couplings and dialect in ENDINGS))
    zeros = model.assembled.coordinates * counted
    for k, name in enumerate(it.coordinates):  # MJCF and SDF place what floats as assembled
        if joint_type(it.value(name).joint.type).is_free:
            zeros[k] = model.assembled.coordinates[k] * (dialect in ENDINGS)
    return prepare(found), zeros


def errors(model: Model, dialect: str, folder) -> tuple[np.ndarray, np.ndarray]:
    """Torques of a mechanism and of what is read back, at random states near its assembly."""
    rng, start = np.random.default_rng(3), model.assembled.coordinates[:, None]
    lengths = [model.mechanism.value(name).is_length for name in model.mechanism.coordinates]
    reach = np.where(lengths, 0.02, 0.1)[:, None]  # m, rad: within reach of every assembly here
    q = start + reach * rng.uniform(-1, 1, (len(start), 4))
    rates = rng.uniform(-1, 1, (2, *q.shape))
    again, zeros = read_back(model, dialect, folder)
    return torques(model, q, rates), torques(again, q - zeros[:, None], rates)


def assert_same(model: Model, dialect: str, folder, share: float = SHARE) -> None:
    ours, theirs = errors(model, dialect, folder)
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=share * np.abs(ours).max())


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        *(("four-bar", one) for one in DIALECTS if one != "urdf"),
        *(("ur10", one) for one in ("urdf", "mjcf", "sdf")),
        ("gripper", "urdf"),  # mimic
        ("gripper", "mjcf"),
        ("planetary-gear", "mjcf"),  # couplings of three values
        ("planetary-gear", "urdf"),  # solved for the sun's angle
        ("quadruped", "urdf"),
        ("quadruped", "sdf"),
        ("rsur", "mjcf"),  # universal, spherical: skew axes
        ("rsur", "urdf+"),
        ("rsur", "sdf"),
        ("rsur", "extended"),  # a universal joint in the tree, a pin held by a link without mass
        ("rssr", "sdf"),
        ("whitworth", "urdf+"),  # a pin in a slot: two joints
        ("screw-jack", "sdf"),
    ],
)
def test_round_trips(name, dialect, tmp_path):
    assert_same(prepare(load(name)), dialect, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        *((one, "urdf+") for one in ("sla-suspension", "stewart-gough", "3-rps", "slider-crank")),
        *((one, "mjcf") for one in ("sla-suspension", "stewart-gough", "3-rps", "slider-crank")),
        *((one, "sdf") for one in ("sla-suspension", "stewart-gough", "3-rps", "slider-crank")),
        *((one, "extended") for one in ("sla-suspension", "stewart-gough", "3-rps")),
    ],
)
def test_round_trips_of_large_ones(name, dialect, tmp_path):
    assert_same(prepare(load(name)), dialect, tmp_path)


def test_other_values_are_written(tmp_path):
    model = prepare(load("four-bar"))
    other = at_geometry(model, changed(model.mechanism, {"lx1": "0.25", "Dx": "0.9"}))
    assert_same(other, "mjcf", tmp_path)
    assert robot_file(other, "mjcf").text != robot_file(model, "mjcf").text


def test_parameters_take_the_place_of_the_files():
    model = prepare(load("four-bar"))
    phi = {"crank.m": 2.0, "crank.mx": 0.5, "crank.my": -0.25, "crank.J": 0.4}
    text = robot_file(model, "urdf+", phi).text
    assert '<joint name="A" type="continuous" independent="true">' in text
    assert '<joint name="B" type="continuous" independent="false">' in text
    assert '<origin xyz="0.25 -0.125 0" />' in text
    # J less m c²: 0.4 − 2 (0.25² + 0.125²), which binary fractions have to a rounding.
    assert 'ixx="0.24375' in text


THREE = """
name: belts
space: spatial
gravity: [0, -9.81, 0]
bodies:
  one: {mass: 1, centre: [0.1, 0, 0], central_inertia: [0.01, 0, 0, 0.02, 0, 0.03]}
  two: {mass: 2, centre: [0.1, 0.1, 0], central_inertia: [0.01, 0, 0, 0.02, 0, 0.03]}
  three: {mass: 3, centre: [0, 0.1, 0], central_inertia: [0.01, 0, 0, 0.02, 0, 0.03]}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[0.3, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [ground, three], at: [[1, 0, 0], [0, 0, 0]]}
couplings: {belt: {values: {A: BY, B: 2, C: -3}}}
coordinates: [A, C]
assembly: {A: 0.2, C: 0.1}
"""


def belts(by: str) -> Model:
    """Three bodies, of which the angles of two in series, weighed, go with that of the third."""
    return prepare(loads(THREE.replace("BY", by)))


@pytest.mark.parametrize("dialect", ["urdf+", "mjcf"])
def test_couplings_of_three_values(dialect, tmp_path):
    """URDF+ has sums of values on the ways to two links: 2 (A + B) = 3 C."""
    assert_same(belts("2"), dialect, tmp_path)
    text = robot_file(belts("2"), "urdf+").text
    assert '<ratio value="0.6666666666666666" />' in text


def test_what_a_dialect_lacks_is_named_with_those_that_have_it():
    with pytest.raises(MechanismError, match=r"coupling belt of 3 values \(A, B, C\).*as mjcf"):
        robot_file(belts("5"), "urdf+")  # 5 A + 2 B is no sum
    with pytest.raises(MechanismError, match=r"joint D, which closes a loop.*urdf\+ or"):
        robot_file(prepare(load("four-bar")), "urdf")
    # Solved for the cage's and the spider's angle, rows are other ones than the file's.
    inertia = "{mass: 1, centre: [0, 0, 0], central_inertia: [1, 0, 0, 1, 0, 1]}"
    geared = prepare(loads(DIFFERENTIAL.replace("{}", inertia)))
    for dialect in ("urdf", "urdf+", "extended"):
        with pytest.raises(
            MechanismError,
            match=r"left_mesh of 3 values \(L, D, S\); .* right_mesh of 3 values \(R, D, S\)",
        ):
            robot_file(geared, dialect)
    with pytest.raises(UsageError, match="no dialect 'dae'"):
        robot_file(belts("2"), "dae")
