"""Measured motion and torque from a CSV file, checked before anything is computed from them.

Columns: `t`, per coordinate A its position `A` and torque (or force) `tau.A`; `A'` and `A''` if
they are known; at a point F that others push `force.F.x`, …, `moment.F.z`. A unit may stand in
brackets, `A [deg]`; without one it is SI. What makes the file unusable is reported all at once;
what can be worked around is noted, and the samples left out.
"""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import UNITS, Unit, did_you_mean
from basepar_core.files import effort, name_and_unit, stated_unit, value_units
from basepar_core.texts import opened, plural

from ..errors import ExpressionError, FileError, Mistake
from ..mechanism import Mechanism, joint_type
from .contacts import wrench_columns
from .notes import Note
from .outliers import unwrapped, without_spikes
from .rotation_vectors import continued
from .smoothing import FEWEST

#: Equal extreme torques in a row that look like a limit, not like chance in twelve bits.
CLIPPED = 5
#: A step of time that is longer than this many ordinary ones is a gap.
GAP = 1.5
#: Beyond this (SI), and below this step of time (s), a number is no measurement; powers of what is
#: within stay far inside float64.
MOST, SHORTEST = 1e15, 1e-12
#: A column that never exceeds this (SI) measures nothing either; its squares would underflow.
LEAST = 1e-100
#: Given rates may differ from the positions' differences by this factor before a unit is wrong.
OFF = 3.0
_SHOWN = 5


@dataclass(frozen=True)
class Measurement:
    """A record of motion and torque, SI.

    Attributes
    ----------
    source
        Name of the file.
    t
        (sample,), s.
    q
        (coordinate, sample), rad or m; nan where not measured.
    rates
        q̇ and q̈ (coordinate, sample), or None where they have to be made from q. Of a free joint
        its twist and the twist's rate, as of `dynamics.Motion`.
    tau
        (coordinate, sample), N m or N; nan where not measured or clipped.
    notes
        What was left out.
    wrenches
        Per point that was pushed (component, sample): force in N, then moment in N m; nan where
        not measured. Components without a column are zero.
    starts
        Samples at which a new run begins, of several that were joined.
    motor_to_joint
        M (coordinate, motor), q = M x, where motors turn several coordinates; their torques
        are measured one by one, and joints' torques are M⁻ᵀ of them. None: each its own.
    titles
        What the columns that were used are titled in the file, without units; none where they
        have no titles.
    """

    source: str
    t: Array
    q: Array
    rates: tuple[Array, Array] | None
    tau: Array
    notes: tuple[Note, ...] = ()
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    starts: tuple[int, ...] = ()
    motor_to_joint: Array | None = None
    titles: Mapping[str, str] = field(default_factory=dict)


#: A record: a CSV file, or its columns by title (a mapping, a DataFrame).
Record = str | Path | Mapping[str, Sequence[float] | Array]


def read_measurement(
    data: Record,
    mechanism: Mechanism,
    renamed: Mapping[str, str] | None = None,
    torques: bool = True,
) -> Measurement:
    """Read a record.

    Parameters
    ----------
    data
        A CSV file with one header line; or columns of numbers by title, as a DataFrame has them.
    mechanism
        Whose coordinates were measured. Torque columns of coordinates that are not actuated may
        be missing where all drives are coordinates: their torque is zero.
    renamed
        Titles in the file by what they are: {"A": "q_meas", "tau.A": "tau_meas"}.
    torques
        Whether torque columns must be there.

    Raises
    ------
    FileError
        All mistakes at once: columns, units, numbers, time that does not increase, too few
        samples, rates that contradict positions.
    """
    mistakes: list[Mistake] = []
    path = Path(data) if isinstance(data, str | Path) else Path("the given columns")
    rows = _rows(path) if isinstance(data, str | Path) else _columns(data)
    wanted = _wanted(mechanism)
    header = rows[0][1] if rows else []
    places = _places(header, wanted, mechanism, dict(renamed or {}), torques, mistakes)
    if mistakes:
        raise FileError(str(path), mistakes)
    lines = [line for line, _ in rows[1:]]
    table = _numbers(rows[1:], {name: place for name, (place, _) in places.items()}, mistakes)
    for name, (_, factor) in places.items():
        with np.errstate(over="ignore"):
            table[name] = table[name] * factor
        _check_size(name, table[name], lines, mistakes)
    _check_time(table["t"], lines, mistakes)
    if mistakes:
        raise FileError(str(path), mistakes)
    titles = {name: (renamed or {}).get(name, name) for name in places}
    return replace(measurement_of(path.name, mechanism, table), titles=titles)


#: A row of a record and where it stands: its line in a file, its place from 0 among columns.
Row = tuple[int, list[str]]


