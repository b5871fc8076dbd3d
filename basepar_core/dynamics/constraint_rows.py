"""Rows of the equations that close a mechanism: of cut joints, then of relations of joint values.

Whoever closes loops goes over these rows; what a row is of, only it knows. Residuals are m and
sines of angles, derivatives are by the tree's speeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from . import joints, spatial
from .coupled_rows import coupled_rows
from .kinematics import Poses, Twists, of_point
from .spatial import cross
from .topology import CutJoint, Topology


class Rows(Protocol):
    """Equations that hold together."""

    @property
    def are_lengths(self) -> tuple[bool, ...]:
        """Of every row whether it is a length; others are angles."""

    @property
    def are_linear(self) -> bool:
        """Whether they are linear in the tree's values."""

    @property
    def constants(self) -> tuple[int, ...]:
        """Numbers of the geometry's constants in them."""

    @property
    def speeds(self) -> frozenset[int]:
        """Speeds that occur in them."""

    def gaps(self, at: Poses) -> list[Array]:
        """Residuals, one array for each row."""

    def put(self, at: Poses, jacobian: Array) -> None:
        """Enter derivatives into (row, speed, …), zeros before."""

    def accelerations(
        self, at: Poses, moving: Twists, u_dot: Array, alpha: list[Array], a: list[Array]
    ) -> list[Array]:
        """Second derivatives for given speed rates, and the accelerations that they make."""


@dataclass(frozen=True)
class CutRows:
    """Of a joint that closes a loop."""

    graph: Topology
    cut: CutJoint

    @property
    def are_lengths(self) -> tuple[bool, ...]:
        along, about = joints.locked_kinds(self.cut.kind, self.graph.planar)
        return (True,) * along + (False,) * about

    @property
    def are_linear(self) -> bool:
        return False

    @property
    def constants(self) -> tuple[int, ...]:
        return ()

    @property
    def speeds(self) -> frozenset[int]:
        nodes = [self.graph.tree[place] for place, _ in self.graph.loop(self.cut)]
        return frozenset(n.speed + k for n in nodes for k in range(joint_type(n.kind).values))

    def gaps(self, at: Poses) -> list[Array]:
        j = self.cut.joint
        way = at.P2[j] - at.P1[j]
        return joints.gaps(self.cut.kind, self.graph.planar, at.X1[j], at.X2[j], way)

    def put(self, at: Poses, jacobian: Array) -> None:
        j, graph = self.cut.joint, self.graph
        along, about = joints.locked_directions(self.cut.kind, graph.planar, at.X1[j], at.X2[j])
        for place, sign in graph.loop(self.cut):
            node = graph.tree[place]
            reach = at.P2[j] - at.P2[node.joint]
            for k, (turn, slide) in enumerate(at.moves[node.joint], start=node.speed):
                velocity = cross(turn, reach) if turn is not None else slide
                assert velocity is not None
                for row, n in enumerate(along):
                    jacobian[row, k] = sign * spatial.dot(n, velocity)
                for row, n in enumerate(about, start=len(along)):
                    jacobian[row, k] = 0.0 if turn is None else sign * spatial.dot(n, turn)

    def accelerations(
        self, at: Poses, moving: Twists, u_dot: Array, alpha: list[Array], a: list[Array]
    ) -> list[Array]:
        j, first, second = self.cut.joint, self.cut.first, self.cut.second
        X1, X2, P = at.X1[j], at.X2[j], at.P2[j]
        w1, w2 = moving.omega[first], moving.omega[second]
        spin = w2 - w1
        spin_dot = alpha[second] - alpha[first] - cross(w1, spin)
        r1, r2 = P - at.p[first], P - at.p[second]
        slide = moving.v[second] + cross(w2, r2) - moving.v[first] - cross(w1, r1)
        slide_dot = (
            a[second]
            + of_point(alpha[second], w2, r2)
            - a[first]
            - of_point(alpha[first], w1, r1)
            - 2 * cross(w1, slide)
        )
        along, about = joints.locked_directions(self.cut.kind, self.graph.planar, X1, X2)
        rows = [spatial.dot(n, slide_dot) for n in along]
        turns = [spatial.dot(n, spin_dot) for n in about]
        moved = joints.gap_bias(self.cut.kind, X1, X2, spin)
        return rows + [t + m for t, m in zip(turns, moved, strict=True)] if moved else rows + turns


def constraint_rows(graph: Topology) -> list[Rows]:
    """All rows of a mechanism, in their order."""
    return [*(CutRows(graph, cut) for cut in graph.cuts), *coupled_rows(graph)]


def loop_gaps(graph: Topology, at: Poses) -> Array:
    """Residuals (row, …) of all rows."""
    rows = [gap for one in constraint_rows(graph) for gap in one.gaps(at)]
    return np.stack(np.broadcast_arrays(*rows)) if rows else np.zeros((0, 1))


def loop_jacobian(graph: Topology, at: Poses, batch: tuple[int, ...]) -> Array:
    """Derivatives (row, speed, …) of `loop_gaps` by the speeds."""
    every = constraint_rows(graph)
    last = at.P2[graph.tree[-1].joint]  # complex where derivatives are taken along
    jacobian = np.zeros((count_of(every), graph.speeds, *batch), last.dtype)
    top = 0
    for one in every:
        own = slice(top, top + len(one.are_lengths))
        one.put(at, jacobian[own])
        top = own.stop
    return jacobian


def loop_accelerations(
    graph: Topology,
    at: Poses,
    moving: Twists,
    u_dot: Array,
    alpha: list[Array],
    a: list[Array],
) -> Array:
    """Second derivatives (row, …) of the rows of `loop_gaps`.

    For given speed rates (speed, …), and the bodies' accelerations that they make.
    """
    every = constraint_rows(graph)
    rows = [x for one in every for x in one.accelerations(at, moving, u_dot, alpha, a)]
    return np.stack(np.broadcast_arrays(*rows)) if rows else np.zeros((0, 1))


def gap_lengths(rows: Sequence[Rows]) -> Array:
    """Which equations are lengths; the others are angles."""
    return np.array([flag for one in rows for flag in one.are_lengths], dtype=bool)


def length_speeds(graph: Topology) -> Array:
    """Which speeds are of lengths; the others are of angles."""
    lengths = np.zeros(graph.speeds, dtype=bool)
    for node in graph.tree:
        lengths[[node.speed + k for k in joint_type(node.kind).lengths]] = True
    return lengths


def count_of(rows: Sequence[Rows]) -> int:
    """Number of equations."""
    return sum(len(one.are_lengths) for one in rows)
