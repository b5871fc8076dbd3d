"""Joints that name a wrong body, and welds where a joint should turn: what is told of them."""

import re

import pytest

from basepar_core.dynamics.assembly import assemble
from basepar_core.dynamics.joint_loops import around, joint_loops
from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.files import loads, mechanism_file

PUMP = """\
name: pump
space: planar
gravity: [0, -9.81]
geometry: {r: {value: 45, unit: mm}, l: {value: 170, unit: mm}}
bodies: {crank: {}, rod: {}, piston: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, piston], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, piston], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, B: -50 deg, C: 10 deg, D: 202 mm}
"""
FOUR_BAR, FIVE_BAR = (mechanism_file.load(name).source for name in ("four-bar", "five-bar"))
#: A tool that hangs on a four-bar's coupler; its motor is a coordinate.
GRIPPER = (
    FOUR_BAR.split("coordinates:")[0].replace("joints:", "  tool: {}\njoints:")
    + "  T: {type: revolute, connects: [coupler, tool], at: [[lx2, 0], [0, 0]]}\n"
).replace("tool: {}", "tool: {mass: 1 kg, centre: [0.1 m, 0], central_inertia: 0.01}")
STATED = "A: 34 deg, B: 91.3 deg, C: -203.8 deg"


def told(text):
    with pytest.raises((AssemblyError, MechanismError)) as caught:
        assemble(loads(text))
    return caught.value.message


def connecting(text, joint, bodies):
    """A file with other bodies in a joint, and how it has them."""
    line = re.compile(rf"(?m)^(  {joint}: .*?connects: )(\[[^\]]*\])")
    return line.sub(rf"\1{bodies}", text), line.search(text)[2]


@pytest.mark.parametrize(
    ("text", "joint", "wrong"),
    [
        (PUMP, "A", "[ground, rod]"),
        (PUMP, "A", "[piston, crank]"),  # the ground hangs then
        (PUMP, "B", "[crank, piston]"),
        (PUMP, "C", "[crank, piston]"),
        (PUMP, "C", "[rod, ground]"),
        (PUMP, "D", "[ground, rod]"),
        (FOUR_BAR, "B", "[crank, rocker]"),
        (FOUR_BAR, "C", "[crank, rocker]"),
        (FOUR_BAR, "D", "[ground, coupler]"),
        (FIVE_BAR, "D", "[left_rod, right_crank]"),
    ],
)
def test_the_body_that_a_joint_should_name(text, joint, wrong):
    spoilt, right = connecting(text, joint, wrong)
    message = told(spoilt)
    assert f"With joints.{joint}.connects: {right} all loops close at about the stated" in message
    assemble(loads(text))  # what is told does it


def test_which_body_hangs_is_asked_where_no_values_tell():
    spoilt, _ = connecting(PUMP, "C", "[crank, piston]")
    message = told(spoilt.replace(", B: -50 deg, C: 10 deg, D: 202 mm", ""))
    assert "With joints" not in message
    assert message.endswith(
        "Body rod hangs on joint B alone and is in no loop: is a joint's `connects` to name it?"
    )


@pytest.mark.parametrize(
    "rest",
    [
        f"coordinates: [A, T]\nassembly: {{{STATED}, T: 10 deg}}\n",
        f"coordinates: [A]\ncouplings: {{belt: {{values: {{A: 1, T: 1}}}}}}\n"
        f"assembly: {{{STATED}}}\n",
    ],
)
def test_a_tool_is_no_body_that_hangs_loosely(rest):
    assemble(loads(GRIPPER + rest))
    message = told((GRIPPER + rest).replace("lx3: {value: 1.3", "lx3: {value: 0.13"))
    assert "stays open" in message
    assert "hangs" not in message
    assert "With joints" not in message


def test_a_body_at_another_loop_is_no_reason():
    """Of two pumps one has its slide out of reach; the flap hangs on the other one's crank."""
    joints = PUMP.split("joints:\n")[1].split("coordinates:")[0]
    second = re.sub(r"\b([ABCD]|crank|rod|piston)\b", r"\g<1>2", joints)
    text = (
        PUMP.replace("piston: {}}", "piston: {}, crank2: {}, rod2: {}, piston2: {}, flap: {}}")
        .replace(
            "coordinates: [A]",
            f"{second}  F: {{type: revolute, connects: [crank2, flap]}}\ncoordinates: [A, A2]",
        )
        .replace("D: {", "D: {at: [[0, 1 m], [0, 0]], ", 1)
    )
    message = told(text)
    assert "stays open" in message
    assert "hangs" not in message


def test_loops_that_share_a_joint_are_together_and_others_apart():
    pump = loads(PUMP)
    assert joint_loops(pump) == (frozenset({0, 1, 2, 3}),)
    tool = loads(GRIPPER + f"coordinates: [A, T]\nassembly: {{{STATED}}}\n")
    names = [joint.name for joint in tool.joints]
    assert {names[k] for k in around(tool, names.index("B"))} == {"A", "B", "C", "D"}
    assert around(tool, names.index("T")) == frozenset()


@pytest.mark.parametrize("coordinates", ["[A]", "[A, B]"])
def test_a_weld_that_locks_a_loop_is_named(coordinates):
    welded = PUMP.replace("C: {type: revolute", "C: {type: fixed").replace(", C: 10 deg", "")
    message = told(welded.replace("[A]", coordinates))
    assert "The fixed joint C (a weld) is in a loop: `type: revolute` if it turns." in message
    assert ("Leave one of them out" in message) == (coordinates != "[A]")
