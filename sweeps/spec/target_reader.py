"""Targets of sweep and study files: points in a CSV file beside it, or in the file itself."""

import csv
from collections.abc import Sequence
from math import isfinite

from basepar_core.errors import FileError, Mistake
from basepar_core.expressions import UNITS
from basepar_core.files import Fields, Node, Reading
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import FITTED, TIME, Target, targets
from basepar_core.texts import opened, plural

from . import sweep_keys
from .space_reader import read_number

#: Points of one target: the store keeps them with its specification.
MOST_POINTS = 10_000
_AXES = ("x", "y", "z")
#: Points, what they are stated over, and its value at each.
_Read = tuple[list[tuple[float, ...]], str, list[float]]
_NOTHING: _Read = ([], "", [])


def read_targets(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[Target, ...]:
    """Curves that metrics hold paths against: a mapping from names to files or points."""
    entries = (node and reading.entries(node, "targets such as {wanted: curve.csv}")) or {}
    found = []
    for name, entry in entries.items():
        before = reading.count
        if not reading.name(entry, name, "target"):
            continue
        target = _target(reading, name, entry, mechanism)
        if reading.count == before and mechanism is not None:
            wrong = targets.mistake(target, mechanism)
            if wrong:
                reading.mistake(entry, wrong)
        found.append(target)  # also a wrong one, so that metrics of it are not blamed
    return tuple(found)


def _target(reading: Reading, name: str, node: Node, mechanism: Mechanism | None) -> Target:
    if not isinstance(node, Fields):
        points, over, at = _of_file(reading, node, mechanism)
        return Target(name, tuple(points), over, tuple(at), () if over else ("timing",))
    entries = reading.fields(node, sweep_keys.TARGET)
    if ("file" in entries) == ("points" in entries):
        reading.mistake(node, "a target has a file, or points: one of the two")
        return Target(name, ())
    if "file" in entries:
        if "timing" in entries:
            message = "of a file: the timing is its column t, or one named after a coordinate"
            reading.mistake(entries["timing"], message)
        points, over, at = _of_file(reading, entries["file"], mechanism)
    else:
        points, over, at = _of_node(reading, entries, mechanism)
    items = reading.items(entries["fit"], None, "a list of words") if "fit" in entries else ()
    asked = [reading.choice(item, FITTED, "thing to fit") for item in items or ()]
    free = tuple(word for word in FITTED if word in asked or (word == FITTED[0] and not over))
    return Target(name, tuple(points), over, tuple(at), free)


def _of_node(reading: Reading, entries: dict[str, Node], mechanism: Mechanism | None) -> _Read:
    rows = reading.items(entries["points"], None, "a list of points [[0.1, 0.2], …]") or ()
    points = []
    for row in rows[: MOST_POINTS + 1]:
        numbers = reading.items(row, None, "a point [0.1, 0.2]") or ()
        points.append(tuple(read_number(reading, one, UNITS["m"]) for one in numbers))
    _check_count(reading, entries["points"], len(points))
    stated = reading.entries(entries.get("timing"), "timing such as {A: [0.5, 0.7]}") or {}
    if not stated:
        return points, "", []
    if len(stated) > 1:
        reading.mistake(entries["timing"], "one timing, over t or over a coordinate")
    over, node = next(iter(stated.items()))
    is_length = (
        mechanism is not None
        and over in mechanism.coordinates
        and (mechanism.value(over).is_length)
    )
    unit = UNITS["s"] if over == TIME else UNITS["m"] if is_length else UNITS["rad"]
    items = reading.items(node, None, "a list of numbers") or ()
    at = [read_number(reading, one, unit) for one in items]
    if len(at) != len(points):
        reading.mistake(node, f"{plural(len(at), 'value')} for {plural(len(points), 'point')}")
    return points, over, at


def _of_file(reading: Reading, node: Node, mechanism: Mechanism | None) -> _Read:
    name = reading.text(node, "the name of a CSV file")
    if name is None:
        return _NOTHING
    try:
        with opened(reading.folder / name, newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, skipinitialspace=True)
            header = [title.strip() for title in next(lines, [])]
            rows = []
            for row in lines:
                if any(cell.strip() for cell in row):
                    rows.append((lines.line_num, row))
                if len(rows) > MOST_POINTS:
                    break
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.mistake(node, f"{name} cannot be read: {reason}")
        return _NOTHING
    axes = _AXES[: 2 if mechanism is None or mechanism.planar else 3]
    overs = (TIME, *(mechanism.coordinates if mechanism else ()))
    timed = [title for title in header if title in overs]
    if sorted(header) != sorted([*axes, *timed]) or len(timed) > 1:
        wanted = f"{','.join(axes)}, and with a timing one of {', '.join(overs)}"
        listed = ", ".join(header[:8]) or "nothing"
        reading.mistake(node, f"the first line of {name} must name {wanted}; it has {listed}")
        return _NOTHING
    _check_count(reading, node, len(rows))
    try:
        numbers = _numbers(name, header, rows)
    except FileError as error:
        for one in error.mistakes:
            reading.mistake(node, one.message)
        return _NOTHING
    columns = [header.index(axis) for axis in axes]
    points = [tuple(row[k] for k in columns) for row in numbers]
    at = [row[header.index(timed[0])] for row in numbers] if timed else []
    return points, timed[0] if timed else "", at


def _check_count(reading: Reading, node: Node, count: int) -> None:
    if count > MOST_POINTS:
        reading.mistake(node, f"more than {MOST_POINTS} points; leave some out")


def _numbers(
    name: str, header: Sequence[str], rows: Sequence[tuple[int, list[str]]]
) -> list[list[float]]:
    found, wrong = [], []
    for line, row in rows:
        numbers = []
        for cell in row:
            try:
                numbers.append(float(cell))
            except ValueError:
                wrong.append(f"line {line} of {name}: {cell[:40]!r} is no number; write it in SI")
        if len(row) != len(header):
            said = f"{plural(len(row), 'entry')} for {plural(len(header), 'column')}"
            wrong.append(f"line {line} of {name}: {said}")
        elif not all(map(isfinite, numbers)):
            wrong.append(f"line {line} of {name}: its numbers are not finite")
        found.append(numbers)
    if wrong:
        raise FileError(name, [Mistake("", one) for one in wrong[:5]])
    return found


def target_lines(wanted: Sequence[Target]) -> str:
    """Targets as a sweep file has them, with their points: one line of YAML."""
    found = []
    for one in wanted:
        points = ", ".join(f"[{', '.join(map(repr, point))}]" for point in one.points)
        entries = [f"points: [{points}]", f"fit: [{', '.join(one.fit)}]"]
        if one.over:
            entries.append(f"timing: {{{one.over}: [{', '.join(map(repr, one.at))}]}}")
        found.append(f"{one.name}: {{{', '.join(entries)}}}")
    return f"{{{', '.join(found)}}}"
