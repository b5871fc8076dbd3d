"""The box, along the ground's axes, in which a mechanism stays over its cycle."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import Expression
from basepar_core.mechanism import Mechanism, Point

from .analytic import size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .targets import Target

_WORDS: Mapping[str, tuple[Callable[..., Array], str]] = {
    "box_min": (np.min, "least"),
    "box_max": (np.max, "greatest"),
    "box_size": (np.ptp, "greatest less least"),
}
WORDS = tuple(_WORDS)


def metrics(mechanism: Mechanism, _: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name: of everything that the bodies carry, the shapes with their radii."""
    found = {}
    for axis, letter in enumerate("xy" if mechanism.planar else "xyz"):
        for word, (reduce, which) in _WORDS.items():
            what = f"{which} {letter} over the cycle that a joint, point or shape has"
            value = partial(_extent, axis=axis, reduce=reduce)
            found[f"{word}({letter})"] = CycleMetric(value, "m", what)
    return found


def corners(mechanism: Mechanism) -> list[tuple[Point, Expression | None]]:
    """Places that bodies carry, each with the radius about it; None for a place alone."""
    found: list[tuple[Point, Expression | None]] = []
    for joint in mechanism.joints:
        for body, frame in zip(joint.bodies, joint.frames, strict=True):
            found.append((Point("", body, frame.at), None))
    found += [(point, None) for point in mechanism.points]
    for shape in mechanism.shapes:
        found += [(Point("", shape.body, at), shape.radius) for at in shape.corners]
    return found


def _extent(cycle: ClosedCycle, axis: int, reduce: Callable[..., Array]) -> Array:
    pairs = corners(cycle.model.mechanism)
    tracks = cycle._places([point for point, _ in pairs])[:, :, axis]  # (variant, point, sample)
    radii = [radius for _, radius in pairs if radius is not None]
    about = np.zeros((cycle.count, len(pairs)), tracks.dtype)
    if radii:
        about[:, [radius is not None for _, radius in pairs]] = cycle._of_symbols(radii)
    both = np.stack([tracks - size(about)[..., None], tracks + size(about)[..., None]])
    return reduce(np.moveaxis(both, 0, 1).reshape(cycle.count, -1), axis=1)
