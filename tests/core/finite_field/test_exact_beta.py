"""Exact β at rational lengths against the symbolic route's expressions."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.result import BaseParameters
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.errors import EliminationError, FamilyError
from basepar_core.files import mechanism_file
from basepar_core.finite_field.beta import exact_beta
from basepar_core.finite_field.evaluation import Evaluator
from basepar_core.finite_field.reconstruction import combine, rational
from tests.core.finite_field.test_exact_family import ARM, INNER, made

#: Its loops close over lengths that β has too, or at a length that is not rational.
OUT_OF_REACH = ("3-rps", "bicycle", "delta", "watt-i")
#: Some of their null vectors are found over finite fields only.
RECOVERED = ("planetary-gear", "rack-steering", "scara", "screw-jack")
#: A null vector of its own numbers: its coupling's offset is free in the family.
SPECIAL = ("gripper",)
LIBRARY = [
    name for name in mechanism_file.library_names() if name not in (*OUT_OF_REACH, *SPECIAL)
]


@cache
def prepared(name: str) -> tuple[Model, BaseParameters]:
    model = closure.prepare(mechanism_file.load(name))
    return model, symbolic(model, exact=name in RECOVERED)


def symbolic_entries(base: BaseParameters, evaluator: Evaluator) -> dict:
    entries = {
        (base.kept[e.base], base.eliminated[e.eliminated]): evaluator.scalar(e.expression)
        for e in base.beta
    }
    return {place: x for place, x in entries.items() if x != 0}


#: Seconds of recovery each.
LONG = ("rack-steering",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.slow) if one in LONG else one for one in LIBRARY],
)
def test_equal_to_the_symbolic_route(name):
    """Every entry, as a fraction: no tolerance."""
    model, base = prepared(name)
    rng = np.random.default_rng(3)
    values = {
        s.name: Fraction(int(rng.integers(5, 50)), int(rng.integers(7, 60)))
        for s in model.mechanism.geometry
    }
    found = exact_beta(model, base.eliminated, values)
    expected = symbolic_entries(base, Evaluator(lambda value: value, values, {}))
    assert dict(found.entries) == expected
    assert found.kept == base.kept
    assert len(found.primes) == len(set(found.primes)) == len(found.seeds)


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_families_without_points_at_given_lengths_are_refused(name):
    model, base = prepared(name)
    with pytest.raises(FamilyError):
        exact_beta(model, base.eliminated)


def test_nominal_lengths_and_given_choices():
    """φ₂ of the planar paper, Eq. 25, at the file's own lengths: 3/10, 13/10 …"""
    model, _ = prepared("four-bar")
    names = model.mechanism.parameter_names
    eliminated = parameter_indices(model.mechanism, ["J1", "J2", "J3", "m1"])
    found = exact_beta(model, eliminated)
    at = {(names[b], names[e]): x for (b, e), x in found.entries.items()}
    assert at["crank.mx", "crank.J"] == Fraction(-10, 3)
    assert at["rocker.m", "rocker.J"] == Fraction(-100, 169)
    square = Fraction(7, 10) ** 2 + Fraction(11, 10) ** 2
    assert at["coupler.mx", "coupler.J"] == Fraction(-7, 10) / square
    assert at["rocker.m", "coupler.J"] == 1 / square


def test_long_fractions_take_more_primes():
    model, base = prepared("four-bar")
    values = {"lx1": Fraction(10**30 + 57, 3 * 10**30 + 1)}
    found = exact_beta(model, base.eliminated, values)
    assert len(found.primes) > 4
    full = {**{s.name: exact_value(s) for s in model.mechanism.geometry}, **values}
    expected = symbolic_entries(base, Evaluator(lambda value: value, full, {}))
    assert dict(found.entries) == expected


def exact_value(symbol) -> Fraction:
    return Evaluator(lambda value: value, {}, {}).scalar(symbol.value)


def test_angles_by_the_tangent_of_their_half():
    axes = '[[0, "sin(t)", "cos(t)"], [0, 0, 1]]'
    moving = made(ARM, EXTRA=", t: {value: 20 deg, unit: deg}", RELATIONS="", AXES=axes)
    base = symbolic(moving, exact=False)
    with pytest.raises(FamilyError, match="tangent of its half"):
        exact_beta(moving, base.eliminated)
    found = exact_beta(moving, base.eliminated, {"t": Fraction(1, 2), "l": Fraction(2, 5)})
    angles = {"t": (Fraction(3, 5), Fraction(4, 5))}
    evaluator = Evaluator(lambda value: value, {"l": Fraction(2, 5)}, angles)
    assert dict(found.entries) == symbolic_entries(base, evaluator)


def test_algebraic_numbers_must_be_rational():
    extra = ", u: {value: 0.3, unit: m}, w: {value: 0.5, unit: m}"
    relation = "relations: {w: w^2 = u^2 + l^2}"
    moving = made(ARM, EXTRA=extra, RELATIONS=relation, AXES="[[0, u, l], [0, 0, w]]")
    base = symbolic(moving, exact=False)
    values = {"u": Fraction(3), "l": Fraction(4), "w": Fraction(5)}
    found = exact_beta(moving, base.eliminated, values)
    evaluator = Evaluator(lambda value: value, values, {})
    assert dict(found.entries) == symbolic_entries(base, evaluator)
    with pytest.raises(FamilyError, match="no root"):
        exact_beta(moving, base.eliminated, {**values, "w": Fraction(6)})


def test_refusals():
    model, base = prepared("four-bar")
    with pytest.raises(EliminationError, match="exactly 4 must be"):
        exact_beta(model, base.eliminated[:-1])
    wrong = parameter_indices(model.mechanism, ["mx1", "my1", "mx2"])
    with pytest.raises(EliminationError, match="admissible"):
        exact_beta(model, wrong)
    inner = made(INNER)
    with pytest.raises(FamilyError, match="does not close"):
        exact_beta(inner, symbolic(inner, exact=False).eliminated)


def test_reconstruction():
    primes = [10007, 10009, 10037]
    for value in (Fraction(0), Fraction(-3, 7), Fraction(2500, 319), Fraction(-99991, 100003)):
        residues = [value.numerator * pow(value.denominator, -1, p) % p for p in primes]
        residue, modulus = combine(residues, primes)
        assert modulus == 10007 * 10009 * 10037
        assert rational(residue, modulus) == value
    # 1/2 modulo p is no small fraction of another value; some residues have none.
    assert any(rational(k, 10007) is None for k in range(1, 10007))
