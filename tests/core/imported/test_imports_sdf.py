"""SDF, and SDF's joints within URDF, against Pinocchio's joints put together by hand."""

import numpy as np
import pytest

import basepar
from basepar_core.dynamics import Motion, observe, prepare
from basepar_core.errors import FileError
from basepar_core.imported import read_file, urdf

pin = pytest.importorskip("pinocchio")
from tests.oracles.constrained_tree import ConstrainedTree  # noqa: E402

MASS, CENTRE, INERTIA = 2.0, (0.1, 0.02, -0.03), (0.03, 0.002, 0.001, 0.04, -0.003, 0.05)
KEYS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
SIX = "".join(f"<{key}>{x}</{key}>" for key, x in zip(KEYS, INERTIA, strict=True))
INERTIAL = (
    f"<inertial><pose>{' '.join(map(str, CENTRE))} 0.1 0.2 0.3</pose><mass>{MASS}</mass>"
    f"<inertia>{SIX}</inertia></inertial>"
)


def se3(x, y, z, roll=0.0, pitch=0.0, yaw=0.0):
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), np.array([x, y, z]))


def inertia():
    a, b, c, d, e, f = INERTIA
    turn = pin.rpy.rpyToMatrix(0.1, 0.2, 0.3)
    matrix = turn @ np.array([[a, b, c], [b, d, e], [c, e, f]]) @ turn.T
    return pin.Inertia(MASS, np.array(CENTRE), matrix)


TREE = f"""<sdf version="1.9"><model name="tree"><pose>0.3 0.1 0.2 0.2 0.1 0</pose>
<link name="base"><pose>0 0 0.1 0.1 0 0</pose>{INERTIAL}</link>
<link name="arm"><pose relative_to="base">0.2 0 0.1 0 0.3 0</pose>{INERTIAL}</link>
<frame name="F" attached_to="arm"><pose>0.3 0.1 0 0.2 0 0</pose></frame>
<link name="fork"><pose relative_to="F">0.1 0 0 0 0 0.4</pose>{INERTIAL}</link>
<link name="nut"><pose>1 0.2 0.3 0 0.1 0.2</pose>{INERTIAL}</link>
<link name="bolt"><pose relative_to="nut">0.1 0 0 0.3 0 0</pose>{INERTIAL}</link>
<link name="head"><pose relative_to="fork">0 0.2 0 0 0 0</pose>{INERTIAL}</link>
<joint name="mount" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="turn" type="revolute"><pose>0.01 0.02 0 0.1 0 0</pose><parent>base</parent>
  <child>arm</child><axis><xyz expressed_in="base">0 1 0</xyz>
  <dynamics><damping>0.2</damping></dynamics></axis></joint>
<joint name="cross" type="universal"><parent>F</parent><child>fork</child>
  <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
<joint name="slide" type="prismatic"><parent>base</parent><child>nut</child>
  <axis><xyz>0 0.6 0.8</xyz></axis></joint>
<joint name="thread" type="screw"><parent>nut</parent><child>bolt</child>
  <screw_thread_pitch>0.05</screw_thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="socket" type="ball"><pose>0 0 0.1 0 0 0</pose><parent>fork</parent>
  <child>head</child></joint>
</model></sdf>"""


