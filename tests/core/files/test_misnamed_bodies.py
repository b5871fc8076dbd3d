"""A joint's wrong body, and a point at a wrong place: what a drawing's distances tell of them."""

import re
import warnings

import pytest

from basepar_core.errors import BaseparWarning, FileError
from basepar_core.files import library_names, library_path, loads

from .test_exchanged_points import FOUR_BAR, drawn, warned

SIX_BAR = """\
name: six-bar
space: planar
gravity: [0, -9.81]
geometry:
  r: {value: 60, unit: mm}
  l: {value: 300, unit: mm}
  k: {value: 200, unit: mm}
  d: {value: 320, unit: mm}
  e: {value: 100, unit: mm}
  b: {value: 350, unit: mm}
bodies: {crank: {}, coupler: {}, rocker: {}, rod: {}, slider: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[l, 0], [k, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[d, 0], [0, 0]]}
  E: {type: revolute, connects: [rocker, rod], at: [[k + e, 0], [0, 0]]}
  F: {type: revolute, connects: [rod, slider], at: [[b, 0], [0, 0]]}
  G:
    {type: prismatic, connects: [ground, slider], at: [[0, 0.25], [0, 0]], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly:
  A: 60 deg
  points: {B: [0.03, 0.052], C: [0.28, 0.195], E: [0.26, 0.29], F: [0.61, 0.25]}
"""
FILES = {"four-bar": FOUR_BAR, "C alone": drawn(FOUR_BAR, C=(258, 212)), "six-bar": SIX_BAR}
LAST = re.sub(r"points: \{.*\}", "points: {F: [0.61, 0.25]}", SIX_BAR)
CONNECTS = re.compile(r"(?m)^  (\w): \{type: \w+, connects: (\[(\w+), (\w+)\])")


def quiet(text):
    """What is warned of; nothing where the file has mistakes besides."""
    try:
        return warned(text)
    except FileError:
        return []


@pytest.mark.parametrize(
    ("text", "joint", "wrong", "right"),
    [
        (FILES["C alone"], "C", "[coupler, crank]", "[coupler, rocker]"),
        (FOUR_BAR, "D", "[ground, coupler]", "[ground, rocker]"),
        (FOUR_BAR, "B", "[rocker, coupler]", "[crank, coupler]"),
        (SIX_BAR, "F", "[coupler, slider]", "[rod, slider]"),
        (SIX_BAR, "E", "[coupler, rod]", "[rocker, rod]"),  # no body hangs loosely
    ],
)
def test_the_bodies_to_write(text, joint, wrong, right):
    assert warned(text) == []
    spoilt = text.replace(
        f"{joint}: {{type: revolute, connects: {right}",
        f"{joint}: {{type: revolute, connects: {wrong}",
    )
    assert spoilt != text
    (message,) = warned(spoilt)
    line = text[: text.index(f"\n  {joint}: ")].count("\n") + 2
    named, meant = ({*one[1:-1].split(", ")} for one in (wrong, right))
    (left,), (body,) = named - meant, meant - named
    assert message.startswith(
        f"joints.{joint}.connects (line {line}): {left} does not fit the drawing, {body} does: "
    )
    assert message.endswith(f" Write connects: {right}.")


@pytest.mark.parametrize("text", FILES.values(), ids=[*FILES])
def test_what_is_told_is_always_right(text):
    """Every body in the place of every other one: never another line than the file had."""
    found = 0
    for one in CONNECTS.finditer(text):
        for side in (3, 4):
            for body in {"crank", "coupler", "rocker", "ground"} - {one[3], one[4]}:
                spoilt = text[: one.start(side)] + body + text[one.end(side) :]
                told = [line for line in quiet(spoilt) if "Write connects" in line]
                found += len(told)
                for line in told:
                    assert line.startswith(f"joints.{one[1]}.connects")
                    assert line.endswith(f"Write connects: {one[2]}.")
    assert found


def test_a_point_with_a_wrong_sign():
    (message,) = warned(SIX_BAR.replace("C: [0.28, 0.195]", "C: [0.28, -0.195]"))
    assert message.startswith("assembly.points.C (line 24): B and C are 0.3514 m apart as drawn")
    assert "C and E are 0.4854 m apart as drawn, and 0.1 m on rocker: " in message
    assert "correct the drawing of C, which these have in common" in message
    assert message.endswith("Is a sign wrong? [0.28 m, 0.195 m] fits.")


def test_a_point_far_away():
    (message,) = warned(drawn(FOUR_BAR, B=(40, 69), C=(400, 300)))
    assert "correct the drawing of C, which these have in common" in message
    assert "sign" not in message


def test_one_distance_leaves_open_which_point_it_is():
    (message,) = warned(drawn(FOUR_BAR, C=(400, 300)))
    assert (
        "C and D are 0.3231 m apart as drawn, and 0.22 m on rocker: correct the drawing, or"
        in message
    )
    assert message.endswith(", or the place of D on the ground, joints.D.at.")


@pytest.mark.parametrize(
    ("text", "left_out", "body", "joint"),
    [(FILES["C alone"], "D", "rocker", "C"), (LAST, "G", "slider", "F")],
)
def test_a_joint_that_is_left_out(text, left_out, body, joint):
    """Told by the count of freedoms before one point is too few to place its bodies."""
    spoilt = re.sub(rf"(?m)^  {left_out}: ?\n?.*\n", "", text)
    with pytest.raises(FileError) as caught:
        loads(spoilt)
    (mistake,) = caught.value.mistakes
    assert mistake.path == "joints"
    assert mistake.message.startswith(
        "bodies and joints leave 3 degrees of freedom, but 1 coordinate is named"
    )
    assert f"Is a joint missing? {body} has one joint only ({joint}). Add it to" in mistake.message
    assert f"`{body}_pin: {{type: revolute, connects: [ground, {body}]" in mistake.message


PRESS = """\
name: press
space: planar
gravity: [0, -9.81]
geometry:
  a: {value: 0.1, unit: m}
  b: {value: 0.42, unit: m}
  c: {value: 0.26, unit: m}
bodies: {crank: {}, coupler: {}, rocker: {}, rod: {}, ram: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[b, 0], [c, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[0.4 m, 0.1 m], [0, 0]]}
  E: {type: revolute, connects: [rocker, rod], at: [[c, 0], [0, 0]]}
  F: {type: revolute, connects: [rod, ram], at: [[0.4 m, 0], [0, 0]]}
  S: {type: prismatic, connects: [ground, ram], at: [[0.52 m, 0], [0, 0]], axis: [[0, 1], [0, 1]]}
coordinates: [A]
assembly: {A: 90 deg, points: {B: [0, 0.1], C: [0.4, 0.24], F: [0.52, -0.3]}}
"""


def test_no_body_is_renamed_for_a_rough_drawing():
    """The rod would fit D by 4 %, by chance: C is drawn too low."""
    (told,) = warned(PRESS)
    assert "C and D are 0.14 m apart as drawn" in told
    assert "connects" not in told


def test_no_joint_is_missing_where_the_count_fits():
    lone = drawn(FOUR_BAR, B=(40, 69)).replace(
        "points: {B: [40 mm, 69 mm]}", "points: {P: [0, 0]}"
    )
    with pytest.raises(FileError) as caught:
        loads(f"{lone}points: {{P: {{body: coupler, at: [0.1, 0.2]}}}}\n")
    assert "one point alone does not place coupler" in str(caught.value)


@pytest.mark.parametrize("name", library_names())
def test_no_shipped_mechanism_is_warned_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaseparWarning)
        loads(library_path(name).read_text(encoding="utf-8"))
