"""Where everything is and how it moves: passes over the spanning tree, world axes, batched.

All arrays have components first and end in the batch: (3, …). The batch is anything that
broadcasts, usually (variant,) while following a motion and (variant, sample) afterwards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import NUMPY, evaluate
from basepar_core.mechanism import Mechanism, joint_type
from basepar_core.symbolic import symbol_values

from . import joints, spatial
from .spatial import cross
from .topology import Topology


@dataclass(frozen=True, slots=True)
class JointGeometry:
    """A joint's frames in its two bodies: origins (3, …) in m and orientations (3, 3, …)."""

    first_origin: Array
    first_axes: Array
    second_origin: Array
    second_axes: Array


@dataclass(frozen=True, slots=True)
class Geometry:
    """A mechanism's dimensions at given symbol values; `gravity` (3, …) in m/s², world.

    `constants`: values of `Mechanism.constraint_constants`, (entry, …) each.
    """

    joints: tuple[JointGeometry, ...]
    gravity: Array
    constants: tuple[Array, ...] = ()

    @property
    def longest_offset(self) -> float:
        """Of all joints' points from their bodies' origins, over all variants, m."""
        return max(
            float(np.sqrt((origin**2).sum(axis=0)).max())
            for side in self.joints
            for origin in (side.first_origin, side.second_origin)
        )

    def over_samples(self) -> "Geometry":
        """The same with a sample axis behind the variants."""
        return Geometry(
            tuple(
                JointGeometry(*(getattr(j, name)[..., None] for name in JointGeometry.__slots__))
                for j in self.joints
            ),
            self.gravity[..., None],
            tuple(table[..., None] for table in self.constants),
        )

    def over_variants(self) -> "Geometry":
        """The same with a variant axis of one before what is then a sample axis."""
        return Geometry(
            tuple(
                JointGeometry(
                    *(getattr(j, name)[..., None, :] for name in JointGeometry.__slots__)
                )
                for j in self.joints
            ),
            self.gravity[..., None, :],
            tuple(table[..., None, :] for table in self.constants),
        )

    def take(self, variants: Array) -> "Geometry":
        """Those of some variants (indices along the last axis)."""
        return Geometry(
            tuple(
                JointGeometry(*(pick(getattr(j, n), variants) for n in JointGeometry.__slots__))
                for j in self.joints
            ),
            pick(self.gravity, variants),
            tuple(pick(table, variants) for table in self.constants),
        )


def pick(array: Array, lanes: Array) -> Array:
    """Lanes of an array whose batch is last, contiguous (`array[..., lanes]` is not)."""
    return np.take(array, lanes, axis=-1)


def geometry(mechanism: Mechanism, values: Mapping[str, Array]) -> Geometry:
    """Evaluate the geometry at symbol values (SI), arrays (variant,); missing ones are nominal."""
    return geometry_of(mechanism, symbol_values(mechanism, values))


def geometry_of(
    mechanism: Mechanism,
    known: Mapping[str, Array | float],
    arithmetic: Mapping[str, Callable[..., Any]] = NUMPY,
    dtype: type = float,
) -> Geometry:
    """The same where every symbol and constant is known, in any of NumPy's arithmetics."""
    count = max((np.size(value) for value in known.values()), default=1)
    flat = [*chain(*mechanism.frame_vectors)]
    further = mechanism.constraint_constants
    numbers = evaluate([*flat, *mechanism.gravity, *chain(*further)], known, arithmetic)
    table: Array = np.stack([np.broadcast_to(np.asarray(x, dtype), (count,)) for x in numbers])
    vectors = table[: len(flat) + 3].reshape(-1, 3, count)
    ends = np.cumsum([len(one) for one in further], dtype=int)[:-1]
    constants = np.split(table[len(flat) + 3 :], ends) if further else []
    with np.errstate(all="ignore"):  # a direction that vanishes is a variant's own failure
        sides = [
            (at, spatial.frame(axis, reference))
            for at, axis, reference in zip(
                vectors[0:-1:3], vectors[1:-1:3], vectors[2:-1:3], strict=True
            )
        ]
    pairs = zip(sides[0::2], sides[1::2], strict=True)
    joints_ = tuple(JointGeometry(*a, *b) for a, b in pairs)
    return Geometry(joints_, vectors[-1], tuple(constants))


@dataclass(frozen=True, slots=True)
class Poses:
    """Positions of everything in the world.

    Per body `R` (3, 3, …) and `p` (3, …), the ground last so that index −1 is the ground; per
    joint of the mechanism the frames `X1`, `X2` and origins `P1`, `P2`, and for a tree joint the
    directions of its speeds, `moves[joint]`. The configuration `q`; the geometry's `constants`.
    """

    R: list[Array]
    p: list[Array]
    X1: list[Array]
    X2: list[Array]
    P1: list[Array]
    P2: list[Array]
    moves: list[list[tuple[Array | None, Array | None]]]
    q: Array
    constants: tuple[Array, ...]


