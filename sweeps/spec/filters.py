"""The space's filter: which variants are worth evaluating.

A variant that fails a condition of `where` keeps its row, with the status *filtered*: a grid
stays a grid, and a Sobol plan keeps its place in the sequence.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from basepar_core.errors import ExpressionError
from basepar_core.expressions import (
    DIMENSIONLESS,
    NUMBER,
    Dimension,
    Expression,
    evaluate,
    parse,
    parse_comparison,
    parse_unit,
)
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism, Symbol
from sweeps.store import Columns

from .plan_products import Formula, values_of


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of `where`: its text, and the comparison it means (names are symbols, SI).

    `line` is where its file has it; 0 where it comes from no file.
    """

    text: str
    expression: Expression
    line: int = field(default=0, compare=False)


def dimensions(mechanism: Mechanism) -> dict[str, Dimension | None]:
    """What every symbol and constant measures."""
    return {
        symbol.name: parse_unit(symbol.unit).dimension if symbol.unit else NUMBER
        for symbol in mechanism.geometry + mechanism.constants
    }


def angles(mechanism: Mechanism) -> set[str]:
    """Symbols and constants in rad, deg or rev, which have no dimension."""
    return {one.name for one in mechanism.geometry + mechanism.constants if one.is_angle}


def condition(mechanism: Mechanism, text: str) -> Condition:
    """A condition over a mechanism's symbols and constants, units checked."""
    known = dimensions(mechanism)
    try:
        return Condition(text, parse_comparison(text, known))
    except ExpressionError as error:
        named = [one for one in mechanism.geometry if re.search(rf"\b{one.name}\b", text)]
        lengths = [one for one in named if one.is_length]
        raise ExpressionError(_likely_first(error.message, lengths), error.where) from None


def _likely_first(message: str, lengths: Sequence[Symbol]) -> str:
    """A message that offers a number in mm or in m, first in what is nearer to the lengths."""
    offer = re.search(r"'(\S+) mm' or '\1 m'", message)
    sizes = [abs(float(x)) for x in evaluate([one.value for one in lengths], {})]
    size = max(sizes, default=0.0)
    # In mm the number is 1000 times less: m are nearer from the mean of both ratios on, √1000.
    if offer is None or not abs(float(Fraction(offer[1]))) < 1000**0.5 * size:
        return message
    return message.replace(offer[0], f"'{offer[1]} m' or '{offer[1]} mm'")


def formula(mechanism: Mechanism, name: str, text: str, later: Collection[str] = ()) -> Formula:
    """What a symbol follows from, units checked; symbols of `later` have no value yet.

    Raises
    ------
    ExpressionError
        The text is no expression, its unit does not fit, or it needs a later symbol or itself.
    """
    units = {
        symbol.name: parse_unit(symbol.unit) if symbol.unit else DIMENSIONLESS
        for symbol in mechanism.geometry
    }
    expression = parse(text, units[name], dimensions(mechanism))
    needed = names_of(expression)
    for relation in mechanism.relations:
        if relation.symbol in needed:  # a root has no value before what it follows
            needed |= names_of(relation.polynomial)
    early = sorted(needed & set(later))
    if early:
        raise ExpressionError(
            f"{text!r} needs {', '.join(early)}, which has no value yet. Put formulas after those "
            "that they need."
        )
    return Formula(name, text, expression)


@dataclass(frozen=True)
class Filter:
    """Conditions on rows; symbols that are not swept are nominal, or roots that follow."""

    conditions: tuple[Expression, ...]
    mechanism: Mechanism

    @classmethod
    def of(cls, mechanism: Mechanism, conditions: Iterable[Condition]) -> "Filter":
        """The filter of a sweep."""
        return cls(tuple(line.expression for line in conditions), mechanism)

    def first_failed(self, columns: Columns) -> np.ndarray:
        """Number of the first condition each row fails, counted from 1; 0 if it meets all.

        A condition without a value (a root of a negative number) is not met.

        Parameters
        ----------
        columns
            Swept symbols, SI, each (variant,).

        Returns
        -------
        (variant,) int64.
        """
        count = len(next(iter(columns.values())))
        failed = np.zeros(count, np.int64)
        met = values_of(self.mechanism, self.conditions, columns)
        for number, holds in enumerate(met, start=1):
            failed[(failed == 0) & ~np.broadcast_to(np.asarray(holds, bool), count)] = number
        return failed