def _rows(path: Path) -> list[Row]:
    try:
        with opened(path, newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            return [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(str(path), [Mistake("", f"cannot be read: {reason}")]) from None


def _columns(data: Mapping[str, Sequence[float] | Array]) -> list[Row]:
    """Columns of numbers as the rows of a file have them, to the last digit."""
    titles = [str(title) for title in data.keys()]  # noqa: SIM118  a DataFrame's keys
    columns = [np.asarray(data[title], float) for title in titles]
    if len({column.shape for column in columns}) > 1 or any(c.ndim != 1 for c in columns):
        shapes = ", ".join(f"{t} {c.shape}" for t, c in zip(titles, columns, strict=True))
        message = f"columns are of one length, and have one axis; these are {shapes}"
        raise FileError("the given columns", [Mistake("", message)])
    numbers = ([repr(float(x)) for x in row] for row in zip(*columns, strict=True))
    return list(enumerate([titles, *numbers], start=-1))


def _wanted(mechanism: Mechanism) -> dict[str, Unit]:
    """Columns that mean something, and the unit of each."""
    slots = value_units(mechanism.joints)
    found = {"t": UNITS["s"]}
    for name in mechanism.coordinates:
        slot = slots[name]
        found |= {name: slot, f"tau.{name}": effort(slot)}
        found |= {f"{name}'": slot / UNITS["s"], f"{name}''": slot / UNITS["s"] ** 2}
    for columns in wrench_columns(mechanism).values():
        found |= columns
    return found


def _places(
    header: Sequence[str],
    wanted: Mapping[str, Unit],
    mechanism: Mechanism,
    renamed: dict[str, str],
    torques: bool,
    mistakes: list[Mistake],
) -> dict[str, tuple[int, float]]:
    """Place and factor to SI of every column that is there."""
    titles: dict[str, tuple[int, str]] = {}
    for place, cell in enumerate(header):
        name, unit = name_and_unit(cell)
        if name in titles:
            mistakes.append(Mistake(name, "two columns have this title"))
        titles[name] = (place, unit)
    back = {title: name for title, name in renamed.items() if title not in wanted}
    turned = {name: title for title, name in back.items() if name in wanted}
    if {*turned.values()} & titles.keys() and not turned.keys() & renamed:
        right = {name: title for name, title in renamed.items() if name not in turned.values()}
        given = ",".join(f"{name}={title}" for name, title in (right | turned).items())
        why = f"the name comes first, then the title in the file: write `columns={given}`"
        mistakes.append(Mistake("columns", why))
        return {}
    for name in renamed.keys() - wanted.keys():
        hint = did_you_mean(name, wanted) or f"; columns are {', '.join(wanted)}"
        mistakes.append(Mistake(name, f"nothing is called so{hint}"))
    places = {}
    for name, slot in wanted.items():
        title = renamed.get(name, name)
        if title in titles:
            place, text = titles[title]
            places[name] = (place, _factor(title, text, slot, mistakes))
        elif name in renamed:
            hint = did_you_mean(title, titles) or f"; the file has {_list(titles)}"
            mistakes.append(Mistake(name, f"there is no column {title!r}{hint}"))
    # A drive that is no coordinate has a torque about every coordinate that moves it.
    some = bool(mechanism.actuated) and set(mechanism.actuated) <= set(mechanism.coordinates)
    moving = mechanism.actuated if some else mechanism.coordinates
    driven = {f"tau.{name}" for name in moving if torques}
    needed = ["t", *(n for name in mechanism.coordinates for n in (name, f"tau.{name}"))]
    needed = [name for name in needed if not name.startswith("tau.") or name in driven]
    missing = [name for name in needed if name not in places and name not in renamed]
    if missing:
        mistakes.append(
            Mistake(
                "header",
                f"has no column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
                f"it has {_list(titles)}. "
                + _remedy(header, missing, [title for title in titles if title not in wanted]),
            )
        )
    return places


#: Words by which people call what a column holds: time, torque or force, position.
_CALLED = {
    "t": ("time", "t", "stamp"),
    "tau": ("torque", "tau", "force", "effort", "moment"),
    "": ("angle", "pos", "theta", "phi", "q", "stroke"),
}


def _remedy(header: Sequence[str], missing: Sequence[str], unused: Sequence[str]) -> str:
    if not header:
        return "The file is empty"
    if len(header) == 1 and (sign := next((x for x in ";\t " if x in header[0].strip()), "")):
        return f"Columns are separated by commas, not by {sign!r}, and decimals have a point"
    if all(_NUMBER.fullmatch(cell.strip()) for cell in header):
        return f"The first line names the columns: write {','.join(missing)} above the numbers"
    if len({*_bracketed(header)} & {*missing}) == len(missing):
        line = ",".join(_PARENTHESES.sub(r"[\1]", cell) for cell in header)
        return f"Units stand in brackets: write {line}"
    left, pairs = list(unused), []
    for name in missing:
        called = _CALLED["t" if name == "t" else "tau" if name.startswith("tau.") else ""]
        of = name.removeprefix("tau.").lower()
        near = [title for title in left if any(word in title.lower() for word in called)]
        near = [title for title in near if of in title.lower()] or near
        if not left:
            return f"Add what was measured: {', '.join(missing)}"
        title = near[0] if near else "TITLE"
        left = [one for one in left if one != title]
        pairs.append(f"{name}={title}")
    return (
        f"Say which they are: `columns={','.join(pairs)}`; or, where units, signs, currents or "
        f"motors differ too, by `mapping=FILE`"
    )


#: A number alone, and a unit in parentheses at the end of a title.
_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_PARENTHESES = re.compile(r"\(([^()]*)\)\s*\Z")


def _bracketed(header: Sequence[str]) -> list[str]:
    """Titles without the units that stand in parentheses."""
    return [_PARENTHESES.sub("", cell).strip() for cell in header]


def _list(titles: Mapping[str, object]) -> str:
    return ", ".join(titles) or "none"


def _factor(title: str, text: str, slot: Unit, mistakes: list[Mistake]) -> float:
    try:
        return stated_unit(text, slot).size if text.strip() else 1.0
    except ExpressionError as error:
        mistakes.append(Mistake(title, error.message))
        return 1.0


def _numbers(
    rows: Sequence[Row], places: Mapping[str, int], mistakes: list[Mistake]
) -> dict[str, Array]:
    """Columns as numbers; empty cells and nan are nan."""
    table = np.full((len(places), len(rows)), np.nan)
    for count, (line, row) in enumerate(rows):
        for k, place in enumerate(places.values()):
            text = row[place].strip() if place < len(row) else ""
            try:
                table[k, count] = float(text) if text else math.nan
            except ValueError:
                mistakes.append(
                    Mistake(
                        f"row {line}",
                        f"{text!r} is no number; leave the cell empty where nothing was measured",
                    )
                )
    table[np.isinf(table)] = np.nan
    if len(mistakes) > _SHOWN:
        rest = len(mistakes) - _SHOWN
        mistakes[_SHOWN:] = [Mistake("", f"and {rest} more cells that are no numbers")]
    return dict(zip(places, table, strict=True))


def _check_size(name: str, column: Array, lines: Sequence[int], mistakes: list[Mistake]) -> None:
    beyond = np.flatnonzero(np.abs(column) > MOST)
    if beyond.size:
        row, more = lines[beyond[0]], f", and {beyond.size - 1} more" * (beyond.size > 1)
        mistakes.append(
            Mistake(
                name,
                f"row {row}: {column[beyond[0]]:.6g} (SI){more}; beyond {MOST:g} nothing is "
                f"measured. Leave the cell empty where there is no value.",
            )
        )
    largest = float(np.nanmax(np.abs(column), initial=0.0))
    if 0 < largest < LEAST:
        mistakes.append(
            Mistake(
                name,
                f"its largest number is {largest:.3g} (SI), below {LEAST:g}, and nothing so small "
                "is measured. State the unit in the title, as in [N*mm].",
            )
        )


def _check_time(t: Array, lines: Sequence[int], mistakes: list[Mistake]) -> None:
    if t.size < FEWEST:
        mistakes.append(
            Mistake("", f"has {plural(t.size, 'sample')}; {FEWEST} are the least that say much")
        )
        return
    if np.isnan(t).any():
        row = lines[np.flatnonzero(np.isnan(t))[0]]
        mistakes.append(Mistake(f"row {row}", "has no time"))
        return
    back = np.flatnonzero(np.diff(t) <= 0)
    if back.size:
        k = int(back[0])
        more = f", and in {plural(back.size - 1, 'more row')}" if back.size > 1 else ""
        mistakes.append(
            Mistake(
                f"row {lines[k + 1]}",
                f"time does not increase: {t[k + 1]:.6g} s after {t[k]:.6g} s{more}. Sort the "
                f"rows, or split the file where two records were joined.",
            )
        )
    elif (step := float(np.median(np.diff(t)))) < SHORTEST:
        mistakes.append(
            Mistake(
                "t",
                f"has steps of {step:.3g} s; {SHORTEST:g} s is the least. Say its unit, t [ms].",
            )
        )


def measurement_of(source: str, mechanism: Mechanism, table: Mapping[str, Array]) -> Measurement:
    """A record from its columns by name (`t`, `A`, `A'`, `A''`, `tau.A`, …), SI.

    Raises
    ------
    FileError
        Rates that contradict positions; what was hardly measured.
    """
    names, t = mechanism.coordinates, table["t"]
    notes: list[Note] = []
    table = continued(mechanism, table, notes)
    q = np.stack([table[name] for name in names])
    zero = np.zeros_like(t)
    tau = np.stack([table.get(f"tau.{name}", zero) for name in names])
    slots = value_units(mechanism.joints)
    for k, name in enumerate(names):
        if slots[name].text != "m" and not joint_type(mechanism.value(name).joint.type).is_ball:
            q[k] = unwrapped(name, q[k], notes)
        q[k] = without_spikes(name, q[k], notes)
    tau = np.stack([_unclipped(name, row, notes) for name, row in zip(names, tau, strict=True)])
    mistakes: list[Mistake] = []
    for k, name in enumerate(names):
        if f"{name}'" in table and not joint_type(mechanism.value(name).joint.type).is_free:
            _compare_rates(name, t, q[k], table[f"{name}'"], mistakes)
        known = int(np.isfinite(q[k]).sum())
        if known < FEWEST:
            mistakes.append(Mistake(name, f"was measured in {plural(known, 'sample')} only"))
        if not np.isfinite(table.get(f"tau.{name}", zero)).any():
            mistakes.append(Mistake(f"tau.{name}", "was not measured in any sample"))
    if mistakes:
        raise FileError(source, mistakes)
    wrenches = _wrenches(mechanism, table)
    missing = (~np.isfinite(q) | np.isnan(tau)).any(axis=0)
    for wrench in wrenches.values():
        missing |= np.isnan(wrench).any(axis=0)
    lost = int(missing.sum())
    steps = np.diff(t)
    gaps = int((steps > GAP * np.median(steps)).sum())
    if lost:
        said = (
            "sample is incomplete and was left out",
            "samples are incomplete and were left out",
        )
        notes.append(Note("missing", plural(lost, *said)))
    if gaps:
        longest = float(steps.max())
        notes.append(
            Note(
                "gaps",
                f"time jumps in {plural(gaps, 'place')}, by up to {longest:.3g} s: samples "
                "missing",
            )
        )
    given = all(f"{name}{p}" in table for name in names for p in ("'", "''"))
    rates = None
    if not given and any("'" in name for name in table):
        text = (
            "rates and accelerations of all coordinates are needed together: made from positions"
        )
        notes.append(Note("rates", text))
    if given:
        rates = (
            np.stack([table[f"{name}'"] for name in names]),
            np.stack([table[f"{name}''"] for name in names]),
        )
    return Measurement(source, t, q, rates, tau, tuple(notes), wrenches)


def _wrenches(mechanism: Mechanism, table: Mapping[str, Array]) -> dict[str, Array]:
    found = {}
    for name, columns in wrench_columns(mechanism).items():
        if table.keys() & columns.keys():
            none = np.zeros_like(table["t"])
            found[name] = np.stack([table.get(column, none) for column in columns])
    return found


def _unclipped(name: str, tau: Array, notes: list[Note]) -> Array:
    """The torque without samples where it stays at its extreme value."""
    found = tau.copy()
    extremes = {float(np.nanmax(tau)), float(np.nanmin(tau))} if np.isfinite(tau).any() else set()
    # A torque that never changes was held, not clipped.
    for extreme in sorted(extremes, reverse=True) if len(extremes) == 2 else ():
        flat = np.flatnonzero(tau == extreme)
        runs = np.split(flat, np.flatnonzero(np.diff(flat) > 1) + 1)
        clipped = [run for run in runs if run.size >= CLIPPED]
        if clipped:
            count = sum(run.size for run in clipped)
            found[np.concatenate(clipped)] = np.nan
            notes.append(
                Note(
                    "saturation",
                    f"tau.{name} stays at {extreme:.6g} (N m or N) over "
                    f"{plural(count, 'sample')} as if "
                    f"clipped; they were left out",
                )
            )
    return found


def _compare_rates(name: str, t: Array, q: Array, rate: Array, mistakes: list[Mistake]) -> None:
    """Given rates against differences of the positions: a unit's factor shows.

    Differences of fine steps are mostly noise or counts, which do not go with the rates: their
    product averages out, their square would not.
    """
    slope = np.diff(q) / np.diff(t)
    middle = (rate[1:] + rate[:-1]) / 2
    fine = np.isfinite(slope) & np.isfinite(middle)
    top = float(middle[fine] @ middle[fine])
    bottom = float(slope[fine] @ middle[fine])
    if bottom == 0:
        return
    if not 1 / OFF < (ratio := top / bottom) < OFF:
        mistakes.append(
            Mistake(
                f"{name}'",
                f"is {ratio:.4g} times what {name} changes by per second: wrong unit, sign or "
                f"column? (180/π = 57.3; ms are 1000 a second)",
            )
        )
