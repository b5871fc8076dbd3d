"""What vanishes at a geometry: within rounding, and not for being small."""

from fractions import Fraction

import numpy as np
import pytest

from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure
from basepar_core.expressions.tree import Call, Name, Number, add, evaluate, multiply, subtract
from basepar_core.files import mechanism_file
from basepar_core.symbolic.validity import magnitude, vanishing

a, b, t = Name("a"), Name("b"), Name("t")
cosine, sine = Call("cos", (t,)), Call("sin", (t,))

#: A double pendulum whose second pin stands above the first at t = 90 deg; φ₂ with one.mx divides
#: by its distance along x.
ARM = """
name: arm
space: planar
gravity: [0, -9.81]
geometry: {l: {value: 0.4, unit: m}, h: {value: HEIGHT, unit: m}, k: {value: 0.1, unit: m},
           t: {value: ANGLE, unit: deg}}
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[WHERE, l], [0, 0]]}
coordinates: [A, B]
excitation: {kind: states, samples: 20, seed: 1, amplitude: {A: 1, B: 1}, frequency: 0.5 Hz}
"""


def arm(where: str, angle: str = "30", height: str = "0.3"):
    text = ARM.replace("WHERE", where).replace("ANGLE", angle).replace("HEIGHT", height)
    return closure.prepare(mechanism_file.loads(text))


def test_zeros_that_float64_misses():
    values = {
        "a": np.array([0.1 + 0.2, 0.3 + 1e-6, 1e-9, 0.0]),
        "b": np.array([0.3, 0.3, 2e-9, 0.0]),
        "t": np.radians([90.0, 89.9999, 270.0, 0.0]),
    }
    assert values["a"][0] != values["b"][0]
    assert np.cos(values["t"][0]) != 0
    square = Call("^", (a, Number(Fraction(2))))
    expressions = [subtract(a, b), multiply(a, cosine), square, add(cosine, sine)]
    assert vanishing(expressions, values).tolist() == [
        [True, False, False, True],  # two roundings; a millionth; small numbers apart; 0 − 0
        [True, False, True, True],  # a right angle; almost one; another; a is 0
        [False, False, False, True],
        [False, False, False, False],
    ]


def test_numbers_and_arrays_together():
    assert vanishing([a], {"a": 0.0}).tolist() == [[True]]
    assert vanishing([a, b], {"a": np.array([1.0, 0.0]), "b": 3.0}).tolist() == [
        [False, True],
        [False, False],
    ]
    assert vanishing([], {"a": np.zeros(3)}).shape == (0, 3)
    assert vanishing([a], {"a": np.array([np.nan, np.inf])})[0, 0]


def test_magnitude_is_the_sum_of_terms():
    expression = subtract(multiply(Number(Fraction(-3)), a, cosine), Call("^", (b, Number(2))))
    (found,) = evaluate([magnitude(expression)], {"a": -2.0, "b": -5.0, "t": 1.0})
    assert found == 3 * 2 + 25


@pytest.mark.parametrize(
    ("where", "changed", "told"),
    [
        ("l*cos(t)", {"angle": "90"}, "cos(t)"),
        ("h - 3*k", {"height": "0.3"}, "h - 3*k"),
    ],
)
def test_a_pole_of_the_users_choice_is_a_doubt(where, changed, told):
    """In float64 β is 1e16 or a division by 5e-17 there, which is no infinity."""
    model = arm(where, **changed)
    wanted = parameter_indices(model.mechanism, ["one.m", "one.mx"])
    base = symbolic(model, wanted)
    assert base.rank == 6
    assert "infinite at the nominal geometry" in base.doubt
    assert told in base.doubt
    assert base.vanishing_pivots(model.mechanism.nominal).sum() == 1
    # Another choice has a value there, and so has the same one at another geometry.
    assert symbolic(model).doubt == ""
    assert symbolic(arm(where, angle="40", height="0.35"), wanted).doubt == ""
