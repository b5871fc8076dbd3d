"""Special angular velocities that a mechanism really has, found on its branch, written exactly.

A parallelogram's coupler does not turn; its crank and rocker turn alike though no joint joins
them; a planar loop modelled in space turns about one axis. No joint rule sees this, because it
follows from the geometry's equalities and the branch. Relative angular velocities of every body
and pair are sampled in float64 at several random geometries near the nominal one (so that equal
*values* of different symbols do not count as equal), and what they show is written with exact
directions. The vectors are graded *numerical*: the relation was seen, not proved.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    Model,
    Motion,
    Outcome,
    Rates,
    kinematics,
    sampling,
    spatial,
    trace,
    trace_states,
)
from basepar_core.errors import MotionError
from basepar_core.expressions import ONE, ZERO, evaluate, negate, number
from basepar_core.mechanism import GROUND, Vector, joint_type
from basepar_core.symbolic import ExactMatrix, ExactVector, NullVector, Transfers, symbol_values

from .family import SpinRelation

#: Angular velocities are of order one per unit rate; relations hold to 1e-13 and fail by 1e-3.
ZERO_SPIN = 1e-9
#: Relative spread of random geometries about the nominal one, and how many are tried.
SPREAD, GEOMETRIES, SAMPLES = 0.04, 6, 9
#: Of entries of a fixed relative rotation: product of two rotations by quaternions of numbers up
#: to 5. That the nine fractions are a rotation exactly is what makes it none by chance.
DENOMINATOR = 10_000


@dataclass(frozen=True)
class Sampled:
    """Poses and unit-rate motions at several geometries: lists by body, (…, lane).

    A lane is one sample of one geometry; `v` and `omega` have a mode axis before it.
    `values` are the symbols' values by lane.
    """

    R: list[Array]
    p: list[Array]
    omega: list[Array]
    v: list[Array]
    values: dict[str, Array]


@dataclass(frozen=True)
class Branch:
    """A mechanism's real branch, sampled when something is first looked for on it, and once."""

    model: Model

    @cached_property
    def sampled(self) -> Sampled:
        """Poses and unit-rate motions.

        Raises
        ------
        MotionError
            The loops do not stay closed.
        """
        return _sample(self.model)


def detect(transfers: Transfers, branch: Branch) -> list[NullVector]:
    """Null vectors from special angular velocities of bodies and of pairs."""
    at = branch.sampled
    bodies = [body.name for body in transfers.mechanism.bodies]
    found: list[NullVector] = []
    for i, name in enumerate(bodies):
        found += _against_ground(transfers, at, i, name)
    for i in range(len(bodies)):
        for j in range(i + 1, len(bodies)):
            found += _pair(transfers, at, i, j)
    return found


def _sample(model: Model) -> Sampled:
    """Poses and modes on the real branch, at the nominal geometry and at random ones near it."""
    mechanism = model.mechanism
    motion = sampling(model)
    picks = np.linspace(0, motion.t.size - 1, SAMPLES).astype(int)
    values = _nearby(model)
    # Samples in between are only the way; a few of each geometry are enough, and straight ways
    # between them are shorter.
    thin = Motion(*(getattr(motion, n)[..., picks] for n in ("t", "q", "q_dot", "q_ddot")))
    path = trace_states(model, thin.q, values)
    if (path.outcome != Outcome.CLOSED).any():
        path = trace(model, values, motion.q)
        path = replace(path, q=path.q[:, :, picks])
    kept = np.flatnonzero(path.outcome == Outcome.CLOSED)
    if not kept.size:
        raise MotionError(
            f"The excitation of {mechanism.name!r} cannot be followed, neither at the nominal "
            f"geometry nor near it: the loops do not stay closed. Lower its amplitude, or change "
            f"the assembly.",
            ["excitation"],
        )
    values = {name: column[kept] for name, column in values.items()}
    dims = kinematics.geometry(mechanism, values).over_samples()
    q = path.q[:, kept]
    at = kinematics.poses(model.topology, dims, q)
    rates = Rates(model, at, dims, thin, q.shape[1:])
    modes = [kinematics.twists(model.topology, at, rates.modes[:, k]) for k in range(len(thin.q))]
    lanes = (kept.size, picks.size)

    def flat(array: Array) -> Array:
        shape = array.shape[: array.ndim - 2]
        return np.broadcast_to(array, (*shape, *lanes)).reshape(*shape, -1)

    return Sampled(
        [flat(R) for R in at.R],
        [flat(p) for p in at.p],
        [np.stack([flat(mode.omega[b]) for mode in modes], 1) for b in range(len(at.R))],
        [np.stack([flat(mode.v[b]) for mode in modes], 1) for b in range(len(at.R))],
        {name: np.repeat(column, picks.size) for name, column in values.items()},
    )


