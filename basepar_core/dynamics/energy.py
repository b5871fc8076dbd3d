"""The energies' gradient by the parameters: H, an alternative to W that needs no accelerations.

The total energy of a mechanism is linear in its inertial parameters, E(q, q̇) = h(q, q̇) φ
(Gautier & Khalil, IEEE Trans. Robotics and Automation 6(3), 1990; slider-crank paper, Eq. 2). The
paper stacks h at random states. h is a quadratic form in the speeds: H has its coefficients at
each configuration, the kinetic energies of pairs of unit motions, and the potential less that of
the first sample (what is constant moves nothing), which is what any number of random speeds there
would show. H and W have the same null space, and other singular values.

What H cannot carry: friction and dampers dissipate, and have no energy; a constant offset's
potential is none on a joint that turns all the way round. Springs and rotors have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from . import kinematics
from .body_forms import tied
from .closure import Model
from .drive_laws import DriveLaw
from .force_columns import Column, laws
from .motion import Motion
from .regressor import LANES, Observation, Rates
from .spatial import cross, dot, rotate_back

#: Kinds of force-law columns that have an energy.
CARRIED = ("rotor", "stiffness")
#: Which of a body's ten parameters a planar one has.
IN_PLANE = (0, 1, 2, 9)


def check_columns(chosen: Sequence[Column]) -> None:
    """Reject columns without energy, by name.

    Raises
    ------
    UsageError
        Friction, dampers, offsets or laws of drives among them.
    """
    lost = [
        one.name for one in chosen if one.kind not in CARRIED or isinstance(one.source, DriveLaw)
    ]
    if lost:
        raise UsageError(
            f"The energy matrix H cannot carry {', '.join(lost)}: what dissipates, or is "
            f"constant, has no energy that depends on the state, and laws of drives are not "
            f"written into H. Leave it out of `with=`, or observe W (`observation=torque`).",
            lost,
        )


def energies(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    seen: Observation,
    chosen: Sequence[Column] = (),
) -> Observation:
    """H in the place of W.

    Parameters
    ----------
    model, values, motion
        What `seen` was observed with; of the motion only its positions count.
    seen
        W, whose closure is used.
    chosen
        Force-law columns, springs and rotors only, behind the inertial ones.

    Returns
    -------
    As `seen`, with W (variant, sample, row, parameter): the rows are pairs (i, j ≥ i) of
    coordinates, J per unit parameter at unit rates, and last the potential, J.

    Raises
    ------
    UsageError
        A force-law column that has no energy.
    """
    check_columns(chosen)
    q, dims = seen.trace.q, kinematics.geometry(model.mechanism, values)
    count, samples = q.shape[1:]
    pairs = [(i, j) for i in range(len(motion.q)) for j in range(i, len(motion.q))]
    H = np.empty((count, samples, len(pairs) + 1, len(model.mechanism.parameter_names)))
    terms = np.empty((count, H.shape[-1]))
    block = max(1, LANES // samples)
    with np.errstate(all="ignore"):  # failed variants go on as passengers
        for start in range(0, count, block):
            part = np.arange(start, min(start + block, count))
            here = dims if dims.gravity.shape[-1] == 1 else dims.take(part)
            H[part], terms[part] = _inertial(model, here.over_samples(), q[:, part], motion, pairs)
        H[:, :, -1] -= H[:, :1, -1]
        if chosen:
            extra = _further(model, values, motion, q, chosen, pairs)
            H = np.concatenate([H, extra], axis=-1)
            terms = np.concatenate([terms, np.sqrt((extra**2).sum(axis=(1, 2)))], axis=-1)
    return replace(seen, W=H, terms=terms)


def configuration_energies(
    model: Model, dims: kinematics.Geometry, q: Array, motion: Motion
) -> Array:
    """h (variant, sample, parameter) with E = h φ, J: kinetic plus potential energy.

    Parameters
    ----------
    model
        The mechanism, prepared.
    dims
        Broadcasts over (variant, sample).
    q
        (position, variant, sample): closed configurations. Potential is zero where gravity·p is.
    motion
        Its speeds count.
    """
    graph = model.topology
    at = kinematics.poses(graph, dims, q)
    rates = Rates(model, at, dims, motion, q.shape[1:])
    moving = kinematics.twists(graph, at, rates.u)
    kept = IN_PLANE if graph.planar else tuple(range(10))
    h = np.empty((*q.shape[1:], graph.bodies * len(kept)))
    for b in range(graph.bodies):
        w, v = rotate_back(at.R[b], moving.omega[b]), rotate_back(at.R[b], moving.v[b])
        pull = rotate_back(at.R[b], dims.gravity)
        weights = [-dot(dims.gravity, at.p[b]), *(-pull), *[np.zeros(())] * 6]
        # The form of two equal motions is twice the kinetic energy.
        entries = _bilinear(w, v, w, v)
        for column, k in enumerate(kept, start=b * len(kept)):
            h[..., column] = entries[k] / 2 + weights[k]
    tied(model.mechanism, dims, h[..., None, :])
    return h


def _inertial(
    model: Model,
    dims: kinematics.Geometry,
    q: Array,
    motion: Motion,
    pairs: Sequence[tuple[int, int]],
) -> tuple[Array, Array]:
    """H (variant, sample, row, parameter) of the bodies, and the size of its terms.

    Of a body with velocities (ω, v) of its origin, in its own axes, T = ½ m v·v + d·(v×ω) +
    ½ ω·Iω; for two motions a, b: m v_a·v_b + d·(v_a×ω_b + v_b×ω_a) + ω_a·Iω_b. V = −m g·p − d·g.
    """
    graph, batch = model.topology, q.shape[1:]
    at = kinematics.poses(graph, dims, q)
    modes = Rates(model, at, dims, motion, batch).modes
    unit = [kinematics.twists(graph, at, modes[:, k]) for k in range(len(motion.q))]
    kept = IN_PLANE if graph.planar else tuple(range(10))
    H = np.empty((*batch, len(pairs) + 1, graph.bodies * len(kept)))
    squares = np.zeros((*batch, H.shape[-1]))
    for b in range(graph.bodies):
        place = b * len(kept)
        w = [rotate_back(at.R[b], one.omega[b]) for one in unit]
        v = [rotate_back(at.R[b], one.v[b]) for one in unit]
        pull = rotate_back(at.R[b], dims.gravity)
        weights = [-dot(dims.gravity, at.p[b]), *(-pull), *[np.zeros(())] * 6]
        fast = np.sqrt(sum(dot(x, x) for x in v))
        spin = np.sqrt(sum(dot(x, x) for x in w))
        heavy = np.sqrt(dot(dims.gravity, dims.gravity))
        far = np.sqrt(dot(at.p[b], at.p[b]))
        orders = [fast**2 + heavy * far, *[fast * spin + heavy] * 3, *[spin**2] * 6]
        for column, k in enumerate(kept, start=place):
            H[..., -1, column] = weights[k]
            squares[..., column] = orders[k] ** 2
        for row, (i, j) in enumerate(pairs):
            entries = _bilinear(w[i], v[i], w[j], v[j])
            for column, k in enumerate(kept, start=place):
                H[..., row, column] = entries[k]
    terms = np.sqrt(squares.sum(axis=1))
    tied(model.mechanism, dims, H, terms)
    return H, terms


def _bilinear(w1: Array, v1: Array, w2: Array, v2: Array) -> list[Array]:
    first = cross(v1, w2) + cross(v2, w1)
    products = [w1[i] * w2[j] + w1[j] * w2[i] for i, j in ((0, 1), (0, 2), (1, 2))]
    xy, xz, yz = products
    xx, yy, zz = (x * y for x, y in zip(w1, w2, strict=True))
    return [dot(v1, v2), *first, xx, xy, xz, yy, yz, zz]


def _further(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    q: Array,
    chosen: Sequence[Column],
    pairs: Sequence[tuple[int, int]],
) -> Array:
    """Rows of springs, ½(x − rest)², and rotors, ẋᵢẋⱼ at unit rates."""
    found = np.zeros((*q.shape[1:], len(pairs) + 1, len(chosen)))
    for lanes, place, column, law, modes in laws(model, values, motion, q, chosen):
        if column.kind == "stiffness":
            found[lanes, :, -1, place] = law**2 / 2
            continue
        for row, (i, j) in enumerate(pairs):
            found[lanes, :, row, place] = modes[i] * modes[j]
    found[:, :, -1] -= found[:, :1, -1]
    return found
