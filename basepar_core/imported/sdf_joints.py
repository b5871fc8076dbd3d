"""SDF's joints: in an SDF file, and within `<gazebo>` in a URDF file.

All joints are at zero where the file has the links. A joint's frame is its pose in its child's
frame, or in another one by `relative_to`; axes are directions of that frame, of the model's
(`use_parent_model_frame`, and by default up to version 1.4), or of a named one (`expressed_in`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, pi, radians
from typing import Any, Protocol

from basepar_core.texts import plural

from .draft import WORLD, Connection, Coupling, Draft, End, Fixture, value_names
from .kinds import CYLINDRICAL, FIXED, OF_SDF, REVOLUTE, SPHERICAL, UNIVERSAL
from .rationals import (
    UNITS,
    ZERO,
    Pose,
    Vec,
    decimal,
    direction,
    from_floats,
    least_aligned,
    upright,
    vector,
)

#: The model's own frame.
MODEL = "__model__"
#: Cosine of the angle between axes that are perpendicular as printed.
ACROSS = 1e-9


class Scope(Protocol):
    """The frames that a joint may name."""

    def place(self, name: str) -> Pose | None:
        """A frame in the ground's, where all joints are at zero; None where none is named so."""

    def link(self, name: str) -> str | None:
        """The link that a frame is fixed to, `draft.WORLD` for the ground."""


@dataclass(frozen=True)
class Element:
    """An element of SDF with what it is called in messages."""

    draft: Draft
    node: Any
    where: str

    def refuse(self, message: str) -> None:
        """Reject it."""
        self.draft.refuse(self.where, message, self.node.sourceline)

    def text(self, tag: str, otherwise: str = "") -> str:
        """Text of a child element."""
        return (self.node.findtext(tag) or otherwise).strip()

    def number(self, tag: str, otherwise: float = 0.0) -> float:
        """A finite number; what is none is reported."""
        found = self.row(self.node.find(tag), 1)
        return otherwise if found is None else found[0]

    def row(self, node: Any, *sizes: int) -> Sequence[float] | None:
        """Finite numbers of an element; None without it, zeros where they are none (reported)."""
        if node is None:
            return None
        try:
            values = [float(word) for word in (node.text or "").split()]
        except ValueError:
            values = []
        if len(values) in sizes and all(map(isfinite, values)):
            return values
        self.refuse(f"<{node.tag}> {node.text!r} is not {plural(sizes[0], 'finite number')}")
        return [0.0] * sizes[0]

    def pose(self, node: Any) -> Pose:
        """A pose element: x y z and roll pitch yaw, or a quaternion x y z w."""
        if node is None or not (node.text or "").strip():
            return Pose()
        if node.get("rotation_format") == "quat_xyzw":
            values = self.row(node, 7) or [0.0] * 7
            turn = (values[6], *values[3:6])
            if not any(turn):
                self.refuse("the quaternion of its pose is zero")
                return Pose()
            return Pose(vector(values[:3]), from_floats(turn))
        values = self.row(node, 6) or [0.0] * 6
        angles = values[3:]
        if node.get("degrees") in ("true", "1"):
            angles = [radians(x) for x in angles]
        return Pose(vector(values[:3]), self.draft.turned(self.where, angles)).short


def read_joint(draft: Draft, node: Any, scope: Scope, in_model: bool | None = False) -> None:
    """A joint's connection or fixture; a gearbox is none, see `read_gear`.

    Parameters
    ----------
    scope
        Where links and frames are.
    in_model
        Whether axes are directions of the model's frame unless the file says otherwise; None: they
        are not, but the file is of no version, so that it is noted where that makes a difference.
    """
    name, kind = node.get("name") or "joint", node.get("type") or ""
    it = Element(draft, node, f"joint {name!r}")
    if kind == "gearbox":
        return  # a coupling of others, by `gear`
    if kind not in OF_SDF:
        it.refuse(f"type {kind!r} cannot be represented; one is gearbox, {', '.join(OF_SDF)}")
        return
    links = _links(it, scope)
    base = _frame(it, scope)
    if links is None or base is None:
        return
    carriers = [scope.place(link) or Pose() for link in links]
    local = [one.inverse().then(base).short for one in carriers]
    if OF_SDF[kind] == FIXED:
        _fix(draft, name, links, local)
        return
    axes = [_axis(it, scope, base, tag, in_model) for tag in ("axis", "axis2")]
    made = _connection(it, name, kind, links, local, axes)
    if made is None:
        return
    draft.connections.append(made)
    if made.pitch:  # a screw's value is its angle
        draft.preferred.append(value_names(name, made.kind)[1])


