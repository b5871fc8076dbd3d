"""What a mechanism's constraints do beyond closing it: hold twice, lock joints, let bodies spin.

Looked at at the assembled pose and at poses of its branch nearby: what holds at all of them is
the mechanism's, and not a pose's.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import IdleSpin, free_spins, joint_type

from . import kinematics
from .body_newton import Bodies, BodyNewton
from .closure import Model
from .finite_motions import RANK, modes, poses_nearby, rates
from .further_spins import further_spins

#: Shares of a self-stress, and rates of a joint value at unit twists, that are zero.
ZERO = 1e-7


@dataclass(frozen=True, slots=True)
class Overconstrained:
    """Joints (and couplings) that hold each other by more constraints than they need.

    Attributes
    ----------
    names
        In file order.
    excess
        How many of their constraints could be left out, the motion being the same.
    """

    names: tuple[str, ...]
    excess: int


@dataclass(frozen=True, slots=True)
class ConstraintFindings:
    """What was found.

    Attributes
    ----------
    overconstrained
        Groups of joints without a joint in common.
    locked
        Values of joints that no motion changes.
    idle
        Bodies that turn and move nothing else: between two balls, or driven by a coordinate.
    """

    overconstrained: tuple[Overconstrained, ...]
    locked: tuple[str, ...]
    idle: tuple[IdleSpin, ...]


def constraints_found(model: Model) -> ConstraintFindings:
    """Look at a mechanism's constraints."""
    it = model.mechanism
    idle = free_spins(it)
    if not (model.loops.rows or model.loops.redundant):
        return ConstraintFindings((), (), idle)
    newton, at = _assembled(model)
    every = [at, *(nearby := list(poses_nearby(newton, at)))]
    # A pose that is singular has fewer independent equations than others.
    free = [modes(newton, pose) for pose in every]
    best = int(np.argmin([one.shape[1] for one in free]))
    locked = set.intersection(*(_locked(newton, *pair) for pair in zip(every, free, strict=True)))
    if not nearby:  # what stands still at one pose may be at a dead point
        locked = set()
    idle += further_spins(newton, nearby, driven=True)
    names = (name for joint in it.joints for name in joint.values)
    return ConstraintFindings(
        _overconstrained(newton, every[best]), tuple(n for n in names if n in locked), idle
    )


def _assembled(model: Model) -> tuple[BodyNewton, Bodies]:
    """The equations of all bodies, and the assembled pose."""
    it, graph = model.mechanism, model.topology
    dims = kinematics.geometry(it, {})
    near = {
        name: float(model.assembled.q[node.position + place])
        for node in graph.tree
        if not joint_type(node.kind).is_ball
        for place, name in enumerate(it.joints[node.joint].values)
    }
    at = kinematics.poses(graph, dims, model.assembled.q[:, None])
    R = np.stack([np.broadcast_to(one, (3, 3, 1))[..., 0] for one in at.R])
    p = np.stack([np.broadcast_to(one, (3, 1))[..., 0] for one in at.p])
    return BodyNewton(it, dims, {}, near), Bodies(R, p)


def _overconstrained(newton: BodyNewton, at: Bodies) -> tuple[Overconstrained, ...]:
    """Groups that share a self-stress: forces of constraints that balance without a load."""
    _, jacobian, owners = newton.equations(at)
    columns, sigma, _ = np.linalg.svd(jacobian[:, newton.free])
    stresses = columns[:, int((sigma > RANK).sum()) :]
    together = np.abs(stresses @ stresses.T) > ZERO
    order = dict.fromkeys(owners)  # a screw's coupling has its joint's name
    left = {row for row in range(len(owners)) if together[row, row]}
    found = []
    while left:
        rows, grown = {min(left)}, True
        while grown:
            mine = {owners[row] for row in rows}
            more = {k for k in left if together[k, list(rows)].any() or owners[k] in mine}
            grown = not more <= rows
            rows |= more
        left -= rows
        names = tuple(n for n in order if n in {owners[row] for row in rows})
        excess = int(np.linalg.matrix_rank(stresses[sorted(rows)], tol=ZERO))
        found.append(Overconstrained(names, excess))
    return tuple(found)


def _locked(newton: BodyNewton, at: Bodies, free: Array) -> set[str]:
    """Values of joints that stand still in all motions from a pose."""
    found: set[str] = set()
    for k, joint in enumerate(newton.mechanism.joints):
        fastest = np.abs(rates(newton, at, k) @ free).max(axis=1, initial=0.0)
        still = [bool(x < ZERO) for x in fastest]
        if joint_type(joint.type).is_ball:  # of a rotation vector all three or none
            still = [all(still)] * len(still)
        found |= {name for name, stands in zip(joint.values, still, strict=True) if stands}
    return found
