"""Every metric's word, once: what it is computed from, its arguments, and its slopes.

A metric is named by its word, `mass`, or with arguments, `stroke(D)`. What computes it stands in
the module of its `kind`; readers, sweeps, studies and reports ask this table.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, pi
from typing import Literal

Kind = Literal["torque", "cycle", "regime"]
#: How a metric changes with the geometry: smoothly; piece by piece, as an extreme over samples,
#: whose slope jumps where another sample takes over; in steps.
Course = Literal["smooth", "pieces", "steps"]


@dataclass(frozen=True, slots=True)
class Definition:
    """What a metric is by its definition: words for messages, and between what it lies, SI.

    Of a `deviation` 0 is the best there is.
    """

    words: str
    least: float = 0.0
    most: float = inf
    deviation: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's word.

    Attributes
    ----------
    kind
        What it is computed from: the drives' torques (one value per drive), the closed
        configurations of the cycle (`cycle`), or the steady regime of a machine (`regimes`).
    arguments
        What stands in its parentheses; "" for none.
    is_exact
        Whether its slopes are exact (`sensitivity`); else they are central differences.
    course
        How it changes.
    title
        Its word in a report, where that is not the word itself.
    unit
        SI text, of a drive's metric that has no unit of torques or forces.
    definition
        Of one that has ends, or a best value, by definition.
    of_inertias
        Whether the bodies' inertias enter; else positions alone.
    """

    kind: Kind
    arguments: str = ""
    is_exact: bool = False
    course: Course = "smooth"
    title: str = ""
    unit: str = ""
    definition: Definition | None = None
    of_inertias: bool = True

    @property
    def is_piecewise(self) -> bool:
        """Whether it is an extreme over samples."""
        return self.course == "pieces"


def _cycle(
    arguments: str = "",
    course: Course = "smooth",
    definition: Definition | None = None,
    of_inertias: bool = False,
) -> Metric:
    exact = course != "steps"
    return Metric(
        "cycle", arguments, exact, course, definition=definition, of_inertias=of_inertias
    )


def _of_inertias(arguments: str = "", course: Course = "smooth") -> Metric:
    return _cycle(arguments, course, of_inertias=True)


def _torque(course: Course, title: str = "", unit: str = "") -> Metric:
    return Metric("torque", "", True, course, title, unit)


def _off(words: str, best: str) -> Definition:
    return Definition(f"{words}, 0 where {best}", deviation=True)


_RANGE = Definition("a greatest less a least value, at least 0")
_SPEED = Definition("a size, at least 0")
_MOTOR, _REACTION = "motor", "joint,body,axis"
#: Every metric by its word; nothing else lists them.
METRICS: Mapping[str, Metric] = {
    "torque_rms": _torque("smooth", "RMS"),
    "torque_peak": _torque("pieces", "Peak"),
    "torque_ripple": _torque("pieces", "Ripple"),
    "power_peak": _torque("pieces", "Peak power", "W"),
    "drive_energy": _torque("pieces", "Energy", "J"),
    "mass": _of_inertias(),
    "shaking_force_rms": _of_inertias(),
    "shaking_force_peak": _of_inertias("", "pieces"),
    "shaking_moment_rms": _of_inertias(),
    "shaking_moment_peak": _of_inertias("", "pieces"),
    "stroke": _cycle("joint value", "pieces", _RANGE),
    "joint_min": _cycle("joint value", "pieces"),
    "joint_max": _cycle("joint value", "pieces"),
    "time_ratio": _cycle(
        "joint value", "smooth", Definition("slow over quick stroke, at least 1", 1.0)
    ),
    "mechanical_advantage": _cycle("joint value", "pieces"),
    "dead_points": _cycle("joint value", "steps"),
    "function_error": _cycle(
        "joint value,target", "smooth", _off("the deviation from a function", "they agree")
    ),
    "full_rotation": _cycle("joint", "pieces"),
    "joint_force_rms": _of_inertias("joint"),
    "joint_force_peak": _of_inertias("joint", "pieces"),
    "joint_moment_rms": _of_inertias("joint"),
    "joint_moment_peak": _of_inertias("joint", "pieces"),
    "transmission_angle": _cycle(
        "B,C,D", "pieces", Definition("the acute angle, at most 90 deg", 0.0, pi / 2)
    ),
    "angle_min": _cycle("body", "pieces"),
    "angle_max": _cycle("body", "pieces"),
    "angle_range": _cycle("body", "pieces", _RANGE),
    "box_min": _cycle("axis", "pieces"),
    "box_max": _cycle("axis", "pieces"),
    "box_size": _cycle("axis", "pieces", _RANGE),
    "clearance": _cycle("body or point,body", "pieces"),
    "point_min": _cycle("point.axis", "pieces"),
    "point_max": _cycle("point.axis", "pieces"),
    "point_range": _cycle("point.axis", "pieces", _RANGE),
    "point_speed": _cycle("point", "pieces", _SPEED),
    "point_acceleration": _cycle("point", "pieces", _SPEED),
    "speed_variation": _cycle("point", "pieces", _off("the variation of a speed", "it is even")),
    "curvature_max": _cycle("point", "pieces", _SPEED),
    "straightness": _cycle(
        "point",
        "pieces",
        _off("the greatest distance of a path from a straight line", "it is straight"),
    ),
    "fourier_descriptors": _cycle("point", "steps"),
    "path_error": _cycle(
        "point,target", "smooth", _off("the distance of a path from its target", "they meet")
    ),
    "pose_error": _cycle(
        "point,target", "smooth", _off("the distance of a pose from its target", "they meet")
    ),
    "order_defects": _cycle(
        "point,target", "steps", _off("how many points are met out of order", "all are in order")
    ),
    "missed_points": _cycle(
        "point,target", "steps", _off("how many points are missed", "all are met")
    ),
    "period": Metric("regime"),
    "mean_speed": Metric("regime"),
    "speed_fluctuation": Metric("regime", course="pieces"),
    "energy_per_cycle": Metric("regime"),
    "motor_torque_peak": Metric("regime", _MOTOR, course="pieces"),
    "motor_torque_rms": Metric("regime", _MOTOR),
    "motor_current_peak": Metric("regime", _MOTOR, course="pieces"),
    "motor_current_rms": Metric("regime", _MOTOR),
    "reaction_peak": Metric("regime", _REACTION, course="pieces"),
    "moment_peak": Metric("regime", _REACTION, course="pieces"),
    "dwell": Metric("regime", "joint value", course="pieces"),
}


def metric_of(name: str) -> Metric | None:
    """The entry of a metric's name, with or without arguments; None if no metric is called so."""
    word, bracket, _ = name.partition("(")
    found = METRICS.get(word)
    return found if found is not None and bool(found.arguments) == bool(bracket) else None


def words(*kinds: Kind) -> tuple[str, ...]:
    """Words of metrics of these kinds."""
    return tuple(word for word, metric in METRICS.items() if metric.kind in kinds)


def is_torque(name: str) -> bool:
    """Whether a name is a metric of the drives' torques."""
    return (found := metric_of(name)) is not None and found.kind == "torque"


def needs_inertias(name: str) -> bool:
    """Whether a name is a metric that the bodies' inertias enter, not of positions alone."""
    return (found := metric_of(name)) is not None and found.of_inertias


def canonical(name: str) -> str:
    """A metric's name without blanks."""
    return name.replace(" ", "")


def array_name(name: str) -> str:
    """What a metric's array is called: `stroke_D` of `stroke(D)`."""
    return re.sub(r"[(),]+", "_", canonical(name)).strip("_")
