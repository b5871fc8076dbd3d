"""`loop_closures.yaml` beside a URDF file: joints that its tree was cut open at.

Two writings. `closures` (scikit-robot): `link_a`, `link_b`, and `point` and `axis` of a hinge in
the root link's frame where all joints are at zero. `pin_loops` and `ball_loops`: `parent`,
`child`, a point in each (`parent_xyz`, `child_xyz`), a hinge's `axis` in the parent; the child's
is the same direction where all joints are at zero; `ball_upgrades` names joints of the tree that
are spherical. `independent` and `actuated_joints` are motors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from basepar_core.expressions import did_you_mean
from basepar_core.files import Fields, Items, Node, Text

from .draft import Connection, Draft, End
from .kinds import REVOLUTE, SPHERICAL
from .rationals import UNITS, Pose, Vec, direction, least_aligned, vector

FILE = "loop_closures.yaml"
#: Keys of the file, and of an entry of its lists.
KEYS = ("closures", "pin_loops", "ball_loops", "ball_upgrades", "ball_limit_deg",
        "independent", "dependent", "actuated_joints")  # fmt: skip
IN_ROOT = ("link_a", "link_b", "point", "axis")
IN_LINKS = ("name", "parent", "child", "parent_xyz", "child_xyz", "axis")


@dataclass(frozen=True)
class Cut:
    """A joint that closes a loop: its name, its two links, a point and an axis (None: of a ball)
    in the first link's frame, a point in the second's; `in_root`: in the root's, one point for
    both."""

    name: str
    links: tuple[str, str]
    points: tuple[Vec, Vec]
    axis: Vec | None
    in_root: bool

    def connection(self, poses: Sequence[Pose]) -> Connection:
        """The joint, where its two links have poses in the root link's frame."""
        axis = self.axis or UNITS[2]
        first = End(self.points[0], axis, least_aligned(axis))
        if self.in_root:
            one, two = (first.seen_from(pose.inverse().short) for pose in poses)
        else:
            one = first
            there = first.seen_from(poses[1].inverse().then(poses[0]).short)
            two = replace(there, at=self.points[1])
        kind = SPHERICAL if self.axis is None else REVOLUTE
        return Connection(self.name, kind, self.links, (one, two))


def read(draft: Draft, node: Fields) -> tuple[list[Cut], list[str], list[str]]:
    """Of the file's mapping: joints that close loops, names of joints that are driven, and of
    those that are spherical; what is wrong is in the draft."""
    it = _Reader(draft)
    it.check(node, KEYS)
    cuts = [it.in_root(k, one) for k, one in enumerate(it.items(node, "closures"))]
    for key, is_hinge in (("pin_loops", True), ("ball_loops", False)):
        cuts += [it.in_links(one, is_hinge) for one in it.items(node, key)]
    motors = [*it.words(node, "independent"), *it.words(node, "actuated_joints")]
    return [one for one in cuts if one], motors, it.words(node, "ball_upgrades")


def connect(draft: Draft, cuts: Sequence[Cut], place: Callable[[str], Pose | None]) -> None:
    """Add the joints; `place` has links' poses where all joints are at zero."""
    for cut in cuts:
        poses = [place(link) for link in cut.links]
        for link, pose in zip(cut.links, poses, strict=True):
            if pose is None:
                hint = did_you_mean(link, [one.name for one in draft.links]) or ""
                draft.refuse(f"{FILE}: {cut.name}", f"no link is named {link!r}{hint}")
        found = [pose for pose in poses if pose is not None]
        if len(found) == len(poses):
            made = cut.connection(found)
            draft.connections.append(made)
            one, two = cut.links
            draft.notes.append(f"{cut.name} is a {made.kind} joint of {one} and {two} ({FILE})")


class _Reader:
    def __init__(self, draft: Draft):
        self.draft = draft

    def in_root(self, k: int, node: Node) -> Cut | None:
        entries = self.check(node, IN_ROOT)
        links = self._text(entries, "link_a"), self._text(entries, "link_b")
        point, axis = self._row(entries, "point"), self._axis(entries)
        if not all(links) or point is None or axis is None:
            self._refuse(node, f"a closure has {', '.join(IN_ROOT)}")
            return None
        return Cut(f"closure_{k + 1}", links, (point, point), axis, True)

    def in_links(self, node: Node, is_hinge: bool) -> Cut | None:
        entries = self.check(node, IN_LINKS if is_hinge else IN_LINKS[:-1])
        name = self._text(entries, "name")
        links = self._text(entries, "parent"), self._text(entries, "child")
        one, two = self._row(entries, "parent_xyz"), self._row(entries, "child_xyz")
        axis = self._axis(entries) if is_hinge else None
        if not (name and all(links)) or one is None or two is None or (is_hinge and axis is None):
            self._refuse(node, f"a loop has {', '.join(IN_LINKS)}; axis if it is a pin")
            return None
        return Cut(name, links, (one, two), axis, False)

    def check(self, node: Node, keys: Sequence[str]) -> Mapping[str, Node]:
        """Entries of a mapping whose keys are known."""
        if not isinstance(node, Fields):
            self._refuse(node, f"is no mapping of {', '.join(keys)}")
            return {}
        for key, line in node.lines.items():
            if key not in keys:
                hint = did_you_mean(key, keys) or f"; keys are {', '.join(keys)}"
                self.draft.refuse(f"{FILE}: {key}", f"no key is named so{hint}", line)
        return node.entries

    def items(self, node: Fields, key: str) -> Sequence[Node]:
        found = node.entries.get(key)
        if isinstance(found, Items):
            return found.items
        if found is not None:
            self._refuse(found, f"{key} is a list")
        return ()

    def words(self, node: Fields, key: str) -> list[str]:
        return [one.value for one in self.items(node, key) if isinstance(one, Text)]

    def _text(self, entries: Mapping[str, Node], key: str) -> str:
        found = entries.get(key)
        return found.value if isinstance(found, Text) else ""

    def _numbers(self, entries: Mapping[str, Node], key: str) -> list[float] | None:
        """Three finite numbers; None where they are none."""
        found = entries.get(key)
        try:
            values = [float(one.value) for one in found.items if isinstance(one, Text)]  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            return None
        return values if len(values) == 3 and all(map(isfinite, values)) else None

    def _row(self, entries: Mapping[str, Node], key: str) -> Vec | None:
        values = self._numbers(entries, key)
        return None if values is None else vector(values)

    def _axis(self, entries: Mapping[str, Node]) -> Vec | None:
        values = self._numbers(entries, "axis")
        return direction(values) if values is not None and any(values) else None

    def _refuse(self, node: Node, message: str) -> None:
        self.draft.refuse(FILE, message, node.line)
