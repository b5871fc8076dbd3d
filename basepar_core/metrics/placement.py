"""Where a mechanism is to stand so that its point meets a target, and the target seen from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Outcome, cycle, trace
from basepar_core.errors import MechanismError

from .closed_cycle import ClosedCycle
from .path_error import fit
from .targets import Target


@dataclass(frozen=True)
class Placement:
    """A mechanism held against a target as `path_error` does it.

    It stands where a place p of its file is at scale · rotation · p + shift.

    Attributes
    ----------
    metric
        `path_error(P,target)`.
    error
        Its value, m.
    rotation
        (axis, axis).
    scale
        1 where it is not fitted.
    shift
        (axis,), m.
    points
        (point, axis): the target as the mechanism's file sees it, m.
    """

    metric: str
    error: float
    rotation: Array
    scale: float
    shift: Array
    points: Array

    @property
    def angle(self) -> float:
        """By how much it is turned, rad; in space about some axis, 0 to pi."""
        if len(self.rotation) == 2:
            return float(np.arctan2(self.rotation[1, 0], self.rotation[0, 0]))
        return float(np.arccos(np.clip((np.trace(self.rotation) - 1) / 2, -1.0, 1.0)))


def placements(
    model: Model, metrics: Sequence[str], targets: Sequence[Target]
) -> Iterator[Placement]:
    """Of the `path_error(P,target)` among some metrics, where the cycle closes and reaches the
    target's stated timing: a mechanism's file may have changed since they were evaluated."""
    mechanism = model.mechanism
    asked = [
        (point.name, target, metric)
        for point in mechanism.points
        for target in targets
        if (metric := f"path_error({point.name},{target.name})") in metrics
    ]
    if not asked or mechanism.cycle is None:
        return
    motion = cycle(mechanism, model.assembled.coordinates)
    way = trace(model, {}, motion.q)
    if way.outcome[0] != Outcome.CLOSED:
        return
    closed = ClosedCycle(model, {}, motion, way.q)
    for point, target, metric in asked:
        try:
            found = fit(closed.tracks(point), target, mechanism, motion)
        except MechanismError:
            continue
        turn, shift = found.turn[0], found.shift[0]
        scale = float(np.sqrt((turn**2).sum() / len(turn)))
        if scale > 0 and np.isfinite(found.error[0]):
            own = (target.table - shift) @ turn / scale**2
            yield Placement(metric, float(found.error[0]), turn / scale, scale, shift, own)
