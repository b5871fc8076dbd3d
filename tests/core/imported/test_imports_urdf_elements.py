"""URDF's many extensions: what could change motion or mass is refused by name, the rest listed.

The elements are written as their formats have them: URDF+ (constraint), Isaac
(loop_joint), urdfdom's proposal (constraint), Gazebo's extension, PR2's transmissions, Drake,
Bullet.
"""

from itertools import pairwise
from pathlib import Path

import pytest

from basepar_core.errors import FileError
from basepar_core.imported.formats import Imported, read_file

BODY = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)
JOINT = '<joint name="{}" type="continuous"{}><parent link="{}"/><child link="{}"/>{}</joint>'


def robot(
    folder: Path, extra: str = "", link: str = "", joint: str = "", attribute: str = ""
) -> Path:
    """Two links on the ground, a loop to be closed between them; `extra` in the robot, `link` in
    the second link, `joint` and `attribute` in the second joint."""
    path = folder / "robot.urdf"
    path.write_text(
        '<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>'
        f'<link name="crank">{BODY}</link><link name="rocker">{BODY}{link}</link>'
        + JOINT.format("A", "", "base", "crank", "")
        + JOINT.format("B", attribute, "base", "rocker", joint)
        + f"{extra}</robot>"
    )
    return path


def refusals(path: Path) -> dict[str, str]:
    with pytest.raises(FileError) as caught:
        read_file(path)
    found: dict[str, str] = {}
    for mistake in caught.value.mistakes:
        found[mistake.path] = f"{found.get(mistake.path, '')} {mistake.message}".strip()
    return found


PLUGIN = '<gazebo><plugin name="p" filename="{}"><joint>A</joint></plugin></gazebo>'


@pytest.mark.parametrize(
    ("extra", "place", "words"),
    [
        (
            '<constraint name="belt" type="rolling"><predecessor link="crank"/>'
            '<successor link="rocker"/><ratio value="6"/></constraint>',
            "constraint 'belt'",
            "type 'rolling' cannot be represented",
        ),
        (
            '<gazebo><link name="more"><inertial><mass>1</mass></inertial></link></gazebo>',
            "gazebo",
            "<link>: it is not known here",
        ),
        (
            '<gazebo reference="crank"><turnGravityOff>true</turnGravityOff></gazebo>',
            "gazebo 'crank'",
            "<turnGravityOff> = true: it takes the link's weight off",
        ),
        (
            '<gazebo reference="B"><springStiffness>3</springStiffness></gazebo>',
            "gazebo 'B'",
            "<springStiffness> = 3",
        ),
        ("<gazebo><pose>0 0 1 0.3 0 0</pose></gazebo>", "gazebo", "<pose>"),
        (
            PLUGIN.format("libroboticsgroup_gazebo_mimic_joint_plugin.so"),
            "gazebo",
            "<plugin> of joint 'A': it may couple what it names",
        ),
        (PLUGIN.format("libfoo.so"), "gazebo", "<plugin> of joint 'A'"),
        (
            '<transmission name="grip"><gap_joint name="A" L0="0.03"/></transmission>',
            "transmission 'grip'",
            "<gap_joint> of joint 'A': it stands for joints that move together",
        ),
        (
            '<transmission name="grip"><passive_joint name="B"/></transmission>',
            "transmission 'grip'",
            "<passive_joint> of joint 'B'",
        ),
        (
            '<transmission name="grip"><simulated_actuated_joint name="B"/></transmission>',
            "transmission 'grip'",
            "<simulated_actuated_joint> of joint 'B'",
        ),
        (
            '<transmission name="t"><actuator name="m"><motorInertia>1e-4</motorInertia>'
            "</actuator></transmission>",
            "transmission 't'",
            "<motorInertia>: a motor's inertia belongs to friction's rotor",
        ),
        (
            '<transmission name="t"><actuator name="m" rotorInertia="1e-4"/></transmission>',
            "transmission 't'",
            "rotorInertia = '1e-4' of <actuator>",
        ),
        (
            '<ros2_control name="c"><joint name="B"><param name="mimic">A</param></joint>'
            "</ros2_control>",
            "ros2_control 'c'",
            "<param> of joint 'A': it couples joints",
        ),
        (
            '<drake:ball_constraint><drake:ball_constraint_body_A name="crank"/>'
            "</drake:ball_constraint>",
            "drake:ball_constraint",
            "<drake:ball_constraint> of link 'crank': it closes a loop",
        ),
        (
            '<drake:linear_bushing_rpy><drake:bushing_frameA name="a"/>'
            "</drake:linear_bushing_rpy>",
            "drake:linear_bushing_rpy",
            "it is not known here",
        ),
        ('<deformable name="cloth"/>', "deformable 'cloth'", "deformable bodies"),
        ('<mujoco><option gravity="0 0 0"/></mujoco>', "mujoco", "<option>"),
        ('<tether a="crank" b="rocker"/>', "tether", "<tether> of link 'crank', link 'rocker'"),
        ('<gravity value="0 0 -1.6"/>', "gravity", "it is not known here"),
    ],
)
def test_what_ties_the_robot_is_refused_by_name(tmp_path, extra, place, words):
    found = refusals(robot(tmp_path, extra))
    assert list(found) == [place]
    assert words in found[place]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"joint": '<mimic joint="A" multiplier="0"/>'}, "it mimics 'A' by a multiplier of 0"),
        ({"attribute": ' independent="false"'}, "independent = 'false': it depends on other"),
        ({"attribute": ' screw="3"'}, "screw = '3' of <joint>: it is not known here"),
        ({"joint": '<dynamics damping="1" backlash="7"/>'}, "backlash = '7' of <dynamics>"),
        ({"joint": '<axis xyz="0 0 1" rpy="0 1 0"/>'}, "rpy = '0 1 0' of <axis>"),
        ({"joint": '<drake:gear_ratio value="9"/>'}, "<drake:gear_ratio>"),
        ({"joint": '<axis xyz="1 0 0"/><axis xyz="0 0 1"/>'}, "<axis> is given twice"),
        (
            {"joint": '<origin xyz="${l} 0 0"/>'},
            "is left of xacro; have it expanded by import --xacro",
        ),
    ],
)
def test_what_changes_a_joint_is_refused(tmp_path, parts, words):
    found = refusals(robot(tmp_path, **parts))
    assert any(words in message for message in found.values()), found
    assert "joint 'B'" in found


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ('<contact><inertia_scaling value="3"/></contact>', "it scales the link's inertia"),
        ("<gravity>0</gravity>", "takes the link's weight off"),
        ('<origin xyz="0 0 1"/>', "<origin>"),
        ("<drake:added_mass/>", "<drake:added_mass>"),
        (BODY, "<inertial> is given twice"),
    ],
)
def test_what_changes_a_link_is_refused(tmp_path, link, words):
    found = refusals(robot(tmp_path, link=link))
    assert words in found["link 'rocker'"]


