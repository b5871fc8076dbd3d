"""Sums of squares made small by Gauss and Newton, damped, within bounds and limits.

Every step is the least of the linearised residuals, damped as by Levenberg and Marquardt (Moré,
Lecture Notes in Mathematics 630, 1978), under linearised limits: a problem of least squares with
inequalities, solved exactly as one of least distance (Lawson & Hanson, Solving Least Squares
Problems, 1974, chapter 23).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

#: Damping at first, as a share of the columns' sizes; what it is divided or multiplied by, and
#: where the search ends because no step is small enough.
DAMPED, EASED, STIFFENED, RIGID = 1e-2, 5.0, 4.0, 1e10
#: A step that promises less than this share of the sum, or is shorter than this, is none.
PROMISED, SHORT = 1e-13, 1e-13
#: Shares of what was promised: below the first a step is none, below the second damping grows,
#: above the third it shrinks.
TAKEN, POOR, GOOD = 1e-4, 0.25, 0.75
#: A distance to the limits' cone (its target has size 1) below this is rounding: they contradict.
APART = 1e-10
#: What missing a limit costs, as a multiple of what it holds back (an exact penalty above 1).
DEAR = 2.0
ITERATIONS = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A design in shares (symbol,): residuals (row,), what limits have to spare (limit,), and
    the slopes of both by the shares."""

    residuals: np.ndarray
    slopes: np.ndarray
    spare: np.ndarray
    spares: np.ndarray

    @property
    def sum(self) -> float:
        return float(self.residuals @ self.residuals)

    def cost(self, price: float) -> float:
        """The sum of squares, and what limits are missed by at a price."""
        return self.sum - price * float(np.minimum(self.spare, 0.0).sum())

    def after(self, step: np.ndarray) -> "Place":
        """What a step promises: all of it linear."""
        left = self.residuals + self.slopes @ step
        return replace(self, residuals=left, spare=self.spare + self.spares @ step)


def minimised(at: Callable[[np.ndarray], Place | None], shares: np.ndarray) -> str:
    """Follow the residuals from shares within [0, 1]; why it ended.

    `at` sees every design that is tried, and keeps what is to be kept; None: no residuals there.
    """
    here, damping, price = at(shares), DAMPED, 0.0
    if here is None:
        return "the start does not close"
    sizes = _sizes(here.slopes)
    for _ in range(ITERATIONS):
        step, prices = _limited(here, shares, damping * sizes)
        price = max(price, DEAR * 2 * prices.max(initial=0.0))
        promised = here.cost(price) - here.after(step).cost(price)
        if np.abs(step).max() < SHORT or promised <= PROMISED * here.sum:
            return "no step makes the sum of squares less"
        moved = np.clip(shares + step, 0.0, 1.0)
        there = at(moved)
        gain = -np.inf if there is None else (here.cost(price) - there.cost(price)) / promised
        if there is None or gain <= TAKEN:
            damping *= STIFFENED
            if damping > RIGID:
                return "no step is short enough"
            continue
        damping *= STIFFENED if gain < POOR else 1.0
        damping /= EASED if gain > GOOD else 1.0
        here, shares = there, moved
        sizes = np.maximum(sizes, _sizes(here.slopes))
    return f"ended after {ITERATIONS} steps"


def _sizes(slopes: np.ndarray) -> np.ndarray:
    """(symbol,) sums of squares of columns, none much smaller than the largest."""
    found = (slopes**2).sum(axis=0)
    return np.maximum(found, max(1e-16 * found.max(), 1e-300))


def _limited(
    here: Place, shares: np.ndarray, damping: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The step (symbol,) within bounds and limits, and what each limit (limit,) holds back.

    Limits that are missed are met if they can be.
    """
    count = len(shares)
    rows = np.concatenate([here.spares, np.eye(count), -np.eye(count)])
    least = np.concatenate([-here.spare, -shares, shares - 1])
    system = np.concatenate([here.slopes, np.diag(np.sqrt(damping))])
    wanted = np.concatenate([-here.residuals, np.zeros(count)])
    found = bounded(system, wanted, rows, least)
    if found is None:  # nobody can meet all of them at once: none gets worse
        found = bounded(system, wanted, rows, np.minimum(least, 0.0))
    if found is None:
        return np.zeros(count), np.zeros(len(here.spare))
    return found[0], found[1][: len(here.spare)]


def bounded(
    system: np.ndarray, wanted: np.ndarray, rows: np.ndarray, least: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """x with system·x next to wanted and rows·x ≥ least, and its multipliers (row,); None where
    there is none.

    The multipliers are those of half of the sum of squares.
    """
    from scipy.linalg import qr, solve_triangular  # for workers only, as in `descents`
    from scipy.optimize import nnls

    Q, R = qr(system, mode="economic")
    free = Q.T @ wanted
    turned = solve_triangular(R, rows.T, trans="T").T
    beyond = least - turned @ free
    size = np.abs(beyond).max(initial=0.0)
    if (beyond <= 0).all():
        return solve_triangular(R, free), np.zeros(len(rows))
    problem = np.concatenate([turned.T, beyond[None] / size])
    last = np.zeros(len(problem))
    last[-1] = 1.0
    try:
        weights, far = nnls(problem, last)
    except RuntimeError:  # more iterations than it allows itself
        return None
    if far < APART:
        return None
    off = problem @ weights - last
    multipliers = -size * weights / off[-1]
    return solve_triangular(R, free + turned.T @ multipliers), multipliers
