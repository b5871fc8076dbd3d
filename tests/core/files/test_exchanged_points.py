"""A joint's two points in the wrong order: what a drawing's distances tell, and what not."""

import re
import warnings

import pytest

from basepar_core.errors import BaseparWarning
from basepar_core.files import library_names, library_path, line_in_text, loads

#: As drawn, B and C are 261 mm apart and C and D 213 mm: b and c, 3 % off.
FOUR_BAR = """\
name: four-bar
space: planar
gravity: [0, -9.81]
geometry:
  a: {value: 80, unit: mm}
  b: {value: 260, unit: mm}
  c: {value: 220, unit: mm}
  d: {value: 280, unit: mm}
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[b, 0], [c, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[d, 0], [0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, points: {B: [40 mm, 69 mm], C: [258 mm, 212 mm]}}
"""
TURNED = FOUR_BAR.replace(
    "[ground, rocker], at: [[d, 0], [0, 0]]", "[rocker, ground], at: [[0, 0], [d, 0]]"
)


def drawn(text, **places):
    """The file with other places of its drawn points."""
    listed = ", ".join(f"{name}: [{x} mm, {y} mm]" for name, (x, y) in places.items())
    return re.sub(r"points: \{.*\}\}", f"points: {{{listed}}}}}", text)


def warned(text):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        loads(text)
    assert all(issubclass(one.category, BaseparWarning) for one in found)
    return [str(one.message) for one in found]


@pytest.mark.parametrize(
    ("text", "right", "wrong", "line"),
    [
        (FOUR_BAR, "at: [[b, 0], [c, 0]]", "at: [[c, 0], [b, 0]]", 13),
        (TURNED, "at: [[0, 0], [d, 0]]", "at: [[d, 0], [0, 0]]", 14),
        (FOUR_BAR, "at: [[d, 0], [0, 0]]", "at: [[0, 0], [d, 0]]", 14),
    ],
    ids=["closes", "stays open", "ground first"],
)
def test_the_line_to_write_is_the_right_one(text, right, wrong, line):
    assert warned(text) == []
    (message,) = warned(text.replace(right, wrong))
    name = "C" if line == 13 else "D"
    assert f"joints.{name}.at (line {line}): its two points look exchanged" in message
    assert f"Write {right}:" in message
    assert "0.2131 m apart as drawn" in message or name == "D"


def test_a_joint_on_the_ground_is_drawn_too():
    wrong = FOUR_BAR.replace("[[d, 0], [0, 0]]", "[[0, 0], [d, 0]]")
    both = drawn(wrong, B=(40, 69), C=(258, 212), D=(280, 0))
    (message,) = warned(both)
    assert "joints.D.at (line 14)" in message


ROUGH = {
    "about": {"B": (40, 69), "C": (258, 212)},
    "a tenth off": {"B": (40, 69), "C": (235, 195)},
    "nearly as long as each other": {"B": (44, 72), "C": (265, 198)},
}


@pytest.mark.parametrize("places", ROUGH.values(), ids=[*ROUGH])
def test_a_rough_drawing_is_none(places):
    assert warned(drawn(FOUR_BAR, **places)) == []


def test_a_wrong_drawing_is_none_that_an_exchange_explains():
    messages = warned(drawn(FOUR_BAR, B=(40, 69), C=(400, 300)))
    assert messages
    assert not any("exchanged" in message for message in messages)
    assert all("correct the drawing" in message for message in messages)


@pytest.mark.parametrize("name", library_names())
def test_no_shipped_mechanism_is_warned_of(name):
    assert warned(library_path(name).read_text(encoding="utf-8")) == []


def test_the_line_of_a_joint_without_points_is_none():
    assert line_in_text(FOUR_BAR, "A") is None
    assert line_in_text(FOUR_BAR, "B") == (12, "at: [[0, 0], [a, 0]]")
    assert line_in_text("", "B") is None


def test_a_sign_that_explains_as_much_is_told_beside_an_exchange():
    """An upper wishbone of 310 mm, 770 mm from the ground's origin as its pin is drawn."""
    arms = """\
name: wishbones
space: planar
gravity: [0, -9.81]
geometry:
  yl: {value: 250, unit: mm}
  yu: {value: 330, unit: mm}
  ll: {value: 420, unit: mm}
  lu: {value: 310, unit: mm}
  hu: {value: 280, unit: mm}
bodies: {lower: {}, upper: {}, upright: {}}
joints:
  A: {type: revolute, connects: [ground, lower], at: [[yl, 150 mm], [0, 0]]}
  B: {type: revolute, connects: [lower, upright], at: [[ll, 0], [0, 0]]}
  C: {type: revolute, connects: [upright, upper], at: [[0, hu], [lu, 0]]}
  D: {type: revolute, connects: [ground, upper], at: [[yu, 430 mm], [0, 0]]}
coordinates: [A]
assembly: {A: 0, points: {B: [670 mm, 150 mm], C: [640 mm, 428 mm]}}
"""
    assert warned(arms) == []
    (message,) = warned(arms.replace("[[yu, 430 mm]", "[[-yu, 430 mm]"))
    assert "joints.D.at (line 15): C and D are 0.97 m apart as drawn, and 0.31 m" in message
    assert "with the sign of at[0][0] turned round 0.31 m and 0.31 m" in message
    assert "Write at: [[yu, 430 mm], [0, 0]], or at: [[0, 0], [-yu, 430 mm]] if" in message
