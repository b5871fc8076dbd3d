"""Inverse dynamics as a matrix: W(q, q̇, q̈) with τ = W φ, for trees and closed loops alike.

For each coordinate the twists of all bodies at unit rate of that coordinate are d'Alembert's
virtual motions; a body's ten (in the plane four) columns are the virtual work of its unit
parameters. The tree's regressor is never formed: coordinates × bodies rows instead of
joints × bodies rows and a product. (Atkeson, An & Hollerbach, Int. J. Robotics Research 5(3),
1986; planar paper, Eqs. 1-4.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array

from . import kinematics, spatial
from .body_forms import tied
from .closure import Model, Outcome, Trace, trace, trace_alone
from .constraint_rows import loop_accelerations, loop_gaps, loop_jacobian
from .coordinates import coordinate_speeds
from .kinematics import Geometry, Poses
from .loop_newton import LAST_UPDATE, invert
from .motion import Motion
from .spatial import contract, cross, dot

#: A gap (m or rad) that no rounding makes: Newton closes to 1e-13, and constraints that were left
#: out as redundant follow within some hundred times that.
OPEN = 1e-7


@dataclass(frozen=True)
class Observation:
    """W of many variants along one motion.

    Attributes
    ----------
    W
        (variant, sample, coordinate, parameter): N or N·m per unit parameter. Rubbish where
        `outcome` is not CLOSED.
    trace
        Outcome, margin and branch of the closure.
    residual
        (variant,) largest gap of any loop over the motion, m or rad.
    error
        (variant,) bound on W's relative error: rounding and the closure residual, carried
        through the loops' equations.
    terms
        (variant, parameter) size of the products that W's columns are sums of: what the
        relative error is relative to where they cancel.
    """

    W: Array
    trace: Trace
    residual: Array
    error: Array
    terms: Array

    @property
    def closed(self) -> Array:
        """(variant,) bool: variants that followed the whole motion."""
        return self.trace.outcome == Outcome.CLOSED

    @property
    def stacked(self) -> Array:
        """W as the observation matrix (variant, row, parameter), samples outermost."""
        n = self.W.shape
        return self.W.reshape(n[0], n[1] * n[2], n[3])

    @cached_property
    def triangle(self) -> Array:
        """(variant, row, parameter): `stacked`, or its triangle R where it is a tall matrix.

        W = Q R: norms, singular values and null space are W's to rounding, which is relative to
        each column. Who looks at W more than once looks at this.
        """
        W = self.stacked
        if W.shape[-2] <= TALL * W.shape[-1]:
            return W
        return np.stack([_triangle(one) for one in W])


#: Rows for each column from which on a triangle is much less than W.
TALL = 2


def _triangle(W: Array) -> Array:
    """R of a tall W (row, parameter), square.

    Rows of an arm's first bodies' joints alone have all columns; zeros before the first entry of
    a row are not computed with: rows are taken in the order of that entry, the latest first.
    """
    width = W.shape[1]
    first = (W != 0).argmax(axis=1)
    order = np.argsort(-first, kind="stable")
    R = np.zeros((0, width))
    for start in range(0, len(W), TALL * width):
        rows = order[start : start + TALL * width]
        lead = first[rows[-1]]
        under = np.linalg.qr(np.vstack([W[rows, lead:], R[:, lead:]]), mode="r")
        R = np.zeros((len(under), width))
        R[:, lead:] = under
    return np.vstack([R, np.zeros((width - len(R), width))])


#: Variants evaluated together: their frames fill about half of a core's cache.
LANES = 4096


def observe(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    last_update: float = LAST_UPDATE,
    path: Trace | None = None,
) -> Observation:
    """W of every variant along a motion.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, (variant,) arrays, SI; others are nominal. Empty: one nominal variant.
    motion
        The coordinates' motion.
    last_update
        As in `closure.trace`.
    path
        Of these variants along this motion's q, where it is known: loops are not closed again.
    """
    if path is None:
        path = trace(model, values, motion.q, last_update)
    return _along(model, values, motion, path)


def observe_alone(model: Model, motion: Motion) -> Observation:
    """W of the nominal mechanism along a motion; quicker than `observe` of one variant.

    Parameters
    ----------
    model, motion
        As in `observe`.
    """
    return _along(model, {}, motion, trace_alone(model, motion.q))


def _along(model: Model, values: Mapping[str, Array], motion: Motion, path: Trace) -> Observation:
    count, samples = path.outcome.size, motion.t.size
    dims = kinematics.geometry(model.mechanism, values)
    block = max(1, LANES // samples)
    if count <= block:  # all at once, and nothing to copy
        with np.errstate(all="ignore"):
            found = evaluate(model, dims.over_samples(), path.q, motion)
        return Observation(found[0], path, *found[1:])
    W = np.empty((count, samples, len(motion.q), len(model.mechanism.parameter_names)))
    residual, error, terms = np.empty(count), np.empty(count), np.empty((count, W.shape[-1]))
    with np.errstate(all="ignore"):  # failed variants go on as passengers
        for start in range(0, count, block):
            part = slice(start, min(start + block, count))
            here = dims if dims.gravity.shape[-1] == 1 else dims.take(np.arange(count)[part])
            W[part], residual[part], error[part], terms[part] = evaluate(
                model, here.over_samples(), path.q[:, part], motion
            )
    return Observation(W, path, residual, error, terms)


def evaluate(
    model: Model, dims: Geometry, q: Array, motion: Motion, at: Poses | None = None
) -> tuple[Array, Array, Array, Array]:
    """W, residual, error and terms (see `Observation`) where the loops are closed already.

    q is (position, variant, sample); `dims` is `over_samples`; few variants at a time. `at` are
    the poses, where they are known.
    """
    graph = model.topology
    if at is None:
        at = kinematics.poses(graph, dims, q)
    batch = q.shape[1:]
    state = Rates(model, at, dims, motion, batch)
    moving = kinematics.twists(graph, at, state.u)
    alpha, a = state.accelerations(moving)
    inertial = [
        _in_body_axes(at, b, (moving.omega[b], alpha[b], a[b])) for b in range(graph.bodies)
    ]
    columns = _planar_columns if graph.planar else _spatial_columns
    W = np.zeros((*batch, len(motion.q), len(model.mechanism.parameter_names)), at.p[0].dtype)
    per_body = W.shape[-1] // graph.bodies
    turning = _longest(alpha) + _longest(moving.omega) ** 2
    pull = _longest(a)
    squares = np.zeros((3, *batch), at.p[0].dtype)
    for k in range(len(motion.q)):
        virtual = kinematics.twists(graph, at, state.modes[:, k])
        for b in range(graph.bodies):
            if not (virtual.v[b].any() or virtual.omega[b].any()):  # not moved by it
                continue
            own = W[..., k, b * per_body : (b + 1) * per_body]
            v, d = _in_body_axes(at, b, (virtual.v[b], virtual.omega[b]))
            for column, entry in enumerate(columns(v, d, *inertial[b])):
                own[..., column] = entry
        speed, spin = _longest(virtual.v), _longest(virtual.omega)
        squares += np.square([speed * pull, speed * turning + spin * pull, spin * turning])
    sizes = np.sqrt(squares.sum(axis=-1))
    orders = (0, 1, 1, 2) if graph.planar else (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)
    terms = np.tile(sizes[list(orders)], (graph.bodies, 1)).T
    tied(model.mechanism, dims, W, terms)
    gaps = loop_gaps(graph, at)
    residual = np.abs(gaps).max(axis=(0, -1)) if gaps.size else np.zeros(batch[:-1])
    return W, residual, state.error(gaps), terms


def _longest(vectors: list[Array]) -> Array:
    """Length of the longest of some bodies' vectors."""
    longest = dot(vectors[0], vectors[0])
    for vector in vectors[1:]:
        longest = np.maximum(longest, dot(vector, vector))
    return np.sqrt(longest)


