"""Couplings over finite fields: the sign of a coupled axis's length."""

import pytest

from basepar_core.dynamics import prepare
from basepar_core.errors import FamilyError
from basepar_core.files import loads
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
