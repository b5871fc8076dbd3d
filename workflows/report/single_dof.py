"""A mechanism with one degree of freedom as a page: moving, its steady turn, its curves."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.dynamics import Model, Motion
from basepar_core.single_dof import Machine
from basepar_core.texts import naming
from workflows import moving
from workflows.drawing import curves_figure
from workflows.jobs import OneDof

from . import html
from . import motion as films
from .html import Section, paragraph, table, unit_text
from .numbers import digits
from .svg import embedded

#: Samples of a range that is filmed without a time of its own; it takes so many seconds.
SAMPLES, LASTS = 144, 4.0


def write(model: Model, found: OneDof, facts: dict[str, Any], output: Path) -> Path:
    """Write the page.

    Parameters
    ----------
    model
        The mechanism, prepared.
    found, facts
        What was computed of it, and its document.
    output
        FILE.html.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    MotionError
        The motion cannot be followed.
    """
    parts = [_moving(model, found.machine), *_measures(facts), _curves(facts)]
    name = str(facts["mechanism"])
    head = html.header("One degree of freedom", name, [], _tiles(facts), parts)
    with naming(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(html.page(version("basepar"), name, head, parts), encoding="utf-8")
    return output


def _tiles(facts: dict[str, Any]) -> list[tuple[str, Any, str]]:
    way, turns = facts["range"], facts["unit"] == "rad"
    scale, unit = (180 / np.pi, "°") if turns else (1.0, " m")
    ends = f"{way['from'] * scale:.4g}{unit} to {way['to'] * scale:.4g}{unit}"
    said = "goes all the way round" if way["closed"] else "between its ends"
    made = [("motion", ends, f"{facts['coordinate']} {said}")]
    measures = facts.get("regime", {}).get("measures", {})
    if "period" in measures:
        made.append(("period", f"{measures['period']:.4g} s", "of the steady turn"))
    return made


def _moving(model: Model, machine: Machine) -> Section:
    """Over the steady turn, with what joints transmit as arrows; without one over its range."""
    steady = machine.motion
    arrows = []
    if steady is not None:
        # Films go evenly in time, tables of the turn evenly in the coordinate.
        times = np.asarray(steady.time[0])
        t = np.linspace(times[0], times[-1], SAMPLES, endpoint=False)
        q, speed, acceleration = (
            np.interp(t, times, np.asarray(x))
            for x in (steady.q, steady.speed[0], steady.acceleration[0])
        )
        whole = moving.FilmedMotion(
            Motion(t, q[None], speed[None], acceleration[None]), True, "steady turn"
        )
        arrows = [
            moving.Arrow(
                one.name,
                "N m" if one.moment else "N",
                one.joint,
                one.body,
                one.direction,
                np.interp(t, times, np.asarray(steady.reactions[k, 0])),
            )
            for k, one in enumerate(machine.reactions)
        ]
    else:
        way = machine.survey.way
        q = np.linspace(way.low, way.high, SAMPLES, endpoint=not way.closed)[None]
        t = np.linspace(0.0, LASTS, SAMPLES, endpoint=not way.closed)
        whole = moving.FilmedMotion(Motion(t, q, 0 * q, 0 * q), False, "range")
    film = moving.film(model, whole=whole, arrows=arrows)
    said = f"Over its {film.motion}."
    if arrows:
        said += " Arrows are what the drive gives, and what joints transmit."
    if film.note:
        said += f" It {film.note}; the motion up to there."
    body = paragraph(f"{said} Play, or step by the arrow keys.") + films.figure(film, "film")
    return Section("motion", "In motion", body, films.scripts())


def _measures(facts: dict[str, Any]) -> list[Section]:
    regime = facts.get("regime", {})
    if not regime.get("measures"):
        return []
    units = {name: "" if unit == "1" else unit for name, unit in regime["units"].items()}
    rows = [
        (name, digits(float(x)), unit_text(units[name])) for name, x in regime["measures"].items()
    ]
    body = table("Numbers of the steady turn", ["Measure", "#Value", "Unit"], rows)
    return [Section("measures", "Steady turn", body)]


def _curves(facts: dict[str, Any]) -> Section:
    label = f"Curves of {facts['mechanism']} over its motion."
    picture: Markup = embedded(curves_figure(facts), label, "curves")
    frame = Markup('<div class="frame" role="region" aria-label="Curves" tabindex="0">{}</div>')
    return Section("curves", "Curves", html.figure(frame.format(picture), label))
