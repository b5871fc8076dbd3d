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
from dataclasses import dataclass, replace

import numpy as np
from distributed import Client

from basepar_core.errors import UsageError
from sweeps.run import complete, sweep
from sweeps.spec import Asked, SweepSpec, asked_plan
from sweeps.store import Location, Store, locate

from .ask_tell_log import opened
from .companion_stores import polished_path, room
from .descents import Descent, descend
from .feasibility import Verdict, finished, judge, starts
from .gradients import Landscape
from .samplers import finished_trial
from .spec import Range, StudySpec
from .storages import is_there


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

    path: Location
    rows: np.ndarray
    before: Verdict
    after: Verdict
    kinds: Mapping[str, str]
    told: bool
    descents: tuple[Descent, ...] = ()
    aside: Location | None = None


def polish(
    spec: StudySpec, client: Client, points: int = 3, path: Location | None = None
) -> Polished:
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
    return Polished(locate(job.store), rows, before, after, landscape.kinds, told, descents, aside)


def _job(spec: StudySpec, rows: np.ndarray, to: Location | None) -> SweepSpec:
    by = {"polished": {"of": spec.hash, "rows": rows.tolist()}}
    plan = Asked(spec.plan.variables, len(rows), by)
    path = str((to or polished_path(spec.path)).absolute())
    return replace(spec.sweep, plan=spec.with_derived(plan), chunk=len(rows), store=path)


def tell(spec: StudySpec, rows: Sequence[int] | np.ndarray, after: Verdict) -> bool:
    """Add polished designs to the study's journal, once; whether it has them now.

    False where there is no journal, or it lacks trials that the store has: then the study is to
    be run again first.
    """
    if not is_there(spec.storage):
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
