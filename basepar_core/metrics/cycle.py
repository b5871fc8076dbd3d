"""Design metrics of a cycle, by name: a number per variant from a `ClosedCycle`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    cross,
    dot,
)
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.mechanism import (
    GROUND,
    Joint,
    Mechanism,
    joint_type,
)

from . import points
from . import regimes as regime
from .closed_cycle import ClosedCycle
from .registry import canonical
from .targets import Target


@dataclass(frozen=True, slots=True)
class CycleMetric:
    """A number per variant of a cycle.

    Attributes
    ----------
    value
        From a `ClosedCycle` to (variant,).
    unit, words
        SI text, "1" where there is none; what it is.
    needs_inertias
        Whether every body must state its inertial parameters.
    """

    value: Callable[[ClosedCycle], Array]
    unit: str
    words: str
    needs_inertias: bool = False


def _mass(cycle: ClosedCycle) -> Array:
    each = cycle.parameters.shape[1] // len(cycle.model.mechanism.bodies)
    return cycle.parameters[:, ::each].sum(axis=1)


def _size_of(which: int, is_peak: bool) -> Callable[[ClosedCycle], Array]:
    def value(cycle: ClosedCycle) -> Array:
        squares = (cycle.shaking[which] ** 2).sum(axis=-1)
        return np.sqrt(squares.max(axis=-1) if is_peak else squares.mean(axis=-1))

    return value


_FORCE = "size of the bodies' inertia force on the frame, over the cycle"
_MOMENT = (
    "size of the bodies' inertia moment on the frame about the world's origin, over the cycle"
)
#: Metrics that are named by a word alone.
PLAIN: Mapping[str, CycleMetric] = {
    "mass": CycleMetric(_mass, "kg", "mass of all bodies", True),
    "shaking_force_rms": CycleMetric(_size_of(0, False), "N", f"root mean square {_FORCE}", True),
    "shaking_force_peak": CycleMetric(_size_of(0, True), "N", f"largest {_FORCE}", True),
    "shaking_moment_rms": CycleMetric(
        _size_of(1, False), "N m", f"root mean square {_MOMENT}", True
    ),
    "shaking_moment_peak": CycleMetric(_size_of(1, True), "N m", f"largest {_MOMENT}", True),
}
_CALL = re.compile(r"(stroke|transmission_angle)\(([A-Za-z0-9_., ]*)\)")


def find(mechanism: Mechanism, name: str, targets: Sequence[Target] = ()) -> CycleMetric | None:
    """A metric by its name; None where no metric of this mechanism is called so."""
    if name in PLAIN:
        return PLAIN[name]
    if (known := regime.known(mechanism).get(canonical(name))) is not None:
        return CycleMetric(_of_regime(canonical(name)), known.unit, known.words, True)
    if (of_point := points.metrics(mechanism, targets).get(canonical(name))) is not None:
        return CycleMetric(*of_point)
    match = _CALL.fullmatch(name)
    if match is None or canonical(name) not in names(mechanism):
        return None
    arguments = canonical(match[2]).split(",")
    return _stroke(mechanism, arguments[0]) if match[1] == "stroke" else _angle(*arguments)


def names(mechanism: Mechanism, targets: Sequence[Target] = ()) -> list[str]:
    """Every metric that a mechanism has, and those of paths against targets."""
    strokes = [f"stroke({value})" for joint in mechanism.joints for value in joint.values]
    angles = [f"transmission_angle({','.join(t)})" for t in _triples(mechanism)]
    return [
        *PLAIN,
        *strokes,
        *angles,
        *points.metrics(mechanism, targets),
        *regime.known(mechanism),
    ]


def _of_regime(name: str) -> Callable[[ClosedCycle], Array]:
    """One alone; sweeps measure all they need of a regime at once (`metrics.regimes.Meter`)."""

    def value(cycle: ClosedCycle) -> Array:
        found = regime.meter_of(cycle.model, [name])(cycle.values)
        return np.broadcast_to(found.values[name], (cycle.count,))

    return value


def _triples(mechanism: Mechanism) -> Iterator[tuple[str, str, str]]:
    """Joints B, C, D: a coupler with B and C, and a body with C and D that drives or is driven."""
    joints = [
        joint
        for joint in mechanism.joints
        if set(joint_type(joint.type).slides) <= {"z"} and joint_type(joint.type).values
    ]
    of = {body: [one for one in joints if body in one.bodies] for body in _bodies(joints)}
    for C in joints:
        if GROUND in C.bodies or joint_type(C.type).is_slide:
            continue
        for coupler, output in (C.bodies, C.bodies[::-1]):
            for B in of[coupler]:
                for D in of[output]:
                    if len({B.name, C.name, D.name}) == 3 and not joint_type(B.type).is_slide:
                        yield B.name, C.name, D.name


def _bodies(joints: Sequence[Joint]) -> set[str]:
    return {body for joint in joints for body in joint.bodies}


def _stroke(mechanism: Mechanism, value: str) -> CycleMetric:
    unit = mechanism.value(value).unit
    words = f"greatest less least value of joint {value} over the cycle"
    return CycleMetric(lambda cycle: np.ptp(cycle.joint(value), axis=-1), unit, words)


def _angle(B: str, C: str, D: str) -> CycleMetric:
    words = (
        f"least transmission angle over the cycle at joint {C}, between the lines to {B} and "
        f"to {D} (the normal of its axis if {D} slides); at most a right angle"
    )
    return CycleMetric(lambda cycle: _least_angle(cycle, B, C, D), "rad", words)


def _least_angle(cycle: ClosedCycle, B: str, C: str, D: str) -> Array:
    joints = {joint.name: place for place, joint in enumerate(cycle.model.mechanism.joints)}
    b, c, d = (joints[name] for name in (B, C, D))
    slides = joint_type(cycle.model.mechanism.joints[d].type).is_slide
    found = np.empty(cycle.count)
    for part, at, _ in cycle._blocks():
        coupler = at.P2[b] - at.P2[c]
        other = at.X1[d][:, 2] if slides else at.P2[d] - at.P2[c]
        sine, cosine = _length(cross(coupler, other)), np.abs(dot(coupler, other))
        angle = np.arctan2(cosine, sine) if slides else np.arctan2(sine, cosine)
        found[part] = np.broadcast_to(angle, cycle._size(part)).min(axis=-1)
    return found


def _length(vector: Array) -> Array:
    return np.sqrt(dot(vector, vector))


def check(mechanism: Mechanism, asked: Sequence[str]) -> None:
    """Make sure that a mechanism states what metrics need.

    Raises
    ------
    MissingDataError
        Naming the bodies without inertias.
    """
    found = {name: find(mechanism, name) for name in asked}
    needing = [name for name, metric in found.items() if metric and metric.needs_inertias]
    if needing and not mechanism.has_inertias:
        bare = [body.name for body in mechanism.bodies if body.parameters is None]
        raise MissingDataError(
            f"{', '.join(needing)} of {mechanism.name!r} needs inertias, and {', '.join(bare)} "
            "states none. Give mass, centre and inertia, or drop the metric.",
            [f"bodies.{name}" for name in bare],
        )


def of_cycle(
    cycle: ClosedCycle, asked: Sequence[str], targets: Sequence[Target] = ()
) -> dict[str, Array]:
    """Metrics (variant,) of a cycle by name; unknown ones raise MechanismError."""
    found = {}
    for name in asked:
        metric = find(cycle.model.mechanism, name, targets)
        if metric is None:
            raise MechanismError(f"{cycle.model.mechanism.name} has no metric {name!r}.", [name])
        found[name] = metric.value(cycle)
    return found
