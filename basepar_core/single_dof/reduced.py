"""m(q), m′(q) and the slope of the potential, by two routes that must agree.

*Kinetostatic* (Eksergian's paper, §2): inverse dynamics at q̇ = 1, q̈ = 0 gives ½ m′ + V′, at
q̇ = 0, q̈ = 1 it gives m + V′, and at rest V′ alone, which the paper leaves out. *Energy*: m is
twice the kinetic energy at q̇ = 1, V the potential energy; their slopes are those of the curves
through them (`curves`), so that nothing but the closed configurations is shared by the routes.

Both are linear in the inertial parameters.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Motion, dot, evaluate, kinematics, rotate_back
from basepar_core.errors import MissingDataError
from basepar_core.symbolic import symbol_values

from .joint_rates import modes
from .path import Path, Values, blocks, follow
from .range import Way


def inertias(model: Model, values: Values) -> Array:
    """φ of variants (variant, parameter), SI, as the file states it.

    Raises
    ------
    MissingDataError
        Bodies without inertias.
    """
    mechanism = model.mechanism
    if not mechanism.has_inertias:
        raise MissingDataError(
            f"{mechanism.name!r} states no inertias for some bodies, and a reduced inertia is "
            f"made of them. Give mass, centre and inertia.",
            ["bodies"],
        )
    known = symbol_values(mechanism, values)
    phi = np.atleast_2d(mechanism.inertial_parameters(known))
    count = max(map(np.size, values.values()), default=1)
    return phi if len(phi) == count else np.broadcast_to(phi, (count, phi.shape[1]))


@dataclass(frozen=True)
class Reduced:
    """Reduced parameters on samples of q.

    Attributes
    ----------
    q
        (sample,), rad or m: even steps; a closed motion's last sample is one before its first.
    inertia, half_slope, potential_slope
        Kinetostatic: what q̈, q̇² and nothing are multiplied by in the generalised force of each
        coordinate, (variant, coordinate, sample). Of the mechanism's own, the first: m, ½ m′ and
        V′ of gravity; of virtual ones m_e1, m_e2 and gravity's share. Springs are forces.
    energy, potential
        m by the energy route, and V of gravity, J (variant, sample); `energy` is (variant, 0)
        where only the kinetostatic route was gone (`swift`).
    path
        Configurations, and outcome of the closures; rubbish where not closed.
    """

    q: Array
    inertia: Array
    half_slope: Array
    potential_slope: Array
    energy: Array
    potential: Array
    path: Path

    @property
    def m(self) -> Array:
        """Reduced inertia (variant, sample), kg m² or kg."""
        return self.inertia[:, 0]

    @property
    def m_prime(self) -> Array:
        """dm/dq (variant, sample), kg m² per rad or kg per m."""
        return 2 * self.half_slope[:, 0]


def samples_of(way: Way, count: int) -> Array:
    """Even samples of a way: a closed one without its end, a range with both ends."""
    return np.linspace(way.low, way.high, count, endpoint=not way.closed)


def runs(q: Array, coordinates: int) -> Motion:
    """The three runs one after the other; virtual coordinates, after the first, stay at 0."""
    n = q.size
    motion = np.zeros((3, coordinates, 3 * n))
    motion[0, 0] = np.tile(q, 3)
    motion[1, 0, :n] = 1.0
    motion[2, 0, n : 2 * n] = 1.0
    return Motion(np.arange(3.0 * n), *motion)


def reduce_inertia(
    model: Model, values: Values, q: Array, phi: Array, path: Path | None = None
) -> Reduced:
    """m, ½ m′ and V′ on samples, by both routes.

    Parameters
    ----------
    model
        One coordinate, or one and virtual ones after it (`virtual`).
    values
        Swept symbols, (variant,) arrays, SI; empty: nominal.
    q
        (sample,) of the coordinate, increasing.
    phi
        (variant, parameter): `inertias` of the same values.
    path
        Their configurations where these are known (`follow`).
    """
    path = path or follow(model, values, q)
    motion = runs(q, len(model.mechanism.coordinates))
    phi = np.broadcast_to(phi, (path.q.shape[1], phi.shape[1]))
    loads, energy, potential = [], [], []
    for part, dims in blocks(model, values, path.q):
        W = evaluate(model, dims, np.tile(path.q[:, part], (1, 1, 3)), motion)[0]
        W = W.reshape(len(W), 3, q.size, *W.shape[2:])
        loads.append(np.einsum("vrskc,vc->vrks", W, phi[part]))
        columns = energy_columns(model, dims, path.q[:, part])
        energy.append(np.einsum("vsc,vc->vs", columns[0], phi[part]))
        potential.append(np.einsum("vsc,vc->vs", columns[1], phi[part]))
    speed, acceleration, still = np.moveaxis(np.concatenate(loads), 1, 0)
    return Reduced(
        q,
        acceleration - still,
        speed - still,
        still,
        np.concatenate(energy),
        np.concatenate(potential),
        path,
    )


def energy_columns(model: Model, dims: kinematics.Geometry, q: Array) -> tuple[Array, Array]:
    """Columns of twice the kinetic energy at q̇ = 1, and of gravity's potential.

    q is (position, variant, sample); the results are (variant, sample, parameter).
    """
    graph = model.topology
    at = kinematics.poses(graph, dims, q)
    u = modes(model, at, q.shape[1:])[:, 0]
    moving = kinematics.twists(graph, at, u)
    kinetic, potential = [], []
    for b in range(graph.bodies):
        v, w = (rotate_back(at.R[b], x) for x in (moving.v[b], moving.omega[b]))
        down = rotate_back(at.R[b], -dims.gravity)
        height = -dot(dims.gravity, at.p[b])
        # v² m + 2 v·(ω × mc) + ωᵀ I ω, and −g·(m p + R mc)
        first = 2 * np.stack(
            [w[2] * v[1] - w[1] * v[2], w[0] * v[2] - w[2] * v[0], w[1] * v[0] - w[0] * v[1]]
        )
        if graph.planar:
            kinetic += [dot(v, v), first[0], first[1], w[2] ** 2]
            potential += [height, down[0], down[1], np.zeros_like(height)]
        else:
            second = [
                w[0] ** 2,
                2 * w[0] * w[1],
                2 * w[0] * w[2],
                w[1] ** 2,
                2 * w[1] * w[2],
                w[2] ** 2,
            ]
            kinetic += [dot(v, v), *first, *second]
            potential += [height, *down, *[np.zeros_like(height)] * 6]
    batch = q.shape[1:]
    return tuple(  # type: ignore[return-value]
        np.stack([np.broadcast_to(x, batch) for x in rows], axis=-1)
        for rows in (kinetic, potential)
    )


def inertia_unit(unit: str) -> str:
    """Of m, by the coordinate's."""
    return "kg m²" if unit == "rad" else "kg"


def effort_unit(unit: str) -> str:
    """Of V′, by the coordinate's."""
    return "N m" if unit == "rad" else "N"
