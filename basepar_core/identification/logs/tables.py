"""Tables of numbers as machines write them: with or without titles, whatever parts the cells.

`a.csv+b.csv` are columns side by side (positions in one file, currents in the other);
`a.csv,b.csv` are runs one after another.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import FileError, Mistake
from basepar_core.texts import opened, plural

#: Lines before the first number that may be a header.
HEADER = 50
#: Cells that are no numbers, or rows of another length, that a message names.
_SHOWN = 5
_SIGNS = (";", "\t", ",")


@dataclass(frozen=True)
class Table:
    """Numbers as they stand in a log.

    Attributes
    ----------
    source
        Names of the files.
    titles
        (column,), "" where a column has none; a title that stands there before has #2, #3, ….
    numbers
        (row, column); nan where nothing stands.
    """

    source: str
    titles: tuple[str, ...]
    numbers: Array


def read_tables(data: str | Path | Mapping[str, Sequence[float] | Array]) -> tuple[Table, ...]:
    """A log's runs, one table each.

    Parameters
    ----------
    data
        A file; several, with `+` side by side and `,` one after another; or columns by title.

    Raises
    ------
    FileError
        Files that are no tables, with all their mistakes; tables side by side of different
        length; runs with different numbers of columns.
    """
    if not isinstance(data, str | Path):
        titles = [str(title) for title in data.keys()]  # noqa: SIM118  a DataFrame's keys
        columns = [np.asarray(data[title], float) for title in data.keys()]  # noqa: SIM118
        return (Table("the given columns", _distinct(titles), np.stack(columns, axis=1)),)
    if Path(data).exists() or isinstance(data, Path):
        return (_read(Path(data)),)
    runs = tuple(
        _beside([_read(Path(one.strip())) for one in run.split("+")]) for run in data.split(",")
    )
    widths = {run.numbers.shape[1] for run in runs}
    if len(widths) > 1:
        counts = ", ".join(f"{run.source} {run.numbers.shape[1]}" for run in runs)
        message = f"runs of one log have the same columns; these have {counts}"
        raise FileError(data, [Mistake("", message)])
    return runs


def has_titles(path: str | Path) -> bool:
    """Whether a file's first line has anything but numbers; also where it cannot be read."""
    try:
        with opened(path, encoding="utf-8-sig") as file:
            line = next((one for one in file if one.strip()), "")
    except (OSError, UnicodeDecodeError):
        return True
    return not line or _numbers(_cells(line, _sign(line))) is None


def _beside(tables: Sequence[Table]) -> Table:
    if len({len(table.numbers) for table in tables}) > 1:
        counts = ", ".join(f"{t.source} {plural(len(t.numbers), 'row')}" for t in tables)
        message = f"tables side by side have the same rows; these have {counts}"
        raise FileError(tables[0].source, [Mistake("", message)])
    titles = [title.partition("#")[0] for table in tables for title in table.titles]
    names = " + ".join(table.source for table in tables)
    return Table(names, _distinct(titles), np.hstack([table.numbers for table in tables]))


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for k, title in enumerate(titles):
        before = titles[:k].count(title)
        found.append(f"{title}#{before + 1}" if before and title else title)
    return tuple(found)


def _read(path: Path) -> Table:
    try:
        with opened(path, encoding="utf-8-sig") as file:
            lines = [(k, line) for k, line in enumerate(file.read().splitlines(), 1)]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(str(path), [Mistake("", f"cannot be read: {reason}")]) from None
    lines = [(k, line) for k, line in lines if line.strip()]
    first = next(
        (n for n, (_, line) in enumerate(lines[:HEADER]) if _numbers(_cells(line, _sign(line)))),
        None,
    )
    if first is None:
        message = f"has no line of numbers among its first {HEADER}: is it a log?"
        raise FileError(str(path), [Mistake("", message)])
    sign = _sign(lines[first][1])
    width = len(_cells(lines[first][1], sign))
    head = _cells(lines[first - 1][1].lstrip("#% "), sign) if first else []
    titles = head if len(head) == width else [""] * width
    numbers = _table(path, lines[first:], sign, width)
    return Table(path.name, _distinct([title.strip("\"' ") for title in titles]), numbers)


def _table(path: Path, lines: Sequence[tuple[int, str]], sign: str | None, width: int) -> Array:
    try:  # ten times faster where every cell is a number
        return np.loadtxt([line for _, line in lines], delimiter=sign, ndmin=2, comments=None)
    except ValueError:
        pass
    mistakes, rows = [], []
    for number, line in lines:
        cells = _cells(line, sign)
        row = [_number(cell) for cell in cells]
        if len(cells) != width:
            mistakes.append(
                Mistake(
                    f"row {number}",
                    f"has {plural(len(cells), 'cell')}; the first row has {width}. Leave cells "
                    f"empty where nothing was measured.",
                )
            )
        elif None in row:
            text = cells[row.index(None)]
            mistakes.append(
                Mistake(
                    f"row {number}",
                    f"{text[:40]!r} is no number; leave the cell empty where nothing was measured",
                )
            )
        rows.append([math.nan if x is None else x for x in row])
    if len(mistakes) > _SHOWN:
        rest = len(mistakes) - _SHOWN
        mistakes[_SHOWN:] = [Mistake("", f"and {plural(rest, 'more row')} of other cells")]
    if mistakes:
        raise FileError(str(path), mistakes)
    return np.array(rows)


def _sign(line: str) -> str | None:
    """What parts the cells of a line; None: blanks."""
    return next((sign for sign in _SIGNS if sign in line), None)


def _cells(line: str, sign: str | None) -> list[str]:
    """Cells of a line; with semicolons or tabs between, a number's comma is a decimal point."""
    cells = [cell.strip() for cell in line.strip("\r\n").split(sign)]
    if sign in (";", "\t"):
        cells = [cell.replace(",", ".") for cell in cells]
    return cells


def _number(text: str) -> float | None:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return None


def _numbers(cells: Sequence[str]) -> list[float] | None:
    """The cells as numbers, if all are (or empty) and some are."""
    found = [_number(cell) for cell in cells]
    numbers = [x for x in found if x is not None]
    return numbers if len(numbers) == len(found) and np.isfinite(numbers).any() else None
