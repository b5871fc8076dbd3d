"""Curves that a point of a mechanism is to follow: stated points, their timing, what is free."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism

#: What of a target may be free, in the order in which it is kept.
FITTED = ("timing", "position", "rotation", "scale")
#: Times as what the points are stated over; else the name of a coordinate.
TIME = "t"


@dataclass(frozen=True)
class Target:
    """Points that a point of a body is to meet.

    Attributes
    ----------
    name
        As metrics call it: `path_error(P,name)`.
    points
        Each (x, y), in space (x, y, z), m, in the ground's frame.
    over, at
        `t` or a coordinate, and its value at each point, s, rad or m; "" and () where the timing
        is free.
    fit
        Words of `FITTED`: what is fitted before the error is measured. Of a function the position
        is a constant, the scale a factor.
    angles, arm
        Angle of the point's body at each point, rad, and the length with which it counts, m; of a
        pose.
    """

    name: str
    points: tuple[tuple[float, ...], ...]
    over: str = ""
    at: tuple[float, ...] = ()
    fit: tuple[str, ...] = ("timing",)
    angles: tuple[float, ...] = ()
    arm: float = 0.0

    @property
    def is_function(self) -> bool:
        """Whether it states one value of a joint over the coordinate, and no places."""
        return bool(self.points) and len(self.points[0]) == 1

    @property
    def is_pose(self) -> bool:
        """Whether it states angles of the body beside the places."""
        return bool(self.angles)

    @cached_property
    def table(self) -> Array:
        """(point, axis), m; of poses the angles times the arm behind."""
        found = np.array(self.points, float)
        if self.is_pose:
            turned = self.arm * np.array(self.angles, float)
            found = np.concatenate([found, turned[:, None]], axis=1)
        return found

    @cached_property
    def digest(self) -> str:
        """sha256 of its numbers."""
        numbers = np.concatenate([np.array(self.points, float).ravel(), np.array(self.at, float)])
        if self.is_pose:
            numbers = np.concatenate([numbers, self.angles, [self.arm]])
        return hashlib.sha256(numbers.astype("<f8").tobytes()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """What fixes it, as plain data: its numbers by their digest."""
        return {
            "points": len(self.points),
            "over": self.over,
            "fit": list(self.fit),
            "sha256": self.digest,
        }

    def document(self) -> dict[str, Any]:
        """Its numbers, as plain data."""
        found: dict[str, Any] = {"points": [list(one) for one in self.points], "at": list(self.at)}
        return found | ({"angles": list(self.angles), "arm": self.arm} if self.is_pose else {})


def from_document(
    described: Mapping[str, Mapping[str, Any]], numbers: Mapping[str, Mapping[str, Any]]
) -> tuple[Target, ...]:
    """Targets from what `describe` and `document` gave, by name.

    Raises
    ------
    ValueError
        The numbers are not those that were described.
    """
    found = []
    for name, one in described.items():
        points = tuple(tuple(map(float, row)) for row in numbers[name]["points"])
        at, angles = (tuple(map(float, numbers[name].get(key, ()))) for key in ("at", "angles"))
        turned = (angles, float(numbers[name].get("arm", 0.0)))
        target = Target(name, points, str(one["over"]), at, tuple(map(str, one["fit"])), *turned)
        if target.digest != one["sha256"]:
            raise ValueError(f"the points of target {name} are not those of its sha256")
        found.append(target)
    return tuple(found)


def telling_points(target: Target) -> int:
    """So many points that hardly any path meets all of them by its fit alone.

    Fewer are met by almost any path; where the scale is not free, by one that is large enough.
    """
    axes = 1 if target.is_function else len(target.points[0])
    freedoms = {"position": axes, "rotation": 1 if axes == 2 else 3, "scale": 1}
    free = sum(freedoms.get(one, 0) for one in target.fit)
    each = axes - ("timing" in target.fit)  # along the path a point with free timing is anywhere
    return max(2 + bool(free), free // each + 1)


def free_words(target: Target) -> str:
    """What is fitted, in words: `position is free`, `timing, scale are free`."""
    free = [one for one in FITTED if one in target.fit]
    return f"{', '.join(free)} {'are' if free[1:] else 'is'} free"


def mistake(target: Target, mechanism: Mechanism) -> str:
    """What is wrong with a target of this mechanism; "" if nothing."""
    axes = 2 if mechanism.planar else 3
    fitted = set(target.fit) - {"timing"}
    if target.is_function:
        if "rotation" in fitted or "timing" in target.fit:
            return "a function of a coordinate or of t states its timing, and does not turn"
        axes = 1
    if target.is_pose:
        if axes != 2:
            return "angles of a body are of planar mechanisms"
        if fitted:
            return f"with angles nothing is fitted but the timing, not {', '.join(sorted(fitted))}"
        if not target.arm > 0:
            return "angles need an arm, the length with which they count: `arm: 50 mm`"
    if any(len(one) != axes for one in target.points):
        has = {1: "one value", 2: "x and y", 3: "x, y and z"}[axes]
        return f"points of {mechanism.name} have {has}"
    least = telling_points(target) if "scale" in fitted else 2 + bool(fitted)
    if len(target.points) < least:
        why = f" where {free_words(target)}"
        if "scale" in fitted:
            why += f": almost any {'function' if axes == 1 else 'path'} meets fewer"
        return f"too few points: at least {least} are needed{why if fitted else ''}"
    if target.over not in ("", TIME, *mechanism.coordinates):
        known = ", ".join((TIME, *mechanism.coordinates))
        return f"the timing is over {target.over!r}, which is none of {known}"
    return ""
