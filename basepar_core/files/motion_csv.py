"""Motions from CSV files: time and, per coordinate, position, velocity and acceleration."""

import csv
import re
from collections.abc import Sequence
from fractions import Fraction

from basepar_core.expressions import Number, did_you_mean, size_mistake
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
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.mistake(node, f"cannot read {path}: {reason}")
        return _EMPTY
    before = reading.count
    wanted = ["t", *(f"{c}{prime}" for c in coordinates for prime in ("", "'", "''"))]
    header = [title.strip() for title in rows[0]] if rows else []
    _check_header(reading, node, header, wanted)
    if reading.count > before:
        return _EMPTY
    return _samples(reading, node, rows[1:], [header.index(title) for title in wanted])


def _check_header(
    reading: Reading, node: Node, header: Sequence[str], wanted: Sequence[str]
) -> None:
    missing = [title for title in wanted if title not in header]
    if missing:
        reading.mistake(node, f"has no column {', '.join(missing)}")
    for title in header:
        if title not in wanted:
            hint = did_you_mean(title, missing)
            reading.mistake(node, f"column {title!r} is none of {', '.join(wanted)}{hint}")
    if len(set(header)) < len(header):
        reading.mistake(node, "has two columns of one name")


def _samples(
    reading: Reading, node: Node, rows: Sequence[Sequence[str]], order: Sequence[int]
) -> Data:
    times: list[Number] = []
    values: list[tuple[tuple[Number, Number, Number], ...]] = []
    for count, row in enumerate(rows, start=2):
        texts = [row[k].strip() if k < len(row) else "" for k in order]
        bad = next((text for text in texts if not _DECIMAL.match(text)), None)
        if bad is not None or len(row) != len(order):
            what = f"{bad!r} is no number" if bad else "too few or too many entries"
            reading.mistake(node, f"row {count}: {what}")
            return _EMPTY
        if wrong := next(filter(None, map(size_mistake, texts)), ""):
            reading.mistake(node, f"row {count}: {wrong}")
            return _EMPTY
        numbers = [Number(Fraction(text)) for text in texts]
        if times and numbers[0].value <= times[-1].value:
            reading.mistake(node, f"row {count}: t does not increase")
            return _EMPTY
        times.append(numbers[0])
        triples = zip(numbers[1::3], numbers[2::3], numbers[3::3], strict=True)
        values.append(tuple(triples))
    if not times:
        reading.mistake(node, "has no samples")
    return Data(tuple(times), tuple(values))
