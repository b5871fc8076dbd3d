"""Coordinates in the tree: their places in the configuration, the speeds that they make."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from . import joints, spatial
from .spatial import cross
from .topology import Topology, TreeJoint


def coordinate_configuration(topology: Topology, coordinates: Array) -> list[tuple[slice, Array]]:
    """Where coordinates (coordinate, …) stand in the configuration, and what stands there."""
    settings = []
    for node, indices in _driven(topology):
        if joint_type(node.kind).is_ball:
            chosen = joints.configuration(node.kind, coordinates[[k for _, k in indices]])
            settings.append((slice(node.position, node.position + len(chosen)), chosen))
        else:
            settings += [
                (slice(node.position + place, node.position + place + 1), coordinates[k : k + 1])
                for place, k in indices
            ]
    return settings


def coordinate_step(topology: Topology, before: Array, after: Array) -> Array:
    """Speeds (coordinate,) times time that lead from one setting of the coordinates to another."""
    step = after - before
    for node, indices in _driven(topology):
        if joint_type(node.kind).is_ball:
            these = [k for _, k in indices[-3:]]
            turn = spatial.compose(
                spatial.matrix(after[these]), spatial.transpose(spatial.matrix(before[these]))
            )
            step[these] = spatial.rotation_vector(turn)
    return step


def coordinate_speeds(
    topology: Topology, q: Array, q_dot: Array, q_ddot: Array
) -> tuple[Array, Array, Array]:
    """Speeds and their rates, and the map from the coordinates' velocities to speeds.

    Parameters
    ----------
    q, q_dot, q_ddot
        (coordinate, sample): the coordinates, their velocities and accelerations, as of
        `motion.Motion`.

    Returns
    -------
    u, u_dot
        (coordinate, sample).
    T
        (coordinate, coordinate, sample), u = T q̇. Only spherical and free joints differ from
        identity.
    """
    u, u_dot = q_dot.copy(), q_ddot.copy()
    T = np.zeros((len(q), *q.shape))
    T[range(len(q)), range(len(q))] = 1.0
    for node, indices in _driven(topology):
        these = [k for _, k in indices]
        if joint_type(node.kind).is_free:
            _turn_twist(q[these[3:]], these, (u, u_dot, T))
        elif joint_type(node.kind).is_ball:
            J = spatial.rate_map(q[these])
            J_dot = spatial.rate_map_derivative(q[these], q_dot[these])
            T[np.ix_(these, these)] = J
            u[these] = spatial.rotate(J, q_dot[these])
            u_dot[these] = spatial.rotate(J, q_ddot[these]) + spatial.rotate(J_dot, q_dot[these])
    return u, u_dot, T


def _turn_twist(r: Array, these: list[int], found: tuple[Array, Array, Array]) -> None:
    """Bring a free joint's twist and its rate from F2's axes into F1's, in u, u̇ and T."""
    u, u_dot, T = found
    along, about = these[:3], these[3:]
    R = spatial.matrix(r)
    v, omega = u[along], u[about]
    u_dot[along] = spatial.rotate(R, u_dot[along] + cross(omega, v))
    u_dot[about] = spatial.rotate(R, u_dot[about])
    u[along], u[about] = spatial.rotate(R, v), spatial.rotate(R, omega)
    T[np.ix_(along, along)] = T[np.ix_(about, about)] = R


def _driven(topology: Topology) -> list[tuple[TreeJoint, list[tuple[int, int]]]]:
    """Tree joints with coordinates: per joint (place of the value in it, coordinate's number)."""
    found = []
    number = {speed: k for k, speed in enumerate(topology.independent)}
    for node in topology.tree:
        here = range(joint_type(node.kind).values)
        indices = [(i, number[node.speed + i]) for i in here if node.speed + i in number]
        if indices:
            found.append((node, indices))
    return found
