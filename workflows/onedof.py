"""What `basepar onedof` says and draws of a mechanism with one degree of freedom."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.onedof.forward import simulate
from basepar_core.onedof.machine import Machine
from basepar_core.onedof.results import dwell, measures
from basepar_core.onedof.turning import STATES

from .documents import coordinate_unit
from .drawing import COLOURS, INK, canvas

#: Places at which `--json` lists curves.
LISTED = 181


def document(made: Machine, bands: dict[str, float]) -> dict[str, Any]:
    """Plain facts; curves on `LISTED` places.

    Parameters
    ----------
    made
        The machine.
    bands
        Width of the band in which a joint counts as dwelling (rad or m), by joint value.
    """
    survey, way = made.survey, made.survey.way
    it = made.model.mechanism
    q = np.linspace(way.low, way.high, LISTED)
    curves, slopes = survey.curves(q), survey.curves(q, 1)
    found: dict[str, Any] = {
        "mechanism": it.name,
        "coordinate": it.coordinates[0],
        "unit": coordinate_unit(it, it.coordinates[0]),
        "way": {
            "closed": way.closed,
            "from": way.low,
            "to": way.high,
            "dead_points": list(way.dead_points),
            "near_dead_points": [list(stretch) for stretch in way.near],
            "margin": way.margin,
        },
        "samples": survey.table.q.size,
        "errors": {
            "curves": float(survey.errors.max()),
            "routes": survey.energy_errors,
        },
        "curves": {
            "q": q.tolist(),
            "m": curves[0].tolist(),
            "m_prime": slopes[0].tolist(),
            "potential_slope": curves[1].tolist(),
            "potential": curves[2].tolist(),
        },
        "reactions": [],
    }
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
        found["regime"] = _regime(made, bands)
    return found


def _regime(made: Machine, bands: dict[str, float]) -> dict[str, Any]:
    assert made.regimes is not None
    known = made.regimes
    found: dict[str, Any] = {
        "state": STATES[int(known.state[0])],
        "multiplier": float(known.multiplier[0]),
    }
    if made.motion is None or made.table is None:
        return found
    motion, names = made.motion, [one.name for one in made.reactions]
    numbers = measures(made.table, motion, names)
    own = made.table.loads.tracked  # joints that were asked for come after those of loads
    for place, (joint, band) in enumerate(bands.items(), start=own):
        numbers[f"dwell({joint})"] = dwell(made.table.q, made.table.theta[place], band)
    found |= {
        "error": made.error,
        "measures": {name: float(values[0]) for name, values in numbers.items()},
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


def moved(made: Machine, duration: float, speed: float) -> dict[str, Any]:
    """The motion in time from the assembly, with no current yet: facts, SI."""
    ran = simulate(made.survey, made.survey.way.start, speed, duration)
    drives = made.survey.table.loads.drives
    return {
        "end": ran.end,
        "t": ran.t.tolist(),
        "q": ran.q.tolist(),
        "speed": ran.speed.tolist(),
        "currents": {d.name: ran.currents[k].tolist() for k, d in enumerate(drives)},
    }


def figure_of(facts: dict[str, Any]) -> Any:
    """m and m′; what there is of the steady turn and of the motion in time below.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    """
    scale, label = _places(facts)
    panels = _reduced(facts, scale, label) + _steady(facts, scale, label) + _in_time(facts)
    rows = (len(panels) + 1) // 2
    figure = canvas(9.6, 3.4 * rows)
    grid = figure.subplots(rows, 2, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for k, (axes, one) in enumerate(zip(grid.flat, panels, strict=False)):
        _draw(axes, one, k)
    for low, high in facts["way"]["near_dead_points"]:
        for axes in grid[0]:
            axes.axvspan(low * scale, high * scale, color="#f3d9d9", lw=0)
    figure.suptitle(facts["mechanism"], color=INK, fontsize=11)
    return figure


@dataclass(frozen=True)
class _Panel:
    """Curves over x, by name; `least` is the range below which they are drawn as constant."""

    x: Any
    curves: dict[str, Any]
    title: str
    label: str
    least: float = 0.0


def _places(facts: dict[str, Any]) -> tuple[float, str]:
    turns = facts["unit"] == "rad"
    return (
        (180 / np.pi, f"{facts['coordinate']}, °") if turns else (1.0, f"{facts['coordinate']}, m")
    )


def _reduced(facts: dict[str, Any], scale: float, label: str) -> list[_Panel]:
    curves, unit = facts["curves"], _inertia(facts)
    q, least = np.array(curves["q"]) * scale, 1e-6 * float(np.abs(curves["m"]).max())
    slope = f"its slope m′, {unit}/{facts['unit']}"
    return [
        _Panel(q, {"": curves["m"]}, f"reduced inertia m, {unit}", label, least),
        _Panel(q, {"": curves["m_prime"]}, slope, label, least),
    ]


def _inertia(facts: dict[str, Any]) -> str:
    return "kg m²" if facts["unit"] == "rad" else "kg"


def _steady(facts: dict[str, Any], scale: float, label: str) -> list[_Panel]:
    motion = facts.get("regime", {}).get("motion")
    if motion is None:
        return []
    q, unit = np.array(motion["q"]) * scale, facts["unit"]
    groups = [(f"speed, {unit}/s", {"": motion["speed"]})]
    for effort in ("N", "N m"):
        names = [one["name"] for one in facts["reactions"] if one["unit"] == effort]
        groups.append(
            (f"reactions, {effort}", {name: motion["reactions"][name] for name in names})
        )
    groups.append(("currents, A", motion["currents"]))
    if not any(curves for _, curves in groups[1:]):
        groups.append((f"acceleration, {unit}/s²", {"": motion["acceleration"]}))
    return [
        _Panel(q, curves, f"steady turn: {title}", label) for title, curves in groups if curves
    ]


def _in_time(facts: dict[str, Any]) -> list[_Panel]:
    ran = facts.get("run")
    if ran is None:
        return []
    found = [_Panel(ran["t"], {"": ran["speed"]}, f"in time: speed, {facts['unit']}/s", "t, s")]
    if ran["currents"]:
        found.append(_Panel(ran["t"], ran["currents"], "in time: currents, A", "t, s"))
    return found


def _draw(axes: Any, panel: _Panel, number: int) -> None:
    for k, (name, values) in enumerate(panel.curves.items()):
        colour = COLOURS[(number + k) % len(COLOURS)]
        axes.plot(panel.x, values, color=colour, lw=1.5, label=name)
    low, high = axes.get_ylim()
    if high - low < panel.least:  # rounding is not drawn as if it were a curve
        middle = (low + high) / 2 if abs(low + high) > panel.least else 0.0
        axes.set_ylim(middle - max(abs(middle), panel.least) / 10, None)
        axes.set_ylim(None, middle + max(abs(middle), panel.least) / 10)
    axes.set_title(panel.title, fontsize=9, color=INK, loc="left")
    if any(panel.curves):
        axes.legend(frameon=False, fontsize=8)
    _dress(axes, panel.x, panel.label)


def _dress(axes: Any, q: Any, label: str) -> None:
    axes.set_xlabel(label, fontsize=9)
    axes.set_xlim(q[0], q[-1])
    if "°" in label and q[-1] - q[0] > 180:
        axes.xaxis.set_major_locator(_steps(90))
    axes.grid(True, color="#e6e6e6", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _steps(step: float) -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(step)


def write_csv(facts: dict[str, Any], path: Path) -> Path:
    """Curves as a table: of the motion in time, of the steady turn, or of what is reduced."""
    motion = facts.get("run") or facts.get("regime", {}).get("motion")
    if motion is None:
        columns = dict(facts["curves"])
    else:
        columns = {k: v for k, v in motion.items() if isinstance(v, list)}
        columns |= {f"current {k}": v for k, v in motion["currents"].items()}
        columns |= motion.get("reactions", {})
    header = ",".join(f'"{name}"' if "," in name else name for name in columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.column_stack(list(columns.values()))
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.12g")
    return path


def show(facts: dict[str, Any]) -> None:
    """The facts in the terminal."""
    from rich.markup import escape

    from . import terminal

    out, way = terminal.out, facts["way"]
    unit = facts["unit"]
    out.print(f"[bold]{facts['mechanism']}[/]: reduced to {facts['coordinate']}")
    if way["closed"]:
        said = f"closed after {way['to'] - way['from']:.6g} {unit}"
    else:
        ends = ", ".join(f"{x:.6g}" for x in way["dead_points"])
        said = f"from {way['from']:.6g} to {way['to']:.6g} {unit}"
        said += f"; dead points at {ends}" if ends else ""
    out.print(f"motion {said}; nearest to a dead point: {way['margin']:.3g} (1 far, 0 there)")
    for low, high in way["near_dead_points"]:
        out.print(f"[yellow]nearly singular from {low:.6g} to {high:.6g} {unit}[/]")
    rows = terminal.table("", "least", "greatest", right=("least", "greatest"))
    inertia = _inertia(facts)
    effort = "N m" if unit == "rad" else "N"
    for name, label in (
        ("m", f"reduced inertia m, {inertia}"),
        ("m_prime", f"dm/dq, {inertia}/{unit}"),
        ("potential_slope", f"dV/dq, {effort}"),
    ):
        values = facts["curves"][name]
        rows.add_row(label, f"{min(values):.6g}", f"{max(values):.6g}")
    motion = facts.get("regime", {}).get("motion")
    if motion is not None:
        for name, values in ((f"speed, {unit}/s", motion["speed"]), *motion["reactions"].items()):
            rows.add_row(escape(name), f"{min(values):.6g}", f"{max(values):.6g}")
    out.print(rows)
    routes = facts["errors"]["routes"]
    out.print(
        f"inverse dynamics and energy agree to {routes['m']:.0e} of m's range, "
        f"{routes['m_prime']:.0e} of m′'s; curves through {facts['samples']} samples err "
        f"{facts['errors']['curves']:.0e}",
        style="dim",
    )
    if "regime" in facts:
        _show_regime(facts["regime"])
    if "run" in facts:
        ran = facts["run"]
        out.print(
            f"\nin time: {ran['t'][-1]:.6g} s from the assembly, ended by {ran['end']}, at "
            f"{ran['q'][-1]:.6g} {unit} and {ran['speed'][-1]:.6g} {unit}/s"
        )
    for key in ("drawing", "table"):
        if key in facts:
            out.print(f"{key}: {facts[key]}", markup=False)


def _show_regime(regime: dict[str, Any]) -> None:
    from rich.markup import escape

    from . import terminal

    said = {
        "turning": "steady regime: a turn multiplies a small change of speed by "
        f"{regime['multiplier']:.3g}",
        "neutral": "neutral regime: work in and out are equal at every speed",
        "no regime": "no steady regime was found: work in and out of a turn do not balance",
    }[regime["state"]]
    terminal.out.print(f"\n{said}")
    if "measures" not in regime:
        if regime["state"] == "neutral":
            terminal.out.print("Its speed is yours to give: --period or --speed.")
        return
    rows = terminal.table("", "", right=("",))
    for name, value in regime["measures"].items():
        rows.add_row(escape(name), f"{value:.6g}")
    terminal.out.print(rows)
    terminal.out.print(f"last doubling of the steps: {regime['error']:.0e} of speed", style="dim")
