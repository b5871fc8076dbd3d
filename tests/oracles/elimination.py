"""Elimination the long way: least squares for every candidate at every step, nothing reused.

Columns are brought to length one, which changes no residual. Imports nothing of ours.
"""

import numpy as np

#: Torque errors this close are equal, and then the last column goes (docs/reduction.md).
TIE = 1e-12


def torque_error(columns: np.ndarray, torque: np.ndarray) -> float:
    """‖τ − W W⁺τ‖/‖τ‖; 0 for a torque that is zero."""
    norm = np.linalg.norm(torque)
    if norm == 0:
        return 0.0
    return float(np.linalg.norm(torque - columns @ solve(columns, torque)) / norm)


def solve(columns: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """Least-squares parameters, of least norm among equals (in unit columns)."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1.0
    return np.linalg.lstsq(columns / lengths, torque, rcond=None)[0] / lengths


def rank(columns: np.ndarray) -> int:
    """Rank of unit columns; what is dependent here is so to rounding, a thousand times 1e-16."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1.0
    return int(np.linalg.matrix_rank(columns / lengths, tol=1e-12)) if columns.size else 0


def backward(columns: np.ndarray, torque: np.ndarray) -> tuple[list[int], list[float]]:
    """Columns in the order they leave, and the torque error at every step (from step 0)."""
    left = list(range(columns.shape[1]))
    removed, errors = [], [torque_error(columns, torque)]
    while left:
        full = rank(columns[:, left])
        free = [j for j in left if rank(columns[:, [k for k in left if k != j]]) == full]
        losses = {j: torque_error(columns[:, [k for k in left if k != j]], torque) for j in left}
        least = min(losses.values())
        equal = [j for j in left if losses[j] <= least + TIE]
        gone = max(free if full < len(left) else equal)
        left.remove(gone)
        removed.append(gone)
        errors.append(losses[gone])
    return removed, errors


def forward(columns: np.ndarray, torque: np.ndarray) -> list[int]:
    """Columns in the order they are added; independent columns and no ties."""
    taken: list[int] = []
    while len(taken) < columns.shape[1]:
        others = [j for j in range(columns.shape[1]) if j not in taken]
        taken.append(min(others, key=lambda j: torque_error(columns[:, [*taken, j]], torque)))
    return taken
