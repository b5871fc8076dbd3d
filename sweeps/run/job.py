"""What running a sweep asks of it: rows, where they go, and what sets it apart from others.

`sweeps.spec.SweepSpec` is one, of a mechanism. What a variant is evaluated by is an `Evaluator`.
"""

from collections.abc import Mapping
from typing import Any, Protocol, Self

from sweeps.spec import Conditions, Plan
from sweeps.store import Output


class Job(Protocol):
    """A sweep as it is run.

    Attributes
    ----------
    plan, filter
        Rows, and which of them are evaluated.
    swept
        The plan's columns as arrays, in its order.
    chunk, store, variant_seconds
        Variants per chunk (`FROM_PILOT`: still to be chosen); the store's directory; longest time
        for one variant, s.
    hash
        Of everything that fixes the arrays.
    title, notes
        What it is, and sentences to read before its results.
    """

    @property
    def plan(self) -> Plan: ...

    @property
    def filter(self) -> Conditions: ...

    @property
    def swept(self) -> tuple[Output, ...]: ...

    @property
    def chunk(self) -> int: ...

    @property
    def store(self) -> str: ...

    @property
    def variant_seconds(self) -> float: ...

    @property
    def hash(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def document(self) -> str:
        """JSON that says all of it, with `store.chunk`: the store keeps it."""
        ...

    def difference(self, other: Mapping[str, Any]) -> list[str]:
        """What sets it apart from another's document, in lines."""
        ...

    def chunked(self, chunk: int) -> Self:
        """The same in other chunks."""
        ...

    def recalled(self, space: Mapping[str, Any]) -> Self:
        """The same with what a store's document of its space tells beyond it."""
        ...
