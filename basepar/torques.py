"""Torques W φ of many states, W made and used piece by piece."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Closed, States
from basepar_core.dynamics import Motion
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural

#: Entries of W at once: some megabytes.
_ENTRIES = 1 << 19


def parameters_of(mechanism: Mechanism, phi: object) -> Array:
    """φ (…, parameter) as an array.

    Raises
    ------
    UsageError
        Not numbers, or another last axis.
    """
    try:
        found = np.asarray(phi, float)
    except (TypeError, ValueError):
        raise UsageError("phi is not an array of numbers.", ["phi"]) from None
    count = len(mechanism.parameter_names)
    if found.ndim == 0 or found.shape[-1] != count:
        raise UsageError(
            f"phi has shape {found.shape}; its last axis must be the "
            f"{plural(count, 'parameter')} of {mechanism.name!r}.",
            ["phi"],
        )
    return found


def product(W: Array, phi: Array) -> Array:
    """W (…, coordinate, parameter) times φ (…, parameter), leading dimensions broadcast.

    Raises
    ------
    UsageError
        They do not broadcast.
    """
    try:
        np.broadcast_shapes(W.shape[:-2], phi.shape[:-1])
    except ValueError:
        raise UsageError(
            f"phi has shape {phi.shape}; its leading dimensions {phi.shape[:-1]} do not "
            f"broadcast with those of states and geometry, {W.shape[:-2]}.",
            ["phi"],
        ) from None
    return np.einsum("...cp,...p->...c", W, phi)


def torques(states: States, at: Closed, motion: Motion, phi: Array) -> tuple[Array, Array]:
    """τ (variant, sample, coordinate) and which are closed; W is made piece by piece.

    `phi` is (variant, parameter) or one for all; of pairs (sample, parameter) or one.
    """
    count, samples = at.q.shape[1:]
    width, free = phi.shape[-1], len(motion.q)
    tau, closed = np.empty((count, samples, free)), at.closed.copy()
    size = max(8, _ENTRIES // (count * width * free))
    for first in range(0, samples, size):
        part = slice(first, first + size)
        here = Closed(np.ascontiguousarray(at.q[..., part]), at.closed[:, part])
        piece = Motion(*(x[..., part] for x in (motion.t, motion.q, motion.q_dot, motion.q_ddot)))
        if states.paired:
            part_states = states.take(part)
            W, whole = part_states.regressor(piece, here)
            own = phi[part] if len(phi) > 1 else phi
            tau[:, part] = np.einsum("vpcs,sp->vsc", W, np.broadcast_to(own, (W.shape[-1], width)))
        else:
            W, whole = states.regressor(piece, here)
            flat = np.matmul(phi[:, None], W.reshape(count, width, -1))
            tau[:, part] = flat.reshape(count, free, -1).transpose(0, 2, 1)
        closed[:, part] &= whole[:, None]
    return tau, closed
