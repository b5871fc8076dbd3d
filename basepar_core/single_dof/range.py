"""How far the one coordinate goes: whole turns where the motion closes, a range where it ends.

A range ends at a dead point: there the coordinate stops driving the mechanism, m(q) grows
without bound, and no table reaches it. Stretches that come near one without ending there are
found on the way and said.
"""

from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LAST_UPDATE,
    SINGULAR,
    STEP,
    Closer,
    Model,
    Outcome,
    kinematics,
    trace,
)
from basepar_core.errors import MechanismError, UsageError

from .gear_periods import turns_to_try
from .path import Values

#: Samples on which a whole motion is looked at before it is tabulated.
LOOK = 180
#: A configuration counts as the first one again when it differs by less (rad or m); Newton's
#: last update is 1e-9 and converges quadratically.
SAME = 1e-8
#: Below this regularity the loops count as near a dead point, and a range ends: m and its
#: derivative are built from inverses that lose as many digits, and grow with their square.
NEAR = 1e-2
#: Least values below this are looked at on so many finer samples: near a dead point regularity
#: falls and rises within a sample or two.
DIP, FINE = 0.1, 64
#: How far a coordinate is followed (rad, or longest offsets of the mechanism), and how near to a
#: dead point: there configurations move like the square root of what is left.
FAR, CLOSE = 7.0, 1e-9


@dataclass(frozen=True)
class Way:
    """Where the coordinate runs.

    Attributes
    ----------
    start
        q_assembly, rad or m.
    low, high
        Ends of what is tabulated; a closed motion has high = low + `turns`·2π.
    closed
        Whether the motion repeats itself after `high − low`.
    dead_points
        Where the coordinate ends (rad or m), beyond `low` and `high`; empty where the motion is
        closed or the range was given.
    near
        Stretches (from, to) within [low, high] whose regularity is below `NEAR`.
    margin
        Least regularity on the way (1: no loops).
    asked
        Whether `low` and `high` were given, so that it is not known whether the motion closes.
    """

    start: float
    low: float
    high: float
    closed: bool
    dead_points: tuple[float, ...]
    near: tuple[tuple[float, float], ...]
    margin: float
    asked: bool = False

    @property
    def length(self) -> float:
        return self.high - self.low


def the_coordinate(model: Model) -> str:
    """Name of the only coordinate.

    Raises
    ------
    MechanismError
        There are several.
    """
    names = model.mechanism.coordinates
    if len(names) != 1:
        raise MechanismError(
            f"{model.mechanism.name!r} has {len(names)} degrees of freedom "
            f"({', '.join(names)}); a reduced inertia m(q) is of mechanisms with one. Hold "
            f"the others by `couplings`, or by fixed joints.",
            ["coordinates"],
        )
    return names[0]


def find_way(model: Model, limits: tuple[float, float] | None = None) -> Way:
    """Follow the coordinate both ways from the assembly until the motion closes or ends.

    Parameters
    ----------
    model
        Of mobility one, at its nominal geometry.
    limits
        Range to tabulate (rad or m) instead of all there is; it must not contain a dead point.

    Raises
    ------
    MechanismError
        More than one coordinate; or a sliding coordinate that nothing ends, without `limits`.
    UsageError
        `limits` that are not reached.
    """
    name = the_coordinate(model)
    start = float(model.assembled.coordinates[0])
    if limits is not None:
        return _given(model, start, *limits)
    if not model.mechanism.value(name).is_length:
        for turns in turns_to_try(model.mechanism):
            found = _closed(model, start, turns)
            if found is not None:
                return found
    return _range(model, start)


def regularity(model: Model, q: Array) -> Array:
    """Distance of the loops from a dead point (sample,), at configurations (position, sample)."""
    closer = Closer(model.topology, model.loops, LAST_UPDATE)
    lanes = closer.start(q[:, 0], q.shape[1])
    lanes.q[:] = q
    closer.close(kinematics.geometry(model.mechanism, {}), lanes)
    found: Array = np.abs(closer.ratios(lanes)).min(axis=0)
    return found


def _follow(model: Model, start: float, end: float, samples: int) -> tuple[bool, Array]:
    """Whether a straight way is passable, and the configurations (position, sample) on it."""
    path = trace(model, {}, np.linspace(start, end, samples)[None])
    return bool(path.outcome[0] == Outcome.CLOSED), path.q[:, 0]


def _closed(model: Model, start: float, turns: int) -> Way | None:
    end = start + 2 * np.pi * turns
    passed, q = _follow(model, start, end, LOOK * turns + 1)
    if not (passed and moved(model, {}, q[:, None, [0, -1]])[0] < SAME):
        return None
    return _way(model, start, start, end, True, (), q)