def _nearby(model: Model) -> dict[str, Array]:
    """The nominal geometry and random ones; symbols bound by a relation follow the others."""
    mechanism = model.mechanism
    rng = np.random.default_rng(20261120)
    nominal = mechanism.nominal
    typical = max((abs(nominal[s.name]) for s in mechanism.geometry), default=1.0)
    columns = {}
    for symbol in mechanism.geometry:
        if symbol.name in mechanism.roots:
            continue
        size = abs(nominal[symbol.name]) or typical
        spread = SPREAD * (1.0 if symbol.is_angle else size) * rng.uniform(-1, 1, GEOMETRIES)
        spread[0] = 0.0
        columns[symbol.name] = nominal[symbol.name] + spread
    return columns


def _spin_rank(at: Sampled, i: int, j: int) -> tuple[int, Array]:
    """Rank of R_iᵀ(Ω_i − Ω_j) over everything sampled, and its values (3, mode·lane)."""
    relative = np.stack(
        [spatial.rotate_back(at.R[i], w) for w in np.moveaxis(at.omega[i] - at.omega[j], 1, 0)], 1
    )
    flat = relative.reshape(3, -1)
    return int((np.linalg.svd(flat, compute_uv=False) > ZERO_SPIN * flat.shape[1]).sum()), flat


def _against_ground(transfers: Transfers, at: Sampled, i: int, name: str) -> list[NullVector]:
    rank, spins = _spin_rank(at, i, -1)
    if rank == 0:
        parts = transfers.dipoles(transfers.origin) + transfers.inertias()
        return [
            transfers.vector(
                [(name, 1, ten)], "numerical", f"{what} of {name}, which does not turn"
            )
            for ten, what in parts
        ]
    if rank == 1 and not transfers.mechanism.planar:
        axis = _match_direction(transfers, at, name, i, spins)
        if axis is not None:
            reason = f"of {name}, which turns about one fixed direction only"
            parts = [(ten, "unnoticed second moment") for ten in transfers.unnoticed_inertia(axis)]
            parts.append((transfers.dipole(transfers.origin, axis), "first moment along the axis"))
            return [
                transfers.vector([(name, 1, ten)], "numerical", f"{what} {reason}")
                for ten, what in parts
            ]
    return []


def _pair(transfers: Transfers, at: Sampled, i: int, j: int) -> list[NullVector]:
    one, two = (transfers.mechanism.bodies[k].name for k in (i, j))
    rank, spins = _spin_rank(at, i, j)
    if rank == 0:
        R = _constant_rotation(transfers, at, i, j)
        if R is None:
            return []
        pairs = transfers.equal_rotation(R)
        points = _common_points(transfers, at, i, j)
        if points is not None:
            pairs = pairs + transfers.equal_points(*points, R)
        reason = f"between {one} and {two}, which turn alike"
    elif rank == 1 and not transfers.mechanism.planar:
        axes = _match_pair(transfers, at, i, j, spins)
        if axes is None:
            return []
        pairs = [
            (
                (transfers.quadrupole(axes[0]), transfers.quadrupole(axes[1])),
                "second moment along their common axis",
            )
        ]
        reason = f"between {one} and {two}, which turn about one axis against each other"
    else:
        return []
    return [
        transfers.vector([(one, 1, a), (two, -1, b)], "numerical", f"{what} {reason}")
        for (a, b), what in pairs
    ]


def _directions(transfers: Transfers, name: str) -> list[Vector]:
    """Directions of a body that its file knows: joint axes first, then the frame's own."""
    found: list[Vector] = []
    for joint in transfers.mechanism.joints:
        for side, body in enumerate(joint.bodies):
            if body == name:
                found += [joint.frames[side].axis, joint.frames[side].reference]
    units: list[Vector] = [(ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE)]
    return list(dict.fromkeys([*found, *units]))


def _numbers(transfers: Transfers, at: Sampled, vector: Vector, count: int) -> Array:
    """An expression vector (3, lane) at the sampled geometries."""
    known = symbol_values(transfers.mechanism, at.values)
    return np.stack([np.broadcast_to(x, (count,)) for x in evaluate(vector, known)]).astype(float)


def _match_direction(
    transfers: Transfers, at: Sampled, name: str, i: int, spins: Array
) -> ExactVector | None:
    vector = _parallel(transfers, at, _directions(transfers, name), i, spins)
    return None if vector is None else transfers.exact(vector)


def _parallel(
    transfers: Transfers, at: Sampled, candidates: list[Vector], i: int, spins: Array
) -> Vector | None:
    lanes = at.R[i].shape[-1]
    modes = spins.shape[1] // lanes
    for vector in candidates:
        direction = np.tile(_numbers(transfers, at, vector, lanes), modes)
        length = np.sqrt((direction**2).sum(axis=0))
        if (length > 0).all() and np.abs(
            spatial.cross(direction / length, spins)
        ).max() < ZERO_SPIN * spins.shape[1]:
            return vector
    return None


def _match_pair(
    transfers: Transfers, at: Sampled, i: int, j: int, spins: Array
) -> tuple[ExactVector, ExactVector] | None:
    """The common axis in both bodies, with equal lengths as an identity."""
    bodies = transfers.mechanism.bodies
    _, other = _spin_rank(at, j, i)
    first = _parallel(transfers, at, _directions(transfers, bodies[i].name), i, spins)
    second = _parallel(transfers, at, _directions(transfers, bodies[j].name), j, other)
    if first is None or second is None:
        return None
    u, w = transfers.exact(first), transfers.exact(second)
    uu, ww = (sum(x * x for x in vector) for vector in (u, w))
    return (u, w) if transfers.field.reduce(uu - ww) == 0 else None


