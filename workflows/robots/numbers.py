"""A prepared mechanism in numbers, at its nominal geometry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, columns, joint_value, joints, kinematics, spatial
from basepar_core.dynamics import measured as values_of
from basepar_core.errors import MissingDataError
from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import GROUND, Mechanism, Spring, joint_type

from .coupled_values import couplings_of
from .parts import Inertia, Joint, Law, Pose, Robot

#: What the ground is called where no body has this name.
WORLD = "world"


def robot_of(model: Model, parameters: Mapping[str, float], from_assembly: bool) -> Robot:
    """Links, joints and couplings of a mechanism.

    Parameters
    ----------
    parameters
        Inertial parameters and friction by name that take the place of the file's, SI.
    from_assembly
        Whether joint values count from the assembly, where loops are closed; of what floats they
        never do.

    Raises
    ------
    MissingDataError
        Bodies without inertia.
    """
    it, graph = model.mechanism, model.topology
    dims = kinematics.geometry(it, {})
    q = model.assembled.q if from_assembly else zero(model)
    at = kinematics.poses(graph, dims, q[:, None])
    tree = {node.joint: node for node in graph.tree}
    ground = GROUND if any(body.name == WORLD for body in it.bodies) else WORLD
    laws, between = laws_of(it, parameters)
    made, pairs = [], frames_of(it)
    for k, joint in enumerate(it.joints):
        values = values_of(joint, k, at)[:, 0] if k not in tree else None
        if values is None:
            start = tree[k].position
            values = q[start : start + joints.configuration_size(joint.type)]
        elif joint_type(joint.type).is_ball:
            values = joints.configuration(joint.type, values[:, None])[:, 0]
        links = tuple(ground if name == GROUND else name for name in joint.bodies)
        made.append(_from(joint.name, joint.type, links, pairs[k], joint.values, values))
    return Robot(
        it.name,
        it.planar,
        gravity_of(it),
        ground,
        inertias(it, parameters),
        {body.name: Pose(at.R[b][..., 0], at.p[b][..., 0]) for b, body in enumerate(it.bodies)},
        tuple(made),
        couplings_of(it),
        it.coordinates,
        it.actuated or it.coordinates,
        laws,
        tuple(between),
    )


def _numbers(mechanism: Mechanism, entries: Sequence[Expression]) -> list[float]:
    return [float(x) for x in evaluate(list(entries), mechanism.nominal)]


def gravity_of(mechanism: Mechanism) -> Array:
    """(2,) in the plane or (3,), m/s²."""
    return np.array(_numbers(mechanism, mechanism.gravity))


def frames_of(mechanism: Mechanism) -> list[tuple[Pose, Pose]]:
    """Every joint's frames in its two bodies."""
    return [
        (
            Pose(seen.first_axes[..., 0], seen.first_origin[..., 0]),
            Pose(seen.second_axes[..., 0], seen.second_origin[..., 0]),
        )
        for seen in kinematics.geometry(mechanism, {}).joints
    ]


def zero(model: Model) -> Array:
    """Configuration of the tree where all its values are zero, of what floats as assembled."""
    q = np.zeros_like(model.assembled.q)
    for node in model.topology.tree:
        shape = joint_type(node.kind)
        here = slice(node.position, node.position + joints.configuration_size(node.kind))
        q[here] = (
            model.assembled.q[here]
            if shape.is_free
            else joints.configuration(node.kind, np.zeros((shape.values, 1)))[:, 0]
        )
    return q


def _from(
    name: str,
    kind: str,
    links: tuple[str, ...],
    frames: tuple[Pose, Pose],
    values: tuple[str, ...],
    q: Array,
) -> Joint:
    """A joint whose values count from a configuration; a free one's count as they did."""
    shape, (first, second) = joint_type(kind), frames
    pair = (links[0], links[1])
    if shape.is_free:
        return Joint(name, kind, pair, frames, values, (0.0,) * len(values))
    slides = np.zeros(3)
    slides[list(shape.directions)] = q[: len(shape.slides)]
    turns = q[len(shape.slides) :]
    before = {
        "zz": lambda: spatial.about_z(turns[0]),
        "any": lambda: spatial.matrix_of_quaternion(turns),
    }.get(shape.turns, lambda: np.eye(3))()
    after = spatial.about_z(-turns[-1]) if shape.turns in ("z", "zz") else np.eye(3)
    moved = (first.then(Pose(before, slides)), second.then(Pose(after)))
    zero = np.zeros(len(values)) if shape.is_ball else q
    return Joint(name, kind, pair, moved, values, tuple(map(float, zero)))


