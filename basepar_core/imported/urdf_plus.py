"""URDF+ (Chignoli et al., 2024): loops and couplings beside URDF's tree.

`<loop>` is a joint between two links that the tree leads to already, with its frame in each.
`<coupling>` rolls two links on each other: with the joint values on the ways to both from the
link at which the ways part, ratio · (sum to the predecessor) = (sum to the successor). Joints
that say `independent="false"` follow; all others are coordinates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import JointTypeName

from .draft import Connection, Coupling, Draft, End, value_names
from .rationals import UNITS, ZERO, Pose, Vec, decimal, direction, from_rpy, least_aligned, vector
from .urdf_mimics import SINGLE


@dataclass(frozen=True)
class Extended:
    """What URDF+ adds to a file, taken out of its tree of elements.

    Attributes
    ----------
    loops, couplings
        Elements.
    dependent
        Names of joints that are not independent.
    """

    loops: Sequence[Any]
    couplings: Sequence[Any]
    dependent: frozenset[str]

    @classmethod
    def taken(cls, root: Any) -> "Extended":
        """Take it out; URDF's own parser knows none of it."""
        joints = root.findall("joint")
        said = {node.get("name"): node.attrib.pop("independent", "") for node in joints}
        found = cls(
            root.findall("loop"),
            root.findall("coupling"),
            frozenset(name for name, word in said.items() if word.strip().lower() == "false"),
        )
        for node in (*found.loops, *found.couplings):
            root.remove(node)
        return found

    def __bool__(self) -> bool:
        return bool(self.loops or self.couplings or self.dependent)


def extend(
    draft: Draft,
    more: Extended,
    joints: Sequence[tuple[Any, int]],
    kinds: Mapping[str, JointTypeName],
) -> None:
    """Loops, couplings and coordinates; what cannot be represented is rejected.

    `kinds` are our joint types by those that a loop may have.
    """
    if not more:
        return
    if not (more.loops or more.couplings or draft.couplings):
        for joint, line in joints:
            if joint.name in more.dependent:
                draft.refuse(
                    f"joint {joint.name!r}",
                    "independent = 'false': it depends on other joints, by constraints that are "
                    "not in the file; add the <loop> or <coupling>, or remove the attribute",
                    line,
                )
    above = {joint.child: joint for joint, _ in joints}
    links = [link.name for link in draft.links]
    for node in more.loops:
        _loop(draft, node, links, kinds)
    rolling = [one for node in more.couplings if (one := _coupling(draft, node, links, above))]
    draft.couplings += rolling
    following = {joint.name for joint, _ in joints if joint.mimic is not None} | more.dependent
    for coupling in rolling:  # who says nothing means that the successor follows
        if not following & coupling.terms.keys():
            following |= {[*coupling.terms][-1]}
    in_tree = {joint.name for joint, _ in joints}
    draft.coordinates[:] = [
        value
        for one in draft.connections
        if one.name in in_tree and one.name not in following
        for value in value_names(one.name, one.kind)
    ]


def _ends(draft: Draft, node: Any, where: str, links: Sequence[str]) -> list[tuple[str, Any]]:
    """The two links, each with its element; fewer where one is rejected."""
    found = []
    for tag in ("predecessor", "successor"):
        side = node.find(tag)
        name = None if side is None else side.get("link")
        if name in links:
            found.append((str(name), side))
            continue
        hint = did_you_mean(name or "", links) or f"; links are {', '.join(links[:8])}"
        what = f"no link is named {name!r}{hint}" if name else f"it has no <{tag} link=…>"
        draft.refuse(where, what, node.sourceline)
    return found


