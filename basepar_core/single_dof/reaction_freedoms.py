"""Joints freed in one direction: the paper's virtual second degree of freedom.

The force that a joint transmits in a direction does work only when the joint gives way there. A
virtual joint that may move so, and does not, sits between the joint and one of its bodies: a
coordinate h = 0 whose generalised force is the reaction. Its row of the three kinetostatic runs is
m_e1 q̈ + m_e2 q̇² + V_h (paper, Eqs. 6, 7b and 9); what loads do on h is taken off. All reactions
asked for are coordinates of one mechanism, so that one set of runs has them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from basepar_core.dynamics import Model, joints, kinematics, prepare
from basepar_core.errors import MechanismError, UsageError
from basepar_core.expressions import ZERO, Expression, Number, did_you_mean
from basepar_core.mechanism import Assembly, Body, Frame, Joint, Mechanism, Vector, joint_type

from .coupled_reactions import loading

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Reaction:
    """What a joint transmits: from its first body to its second.

    Attributes
    ----------
    joint
        Name.
    body
        One of its bodies, in whose axes the direction is.
    direction
        Of any length; the force along it (N), or the moment about it through the joint's point
        (N m) where `moment`.
    """

    joint: str
    body: str
    direction: tuple[float, float, float]
    moment: bool = False

    @property
    def name(self) -> str:
        return f"{'moment' if self.moment else 'force'} {self.joint}:{self.body}:{self._along}"

    @property
    def metric(self) -> str:
        """What sweeps call its largest absolute value."""
        word = "moment_peak" if self.moment else "reaction_peak"
        return f"{word}({self.joint},{self.body},{self._along})"

    @property
    def _along(self) -> str:
        words = [w for w, axis in _AXES.items() if axis == self.direction]
        return words[0] if words else ",".join(f"{x:g}" for x in self.direction)

    @property
    def unit(self) -> str:
        return "N m" if self.moment else "N"


def reaction(mechanism: Mechanism, text: str, moment: bool = False) -> Reaction:
    """A reaction as the command line names it: JOINT:BODY:DIRECTION.

    DIRECTION is x, y, z or numbers between commas; a planar moment may leave it out.

    Raises
    ------
    UsageError
        No such joint or body; no direction.
    """
    word, body, along = (*text.split(":"), "", "")[:3]
    names = [joint.name for joint in mechanism.joints]
    if word not in names:
        hint = did_you_mean(word, names) or f"; there are {', '.join(names)}"
        parts = word.split()
        if len(parts) > 1 and parts[0] in names:
            hint = f"; write {':'.join(parts)}"
        raise UsageError(f"No joint is named {word!r}{hint}", [text])
    pair = mechanism.joints[names.index(word)].bodies
    body = body or pair[0]
    if body not in pair:
        raise UsageError(f"{word!r} joins {pair[0]} and {pair[1]}, not {body!r}.", [text])
    if moment and mechanism.planar:
        return Reaction(word, body, _AXES["z"], True)
    if along in _AXES and not (mechanism.planar and along == "z"):
        return Reaction(word, body, _AXES[along], moment)
    try:
        numbers = [float(x) for x in along.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != (2 if mechanism.planar else 3) or not any(numbers):
        raise UsageError(
            f"{text!r} needs a direction: JOINT:BODY:x, or numbers, as in {word}:{body}:1,0"
            f"{'' if mechanism.planar else ',0'}.",
            [text],
        )
    x, y, z = (*numbers, 0.0)[:3]
    return Reaction(word, body, (x, y, z), moment)


def freed(model: Model, reactions: Sequence[Reaction]) -> Model:
    """The mechanism with a virtual coordinate, after its own, for every reaction.

    Raises
    ------
    MechanismError
        The joint lets its bodies move in that direction anyway, or another constraint holds them
        there too, so that the reaction is not determined.
    UsageError
        A coupling's force loads the joint, and no file says where it acts (`loading`).
    """
    it = model.mechanism
    loaded = {one.joint: loading(it, one.joint) for one in reactions}
    unknown = [f"{joint} by {name!r}" for joint, name in loaded.items() if name]
    if unknown:
        raise UsageError(
            f"Reactions of {it.name!r} are not known where a coupling loads the joint, because "
            f"where its force acts (at teeth, along a belt) is not in the file: "
            f"{', '.join(unknown)}. Ask for joints that no coupling names.",
            [joint for joint, name in loaded.items() if name],
        )
    # Parameters of bodies of a stated form are such already, and other joints hold them here.
    it = replace(
        it,
        bodies=tuple(replace(body, form="") for body in it.bodies),
        joints=tuple(replace(joint, holds=None) for joint in it.joints),
    )
    for k, one in enumerate(reactions):
        joint = next(j for j in model.mechanism.joints if j.name == one.joint)
        it = _insert(it, one, k, joint.bodies.index(one.body))
    values = tuple((name, _exact(x)) for name, x in joint_values(model).items())
    virtual = tuple((f"virtual_{k}", ZERO) for k in range(len(reactions)))
    it = replace(
        it,
        actuated=it.coordinates,
        assembly=Assembly((*values, *virtual)),
        excitation=None,
        cycle=None,
        noise=(),
    )
    try:
        return prepare(it)
    except MechanismError as error:
        listed = "; ".join(one.name for one in reactions)
        raise MechanismError(
            f"Not determined by the motion: {listed}. A joint does not transmit anything where "
            f"it is free to move, and of what several constraints hold together no model of "
            f"rigid bodies knows the shares. ({error.message})",
            [one.joint for one in reactions],
        ) from error


def joint_values(model: Model) -> dict[str, float]:
    """All joints' values on the assembled pose; angles of the tree with their whole turns."""
    dims = kinematics.geometry(model.mechanism, {})
    at = kinematics.poses(model.topology, dims, model.assembled.q[:, None])
    found = dict(zip(model.mechanism.coordinates, model.assembled.coordinates, strict=True))
    for node in model.topology.tree:
        if not joint_type(node.kind).is_ball:
            names = model.mechanism.joints[node.joint].values
            q = model.assembled.q[node.position : node.position + len(names)]
            found |= {n: float(x) for n, x in zip(names, q, strict=True) if n not in found}
    for k, joint in enumerate(model.mechanism.joints):
        measured = joints.values(joint.type, at.X1[k], at.X2[k], at.P2[k] - at.P1[k])
        for name, x in zip(joint.values, measured, strict=True):
            found.setdefault(name, float(x[0]))
    return found