def _fix(draft: Draft, name: str, links: tuple[str, str], local: Sequence[Pose]) -> None:
    """Two links as one body, unless the second is part of another one already."""
    above = {one.child: one.parent for one in draft.fixtures}
    way = links[0]
    while way in above and way != links[1]:
        way = above[way]
    if links[1] in above or way == links[1] or links[1] == WORLD:
        ends = _ends(local, UNITS[2], UNITS[0])
        draft.connections.append(Connection(name, FIXED, links, ends))
        return
    draft.fixtures.append(Fixture(links[1], links[0], local[0].then(local[1].inverse())))


def _links(it: Element, scope: Scope) -> tuple[str, str] | None:
    found = []
    for tag in ("parent", "child"):
        name = it.text(tag)
        link = scope.link(name)
        if link is None:
            it.refuse(f"its {tag} {name!r} is no link or frame")
        found.append(link)
    if found[0] is not None and found[0] == found[1]:
        it.refuse("it joins a link to itself")
        return None
    return None if None in found else (str(found[0]), str(found[1]))


def _frame(it: Element, scope: Scope) -> Pose | None:
    """The joint's frame in the model's."""
    node = it.node.find("pose")
    said = "" if node is None else node.get("relative_to") or node.get("frame") or ""
    base = scope.place(said or it.text("child"))
    if base is None:
        if said:
            it.refuse(f"its pose is relative to {said!r}, and no frame is named so")
        return None
    return base.then(it.pose(node))


def _axis(it: Element, scope: Scope, base: Pose, tag: str, in_model: bool | None) -> Vec | None:
    """An axis in the joint's frame; by default z."""
    node = it.node.find(tag)
    if node is None:
        return None
    given = node.find("xyz")
    values = it.row(given, 3) or (0.0, 0.0, 1.0)
    try:
        along = direction(values)
    except ValueError:
        it.refuse(f"its {tag} is zero; give a direction, such as 0 0 1")
        return None
    said = (node.findtext("use_parent_model_frame") or "").strip().lower()
    named = "" if given is None else given.get("expressed_in") or ""
    if named:
        frame = scope.place(named)
        if frame is None:
            it.refuse(f"its {tag} is expressed in {named!r}, and no frame is named so")
            return None
        return base.inverse().turned(frame.turned(along))
    models = base.inverse().turned((scope.place(MODEL) or Pose()).turned(along))
    if said in ("true", "1") or (in_model and not said):
        return models
    if in_model is None and not said and models != along:
        it.draft.notes.append(
            f"{it.where}: its {tag} is a direction of the joint's frame, as in libsdformat since "
            f"version 5; up to SDF 1.4 it was the model's, which use_parent_model_frame = 1 says"
        )
    return along


def _ends(local: Sequence[Pose], axis: Vec, reference: Vec) -> tuple[End, End]:
    end = End(ZERO, axis, reference)
    return end.seen_from(local[0]), end.seen_from(local[1])


