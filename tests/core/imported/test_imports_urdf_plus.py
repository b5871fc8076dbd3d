"""URDF+: loops and rolling couplings, against Pinocchio's tree with the same constraints.

The oracle knows the tree only (Pinocchio passes over what it does not know). A loop holds two
points together, a coupling two angles; N maps rates of coordinates to those of all joints.
"""

import numpy as np
import pytest

import basepar
from basepar_core.errors import FileError
from basepar_core.imported import read_file
from tests.core.imported.test_imports_urdf import DATA

pin = pytest.importorskip("pinocchio")
LINKAGE = (DATA / "linkage.urdf").read_text()
LINK = (
    '<link name="{name}"><inertial><origin xyz="{centre} 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial></link>'
)


class Constrained:
    """Pinocchio's tree of the linkage."""

    def __init__(self):
        self.tree = pin.buildModelFromXML(LINKAGE)
        self.data = self.tree.createData()
        place = {name: self.tree.getJointId(name) for name in "ABDR"}
        self.column = {name: self.tree.joints[k].idx_v for name, k in place.items()}
        self.ends = [
            self.tree.addFrame(
                pin.Frame(name, place[joint], pin.SE3(np.eye(3), at), pin.FrameType.OP_FRAME)
            )
            for name, joint, at in (
                ("coupler end", "B", np.array([0.6, 0, 0])),
                ("rocker end", "D", np.array([0.45, 0, 0])),
            )
        ]
        self.data = self.tree.createData()

    def state(self, values):
        """Pinocchio's configuration: a cosine and a sine of every continuous joint."""
        q = np.zeros(self.tree.nq)
        for name, value in values.items():
            k = self.tree.joints[self.tree.getJointId(name)].idx_q
            q[k : k + 2] = np.cos(value), np.sin(value)
        return q

    def rows(self, q, v):
        """Derivatives of the constraints, and what they are short of along v."""
        pin.forwardKinematics(self.tree, self.data, q, v, np.zeros(self.tree.nv))
        pin.computeJointJacobians(self.tree, self.data, q)
        pin.updateFramePlacements(self.tree, self.data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = [pin.getFrameJacobian(self.tree, self.data, k, world)[:3] for k in self.ends]
        a = [
            pin.getFrameClassicalAcceleration(self.tree, self.data, k, world).linear
            for k in self.ends
        ]
        gear = np.zeros(self.tree.nv)
        gear[self.column["A"]], gear[self.column["R"]] = 6.0, -1.0
        return np.vstack([(J[0] - J[1])[[0, 2]], gear]), np.append((a[0] - a[1])[[0, 2]], 0.0)

    def torque(self, values, rate, acceleration):
        """Of the coordinate A, and its row of the regressor."""
        q, crank = self.state(values), self.column["A"]
        C, _ = self.rows(q, np.zeros(self.tree.nv))
        others = [k for k in range(self.tree.nv) if k != crank]
        N = np.zeros(self.tree.nv)
        N[crank] = 1.0
        N[others] = -np.linalg.solve(C[:, others], C[:, crank])
        _, drift = self.rows(q, N * rate)
        a = N * acceleration
        a[others] -= np.linalg.solve(C[:, others], drift)
        tau = pin.rnea(self.tree, self.data, q, N * rate, a)
        Y = pin.computeJointTorqueRegressor(self.tree, self.data, q, N * rate, a)
        return N @ tau, N @ Y


def test_torque_and_count_by_pinocchio():
    model, oracle = basepar.load(DATA / "linkage.urdf"), Constrained()
    rng = np.random.default_rng(5)
    rows = []
    for q, rate, acceleration in rng.uniform(-1, 1, (40, 3)) * [0.4, 2, 3] + [0.3, 0, 0]:
        closed = model.close([q], outside="raise")
        values = {name: float(closed[name]) for name in "ABDR"}
        assert values["R"] == pytest.approx(6 * q, abs=1e-12)
        expected, row = oracle.torque(values, rate, acceleration)
        found = model.torque([q], [rate], [acceleration])[0]
        # Some thousand operations in float64; a loop closed to 1e-12 of its size.
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        rows.append(row)
    sizes = np.linalg.svd(np.array(rows), compute_uv=False)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    assert sizes[rank - 1] > 1e3 * sizes[rank] if rank < len(sizes) else True
    assert model.base().rank == rank


def test_a_parallelogram_that_lies_flat_at_zero(tmp_path):
    """All numbers; in a level plane its three bars are felt as one moment of inertia."""
    links = "".join(LINK.format(name=name, centre=0.2) for name in ("one", "two", "three"))

    def joint(name, parent, child, x, independent):
        return (
            f'<joint name="{name}" type="revolute" independent="{independent}">'
            f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{x} 0 0"/>'
            '<axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-9" upper="9"/></joint>'
        )

    text = (
        f'<robot name="flat"><link name="base"/>{links}'
        + joint("a", "base", "one", 0, "true")
        + joint("b", "one", "two", 0.5, "false")
        + joint("c", "base", "three", 1.0, "false")
        + '<loop name="d" type="revolute"><predecessor link="two"><origin xyz="1 0 0"/>'
        '</predecessor><successor link="three"><origin xyz="0.5 0 0"/></successor>'
        '<axis xyz="0 0 1"/></loop></robot>'
    )
    file = tmp_path / "flat.urdf"
    file.write_text(text)
    assert basepar.load(file).base().rank == 1
    assert any("its coordinates +0.3 rad" in note for note in read_file(file).notes)


def test_who_does_not_say_what_follows(tmp_path):
    """Without `independent` the successor of a coupling follows."""
    file = tmp_path / "plain.urdf"
    file.write_text(LINKAGE.replace('name="R" type="continuous" independent="false"',
                                    'name="R" type="continuous"'))  # fmt: skip
    assert read_file(file).mechanism.coordinates == ("A",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="revolute">', 'type="gear">', "type 'gear' cannot be represented"),
        (
            '<predecessor link="coupler">',
            '<predecessor link="couple">',
            "no link is named 'couple'",
        ),
        ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "its axis is zero"),
        ('xyz="0.45 0.0 0.0"', 'xyz="0.45 0.0 nan"', "is not three finite numbers"),
        ('value="6.0"', 'value="0"', "its ratio '0' is no finite number other than 0"),
        (
            '"R" type="continuous" independent="false"',
            '"R" type="continuous" independent="no"',
            "independent = 'no' is neither true nor false",
        ),
        ('<successor link="rocker">', '<successor link="coupler">', "both its links are fixed to"),
        (
            '<loop name="C"',
            '<joint name="F" type="fixed"><parent link="coupler"/><child link="end"/></joint>'
            '<link name="end"/><loop name="D2" type="fixed"><predecessor link="end"/>'
            '<successor link="coupler"/></loop><loop name="C"',
            "both its links are fixed to 'coupler'",
        ),
        ('type="rolling"', 'type="belt"', "type 'belt' is not known"),
        ('<loop name="C"', '<loop name="C" stiffness="3"', "stiffness = '3' of <loop>"),
        ('<loop name="C"', '<loop name="A"', "a joint has this name too"),
        ('<ratio value="6.0"/>', '<ratio value="6.0"/><slip/>', "<slip>"),
    ],
)
def test_what_cannot_be_represented_is_rejected(tmp_path, old, new, message):
    assert LINKAGE.count(old) == 1
    file = tmp_path / "odd.urdf"
    file.write_text(LINKAGE.replace(old, new))
    with pytest.raises(FileError, match=r".*") as rejected:
        read_file(file)
    assert any(message in one.message for one in rejected.value.mistakes), rejected.value
