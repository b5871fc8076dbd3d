"""What a sweep is: a frozen value, the whole truth of a run.

The store keeps it beside the results, so a store runs again. Its hash covers everything that
fixes the arrays (not where they are stored, nor how long a variant may take): the same hash in
another store means the same arrays. `reader.py` makes one from YAML; Python may make one
directly, every number in SI.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from basepar_core.dynamics import select
from basepar_core.errors import FileError, Mistake, UsageError
from basepar_core.expressions import did_you_mean, parse_unit
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import (
    METRICS,
    Target,
    is_torque,
    needs_inertias,
    words,
)
from basepar_core.reduction import CRITERIA, METHODS
from sweeps.store import Output, locate

from .ask_tell_plan import is_asked
from .differences import as_in_study, differences
from .filters import Condition, Filter, angles, dimensions
from .metric_mistakes import metric_mistake, unknown
from .nominal_conditions import unmet_at_nominal
from .own_metrics import OwnMetric, fetched, name_mistake, named
from .plan_products import described, document, restored
from .plans import Plan
from .sampling import FROM_PILOT
from .stored_mechanism import plain_mechanism, samples
from .warnings import impossible_bodies, notes

RANKS = ("auto", "numeric", "precise", "none")
POOLINGS = ("joint", "pooled")
#: What a reduction computes beyond the path: each criterion's model as generalised base
#: parameters, and the path's models held against torques on a second trajectory.
REDUCTION_ARRAYS = ("generalised", "validation")
#: Version of the arrays: raised when a program would write others for the same file (then an
#: older store is another sweep's, not a damaged one). It counts in the hash.
SCHEMA = 5


@dataclass(frozen=True, slots=True)
class Reduction:
    """Parameters dropped one by one; where each criterion would stop."""

    criteria: tuple[str, ...] = CRITERIA[:1]
    tolerance: float = 0.01  # of the relative torque error
    effective_samples: int | None = None  # None: samples × coordinates of the cycle
    method: str = "backward"  # of METHODS
    noise: str = POOLINGS[0]  # of the stated σ: each coordinate its own, or one variance for all
    arrays: tuple[str, ...] = ()  # of REDUCTION_ARRAYS, beyond the path and where it stops


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is computed of every variant.

    `metrics` are names: of `basepar_core.metrics.METRICS`, or registered ones of
    the user's; `own` are those of the user's that come with their function. `beta`: numbers of
    its distinct entries too. `columns` (`with` in files): words of `force_columns.select`; these
    join the torques of the cycle and their reduction, while rank and condition stay those of the
    inertial parameters. `targets` are curves that `path_error(P,name)` speaks of.
    """

    rank: str = "auto"
    reduction: Reduction | None = None
    metrics: tuple[str, ...] = ()
    own: tuple[OwnMetric, ...] = ()
    beta: bool = False
    columns: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()

    @property
    def built_in(self) -> tuple[str, ...]:
        """Metrics that the program knows."""
        own = {one.name for one in self.users}
        return tuple(name for name in self.metrics if name not in own)

    @property
    def users(self) -> tuple[OwnMetric, ...]:
        """The user's metrics, registered ones among them."""
        given = {one.name for one in self.own}
        return (*self.own, *(one for one in named(self.metrics) if one.name not in given))

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        own = {one.name: one.describe() for one in self.users}
        further: dict[str, Any] = {"own": own} if own else {}
        further |= {"beta": True} if self.beta else {}
        further |= {"with": list(self.columns)} if self.columns else {}
        if self.targets:
            further["targets"] = {one.name: one.describe() for one in self.targets}
        return {
            "rank": self.rank,
            "reduction": _plain_reduction(self.reduction),
            "metrics": list(self.built_in),
        } | further


