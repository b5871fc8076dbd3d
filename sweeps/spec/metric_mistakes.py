"""Metrics that a mechanism does not have: what is wrong with a name or its arguments."""

from collections.abc import Mapping

from basepar_core.errors import Mistake
from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import GROUND, Mechanism
from basepar_core.metrics import (
    METRICS,
    Metric,
    Target,
    canonical,
    cycle,
    metric_of,
    words,
)

_A_TARGET = "`targets: {wanted: curve.csv}`"
_A_SHAPE = "`shape: {capsule: [[0, 0], [0.1 m, 0]], radius: 8 mm}`"
#: What a file needs for metrics that have no arguments in it yet.
_ADDED = {
    "point,target": "`points: {P: {body: …, at: [0, 0]}}` to the mechanism's file, and here "
    f"{_A_TARGET}",
    **dict.fromkeys(
        ("point", "point.axis"), "`points: {P: {body: …, at: [0, 0]}}` to the mechanism's file"
    ),
    "body or point,body": f"{_A_SHAPE} to each of the bodies in the mechanism's file",
}
#: Arguments of metrics in words, where their names are none.
_OF_WHAT = {
    "B,C,D": "joints B,C,D of a transmission",
    "point,target": "point and target (of `targets`)",
    "joint value,target": "joint value and target (of `targets`, with one value a point)",
    "body or point,body": "pair of a body or point and a body with a shape",
    "joint": "joint of this kind",
}


def metric_mistake(
    path: str, name: str, mechanism: Mechanism | None, targets: tuple[Target, ...]
) -> Mistake | None:
    """What is wrong with a metric; None where the mechanism has it, or is not known yet."""
    word, _, inner = name.partition("(")
    if word in words("regime"):
        return _regime_mistake(path, name, mechanism)
    if (metric := metric_of(name)) is None and mechanism is not None:
        known = cycle.names(mechanism, targets)
        alike = [one for one in known if one.startswith(f"{name}(")]
        if alike:
            said = f"{name} takes an argument: write one of {', '.join(alike[:20])}"
            return Mistake(path, said)
    if metric is None and word in METRICS and not METRICS[word].arguments:
        of = "every drive" if word in words("torque") else "the whole mechanism"
        hint = f"; write {word}, which is stored for {of}"
        return Mistake(path, f"no such value: {name!r}{hint}")
    if metric is None:
        of_cycles = words("torque", "cycle")
        spelled = (f"{one}(…)" if METRICS[one].arguments else one for one in of_cycles)
        return unknown(path, name, tuple(spelled))
    if mechanism is None or not metric.arguments:
        return None
    if cycle.find(mechanism, name, targets) is not None:
        return None
    known = cycle.names(mechanism, targets)
    alike = [one[len(word) + 1 : -1] for one in known if word in one]
    value = canonical(inner.rstrip(")"))
    if said := _second_argument_mistake(metric, word, value, mechanism, targets):
        return Mistake(path, said)
    hint = did_you_mean(value, alike) or f"; there are {', '.join(alike[:20]) or 'none'}"
    if axes := [f"{word}({one})" for one in alike if one in {f"{value}.{x}" for x in "xyz"}]:
        hint = f"; it takes a coordinate: write {' or '.join(axes)}"
    if not alike and metric.arguments in _ADDED:
        hint = f"; add {_ADDED[metric.arguments]}"
    of_joints = "joint" in metric.arguments or metric.arguments == "B,C,D"
    if of_joints and value in (body.name for body in mechanism.bodies):
        held = [one.name for one in mechanism.joints if value in one.bodies]
        hint = f"; it is a body, its joints are {', '.join(held)}"
    what = _OF_WHAT.get(metric.arguments, metric.arguments)
    return Mistake(path, f"{mechanism.name} has no {what} {value!r}{hint}")


def _second_argument_mistake(
    metric: Metric, word: str, value: str, mechanism: Mechanism, targets: tuple[Target, ...]
) -> str:
    """What is wrong with the second of two arguments whose first is sound; "" otherwise."""
    first, _, second = value.partition(",")
    points = {one.name: one.body for one in mechanism.points}
    if metric.arguments == "body or point,body":
        return _clearance_mistake(first, second, points, mechanism)
    joint_values = [value for joint in mechanism.joints for value in joint.values]
    firsts = {"point,target": points, "joint value,target": joint_values}
    if first not in firsts.get(metric.arguments, ()):
        return ""
    own = next((one for one in targets if one.name == second), None)
    if own is not None:
        has = "values of a joint" if own.is_function else "points"
        has += " and angles" if own.is_pose else ""
        return f"{word} does not take the target {second}, which has {has}"
    takes = [one for one in targets if cycle.find(mechanism, f"{word}({first},{one.name})", [one])]
    if second:
        said = f"there is no target {second!r}"
    else:
        said = f"{word} takes a target too: write {word}({first}, NAME)"
    if not takes:
        return f"{said}; add here {_A_TARGET}"
    names = [one.name for one in takes]
    return said + (did_you_mean(second, names) or f"; there are {', '.join(names)}")


def _clearance_mistake(
    first: str, second: str, points: Mapping[str, str], mechanism: Mechanism
) -> str:
    """What is wrong with the second argument of a clearance; "" where the first is unknown."""
    bodies = [GROUND, *(one.name for one in mechanism.bodies)]
    if first not in points and first not in bodies:
        return ""
    if not second:
        return f"clearance takes two: write clearance({first}, NAME) with a body that has a shape"
    if second in points and first in bodies:
        first, second = second, first
        if first != second and points[first] != second:
            return f"the second is a body: write clearance({first}, {second})"
    if points.get(first, first) == second:
        carried = f"{first} is a point of {second}: their distance is constant"
        return carried if first in points else f"{first} has no distance from itself"
    shaped = {one.body for one in mechanism.shapes}
    bare = [one for one in (first, second) if one in bodies and one not in shaped]
    if second in bodies and bare:
        has = "have" if bare[1:] else "has"
        return f"{' and '.join(bare)} {has} no shape: add {_A_SHAPE} in the mechanism's file"
    return ""


def _regime_mistake(path: str, name: str, mechanism: Mechanism | None) -> Mistake | None:
    if mechanism is None or cycle.find(mechanism, name) is not None:
        return None
    word = name.partition("(")[0]
    alike = [one for one in cycle.names(mechanism) if one.partition("(")[0] == word]
    if not cycle.find(mechanism, "period"):
        why = "it has no steady regime: one coordinate, and motors or torques, are needed"
    else:
        why = did_you_mean(name, alike).removeprefix("; ") or f"there are {', '.join(alike[:20])}"
    return Mistake(path, f"{mechanism.name} has no {name!r}: {why}")


def unknown(path: str, word: str, known: tuple[str, ...]) -> Mistake:
    """A word that is none of those that are known."""
    hint = did_you_mean(word, known) or f"; known are {', '.join(known)}"
    return Mistake(path, f"no such value: {word!r}{hint}")
