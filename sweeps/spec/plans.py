"""Sampling plans: which variants there are, addressable by index.

A plan of 10⁸ rows costs nothing to hold: `rows(start, stop)` computes any slice, and the same
row is the same whatever slice it is asked in. Random numbers are Philox streams that jump
(one stream per variable); a Latin hypercube's permutations are keyed Feistel networks, so that
no list of n indices is ever made; Sobol points are SciPy's (`sobol`).

Values are SI float64. Bounds and lists are in SI too; units are met in `reader.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from . import sobol
from .sobol import LONGEST_SOBOL

Rows = dict[str, np.ndarray]
Bounds = tuple[tuple[str, float, float], ...]  # (symbol, low, high)
Lists = tuple[tuple[str, tuple[float, ...]], ...]  # (symbol, values)


@runtime_checkable
class Plan(Protocol):
    """What every plan answers."""

    @property
    def names(self) -> tuple[str, ...]:
        """The swept symbols."""
        ...

    def __len__(self) -> int:
        """Number of variants."""
        ...

    def rows(self, start: int, stop: int) -> Rows:
        """Values of variants start … stop − 1 by symbol, SI, each (variant,) float64."""
        ...

    def describe(self) -> dict[str, Any]:
        """Everything that fixes the rows, as plain data (for the hash and for JSON)."""
        ...


@dataclass(frozen=True)
class _Listed:
    """Values by symbol."""

    variables: Lists

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.variables)

    def describe(self) -> dict[str, Any]:
        variables = {name: list(values) for name, values in self.variables}
        return {"plan": name_of(self), "variables": variables}


@dataclass(frozen=True)
class Grid(_Listed):
    """Every combination of the values; the last symbol varies fastest."""

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(values) for _, values in self.variables)

    def __len__(self) -> int:
        # Python integers: a product of lengths may pass 2⁶³ before anyone notices.
        return prod(self._shape)

    def rows(self, start: int, stop: int) -> Rows:
        check_range(self, start, stop)
        places = np.unravel_index(np.arange(start, stop), self._shape)
        return {
            name: np.asarray(values, float)[place]
            for (name, values), place in zip(self.variables, places, strict=True)
        }


@dataclass(frozen=True)
class Zip(_Listed):
    """The lists side by side: variant i takes the i-th value of each."""

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.variables}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"A zip needs lists of equal length: {said}.")

    def __len__(self) -> int:
        return len(self.variables[0][1])

    def rows(self, start: int, stop: int) -> Rows:
        check_range(self, start, stop)
        return {name: np.array(values[start:stop], float) for name, values in self.variables}


@dataclass(frozen=True)
class _Drawn(ABC):
    """Points of the unit cube, stretched over the symbols' ranges."""

    variables: Bounds
    candidates: int
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.variables)

    def __len__(self) -> int:
        return self.candidates

    @abstractmethod
    def _shares(self, start: int, stop: int) -> Iterable[np.ndarray]:
        """Rows start … stop − 1 of each variable in turn, as shares of its range."""

    def rows(self, start: int, stop: int) -> Rows:
        check_range(self, start, stop)
        columns = zip(self.variables, self._shares(start, stop), strict=True)
        return {name: low + (high - low) * share for (name, low, high), share in columns}

    def describe(self) -> dict[str, Any]:
        return {
            "plan": name_of(self),
            "variables": {name: [low, high] for name, low, high in self.variables},
            "candidates": self.candidates,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Random(_Drawn):
    """Independent uniform values; one Philox stream per variable, which jumps to any row."""

    def _shares(self, start: int, stop: int) -> Iterable[np.ndarray]:
        return (uniform(self.seed, column, start, stop) for column in range(len(self.variables)))


@dataclass(frozen=True)
class LatinHypercube(_Drawn):
    """Each of n equal slices of every variable is hit exactly once."""

    def _shares(self, start: int, stop: int) -> Iterable[np.ndarray]:
        index = np.arange(start, stop, dtype=np.uint64)
        for column in range(len(self.variables)):
            place = permuted(index, self.candidates, self.seed, column)
            inside = uniform(self.seed, column, start, stop)
            # (place + inside) / n may round up to the next slice's edge at large n; harmless.
            yield (place + inside) / self.candidates


@dataclass(frozen=True)
class Sobol(_Drawn):
    """SciPy's scrambled Sobol points; best at powers of two.

    Attributes
    ----------
    directions
        Direction numbers where they are known, as `document` tells them: a store has the same rows
        whatever SciPy reads it.
    """

    directions: Sequence[Sequence[int]] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.candidates > LONGEST_SOBOL:
            raise ValueError(
                f"A Sobol plan has at most {LONGEST_SOBOL} rows, not {self.candidates}. "
                "Use plan lhs or random, or several seeds."
            )
        if self.directions is not None:
            found, shape = np.asarray(self.directions), self._directions_shape
            fine = found.shape == shape and found.dtype.kind == "i"
            if not (fine and found.min() >= 0 and found.max() < 1 << sobol.BITS):
                raise ValueError(f"direction numbers that are not {shape} of {sobol.BITS} bits")

    @property
    def _directions_shape(self) -> tuple[int, int]:
        """Of the direction numbers: the first point and one a bit, each (dimension,)."""
        return 1 + (self.candidates - 1).bit_length(), len(self.variables)

    @cached_property
    def _directions(self) -> np.ndarray:
        # Kept, and carried along where the plan goes.
        if self.directions is not None:
            return np.array(self.directions, np.int64)
        return sobol.directions(len(self.variables), self.seed, self._directions_shape[0] - 1)

    def document(self) -> dict[str, Any]:
        """`describe`, and what is needed to have the rows again."""
        return self.describe() | {"directions": self._directions.tolist()}

    def restored(self, space: Mapping[str, Any]) -> "Sobol":
        """The same by the directions of a document, where this plan is described there."""
        if "directions" in space and self.describe().items() <= space.items():
            return replace(self, directions=space["directions"])
        return self

    def _shares(self, start: int, stop: int) -> Iterable[np.ndarray]:
        return sobol.points(self._directions, start, stop).T


def check_range(plan: Plan, start: int, stop: int) -> None:
    """Reject rows that do not exist."""
    if not 0 <= start <= stop <= len(plan):
        raise IndexError(f"Rows {start} to {stop} of a plan of {len(plan)}.")


def uniform(seed: int, stream: int, start: int, stop: int) -> np.ndarray:
    """Numbers start … stop − 1 of a stream of uniform numbers in [0, 1): (stop − start,)."""
    bits = np.random.Philox(np.random.SeedSequence(seed, spawn_key=(stream,)))
    bits.advance(start // 4)  # one step of the counter makes four numbers
    generator = np.random.Generator(bits)
    generator.random(start % 4)
    return generator.random(stop - start)


def permuted(index: np.ndarray, count: int, seed: int, stream: int) -> np.ndarray:
    """Where a keyed permutation of 0 … count − 1 sends the given indices.

    A Feistel network permutes a power of four ≥ count; what lands outside is sent on until it
    lands inside (cycle walking), at most four times on average.

    Parameters
    ----------
    index
        (row,) uint64, each below `count`.

    Returns
    -------
    (row,) uint64.
    """
    half = np.uint64(max(1, ((count - 1).bit_length() + 1) // 2))
    # Streams of the permutation are kept apart from those of the uniform numbers.
    sequence = np.random.SeedSequence(seed, spawn_key=(stream, 1))
    keys = sequence.generate_state(FEISTEL_ROUNDS, np.uint64)
    result = _feistel(index, half, keys)
    outside = np.flatnonzero(result >= count)
    while outside.size:
        result[outside] = _feistel(result[outside], half, keys)
        outside = outside[result[outside] >= count]
    return result


#: Four rounds make a good permutation of a large set; small sets (n < 100) want more.
FEISTEL_ROUNDS = 8


def _feistel(index: np.ndarray, half: np.uint64, keys: np.ndarray) -> np.ndarray:
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = index >> half, index & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & mask)
    return (left << half) | right


def _mixed(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: every input bit reaches every output bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class PlanKind:
    """A plan as files name it.

    Attributes
    ----------
    words
        What it is, in a report.
    variables
        How it gives its variables: lists of values, ranges to draw from, or not at all.
    make
        Its class, where it has variables.
    """

    words: str
    variables: Literal["lists", "ranges", ""] = ""
    make: Callable[..., Plan] | None = None


#: Every plan by its name; nothing else lists them. Those without variables are made of others or
#: of rows (`plan_products`, `tables`).
PLANS: Mapping[str, PlanKind] = {
    "grid": PlanKind("grid: every combination", "lists", Grid),
    "zip": PlanKind("lists side by side", "lists", Zip),
    "table": PlanKind("table"),
    "random": PlanKind("independent random values", "ranges", Random),
    "lhs": PlanKind("Latin hypercube", "ranges", LatinHypercube),
    "sobol": PlanKind("Sobol sequence", "ranges", Sobol),
    "product": PlanKind("product: every combination of its plans' rows"),
    "chain": PlanKind("its plans' rows, one after the other"),
}


def name_of(plan: object) -> str:
    """What files call a plan of variables."""
    return next(name for name, kind in PLANS.items() if kind.make is type(plan))


def from_description(plain: Mapping[str, Any]) -> Plan:
    """The plan that `describe` described (a table's rows are with its specification)."""
    kind = PLANS[plain["plan"]]
    if kind.make is None:
        raise ValueError(f"{plain['plan']!r} is no plan of variables.")
    if kind.variables == "lists":
        return kind.make(_lists(plain["variables"]))
    plan = kind.make(_bounds(plain["variables"]), plain["candidates"], plain["seed"])
    return plan.restored(plain) if isinstance(plan, Sobol) else plan


def _lists(variables: Mapping[str, list[float]]) -> Lists:
    return tuple((name, tuple(values)) for name, values in variables.items())


def _bounds(variables: Mapping[str, list[float]]) -> Bounds:
    return tuple((name, low, high) for name, (low, high) in variables.items())