class Rates:
    """Speeds, modes and speed rates on the constraint manifold, by coordinate partitioning.

    u_dependent = −C_d⁻¹ C_i u_independent; the part of the accelerations that comes from
    velocities needs no derivative of C: it is the loops' mismatch at zero dependent rates.
    """

    def __init__(
        self, model: Model, at: Poses, dims: Geometry, motion: Motion, batch: tuple[int, ...]
    ):
        self.graph, self.blocks, self.at, self.batch = (
            model.topology,
            model.loops.blocks,
            at,
            batch,
        )
        self.gravity = np.broadcast_to(dims.gravity, (3, *batch))
        u, self.u_dot_free, T = coordinate_speeds(
            self.graph, motion.q, motion.q_dot, motion.q_ddot
        )
        jacobian = loop_jacobian(self.graph, at, batch)
        self.inverses: list[Array] = []
        self.conditions: list[Array] = []
        free = list(self.graph.independent)
        self.modes = np.zeros((self.graph.speeds, len(u), *batch), jacobian.dtype)
        self.modes[free] = T[:, :, None]
        for rows, speeds in self.blocks:
            C = np.moveaxis(jacobian[np.ix_(rows, speeds)], (0, 1), (-2, -1))
            inverse = _invert_all(C)
            scale = model.loops.scale[np.ix_(rows, speeds)]
            self.conditions.append(_norm(C * scale) * _norm(inverse / scale.T))
            inverse = np.moveaxis(inverse, (-2, -1), (0, 1))
            self.inverses.append(inverse)
            drive = contract(jacobian[np.ix_(rows, free)][:, :, None], self.modes[free])
            self.modes[list(speeds)] = -contract(inverse[:, :, None], drive)
        self.u = contract(self.modes, motion.q_dot[:, None])

    def accelerations(self, moving: kinematics.Twists) -> tuple[list[Array], list[Array]]:
        """The bodies' angular accelerations, and accelerations less gravity."""
        u_dot = np.zeros((self.graph.speeds, *self.batch), self.modes.dtype)
        u_dot[list(self.graph.independent)] = self.u_dot_free[:, None]
        bodies = kinematics.accelerations(self.graph, self.at, moving, self.u, u_dot, self.gravity)
        if not self.blocks:
            return bodies
        mismatch = loop_accelerations(self.graph, self.at, moving, u_dot, *bodies)
        for (rows, speeds), inverse in zip(self.blocks, self.inverses, strict=True):
            u_dot[list(speeds)] = -contract(inverse, mismatch[list(rows)])
        return kinematics.accelerations(self.graph, self.at, moving, self.u, u_dot, self.gravity)

    def error(self, gaps: Array) -> Array:
        """Relative error of W per variant from rounding and from loops left slightly open.

        A gap e displaces the dependent joints by C_d⁻¹ e; W's entries are built from these
        joints and twice from C_d⁻¹, so each unit of displacement or rounding weighs with the
        condition of C_d, lengths taken in the mechanism's longest offset (`Loops.scale`).
        """
        worst = np.full(self.batch[:-1], np.finfo(float).eps)
        for (rows, _), inverse, condition in zip(
            self.blocks, self.inverses, self.conditions, strict=True
        ):
            shift = np.abs(contract(inverse, gaps[list(rows)])).max(axis=0)
            here = ((shift + np.finfo(float).eps) * condition).max(axis=-1)
            worst = np.maximum(worst, here)
        return worst


