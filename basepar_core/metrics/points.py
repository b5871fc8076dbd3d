"""Metrics of points that bodies carry, and of bodies' angles, over the samples of a cycle."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import path_curvature
from basepar_core.mechanism import GROUND, Mechanism

from .alignment import Fit
from .analytic import length, line_of, size
from .closed_cycle import ClosedCycle
from .curve_shapes import LABELS, descriptors
from .cycle_metric import CycleMetric
from .path_error import fit, order_defects, pose_track, returns
from .sampled_curves import is_closed
from .targets import Target

#: Extremes of one axis of a path, by the word; of a body's angle alike.
_OF_AXIS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "point_min": (np.min, "least"),
    "point_max": (np.max, "greatest"),
    "point_range": (np.ptp, "greatest less least"),
}
_OF_ANGLE = {word.replace("point", "angle"): entry for word, entry in _OF_AXIS.items()}
#: Of the size of a derivative: which, its unit, in words.
_OF_SIZE = {
    "point_speed": (1, "m/s", "speed"),
    "point_acceleration": (2, "m/s^2", "acceleration"),
}
WORDS = (
    *(*_OF_AXIS, *_OF_ANGLE, *_OF_SIZE, "speed_variation", "curvature_max", "straightness"),
    *("path_error", "pose_error", "order_defects", "missed_points", "fourier_descriptors"),
)
#: A target's point is missed where the path is farther from it than this share of its size.
MISSED = 0.01


def metrics(mechanism: Mechanism, targets: Sequence[Target] = ()) -> dict[str, CycleMetric]:
    """By name."""
    found: dict[str, CycleMetric] = {}
    for point, moves in ((one.name, one.body != GROUND) for one in mechanism.points):
        for axis, letter in enumerate("xy" if mechanism.planar else "xyz"):
            for word, (reduce, which) in _OF_AXIS.items():
                what = f"{which} {letter} of point {point} over the cycle"
                value = partial(_along, point=point, axis=axis, reduce=reduce)
                found[f"{word}({point}.{letter})"] = CycleMetric(value, "m", what)
        for word, (order, unit, of) in _OF_SIZE.items():
            what = f"greatest {of} of point {point} over the cycle"
            greatest = partial(_greatest, point=point, order=order)
            found[f"{word}({point})"] = CycleMetric(greatest, unit, what)
        if moves:
            what = f"greatest less least speed of point {point} over the cycle, over its mean"
            variation = partial(_speed_variation, point=point)
            found[f"speed_variation({point})"] = CycleMetric(variation, "1", what)
            what = f"greatest curvature of the path of point {point} over the cycle"
            bent = partial(_curvature, point=point)
            found[f"curvature_max({point})"] = CycleMetric(bent, "1/m", what)
        what = f"greatest distance of point {point} from its path's line of least squares"
        found[f"straightness({point})"] = CycleMetric(
            partial(_straightness, point=point), "m", what
        )
        if moves and mechanism.planar:
            what = f"shape of the closed path of point {point}: elliptic Fourier descriptors"
            described = partial(_described, point=point)
            found[f"fourier_descriptors({point})"] = CycleMetric(
                described, "1", what, labels=LABELS
            )
        for target in targets:
            found |= _against(mechanism, point, target)
    for body in (one.name for one in mechanism.bodies if mechanism.planar):
        for word, (reduce, which) in _OF_ANGLE.items():
            what = f"{which} angle of {body} from the ground's x axis over the cycle"
            turned = partial(_angle, body=body, reduce=reduce)
            found[f"{word}({body})"] = CycleMetric(turned, "rad", what)
    return found


def _against(mechanism: Mechanism, point: str, target: Target) -> dict[str, CycleMetric]:
    if target.is_function:
        return {}
    of = f"of point {point} from target {target.name}"
    pair = f"({point},{target.name})"
    if target.is_pose:
        (body,) = (one.body for one in mechanism.points if one.name == point)
        words = f"root mean square distance {of}, with its body's angle times the target's arm"
        value = partial(_pose_error, point=point, body=body, target=target)
        squares = partial(_pose_squares, point=point, body=body, target=target)
        return {f"pose_error{pair}": CycleMetric(value, "m", words, squares=squares)}
    every = {
        "path_error": (_path_error, "m", f"root mean square distance {of}"),
        "order_defects": (
            _order_defects,
            "1",
            f"points of target {target.name} that the path of {point} meets out of order",
        ),
        "missed_points": (
            _missed,
            "1",
            f"points of target {target.name} that the path of {point} on this branch misses by "
            "more than 1 % of the target's size",
        ),
    }
    if "timing" not in target.fit:
        del every["order_defects"]  # what is stated is met in order
    found = {
        f"{word}{pair}": CycleMetric(partial(value, point=point, target=target), unit, words)
        for word, (value, unit, words) in every.items()
    }
    name = f"path_error{pair}"
    squares = partial(_path_squares, point=point, target=target)
    return found | {name: replace(found[name], squares=squares)}


def _along(cycle: ClosedCycle, point: str, axis: int, reduce: Callable[..., Any]) -> Array:
    return reduce(cycle.tracks(point)[:, axis], axis=-1)


def _angle(cycle: ClosedCycle, body: str, reduce: Callable[..., Any]) -> Array:
    return reduce(cycle.angle(body), axis=-1)


def _greatest(cycle: ClosedCycle, point: str, order: int) -> Array:
    return length(cycle.moves(point)[:, order], axis=1).max(axis=1)


def _speed_variation(cycle: ClosedCycle, point: str) -> Array:
    speed = length(cycle.moves(point)[:, 1], axis=1)
    return np.ptp(speed, axis=1) / speed.mean(axis=1)


def _curvature(cycle: ClosedCycle, point: str) -> Array:
    moved = cycle.moves(point)
    return size(path_curvature(moved[:, 1], moved[:, 2], axis=1)).max(axis=-1)


def _described(cycle: ClosedCycle, point: str) -> Array:
    track = np.ascontiguousarray(np.real(cycle.tracks(point)))
    comes_back = is_closed(track) & returns(cycle.model.mechanism, cycle.motion)
    return np.where(comes_back[:, None], descriptors(np.swapaxes(track, 1, 2)), np.nan)


def _fit(cycle: ClosedCycle, track: Array, target: Target) -> Fit:
    """One for a design and its steps: residuals are the design's."""
    return fit(track, target, cycle.model.mechanism, cycle.motion, cycle._designs)


