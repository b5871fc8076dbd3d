"""Plans made of plans: products, chains, and symbols that follow the swept ones.

Like every plan they are addressed by index and hold no rows: a product of a table and a Sobol
sequence with 10⁸ rows is as small as its parts.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from basepar_core.expressions import Expression, evaluate
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import symbol_values

from .ask_tell_plan import Asked
from .plans import Grid, LatinHypercube, Plan, Random, Rows, Sobol, Zip, check_range
from .tables import Table


@dataclass(frozen=True)
class Product:
    """Every row of each part with every row of the others; the last part varies fastest."""

    parts: tuple[Plan, ...]

    def __post_init__(self) -> None:
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"Two parts of the product sweep {', '.join(twice)}; one may.")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)

    def __len__(self) -> int:
        return math.prod(len(part) for part in self.parts)

    def rows(self, start: int, stop: int) -> Rows:
        check_range(self, start, stop)
        found: Rows = {}
        inner = len(self)
        for part in self.parts:
            inner //= len(part)
            found |= _cycled(part, start, stop, inner)
        return found

    def describe(self) -> dict[str, Any]:
        return {"plan": "product", "of": [part.describe() for part in self.parts]}


def _cycled(part: Plan, start: int, stop: int, inner: int) -> Rows:
    """Rows ⌊i / inner⌋ mod n of a part of n rows, for i from start to stop − 1.

    Only as many rows of the part are computed as the slice needs.
    """
    if start == stop:
        return part.rows(0, 0)
    count, first, last = len(part), start // inner, (stop - 1) // inner
    places = np.arange(start, stop) // inner - first
    if last - first + 1 >= count:
        known, begin = part.rows(0, count), first % count
        places = (places + begin) % count
    else:
        begin, end = first % count, last % count + 1
        pieces = [(begin, end)] if begin < end else [(begin, count), (0, end)]
        blocks = [part.rows(*piece) for piece in pieces]
        known = {name: np.concatenate([block[name] for block in blocks]) for name in part.names}
    return {name: values[places] for name, values in known.items()}


@dataclass(frozen=True)
class Chain:
    """One part after the other; all sweep the same symbols."""

    parts: tuple[Plan, ...]

    def __post_init__(self) -> None:
        for part in self.parts[1:]:
            if set(part.names) != set(self.names):
                raise ValueError(
                    "The parts of a chain sweep the same symbols: the first has "
                    f"{', '.join(self.names)}, another {', '.join(part.names)}."
                )

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts[0].names

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return tuple(accumulate(len(part) for part in self.parts))

    def __len__(self) -> int:
        return self._ends[-1]

    def rows(self, start: int, stop: int) -> Rows:
        check_range(self, start, stop)
        blocks: list[Rows] = []
        for part, end in zip(self.parts, self._ends, strict=True):
            begin = end - len(part)
            first, last = max(start, begin), min(stop, end)
            if first < last or not blocks:
                first = min(max(first, begin), end)
                blocks.append(part.rows(first - begin, max(first, last) - begin))
        return {name: np.concatenate([block[name] for block in blocks]) for name in self.names}

    def describe(self) -> dict[str, Any]:
        return {"plan": "chain", "of": [part.describe() for part in self.parts]}


@dataclass(frozen=True)
class Formula:
    """A symbol computed from others: its name, the text, and what it means in SI."""

    name: str
    text: str
    expression: Expression = field(compare=False)


def values_of(
    mechanism: Mechanism, expressions: Sequence[Expression], columns: Mapping[str, np.ndarray]
) -> list[Any]:
    """Values of expressions over swept symbols, SI; the others are nominal, or roots that follow.

    Roots are followed in hundreds of Newton steps, and only where an expression names one.
    """
    if any(mechanism.roots & names_of(expression) for expression in expressions):
        return evaluate(expressions, symbol_values(mechanism, columns))
    return evaluate(expressions, {**mechanism.nominal, **columns})


@dataclass(frozen=True)
class Derived:
    """A plan with symbols that follow the swept ones, each formula after those it needs.

    `mechanism` knows the symbols that are not swept, and the roots that follow those that are.
    """

    plan: Plan
    formulas: tuple[Formula, ...]
    mechanism: Mechanism = field(compare=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.plan.names, *(formula.name for formula in self.formulas))

    def __len__(self) -> int:
        return len(self.plan)

    def rows(self, start: int, stop: int) -> Rows:
        found = self.plan.rows(start, stop)
        for formula in self.formulas:
            (values,) = values_of(self.mechanism, (formula.expression,), found)
            found[formula.name] = np.array(np.broadcast_to(values, stop - start), float)
        return found

    def knowing(self, start: int, values: np.ndarray) -> "Derived":
        """As `Asked.knowing`, of rows that are asked for."""
        assert isinstance(self.plan, Asked)
        return replace(self, plan=self.plan.knowing(start, values))

    def describe(self) -> dict[str, Any]:
        return self.plan.describe() | {"derive": {one.name: one.text for one in self.formulas}}


def document(plan: Plan) -> dict[str, Any]:
    """`describe`, and what is needed to have the rows again."""
    match plan:
        case Table() | Sobol():
            return plan.document()
        case Product() | Chain():
            return plan.describe() | {"of": [document(part) for part in plan.parts]}
        case Derived():
            return plan.describe() | document(plan.plan)
    return plan.describe()


#: What documents of plans have beyond descriptions.
_FURTHER = ("directions", "rows", "file")


def described(space: Mapping[str, Any]) -> dict[str, Any]:
    """What `describe` says, of a `document`."""
    found = {key: entry for key, entry in space.items() if key not in _FURTHER}
    return found | {"of": [described(part) for part in found["of"]]} if "of" in found else found


def restored(plan: Plan, space: Mapping[str, Any]) -> Plan:
    """The plan with what its `document` tells beyond its description, where it is the same one."""
    match plan:
        case Sobol():
            return plan.restored(space)
        case Product() | Chain() if len(space.get("of", ())) == len(plan.parts):
            parts = tuple(map(restored, plan.parts, space["of"]))
            same = all(map(operator.is_, parts, plan.parts))
            return plan if same else replace(plan, parts=parts)
        case Derived():
            inner = restored(plan.plan, space)
            return plan if inner is plan.plan else replace(plan, plan=inner)
    return plan


def extent(plan: Plan) -> dict[str, tuple[float, float]]:
    """Least and greatest value of every swept symbol, SI, as far as the plan itself says."""
    match plan:
        case Grid() | Zip():
            return {name: (min(values), max(values)) for name, values in plan.variables}
        case Random() | LatinHypercube() | Sobol():
            return {name: (low, high) for name, low, high in plan.variables}
        case Table():
            ends = zip(plan.values.min(axis=0), plan.values.max(axis=0), strict=True)
            return {
                name: (float(low), float(high))
                for name, (low, high) in zip(plan.names, ends, strict=True)
            }
        case Product():
            return {name: ends for part in plan.parts for name, ends in extent(part).items()}
        case Chain():
            known = [extent(part) for part in plan.parts]
            return {
                name: (min(one[name][0] for one in known), max(one[name][1] for one in known))
                for name in plan.names
            }
        case Derived():
            return extent(plan.plan)
    return {}
