"""Inverse dynamics of one mechanism as one straight-line program: τ(q, q̇, q̈, φ).

Newton–Euler in body axes, written out on an expression graph with the geometry as numbers, so
that what a reduced model does not need is never computed: columns of dropped parameters vanish,
and with them the accelerations and positions that only these needed. Closed loops: relative
coordinates with cut joints, the tree's forces carried to the coordinates by the loops' own
equations, τ = Q_i − C_iᵀ λ with C_dᵀ λ = Q_d (d'Alembert; coordinates partitioned).

Written apart from `kinematics` and `regressor`, whose formulation is another (world axes,
virtual twists): each is a check of the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    UNIVERSAL_ZERO,
    Column,
    Model,
    TreeJoint,
    carried,
    configuration_size,
    joint_value,
    kinematics,
)
from basepar_core.errors import UsageError
from basepar_core.expressions import NODE_ONE, NODE_ZERO
from basepar_core.mechanism import joint_type

from .force_columns import ColumnWriter
from .loops import Link
from .scalar_graph import Matrix, ScalarGraph, Vector


@dataclass(frozen=True)
class Solve:
    """A linear system between two stretches of the program: Σ matrix·unknown = right.

    Attributes
    ----------
    block
        Which of the loops' systems.
    transposed
        Whether its matrix is transposed.
    right
        Nodes.
    unknowns
        Names that the solution gets.
    """

    block: int
    transposed: bool
    right: tuple[int, ...]
    unknowns: tuple[str, ...]


@dataclass(frozen=True)
class TorqueProgram:
    """Inverse dynamics as a graph, stretch by stretch.

    Attributes
    ----------
    graph
        Inputs are names: `q0 v0 a0` of coordinates and their rates, `p0` of parameters, `x0` of
        the tree's other joint values (by position).
    matrices
        Per block of loop equations its matrix of nodes (row, speed).
    gaps
        Per block what is left open (nodes); empty for trees.
    solves
        In order; their unknowns are inputs of what follows.
    torques
        Nodes, one per coordinate.
    columns
        Which parameters (by index) `p` are; those behind the inertial ones are of `further`.
    further
        The model's columns besides the inertial ones.
    points
        Nodes of the positions of the mechanism's points, one after the other, in the ground's
        frame: x and y, in spatial mechanisms z.
    start
        (position,): the assembly's configuration; entries of coordinates are never read.
    """

    model: Model
    graph: ScalarGraph = field(repr=False)
    matrices: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    gaps: tuple[tuple[int, ...], ...] = field(repr=False)
    solves: tuple[Solve, ...] = field(repr=False)
    torques: tuple[int, ...]
    columns: tuple[int, ...]
    start: Array = field(repr=False)
    further: tuple[Column, ...] = ()
    points: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters `p`."""
        every = (*self.model.mechanism.parameter_names, *(one.name for one in self.further))
        return tuple(every[k] for k in self.columns)


def torque_program(
    model: Model, columns: Sequence[int], further: Sequence[Column] = ()
) -> TorqueProgram:
    """Write out the inverse dynamics with some of the parameters, the others zero.

    Parameters
    ----------
    model
        The mechanism, prepared; its nominal geometry.
    columns
        Parameters by index: those of a reduced model, of the base model, or all.
    further
        Columns besides the inertial ones, whose indices come behind those.

    Raises
    ------
    UsageError
        A spherical or free joint carries coordinates: their rates are no speeds of the joint. Or
        a force-law column acts where it cannot be written out (`torque_columns`).
    """
    driven = set(model.topology.independent)
    for node in model.topology.tree:
        if joint_type(node.kind).is_ball and node.speed in driven:
            joint = model.mechanism.joints[node.joint]
            raise UsageError(
                f"Torques cannot be written out with the {joint.type} joint {joint.name} as a "
                f"coordinate. Choose other coordinates, or prismatic, universal and revolute "
                f"joints in its place; `Model.torque` in Python knows it.",
                ["coordinates"],
            )
    return _Writer(model, columns, further).write()


