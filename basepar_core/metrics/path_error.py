"""How far a point's path is from a target curve: root mean square of distances, m.

With the timing given, the path at stated times or coordinates (the cubic through four samples) is
held against the target's points; with the timing free, the path's point nearest to each. Position,
rotation and scale of the path may be fitted to the target first: in closed form for given points
of the path (Kabsch, Acta Cryst. A32, 1976; Umeyama, IEEE PAMI 13(4), 1991), by turns with the
nearest points where the timing is free too, and then by Newton's method on all at once.

What is fitted is stationary, so that the error's slope is that with all of it held (the envelope
theorem): exact wherever the error is not zero and no foot is about to jump.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Motion
from basepar_core.errors import MechanismError
from basepar_core.mechanism import Mechanism

from .alignment import Fit, fitted, result, still, together
from .sampled_curves import Feet, is_closed, weights
from .targets import TIME, Target

#: A cycle comes back to its start where its last step, extrapolated, misses by less of a step.
_CLOSED = 1e-3


def check(mechanism: Mechanism, motion: Motion, targets: Sequence[Target]) -> None:
    """Reject targets whose timing the cycle does not have; raises MechanismError."""
    for target in targets:
        if "timing" not in target.fit:
            stations(target, mechanism, motion)


def fit(
    track: Array,
    target: Target,
    mechanism: Mechanism,
    motion: Motion,
    designs: Array | None = None,
) -> Fit:
    """Hold paths against a target.

    Parameters
    ----------
    track
        (variant, axis, sample), m.
    target, mechanism, motion
        What the samples of the motion are held against.
    designs
        `ClosedCycle._designs`: one fit for each design, which its small steps keep.

    Raises
    ------
    MechanismError
        The cycle does not reach the stated timing, or has fewer than four samples.
    """
    if track.shape[2] < 4:
        raise MechanismError(
            f"path_error needs at least four samples of the cycle of {mechanism.name}.", ["cycle"]
        )
    real = np.ascontiguousarray(np.real(track))
    fresh = np.ones(len(real), bool)
    if np.iscomplexobj(track):
        # Lanes of one variant's derivatives stand side by side, and have one path.
        fresh[1:] = (real[1:] != real[:-1]).any(axis=(1, 2))
    elif designs is not None:
        fresh[1:] = designs[1:] != designs[:-1]
    found = _finite(real[fresh], target, mechanism, motion)
    if fresh.all():
        return found
    own = np.cumsum(fresh) - 1
    whole = found.take(own)
    if np.iscomplexobj(track):  # `analytic` and `squares` add the derivatives
        return whole
    return whole.linearised(real - real[fresh][own])


def _finite(track: Array, target: Target, mechanism: Mechanism, motion: Motion) -> Fit:
    """As `_fit`; a path without places has no error, and disturbs no other."""
    bad = ~np.isfinite(track).all(axis=(1, 2))
    if not bad.any():
        return _fit(track, target, mechanism, motion)
    found = _fit(np.where(bad[:, None, None], 0.0, track), target, mechanism, motion)
    return replace(found, error=np.where(bad, np.nan, found.error))


def _fit(track: Array, target: Target, mechanism: Mechanism, motion: Motion) -> Fit:
    comes_back = returns(mechanism, motion)
    closed = is_closed(track) & comes_back
    if "timing" not in target.fit:
        index, share, wraps = stations(target, mechanism, motion)
        count = len(track)
        index, share = (np.broadcast_to(x, (count, x.size)) for x in (index, share))
        path = Feet(track, closed, index, share)
        return result(path, target, *fitted(path.at()[0], target), missing=wraps & ~closed)
    if target.fit == ("timing",):
        path = Feet.nearest(track, closed, target.table[None])
        return result(path, target, *still(track))
    return together(track, closed, target)


def pose_track(track: Array, angle: Array, target: Target) -> Array:
    """Places and angle times arm (variant, 3, sample), the angle's whole turns as the target's."""
    middle = np.real(angle).mean(axis=1) - np.mean(target.angles)
    turned = angle - 2 * np.pi * np.round(middle / (2 * np.pi))[:, None]
    return np.concatenate([track, target.arm * turned[:, None]], axis=1)


def order_defects(feet: Array) -> Array:
    """(variant,) how many points are met before the one before them, of feet (variant, point).

    Once round, in either direction, is in order.
    """
    steps = np.sign(np.roll(feet, -1, axis=1) - feet)
    back = np.minimum((steps <= 0).sum(axis=1), (steps >= 0).sum(axis=1))
    return np.maximum(back - 1, 0).astype(float)


def returns(mechanism: Mechanism, motion: Motion) -> bool:
    """Whether a cycle, one step after its last sample, is at its first again.

    By quintic interpolation of positions and cubic of speeds, angles up to whole turns.
    """
    h = np.diff(motion.t)
    if h.size < 3 or np.ptp(h) > 1e-9 * h.max():
        return False
    q, v, a, h = motion.q, motion.q_dot, motion.q_ddot, h[0]
    moved = h / 2 * (v[:, -1] + v[:, 0]) + h**2 / 12 * (a[:, -1] - a[:, 0])
    missed = q[:, 0] - q[:, -1] - moved
    angles = np.array([not mechanism.value(name).is_length for name in mechanism.coordinates])
    turn = 2 * np.pi
    missed = np.where(angles, missed - turn * np.round(missed / turn), missed)
    faster = v[:, 0] - v[:, -1] - h / 2 * (a[:, -1] + a[:, 0])
    step = np.abs(np.diff(q)).max()
    return bool(max(np.abs(missed).max(), h * np.abs(faster).max()) <= _CLOSED * step)


def stations(target: Target, mechanism: Mechanism, motion: Motion) -> tuple[Array, Array, bool]:
    """Where among the samples a target's stated times or coordinates are.

    Returns
    -------
    index, share (point,), and whether any lies beyond the last sample, before the first again.
    """
    comes_back = returns(mechanism, motion)
    period = 0.0
    if target.over == TIME:
        along = motion.t
        period = len(along) * (along[1] - along[0]) if comes_back else 0.0
    else:
        along = motion.q[mechanism.coordinates.index(target.over)]
        if comes_back and not mechanism.value(target.over).is_length:
            period = 2 * np.pi * np.sign(along[1] - along[0])
    step = np.diff(along)
    if not (np.all(step > 0) or np.all(step < 0)):
        raise MechanismError(
            f"Target {target.name} states its timing over {target.over}, which goes back and "
            f"forth in the cycle of {mechanism.name}. State times (t), or free the timing.",
            [f"targets.{target.name}"],
        )
    if period and not np.isclose(along[-1] + step[-1], along[0] + period):
        period = 0.0  # several turns: a value of the coordinate occurs more than once
    wanted = np.array(target.at, float)
    if period:
        wanted = along[0] + (wanted - along[0]) / period % 1 * period
    sign = np.sign(step[0])
    beyond = [value for value in wanted if sign * (value - along[-1]) > 1e-9 * abs(step[-1])]
    before = [value for value in wanted if sign * (along[0] - value) > 1e-9 * abs(step[0])]
    if before or (beyond and not period):
        far = (before or beyond)[0]
        raise MechanismError(
            f"Target {target.name} asks for {target.over} = {far:.6g}, and the cycle of "
            f"{mechanism.name} goes from {along[0]:.6g} to {along[-1]:.6g} (SI). Change the "
            "cycle or the target's timing, or free the timing.",
            [f"targets.{target.name}"],
        )
    place = np.interp(sign * wanted, sign * along, np.arange(along.size))
    ends = np.append(along, along[0] + period) if period else along
    if period:
        place = np.interp(sign * wanted, sign * ends, np.arange(ends.size))
    count = along.size
    index = np.floor(place).astype(np.int64)
    if not period:
        index = np.clip(index, 1, count - 3)
    share = _inverse(ends, index, place - index, wanted, period, count)
    wraps = bool(period) and bool(((index < 1) | (index > count - 3)).any())
    return index % count, share, wraps


def _inverse(
    ends: Array, index: Array, share: Array, wanted: Array, period: float, count: int
) -> Array:
    """Shares at which the cubic through four samples of an abscissa has the values wanted."""
    nodes = index[:, None] + np.arange(-1, 3)
    values = ends[nodes % count] + np.floor_divide(nodes, count) * period
    for _ in range(4):  # of even steps the first is exact
        value, rates, _ = weights(share)
        share = share - ((values * value).sum(-1) - wanted) / (values * rates).sum(-1)
    return share
