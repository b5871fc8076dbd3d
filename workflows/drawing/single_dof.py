"""Curves of a mechanism with one degree of freedom, from the facts of `single_dof.document`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.single_dof import effort_unit, inertia_unit
from basepar_core.texts import plot

from .mechanism import canvas
from .painting import COLOURS, INK

#: Slopes of a potential below this (N m or N) are rounding.
NO_FORCE = 1e-12


def curves_figure(facts: dict[str, Any]) -> Any:
    """m and m′, V′ and joints; what there is of the steady turn and of the motion in time below.

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
    over = [axes for axes, one in zip(grid.flat, panels, strict=False) if one.label == label]
    for low, high in facts["range"]["near_dead_points"]:
        for axes in over:
            axes.axvspan(low * scale, high * scale, color="#f3d9d9", lw=0)
    figure.suptitle(plot(facts["mechanism"]), color=INK, fontsize=11)
    return figure


@dataclass(frozen=True)
class _Panel:
    """Curves over x, by name; `least` is the range below which they are drawn as constant.

    `shaded` are stretches of x that a curve stands out in, with its name.
    """

    x: Any
    curves: dict[str, Any]
    title: str
    label: str
    least: float = 0.0
    shaded: tuple[tuple[str, float, float], ...] = ()


def _places(facts: dict[str, Any]) -> tuple[float, str]:
    turns = facts["unit"] == "rad"
    return (
        (180 / np.pi, f"{facts['coordinate']}, °") if turns else (1.0, f"{facts['coordinate']}, m")
    )


def _reduced(facts: dict[str, Any], scale: float, label: str) -> list[_Panel]:
    curves, unit = facts["curves"], inertia_unit(facts["unit"])
    q, least = np.array(curves["q"]) * scale, 1e-6 * float(np.abs(curves["m"]).max())
    slope = f"its slope m′, {unit}/{facts['unit']}"
    found = [
        _Panel(q, {"": curves["m"]}, f"reduced inertia m, {unit}", label, least),
        _Panel(q, {"": curves["m_prime"]}, slope, label, least),
    ]
    push = curves["potential_slope"]
    if np.abs(push).max() > NO_FORCE:
        title = f"slope of the potential V′, {effort_unit(facts['unit'])}"
        found.append(_Panel(q, {"": push}, title, label))
    return found + _joints(facts, q, scale, label)


def _joints(facts: dict[str, Any], q: Any, scale: float, label: str) -> list[_Panel]:
    """Joint values over the motion: those whose dwell is asked for, shaded there, or outputs."""
    asked, found = facts["dwells"] or facts["joints"], []
    for unit, factor, shown in (("rad", 180 / np.pi, "°"), ("m", 1.0, "m")):
        curves = {
            name: np.array(one["values"]) * factor
            for name, one in facts["joints"].items()
            if one["unit"] == unit and name in asked
        }
        dwells = tuple(
            (name, low * scale, high * scale)
            for name, one in facts["dwells"].items()
            if name in curves
            for low, high in one["where"]
        )
        if curves:
            title = f"longest dwell of a joint, {shown}" if dwells else f"joints, {shown}"
            found.append(_Panel(q, curves, title, label, 1e-9, dwells))
    return found


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
    names = list(panel.curves)
    for name, low, high in panel.shaded:
        colour = COLOURS[(number + names.index(name)) % len(COLOURS)]
        axes.axvspan(low, high, color=colour, alpha=0.15, lw=0)
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
