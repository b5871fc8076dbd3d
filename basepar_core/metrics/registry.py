"""Every metric's word, once: what it is computed from, its arguments, and its slopes.

A metric is named by its word, `mass`, or with arguments, `stroke(D)`. What computes it stands in
the module of its `kind`; readers, sweeps, studies and reports ask this table.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["torque", "cycle", "regime"]


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
    is_piecewise
        Whether it is an extreme over samples, whose slope jumps where another sample takes over.
    title
        Its word in a report, where that is not the word itself.
    """

    kind: Kind
    arguments: str = ""
    is_exact: bool = False
    is_piecewise: bool = False
    title: str = ""


_MOTOR, _REACTION = "motor", "joint,body,axis"
#: Every metric by its word; nothing else lists them.
METRICS: Mapping[str, Metric] = {
    "torque_rms": Metric("torque", is_exact=True, title="RMS"),
    "torque_peak": Metric("torque", is_exact=True, is_piecewise=True, title="Peak"),
    "mass": Metric("cycle"),
    "shaking_force_rms": Metric("cycle"),
    "shaking_force_peak": Metric("cycle", is_piecewise=True),
    "shaking_moment_rms": Metric("cycle"),
    "shaking_moment_peak": Metric("cycle", is_piecewise=True),
    "stroke": Metric("cycle", "joint value", is_exact=True, is_piecewise=True),
    "transmission_angle": Metric("cycle", "B,C,D", is_piecewise=True),
    "point_min": Metric("cycle", "point.axis", is_exact=True, is_piecewise=True),
    "point_max": Metric("cycle", "point.axis", is_exact=True, is_piecewise=True),
    "point_range": Metric("cycle", "point.axis", is_exact=True, is_piecewise=True),
    "point_speed": Metric("cycle", "point", is_piecewise=True),
    "point_acceleration": Metric("cycle", "point", is_piecewise=True),
    "straightness": Metric("cycle", "point", is_piecewise=True),
    "path_error": Metric("cycle", "point,target", is_exact=True),
    "period": Metric("regime"),
    "mean_speed": Metric("regime"),
    "speed_fluctuation": Metric("regime", is_piecewise=True),
    "energy_per_cycle": Metric("regime"),
    "motor_torque_peak": Metric("regime", _MOTOR, is_piecewise=True),
    "motor_torque_rms": Metric("regime", _MOTOR),
    "motor_current_peak": Metric("regime", _MOTOR, is_piecewise=True),
    "motor_current_rms": Metric("regime", _MOTOR),
    "reaction_peak": Metric("regime", _REACTION, is_piecewise=True),
    "moment_peak": Metric("regime", _REACTION, is_piecewise=True),
    "dwell": Metric("regime", "joint value", is_piecewise=True),
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


def canonical(name: str) -> str:
    """A metric's name without blanks."""
    return name.replace(" ", "")


def array_name(name: str) -> str:
    """What a metric's array is called: `stroke_D` of `stroke(D)`."""
    return re.sub(r"[(),]+", "_", canonical(name)).strip("_")
