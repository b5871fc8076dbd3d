"""A record made of a raw log: columns mapped to joints, and what says nothing left out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import FileError, Mistake, UsageError
from basepar_core.expressions import parse_unit
from basepar_core.identification import FEWEST, Measurement, Note, measurement_of
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural

from .mapping import Channel, LogMapping
from .standstill import standing
from .tables import Table

#: Between runs that are joined, s: nothing that is filtered reaches across.
BETWEEN = 1.0
#: Hz: faster logs are averaged over blocks of samples down to this, fifty times what is left of
#: the torque.
DENSEST = 500.0


def read_log(
    tables: Sequence[Table],
    mapping: LogMapping,
    mechanism: Mechanism,
    rows: tuple[int, int] | None = None,
) -> Measurement:
    """A record made of a log.

    Parameters
    ----------
    tables
        The log's runs.
    mapping
        What their columns are.
    mechanism
        Whose coordinates were measured.
    rows
        First and last row that count, from 1; of one run only.

    Raises
    ------
    FileError
        Columns that are not there or not named, time that runs back, too few samples.
    UsageError
        Rows that are not there.
    """
    source = ", ".join(table.source for table in tables)
    _check(source, tables[0], mapping, mechanism)
    if rows is not None:
        tables = [_cut(tables, rows)]
    notes: list[Note] = []
    parts = [_run(table, mapping, mechanism, notes) for table in tables]
    starts, end = [], -BETWEEN
    for part in parts:
        part["t"] = part["t"] - part["t"][0] + end + BETWEEN
        end = float(part["t"][-1])
        starts.append(part["t"].size)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if columns["t"].size < FEWEST:
        message = f"has {plural(columns['t'].size, 'sample')}; {FEWEST} at least are needed"
        raise FileError(source, [Mistake("", message)])
    record = measurement_of(source, mechanism, columns)
    starts_of_runs = tuple(np.cumsum(starts)[:-1].tolist())
    record = replace(record, starts=starts_of_runs, motor_to_joint=mapping.matrix)
    return _without_standstill(record, mechanism, notes)


def _check(source: str, table: Table, mapping: LogMapping, mechanism: Mechanism) -> None:
    """All columns that a record needs are named, and all that are named are there."""
    names = mechanism.coordinates
    needed = [*names, *(f"tau.{name}" for name in mechanism.actuated or names)]
    mistakes = []
    if missing := [name for name in needed if name not in mapping.channels]:
        text = f"no column is named for {', '.join(missing)}; write `{missing[0]}: {{from: …}}`"
        mistakes.append(Mistake("log", text))
    if mapping.rate is None and "t" not in mapping.channels:
        text = "neither a column with the time, `t: {from: 1}`, nor `rate: 200 Hz` is there"
        mistakes.append(Mistake("log", text))
    if mapping.motor_to_joint is not None:
        for prefix, suffix in (("tau.", ""), ("", "'"), ("", "''")):
            have = [name for name in names if f"{prefix}{name}{suffix}" in mapping.channels]
            if have and len(have) < len(names):
                text = "with `motor to joint` all motors are needed, or none"
                mistakes.append(Mistake(f"log.{prefix}{have[0]}{suffix}", text))
    count = table.numbers.shape[1]
    for name, one in mapping.channels.items():
        if isinstance(one.column, int) and one.column > count:
            text = f"there is no column {one.column}; the log has {count}"
            mistakes.append(Mistake(f"log.{name}", text))
        elif isinstance(one.column, str) and one.column not in table.titles:
            known = ", ".join(filter(None, table.titles)) or "no titles"
            mistakes.append(
                Mistake(f"log.{name}", f"there is no column {one.column!r}; the log has {known}")
            )
    if mistakes:
        raise FileError(source, mistakes)


def _cut(tables: Sequence[Table], rows: tuple[int, int]) -> Table:
    first, last = rows
    count = len(tables[0].numbers)
    if len(tables) > 1:
        raise UsageError("`rows=` is of one run; these are several. Cut the files.", ["rows="])
    if not 1 <= first < last <= count:
        raise UsageError(
            f"`rows=`: {first}:{last} are no rows of {tables[0].source}, which has 1:{count}.",
            ["rows="],
        )
    return replace(tables[0], numbers=tables[0].numbers[first - 1 : last])


def _run(
    table: Table, mapping: LogMapping, mechanism: Mechanism, notes: list[Note]
) -> dict[str, Array]:
    """One run's values by name, SI, on the joints' side, averaged where it is very fast."""
    found = {name: _values(table, one) for name, one in mapping.channels.items() if name != "t"}
    count = len(table.numbers)
    time = mapping.channels.get("t")
    t = np.arange(count) / mapping.rate if mapping.rate else _values(table, time or Channel(1))
    keep = _new(np.stack(list(found.values())))
    if repeats := int((~keep).sum()):
        text = "row that repeats the one before was left out"
        texts = "rows that repeat the one before were left out"
        notes.append(Note("repeated", plural(repeats, text, texts)))
    late = np.concatenate([[True], np.diff(t) > 0])
    if (~late & keep).sum() > 0.01 * count or not np.isfinite(t).all():
        row = int(np.flatnonzero(~late | ~np.isfinite(t))[0]) + 1
        message = (
            f"row {row}: time does not increase (nor in {int((~late).sum()) - 1} more). Is it "
            f"another column? State `rate:` if there is none with the time."
        )
        raise FileError(table.source, [Mistake("log.t", message)])
    t, found = t[keep & late], {name: x[keep & late] for name, x in found.items()}
    _couple(found, mapping, mechanism)
    for name, one in mapping.channels.items():
        if name != "t":
            found[name] = found[name] + one.offset
    return _averaged({"t": t, **found}, notes)


def _values(table: Table, one: Channel) -> Array:
    place = one.column - 1 if isinstance(one.column, int) else table.titles.index(one.column)
    factor = parse_unit(one.unit).size if one.unit else 1.0
    return np.asarray(table.numbers[:, place] * (one.gain * factor))


def _new(values: Array) -> Array:
    """(sample,) bool: samples in which anything differs from the one before."""
    with np.errstate(invalid="ignore"):
        changed = (np.diff(values, axis=1) != 0).any(axis=0)  # nan counts
    return np.concatenate([[True], changed])


def _couple(found: dict[str, Array], mapping: LogMapping, mechanism: Mechanism) -> None:
    """Motors' values to joints': q = M x, τ = M⁻ᵀ u, by virtual work."""
    M = mapping.matrix
    if M is None:
        return
    names = mechanism.coordinates
    patterns = (("", "", M), ("", "'", M), ("", "''", M), ("tau.", "", np.linalg.inv(M).T))
    for prefix, suffix, matrix in patterns:
        keys = [f"{prefix}{name}{suffix}" for name in names]
        if keys[0] in found:
            joints = matrix @ np.stack([found[key] for key in keys])
            found |= dict(zip(keys, joints, strict=True))


def _averaged(columns: Mapping[str, Array], notes: list[Note]) -> dict[str, Array]:
    """Means of blocks: for what moves little in a block, the value at the block's mean time."""
    t = columns["t"]
    size = int(1 / (DENSEST * float(np.median(np.diff(t))) * (1 - 1e-9))) if t.size > 1 else 1
    if size < 2:
        return dict(columns)
    count = t.size // size
    text = f"averaged over blocks of {size} samples, from {1 / np.median(np.diff(t)):.4g} Hz"
    notes.append(Note("averaged", text))
    return {
        name: x[: count * size].reshape(count, size).mean(axis=1) for name, x in columns.items()
    }


def _without_standstill(
    record: Measurement, mechanism: Mechanism, notes: Sequence[Note]
) -> Measurement:
    """The record with no torque where a joint stands still."""
    lengths = np.array([mechanism.value(name).is_length for name in mechanism.coordinates])
    still = standing(record.t, record.q, lengths)
    found = [*record.notes, *notes]
    if still.any():
        shares = ", ".join(
            f"{name} {share:.0%}"
            for name, share in zip(mechanism.coordinates, still.mean(axis=1), strict=True)
            if share
        )
        text = f"rows in which a joint stands still were left out, of {shares} of the samples"
        found.append(Note("standstill", text))
    return replace(record, tau=np.where(still, np.nan, record.tau), notes=tuple(found))
