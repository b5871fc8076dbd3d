"""Torques of a closed chain by Pinocchio's tree and the constraints between its frames.

d'Alembert: N maps speeds of the coordinates to those of all joints; τ = Nᵀ (M v̇ + h), with v and
v̇ consistent with the constraints, whose second derivatives are Pinocchio's classical
accelerations. Nothing of it is of the product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass
class ConstrainedTree:
    """A tree, pairs of frames held together (3 rows their points, 6 all of them), and linear
    relations of joint speeds."""

    model: pin.Model
    pairs: Sequence[tuple[tuple[int, pin.SE3], tuple[int, pin.SE3], int]]
    relations: Sequence[Mapping[str, float]] = ()
    data: pin.Data = field(init=False)

    def __post_init__(self):
        kind = pin.FrameType.OP_FRAME
        self.frames = [
            (
                self.model.addFrame(pin.Frame(f"{k}a", one[0], one[1], kind)),
                self.model.addFrame(pin.Frame(f"{k}b", two[0], two[1], kind)),
                rows,
            )
            for k, (one, two, rows) in enumerate(self.pairs)
        ]
        self.data = self.model.createData()

    def column(self, joint: str) -> int:
        return self.model.joints[self.model.getJointId(joint)].idx_v

    def configuration(self, values: Mapping[str, float | np.ndarray]) -> np.ndarray:
        """Of joint values; a rotation vector for a spherical joint."""
        q = pin.neutral(self.model)
        for name, value in values.items():
            joint = self.model.joints[self.model.getJointId(name)]
            v = np.zeros(self.model.nv)
            v[joint.idx_v : joint.idx_v + joint.nv] = value
            q = pin.integrate(self.model, q, v)
        return q

    def rows(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian of the constraints, and their second derivatives at zero acceleration."""
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        J, drift = [], []
        for one, two, rows in self.frames:
            sides = [pin.getFrameJacobian(self.model, self.data, k, WORLD) for k in (one, two)]
            along = [
                pin.getFrameClassicalAcceleration(self.model, self.data, k, WORLD).vector
                for k in (one, two)
            ]
            J.append((sides[0] - sides[1])[:rows])
            drift.append((along[0] - along[1])[:rows])
        for relation in self.relations:
            row = np.zeros((1, self.model.nv))
            for name, x in relation.items():
                row[0, self.column(name)] = x
            J.append(row)
            drift.append(np.zeros(1))
        return np.vstack(J), np.concatenate(drift)

    def gap(self, q: np.ndarray) -> float:
        """Largest distance of frames that are held together, m (and rad)."""
        pin.forwardKinematics(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        at = self.data.oMf
        return max(
            np.abs(at[one].translation - at[two].translation).max()
            if rows == 3
            else np.abs(pin.log6(at[one].actInv(at[two])).vector).max()
            for one, two, rows in self.frames
        )

    def freedoms(self, q: np.ndarray) -> int:
        """Speeds less the rank of the constraints."""
        sizes = np.linalg.svd(self.rows(q, np.zeros(self.model.nv))[0], compute_uv=False)
        return self.model.nv - int((sizes > 1e-8 * sizes[0]).sum())

    def torque(self, q, coordinates, rates, accelerations) -> np.ndarray:
        """Of the coordinates, whose speeds and accelerations are given."""
        N, v, a = self._consistent(q, coordinates, rates, accelerations)
        return N.T @ pin.rnea(self.model, self.data, q, v, a)

    def regressor(self, q, coordinates, rates, accelerations) -> np.ndarray:
        """Derivatives of these torques by parameters of the bodies that weigh something."""
        N, v, a = self._consistent(q, coordinates, rates, accelerations)
        Y = pin.computeJointTorqueRegressor(self.model, self.data, q, v, a)
        weighs = [k for k, it in enumerate(list(self.model.inertias)[1:]) if it.mass]
        return N.T @ Y.reshape(self.model.nv, -1, 10)[:, weighs].reshape(self.model.nv, -1)

    def _consistent(self, q, coordinates, rates, accelerations):
        """N, and speeds and accelerations of all joints."""
        free = [self.column(name) for name in coordinates]
        others = [k for k in range(self.model.nv) if k not in free]
        C, _ = self.rows(q, np.zeros(self.model.nv))
        N = np.zeros((self.model.nv, len(free)))
        N[free] = np.eye(len(free))
        N[others] = -np.linalg.lstsq(C[:, others], C[:, free], rcond=1e-10)[0]
        v, a = N @ rates, N @ accelerations
        _, drift = self.rows(q, v)
        a[others] -= np.linalg.lstsq(C[:, others], drift, rcond=1e-10)[0]
        return N, v, a
