"""Points with another length's symbol, and axes along another direction: which is named."""

from itertools import combinations

import pytest

from basepar_core.dynamics import explanation, mistaken_entries, mistaken_lengths, prepare
from basepar_core.dynamics.assembly import laid_out, stated_values
from basepar_core.dynamics.trials import Trial
from basepar_core.errors import AssemblyError
from basepar_core.files import library_names, loads, mechanism_file

from .test_mistaken_units import CRANK

BARS = """\
name: four-bar
space: planar
gravity: [0, -9.81]
geometry:
  r: {value: 80, unit: mm}
  l: {value: 260, unit: mm}
  k: {value: 220, unit: mm}
  d: {value: 280, unit: mm}
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[l, 0], [k, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[d, 0], [0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -25 deg, C: 62 deg, D: 97 deg}
"""


def told(text):
    """The place, what stands there and what is meant, by the error or the finding."""
    try:
        one = explanation(prepare(loads(text)))
    except AssemblyError as error:
        (place,) = error.where
        meant, written = error.message.split(" With ")[1].split(" in place of ")
        return place, written.split(f" in {place} all loops close as stated")[0], meant
    return one.place, one.written, one.meant


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("[[l, 0], [k, 0]]", "[[r, 0], [k, 0]]", "joints.C.at[0][0]"),
        ("[[l, 0], [k, 0]]", "[[l, 0], [r, 0]]", "joints.C.at[1][0]"),
        ("[[r, 0], [0, 0]]", "[[l, 0], [0, 0]]", "joints.B.at[0][0]"),
        ("[[d, 0], [0, 0]]", "[[r, 0], [0, 0]]", "joints.D.at[0][0]"),
    ],
)
@pytest.mark.parametrize("values", ["B: -25 deg, C: 62 deg, D: 97 deg", "B: -25 deg, D: 97 deg"])
def test_the_symbol_to_write(right, wrong, place, values):
    text = BARS.replace("B: -25 deg, C: 62 deg, D: 97 deg", values)
    assert right in text
    side = int(place[-5])
    meant, written = (pair[2:-2].split("], [")[side].split(",")[0] for pair in (right, wrong))
    assert told(text.replace(right, wrong)) == (place, written, meant)


def test_of_equal_lengths_the_one_without_a_place_is_meant():
    text = BARS.replace("k: {value: 220", "k: {value: 260").replace("[[l, 0]", "[[r, 0]")
    text = text.replace(
        "B: -25 deg, C: 62 deg, D: 97 deg", "B: -15.7 deg, C: 55.9 deg, D: 100 deg"
    )
    assert told(text) == ("joints.C.at[0][0]", "r", "l")


def test_no_symbol_explains_another_length():
    text = BARS.replace("[[l, 0], ", "[[90 mm, 0], ")
    assert explanation(prepare(loads(text))) is None


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("[[d, 0], [0, 0]]", "[[d, 0], [d, 0]]", "joints.D.at[1]"),
        ("[[r, 0], [0, 0]]", "[[r, 0], [40 mm, 69 mm]]", "joints.B.at[1]"),
    ],
)
@pytest.mark.parametrize("values", ["B: -25 deg, C: 62 deg, D: 97 deg", "B: -25 deg, D: 97 deg"])
def test_a_point_in_the_frame_of_the_ground(right, wrong, place, values):
    text = BARS.replace("B: -25 deg, C: 62 deg, D: 97 deg", values)
    found_place, _, meant = told(text.replace(right, wrong))
    assert (found_place, meant) == (place, "[0, 0]")


def test_a_slider_whose_point_is_where_it_stands():
    text = CRANK.replace("[[l, 0], [0, 0]]", "[[l, 0], [264 mm, 0]]")
    assert told(text) == ("joints.C.at[1]", "[0.264 m, 0]", "[0, 0]")
    found = explanation(prepare(loads(text)))
    assert found.why == "points are in the own frame of their body, piston"
    # What is stated may be the piston's middle.
    assert explanation(prepare(loads(text.replace("D: 264 mm", "D: 0")))) is None


@pytest.mark.parametrize("angle", [20, 30, 45, 60])
def test_no_bar_without_length_is_meant(angle):
    """A rod that is drawn roughly is 6 to 15 deg off."""
    stated = f"A: {angle} deg, B: -{angle} deg"
    text = CRANK.replace("A: 40 deg, B: -46 deg, C: 6 deg, D: 264 mm", stated)
    text = text.replace("r: {value: 60", "r: {value: 80").replace(
        "l: {value: 220", "l: {value: 260"
    )
    text = text.replace("e: {value: 15", "e: {value: 0")
    assert explanation(prepare(loads(text))) is None


def test_an_axis_of_symbols_is_not_written():
    axis = "axis: [[cos(al), sin(al)], [1, 0]]"
    text = CRANK.replace("axis: [[1, 0], [1, 0]]", axis)
    text = text.replace("  e: {", "  al: {value: 90, unit: deg}\n  e: {")
    mechanism = loads(text)
    own = Trial(mechanism, stated_values(mechanism), laid_out)
    assert mistaken_entries.explaining(own) is None


def with_exchanged(text, one, two):
    """The text with the lines of two symbols exchanged but for their names."""
    lines = [next(x for x in text.splitlines() if x.startswith(f"  {n}: {{")) for n in (one, two)]
    (_, first), (_, second) = (line.split(": ", 1) for line in lines)
    text = text.replace(lines[0], f"  {one}: {second}")
    return text.replace(lines[1], f"  {two}: {first}")


