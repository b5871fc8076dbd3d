"""Deviations where residuals follow one another: the tapered block bootstrap, its draws summed up.

What a model does not explain, and position noise that went through a filter and W, lasts for many
rows; deviations for white noise are then wrong. Here the residuals of a piece of the record,
longer than they remember, turn their sign together, pieces independently of each other, all
drives at once; the estimates of all such draws have a covariance that needs no drawing: the sum
over pieces of their scores' squares (Cameron, Gelbach & Miller, Review of Economics and Statistics
90(3), 2008). Pieces overlap by half and fade at their ends, their squares add up to one: noise of
accelerations is mostly fast, and cut ends would make it slow (Paparoditis & Politis, Biometrika
88(4), 2001). A fit takes part of the residuals away, most where a piece has much to say; it is
given back, and Student's freedom is what the pieces' say leaves (Bell & McCaffrey, Survey
Methodology 28(2), 2002). The motion is held as it is: it was chosen, not drawn. Length of pieces:
Politis & White, Econometric Reviews 23, 2004, corrected by Patton, Politis & White, 28, 2009.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array

#: Pieces (of half a length each) that a record has at least and at most.
FEWEST, MOST = 24, 240
#: Directions in which a piece says less than this share of what others do are left out.
SILENT = 1e-6
#: A fit leaves at least this share of a piece's residual.
LEFT = 0.02


@dataclass(frozen=True)
class Equations:
    """Estimating equations Σ Zᵀ(y − X φ) = 0 at their solution, in orthonormal columns.

    Attributes
    ----------
    factor
        (parameter, parameter) U: the columns are X U.
    Z, X
        Pairs (row, parameter); the equations are the mean of all.
    rest
        (row,) of each pair: y − X φ.
    times, groups
        (row,): s, and which drive's.
    """

    factor: Array
    Z: tuple[Array, ...]
    X: tuple[Array, ...]
    rest: tuple[Array, ...]
    times: Array
    groups: Array


def block_length(residual: Array, groups: Array, times: Array) -> float:
    """Length of blocks (s) for the drive whose residuals last longest."""
    longest, span = 0.0, float(np.ptp(times))
    for g in range(int(groups.max()) + 1):
        e = residual[groups == g]
        if e.size > 4 * FEWEST and e.any():
            step = float(np.median(np.diff(times[groups == g])))
            longest = max(longest, _rows_of_a_block(e - e.mean()) * step)
    return float(np.clip(longest, 2 * span / MOST, 2 * span / FEWEST))


def _rows_of_a_block(e: Array) -> float:
    """Politis and White's length of circular blocks, in rows."""
    n = e.size
    spectrum = np.fft.rfft(e, 2 * n)
    R = np.fft.irfft(np.abs(spectrum) ** 2)[:n] / n
    calm = max(5, int(np.sqrt(np.log10(n))))
    small = np.abs(R[1:] / R[0]) < 2 * np.sqrt(np.log10(n) / n)
    runs = np.flatnonzero(np.convolve(small, np.ones(calm), "valid") == calm)
    M = 2 * max(1, int(runs[0]) if runs.size else n // 4)
    k = np.arange(1, min(M, n - 1) + 1)
    window = np.clip(2 * (1 - k / M), 0.0, 1.0)
    g = R[0] + 2 * (window * R[k]).sum()
    G = 2 * (window * k * R[k]).sum()
    return float((1.5 * G**2 / g**2 * n) ** (1 / 3)) if g > 0 else n / FEWEST


@dataclass(frozen=True)
class Spread:
    """What pieces of a record make of an estimate.

    Attributes
    ----------
    covariance
        (parameter, parameter).
    freedom
        (parameter,): of Student's t.
    blocks
        How many pieces there are.
    """

    covariance: Array
    freedom: Array
    blocks: int


def block_spread(of: Equations, length: float) -> Spread:
    """Covariance of equations' solution, and Student's freedom.

    Parameters
    ----------
    of
        The equations.
    length
        Of pieces, s.
    """
    A = np.mean([Z.T @ X for Z, X in zip(of.Z, of.X, strict=True)], axis=0)
    F = np.linalg.inv(np.linalg.cholesky((A + A.T) / 2)).T  # Fᵀ A F = 1
    factor = of.factor @ F
    place = (of.times - of.times.min()) / (length / 2)
    said = _said(of, F, place)
    back = _given_back(said.own, said.own - said.plain @ said.plain)
    whole = np.einsum("bpq,bq->bp", back, said.scores) @ factor.T
    return Spread(whole.T @ whole, _freedom(said, back, factor), len(whole))


@dataclass(frozen=True)
class _Said:
    """What pieces say: (piece, parameter, parameter) sums of columns' products.

    Weighted by a piece's window, by its square (`own`), by it and the next one's (`next`);
    `scores` (piece, parameter) by the window.
    """

    plain: Array
    own: Array
    next: Array
    scores: Array


def _window(x: Array) -> Array:
    """A piece's window at x from 0 to 2; squares of two that are 1 apart add up to one."""
    return np.asarray(np.sin(np.pi / 2 * np.sin(np.pi / 2 * np.clip(x, 0.0, 2.0)) ** 2))


def _said(of: Equations, F: Array, place: Array) -> _Said:
    """Sums over half pieces: in half k piece k rises from its begin, and piece k − 1 fades."""
    half = np.floor(place).astype(int)
    order = np.argsort(half, kind="stable")
    count, width = int(half.max()) + 2, F.shape[0]
    ends = np.searchsorted(half[order], np.arange(count))
    plain, own, both = (np.zeros((count, width, width)) for _ in range(3))
    scores = np.zeros((count, width))
    for Z, X, rest in zip(of.Z, of.X, of.rest, strict=True):
        Z, X, e = Z[order] @ F / len(of.Z), X[order] @ F, rest[order]
        for k in range(count - 1):
            some = slice(ends[k], ends[k + 1])
            up, down = _window(place[order][some] - k), _window(place[order][some] - k + 1)
            for piece, window in ((k + 1, up), (k, down)):
                plain[piece] += (Z[some] * window[:, None]).T @ X[some]
                own[piece] += (Z[some] * window[:, None] ** 2).T @ X[some]
                scores[piece] += Z[some].T @ (window * e[some])
            both[k] += (Z[some] * (up * down)[:, None]).T @ X[some]
    plain, own, both = ((one + one.transpose(0, 2, 1)) / 2 for one in (plain, own, both))
    return _Said(plain, own, both, scores)


def _given_back(own: Array, left: Array) -> Array:
    """M of each piece with M (what the fit leaves of it) Mᵀ = what white residuals would be."""
    sizes, V = np.linalg.eigh(own)
    floor = SILENT * sizes[:, -1:] + np.finfo(float).tiny
    root = np.where(sizes > floor, np.sqrt(np.maximum(sizes, floor)), 0.0)
    inverse = np.where(root > 0, 1 / np.where(root > 0, root, 1.0), 0.0)
    C, D = V * root[:, None], (V * inverse[:, None]).transpose(0, 2, 1)
    shares, U = np.linalg.eigh(D @ left @ D.transpose(0, 2, 1))
    back = (U / np.sqrt(np.clip(shares, LEFT, None))[:, None]) @ U.transpose(0, 2, 1)
    return np.asarray(C @ back @ D)


def _freedom(said: _Said, back: Array, factor: Array) -> Array:
    """(parameter,): Satterthwaite's, of residuals that were white."""
    along = np.einsum("kp,bpq->bkq", factor, back)  # of each piece and parameter
    through = np.einsum("bkq,bqp->bkp", along, said.plain)
    gram = -np.einsum("bkp,ckp->kbc", through, through)
    each = np.arange(len(back))
    gram[:, each, each] += np.einsum("bkp,bpq,bkq->kb", along, said.own, along)
    beside = np.einsum("bkp,bpq,bkq->kb", along[:-1], said.next[:-1], along[1:])
    gram[:, each[:-1], each[1:]] += beside
    gram[:, each[1:], each[:-1]] += beside
    traces = np.trace(gram, axis1=1, axis2=2)
    return np.asarray(traces**2 / (gram**2).sum(axis=(1, 2)))
