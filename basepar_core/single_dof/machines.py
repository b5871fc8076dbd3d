"""One machine from its file to its steady regime: what the command and reproductions share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model

from .cycle_integrator import (
    NEUTRAL,
    NONE,
    STALLED,
    Regimes,
    Run,
    Turn,
    close_up,
    regimes,
    run,
    turn_of,
)
from .cycle_motion import Motion
from .path import Path, Values
from .range import Way, find_way
from .reaction_freedoms import Reaction, freed
from .reduced import inertias, samples_of
from .results import measures, motion_of
from .survey import Survey, Table, survey, tabulate, with_growth

#: Speed from which a regime is looked for where nobody says, rad/s: Newton is not choosy.
GUESS = 10.0
#: Intervals per turn are doubled until the regime's speed changes by less than `SPEED_ACCURACY` of
#: its range, between `FEWEST` and `MOST`.
SPEED_ACCURACY, FEWEST, MOST = 1e-7, 360, 5760
#: Metrics may change by this share by the last doubling; the result is at least 4 times better.
PEAKS = 1e-5
#: Fewer intervals than these may be too long for what depends on speed: no regime is found.
STIFF = 1440


@dataclass(frozen=True)
class Machine:
    """A surveyed mechanism, with its steady motion where it has one.

    Attributes
    ----------
    model
        With virtual coordinates for `reactions`.
    regimes
        None where the motion is not closed or nothing drives or brakes it.
    table, turn, motion
        Of the steady turn; None without a regime, or with a neutral one whose speed is not given.
    error
        Largest change of speed by the last doubling of the intervals, as a share of its range;
        the result is about 16 times better.
    peaks_error
        Largest change of a metric of the turn (`results.measures`) by the last doubling, as a
        share of the largest metric of its kind.
    """

    model: Model
    survey: Survey
    reactions: tuple[Reaction, ...]
    regimes: Regimes | None = None
    table: Table | None = None
    turn: Turn | None = None
    motion: Motion | None = None
    error: float = float("nan")
    peaks_error: float = 0.0

    @property
    def accurate(self) -> bool:
        """Whether a steady turn, and its metrics, are as accurate as they were meant to be; True
        without one."""
        held = self.error < SPEED_ACCURACY and self.peaks_error < PEAKS
        return self.motion is None or held


def machine(
    model: Model,
    reactions: Sequence[Reaction] = (),
    limits: tuple[float, float] | None = None,
    period: float | None = None,
    speed: float | None = None,
    extra: Sequence[str] = (),
) -> Machine:
    """Reduce a mechanism, and find its steady regime.

    Parameters
    ----------
    model
        Of mobility one.
    reactions
        Joint forces and moments wanted.
    limits
        Range of q; all there is without.
    period, speed
        Of a neutral regime, whose speed is not its own: s per turn, or the speed at q_assembly
        (rad/s). Of others `speed` is where Newton starts.
    extra
        More joint values to follow.
    """
    way = find_way(model, limits)
    full = freed(model, reactions) if reactions else model
    found = survey(full, extra=extra, way=way)
    loads = found.table.loads
    loaded = loads.resistances or loads.pushes or loads.drives
    if not way.closed or not loaded:
        return Machine(full, found, tuple(reactions))
    return _steady(Machine(full, found, tuple(reactions)), way, period, speed, extra)


def turn_at(
    model: Model,
    way: Way,
    values: Values,
    intervals: int,
    extra: Sequence[str] = (),
    path: Path | None = None,
) -> tuple[Table, Turn]:
    """Tables of a turn for many variants, on an even number of intervals.

    All must follow the turn; whoever has to ask gives the `path` it found (`path.follow`).
    """
    q = samples_of(way, intervals)
    table = tabulate(model, values, q, inertias(model, values), extra, path)
    table = close_up(table, way.length)
    table = with_growth(table, table.theta[:, 0, -1] - table.theta[:, 0, 0])
    return table, turn_of(table)


def _steady(
    made: Machine, way: Way, period: float | None, speed: float | None, extra: Sequence[str]
) -> Machine:
    before: Array | None = None
    motion: Motion | None = None
    names = [one.metric for one in made.reactions]
    peaks: list[dict[str, Array]] = []
    intervals, error = FEWEST, np.inf
    guess = np.array([GUESS if speed is None else speed])
    given = period is not None or speed is not None
    while True:
        table, turn = turn_at(made.model, way, {}, intervals, extra)
        known, ran = _regime(turn, guess, period, given)
        if ran is None:
            if known.state[0] != NEUTRAL and turn.brakes.any() and intervals < STIFF:
                intervals *= 2
                continue
            return Machine(made.model, made.survey, made.reactions, known)
        here = ran.speed[0, 0]
        motion = motion_of(table, turn, ran)
        peaks = [*peaks[-1:], measures(table, motion, names)]
        if before is not None:
            error = float(np.abs(here[::2] - before).max() / max(np.ptp(here), 1e-12 * here.max()))
        if error < SPEED_ACCURACY or intervals >= MOST:
            break
        before, intervals = here, 2 * intervals
        guess = guess if known.state[0] == NEUTRAL else known.speed
    return replace(
        made,
        regimes=known,
        table=table,
        turn=turn,
        motion=motion,
        error=error,
        peaks_error=_moved(*peaks) if len(peaks) > 1 else np.inf,
    )


def _moved(coarse: dict[str, Array], fine: dict[str, Array]) -> float:
    """Largest change of a metric, as a share of the largest of its kind."""
    sizes: dict[str, float] = {"speed_fluctuation": 1e-6}  # of an even turn, rounding
    for name, values in fine.items():
        kind = name.partition("(")[0]
        sizes[kind] = max(sizes.get(kind, 1e-300), abs(float(values[0])))
    return max(
        abs(float(values[0] - coarse[name][0])) / sizes[name.partition("(")[0]]
        for name, values in fine.items()
    )


def _regime(
    turn: Turn, guess: Array, period: float | None, given: bool
) -> tuple[Regimes, Run | None]:
    """A regime and its turn: None without one, and of a neutral one whose speed is not `given`.

    Who does not finish a turn at the speed of a neutral regime is stalled.
    """
    known = regimes(turn, guess, period)
    neutral = known.state[0] == NEUTRAL
    if known.state[0] in (NONE, STALLED) or (neutral and not given):
        return known, None
    ran = run(turn, guess if neutral and period is None else known.speed, known.currents)
    if ran.state[0] == STALLED:
        return replace(known, state=ran.state), None
    return known, ran
