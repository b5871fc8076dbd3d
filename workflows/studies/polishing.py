"""Local polish of a study's best designs: SLSQP on exact slopes, within bounds and constraints.

A sampler finds the valley; its best point is still some percent up the slope. Each descent
starts from one of the study's best variants, moves the continuous variables (the others stay),
and keeps every constraint. Of several objectives the scaled sum goes down while none of them
gets worse, so that a point of the front is polished to one that dominates it.

What comes out is evaluated like every other variant: by the study's own evaluation, into a store
of the same kind beside the study's (`-polished`), and told to its journal as further trials,
marked by the attribute `polished`, the row where the descent began. A descent never claims what
that evaluation does not confirm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from scipy.optimize import minimize

from basepar_core.errors import UsageError
from basepar_core.expressions import Call, Expression
from basepar_core.metrics import differentiated
from sweeps.run import complete, sweep
from sweeps.spec import Asked, SweepSpec, asked_plan
from sweeps.store import Store

from .ask_tell_log import opened
from .companion_stores import polished_path, room
from .feasibility import Verdict, finished, judge, starts
from .gradients import Landscape
from .samplers import finished_trial
from .spec import Range, StudySpec

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


@dataclass(frozen=True)
class Polished:
    """Designs before and after.

    Attributes
    ----------
    path
        Store of the polished designs.
    rows
        (point,) variants of the study where descents began.
    before, after
        The study's judgement of these variants, and of the polished designs.
    kinds
        How the slope of each result is had.
    told
        Whether the study's journal has them.
    aside
        Where designs of an earlier state of the study were moved to.
    """

    path: Path
    rows: np.ndarray
    before: Verdict
    after: Verdict
    kinds: Mapping[str, str]
    told: bool
    descents: tuple[Descent, ...] = ()
    aside: Path | None = None


def polish(spec: StudySpec, client: Client, points: int = 3, path: Path | None = None) -> Polished:
    """Polish a finished study's best designs; what was polished already is read again.

    Parameters
    ----------
    spec
        The study, run to its end.
    client
        Every descent is a task of its own.
    points
        How many of the best designs.
    path
        Where to; None: beside the study's store, where earlier designs are set aside.

    Raises
    ------
    UsageError
        The study is not finished, has no feasible design, or no continuous variable.
    StoreError
        What lies there is of another study.
    """
    before = finished(spec)
    rows = starts(spec, before, points)
    landscape = Landscape.of(spec)
    if not landscape.symbols:
        raise UsageError(
            "All variables of this study are discrete: there is no slope to follow.", ["variables"]
        )
    job = _job(spec, rows, path)
    aside = room(spec, job, "--to")
    descents: tuple[Descent, ...] = ()
    if complete(job) is None:
        shared = client.scatter(landscape, broadcast=True, hash=False)
        designs = [dict(zip(spec.names, before.parameters[row], strict=True)) for row in rows]
        tasks = [client.submit(descend, shared, design, pure=False) for design in designs]
        descents = tuple(client.gather(tasks))
        values = np.array([[one.design[name] for name in spec.names] for one in descents])
        plan = asked_plan(job.plan)
        assert plan is not None
        known = replace(job, plan=spec.with_derived(plan.knowing(0, values)))
        sweep(known, client, evaluator=landscape.evaluator)
    after = judge(spec, Store.open(job.store), 0, len(rows))
    told = tell(spec, rows, after)
    return Polished(Path(job.store), rows, before, after, landscape.kinds, told, descents, aside)


def _job(spec: StudySpec, rows: np.ndarray, to: Path | None) -> SweepSpec:
    by = {"polished": {"of": spec.hash, "rows": rows.tolist()}}
    plan = Asked(spec.plan.variables, len(rows), by)
    path = str((to or polished_path(spec.path)).absolute())
    return replace(spec.sweep, plan=spec.with_derived(plan), chunk=len(rows), store=path)


def descend(landscape: Landscape, design: Mapping[str, float]) -> Descent:
    """Follow the slopes from one design."""
    return _Descent(landscape, dict(design)).run()


@dataclass
class _Descent:
    """A descent in shares of the variables' ranges; the best design seen is what counts."""

    landscape: Landscape
    start: dict[str, float]
    evaluations: int = 0
    best: tuple[float, dict[str, float]] | None = None
    _last: tuple[bytes, Any] = (b"", None)
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
        self.first = begin[0][:count] * self.landscape.spec.signs
        self.scale = np.maximum(np.abs(self.first), 1e-12)
        size = np.abs(begin[0][count:]).reshape(-1, 2).sum(axis=1)
        self.sides = np.where(size > 0, size, 1.0)
        shares = (start - self.low) / self.width
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
            if len(self.sides) or count > 1
            else [],
            options={"maxiter": ITERATIONS, "ftol": PRECISION},
        )
        _, design = self.best or (0.0, self.start)
        return Descent(design, self.evaluations, str(found.message))

    def _sides(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Objectives and constraints' sides, and their slopes (line, symbol), per SI."""
        self.evaluations += 1
        design = self.start | dict(zip(self.landscape.symbols, map(float, x), strict=True))
        point = self.landscape.at(design)
        if point is None:
            return None
        count = len(self.landscape.symbols)
        values, slopes = differentiated(self._expressions, point.values, point.slopes, count)
        good = np.isfinite(values).all() and np.isfinite(slopes).all()
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
        if count > 1:  # no objective gets worse
            spare = np.concatenate([spare, self.first / self.scale - goals])
            spares = np.concatenate([spares, -moved])
        merit = float(goals.sum())
        self._keep(merit, spare, x)
        return merit, moved.sum(axis=0), spare, spares

    def _keep(self, merit: float, spare: np.ndarray, x: np.ndarray) -> None:
        if (spare >= -SPARE / 2).all() and (self.best is None or merit < self.best[0]):
            design = self.start | dict(zip(self.landscape.symbols, map(float, x), strict=True))
            self.best = (merit, design)


def tell(spec: StudySpec, rows: Sequence[int] | np.ndarray, after: Verdict) -> bool:
    """Add polished designs to the study's journal, once; whether it has them now.

    False where there is no journal, or it lacks trials that the store has: then the study is to
    be run again first.
    """
    if not Path(spec.storage).exists():
        return False
    with opened(spec) as journal:
        if not journal.is_told(0, spec.trials):
            return False
        every = journal.study.get_trials(deepcopy=False)
        there = {one.user_attrs.get("polished") for one in every}
        within = replace(after, parameters=_within(spec, after.parameters))
        for place, row in enumerate(map(int, rows)):
            if row in there or not after.settled[place]:
                continue
            warns = spec.sampler.kind == "cmaes"  # of constraints
            trial = finished_trial(spec, within, place, not warns, polished=row)
            journal.study.add_trial(trial)
    return True


def _within(spec: StudySpec, parameters: np.ndarray) -> np.ndarray:
    """Designs within the bounds: in stores made earlier one may be a rounding off."""
    found = parameters.copy()
    for k, (_, variable) in enumerate(spec.variables):
        if isinstance(variable, Range):
            found[:, k] = np.clip(found[:, k], variable.low, variable.high)
    return found
