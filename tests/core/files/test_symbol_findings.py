"""Symbols that nothing names, lengths in another unit than all others, bars without length."""

import pytest

from basepar_core.files import library_names, library_path
from basepar_core.mechanism import unused_symbols

from .test_exchanged_points import warned


def test_a_symbol_that_nothing_names():
    text = library_path("four-bar").read_text(encoding="utf-8")
    line = text.splitlines().index("geometry:") + 2
    more = text.replace("geometry:\n", "geometry:\n  spare: {value: 1, unit: m}\n")
    assert unused_symbols(more) == {"spare": line}
    # A mechanism of this name does not use it; a point does.
    assert unused_symbols(more.replace("name: four-bar", "name: spare")) == {"spare": line}
    # Nor do a comment and a description that mention it.
    told = more.replace("description: >-\n", "# The spare\ndescription: >-\n  spare\n")
    assert unused_symbols(told) == {"spare": line + 2}
    used = f"{more}\npoints: {{P: {{body: coupler, at: [2*spare, 0]}}}}\n"
    assert unused_symbols(used) == {}


@pytest.mark.parametrize("name", library_names())
def test_shipped_mechanisms_use_all(name):
    assert unused_symbols(library_path(name).read_text(encoding="utf-8")) == {}


LENGTHS = """\
name: arm
space: planar
gravity: [0, -9.81]
geometry:
  a: {value: 120, unit: mm}
  b: {value: 450, unit: mm}
  c: {value: 30, unit: mm}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one], at: [[0, c], [0, 0]]}
  B: {type: revolute, connects: [one, two], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[b, 0], [0, 0]]}
coordinates: [A, B, C]
"""


def test_a_length_in_another_unit_than_all_others():
    (told,) = warned(LENGTHS.replace("450, unit: mm", "450, unit: m"))
    assert "geometry.b (line 6): 450 m is more than 500 times" in told
    assert "write unit: mm" in told


@pytest.mark.parametrize(
    "change",
    [
        ("450, unit: mm", "0.45, unit: m"),
        ("450, unit: mm", "45, unit: m"),  # a boom
        ("450, unit: mm", "450000, unit: mm"),  # in the others' unit
        ("30, unit: mm", "0.03, unit: mm"),  # a small offset
    ],
)
def test_lengths_that_may_be_meant(change):
    assert warned(LENGTHS.replace(*change)) == []


SLIDER = """\
name: slider-crank
space: planar
gravity: [0, -9.81]
geometry:
  a: {value: 120, unit: mm}
  b: {value: 450, unit: mm}
bodies: {crank: {}, rod: {}, slider: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, slider], at: [[b, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, slider], axis: [[1, 0], [1, 0]]}
coordinates: [A]
"""


def test_exchanged_points_that_leave_a_bar_without_length():
    (told,) = warned(SLIDER.replace("[[b, 0], [0, 0]]", "[[0, 0], [b, 0]]"))
    assert "joints.B (line 10) and joints.C (line 11) stand at one point of rod" in told
    assert told.endswith("the points of C are exchanged? Then write at: [[b, 0], [0, 0]].")


def test_exchanged_bodies_that_leave_a_bar_without_length():
    (told,) = warned(SLIDER.replace("[crank, rod]", "[rod, crank]"))
    assert "joints.A (line 9) and joints.B (line 10) stand at one point of crank" in told
    assert told.endswith(
        "the bodies of B look exchanged: write connects: [crank, rod] or, if these are meant in "
        "this order, at: [[0, 0], [a, 0]], not both."
    )


def test_exchanged_points_would_put_two_pins_of_the_ground_at_one_place():
    (told,) = warned(LINKAGE.replace("[[b, 0], [c, 0]]", "[[b, 0], [0, 0]]"))
    assert "joints.C (line 13) and joints.D (line 14) stand at one point of rocker" in told
    assert told.endswith("write where on rocker one of them is, in its `at`.")


LINKAGE = """\
name: four-bar-linkage
space: planar
gravity: [0, -9.81]
geometry:
  a: {value: 60, unit: mm}
  b: {value: 220, unit: mm}
  c: {value: 160, unit: mm}
  d: {value: 200, unit: mm}
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[b, 0], [c, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[d, 0], [0, 0]]}
coordinates: [A]
"""


def test_a_point_that_is_left_out_is_in_no_order():
    (told,) = warned(SLIDER.replace(", at: [[b, 0], [0, 0]]", ""))
    assert told.endswith("write where on rod one of them is, in its `at`.")
