"""The baseline for closed loops: Pinocchio's tree regressor and coordinate partitioning, in NumPy.

As one writes it with care: cut spherical joints close loops by three equations each; Newton starts
from the last sample, moved on by its speeds and accelerations; Jacobians of all points come from
Pinocchio's joint Jacobians in a few array operations; the loops' accelerations from one pass of
forward kinematics; two small solves; W = Tᵀ Y with Y of `computeJointTorqueRegressor`.
"""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from basepar_core.dynamics.closure import Model
from basepar_core.expressions.tree import evaluate
from basepar_core.symbolic.algebraic_roots import symbol_values
from tests.oracles.pinocchio_model import _moved_parameters

_UNIVERSAL_ZERO = pin.SE3(np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]]), np.zeros(3))
#: x @ _SKEW is [x]× row by row.
_SKEW = np.zeros((3, 9))
_SKEW[0, [5, 7]] = -1, 1
_SKEW[1, [2, 6]] = 1, -1
_SKEW[2, [1, 3]] = -1, 1
LAST_UPDATE = 1e-9


class Partitioned:
    """One variant of a mechanism whose tree joints run forward and whose cuts are spherical."""

    def __init__(self, mechanism: Model, values: Mapping[str, float]) -> None:
        self.graph, self.source = mechanism.topology, mechanism.mechanism
        self.known = symbol_values(self.source, values)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(evaluate(self.source.gravity, self.known), float)
        self.carried = {-1: (0, pin.SE3.Identity())}
        #: Which of the mechanism's positions each of Pinocchio's is.
        self.order: list[int] = []
        for node in self.graph.tree:
            assert node.forward
            self._add(node)
        self._cut()
        self.data, nv = self.model.createData(), self.model.nv
        self.free = np.array(self.graph.independent)
        self.bound = np.array(self.graph.dependent)
        self.T = np.zeros((nv, len(self.free)))
        self.T[self.free, np.arange(len(self.free))] = 1.0
        # Coordinates are speeds of one-axis joints, whose positions are numbers.
        first = [(joint.idx_v, joint.idx_q) for joint in self.model.joints if joint.nv == 1]
        self.set = np.array([dict(first)[k] for k in self.free])
        self.q, self.v, self.a = mechanism.assembled.q[self.order], np.zeros(nv), np.zeros(nv)

    def _frame(self, frame) -> pin.SE3:
        at, axis, reference = (
            np.array(evaluate(x, self.known), float)
            for x in (frame.at, frame.axis, frame.reference)
        )
        z = axis / np.linalg.norm(axis)
        x = np.cross(np.cross(z, reference), z)
        x /= np.linalg.norm(x)
        return pin.SE3(np.stack([x, np.cross(z, x), z], axis=1), at)

    def _add(self, node) -> None:
        joint = self.source.joints[node.joint]
        parent, placement = self.carried[node.parent]
        placement = placement * self._frame(joint.frames[0])
        here, first = pin.SE3.Identity(), node.position
        turn, slide = pin.JointModelRZ, pin.JointModelPZ
        match node.kind:
            case "revolute" | "prismatic":
                kind = turn() if node.kind == "revolute" else slide()
                parent = self.model.addJoint(parent, kind, placement, joint.name)
                self.order += [first]
            case "universal":
                # About z, then x: one joint, so that Y has no columns of a body between its axes.
                cross = pin.JointModelUniversal(np.array([0.0, 0, 1]), np.array([1.0, 0, 0]))
                parent = self.model.addJoint(parent, cross, placement, joint.name)
                here = _UNIVERSAL_ZERO
                self.order += [first, first + 1]
            case "spherical":
                ball = pin.JointModelSpherical()
                parent = self.model.addJoint(parent, ball, placement, joint.name)
                self.order += [first + 1, first + 2, first + 3, first]  # the scalar part is last
            case _:
                raise ValueError(f"the mechanisms compared here have no {node.kind} joints")
        self.carried[node.child] = parent, here * self._frame(joint.frames[1]).inverse()

    def _cut(self) -> None:
        """Both points of every cut, and which joints move them."""
        self.points: list[tuple[int, np.ndarray, int]] = []
        moved = []
        for cut in self.graph.cuts:
            assert cut.kind == "spherical"
            for body, frame in zip(
                (cut.first, cut.second), self.source.joints[cut.joint].frames, strict=True
            ):
                joint, place = self.carried[body]
                point = (place * self._frame(frame)).translation
                placement = pin.SE3(np.eye(3), point)
                name = f"{cut.joint} {len(self.points)}"
                kind = pin.FrameType.OP_FRAME
                number = self.model.addFrame(pin.Frame(name, joint, 0, placement, kind))
                self.points.append((joint, point, number))
                moved.append(joint)
        # Velocity of the second point less that of the first, as a sum over both of signs.
        self.signs = np.zeros((len(moved), 1, self.model.nv))
        for k, joint in enumerate(moved):
            for j in self.model.supports[joint]:
                i = self.model.joints[j].idx_v
                if j:
                    self.signs[k, 0, i : i + self.model.joints[j].nv] = 1.0 if k % 2 else -1.0

    def _loops(self, q):
        """Gaps (3 per cut) and their Jacobian."""
        J, oMi = pin.computeJointJacobians(self.model, self.data, q), self.data.oMi
        X = np.array([oMi[joint].act(point) for joint, point, _ in self.points])
        K = (X @ _SKEW).reshape(-1, 3)
        rows = (J[:3] - (K @ J[3:]).reshape(len(X), 3, -1)) * self.signs
        return (X[1::2] - X[::2]).ravel(), (rows[1::2] + rows[::2]).reshape(-1, self.model.nv)

    def sample(self, q_free, v_free, a_free, dt):
        """W's rows of one sample, in Pinocchio's parameters."""
        model, data, bound = self.model, self.data, self.bound
        q = pin.integrate(model, self.q, dt * self.v + dt * dt / 2 * self.a)
        q[self.set] = q_free
        step = np.zeros(model.nv)
        gap, C = self._loops(q)
        for _ in range(20):
            dependent = np.linalg.solve(C[:, bound], -gap)
            step[bound] = dependent
            q = pin.integrate(model, q, step)
            gap, C = self._loops(q)
            if np.abs(dependent).max() < LAST_UPDATE:
                break
        C_bound = C[:, bound]
        T = self.T
        T[bound] = np.linalg.solve(C_bound, -C[:, self.free])
        v, a = T @ v_free, T @ a_free
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        drift = np.array(
            [
                pin.getFrameClassicalAcceleration(model, data, number, frame).linear
                for _, _, number in self.points
            ]
        )
        a[bound] -= np.linalg.solve(C_bound, (drift[1::2] - drift[::2]).ravel())
        self.q, self.v, self.a = q, v, a
        return T.T @ pin.computeJointTorqueRegressor(model, data, q, v, a)

    def run(self, motion, dt):
        """W (sample, coordinate, Pinocchio's parameter)."""
        count, samples = motion.q.shape
        W = np.empty((samples, count, 10 * (self.model.njoints - 1)))
        q, v, a = (np.ascontiguousarray(x.T) for x in (motion.q, motion.q_dot, motion.q_ddot))
        for k in range(samples):
            W[k] = self.sample(q[k], v[k], a[k], dt)
        return W

    def ours(self, W):
        """W in the mechanism's own parameters."""
        blocks = []
        for body in range(self.graph.bodies):
            joint, place = self.carried[body]
            blocks.append(W[..., 10 * joint - 10 : 10 * joint] @ _moved_parameters(place))
        return np.concatenate(blocks, axis=-1)
