"""Joints in numbers: relative motion, speeds, what a closed joint locks, and its values.

What a joint type does is in its line of `mechanism.JOINT_TYPES`. Conventions: F1 and F2 are the
joint's frames in its first and second body; the relative motion is F2 seen from F1. A joint's
configuration is its values, except that a spherical or free joint keeps a unit quaternion in place
of its rotation vector (singular at 2π); its speeds are the rates of its values, except that such
a joint has the relative angular velocity in F1's axes. Arrays have components first.
"""

from typing import assert_never

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from . import spatial

#: At zero a universal joint's second axis is F1's x and its first axis is F2's x.
UNIVERSAL_ZERO = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])


def configuration_size(kind: str) -> int:
    """Numbers in a joint's configuration."""
    shape = joint_type(kind)
    return shape.values + 1 if shape.is_ball else shape.values


def locked_names(kind: str, planar: bool) -> tuple[str, str]:
    """Axes of F1 along which a closed joint locks lengths, and about which it locks angles."""
    return joint_type(kind).locks(planar)


def locked_kinds(kind: str, planar: bool) -> tuple[int, int]:
    """Numbers of constraints of a closed joint: lengths, and angles."""
    along, about = locked_names(kind, planar)
    return len(along), len(about)


def locked_count(kind: str, planar: bool) -> int:
    """Number of constraints of a closed joint."""
    return sum(locked_kinds(kind, planar))


def relative_motion(kind: str, q: Array) -> tuple[Array, Array | None]:
    """Orientation (3, 3, …) of F2 in F1, and F2's origin (3, …) in F1 (None: coincident)."""
    shape, batch = joint_type(kind), q.shape[1:]
    shift = None
    if shape.slides:
        zero = np.zeros(batch)
        along = dict(zip(shape.slides, q, strict=False))
        shift = np.stack([along.get(axis, zero) for axis in "xyz"])
    angles = q[len(shape.slides) :]
    match shape.turns:
        case "":
            identity = np.eye(3).reshape((3, 3) + (1,) * len(batch))
            return np.broadcast_to(identity, (3, 3, *batch)), shift
        case "z":
            return spatial.about_z(angles[0]), shift
        case "zz":
            middle = UNIVERSAL_ZERO.reshape((3, 3) + (1,) * len(batch))
            first = spatial.compose(spatial.about_z(angles[0]), middle)
            return spatial.compose(first, spatial.about_z(angles[1])), shift
        case "any":
            return spatial.matrix_of_quaternion(angles), shift
    assert_never(shape.turns)


def speeds(kind: str, X1: Array, X2: Array) -> list[tuple[Array | None, Array | None]]:
    """Per speed: direction of relative angular velocity and of F2's origin's relative velocity.

    X1, X2 are the joint frames' orientations in the world; the directions are world vectors.
    """
    shape = joint_type(kind)
    x, y, z = X1[:, 0], X1[:, 1], X1[:, 2]
    turns = {"": (), "z": (z,), "zz": (z, X2[:, 2]), "any": (x, y, z)}[shape.turns]
    slides = [(None, X1[:, axis]) for axis in shape.directions]
    return [*slides, *((turn, None) for turn in turns)]


def speed_bias(kind: str, u: Array, X1: Array, X2: Array) -> Array | None:
    """Relative angular acceleration at zero speed rates, seen from the first body."""
    if joint_type(kind).turns == "zz":  # the second axis turns with the first
        return u[0] * u[1] * spatial.cross(X1[:, 2], X2[:, 2])
    return None


def integrate(kind: str, q: Array, step: Array) -> Array:
    """Configuration after a small motion `step` (speeds times time)."""
    shape = joint_type(kind)
    if not shape.is_ball:
        return q + step
    first = len(shape.slides)
    turned = spatial.quaternion_product(spatial.quaternion(step[first:]), q[first:])
    return np.concatenate([q[:first] + step[:first], turned])


def locked_directions(
    kind: str, planar: bool, X1: Array, X2: Array
) -> tuple[list[Array], list[Array]]:
    """World directions along which the origins' distance, and about which rotation, is locked."""
    along, about = locked_names(kind, planar)
    axes = {"x": X1[:, 0], "y": X1[:, 1], "z": X1[:, 2]}
    if about == "n":
        axes["n"] = spatial.cross(X1[:, 2], X2[:, 2])
    return [axes[name] for name in along], [axes[name] for name in about]


def gaps(kind: str, planar: bool, X1: Array, X2: Array, offset: Array) -> list[Array]:
    """How far a joint is from closed: lengths (m) along and sines of angles about what it locks.

    `offset` is F2's origin less F1's, world. To first order these grow with the relative motion
    projected on `locked_directions`, which is what Newton's method uses.
    """
    along, about = locked_directions(kind, planar, X1, X2)
    lengths = [spatial.dot(n, offset) for n in along]
    turns = joint_type(kind).turns
    if turns == "zz":
        return [*lengths, -spatial.dot(X1[:, 2], X2[:, 2])]
    if not turns:  # no relative rotation at all: half of R − Rᵀ
        turn = np.sum([spatial.cross(X1[:, k], X2[:, k]) for k in range(3)], axis=0) / 2
    else:
        turn = spatial.cross(X1[:, 2], X2[:, 2])
    return [*lengths, *(spatial.dot(n, turn) for n in about)]


def gap_bias(kind: str, X1: Array, X2: Array, spin: Array) -> list[Array]:
    """What a universal joint's moving normal adds to its constraint's second derivative.

    `spin` is the relative angular velocity. Other joints lock directions fixed in the first
    body, and add nothing.
    """
    if joint_type(kind).turns != "zz":
        return []
    normal_rate = spatial.cross(X1[:, 2], spatial.cross(spin, X2[:, 2]))
    return [spatial.dot(normal_rate, spin)]


def is_opposed(kind: str, X1: Array, X2: Array) -> Array:
    """Whether a joint is closed the wrong way round (z-axes, or whole frames, turned by π)."""
    turns = joint_type(kind).turns
    if turns in ("zz", "any"):
        return np.zeros(X1.shape[2:], dtype=bool)
    opposed = spatial.dot(X1[:, 2], X2[:, 2]) < 0
    if not turns:
        opposed = opposed | (spatial.dot(X1[:, 0], X2[:, 0]) < 0)
    return opposed


def values(kind: str, X1: Array, X2: Array, offset: Array) -> Array:
    """A joint's values, measured on two frames: angles in (−π, π], rotation vectors up to π."""
    shape = joint_type(kind)
    R = spatial.compose(spatial.transpose(X1), X2)
    p = spatial.rotate_back(X1, offset)
    slides = [p[axis] for axis in shape.directions]
    match shape.turns:
        case "":
            return np.stack(slides) if slides else np.zeros((0, *R.shape[2:]))
        case "z":
            return np.stack([*slides, spatial.angle_of(R[1, 0], R[0, 0])])
        case "zz":  # R = Rz(a) R0 Rz(b): its last column is Rz(a) x, its last row x' Rz(b)
            first = spatial.angle_of(R[1, 2], R[0, 2])
            return np.stack([*slides, first, spatial.angle_of(-R[2, 1], R[2, 0])])
        case "any":
            return np.stack([*slides, *spatial.rotation_vector(R)])
    assert_never(shape.turns)


def configuration(kind: str, values_: Array) -> Array:
    """Configuration of given values."""
    shape = joint_type(kind)
    if not shape.is_ball:
        return values_
    first = len(shape.slides)
    return np.concatenate([values_[:first], spatial.quaternion(values_[first:])])
