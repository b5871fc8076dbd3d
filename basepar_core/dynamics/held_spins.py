"""Universal joints that hold the idle spin of slender bodies: their axes, and where that is.

How a spin is held is felt by no torque (decision 135), so the joint's axis in the other body is
chosen where the mechanism is assembled, far from along the line, and the bodies are turned about
the line to where the joint closes.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.expressions import ONE, ZERO, evaluate
from basepar_core.mechanism import JOINT_TYPES, Frame, Joint, Mechanism, Vector, idle_spins

from . import spatial
from .body_forms import slender_lines
from .body_newton import CLOSED, Bodies, BodyNewton

#: Cosine of the angle between line and axis that is small enough: of three perpendicular axes one
#: is below 0.578.
ASLANT = 0.619
_BALL = next(name for name, one in JOINT_TYPES.items() if one.is_ball and not one.is_free)
_UNITS: tuple[Vector, ...] = ((ZERO, ZERO, ONE), (ONE, ZERO, ZERO), (ZERO, ONE, ZERO))
LaidOut = Callable[[Mechanism], tuple[BodyNewton, Bodies]]


def settled(mechanism: Mechanism, laid_out: LaidOut) -> tuple[Mechanism, Bodies]:
    """The mechanism with axes chosen for joints that hold a spin, and poses where these close.

    Parameters
    ----------
    mechanism
        With joints that hold spins.
    laid_out
        How poses to start from are found where spins are free.
    """
    loose = replace(mechanism, joints=tuple(map(_let_go, mechanism.joints)))
    spins = idle_spins([body.name for body in loose.bodies], loose.joints)
    newton, at = laid_out(loose)
    if np.abs(newton.equations(at)[0]).max(initial=0.0) > CLOSED:  # else it is as stated
        with suppress(AssemblyError):  # reported of the mechanism as it is
            at = newton.solve(at)
    lines = {body: (a, d) for body, a, d in slender_lines(loose, newton.dims)}
    chosen = {}
    held = {joint.name: joint for joint in mechanism.joints if joint.holds}
    for spin in spins:
        joint = next((held[name] for name in spin.joints if name in held), None)
        if joint is None:  # free: reported with the other freedoms
            continue
        side = 0 if joint.bodies[0] in spin.bodies else 1
        a, d = (np.stack(x)[:, 0] for x in lines[mechanism.body_index[joint.bodies[side]]])
        chosen[joint.name] = _aslant(mechanism, joint, side, at, d)
        _turn(mechanism, chosen[joint.name], side, at, spin.bodies, (a, d))
    joints = tuple(chosen.get(joint.name, joint) for joint in mechanism.joints)
    return replace(mechanism, joints=joints), at


def _let_go(joint: Joint) -> Joint:
    """The ball that the file has in its place: bodies over it are laid out along its frames."""
    if joint.holds is None:
        return joint
    return replace(joint, type=_BALL, frames=joint.holds, holds=None)


def _aslant(mechanism: Mechanism, joint: Joint, side: int, at: Bodies, d: Array) -> Joint:
    """The joint with its axis in the other body far from along the line."""
    body, other = (mechanism.body_index[joint.bodies[k]] for k in (side, 1 - side))
    way = at.R[other].T @ at.R[body] @ d / np.linalg.norm(d)
    frame = joint.frames[1 - side]
    for axis in (frame.axis, *_UNITS):
        z = _numbers(mechanism, axis)
        if abs(way @ z) < ASLANT * np.linalg.norm(z):
            break
    if axis == frame.axis:
        return joint
    frames = list(joint.frames)
    frames[1 - side] = Frame(frame.at, axis, _UNITS[(_UNITS.index(axis) + 1) % 3])
    return replace(joint, frames=(frames[0], frames[1]))


def _turn(
    mechanism: Mechanism,
    joint: Joint,
    side: int,
    at: Bodies,
    bodies: tuple[str, ...],
    line: tuple[Array, Array],
) -> None:
    """Turn bodies about their line until the joint's two axes are square."""
    body, other = (mechanism.body_index[joint.bodies[k]] for k in (side, 1 - side))
    a, d = line
    u = at.R[body] @ d / np.linalg.norm(d)
    through = at.p[body] + at.R[body] @ a
    own, theirs = (
        at.R[b] @ _numbers(mechanism, joint.frames[k].axis)
        for b, k in ((body, side), (other, 1 - side))
    )
    across = np.cross(u, theirs)
    wanted, here = np.arctan2(*_in_plane(u, across)[::-1]), np.arctan2(*_in_plane(u, own)[::-1])
    turn = (wanted - here + np.pi / 2) % np.pi - np.pi / 2  # the nearer of two
    R = spatial.matrix(turn * u)
    for name in bodies:
        k = mechanism.body_index[name]
        at.R[k] = R @ at.R[k]
        at.p[k] = through + R @ (at.p[k] - through)


def _in_plane(u: Array, v: Array) -> Array:
    """Components of a vector along two directions square to u."""
    x = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))])
    return np.array([v @ x, v @ np.cross(u, x)])


def _numbers(mechanism: Mechanism, vector: Vector) -> Array:
    return np.array(evaluate(vector, mechanism.nominal), float)
