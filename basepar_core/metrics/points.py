"""Metrics of points that bodies carry, over the samples of a cycle."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism

from .closed_cycle import ClosedCycle
from .path_error import fit
from .targets import Target

#: Of one axis of a path, by the word.
_OF_AXIS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "point_min": (np.min, "least"),
    "point_max": (np.max, "greatest"),
    "point_range": (np.ptp, "greatest less least"),
}
#: Of the size of a derivative: which, its unit, in words.
_OF_SIZE = {
    "point_speed": (1, "m/s", "speed"),
    "point_acceleration": (2, "m/s^2", "acceleration"),
}
Found = tuple[Callable[[ClosedCycle], Array], str, str]


def metrics(mechanism: Mechanism, targets: Sequence[Target] = ()) -> dict[str, Found]:
    """By name the function from a cycle to (variant,), its unit, and words."""
    found: dict[str, Found] = {}
    for point in (one.name for one in mechanism.points):
        for axis, letter in enumerate("xy" if mechanism.planar else "xyz"):
            for word, (reduce, which) in _OF_AXIS.items():
                what = f"{which} {letter} of point {point} over the cycle"
                value = partial(_along, point=point, axis=axis, reduce=reduce)
                found[f"{word}({point}.{letter})"] = (value, "m", what)
        for word, (order, unit, of) in _OF_SIZE.items():
            what = f"greatest {of} of point {point} over the cycle"
            found[f"{word}({point})"] = (partial(_greatest, point=point, order=order), unit, what)
        what = f"greatest distance of point {point} from its path's line of least squares"
        found[f"straightness({point})"] = (partial(_straightness, point=point), "m", what)
        for target in targets:
            what = f"root mean square distance of point {point} from target {target.name}"
            error = partial(_path_error, point=point, target=target)
            found[f"path_error({point},{target.name})"] = (error, "m", what)
    return found


def _along(cycle: ClosedCycle, point: str, axis: int, reduce: Callable[..., Any]) -> Array:
    return reduce(cycle.tracks(point)[:, axis], axis=-1)


def _greatest(cycle: ClosedCycle, point: str, order: int) -> Array:
    return np.sqrt((cycle.movement(point)[order] ** 2).sum(axis=-1).max(axis=1))


def _path_error(cycle: ClosedCycle, point: str, target: Target) -> Array:
    return fit(cycle.tracks(point), target, cycle.model.mechanism, cycle.motion).error


def _straightness(cycle: ClosedCycle, point: str) -> Array:
    """Total least squares: the line is along the principal direction through the mean."""
    path = cycle.tracks(point)
    path = path - path.mean(axis=-1, keepdims=True)
    direction = np.linalg.eigh(path @ path.swapaxes(1, 2))[1][..., -1, None]
    across = path - direction * (direction * path).sum(axis=1, keepdims=True)
    return np.sqrt((across**2).sum(axis=1).max(axis=1))
