"""Descents on a study's slopes from one design, within bounds and constraints.

By SLSQP; where the only objective is a root mean square (`path_error`), or its square, by Gauss
and Newton on its residuals, which takes half of the evaluations (decision 186).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basepar_core.expressions import Call, Expression
from basepar_core.metrics import differentiated

from . import side_by_side
from .gauss_newton import Place, minimised
from .gradients import Landscape, Point
from .spec import Range

#: A constraint is kept with this much to spare, relative to its sides: the evaluation that
#: confirms a design rounds otherwise than the descent.
SPARE = 1e-9
#: Where loops do not close there is no objective: the line search is sent back by this.
BEYOND = 1e3
ITERATIONS = 60
#: Relative change of the objective at which a descent stops.
PRECISION = 1e-10


@dataclass(frozen=True, slots=True)
class Descent:
    """One descent: where it ended, and what it took.

    `design` is by name, SI. `evaluations` counts designs; `message` is SciPy's.
    """

    design: Mapping[str, float]
    evaluations: int
    message: str


@dataclass(frozen=True, slots=True)
class Aim:
    """What goes down in a descent; objectives count the less the better.

    Attributes
    ----------
    weights
        Of the objectives, each over its size.
    ceilings
        What they must not exceed; ∞ for none.
    sizes
        A large change of each.
    """

    weights: tuple[float, ...]
    ceilings: tuple[float, ...]
    sizes: tuple[float, ...]


class _Enough(Exception):
    """Raised through SciPy: as many evaluations as were allowed."""


def descend(
    landscape: Landscape,
    design: Mapping[str, float],
    aim: Aim | None = None,
    most: int | None = None,
) -> Descent:
    """Follow the slopes from one design.

    Parameters
    ----------
    aim
        None: all objectives, each over its size at the start, and none of several gets worse.
    most
        Evaluations after which the descent ends; None: where SciPy ends it.
    """
    return _Descent(landscape, dict(design), landscape.at, aim, most).run()


def descend_together(
    landscape: Landscape, begins: Sequence[tuple[Mapping[str, float], Aim]], most: int
) -> list[Descent]:
    """Descents side by side whose slopes are taken together (`Landscape.near`), in a fraction of
    the time; one that fails ends where it began."""

    def search(design: Mapping[str, float], aim: Aim) -> Callable[..., Descent]:
        def run(at: Callable[[Mapping[str, float]], Point | None]) -> Descent:
            try:
                return _Descent(landscape, dict(design), at, aim, most).run()
            except Exception as cause:  # of LAPACK, say: data, as of a variant
                return Descent(design, 0, f"{type(cause).__name__}: {cause}")

        return run

    return side_by_side.run([search(*one) for one in begins], landscape.near)


@dataclass
class _Descent:
    """A descent in shares of the variables' ranges; the best design seen is what counts."""

    landscape: Landscape
    start: dict[str, float]
    at: Callable[[Mapping[str, float]], Point | None]
    aim: Aim | None = None
    most: int | None = None
    evaluations: int = 0
    best: tuple[float, dict[str, float]] | None = None
    _last: tuple[bytes, Any] = (b"", None)
    _squares: tuple[np.ndarray, np.ndarray] | None = None
    _expressions: list[Expression] = field(default_factory=list)

    def __post_init__(self) -> None:
        spec = self.landscape.spec
        ranges = [v for n, v in spec.variables if n in self.landscape.symbols]
        self.low = np.array([v.low for v in ranges if isinstance(v, Range)])
        self.high = np.array([v.high for v in ranges if isinstance(v, Range)])
        self.width = np.array(self.landscape.sizes)
        self._expressions = [line.expression for line in spec.objectives]
        for line in spec.constraints:
            assert isinstance(line.expression, Call)
            left, right = line.expression.arguments
            up = line.expression.operator in ("<", "<=")
            self._expressions += [left, right] if up else [right, left]

    def run(self) -> Descent:
        start = np.array([self.start[name] for name in self.landscape.symbols])
        begin = self._sides(start)
        if begin is None:
            return Descent(self.start, self.evaluations, "the start does not close")
        count = len(self.landscape.spec.objectives)
        first = begin[0][:count] * self.landscape.spec.signs
        sizes = np.maximum(np.abs(first), 1e-12)
        aim = self.aim or Aim(
            (1.0,) * count, tuple(first) if count > 1 else (np.inf,), tuple(sizes)
        )
        self.weights, self.ceilings, self.scale = map(
            np.array, (aim.weights, aim.ceilings, aim.sizes)
        )
        self.limited = np.isfinite(self.ceilings)
        size = np.abs(begin[0][count:]).reshape(-1, 2).sum(axis=1)
        self.sides = np.where(size > 0, size, 1.0)
        begun = (start - self.low) / self.width
        try:
            squared = bool(self.landscape.squared)
            message = minimised(self._place, begun) if squared else self._minimised(begun)
        except _Enough:
            message = f"ended after {self.evaluations} evaluations"
        _, reached = self.best or (0.0, self.start)
        return Descent(reached, self.evaluations, message)

    def _minimised(self, shares: np.ndarray) -> str:
        from scipy.optimize import minimize  # a fifth of a driver's start, and for workers only

        found = minimize(
            lambda u: self._at(u)[0],
            shares,
            jac=lambda u: self._at(u)[1],
            method="SLSQP",
            bounds=[(0.0, 1.0)] * len(shares),
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda u: self._at(u)[2],
                    "jac": lambda u: self._at(u)[3],
                }
            ]
            if len(self.sides) or self.limited.any()
            else [],
            options={"maxiter": max(ITERATIONS, self.most or 0), "ftol": PRECISION},
        )
        return str(found.message)

    def _place(self, u: np.ndarray) -> Place | None:
        """Residuals and limits at a design by shares; None where loops do not close."""
        _, _, spare, spares = self._at(u)
        if self._squares is None:
            return None
        residuals, slopes = self._squares
        return Place(residuals, slopes * self.width, spare, spares)

    def _sides(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Objectives and constraints' sides, and their slopes (line, symbol), per SI."""
        if self.evaluations == self.most:
            raise _Enough
        self.evaluations += 1
        design = self.start | dict(zip(self.landscape.symbols, map(float, x), strict=True))
        point = self.at(design)
        self._squares = None
        if point is None:
            return None
        count = len(self.landscape.symbols)
        values, slopes = differentiated(self._expressions, point.values, point.slopes, count)
        good = np.isfinite(values).all() and np.isfinite(slopes).all()
        self._squares = point.squares if good else None
        return (values, slopes) if good else None

    def _at(self, u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Merit and its slope, what constraints have to spare and its slopes; by shares."""
        key = u.tobytes()
        if self._last[0] != key:
            self._last = (key, self._computed(u))
        return self._last[1]

    def _computed(self, u: np.ndarray) -> Any:
        u = np.where(u < SPARE, 0.0, np.where(u > 1 - SPARE, 1.0, u))  # a bound is a bound
        # Of 0.03 and 0.3, low + (high - low) is above high: one that is no variable's value.
        x = np.where(u == 1, self.high, np.clip(self.low + self.width * u, self.low, self.high))
        found = self._sides(x)
        if found is None:  # slopes of the last design that closed lead back
            _, slope, spare, spares = self._last[1]
            return BEYOND, slope, np.full_like(spare, -1.0), spares
        values, slopes = found[0], found[1] * self.width
        count = len(self.landscape.spec.objectives)
        sign = self.landscape.spec.signs / self.scale
        goals, moved = values[:count] * sign, slopes[:count] * sign[:, None]
        pairs, pair_slopes = values[count:].reshape(-1, 2), slopes[count:].reshape(-1, 2, len(u))
        spare = (pairs[:, 1] - pairs[:, 0]) / self.sides - SPARE
        spares = (pair_slopes[:, 1] - pair_slopes[:, 0]) / self.sides[:, None]
        ceilings = (self.ceilings / self.scale - goals)[self.limited]
        spare = np.concatenate([spare, ceilings])
        spares = np.concatenate([spares, -moved[self.limited]])
        merit = float(self.weights @ goals)
        self._keep(merit, spare, x)
        return merit, self.weights @ moved, spare, spares

    def _keep(self, merit: float, spare: np.ndarray, x: np.ndarray) -> None:
        if (spare >= -SPARE / 2).all() and (self.best is None or merit < self.best[0]):
            design = self.start | dict(zip(self.landscape.symbols, map(float, x), strict=True))
            self.best = (merit, design)
