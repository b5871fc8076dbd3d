"""Gazebo's plugins by which a joint follows another one, as the mimic elements that they repeat.

`<joint>leader</joint> <mimicJoint>follower</mimicJoint> <multiplier> <offset>`: the follower's
value is multiplier · leader's + offset, as of URDF's `<mimic>`. A follower that is fixed does not
move, and Gazebo has made it part of another link.
"""

from typing import Any

from .draft import Draft
from .kinds import FIXED


def mimics(draft: Draft, root: Any) -> None:
    """Take such plugins out of the tree of elements, and mimic elements of fixed joints."""
    joints = {node.get("name"): node for node in root.findall("joint")}
    for holder in root.findall("gazebo"):
        for plugin in holder.findall("plugin"):
            follower = joints.get((plugin.findtext("mimicJoint") or "").strip())
            if follower is not None and _said(draft, plugin, follower):
                holder.remove(plugin)
        if not len(holder) and not holder.get("reference"):
            root.remove(holder)
    for name, node in joints.items():
        given = node.find("mimic")
        if given is not None and node.get("type") == FIXED:
            node.remove(given)
            draft.notes.append(f"joint {name!r} is fixed, so what it mimics has no effect")


def _said(draft: Draft, plugin: Any, follower: Any) -> bool:
    """Whether the joint says so itself, or does now; a plugin that contradicts it stays."""
    leader = (plugin.findtext("joint") or "").strip()
    multiplier, offset = (
        (plugin.findtext(tag) or otherwise).strip()
        for tag, otherwise in (("multiplier", "1"), ("offset", "0"))
    )
    name = follower.get("name")
    given = follower.find("mimic")
    if follower.get("type") != FIXED and given is None:
        said = {"joint": leader, "multiplier": multiplier, "offset": offset}
        made = follower.makeelement("mimic", said)
        made.sourceline = plugin.sourceline
        follower.append(made)
        draft.notes.append(f"joint {name!r} mimics {leader!r} by a plugin of Gazebo's")
        return True
    same = given is None or (
        given.get("joint") == leader
        and _equal(given.get("multiplier", "1"), multiplier)
        and _equal(given.get("offset", "0"), offset)
    )
    if same:
        why = "as it says itself" if given is not None else "and it is fixed"
        draft.dropped.append(f"1 plugin by which {name} mimics {leader}, {why}")
    return same


def _equal(one: str, two: str) -> bool:
    try:
        return float(one) == float(two)
    except ValueError:
        return False
