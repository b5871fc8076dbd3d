"""How well models along a path predict what they were not fitted to: cross-validation by blocks.

Neighbouring rows of a record say almost the same, so that single rows left out are predicted by
their neighbours; runs of rows are left out instead (Burman, Chow & Nolan, Biometrika 81(2), 1994).
Each fold makes its own path: which parameters leave is part of what is judged (Hastie, Tibshirani
& Friedman, "The Elements of Statistical Learning", 2009, §7.10.2).
"""

import numpy as np

from basepar_core.arrays import Array

from .path import backward

#: Folds of a record, the field's number.
FOLDS = 10
#: By what share of the least error a smaller model may be worse.
WORSE = 0.02


def held_out_errors(W: Array, tau: Array, folds: Array, error: Array | float = 0.0) -> Array:
    """‖τ − W_k φ_k‖/‖τ‖ (step,) over rows that each fold's fit has not seen, for k = b … 0.

    Parameters
    ----------
    W
        (row, base), rows weighted by 1/σ.
    tau
        (row,), weighted likewise.
    folds
        (row,) int: which fold leaves a row out.
    error
        Relative error of W.
    """
    rss = np.zeros(W.shape[1] + 1)
    for fold in np.unique(folds):
        out = folds == fold
        path = backward(W[None, ~out, None], tau[None, ~out, None], None, error)
        rss += ((tau[out] - path.values[0] @ W[out].T) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(rss / (tau**2).sum()))


def fewest(errors: Array) -> int:
    """The fewest parameters whose error, of `held_out_errors`, is within `WORSE` of the least.

    All parameters would be no measure: where they overfit, much smaller models are as bad.
    """
    sizes = np.arange(len(errors))[::-1]
    return int(sizes[errors <= (1 + WORSE) * errors.min()].min())
