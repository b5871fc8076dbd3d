"""Which joint values of an assembled mechanism can be its coordinates.

Values are taken in order of preference, as long as their rates are independent in the motions that
all joints allow at a pose nearby that has the fewest of them: the assembled pose may be singular.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.mechanism import Mechanism, joint_type

from .assembly import laid_out
from .body_newton import measure
from .mobility import modes, poses_nearby

#: A rate counts as independent if this share of it is not in those chosen before: first one that
#: leads far from where it is lost, then any that is more than rounding.
SHARES = (0.05, 1e-6)


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


def independent_values(mechanism: Mechanism, preferred: Sequence[str] = ()) -> Freedoms:
    """Joint values that determine all others nearby, and the number of freedoms.

    The mechanism's own coordinates count for nothing but for where they begin.

    Parameters
    ----------
    mechanism
        Any number of coordinates.
    preferred
        Joint values that are taken first.

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
    units = list(_units(mechanism))
    units.sort(key=lambda unit: not set(unit) & set(preferred))
    chosen: list[str] = []
    basis = np.zeros((0, allowed.shape[1]))
    for share in SHARES:
        for unit in units:
            if unit[0] in chosen or len(chosen) + len(unit) > allowed.shape[1]:
                continue
            rows = np.array([newton.value(name, pose)[1] for name in unit]) @ allowed
            size = np.linalg.norm(rows, axis=1).max(initial=0.0)
            rest = rows - rows @ basis.T @ basis
            sigma = np.linalg.svd(rest, compute_uv=False)
            if size > 1e-9 and sigma[-1] > share * size:
                chosen += unit
                basis = np.vstack([basis, np.linalg.qr(rest.T)[0].T])
    order = [name for joint in mechanism.joints for name in joint.values]
    at = measure(mechanism, newton.dims, pose)
    return Freedoms(tuple(sorted(chosen, key=order.index)), allowed.shape[1], at)


def _units(mechanism: Mechanism) -> Iterator[tuple[str, ...]]:
    """Values that are coordinates together: a base's first, a ball's last and only if need be."""
    kinds = [(joint_type(joint.type), joint.values) for joint in mechanism.joints]
    yield from (values for kind, values in kinds if kind.is_free)
    yield from ((name,) for kind, values in kinds if not kind.is_ball for name in values)
    yield from (values for kind, values in kinds if kind.is_ball and not kind.is_free)
