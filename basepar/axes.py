"""Leading dimensions: states and geometries as the kernels take them, results as the user does.

Where geometries and states vary along different axes, every geometry meets every state: variants
and samples. Where they share an axis, each state has a geometry of its own: pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism

#: Values of swept symbols by name, SI: numbers or arrays.
GeometryValues = Mapping[str, "Array | float | Sequence[float]"]


@dataclass(frozen=True)
class Axes:
    """How the leading dimensions `lead` are made of variants and samples.

    `values` are (variant,) arrays of swept symbols, or with `paired` (sample,).
    """

    lead: tuple[int, ...]
    variant_axes: tuple[int, ...]
    values: Mapping[str, Array]
    paired: bool

    @property
    def samples(self) -> int:
        """Number of states per variant."""
        return prod(n for k, n in enumerate(self.lead) if k not in self.variant_axes)

    @property
    def variants(self) -> int:
        """Number of geometries that every state is evaluated at."""
        return prod(self.lead[k] for k in self.variant_axes)

    def samples_of(self, state: Array) -> Array:
        """(…, coordinate) as (coordinate, sample), contiguous."""
        shape = [1 if k in self.variant_axes else n for k, n in enumerate(self.lead)]
        full = np.broadcast_to(state, (*shape, state.shape[-1]))
        return np.ascontiguousarray(full.reshape(-1, state.shape[-1]).T)

    def results(self, found: Array) -> Array:
        """(variant, sample, …) with the leading dimensions; a view."""
        rest = found.shape[2:]
        order = self._order
        split = found.reshape((*(self.lead[k] for k in order), *rest))
        back = np.argsort(order).astype(int)
        return split.transpose((*back, *range(len(order), split.ndim)))

    def kernel_layout(self, out: Array) -> Array | None:
        """The (variant, sample, …) array that `out` is a view of by `results`; None: of none."""
        rest = range(len(self.lead), out.ndim)
        moved = out.transpose((*self._order, *rest))
        flat = moved.reshape((self.variants, self.samples, *out.shape[len(self.lead) :]))
        return flat if np.shares_memory(flat, out) else None

    @property
    def _order(self) -> list[int]:
        """Axes of variants, then of samples."""
        rest = [k for k in range(len(self.lead)) if k not in self.variant_axes]
        return [*self.variant_axes, *rest]


def axes_of(
    mechanism: Mechanism, geometry: GeometryValues | None, states: Sequence[Array] = ()
) -> Axes:
    """The leading dimensions of states (…, coordinate) and geometries, broadcast.

    Raises
    ------
    UsageError
        Shapes that do not broadcast; a symbol that is none, or follows from a relation; values
        that are not numbers.
    """
    given = {name: _numbers(name, value) for name, value in (geometry or {}).items()}
    _check_symbols(mechanism, given)
    try:
        of_states = np.broadcast_shapes(*(state.shape[:-1] for state in states))
        of_values = np.broadcast_shapes(*(value.shape for value in given.values()))
        lead = np.broadcast_shapes(of_states, of_values)
    except ValueError:
        shapes = ", ".join(
            [f"{name} {value.shape}" for name, value in given.items()]
            + [f"state {state.shape}" for state in states]
        )
        raise UsageError(
            f"Leading dimensions do not broadcast: {shapes}. The last axis of a state is the "
            f"coordinate ({len(mechanism.coordinates)}); the others, and those of the geometry, "
            f"follow NumPy's rules.",
            ["geometry"] if given else ["q"],
        ) from None
    own = (1,) * (len(lead) - len(of_values)) + of_values
    theirs = (1,) * (len(lead) - len(of_states)) + of_states
    if any(a != 1 and b != 1 for a, b in zip(own, theirs, strict=True)):
        values = {n: np.broadcast_to(x, lead).reshape(-1) for n, x in given.items()}
        return Axes(lead, (), values, paired=True)
    swept = tuple(k for k, n in enumerate(own) if n != 1)
    values = {n: np.broadcast_to(x, own).reshape(-1) for n, x in given.items()}
    return Axes(lead, swept, values, paired=False)


def _numbers(name: str, value: object) -> Array:
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise UsageError(
            f"Geometry: {name} is {str(value)[:40]!r}, which is not a number, nor an array of "
            "numbers. Values here are in SI: 0.3 for 30 cm.",
            ["geometry"],
        ) from None


def _check_symbols(mechanism: Mechanism, given: Mapping[str, Array]) -> None:
    roots = mechanism.roots
    known = [symbol.name for symbol in mechanism.geometry if symbol.name not in roots]
    wrong = [
        f"{name} follows from its relation" if name in roots else f"{name} is no geometry symbol"
        for name in given
        if name not in known
    ]
    wrong += [f"{name} is not finite" for name, x in given.items() if not np.isfinite(x).all()]
    if wrong:
        listed = ", ".join(known) or "none"
        raise UsageError(
            f"Geometry of {mechanism.name!r}: {'; '.join(wrong)}. Symbols are {listed}; numbers "
            f"are SI.",
            [name for name in given if name not in known],
        )


def states_of(mechanism: Mechanism, **states: object) -> list[Array]:
    """States by argument name as arrays (…, coordinate).

    Raises
    ------
    UsageError
        Not numbers, not finite, or another last axis.
    """
    count, found = len(mechanism.coordinates), []
    for name, state in states.items():
        try:
            array = np.asarray(state, float)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is not an array of numbers.", [name]) from None
        if array.ndim == 0 or array.shape[-1] != count:
            named = ", ".join(mechanism.coordinates)
            one = f"{name}[..., None]" if array.ndim else f"[{array:g}]"
            hint = one if count == 1 else f"(…, {count})"
            raise UsageError(
                f"{name} has shape {array.shape}; its last axis must be the {count} "
                f"coordinate{'s' * (count > 1)} of {mechanism.name!r} ({named}). Write {hint}.",
                [name],
            )
        if not np.isfinite(array).all():
            place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
            raise UsageError(f"{name}{list(place)} is {array[place]}; give a number.", [name])
        found.append(array)
    return found


def texts_of(values: object) -> dict[str, str]:
    """Values of symbols as files write them, from texts and SI numbers by name.

    Raises
    ------
    UsageError
        No mapping, or a number that is not finite.
    """
    if not isinstance(values, Mapping):
        raise UsageError(
            f"The values are a {type(values).__name__}; give them by name: "
            '{"lx1": "30 cm"}, or {"lx1": 0.3} in the unit of the symbol.',
            ["values"],
        )
    for name, value in values.items():
        if not isinstance(value, str) and not np.isfinite(_numbers(name, value)).all():
            raise UsageError(f"{name} is {value}; give a finite number.", [name])
    return {name: str(value) for name, value in values.items()}
