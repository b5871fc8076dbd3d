"""Symbolic β without joint rules: equal to the symbolic route's, and where that has a gap."""

import re

import pytest

from basepar_core.base.numeric_route import group
from basepar_core.base.precise_route import precise_rank
from basepar_core.base.symbolic_route import black_box, nominal_observation, numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.errors import EliminationError, FamilyError
from basepar_core.expressions.tree import evaluate
from basepar_core.files import mechanism_file
from basepar_core.finite_field.interpolated_beta import black_box_beta
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from tests.core.finite_field.test_exact_family import ARM, BENNETT, made


def same(model, base, found):
    """Every entry as an element of the geometry field."""
    field = GeometryField.of(model.mechanism)
    expected = {
        (base.kept[e.base], base.eliminated[e.eliminated]): field.element(e.expression)
        for e in base.beta
    }
    assert found.entries.keys() == expected.keys()
    return all(field.reduce(x - expected[k]) == 0 for k, x in found.entries.items())


#: Together with the symbolic route more than three seconds.
SLOW = {"rack-steering", "sla-suspension", "stewart-gough", "delta"}
#: A null vector of its own numbers: its coupling's offset is free in the family.
SPECIAL = {"gripper"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k
        for k in mechanism_file.library_names()
        if k not in SPECIAL
    ],
)
def test_equal_to_the_symbolic_route(name):
    """No joint rule is used; angles (Delta, 3-RPS) and lengths tied by closure among them."""
    model = closure.prepare(mechanism_file.load(name))
    base = symbolic(model)
    found = black_box_beta(model, base.eliminated)
    assert same(model, base, found)
    assert {vector.grade for vector in found.vectors} == {"probability"}


def test_numbers_in_metres_spoil_homogeneity_only():
    moving = made(ARM, EXTRA="", RELATIONS="", AXES="[[0, 3, 4], [0, 0, 5]]")
    base = symbolic(moving, exact=False)
    assert same(moving, base, black_box_beta(moving, base.eliminated))


def test_algebraic_numbers_and_angles():
    """An axis at 60 degrees by r3² = 3, and one at a free angle."""
    for extra, relations, axis in (
        (", r3: {value: sqrt(3)}", "relations: {r3: r3^2 = 3}", "[[0, 1, r3], [0, 0, 2]]"),
        (", t: {value: 20 deg, unit: deg}", "", '[[0, "sin(t)", "cos(t)"], [0, 0, 1]]'),
    ):
        moving = made(ARM, EXTRA=extra, RELATIONS=relations, AXES=axis)
        base = symbolic(moving, exact=False)
        assert same(moving, base, black_box_beta(moving, base.eliminated))


@pytest.mark.parametrize("symbols", [False, True])
def test_a_vector_that_no_rule_finds(symbols):
    """Bennett's linkage: joint rules leave 10, its rank is 9; the box finds what is missing."""
    geometry = "geometry: {b: {value: 4, unit: m}}" if symbols else ""
    long_, wide = ("3/4*b", "b") if symbols else ("3", "4")
    moving = made(BENNETT, GEOMETRY=geometry, LONG=long_, WIDE=wide)
    eliminated = numeric(moving).eliminated
    found = black_box_beta(moving, eliminated)
    assert len(found.vectors) == 30 - 9
    field = GeometryField.of(moving.mechanism)
    rules = joint_vectors(Transfers(moving.mechanism, field))
    names = moving.mechanism.parameter_names
    left = [
        len(names) - len(eliminate(field, v, names).eliminated)
        for v in (rules, [*rules, *found.vectors])
    ]
    assert left == [10, 9]
    # At nominal lengths it is what float64 sees, to rounding of W's singular values.
    grouping = group(nominal_observation(moving).stacked[0], 9, names, list(eliminated))
    for (b, e), x in found.entries.items():
        (value,) = evaluate([field.to_expression(x)], moving.mechanism.nominal)
        place = grouping.kept.index(b), grouping.eliminated.index(e)
        assert grouping.beta[place] == pytest.approx(float(value), rel=1e-6, abs=1e-9)


def test_refusals():
    model = closure.prepare(mechanism_file.load("four-bar"))
    with pytest.raises(EliminationError, match="exactly 4 must be"):
        black_box_beta(model, [0, 1])
    names = model.mechanism.parameter_names
    wanted = [names.index(k) for k in ("coupler.J", "rocker.J", "crank.my")]
    with pytest.raises(EliminationError, match="depends on others that are kept"):
        black_box_beta(model, wanted)


def equal_legs(name, symbols):
    """A library mechanism whose legs have one symbol each: those of the first."""
    text = mechanism_file.load(name).source
    text = re.sub(rf"(?m)^  [{symbols}][23]: .*\n", "", text)
    text = re.sub(rf"\b([{symbols}])[23]\b", r"\g<1>1", text)
    return closure.prepare(mechanism_file.loads(text))


#: By name: symbols of a leg, and the rank, which legs of their own have too.
EQUAL_LEGS = {"3-rps": ("p", 25), "delta": ("lk", 34)}


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in EQUAL_LEGS]
)
def test_equal_legs_say_what_helps(name):
    """With a symbol each (the library's) the box finds the rank; with one the routes named do."""
    symbols, rank = EQUAL_LEGS[name]
    model = equal_legs(name, symbols)
    with pytest.raises(FamilyError, match="one of its own for each leg") as caught:
        black_box(model)
    said = caught.value.message
    assert said.count("one of its own for each leg") == 1
    assert said.endswith("the symbolic route (the default) and the precise route have.")
    assert precise_rank(model).rank == rank
    base = symbolic(model)
    assert (base.rank, base.count) == (rank, rank)
