"""Rates of joint values from the motion of the joint's two bodies, whichever joint is cut.

A value's rate is its direction times the bodies' relative motion: the relative angular velocity
`spin` and the relative velocity `slide` of F2's origin, both world vectors, seen from the first
body. Tree and cut joints are alike here, which `joints.speeds` (tree joints only) is not.
"""

from typing import assert_never

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from . import spatial
from .spatial import cross, dot

#: Per value: directions that spin and slide are multiplied by (None: not at all).
Directions = list[tuple[Array | None, Array | None]]


def directions(kind: str, X1: Array, X2: Array, values: Array) -> Directions:
    """World directions (3, …) per value.

    Parameters
    ----------
    kind
        Joint type.
    X1, X2
        (3, 3, …) orientations of the joint's frames in the world.
    values
        (value, …): the joint's values; only a rotation vector among them matters.
    """
    shape, z = joint_type(kind), X1[:, 2]
    slides: Directions = [(None, X1[:, axis]) for axis in shape.directions]
    match shape.turns:
        case "":
            return slides
        case "z":
            return [*slides, (z, None)]
        case "zz":  # spin = z₁ȧ + z₂ḃ: the duals of its two axes in their plane
            other = X2[:, 2]
            normal = cross(z, other)
            square = dot(normal, normal)
            return [(cross(other, normal) / square, None), (cross(normal, z) / square, None)]
        case "any":
            inverse = spatial.inverse_rate_map(values[len(shape.slides) :])
            return [*slides, *((spatial.rotate(X1, inverse[k]), None) for k in range(3))]
    assert_never(shape.turns)


def rate(direction: tuple[Array | None, Array | None], spin: Array, slide: Array) -> Array:
    """A value's rate, rad/s or m/s; with accelerations, its second derivative less `bias`."""
    about, along = direction
    found = dot(about, spin) if about is not None else 0.0
    return found + dot(along, slide) if along is not None else np.asarray(found)


def bias(kind: str, values: Array, rates: Array) -> Array:
    """Second derivatives (value, …) at zero relative acceleration as seen from the first body.

    Zero but for a rotation vector: a universal joint's turning axis is perpendicular to both
    directions, and the others' directions are fixed in the first body.
    """
    found, shape = np.zeros_like(rates), joint_type(kind)
    if shape.is_ball:
        r, r_dot = values[len(shape.slides) :], rates[len(shape.slides) :]
        moved = spatial.rotate(spatial.rate_map_derivative(r, r_dot), r_dot)
        found[len(shape.slides) :] = -spatial.rotate(spatial.inverse_rate_map(r), moved)
    return found
