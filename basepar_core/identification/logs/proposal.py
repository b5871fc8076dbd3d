"""What a log's columns look like: time, positions, speeds, torques or currents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import FileError, Mistake
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural

from .mapping import Channel, LogMapping
from .tables import Table

#: Beyond this many turns an angle is taken to be in degrees.
TURNS = 3
#: Correlation of a column with the derivative of another from which it is that one's speed.
ALIKE = 0.9
#: Rows looked at.
LOOKED_AT = 20_000
#: A clock's steps: from a tenth of the median to ten times that, but for one row in a hundred.
_STEPS = 10
#: Units of time by the largest median step (in that unit) that is plausible.
_CLOCKS = ((0.5, ""), (100.0, "ms"), (2e5, "us"), (2e8, "ns"))
_WORDS = {
    "": ("q", "pos", "position", "angle", "theta", "joint", "actual_q"),
    "tau": ("tau", "torque", "effort", "current", "i", "actual_current", "moment", "force"),
}
#: A unit in brackets behind a title; a number there counts the joint.
_UNIT = re.compile(r"\[[^\]0-9][^\]]*\]\s*\Z")
_NUMBERED = re.compile(r"(.*?)[ _.\[(]*([0-9]+)[\])]*\Z")


@dataclass(frozen=True)
class Proposal:
    """A mapping as it looks, and why: a line for each guess."""

    mapping: LogMapping
    reasons: tuple[str, ...]


def propose(
    tables: Sequence[Table],
    mechanism: Mechanism,
    rate: float | None = None,
    gains: Sequence[float] = (),
) -> Proposal:
    """What a log's columns are, from a look at it.

    Titles that name coordinates count first. Otherwise columns stand in blocks, one per
    coordinate: the first is positions; the one that goes with its derivative speeds; the next
    after these torques (of measured and desired ones, logs have the measured first).

    Parameters
    ----------
    tables
        The log's runs.
    mechanism
        Whose coordinates were measured.
    rate
        Hz, where no column is a clock.
    gains
        Of the torques' columns, per coordinate.

    Raises
    ------
    FileError
        No such blocks, no clock, another number of gains.
    """
    table, names = tables[0], mechanism.coordinates
    numbers = table.numbers[:LOOKED_AT]
    clock, unit = (None, "") if rate else _clock(numbers)
    left = [k for k in range(numbers.shape[1]) if k != clock]
    t = numbers[:, clock] if clock is not None else np.arange(len(numbers)) / (rate or 1.0)
    blocks, reasons = _titled(table, names), ["by their titles"]
    if blocks is None:
        blocks, reasons = _blocks(numbers, t, left, len(names))
    problems = []
    if clock is None and not rate:
        problems.append("no column is a clock; state `rate=`")
    if blocks is None:
        problems.append(
            f"{plural(len(left), 'column')} without a clock do not look like positions and "
            f"torques of {', '.join(names)}. The first line names the columns: write "
            f"{','.join(['t', *names, *(f'tau.{name}' for name in names)])} above the numbers, "
            f"or say which they are with `mapping=FILE`"
        )
    if len(gains) not in (0, len(names)):
        problems.append(
            f"{plural(len(gains), 'gain')} for {plural(len(names), 'coordinate')}: state one "
            f"for each"
        )
    if problems or blocks is None:
        raise FileError(table.source, [Mistake("", text) for text in problems])
    channels = {} if clock is None else {"t": Channel(clock + 1, unit=unit)}
    degrees = _degrees(numbers, blocks[0], mechanism)
    factors = [*gains] or [1.0] * len(names)
    for k, name in enumerate(names):
        channels[name] = Channel(blocks[0][k] + 1, unit="deg" if degrees[k] else "")
        channels[f"tau.{name}"] = Channel(blocks[1][k] + 1, gain=float(factors[k]))
    if any(degrees):
        reasons = [*reasons, f"angles in degrees: they run over more than {TURNS} turns of rad"]
    return Proposal(LogMapping(channels, rate), tuple(reasons))


def _clock(numbers: Array) -> tuple[int | None, str]:
    """The first column that increases in even steps, and its unit."""
    for k in range(numbers.shape[1]):
        steps = np.diff(numbers[:, k])
        middle = float(np.median(steps)) if steps.size else 0.0
        if not middle > 0 or (steps < 0).any():
            continue
        even = (steps >= middle / _STEPS) & (steps <= middle * _STEPS)
        if even.mean() > 0.99 - 0.2 * float((steps == 0).mean()) and steps.std() < 10 * middle:
            return k, next((unit for most, unit in _CLOCKS if middle <= most), "ns")
    return None, ""


def _titled(table: Table, names: Sequence[str]) -> tuple[list[int], list[int]] | None:
    """Columns whose titles say which coordinate's position or torque they are."""
    found: dict[tuple[str, int], int] = {}
    lower = [name.lower() for name in names]
    for place, title in enumerate(table.titles):
        word = _UNIT.sub("", title.lower()).strip()
        for kind, words in _WORDS.items():
            exact = [f"{kind}.{name}" if kind else name for name in lower]
            match = _NUMBERED.match(word)
            if word in exact:
                found.setdefault((kind, exact.index(word)), place)
            elif match and match[1].strip() in words:
                found.setdefault((kind, int(match[2])), place)
    sides = []
    for kind in _WORDS:
        numbered = sorted(n for one, n in found if one == kind)
        if len(numbered) != len(names):
            return None
        sides.append([found[kind, n] for n in numbered])
    return sides[0], sides[1]


def _blocks(
    numbers: Array, t: Array, left: Sequence[int], size: int
) -> tuple[tuple[list[int], list[int]] | None, list[str]]:
    """Positions and torques among columns without titles."""
    blocks = [list(left[k : k + size]) for k in range(0, len(left) - size + 1, size)]
    if len(blocks) < 2:
        return None, []
    first, *others = blocks
    slopes = np.gradient(numbers[:, first], axis=0)
    speeds = [block for block in others if _go_together(numbers[:, block], slopes)]
    reasons = [f"{_shown(first)} look like positions"]
    if speeds:
        reasons.append(f"{_shown(speeds[0])} go with their derivatives: speeds")
        others = [block for block in others if block not in speeds]
    if not others:
        return None, []
    reasons.append(f"{_shown(others[0])} are taken for torques")
    if len(others) > 1:
        reasons.append(f"columns from {others[1][0] + 1} on are not used")
    return (first, others[0]), reasons


def _go_together(rates: Array, slopes: Array) -> bool:
    """Whether columns correlate with the derivatives, those that move."""
    sizes = np.sqrt((rates**2).sum(axis=0) * (slopes**2).sum(axis=0))
    moving = sizes > 0
    products = (rates * slopes).sum(axis=0)[moving] / sizes[moving]
    return bool(products.size) and bool(np.median(products) > ALIKE)


def _shown(block: Sequence[int]) -> str:
    return f"columns {block[0] + 1}–{block[-1] + 1}"


def _degrees(numbers: Array, places: Sequence[int], mechanism: Mechanism) -> list[bool]:
    """Which columns are angles in degrees: all angles, if one runs over several turns of rad."""
    angles = [not mechanism.value(name).is_length for name in mechanism.coordinates]
    spans = np.nanmax(numbers[:, places], axis=0) - np.nanmin(numbers[:, places], axis=0)
    wide = any(
        angle and span > 2 * np.pi * TURNS for angle, span in zip(angles, spans, strict=True)
    )
    return [angle and wide for angle in angles]
