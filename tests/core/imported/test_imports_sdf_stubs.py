"""Rods and stubs of SDF, by the rules that all formats share, against Pinocchio's own joints.

A crank, a rod and a rocker in space; all joints of an SDF file are at zero where its links are.
"""

import numpy as np
import pytest

import basepar
from basepar_core.dynamics import Motion, observe
from basepar_core.imported import read_file
from tests.campaigns.pinocchio_engine import rod_axes
from tests.core.imported.test_imports_sdf import INERTIAL, inertia, row, se3, written
from tests.oracles.constrained_tree import ConstrainedTree
from tests.oracles.engine import rank

pin = pytest.importorskip("pinocchio")

#: Where links are: xyz, rpy. The rod lies across the crank by a right angle, which a ball's zero
#: keeps exactly.
PLACES = {
    "crank": (0, 0, 0, 0, 0, 0),
    "rod": (0.2, 0, 0.05, np.pi / 2, 0, 0),
    "rocker": (0.8, 0.1, 0, 0.3, 0.2, 0),
}
#: Where rod and rocker meet, in the rod's frame.
END = (0.55, 0.1, -0.35)
NOTHING = "".join(f"<{key}>0</{key}>" for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
STUB = f"<inertial><mass>0</mass><inertia>{NOTHING}</inertia></inertial>"
AXES = {"x": (1.0, 0, 0), "y": (0, 1.0, 0), "z": (0, 0, 1.0), "skew": (0, 1.0, 0.1)}


def place(link):
    return se3(*PLACES[link])


def joint(name, kind, parent, child, axis=None, at=(0, 0, 0)):
    turn = "" if axis is None else f"<axis><xyz>{row(AXES[axis])}</xyz></axis>"
    return (
        f'<joint name="{name}" type="{kind}"><pose>{row(at)} 0 0 0</pose>'
        f"<parent>{parent}</parent><child>{child}</child>{turn}</joint>"
    )


def robot(axes, strut=False):
    """Between crank and rod stand hinges about axes of the rod, with stubs between; or a ball. Of
    a strut the rod's end is a piston that slides in it."""
    stubs = [f"stub{k}" for k in range(1, len(axes))]
    links = "".join(
        f'<link name="{name}"><pose>{row(map(float, at))}</pose>{INERTIAL}</link>'
        for name, at in PLACES.items()
    )
    links += "".join(
        f'<link name="{stub}"><pose>{row(map(float, PLACES["rod"]))}</pose>{STUB}</link>'
        for stub in stubs
    )
    chain = ["crank", *stubs, "rod"]
    row_ = [
        joint(f"j{k}", "revolute", *chain[k : k + 2], axis) for k, axis in enumerate(axes)
    ] or [joint("B", "ball", "crank", "rod")]
    if strut:
        links += (
            f'<link name="piston"><pose>{row(map(float, PLACES["rod"]))}</pose>{INERTIAL}</link>'
        )
        row_.append(joint("S", "prismatic", "rod", "piston", "x"))
    at = (place("rocker").inverse() * place("rod")).act(np.array(END)).tolist()
    return (
        f'<sdf version="1.9"><model name="linkage"><link name="base"/>'
        f"{joint('mount', 'fixed', 'world', 'base')}{links}"
        f"{joint('A', 'revolute', 'base', 'crank', 'z')}"
        f"{joint('C', 'revolute', 'base', 'rocker', 'z')}{''.join(row_)}"
        f"{joint('E', 'ball', 'piston' if strut else 'rod', 'rocker', at=at)}</model></sdf>"
    )


def by_hand(names, axes, strut=False):
    """The tree with hinges of these names about these axes of the rod."""
    model, still = pin.Model(), pin.SE3.Identity()
    model.gravity.linear = np.array([0, 0, -9.8])
    crank = model.addJoint(0, pin.JointModelRZ(), place("crank"), "A")
    model.appendBodyToJoint(crank, inertia(), still)
    last, at = crank, place("crank").actInv(place("rod"))
    for name, axis in zip(names, axes, strict=True):
        axis = np.array(axis) / np.linalg.norm(axis)
        last, at = model.addJoint(last, pin.JointModelRevoluteUnaligned(axis), at, name), still
    model.appendBodyToJoint(last, inertia(), still)
    if strut:
        last = model.addJoint(last, pin.JointModelPX(), still, "S")
        model.appendBodyToJoint(last, inertia(), still)
    rocker = model.addJoint(0, pin.JointModelRZ(), place("rocker"), "C")
    model.appendBodyToJoint(rocker, inertia(), still)
    end = pin.SE3(np.eye(3), np.array(END))
    met = place("rocker").actInv(place("rod")) * end
    return ConstrainedTree(model, [((last, end), (rocker, met), 3)])


def assert_same(found, oracle, values, far=0.05):
    """Freedoms, torques and count; values of ours by the oracle's joints."""
    it, names = found.mechanism, list(found.mechanism.coordinates)
    model, rng = basepar.Model(it), np.random.default_rng(4)
    theirs = {ours: joint for joint, ours in values.items()}
    phi, rows = it.inertial_parameters(it.nominal), []
    for _ in range(30):
        q = model.assembly + rng.uniform(-far, far, len(names))
        closed = model.close(q, outside="raise")
        state = oracle.configuration({joint: float(closed[x]) for joint, x in values.items()})
        assert oracle.gap(state) < 1e-11
        assert oracle.freedoms(state) == len(names)
        rates, accelerations = rng.uniform(-1, 1, (2, len(names)))
        motion = Motion(np.zeros(1), q[:, None], rates[:, None], accelerations[:, None])
        ours = observe(model.prepared, {}, motion).W[0, 0] @ phi
        state_of = state, [theirs[name] for name in names], rates, accelerations
        # N by matrices of condition below a hundred, a loop closed to 1e-12.
        np.testing.assert_allclose(ours, oracle.torque(*state_of), rtol=1e-9, atol=1e-10)
        rows.append(oracle.regressor(*state_of))
    assert model.base(route="numeric").rank == rank(np.vstack(rows))[0]  # of 30 states


@pytest.mark.parametrize("axes", [(), ("x", "y", "z")], ids=["ball", "hinges"])
def test_a_rod_turns_by_a_hinge_of_its_own(tmp_path, axes):
    """Decision 138; three hinges over stubs are a ball before that (decision 176)."""
    found = read_file(written(tmp_path, robot(axes)))
    name = "j0_j1_j2" if axes else "B"
    assert found.failure is None
    assert list(found.mechanism.coordinates) == ["A", f"{name}_along"]
    assert any("holds a rod between two balls" in note for note in found.notes)
    massless = [body.name for body in found.mechanism.bodies if body.form == "massless"]
    assert massless == ["rod_along"]
    turns = rod_axes(found.text)[name]
    np.testing.assert_allclose(turns[2], np.array(END) / np.linalg.norm(END), atol=1e-13)
    values = {"A": "A", "C": "C"} | {
        word: f"{name}_{word}" for word in ("across.1", "across.2", "along")
    }
    assert_same(found, by_hand(list(values)[2:], turns), values)


def test_stubs_are_a_universal_joint(tmp_path):
    found = read_file(written(tmp_path, robot(("y", "x"))))
    assert [body.name for body in found.mechanism.bodies] == list(PLACES)
    kinds = {joint.name: joint.type for joint in found.mechanism.joints}
    assert kinds == {"A": "revolute", "C": "revolute", "j0_j1": "universal", "E": "spherical"}
    values = {"A": "A", "C": "C", "j0": "j0_j1.1", "j1": "j0_j1.2"}
    assert_same(found, by_hand(["j0", "j1"], [AXES["y"], AXES["x"]]), values, 0.4)


def test_stubs_that_are_no_one_joint_stay_and_do_not_count(tmp_path):
    """Axes that are not at right angles."""
    found = read_file(written(tmp_path, robot(("skew", "z"))))
    (stub,) = (body for body in found.mechanism.bodies if body.form == "massless")
    assert stub.name == "stub1"
    assert any("their parameters do not count: stub1" in note for note in found.notes)
    values = {"A": "A", "C": "C", "j0": "j0", "j1": "j1"}
    assert_same(found, by_hand(["j0", "j1"], [AXES["skew"], AXES["z"]]), values, 0.4)


def test_a_strut_keeps_its_hinges(tmp_path):
    """It spins about the line of its ends, which moves in both its bodies: no hinge of its own,
    and a ball's values are coordinates together or not at all."""
    found = read_file(written(tmp_path, robot(("x", "y", "z"), strut=True)))
    assert found.failure is None
    assert len(found.mechanism.coordinates) == 3
    assert {"j0", "j1", "j2"} & set(found.mechanism.coordinates)
    assert any("stay bodies without mass" in note for note in found.notes)
    values = {name: name for name in ("A", "C", "j0", "j1", "j2", "S")}
    oracle = by_hand(["j0", "j1", "j2"], [AXES[axis] for axis in "xyz"], strut=True)
    assert_same(found, oracle, values)


def test_a_link_without_inertial_is_no_stub(tmp_path):
    """SDF gives it 1 kg."""
    text = robot(("y", "x"))
    assert text.count(STUB) == 1
    found = read_file(written(tmp_path, text.replace(STUB, "")))
    assert "stub1" in [body.name for body in found.mechanism.bodies]
    assert all(body.form != "massless" for body in found.mechanism.bodies)
