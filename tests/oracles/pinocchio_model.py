"""Open chains by Pinocchio: the same mechanism built from its joints, and its torque regressor.

Every joint becomes a chain of one-axis joints (a spherical or free one stays whole); a joint whose
parent is its second body runs backwards, so its motions come inverted and in reverse order.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import mpmath
import numpy as np
import pinocchio as pin

from basepar_core.expressions.tree import evaluate
from basepar_core.mechanism import GROUND, Frame, Mechanism

#: A step of a joint: what moves (or a fixed placement), and which of the joint's values.
Step: TypeAlias = Any  # tuple[str, int] | pin.SE3

#: At zero a universal joint's second axis is along x, its first along the second frame's x.
_UNIVERSAL_ZERO = pin.SE3(np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]]), np.zeros(3))
_STEPS: Mapping[str, list[Step]] = {
    "revolute": [("turn z", 0)],
    "prismatic": [("slide z", 0)],
    "cylindrical": [("slide z", 0), ("turn z", 1)],
    "universal": [("turn z", 0), _UNIVERSAL_ZERO, ("turn z", 1)],
    "spherical": [("ball", 0)],
    "planar": [("slide x", 0), ("slide y", 1), ("turn z", 2)],
    "free": [("free flyer", 0)],
    "fixed": [],
}
_ALONG = {"x": np.array([1.0, 0, 0]), "y": np.array([0.0, 1, 0]), "z": np.array([0.0, 0, 1])}


class Chain:
    """A tree mechanism as a Pinocchio model.

    Parameters
    ----------
    mechanism
        Spatial, without loops.
    values
        Symbols, SI scalars; others are nominal.
    """

    def __init__(self, mechanism: Mechanism, values: Mapping[str, float]):
        self.mechanism = mechanism
        self.known = {**mechanism.nominal, **values}
        self.model = pin.Model()
        self.model.gravity.linear = np.array(evaluate(mechanism.gravity, self.known), float)
        #: Per moving step: coordinate, whether backwards, what moves, place in velocity.
        self.moves: list[tuple[int, bool, str, int]] = []
        #: Per body the joint that carries it and the body's frame in that joint's.
        self.carried: dict[str, tuple[int, pin.SE3]] = {GROUND: (0, pin.SE3.Identity())}
        waiting = list(range(len(mechanism.joints)))
        while waiting:
            k = next(k for k in waiting if self.carried.keys() & set(mechanism.joints[k].bodies))
            waiting.remove(k)
            self._add(k)
        self.data = self.model.createData()

    def _placement(self, frame: Frame) -> pin.SE3:
        at, axis, reference = (
            np.array(evaluate(v, self.known), float)
            for v in (frame.at, frame.axis, frame.reference)
        )
        z = axis / np.linalg.norm(axis)
        x = np.cross(np.cross(z, reference), z)
        x /= np.linalg.norm(x)
        return pin.SE3(np.stack([x, np.cross(z, x), z], axis=1), at)

    def _add(self, k: int) -> None:
        joint = self.mechanism.joints[k]
        backwards = joint.bodies[0] not in self.carried
        near, far = (1, 0) if backwards else (0, 1)
        parent, placement = self.carried[joint.bodies[near]]
        placement = placement * self._placement(joint.frames[near])
        steps = _STEPS[joint.type]
        for step in reversed(steps) if backwards else steps:
            if isinstance(step, pin.SE3):
                placement = placement * (step.inverse() if backwards else step)
                continue
            what, place = step
            sign = -1.0 if backwards else 1.0
            if what == "ball":
                kind = pin.JointModelSpherical()
            elif what == "free flyer":
                kind = pin.JointModelFreeFlyer()
            else:
                motion, axis = what.split()
                unaligned = (
                    pin.JointModelRevoluteUnaligned
                    if motion == "turn"
                    else pin.JointModelPrismaticUnaligned
                )
                kind = unaligned(sign * _ALONG[axis])
            name = f"{joint.name} {what}"
            parent = self.model.addJoint(parent, kind, placement, name)
            placement = pin.SE3.Identity()
            coordinate = self.mechanism.coordinates.index(joint.values[place])
            place_in_v = self.model.joints[parent].idx_v
            self.moves.append((coordinate, backwards, what, place_in_v))
        far_frame = placement * self._placement(joint.frames[far]).inverse()
        self.carried[joint.bodies[far]] = parent, far_frame

    def _state(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> tuple[np.ndarray, ...]:
        """Pinocchio's q, v and a, and its v per coordinate's velocity."""
        Q, v, a = [], np.zeros(self.model.nv), np.zeros(self.model.nv)
        T = np.zeros((self.model.nv, len(q)))
        for coordinate, backwards, what, place in self.moves:
            if what == "free flyer":  # its velocities as they are: the convention is Pinocchio's
                here, there = slice(coordinate, coordinate + 6), slice(place, place + 6)
                turned = pin.Quaternion(pin.exp3(q[coordinate + 3 : coordinate + 6]))
                Q += [*q[coordinate : coordinate + 3], *turned.coeffs()]
                v[there], a[there], T[there, here] = dq[here], ddq[here], np.eye(6)
                continue
            if what != "ball":
                Q += [q[coordinate]]
                v[place], a[place], T[place, coordinate] = dq[coordinate], ddq[coordinate], 1.0
                continue
            here = slice(coordinate, coordinate + 3)
            sign = -1 if backwards else 1  # the rotation seen from the other side
            r, dr, ddr = sign * q[here], sign * dq[here], sign * ddq[here]
            Q += list(pin.Quaternion(pin.exp3(r)).coeffs())
            J, dJ = pin.Jexp3(r), _right_jacobian_rate(r, dr)
            three = slice(place, place + 3)
            v[three], a[three], T[three, here] = J @ dr, J @ ddr + dJ @ dr, sign * J
        return np.array(Q), v, a, T

    def torque(
        self,
        q: np.ndarray,
        dq: np.ndarray,
        ddq: np.ndarray,
        phi: np.ndarray,
        pushes: Sequence[tuple[str, Sequence[float], np.ndarray]],
    ) -> np.ndarray:
        """Torques (coordinate,) by `rnea`; pushes are a body, a point, force and moment there."""
        Q, v, a, T = self._state(q, dq, ddq)
        model = self.model.copy()
        forces = [pin.Force.Zero() for _ in range(model.njoints)]
        for k, body in enumerate(self.mechanism.bodies):
            joint, frame = self.carried[body.name]
            own = _moved_parameters(frame) @ phi[10 * k : 10 * k + 10]
            here = pin.Inertia.FromDynamicParameters(own)
            model.inertias[joint] = model.inertias[joint] + here
        for name, point, wrench in pushes:
            joint, frame = self.carried[name]
            there = frame * pin.SE3(np.eye(3), np.array(point, float))
            forces[joint] = forces[joint] + there.act(pin.Force(wrench[:3], wrench[3:]))
        fext = pin.StdVec_Force()
        fext.extend(forces)
        found: np.ndarray = T.T @ pin.rnea(model, model.createData(), Q, v, a, fext)
        return found

    def columns(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """W (coordinate, parameter) at one state; columns in the project's order."""
        Q, v, a, T = self._state(q, dq, ddq)
        Y = pin.computeJointTorqueRegressor(self.model, self.data, Q, v, a)
        Y = Y.reshape(self.model.nv, -1)  # of one freedom it comes as a row
        blocks = []
        for body in self.mechanism.bodies:
            joint, frame = self.carried[body.name]
            block = Y[:, 10 * joint - 10 : 10 * joint] if joint else np.zeros((len(Y), 10))
            blocks.append(T.T @ block @ _moved_parameters(frame))
        return np.concatenate(blocks, axis=1)


