"""SDF (SDFormat): one model, its joints a graph, its poses relative to frames.

What no joint holds to the world gets a joint of type free: unlike URDF, SDF says of a base whether
it is fixed. A link without `inertial` has a mass of 1 kg and moments of inertia of 1 kg m², as the
format says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from basepar_core.errors import MissingDataError, Mistake

from .draft import WORLD, Draft, Inertia, Link, held_by_world, value_names
from .kinds import FREE
from .rationals import ZERO, Pose, decimal, vector
from .sdf_elements import audit
from .sdf_joints import MODEL, Element, read_gear, read_joint
from .xml_text import parse

GRAVITY = (0.0, 0.0, -9.8)


def read(text: bytes, name: str, right_angles: bool = False) -> Draft:
    """A draft of an SDF file; what it rejects is in `mistakes`. `right_angles`: see `Draft`.

    Raises
    ------
    MissingDataError
        lxml is not installed.
    """
    try:
        import lxml  # noqa: F401
    except ImportError as error:
        raise MissingDataError(
            "Reading SDF needs lxml. Install the extra: pip install 'basepar[urdf]'."
        ) from error
    draft = Draft(name, "SDF", ZERO, right_angles=right_angles)
    root = parse(text)
    if isinstance(root, Mistake):
        draft.mistakes.append(root)
        return draft
    draft.gravity = vector(
        Element(draft, root, "world").row(root.find("world/gravity"), 3) or GRAVITY
    )
    models = [*root.findall("model"), *root.findall("world/model")]
    moving = [one for one in models if (one.findtext("static") or "").strip() not in ("true", "1")]
    for one in models:
        if one not in moving:
            draft.dropped.append(f"1 static model {one.get('name')!r}")
            one.getparent().remove(one)
    audit(draft, root)
    if len(moving) != 1:
        named = ", ".join(repr(one.get("name")) for one in moving) or "none"
        draft.refuse("", f"it has to have one model that is not static; it has {named}")
        return draft
    version = [int(x) for x in (root.get("version") or "1.7").split(".")[:2] if x.isdigit()]
    _model(draft, moving[0], version < [1, 5])
    return draft


def _model(draft: Draft, node: Any, in_model: bool) -> None:
    draft.name = node.get("name") or draft.name
    scope = Frames.of(draft, node)
    for link in node.findall("link"):
        draft.links.append(Link(str(link.get("name")), _inertia(draft, link)))
    joints = node.findall("joint")
    for joint in joints:
        read_joint(draft, joint, scope, in_model)
    for joint in joints:
        if joint.get("type") == "gearbox":
            read_gear(draft, joint, scope, in_model)
    _prefer_driven(draft, node)
    _float(draft, scope)
    if not draft.mistakes and not draft.connections:
        draft.refuse("", "nothing moves: it has no links, or all are fixed")


def _prefer_driven(draft: Draft, node: Any) -> None:
    """Joints that a plugin exerts forces on are those of motors."""
    driven = {(one.findtext("joint_name") or "").strip() for one in node.findall("plugin")}
    for one in draft.connections:
        if one.name in driven and one.kind != FREE and not one.pitch:
            draft.preferred += value_names(one.name, one.kind)


def _inertia(draft: Draft, link: Any) -> Inertia:
    it = Element(draft, link, f"link {link.get('name')!r}")
    given = link.find("inertial")
    if given is None:
        draft.notes.append(f"{it.where} has no inertial: 1 kg and 1 kg m², as SDF has it")
        given = link.makeelement("inertial")
    part = Element(draft, given, it.where)
    mass = part.number("mass", 1.0)
    if mass < 0:
        it.refuse(f"its mass is {mass} kg; it must not be negative")
    numbers = [
        part.number(f"inertia/{key}", 1.0 if key[1] == key[2] else 0.0)
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    ]
    central: Any = tuple(map(decimal, numbers))
    return Inertia(decimal(mass), ZERO, central).seen_from(part.pose(given.find("pose")))


@dataclass(frozen=True)
class Frames:
    """The frames of a model: its own, links, joints, frames, and the world.

    Attributes
    ----------
    nodes
        Elements by name.
    draft
        Where poses that run in a circle are rejected.
    model
        The model's element.
    """

    nodes: Mapping[str, Any]
    draft: Draft
    model: Any

    @classmethod
    def of(cls, draft: Draft, model: Any) -> "Frames":
        """All of a model; names that are given twice are rejected."""
        found: dict[str, Any] = {}
        for node in (*model.findall("link"), *model.findall("joint"), *model.findall("frame")):
            name = node.get("name") or ""
            if name in found or not name:
                what = f"the name {name!r} is given twice" if name else "it has no name"
                draft.refuse(f"{node.tag} {name!r}", what, node.sourceline)
            found.setdefault(name, node)
        return cls(found, draft, model)

    def place(self, name: str, seen: tuple[str, ...] = ()) -> Pose | None:
        """A frame in the world's."""
        if name in ("world", WORLD):
            return Pose()
        if name in (MODEL, ""):
            it = Element(self.draft, self.model, f"model {self.model.get('name')!r}")
            return it.pose(self.model.find("pose"))
        node = self.nodes.get(name)
        if node is None:
            return None
        it = Element(self.draft, node, f"{node.tag} {name!r}")
        if name in seen:
            it.refuse(f"its pose is relative to itself: {' → '.join((*seen, name))}")
            return None
        given = node.find("pose")
        said = "" if given is None else given.get("relative_to") or given.get("frame") or ""
        if not said:
            said = {"joint": it.text("child"), "frame": node.get("attached_to")}.get(
                node.tag
            ) or ""
        base = self.place(said, (*seen, name))
        if base is None:
            it.refuse(f"its pose is relative to {said!r}, and no frame is named so")
            return None
        return base.then(it.pose(given))

    def link(self, name: str) -> str | None:
        """The link that a frame is fixed to."""
        for _ in range(len(self.nodes) + 1):
            if name in ("world", WORLD):
                return WORLD
            node = self.nodes.get(name)
            if node is None or node.tag == "link":
                return name if node is not None else None
            joint = (node.findtext("child") or "").strip()
            name = joint if node.tag == "joint" else node.get("attached_to") or ""
        return None


def _float(draft: Draft, scope: Frames) -> None:
    """A free joint for the first link of everything that no joint leads to from the world."""
    held = held_by_world(draft)
    fixed = {one.child for one in draft.fixtures}
    for link in draft.links:
        if link.name in held or link.name in fixed:
            continue
        pose = scope.place(link.name) or Pose()
        draft.let_float(f"{link.name}_base", (WORLD, link.name), pose)
        draft.notes.append(f"no joint holds {link.name!r} to the world: its base is free")
        held = held_by_world(draft)