def harmless(folder: Path) -> Path:
    return robot(
        folder,
        '<material name="grey"/><sensor name="s"><parent link="crank"/></sensor>'
        '<transmission name="t"><type>Simple</type><joint name="A"><hardwareInterface>E'
        '</hardwareInterface></joint><actuator name="m"><mechanicalReduction>50'
        "</mechanicalReduction></actuator></transmission>"
        '<gazebo reference="crank"><material>Red</material><mu1>1</mu1>'
        "<turnGravityOff>false</turnGravityOff></gazebo>"
        "<gazebo><pose>0 0 1 0 0 1.5</pose></gazebo>"
        '<gazebo><plugin name="c" filename="libgazebo_ros_control.so"><joint>A</joint></plugin>'
        '</gazebo><ros2_control name="c"><hardware><plugin>x</plugin></hardware>'
        '<joint name="A"><command_interface name="position"/></joint></ros2_control>'
        '<fixed_frame name="tool"><parent link="rocker"/></fixed_frame>',
        link="<visual/><collision/><collision/><contact><restitution value='1'/></contact>",
        joint='<limit effort="1"/><safety_controller/><calibration/>'
        '<axis xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 0 1" rpy="0 0 0"/>'
        '<joint_properties damping="0.5" friction="0.25"/>',
        attribute=' independent="true" dont_collapse="true"',
    )


DROPPED = (
    "1 visual, 2 collision, 1 contact, "
    "1 attribute dont_collapse of joint, 1 limit, 1 safety_controller, 1 calibration, "
    "1 attribute rpy of axis, 1 axis that is given twice alike, 1 joint_properties, "
    "1 material, 1 sensor, 1 transmission, "
    "1 gazebo material, 1 gazebo mu1, 1 gazebo turnGravityOff, 1 gazebo pose, 1 gazebo plugin, "
    "1 ros2_control, 1 fixed_frame"
)


def test_what_is_harmless_is_listed(tmp_path):
    found: Imported = read_file(harmless(tmp_path))
    assert ", ".join(found.dropped) == DROPPED
    friction = {f.kind: float(f.value.value) for f in found.mechanism.friction}
    assert friction == {"viscous": 0.5, "coulomb": 0.25}
    assert "joint 'B': joint_properties is read as dynamics" in found.notes


def test_gains_of_a_controller_are_listed(tmp_path):
    path = robot(tmp_path, joint='<dynamics D="1" K="7000" mu_viscous="16" damping="0.5"/>')
    found = read_file(path)
    assert {f"1 attribute {key} of dynamics" for key in ("D", "K", "mu_viscous")} <= {
        *found.dropped
    }
    assert [float(one.value.value) for one in found.mechanism.friction] == [0.5]


