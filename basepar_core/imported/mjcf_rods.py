"""Rods between two balls in MJCF: they turn about their own line, and nothing else sees it.

A ball's three values are coordinates together or not at all. Of a rod one of them, the turn about
its line, is free, and the loop determines the others: so its ball becomes a universal joint and a
hinge along the line.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from basepar_core.arrays import Array

from .mjcf_joints import Moving
from .rationals import UNITS, Vec, across, direction, upright


def along(mujoco: Any, model: Any, k: int) -> tuple[Vec, Vec, Vec] | None:
    """Axes in a body's frame, two across and one along a line that leads from its one joint, a
    ball, to the point at which a connect holds it; None if it is no such rod."""
    j, count = int(model.body_jntadr[k]), int(model.body_jntnum[k])
    ball = int(mujoco.mjtJoint.mjJNT_BALL)
    if count != 1 or model.jnt_type[j] != ball or k in model.body_parentid:
        return None
    points = [one for n in range(model.neq) if (one := _held(mujoco, model, n, k)) is not None]
    if len(points) != 1 or len(points[0]) != 3:
        return None
    way = points[0] - model.jnt_pos[j]
    if not way.any():
        return None
    line, most = direction(way), int(np.argmax(np.abs(way)))
    if sum(map(bool, line)) == 1:
        return UNITS[(most + 1) % 3], UNITS[(most + 2) % 3], UNITS[most]
    frame = upright(z=line, x=across(line))
    return frame.turned(UNITS[0]), frame.turned(UNITS[1]), frame.turned(UNITS[2])


def _held(mujoco: Any, model: Any, n: int, k: int) -> Any:
    """Where an active constraint holds a body, in its frame; empty if it is no connect."""
    connect, weld = int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)
    kind = int(model.eq_type[n])
    if not model.eq_active0[n] or kind not in (connect, weld):
        return None
    ids = [int(model.eq_obj1id[n]), int(model.eq_obj2id[n])]
    sites = int(model.eq_objtype[n]) == int(mujoco.mjtObj.mjOBJ_SITE)
    bodies = [int(model.site_bodyid[one]) for one in ids] if sites else ids
    if k not in bodies:
        return None
    if kind == weld:
        return np.zeros(0)
    side = bodies.index(k)
    return model.site_pos[ids[side]] if sites else model.eq_data[n][3 * side : 3 * side + 3]


def turns(axes: Sequence[Vec], turned: Array) -> list[float]:
    """Values of a rod's hinges about these axes where its ball is turned by a rotation vector."""
    frame = Rotation.from_matrix(np.array(axes, dtype=float).T)
    return list((frame.inv() * Rotation.from_rotvec(turned) * frame).as_euler("XYZ"))


def hinges(ball: Moving, axes: Sequence[Vec]) -> list[Moving]:
    """Hinges that move as a ball does: two across a rod, then one along it."""
    words = "across", "over", "along"
    return [
        replace(
            ball,
            index=-(3 * ball.index + k + 1),  # no joint of MuJoCo's
            dof=ball.dof + dof,
            name=f"{ball.name} {words[k]}",
            kind="hinge",
            axis=axes[k],
        )
        for k, dof in enumerate(places(axes))
    ]


def places(axes: Sequence[Vec]) -> list[int]:
    """Which of a ball's degrees of freedom stand for hinges about these axes: for the one along
    the rod, that which has the most of it."""
    most = max(range(3), key=lambda k: abs(axes[2][k]))
    return [(most + 1) % 3, (most + 2) % 3, most]