def _constant_rotation(transfers: Transfers, at: Sampled, i: int, j: int) -> ExactMatrix | None:
    """R_iᵀ R_j if it is the same small rational matrix everywhere."""
    exact = _rational_rotation(at, i, j)
    if exact is None:
        return None
    rows = [[transfers.field.element(number(x)) for x in row] for row in exact]
    return tuple(tuple(row) for row in rows)  # type: ignore[return-value]


def _rational_rotation(at: Sampled, i: int, j: int) -> list[list[Fraction]] | None:
    relative = spatial.compose(spatial.transpose(at.R[i]), at.R[j])
    mean = relative.mean(axis=-1)
    if np.abs(relative - mean[..., None]).max() > ZERO_SPIN:
        return None
    exact = [[Fraction(float(x)).limit_denominator(DENOMINATOR) for x in row] for row in mean]
    if max(abs(float(exact[r][c]) - mean[r, c]) for r in range(3) for c in range(3)) > ZERO_SPIN:
        return None
    products = [
        [sum(exact[r][k] * exact[s][k] for k in range(3)) for s in range(3)] for r in range(3)
    ]
    return exact if products == [[int(r == s) for s in range(3)] for r in range(3)] else None


def spin_relations(transfers: Transfers, branch: Branch) -> list[SpinRelation]:
    """Fixed relative orientations and common axes on the branch that no single joint states.

    Of every pair of bodies, the ground included: what points over finite fields need to lie on
    the mechanism's own component.
    """
    at = branch.sampled
    mechanism = transfers.mechanism
    names = [*(body.name for body in mechanism.bodies), GROUND]
    count = len(names) - 1
    joined = {
        frozenset(joint.bodies): joint_type(joint.type).rotations
        for joint in mechanism.joints
        if joint_type(joint.type).rotations < (1 if mechanism.planar else 3)
    }
    found = []
    for i in range(-1, count):
        for j in range(i + 1, count):
            rank, spins = _spin_rank(at, i, j)
            if rank >= joined.get(frozenset((names[i], names[j])), 3):
                continue
            if rank == 0:
                R = _rational_rotation(at, i, j)
                if R is not None:
                    found.append(SpinRelation(i, j, tuple(map(tuple, R))))
            elif rank == 1 and not mechanism.planar:
                axes = _common_axis(transfers, at, (i, j), (names[i], names[j]), spins)
                if axes is not None:
                    found.append(SpinRelation(i, j, axes=axes))
    return found


def _common_axis(
    transfers: Transfers,
    at: Sampled,
    pair: tuple[int, int],
    names: tuple[str, str],
    spins: Array,
) -> tuple[Vector, Vector] | None:
    """The axis in both bodies, equally long as an identity and pointing the same way."""
    i, j = pair
    u = _parallel(transfers, at, _directions(transfers, names[0]), i, spins)
    w = _parallel(transfers, at, _directions(transfers, names[1]), j, _spin_rank(at, j, i)[1])
    if u is None or w is None:
        return None
    uu, ww = (sum(x * x for x in transfers.exact(vector)) for vector in (u, w))
    if transfers.field.reduce(uu - ww) != 0:
        return None
    lanes = at.R[0].shape[-1]
    one, two = (
        spatial.rotate(at.R[k], _numbers(transfers, at, vector, lanes))
        for k, vector in ((i, u), (j, w))
    )
    if (spatial.dot(one, two) < 0).all():
        w = (negate(w[0]), negate(w[1]), negate(w[2]))
    return u, w


def _common_points(
    transfers: Transfers, at: Sampled, i: int, j: int
) -> tuple[ExactVector, ExactVector] | None:
    """Joint points of two bodies that always have the same velocity."""
    lanes = at.R[i].shape[-1]
    one, two = (transfers.mechanism.bodies[k].name for k in (i, j))
    for a in _points(transfers, one):
        va = _velocity(at, i, _numbers(transfers, at, a, lanes))
        for b in _points(transfers, two):
            vb = _velocity(at, j, _numbers(transfers, at, b, lanes))
            if np.abs(va - vb).max() < ZERO_SPIN:
                return transfers.exact(a), transfers.exact(b)
    return None


def _points(transfers: Transfers, name: str) -> list[Vector]:
    found = [
        joint.frames[side].at
        for joint in transfers.mechanism.joints
        for side, body in enumerate(joint.bodies)
        if body == name and body != GROUND
    ]
    return list(dict.fromkeys(found))


def _velocity(at: Sampled, body: int, point: Array) -> Array:
    """Velocity (3, mode, lane) of a point given in the body's frame."""
    arm = spatial.rotate(at.R[body], point)
    return at.v[body] + spatial.cross(at.omega[body], arm[:, None])