def _invert_all(C: Array) -> Array:
    return invert(C.reshape(-1, *C.shape[-2:])).reshape(C.shape)


def _norm(C: Array) -> Array:
    return np.sqrt((C**2).sum(axis=(-2, -1)))


def _in_body_axes(at: Poses, body: int, vectors: tuple[Array, ...]) -> list[Array]:
    return [spatial.rotate_back(at.R[body], vector) for vector in vectors]


def _planar_columns(
    v: Array, d: Array, w: Array, alpha: Array, a: Array
) -> tuple[Array, Array, Array, Array]:
    """Virtual work of m, mx, my, J; vectors in body axes."""
    turn, w2 = d[2], w[2] ** 2
    return (
        v[0] * a[0] + v[1] * a[1],
        turn * a[1] + v[1] * alpha[2] - w2 * v[0],
        -turn * a[0] - v[0] * alpha[2] - w2 * v[1],
        turn * alpha[2],
    )


def _spatial_columns(v: Array, d: Array, w: Array, alpha: Array, a: Array) -> tuple[Array, ...]:
    """Virtual work of m, mx … mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz; vectors in body axes.

    The inertia's six are the symmetric part of d αᵀ + (d × ω) ωᵀ.
    """
    first = cross(v, alpha) + cross(a, d) + w * dot(w, v) - v * dot(w, w)
    e = cross(d, w)

    def both(i: int, j: int) -> Array:
        return d[i] * alpha[j] + d[j] * alpha[i] + e[i] * w[j] + e[j] * w[i]

    def one(i: int) -> Array:
        return d[i] * alpha[i] + e[i] * w[i]

    return (dot(v, a), *first, one(0), both(0, 1), both(0, 2), one(1), both(1, 2), one(2))
