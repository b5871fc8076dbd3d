"""W at nominal geometry, which routes look at and compare with."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    OPEN,
    Model,
    Observation,
    Outcome,
    excitation,
    observe_alone,
    sampling,
    trace,
    travel,
    turning_joint,
)
from basepar_core.errors import AssemblyError, MotionError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Fourier, States

#: Shares of an excitation that are tried where it cannot be followed.
SMALLER = (0.5, 0.25, 0.1, 0.05, 0.02)
#: Share of what a coordinate reaches about its middle that an amplitude is proposed for.
ROOM = 0.9


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
    """Where the excitation cannot be followed, how much of it can, and what the joint reaches."""
    it, start = model.mechanism, model.assembled.coordinates
    q = excitation(it, start).q
    here, there = (
        ", ".join(
            f"{name} = {_written(model, name, x)}"
            for name, x in zip(it.coordinates, values, strict=True)
        )
        for values in (start, q[:, sample])
    )
    remedy = "Change it, or the assembly"
    ends = travel(model)
    if isinstance(it.excitation, Fourier | States):
        about = start[:, None]
        part = next((p for p in SMALLER if _follows(model, about + p * (q - about))), None)
        ways = [f"with {part:g} times its amplitude"] if part else []
        ways += _centred(model, it.excitation, q[0] - start[0], ends)
        remedy = f"It can {', or '.join(ways)}" if ways else "Change the assembly"
        remedy += ": lower it, or change the assembly" if part and len(ways) == 1 else ""
    return MotionError(
        f"The excitation of {it.name!r} cannot be followed at the nominal geometry: from the "
        f"assembly ({here}) the loops fail before sample {sample + 1} of {q.shape[1]} ({there}). "
        f"{_reached(model, ends)}{remedy}{_other_drive(model, ends)}.",
        ["excitation"],
    )


def _follows(model: Model, q: Array) -> bool:
    return bool(trace(model, {}, q).outcome[0] == Outcome.CLOSED)


def _written(model: Model, name: str, x: float) -> str:
    is_length = model.mechanism.value(name).is_length
    return f"{x:.4g} m" if is_length else f"{np.degrees(x):.1f} deg"


def _reached(model: Model, ends: tuple[float, float] | None) -> str:
    if ends is None or not np.isfinite(ends).any():
        return ""
    (name,) = model.mechanism.coordinates
    words = (
        f"{way} {_written(model, name, x)}"
        for way, x in zip(("from", "to"), ends, strict=True)
        if np.isfinite(x)
    )
    return f"On this branch {name} goes {' '.join(words)}. "


def _centred(
    model: Model, law: Fourier | States, away: Array, ends: tuple[float, float] | None
) -> list[str]:
    """The assembly in the middle of what the coordinate reaches, and an amplitude for it."""
    if ends is None or not np.isfinite(ends).all():
        return []
    (name,), (size,) = model.mechanism.coordinates, evaluate(law.amplitude, {})
    middle, half = sum(ends) / 2, (ends[1] - ends[0]) / 2
    part = ROOM * half / np.abs(away).max()
    if not _follows(model, np.append(middle, middle + part * away)[None]):
        return []
    return [
        f"if assembled at {name} = {_written(model, name, middle)} with an amplitude of "
        f"{_written(model, name, part * float(size))} or less"
    ]


def _other_drive(model: Model, ends: tuple[float, float] | None) -> str:
    """A joint that could be driven all the way round instead of one that is held at its ends."""
    if ends is None or not np.isfinite(ends).any() or (name := turning_joint(model)) is None:
        return ""
    return (
        f"; or let {name} drive, which turns all the way round: `coordinates: [{name}]`, with "
        "motions of it"
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
