"""Reduction of one mechanism, and what its sweep shares: torque, weights, samples.

The model's own torque τ = W φ over the cycle is what a reduced model has to explain. `paths`
orders the base parameters by relevance, `criteria` say how many of them are worth keeping.
"""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import NO_EFFECT, BaseParameters
from basepar_core.dynamics import (
    Column,
    Model,
    Motion,
    Observation,
    column_values,
    cycle,
    observe,
    with_columns,
)
from basepar_core.errors import MissingDataError, MotionError, UsageError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism, cycle_line

from .criteria import CRITERIA, check_noise, check_samples, select
from .measured import errors_on, pooled
from .path import Path, backward, forward
from .projection import along
from .result import ReducedMechanism

METHODS = {"backward": backward, "forward": forward}
#: Numbers of W taken at a time (16 MB): best or near best where variants are large (Stewart's
#: platform 3.6 ms a variant, 5.9 at an eighth; UR10 1.05 ms, 1.18 at an eighth, 3.3 at a
#: thirty-second; four-bars 38 to 54 µs at any size), and temporary copies stay small beside W.
BLOCK = 1 << 21


def noise_levels(mechanism: Mechanism, pooling: str = "joint") -> Array | None:
    """σ of each coordinate's torque (coordinate,), N m or N; None where none is stated.

    Raises
    ------
    UsageError
        Forces and torques have no σ in common.
    """
    if not mechanism.noise:
        return None
    stated = dict(mechanism.noise)
    levels = evaluate([stated[name] for name in mechanism.coordinates], mechanism.nominal)
    sigma = np.array([float(level) for level in levels])
    if pooling == "joint":
        return sigma
    forces = {mechanism.value(name).is_length for name in mechanism.coordinates}
    if len(forces) > 1:
        raise UsageError(
            f"The noise of {mechanism.name!r} cannot be pooled: some coordinates have forces, "
            f"others torques. Leave each its own σ.",
            ["noise="],
        )
    return pooled(sigma)


def effective_samples(mechanism: Mechanism, asked: float | None = None) -> float:
    """n of the criteria: as asked, as the cycle states, or its samples × coordinates."""
    if asked is not None:
        check_samples(asked)
        return float(asked)
    assert mechanism.cycle is not None
    if (stated := mechanism.cycle.effective_samples) is not None:
        return float(evaluate([stated], mechanism.nominal)[0])
    return float(mechanism.cycle.samples * len(mechanism.coordinates))


def check_reducible(mechanism: Mechanism, criteria: Sequence[str]) -> None:
    """Reject what cannot be reduced.

    Raises
    ------
    MissingDataError
        No cycle, bodies without inertia, or no noise where a criterion needs it.
    """
    if mechanism.cycle is None:
        raise MissingDataError(
            f"Reduction compares torques over a cycle, and {mechanism.name!r} states none. Add "
            f"`{cycle_line(mechanism)}`.",
            ["cycle"],
        )
    bare = [body.name for body in mechanism.bodies if body.parameters is None]
    if bare:
        raise MissingDataError(
            f"Reduction needs torques, torques need inertias, and {', '.join(bare)} of "
            f"{mechanism.name!r} {'has' if len(bare) == 1 else 'have'} none. Give mass, centre "
            f"and inertia.",
            [f"bodies.{name}" for name in bare],
        )
    check_noise(criteria, bool(mechanism.noise))


