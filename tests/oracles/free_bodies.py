"""Newton and Euler's equations of all bodies with Lagrange multipliers and loads: q̈ and wrenches.

The constraints are those of `maximal`; loads act on the bodies themselves, as the file states
them, by virtual power of a joint's value or along the line between two points.
"""

from collections.abc import Mapping

import numpy as np

from basepar_core.expressions.tree import evaluate
from basepar_core.mechanism import GROUND, Damper, Mechanism, Spring, Torque

from .maximal import Bodies, Jet, skew

Array = np.ndarray


class FreeBodies(Bodies):
    """One variant of a mechanism of mobility one, moving under its loads.

    `shafts` has what loads, and rotors, on every joint's values do to all bodies.
    """

    def __init__(self, mechanism: Mechanism):
        super().__init__(mechanism, {})
        self.still = np.zeros((1, self.size))
        self.shafts: dict[str, Array] = {}

    def move(self, q: float, w: float, currents: Mapping[str, float]) -> tuple[float, Array]:
        """q̈, and multipliers of the joints' constraints, at a place, a speed and currents."""
        self.walk(np.array([q]))
        slope = self.equations(self.still)[1][0]
        twist = np.linalg.pinv(slope, rcond=1e-10)[:, -1] * w
        bend = self.equations(twist[None])[2][0]
        M, f = self._bodies(twist)
        self.shafts = {joint.name: np.zeros(self.size) for joint in self.mechanism.joints}
        rotors = self._coordinates(twist, currents)
        f += sum(self.shafts.values())
        for _, inertia, rate, rest in rotors:
            M += inertia * np.outer(rate, rate)
            f -= inertia * rest * rate
        for line, (first, second) in self._lines():
            self._pull(f, line, first, second, twist)
        G = self.G = slope[:-1]
        rows = len(G)
        K = np.block([[M, -G.T], [G, np.zeros((rows, rows))]])
        # A plane's bodies have no inertia across it, and redundant rows share as they like.
        solved = np.linalg.lstsq(K, np.concatenate([f, -bend[:-1]]), rcond=1e-13)[0]
        for joint, inertia, rate, rest in rotors:
            self.shafts[joint] -= inertia * (rate @ solved[: self.size] + rest) * rate
        return float(slope[-1] @ solved[: self.size] + bend[-1]), solved[self.size :]

    def wrench(self, multipliers: Array, joint: str, body: str) -> tuple[Array, Array]:
        """Moment about the joint's point on `body`, and force, on the joint's second body.

        Both in axes of `body`; with what friction, springs, motors and torques of the joint do.
        """
        names = [one.name for one in self.mechanism.joints]
        k = names.index(joint)
        counts = [len(self._joint(n, self.still)) for n in range(len(names))]
        rows = slice(sum(counts[:k]), sum(counts[: k + 1]))
        pair = self.mechanism.joints[k].bodies
        # Onto the second body, or against the first where the second is the ground.
        sign, other = (1, pair[1]) if pair[1] != GROUND else (-1, pair[0])
        start = 6 * self.number[other]
        load = self.G[rows, start : start + 6].T @ multipliers[rows]
        load = sign * (load + self.shafts[joint][start : start + 6])
        side = pair.index(body)
        R, p = (x[0] for x in self._pose(body))
        arm = p + R @ self.points[k, side, 0] - self._pose(other)[1][0]
        return R.T @ (load[:3] - np.cross(arm, load[3:])), R.T @ load[3:]

    def _bodies(self, twist: Array) -> tuple[Array, Array]:
        M, f = np.zeros((self.size, self.size)), np.zeros(self.size)
        phi = self.mechanism.inertial_parameters(self.mechanism.nominal)
        g = self.gravity[0]
        for k, entries in enumerate(np.reshape(phi, (len(self.number), -1))):
            R, w = self.R[0, k], twist[6 * k : 6 * k + 3]
            I, first = np.zeros((3, 3)), np.zeros(3)
            if self.mechanism.planar:
                first[:2], I[2, 2] = entries[1:3], entries[3]
            else:
                first = entries[1:4]
                I[np.triu_indices(3)] = entries[4:]
                I = I + np.triu(I, 1).T
            mc, I = R @ first, R @ I @ R.T
            six = slice(6 * k, 6 * k + 6)
            S = skew(mc)
            M[six, six] = np.block([[I, S], [-S, entries[0] * np.eye(3)]])
            f[six] = [
                *(np.cross(mc, g) - np.cross(w, I @ w)),
                *(entries[0] * g - np.cross(w, np.cross(w, mc))),
            ]
        return M, f

    def _coordinates(self, twist: Array, currents: Mapping[str, float]) -> list:
        """Loads on joint values into `shafts`; rotors: joint, inertia, rate, bend."""
        it, rotors = self.mechanism, []

        def at(name: str) -> tuple[str, Array, float, float, float]:
            jet = self._coordinate(name, twist[None])
            joint = next(one.name for one in it.joints if name in one.values)
            rate = jet.rate[0]
            return joint, rate, float(jet.value[0]), float(rate @ twist), float(jet.bend[0])

        for one in it.friction:
            joint, rate, _, speed, bend = at(one.coordinate)
            size = self.value(one.value)
            if one.kind == "rotor":
                rotors.append((joint, size, rate, bend))
                continue
            laws = {"viscous": speed, "coulomb": np.sign(speed), "offset": 1}
            self.shafts[joint] -= rate * size * laws[one.kind]
        for spring in it.springs:
            if spring.coordinate is not None:
                joint, rate, value, _, _ = at(spring.coordinate)
                stretch = value - self.value(spring.rest)
                self.shafts[joint] -= rate * self.value(spring.stiffness) * stretch
        for motor in it.motors:
            joint, rate, _, _, bend = at(motor.coordinate)
            ratio = self.value(motor.ratio)
            gain = self.value(motor.constant) * ratio
            self.shafts[joint] += rate * gain * currents[motor.name]
            rotors.append((joint, ratio**2 * self.value(motor.rotor), rate, bend))
        for torque in it.torques:
            joint, rate, value, speed, _ = at(torque.coordinate)
            way = {"": 0, "rising": 1, "falling": -1}[torque.when]
            if way == 0 or speed * way > 0:
                place = at(torque.along or torque.coordinate)[2]
                self.shafts[joint] += rate * self._effort(torque, value, speed, place)
        return rotors

    def _effort(self, torque: Torque, value: float, speed: float, place: float) -> float:
        if not torque.pieces:
            known = {**self.mechanism.nominal, "position": value, "speed": speed}
            return float(np.asarray(evaluate([torque.value], known)[0]))
        found = 0.0
        for low, high, size in torque.pieces:
            start, end = self.value(low), self.value(high)
            found += self.value(size) * ((place - start) % (2 * np.pi) < end - start)
        return found

    def value(self, expression: object) -> float:
        """A number of the file; 0 where it says none."""
        if expression is None:
            return 0.0
        return float(np.asarray(evaluate([expression], self.mechanism.nominal)[0]))

    def _lines(self) -> list[tuple[Spring | Damper, list[Jet]]]:
        found = []
        for one in (*self.mechanism.springs, *self.mechanism.dampers):
            if one.bodies is not None and one.points is not None:
                ends = zip(one.bodies, one.points, strict=True)
                places = [(name, np.array([[self.value(x) for x in p]])) for name, p in ends]
                found.append((one, [self._point(*place, self.still) for place in places]))
        return found

    def _pull(
        self, f: Array, line: Spring | Damper, first: Jet, second: Jet, twist: Array
    ) -> None:
        """A spring or damper: a force on either end, along the line between them."""
        way = second.value[0] - first.value[0]
        length = np.linalg.norm(way)
        along = way / length
        if isinstance(line, Damper):
            rate = along @ (second.rate[0] - first.rate[0]) @ twist
            tension = self.value(line.damping) * rate
        else:
            tension = self.value(line.stiffness) * (length - self.value(line.rest))
        f += tension * along @ (first.rate[0] - second.rate[0])
