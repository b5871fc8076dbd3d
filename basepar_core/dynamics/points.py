"""Points that bodies carry: position, velocity and acceleration in the ground's frame.

All three are of the bodies' poses, twists and accelerations, where the loops are closed already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism, Point

from . import kinematics, spatial
from .closure import Model
from .kinematics import Geometry
from .motion import Motion
from .regressor import Rates
from .spatial import cross
from .topology import Topology


def carried(points: Sequence[Point], known: Mapping[str, Array | float]) -> Array:
    """Points in their bodies' frames (point, 3, variant), m, where all symbols are known."""
    numbers = evaluate([entry for point in points for entry in point.at], known)
    table = np.stack(np.broadcast_arrays(*numbers, np.zeros(1)))[:-1].astype(float)
    return table.reshape(len(points), 3, table.shape[-1])


def places(
    model: Model,
    dims: Geometry,
    q: Array,
    points: Sequence[Point],
    local: Array,
    at: kinematics.Poses | None = None,
) -> Array:
    """Positions (point, 3, …) of points in the ground's frame, m.

    Parameters
    ----------
    model
        The mechanism, prepared.
    dims, q
        Its geometry and configuration (position, …), shapes that broadcast.
    points, local
        The points, and where their bodies carry them (point, 3, …).
    at
        The poses, where they are known.
    """
    if at is None:
        graph = _up_to(model.topology, [model.mechanism.body_index[one.body] for one in points])
        at = kinematics.poses(graph, dims, q)
    return _stacked(_placed(model.mechanism, at, points, local), q.shape[1:])


def movements(
    model: Model,
    dims: Geometry,
    q: Array,
    motion: Motion,
    points: Sequence[Point],
    local: Array,
    at: kinematics.Poses | None = None,
) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations (point, 3, variant, sample), m, m/s, m/s².

    Parameters as in `places`, with q (position, variant, sample) along the motion.
    """
    graph, number, size = model.topology, model.mechanism.body_index, q.shape[1:]
    if at is None:
        at = kinematics.poses(graph, dims, q)
    state = Rates(model, at, dims, motion, size)
    moving = kinematics.twists(graph, at, state.u)
    alpha, a = state.accelerations(moving)
    speeds, pulls = [], []
    for point, here in zip(points, local, strict=True):
        b = number[point.body]
        arm, omega = spatial.rotate(at.R[b], here), moving.omega[b]
        speeds.append(moving.v[b] + cross(omega, arm))
        bent = cross(alpha[b], arm) + cross(omega, cross(omega, arm))
        pulls.append(a[b] + state.gravity + bent)  # `a` is less gravity
    found = (_placed(model.mechanism, at, points, local), speeds, pulls)
    position, velocity, acceleration = (_stacked(vectors, size) for vectors in found)
    return position, velocity, acceleration


def path_curvature(velocity: Array, acceleration: Array, axis: int) -> Array:
    """Curvature |v × a|/|v|³ of paths, 1/m, whatever the pace; nan at rest.

    In the plane it is positive where the path bends to the left of its motion. `axis` holds the
    two or three components. It is analytic next to the real line.
    """
    v, a = (np.moveaxis(one, axis, 0) for one in (velocity, acceleration))
    in_plane = len(v) == 2
    bend = v[0] * a[1] - v[1] * a[0] if in_plane else np.sqrt((cross(v, a) ** 2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((v == 0).all(axis=0), np.nan, bend / np.sqrt((v * v).sum(axis=0)) ** 3)


def _placed(
    mechanism: Mechanism, at: kinematics.Poses, points: Sequence[Point], local: Array
) -> list[Array]:
    numbers = [mechanism.body_index[point.body] for point in points]
    return [at.p[b] + spatial.rotate(at.R[b], x) for b, x in zip(numbers, local, strict=True)]


def _stacked(vectors: Sequence[Array], batch: tuple[int, ...]) -> Array:
    if not vectors:
        return np.zeros((0, 3, *batch))
    return np.stack([np.broadcast_to(vector, (3, *batch)) for vector in vectors])


def _up_to(graph: Topology, bodies: Sequence[int]) -> Topology:
    """The tree as far as it carries some bodies: what their poses need."""
    parents = {node.child: node.parent for node in graph.tree}
    needed: set[int] = set()
    for body in bodies:
        while body in parents and body not in needed:
            needed.add(body)
            body = parents[body]
    tree = tuple(node for node in graph.tree if node.child in needed)
    return replace(graph, tree=tree, cuts=())
