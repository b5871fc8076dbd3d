"""A joint whose two axes point in opposite directions: which of them to reverse."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Expression, Number, evaluate, names, negate
from basepar_core.mechanism import Frame, Joint, Pose, Vector

from . import spatial
from .body_newton import OpposedAxesError
from .trials import NEAR, Trial, closing


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of opposed axes, with the axes to write where one of them reversed will do.

    Joints whose own two axes are opposed come first: where one of them explains it, the joint that
    closes the wrong way round is as it is meant, and a body would stand upside down with its axis
    reversed. Where both axes of one do, as stated values tell no difference, those with fewer
    minus signs.
    """
    if not isinstance(error, OpposedAxesError) or not own.stated:
        return error
    mechanism = own.mechanism
    named = [one for one in mechanism.joints if f"joints.{one.name}" in error.where]
    both = [one for one in mechanism.joints if _is_reversed(one, mechanism.nominal)]
    both.sort(key=lambda one: one not in named)
    for joint in dict.fromkeys((*both, *named)):
        found = [
            written(*turned.frames, mechanism.planar)
            for turned in _turned(joint)
            if closing(
                ((turned, one) for one in _drawn(own.with_joint(joint, turned), turned)),
                np.inf,
                NEAR,
            )
        ]
        if found and "" not in found:
            write = min(found, key=lambda text: text.count("-"))
            return AssemblyError(
                f"{error.message} With one axis reversed the assembly is found as stated: write "
                f"`axis: {write}` in joints.{joint.name}.",
                [f"joints.{joint.name}"],
            )
    return error


def _is_reversed(joint: Joint, values: Mapping[str, float]) -> bool:
    """Whether its two axes have opposite directions in their bodies' own frames."""
    one, two = (np.array(evaluate([*frame.axis], values), float) for frame in joint.frames)
    return bool(one @ two < -(1 - 1e-9) * np.linalg.norm(one) * np.linalg.norm(two))


def _turned(joint: Joint) -> Iterator[Joint]:
    """The joint with the axis in one of its bodies reversed."""
    one, two = joint.frames
    for frames in ((one, _reversed(two)), (_reversed(one), two)):
        yield replace(joint, frames=frames)


def _drawn(trial: Trial, joint: Joint) -> Iterator[Trial]:
    """The trial, and with each body of the joint that has a pose turned over.

    Poses may be drawn with the axes of the file: upside down then, about the line from this
    joint's point to that of another joint of the body.
    """
    yield trial
    mechanism, given = trial.mechanism, trial.mechanism.assembly
    for pose in given.poses if not mechanism.planar else ():
        for other in mechanism.joints:
            if (
                pose.body in joint.bodies
                and pose.body in other.bodies
                and other.name != joint.name
            ):
                first, second = (
                    one.frames[one.bodies.index(pose.body)].at for one in (joint, other)
                )
                over = _turned_over(pose, first, second, mechanism.nominal)
                poses = tuple(over if one is pose else one for one in given.poses)
                yield trial.of(replace(mechanism, assembly=replace(given, poses=poses)))


def _turned_over(pose: Pose, first: Vector, second: Vector, values: Mapping[str, float]) -> Pose:
    """A pose half a turn on about the line through two points of its body, if they differ."""
    numbers = evaluate([*pose.at, *pose.rotation, *first, *second], values)
    at, rotation, point, far = np.array(numbers, float).reshape(4, 3)
    line = far - point
    over = spatial.matrix(np.pi * line / (np.linalg.norm(line) or 1.0))
    R = spatial.matrix(rotation)
    turned = (*(at + R @ (point - over @ point)), *spatial.rotation_vector(R @ over))
    x, y, z, a, b, c = (Number(Fraction(float(one))) for one in turned)
    return replace(pose, at=(x, y, z), rotation=(a, b, c))


def _reversed(frame: Frame) -> Frame:
    x, y, z = (negate(entry) for entry in frame.axis)
    return replace(frame, axis=(x, y, z))


def written(first: Frame, second: Frame, planar: bool) -> str:
    """Two axes as a file has them; nothing where they have symbols."""
    if any(names(x) for x in (*first.axis, *second.axis)):
        return ""
    return f"[{_vector(first.axis, planar)}, {_vector(second.axis, planar)}]"


def _vector(axis: tuple[Expression, ...], planar: bool) -> str:
    numbers = evaluate(list(axis[:2] if planar else axis), {})
    return f"[{', '.join(f'{float(x) + 0.0:.6g}' for x in numbers)}]"
