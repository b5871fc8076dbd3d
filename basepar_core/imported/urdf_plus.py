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

from .draft import Coupling, Draft, value_names
from .kinds import OF_LOOPS, SINGLE
from .rationals import decimal
from .urdf_loops import ALONG_X, Reader, Side


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
    def taken(cls, draft: Draft, root: Any) -> "Extended":
        """Take it out; URDF's own parser knows none of it."""
        said = {}
        for node in root.findall("joint"):
            word = node.attrib.pop("independent", "true")
            said[node.get("name")] = word.strip().lower()
            if said[node.get("name")] not in ("true", "false"):
                what = f"independent = {word!r} is neither true nor false"
                draft.refuse(f"joint {node.get('name')!r}", what, node.sourceline)
        found = cls(
            root.findall("loop"),
            root.findall("coupling"),
            frozenset(name for name, word in said.items() if word == "false"),
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
) -> None:
    """Loops, couplings and coordinates; what cannot be represented is rejected."""
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
        _loop(Reader(draft, node, links))
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


def _loop(reader: Reader) -> None:
    axis = reader.row(reader.node.find("axis"), "xyz", ALONG_X)
    found = []
    for tag in ("predecessor", "successor"):
        link, side = reader.link(tag)
        found.append(Side(link, reader.pose(None if side is None else side.find("origin")), axis))
    reader.close(OF_LOOPS, (found[0], found[1]))


def _coupling(
    draft: Draft, node: Any, links: Sequence[str], above: Mapping[str, Any]
) -> Coupling | None:
    reader = Reader(draft, node, links)
    ends = [reader.link(tag)[0] for tag in ("predecessor", "successor")]
    ratio = _ratio(reader)
    if None in ends or not ratio:
        return None
    first, second = (_way(str(link), above) for link in ends)
    shared = {joint.name for joint in first} & {joint.name for joint in second}
    moving = {one.name for one in draft.connections}
    terms: dict[str, Fraction] = {}
    for way, factor in ((first, ratio), (second, Fraction(-1))):
        for joint in reversed(way):
            if joint.name in shared or joint.name not in moving:
                continue
            if joint.type not in SINGLE:
                what = f"joint {joint.name!r} on its way is {joint.type}, and has no one value"
                reader.refuse(what)
                return None
            terms[joint.name] = factor
    if len(terms) < 2:
        reader.refuse("it couples fewer than two joint values; remove it")
        return None
    draft.notes.append(f"{reader.where} holds {', '.join(terms)} together")
    return Coupling(reader.name, terms, Fraction(0))


def _ratio(reader: Reader) -> Fraction | None:
    """A rolling coupling's ratio; None where it has none (reported)."""
    kind, given = reader.node.get("type", "rolling"), reader.node.find("ratio")
    if kind != "rolling":
        reader.refuse(f"type {kind!r} is not known; known is rolling")
        return None
    text = "" if given is None else given.get("value", "")
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if isfinite(ratio) and ratio != 0:
        return decimal(ratio)
    reader.refuse(f"its ratio {text!r} is no finite number other than 0")
    return None


def _way(link: str, above: Mapping[str, Any]) -> list[Any]:
    """Joints from a link to the root; a circle (reported elsewhere) ends it."""
    found: list[Any] = []
    while link in above and above[link] not in found:
        found.append(above[link])
        link = above[link].parent
    return found