class _Writer(ColumnWriter):
    """Writes one program."""

    def __init__(self, model: Model, columns: Sequence[int], further: Sequence[Column]):
        self.model, self.columns, self.further = model, tuple(columns), tuple(further)
        self.tree, self.topology = model.topology.tree, model.topology
        self.g = ScalarGraph()
        self.dims = kinematics.geometry(model.mechanism, {})
        self.free = model.topology.independent
        self.u = self._speeds("v", "y")
        self.links = [self._link(node) for node in self.tree]
        self._place()

    def _speeds(self, given: str, solved: str) -> list[int]:
        """Per speed its node: of a coordinate, or of what the loops determine."""
        place = {speed: k for k, speed in enumerate(self.free)}
        return [
            self.g.name(f"{given}{place[k]}" if k in place else f"{solved}{k}")
            for k in range(self.topology.speeds)
        ]

    def write(self) -> TorqueProgram:
        g, blocks = self.g, self.model.loops.blocks
        rows = self.loop_rows() if blocks else {}
        solves: list[Solve] = []
        matrices = tuple(
            tuple(tuple(rows[row][1][speed] for speed in speeds) for row in some)
            for some, speeds in blocks
        )
        for k, (some, speeds) in enumerate(blocks):
            drive = [
                g.sum([g.multiply(rows[row][1][s], self.u[s]) for s in self.free]) for row in some
            ]
            solves.append(_solve(g, k, drive, [f"y{s}" for s in speeds]))
        self._turn()
        if blocks:
            still = [
                self.g.name(f"a{self.free.index(k)}") if k in self.free else NODE_ZERO
                for k in range(self.topology.speeds)
            ]
            mismatch = self.mismatch(still, *self._accelerations(still))
            for k, (some, speeds) in enumerate(blocks):
                solves.append(
                    _solve(g, k, [mismatch[row] for row in some], [f"z{s}" for s in speeds])
                )
        rates = self._speeds("a", "z")
        Q = self._forces(*self._accelerations(rates))
        self.push(Q, self._chosen(), rates)
        torques = [Q[s] for s in self.free]
        for k, (some, speeds) in enumerate(blocks):
            right = tuple(Q[s] for s in speeds)
            solves.append(Solve(k, True, right, tuple(f"l{row}" for row in some)))
            for place, speed in enumerate(self.free):
                back = [g.multiply(rows[row][1][speed], g.name(f"l{row}")) for row in some]
                torques[place] = g.add(torques[place], g.negate(g.sum(back)))
        return TorqueProgram(
            self.model,
            g,
            matrices,
            tuple(tuple(rows[row][0] for row in some) for some, _ in blocks),
            tuple(solves),
            tuple(torques),
            self.columns,
            self.model.assembled.q,
            self.further,
            tuple(self._points()),
        )

    def _chosen(self) -> dict[int, Column]:
        """Force-law columns by the node of their parameter."""
        first = len(self.model.mechanism.parameter_names)
        return {
            self.g.name(f"p{k}"): self.further[column - first]
            for k, column in enumerate(self.columns)
            if column >= first
        }

    # Positions and velocities.

    def _link(self, node: TreeJoint) -> Link:
        g, dims = self.g, self.dims.joints[node.joint]
        o1, E1 = dims.first_origin[:, 0], dims.first_axes[..., 0]
        o2, E2 = dims.second_origin[:, 0], dims.second_axes[..., 0]
        q = [self.value_of(node, k) for k in range(configuration_size(node.kind))]
        T, s = self._relative(node.kind, q)
        if node.forward:
            R = g.sandwich(E1, T, E2.T)
            in_first = g.compose(g.constant(E2), g.transpose(T))
            in_second = g.constant(E2)
            reach = g.plus(g.vector(o1), g.rotate(g.constant(E1), s))
            arm = g.vector(o2)
            origin = g.minus(reach, g.rotate(R, arm))
        else:
            R = g.sandwich(E2, g.transpose(T), E1.T)
            in_first, in_second = g.constant(E1), g.compose(g.constant(E1), T)
            reach = g.vector(o2)
            arm = g.plus(g.vector(o1), g.rotate(g.constant(E1), s))
            origin = g.minus(reach, g.rotate(R, arm))
        spins, slides = self._directions(node.kind, in_first, in_second)
        rates = self.u[node.speed : node.speed + joint_type(node.kind).values]
        bias = g.zero
        if joint_type(node.kind).turns == "zz":  # the second axis turns with the first
            z1, z2 = spins
            assert z1 is not None
            assert z2 is not None
            bias = g.times(g.multiply(*rates), g.cross(z1, z2))
        return Link(R, reach, origin, arm, spins, slides, bias)

    def _relative(self, kind: str, q: list[int]) -> tuple[Matrix, Vector]:
        """F2 in F1: orientation and origin."""
        g, shape = self.g, joint_type(kind)
        along = dict(zip(shape.slides, q, strict=False))
        shift = [along.get(axis, NODE_ZERO) for axis in "xyz"] if along else g.zero
        angles = q[len(shape.slides) :]
        match shape.turns:
            case "":
                return g.identity, shift
            case "z":
                return g.about_z(angles[0]), shift
            case "zz":
                middle = g.compose(g.about_z(angles[0]), g.constant(UNIVERSAL_ZERO))
                return g.compose(middle, g.about_z(angles[1])), shift
            case "any":
                return g.of_quaternion(angles), shift
        assert_never(shape.turns)

    def _directions(
        self, kind: str, first: Matrix, second: Matrix
    ) -> tuple[list[Vector | None], list[Vector | None]]:
        """Per speed its spin and slide, along the axes that the frames are given in."""
        shape, axes = joint_type(kind), self.g.transpose(first)
        x, y, z = axes
        z2 = self.g.transpose(second)[2]
        # An axis that both frames have in common is constant in the second.
        slides = [z2 if k == 2 else axes[k] for k in shape.directions]
        turns = {"": [], "z": [z2], "zz": [z, z2], "any": [x, y, z]}[shape.turns]
        return [*[None] * len(slides), *turns], [*slides, *[None] * len(turns)]

    def _place(self) -> None:
        """World poses of bodies, for loops, springs, dampers and points; the ground last."""
        g = self.g
        n = self.topology.bodies
        self.R: list[Matrix] = [g.identity] * (n + 1)
        self.p: list[Vector] = [g.zero] * (n + 1)
        apart = all(map(joint_value, self.further)) and not self.model.mechanism.points
        if not self.topology.cuts and apart:
            return
        for node, link in zip(self.tree, self.links, strict=True):
            self.R[node.child] = g.compose(self.R[node.parent], link.R)
            shift = g.rotate(self.R[node.parent], link.origin)
            self.p[node.child] = g.plus(self.p[node.parent], shift)

    def _points(self) -> Iterator[int]:
        """Positions of the mechanism's points."""
        g, mechanism = self.g, self.model.mechanism
        local = carried(mechanism.points, mechanism.nominal)[..., 0]
        for point, at in zip(mechanism.points, local, strict=True):
            body = mechanism.body_index[point.body]
            place = g.plus(self.p[body], g.rotate(self.R[body], g.vector(at)))
            yield from place[: 2 if self.topology.planar else 3]

    def _turn(self) -> None:
        """Angular velocities in body axes, and velocities of origins in world axes' bodies'."""
        g = self.g
        n = self.topology.bodies
        self.omega: list[Vector] = [g.zero] * (n + 1)
        self.v: list[Vector] = [g.zero] * (n + 1)
        self.spin: list[Vector] = []
        self.slide: list[Vector] = []
        for node, link in zip(self.tree, self.links, strict=True):
            rates = self.u[node.speed : node.speed + joint_type(node.kind).values]
            sign = NODE_ONE if node.forward else g.negate(NODE_ONE)
            spin = g.times(sign, g.weighted(rates, link.spins))
            slide = g.times(sign, g.weighted(rates, link.slides))
            carried = g.rotate_back(link.R, self.omega[node.parent])
            self.omega[node.child] = omega = g.plus(carried, spin)
            swept = g.plus(self.v[node.parent], g.cross(self.omega[node.parent], link.reach))
            point = g.plus(g.rotate_back(link.R, swept), slide)
            self.v[node.child] = g.minus(point, g.cross(omega, link.arm))
            self.spin.append(spin)
            self.slide.append(slide)

    # Accelerations, less gravity, in body axes.

    def _accelerations(self, rates: list[int]) -> tuple[list[Vector], list[Vector]]:
        g = self.g
        n = self.topology.bodies
        alpha: list[Vector] = [g.zero] * (n + 1)
        a: list[Vector] = [g.zero] * n + [g.vector(-self.dims.gravity[:, 0])]
        for k, (node, link) in enumerate(zip(self.tree, self.links, strict=True)):
            mine = rates[node.speed : node.speed + joint_type(node.kind).values]
            sign = NODE_ONE if node.forward else g.negate(NODE_ONE)
            omega = self.omega[node.child]
            carried = g.rotate_back(link.R, self.omega[node.parent])
            first = carried if node.forward else omega
            turning = g.plus(g.weighted(mine, link.spins), link.bias)
            spin_dot = g.plus(g.times(sign, turning), g.cross(first, self.spin[k]))
            alpha[node.child] = g.plus(g.rotate_back(link.R, alpha[node.parent]), spin_dot)
            sliding = g.times(sign, g.weighted(mine, link.slides))
            sliding = g.plus(sliding, g.times(g.two, g.cross(first, self.slide[k])))
            near = g.of_point(alpha[node.parent], self.omega[node.parent], link.reach)
            point = g.plus(g.rotate_back(link.R, g.plus(a[node.parent], near)), sliding)
            a[node.child] = g.minus(point, g.of_point(alpha[node.child], omega, link.arm))
        return alpha, a

    # Forces.

    def _forces(self, alpha: list[Vector], a: list[Vector]) -> list[int]:
        """The tree's generalised forces, per speed."""
        g = self.g
        Q = [NODE_ZERO] * self.topology.speeds
        f, n = self._inertial(alpha, a)
        for node, link in reversed(list(zip(self.tree, self.links, strict=True))):
            child = node.child
            about = g.minus(n[child], g.cross(link.arm, f[child]))
            for k, (spin, slide) in enumerate(zip(link.spins, link.slides, strict=True)):
                force = g.add(
                    g.dot(spin, about) if spin else NODE_ZERO,
                    g.dot(slide, f[child]) if slide else NODE_ZERO,
                )
                Q[node.speed + k] = force if node.forward else g.negate(force)
            if node.parent >= 0:
                push = g.rotate(link.R, f[child])
                turn = g.plus(g.rotate(link.R, n[child]), g.cross(link.origin, push))
                f[node.parent] = g.plus(f[node.parent], push)
                n[node.parent] = g.plus(n[node.parent], turn)
        return Q

    def _inertial(self, alpha: list[Vector], a: list[Vector]) -> tuple[list[Vector], list[Vector]]:
        """Force and moment about the origin that each body's own motion takes, body axes."""
        g = self.g
        known = {column: g.name(f"p{k}") for k, column in enumerate(self.columns)}
        width = 4 if self.topology.planar else 10
        forces, moments = [], []
        for body in range(self.topology.bodies):
            values = [known.get(body * width + k, NODE_ZERO) for k in range(width)]
            if self.topology.planar:
                m, mx, my, J = values
                values = [
                    m,
                    mx,
                    my,
                    NODE_ZERO,
                    NODE_ZERO,
                    NODE_ZERO,
                    NODE_ZERO,
                    NODE_ZERO,
                    NODE_ZERO,
                    J,
                ]
            m, c, I = values[0], values[1:4], values[4:]
            inertia = [[I[0], I[1], I[2]], [I[1], I[3], I[4]], [I[2], I[4], I[5]]]
            omega = self.omega[body]
            swing = g.of_point(alpha[body], omega, c)
            forces.append(g.plus(g.times(m, a[body]), swing))
            spin = g.cross(omega, g.rotate(inertia, omega))
            turn = g.plus(g.rotate(inertia, alpha[body]), spin)
            moments.append(g.plus(g.cross(c, a[body]), turn))
        return forces, moments


def _solve(g: ScalarGraph, block: int, right: list[int], unknowns: list[str]) -> Solve:
    return Solve(block, False, tuple(map(g.negate, right)), tuple(unknowns))
