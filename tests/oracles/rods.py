"""Slender bodies as their two ends: no orientation, no inertia, both ends in balls that spin.

A point at a share s of a rod with ends A and B is at (1 − s) A + s B, so that its mass counts by
∫(1 − s)² dm, ∫s (1 − s) dm and ∫s² dm alone: three columns, of v_A·v_A, 2 v_A·v_B and v_B·v_B.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from basepar_core.mechanism import Mechanism

Array = np.ndarray


def with_balls(mechanism: Mechanism) -> Mechanism:
    """The same with every universal joint at a slender body a spherical one."""
    slender = {body.name for body in mechanism.bodies if body.form == "slender"}
    joints = tuple(
        replace(one, type="spherical")
        if one.type == "universal" and slender & set(one.bodies)
        else one
        for one in mechanism.joints
    )
    return replace(mechanism, joints=joints)


def ends(
    mechanism: Mechanism, points: Sequence[Sequence[Array]], axes: Sequence[Sequence[Array]]
) -> Mapping[int, tuple[Array, Array]]:
    """Two points of every slender body's line, in its axes: at joints, or a metre along a slide.

    Parameters
    ----------
    points, axes
        Of joints, by their side.
    """
    found: dict[int, tuple[Array, Array]] = {}
    for number, body in enumerate(mechanism.bodies):
        if body.form != "slender":
            continue
        here = [
            (k, joint.bodies.index(body.name))
            for k, joint in enumerate(mechanism.joints)
            if body.name in joint.bodies
        ]
        here.sort(key=lambda at: mechanism.joints[at[0]].type == "prismatic")
        (j, near), (k, far) = here
        first = points[j][near]
        slides = mechanism.joints[k].type == "prismatic"
        found[number] = (first, first + axes[k][far][2] if slides else points[k][far])
    return found


def kinetic(R: Array, spots: Sequence[Array], u: Array, w: Array) -> list[Any]:
    """Of two motions (angular velocity, velocity of the origin; world): three columns."""
    one, two = ([_moved(R @ spot, x) for spot in spots] for x in (u, w))
    return [
        (one[0] * two[0]).sum(),
        (one[0] * two[1]).sum() + (one[1] * two[0]).sum(),
        (one[1] * two[1]).sum(),
    ]


def potential(R: Array, p: Array, spots: Sequence[Array], gravity: Array) -> list[Any]:
    """Three columns."""
    first, second = (-(gravity * (p + R @ spot)).sum() for spot in spots)
    return [first, first + second, second]


def _moved(arm: Array, motion: Array) -> Array:
    a, b, c = motion[:3]
    x, y, z = arm
    return np.asarray(motion[3:] + np.array([b * z - c * y, c * x - a * z, a * y - b * x]))
