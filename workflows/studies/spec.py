"""What a design study is: a frozen value, the whole truth of a run.

A study is a sweep whose rows a sampler asks for, so its store is a sweep's store, preallocated
for all its trials, and its hash is that sweep's: variables, objectives, constraints, sampler and
batch are part of the plan `asked`. Numbers are SI.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any, Literal

import numpy as np

from basepar_core.errors import FileError, Mistake
from basepar_core.expressions import Expression, Unit
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import Target
from sweeps.spec import (
    Asked,
    Condition,
    Derived,
    Formula,
    OwnMetric,
    Plan,
    Reduction,
    SweepSpec,
    own_metrics,
    unsweepable,
)
from sweeps.store import Location, bucket_of, locate

from . import rounds, sampler_kinds
from .quantity_names import evaluation_of, results_in
from .sampler_kinds import OwnSampler

#: Name of the constraint that every study has.
CLOSING = "closing"
#: Variants per chunk at most, unless the file says otherwise.
LARGEST_CHUNK = 128
#: Pieces that a batch is cut into at least, where it is large enough: what workers share. The
#: first round of a screening, which the others outgrow, is one.
PIECES, SCREENED_PIECES = 4, 1


@dataclass(frozen=True, slots=True)
class Range:
    """Any value from `low` to `high`."""

    low: float
    high: float

    def describe(self) -> Any:
        return [self.low, self.high]

    @property
    def size(self) -> float:
        """How far its values are apart, SI."""
        return self.high - self.low

    def at(self, share: float) -> float:
        """The value at a share in [0, 1) of the way."""
        return min(self.low + (self.high - self.low) * share, self.high)

    def si(self, parameter: float) -> float:
        return parameter

    def parameter(self, si: float) -> float | None:
        """The sampler's parameter of a value in SI; None where it is none of these."""
        return si if self.low <= si <= self.high else None


@dataclass(frozen=True, slots=True)
class Choices:
    """One of several values."""

    values: tuple[float, ...]

    def describe(self) -> Any:
        return {"choices": list(self.values)}

    @property
    def size(self) -> float:
        return max(self.values) - min(self.values) or 1.0

    def at(self, share: float) -> float:
        return self.values[int(share * len(self.values))]

    def si(self, parameter: float) -> float:
        return parameter

    def parameter(self, si: float) -> float | None:
        return si if si in self.values else None


@dataclass(frozen=True, slots=True)
class Integers:
    """A whole number of the symbol's unit, `low` and `high` included."""

    low: int
    high: int
    unit: Unit

    def describe(self) -> Any:
        return {"integer": [self.low, self.high], "unit": self.unit.text}

    @property
    def size(self) -> float:
        return self.si(self.high) - self.si(self.low) or 1.0

    def at(self, share: float) -> int:
        return self.low + int(share * (self.high - self.low + 1))

    def si(self, parameter: float) -> float:
        return float(int(parameter) * self.unit.factor) * np.pi**self.unit.pi

    def parameter(self, si: float) -> int | None:
        near = round(si / self.si(1))
        return near if self.low <= near <= self.high and self.si(near) == si else None


Variable = Range | Choices | Integers


@dataclass(frozen=True, slots=True)
class Objective:
    """A quantity, or an expression of quantities, to be made small or large."""

    text: str
    expression: Expression
    minimize: bool = True
    unit: str = "1"

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        return "minimize" if self.minimize else "maximize"


@dataclass(frozen=True, slots=True)
class Sampler:
    """Who asks; every trial has a seed of its own, made of this one and the trial's row.

    `kind` is a name of `sampler_kinds.KINDS` or `CLASSES`, or `OWN`: then `own` is the user's.
    `options` go to its constructor. `screen` rows are screened before it asks for the rest.
    `why` is the reason, where the study file left the choice to the program.
    """

    kind: str = "tpe"
    seed: int = 0
    options: tuple[tuple[str, Any], ...] = ()
    own: OwnSampler | None = None
    screen: int = 0
    why: str = field(default="", compare=False)

    def describe(self) -> dict[str, Any]:
        which = {"own": self.own.describe()} if self.own else {"kind": self.kind}
        plain: dict[str, Any] = which | {"seed": self.seed}
        plain |= {"screen": self.screen} if self.screen else {}
        if not self.options:
            return plain
        return plain | {"options": {name: _plain(value) for name, value in self.options}}


