"""Algebraic numbers of the geometry: the roots that the values of a file pick.

`relations: {r: r^2 = 3}` makes r a root of a polynomial. Its coefficients may contain other
symbols (`r^2 = x^2 + y^2`); when these are swept the root follows them continuously, from the
nominal geometry in a straight line, as assemblies do.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basepar_core.expressions import ONE, Expression
from basepar_core.mechanism import Mechanism, Relation, Symbol

_STEPS = 32
_NEWTON_STEPS = 8
# Variants that are followed together: all steps' numbers of each are held at once.
_BLOCK = 4096
# Of a root: a step that is no more than rounding is the last.
_SAME = 4e-16
# Newton in float64 ends at rounding; a residual this large beside its own terms is no root.
_NO_ROOT = 1e-9


def polynomial(
    symbols: Sequence[Symbol], name: str, expression: Expression
) -> tuple[tuple[Expression, ...], list[int]]:
    """An expression as a polynomial in one symbol.

    Parameters
    ----------
    symbols
        All others that occur, none of them an angle.
    name, expression
        The symbol, and what it occurs in.

    Returns
    -------
    coefficients
        From the constant term up, as expressions in the other symbols.
    factors
        Degrees in the symbol of the irreducible factors that contain it, with multiplicity.

    Raises
    ------
    ExpressionError
        Where it is not a rational function.
    """
    from .field import GeometryField  # computer algebra, which following a root does without

    geometry = GeometryField([*symbols, Symbol(name, ONE)])
    numerator = geometry.element(expression).numer
    place = len(symbols)  # free symbols keep their order; its own comes last
    by_power: dict[int, Any] = {}
    for exponents, coefficient in numerator.terms():
        rest = (*exponents[:place], 0)
        term = geometry.ring({rest: coefficient})
        power = exponents[place]
        by_power[power] = by_power.get(power, geometry.ring.zero) + term
    degree = max(by_power, default=0)
    coefficients = tuple(
        geometry.to_expression(geometry.field.new(by_power.get(k, geometry.ring.zero)))
        for k in range(degree + 1)
    )
    factors = [
        factor.degree(place)
        for factor, multiplicity in (numerator.factor_list()[1] if numerator else ())
        for _ in range(multiplicity)
    ]
    return coefficients, [size for size in factors if size > 0]


def newton(coefficients: Sequence[Any], root: Any) -> Any:
    """One step towards a root of Σ cₖ rᵏ, in whatever arithmetic the numbers are."""
    value, slope = coefficients[-1], 0 * coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        slope = slope * root + value
        value = value * root + coefficient
    return root - value / slope


def symbol_values(
    mechanism: Mechanism, values: Mapping[str, np.ndarray | float]
) -> dict[str, np.ndarray | float]:
    """Value of every symbol and constant where some are swept: nominal, swept, or a root.

    Parameters
    ----------
    mechanism
        The mechanism.
    values
        Swept symbols, (variant,) arrays or numbers, SI, and maybe their `roots`.
    """
    known: dict[str, np.ndarray | float] = {**mechanism.nominal, **values}
    if mechanism.relations and values:
        known.update(roots(mechanism, values))
    return known


def roots(
    mechanism: Mechanism, values: Mapping[str, np.ndarray | float], way: bool = False
) -> dict[str, np.ndarray]:
    """Algebraic numbers at other values of the symbols they depend on.

    Parameters
    ----------
    mechanism
        With relations, whose nominal roots are the symbols' values.
    values
        Swept symbols, (variant,) arrays or numbers, SI.
    way
        Whether the variants are steps of a way, from which the caller departs at the first nan:
        a root of a quadratic is then not followed to each of them, and may be real again beyond
        values at which it is not.

    Returns
    -------
    dict
        Algebraic numbers that depend on a swept symbol, and are not among the values already,
        (variant,) arrays; nan where the root stops being real on the way.
    """
    found = {}
    for relation in mechanism.relations:
        if relation.symbol not in values and relation.symbols & values.keys():
            steps = 1 if way and len(relation.coefficients) == 3 else _STEPS
            found[relation.symbol] = _follow(mechanism, relation, values, steps)
    return found


def _follow(
    mechanism: Mechanism,
    relation: Relation,
    values: Mapping[str, np.ndarray | float],
    steps: int,
) -> np.ndarray:
    used = relation.steps.names
    given = {name: np.asarray(x, float) for name, x in values.items() if name in used}
    # Of all values: a symbol of the relation may cancel in its coefficients.
    shape = np.broadcast_shapes(*map(np.shape, values.values()))
    size = math.prod(shape)
    flat = {name: np.broadcast_to(x, shape).ravel() for name, x in given.items()}
    parts = [np.empty(0)]
    for start in range(0, size, _BLOCK):
        here = {name: x[start : start + _BLOCK] for name, x in flat.items()}
        found = _along(mechanism, relation, here, steps)
        parts.append(np.broadcast_to(found, (min(_BLOCK, size - start),)))
    return np.concatenate(parts).reshape(shape)


def _along(
    mechanism: Mechanism, relation: Relation, values: Mapping[str, np.ndarray], steps: int
) -> np.ndarray:
    """A root of few variants, (variant,)."""
    nominal, count = mechanism.nominal, max((x.size for x in values.values()), default=1)
    shares = np.linspace(0, 1, steps + 1)[1:, None]
    start = float(nominal[relation.symbol])
    with np.errstate(all="ignore"):
        way = {name: nominal[name] + shares * (x - nominal[name]) for name, x in values.items()}
        found = relation.steps.values({**nominal, **way})
        numbers = np.array([np.broadcast_to(x, (steps, count)) for x in found])
        if len(found) == 3:
            _, linear, square = relation.steps.values(nominal)
            return _of_square(numbers, np.sign(linear + 2 * square * start))
        return _by_newton(numbers, np.full(count, start))


def _of_square(numbers: np.ndarray, side: float) -> np.ndarray:
    """Roots (variant,) of c₀ + c₁ r + c₂ r², numbers (power, step, variant).

    The slope c₁ + 2 c₂ r has the sign `side` at the nominal root, and keeps it as long as the
    roots are two: it is ± the root of the discriminant. No file's nominal root is one that two
    share.
    """
    constant, linear, square = numbers
    under = linear**2 - 4 * constant * square
    real = (under[:-1] > 0).all(axis=0) & (under[-1] >= 0)
    constant, linear, square = numbers[:, -1]
    slope = side * np.sqrt(under[-1])
    # Of two equal forms the one that subtracts nothing.
    root = np.where(
        slope * linear > 0, -2 * constant / (slope + linear), (slope - linear) / (2 * square)
    )
    return np.where(real & np.isfinite(root), root, np.nan)


def _by_newton(numbers: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Roots (variant,) of Σ cₖ rᵏ, numbers (power, step, variant), from nominal ones."""
    for step in np.moveaxis(numbers, 1, 0):
        for _ in range(_NEWTON_STEPS):
            moved = newton(step, root)
            # Each for itself: digits of a root must not depend on the variants beside it.
            moves = np.abs(moved - root) > _SAME * np.abs(moved)
            root = np.where(moves, moved, root)
            if not moves.any():
                break
    terms = np.array([c * root**k for k, c in enumerate(numbers[:, -1])])
    open_ = ~(np.abs(terms.sum(axis=0)) <= _NO_ROOT * np.abs(terms).sum(axis=0))
    return np.where(open_, np.nan, root)
