"""Rank, spectra and the β check of a chunk of variants: `base.numeric.check`, compiled.

The plain route stays the judge of close calls: a variant where a singular value, a column's length
or the β check stands so near to a limit that rounding might decide is given to it, and so is one
that has not converged. So both give every variant the same verdict.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import Check, Spectrum, numeric_route

#: Two routes' singular values of m unit columns differ by up to about 2 √m eps (UR10; less where
#: m is less); by twice as much for safety. What counts as noise is 8 √m eps at the least.
SLACK = 4.0
_SETTINGS = np.array([numeric_route.NO_EFFECT, numeric_route.CANCELLED])


def check(
    W: Array,
    error: Array,
    kept: tuple[int, ...],
    eliminated: tuple[int, ...],
    places: Array,
    entries: Array,
    terms: Array,
    chosen: Array | None = None,
) -> Check:
    """Hold a sparse β against W, as `base.numeric.check` does.

    Parameters
    ----------
    W
        (variant, sample, coordinate, parameter), best as `columns` has it; finite where chosen.
    error, terms
        (chosen,) and (chosen, parameter), as in `base.numeric.spectrum`.
    kept, eliminated
        φ₁ and φ₂ by index.
    places, entries
        β's entries: (2, entry), where in φ₁ and φ₂, and (entry, chosen) values, finite.
    chosen
        Variants by index; None: all.
    """
    if chosen is None:
        chosen = np.arange(len(W))
    count, width, rows = len(chosen), W.shape[3], W.shape[1] * W.shape[2]
    if rows < width:  # fewer rows than columns: rare, and not worth kernels of its own
        return _plain(W, error, kept, eliminated, places, entries, terms, chosen)
    from .linear_spectra import hold
    from .linear_triangles import triangles_of

    order = np.array([*kept, *eliminated], dtype=np.int64)
    found = (
        np.empty((count, width)),
        np.empty((count, width)),
        np.empty((count, len(kept))),
        np.empty(count),
        np.empty(count),
        np.empty((count, width)),
    )
    hold(
        triangles_of(columns(W), chosen, order),
        order,
        len(kept),
        np.ascontiguousarray(terms),
        np.ascontiguousarray(entries),
        places,
        _SETTINGS,
        found,
    )
    values, scaled, reduced, share, faint, norms = found
    dead = norms <= numeric_route.NO_EFFECT * norms.max(axis=1, keepdims=True)
    spectrum = numeric_route.judged(values, scaled, error, rows, dead)
    result = Check(spectrum, share, numeric_route.spread(reduced))
    close = np.flatnonzero(_close(result) | (faint > 0) | ~_converged(values, scaled, reduced))
    if not close.size:
        return result
    plain = _plain(
        W, error[close], kept, eliminated, places, entries[:, close], terms[close], chosen[close]
    )
    return _with(result, plain, close)


def columns(W: Array) -> Array:
    """(variant, parameter, row), contiguous: no copy where the kernels made W."""
    across = np.ascontiguousarray(W.transpose(0, 3, 2, 1))
    return across.reshape(len(W), W.shape[3], -1)


def finite(W: Array) -> Array:
    """(variant,) bool: whether all of W (variant, sample, coordinate, parameter) is finite."""
    rows = columns(W).reshape(len(W), -1)
    with np.errstate(all="ignore"):
        found = np.isfinite(rows.sum(axis=1))  # one number that is not finite makes the sum so
    for v in np.flatnonzero(~found):  # and so do very large ones
        found[v] = np.isfinite(rows[v]).all()
    return found


def _stacked(W: Array) -> Array:
    """(variant, row, parameter)."""
    return W.reshape(len(W), -1, W.shape[3])


def _plain(
    W: Array,
    error: Array,
    kept: tuple[int, ...],
    eliminated: tuple[int, ...],
    places: Array,
    entries: Array,
    terms: Array,
    chosen: Array,
) -> Check:
    beta = np.zeros((len(chosen), len(kept), len(eliminated)))
    beta[:, places[0], places[1]] = entries.T
    return numeric_route.check(_stacked(W[chosen]), error, kept, eliminated, beta, terms)


def _converged(*spectra: Array) -> Array:
    finite = np.ones(len(spectra[0]), dtype=bool)
    for values in spectra:
        finite &= np.isfinite(values).all(axis=1)
    return finite


def _close(held: Check) -> Array:
    """(variant,) bool: whether rounding might change the verdict."""
    found = held.spectrum
    slack = SLACK * np.finfo(float).eps * np.sqrt(found.scaled.shape[1])
    limits = found.noise[:, None]
    near = (np.abs(found.scaled - limits) <= slack).any(axis=1)
    near |= (np.abs(found.scaled - numeric_route.CLEAR * limits) <= slack).any(axis=1)
    last, _, steepest = numeric_route.edge(found.scaled, found.noise, found.rank)
    limit = numeric_route.STEEPER * steepest * found.noise
    near |= (last > limit / 2) & (last < limit * 2) & (found.rank == found.at_least)
    limit = numeric_route.allowed_share(
        found.noise
    )  # some 1e-9; two routes' shares differ by 1e-15
    return near | (np.abs(held.null_error - limit) <= 1e-3 * limit)


def _with(result: Any, part: Any, rows: Array) -> Any:
    """A dataclass of arrays with some rows replaced."""
    changed = {}
    for field in fields(result):
        whole, new = getattr(result, field.name), getattr(part, field.name)
        if isinstance(whole, Spectrum):
            changed[field.name] = _with(whole, new, rows)
        else:
            changed[field.name] = whole = whole.copy()
            whole[rows] = new
    return replace(result, **changed)
