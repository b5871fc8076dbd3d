"""Which of two ways float64 evaluations go: compiled kernels, or the plain NumPy path.

The only place that decides. The plain path takes every mechanism and every motion, and says what
is computed; the kernels give the same, some twenty times faster, and leave what they cannot take
(`why_plain`) to it. Imports no compiler: `basepar show` asks here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LAST_UPDATE,
    Model,
    Motion,
    Observation,
    columns,
    cycle,
    excitation,
)
from basepar_core.dynamics import observe as observe_plainly
from basepar_core.mechanism import Point

if TYPE_CHECKING:
    from .api import Kernels, Start

#: Coordinates beyond this (rad or m) stay with the plain path: the kernels reduce angles by
#: multiples of π/2 that are exact up to ten times as much, and dependent joints may turn faster.
LARGEST = 1e4


def why_plain(motion: Motion) -> str:
    """Why a motion is left to the plain path; empty where the kernels take it."""
    largest = np.abs(motion.q).max(initial=0.0)
    if largest <= LARGEST:
        return ""
    return f"coordinates reach {largest:.3g} rad or m; compiled kernels take {LARGEST:.0e}"


@dataclass(frozen=True)
class Engine:
    """Evaluates variants of one mechanism; picklable."""

    model: Model

    def __getstate__(self) -> dict[str, Model]:
        return {"model": self.model}  # scratch stays here

    @cached_property
    def kernels(self) -> "Kernels":
        from .api import Kernels  # loads the compiler: only where it is needed

        return Kernels(self.model)

    def variants(
        self, values: Mapping[str, Array], last_update: float = LAST_UPDATE
    ) -> "Variants":
        """Variants of the mechanism.

        Parameters
        ----------
        values
            Swept symbols, and maybe their roots, (variant,) arrays, SI; others are nominal.
            Empty: one nominal variant.
        last_update
            As in `closure.trace`.
        """
        return Variants(self, values, last_update)

    def observe(
        self, values: Mapping[str, Array], motion: Motion, last_update: float = LAST_UPDATE
    ) -> Observation:
        """W of every variant along a motion; see `regressor.observe`, whose result it has."""
        return self.variants(values, last_update).observe(motion)


class Variants:
    """Variants that follow one motion after the other, from one assembly."""

    def __init__(
        self,
        engine: Engine,
        values: Mapping[str, Array],
        last_update: float,
        start: "Start | None" = None,
        table: Array | None = None,
    ):
        self.engine, self.values, self.last_update = engine, values, last_update
        self._start, self._table = start, table

    def take(self, rows: Array) -> "Variants":
        """Some of them, by index."""
        part = {name: column[rows] for name, column in self.values.items()}
        if self._start is not None:
            return Variants(self.engine, part, self.last_update, self._start.take(rows))
        table = None if self._table is None else np.take(self._table, rows, axis=-1)
        return Variants(self.engine, part, self.last_update, table=table)

    def defined(self) -> Array:
        """(variant,) bool: the constants of all joints and couplings, and gravity, are finite."""
        if self._table is None:
            self._table = self.engine.kernels.table(self.values)
        found: Array = np.isfinite(self._table).all(axis=(0, 1))
        return found

    def close(self, motion: Motion) -> Observation:
        """As `observe`, for who needs no W: it may have no parameter."""
        if why_plain(motion):
            return self.observe(motion)
        from . import loops_alone  # loads the compiler, as `kernels`

        return loops_alone.close(self.engine.kernels, self.started, motion)

    def points(
        self, q: Array, points: Sequence[Point], known: Mapping[str, Array | float]
    ) -> Array:
        """Where bodies carry points: (variant, point, axis, sample), m, in the ground's frame.

        Parameters
        ----------
        q
            (position, variant, sample), loops closed.
        points, known
            The points, and every symbol's values, (variant,).
        """
        from . import loops_alone

        return loops_alone.points(self.engine.kernels, self.started, q, points, known)

    def movements(
        self,
        q: Array,
        motion: Motion,
        points: Sequence[Point],
        known: Mapping[str, Array | float],
    ) -> Array:
        """As `points`, with velocities and accelerations: (variant, point, order, axis, sample).

        The motion is the one that `q` follows.
        """
        from . import loops_alone

        return loops_alone.movements(self.engine.kernels, self.started, q, motion, points, known)

    @property
    def started(self) -> "Start":
        """The variants in their own geometries."""
        if self._start is None:
            kernels = self.engine.kernels
            self._start = kernels.start(self.values, self.last_update, self._table)
        return self._start

    def observe(self, motion: Motion) -> Observation:
        """W along a motion.

        By the kernels W lies (variant, parameter, coordinate, sample) in memory.
        """
        if why_plain(motion):
            return observe_plainly(self.engine.model, self.values, motion, self.last_update)
        return self.engine.kernels.follow(self.started, motion)


@dataclass(frozen=True)
class Way:
    """How sweeps evaluate a mechanism: in words, and why so."""

    name: str
    why: str


def way(model: Model) -> Way:
    """The way sweeps go along a mechanism's own excitation and cycle."""
    mechanism, start = model.mechanism, model.assembled.coordinates
    stated = {"excitation": mechanism.excitation, "cycle": mechanism.cycle}
    made = {"excitation": excitation, "cycle": cycle}
    reasons = {}
    for name in (name for name, law in stated.items() if law is not None):
        reasons[name] = why_plain(made[name](mechanism, start))
    left = [f"{name}: {why}" for name, why in reasons.items() if why]
    if left and len(left) == len(reasons):
        return Way("plain NumPy", "; ".join(left))
    kept = f"its motions stay within {LARGEST:.0e} rad or m" if reasons else "it states no motion"
    if left:
        kept = "but not the " + "; ".join(left)
    if columns(mechanism):
        kept += "; friction and springs are columns of the plain path"
    return Way("compiled kernels", kept)