@pytest.mark.parametrize(("one", "two"), [*combinations("rkd", 2), ("r", "l"), ("l", "d")])
def test_exchanged_values_of_two_lengths(one, two):
    found = explanation(prepare(loads(with_exchanged(BARS, one, two))))
    right = {"r": "80 mm", "l": "260 mm", "k": "220 mm", "d": "280 mm"}
    told = [(x.place, x.written, x.meant) for x in (found, found.partner)]
    assert told == [
        (f"geometry.{one}", right[two], right[one]),
        (f"geometry.{two}", right[one], right[two]),
    ]
    assert found.why == ""


def test_exchanged_lengths_of_a_loop_that_stays_open():
    bounded = CRANK.replace("60, unit: mm", "60, unit: mm, bounds: [40, 80]")
    bounded = bounded.replace("220, unit: mm", "220, unit: mm, bounds: [200, 300]")
    told = (
        r"With the values of geometry.r and geometry.l exchanged \(r = 60 mm, l = 220 mm\) all "
        "loops close as stated; their bounds are to be exchanged as well."
    )
    with pytest.raises(AssemblyError, match=told) as caught:
        prepare(loads(with_exchanged(bounded, "r", "l")))
    assert caught.value.where == ("geometry.r", "geometry.l")


LOCKS = "cycle: {joints: {A: {kind: constant_speed, speed: 60 rpm, turns: 1}}, samples: 24}\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("l: {value: 260", "130"), ("d: {value: 280", "380"), ("k: {value: 220", "90")],
)
def test_a_length_with_which_the_cycle_locks(right, wrong):
    name, value = right.split(": {value: ")
    text = BARS.replace(right, f"{name}: {{value: {wrong}")
    text = text.replace("C: 62 deg", "C: 62.1 deg") + LOCKS
    place, written, meant = told(text)
    assert (place, written) == (f"geometry.{name}", f"{wrong} mm")
    assert meant == f"{value} mm"
    assert explanation(prepare(loads(BARS + LOCKS))) is None
    if name == "l":  # values that are met about, and a motion that goes through
        assert explanation(prepare(loads(text.replace(wrong, "190")))) is None


def test_an_eccentricity_of_zero_is_a_length():
    """With values of whole degrees nothing is named, with an eccentricity that is missing it."""
    text = CRANK.replace("e: {value: 15", "e: {value: 0").replace(", D: 264 mm", "")
    right = text.replace("A: 40 deg, B: -46 deg, C: 6 deg", "A: 60 deg, B: -74 deg, C: 14 deg")
    assert explanation(prepare(loads(right))) is None
    rough = right.replace("-74 deg, C: 14 deg", "-75 deg, C: 15 deg")
    assert explanation(prepare(loads(rough))) is None
    missing = loads(right.replace("-74 deg, C: 14 deg", "-50 deg, C: -10 deg"))
    found = mistaken_lengths.explaining(Trial(missing, stated_values(missing), laid_out))
    assert (found.place, found.written) == ("geometry.e", "0 mm")
    assert float(found.meant.removesuffix(" mm")) == pytest.approx(90, abs=1)


def test_no_length_fits_where_bodies_cannot_be_laid_out():
    def impossible(mechanism):
        raise AssemblyError("no axis")

    mechanism = loads(BARS)
    own = Trial(mechanism, stated_values(mechanism), impossible)
    assert mistaken_lengths.explaining(own) is None


@pytest.mark.parametrize("wrong", ["[[0, 1], [0, 1]]", "[[0, 1], [1, 0]]"])
def test_an_axis(wrong):
    spoilt = CRANK.replace("axis: [[1, 0], [1, 0]]", f"axis: {wrong}")
    assert told(spoilt) == ("joints.D.axis", wrong, "[[1, 0], [1, 0]]")


SPACE = """\
name: spatial-slider-crank
space: spatial
gravity: [0, 0, -9.81]
bodies: {crank: {}, rod: {}, piston: {}}
joints:
  A: {type: revolute, connects: [ground, crank], axis: [[0, 1, 0], [0, 1, 0]]}
  B: {type: spherical, connects: [crank, rod], at: [[60 mm, 0, 0], [0, 0, 0]]}
  C:
    type: universal
    connects: [rod, piston]
    at: [[220 mm, 0, 0], [0, 0, 0]]
    axis: [[0, 1, 0], [0, 0, 1]]
  D:
    type: prismatic
    connects: [ground, piston]
    at: [[0, 30 mm, 0], [0, 0, 0]]
    axis: [[1, 0, 0], [1, 0, 0]]
coordinates: [A]
assembly: {A: 40 deg, C.1: -80 deg, C.2: -98 deg, D: 260 mm}
"""


@pytest.mark.parametrize(
    ("joint", "right", "wrong"),
    [
        ("A", "[[0, 1, 0], [0, 1, 0]]", "[[0, 0, 1], [0, 0, 1]]"),
        ("A", "[[0, 1, 0], [0, 1, 0]]", "[[1, 0, 0], [1, 0, 0]]"),
        ("D", "[[1, 0, 0], [1, 0, 0]]", "[[0, 1, 0], [0, 1, 0]]"),
        ("D", "[[1, 0, 0], [1, 0, 0]]", "[[1, 0, 0], [0, 0, 1]]"),
    ],
)
def test_an_axis_in_space(joint, right, wrong):
    assert explanation(prepare(loads(SPACE))) is None
    assert SPACE.count(right) == 1
    assert told(SPACE.replace(right, wrong)) == (f"joints.{joint}.axis", wrong, right)


def test_axes_of_a_universal_joint_are_no_other_ones():
    text = SPACE.replace("[[0, 1, 0], [0, 0, 1]]", "[[0, 0, 1], [0, 0, 1]]")
    assert explanation(prepare(loads(text))) is None


@pytest.mark.parametrize("name", library_names())
def test_no_shipped_entry_is_mistaken(name):
    assert explanation(prepare(mechanism_file.load(name))) is None
