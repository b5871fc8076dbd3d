"""A load's parameters and found gains as plain facts, and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basepar_core.identification import LOAD, Payload
from basepar_core.mechanism import parameter_unit
from basepar_core.texts import plural

from . import terminal


def document(found: Payload) -> dict[str, Any]:
    """What `basepar identify --loaded --json` prints under `payload`."""
    fit, first = found.estimate, len(found.robot)
    halves, middle = fit.half_widths(), found.centre()
    parameters = [
        {
            "parameter": name,
            "unit": parameter_unit(name),
            "value": float(fit.values[k]),
            "deviation": float(fit.deviations[k]),
            "interval": [float(fit.values[k] - halves[k]), float(fit.values[k] + halves[k])],
        }
        for k, name in enumerate(found.names, first)
    ]
    robot = {
        name: {"value": float(value), "deviation": float(deviation)}
        for name, value, deviation in zip(
            found.robot, fit.values[:first], fit.deviations[:first], strict=True
        )
    }
    pairs = zip(found.drives, found.gains, found.gain_deviations, strict=True)
    return {
        "body": found.body,
        "record": found.loaded.source,
        "parameters": parameters,
        "covariance": fit.covariance[first:, first:].tolist(),
        "known": dict(found.known),
        "undetermined": list(found.undetermined),
        "centre": None
        if middle is None
        else {"value": middle[0].tolist(), "deviation": middle[1].tolist()},
        "gains": {n: {"value": float(g), "deviation": float(s)} for n, g, s in pairs}
        if np.any(found.gain_deviations)
        else None,
        "robot": robot,
        "torque_error": found.loaded.error,
        "empty_error": found.empty.error,
        "notes": [{"kind": note.kind, "text": note.text} for note in found.notes],
    }


def columns(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the load's parameters, and of gains."""
    rows = [
        [one["parameter"], *_pair(one), one["unit"].replace("^2", "²")]
        for one in facts["parameters"]
    ]
    rows += [[f"{name} (known)", f"{x:.6g}", "", ""] for name, x in facts["known"].items()]
    if facts["centre"]:
        places = zip("xyz", facts["centre"]["value"], facts["centre"]["deviation"], strict=False)
        rows += [[f"centre of mass {axis}", f"{x:.6g}", f"{s:.2g}", "m"] for axis, x, s in places]
    rows += [[f"gain {name}", *_pair(one), ""] for name, one in (facts["gains"] or {}).items()]
    return [f"{LOAD.rstrip('.')} on {facts['body']}", "value", "deviation", "unit"], rows


def _pair(one: Mapping[str, float]) -> Sequence[str]:
    return f"{one['value']:.6g}", f"{one['deviation']:.2g}"


def show(facts: Mapping[str, Any]) -> None:
    """The same for reading."""
    titles, rows = columns(facts)
    terminal.out.print("")
    terminal.out.print(terminal.table(titles[0], "#value", "#deviation", "unit", rows=rows))
    terminal.out.print(
        f"from both records, with {plural(len(facts['robot']), 'parameter')} of the robot; about "
        f"the origin of the frame of {facts['body']}; torque error with the load "
        f"{facts['torque_error']:.2%}, without {facts['empty_error']:.2%}"
    )
    if facts["gains"]:
        terminal.out.print("gains: factors of the torques as they were stated")
    for note in facts["notes"]:
        terminal.out.print(terminal.said((note["kind"], "yellow"), f": {note['text']}"))
