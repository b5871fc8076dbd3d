"""Loops beside URDF's tree, in the writings that others have for them.

Isaac's `<loop_joint>` (and, before it, Drake's) has a place in each of two links, and an `<axis>`
in both; Isaac itself reads only the type spherical. urdfdom's proposed `<constraint>` (pull
request 264) has an origin and an axis in either link. Both become connections, as URDF+'s loops
and the frames of Extended URDF do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import JointTypeName

from .draft import Connection, Draft, End
from .kinds import OF_CONSTRAINTS, OF_LOOPS, PRISMATIC, REVOLUTE, SPHERICAL, UNIVERSAL
from .rationals import (
    UNITS,
    ZERO,
    Pose,
    Vec,
    across,
    direction,
    least_aligned,
    upright,
    vector,
)

#: Axis of a joint that names none, as of URDF's own.
ALONG_X = (1.0, 0.0, 0.0)
#: Elements that are read here.
TAGS = ("loop_joint", "constraint")


@dataclass(frozen=True)
class Side:
    """One link of a loop's joint: its name, the frame in it, and the axis in that frame; None
    where they cannot be read, which is reported."""

    link: str | None
    pose: Pose | None
    axis: Sequence[float] | None = ALONG_X


@dataclass(frozen=True)
class Reader:
    """One element that closes a loop, on its way to a connection.

    Attributes
    ----------
    draft
        Gets the connection, or what is wrong.
    node
        The element; it has a name and a type.
    links
        Names that there are.
    """

    draft: Draft
    node: Any
    links: Sequence[str]

    @property
    def name(self) -> str:
        """Its own, or its element's."""
        return str(self.node.get("name") or self.node.tag)

    @property
    def where(self) -> str:
        """Its place in messages."""
        return f"{self.node.tag} {self.name!r}"

    def refuse(self, message: str) -> None:
        """Reject it."""
        self.draft.refuse(self.where, message, self.node.sourceline)

    def link(self, tag: str) -> tuple[str | None, Any]:
        """The link that a child element names, and that element."""
        side = self.node.find(tag)
        name = None if side is None else side.get("link")
        if name in self.links:
            return str(name), side
        hint = did_you_mean(name or "", self.links) or f"; links are {', '.join(self.links[:8])}"
        self.refuse(f"no link is named {name!r}{hint}" if name else f"it has no <{tag} link=…>")
        return None, side

    def pose(self, holder: Any) -> Pose | None:
        """A frame by the attributes xyz and rpy of an element."""
        at = self.row(holder, "xyz", (0.0, 0.0, 0.0))
        turn = self.row(holder, "rpy", (0.0, 0.0, 0.0))
        if at is None or turn is None:
            return None
        where = self.where if holder is None else f"{self.where}, {holder.tag}"
        return Pose(vector(at), self.draft.turned(where, turn)).short

    def row(self, holder: Any, key: str, otherwise: Sequence[float]) -> Sequence[float] | None:
        """Three finite numbers of an attribute; None where they are none (reported)."""
        text = None if holder is None else holder.get(key)
        if text is None:
            return otherwise
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) == 3 and all(map(isfinite, values)):
            return values
        self.refuse(f"{key} = {text!r} is not three finite numbers")
        return None

    def close(self, kinds: Mapping[str, JointTypeName], sides: tuple[Side, Side]) -> None:
        """Add the connection, if all of it can be represented; `kinds` are ours by theirs."""
        word = (self.node.get("type") or "").strip().lower()
        if word not in kinds:
            given = self.node.get("type") or ""
            self.refuse(f"type {given!r} cannot be represented; one is {', '.join(kinds)}")
        if any(None in (side.link, side.pose, side.axis) for side in sides) or word not in kinds:
            return
        if any(one.name == self.name for one in self.draft.connections):
            self.refuse("a joint has this name too; rename one")
            return
        if (body := self._body(sides[0])) == self._body(sides[1]):
            self.refuse(f"both its links are fixed to {body!r}, or are it; remove it")
            return
        kind = kinds[word]
        axes = self._axes(kind, sides)
        if axes is None:
            return
        first, second = (
            End(ZERO, axis, least_aligned(axis)).seen_from(side.pose or Pose())
            for side, axis in zip(sides, axes, strict=True)
        )
        pair = (str(sides[0].link), str(sides[1].link))
        self.draft.connections.append(Connection(self.name, kind, pair, (first, second)))
        self.draft.notes.append(f"{self.where} is a {kind} joint of {pair[0]} and {pair[1]}")

    def _body(self, side: Side) -> str:
        """The first of the links that are fixed to each other; a circle is reported elsewhere."""
        holders = {one.child: one.parent for one in self.draft.fixtures}
        link = str(side.link)
        while link in holders:
            link = holders.pop(link)
        return link

    def _axes(self, kind: JointTypeName, sides: tuple[Side, Side]) -> tuple[Vec, Vec] | None:
        if kind not in (REVOLUTE, PRISMATIC, UNIVERSAL):
            return UNITS[2], UNITS[2]
        try:
            first, second = (direction(side.axis or ()) for side in sides)
        except ValueError:
            self.refuse("its axis is zero; give a direction, such as 0 0 1")
            return None
        if kind != UNIVERSAL and first != second:
            self.refuse(
                "its axis is not the same in its two frames, which coincide where its value is "
                "zero; give it once, or turn one frame"
            )
            return None
        if kind == UNIVERSAL:  # their lengths must agree exactly
            turns = [upright(z=axis, x=across(axis)) for axis in (first, second)]
            return turns[0].turned(UNITS[2]), turns[1].turned(UNITS[2])
        return first, second


def loops(draft: Draft, nodes: Sequence[Any], links: Sequence[str]) -> None:
    """Connections of `<loop_joint>` and `<constraint>`."""
    for node in nodes:
        reader = Reader(draft, node, links)
        if node.tag == "loop_joint":
            _loop_joint(reader)
        else:
            _constraint(reader)


def _loop_joint(reader: Reader) -> None:
    axis = reader.row(reader.node.find("axis"), "xyz", ALONG_X)
    found = []
    for tag in ("link1", "link2"):
        link, side = reader.link(tag)
        found.append(Side(link, reader.pose(side), axis))
    reader.close(OF_LOOPS, (found[0], found[1]))
    kind = reader.node.get("type")
    if kind not in OF_LOOPS or OF_LOOPS[kind] != SPHERICAL:
        reader.draft.notes.append(f"{reader.where}: Isaac Sim leaves out a type {kind!r}")


def _constraint(reader: Reader) -> None:
    find = reader.node.find
    along = reader.row(find("parent_axis"), "xyz", ALONG_X)
    found = []
    for tag, axis in (
        ("parent", along),
        ("child", reader.row(find("child_axis"), "xyz", along or ALONG_X)),
    ):
        link, _ = reader.link(tag)
        found.append(Side(link, reader.pose(find(f"{tag}_origin")), axis))
    reader.close(OF_CONSTRAINTS, (found[0], found[1]))
