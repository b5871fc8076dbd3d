"""Any function of columns as a sweep: arrays in, named arrays out, by the same run and stores."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.errors import UsageError
from sweeps.spec import FROM_PILOT, PLANS, Plan
from sweeps.store import Arrays, Columns, Output, Reason, Status, blank

#: Code of the first of a function's own reasons; lower ones are the engine's.
OWN_REASONS = 100
#: What `reason` of a function's results is: 0, or the number of a reason from 1.
REASON = "reason"


@dataclass(frozen=True)
class FunctionEvaluator:
    """What evaluates the variants of a function's sweep (`store.Evaluator`).

    Attributes
    ----------
    function
        Of the plan's columns by name, (row,) each; returns arrays by name, (row, …).
    reasons
        Texts of why a row is special, which the function's `reason` numbers from 1.
    block
        Rows that it is called with at most; 0: a whole chunk.
    """

    function: Callable[..., Mapping[str, Any]]
    outputs: tuple[Output, ...]
    coords: Mapping[str, Sequence[str] | Sequence[int]]
    reasons: tuple[str, ...] = ()
    block: int = 0

    @property
    def attrs(self) -> dict[str, Any]:
        return {"reasons": {OWN_REASONS + k: text for k, text in enumerate(self.reasons)}}

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        """Evaluate one chunk; where the function raises or returns something else, they crash."""
        count, rows = len(passed), np.flatnonzero(passed)
        arrays, why = blank(self, count), np.zeros(count, np.int64)
        block = self.block or max(1, count)
        for first in range(0, rows.size, block):
            here: slice | np.ndarray = rows[first : first + block]
            if rows.size == count:
                here = slice(first, first + block)  # a view is several times as quick as a choice
            given = {name: one[here] for name, one in columns.items()}
            self._take(arrays, why, here, min(block, rows.size - first), self.function(**given))
        special = why > 0
        status = np.where(special, Status.SPECIAL, Status.SOLVED).astype(np.int8)
        status[~passed] = 0
        reason = np.where(special, OWN_REASONS - 1 + why, Reason.NONE).astype(np.int16)
        nothing = np.full(count, np.nan)
        return arrays | {"status": status, "reason": reason, "reason_value": nothing}

    def _take(
        self,
        arrays: Arrays,
        why: np.ndarray,
        rows: slice | np.ndarray,
        count: int,
        returned: Mapping[str, Any],
    ) -> None:
        """What the function returned of so many rows."""
        found = dict(returned)
        if REASON in found:
            numbers = np.asarray(found.pop(REASON), np.int64)
            if numbers.shape != (count,) or ((numbers < 0) | (numbers > len(self.reasons))).any():
                raise ValueError(f"`reason` has numbers beyond 0 … {len(self.reasons)}")
            why[rows] = numbers
        if found.keys() != arrays.keys():
            raise ValueError(f"returned {sorted(found)}, stated are {sorted(arrays)}")
        for name, values in found.items():
            array = arrays[name]
            shape = (count, *array.shape[1:])
            if np.shape(values) != shape:
                raise ValueError(f"{name!r} has shape {np.shape(values)}, stated is {shape}")
            array[rows] = values


class Everything:
    """Every row is evaluated."""

    def first_failed(self, columns: Columns) -> np.ndarray:
        """None."""
        return np.zeros(len(next(iter(columns.values()))), np.int64)


@dataclass(frozen=True)
class FunctionJob:
    """A sweep of a function as it is run (`Job`).

    Attributes
    ----------
    name, source
        Of the function: what it is called, and a digest of what it says.
    """

    name: str
    source: str
    plan: Plan
    swept: tuple[Output, ...]
    outputs: tuple[Output, ...]
    store: str = ""
    chunk: int = FROM_PILOT
    variant_seconds: float = 60.0
    notes: tuple[str, ...] = ()

    @property
    def filter(self) -> Everything:
        return Everything()

    def __len__(self) -> int:
        return len(self.plan)

    @property
    def title(self) -> str:
        return f"sweep of {self.name}"

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self.document().encode()).hexdigest()

    def document(self) -> str:
        """JSON that says all of it."""
        return self._document

    @cached_property
    def _document(self) -> str:
        arrays = {
            one.name: {"unit": one.unit, "dims": one.dims, "dtype": one.dtype}
            for one in (*self.swept, *self.outputs)
        }
        plain = {
            "function": {"name": self.name, "source": self.source},
            "space": self.plan.describe(),
            "arrays": arrays,
            "store": {"chunk": self.chunk},
        }
        return json.dumps(plain, sort_keys=True)

    def difference(self, other: Mapping[str, Any]) -> list[str]:
        """What sets it apart from another's document, in lines."""
        ours = json.loads(self.document())
        return [
            f"{key}: {json.dumps(ours.get(key))} here, {json.dumps(other.get(key))} there"
            for key in sorted({*ours, *other})
            if ours.get(key) != other.get(key)
        ]

    def chunked(self, chunk: int) -> "FunctionJob":
        return replace(self, chunk=chunk)

    def recalled(self, space: Mapping[str, Any]) -> "FunctionJob":
        return self


def source_of(function: Callable[..., Any], version: str) -> str:
    """A digest that changes with a function: of its version where one is stated, or its text.

    Raises
    ------
    UsageError
        Neither is known.
    """
    try:
        text = version or inspect.getsource(function)
    except (OSError, TypeError):
        raise UsageError(
            "The text of the function cannot be read, so that nobody could say whether a store is "
            "of the same function. State `version=`, and another one when it changes.",
            ["version="],
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan_of(space: Mapping[str, Any]) -> Plan:
    """Rows by a mapping like `space` of sweep files: plan, variables, candidates, seed.

    Raises
    ------
    UsageError
        What it says makes no plan.
    """
    kinds = {name: kind for name, kind in PLANS.items() if kind.variables and kind.make}
    kind, variables = kinds.get(str(space.get("plan"))), space.get("variables")
    if kind is None or kind.make is None:
        raise UsageError(f"space: `plan` is one of {', '.join(kinds)}.", ["space.plan"])
    if not isinstance(variables, Mapping) or not variables:
        raise UsageError("space: `variables` has values by name.", ["space.variables"])
    drawn = kind.variables == "ranges"
    known = {"plan", "variables"} | ({"candidates", "seed"} if drawn else set())
    if wrong := sorted(space.keys() - known):
        raise UsageError(f"space: unknown {', '.join(wrong)}.", [f"space.{wrong[0]}"])
    try:
        lists = {str(name): tuple(map(float, values)) for name, values in variables.items()}
        if not drawn:
            return kind.make(tuple(lists.items()))
        ranges = tuple((name, low, high) for name, (low, high) in lists.items())
        return kind.make(ranges, int(space["candidates"]), int(space.get("seed", 0)))
    except (KeyError, TypeError, ValueError) as cause:
        form = "[least, greatest] and `candidates` a number" if drawn else "lists of numbers"
        raise UsageError(f"space: variables are {form} ({cause}).", ["space.variables"]) from cause
