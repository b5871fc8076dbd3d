"""Rates of joint values along a closed cycle by twists; in the plane by points, slides as well."""

from collections.abc import Callable, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Poses, cross, joint_rates, kinematics, measured
from basepar_core.expressions import ONE, ZERO, add
from basepar_core.mechanism import Joint, JointValue, Point, joint_type


def axis_of(body: str) -> tuple[Point, Point]:
    """A body's origin, and the point at one metre along its x axis."""
    return Point("", body, (ZERO, ZERO, ZERO)), Point("", body, (ONE, ZERO, ZERO))


def rate_of(model: Model, value: JointValue, at: Poses, moving: kinematics.Twists) -> Array:
    """A value's rate from the twists of the joint's bodies, whichever joint it is."""
    kind, k = value.joint.type, value.number
    first, second = (model.mechanism.body_index[name] for name in value.joint.bodies)
    offset = at.P2[k] - at.p[first]
    velocity = moving.v[second] + cross(moving.omega[second], at.P2[k] - at.p[second])
    carried = moving.v[first] + cross(moving.omega[first], offset)
    spin = moving.omega[second] - moving.omega[first]
    ways = joint_rates.directions(kind, at.X1[k], at.X2[k], measured(value.joint, k, at))
    return joint_rates.rate(ways[value.place], spin, velocity - carried)


def has_planar_rate(value: JointValue) -> bool:
    """Whether `planar_rate` knows it: an angle, or a slide along the frames' axis."""
    return value.is_angle or joint_type(value.joint.type).is_slide


def planar_rate(value: JointValue, moves: Callable[[Sequence[Point]], Array]) -> Array:
    """A value's rate (variant, sample) in the plane, from points and how they move.

    Parameters
    ----------
    moves
        From points to (variant, point, order, axis, sample).
    """
    joint = value.joint
    if value.is_angle:
        marks = moves([*axis_of(joint.bodies[0]), *axis_of(joint.bodies[1])])
        return _spin(marks[:, 2:]) - _spin(marks[:, :2])
    points = (*axis_points(joint), second_origin(joint))
    start, end, slid = np.moveaxis(moves(points)[:, :, :2], 1, 0)  # (variant, order, axis, sample)
    axis, away = end - start, slid - start
    size = np.sqrt((axis[:, 0] ** 2).sum(axis=1, keepdims=True))
    along, turned = axis[:, 0] / size[:, :1], axis[:, 1] / size[:, :1]
    return (away[:, 1] * along + away[:, 0] * turned).sum(axis=1)


def planar_slide(joint: Joint, places: Callable[[Sequence[Point]], Array]) -> Array:
    """A slide's value (variant, sample) in the plane, m; from points to (variant, point, axis,
    sample)."""
    start, end, slid = np.moveaxis(places((*axis_points(joint), second_origin(joint))), 1, 0)
    axis = end - start
    found: Array = ((slid - start) * axis).sum(axis=1) / np.sqrt((axis**2).sum(axis=1))
    return found


def axis_points(joint: Joint) -> tuple[Point, Point]:
    """The origin of a joint's first frame, and a point along its axis, both on the first body."""
    frame, body = joint.frames[0], joint.bodies[0]
    x, y, z = (add(a, b) for a, b in zip(frame.at, frame.axis, strict=True))
    return Point("", body, frame.at), Point("", body, (x, y, z))


def second_origin(joint: Joint) -> Point:
    """The origin of a joint's second frame."""
    return Point("", joint.bodies[1], joint.frames[1].at)


def _spin(marks: Array) -> Array:
    """Angular velocity (variant, sample) of a body from its origin and the tip of its x axis."""
    (x, y), (u, v) = np.moveaxis(marks[:, 1, :2] - marks[:, 0, :2], (1, 2), (0, 1))
    found: Array = x * v - y * u
    return found
