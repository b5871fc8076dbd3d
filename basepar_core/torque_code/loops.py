"""The loops of a mechanism written out on an expression graph, world axes.

The equations are those of `joints.gaps`: distances along, and sines of angles about, what a
closed joint locks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from basepar_core.dynamics import CutJoint, Geometry, Model, Topology, TreeJoint, locked_names
from basepar_core.expressions import NODE_ONE, NODE_ZERO
from basepar_core.mechanism import joint_type

from .coupled_loops import CoupledRow, coupled_loops
from .scalar_graph import Matrix, ScalarGraph, Vector


@dataclass
class Link:
    """How a body hangs on its parent: R takes child axes to the parent's; directions in child.

    `reach`, `origin`: the second joint frame's origin from the parent's origin (parent axes),
    and the child's origin from the parent's. `arm`: that joint origin from the child's origin
    (child axes). `spins`, `slides`: per speed, along child axes; None where there is none.
    """

    R: Matrix
    reach: Vector
    origin: Vector
    arm: Vector
    spins: list[Vector | None]
    slides: list[Vector | None]
    bias: Vector


class LoopWriter:
    """Writes the loops' equations, their derivatives by speeds and by time.

    Attributes
    ----------
    R, p
        Bodies' poses, world; the ground last.
    u
        Nodes of the speeds.
    free
        The speeds that are coordinates.
    omega, v
        Their velocities, in body axes; the ground last.
    """

    model: Model
    g: ScalarGraph
    u: list[int]
    free: Sequence[int]
    topology: Topology
    tree: tuple[TreeJoint, ...]
    dims: Geometry
    links: list[Link]
    R: list[Matrix]
    p: list[Vector]
    omega: list[Vector]
    v: list[Vector]

    def value_of(self, node: TreeJoint, k: int) -> int:
        """The node of a joint's k-th configuration entry."""
        if not joint_type(node.kind).is_ball and node.speed + k in self.free:
            return self.g.name(f"q{self.free.index(node.speed + k)}")
        return self.g.name(f"x{node.position + k}")

    def _cut_frames(self, cut: CutJoint) -> tuple[Matrix, Matrix, Vector, Vector]:
        g, dims = self.g, self.dims.joints[cut.joint]
        X1 = g.compose(self.R[cut.first], g.constant(dims.first_axes[..., 0]))
        X2 = g.compose(self.R[cut.second], g.constant(dims.second_axes[..., 0]))
        r1 = g.rotate(self.R[cut.first], g.vector(dims.first_origin[:, 0]))
        r2 = g.rotate(self.R[cut.second], g.vector(dims.second_origin[:, 0]))
        return X1, X2, r1, r2

    def _locked(self, cut: CutJoint, X1: Matrix, X2: Matrix) -> tuple[list[Vector], list[Vector]]:
        g = self.g
        along, about = locked_names(cut.kind, self.topology.planar)
        axes = dict(zip("xyz", g.transpose(X1), strict=True))
        axes["n"] = g.cross(axes["z"], g.transpose(X2)[2])
        return [axes[k] for k in along], [axes[k] for k in about]

    def loop_rows(self) -> dict[int, tuple[int, dict[int, int]]]:
        """Per row of the loops' equations its gap, and its derivative by each speed."""
        g, found = self.g, {}
        row = 0
        for cut in self.topology.cuts:
            X1, X2, r1, r2 = self._cut_frames(cut)
            along, about = self._locked(cut, X1, X2)
            P2 = g.plus(self.p[cut.second], r2)
            offset = g.minus(P2, g.plus(self.p[cut.first], r1))
            gaps = [g.dot(n, offset) for n in along] + self._angles(cut.kind, X1, X2, about)
            moves = self._moves(cut, P2)
            for k, gap in enumerate(gaps):
                slopes = dict.fromkeys(range(self.topology.speeds), NODE_ZERO)
                for speed, (slide, turn) in moves.items():
                    direction = (along + about)[k]
                    slopes[speed] = g.dot(direction, slide if k < len(along) else turn)
                found[row] = (gap, slopes)
                row += 1
        for one in self._further():
            zeros = dict.fromkeys(range(self.topology.speeds), NODE_ZERO)
            found[row] = (one.gap, zeros | one.factors)
            row += 1
        return found

    def _values(self) -> list[int]:
        """Nodes of the tree's joint values, by speed."""
        return [
            self.value_of(node, k) if not joint_type(node.kind).is_ball else NODE_ZERO
            for node in self.tree
            for k in range(joint_type(node.kind).values)
        ]

    def _further(self) -> list[CoupledRow]:
        return coupled_loops(self.g, self.topology, self.dims, self._values())

    def _angles(self, kind: str, X1: Matrix, X2: Matrix, about: list[Vector]) -> list[int]:
        g = self.g
        first, second = g.transpose(X1), g.transpose(X2)
        turns = joint_type(kind).turns
        if turns == "zz":
            return [g.negate(g.dot(first[2], second[2]))]
        if not turns:
            turn = g.zero
            for one, other in zip(first, second, strict=True):
                turn = g.plus(turn, g.cross(one, other))
            turn = g.times(g.half, turn)
        else:
            turn = g.cross(first[2], second[2])
        return [g.dot(n, turn) for n in about]

    def _moves(self, cut: CutJoint, P2: Vector) -> dict[int, tuple[Vector, Vector]]:
        """Per speed in the loop: velocity of the cut's point and relative spin, world axes."""
        g, moves = self.g, {}
        for place, sign in self.topology.loop(cut):
            node, link = self.tree[place], self.links[place]
            R = self.R[node.child]
            at = g.plus(self.p[node.child], g.rotate(R, link.arm))
            for k, (spin, slide) in enumerate(zip(link.spins, link.slides, strict=True)):
                turn = g.rotate(R, spin) if spin else g.zero
                velocity = g.cross(turn, g.minus(P2, at)) if spin else g.rotate(R, slide or g.zero)
                factor = NODE_ONE if sign > 0 else g.negate(NODE_ONE)
                moves[node.speed + k] = (g.times(factor, velocity), g.times(factor, turn))
        return moves

    def mismatch(self, rates: list[int], alpha: list[Vector], a: list[Vector]) -> dict[int, int]:
        """Second derivatives of the loops' equations.

        For given rates of the speeds, and the bodies' accelerations that they make.
        """
        g, found, row = self.g, {}, 0
        for cut in self.topology.cuts:
            X1, X2, r1, r2 = self._cut_frames(cut)
            along, about = self._locked(cut, X1, X2)

            def world(body: int, vectors: list[Vector]) -> Vector:
                return g.rotate(self.R[body], vectors[body])

            w1, w2 = world(cut.first, self.omega), world(cut.second, self.omega)
            b1, b2 = world(cut.first, alpha), world(cut.second, alpha)
            far = g.plus(world(cut.second, a), g.of_point(b2, w2, r2))
            near = g.plus(world(cut.first, a), g.of_point(b1, w1, r1))
            slide_dot = g.minus(far, near)
            if joint_type(cut.kind).slides:  # else no velocity of sliding arises
                v2 = g.plus(world(cut.second, self.v), g.cross(w2, r2))
                v1 = g.plus(world(cut.first, self.v), g.cross(w1, r1))
                coriolis = g.times(g.two, g.cross(w1, g.minus(v2, v1)))
                slide_dot = g.minus(slide_dot, coriolis)
            spin = g.minus(w2, w1)
            spin_dot = g.minus(g.minus(b2, b1), g.cross(w1, spin))
            turns = [g.dot(n, spin_dot) for n in about]
            if joint_type(cut.kind).turns == "zz":
                z1, z2 = g.transpose(X1)[2], g.transpose(X2)[2]
                moved = g.cross(z1, g.cross(spin, z2))
                turns = [g.add(turns[0], g.dot(moved, spin))]
            for value in [g.dot(n, slide_dot) for n in along] + turns:
                found[row] = value
                row += 1
        for one in self._further():
            found[row] = one.second(g, rates)
            row += 1
        return found
