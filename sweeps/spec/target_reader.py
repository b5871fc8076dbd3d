"""Targets of sweep and study files: points in a CSV file beside it, or in the file itself."""

import csv
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, pi

from basepar_core.errors import BaseparWarning, ExpressionError, FileError, Mistake
from basepar_core.expressions import UNITS, Unit
from basepar_core.files import Fields, Node, Reading, name_and_unit, stated_unit, written
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import FITTED, TIME, Target, far_off, targets
from basepar_core.texts import opened, plural

from . import sweep_keys
from .space_reader import read_number

#: Points of one target: the store keeps them with its specification.
MOST_POINTS = 10_000
_AXES = ("x", "y", "z")
#: Columns of a function's values, and of a body's angles.
_VALUE, _ANGLE = "value", "angle"


@dataclass(frozen=True, slots=True)
class _Read:
    """Points, what they are stated over, its value at each, and a body's angle at each."""

    points: tuple[tuple[float, ...], ...] = ()
    over: str = ""
    at: tuple[float, ...] = ()
    angles: tuple[float, ...] = ()


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
            else:
                _warn_of_far(entry, target, mechanism)
                _warn_of_few(entry, target)
        found.append(target)  # also a wrong one, so that metrics of it are not blamed
    return tuple(found)


def _warn_of_few(node: Node, target: Target) -> None:
    """Say that the fit alone may meet all points, so that the error tells no paths apart."""
    count, least = len(target.points), targets.telling_points(target)
    if count < least:
        text = (
            f"{node.path} (line {node.line}): any path that is large enough meets {count} points "
            f"where {targets.free_words(target)}. Give at least {least}, or free less."
        )
        warnings.warn(text, BaseparWarning, stacklevel=2)


def _warn_of_far(node: Node, target: Target, mechanism: Mechanism) -> None:
    """Say that a target lies where no path of the mechanism comes, as one in mm does."""
    if (distances := far_off(target, mechanism)) is None:
        return
    far, near = distances
    file = node.entries.get("file") if isinstance(node, Fields) else node
    text = f"{node.path} (line {node.line}): {written(file) if file else 'the target'} "
    if "position" in target.fit:
        text += f"extends over up to {2 * far:.3g} m, the mechanism over {2 * near:.3g} m. "
    else:
        text += (
            f"lies up to {far:.3g} m from the ground's origin, the mechanism, as assembled, "
            f"within {near:.3g} m. "
        )
    units = (one for one in ("mm", "cm") if near / 50 <= far * UNITS[one].size <= 3 * near)
    if unit := next(units, ""):
        axes = _AXES[: len(target.points[0])]
        first = ", ".join(f"{x:g} {unit}" for x in target.points[0])
        write = f"title the columns {','.join(f'{axis} [{unit}]' for axis in axes)}"
        text += f"Bare numbers are in m: if {unit} is meant, "
        text += f"{write if file else f'write the points so: [{first}]'}."
    warnings.warn(text.rstrip(), BaseparWarning, stacklevel=2)


def _target(reading: Reading, name: str, node: Node, mechanism: Mechanism | None) -> Target:
    if not isinstance(node, Fields):
        read = _of_file(reading, node, mechanism)
        alone: tuple[str, ...] = () if read.over else FITTED[:1]
        return Target(name, read.points, read.over, read.at, alone, read.angles)
    entries = reading.fields(node, sweep_keys.TARGET)
    if ("file" in entries) == ("points" in entries):
        reading.mistake(node, "a target has a file, or points: one of the two")
        return Target(name, ())
    if "file" in entries:
        columns = {
            "timing": "the timing is its column t, or one named after a coordinate",
            "angles": "the angles are its column angle",
        }
        for key in columns.keys() & entries.keys():
            reading.mistake(entries[key], f"of a file: {columns[key]}")
        read = _of_file(reading, entries["file"], mechanism)
    else:
        read = _of_node(reading, entries, mechanism)
    items = reading.items(entries["fit"], None, "a list of words") if "fit" in entries else ()
    asked = [reading.choice(item, FITTED, "thing to fit") for item in items or ()]
    free = tuple(w for w in FITTED if w in asked or (w == FITTED[0] and not read.over))
    arm = read_number(reading, entries["arm"], UNITS["m"]) if "arm" in entries else 0.0
    return Target(name, read.points, read.over, read.at, free, read.angles, arm)


def _of_node(reading: Reading, entries: dict[str, Node], mechanism: Mechanism | None) -> _Read:
    rows = reading.items(entries["points"], None, "a list of points [[0.1, 0.2], …]") or ()
    points = []
    for row in rows[: MOST_POINTS + 1]:
        numbers = reading.items(row, None, "a point [0.1, 0.2]") or ()
        unit = UNITS["m"] if len(numbers) > 1 else None  # a function's value, m or rad
        points.append(tuple(_number(reading, one, unit) for one in numbers))
    _check_count(reading, entries["points"], len(points))
    angles = _numbers_of(reading, entries.get("angles"), UNITS["rad"], len(points))
    stated = reading.entries(entries.get("timing"), "timing such as {A: [0.5, 0.7]}") or {}
    if not stated:
        return _Read(tuple(points), angles=angles)
    if len(stated) > 1:
        reading.mistake(entries["timing"], "one timing, over t or over a coordinate")
    over, node = next(iter(stated.items()))
    at = _numbers_of(reading, node, _timing_unit(over, mechanism), len(points))
    return _Read(tuple(points), over, at, angles)


def _number(reading: Reading, node: Node, unit: Unit | None) -> float:
    """A number in a unit, or of an angle or a length where it may be either."""
    if unit is None:
        text = reading.text(node, "a number") or ""
        unit = UNITS["m" if text.rstrip().endswith("m") else "rad"]
    return read_number(reading, node, unit)


