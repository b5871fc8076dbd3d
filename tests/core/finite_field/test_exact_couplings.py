"""Couplings over finite fields: the sign of a coupled axis's length, and bounds of errors."""

from math import log2

import pytest

from basepar_core.dynamics import prepare
from basepar_core.errors import FamilyError
from basepar_core.files import loads
from basepar_core.finite_field.bounds import Bounds
from basepar_core.finite_field.family_component import find_component
from basepar_core.finite_field.rank import generic_rank

#: Two slides of one ratio: their masses count together.
SLIDES = """
name: slides
space: planar
gravity: [0, 0]
constants: {{c: {{value: 6}}}}
geometry: {{q: {{value: 2}}, t: {{value: 0.5, unit: rad}}}}
bodies: {{one: {{}}, two: {{}}}}
joints:
  K: {{type: prismatic, connects: [ground, one], axis: [{0}, {0}]}}
  L: {{type: prismatic, connects: [ground, two], axis: [{1}, {1}]}}
couplings: {{both: {{values: {{K: 1, L: -1}}}}}}
coordinates: [K]
excitation:
  {{kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {{K: 20 mm}}, samples: 64,
   seed: 1}}
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[3, 4]", "[6, 8]"),
        ("[3, 4]", "[c, 8]"),
        ('["cos(t)", "sin(t)"]', "[0, 1]"),
        ('["-cos(t)", "sin(t)"]', '["sin(t)", "cos(t)"]'),
    ],
)
def test_every_member_has_the_coupling_its_way_round(first, second):
    model = prepare(loads(SLIDES.format(first, second)))
    assert {generic_rank(model, seed).rank for seed in range(8)} == {1}


@pytest.mark.parametrize("axis", ["[0, q]", "[1, 1]"])
def test_lengths_without_a_sign_are_rejected(axis):
    model = prepare(loads(SLIDES.format("[0, 1]", axis)))
    with pytest.raises(FamilyError, match="fixed rational length"):
        generic_rank(model)


def _bounds(first="1", second="-1"):
    text = SLIDES.format("[0, 1]", "[0, 1]")
    text = text.replace("{K: 1, L: -1}", f"{{K: {first}, L: {second}}}")
    component = find_component(prepare(loads(text)))
    return Bounds(component.family, component.freedoms).modes


@pytest.mark.parametrize(
    ("coefficient", "degree", "bits"),
    [
        ("q^30", 30, 0),  # q is one parameter of a point
        ("1/q^30", 30, 0),
        ("1e30", 0, 30 * log2(10)),
        ("1e-30*q", 1, 30 * log2(10)),
    ],
)
def test_bounds_count_coefficients(coefficient, degree, bits):
    """A row of the Jacobian has its coefficients as factors, and Cramer's rule every row once."""
    plain = _bounds()
    for size in (_bounds(coefficient), _bounds("1", coefficient)):
        assert size.degree >= plain.degree + degree
        assert size.height >= plain.height + bits - 1e-6  # rounding of sums


def test_bounds_count_pi():
    """A screw of pitch p against a coupling with the arm p."""
    text = """
name: screw
space: spatial
gravity: [0, 0, 0]
geometry: {p: {value: 5, unit: mm}}
bodies: {one: {}}
joints: {C: {type: screw, connects: [ground, one], pitch: p}}
coordinates: [C.2]
"""
    plain = text.replace(
        "screw, connects: [ground, one], pitch: p", "cylindrical, connects: [ground, one]"
    )
    plain += "couplings: {both: {values: {C.1: 1, C.2: -p}}}"
    sizes = []
    for given in (text, plain):
        component = find_component(prepare(loads(given)))
        sizes.append(Bounds(component.family, component.freedoms).modes)
    assert sizes[0].degree == sizes[1].degree + 1
