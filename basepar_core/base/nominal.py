"""W at nominal geometry, which routes look at and compare with."""

from basepar_core.dynamics import OPEN, Model, Observation, excitation, observe_alone, sampling
from basepar_core.errors import AssemblyError, MotionError


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
        sample = int(seen.trace.where[0])
        raise MotionError(
            f"The excitation of {name!r} cannot be followed at the nominal "
            f"geometry: the loops fail at sample {sample} of {seen.W.shape[1]}. Lower its "
            f"amplitude, or change the assembly.",
            ["excitation"],
        )
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
