"""What exciting motions make least, and the smooth maxima that stand for their limits."""

import numpy as np
from scipy.linalg import solve_triangular

from basepar_core.arrays import Array

#: Sharpness of the smooth maxima: they lie up to log(samples)/SHARP, about 2 %, above the true.
SHARP = 300.0


def condition(W: Array) -> tuple[float, Array]:
    """log of the condition number of W (sample, coordinate, parameter) with unit columns.

    Returns
    -------
    value
        inf where a column vanishes.
    slope
        As W: its derivative by every entry.
    """
    rows = W.reshape(-1, W.shape[-1])
    norms = np.sqrt((rows**2).sum(axis=0))
    if not (norms > 0).all():
        return np.inf, np.zeros_like(W)
    X = rows / norms
    U, s, V = np.linalg.svd(X, full_matrices=False)
    if s[-1] == 0:
        return np.inf, np.zeros_like(W)
    G = np.outer(U[:, 0], V[0]) / s[0] - np.outer(U[:, -1], V[-1]) / s[-1]
    slope = (G - X * (X * G).sum(axis=0)) / norms
    return float(np.log(s[0] / s[-1])), slope.reshape(W.shape)


def volume(W: Array, sigma: Array) -> tuple[float, Array]:
    """−log det(WᵀΣ⁻¹W)/2r and its derivative; `sigma` (coordinate,); shapes as `condition`."""
    scaled = W / sigma[:, None]
    rows = scaled.reshape(-1, W.shape[-1])
    Q, R = np.linalg.qr(rows)
    sizes = np.abs(np.diag(R))
    if not (sizes > 0).all():
        return np.inf, np.zeros_like(W)
    slope = -solve_triangular(R, Q.T).T / len(sizes)
    return -float(np.log(sizes).mean()), slope.reshape(W.shape) / sigma[:, None]


def smooth_size(shares: Array) -> tuple[Array, Array]:
    """Smooth maximum over the last axis of |share|, and its derivative by every share."""
    both = np.concatenate([shares, -shares], axis=-1)
    value, weights = smooth_top(both)
    plus, minus = np.split(weights, 2, axis=-1)
    return value, plus - minus


def smooth_top(shares: Array) -> tuple[Array, Array]:
    """Smooth maximum over the last axis (Kreisselmeier & Steinhauser), no less than the true."""
    greatest = shares.max(axis=-1, keepdims=True)
    powers = np.exp(SHARP * (shares - greatest))
    total = powers.sum(axis=-1, keepdims=True)
    return (greatest + np.log(total) / SHARP)[..., 0], powers / total