def by_hand():
    """The same tree; screws by Pinocchio's helical joint."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.8])
    base = se3(0.3, 0.1, 0.2, 0.2, 0.1) * se3(0, 0, 0.1, 0.1)
    arm = base * se3(0.2, 0, 0.1, 0, 0.3)
    fork = arm * se3(0.3, 0.1, 0, 0.2) * se3(0.1, 0, 0, 0, 0, 0.4)
    nut = se3(0.3, 0.1, 0.2, 0.2, 0.1) * se3(1, 0.2, 0.3, 0, 0.1, 0.2)
    bolt, head = nut * se3(0.1, 0, 0, 0.3), fork * se3(0, 0.2, 0)
    frame = arm * se3(0.01, 0.02, 0, 0.1)
    axis = frame.rotation.T @ base.rotation @ np.array([0, 1.0, 0])
    where = {0: pin.SE3.Identity()}

    def joint(parent, kind, at, name, link=None):
        k = model.addJoint(parent, kind, where[parent].actInv(at), name)
        where[k] = at
        if link is not None:
            model.appendBodyToJoint(k, inertia(), at.actInv(link))
        return k

    turn = joint(0, pin.JointModelRevoluteUnaligned(axis), frame, "turn", arm)
    first = joint(turn, pin.JointModelRX(), fork, "cross.1")
    second = joint(first, pin.JointModelRZ(), fork, "cross.2", fork)
    slide = joint(0, pin.JointModelPrismaticUnaligned(np.array([0, 0.6, 0.8])), nut, "slide", nut)
    joint(slide, pin.JointModelHZ(0.05 / (2 * np.pi)), bolt, "thread.2", bolt)
    joint(second, pin.JointModelSpherical(), head * se3(0, 0, 0.1), "socket", head)
    return model


def written(folder, text, name="model.sdf"):
    path = folder / name
    path.write_text(text)
    return path


def test_torques_of_a_tree(tmp_path):
    found, model = read_file(written(tmp_path, TREE)), by_hand()
    names = ("turn", "cross.1", "cross.2", "slide", "thread.2", "socket.1", "socket.2", "socket.3")
    assert found.mechanism.coordinates == names
    columns = [model.joints[model.getJointId(name)].idx_v for name in names[:5]]
    ball = model.joints[model.getJointId("socket")].idx_v
    columns += [ball, ball + 1, ball + 2]
    q, v, a = np.random.default_rng(3).uniform(-0.8, 0.8, (3, 8, 5))
    q[5:] = 0  # there a rotation vector's rate is the angular velocity
    motion = Motion(np.arange(5.0), q, v, a)
    seen = observe(prepare(found.mechanism), {}, motion)
    assert seen.closed.all()
    ours = seen.W[0] @ found.mechanism.inertial_parameters(found.mechanism.nominal)
    data = model.createData()
    for s in range(5):
        speed, rate, shift = np.zeros((3, model.nv))
        shift[columns], speed[columns], rate[columns] = q[:, s], v[:, s], a[:, s]
        state = pin.integrate(model, pin.neutral(model), shift)
        expected = pin.rnea(model, data, state, speed, rate)[columns]
        # Rotations are met to 1e-13 rad by rational ones; then some hundred terms in float64.
        np.testing.assert_allclose(ours[s], expected, rtol=0, atol=3e-12 * np.abs(expected).max())
    assert [f.coordinate for f in found.mechanism.friction] == ["turn"]


def test_the_old_pitch_is_of_another_unit_and_sign(tmp_path):
    """rad per m and left-handed against m per turn and right-handed."""
    new = "<screw_thread_pitch>0.05</screw_thread_pitch>"
    old = f"<thread_pitch>{-2 * np.pi / 0.05!r}</thread_pitch>"
    assert TREE.count(new) == 1
    torques = []
    for text in (TREE, TREE.replace(new, old)):
        model = basepar.load(written(tmp_path, text))
        q, v, a = np.random.default_rng(8).uniform(-0.5, 0.5, (3, 8))
        torques.append(model.torque(q, v, a))
    # The pitch is the same to a rounding of 2π.
    np.testing.assert_allclose(torques[0], torques[1], rtol=0, atol=1e-13 * max(torques[0]))


#: A four-bar that is closed where the file has it: links' places (all upright), and joints.
PLACES = {
    "crank": (0, 0, 0),
    "coupler": (0.2, 0, 0.1),
    "rocker": (0.7, 0, 0),
    "rotor": (-0.3, 0, 0),
}
PARENTS = {"A": ("base", "crank"), "B": ("crank", "coupler"), "D": ("base", "rocker"),
           "R": ("base", "rotor")}  # fmt: skip
END = (0.6, 0, 0.4)


def row(values):
    return " ".join(map(repr, values))


def hinge(name, parent, child, at=(0, 0, 0), kind="revolute", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><pose>{row(at)} 0 0 0</pose>'
        f"<parent>{parent}</parent><child>{child}</child>"
        f"<axis><xyz>0 1 0</xyz></axis>{more}</joint>"
    )


LOOP = hinge("C", "coupler", "rocker", np.subtract(END, PLACES["rocker"]).tolist())
GEAR = hinge(
    "gear",
    "crank",
    "rotor",
    kind="gearbox",
    more="<axis2><xyz>0 1 0</xyz></axis2><gearbox_ratio>-6</gearbox_ratio>"
    "<gearbox_reference_body>base</gearbox_reference_body>",
)


def as_sdf():
    links = "".join(
        f'<link name="{name}"><pose>{row(at)} 0 0 0</pose>{INERTIAL}</link>'
        for name, at in PLACES.items()
    )
    joints = "".join(hinge(name, *pair) for name, pair in PARENTS.items())
    return (
        f'<sdf version="1.6"><world name="w"><gravity>0 0 -9.81</gravity><model name="linkage">'
        f'<link name="base"/><joint name="mount" type="fixed"><parent>world</parent>'
        f"<child>base</child></joint>{links}{joints}{LOOP}{GEAR}</model></world></sdf>"
    )


def offset(parent, child):
    return np.subtract(PLACES[child], PLACES.get(parent, (0, 0, 0))).tolist()


def as_urdf():
    six = " ".join(f'{key}="{x}"' for key, x in zip(KEYS, INERTIA, strict=True))
    inertial = (
        f'<inertial><origin xyz="{row(CENTRE)}" rpy="0.1 0.2 0.3"/><mass value="{MASS}"/>'
        f"<inertia {six}/></inertial>"
    )
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in PLACES)
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{row(offset(parent, child))}"/><axis xyz="0 1 0"/></joint>'
        for name, (parent, child) in PARENTS.items()
    )
    return (
        f'<robot name="r"><link name="base"/>{links}{joints}<gazebo>{LOOP}{GEAR}</gazebo></robot>'
    )


def linkage():
    model = pin.Model()
    ids = {"base": (0, np.zeros(3))}
    for name, (parent, child) in PARENTS.items():
        k, at = ids[parent]
        place = pin.SE3(np.eye(3), np.array(PLACES[child], float) - at)
        ids[child] = (
            model.addJoint(k, pin.JointModelRY(), place, name),
            np.array(PLACES[child], float),
        )
        model.appendBodyToJoint(ids[child][0], inertia(), pin.SE3.Identity())
    ends = [
        (ids[link][0], pin.SE3(np.eye(3), np.array(END) - ids[link][1]))
        for link in ("coupler", "rocker")
    ]
    return ConstrainedTree(model, [(ends[0], ends[1], 3)], [{"R": 1.0, "A": -6.0}])


@pytest.mark.slow
@pytest.mark.parametrize(("text", "name"), [(as_sdf, "m.sdf"), (as_urdf, "m.urdf")])
def test_a_loop_and_a_gearbox(tmp_path, text, name):
    path = written(tmp_path, text(), name)
    assert read_file(path).mechanism.coordinates == ("A",)
    model, oracle = basepar.load(path), linkage()
    for q, rate, acceleration in ((0.0, 1.0, 0.5), (0.2, -1.5, 2.0)):
        closed = model.close([q], outside="raise")
        state = oracle.configuration({name: float(closed[name]) for name in "ABDR"})
        assert oracle.gap(state) < 1e-11
        assert oracle.freedoms(state) == 1
        expected = oracle.torque(state, ["A"], [rate], [acceleration])
        found = model.torque([q], [rate], [acceleration])
        # N by matrices of condition below a hundred, a loop closed to 1e-12.
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_what_no_joint_holds_floats(tmp_path):
    text = TREE.replace(
        '<joint name="mount" type="fixed"><parent>world</parent><child>base</child></joint>', ""
    )
    found = read_file(written(tmp_path, text))
    assert found.mechanism.joints[0].type == "free"
    assert found.mechanism.coordinates[:6] == tuple(f"base_base.{k}" for k in range(1, 7))
    assert "no joint holds 'base' to the world: its base is free" in found.notes


def test_a_link_without_inertial_has_a_kilogram(tmp_path):
    text = TREE.replace(f"0.2 0 0.1 0 0.3 0</pose>{INERTIAL}", "0.2 0 0.1 0 0.3 0</pose>")
    found = read_file(written(tmp_path, text)).mechanism
    numbers = dict(
        zip(found.parameter_names, found.inertial_parameters(found.nominal), strict=True)
    )
    assert [numbers[f"arm.{p}"] for p in ("m", "Ixx", "Iyy", "Izz", "Ixy")] == [1, 1, 1, 1, 0]


def test_axes_of_old_versions_are_the_models(tmp_path):
    old = f"""<sdf version="{{}}"><model name="m"><link name="a"><pose>0 0 0 0 0 1.5707963267948966
    </pose>{INERTIAL}</link><joint name="j" type="revolute"><parent>world</parent><child>a</child>
    <axis><xyz>1 0 0</xyz></axis></joint></model></sdf>"""
    axes = {
        version: read_file(written(tmp_path, old.format(version))).mechanism.joints[0].frames
        for version in ("1.4", "1.5")
    }
    assert axes["1.4"] != axes["1.5"]


def test_axes_within_gazebo_are_the_joints_and_the_models_are_noted(tmp_path):
    said = "joint 'C': its axis is a direction of the joint's frame"
    turned = LOOP.replace(" 0 0 0</pose>", " 0 0 1</pose>")
    assert turned != LOOP
    for loop, differs in ((LOOP, False), (turned, True)):
        text = as_urdf().replace(LOOP, loop).encode()
        notes = urdf.read(text, tmp_path / "m.urdf").notes
        assert any(said in note for note in notes) == differs


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<parent>F</parent>", "<parent>G</parent>", "its parent 'G' is no link or frame"),
        ('relative_to="F"', 'relative_to="fork"', "its pose is relative to itself"),
        ('relative_to="nut"', 'relative_to="not"', "relative to 'not', and no frame is named so"),
        ('type="ball"', 'type="balls"', "type 'balls' cannot be represented"),
        ("<xyz>0 0.6 0.8</xyz>", "<xyz>0 0 0</xyz>", "its axis is zero"),
        ("<axis2><xyz>0 0 1</xyz>", "<axis2><xyz>1 0 1</xyz>", "two axes are not perpendicular"),
        ("0.05</screw", "0</screw", "its pitch is zero"),
        ("<damping>0.2", "<damping>much", "is not 1 finite number"),
        ('<frame name="F"', '<include><uri>x</uri></include><frame name="F"', "<include>"),
        ('<link name="nut">', '<link name="nut"><gravity>0</gravity>', "<gravity> is not read"),
        ("</model>", '</model><model name="two"/>', "it has 'tree', 'two'"),
    ],
)
def test_what_is_rejected(tmp_path, old, new, message):
    assert TREE.count(old) == 1
    with pytest.raises(FileError) as rejected:
        read_file(written(tmp_path, TREE.replace(old, new)))
    found = [one.message for one in rejected.value.mistakes]
    assert any(message in one for one in found), found


@pytest.mark.parametrize("right", [False, True])
def test_angles_are_what_they_are_unless_asked(tmp_path, right):
    """1.5708 turns about y, and nothing is without a word: two arms, by their fields' torques."""
    text = (
        '<sdf version="1.9"><model name="m"><link name="a"><pose>0 0 0.1 0 1.5708 0</pose>'
        f'{INERTIAL}</link><joint name="A" type="revolute"><parent>world</parent><child>a</child>'
        "<axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"
    )
    (path := tmp_path / "arm.sdf").write_text(text)
    found = read_file(path, right_angles=right)
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.8])
    at = se3(0, 0, 0.1, 0, np.pi / 2 if right else 1.5708, 0)
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelRZ(), at, "A"), inertia(), pin.SE3.Identity()
    )
    expected = pin.rnea(model, model.createData(), *np.array([[0.3], [0.2], [0.5]]))
    motion = Motion(np.zeros(1), *np.array([[[0.3]], [[0.2]], [[0.5]]]))
    seen = observe(prepare(found.mechanism), {}, motion).W[0, 0]
    torque = seen @ found.mechanism.inertial_parameters(found.mechanism.nominal)
    # Rotations are met to 1e-13 rad.
    np.testing.assert_allclose(torque, expected, rtol=3e-12)
    said = "taken as 90 deg, 3.7e-06 rad off" if right else "link 'a': pitch 1.5708, by 3.7e-06"
    assert any(said in note for note in found.notes)