def inertias(mechanism: Mechanism, parameters: Mapping[str, float]) -> dict[str, Inertia]:
    """Every body's, from its file or from parameters that take their place.

    Raises
    ------
    MissingDataError
        Bodies without inertia.
    """
    bare = [one.name for one in mechanism.bodies if one.parameters is None]
    bare = [one for one in bare if f"{one}.m" not in parameters]
    if bare:
        raise MissingDataError(
            f"{mechanism.name!r} gives no inertia for {', '.join(bare)}, and robots' files have "
            f"one for every link. Give mass, centre and inertia in the file.",
            [f"bodies.{name}" for name in bare],
        )
    stated: dict[str, float] = {}
    for body in mechanism.bodies:
        own = [n for n in mechanism.parameter_names if n.rpartition(".")[0] == body.name]
        if body.parameters is not None:
            stated |= dict(zip(own, _numbers(mechanism, body.parameters), strict=True))
    stated |= parameters
    width = 4 if mechanism.planar else 10
    names = np.reshape(mechanism.parameter_names, (-1, width))
    return {
        body.name: inertia([stated[str(name)] for name in row])
        for body, row in zip(mechanism.bodies, names, strict=True)
    }


def inertia(phi: Sequence[float]) -> Inertia:
    """A body's, from its 10 parameters, or in the plane from 4.

    In the plane nothing says where mass lies along the normal, nor the moments about axes in the
    plane: the centre is in the plane, and all three central moments are the one that is known,
    which a body can have.

    Raises
    ------
    MissingDataError
        Without mass, but with first moments.
    """
    m, (x, y, z) = phi[0], (*phi[1:3], 0.0) if len(phi) == 4 else phi[1:4]
    first = np.array([x, y, z])
    if not m:
        if first.any():
            raise MissingDataError(
                "A body without mass has first moments, which is no mass distribution."
            )
        centre = first
    else:
        centre = first / m
    if len(phi) == 4:
        return Inertia(m, centre, (phi[3] - first[:2] @ centre[:2]) * np.eye(3))
    xx, xy, xz, yy, yz, zz = phi[4:]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(m, centre, about - (first @ centre * np.eye(3) - np.outer(first, centre)))


def more_laws(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """Joint values with the laws that any of them may have."""
    values = (value for joint in mechanism.joints for value in joint.values)
    return product(values, ("viscous", "coulomb", "offset", "rotor"))


def laws_of(
    mechanism: Mechanism, parameters: Mapping[str, float]
) -> tuple[dict[str, Law], list[str]]:
    """Force laws by joint value, and names of those between points; without a number they are
    columns of W, and of no motion. Parameters may have friction of which the file says nothing."""
    found: dict[str, Law] = {}
    between: list[str] = []
    known = columns(mechanism)
    for free, kind in more_laws(mechanism):
        name = f"{free}.{kind}"
        if parameters.get(name) and all(one.name != name for one in known):
            found[free] = replace(found.get(free, Law()), **{kind: parameters[name]})
    for one in known:
        size = parameters.get(one.name)
        if size is None and one.value is not None:
            (size,) = _numbers(mechanism, [one.value])
        if not size:
            continue
        value = joint_value(one)
        if value is None:
            between.append(one.name)
            continue
        law = found.setdefault(value, Law())
        if isinstance(one.source, Spring):
            (rest,) = _numbers(mechanism, [one.source.rest])
            total = law.stiffness + size
            rest = (law.stiffness * law.rest + size * rest) / total
            found[value] = replace(law, stiffness=total, rest=rest)
        else:
            found[value] = replace(law, **{one.kind: size})
    return found, between