@dataclass(frozen=True)
class StudySpec:
    """A design study.

    Attributes
    ----------
    mechanism
        With its `source` text, which is what the store keeps.
    variables
        Symbols and where their values may lie.
    objectives, constraints
        Over the quantities of `quantity_names.py`; a variant must meet every constraint.
    sampler, trials, batch
        Who asks, how many variants in all, and how many at a time (0: what suits the sampler).
    chunk
        Variants per chunk of the store, a divisor of the batch: what one worker evaluates at a
        time. 0: a quarter of the batch, or its largest divisor up to that and 128.
    warm_start
        Store of a sweep, "" for none.
    store, storage, name
        Directory of the Zarr store; Optuna's storage, a journal's file or a URL; the study's name
        in it.
    derived
        Symbols that follow the variables.
    own
        The user's metrics that objectives and constraints speak of.
    reduction
        How the reduced sizes and errors are found.
    targets
        Curves that objectives and constraints speak of.
    """

    mechanism: Mechanism
    variables: tuple[tuple[str, Variable], ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Condition, ...] = ()
    sampler: Sampler = field(default_factory=Sampler)
    trials: int = 100
    batch: int = 0
    chunk: int = 0
    warm_start: str = ""
    store: str = ""
    storage: str = ""
    name: str = "study"
    derived: tuple[Formula, ...] = ()
    own: tuple[OwnMetric, ...] = ()
    reduction: Reduction = field(default_factory=Reduction)
    targets: tuple[Target, ...] = ()

    def __post_init__(self) -> None:
        if not self.batch:
            batch = rounds.usual_batch(self.sampler.kind, self.sampler.screen > 0)
            object.__setattr__(self, "batch", batch)
        found = [
            Mistake(f"variables.{name}", message)
            for name, _ in self.variables
            if (message := unsweepable(self.mechanism, name))
        ]
        for name, variable in self.variables:
            if message := variable_mistake(variable):
                found.append(Mistake(f"variables.{name}", message))
        if not self.variables:
            found.append(Mistake("variables", "no variable; at least one is needed."))
        if not self.objectives:
            found.append(Mistake("objectives", "no objective; at least one is needed."))
        counts = (len(self.objectives), len(self.constraints))
        found += number_mistakes(self.trials, self.batch, self.chunk)
        found += sampler_kinds.mistakes(self.sampler.kind, *counts)
        if (self.sampler.kind == sampler_kinds.OWN) != (self.sampler.own is not None):
            message = "a sampler of your own is named `own: file.py:Class`, without a kind."
            found.append(Mistake("sampler", message))
        if found:
            raise FileError("study", found)

    def __len__(self) -> int:
        return self.trials

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.variables)

    @cached_property
    def signs(self) -> np.ndarray:
        """(objective,): 1 where less is better, −1 where more is."""
        return np.array([1.0 if line.minimize else -1.0 for line in self.objectives])

    @property
    def limits(self) -> tuple[str, ...]:
        """Names of what a verdict's violations are of: *closing*, then the constraints."""
        return (CLOSING, *(line.text for line in self.constraints))

    def parameters(self, values: Iterable[float]) -> dict[str, float | int | None]:
        """The sampler's parameters of a design, SI; None where it is none of a variable's."""
        pairs = zip(self.variables, values, strict=True)
        return {name: variable.parameter(float(value)) for (name, variable), value in pairs}

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Results that objectives and constraints speak of."""
        spoken = [line.expression for line in self.objectives]
        spoken += [line.expression for line in self.constraints]
        return results_in(self.mechanism, spoken, self.own, self.targets)

    @property
    def storing_chunk(self) -> int:
        """Variants per chunk of the store."""
        if self.chunk:
            return self.chunk
        pieces = SCREENED_PIECES if self.screened else PIECES
        sizes = range(max(1, min(self.batch // pieces, LARGEST_CHUNK)), 0, -1)
        return next(size for size in sizes if self.batch % size == 0)

    @property
    def screened(self) -> int:
        """How many rows are screened, the first ones: all, none, or whole batches."""
        if self.sampler.kind == sampler_kinds.SCREEN:
            return self.trials
        return min(rounds.whole(self.sampler.screen, self.batch), self.trials)

    def rounds(self) -> Iterator[rounds.Round]:
        """Rows that are evaluated together, all of them."""
        several = len(self.objectives) > 1
        yield from rounds.of(self.batch, self.screened, self.trials, several)

    @cached_property
    def plan(self) -> Asked:
        """All trials as a plan; none is asked for yet."""
        by = {
            "objectives": {line.text: line.direction for line in self.objectives},
            "constraints": [line.text for line in self.constraints],
            "sampler": self.sampler.describe(),
            "batch": self.batch,
            "warm_start": self.warm_start,
        }
        variables = {name: variable.describe() for name, variable in self.variables}
        return Asked(variables, self.trials, by)

    @cached_property
    def sweep(self) -> SweepSpec:
        """The study as a sweep: what its store is made from."""
        return SweepSpec(
            self.mechanism,
            self.with_derived(self.plan),
            evaluation=evaluation_of(self.results, self.own, self.reduction, self.targets),
            chunk=self.storing_chunk,
            store=self.store,
        )

    def with_derived(self, plan: Asked) -> Plan:
        """A plan of the variables, with the symbols that follow them."""
        return Derived(plan, self.derived, self.mechanism) if self.derived else plan

    @property
    def swept(self) -> tuple[str, ...]:
        """Symbols that the store has: the variables, and those that follow."""
        return self.sweep.plan.names

    @property
    def hash(self) -> str:
        """sha256 of everything that fixes the store's arrays."""
        return self.sweep.hash

    @property
    def path(self) -> Location:
        """The store, absolute: workers need not stand in the same directory."""
        return locate(self.store).absolute()

    @property
    def journal_follows(self) -> bool:
        """Whether another store has another journal: databases stay."""
        return "://" not in self.storage or bucket_of(self.storage) is not None

    def at(self, store: str) -> "StudySpec":
        """The same study elsewhere: the store there, and the journal, if a file, beside it."""
        place = locate(store)
        if not self.journal_follows:
            return replace(self, store=str(place))
        return replace(self, store=str(place), storage=str(place.with_suffix(".journal")))

    def fetched(self, trust_metrics: bool = False) -> "StudySpec":
        """The same study with the functions and the sampler that a store only describes.

        Raises
        ------
        OwnCodeError
            A file is not what it was, or not said to be trusted (`sweeps.spec.own_code.fetched`).
        """
        asks = self.sampler
        if asks.own is not None:
            asks = replace(asks, own=asks.own.fetched(trust_metrics))
        return replace(self, own=own_metrics.fetched(self.own, trust_metrics), sampler=asks)

    def of(self, trials: int) -> "StudySpec":
        """The same study with another number of trials."""
        return replace(self, trials=trials)


def variable_mistake(variable: Variable) -> str:
    """What is wrong with a variable; "" if nothing."""
    match variable:
        case Range(low, high):
            good = isfinite(low) and isfinite(high) and low < high
            return "" if good else "the low end is not below the high one"
        case Choices(values):
            if not values:
                return "no choice; at least one is needed"
            return "" if len(set(values)) == len(values) else "a value is given twice"
        case Integers(low, high):
            return "" if low <= high else "the low end is above the high one"


def number_mistakes(trials: int, batch: int, chunk: int) -> list[Mistake]:
    """What is wrong with the numbers of trials."""
    found = [
        Mistake(path, f"{number}; at least 1 is needed.")
        for path, number in (("trials", trials), ("batch", batch))
        if number < 1
    ]
    if not found and chunk and (chunk < 0 or batch % chunk):
        message = f"{chunk} does not divide the batch of {batch}: every batch is whole chunks."
        found.append(Mistake("store.chunk", message))
    return found


def _plain(value: Any) -> Any:
    """An option as plain data; what is none by its type and text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return value if is_plain else f"{type(value).__qualname__} {value}"