def _connection(
    it: Element,
    name: str,
    kind: str,
    links: tuple[str, str],
    local: Sequence[Pose],
    axes: Sequence[Vec | None],
) -> Connection | None:
    ours = OF_SDF[kind]
    axis = axes[0] or UNITS[2]
    if ours == SPHERICAL:
        return Connection(name, ours, links, _ends(local, UNITS[2], UNITS[0]))
    if ours == UNIVERSAL:
        second = axes[1] or UNITS[2]
        size = [sum(float(x) ** 2 for x in v) ** 0.5 for v in (axis, second)]
        cosine = sum(float(a * b) for a, b in zip(axis, second, strict=True)) / size[0] / size[1]
        if abs(cosine) > ACROSS:
            it.refuse("its two axes are not perpendicular; put a link between two revolute joints")
            return None
        frame = upright(z=axis, x=second)
        one, two = frame.turned(UNITS[2]), frame.turned(UNITS[0])
        ends = (
            End(ZERO, one, two).seen_from(local[0]),
            End(ZERO, two, one).seen_from(local[1]),
        )
        values = value_names(name, ours)
    else:
        ends = _ends(local, axis, least_aligned(axis))
        values = value_names(name, ours)[-1:]
    friction, springs = {}, {}
    for value, tag in zip(values, ("axis", "axis2"), strict=False):
        dynamics = it.node.find(f"{tag}/dynamics")
        if dynamics is not None:
            part = Element(it.draft, dynamics, it.where)
            friction[value] = _friction(part)
            if stiffness := part.number("spring_stiffness"):
                rest = part.number("spring_reference")
                springs[value] = (decimal(stiffness), decimal(rest))
    friction = {value: found for value, found in friction.items() if found}
    pitch = _pitch(it) if ours == CYLINDRICAL else None
    if ours == CYLINDRICAL and not pitch:
        return None
    return Connection(name, ours, links, ends, friction, springs, pitch=pitch)


def _friction(it: Element) -> dict[str, Fraction]:
    given = {"viscous": it.number("damping"), "coulomb": it.number("friction")}
    return {kind: decimal(value) for kind, value in given.items() if value}


def _pitch(it: Element) -> Fraction | None:
    """m per turn, right-handed; the old `thread_pitch` is rad per m and left-handed."""
    if it.node.find("screw_thread_pitch") is not None:
        pitch = it.number("screw_thread_pitch")
    else:
        turns = it.number("thread_pitch", 1.0)
        pitch = -2 * pi / turns if turns else 0.0
    if not pitch:
        it.refuse(
            "its pitch is zero; a joint that only slides is prismatic, one that turns revolute"
        )
        return None
    return decimal(pitch)


def read_gear(draft: Draft, node: Any, scope: Scope, in_model: bool = False) -> None:
    """A gearbox as a coupling: θ2 = −ratio · θ1, of child and parent against a third body."""
    it = Element(draft, node, f"joint {node.get('name') or 'gearbox'!r}")
    reference, base = scope.link(it.text("gearbox_reference_body")), _frame(it, scope)
    links = _links(it, scope)
    if reference is None:
        it.refuse("its gearbox_reference_body is no link")
    if reference is None or links is None or base is None:
        return
    ratio = decimal(it.number("gearbox_ratio", 1.0))
    terms: dict[str, Fraction] = {}
    for link, tag, factor in zip(links, ("axis", "axis2"), (ratio, Fraction(1)), strict=True):
        axis = _axis(it, scope, base, tag, in_model) or UNITS[2]
        found = _turning(draft, scope, (reference, link), base.turned(axis))
        if found is None:
            it.refuse(f"{link!r} does not turn about its {tag} against {reference!r} by one joint")
            return
        terms[found[0]] = factor * found[1]
    name = str(node.get("name") or "gearbox")
    draft.couplings.append(Coupling(name, terms, Fraction(0)))
    draft.notes.append(f"{it.where} is a coupling of {', '.join(terms)}")


def _turning(
    draft: Draft, scope: Scope, links: tuple[str, str], axis: Vec
) -> tuple[str, int] | None:
    """The revolute joint between two links, and 1 or −1 as its value counts about an axis."""
    for one in draft.connections:
        if one.kind != REVOLUTE or set(one.links) != set(links):
            continue
        own = (scope.place(one.links[0]) or Pose()).turned(one.ends[0].axis)
        dot = sum(float(a * b) for a, b in zip(own, axis, strict=True))
        size = [sum(float(x) ** 2 for x in v) ** 0.5 for v in (own, axis)]
        if abs(abs(dot) / size[0] / size[1] - 1) < ACROSS:
            return one.name, (1 if dot > 0 else -1) * (1 if one.links == links else -1)
    return None
