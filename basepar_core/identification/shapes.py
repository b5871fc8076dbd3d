"""Shapes of laws that a record is searched for: a speed (Stribeck's, of smooth laws), an exponent.

A law is linear in its parameter and not in its shape. What a candidate's column explains is known
without fitting the rest again: least squares of the others leaves e, and of the column c⊥; it
takes (c⊥·e)²/(c⊥·c⊥) of what is left. The best of a grid, then a bounded search about it, one law
after the other until none moves. Laws of a drive that share a shape are tried together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from basepar_core.arrays import Array
from basepar_core.dynamics import LAWS, Column, DriveLaw, Motion

from .regression import Part, Regression

#: Speeds tried, as shares of the greatest speed; exponents tried: 0 and 1 are Coulomb's
#: and viscous friction.
SPEEDS = np.geomspace(5e-3, 0.7, 16)
EXPONENTS = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0])
#: Rounds over the laws, and the relative change of a shape below which it has settled.
ROUNDS, SETTLED = 6, 1e-2
#: Step of a shape's derivative, as a share of it.
STEP = 1e-3


def searched(laws: Sequence[DriveLaw | None]) -> list[tuple[int, ...]]:
    """Places of the laws whose shapes are searched for; those that share one together."""
    groups: dict[tuple[str, str], tuple[int, ...]] = {}
    for k, law in enumerate(laws):
        if law is not None and law.searched:
            key = law.drive, LAWS[law.kind].shares or law.kind
            groups[key] = (*groups.get(key, ()), k)
    return list(groups.values())


def law_values(law: DriveLaw, motion: Motion) -> Array:
    """A law's column (sample, coordinate)."""
    force = law.law(motion.q, motion.q_dot, motion.q_ddot)
    return force[:, None] * np.asarray(law.weights)


def search(regression: Regression, phi: Array, sigma: Array) -> Regression:
    """The regression with shapes that explain the records best.

    Parameters
    ----------
    regression
        Rows of the records.
    phi
        (parameter,): about the solution; loads are its.
    sigma
        (drive,): noise of the rows.
    """
    root = 1 / sigma[regression.groups][:, None]
    whole = regression.whole(phi) * root
    right = regression.right() * root[:, 0]
    groups = searched(regression.laws)
    tables = [_Candidates(regression, group, phi, root) for group in groups]
    for _ in range(ROUNDS):
        moved = 0.0
        for group, table in zip(groups, tables, strict=True):
            before = regression.laws[group[0]]
            assert before is not None
            shape = table.best(np.delete(whole, group, axis=1), right)
            whole[:, list(group)] = table.columns(np.array([shape]))[:, 0]
            regression = with_shape(regression, group, shape)
            moved = max(moved, abs(np.log(shape / (before.shape or 1.0))))
        if moved < SETTLED or len(groups) == 1:
            break
    return regression


class _Candidates:
    """Columns of laws that share a shape, for shapes that are tried; `root` (row, 1) weighs."""

    def __init__(self, regression: Regression, group: Sequence[int], phi: Array, root: Array):
        self.regression, self.root = regression, root
        self.laws = [law for k in group if (law := regression.laws[k]) is not None]
        self.sizes = [regression.sizes(k, phi) for k in group]
        self.tried = _tried(regression, self.laws[0])

    def columns(self, shapes: Array) -> Array:
        """(row, shape, law)."""
        parts = self.regression.parts
        of = [
            [sizes[j][..., None] * _columns(part, law, shapes) for j, part in enumerate(parts)]
            for law, sizes in zip(self.laws, self.sizes, strict=True)
        ]
        return np.stack([self.regression.rows(one) * self.root for one in of], axis=-1)

    def best(self, others: Array, right: Array) -> float:
        """The shape that explains most of what the other columns leave."""
        Q = np.linalg.qr(others / np.maximum(np.linalg.norm(others, axis=0), 1e-300))[0]
        e = right - Q @ (Q.T @ right)
        scores = _explained(self.columns(self.tried), Q, e)
        best, tried = int(np.argmax(scores)), self.tried
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        found = minimize_scalar(
            lambda s: -float(_explained(self.columns(np.array([np.exp(s)])), Q, e)[0]),
            bounds=(np.log(low), np.log(high)),
            method="bounded",
            options={"xatol": SETTLED / 3},
        )
        return float(np.exp(found.x)) if -found.fun > scores[best] else float(tried[best])


def _explained(columns: Array, Q: Array, e: Array) -> Array:
    """(shape,): by how much columns (row, shape, law) lessen e² beside those that Q spans."""
    flat = columns.reshape(len(e), -1)
    left = flat - Q @ (Q.T @ flat)
    left = left / np.maximum(np.linalg.norm(flat, axis=0), np.finfo(float).tiny)
    along = (left.T @ e).reshape(columns.shape[1:])
    left = left.reshape(columns.shape)
    sizes, V = np.linalg.eigh(np.einsum("rsj,rsk->sjk", left, left, optimize=True))
    fine = sizes > 1e-12  # as good as a sum of the others
    along = np.einsum("sjk,sj->sk", V, along)
    return np.asarray(np.where(fine, along**2 / np.where(fine, sizes, 1.0), 0.0).sum(axis=1))


def _tried(regression: Regression, law: DriveLaw) -> Array:
    if LAWS[law.kind].shape == "exponent":
        return EXPONENTS
    motions = [part.ready.motion for part in regression.parts]
    fastest = max(float(np.abs(np.asarray(law.weights) @ one.q_dot).max()) for one in motions)
    return SPEEDS * fastest


def _columns(part: Part, law: DriveLaw, shapes: Array) -> Array:
    """(sample, coordinate, shape)."""
    motion = part.ready.motion
    return np.stack([law_values(replace(law, shape=float(s)), motion) for s in shapes], axis=-1)


def with_shape(regression: Regression, group: Sequence[int], shape: float) -> Regression:
    """The regression with another shape of laws that share it."""
    laws = [
        replace(law, shape=shape) if law is not None and k in group else law
        for k, law in enumerate(regression.laws)
    ]
    parts = []
    for part in regression.parts:
        motions = (part.ready.motion, *part.ready.halves)
        made = [W.copy() for W in (part.W, *part.halves)]
        for W, motion in zip(made, motions, strict=False):
            for k in group:
                law = laws[k]
                assert law is not None
                W[..., k] = law_values(law, motion)
        parts.append(replace(part, W=made[0], halves=tuple(made[1:])))
    return regression.like(parts, laws)


def slopes(regression: Regression, phi: Array) -> list[list[Array]]:
    """∂(model)/∂shape (sample, coordinate) of each shape searched for, per record."""
    found = []
    for group in searched(regression.laws):
        total = [0.0 * part.W[..., 0] for part in regression.parts]
        for k in group:
            law = regression.laws[k]
            assert law is not None
            step = STEP * (law.shape or 1.0)
            more, less = (replace(law, shape=(law.shape or 1.0) + way * step) for way in (1, -1))
            for j, size in enumerate(regression.sizes(k, phi)):
                motion = regression.parts[j].ready.motion
                change = law_values(more, motion) - law_values(less, motion)
                total[j] += phi[k] * size * change / (2 * step)
        found.append(total)
    return found


def found_columns(
    columns: Sequence[Column], laws: Sequence[DriveLaw | None]
) -> tuple[Column, ...]:
    """Columns with the shapes that were found."""
    by_name = {law.name: law for law in laws if law is not None}
    return tuple(
        replace(one, source=by_name[one.name]) if one.name in by_name else one for one in columns
    )
