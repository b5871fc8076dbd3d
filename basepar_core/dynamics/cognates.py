"""Cognates of a four-bar: the two others whose couplers guide a point along the same curve.

Roberts (1875) and Chebyshev (1878). In the complex plane, with pins A₀, A, B, B₀ and the point
P = A + w (B − A), the three share the pin C₀ = A₀ + w (B₀ − A₀), and each bar of one is turned and
scaled from one of another, so that they turn alike.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.mechanism import GROUND, Joint, Mechanism, joint_type

from . import kinematics
from .closure import Model
from .points import carried, places

#: A point nearer to a pin than this share of its coupler's length goes along a circle.
ON_PIN = 1e-9


@dataclass(frozen=True)
class FourBar:
    """A four-bar in one pose, in the ground's frame.

    Attributes
    ----------
    pins
        (4, 2) in m: the first bar's pin on the ground and on the coupler, the second bar's on the
        coupler and on the ground.
    point
        (2,) in m: the coupler's point.
    """

    pins: Array
    point: Array

    @property
    def lengths(self) -> Array:
        """(4,) of the first bar, coupler, second bar and ground, m."""
        return np.linalg.norm(np.roll(self.pins, -1, axis=0) - self.pins, axis=1)


def four_bar_of(model: Model, name: str) -> FourBar:
    """The four-bar whose coupler carries a point of the file, as the mechanism is assembled.

    Raises
    ------
    UsageError
        There is no such point, or its body is no coupler of a four-bar.
    """
    it = model.mechanism
    found = [one for one in it.points if one.name == name]
    if not found:
        named = ", ".join(one.name for one in it.points) or "none"
        raise UsageError(f"No point of {it.name!r} is named {name!r}; there are {named}.", [name])
    bars = _bars(it, found[0].body)
    if len(bars) < 2:
        raise UsageError(
            f"Point {name} is of {found[0].body!r}, which is no coupler of a planar four-bar: two "
            "bodies would have to be pinned to it and to the ground.",
            [name],
        )
    dims, q = kinematics.geometry(it, {}), model.assembled.q[:, None]
    at = kinematics.poses(model.topology, dims, q)
    (A0, A), (B0, B) = bars[:2]
    pins = [np.broadcast_to(at.P1[k], (3, 1))[:2, 0] for k in (A0, A, B, B0)]
    local = carried(found, it.nominal)
    return FourBar(np.array(pins), places(model, dims, q, found, local)[0, :2, 0])


def _bars(it: Mechanism, coupler: str) -> list[tuple[int, int]]:
    """Joints on the ground and on the coupler of each bar between them, the driven one first."""

    def pinned(joint: Joint, *bodies: str) -> bool:
        return joint_type(joint.type).is_pin and set(joint.bodies) == set(bodies)

    if not it.planar or coupler == GROUND:
        return []
    found = [
        (foot, head)
        for bar in (one.name for one in it.bodies if one.name != coupler)
        for foot, ground in enumerate(it.joints)
        if pinned(ground, GROUND, bar)
        for head, other in enumerate(it.joints)
        if pinned(other, bar, coupler)
    ]
    return sorted(found, key=lambda ends: it.joints[ends[0]].name not in it.coordinates)


def cognates(given: FourBar) -> tuple[FourBar, FourBar]:
    """The two cognates of a four-bar, in the pose in which it is.

    The first shares the given one's first pin on the ground, the second its second pin; they share
    the third with each other. The second one's first bar turns as the given one's first bar does,
    and so does the first one's coupler.

    Raises
    ------
    UsageError
        The point is on a pin of the coupler: it goes along a circle.
    """
    A0, A, B, B0 = given.pins @ [1, 1j]
    P = complex(*given.point)
    if min(abs(P - A), abs(P - B)) <= ON_PIN * abs(B - A) or B == A:
        raise UsageError(
            "The point is on a pin of its coupler and goes along a circle: there are no cognates. "
            "Take another point.",
            ["point"],
        )
    w = (P - A) / (B - A)
    C0 = A0 + w * (B0 - A0)
    A1, B2 = A0 + P - A, B0 + P - B
    first = [A0, A1, A1 + w * (A - A0), C0]
    second = [C0, B2 + (1 - w) * (B - B0), B2, B0]
    return FourBar(_in_plane(first), given.point), FourBar(_in_plane(second), given.point)


def _in_plane(pins: list[complex]) -> Array:
    return np.column_stack([np.real(pins), np.imag(pins)])