@dataclass(frozen=True)
class SweepSpec:
    """A sweep: a mechanism, variants of its geometry, what to compute, where it goes.

    Attributes
    ----------
    mechanism
        With its `source` text, which is what the store keeps.
    plan
        Which variants there are.
    where
        Conditions a variant must meet; rows that fail are kept, with the status *filtered*.
    evaluation
        What is computed.
    chunk
        Variants per chunk of the store; part of the hash. `FROM_PILOT`: whoever makes the store
        measures first (`chunk_size.py`), and whoever goes on takes the store's.
    store
        Directory of the Zarr store.
    variant_seconds
        Longest time for one variant.
    """

    mechanism: Mechanism
    plan: Plan
    where: tuple[Condition, ...] = ()
    evaluation: Evaluation = field(default_factory=Evaluation)
    chunk: int = 1024
    store: str = ""
    variant_seconds: float = 60.0

    def __post_init__(self) -> None:
        found = [
            *plan_mistakes(self.mechanism, self.plan),
            *evaluation_mistakes(self.evaluation, self.mechanism),
            *number_mistakes(self.chunk, self.variant_seconds),
        ]
        if found:
            raise FileError("sweep", found)

    def __len__(self) -> int:
        return len(self.plan)

    @cached_property
    def filter(self) -> Filter:
        """Which rows are evaluated."""
        return Filter.of(self.mechanism, self.where)

    @property
    def title(self) -> str:
        """What a store says that it is."""
        return f"{'study' if is_asked(self.plan) else 'sweep'} of {self.mechanism.name}"

    @property
    def swept(self) -> tuple[Output, ...]:
        """The swept symbols as arrays, SI."""
        measures, in_radians = dimensions(self.mechanism), angles(self.mechanism)

        def unit(name: str) -> str:
            text = "rad" if name in in_radians else str(measures[name])
            return "1" if text == "no unit" else text

        return tuple(Output(name, unit=unit(name), long_name=name) for name in self.plan.names)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What somebody should know of the sweep before reading its results."""
        impossible = self.impossible_bodies
        if is_asked(self.plan):  # of rows nobody knows yet
            return impossible
        asked = self.evaluation
        nothing = asked.rank == "none" and not (asked.metrics or asked.own or asked.reduction)
        said = ["nothing is evaluated: rank is none, and no metrics or reduction are asked for"]
        unmet = unmet_at_nominal(self.mechanism, self.plan, self.where)
        of_rows = notes(self.mechanism, self.plan, self.filter)
        return (*said * nothing, *impossible, *unmet, *of_rows)

    @cached_property
    def impossible_bodies(self) -> tuple[str, ...]:
        """Which bodies of the file have impossible inertias, if results depend on inertias."""
        asked = self.evaluation
        named = any(map(needs_inertias, asked.metrics))
        depends = named or asked.users or asked.reduction is not None
        return impossible_bodies(self.mechanism, self.plan) if depends else ()

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Everything that fixes the arrays, as plain data."""
        return {
            "schema": SCHEMA,
            "mechanism": plain_mechanism(self.mechanism),
            "space": {**self.plan.describe(), "where": [line.text for line in self.where]},
            "evaluate": self.evaluation.plain(),
            "store": {"chunk": self.chunk},
        }

    @cached_property
    def hash(self) -> str:
        """sha256 of the canonical JSON."""
        return hashlib.sha256(_json(self.canonical).encode()).hexdigest()

    def document(self) -> str:
        """JSON from which `from_document` makes this specification again."""
        plain = dict(self.canonical) | {"source": self.mechanism.source, "rows": len(self)}
        if recorded := samples(self.mechanism):
            plain["samples"] = recorded
        if targets := self.evaluation.targets:
            plain["targets"] = {one.name: one.document() for one in targets}
        plain["space"] = plain["space"] | document(self.plan)
        plain["store"] = plain["store"] | {"path": self.store}
        plain["limits"] = {"variant_seconds": self.variant_seconds}
        return _json(plain)

    def difference(self, other: Mapping[str, Any]) -> list[str]:
        """What sets this specification apart from another's `canonical` (or document).

        Returns
        -------
        Lines like `space.seed: 7 here, 8 there`, of a study with the keys of its file; empty when
        the arrays would be the same.
        """
        theirs = {key: value for key, value in other.items() if key in self.canonical}
        theirs["store"] = {"chunk": theirs.get("store", {}).get("chunk")}  # wherever it is
        theirs["space"] = described(theirs.get("space", {}))
        own = {one.name: parse_unit(one.unit) for one in self.mechanism.geometry if one.unit}
        units = {name: unit for name, unit in own.items() if unit.size != 1}
        lines = differences(self.canonical, theirs, units=units)
        return as_in_study(lines) if is_asked(self.plan) else list(lines)

    def chunked(self, chunk: int) -> "SweepSpec":
        """The same sweep in other chunks."""
        return replace(self, chunk=chunk)

    def recalled(self, space: Mapping[str, Any]) -> "SweepSpec":
        """The same sweep with what a store's document of its space tells beyond it."""
        plan = restored(self.plan, space)
        return self if plan is self.plan else replace(self, plan=plan)

    def fetched(self, trust_metrics: bool = False) -> "SweepSpec":
        """The same sweep with the functions of metrics that a store only describes.

        Raises
        ------
        OwnCodeError
            A file is not what it was, or not said to be trusted (`own_code.fetched`).
        """
        own = fetched(self.evaluation.own, trust_metrics)
        return replace(self, evaluation=replace(self.evaluation, own=own))

    def at(self, store: str) -> "SweepSpec":
        """The same sweep, stored elsewhere; UsageError where no store can be."""
        return replace(self, store=str(store) and str(locate(store)))


