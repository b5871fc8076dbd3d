"""Joint values at which loops close, from values that leave them wide open.

Damped least squares on the loop equations in the tree's joint values (Levenberg 1944, Marquardt
1963), with short steps, many starts at once. What it finds is a start for `assembly`, whose
Newton's method on all bodies closes to rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism, joint_type

from . import joints, kinematics, spatial
from .constraint_rows import (
    constraint_rows,
    gap_lengths,
    length_speeds,
    loop_gaps,
    loop_jacobian,
)
from .kinematics import Geometry, Poses
from .topology import CutJoint, Topology, topology

#: Longest step (rad, or share of the mechanism's longest offset), and how many.
LONGEST, STEPS = 0.3, 200
#: Damping: where it begins, its bounds, and by how much it changes.
DAMPING, LEAST, MOST, FACTOR = 1e-2, 1e-12, 1e6, 5.0
#: Gaps of less (rad, or share of the longest offset) are closed: Newton's method finds the rest.
CLOSED = 1e-8
#: A start is given up if its sum of squares falls by less than this share in so many steps.
PROGRESS, PATIENCE = 1e-2, 30


@dataclass(frozen=True)
class Reached:
    """Where some starts led to.

    Attributes
    ----------
    closed
        Joint values of those that closed, rad or m, the one that moved least first.
    nearest
        Joint values with the least gap.
    gap
        That gap, m or rad.
    """

    closed: tuple[Mapping[str, float], ...]
    nearest: Mapping[str, float]
    gap: float


def reach(mechanism: Mechanism, starts: Sequence[Mapping[str, float]]) -> Reached:
    """Close the loops of the nominal mechanism from several starts, each as if it were alone.

    The mechanism's coordinates count for nothing.

    Parameters
    ----------
    starts
        Joint values, rad or m; zero where one says nothing. How far values moved is counted from
        the first.
    """
    graph = topology(replace(mechanism, coordinates=()))
    search = Search(graph, kinematics.geometry(mechanism, {}))
    q = np.stack([tree_configuration(mechanism, graph, start) for start in starts], axis=1)
    q, at, gaps = search.run(q)
    names = [n for node in graph.tree for n in mechanism.joints[node.joint].values]
    first = {name: starts[0].get(name, 0.0) for name in names}
    values = [_values(mechanism, graph, q[:, k], at, k) for k in range(len(starts))]
    far = [max(abs(one[name] - first[name]) for name in first) for one in values]
    closed = [k for k in np.argsort(far) if gaps[k] < CLOSED and not _opposed(graph, at, k)]
    best = int(np.argmin(gaps))
    return Reached(tuple(values[k] for k in closed), values[best], float(gaps[best]))


class Search:
    """Damped least squares of all lanes.

    Parameters
    ----------
    held
        Speeds (speed,) that stay zero; none where left out.
    progress
        A lane goes on while its sum of squares falls by this share in `PATIENCE` steps.
    """

    def __init__(
        self,
        graph: Topology,
        dims: Geometry,
        held: Array | None = None,
        progress: float = PROGRESS,
    ):
        self.graph, self.dims, self.progress = graph, dims, progress
        size = dims.longest_offset or 1.0
        self.unit = np.where(length_speeds(graph), size, 1.0)[:, None]
        if held is not None:
            self.unit[held] = 0.0
        self.weight = np.where(gap_lengths(constraint_rows(graph)), 1 / size, 1.0)[:, None]

    def look(self, q: Array) -> tuple[Poses, Array]:
        """Poses, and weighted gaps (row, lane)."""
        at = kinematics.poses(self.graph, self.dims, q)
        gaps = loop_gaps(self.graph, at) * self.weight
        return at, np.broadcast_to(gaps, (len(gaps), q.shape[1]))

    def run(self, q: Array) -> tuple[Array, Poses, Array]:
        """Configurations (position, lane), their poses, and the largest gap of each lane."""
        damping = np.full(q.shape[1], DAMPING)
        at, gaps = self.look(q)
        cost = (gaps**2).sum(axis=0)
        before = cost
        for count in range(STEPS):
            tried = self._moved(q, self._step(at, gaps, damping))
            better = (self.look(tried)[1] ** 2).sum(axis=0) < cost
            q = np.where(better, tried, q)
            damping = np.where(better, damping / FACTOR, damping * FACTOR).clip(LEAST, MOST)
            at, gaps = self.look(q)
            cost = (gaps**2).sum(axis=0)
            if count % PATIENCE == PATIENCE - 1:
                if ((cost < CLOSED**2) | (cost > (1 - self.progress) * before)).all():
                    break
                before = cost
        return q, at, np.abs(gaps).max(axis=0, initial=0.0)

    def _step(self, at: Poses, gaps: Array, damping: Array) -> Array:
        """(speed, lane), each lane's scaled to its longest step."""
        lanes = gaps.shape[1:]
        jacobian = loop_jacobian(self.graph, at, lanes) * self.weight[..., None]
        scaled = jacobian * self.unit[None]
        normal = np.einsum("rsl,rtl->lst", scaled, scaled)
        normal += damping[:, None, None] * np.eye(self.graph.speeds)
        slope = np.einsum("rsl,rl->ls", scaled, gaps)
        try:
            step = -np.linalg.solve(normal, slope[..., None])[..., 0].T
        except np.linalg.LinAlgError:  # the least damping is lost beside large entries
            step = -(np.linalg.pinv(normal, hermitian=True) @ slope[..., None])[..., 0].T
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=0), 1e-300))
        return step * self.unit

    def _moved(self, q: Array, step: Array) -> Array:
        moved = q.copy()
        for node in self.graph.tree:
            here = slice(node.position, node.position + joints.configuration_size(node.kind))
            rates = slice(node.speed, node.speed + joint_type(node.kind).values)
            moved[here] = joints.integrate(node.kind, q[here], step[rates])
        return moved