def _numbers_of(reading: Reading, node: Node | None, unit: Unit, count: int) -> tuple[float, ...]:
    if node is None:
        return ()
    items = reading.items(node, None, "a list of numbers") or ()
    found = tuple(read_number(reading, one, unit) for one in items)
    if len(found) != count:
        reading.mistake(node, f"{plural(len(found), 'value')} for {plural(count, 'point')}")
    return found


def _of_file(reading: Reading, node: Node, mechanism: Mechanism | None) -> _Read:
    name = reading.text(node, "the name of a CSV file")
    if name is None:
        return _Read()
    try:
        with opened(reading.folder / name, newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, skipinitialspace=True)
            titles = [name_and_unit(title) for title in next(lines, [])]
            rows = []
            for row in lines:
                if any(cell.strip() for cell in row):
                    rows.append((lines.line_num, row))
                if len(rows) > MOST_POINTS:
                    break
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.mistake(node, f"{name} cannot be read: {reason}")
        return _Read()
    header = [title for title, _ in titles]
    axes = _AXES[: 2 if mechanism is None or mechanism.planar else 3]
    overs = (TIME, *(mechanism.coordinates if mechanism else ()))
    timed = [title for title in header if title in overs]
    kinds = (list(axes), [*axes, _ANGLE], [_VALUE])
    kind = next((one for one in kinds if sorted(header) == sorted([*one, *timed])), None)
    if kind is None or len(timed) > 1:
        wanted = f"{','.join(axes)} (with {_ANGLE} for a body's), or {_VALUE}"
        listed = ", ".join(header[:8]) or "nothing"
        hint = "; units stand in brackets, x [mm]" if any("(" in one for one in header) else ""
        reading.mistake(
            node,
            f"the first line of {name} must name {wanted}, and with a timing one of "
            f"{', '.join(overs)}; it has {listed}{hint}",
        )
        return _Read()
    _check_count(reading, node, len(rows))
    try:
        units = [_unit_of(name, *title, mechanism) for title in titles]
        numbers = _numbers(name, units, rows)
    except FileError as error:
        for one in error.mistakes:
            reading.mistake(node, one.message)
        return _Read()

    def columns(titles: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        places = [header.index(title) for title in titles]
        return tuple(tuple(row[k] for k in places) for row in numbers)

    points = columns([title for title in kind if title != _ANGLE])
    at = tuple(row[0] for row in columns(timed)) if timed else ()
    angles = tuple(row[0] for row in columns([_ANGLE])) if _ANGLE in kind else ()
    return _Read(points, timed[0] if timed else "", at, angles)


def _unit_of(file: str, title: str, text: str, mechanism: Mechanism | None) -> Unit:
    """What a column's numbers are in, of an angle or a timing too."""
    if title == _VALUE:
        slot = UNITS["rad" if text.strip() in ("rad", "deg", "rev") else "m"]
    else:
        slot = UNITS["m"] if title in _AXES else _timing_unit(title, mechanism)
    try:
        return stated_unit(text, slot)
    except ExpressionError as error:
        raise FileError(file, [Mistake("", f"{file}, {title}: {error.message}")]) from None


def _timing_unit(over: str, mechanism: Mechanism | None) -> Unit:
    if over == TIME:
        return UNITS["s"]
    if mechanism is None or over not in mechanism.coordinates:
        return UNITS["rad"]
    return UNITS["m" if mechanism.value(over).is_length else "rad"]


def _check_count(reading: Reading, node: Node, count: int) -> None:
    if count > MOST_POINTS:
        reading.mistake(node, f"more than {MOST_POINTS} points; leave some out")


def _numbers(
    name: str, units: Sequence[Unit], rows: Sequence[tuple[int, list[str]]]
) -> list[list[float]]:
    found, wrong = [], []
    for line, row in rows:
        numbers = []
        for cell, unit in zip(row, units, strict=False):
            try:
                numbers.append(_in_si(cell, unit))
            except (ValueError, OverflowError):
                hint = "a unit stands in its column's title, x [mm]"
                wrong.append(f"line {line} of {name}: {cell[:40]!r} is no number; {hint}")
        if len(row) != len(units):
            said = f"{plural(len(row), 'entry')} for {plural(len(units), 'column')}"
            wrong.append(f"line {line} of {name}: {said}")
        elif not all(map(isfinite, numbers)):
            wrong.append(f"line {line} of {name}: its numbers are not finite")
        found.append(numbers)
    if wrong:
        raise FileError(name, [Mistake("", one) for one in wrong[:5]])
    return found


def _in_si(cell: str, unit: Unit) -> float:
    value = float(cell)
    if value and isfinite(value) and unit.factor != 1:
        value = float(Fraction(cell.strip()) * unit.factor)  # 700 mm is the float nearest to 0.7
    return value * pi**unit.pi


def target_lines(wanted: Sequence[Target]) -> str:
    """Targets as a sweep file has them, with their points: one line of YAML."""
    found = []
    for one in wanted:
        points = ", ".join(f"[{', '.join(map(repr, point))}]" for point in one.points)
        entries = [f"points: [{points}]", f"fit: [{', '.join(one.fit)}]"]
        if one.is_pose:
            entries += [f"angles: [{', '.join(map(repr, one.angles))}]", f"arm: {one.arm!r}"]
        if one.over:
            entries.append(f"timing: {{{one.over}: [{', '.join(map(repr, one.at))}]}}")
        found.append(f"{one.name}: {{{', '.join(entries)}}}")
    return f"{{{', '.join(found)}}}"
