"""Shapes of bodies on paper: what clearances are measured from."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from basepar_core.dynamics import Model, carried, kinematics, places
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Point

#: Corners of what stands for a disc, one for each direction.
_ROUND = 96


def outlines(
    model: Model, known: Mapping[str, Any], dims: kinematics.Geometry, q: np.ndarray
) -> list[tuple[str, np.ndarray]]:
    """Bodies of a planar mechanism, and the outlines (2, corner) of their shapes, m.

    Parameters
    ----------
    known
        Every symbol's value, (1,) or a number, SI.
    dims, q
        Its geometry and configuration (position, 1, 1).
    """
    shapes = model.mechanism.shapes if model.mechanism.planar else ()
    found = []
    for shape in shapes:
        corners = tuple(Point("", shape.body, at) for at in shape.corners)
        local = carried(corners, known)[..., None]
        at = places(model, dims, q, corners, local)[:, :2, 0, 0].T
        (radius,) = np.ravel(evaluate([shape.radius], known))
        found.append((shape.body, _offset(at, abs(float(radius)))))
    return found


def _offset(corners: np.ndarray, radius: float) -> np.ndarray:
    """Outline of all that is within a radius of the hull of corners (2, corner), in order."""
    if radius == 0:
        return corners
    angle = 2 * np.pi * np.arange(_ROUND) / _ROUND
    ways = np.stack([np.cos(angle), np.sin(angle)])
    farthest: np.ndarray = corners[:, (corners.T @ ways).argmax(axis=0)] + radius * ways
    return farthest