def own_path(
    W: Array,
    phi: Array,
    kept: Sequence[int],
    noise: Array | None = None,
    error: Array | float = 0.0,
    method: str = "backward",
) -> Path:
    """The path of models' own torques.

    Parameters
    ----------
    W
        (variant, sample, coordinate, parameter), all parameters.
    phi
        (variant, parameter), SI.
    kept
        Base parameters by index.
    noise
        (coordinate,): σ, N m or N; None: rows count alike.
    error
        (variant,): relative error of W.
    method
        backward or forward.
    """
    error = np.broadcast_to(error, (len(W),))
    block = max(1, BLOCK // W[0].size) if len(W) else 1
    parts = [slice(k, k + block) for k in range(0, len(W) or 1, block)]
    paths = [_own_path(W[p], phi[p], list(kept), noise, error[p], method) for p in parts]
    return Path(*(np.concatenate([getattr(path, f.name) for path in paths]) for f in fields(Path)))


def _own_path(
    W: Array, phi: Array, kept: list[int], noise: Array | None, error: Array, method: str
) -> Path:
    weights = np.ones(W.shape[2]) if noise is None else 1 / noise
    torque = np.einsum("vscp,vp->vsc", W, phi)
    # A balanced machine's torque is what rounding leaves of cancelling parts.
    parts = np.einsum("vscp,vscp,c->vp", W, W, weights**2) * phi**2
    negligible = NO_EFFECT * np.sqrt(parts.sum(axis=1))
    return METHODS[method](W[..., kept], torque, weights, error, negligible)


def reduce_mechanism(
    model: Model,
    base: BaseParameters,
    method: str = "backward",
    criteria: Sequence[str] | None = None,
    tolerance: float = 0.01,
    samples: float | None = None,
    columns: Sequence[Column] = (),
    validate: Motion | None = None,
    pooling: str = "joint",
) -> ReducedMechanism:
    """Reduce a mechanism at its nominal geometry over its cycle.

    Parameters
    ----------
    model, base
        The mechanism, prepared, and its base parameters.
    method
        backward (elimination) or forward (addition); the two greedy paths differ in general,
        and neither guarantees the smallest model.
    criteria
        Of `criteria.CRITERIA`; None: all, or the tolerance alone where no noise is stated.
    tolerance
        Relative torque error of the criterion `tolerance`.
    samples
        n of the criteria; None: as the file states, or samples × coordinates.
    columns
        Force-law columns that `base` has (`base.extended.extend`).
    validate
        A second trajectory, on which the models found on the cycle are held against torques.
    pooling
        "joint": each coordinate's torque has its stated σ; "pooled": all have the same variance.

    Raises
    ------
    MissingDataError
        As `check_reducible`; or force-law columns without a value.
    MotionError
        The cycle cannot be followed.
    UsageError
        Unknown method or criteria.
    """
    mechanism = model.mechanism
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise UsageError(f"No such method: {method!r}. Methods are {known}.", [method])
    if criteria is None:
        criteria = CRITERIA if mechanism.noise else CRITERIA[:1]
    check_reducible(mechanism, criteria)
    motion = cycle(mechanism, model.assembled.coordinates)
    seen = _observed(model, motion, columns, "cycle")
    noise = noise_levels(mechanism, pooling)
    inertial = mechanism.inertial_parameters(mechanism.nominal)
    further = column_values(mechanism, columns, mechanism.nominal)
    phi = np.concatenate([inertial, further]).reshape(1, -1)
    path = own_path(seen.W, phi, base.kept, noise, seen.error, method)
    n = effective_samples(mechanism, samples)
    found = select(path, criteria, n, noise_known=noise is not None, tolerance=tolerance)
    return ReducedMechanism(
        mechanism=mechanism.name,
        method=method,
        path=path,
        selection=found,
        samples=n,
        tolerance=tolerance,
        noise=()
        if noise is None
        else tuple(zip(mechanism.coordinates, map(float, noise), strict=True)),
        base=base,
        W=seen.W[0],
        validation=None
        if validate is None
        else _validation(
            seen,
            _observed(model, validate, columns, "second trajectory"),
            phi,
            path,
            base,
            noise,
        ),
    )


def _validation(
    seen: Observation,
    second: Observation,
    phi: Array,
    path: Path,
    base: BaseParameters,
    noise: Array | None,
) -> Array:
    kept = list(base.kept)
    beta = np.array([[entry.value] for entry in base.beta]).reshape(-1, 1)
    values = along(path, seen.W[..., kept], base.combine(phi, beta), noise)
    found: Array = errors_on(second.W[..., kept], second.W @ phi[0], values, noise)[0]
    return found


def _observed(model: Model, motion: Motion, columns: Sequence[Column], what: str) -> Observation:
    """W at nominal geometry along a motion."""
    mechanism = model.mechanism
    seen = observe(model, {}, motion)
    if not seen.closed[0] or not np.isfinite(seen.W).all():
        sample = seen.trace.where[0]
        at = f" before sample {sample + 1:.0f} of {motion.t.size}" if np.isfinite(sample) else ""
        raise MotionError(
            f"The {what} of {mechanism.name!r} cannot be followed at the nominal geometry: the "
            f"loops fail{at}. Change the {what}'s motion, or the assembly.",
            [what],
        )
    return with_columns(model, {}, motion, seen, columns)
