"""Printed numbers of a paper against ours: what every reproduction is made of.

A printed number agrees where ours is within half a unit of its last printed digit. A coefficient
that is not printed at all (a plain ±1) and one that is written as an expression are exact, and
so must ours be. What does not agree is either explained by name (an erratum of the paper, or
something that nobody can repeat, such as rounding noise) or it differs, and then the reproduction
has failed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from basepar_core.texts import csv_cell, naming

RULE = (
    "a printed number agrees where ours is within half a unit of its last printed digit; ±1 that "
    "stand unprinted before a parameter, zeros and expressions are exact"
)
#: What exact numbers may be off where ours are floats or decimals: their own rounding.
ROUNDING = Decimal("1e-13")
#: Digits of ours that are shown beyond the printed ones.
MORE_DIGITS = 3
#: Wide enough for the difference of any two decimals here.
_EXACT = Context(prec=200)


class Verdict(StrEnum):
    """What a comparison of one number came to."""

    AGREES = "agrees"
    ERRATUM = "erratum"
    NOT_COMPARABLE = "not comparable"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Number:
    """One printed number, or statement, beside ours.

    Attributes
    ----------
    where
        What it is: `mx1: Iyy1`.
    printed, ours, difference
        As text; the difference is ours less printed.
    verdict, reason
        The reason is empty where it agrees.
    """

    where: str
    printed: str
    ours: str
    difference: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class Table:
    """One table (or equation) of a paper, number by number."""

    name: str
    title: str
    numbers: tuple[Number, ...]
    note: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers came to each verdict."""
        return _counts(self.numbers)

    def document(self) -> dict[str, Any]:
        """As `basepar reproduce --json` prints it."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "counts": self.counts,
            "numbers": [
                {
                    "where": one.where,
                    "printed": one.printed,
                    "ours": one.ours,
                    "difference": one.difference,
                    "verdict": one.verdict.value,
                    "reason": one.reason,
                }
                for one in self.numbers
            ],
        }


@dataclass(frozen=True)
class Reproduction:
    """A paper's tables against ours, and the figures that were drawn."""

    paper: str
    title: str
    tables: tuple[Table, ...]
    figures: tuple[Path, ...] = ()
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Over all tables."""
        return _counts(one for table in self.tables for one in table.numbers)

    @property
    def reproduced(self) -> bool:
        """Whether everything agrees but what is explained by name."""
        return self.counts[Verdict.DIFFERS] == 0

    def document(self) -> dict[str, Any]:
        """As `basepar reproduce --json` prints it."""
        return {
            "paper": self.paper,
            "title": self.title,
            "rule": RULE,
            "reproduced": self.reproduced,
            "counts": self.counts,
            "tables": [table.document() for table in self.tables],
            "figures": [str(path) for path in self.figures],
            "seconds": self.seconds,
        }


def _counts(numbers: Iterable[Number]) -> dict[str, int]:
    found = Counter(one.verdict.value for one in numbers)
    return {verdict.value: found[verdict.value] for verdict in Verdict}


def half_a_unit(printed: str) -> Decimal:
    """What a printed number may be off; 0 for a whole number, which is exact.

    Examples
    --------
    >>> half_a_unit("-16.0"), half_a_unit("4.6e10"), half_a_unit("41")
    (Decimal('0.05'), Decimal('5E+8'), Decimal('0'))
    """
    if not set(".eE") & set(printed):
        return Decimal(0)
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal((0, (5,), exponent - 1))


def agrees(printed: str, ours: float | str | Decimal) -> bool:
    """Whether ours is the printed number, to its printed digits."""
    off = abs(_EXACT.subtract(Decimal(ours), Decimal(printed)))
    return off <= max(half_a_unit(printed), ROUNDING * abs(Decimal(printed)))


def number(where: str, printed: str, ours: float | str | Decimal) -> Number:
    """A printed number beside ours."""
    difference = _EXACT.subtract(Decimal(ours), Decimal(printed))
    verdict = Verdict.AGREES if agrees(printed, ours) else Verdict.DIFFERS
    off = f"{difference:.1e}" if difference else "0"
    return Number(where, printed, _shown(ours, printed), off, verdict)


def exact(where: str, printed: str, ours: str, difference: str) -> Number:
    """An expression or a word beside ours; equal where the difference is "0"."""
    verdict = Verdict.AGREES if difference == "0" else Verdict.DIFFERS
    return Number(where, printed, ours, difference, verdict)


def erratum(found: Number, right: bool, reason: str) -> Number:
    """A number that is known to be misprinted: excused only if ours is the corrected one."""
    if found.verdict == Verdict.AGREES:
        why = f"listed as an erratum, but ours is as printed: {reason}"
        return replace(found, verdict=Verdict.DIFFERS, reason=why)
    if not right:
        return replace(found, reason=f"not as the erratum has it either: {reason}")
    return replace(found, verdict=Verdict.ERRATUM, reason=reason)


def not_comparable(found: Number, reason: str) -> Number:
    """A number that nobody can repeat, with the reason; one that agrees is left as it is."""
    if found.verdict == Verdict.AGREES:
        return found
    return replace(found, verdict=Verdict.NOT_COMPARABLE, reason=reason)


def _shown(ours: float | str | Decimal, printed: str) -> str:
    digits = len(Decimal(printed).as_tuple().digits) + MORE_DIGITS
    return f"{Decimal(ours):.{digits}g}"


def data(name: str) -> Any:
    """A paper's printed numbers, shipped as `NAME.yaml`; every number stays text."""
    text = (resources.files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, yaml.BaseLoader)


def write_numbers(found: Reproduction, path: Path) -> Path:
    """All numbers as one CSV file."""
    import csv

    path.parent.mkdir(parents=True, exist_ok=True)
    fields = ("table", "where", "printed", "ours", "difference", "verdict", "reason")
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(fields)
        for table in found.tables:
            writer.writerows(map(csv_cell, _cells(table.name, one)) for one in table.numbers)
    return path


def _cells(table: str, one: Number) -> Sequence[str]:
    return (table, one.where, one.printed, one.ours, one.difference, one.verdict.value, one.reason)
