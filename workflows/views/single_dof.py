"""What `basepar onedof` says of a mechanism with one degree of freedom."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from basepar_core.metrics import unit_of
from basepar_core.single_dof import (
    CURVE_ACCURACY,
    PEAKS,
    SPEED_ACCURACY,
    STATES,
    Machine,
    Trajectory,
    effort_unit,
    inertia_unit,
)
from workflows.jobs import OneDof

#: Places at which `--json` lists curves.
LISTED = 181
#: Degrees in a radian.
DEGREES = 180 / np.pi


def document(of: OneDof) -> dict[str, Any]:
    """Plain facts; curves on `LISTED` places."""
    made, survey, way = of.machine, of.machine.survey, of.machine.survey.way
    it = made.model.mechanism
    q = np.linspace(way.low, way.high, LISTED)
    curves, slopes = survey.curves(q), survey.curves(q, 1)
    found: dict[str, Any] = {
        "mechanism": it.name,
        "coordinate": it.coordinates[0],
        "unit": it.value(it.coordinates[0]).unit,
        "range": {
            "closed": way.closed,
            "from": way.low,
            "to": way.high,
            "dead_points": list(way.dead_points),
            "near_dead_points": [list(stretch) for stretch in way.near],
            "margin": way.margin,
            "requested": way.asked,
        },
        "samples": survey.table.q.size,
        "errors": {
            "curves": float(survey.errors.max()),
            "accurate": survey.accurate,
            "routes": survey.energy_errors,
        },
        "curves": {
            "q": q.tolist(),
            "m": curves[0].tolist(),
            "m_prime": slopes[0].tolist(),
            "potential_slope": curves[1].tolist(),
            "potential": curves[2].tolist(),
        },
        "joints": {},
        "dwells": {
            name: {
                "band": one.band,
                "unit": it.value(name).unit,
                "stretch": one.stretch,
                "where": [list(piece) for piece in one.where],
            }
            for name, one in of.dwells.items()
        },
        "reactions": [],
    }
    own = survey.table.loads.tracked  # joints that were asked for come after those of loads
    for place, name in enumerate(of.joints, start=own):
        values = curves[survey.theta_rows][place].tolist()
        found["joints"][name] = {"unit": it.value(name).unit, "values": values}
    for k, one in enumerate(made.reactions):
        rows = curves[survey.virtual_rows(k)]
        found["reactions"].append(
            {
                "name": one.name,
                "unit": one.unit,
                "m_e1": rows[0].tolist(),
                "m_e2": rows[1].tolist(),
                "at_rest": rows[2].tolist(),
            }
        )
    if made.regimes is not None:
        found["regime"] = _regime(made, of.measures)
    if of.run is not None:
        found["run"] = _run(made, of.run)
    return found


def _regime(made: Machine, measures: Mapping[str, float]) -> dict[str, Any]:
    assert made.regimes is not None
    known = made.regimes
    found: dict[str, Any] = {
        "state": STATES[int(known.state[0])],
        "multiplier": float(known.multiplier[0]),
    }
    if made.motion is None or made.table is None:
        return found
    motion, names = made.motion, [one.name for one in made.reactions]
    found |= {
        "error": made.error,
        "peaks_error": made.peaks_error,
        "accurate": made.accurate,
        "measures": dict(measures),
        "units": {name: unit_of(made.model.mechanism, name) for name in measures},
        "motion": {
            "q": motion.q.tolist(),
            "t": motion.time[0].tolist(),
            "speed": motion.speed[0].tolist(),
            "acceleration": motion.acceleration[0].tolist(),
            "currents": {
                d.name: motion.currents[k, 0].tolist()
                for k, d in enumerate(made.table.loads.drives)
            },
            "reactions": {name: motion.reactions[k, 0].tolist() for k, name in enumerate(names)},
        },
    }
    return found


def _run(made: Machine, ran: Trajectory) -> dict[str, Any]:
    """The motion in time, SI."""
    drives = made.survey.table.loads.drives
    return {
        "end": ran.end,
        "t": ran.t.tolist(),
        "q": ran.q.tolist(),
        "speed": ran.speed.tolist(),
        "currents": {d.name: ran.currents[k].tolist() for k, d in enumerate(drives)},
    }


def show(facts: dict[str, Any]) -> None:
    """The facts in the terminal."""
    from . import terminal

    out, unit = terminal.out, facts["unit"]
    out.print(terminal.said((facts["mechanism"], "bold"), f": reduced to {facts['coordinate']}"))
    _show_way(facts["range"], unit)
    _show_curves(facts)
    for name, one in facts["dwells"].items():
        out.print(
            f"dwell({name}): {_shown(one['stretch'], unit)} of {facts['coordinate']} within "
            f"{_shown(one['band'], one['unit'])}"
        )
    if "regime" in facts:
        _show_regime(facts["regime"])
    else:
        out.print(f"no steady regime: {_no_regime(facts['range'])}", style="dim")
    if "run" in facts:
        ran = facts["run"]
        out.print(
            f"\nin time: {ran['t'][-1]:.6g} s from the assembly, ended by {ran['end']}, at "
            f"{_shown(ran['q'][-1], unit)} and {ran['speed'][-1]:.6g} {unit}/s"
        )
    for key in ("drawing", "page", "table"):
        if key in facts:
            out.print(f"{key}: {facts[key]}")


def _no_regime(way: dict[str, Any]) -> str:
    if way["closed"]:
        return "no motor, torque or friction with a value acts"
    return "a range was asked for" if way["requested"] else "the motion does not close"


def _show_way(way: dict[str, Any], unit: str) -> None:
    from .terminal import out

    if way["closed"]:
        said = f"closed after {_shown(way['to'] - way['from'], unit)}"
    else:
        ends = ", ".join(_shown(x, unit) for x in way["dead_points"])
        said = f"from {_shown(way['from'], unit)} to {_shown(way['to'], unit)}"
        said += f"; dead points at {ends}" if ends else ""
    out.print(f"motion {said}; nearest to a dead point: {way['margin']:.3g} (1 far, 0 there)")
    for low, high in way["near_dead_points"]:
        where = f"{_shown(low, unit)} to {_shown(high, unit)}"
        out.print(f"nearly singular from {where}", style="yellow")


def _show_curves(facts: dict[str, Any]) -> None:
    """Least and greatest values, and how right they are."""

    from . import terminal

    unit = facts["unit"]
    rows = terminal.table("", "#min", "#max")
    inertia, effort = inertia_unit(unit), effort_unit(unit)
    for name, label in (
        ("m", f"reduced inertia m, {inertia}"),
        ("m_prime", f"dm/dq, {inertia}/{unit}"),
        ("potential_slope", f"dV/dq, {effort}"),
    ):
        values = facts["curves"][name]
        rows.add_row(label, f"{min(values):.6g}", f"{max(values):.6g}")
    for name, one in facts["joints"].items():
        factor, shown = (DEGREES, "°") if one["unit"] == "rad" else (1.0, "m")
        span = np.ptp(one["values"])  # of which rounding is no part
        least, greatest = (
            end(one["values"]) * factor if abs(end(one["values"])) > 1e-12 * span else 0.0
            for end in (min, max)
        )
        rows.add_row(f"joint {name}, {shown}", f"{least:.6g}", f"{greatest:.6g}")
    motion = facts.get("regime", {}).get("motion")
    if motion is not None:
        units = {one["name"]: one["unit"] for one in facts["reactions"]}
        named = {f"{name}, {units[name]}": x for name, x in motion["reactions"].items()}
        for name, values in ((f"speed, {unit}/s", motion["speed"]), *named.items()):
            rows.add_row(name, f"{min(values):.6g}", f"{max(values):.6g}")
    terminal.out.print(rows)
    _show_errors(facts)


def _show_errors(facts: dict[str, Any]) -> None:
    from .terminal import out

    errors = facts["errors"]
    out.print(
        f"inverse dynamics and energy agree to {errors['routes']['m']:.0e} of m's range, "
        f"{errors['routes']['m_prime']:.0e} of m′'s; curves through {facts['samples']} samples "
        f"err {errors['curves']:.0e}",
        style="dim",
    )
    if not errors["accurate"]:
        out.print(
            f"curves are not as accurate as they should be, {CURVE_ACCURACY:.0e} of their range: "
            "give a --range farther from dead points",
            style="yellow",
        )


def _show_regime(regime: dict[str, Any]) -> None:

    from . import terminal

    said = {
        "turning": "steady regime: a turn multiplies a small change of speed by "
        f"{regime['multiplier']:.3g}",
        "neutral": "neutral regime: work in and out are equal at every speed",
        "stalled": "stalled: started at the given speed or period it does not finish a turn. Give "
        "it a higher --speed, or a shorter --period",
        "no regime": "no steady regime was found: work in and out of a cycle do not balance, or "
        "its speed settles within a fraction of a degree, as with a geared motor without "
        "`rotor`",
    }[regime["state"]]
    terminal.out.print(f"\n{said}")
    if "measures" not in regime:
        if regime["state"] == "neutral":
            terminal.out.print("Its speed is yours to give: --period or --speed.")
        return
    (metric, value, unit), rows = columns(regime)
    terminal.out.print(terminal.table(metric, f"#{value}", unit, rows=rows))
    terminal.out.print(f"last doubling of the steps: {regime['error']:.0e} of speed", style="dim")
    if not regime["accurate"]:
        terminal.out.print(
            f"the turn is not as accurate as it should be, {SPEED_ACCURACY:.0e} of speed and "
            f"{PEAKS:.0e} of metrics, which changed by {regime['peaks_error']:.0e}",
            style="yellow",
        )


def columns(regime: Mapping[str, Any]) -> tuple[tuple[str, str, str], list[tuple[str, str, str]]]:
    """Titles and rows of a regime's metrics."""
    units = regime["units"]
    rows = [(name, f"{x:.6g}", units[name]) for name, x in regime["measures"].items()]
    return ("metric", "value", "unit"), rows


def _shown(value: float, unit: str) -> str:
    """A length, or an angle in degrees too."""
    if unit == "rad":
        return f"{value:.6g} rad ({round(value * DEGREES, 3):g}°)"
    return f"{value:.6g} {unit}"
