"""Elimination against matrices: β = −N₁ N₂⁻¹ by sympy, and who may be a pivot."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy

from basepar_core.errors import EliminationError
from basepar_core.expressions.tree import Call, Name, Number
from basepar_core.files import mechanism_file
from basepar_core.mechanism import Symbol
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import NullVector, Transfers, joint_vectors

a, b, c = sympy.symbols("a b c")
FIELD = GeometryField([Symbol(n, Number(Fraction(1))) for n in "abc"], [], [])


def exact(expression):
    """A sympy expression in the field."""
    return FIELD.field.from_expr(sympy.sympify(expression))


def size(expression):
    """What an entry costs a reader."""
    return FIELD.quotients.of(exact(sympy.sympify(expression))).size


def vectors(columns, grades=None):
    """Null vectors from columns of expressions."""
    grades = grades or ["theorem"] * len(columns)
    return [
        NullVector({k: exact(x) for k, x in enumerate(column) if x != 0}, grade, "")
        for column, grade in zip(columns, grades, strict=True)
    ]


def dense(result, width):
    """β (kept, eliminated) as a sympy matrix, with the two lists of rows."""
    kept = [k for k in range(width) if k not in result.eliminated]
    beta = sympy.zeros(len(kept), len(result.eliminated))
    for e, row in enumerate(result.eliminated):
        for base, value in result.beta[row].items():
            beta[kept.index(base), e] = FIELD.to_sympy(value)
    return beta, kept


COLUMNS = [
    [1, a, 0, b**2, 0, 0],
    [0, 1, -c, 0, a * b, 0],
    [1, 0, 2, 0, 0, a + b],
]
NAMES = tuple("uvwxyz")


@pytest.mark.parametrize("wanted", list(combinations(range(6), 3)))
def test_beta_of_every_choice(wanted):
    N = sympy.Matrix(COLUMNS).T
    N2 = N[list(wanted), :]
    if sympy.expand(N2.det()) == 0:
        with pytest.raises(EliminationError, match="not an admissible choice"):
            eliminate(FIELD, vectors(COLUMNS), NAMES, wanted)
        return
    result = eliminate(FIELD, vectors(COLUMNS), NAMES, wanted)
    assert result.eliminated == wanted
    beta, kept = dense(result, 6)
    assert (beta + N[kept, :] * N2.inv()).applyfunc(sympy.cancel) == sympy.zeros(3, 3)
    # What must not vanish: the irreducible factors of β's denominators, each once.
    poles = set()
    for entry in -N[kept, :] * N2.inv():
        denominator = sympy.fraction(sympy.cancel(entry))[1]
        poles |= {factor for factor, _ in sympy.factor_list(denominator)[1]}
    found = [sympy.factor(FIELD.to_sympy(p)) for p in result.pivots]
    assert len(found) == len(poles)
    assert all(p in poles or sympy.expand(-p) in poles for p in found)


def test_choice_of_its_own_takes_ones():
    result = eliminate(FIELD, vectors(COLUMNS), NAMES, search=False)
    assert len(result.eliminated) == 3
    N = sympy.Matrix(COLUMNS).T
    beta, kept = dense(result, 6)
    expected = -N[kept, :] * N[list(result.eliminated), :].inv()
    assert (beta - expected).applyfunc(sympy.cancel) == sympy.zeros(3, 3)
    assert {0, 1} <= set(result.eliminated)  # where ones stand


def test_redundant_vectors_are_dropped_and_theorems_kept():
    third = [x + a * y for x, y in zip(COLUMNS[0], COLUMNS[1], strict=True)]
    columns = [third, COLUMNS[1], COLUMNS[0], COLUMNS[2]]
    grades = ["numerical", "theorem", "theorem", "theorem"]
    result = eliminate(FIELD, vectors(columns, grades), NAMES)
    assert len(result.eliminated) == 3
    assert sorted(result.sources.values()) == [1, 2, 3]


def test_redundant_vectors_are_not_counted_as_missing():
    """Four columns of rank three: with one parameter given two more are needed, not three."""
    columns = vectors([*COLUMNS, [2, a + 1, 2 - c, b**2, a * b, a + b]])
    with pytest.raises(EliminationError) as caught:
        eliminate(FIELD, columns, NAMES, [0])
    assert "2 more parameters must be eliminated" in str(caught.value)
    assert "needs exactly 3 eliminated parameters" in str(caught.value)


def test_seen_vectors_count_where_no_theorem_says_it():
    grades = ["numerical", "theorem", "theorem"]
    result = eliminate(FIELD, vectors(COLUMNS, grades), NAMES)
    assert sorted(result.sources.values()) == [0, 1, 2]


def test_order_of_parameters_and_vectors_does_not_matter():
    usual = eliminate(FIELD, vectors(COLUMNS), NAMES)
    chosen = {NAMES[k] for k in usual.eliminated}
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows, order = rng.permutation(6), rng.permutation(3)
        columns = [[COLUMNS[k][r] for r in rows] for k in order]
        names = [NAMES[r] for r in rows]
        other = eliminate(FIELD, vectors(columns), names)
        assert {names[k] for k in other.eliminated} == chosen


def test_message_lists_exactly_what_could_follow():
    columns = vectors(COLUMNS)
    with pytest.raises(EliminationError) as caught:
        eliminate(FIELD, columns, NAMES, [0, 1])
    text = str(caught.value)
    assert "1 more parameter must be eliminated; choose from " in text
    assert "needs exactly 3 eliminated parameters" in text
    offered = text.split("choose from ")[1].split(".")[0].split(", ")
    N = sympy.Matrix(COLUMNS).T
    possible = [NAMES[k] for k in range(2, 6) if sympy.expand(N[[0, 1, k], :].det()) != 0]
    assert offered == possible


def test_too_many_are_named():
    with pytest.raises(EliminationError, match="cannot be eliminated together") as caught:
        eliminate(FIELD, vectors(COLUMNS), NAMES, [0, 1, 2, 3])
    assert len(caught.value.where) == 1
    assert caught.value.where[0] in "uvwx"


def test_sizes_rank_as_a_reader_would():
    order = [1, a, a**2, a * b**2, a + b, a**2 + b * c + c]
    sizes = [size(x) for x in order]
    assert sizes == sorted(sizes)
    assert size(-1) == size(1) == 0
    assert size(a / b) == size(a * b)


#: Two bodies, one hinged to the other at an angle in degrees.
ARM = """
name: arm
space: planar
gravity: [0, -9.81]
geometry: {{l: {{value: 0.4, unit: m}}, t: {{value: {angle}, unit: deg}}}}
bodies: {{one: {{}}, two: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one]}}
  B: {{type: revolute, connects: [one, two], at: [[l*cos(t), l*sin(t)], [0, 0]]}}
