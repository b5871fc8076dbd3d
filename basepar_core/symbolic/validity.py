"""Whether an expression vanishes at a geometry, as far as float64 can say.

cos(90 deg) is 6e-17 in float64 and a difference of equal lengths is a few roundings: dividing by
either gives a huge number, not infinity. So a value counts as zero where it is below `ROUNDING` of
the sum of its terms' magnitudes. Known to the choice of φ₂, to the symbolic route and to sweeps.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from basepar_core.expressions import ONE, Call, Expression, Number, add, evaluate, multiply

#: A sum vanishes where it is below this share of its terms: rounding in float64.
ROUNDING = 1e-12


def magnitude(expression: Expression) -> Expression:
    """Sum of the magnitudes of an expression's terms.

    A sine or cosine counts as one: its rounding is that of an angle of order one, not its own.
    """
    match expression:
        case Number(value):
            return Number(Fraction(abs(value)))
        case Call("+", terms):
            return add(*map(magnitude, terms))
        case Call("*", factors):
            return multiply(*map(magnitude, factors))
        case Call("-", (term,)):
            return magnitude(term)
        case Call("^", (base, exponent)):
            return Call("^", (magnitude(base), exponent))
        case Call("sin" | "cos", _):
            return ONE
    return Call("abs", (expression,))


def vanishing(expressions: Sequence[Expression], values: Mapping[str, Any]) -> np.ndarray:
    """Whether polynomials vanish at geometries, within rounding.

    Parameters
    ----------
    expressions
        Of whole, nonnegative powers, as `BaseParameters.validity` has them.
    values
        Of symbols by name (SI), numbers or arrays (variant,).

    Returns
    -------
    ndarray of bool (expression, variant)
        A value that is not finite counts as zero, too: nothing can be divided by it.
    """
    count = max((np.size(value) for value in values.values()), default=1)
    found = evaluate([*expressions, *map(magnitude, expressions)], values)
    rows = [np.broadcast_to(np.asarray(x, float), (count,)) for x in found]
    numbers, sizes = np.array(rows).reshape(2, len(expressions), count)
    return ~(np.abs(numbers) > ROUNDING * sizes)