def plan_mistakes(mechanism: Mechanism, plan: Plan) -> list[Mistake]:
    """What is wrong with sweeping these symbols."""
    found = [
        Mistake(f"space.variables.{name}", message)
        for name in plan.names
        if (message := unsweepable(mechanism, name))
    ]
    try:
        none = len(plan) < 1
    except OverflowError:  # of Python's `len`
        message = "more than 2^63 − 1 variants; take fewer values, or candidates of a random plan."
        return [*found, Mistake("space", message)]
    if none:
        found.append(Mistake("space", "there is no variant; at least one is needed."))
    return found


def unsweepable(mechanism: Mechanism, name: str) -> str:
    """Why a symbol cannot be swept; "" if it can."""
    geometry = [symbol.name for symbol in mechanism.geometry]
    if name in mechanism.roots:
        return f"{name!r} is fixed by a relation and follows the others; sweep those."
    if name in {symbol.name for symbol in mechanism.constants}:
        return (
            f"{name!r} is a constant, and constants are never swept; move its line from "
            f"`constants` of the mechanism's file to `geometry`."
        )
    if name in geometry:
        return ""
    hint = did_you_mean(name, geometry)
    body, _, key = name.partition(".")
    if body in mechanism.body_index and key:
        return (
            f"only symbols of `geometry` vary, and {name!r} is none: declare one there, like "
            f"`{body}_{key}: {{value: …, unit: …}}`, and write `{key}: {body}_{key}` in {body}"
        )
    return f"{mechanism.name} has no symbol {name!r}{hint or ': ' + ', '.join(geometry)}"


def evaluation_mistakes(
    evaluation: Evaluation, mechanism: Mechanism | None = None
) -> list[Mistake]:
    """What is wrong with the questions asked of every variant."""
    found = []
    if evaluation.rank not in RANKS:
        found.append(unknown("evaluate.rank", evaluation.rank, RANKS))
    for place, name in enumerate(evaluation.built_in):
        if wrong := metric_mistake(
            f"evaluate.metrics[{place}]", name, mechanism, evaluation.targets
        ):
            found.append(wrong)
    for one in evaluation.users:
        if message := name_mistake(one.name, tuple(METRICS)):
            found.append(Mistake(f"evaluate.own.{one.name}", message))
    if message := _columns_mistake(evaluation, mechanism):
        found.append(Mistake("evaluate.with", message))
    if (reduction := evaluation.reduction) is None:
        return found
    for place, name in enumerate(reduction.criteria):
        if name not in CRITERIA:
            found.append(unknown(f"evaluate.reduction.criteria[{place}]", name, CRITERIA))
    if not 0 < reduction.tolerance < 1:
        message = f"{reduction.tolerance:g} is not between 0 and 1 (part of the torque's norm)."
        found.append(Mistake("evaluate.reduction.tolerance", message))
    for key, word, known in (
        ("method", reduction.method, tuple(METHODS)),
        ("noise", reduction.noise, POOLINGS),
        *((f"arrays[{k}]", name, REDUCTION_ARRAYS) for k, name in enumerate(reduction.arrays)),
    ):
        if word not in known:
            found.append(unknown(f"evaluate.reduction.{key}", word, known))
    if reduction.effective_samples is not None and reduction.effective_samples < 1:
        message = f"{reduction.effective_samples} samples; at least 1 is needed."
        found.append(Mistake("evaluate.reduction.effective_samples", message))
    return found


def _columns_mistake(evaluation: Evaluation, mechanism: Mechanism | None) -> str:
    if not evaluation.columns:
        return ""
    if evaluation.reduction is None and not any(map(is_torque, evaluation.built_in)):
        return (
            f"{', '.join(evaluation.columns)} would go into torques, and none are asked for; add "
            f"`reduction`, or metrics such as {words('torque')[0]}."
        )
    try:
        if mechanism is not None:
            select(mechanism, evaluation.columns)
    except UsageError as error:
        return error.message
    return ""


def number_mistakes(chunk: int, variant_seconds: float) -> list[Mistake]:
    """What is wrong with the store's chunk and the limits."""
    found = []
    if chunk < 1 and chunk != FROM_PILOT:
        found.append(Mistake("store.chunk", f"{chunk} variants; at least 1 is needed."))
    if not variant_seconds > 0:
        message = f"{variant_seconds:g} s; a positive time is needed."
        found.append(Mistake("limits.variant_seconds", message))
    return found


def _plain_reduction(reduction: Reduction | None) -> dict[str, Any] | None:
    if reduction is None:
        return None
    plain, further = Reduction(), {}
    # What came later is left out where it is as before, so that older stores stay what they are.
    for name in ("method", "noise", "arrays"):
        if (value := getattr(reduction, name)) != getattr(plain, name):
            further[name] = list(value) if isinstance(value, tuple) else value
    return {
        "criteria": list(reduction.criteria),
        "tolerance": reduction.tolerance,
        "effective_samples": reduction.effective_samples,
        **further,
    }


def _json(plain: Any) -> str:
    # In the order given: the order of bodies and of swept symbols counts.
    return json.dumps(plain, separators=(",", ":"), allow_nan=False)
