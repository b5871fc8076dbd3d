"""Gazebo's plugins by which joints follow another one, as the mimic elements that they repeat.

`<joint>leader</joint> <mimicJoint>follower</mimicJoint> <multiplier> <offset>`: the follower's
value is multiplier · leader's + offset, as of URDF's `<mimic>`. Fingers of PAL's hands:
`<actuatedJoint>leader</actuatedJoint>` and any number of `<virtualJoint> <name> <scale_factor>`,
whose values are the leader's over the factor. A follower that is fixed does not move, and Gazebo
has made it part of another link. Limits, gains and dead bands of these plugins are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .draft import Draft
from .kinds import FIXED


@dataclass(frozen=True)
class _Follower:
    """What a plugin says of one joint: who leads it, and by which numbers, as texts."""

    name: str
    leader: str
    multiplier: str
    offset: str


def mimics(draft: Draft, root: Any) -> None:
    """Take such plugins out of the tree of elements, and mimic elements of fixed joints."""
    joints = {node.get("name"): node for node in root.findall("joint")}
    for holder in root.findall("gazebo"):
        for plugin in holder.findall("plugin"):
            found = list(_followers(plugin))
            if found and all(
                one.name in joints and _agrees(one, joints[one.name]) for one in found
            ):
                for one in found:
                    _say(draft, plugin, one, joints[one.name])
                holder.remove(plugin)
        if not len(holder) and not holder.get("reference"):
            root.remove(holder)
    for name, node in joints.items():
        given = node.find("mimic")
        if given is not None and node.get("type") == FIXED:
            node.remove(given)
            draft.notes.append(f"joint {name!r} is fixed, so what it mimics has no effect")


def repeated(root: Any) -> set[str]:
    """Joints of ros2_control whose parameters say what the joint's own mimic element says."""
    stated = {joint.get("name"): joint.find("mimic") for joint in root.findall("joint")}
    found = set()
    for joint in root.iterfind("ros2_control/joint"):
        given = {one.get("name"): (one.text or "").strip() for one in joint.findall("param")}
        mimic = stated.get(joint.get("name"))
        if mimic is not None and mimic.get("joint") == given.get("mimic"):
            pairs = (("multiplier", "1"), ("offset", "0"))
            if all(_equal(mimic.get(k, other), given.get(k, other)) for k, other in pairs):
                found.add(joint.get("name"))
    return found


def _followers(plugin: Any) -> Iterator[_Follower]:
    """Joints that a plugin makes follow; none where it is another, or cannot be read."""
    if plugin.find("mimicJoint") is not None:
        numbers = (_text(plugin, "multiplier", "1"), _text(plugin, "offset", "0"))
        yield _Follower(_text(plugin, "mimicJoint"), _text(plugin, "joint"), *numbers)
    leader = _text(plugin, "actuatedJoint")
    followers = [(_text(one, "name"), _number(one)) for one in plugin.findall("virtualJoint")]
    if leader and all(factor for _, factor in followers):
        for name, factor in followers:
            yield _Follower(name, leader, repr(1 / factor), "0")


def _text(node: Any, tag: str, otherwise: str = "") -> str:
    return (node.findtext(tag) or otherwise).strip()


def _number(node: Any) -> float:
    """A finger's factor; zero where it cannot be read."""
    try:
        return float(_text(node, "scale_factor"))
    except ValueError:
        return 0.0


def _agrees(one: _Follower, follower: Any) -> bool:
    """Whether a joint says nothing else of what it follows."""
    given = follower.find("mimic")
    return given is None or (
        given.get("joint") == one.leader
        and _equal(given.get("multiplier", "1"), one.multiplier)
        and _equal(given.get("offset", "0"), one.offset)
    )


def _say(draft: Draft, plugin: Any, one: _Follower, follower: Any) -> None:
    """Give the joint a mimic element, unless it has one or is fixed."""
    if follower.get("type") != FIXED and follower.find("mimic") is None:
        said = {"joint": one.leader, "multiplier": one.multiplier, "offset": one.offset}
        made = follower.makeelement("mimic", said)
        made.sourceline = plugin.sourceline
        follower.append(made)
        draft.notes.append(f"joint {one.name!r} mimics {one.leader!r} by a plugin of Gazebo's")
        return
    why = "as it says itself" if follower.find("mimic") is not None else "and it is fixed"
    draft.dropped.append(f"1 plugin by which {one.name} mimics {one.leader}, {why}")


def _equal(one: str, two: str) -> bool:
    try:
        return float(one) == float(two)
    except ValueError:
        return False
