"""Who asks for a study's variants: Optuna's samplers, each trial with a seed of its own.

A sampler made anew for every trial, seeded by the study's seed and the trial's row, has no
memory but the told trials. So a study that was killed asks, when run again, for exactly what it
would have asked for; one sampler for a whole run would start its random numbers again from the
first and repeat itself. Random samplers need no memory: one of them draws a whole batch, seeded
by its first row.

The first trials (and all of `qmc`) are points of a scrambled Sobol sequence where a sampler
would draw them at random: TPE and Gaussian processes until ten trials are told, the others their
first generation.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial

from sweeps.spec import sobol_points

from . import sampler_kinds
from .feasibility import Verdict
from .spec import Choices, Integers, Range, StudySpec

Parameters = dict[str, float | int]

#: Trials TPE should know before it is asked, rounded up to whole batches.
STARTUP = 10


class Given(BaseSampler):
    """Gives parameters that are chosen already.

    `inner`, if there, is asked all the same, and its answer dropped: genetic samplers mark a
    trial as a member of a generation when they are asked, and breed from marked ones only.
    """

    def __init__(self, parameters: Mapping[str, Any], inner: BaseSampler | None = None):
        self._parameters, self._inner = parameters, inner

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, BaseDistribution]:
        inner = self._inner
        return inner.infer_relative_search_space(study, trial) if inner else {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
        if self._inner:
            self._inner.sample_relative(study, trial, search_space)
        return {}

    def sample_independent(
        self, study: Any, trial: Any, param_name: str, param_distribution: Any
    ) -> Any:
        return self._parameters[param_name]


def distributions(spec: StudySpec) -> dict[str, BaseDistribution]:
    """The study's variables in Optuna's terms."""
    found: dict[str, BaseDistribution] = {}
    for name, variable in spec.variables:
        match variable:
            case Range(low, high):
                found[name] = FloatDistribution(low, high)
            case Choices(values):
                found[name] = CategoricalDistribution(values)
            case Integers(low, high):
                found[name] = IntDistribution(low, high)
    return found


def finished_trial(
    spec: StudySpec, verdict: Verdict, row: int, constrained: bool = True, **attrs: int
) -> FrozenTrial:
    """A judged design as a trial that nobody asked for; `attrs` say where it is from."""
    violations = dict(zip(spec.limits, verdict.violations[row].tolist(), strict=True))
    return optuna.trial.create_trial(
        values=verdict.values[row].tolist(),
        params=spec.parameters(verdict.parameters[row]),
        distributions=distributions(spec),
        user_attrs=attrs,
        constraints=violations if constrained else None,
    )


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Optuna says nothing but warnings."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)


def drawn(spec: StudySpec, start: int, stop: int) -> list[Parameters] | None:
    """Parameters of a batch's rows, where nothing need be known for them; None where it must.

    Fewer rows of the same batch are the first ones of it.
    """
    if spec.sampler.kind == "qmc":
        return sobol_parameters(spec, start, stop)
    if spec.sampler.kind != "random":
        return None
    seed, options = row_seed(spec.sampler.seed, start), dict(spec.sampler.options)
    by = sampler_kinds.made("random", seed, options)
    assert isinstance(by, RandomSampler)
    pairs = list(distributions(spec).items())
    asked: Any = None  # it looks at no study and no trial
    return [
        {name: by.sample_independent(asked, asked, name, one) for name, one in pairs}
        for _ in range(start, stop)
    ]


def sampler(
    spec: StudySpec, row: int, known: int, source: Sequence[FrozenTrial] = ()
) -> BaseSampler:
    """Who asks for a row that is not `drawn`.

    Parameters
    ----------
    known
        Trials that were told before the first question: a warm start's, and what was screened.
    source
        Trials of another study that a sampler may begin from (CMA-ES).
    """
    kind, options = spec.sampler.kind, dict(spec.sampler.options)
    startup = 0 if known else -(-STARTUP // spec.batch) * spec.batch
    asked = row - spec.screened  # the first row that a sampler asks for is its first one
    if kind == "qmc" or (kind in ("tpe", "gp") and asked < startup):
        return Given(sobol_parameters(spec, row, row + 1)[0])
    if kind in ("tpe", "gp"):
        options = {"n_startup_trials": 1} | options
    if kind == "cmaes":
        options = {"popsize": max(5, spec.batch)} | options
        options |= {"source_trials": list(source)} if source else {}
    if kind in ("nsga2", "nsga3"):
        # A batch is a generation: none is bred before its parents are told.
        options = {"population_size": max(2, spec.batch)} | options
    seed = row_seed(spec.sampler.seed, row)
    found = sampler_kinds.made(kind, seed, options, spec.sampler.own)
    if asked < options.get("population_size", options.get("popsize", 0)):
        return Given(sobol_parameters(spec, row, row + 1)[0], found)
    return found


def row_seed(seed: int, row: int) -> int:
    """The seed of one trial."""
    return int(np.random.SeedSequence(seed, spawn_key=(row,)).generate_state(1)[0])


def sobol_parameters(spec: StudySpec, start: int, stop: int) -> list[Parameters]:
    """Points start … stop − 1 of the study's Sobol sequence."""
    return [
        {
            name: variable.at(float(share))
            for (name, variable), share in zip(spec.variables, point, strict=True)
        }
        for point in sobol_points(len(spec.variables), spec.sampler.seed, start, stop)
    ]
