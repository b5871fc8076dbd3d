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
        Words of `FITTED`: what is fitted before the error is measured.
    """

    name: str
    points: tuple[tuple[float, ...], ...]
    over: str = ""
    at: tuple[float, ...] = ()
    fit: tuple[str, ...] = ("timing",)

    @cached_property
    def table(self) -> Array:
        """(point, axis), m."""
        return np.array(self.points, float)

    @cached_property
    def digest(self) -> str:
        """sha256 of its numbers."""
        numbers = np.concatenate([self.table.ravel(), np.array(self.at, float)])
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
        return {"points": [list(one) for one in self.points], "at": list(self.at)}


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
        at = tuple(map(float, numbers[name]["at"]))
        target = Target(name, points, str(one["over"]), at, tuple(map(str, one["fit"])))
        if target.digest != one["sha256"]:
            raise ValueError(f"the points of target {name} are not those of its sha256")
        found.append(target)
    return tuple(found)


def mistake(target: Target, mechanism: Mechanism) -> str:
    """What is wrong with a target of this mechanism; "" if nothing."""
    axes = 2 if mechanism.planar else 3
    if any(len(one) != axes for one in target.points):
        return f"points of {mechanism.name} have {'x and y' if axes == 2 else 'x, y and z'}"
    fitted = set(target.fit) - {"timing"}
    if len(target.points) < 2 + bool(fitted):
        why = f" where {', '.join(sorted(fitted))} is free" if fitted else ""
        return f"too few points: at least {2 + bool(fitted)} are needed{why}"
    if target.over not in ("", TIME, *mechanism.coordinates):
        known = ", ".join((TIME, *mechanism.coordinates))
        return f"the timing is over {target.over!r}, which is none of {known}"
    return ""
