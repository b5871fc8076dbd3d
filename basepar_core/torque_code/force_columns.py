"""Friction, offsets, rotors, springs and dampers in a written-out torque function.

Each is a force on a joint value, or between two points, that the tree's generalised forces take
up by the value's derivatives by the tree's speeds; from there on it goes the way of all forces.
A value of a tree joint is a speed's own. At a cut joint rates and lengths are written out, but
neither angles nor second derivatives: springs on an angle and rotors there are rejected.
"""

from collections.abc import Mapping, Sequence

from basepar_core.dynamics import Column, CutJoint, DriveLaw, joint_value
from basepar_core.errors import UsageError
from basepar_core.expressions import NODE_ONE, NODE_ZERO, Expression, evaluate
from basepar_core.mechanism import Damper, Friction, Spring, joint_type

from .loops import LoopWriter
from .scalar_graph import Vector


class ColumnWriter(LoopWriter):
    """Writes the forces of force-law columns into the tree's."""

    def push(self, Q: list[int], chosen: Mapping[int, Column], rates: Sequence[int]) -> None:
        """Add the columns' forces to the generalised forces per speed.

        Parameters
        ----------
        Q
            Nodes by speed.
        chosen
            Columns by the node of their parameter.
        rates
            Rates of the speeds, nodes.
        """
        g = self.g
        for parameter, column in chosen.items():
            force, ways = self._law(column, rates)
            for speed, way in ways.items():
                Q[speed] = g.add(Q[speed], g.multiply(g.multiply(parameter, force), way))

    def _law(self, column: Column, rates: Sequence[int]) -> tuple[int, dict[int, int]]:
        """Force per unit parameter, and the value's derivatives by the speeds."""
        source, name = column.source, joint_value(column)
        if isinstance(source, DriveLaw):
            raise _refused(column, "is the law of a drive")
        if name is None or not isinstance(source, Friction | Spring):
            x, ways = self._between(source)
            return self._force(column, x, ways, None), ways
        value = self.model.mechanism.value(name)
        number, k = value.number, value.place
        for node in self.tree:
            if node.joint == number and not joint_type(node.kind).is_ball:
                ways = {node.speed + k: NODE_ONE}
                return self._force(column, self.value_of(node, k), ways, rates), ways
        cut = next((cut for cut in self.topology.cuts if cut.joint == number), None)
        if cut is None or joint_type(cut.kind).rotations > 1:
            raise _refused(column, "acts on a spherical joint, or a universal one that is cut")
        x, ways = self._at_cut(cut, k, column)
        return self._force(column, x, ways, None), ways

    def _force(
        self, column: Column, x: int, ways: Mapping[int, int], rates: Sequence[int] | None
    ) -> int:
        g = self.g
        speed = g.sum([g.multiply(way, self.u[s]) for s, way in ways.items()])
        match column.kind:
            case "viscous" | "damping":
                return speed
            case "coulomb":
                return g.function("sign", speed)
            case "offset":
                return NODE_ONE
            case "rotor":
                if rates is None:
                    raise _refused(column, "acts on a joint that is cut")
                (only,) = ways
                return rates[only]
        assert isinstance(column.source, Spring)
        return g.add(x, g.negate(self._number(column.source.rest)))

    def _at_cut(self, cut: CutJoint, k: int, column: Column) -> tuple[int, dict[int, int]]:
        """A value of a cut joint (of lengths only), and its derivatives."""
        g = self.g
        X1, _, r1, r2 = self._cut_frames(cut)
        axes = g.transpose(X1)
        P2 = g.plus(self.p[cut.second], r2)
        moves = self._moves(cut, P2)
        shape = joint_type(cut.kind)
        if k not in shape.lengths:
            if column.kind == "stiffness":
                raise _refused(column, "needs the angle of a joint that is cut")
            return NODE_ZERO, {s: g.dot(axes[2], turn) for s, (_, turn) in moves.items()}
        along = axes[shape.directions[k]]
        offset = g.minus(P2, g.plus(self.p[cut.first], r1))
        return g.dot(along, offset), {s: g.dot(along, slide) for s, (slide, _) in moves.items()}

    def _between(self, source: Friction | Spring | Damper) -> tuple[int, dict[int, int]]:
        """Distance of two points, and its derivatives."""
        g = self.g
        assert not isinstance(source, Friction)
        number = self.model.mechanism.body_index
        ends: list[tuple[int, Vector]] = []
        for name, point in zip(source.bodies or (), source.points or (), strict=True):
            body = number[name]
            arm = g.rotate(self.R[body], [self._number(entry) for entry in point])
            ends.append((body, g.plus(self.p[body], arm)))
        (first, P1), (second, P2) = ends
        apart = g.minus(P2, P1)
        length = g.function("sqrt", g.dot(apart, apart))
        u = g.times(g.divide(NODE_ONE, length), apart)
        ways: dict[int, int] = {}
        for body, P, sign in ((second, P2, NODE_ONE), (first, P1, g.negate(NODE_ONE))):
            for speed, velocity in self._carried(body, P).items():
                part = g.multiply(sign, g.dot(u, velocity))
                ways[speed] = g.add(ways.get(speed, NODE_ZERO), part)
        return length, ways

    def _carried(self, body: int, P: Vector) -> dict[int, Vector]:
        """Velocity of a body's point (world) per speed of the joints that it hangs on."""
        g, found = self.g, {}
        places = {node.child: place for place, node in enumerate(self.tree)}
        while body >= 0:
            node, link = self.tree[places[body]], self.links[places[body]]
            R = self.R[body]
            at = g.plus(self.p[body], g.rotate(R, link.arm))
            for k, (spin, slide) in enumerate(zip(link.spins, link.slides, strict=True)):
                way = g.zero
                if spin:
                    way = g.cross(g.rotate(R, spin), g.minus(P, at))
                if slide:
                    way = g.plus(way, g.rotate(R, slide))
                found[node.speed + k] = g.times(
                    NODE_ONE if node.forward else g.negate(NODE_ONE), way
                )
            body = node.parent
        return found

    def _number(self, expression: Expression) -> int:
        (value,) = evaluate([expression], self.model.mechanism.nominal)
        return self.g.real(float(value))


def _refused(column: Column, why: str) -> UsageError:
    return UsageError(
        f"{column.name} cannot be written out: it {why}. Leave it out of `with=`, and add its "
        f"torque to what the functions give.",
        [column.name],
    )
