"""Other ways to put the nominal mechanism together at the same coordinates."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.mechanism import Mechanism, joint_type

from .assembly import lay_out, stated_values
from .body_newton import BodyNewton, measure
from .closure import Model
from .joint_tracks import tracks
from .kinematics import geometry

#: Newton's method starts from so many random joint values.
STARTS = 24
#: Values (rad, or shares of the longest offset) that differ by less are of one branch.
SAME = 1e-6


@dataclass(frozen=True)
class OtherBranch:
    """Joint values (rad or m, without coordinates), and whether they are nearer to what the file
    states than the assembly is."""

    values: Mapping[str, float]
    nearer: bool


def dependent_values(mechanism: Mechanism) -> list[str]:
    """Joint values that pick a branch: no coordinates, turns of balls, or held spins."""
    return [
        name
        for joint in mechanism.joints
        if not (joint_type(joint.type).is_ball or joint.holds)
        for name in joint.values
        if name not in mechanism.coordinates
    ]


def other_branches(model: Model) -> tuple[OtherBranch, ...]:
    """Branches that random starts (the same every time) find, nearest to what is stated first."""
    it, dims, names = (
        model.mechanism,
        geometry(model.mechanism, {}),
        dependent_values(model.mechanism),
    )
    is_length = np.array([it.value(name).is_length for name in names])
    scales = np.where(is_length, dims.longest_offset or 1.0, 1.0)

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        gap = one - other
        gap = np.where(is_length, gap, np.remainder(gap + np.pi, 2 * np.pi) - np.pi) / scales
        return float(np.sqrt(np.nansum(gap**2)))

    own = dict(tracks(model, {}, model.assembled.q[:, None, None], names))
    found = [np.array([own[name][0, 0] for name in names])]
    held = dict(zip(it.coordinates, model.assembled.coordinates.tolist(), strict=True))
    newton, rng = BodyNewton(it, dims, held, held), np.random.default_rng(0)
    for _ in range(STARTS):
        start = dict(zip(names, rng.uniform(-np.pi, np.pi, len(names)) * scales, strict=True))
        try:
            measured = measure(it, dims, newton.solve(lay_out(it, dims, held | start)))
        except AssemblyError:
            continue
        new = np.array([measured[name] for name in names])
        if all(apart(new, other) > SAME for other in found):
            found.append(new)
    numbers = stated_values(it)
    stated = np.array([numbers.get(name, math.nan) for name in names])
    here = apart(found[0], stated)
    return tuple(
        OtherBranch(dict(zip(names, one.tolist(), strict=True)), apart(one, stated) < here)
        for one in sorted(found[1:], key=lambda one: apart(one, stated))
    )
