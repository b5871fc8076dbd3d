"""Tables of variants from a CSV file, or from the store of an earlier sweep."""

import csv
import os
from collections.abc import Mapping
from fractions import Fraction
from math import inf, isfinite, pi
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import ExpressionError, FileError, Mistake, StoreError
from basepar_core.expressions import Unit, did_you_mean
from basepar_core.files import name_and_unit, stated_unit
from basepar_core.texts import opened, plural
from sweeps.store import read

from .tables import Table

#: Mistakes of one file that are listed.
MOST_MISTAKES = 20


def read_table(path: Path, units: Mapping[str, Unit]) -> Table:
    """Rows of a file.

    Parameters
    ----------
    path
        CSV: names of symbols in the first line, then plain numbers, in the symbols' units or in
        those of the titles, `lx1 [mm]`. Or a directory, the store of a sweep: its variables along
        `variant` that are symbols.
    units
        Unit of bare numbers by symbol.

    Raises
    ------
    FileError
        With all mistakes (the first twenty), each with its line.
    """
    if os.path.isdir(path):
        return _of_store(path, units)
    try:
        with opened(path, newline="", encoding="utf-8-sig") as file:
            return _of_csv(path, csv.reader(file, skipinitialspace=True), units)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(str(path), [Mistake("", f"cannot be read: {reason}")]) from None


def _of_store(path: Path, units: Mapping[str, Unit]) -> Table:
    try:
        dataset = read(path)
    except StoreError as error:
        raise FileError(str(path), [Mistake("", error.message)]) from None
    names = tuple(name for name in units if name in dataset and dataset[name].dims == ("variant",))
    if not names:
        raise FileError(str(path), [Mistake("", f"has none of {', '.join(units)} along variant")])
    values = np.stack([dataset[name].to_numpy() for name in names], axis=-1)
    if not np.isfinite(values).all():
        message = "has variants that are not evaluated yet; finish that sweep first"
        raise FileError(str(path), [Mistake("", message)])
    return Table(names, values, str(path.absolute()))


def _of_csv(path: Path, lines: Any, units: Mapping[str, Unit]) -> Table:
    titles, listed = [name_and_unit(name) for name in next(lines, [])], ", ".join(units)
    names = [name.strip() for name, _ in titles]
    if len(names) == 1 and (sign := next((one for one in ";\t" if one in names[0]), "")):
        message = f"columns are separated by {sign!r}: write commas, and decimals with a point"
        raise FileError(str(path), [Mistake("", message, 1)])
    mistakes = [
        Mistake(
            name,
            f"no symbol of this name{did_you_mean(name, units) or f'; there are {listed}'}"
            if name
            else "a column without a title (an index?): take it out of all lines",
            1,
        )
        for name in names
        if name not in units
    ]
    if not names or len(set(names)) < len(names):
        mistakes.append(Mistake("", "the first line names each symbol, once", 1))
    if mistakes:
        raise FileError(str(path), mistakes)
    columns = [_unit(*title, units, mistakes) for title in titles]
    values = []
    for row in lines:
        if not row:
            continue
        if len(row) != len(names):
            message = f"{plural(len(row), 'number')} for {plural(len(names), 'symbol')}"
            mistakes.append(Mistake("", message, lines.line_num))
            row = ["0"] * len(names)
        values.append(
            [
                _cell(cell, unit, name, lines.line_num, mistakes)
                for cell, unit, name in zip(row, columns, names, strict=True)
            ]
        )
        if len(mistakes) >= MOST_MISTAKES:
            break
    if not values:
        mistakes.append(Mistake("", "no row; at least one is needed"))
    if mistakes:
        raise FileError(str(path), mistakes)
    return Table(tuple(names), np.array(values, dtype=np.float64), str(path.absolute()))


def _unit(name: str, text: str, units: Mapping[str, Unit], mistakes: list[Mistake]) -> Unit:
    """A title's own unit, else the symbol's."""
    try:
        return stated_unit(text, units[name.strip()])
    except ExpressionError as error:
        mistakes.append(Mistake(name, error.message, 1))
        return units[name.strip()]


def _cell(cell: str, unit: Unit, name: str, line: int, mistakes: list[Mistake]) -> float:
    try:
        value = float(cell)
        if isfinite(value) and unit.factor != 1:
            # Exactly, then rounded once: 700 mm is the float nearest to 0.7.
            value = float(Fraction(cell.strip()) * unit.factor)
    except ValueError:
        slot = f"in {unit.text}, without the unit" if unit.text else "without a unit"
        mistakes.append(Mistake(name, f"{cell!r} is not a number; write it {slot}", line))
        return 0.0
    except OverflowError:  # in SI only
        value = inf
    if not isfinite(value):
        mistakes.append(Mistake(name, f"its value is {value}", line))
    return value * pi**unit.pi
