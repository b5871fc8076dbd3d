"""Motions from CSV files: time and, per coordinate, position, velocity and acceleration."""

import csv
import re
from collections.abc import Sequence
from fractions import Fraction

from basepar_core.expressions import Number, size_mistake
from basepar_core.mechanism import Data
from basepar_core.texts import opened

from .reader import Reading
from .yaml_nodes import Node

_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_EMPTY = Data((), ())


def read_data(reading: Reading, node: Node | None, coordinates: Sequence[str]) -> Data:
    """Motion of exactly the coordinates: columns `t` and, for A, `A`, `A'`, `A''` (SI)."""
    name = reading.text(node, "the name of a CSV file")
    if name is None:
        return _EMPTY
    assert node is not None
    if node.path in reading.recorded:
        return reading.recorded[node.path]
    path = reading.folder / name
    try:
        with opened(path, newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            rows = [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.mistake(node, f"cannot read {path}: {reason}")
        return _EMPTY
    before = reading.count
    wanted = ["t", *(f"{c}{prime}" for c in coordinates for prime in ("", "'", "''"))]
    header = [title.strip() for title in rows[0][1]] if rows else []
    _check_header(reading, node, header, wanted)
    if reading.count > before:
        return _EMPTY
    return _samples(reading, node, rows[1:], [header.index(title) for title in wanted])


def _check_header(
    reading: Reading, node: Node, header: Sequence[str], wanted: Sequence[str]
) -> None:
    missing = [title for title in wanted if title not in header]
    strangers = [title for title in header if title not in wanted]
    if missing or strangers:
        lacks = (
            f"has no column{'s' * (len(missing) > 1)} {', '.join(missing)}"
            if missing
            else "has columns to spare"
        )
        reading.mistake(node, f"{lacks}; {_first_line(header, strangers, wanted)}")
    elif len(set(header)) < len(header):
        reading.mistake(node, "has two columns of one name")


def _first_line(header: Sequence[str], strangers: Sequence[str], wanted: Sequence[str]) -> str:
    """What the first line is, and what it must be."""
    line = f"its first line must name {','.join(wanted)}"
    if not header:
        return f"the file is empty, and {line}"
    if len(header) == 1 and (sign := next((one for one in ";\t" if one in header[0]), "")):
        return f"its columns are separated by {sign!r}: write commas, and decimals with a point"
    if any("[" in title for title in strangers):
        return f"titles have no units, numbers are SI (rad, m, s): {line}"
    return f"it has {', '.join(header)}, and {line} (SI)"


def _samples(
    reading: Reading, node: Node, rows: Sequence[tuple[int, list[str]]], order: Sequence[int]
) -> Data:
    times: list[Number] = []
    values: list[tuple[tuple[Number, Number, Number], ...]] = []
    for line, row in rows:
        texts = [row[k].strip() if k < len(row) else "" for k in order]
        bad = next((text for text in texts if not _DECIMAL.match(text)), None)
        if bad is not None or len(row) != len(order):
            what = f"too few or too many entries, {len(row)} where {len(order)} are named"
            if bad:
                what = f"{bad!r} is no number; write it in SI, without a unit"
            reading.mistake(node, f"row {line}: {what}")
            return _EMPTY
        if wrong := next(filter(None, map(size_mistake, texts)), ""):
            reading.mistake(node, f"row {line}: {wrong}")
            return _EMPTY
        numbers = [Number(Fraction(text)) for text in texts]
        if times and numbers[0].value <= times[-1].value:
            reading.mistake(node, f"row {line}: t does not increase")
            return _EMPTY
        times.append(numbers[0])
        triples = zip(numbers[1::3], numbers[2::3], numbers[3::3], strict=True)
        values.append(tuple(triples))
    if not times:
        reading.mistake(node, "has no samples")
    return Data(tuple(times), tuple(values))
