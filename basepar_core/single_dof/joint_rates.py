"""Values of joints along the motion and their rates per unit rate of each coordinate.

∂θ/∂q is what a torque at θ is multiplied by in the generalised force of q. A joint of the tree has
it among the speeds; a cut one is measured on the relative motion of its two bodies.
"""

from collections.abc import Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, cross, dot, kinematics, loop_jacobian, rotate, tracks
from basepar_core.errors import MechanismError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Damper, Spring, joint_type
from basepar_core.symbolic import symbol_values

from .loads import Loads
from .path import Values, blocks


def modes(model: Model, at: kinematics.Poses, batch: tuple[int, ...]) -> Array:
    """Speeds (speed, coordinate, variant, sample) at unit rate of each coordinate."""
    graph = model.topology
    jacobian = loop_jacobian(graph, at, batch)
    free = list(graph.independent)
    found = np.zeros((graph.speeds, len(free), *batch))
    found[free, range(len(free))] = 1.0
    for rows, speeds in model.loops.blocks:
        C = np.moveaxis(jacobian[np.ix_(rows, speeds)], (0, 1), (-2, -1))
        drive = np.moveaxis(jacobian[np.ix_(rows, free)], (0, 1), (-2, -1))
        found[list(speeds)] = np.moveaxis(-np.linalg.solve(C, drive), (-2, -1), (0, 1))
    return found


def joint_tables(
    model: Model, values: Values, q: Array, names: Sequence[str]
) -> tuple[Array, Array]:
    """Values and rates of joints.

    Parameters
    ----------
    q
        Configurations (position, variant, sample).
    names
        Joint values, of the tree or cut.

    Returns
    -------
    theta
        (joint, variant, sample), rad or m, without jumps.
    rates
        (joint, coordinate, variant, sample): ∂θ/∂coordinate.

    Raises
    ------
    MechanismError
        A value of a spherical joint; its rate is not measured.
    """
    count = len(model.mechanism.coordinates)
    theta = np.zeros((len(names), *q.shape[1:]))
    rates = np.zeros((len(names), count, *q.shape[1:]))
    for k, (_, track) in enumerate(tracks(model, values, q, names)):
        theta[k] = track
    for part, dims in blocks(model, values, q):
        at = kinematics.poses(model.topology, dims, q[:, part])
        unit = modes(model, at, q[:, part].shape[1:])
        for c in range(count):
            moving = kinematics.twists(model.topology, at, unit[:, c])
            for k, name in enumerate(names):
                rates[k, c, part] = _rate(model, name, at, moving, unit[:, c])
    return theta, rates


def load_tables(
    model: Model, values: Values, q: Array, loads: Loads, extra: Sequence[str] = ()
) -> tuple[Array, Array]:
    """`joint_tables` of what loads act on, joints and dampers' lengths; then `extra` joints."""
    theta, rates = joint_tables(model, values, q, (*loads.joints, *extra))
    if not loads.dampers:
        return theta, rates
    own = len(loads.joints)
    lengths, pulls = line_tables(model, values, q, loads.dampers)
    return (
        np.concatenate([theta[:own], lengths, theta[own:]]),
        np.concatenate([rates[:own], pulls, rates[own:]]),
    )


def _rate(
    model: Model, name: str, at: kinematics.Poses, moving: kinematics.Twists, u: Array
) -> Array:
    value = model.mechanism.value(name)
    joint, number, place = value.joint, value.number, value.place
    shape = joint_type(joint.type)
    for node in model.topology.tree:
        if node.joint == number and not shape.is_ball:
            found: Array = u[node.speed + place]
            return found
    if shape.is_ball:
        raise MechanismError(
            f"A load acts on {name!r}, of a spherical joint, whose values are a rotation vector: "
            f"no shaft turns with one of them. Let it act on another joint, or make this one of "
            f"a universal and a revolute joint.",
            [name],
        )
    first, second = (model.mechanism.body_index[body] for body in joint.bodies)
    # A universal joint's second angle turns about the second body's axis.
    X = at.X2[number] if shape.turns == "zz" and place == 1 else at.X1[number]
    P = at.P2[number]
    if value.is_length:
        v1, v2 = (moving.v[b] + cross(moving.omega[b], P - at.p[b]) for b in (first, second))
        return dot(X[:, shape.directions[place]], v2 - v1)
    return dot(X[:, 2], moving.omega[second] - moving.omega[first])


def line_tables(
    model: Model, values: Values, q: Array, springs: Sequence[Spring | Damper]
) -> tuple[Array, Array]:
    """Lengths of lines between points, and ∂length/∂coordinate; shapes as `joint_tables`."""
    count = len(model.mechanism.coordinates)
    lengths = np.zeros((len(springs), *q.shape[1:]))
    rates = np.zeros((len(springs), count, *q.shape[1:]))
    known = symbol_values(model.mechanism, values)
    for k, spring in enumerate(springs):
        assert spring.bodies is not None
        assert spring.points is not None
        ends = [model.mechanism.body_index[body] for body in spring.bodies]
        numbers = [np.stack(np.broadcast_arrays(*evaluate(p, known))) for p in spring.points]
        for part, dims in blocks(model, values, q):
            at = kinematics.poses(model.topology, dims, q[:, part])
            unit = modes(model, at, q[:, part].shape[1:])
            arms = [
                rotate(at.R[b], _of_variants(x, part)) for b, x in zip(ends, numbers, strict=True)
            ]
            reach = at.p[ends[1]] + arms[1] - at.p[ends[0]] - arms[0]
            lengths[k, part] = np.sqrt(dot(reach, reach))
            for c in range(count):
                moving = kinematics.twists(model.topology, at, unit[:, c])
                v = [
                    moving.v[b] + cross(moving.omega[b], r)
                    for b, r in zip(ends, arms, strict=True)
                ]
                rates[k, c, part] = dot(reach, v[1] - v[0]) / lengths[k, part]
    return lengths, rates


def _of_variants(point: Array, part: Array) -> Array:
    """A point (3, variant or nothing) with a sample axis."""
    return (point[:, part] if point.ndim == 2 and point.shape[1] > 1 else point.reshape(3, 1))[
        ..., None
    ]
