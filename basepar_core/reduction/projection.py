"""Generalised base parameters: what a reduced model's parameters are combinations of.

Dropping columns of W_b that are not dependent is an approximation W_D ≈ W_K S; the kept
parameters then carry φ_g = φ_K + S φ_D (Iriarte, Ros, Mata & Plaza, "Multibody model reduction
by parameter elimination"; S by Gautier, J. Robotic Systems 8(4), 1991, where it is exact). With
base parameters φ_b = φ₁ + β φ₂ these are again combinations of the mechanism's own parameters:
β is symbolic in the geometry, S is a matter of the motion and therefore numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import NO_EFFECT, BaseParameters
from basepar_core.expressions import Call, Expression, Number

from .path import Path

#: Singular values of unit columns below this are dependence, as in the paths.
DEPENDENT = 1e-12


@dataclass(frozen=True)
class Part:
    """A parameter's part in a combination: its coefficient at nominal geometry, SI.

    `expression` and `text` (Python syntax) are None where β has none.
    """

    parameter: str
    value: float
    expression: Expression | None = None
    text: str | None = None


@dataclass(frozen=True)
class Generalised:
    """The parameters of a reduced model as combinations of the mechanism's parameters.

    Attributes
    ----------
    base
        The base parameters that were reduced.
    kept, dropped
        Of these, by place; together all of them.
    shares
        (kept, dropped): S, SI.
    """

    base: BaseParameters
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    shares: Array = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """A generalised base parameter is called as the base parameter it extends."""
        return tuple(self.base.base_names[k] for k in self.kept)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of W (parameters by index) that these multiply."""
        return tuple(self.base.kept[k] for k in self.kept)

    @cached_property
    def _mix(self) -> Array:
        """(kept, base): [I S] in the order of the base parameters."""
        mix = np.zeros((len(self.kept), self.base.rank))
        mix[range(len(self.kept)), list(self.kept)] = 1.0
        mix[:, list(self.dropped)] = self.shares
        return mix

    def combine(self, phi: Array, entries: Array) -> Array:
        """φ_g (variant, kept) from φ (variant, parameter) and `BaseParameters.beta_entries`.

        S is held: it is that of the motion and the geometry it was found at.
        """
        return self.base.combine(phi, entries) @ self._mix.T

    def nominal(self, phi: Array) -> Array:
        """φ_g (kept,) of φ (parameter,) at nominal geometry."""
        beta = np.array([[entry.value] for entry in self.base.beta]).reshape(-1, 1)
        found: Array = self.combine(phi[None], beta)[0]
        return found

    def full(self, values: Array) -> Array:
        """Parameters (variant, parameter) that move the reduced mechanism: W φ = W_K φ_g."""
        phi = np.zeros((*np.shape(values)[:-1], len(self.base.parameters)))
        phi[..., list(self.columns)] = values
        return phi

    @cached_property
    def parts(self) -> tuple[tuple[Part, ...], ...]:
        """Per generalised base parameter what it consists of, its own parameter first."""
        return tuple(self._parts(k, row) for k, row in zip(self.kept, self._mix, strict=True))

    def _parts(self, own: int, row: Array) -> tuple[Part, ...]:
        order = [own, *(d for d in self.dropped if row[d] != 0)]
        found = [
            Part(self.base.base_names[k], float(row[k]), _number(row[k]), repr(float(row[k])))
            for k in order
        ]
        for place, name in enumerate(self.base.eliminated_names):
            entries = [
                (float(row[e.base]), e)
                for e in self.base.beta
                if e.eliminated == place and row[e.base] != 0
            ]
            if not entries:
                continue
            value = sum(weight * entry.value for weight, entry in entries)
            symbolic = all(entry.expression is not None for _, entry in entries)
            expression = _sum([(w, e.expression) for w, e in entries]) if symbolic else None
            text = " + ".join(_weighted(w, e.text or "") for w, e in entries) if symbolic else None
            found.append(Part(name, value, expression, text))
        return tuple(found)

    def document(self) -> list[dict[str, Any]]:
        """What `basepar reduce --json` says of them."""
        return [
            {
                "parameter": name,
                "terms": {p.parameter: p.text for p in parts} if _symbolic(parts) else None,
                "values": {p.parameter: p.value for p in parts},
            }
            for name, parts in zip(self.names, self.parts, strict=True)
        ]


def _symbolic(parts: Sequence[Part]) -> bool:
    return all(part.text is not None for part in parts)


def _number(value: float) -> Expression:
    return Number(Fraction(float(value)))


