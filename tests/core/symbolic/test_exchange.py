"""φ₂ for short expressions: nothing that one exchange, or none at all, would make shorter."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import sympy
import yaml

from basepar_core.base.named_parameters import parameter_indices
from basepar_core.errors import EliminationError
from basepar_core.files import mechanism_file
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.exchange import LONGEST_PIVOT, Table, cleared, exchange, never
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from tests.mechanisms import linkage
from workflows import reproduce

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAPER = Path(reproduce.__file__).parent / "low-mobility.yaml"


def case(name):
    mechanism = name if isinstance(name, Mechanism) else mechanism_file.load(name)
    field = GeometryField.of(mechanism)
    vectors = joint_vectors(Transfers(mechanism, field))
    return mechanism, field, vectors, mechanism.parameter_names


def greedy(field, vectors, names):
    """Columns solved for the greedy φ₂, and which of them is each parameter's."""
    ring, given = field.quotients, eliminate(field, vectors, names, search=False)
    columns = {
        k: {r: ring.of(-x) for r, x in given.beta[row].items()} | {row: ring.of(field.one)}
        for row, k in given.sources.items()
    }
    return columns, given.sources


def plain_exchange(ring, columns, pivot_of, names):
    """What `exchange` does, by trying every exchange in every round."""
    row_of = {k: row for row, k in pivot_of.items()}
    while True:
        found = []
        for k, row in row_of.items():
            for r in columns[k].keys() - {row}:
                changed = cleared(ring, columns, r, k)
                before, after = (
                    sum(x.cost for i in changed for x in of[i].values())
                    for of in (columns, changed)
                )
                if after < before and columns[k][r].size <= LONGEST_PIVOT:
                    found.append((after - before, names[r], names[row], r, k))
        if not found:
            return {row: k for k, row in row_of.items()}
        *_, r, k = min(found)
        columns.update(cleared(ring, columns, r, k))
        row_of[k] = r


def cost(field, result):
    """Size of β, denominators three times, from sympy's own quotients."""

    def size(polynomial):
        degrees = sum(max(m[k] for m in polynomial.monoms()) for k in range(polynomial.ring.ngens))
        plain = 0.0 if abs(polynomial.LC) == 1 else 0.5
        return degrees + (plain if len(polynomial) == 1 else 3.0 * len(polynomial))

    entries = [value for column in result.beta.values() for value in column.values()]
    return sum(size(value.numer) + 3 * size(value.denom) for value in entries)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar"])
@pytest.mark.slow
def test_no_choice_at_all_is_shorter(name):
    """All sets of parameters are tried: on these the local search ends at the best of them."""
    _, field, vectors, names = case(name)
    found = eliminate(field, vectors, names)
    best = float("inf")
    for wanted in combinations(range(len(names)), len(found.eliminated)):
        try:
            best = min(best, cost(field, eliminate(field, vectors, names, wanted)))
        except EliminationError:
            continue
    assert cost(field, found) == best


@pytest.mark.parametrize("name", ["ur10", "sla-suspension", "stewart-gough"])
def test_no_single_exchange_is_shorter(name):
    _, field, vectors, names = case(name)
    found = eliminate(field, vectors, names)
    here = cost(field, found)
    assert here <= cost(field, eliminate(field, vectors, names, search=False))
    # Of some exchanges a fresh elimination says what they cost.
    pairs = [(row, r) for row in found.eliminated for r in found.beta[row]]
    for row, r in pairs[::5]:
        wanted = [r if k == row else k for k in found.eliminated]
        assert cost(field, eliminate(field, vectors, names, wanted)) >= here


@pytest.mark.parametrize("name", ["ur10", "sla-suspension", "watt-ii"])
def test_gains_are_what_clearing_makes_of_the_cost(name):
    """Of every exchange, by the columns themselves; given up is only what does not shorten β."""
    _, field, vectors, names = case(name)
    ring, (columns, pivot_of) = field.quotients, greedy(field, vectors, names)
    table = Table(ring, columns, len(names))
    gains = 0
    for row, k in pivot_of.items():
        for r in columns[k].keys() - {row}:
            changed = cleared(ring, columns, r, k)
            before, after = (
                sum(x.cost for i in changed for x in found[i].values())
                for found in (columns, changed)
            )
            assert table.bound[r, table.place[k]] >= before - after
            assert table.gain(r, k, never) == max(0.0, before - after)
            gains += before > after
    assert gains