def _loop(
    draft: Draft, node: Any, links: Sequence[str], kinds: Mapping[str, JointTypeName]
) -> None:
    name, kind = node.get("name") or "loop", node.get("type") or ""
    where = f"loop {name!r}"
    ends = _ends(draft, node, where, links)
    if kind not in kinds:
        what = f"type {kind!r} cannot be represented; one is {', '.join(kinds)}"
        draft.refuse(where, what, node.sourceline)
    given = node.find("axis")
    axis = _row(draft, node, where, given, "xyz", (1.0, 0.0, 0.0))
    if len(ends) < 2 or kind not in kinds or axis is None:
        return
    if any(one.name == name for one in draft.connections):
        draft.refuse(where, "a joint has this name too; rename one", node.sourceline)
        return
    try:
        along: Vec = direction(axis) if kinds[kind] in SINGLE else UNITS[2]
    except ValueError:
        draft.refuse(where, "its axis is zero; give a direction, such as 0 0 1", node.sourceline)
        return
    own = End(ZERO, along, least_aligned(along))
    poses = [_pose(draft, node, where, side.find("origin")) for _, side in ends]
    if None in poses:
        return
    frames = [own.seen_from(pose) for pose in poses if pose is not None]
    pair = (ends[0][0], ends[1][0])
    draft.connections.append(Connection(name, kinds[kind], pair, (frames[0], frames[1])))
    draft.notes.append(f"loop {name!r} is a {kinds[kind]} joint of {pair[0]} and {pair[1]}")


def _pose(draft: Draft, node: Any, where: str, origin: Any) -> Pose | None:
    at = _row(draft, node, where, origin, "xyz", (0.0, 0.0, 0.0))
    turn = _row(draft, node, where, origin, "rpy", (0.0, 0.0, 0.0))
    return None if at is None or turn is None else Pose(vector(at), from_rpy(*turn))


def _row(
    draft: Draft, node: Any, where: str, holder: Any, key: str, otherwise: Sequence[float]
) -> Sequence[float] | None:
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
    draft.refuse(where, f"{key} = {text!r} is not three finite numbers", node.sourceline)
    return None


def _coupling(
    draft: Draft, node: Any, links: Sequence[str], above: Mapping[str, Any]
) -> Coupling | None:
    name = node.get("name") or "coupling"
    where, line = f"coupling {name!r}", node.sourceline
    ends, ratio = _ends(draft, node, where, links), _ratio(draft, node, where)
    if len(ends) < 2 or not ratio:
        return None
    first, second = (_way(link, above) for link, _ in ends)
    shared = {joint.name for joint in first} & {joint.name for joint in second}
    moving = {one.name for one in draft.connections}
    terms: dict[str, Fraction] = {}
    for way, factor in ((first, ratio), (second, Fraction(-1))):
        for joint in reversed(way):
            if joint.name in shared or joint.name not in moving:
                continue
            if joint.type not in SINGLE:
                what = f"joint {joint.name!r} on its way is {joint.type}, and has no one value"
                draft.refuse(where, what, line)
                return None
            terms[joint.name] = factor
    if len(terms) < 2:
        draft.refuse(where, "it couples fewer than two joint values; remove it", line)
        return None
    draft.notes.append(f"coupling {name!r} holds {', '.join(terms)} together")
    return Coupling(name, terms, Fraction(0))


def _ratio(draft: Draft, node: Any, where: str) -> Fraction | None:
    """A rolling coupling's ratio; None where it has none (reported)."""
    kind, given = node.get("type", "rolling"), node.find("ratio")
    if kind != "rolling":
        draft.refuse(where, f"type {kind!r} is not known; known is rolling", node.sourceline)
        return None
    text = "" if given is None else given.get("value", "")
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if isfinite(ratio) and ratio != 0:
        return decimal(ratio)
    draft.refuse(where, f"its ratio {text!r} is no finite number other than 0", node.sourceline)
    return None


def _way(link: str, above: Mapping[str, Any]) -> list[Any]:
    """Joints from a link to the root; a circle (reported elsewhere) ends it."""
    found: list[Any] = []
    while link in above and above[link] not in found:
        found.append(above[link])
        link = above[link].parent
    return found