def _sum(terms: Sequence[tuple[float, Expression | None]]) -> Expression:
    made = [e if w == 1.0 else Call("*", (_number(w), e)) for w, e in terms if e is not None]
    return made[0] if len(made) == 1 else Call("+", tuple(made))


def _weighted(weight: float, text: str) -> str:
    return f"({text})" if weight == 1.0 else f"{weight!r}*({text})"


def generalise(
    W: Array, base: BaseParameters, dropped: Sequence[int], noise: Array | None = None
) -> Generalised:
    """The generalised base parameters when some base parameters are dropped.

    Parameters
    ----------
    W
        (sample, coordinate, parameter) of one variant, N or N m per unit parameter.
    base
        Its base parameters.
    dropped
        Of these, by place.
    noise
        (coordinate,): σ; None: rows count alike.
    """
    gone = np.zeros((1, base.rank), dtype=bool)
    gone[0, list(dropped)] = True
    kept = tuple(k for k in range(base.rank) if not gone[0, k])
    S = shares(W[None][..., list(base.kept)], gone, noise)[0]
    return Generalised(base, kept, tuple(dropped), S[np.ix_(kept, list(dropped))])


def shares(W_b: Array, gone: Array, noise: Array | None = None) -> Array:
    """What kept base parameters carry of dropped ones, of many variants: S.

    Parameters
    ----------
    W_b
        (variant, sample, coordinate, base), finite.
    gone
        (variant, base) bool: dropped. `left_out` makes it from a path.
    noise
        (coordinate,): σ; None: rows count alike.

    Returns
    -------
    (variant, base, base): row of a kept, column of a dropped one; zero elsewhere. The
    least-squares projection of dropped columns on kept ones, of least norm where these are
    dependent. Entries that are rounding are zero.
    """
    count, width = gone.shape
    sigma = np.ones(W_b.shape[2]) if noise is None else noise
    rows = (W_b / sigma[:, None]).reshape(count, -1, width)
    lengths = np.sqrt((rows**2).sum(axis=1))
    unit = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = np.zeros((count, width, width))
    patterns, which = np.unique(gone, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        lanes = np.flatnonzero(which.reshape(-1) == k)
        kept, dropped = np.flatnonzero(~pattern), np.flatnonzero(pattern)
        if not kept.size or not dropped.size:
            continue
        some = unit[lanes]
        S = np.linalg.pinv(some[..., kept], rcond=DEPENDENT) @ some[..., dropped]
        S = np.where(np.abs(S) < NO_EFFECT, 0.0, S)  # in unit columns: shares of a column
        scale = lengths[lanes][:, dropped][:, None] / _nonzero(lengths[lanes][:, kept])[..., None]
        found[np.ix_(lanes, kept, dropped)] = S * scale
    return found


def _nonzero(lengths: Array) -> Array:
    return np.where(lengths > 0, lengths, 1.0)


def along(path: Path, W_b: Array, phi_b: Array, noise: Array | None = None) -> Array:
    """Generalised base parameters of all models of paths: φ_g = φ_K + S φ_D.

    Where the kept columns are independent these are the least-squares parameters, which the
    path has. Where they still depend on one another, least squares may choose among many; φ_g
    does not: nothing dropped is φ_b itself, which holds on every other trajectory too.

    Parameters
    ----------
    path
        Of `W_b`.
    W_b
        (variant, sample, coordinate, base), finite.
    phi_b
        (variant, base): base parameters, SI. A variant where they are not finite (a pivot of β
        vanishes) keeps the path's own values.
    noise
        (coordinate,): σ; None: rows count alike.

    Returns
    -------
    (variant, step, base), 0 for parameters that have left.
    """
    found = path.values.copy()
    there = np.isfinite(phi_b).all(axis=1)
    for step in range(int(path.dependent.max(initial=0))):
        lanes = np.flatnonzero(there & (path.dependent > step))
        gone = left_out(path, step)[lanes]
        S = shares(W_b[lanes], gone, noise)
        carried = phi_b[lanes] + (S @ (phi_b[lanes] * gone)[..., None])[..., 0]
        found[lanes, step] = np.where(gone, 0.0, carried)
    return found


def left_out(path: Path, step: Array | int) -> Array:
    """(variant, base) bool: which base parameters have left at a step (one, or per variant)."""
    count, steps = path.removed.shape
    gone = np.zeros((count, steps), dtype=bool)
    there = np.arange(steps) <= np.broadcast_to(step, (count,))[:, None]
    rows, columns = np.nonzero(there & (path.removed >= 0))
    gone[rows, path.removed[rows, columns]] = True
    return gone[:, : steps - 1]