coordinates: [A, B]
"""


def test_entries_reduce_by_relations():
    """With c² + s² = 1 the pivots and β come out reduced."""
    mechanism = mechanism_file.loads(ARM.format(angle=30))
    field = GeometryField.of(mechanism)
    names = mechanism.parameter_names
    columns = joint_vectors(Transfers(mechanism, field))
    wanted = [names.index("one.m"), names.index("two.m")]
    result = eliminate(field, columns, names, wanted)
    second = result.beta[names.index("two.m")]
    found = {names[k]: field.to_sympy(value) for k, value in second.items()}
    l, t = sympy.symbols("l t")
    assert sympy.simplify(found["one.J"] - l**2) == 0
    assert found["one.J"] == l**2  # not l²(cos² + sin²)
    assert sympy.simplify(found["one.mx"] - l * sympy.cos(t)) == 0
    assert sympy.simplify(found["one.my"] - l * sympy.sin(t)) == 0


def test_no_pivot_vanishes_at_the_nominal_geometry():
    # a − b is the shortest entry, and 0 where a = b; the next has no such pole.
    columns = [["a - b", "a + b + c", "a + b + 2*c"]]
    anywhere = eliminate(FIELD, vectors(columns), NAMES[:3])
    assert anywhere.eliminated == (0,)
    here = eliminate(FIELD, vectors(columns), NAMES[:3], nominal={"a": 2.0, "b": 2.0, "c": 1.0})
    assert here.eliminated == (1,)


def test_a_right_angle_is_no_pivot():
    """cos(90 deg) is 6e-17 in float64; l sin t is longer by nothing and does not vanish."""
    mechanism = mechanism_file.loads(ARM.format(angle=90))
    field = GeometryField.of(mechanism)
    l, angle = field.symbol("l"), field.element(Call("cos", (Name("t"),)))
    beside = field.element(Call("sin", (Name("t"),)))
    column = NullVector({0: l * angle, 1: l * beside}, "theorem", "")
    for nominal, expected in ((None, 0), ({"l": 0.4, "t": np.pi / 2}, 1)):
        assert eliminate(field, [column], NAMES[:2], nominal=nominal).eliminated == (expected,)


def test_a_pivot_that_vanishes_is_better_than_none():
    here = eliminate(FIELD, vectors([["a - b"]]), NAMES[:1], nominal={"a": 2, "b": 2, "c": 1})
    assert here.eliminated == (0,)
