"""Extended URDF (Gepetto/example-parallel-robots): a YAML file beside the tree.

`closed_loop` names pairs of frames, `type` how each is held (3d: their origins, 6d: all of them),
`name_mot` the motors, `joint_name` and `joint_type` the joints of the tree that are others than
the URDF file says: SPHERICAL, FIXED, and UJOINT_XY, which turns about its own x, then about y.
A frame is that of a joint's child link, or of a link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from basepar_core.errors import FileError, Mistake
from basepar_core.expressions import did_you_mean
from basepar_core.files import Fields, Items, Node, Text
from basepar_core.files import read as read_yaml
from basepar_core.texts import opened, plural

from . import urdf_closures as closures
from .draft import Connection, Draft, End
from .kinds import FIXED, OF_FRAMES, SPHERICAL, UNIVERSAL
from .rationals import UNITS, ZERO
from .urdf_closures import Cut
from .urdf_named import hold

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
#: Axes of a universal joint by the last letters of its type.
_AXES = dict(zip("XYZ", UNITS, strict=True))
_END = End(ZERO, UNITS[2], UNITS[0])


@dataclass(frozen=True)
class Companion:
    """What such a file says.

    Attributes
    ----------
    file
        Its name, for messages.
    frames
        Pairs of frames, with how they are held.
    motors
        Joints that are driven.
    types
        Joints of the tree with another type, as they are written.
    cuts
        Joints that close loops, of another such file.
    """

    file: str = ""
    frames: Sequence[tuple[str, str, str]] = ()
    motors: Sequence[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    cuts: Sequence[Cut] = ()

    def ends(self, draft: Draft, joint: str, line: int) -> tuple[str, tuple[End, End]] | None:
        """Type and frames of a joint in the axes of its child link, where it has another type."""
        word = self.types.get(joint, "").upper()
        if not word or word == "FIXED":
            return None
        if word == "SPHERICAL":
            return SPHERICAL, (_END, _END)
        first, second = (_AXES.get(letter) for letter in word[-2:])
        if word[:-2] == "UJOINT_" and first and second and first != second:
            return UNIVERSAL, (End(ZERO, first, second), End(ZERO, second, first))
        draft.refuse(
            f"joint {joint!r}",
            f"its type {word!r} in {self.file} is none of SPHERICAL, FIXED, UJOINT_XY (or two "
            f"others of X, Y, Z)",
            line,
        )
        return None


def beside(draft: Draft, path: Path) -> Companion:
    """The file of the URDF's name, or robot.yaml, in its folder, if it closes loops; else
    loop_closures.yaml there or in the folder above."""
    folder = path.resolve().parent
    for place in dict.fromkeys((path.with_suffix(".yaml"), path.with_name("robot.yaml"))):
        node, mistakes = _mapping(place)
        if KEYS[0] in node.entries:
            draft.mistakes += mistakes
            return _Reader(draft, place.name).companion(node)
    for place in (folder / closures.FILE, folder.parent / closures.FILE):
        node, mistakes = _mapping(place)
        if node.entries:
            draft.mistakes += mistakes
            cuts, motors, balls = closures.read(draft, node)
            types = dict.fromkeys(balls, SPHERICAL)
            return Companion(closures.FILE, (), motors, types, cuts)
    return Companion()


def _mapping(place: Path) -> tuple[Fields, list[Mistake]]:
    """A YAML file's mapping with its mistakes of form; empty where there is none."""
    try:
        with opened(place, "rb") as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError, FileError):
        return Fields({}, "", 0), []
    node, mistakes = read_yaml(text)
    return (node, mistakes) if isinstance(node, Fields) else (Fields({}, "", 0), [])


class _Reader:
    def __init__(self, draft: Draft, file: str):
        self.draft, self.file = draft, file

    def companion(self, node: Fields) -> Companion:
        for key, line in node.lines.items():
            if key not in KEYS:
                hint = did_you_mean(key, KEYS) or f"; keys are {', '.join(KEYS)}"
                self._refuse(key, f"no key is named so{hint}", line)
        pairs = self._list(node, "closed_loop")
        kinds = [self._text(one) for one in self._list(node, "type")]
        if len(kinds) != len(pairs):
            said = f"names {plural(len(kinds), 'type')} for {plural(len(pairs), 'loop')}"
            self._refuse("type", said, node.line)
            return Companion(self.file)
        frames = []
        for pair, kind in zip(pairs, kinds, strict=True):
            names = [self._text(one) for one in pair.items] if isinstance(pair, Items) else []
            if len(names) != 2:
                self._refuse("closed_loop", "a loop is a pair of frames, [A, B]", pair.line)
            else:
                frames.append((names[0], names[1], kind))
        joints = [self._text(one) for one in self._list(node, "joint_name")]
        types = [self._text(one) for one in self._list(node, "joint_type")]
        if len(joints) != len(types):
            said = f"names {plural(len(types), 'type')} for {plural(len(joints), 'joint')}"
            self._refuse("joint_type", said, node.line)
            joints = []
        motors = [self._text(one) for one in self._list(node, "name_mot")]
        return Companion(self.file, frames, motors, dict(zip(joints, types, strict=False)))

    def _list(self, node: Fields, key: str) -> Sequence[Node]:
        found = node.entries.get(key)
        if isinstance(found, Items):
            return found.items
        if found is not None:
            self._refuse(key, "is a list", found.line)
        return ()

    def _text(self, node: Node) -> str:
        return node.value if isinstance(node, Text) else ""

    def _refuse(self, key: str, message: str, line: int) -> None:
        self.draft.refuse(f"{self.file}: {key}", message, line)


def close(
    draft: Draft, more: Companion, joints: Sequence[tuple[Any, int]], closing: str = ""
) -> bool:
    """Connections of frames; names that there are not are rejected. Whether there are any.

    Parameters
    ----------
    closing
        How frames are held that are named as ends of loops and that no file pairs.
    """
    known = {joint.name: joint.child for joint, _ in joints}
    frames = {link.name: link.name for link in draft.links} | known
    where = f"{more.file}: closed_loop"
    for name in dict.fromkeys((*more.motors, *more.types)):
        if name in known:
            continue
        said = f"no joint is named {name!r}{did_you_mean(name, list(known)) or ''}"
        if name in more.motors:
            draft.refuse(more.file, said)
        else:  # what loads these files goes through the joints that there are
            draft.notes.append(f"{more.file}: {said}; its type {more.types[name]} changes nothing")
    for first, second, kind in more.frames:
        missing = [name for name in (first, second) if name not in frames]
        for name in missing:
            hint = did_you_mean(name, list(frames)) or ""
            draft.refuse(where, f"no joint and no link is named {name!r}{hint}")
        if kind.lower() not in OF_FRAMES:
            draft.refuse(where, f"type {kind!r} of {first} is none of {', '.join(OF_FRAMES)}")
        elif not missing:
            held = OF_FRAMES[kind.lower()]
            links = frames[first], frames[second]
            draft.connections.append(Connection(f"{first}_loop", held, links, (_END, _END)))
            draft.notes.append(f"frames {first} and {second} are a {held} joint ({more.file})")
    draft.preferred += more.motors
    if not (more.frames or more.cuts):
        return hold(draft, frames, closing)
    if closing:
        draft.refuse("closing", f"{more.file} says how loops are closed; leave it out")
    return bool(more.frames)


def retype(more: Companion, root: Any) -> None:
    """Joints that the file calls FIXED, in the tree of elements."""
    for node in root.findall("joint"):
        if more.types.get(node.get("name"), "").upper() == "FIXED":
            node.set("type", FIXED)
