"""W at nominal geometry, which routes look at and compare with."""

from basepar_core.dynamics import OPEN, Model, Observation, excitation, observe_alone
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
    seen = observe_alone(model, motion)
    if not seen.closed[0]:
        sample = int(seen.trace.where[0])
        raise MotionError(
            f"The excitation of {model.mechanism.name!r} cannot be followed at the nominal "
            f"geometry: the loops fail at sample {sample} of {motion.t.size}. Lower its "
            f"amplitude, or change the assembly.",
            ["excitation"],
        )
    gap = float(seen.residual[0])
    if gap > OPEN:
        raise AssemblyError(
            f"Along the excitation of {model.mechanism.name!r} a loop opens by {gap:.1e} (m or "
            f"rad; allowed {OPEN:g}): constraints that look redundant at the assembled pose are "
            f"not so along the motion. The assembled pose is singular; assemble at another one, "
            f"and count the coordinates there.",
            ["assembly", "coordinates"],
        )
    return seen
