"""Newton's method on the loop equations of many variants, each as if it were alone."""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from . import joints, kinematics
from .constraint_rows import loop_gaps, loop_jacobian
from .coordinates import coordinate_configuration, coordinate_step
from .kinematics import Geometry
from .loops import Loops
from .topology import Topology

#: Newton converges quadratically: after an update below this the error is at rounding.
LAST_UPDATE = 1e-9
NEWTON_STEPS = 12
#: Updates that do not shrink any more are rounding below this, and a search at random above.
SMALL = 1e-4


def invert(matrices: Array) -> Array:
    """Inverses of (lane, k, k); a singular lane gives nan or inf, and disturbs no other."""
    if matrices.shape[-1] == 2:  # by hand: ten times faster than LAPACK called lane by lane
        return _invert_pairs(matrices)
    with np.errstate(all="ignore"):
        try:
            return np.linalg.inv(matrices)
        except np.linalg.LinAlgError:
            bad = ~(np.abs(np.linalg.det(matrices)) > 0)
            safe = np.where(bad[:, None, None], np.eye(matrices.shape[-1]), matrices)
            return np.where(bad[:, None, None], np.nan, np.linalg.inv(safe))


def _invert_pairs(matrices: Array) -> Array:
    """Inverses of (lane, 2, 2)."""
    a, b = matrices[..., 0, 0], matrices[..., 0, 1]
    c, d = matrices[..., 1, 0], matrices[..., 1, 1]
    adjugate = np.empty_like(matrices)
    adjugate[..., 0, 0], adjugate[..., 0, 1] = d, -b
    adjugate[..., 1, 0], adjugate[..., 1, 1] = -c, a
    with np.errstate(all="ignore"):
        return adjugate / (a * d - b * c)[..., None, None]


def regularity(matrices: Array) -> Array:
    """Signed distance from singularity of (lane, k, k): sign of det times k/(‖A‖‖A⁻¹‖).

    ±1 for multiples of rotations, 0 where singular (Frobenius norms). Not a determinant over
    row norms: where a whole row vanishes, as at a parallelogram's flat position, that is blind.
    """
    with np.errstate(all="ignore"):
        # Lane by lane in memory: then sums have one order, however many lanes there are.
        k = matrices.shape[-1]
        both = (matrices, invert(matrices))
        pair = [np.ascontiguousarray(A).reshape(len(A), k * k) for A in both]
        size = np.sqrt((pair[0] ** 2).sum(axis=1)) * np.sqrt((pair[1] ** 2).sum(axis=1))
        ratio = k / size
        return np.where(ratio > 0, np.sign(np.linalg.det(matrices)) * ratio, 0.0)


@dataclass
class Lanes:
    """Variants on their way: configuration (position, variant), and whether each still lives.

    `jacobian` (row, speed, variant) is each variant's own from its last Newton update: within
    that update (1e-9) of the one at `q`, which is plenty for predicting and for the margin.
    """

    q: Array
    live: Array
    jacobian: Array

    def take(self, variants: Array) -> "Lanes":
        return Lanes(*(kinematics.pick(a, variants) for a in (self.q, self.live, self.jacobian)))

    def put(self, variants: Array, other: "Lanes") -> None:
        self.q[:, variants] = other.q
        self.live[variants] = other.live
        self.jacobian[..., variants] = other.jacobian


class Closer:
    """Newton on the loop equations of a set of variants."""

    def __init__(self, graph: Topology, loops: Loops, last_update: float):
        self.graph, self.loops = graph, loops
        self.last_update = last_update

    def systems(self, jacobian: Array) -> list[Array]:
        """Block matrices (variant, k, k)."""
        return [
            np.moveaxis(jacobian[np.ix_(rows, speeds)], -1, 0)
            for rows, speeds in self.loops.blocks
        ]

    def start(self, q: Array, count: int) -> Lanes:
        """All variants at one configuration."""
        rows = len(self.loops.rows) + len(self.loops.redundant)
        return Lanes(
            np.repeat(q[:, None], count, axis=1),
            np.ones(count, dtype=bool),
            np.zeros((rows, self.graph.speeds, count)),
        )

    def drive(self, dims: Geometry, lanes: Lanes, before: Array, after: Array) -> None:
        """Set the coordinates to `after`, (coordinate,) or (coordinate, lane); close the loops.

        The dependent joints start from the tangent at `before`.
        """
        independent = list(self.graph.independent)
        travel = coordinate_step(self.graph, before, after)
        each = "rs...,s->r..." if travel.ndim == 1 else "rsv,sv->rv"
        drift = -np.einsum(each, lanes.jacobian[:, independent], travel)
        self._update(lanes, lanes.jacobian, drift, lanes.live)
        for place, setting in coordinate_configuration(self.graph, after):
            lanes.q[place] = setting[:, None] if setting.ndim == 1 else setting
        self.close(dims, lanes)

    def close(self, dims: Geometry, lanes: Lanes) -> None:
        """Newton from where the lanes are; those that do not converge, or wander, die.

        An update beyond its limit, or longer than the last one, leads to any solution or none:
        joints come out wound up, or on another branch. The way there wants smaller steps.
        """
        moving = lanes.live.copy()
        before = np.full(lanes.live.shape, np.inf)
        for _ in range(NEWTON_STEPS if self.loops.blocks else 0):
            if not moving.any():
                return
            at = kinematics.poses(self.graph, dims, lanes.q)
            gaps = loop_gaps(self.graph, at)
            jacobian = loop_jacobian(self.graph, at, lanes.live.shape)
            np.copyto(lanes.jacobian, jacobian, where=moving)
            size, wild = self._update(lanes, jacobian, -gaps, moving)
            lanes.live &= ~(moving & (wild | ((size > before) & (size > SMALL))))
            moving &= lanes.live & ~(size < self.last_update)
            before = size
        if self.loops.blocks:
            lanes.live &= ~moving

    def _update(
        self, lanes: Lanes, jacobian: Array, right: Array, moving: Array
    ) -> tuple[Array, Array]:
        """Solve the blocks for a step of the moving variants and take it, within limits.

        Its size, and whether it had to be limited (variant,).
        """
        step = np.zeros((self.graph.speeds, *lanes.live.shape))
        for (rows, speeds), A in zip(self.loops.blocks, self.systems(jacobian), strict=True):
            step[list(speeds)] = np.einsum("vij,jv->iv", invert(A), right[list(rows)])
        limit = self.loops.limit[:, None]
        taken = np.where(np.isfinite(step), np.clip(step, -limit, limit), 0.0)
        for node in self.graph.tree:
            here = slice(node.position, node.position + joints.configuration_size(node.kind))
            rates = slice(node.speed, node.speed + joint_type(node.kind).values)
            moved = joints.integrate(node.kind, lanes.q[here], taken[rates])
            np.copyto(lanes.q[here], moved, where=moving)
        far: Array = np.abs(step)
        return far.max(axis=0), np.asarray(~(far <= limit).all(axis=0))

    def ratios(self, lanes: Lanes) -> Array:
        """Signed distance from singularity of each block in `Loops.full`: (block, variant)."""
        if not self.loops.blocks:
            return np.ones((1, *lanes.live.shape))
        scaled = lanes.jacobian * self.loops.scale[..., None]
        return np.stack([regularity(A) for A in self.systems(scaled)]) / self.loops.full[:, None]
