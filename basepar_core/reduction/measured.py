"""Reduction held against other torques: on a second trajectory, and of measured torques.

Noise of measured torques is stated or estimated, one σ for each coordinate or one for all; the
size of the effective sample is stated, or estimated from how residuals follow one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from .criteria import Selection, check_samples, select
from .path import Path, backward, forward

#: Weights have settled where no σ changes by more than this share.
SETTLED = 1e-10
_ROUNDS = 200
Pooling = Literal["joint", "pooled"]


def errors_on(W: Array, tau: Array, values: Array, noise: Array | None = None) -> Array:
    """Torque errors of a path's models on another trajectory: nothing is fitted again.

    Parameters
    ----------
    W
        (variant, sample, coordinate, base) of the other trajectory.
    tau
        (variant, sample, coordinate): its torque, N or N m.
    values
        (variant, step, base): of the models (`Path.values`, `projection.along`).
    noise
        (coordinate,): σ; None: rows count alike.

    Returns
    -------
    (variant, step): ‖τ − W φ_k‖/‖τ‖, weighted; 0 where the torque is 0 and so is the model's.
    """
    weights = np.ones(W.shape[2]) if noise is None else 1 / noise
    count = len(W)
    rows = (W * weights[:, None]).reshape(count, -1, W.shape[-1])
    torque = (tau * weights).reshape(count, -1, 1)
    missing = np.linalg.norm(torque - rows @ np.swapaxes(values, 1, 2), axis=1)
    norm = np.linalg.norm(torque, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.where(missing == 0, 0.0, missing / norm)
    return found


@dataclass(frozen=True)
class Measured:
    """Reduction of models of measured torques.

    Attributes
    ----------
    path, selection
        Rows are divided by σ.
    noise
        (variant, coordinate): σ, stated or estimated, N m or N.
    samples
        (variant,): n of the criteria.
    """

    path: Path
    selection: tuple[Selection, ...]
    noise: Array
    samples: Array


def reduce_measured(
    W: Array,
    tau: Array,
    criteria: Sequence[str],
    *,
    noise: Array | None = None,
    pooling: Pooling = "joint",
    samples: float | Literal["estimated"] | None = None,
    method: str = "backward",
    tolerance: float = 0.01,
    error: Array | float = 0.0,
) -> Measured:
    """Reduce models to what measured torques are worth.

    Parameters
    ----------
    W
        (variant, sample, coordinate, base).
    tau
        (variant, sample, coordinate): measured, N or N m.
    criteria
        Of `criteria.CRITERIA`.
    noise
        (coordinate,): σ where known; None: estimated from the full model's residuals.
    pooling
        Whether coordinates have one σ each, or one together.
    samples
        n; None: samples × coordinates; "estimated": see `effective_size`.
    method, tolerance, error
        As in `reduce.reduce_mechanism` and `path.backward`.

    Raises
    ------
    UsageError
        There are no more rows than parameters, so that nothing is left to estimate noise from.
    """
    known = noise is not None
    sigma = (
        np.broadcast_to(pooled(noise) if pooling == "pooled" else noise, (len(W), W.shape[2]))
        if noise is not None
        else estimate_noise(W, tau, pooling)
    )
    white = W / sigma[:, None, :, None]
    torque = tau / sigma[:, None]
    path = {"backward": backward, "forward": forward}[method](white, torque, None, error)
    if not isinstance(samples, str | None):
        check_samples(samples)
    if samples == "estimated":
        n = effective_size(white, torque)
    else:
        n = np.full(len(W), float(W.shape[1] * W.shape[2] if samples is None else samples))
    lanes = [Path(*(getattr(path, f)[[k]] for f in _FIELDS)) for k in range(len(W))]
    chosen = tuple(
        select(one, criteria, float(size), noise_known=known, measured=True, tolerance=tolerance)
        for one, size in zip(lanes, n, strict=True)
    )
    return Measured(path, chosen, np.array(sigma), n)


_FIELDS = ("removed", "torque_error", "torque_norm", "values", "dependent")


def pooled(noise: Array) -> Array:
    """One σ for all coordinates, with the same variance in all."""
    return np.full(noise.shape, np.sqrt((noise**2).mean()))


def estimate_noise(W: Array, tau: Array, pooling: Pooling = "joint") -> Array:
    """σ of measured torques from the residuals of the full model: (variant, coordinate).

    One σ for each coordinate: weighted least squares and variances in turn until they agree,
    each variance with the degrees of freedom that its own rows have left (rows less leverage);
    exact for independent noise at the fixed point (Aitken's feasible estimator). One for all:
    RSS/(N − rank).

    Raises
    ------
    UsageError
        No degree of freedom is left.
    """
    count, samples, coordinates, width = W.shape
    if samples * coordinates <= width:
        raise UsageError(
            f"Noise cannot be estimated: {samples * coordinates} torques, {width} parameters. "
            f"Measure more samples, or state the noise.",
            ["noise"],
        )
    sigma = np.ones((count, coordinates))
    for _ in range(_ROUNDS):
        residual, leverage = _residuals(W / sigma[:, None, :, None], tau / sigma[:, None])
        square = (residual**2).sum(axis=1)
        room = samples - leverage.sum(axis=1)
        if pooling == "pooled":
            return np.repeat(np.sqrt(square.sum(1) / room.sum(1))[:, None], coordinates, axis=1)
        # A coordinate that is fitted exactly keeps a σ of rounding, not of zero.
        floor = np.finfo(float).eps * np.abs(tau / sigma[:, None]).max(axis=1)
        factor = np.maximum(np.sqrt(square / np.maximum(room, 1e-9)), np.maximum(floor, 1e-300))
        sigma = sigma * factor
        if np.abs(factor - 1).max() < SETTLED:
            break
    return sigma


def effective_size(W: Array, tau: Array) -> Array:
    """Independent samples in measured torques: (variant,).

    Residuals of the full model that follow one another with correlation ρ (lag one, each
    coordinate its own) are worth N(1 − ρ)/(1 + ρ) independent ones (a first-order process;
    Bayley & Hammersley, J. Royal Statistical Society Suppl. 8(2), 1946). At most N.
    """
    residual, _ = _residuals(W, tau)
    power = (residual**2).sum(axis=1)
    follow = (residual[:, 1:] * residual[:, :-1]).sum(axis=1)
    rho = np.clip(np.where(power > 0, follow / np.where(power > 0, power, 1), 0), 0, 1 - 1e-6)
    found: Array = (W.shape[1] * (1 - rho) / (1 + rho)).sum(axis=1)
    return found


def _residuals(W: Array, tau: Array) -> tuple[Array, Array]:
    """Residuals of least squares and leverages of rows, (variant, sample, coordinate) both."""
    count, samples, coordinates, width = W.shape
    rows = W.reshape(count, -1, width)
    lengths = np.sqrt((rows**2).sum(axis=1))
    unit = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    there = values > 1e-12 * values[:, :1]  # dependent columns explain nothing more
    basis = left * there[:, None]
    torque = tau.reshape(count, -1, 1)
    fitted = basis @ (np.swapaxes(basis, 1, 2) @ torque)
    shape = (count, samples, coordinates)
    return (torque - fitted).reshape(shape), (basis**2).sum(axis=2).reshape(shape)