def _path_error(cycle: ClosedCycle, point: str, target: Target) -> Array:
    track = cycle.tracks(point)
    return _fit(cycle, track, target).analytic(track)


def _path_squares(cycle: ClosedCycle, point: str, target: Target) -> Array:
    track = cycle.tracks(point)
    return fit(track, target, cycle.model.mechanism, cycle.motion).squares(track, target)


def _pose_squares(cycle: ClosedCycle, point: str, body: str, target: Target) -> Array:
    track = pose_track(cycle.tracks(point), cycle.angle(body), target)
    return fit(track, target, cycle.model.mechanism, cycle.motion).squares(track, target)


def _pose_error(cycle: ClosedCycle, point: str, body: str, target: Target) -> Array:
    track = pose_track(cycle.tracks(point), cycle.angle(body), target)
    return _fit(cycle, track, target).analytic(track)


def _order_defects(cycle: ClosedCycle, point: str, target: Target) -> Array:
    found = _fit(cycle, cycle.tracks(point), target)
    # A list that ends where it began has its first point twice, at one foot.
    apart = (target.table != np.roll(target.table, 1, axis=0)).any(axis=1)
    return order_defects((found.index + found.share)[:, apart])


def _missed(cycle: ClosedCycle, point: str, target: Target) -> Array:
    found = _fit(cycle, cycle.tracks(point), target)
    size = np.sqrt(((target.table - target.table.mean(axis=0)) ** 2).sum(axis=1).mean())
    return (length(found.residual, axis=-1) > MISSED * size).sum(axis=1).astype(float)


def _straightness(cycle: ClosedCycle, point: str) -> Array:
    """Total least squares: the line is along the principal direction through the mean."""
    path = cycle.tracks(point)
    path = path - path.mean(axis=-1, keepdims=True)
    direction = line_of(path)[..., None]
    across = path - direction * (direction * path).sum(axis=1, keepdims=True)
    return length(across, axis=1).max(axis=1)
