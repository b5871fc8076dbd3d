"""Joints whose two points stand in the wrong order: with them swapped the loops close."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.mechanism import Joint, Mechanism

from .body_newton import Bodies, BodyNewton, measure
from .kinematics import geometry

#: rad, or a share of the larger of two lengths: who states values states them no rougher.
_NEAR = 0.5


def advised(
    error: AssemblyError,
    mechanism: Mechanism,
    stated: Mapping[str, float],
    laid_out: Callable[[Mechanism], tuple[BodyNewton, Bodies]],
) -> AssemblyError:
    """The error of open loops, with the joint whose points are swapped where there is just one.

    Values that are stated beside the coordinates tell whether they close as they are meant to.
    """
    if not stated.keys() - {*mechanism.coordinates}:
        return error
    found = [
        joint
        for joint in mechanism.joints
        if joint.frames[0].at != joint.frames[1].at
        and _closes(_swapped(mechanism, joint), stated, laid_out)
    ]
    if len(found) != 1:
        return error
    first, second = found[0].bodies
    return AssemblyError(
        f"{error.message} With the two points of {found[0].name} the other way round all loops "
        f"close about as stated: in its `at` the first point is in {first}, the second in "
        f"{second}.",
        [f"joints.{found[0].name}"],
    )


def _swapped(mechanism: Mechanism, joint: Joint) -> Mechanism:
    one, two = joint.frames
    turned = replace(joint, frames=(replace(one, at=two.at), replace(two, at=one.at)))
    joints = tuple(turned if each is joint else each for each in mechanism.joints)
    return replace(mechanism, joints=joints)


def _closes(
    mechanism: Mechanism,
    stated: Mapping[str, float],
    laid_out: Callable[[Mechanism], tuple[BodyNewton, Bodies]],
) -> bool:
    """Whether it closes at about all joint values that are stated."""
    try:
        with np.errstate(all="ignore"):  # points may coincide that must not
            newton, start = laid_out(mechanism)
            held = {name: newton.near[name] for name in mechanism.coordinates}
            dims = geometry(mechanism, {})
            closed = BodyNewton(mechanism, dims, held, newton.near).solve(start)
    except AssemblyError:
        return False
    measured = measure(mechanism, dims, closed)
    for name, wanted in stated.items():
        off = measured[name] - wanted
        if mechanism.value(name).is_length:
            off /= max(abs(wanted), abs(measured[name]), 1e-9)
        else:
            off = np.remainder(off + np.pi, 2 * np.pi) - np.pi
        if abs(off) > _NEAR:
            return False
    return True
