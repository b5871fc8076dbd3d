"""Pictures of a study: history, Pareto front, importances, slices, best designs, tolerances.

Matplotlib figures, for PNG files (`basepar pictures`) and, as SVG, for the report. Optuna's own
plots work on the journal as well; these need the store only, know what is feasible, and show the
polished designs. Importances are Optuna's: PED-ANOVA, which needs nothing but the trials.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import optuna

from basepar_core.dynamics import Model, prepare
from basepar_core.errors import StoreError
from basepar_core.expressions import parse_unit
from basepar_core.texts import plot
from sweeps.store import Store
from workflows.drawing import COLOURS, INK, Scene, canvas, paint, save, sheet
from workflows.jobs import check_outputs

from .companion_stores import beside, polished_of, tolerances_path
from .feasibility import Verdict, dominated, far_apart, judge
from .picture_axes import (
    FEASIBLE,
    MISSED,
    POLISHED,
    apart,
    axes_of,
    legend,
    levels,
    scaled,
    scatter,
    short,
    spaced,
    titled,
)
from .samplers import distributions, quiet_optuna
from .spec import StudySpec
from .tolerances import Spread, read_spread

#: Designs drawn side by side, and how wide each is, inches.
DRAWN, WIDE = 3, 3.4
#: Designs nearer than this share of every variable's range look the same.
ALIKE = 0.02
#: Below this many feasible trials importances would be noise.
ENOUGH = 20


@dataclass(frozen=True)
class Shown:
    """A study as pictures need it.

    Attributes
    ----------
    verdict
        All trials that are settled or pending.
    polished
        The polished designs of this very study, where there are any.
    spread
        Samples about a design, where there are any.
    """

    spec: StudySpec
    verdict: Verdict
    polished: Verdict | None = None
    spread: Spread | None = None

    @classmethod
    def of(cls, spec: StudySpec) -> "Shown":
        """What lies in the study's store and in those beside it."""
        found = cls(spec, judge(spec, Store.open(spec.path), 0, spec.trials))
        if (polished := polished_of(spec)) is not None and polished.settled.any():
            found = replace(found, polished=polished)
        path = tolerances_path(spec.path)
        if beside(spec, path) is not None:
            with suppress(StoreError):  # still being written
                found = replace(found, spread=read_spread(spec, path))
        return found

    @cached_property
    def model(self) -> Model:
        """The mechanism, assembled."""
        return prepare(self.spec.mechanism)

    def geometry(self, parameters: np.ndarray) -> dict[str, float]:
        """A design's variables (variable,), and the symbols that follow them, SI."""
        plan = replace(self.spec.plan, count=1).knowing(0, parameters[None])
        rows = self.spec.with_derived(plan).rows(0, 1)
        return {name: float(values[0]) for name, values in rows.items()}

    @property
    def valued(self) -> np.ndarray:
        """(variant,) bool: it has a value of every objective."""
        return np.isfinite(self.verdict.values).all(axis=1) & self.verdict.settled

    @cached_property
    def candidates(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Feasible designs, polished ones among them: values, parameters, names."""
        good = np.flatnonzero(self.verdict.feasible)
        values, parameters = self.verdict.values[good], self.verdict.parameters[good]
        words = [f"variant {row}" for row in good]
        if (after := self.polished) is not None:
            more = np.flatnonzero(after.feasible)
            values = np.concatenate([values, after.values[more]])
            parameters = np.concatenate([parameters, after.parameters[more]])
            words += [f"polished {row}" for row in more]
        return values, parameters, words

    @property
    def best(self) -> list[int]:
        """Places among `candidates`: the best, or some far apart on the front."""
        values = self.candidates[0] * self.spec.signs
        if not len(values):
            return []
        order = np.argsort(values[:, 0], kind="stable")
        if len(self.spec.objectives) > 1:
            order = order[~dominated(values[order])]
            order = self._distinct(order)
            order = order[far_apart(values[order], DRAWN)]
        return [int(place) for place in self._distinct(order)[:DRAWN]]

    def _distinct(self, order: np.ndarray) -> np.ndarray:
        """Without those that look like one before them: descents often end in the same place."""
        parameters = self.candidates[1]
        width = np.ptp(self.verdict.parameters, axis=0)
        shares = parameters / np.where(width > 0, width, 1.0)
        kept: list[int] = []
        for place in order:
            if all(np.abs(shares[place] - shares[k]).max() > ALIKE for k in kept):
                kept.append(int(place))
        return np.array(kept, int)


def pictures(shown: Shown) -> Iterator[tuple[str, str, Any]]:
    """Name, caption and figure of everything there is to show."""
    spec = shown.spec
    line = "; the line is the best so far" if len(spec.objectives) == 1 else ""
    yield "history", f"Objectives trial by trial{line}.", history(shown)
    if len(spec.objectives) > 1 and len(shown.candidates[0]):
        yield (
            "front",
            "The front, what one objective costs in the other: its designs are joined. Whole "
            "numbers are drawn as bands of points.",
            front(shown),
        )
    if len(shown.candidates[0]):
        yield "designs", "The best designs, at one scale.", designs(shown)
    if int(shown.valued.sum()) >= ENOUGH and len(spec.variables) > 1:
        yield (
            "importances",
            "How much of what makes a trial one of the best each variable is (PED-ANOVA).",
            importances(shown),
        )
    yield "slices", "Objectives against variables, one at a time.", slices(shown)
    if shown.spread is not None:
        yield (
            "tolerances",
            f"Samples about {shown.spread.origin} as it may be made; the line is what the slopes "
            "predict.",
            tolerances(shown, shown.spread),
        )


def write_pictures(shown: Shown, folder: Path, overwrite: bool = False) -> list[Path]:
    """Every picture as a PNG file; over files that basepar did not make only if told to.

    Raises
    ------
    UsageError
        Such a file is there.
    """
    drawn = {folder / f"{name}.png": figure for name, _, figure in pictures(shown)}
    check_outputs(drawn, overwrite)
    return [save(figure, path) for path, figure in drawn.items()]


def history(shown: Shown) -> Any:
    """Objectives against the trial's number, the best so far, the polished designs."""
    lines = shown.spec.objectives
    figure = canvas(7.2, 2.2 + 1.6 * len(lines))
    trials, good = np.arange(len(shown.verdict.values)), shown.verdict.feasible
    for k, line in enumerate(lines):
        axes = axes_of(figure, len(lines), 1, k + 1)
        values = shown.verdict.values[:, k]
        drawn = apart(values, shown.valued)
        missed = shown.valued & ~good
        scatter(axes, trials[missed], drawn[missed], "misses a constraint", MISSED, 14)
        scatter(axes, trials[good], drawn[good], "feasible", FEASIBLE, 16)
        if len(lines) == 1 and good.any():
            running = np.where(good, values, np.inf if line.minimize else -np.inf)
            so_far = (np.minimum if line.minimize else np.maximum).accumulate(running)
            known = np.isfinite(so_far)
            axes.step(trials[known], so_far[known], where="post", color=FEASIBLE, lw=1.2)
        _mark_polished(axes, shown, k, len(trials))
        scaled(axes, "y", values[shown.valued], shown.candidates[0][:, k])
        axes.set_ylabel(titled(line.text, line.unit))
        if k == 0:
            legend(axes)
    axes.set_xlabel("trial")
    return figure


def _mark_polished(axes: Any, shown: Shown, k: int, at: int) -> None:
    if shown.polished is not None and shown.polished.feasible.any():
        values = shown.polished.values[shown.polished.feasible, k]
        where = at + np.arange(len(values)) * max(1, at // 60)
        axes.scatter(where, values, 34, POLISHED, marker="D", label="polished", zorder=4)


def front(shown: Shown) -> Any:
    """The first two objectives against each other."""
    verdict, (first, second) = shown.verdict, shown.spec.objectives[:2]
    rows = levels(verdict.values[shown.valued, 1])
    figure = canvas(7.2, min(4.6, 1.4 + 0.8 * rows) if rows else 4.6)
    axes = axes_of(figure, 1, 1, 1)
    missed = shown.valued & ~verdict.feasible
    good = verdict.feasible
    x, y = (apart(verdict.values[:, k], shown.valued) for k in (0, 1))
    scatter(axes, x[missed], y[missed], "misses a constraint", MISSED, 20)
    scatter(axes, x[good], y[good], "feasible", FEASIBLE, 24)
    values = shown.candidates[0]
    best = values[~dominated(values * shown.spec.signs)][:, :2]
    best = best[np.argsort(best[:, 0])]
    axes.plot(*best.T, color=INK, lw=1, drawstyle="steps-post", label="front", zorder=3)
    if shown.polished is not None and shown.polished.feasible.any():
        points = shown.polished.values[shown.polished.feasible, :2]
        axes.scatter(*points.T, 34, POLISHED, marker="D", label="polished", zorder=4)
    for which, k in (("x", 0), ("y", 1)):
        scaled(axes, which, verdict.values[shown.valued, k], values[:, k])
    axes.set_xlabel(titled(first.text, first.unit))
    axes.set_ylabel(titled(second.text, second.unit))
    legend(axes)
    return figure


def study_of_trials(shown: Shown, objective: int) -> optuna.Study:
    """Settled trials with values as a study in memory, one objective told."""
    line = shown.spec.objectives[objective]
    made = optuna.create_study(direction=line.direction)
    for row in np.flatnonzero(shown.valued):
        trial = optuna.trial.create_trial(
            value=float(shown.verdict.values[row, objective]),
            params=shown.spec.parameters(shown.verdict.parameters[row]),
            distributions=distributions(shown.spec),
        )
        made.add_trial(trial)
    return made


def importances(shown: Shown) -> Any:
    """Bars per objective and variable."""
    by = optuna.importance.PedAnovaImportanceEvaluator()
    with quiet_optuna():
        found = [
            optuna.importance.get_param_importances(study_of_trials(shown, k), evaluator=by)
            for k in range(len(shown.spec.objectives))
        ]
    names = sorted(shown.spec.names, key=lambda name: sum(one.get(name, 0) for one in found))
    figure = canvas(7.2, 1.3 + 0.34 * len(names) * (0.5 + 0.5 * len(found)))
    axes = axes_of(figure, 1, 1, 1, grid="x")
    high = 0.8 / len(found)
    for k, (one, line) in enumerate(zip(found, shown.spec.objectives, strict=True)):
        at = np.arange(len(names)) + 0.4 - high * (k + 0.5)
        shares = [100 * one.get(name, 0.0) for name in names]
        axes.barh(at, shares, high * 0.92, color=COLOURS[k], label=plot(line.text))
        for y, share in zip(at, shares, strict=True):
            axes.text(share + 0.6, y, f"{share:.0f}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("importance by PED-ANOVA, %")
    if len(found) > 1:
        axes.legend(frameon=False, fontsize=8, loc="lower right", labelcolor=INK)
    return figure


def slices(shown: Shown) -> Any:
    """Small multiples: objectives (rows) against variables (columns)."""
    spec, verdict = shown.spec, shown.verdict
    rows, columns = len(spec.objectives), len(spec.variables)
    figure = canvas(max(3.6, min(2.4 * columns, 12.0)), 0.7 + 1.9 * rows)
    good, missed = verdict.feasible, shown.valued & ~verdict.feasible
    for k, line in enumerate(spec.objectives):
        for j, name in enumerate(spec.names):
            axes = axes_of(figure, rows, columns, k * columns + j + 1)
            scale, unit = _unit(shown, name)
            x = verdict.parameters[:, j] / scale
            y = apart(verdict.values[:, k], shown.valued)
            scatter(axes, x[missed], y[missed], "", MISSED, 9)
            scatter(axes, x[good], y[good], "", FEASIBLE, 10)
            after = shown.polished
            if after is not None and after.feasible.any():
                one = after.feasible
                axes.scatter(
                    after.parameters[one, j] / scale,
                    after.values[one, k],
                    24,
                    POLISHED,
                    marker="D",
                    zorder=4,
                )
            scaled(axes, "y", verdict.values[shown.valued, k], shown.candidates[0][:, k])
            if k == rows - 1:
                axes.set_xlabel(titled(name, unit))
            if j == 0:
                axes.set_ylabel(titled(line.text, line.unit))
            else:
                axes.tick_params(labelleft=False)
    return figure


def designs(shown: Shown) -> Any:
    """The best designs side by side, at one scale, with their values below."""
    values, parameters, names = shown.candidates
    best = shown.best
    figure = canvas(WIDE * len(best) + 0.2, 4.0)
    scenes = [Scene(shown.model, shown.geometry(parameters[place])) for place in best]
    # At this size bodies' names cover the joints' letters.
    on = sheet(scenes, np.array([WIDE - 0.3, 3.0]) * 72, font=7, names_bodies=False)
    for k, (scene, place) in enumerate(zip(scenes, best, strict=True)):
        one = figure.add_subplot(1, len(best), k + 1)
        paint(scene, one, on)
        said = "\n".join(
            f"{short(line.text)} = {value:.4g}{spaced(line.unit)}"
            for line, value in zip(shown.spec.objectives, values[place], strict=True)
        )
        one.set_title(names[place], fontsize=10, color=INK)
        one.text(
            0.5,
            -0.02,
            said,
            transform=one.transAxes,
            ha="center",
            va="top",
            fontsize=8.5,
            color=INK,
        )
    return figure


def tolerances(shown: Shown, spread: Spread) -> Any:
    """Distributions of the objectives, and which tolerance makes them."""
    lines, verdict = shown.spec.objectives, spread.verdict
    figure = canvas(7.2, 2.9 * len(lines))
    for k, line in enumerate(lines):
        axes = axes_of(figure, len(lines), 2, 2 * k + 1)
        values, good = verdict.values[1:, k], verdict.feasible[1:]
        closed = np.isfinite(values)
        if closed.any():
            bins = np.histogram_bin_edges(values[closed], 30)
            parts = [values[closed & good], values[closed & ~good]]
            axes.hist(
                parts,
                bins,
                stacked=True,
                color=[FEASIBLE, MISSED],
                label=["feasible", "misses a constraint"],
            )
            _predicted(axes, spread, k, bins, int(closed.sum()))
        axes.axvline(verdict.values[0, k], color=INK, lw=1, ls=":")
        axes.set_xlabel(titled(line.text, line.unit))
        axes.set_ylabel("samples")
        axes.yaxis.get_major_locator().set_params(integer=True)
        if k == 0:
            legend(axes)
        _shares(axes_of(figure, len(lines), 2, 2 * k + 2, grid="x"), spread, k)
    return figure


def _predicted(axes: Any, spread: Spread, k: int, bins: np.ndarray, count: int) -> None:
    sigma, middle = spread.predicted[k], spread.verdict.values[0, k]
    if np.isfinite(sigma) and sigma > 0:
        x = np.linspace(bins[0], bins[-1], 200)
        density = np.exp(-(((x - middle) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))
        height = density * count * (bins[1] - bins[0])
        axes.plot(x, height, color=POLISHED, lw=1.3, label="by slopes")


def _shares(axes: Any, spread: Spread, k: int) -> None:
    names, shares = list(spread.tolerances.half), 100 * np.nan_to_num(spread.shares[k])
    order = np.argsort(shares)
    axes.barh(range(len(names)), shares[order], 0.7, color=FEASIBLE)
    for y, place in enumerate(order):
        axes.text(shares[place] + 1, y, f"{shares[place]:.0f}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(names)), [names[place] for place in order])
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("share of the variance, %")


def _unit(shown: Shown, name: str) -> tuple[float, str]:
    """A symbol's unit: SI times its inverse, and as the file has it."""
    (symbol,) = (one for one in shown.spec.mechanism.geometry if one.name == name)
    return (parse_unit(symbol.unit).size, symbol.unit) if symbol.unit else (1.0, "1")
