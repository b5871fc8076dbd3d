"""Joint values along a motion, tree or cut alike, without jumps."""

from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Joint, joint_type

from . import joints, kinematics, spatial
from .closure import Model
from .regressor import LANES


def pin_turn(model: Model, q: Array, name: str) -> Array | None:
    """Angle (variant, sample) of a cut pin in the plane, but for a constant; None for others.

    The sum of the turns around its loop: exact, continuous, and much less work than poses.
    """
    mechanism, graph = model.mechanism, model.topology
    k = mechanism.value(name).number
    cut = next((cut for cut in graph.cuts if cut.joint == k), None)
    if not graph.planar or cut is None or not joint_type(cut.kind).is_pin:
        return None
    total = np.zeros(q.shape[1:], q.dtype)
    for place, sign in graph.loop(cut):
        node = graph.tree[place]
        shape = joint_type(node.kind)
        if shape.rotations:  # about the plane's normal, behind the slides
            total += sign * q[node.position + len(shape.slides)]
    return total


def tracks(
    model: Model, values: Mapping[str, Array], q: Array, names: Sequence[str]
) -> list[tuple[str, Array]]:
    """Joint values along a motion, angles continued past π: (name, (variant, sample)).

    The configuration of a tree joint is its value, and was followed in small steps; a cut joint,
    a spherical and a free one are measured on the poses of their frames and continued to the
    nearest, so that half a turn between two samples is too much.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, (variant,) arrays, SI; others are nominal.
    q
        (position, variant, sample): configurations, `closure.Trace.q` of closed variants.
    names
        Values of joints, `D` or `J.2`, of the tree or cut alike.
    """
    mechanism, places = model.mechanism, model.topology.places
    seen: dict[int, Array] = {}
    found = []
    for name in names:
        value = mechanism.value(name)
        k, place = value.number, value.place
        if k in places:
            found.append((name, q[places[k] + place]))
            continue
        if k not in seen:
            seen[k] = _continued(value.joint.type, _measured(model, values, q, k))
        found.append((name, seen[k][place]))
    return found


def _measured(model: Model, values: Mapping[str, Array], q: Array, joint: int) -> Array:
    """Values (place, variant, sample) of a joint as its frames stand."""
    one = model.mechanism.joints[joint]
    dims = kinematics.geometry(model.mechanism, values)
    count, samples = q.shape[1:]
    found = np.empty((joint_type(one.type).values, count, samples))
    block = max(1, LANES // samples)
    for start in range(0, count, block):
        part = np.arange(start, min(start + block, count))
        here = dims if dims.gravity.shape[-1] == 1 else dims.take(part)
        at = kinematics.poses(model.topology, here.over_samples(), q[:, part])
        found[:, part] = measured(one, joint, at)
    return found


def measured(joint: Joint, number: int, at: kinematics.Poses) -> Array:
    """Values (place, …) of a joint as its frames stand; angles within (−π, π]."""
    offset = at.P2[number] - at.P1[number]
    return joints.values(joint.type, at.X1[number], at.X2[number], offset)


def _continued(kind: str, measured: Array) -> Array:
    """The same without jumps; samples are last."""
    lengths = joint_type(kind).lengths
    if joint_type(kind).is_ball:
        vectors = spatial.unwrapped(measured[len(lengths) :])
        return np.concatenate([measured[: len(lengths)], vectors])
    rows = [
        track if place in lengths else np.unwrap(track, axis=-1)
        for place, track in enumerate(measured)
    ]
    return np.stack(rows) if rows else measured
