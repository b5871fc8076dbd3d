"""What an evaluation of variants promises: named arrays along `variant`, and how to call it.

The store is preallocated from the promise, so a reader sees every name, unit and dimension from
the first second on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Columns = Mapping[str, np.ndarray]
Arrays = dict[str, np.ndarray]


#: Types of arrays, whose fill values and bytes the store's format has and xarray takes.
DTYPES = ("bool", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Output:
    """One array of a sweep.

    `dims` starts with `variant`; every other dimension is a coordinate of the evaluator.
    `unit` is SI text, "1" where dimensionless, "" where numbers of several units mix; `units` are
    then one per label of the last dimension, where each label has its own. `fill` stands wherever
    there is no result (a pending, filtered or failed variant); None: nan for floats, 0 for bools,
    −1 for integers.
    """

    name: str
    dims: tuple[str, ...] = ("variant",)
    dtype: str = "float64"
    unit: str = "1"
    long_name: str = ""
    fill: float | int | bool | None = None
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.dims or self.dims[0] != "variant":
            raise ValueError(f"Output {self.name!r}: dims start with 'variant', not {self.dims}.")
        if np.dtype(self.dtype).name not in DTYPES:
            raise ValueError(f"dtype {self.dtype!r} is none of {', '.join(DTYPES)}")

    @property
    def empty(self) -> float | int | bool:
        """The value that means "no result"."""
        if self.fill is not None:
            return self.fill
        return {"f": np.nan, "b": False}.get(np.dtype(self.dtype).kind, -1)


class Described(Protocol):
    """Which arrays an evaluation makes.

    `coords` gives every dimension but `variant` its labels (text or integers). `attrs` goes to
    the store's attributes; `attrs["reasons"]`, if there, adds texts by code to `REASONS`.
    """

    @property
    def outputs(self) -> tuple[Output, ...]: ...

    @property
    def coords(self) -> Mapping[str, Sequence[str] | Sequence[int]]: ...

    @property
    def attrs(self) -> Mapping[str, Any]: ...


class Evaluator(Described, Protocol):
    """A pure function from columns of variants to arrays; picklable."""

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        """Evaluate one chunk of variants.

        Parameters
        ----------
        columns
            Swept symbols, SI, each (variant,) float64.
        passed
            (variant,) bool: which are to be evaluated. Rows of the others are ignored.

        Returns
        -------
        Every output by name with `variant` in front, among them `status` (int8), `reason`
        (int16) and `reason_value` (float64); for a precise evaluator `precise_status`,
        `precise_reason` and `precise_reason_value`.
        """
        ...


def sizes(evaluator: Described) -> dict[str, int]:
    """Length of every dimension but `variant`."""
    return {name: len(labels) for name, labels in evaluator.coords.items()}


def blank(evaluator: Described, count: int) -> Arrays:
    """Arrays of `count` variants without results."""
    length = sizes(evaluator)
    return {
        output.name: np.full(
            (count, *(length[dim] for dim in output.dims[1:])), output.empty, output.dtype
        )
        for output in evaluator.outputs
    }
