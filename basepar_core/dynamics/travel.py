"""How far the one coordinate of a mechanism can go, and which joint turns all the way round."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import BaseparError
from basepar_core.expressions import number
from basepar_core.mechanism import GROUND, Assembly, joint_type

from .closure import Model, Outcome, prepare, trace
from .joint_tracks import tracks
from .kinematics import geometry

#: Places on the way that are looked at, and again between the last two.
_LOOK = 181


def travel(model: Model) -> tuple[float, float] | None:
    """From where to where the one coordinate goes from the assembly, to dead points or so.

    Infinite, rad or m, where a turn (of a slide four times the longest offset) meets no end.

    Parameters
    ----------
    model
        The mechanism, prepared; None is of one with several coordinates.
    """
    if len(model.mechanism.coordinates) != 1:
        return None
    low, high = (_last(model, sign) for sign in (-1.0, 1.0))
    return low, high


def _last(model: Model, sign: float) -> float:
    (start,), (name,) = model.assembled.coordinates, model.mechanism.coordinates
    longest = geometry(model.mechanism, {}).longest_offset
    far = 4 * (longest or 1.0) if model.mechanism.value(name).is_length else 2 * np.pi
    way = np.linspace(start, start + sign * far, _LOOK)
    k = _reached(model, way)
    if k + 1 == len(way):
        return float(sign * np.inf)
    nearer = np.concatenate([way[: k + 1], np.linspace(way[k], way[k + 1], _LOOK)])
    return float(nearer[_reached(model, nearer)])


def _reached(model: Model, way: Array) -> int:
    """Which place (of values of the coordinate, the first of them assembled) is the last."""
    path = trace(model, {}, way[None, 1:])
    return len(way) - 1 if path.outcome[0] == Outcome.CLOSED else int(path.where[0])


def turning_joint(model: Model) -> str | None:
    """A revolute joint on the ground that could turn all the way round as the one coordinate."""
    it = model.mechanism
    if len(it.coordinates) != 1:
        return None
    values = [name for joint in it.joints for name in joint.values]
    found = tracks(model, {}, model.assembled.q[:, None, None], values)
    here = Assembly(tuple((name, number(Fraction(float(track[0, 0])))) for name, track in found))
    for joint in it.joints:
        if not joint_type(joint.type).is_pin or GROUND not in joint.bodies:
            continue
        other = replace(it, coordinates=joint.values, assembly=here, actuated=())
        try:
            is_free = travel(prepare(other)) == (-np.inf, np.inf)
        except BaseparError:  # the joint does not determine the motion
            continue
        if is_free and joint.values != it.coordinates:
            return joint.name
    return None