def _right_jacobian_rate(r: np.ndarray, dr: np.ndarray) -> np.ndarray:
    """Derivative of exp's right Jacobian along dr, by differences in thirty digits."""

    def jacobian(t: mpmath.mpf) -> mpmath.matrix:
        x, y, z = (
            mpmath.mpf(float(a)) + t * mpmath.mpf(float(b)) for a, b in zip(r, dr, strict=True)
        )
        K = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        n = mpmath.sqrt(x * x + y * y + z * z)
        one = mpmath.eye(3)
        return one - (1 - mpmath.cos(n)) / n**2 * K + (n - mpmath.sin(n)) / n**3 * K * K

    with mpmath.workdps(30):
        h = mpmath.mpf(10) ** -10
        slope = (jacobian(h) - jacobian(-h)) / (2 * h)
        return np.array(slope.tolist(), float)


def _moved_parameters(frame: pin.SE3) -> np.ndarray:
    """Pinocchio's ten in the joint's frame from the project's ten in the body's frame."""
    R, t = frame.rotation, frame.translation
    columns = []
    for k in range(10):
        unit = np.eye(10)[k]
        m, c = unit[0], unit[1:4]
        xx, xy, xz, yy, yz, zz = unit[4:]
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        S = np.trace(I) / 2 * np.eye(3) - I  # ∫ x xᵀ dm
        moved = R @ c
        S = R @ S @ R.T + np.outer(t, moved) + np.outer(moved, t) + m * np.outer(t, t)
        I = np.trace(S) * np.eye(3) - S
        order = [I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
        columns.append([m, *(moved + m * t), *order])
    return np.array(columns).T