def tree_configuration(mechanism: Mechanism, graph: Topology, start: Mapping[str, float]) -> Array:
    """Of the tree's joints, (position,)."""
    found = np.zeros(graph.positions)
    for node in graph.tree:
        values = np.array([start.get(n, 0.0) for n in mechanism.joints[node.joint].values])
        size = joints.configuration_size(node.kind)
        found[node.position : node.position + size] = joints.configuration(node.kind, values)
    return found


def _values(
    mechanism: Mechanism, graph: Topology, q: Array, at: Poses, lane: int
) -> dict[str, float]:
    """Joint values of one lane: the tree's, with angles beyond a turn, and those of cuts."""
    found: dict[str, float] = {}
    for node in graph.tree:
        size, kind = joints.configuration_size(node.kind), joint_type(node.kind)
        here = q[node.position : node.position + size]
        if kind.is_ball:
            turn = spatial.matrix_of_quaternion(here[len(kind.slides) :])
            here = np.concatenate([here[: len(kind.slides)], spatial.rotation_vector(turn)])
        found |= dict(zip(mechanism.joints[node.joint].values, map(float, here), strict=True))
    for cut in graph.cuts:
        X1, X2, P1, P2 = _ends(cut, at, lane)
        measured = joints.values(cut.kind, X1, X2, P2 - P1)
        names = mechanism.joints[cut.joint].values
        found |= dict(zip(names, map(float, measured), strict=True))
    return found


def _opposed(graph: Topology, at: Poses, lane: int) -> bool:
    """Whether a joint closes the wrong way round."""
    ends = [(cut.kind, _ends(cut, at, lane)) for cut in graph.cuts]
    return any(bool(joints.is_opposed(kind, X1, X2)) for kind, (X1, X2, _, _) in ends)


def _ends(cut: CutJoint, at: Poses, lane: int) -> list[Array]:
    """X1, X2, P1, P2 of a cut joint in one lane; the ground's are the same in all."""
    parts = (frames[cut.joint] for frames in (at.X1, at.X2, at.P1, at.P2))
    return [part[..., lane if part.shape[-1] > 1 else 0] for part in parts]
