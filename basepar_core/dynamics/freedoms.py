"""Which joint values of an assembled mechanism can be its coordinates.

Values are taken in order of preference, as long as their rates are independent in the motions that
all joints allow at a pose nearby that has the fewest of them: the assembled pose may be singular.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from basepar_core.mechanism import Mechanism

from .assembly import laid_out
from .body_newton import measure
from .finite_motions import modes, poses_nearby
from .mobility import independent


@dataclass(frozen=True)
class Freedoms:
    """Joint values that determine all others nearby.

    Attributes
    ----------
    values
        In the order of the file; fewer than there are freedoms where joint values do not
        determine all, as of a rod that turns idly between two spherical joints.
    count
        How many motions there are nearby.
    at
        All joint values where this was seen, rad or m.
    """

    values: tuple[str, ...]
    count: int
    at: Mapping[str, float]


def independent_values(
    mechanism: Mechanism, preferred: Sequence[str] = (), avoided: Sequence[str] = ()
) -> Freedoms:
    """Joint values that determine all others nearby, and the number of freedoms.

    The mechanism's own coordinates count for nothing but for where they begin.

    Parameters
    ----------
    mechanism
        Any number of coordinates.
    preferred, avoided
        Joint values that are taken first, and last.

    Raises
    ------
    AssemblyError
        A joint stays open; names it and its gap.
    """
    newton, start = laid_out(mechanism)
    assembled = newton.solve(start)
    poses = [assembled, *poses_nearby(newton, assembled)]
    motions = [(modes(newton, pose), pose) for pose in poses]
    allowed, pose = min(motions, key=lambda pair: pair[0].shape[1])
    at = measure(mechanism, newton.dims, pose)
    chosen = tuple(independent(newton, pose, preferred, avoided))
    return Freedoms(chosen, allowed.shape[1], at)
