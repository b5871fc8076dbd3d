"""Shapes of laws that a record is searched for: Stribeck's speed, the exponent of a speed.

A law is linear in its parameter and not in its shape. What a candidate's column explains is known
without fitting the rest again: least squares of the others leaves e, and of the column c⊥; it
takes (c⊥·e)²/(c⊥·c⊥) of what is left. The best of a grid, then a bounded search about it, one law
after the other until none moves.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from basepar_core.arrays import Array
from basepar_core.dynamics import LAWS, Column, DriveLaw, Motion

from .regression import Part, Regression

#: Stribeck speeds tried, as shares of the greatest speed; exponents tried: 0 and 1 are Coulomb's
#: and viscous friction.
SPEEDS = np.geomspace(5e-3, 0.7, 16)
EXPONENTS = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0])
#: Rounds over the laws, and the relative change of a shape below which it has settled.
ROUNDS, SETTLED = 6, 1e-2
#: Step of a shape's derivative, as a share of it.
STEP = 1e-3


def searched(laws: Sequence[DriveLaw | None]) -> list[int]:
    """Places of the laws whose shapes are searched for."""
    return [k for k, law in enumerate(laws) if law is not None and law.searched]


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
    for _ in range(ROUNDS):
        moved = 0.0
        for k in searched(regression.laws):
            before = regression.laws[k]
            assert before is not None
            shape = _best(regression, k, phi, sigma)
            regression = with_shape(regression, k, shape)
            moved = max(moved, abs(np.log(shape / (before.shape or 1.0))))
        if moved < SETTLED or len(searched(regression.laws)) == 1:
            break
    return regression


def _best(regression: Regression, k: int, phi: Array, sigma: Array) -> float:
    """The shape of one law that explains most, all others as they are."""
    law = regression.laws[k]
    assert law is not None
    root = 1 / sigma[regression.groups]
    whole = regression.whole(phi) * root[:, None]
    others = np.delete(whole, k, axis=1)
    Q = np.linalg.qr(others / np.maximum(np.linalg.norm(others, axis=0), 1e-300))[0]
    e = regression.right() * root
    e = e - Q @ (Q.T @ e)

    def explained(shapes: Array) -> Array:
        columns = [_columns(part, law, shapes) for part in regression.parts]
        c = regression.rows(columns) * root[:, None]
        left = c - Q @ (Q.T @ c)
        size = (left**2).sum(axis=0)
        fine = size > 1e-12 * (c**2).sum(axis=0)  # as good as a sum of the others
        return np.asarray(np.where(fine, (left.T @ e) ** 2 / np.where(fine, size, 1.0), 0.0))

    tried = _tried(regression, law)
    scores = explained(tried)
    best = int(np.argmax(scores))
    low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    found = minimize_scalar(
        lambda s: -float(explained(np.array([np.exp(s)]))[0]),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": SETTLED / 3},
    )
    return float(np.exp(found.x)) if -found.fun > scores[best] else float(tried[best])


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


def with_shape(regression: Regression, k: int, shape: float) -> Regression:
    """The regression with another shape of one law."""
    law = regression.laws[k]
    assert law is not None
    law = replace(law, shape=shape)
    parts = []
    for part in regression.parts:
        motions = (part.ready.motion, *part.ready.halves)
        made = [W.copy() for W in (part.W, *part.halves)]
        for W, motion in zip(made, motions, strict=False):
            W[..., k] = law_values(law, motion)
        parts.append(replace(part, W=made[0], halves=tuple(made[1:])))
    laws = [law if j == k else one for j, one in enumerate(regression.laws)]
    return regression.like(parts, laws)


def slopes(regression: Regression, phi: Array) -> list[list[Array]]:
    """∂(model)/∂shape (sample, coordinate) of each shape searched for, per record."""
    found = []
    for k in searched(regression.laws):
        law = regression.laws[k]
        assert law is not None
        step = STEP * (law.shape or 1.0)
        more, less = (replace(law, shape=(law.shape or 1.0) + way * step) for way in (1, -1))
        motions = [part.ready.motion for part in regression.parts]
        found.append(
            [phi[k] * (law_values(more, m) - law_values(less, m)) / (2 * step) for m in motions]
        )
    return found


def found_columns(
    columns: Sequence[Column], laws: Sequence[DriveLaw | None]
) -> tuple[Column, ...]:
    """Columns with the shapes that were found."""
    by_name = {law.name: law for law in laws if law is not None}
    return tuple(
        replace(one, source=by_name[one.name]) if one.name in by_name else one for one in columns
    )