def arm(seed):
    """Of four joints at random, in random directions at random points."""
    kinds = np.random.default_rng(seed).choice(["revolute", "prismatic", "spherical"], 4)
    bodies = ["ground", "b1", "b2", "b3", "b4"]
    return linkage(seed, [(f"j{k}", str(kinds[k]), *bodies[k : k + 2]) for k in range(4)])


@pytest.mark.parametrize("of", ["ur10", "sla-suspension", "stewart-gough", *range(6)])
def test_the_choice_is_that_of_trying_every_exchange(of):
    _, field, vectors, names = case(arm(of) if isinstance(of, int) else of)
    ring, (columns, pivot_of) = field.quotients, greedy(field, vectors, names)
    expected = plain_exchange(ring, dict(columns), pivot_of, names)
    assert exchange(ring, columns, pivot_of, names) == expected


def test_every_start_of_the_suspension_ends_alike():
    """The paper's φ₂ and the greedy one; the end is half as long as the paper's β."""
    mechanism, field, vectors, names = case("sla-suspension")
    paper = yaml.safe_load(PAPER.read_text())
    start = parameter_indices(mechanism, paper["no_effect"] + paper["transferred"])
    given = eliminate(field, vectors, names, start)
    ring = field.quotients
    columns = {k: {r: ring.of(x) for r, x in v.entries.items()} for k, v in enumerate(vectors)}
    for row, column in given.sources.items():
        columns.update(cleared(ring, columns, row, column))
    pivot_of = exchange(ring, columns, given.sources, names)
    again = eliminate(field, vectors, names, tuple(pivot_of))
    found = eliminate(field, vectors, names)
    assert cost(field, again) == cost(field, found) < 0.5 * cost(field, given)


def test_order_of_the_file_does_not_matter():
    _, field, vectors, names = case("ur10")
    usual = {names[k] for k in eliminate(field, vectors, names).eliminated}
    assert {names[k] for k in eliminate(field, vectors[::-1], names).eliminated} == usual


@pytest.mark.parametrize(("name", "rank"), [("arm-6r", 36), ("arm-7r", 43)])
@pytest.mark.parametrize("search", [False, True])
@pytest.mark.slow
def test_arms_with_symbolic_twists(name, rank, search):
    """7n − 6 base parameters, and (1 β) N vanishes at exact points of the circles c² + s² = 1."""
    mechanism, field, vectors, names = case(FIXTURES / f"{name}.yaml")
    result = eliminate(field, vectors, names, search=search)
    assert len(names) - len(result.eliminated) == rank
    values = {}
    for k, symbol in enumerate(mechanism.geometry):
        if symbol.is_angle:
            t = sympy.Rational(2 * k + 3, 7)  # rational points: tan(angle/2) = t
            values[sympy.cos(sympy.Symbol(symbol.name))] = (1 - t**2) / (1 + t**2)
            values[sympy.sin(sympy.Symbol(symbol.name))] = 2 * t / (1 + t**2)
        else:
            values[sympy.Symbol(symbol.name)] = sympy.Rational(3 * k + 2, 5)

    def exact(element):
        return field.to_sympy(element).xreplace(values)

    N = [{r: exact(x) for r, x in vector.entries.items()} for vector in vectors]
    beta = {e: {r: exact(x) for r, x in column.items()} for e, column in result.beta.items()}
    for vector in N:
        left = dict(vector)  # n₁ = −β n₂
        for e in result.eliminated:
            for r, value in beta[e].items():
                left[r] = left.get(r, 0) + value * vector.get(e, 0)
        assert all(left[r] == 0 for r in left if r not in result.eliminated)
    poles = [exact(pivot) for pivot in result.pivots]
    assert all(pole != 0 for pole in poles)