def test_a_planar_joint_with_friction_is_refused(tmp_path):
    path = robot(tmp_path, joint='<dynamics damping="0.1"/>')
    path.write_text(path.read_text().replace('"B" type="continuous"', '"B" type="planar"'))
    assert "which URDF does not say of which" in refusals(path)["joint 'B'"]


def test_a_namespace_of_its_own_changes_nothing(tmp_path):
    path = harmless(tmp_path)
    path.write_text(
        path.read_text().replace(
            "<robot ",
            '<robot xmlns="http://drake.mit.edu" xmlns:xsi="http://www.w3.org/2001/XMLSchema" '
            'xsi:schemaLocation="a b" ',
        )
    )
    assert ", ".join(read_file(path).dropped) == DROPPED


#: Ten letters, thirty times thirty … times: 2e11.
BOMB = (
    "<!DOCTYPE robot [<!ENTITY a 'xxxxxxxxxx'>"
    + "".join(f"<!ENTITY {new} '{f'&{old};' * 30}'>" for old, new in pairwise("abcdefgh"))
    + "]>"
)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("<!DOCTYPE robot [<!ENTITY s SYSTEM '{secret}'>]>", "&s;", "has a document type"),
        ("<!DOCTYPE robot SYSTEM '{secret}'>", "", "has a document type"),
        (BOMB, "&h;", "has a document type|entity amplification"),
        (BOMB, '<link name="&h;"/>', "entity amplification"),
    ],
)
def test_document_types_read_nothing_and_do_not_grow(tmp_path, ending, head, body, message):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    root = "robot" if ending == "urdf" else "mujoco"
    path = tmp_path / f"robot.{ending}"
    path.write_text(f"{head.replace('{secret}', str(secret))}<{root} name='r'>{body}</{root}>")
    with pytest.raises(FileError, match=message) as caught:
        read_file(path)
    assert "the secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.sdf", "<sdf version='1.9'><model name='m'/></sdf>", "nothing moves"),
        ("a.urdf", "<model/>", "that is a part of SDF"),
        ("a.urdf", "<mujoco/>", "that is MJCF: name the file .xml"),
        (
            "a.xacro",
            '<robot xmlns:xacro="http://x"><xacro:include filename="b"/></robot>',
            "basepar import .*a.xacro --xacro",
        ),
    ],
)
def test_other_formats_say_what_to_do(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        read_file(path)


@pytest.mark.parametrize(
    "head",
    ['<?xml version="0.0" ?>\n', '\n\n<?xml version="1.0" encoding="utf-8"?>\n', "\n \n"],
    ids=["version 0.0", "after blank lines", "none, after blank lines"],
)
def test_declarations_as_other_parsers_read_them(tmp_path, head):
    """Lines are those of the file."""
    path = robot(tmp_path)
    path.write_text(head + path.read_text())
    assert [joint.name for joint in read_file(path).mechanism.joints] == ["A", "B"]
    path.write_text(head + robot(tmp_path, extra="<gearbox/>").read_text())
    with pytest.raises(FileError) as caught:
        read_file(path)
    assert [one.line for one in caught.value.mistakes] == [head.count("\n") + 1]


@pytest.mark.parametrize(
    ("inside", "rotor"),
    [
        ("<motorInertia>2e-4</motorInertia><mechanicalReduction>25</mechanicalReduction>", 0.125),
        (
            "<actuator name='m'><motorInertia>2e-4</motorInertia>"
            "<mechanicalReduction>-10</mechanicalReduction></actuator>",
            0.02,
        ),
        ("<motorInertia>2e-4</motorInertia>", 2e-4),
    ],
)
def test_a_rotor_behind_a_transmission_counts_at_its_joint(tmp_path, inside, rotor):
    # J of the motor, n turns of it per turn of the joint: half J n^2 qd^2 is its energy.
    path = robot(
        tmp_path, extra=f'<transmission name="t"><joint name="B"/>{inside}</transmission>'
    )
    found = read_file(path)
    assert any(f"a rotor of {rotor:.6g} kg m^2" in note for note in found.notes)
    assert f"rotor: {rotor:g}" in found.text


@pytest.mark.parametrize(
    "inside",
    [
        '<joint name="B"/><joint name="A"/><motorInertia>1</motorInertia>',
        '<joint name="B"/><motorInertia>-1</motorInertia>',
        '<joint name="B"/><motorInertia>light</motorInertia>',
        '<joint name="B"/><motorInertia>1</motorInertia>'
        "<mechanicalReduction>3</mechanicalReduction><mechanicalReduction>4</mechanicalReduction>",
    ],
)
def test_rotors_of_no_one_joint_are_rejected(tmp_path, inside):
    path = robot(tmp_path, extra=f'<transmission name="t">{inside}</transmission>')
    assert "transmission 't'" in refusals(path)
