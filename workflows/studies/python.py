"""A study as a value, from arguments: functions and classes stand in it without a file.

`basepar.study` takes a mapping with a file's keys.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from optuna.samplers import BaseSampler

from basepar_core.api import load
from basepar_core.errors import ExpressionError, FileError, Mistake
from basepar_core.files import warn_of_bare_angles
from basepar_core.mechanism import Mechanism
from sweeps.spec import (
    Formula,
    Function,
    Reduction,
    digest_of,
    formula,
    of_function,
    symbol_units,
    unsweepable,
)

from .quantity_names import angular, quantities
from .reader import constraint, objective
from .sampler_kinds import OWN, OwnSampler
from .spec import Choices, Integers, Range, Sampler, StudySpec, Variable

#: A pair of bounds, or as a file has it: {"choices": […]}, {"integer": [low, high]}.
Bounds = Variable | Sequence[float] | Mapping[str, Sequence[float]]


def study_of(
    mechanism: Mechanism | str | Path,
    variables: Mapping[str, Bounds],
    objectives: Mapping[str, str],
    *,
    trials: int,
    constraints: Iterable[str] = (),
    derive: Mapping[str, str] | None = None,
    own_metrics: Mapping[str, Function] | None = None,
    reduction: Reduction | None = None,
    sampler: str | Sampler | type[BaseSampler] = "tpe",
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    batch: int = 0,
    chunk: int = 0,
    warm_start: str = "",
    store: str = "study.zarr",
    storage: str = "",
    name: str = "study",
) -> StudySpec:
    """A study, every number in SI.

    Parameters
    ----------
    mechanism
        A mechanism, a file, or a name of the library.
    variables
        By symbol: (low, high); {"choices": […]}; {"integer": [low, high]} of the symbol's unit.
    objectives
        Quantities or expressions of them: minimize or maximize.
    trials
        How many variants in all.
    constraints
        Comparisons of quantities, such as `stroke(D) >= 40 deg`.
    derive
        Symbols that follow the variables, by formula.
    own_metrics
        Functions of a `ClosedCycle` by name; those registered with `metric` need not be named.
    reduction
        How reduced sizes and errors are found.
    sampler, seed, options
        A name of `sampler_kinds.KINDS` or `CLASSES`, or a class of your own; its seed; arguments
        of its constructor.
    batch, chunk
        Variants asked for at a time, and per chunk of the store; 0: what suits the sampler.
    warm_start
        Store of a sweep.
    store, storage, name
        Directory of the store; Optuna's storage, a file (default: beside the store) or URL; name
        of the study in it.

    Raises
    ------
    FileError
        With all mistakes, each with its path.
    """
    mechanism = mechanism if isinstance(mechanism, Mechanism) else load(mechanism)
    wrong: list[Mistake] = []
    own = [of_function(one, function) for one, function in (own_metrics or {}).items()]
    known = quantities(mechanism, own)
    found = tuple(
        (symbol, variable)
        for symbol, bounds in variables.items()
        if (variable := _variable(mechanism, symbol, bounds, wrong)) is not None
    )
    aims = _read(
        wrong,
        "objectives",
        objectives,
        lambda text: objective(text, objectives[text] != "maximize", known),
    )
    for text, way in objectives.items():
        if way not in ("minimize", "maximize"):
            message = f"{way!r} is no direction (minimize, maximize)"
            wrong.append(Mistake(f"objectives.{text}", message))
    lines = _read(wrong, "constraints", list(constraints), lambda text: constraint(text, known))
    formulas = _formulas(mechanism, derive or {}, wrong)
    if wrong:
        raise FileError("study", wrong)
    for text in (*(line.text for line in (*aims, *lines)), *(derive or {}).values()):
        warn_of_bare_angles("study", text, known, angular(mechanism, own))
    pairs = tuple((options or {}).items())
    if isinstance(sampler, str):
        sampler = Sampler(sampler, seed, pairs)
    elif not isinstance(sampler, Sampler):
        sampler = _own(sampler, seed, pairs)
    return StudySpec(
        mechanism,
        found,
        tuple(aims),
        tuple(lines),
        sampler,
        trials,
        batch,
        chunk,
        warm_start,
        store,
        storage or str(Path(store).with_suffix(".journal")),
        name,
        formulas,
        tuple(own),
        reduction or Reduction(),
    )


def _own(made: type[BaseSampler], seed: int, options: tuple[tuple[str, Any], ...]) -> Sampler:
    entry = f"{made.__module__}:{made.__qualname__}"
    return Sampler(OWN, seed, options, OwnSampler(entry, digest_of(made), made))


def _read(
    wrong: list[Mistake], path: str, texts: Iterable[str], parse: Callable[[str], Any]
) -> list[Any]:
    found = []
    for place, text in enumerate(texts):
        try:
            found.append(parse(text))
        except ExpressionError as error:
            here = f"{path}.{text}" if path == "objectives" else f"{path}[{place}]"
            wrong.append(Mistake(here, error.message))
    return found


def _variable(
    mechanism: Mechanism, name: str, bounds: Bounds, wrong: list[Mistake]
) -> Variable | None:
    if isinstance(bounds, Range | Choices | Integers):
        return bounds
    try:
        if not isinstance(bounds, Mapping):
            low, high = map(float, bounds)
            return Range(low, high)
        ((kind, values),) = bounds.items()
        if kind == "choices":
            return Choices(tuple(map(float, values)))
        if kind != "integer":
            raise ValueError(kind)
        if message := unsweepable(mechanism, name):
            wrong.append(Mistake(f"variables.{name}", message))
            return None
        low_, high_ = map(int, values)
        return Integers(low_, high_, symbol_units(mechanism)[name])
    except (TypeError, ValueError):
        message = (
            f"{bounds!r} is none of (low, high), {{'choices': …}}, {{'integer': (low, high)}}"
        )
        wrong.append(Mistake(f"variables.{name}", message))
        return None


def _formulas(
    mechanism: Mechanism, derive: Mapping[str, str], wrong: list[Mistake]
) -> tuple[Formula, ...]:
    found: list[Formula] = []
    for name, text in derive.items():
        if message := unsweepable(mechanism, name):
            wrong.append(Mistake(f"derive.{name}", message))
            continue
        later = [one for one in derive if one not in [formula_.name for formula_ in found]]
        try:
            found.append(formula(mechanism, name, text, later))
        except ExpressionError as error:
            wrong.append(Mistake(f"derive.{name}", error.message))
    return tuple(found)