def moved(model: Model, values: Values, q: Array) -> Array:
    """(variant,) how far the bodies are apart at two configurations: m, or entries of rotations.

    q is (position, variant, 2); `values` are swept symbols, (variant,) arrays, SI.
    """
    dims = kinematics.geometry(model.mechanism, values).over_samples()
    at = kinematics.poses(model.topology, dims, q)
    gaps = [
        np.abs(x[..., -1] - x[..., 0]).max(axis=tuple(range(x.ndim - 2)))
        for x in (*at.R[:-1], *at.p[:-1])
    ]
    found: Array = np.max(np.broadcast_arrays(*gaps, np.zeros(q.shape[1])), axis=0)
    return found


def _way(
    model: Model,
    start: float,
    low: float,
    high: float,
    closed: bool,
    dead: tuple[float, ...],
    q: Array,
) -> Way:
    places = np.linspace(low, high, q.shape[1])
    ratio = regularity(model, q)
    dips = _dips(ratio)
    if dips.size:
        step = places[1] - places[0]
        around = np.linspace(-step, step, 2 * FINE + 1)
        finer = np.clip(places[dips][:, None] + around, low, high)
        places = np.unique(np.concatenate([places, finer.ravel()]))
        ratio = regularity(model, trace(model, {}, places[None]).q[:, 0])
    return Way(
        start, low, high, closed, dead, _stretches(places, ratio < NEAR), float(ratio.min())
    )


def _dips(ratio: Array) -> Array:
    """Samples at which a small regularity is not above its neighbours'."""
    around = np.concatenate([[np.inf], ratio, [np.inf]])
    least = np.minimum(around[:-2], around[2:])
    return np.flatnonzero((ratio < DIP) & (ratio <= least))


def _stretches(places: Array, inside: Array) -> tuple[tuple[float, float], ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
    return tuple(
        (float(places[a]), float(places[b - 1]))
        for a, b in zip(edges[0::2], edges[1::2], strict=True)
    )


def _given(model: Model, start: float, low: float, high: float) -> Way:
    if not low < high:
        raise UsageError(f"The range ends ({high:g}) before it begins ({low:g}).", ["range"])
    for end in (low, high):
        if not _follow(model, start, end, 2)[0]:
            name = model.mechanism.coordinates[0]
            raise UsageError(
                f"{name!r} does not reach {end:.6g} from its assembly at {start:.6g}: a dead "
                f"point lies between them. Give a narrower range.",
                ["range"],
            )
    q = trace(model, {}, np.linspace(low, high, LOOK)[None]).q[:, 0]
    return replace(_way(model, start, low, high, False, (), q), asked=True)


def _range(model: Model, start: float) -> Way:
    """Both dead points, and the range between them that is regular enough to tabulate."""
    name = the_coordinate(model)
    sliding = model.mechanism.value(name).is_length
    unit = float(model.loops.step[0]) / STEP if sliding else 1.0
    far = [start - FAR * unit, start + FAR * unit]
    dead = tuple(_last(model, start, end, SINGULAR, unit) for end in far)
    ends = tuple(place for place, end in zip(dead, far, strict=True) if place != end)
    if sliding and len(ends) < len(far):
        raise MechanismError(
            f"Nothing ends the sliding coordinate {name!r} within {FAR * unit:.3g} m of its "
            f"assembly, to both sides. Give the range to tabulate.",
            ["coordinates"],
        )
    low, high = (_last(model, start, end, NEAR, unit) for end in far)
    if not low < start < high:
        raise MechanismError(
            f"{model.mechanism.name!r} is assembled at a dead point of {name!r}. "
            f"Assemble it elsewhere, or choose another coordinate.",
            ["assembly"],
        )
    q = trace(model, {}, np.linspace(low, high, LOOK)[None]).q[:, 0]
    return _way(model, start, low, high, False, ends, q)


def _last(model: Model, start: float, far: float, least: float, unit: float) -> float:
    """The last place on the way from `start` to `far` that is reached with this regularity."""
    closer = Closer(model.topology, model.loops, LAST_UPDATE)
    dims = kinematics.geometry(model.mechanism, {})
    lanes = closer.start(model.assembled.q, 1)
    closer.close(dims, lanes)
    signs = np.sign(closer.ratios(lanes))
    here, step = start, STEP * unit / 2 * np.sign(far - start)
    with np.errstate(all="ignore"):  # a step across a dead point diverges, and is halved
        while abs(step) > CLOSE * unit:
            there = here + step if abs(step) < abs(far - here) else far
            ahead = lanes.take(np.zeros(1, dtype=int))
            closer.drive(dims, ahead, np.array([here]), np.array([there]))
            if ahead.live[0] and (closer.ratios(ahead) * signs >= least).all():
                lanes, here = ahead, there
                if here == far:
                    break
            else:
                step /= 2
    return here