def poses(topology: Topology, geometry: Geometry, q: Array) -> Poses:
    """Poses of all bodies and joint frames at configuration q (position, …)."""
    batch = np.broadcast_shapes(q.shape[1:], geometry.gravity.shape[1:])
    n = len(geometry.joints)
    R: list[Any] = [None] * topology.bodies + [np.eye(3).reshape((3, 3) + (1,) * len(batch))]
    p: list[Any] = [None] * topology.bodies + [np.zeros((3, *(1,) * len(batch)))]
    empty = [np.empty(0)] * n  # filled joint by joint
    moves: list[list[tuple[Array | None, Array | None]]] = [[] for _ in range(n)]
    at = Poses(R, p, empty[:], empty[:], empty[:], empty[:], moves, q, geometry.constants)
    for node in topology.tree:
        j, size = node.joint, joints.configuration_size(node.kind)
        turn, shift = joints.relative_motion(node.kind, q[node.position : node.position + size])
        dims = geometry.joints[j]
        origins = (dims.first_origin, dims.second_origin)
        axes = (dims.first_axes, dims.second_axes)
        near, far = (0, 1) if node.forward else (1, 0)
        X_near = spatial.compose(R[node.parent], axes[near])
        P_near = p[node.parent] + spatial.rotate(R[node.parent], origins[near])
        X_far = spatial.compose(X_near, turn if node.forward else spatial.transpose(turn))
        P_far = P_near
        if shift is not None:
            X1 = X_near if node.forward else X_far
            step = spatial.rotate(X1, shift)
            P_far = P_near + step if node.forward else P_near - step
        R[node.child] = spatial.compose(X_far, spatial.transpose(axes[far]))
        p[node.child] = P_far - spatial.rotate(R[node.child], origins[far])
        ends = ((X_near, P_near), (X_far, P_far))
        (at.X1[j], at.P1[j]), (at.X2[j], at.P2[j]) = ends if node.forward else ends[::-1]
        at.moves[j] = joints.speeds(node.kind, at.X1[j], at.X2[j])
    for cut in topology.cuts:
        dims, j = geometry.joints[cut.joint], cut.joint
        at.X1[j] = spatial.compose(R[cut.first], dims.first_axes)
        at.X2[j] = spatial.compose(R[cut.second], dims.second_axes)
        at.P1[j] = p[cut.first] + spatial.rotate(R[cut.first], dims.first_origin)
        at.P2[j] = p[cut.second] + spatial.rotate(R[cut.second], dims.second_origin)
    return at


@dataclass(frozen=True, slots=True)
class Twists:
    """Per body angular velocity and origin's velocity (3, …), world; the ground last.

    `spin` and `slide` per tree place: the joint's relative angular velocity and the relative
    velocity of its second origin, seen from its first body.
    """

    omega: list[Array]
    v: list[Array]
    spin: list[Array]
    slide: list[Array]


def twists(topology: Topology, at: Poses, u: Array) -> Twists:
    """Velocities of all bodies at speeds u (speed, …)."""
    zero = np.zeros((3, *(1,) * (u.ndim - 1)))
    omega: list[Any] = [None] * topology.bodies + [zero]
    v: list[Any] = [None] * topology.bodies + [zero]
    spins, slides = [], []
    for node in topology.tree:
        j = node.joint
        spin, slide = _relative(
            at.moves[j], u[node.speed : node.speed + joint_type(node.kind).values]
        )
        sign = 1 if node.forward else -1
        a, b = node.parent, node.child
        omega[b] = omega[a] + sign * spin
        # F2's origin is the point whose relative velocity the slide is, whichever way we go.
        v_point = v[a] + cross(omega[a], at.P2[j] - at.p[a]) + sign * slide
        v[b] = v_point + cross(omega[b], at.p[b] - at.P2[j])
        spins.append(spin)
        slides.append(slide)
    return Twists(omega, v, spins, slides)


def _relative(moves: list[tuple[Array | None, Array | None]], u: Array) -> tuple[Array, Array]:
    zero = np.zeros((3, *u.shape[1:]))
    spin, slide = zero, zero
    for (about, along), rate in zip(moves, u, strict=True):
        spin = spin + about * rate if about is not None else spin
        slide = slide + along * rate if along is not None else slide
    return spin, slide


def accelerations(
    topology: Topology, at: Poses, moving: Twists, u: Array, u_dot: Array, gravity: Array
) -> tuple[list[Array], list[Array]]:
    """Angular accelerations and accelerations of origins less gravity, per body, world.

    The ground is last, with −gravity: d'Alembert's principle needs only the difference.
    """
    alpha: list[Any] = [None] * topology.bodies + [np.zeros_like(gravity)]
    a: list[Any] = [None] * topology.bodies + [-gravity]
    for place, node in enumerate(topology.tree):
        j, size = node.joint, joint_type(node.kind).values
        near, far = node.parent, node.child
        first = near if node.forward else far
        spin, slide = moving.spin[place], moving.slide[place]
        rates = slice(node.speed, node.speed + size)
        spin_dot, slide_dot = _relative(at.moves[j], u_dot[rates])
        spin_dot = spin_dot + cross(moving.omega[first], spin)
        bias = joints.speed_bias(node.kind, u[rates], at.X1[j], at.X2[j])
        if bias is not None:
            spin_dot = spin_dot + bias
        slide_dot = slide_dot + 2 * cross(moving.omega[first], slide)
        sign = 1 if node.forward else -1
        alpha[far] = alpha[near] + sign * spin_dot
        reach = at.P2[j] - at.p[near]
        a_point = a[near] + of_point(alpha[near], moving.omega[near], reach)
        # The sliding point is not fixed in the child when the child is the first body.
        a_point = a_point + sign * slide_dot
        a[far] = a_point - of_point(alpha[far], moving.omega[far], at.P2[j] - at.p[far])
    return alpha, a


def of_point(alpha: Array, omega: Array, reach: Array) -> Array:
    """Acceleration of a body's point relative to its origin."""
    return cross(alpha, reach) + cross(omega, cross(omega, reach))
