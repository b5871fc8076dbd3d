"""Values and slopes of a study's quantities at one design.

Exact slopes come from `metrics.sensitivity`: of symbols, the metrics of torques and of closed
cycles (of extremes piece by piece), the condition. Other results (steady regimes, `margin`, a
user's own) have central differences of the study's own evaluation, and some of these are
extremes too; ranks, counts and sizes of selected models are steps, and have no slope. Where
symbols follow others (`derive`), slopes are taken by these too, and the chain rule through the
formulas adds them up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.dynamics import Motion
from basepar_core.expressions import Call, Name, Number, names
from basepar_core.metrics import (
    METRICS,
    ClosedCycle,
    Metric,
    Slopes,
    array_name,
    cycle,
    differentiated,
    drives,
    sensitivity,
)
from basepar_core.symbolic import roots, symbol_values
from sweeps.chunks import ChunkEvaluator, prepare
from sweeps.spec import Formula, values_of
from sweeps.store import WITH_RESULTS

from .spec import Range, StudySpec

#: Results beside metrics, by the same two words as those.
RESULTS = {
    "condition": Metric("cycle", is_exact=True),
    "margin": Metric("cycle", course="pieces"),
}
STEPS = ("rank", "selected_size")
#: Step of differences, as a share of a variable's range: central ones err by its square, forward
#: ones by itself, and both by rounding (1e-15 of the value) over it.
SHARE = 1e-6
#: A result whose slopes are differences.
OTHER = Metric("cycle")


def slope_kind(name: str) -> str:
    """How the slope of a result is had."""
    word = word_of(name)[0]
    metric = RESULTS.get(word) or METRICS.get(word) or OTHER
    if word in STEPS or metric.course == "steps":
        return "none: it is a step"
    kind = "exact" if metric.is_exact else "differences"
    return f"{kind}, piece by piece" if metric.is_piecewise else kind


@dataclass(frozen=True)
class Point:
    """A design: values of all names (`near`: of those that the study speaks of), and their slopes
    by the symbols (symbol,).

    `squares` are residuals (row,) and their slopes (row, symbol), of a study whose only objective
    is the root of their sum of squares, or its square.
    """

    values: Mapping[str, float]
    slopes: Mapping[str, np.ndarray]
    squares: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class Landscape:
    """What a study is about, as a function with slopes; picklable.

    Attributes
    ----------
    spec
        The study.
    symbols, sizes
        What slopes are taken by, and the length (SI) that is a large change of each.
    formulas
        Symbols that follow from a design, each after those it needs.
    """

    spec: StudySpec
    symbols: tuple[str, ...]
    sizes: tuple[float, ...]
    evaluator: ChunkEvaluator = field(repr=False)
    formulas: tuple[Formula, ...] = ()

    @classmethod
    def of(cls, spec: StudySpec, evaluator: ChunkEvaluator | None = None) -> "Landscape":
        """By the variables of a study that are not discrete."""
        moving = {n: v.high - v.low for n, v in spec.variables if isinstance(v, Range)}
        return replace(cls.by(spec, moving, evaluator), formulas=spec.derived)

    @classmethod
    def by(
        cls,
        spec: StudySpec,
        sizes: Mapping[str, float],
        evaluator: ChunkEvaluator | None = None,
    ) -> "Landscape":
        """By symbols, each with what is a large change of it; none follows from others."""
        made = evaluator or prepare(spec.sweep)
        return cls(spec, tuple(sizes), tuple(sizes.values()), made)

    @property
    def kinds(self) -> dict[str, str]:
        """How the slope of each result is had."""
        return {name: slope_kind(name) for name in self.spec.results}

    def at(self, design: Mapping[str, float]) -> Point | None:
        """Values and slopes where symbols have these values (SI); None where it does not close."""
        found = _Found(self, {name: np.array([value]) for name, value in design.items()})
        values, slopes = found.symbols
        for name in self.spec.results:
            pair = found.result(name)
            if pair is None or not np.isfinite(pair[0]):
                return None
            values[name], slopes[name] = pair
        return Point(values, slopes, found.squares(self.squared) if self.squared else None)

    @property
    def is_of_the_cycle(self) -> bool:
        """Whether all results are metrics of the cycle whose slopes need no differences of the
        whole evaluation: of these `near` is quick."""
        known = self.evaluator.metrics
        return all(
            (name in known or word_of(name)[0] in known) and "differences" not in kind
            for name, kind in self.kinds.items()
        )

    def near(self, designs: Sequence[Mapping[str, float]]) -> list[Point | None]:
        """As `at`, of many designs in one evaluation, but only names that objectives and
        constraints speak of; slopes are forward differences.

        A step of `SHARE` of a range leads away from the bound that is nearer. Slopes err by half
        of it times the curvature, and by rounding over it. None also where a step does not close.
        """
        count = 1 + len(self.symbols)
        rows = {
            name: np.repeat(np.array([one[name] for one in designs], float), count)
            for name in designs[0]
        }
        ranges = {n: (v.low + v.high) / 2 for n, v in self.spec.variables if isinstance(v, Range)}
        steps = np.empty((len(designs), len(self.symbols)))
        for k, (name, size) in enumerate(zip(self.symbols, self.sizes, strict=True)):
            here, there = rows[name][::count], rows[name][k + 1 :: count]
            there += np.where(here > ranges.get(name, np.inf), -SHARE, SHARE) * size
            steps[:, k] = there - here  # what rounding leaves of it
        columns = self.followed(rows)
        columns |= roots(self.spec.mechanism, columns)
        owners = np.repeat(np.arange(len(designs)), count)
        arrays = self.evaluator(columns, np.ones(owners.size, dtype=bool), owners)
        found = {name: column(self.evaluator, arrays, name) for name in self.spec.results}
        if symbols := self.spoken - found.keys():
            every = symbol_values(self.spec.mechanism, columns)
            found |= {name: np.asarray(every[name]) for name in symbols}
        tracks = {
            name: np.broadcast_to(track, owners.size).reshape(-1, count)
            for name, track in found.items()
        }
        slopes = {name: (x[:, 1:] - x[:, :1]) / steps for name, x in tracks.items()}
        for name in self.spec.results:
            if slope_kind(name).startswith("none"):
                slopes[name] = np.zeros_like(steps)
        going = np.isin(arrays["status"], WITH_RESULTS).reshape(-1, count)
        closed = np.array(going.all(axis=1))
        for name in self.spec.results:
            closed &= np.isfinite(tracks[name]).all(axis=1)
        return [
            Point(
                {name: float(x[k, 0]) for name, x in tracks.items()},
                {name: x[k] for name, x in slopes.items()},
            )
            if closed[k]
            else None
            for k in range(len(designs))
        ]

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Names that objectives and constraints speak of."""
        lines = [line.expression for line in self.spec.objectives]
        lines += [line.expression for line in self.spec.constraints]
        return frozenset().union(*map(names, lines))

    @cached_property
    def squared(self) -> str:
        """The root mean square that alone is to be small, itself or its square; else ""."""
        lines = self.spec.objectives
        if len(lines) != 1 or not lines[0].minimize:
            return ""
        match lines[0].expression:
            case Name(name) | Call(
                "^", (Name(name), Number(Fraction(numerator=2, denominator=1)))
            ):
                found = cycle.find(self.spec.mechanism, name, self.spec.targets)
                return name if found is not None and found.squares is not None else ""
        return ""

    @property
    def seen(self) -> tuple[str, ...]:
        """What slopes are computed by before the chain rule: `symbols`, and what follows."""
        return (*self.symbols, *(one.name for one in self.formulas))

    def followed(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Columns (variant,) of designs, with those of the symbols that follow."""
        found = dict(columns)
        for one in self.formulas:
            (values,) = values_of(self.spec.mechanism, (one.expression,), found)
            found[one.name] = np.array(np.broadcast_to(values, len(next(iter(found.values())))))
        return found


class _Found:
    """Results at one design, computed as they are asked for."""

    def __init__(self, of: Landscape, design: Mapping[str, np.ndarray]):
        self.of, self.design, self.columns = of, design, of.followed(design)

    @cached_property
    def ways(self) -> np.ndarray:
        """(seen, symbol): derivatives of symbols, those that follow included, by the free ones."""
        of, count = self.of, len(self.of.symbols)
        ways = np.eye(len(of.seen), count)
        for k, one in enumerate(of.formulas, start=count):
            values, slopes = sensitivity.of_symbols(of.spec.mechanism, self.columns, of.seen)
            known = {name: slope @ ways for name, slope in slopes.items()}
            _, ways[k : k + 1] = differentiated([one.expression], values, known, count)
        return ways

    @property
    def symbols(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Every symbol's value and slopes (symbol,)."""
        of = self.of
        values, slopes = sensitivity.of_symbols(of.spec.mechanism, self.columns, of.seen)
        return values, {name: slope @ self.ways for name, slope in slopes.items()}

    def result(self, name: str) -> tuple[float, np.ndarray] | None:
        word, inner = word_of(name)
        if slope_kind(name).startswith(("differences", "none")):
            return self._differences(name)
        seen = self._excited if word == "condition" else self._cycled
        if not seen.closed[0]:
            return None
        if word == "condition":
            value, slope = sensitivity.condition(seen, self.of.evaluator.base)
        else:
            value, slope = seen.of_cycle(self._metric(name, word, inner))
        return float(value[0]), slope[0] @ self.ways

    def squares(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (row,) of a root mean square, and their slopes (row, symbol)."""
        metric = cycle.find(self.of.spec.mechanism, name, self.of.spec.targets)
        assert metric is not None
        assert metric.squares is not None
        value, slope = self._cycled.of_cycle(metric.squares)
        return value[0], slope[0] @ self.ways

    def _metric(self, name: str, word: str, inner: str) -> Callable[[ClosedCycle], np.ndarray]:
        """What computes a metric with exact slopes from a cycle."""
        mechanism, motion = self.of.spec.mechanism, self.of.evaluator.cycle
        assert motion is not None
        if word in drives.DRIVE_METRICS:
            k = mechanism.coordinates.index(inner or mechanism.actuated[0])
            by, shares = drives.DRIVE_METRICS[word].value, drives.shares(mechanism, motion)
            return lambda closed: by(closed.torques[..., k], motion.q_dot[k], shares)
        found = cycle.find(mechanism, name, self.of.spec.targets)
        assert found is not None
        return found.value

    @cached_property
    def _cycled(self) -> Slopes:
        return self._along(self.of.evaluator.cycle)

    @cached_property
    def _excited(self) -> Slopes:
        return self._along(self.of.evaluator.excitation)

    def _along(self, motion: Motion | None) -> Slopes:
        assert motion is not None
        by = self.of.evaluator
        return sensitivity.slopes(by.model, self.columns, motion, self.of.seen, by.engine)

    @cached_property
    def _around(self) -> Mapping[str, np.ndarray]:
        """The design, then one step up and one down along every symbol, evaluated."""
        count = 1 + 2 * len(self.of.symbols)
        rows = {name: np.full(count, value[0]) for name, value in self.design.items()}
        for k, (name, size) in enumerate(zip(self.of.symbols, self.of.sizes, strict=True)):
            rows.setdefault(name, np.full(count, self.of.spec.mechanism.nominal[name]))
            rows[name][1 + 2 * k : 3 + 2 * k] += SHARE * size * np.array([1, -1])
        return self.of.evaluator(self.of.followed(rows), np.ones(count, dtype=bool))

    @cached_property
    def _alone(self) -> Mapping[str, np.ndarray]:
        """The design itself, evaluated; steps need no more."""
        kinds = self.of.kinds.values()
        smooth = any(kind.startswith("differences") for kind in kinds)
        return self._around if smooth else self.of.evaluator(self.columns, np.ones(1, dtype=bool))

    def _differences(self, name: str) -> tuple[float, np.ndarray] | None:
        is_step = slope_kind(name).startswith("none")
        arrays = self._alone if is_step else self._around
        if not np.isin(arrays["status"], WITH_RESULTS).all():
            return None
        track = column(self.of.evaluator, arrays, name)
        if is_step:
            return float(track[0]), np.zeros(len(self.of.symbols))
        moved = (track[1::2] - track[2::2]) / (2 * SHARE * np.array(self.of.sizes))
        return float(track[0]), moved


def word_of(name: str) -> tuple[str, str]:
    """A result's word and what it is of: `torque_rms`, `A` of `torque_rms(A)`."""
    word, _, inner = name.partition("(")
    return word, inner.removesuffix(")")


def column(evaluator: Any, arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """A result (variant,) among an evaluation's arrays."""
    word, inner = word_of(name)
    array = array_name(name)
    if array not in arrays:  # of several drives: one array, a column for each
        array = word
    found = np.asarray(arrays[array], float)
    if found.ndim == 1:
        return found
    (output,) = (one for one in evaluator.outputs if one.name == array)
    labels: Sequence[Any] = list(evaluator.coords[output.dims[1]])
    return found[:, labels.index(inner)]
