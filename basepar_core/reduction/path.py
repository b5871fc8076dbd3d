"""Which base parameter to drop next, and what that costs: nested models from all to none.

Backward elimination (Iriarte, Ros, Mata & Plaza, "Multibody model reduction by parameter
elimination") drops, one at a time, the parameter whose loss raises ‖τ − W_k φ_k‖ least, φ_k
being the least-squares parameters of the model that is left: they take over what the dropped
ones carried. Forward addition builds the model up instead. The paper calls the two equivalent;
they are not, and neither promises the best model of a given size.

Method: square-root downdating. With W = QR, U = R⁻¹ and y = Qᵀτ, dropping parameter j costs
(u_j·y)²/|u_j|² (u_j a row of U); a reflection that turns u_j into the last axis leaves U and y
of the smaller model. O(b³) for the path, where least squares per candidate cost thousands of
times as much. Updating RᵀR's inverse takes the same time and loses twice the digits (measured
at b = 36, condition 8e8: RSS wrong by 7e-2 against 1e-7). Lanes are variants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import OPERATIONS, unit_columns

#: Relative torque errors that differ by no more than this are equal: rounding would decide.
TIE = 1e-12


@dataclass(frozen=True)
class Path:
    """Nested models: step 0 is the full base model, the last step has no parameter left.

    Attributes
    ----------
    removed
        (variant, step) int: column that left to reach this step; −1 at step 0.
    torque_error
        (variant, step): ‖τ − W_k φ_k‖/‖τ‖, weighted; 0 throughout where ‖τ‖ is 0, because a
        torque that is zero is explained by no parameter at all.
    torque_norm
        (variant,): ‖τ‖, weighted (N m or N; multiples of σ where noise is stated).
    values
        (variant, step, base): φ_k in SI; 0 for parameters that have left. Exactly dependent
        columns that are still in the model have 0 too: the others can carry their share.
    dependent
        (variant,): how many columns depended on the others; the first steps remove them.
    """

    removed: Array
    torque_error: Array
    torque_norm: Array
    values: Array
    dependent: Array

    @cached_property
    def sizes(self) -> Array:
        """(step,) number of parameters left: b … 0."""
        return np.arange(self.removed.shape[1])[::-1]

    @cached_property
    def rss(self) -> Array:
        """(variant, step): ‖τ − W_k φ_k‖², weighted."""
        return (self.torque_error * self.torque_norm[:, None]) ** 2

    def gone(self, step: int, variant: int = 0) -> list[int]:
        """Columns that have left when a step is reached, in this order."""
        return [int(k) for k in self.removed[variant, 1 : step + 1]]


def backward(
    W: Array,
    tau: Array,
    weights: Array | None = None,
    error: Array | float = 0.0,
    negligible: Array | float = 0.0,
) -> Path:
    """Drop parameters one by one, each time the one whose loss raises the torque error least.

    Columns that depend exactly on others go first, as ordinary steps that cost nothing. Among
    equals (torque errors within `TIE`) the last column goes.

    Parameters
    ----------
    W
        (variant, sample, coordinate, base), finite: N or N m per unit parameter; columns in the
        order of `parameters`.
    tau
        (variant, sample, coordinate), finite, N or N m.
    weights
        (coordinate,): 1/σ of each coordinate's torque measurement; None: unweighted.
    error
        (variant,): relative error of W (`regressor.Observation.error`); decides what is exactly
        dependent. At least rounding.
    negligible
        (variant,): a weighted ‖τ‖ up to here is nothing but rounding, and counts as zero.
    """
    system = _System.of(W, tau, weights, error, negligible)
    return system.drop(system.cheapest)


def forward(
    W: Array,
    tau: Array,
    weights: Array | None = None,
    error: Array | float = 0.0,
    negligible: Array | float = 0.0,
) -> Path:
    """Add parameters one by one, each time the one that lowers the torque error most.

    Parameters as in `backward`. The path is given in the same direction, from the full model
    down: the parameter added last is removed first. Exactly dependent columns are added last;
    among equals (gains within `TIE` of ‖τ‖) the first column is added.
    """
    system = _System.of(W, tau, weights, error, negligible)
    order = system.additions()[:, ::-1]
    return system.drop(lambda step, rss, cost, alive: order[:, step - 1])


#: Which column leaves: from the step, RSS so far, each column's cost, and which are left.
Chooser = Callable[[int, Array, Array, Array], Array]


@dataclass(frozen=True)
class _System:
    """Least squares of many variants in orthogonal coordinates; unit columns, ‖τ‖ = 1.

    A dependent column has a slot of its own with nothing in it (u_j the j-th axis, y_j = 0):
    dropping it then costs exactly nothing, in the same arithmetic as any other.

    Attributes
    ----------
    R, U
        (variant, axis, base) and (variant, base, axis): upper triangular, U = R⁻¹.
    y
        (variant, axis): τ along the axes.
    rest
        (variant,): squared part of τ outside all columns.
    dependent
        (variant, base) bool.
    lengths
        (variant, base): norms of the weighted columns.
    norm
        (variant,): ‖τ‖, weighted.
    """

    R: Array
    U: Array
    y: Array
    rest: Array
    dependent: Array
    lengths: Array
    norm: Array

    @classmethod
    def of(
        cls,
        W: Array,
        tau: Array,
        weights: Array | None,
        error: Array | float,
        negligible: Array | float,
    ) -> "_System":
        count, samples, coordinates, width = W.shape
        scale = np.ones(coordinates) if weights is None else np.asarray(weights, float)
        rows = (W * scale[:, None]).reshape(count, samples * coordinates, width)
        torque = (tau * scale).reshape(count, samples * coordinates)
        norm = np.sqrt((torque**2).sum(axis=1))
        norm = np.where(norm <= negligible, 0.0, norm)
        zero = (norm == 0)[:, None]
        torque = np.where(zero, 0.0, torque / np.where(zero, 1.0, norm[:, None]))
        unit, lengths = (unit_columns(rows)[:2]) if width else (rows, np.ones((count, 0)))
        # A triangle holds all of [W|τ] that least squares can see.
        small = np.asarray(np.linalg.qr(np.concatenate([unit, torque[..., None]], 2), mode="r"))
        noise = np.broadcast_to(np.maximum(error, np.finfo(float).eps), (count,))
        return cls(*_orthogonal(small, OPERATIONS * np.sqrt(width) * noise), lengths, norm)

    def drop(self, choose: Chooser) -> Path:
        """The path on which `choose` says who leaves."""
        count, width = self.y.shape
        lanes, U, y = np.arange(count), self.U, self.y
        alive = np.ones((count, width), dtype=bool)
        rss = np.repeat(self.rest[:, None], width + 1, axis=1)
        removed = np.full((count, width + 1), -1)
        values = np.zeros((count, width + 1, width))
        for step in range(1, width + 1):
            phi = (U @ y[:, :, None])[:, :, 0]
            values[:, step - 1] = np.where(alive, phi, 0.0)
            # Rows of those who left are rounding; their cost is never looked at.
            cost = phi**2 / np.where(alive, (U**2).sum(axis=2), 1.0)
            gone = choose(step, rss[:, step - 1], cost, alive)
            rss[:, step] = rss[:, step - 1] + cost[lanes, gone]
            removed[:, step], alive[lanes, gone] = gone, False
            U, y = _without(U, y, U[lanes, gone])
        zero = self.norm == 0
        return Path(
            removed,
            np.where(zero[:, None], 0.0, np.sqrt(rss)),
            self.norm,
            values * (self.norm[:, None] / self.lengths)[:, None],
            self.dependent.sum(axis=1),
        )

    def cheapest(self, step: int, rss: Array, cost: Array, alive: Array) -> Array:
        """Dependent columns first; then the least torque error; among equals the last."""
        error = np.where(alive, np.sqrt(rss[:, None] + cost), np.inf)
        equal = error <= error.min(axis=1, keepdims=True) + TIE
        first = self.dependent & alive
        choice = np.where(first.any(axis=1, keepdims=True), first, equal)
        return choice.shape[1] - 1 - np.argmax(choice[:, ::-1], axis=1)

    def additions(self) -> Array:
        """(variant, base): columns in the order in which forward addition takes them."""
        count, width = self.y.shape
        lanes, R, y = np.arange(count), self.R.copy(), self.y
        waiting = np.ones((count, width), dtype=bool)
        start = (R**2).sum(axis=1)
        order = np.empty((count, width), dtype=int)
        for place in range(width):
            left = (R**2).sum(axis=1)
            # What is left of a column after 24 digits are gone (squared) is rounding.
            along = (y[:, None] @ R)[:, 0] / np.sqrt(np.where(left > 1e-24 * start, left, np.inf))
            gain = np.where(waiting & ~self.dependent, np.abs(along), -1.0)
            equal = waiting & (gain >= gain.max(axis=1, keepdims=True) - TIE)
            order[:, place] = taken = np.argmax(equal, axis=1)
            waiting[lanes, taken] = False
            q = R[lanes, :, taken]
            q = q / np.sqrt((q**2).sum(axis=1, keepdims=True))
            R -= q[:, :, None] * (q[:, None] @ R)
            y = y - q * (q * y).sum(axis=1, keepdims=True)
        return order


def _orthogonal(small: Array, noise: Array) -> tuple[Array, Array, Array, Array, Array]:
    """R, U, y, rest and dependent (see `_System`) of triangles (variant, row, base + 1).

    Gram–Schmidt from left to right, every column twice (Giraud & al.: that is enough for
    rounding). A column is dependent if what earlier columns leave of it is no more than their
    errors can make of nothing: `noise` (variant,) per column, times the combination of earlier
    columns that it is. From left to right these are also the columns which dropping the last
    dependent one, again and again, would drop.
    """
    count, height, width = small.shape[0], small.shape[1], small.shape[2] - 1
    Q = np.zeros((count, height, width))
    R, U = np.zeros((2, count, width, width))
    dependent = np.zeros((count, width), dtype=bool)
    for j in range(width):
        column, along = _outside(Q[:, :, :j], small[:, :, j])
        size = np.sqrt((column**2).sum(axis=1))
        combination = (U[:, :j, :j] @ along[:, :, None])[:, :, 0]
        gone = size <= noise * (1 + np.abs(combination).sum(axis=1))
        dependent[:, j] = gone
        pivot = np.where(gone, 1.0, size)
        keep = np.where(gone, 0.0, 1.0)[:, None]
        Q[:, :, j] = keep * column / pivot[:, None]
        R[:, :j, j], R[:, j, j] = keep * along, pivot
        U[:, :j, j], U[:, j, j] = -keep * combination / pivot[:, None], 1 / pivot
    rest, y = _outside(Q, small[:, :, width])
    return R, U, y, (rest**2).sum(axis=1), dependent


def _outside(Q: Array, vector: Array) -> tuple[Array, Array]:
    """What orthonormal columns leave of a vector (variant, row), and its parts along them."""
    total = np.zeros((len(Q), Q.shape[2]))
    for _ in range(2):
        along = (vector[:, None] @ Q)[:, 0]
        vector = vector - (Q @ along[:, :, None])[:, :, 0]
        total += along
    return vector, total


def _without(U: Array, y: Array, u: Array) -> tuple[Array, Array]:
    """U and y without the direction of the row u: reflected into the last axis, and cut off."""
    mirror = u.copy()
    length = np.sqrt((u**2).sum(axis=1))
    mirror[:, -1] += np.where(u[:, -1] < 0, -length, length)  # no cancellation
    half = 2 / (mirror**2).sum(axis=1)
    shift = (U @ mirror[:, :, None]) * half[:, None, None]
    U = U[:, :, :-1] - shift * mirror[:, None, :-1]
    return U, y[:, :-1] - ((y * mirror).sum(axis=1) * half)[:, None] * mirror[:, :-1]
