"""Essential parameters: how many a record is worth, on its own torque's backward path."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.reduction import CRITERIA, FOLDS, backward, fewest, held_out_errors, select

from .estimate import estimate
from .regression import Fitted

#: By cross-validation.
HELD_OUT = "cv"
#: What chooses, besides a number.
CHOOSERS = (*(name for name in CRITERIA if name != "tolerance"), HELD_OUT)


def essential(
    last: Fitted, count: int, chooser: str | int, error: Array, by_blocks: bool
) -> list[int]:
    """Parameters (of the free ones, by place) that are kept.

    Parameters
    ----------
    last
        The fit with all of them.
    count
        How many there are.
    chooser
        Of `CHOOSERS`, or how many.
    error
        (1,): relative error of W.
    by_blocks
        Whether residuals follow one another.
    """
    groups = last.regression.groups
    sigma = last.estimate.sigma[groups] / np.sqrt(last.estimate.weights)
    if by_blocks:
        sigma = sigma * np.sqrt(_inflation(last))
    W, tau = last.rows / sigma[:, None], last.right / sigma
    path = backward(W[None, :, None], tau[None, :, None], None, error)
    if chooser == HELD_OUT:
        size = fewest(held_out_errors(W, tau, _folds(last), error))
    elif isinstance(chooser, str):
        chosen = select(path, (chooser,), len(tau), noise_known=True, measured=True)
        size = int(chosen.size[0, 0])
    else:
        size = min(chooser, count)
    gone = path.removed[0, 1 : count - size + 1]
    return [k for k in range(count) if k not in gone]


def _folds(last: Fitted) -> Array:
    """(row,): as many runs of rows, one after the other in time, as there are folds."""
    times = last.regression.times
    place = np.argsort(np.argsort(times, kind="stable"), kind="stable")
    return np.asarray(place * FOLDS // times.size)


def _inflation(last: Fitted) -> float:
    """How much larger than by white noise parameters' covariance is on average, at least 1.

    Residuals that follow one another make a record say less than its rows; what parameters explain
    counts by so much less (quasi-likelihood: Burnham & Anderson, "Model Selection and Multimodel
    Inference", 2002, §2.5 and §7.3: the trace that Takeuchi's criterion has).
    """
    regression = last.regression
    found = estimate(last.rows, last.right, regression.groups, times=regression.times)
    white = estimate(last.rows, last.right, regression.groups)
    ratio = np.trace(np.linalg.solve(white.covariance, found.covariance))
    return max(float(ratio) / len(found.values), 1.0)