def _insert(it: Mechanism, one: Reaction, k: int, side: int) -> Mechanism:
    """A massless body between the joint and one of its bodies, which it may move against.

    Where the joint was freed at this side before, a massless body stands there already, and the
    new one comes between it and the joint.
    """
    place = next(n for n, joint in enumerate(it.joints) if joint.name == one.joint)
    joint = it.joints[place]
    name = f"virtual_{k}"
    pair = list(joint.bodies)
    pair[side] = name
    frame = _frame(it, joint.frames[side].at, one)
    # The second body of the joint moves against the first: along, not against, the direction.
    ends = (joint.bodies[0], name) if side == 0 else (name, joint.bodies[1])
    kind = "revolute" if one.moment else "prismatic"
    count = 4 if it.planar else 10
    bodies = (*it.bodies, Body(name, (ZERO,) * count if it.has_inertias else None))
    kept = list(it.joints)
    kept[place] = replace(joint, bodies=(pair[0], pair[1]))
    kept.append(Joint(name, kind, ends, (frame, frame)))
    coordinates = (*it.coordinates, name)
    return replace(it, bodies=bodies, joints=tuple(kept), coordinates=coordinates)


def _frame(it: Mechanism, at: Vector, one: Reaction) -> Frame:
    axis = np.array(one.direction)
    if it.planar and not one.moment:
        reference = np.array(_AXES["z"])
    else:
        reference = np.eye(3)[int(np.argmin(np.abs(axis)))]
    return Frame(at, _vector(axis), _vector(reference))


def _vector(numbers: np.ndarray) -> Vector:
    x, y, z = (_exact(float(n)) for n in numbers)
    return (x, y, z)


def _exact(x: float) -> Expression:
    return Number(Fraction(float(x)))
