"""W at nominal geometry, which routes look at and compare with."""

import numpy as np

from basepar_core.dynamics import (
    OPEN,
    Model,
    Observation,
    Outcome,
    excitation,
    observe_alone,
    sampling,
    trace,
)
from basepar_core.errors import AssemblyError, MotionError
from basepar_core.mechanism import Fourier, States

#: Shares of an excitation that are tried where it cannot be followed.
SMALLER = (0.5, 0.25, 0.1, 0.05, 0.02)


def nominal_observation(model: Model) -> Observation:
    """W at nominal geometry along the excitation, by the plain path.

    Parameters
    ----------
    model
        The mechanism, prepared.

    Raises
    ------
    MotionError
        The loops cannot follow.
    AssemblyError
        The assembled pose is singular: the loops open along the motion.
    """
    motion = excitation(model.mechanism, model.assembled.coordinates)
    return _sound(model, observe_alone(model, motion))


def nearby_observation(model: Model) -> Observation:
    """The same, along random states about the assembly where no excitation is stated.

    For symbolic results alone: singular values of such states mean nothing to a user.

    Raises
    ------
    MotionError, AssemblyError
        As `nominal_observation`.
    """
    return _sound(model, observe_alone(model, sampling(model)))


def _lost(model: Model, sample: int) -> MotionError:
    """Where the excitation cannot be followed, and how much of it can."""
    it, start = model.mechanism, model.assembled.coordinates
    q = excitation(it, start).q
    here, there = (
        ", ".join(
            f"{name} = {x:.4g} m"
            if it.value(name).is_length
            else f"{name} = {np.degrees(x):.1f} deg"
            for name, x in zip(it.coordinates, values, strict=True)
        )
        for values in (start, q[:, sample])
    )
    remedy = "Change it, or the assembly"
    if isinstance(it.excitation, Fourier | States):
        about = start[:, None]
        scaled = ((part, about + part * (q - about)) for part in SMALLER)
        part = next(
            (p for p, x in scaled if trace(model, {}, x).outcome[0] == Outcome.CLOSED), None
        )
        remedy = f"It can with {part:g} times its amplitude" if part else "Change the assembly"
        remedy += ": lower it, or change the assembly" if part else ""
    return MotionError(
        f"The excitation of {it.name!r} cannot be followed at the nominal geometry: from the "
        f"assembly ({here}) the loops fail at sample {sample} of {q.shape[1]} ({there}). "
        f"{remedy}.",
        ["excitation"],
    )


def _sound(model: Model, seen: Observation) -> Observation:
    name, stated = model.mechanism.name, model.mechanism.excitation is not None
    if not (seen.closed[0] or stated):
        raise MotionError(
            f"The loops of {name!r} cannot follow small motions about its assembly, which is a "
            "singular pose or very near to one. Assemble it at another pose, or state an "
            "excitation that leads away from it.",
            ["assembly", "excitation"],
        )
    if not seen.closed[0]:
        raise _lost(model, int(seen.trace.where[0]))
    gap = float(seen.residual[0])
    if gap > OPEN:
        raise AssemblyError(
            f"Along {'the excitation' if stated else 'small motions'} of {name!r} a loop opens by "
            f"{gap:.1e} (m or rad; allowed {OPEN:g}): constraints that look redundant at the "
            "assembled pose are not so along the motion. The assembled pose is singular; assemble "
            "at another one, and count the coordinates there.",
            ["assembly", "coordinates"],
        )
    return seen
