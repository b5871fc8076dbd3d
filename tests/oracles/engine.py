"""A simulator's own mechanics with hard constraints: freedoms, torques, and what they depend on.

Everything is the engine's: speeds of its tree, Jacobians of points and bodies that constraints
hold, inverse dynamics. d'Alembert: N maps speeds of the coordinates to those of the tree, and
τ = Nᵀ (M v̇ + h) with v and v̇ consistent with the constraints.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

Array = np.ndarray
#: Newton's method on constraints: steps, and what is closed (m, rad).
STEPS, CLOSED = 60, 1e-11
#: Singular values of constraints below this share of the largest are zero.
RANK = 1e-8
#: A rank is clear where singular values fall by this factor.
CLEAR = 1e2
#: Shares of the largest column below which columns are nothing, until the rank is clear.
COLUMNS = 1e-12, 1e-9, 1e-7


class Engine(ABC):
    """A tree of some engine with constraints between its bodies and of its joint values.

    Attributes
    ----------
    speeds
        Number of the tree's speeds.
    columns
        By our joint values, the speed that each is the rate of, and 1 or −1 as it counts.
    loose
        Speeds of joints that we have none for.
    has_loops
        Whether constraints hold bodies together.
    """

    speeds: int
    loose: Sequence[int]
    has_loops: bool
    columns: Mapping[str, tuple[int, int]]

    @abstractmethod
    def configuration(self, values: Mapping[str, float]) -> Array:
        """Of joint values as we have them."""

    @abstractmethod
    def moved(self, q: Array, step: Array) -> Array:
        """A configuration after a step, speeds times time."""

    @abstractmethod
    def gap(self, q: Array) -> Array:
        """How far constraints are from being met, m and rad."""

    @abstractmethod
    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Jacobian of the constraints, and their second derivatives at zero acceleration."""

    @abstractmethod
    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        """Forces of the tree's speeds: inertia and weight alone."""

    @abstractmethod
    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """Their derivatives by the ten parameters of each body that weighs something."""

    def own(
        self, q: Array, names: Sequence[str], rates: Array, accelerations: Array
    ) -> tuple[Array, Array, Array]:
        """The engine's speeds and accelerations of some coordinates from ours, and T, by which its
        speeds are T times ours."""
        T = np.diag([float(self.columns[name][1]) for name in names])
        return T @ rates, T @ accelerations, T

    def closed_near(self, q: Array, only: Sequence[int] | None = None) -> Array | None:
        """A configuration that meets all constraints; None if Newton's method finds none. `only`:
        speeds along which it is looked for."""
        rest, free = np.zeros(self.speeds), range(self.speeds) if only is None else only
        for _ in range(STEPS):
            gap = self.gap(q)
            if np.abs(gap).max(initial=0.0) < CLOSED:
                return q
            J, _ = self.rows(q, rest)
            step = np.zeros(self.speeds)
            step[list(free)] = -np.linalg.lstsq(J[:, list(free)], gap, rcond=1e-9)[0]
            q = self.moved(q, step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300)))
        return None

    def generic(self, q: Array, rng: np.random.Generator, far: float = 0.3) -> Array | None:
        """A closed configuration at random near a closed one, on its branch if not too far."""
        J, _ = self.rows(q, np.zeros(self.speeds))
        _, sigma, axes = np.linalg.svd(J)
        free = axes[int((sigma > RANK * max(sigma.max(initial=0.0), 1.0)).sum()) :]
        step = free.T @ rng.uniform(-1, 1, len(free))
        return self.closed_near(
            self.moved(q, far * step / max(np.abs(step).max(initial=0.0), 1e-300))
        )

    def freedoms(self, q: Array) -> int:
        """Speeds less the rank of the constraints."""
        J, _ = self.rows(q, np.zeros(self.speeds))
        sigma = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
        return self.speeds - int((sigma > RANK * max(sigma.max(initial=0.0), 1.0)).sum())

    def driven(self, q: Array, names: Sequence[str]) -> tuple[Array, float]:
        """N (speed, coordinate), and the least singular value of what was solved for it over its
        largest: coordinates that do not determine the others leave it zero."""
        J, _ = self.rows(q, np.zeros(self.speeds))
        free, others = self._split(names)
        N = np.zeros((self.speeds, len(names)))
        N[free, range(len(names))] = 1.0
        if not others:
            return N, 1.0
        N[others] = -np.linalg.lstsq(J[:, others], J[:, free], rcond=1e-10)[0]
        sigma = np.linalg.svd(J[:, others], compute_uv=False)
        least = sigma[len(others) - 1] if len(sigma) >= len(others) else 0.0
        return N, float(least / sigma[0]) if sigma.size else 0.0

    def consistent(
        self, q: Array, names: Sequence[str], speeds: Array, accelerations: Array
    ) -> tuple[Array, Array, Array]:
        """N, and all speeds and accelerations that go with the coordinates' (the engine's)."""
        N, _ = self.driven(q, names)
        _, others = self._split(names)
        v, a = N @ speeds, N @ accelerations
        if others:
            J, drift = self.rows(q, v)
            a[others] -= np.linalg.lstsq(J[:, others], drift, rcond=1e-10)[0]
        return N, v, a

    def torque(self, q: Array, names: Sequence[str], rates: Array, accelerations: Array) -> Array:
        """Of the coordinates, from rates and accelerations as we count them."""
        v_, a_, T = self.own(q, names, rates, accelerations)
        N, v, a = self.consistent(q, names, v_, a_)
        return T.T @ N.T @ self.inverse(q, v, a)

    def count(
        self, states: Sequence[Array], names: Sequence[str], moving: Array
    ) -> tuple[int, float]:
        """Rank of Nᵀ Y over some configurations, and the gap of singular values at it; `moving`
        are our rates and accelerations (2, coordinate, state)."""
        rows = []
        for q, rates, accelerations in zip(states, *np.moveaxis(moving, 2, 1), strict=True):
            speeds, accelerations, T = self.own(q, names, rates, accelerations)
            N, v, a = self.consistent(q, names, speeds, accelerations)
            rows.append(T.T @ N.T @ self.regressor(q, v, a))
        return told(np.vstack(rows))

    def _split(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        free = [self.columns[name][0] for name in names]
        return free, [k for k in range(self.speeds) if k not in free]


def moving(rng: np.random.Generator, names: Sequence[str], states: Sequence[object]) -> Array:
    """Rates and accelerations at random (2, coordinate, state)."""
    return rng.uniform(-2, 2, (2, len(names), len(states)))


def told(W: Array) -> tuple[int, float]:
    """Rank, and the gap at it, with the least columns that leave one. Axes that are parallel but
    for 5e-5 rad, as 1.57075 leaves them, make columns of 2e-10 of the largest, which count; at
    1e-8 others are noise of 1e-16, 1e8 times as large."""
    for least in COLUMNS:
        if (found := rank(W, least))[1] >= CLEAR:
            break
    return found


def rank(W: Array, least: float = 1e-9, share: float = 1e-9) -> tuple[int, float]:
    """Rank of a matrix with its columns scaled to one, and by how much the singular value before
    the cut is larger than the one behind it. Columns below a share of the largest (`least`) are
    what axes leave that are parallel but for a file's last digits."""
    size = np.linalg.norm(W, axis=0)
    kept = size > least * size.max(initial=0.0)
    W = W[:, kept] / size[kept]
    sigma = np.linalg.svd(np.linalg.qr(W, mode="r"), compute_uv=False)
    found = int((sigma > share * sigma[0]).sum())
    behind = sigma[found] if found < len(sigma) else 0.0
    return found, float(sigma[found - 1] / max(behind, 1e-16 * sigma[0]))
