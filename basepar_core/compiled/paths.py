"""Torques, their metrics, and reduction paths of a chunk of variants, compiled.

`reduce.own_path` is the plain path and judges close calls: a variant in which a column's
dependence, a tie or a vanishing torque hangs on rounding is given to it.
"""

from dataclasses import dataclass, fields

import numpy as np

from basepar_core.arrays import Array, writable
from basepar_core.base import OPERATIONS
from basepar_core.compiled.simd import WIDTH
from basepar_core.reduction import Path
from basepar_core.reduction import reduce as reduction

from .linear import SLACK, columns
from .workspace import zeros


@dataclass(frozen=True)
class Torques:
    """Models' own torques over the cycle: (variant, coordinate) rms and peak, N m or N."""

    rms: Array
    peak: Array


@dataclass(frozen=True)
class Efforts:
    """The same, with the least and the greatest value, the largest power (W) and the work (J)."""

    rms: Array
    peak: Array
    least: Array
    greatest: Array
    power: Array
    energy: Array


def efforts(W: Array, phi: Array, chosen: Array, rates: Array, shares: Array) -> Efforts:
    """As `torques`, and what needs rates (coordinate, sample) and shares of time (sample,), s."""
    from .paths_torques import drive_at

    found = Efforts(*np.empty((6, len(chosen), W.shape[2])))
    rates, shares = writable(rates), writable(shares)
    every = tuple(getattr(found, field.name) for field in fields(Efforts))
    drive_at(columns(W), chosen, writable(phi), rates, shares, _rows(W), every)
    return found


def torques(W: Array, phi: Array, chosen: Array) -> Torques:
    """Metrics of τ = W φ.

    Parameters
    ----------
    W
        (variant, sample, coordinate, parameter), best as `linear.columns` has it; finite where
        chosen.
    phi
        (chosen, parameter), SI.
    chosen
        Variants by index.
    """
    from .paths_torques import drive

    found = Torques(*np.empty((2, len(chosen), W.shape[2])))
    drive(columns(W), chosen, writable(phi), _rows(W), found.rms, found.peak)
    return found


def _rows(W: Array, count: int = 1) -> Array:
    """Scratch: so many columns of one variant's W, filled up to whole vectors."""
    rows = W.shape[1] * W.shape[2]
    return zeros((count, -(-rows // WIDTH) * WIDTH))


def own_path(
    W: Array,
    phi: Array,
    kept: tuple[int, ...],
    noise: Array | None,
    error: Array,
    chosen: Array,
    method: str = "backward",
) -> tuple[Path, Torques]:
    """The path of models' own torques, and metrics of these torques.

    Parameters as in `reduce.own_path` and `torques`; error is (chosen,).
    """
    count, coordinates, width = len(chosen), W.shape[2], len(kept)
    if W.shape[1] * coordinates <= width:  # no triangle: rare, and not worth kernels of its own
        path = reduction.own_path(W[chosen], phi, kept, noise, error, method)
        return path, torques(W, phi, chosen)
    from .paths_torques import reduce

    eps = np.finfo(float).eps
    path = Path(
        np.empty((count, width + 1), dtype=int),
        np.empty((count, width + 1)),
        np.empty(count),
        np.empty((count, width + 1, width)),
        np.empty(count, dtype=int),
    )
    found, close = Torques(*np.empty((2, count, coordinates))), np.empty(count)
    places, weights = np.full(W.shape[3], width + 5), _rows(W)
    places[list(kept)] = np.arange(width)
    scales = np.ones(coordinates) if noise is None else 1 / noise
    weights[0, : W.shape[1] * coordinates] = np.repeat(scales, W.shape[1])
    reduce(
        columns(W),
        chosen,
        places,
        writable(phi),
        weights,
        OPERATIONS * np.sqrt(width) * np.maximum(error, eps),
        SLACK * np.sqrt(width) * eps,
        method == "forward",
        (_rows(W, width + 6), _rows(W)),
        (
            path.removed,
            path.torque_error,
            path.values,
            path.torque_norm,
            path.dependent,
            close,
            found.rms,
            found.peak,
        ),
    )
    doubtful = np.flatnonzero((close > 0) | ~np.isfinite(path.torque_error).all(axis=1))
    if doubtful.size:
        plain = reduction.own_path(
            W[chosen[doubtful]], phi[doubtful], kept, noise, error[doubtful], method
        )
        for field in fields(Path):
            getattr(path, field.name)[doubtful] = getattr(plain, field.name)
    return path, found
