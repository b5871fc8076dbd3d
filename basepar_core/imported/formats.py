"""A mechanism from a file of another format, held against what it reads back to."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from basepar_core.errors import BaseparError, FileError, Mistake
from basepar_core.files import Fields, read
from basepar_core.mechanism import Mechanism
from basepar_core.texts import opened, plural, shell

from . import mjcf, sdf, urdf
from . import xacro as expansion
from .bases import settle
from .closing import Closed, closed
from .draft import Draft
from .origin import Origin, origin
from .pins import pair_balls
from .rods import part_rods
from .stubs import merge_stubs

_ELEMENT = re.compile(rb"<\s*(\w+)")
#: Comments and processing instructions, in which anything may stand.
_SKIPPED = ((b"<!--", b"-->"), (b"<?", b"?>"))


@dataclass(frozen=True)
class Imported:
    """A mechanism file made from another format's.

    Attributes
    ----------
    text
        Of the mechanism file.
    mechanism
        What it reads back to.
    format
        URDF, SDF or MJCF.
    origin
        What its bodies and joints are in the file.
    notes, dropped
        What was changed, and what was left out: counts and kinds, `3 visual`.
    failure
        Why it does not assemble, or cannot be moved as its excitation has it; None if it does.
    """

    text: str
    mechanism: Mechanism
    format: str
    origin: Origin
    notes: tuple[str, ...]
    dropped: tuple[str, ...]
    failure: BaseparError | None = None

    @property
    def left_out(self) -> str:
        """What was left out, as a sentence; empty if nothing was."""
        listed = ", ".join(self.dropped)
        return f"left out of the {self.format} file: {listed}" if listed else ""


def read_file(
    path: str | Path,
    within: str | Path | None = None,
    *,
    base: str = "auto",
    keyframe: str | None = None,
    repair: float = 0.0,
    right_angles: bool = False,
    closing: str = "no",
    frictionless: bool = False,
    count_massless: bool = False,
    xacro: Mapping[str, str] | None = None,
) -> Imported:
    """A mechanism from a URDF, SDF or MJCF file.

    Parameters
    ----------
    path
        The file.
    within
        A folder in which an MJCF file may name others (`include`, meshes); its own without.
    base
        Whether the base is fixed or free; auto: as the format's own simulator has it.
    keyframe
        Of an MJCF file, by name: where it is assembled; without, at the reference pose, or where
        that leaves loops open at the one keyframe that closes them.
    repair
        m: loops that stay open are closed by structure made exact, then by the least change of
        points, if nothing moves by more than this; the notes list the changes.
    right_angles
        Take angles that are multiples of 90° as printed, such as 1.57 and 1.5708, as such; the
        notes list them. Without, they are what they are, as simulators have them.
    closing
        How frames of a URDF file are held that are named as ends of loops and that no file beside
        it pairs: `fixed`, `spherical`, `revolute`, or `no`: they hold nothing.
    frictionless
        Of an MJCF file: leave out damping, friction loss and armature of ball joints, which a
        mechanism file has no law for; the notes list them. Without, they reject the file.
    count_massless
        Let parameters of bodies between joints count that have no inertia in the file.
    xacro
        Run xacro on the file first, with these arguments; None: it is not run, and files for it
        are rejected. It evaluates what the file says: of files that are trusted only.

    Raises
    ------
    FileError
        With everything in it that cannot be represented.
    UsageError
        Arguments that xacro cannot take.
    MissingDataError
        The library that reads it is not installed.
    """
    path = Path(path)
    try:
        with opened(path, "rb") as file:
            content = file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(str(path), [Mistake("", f"cannot be read: {reason}")]) from None
    if _root(content) == b"" and path.suffix in (".yaml", ".yml"):
        raise FileError(str(path), [Mistake("", _no_robot(path, content))])
    content, source, said = _expanded(path, content, xacro)
    wished = _Wished(
        None if within is None else Path(within),
        base,
        keyframe,
        closing,
        frictionless,
        count_massless,
        repair,
        notes=said,
    )
    draft = _draft(path, content, source, wished, right_angles)
    made = closed(draft, str(path), repair, lambda: _draft(path, content, source, wished, True))
    if made.failure is not None and draft.has_merged:
        made = _unmerged(path, content, source, wished, right_angles) or made
    whence = origin(made.draft, made.mechanism)
    notes, dropped = tuple(made.draft.notes), tuple(made.draft.dropped)
    return Imported(made.text, made.mechanism, draft.format, whence, notes, dropped, made.failure)


@dataclass(frozen=True)
class _Wished:
    """Parameters of `read_file` that a draft depends on, and notes that come first in it."""

    within: Path | None
    base: str
    keyframe: str | None
    closing: str
    frictionless: bool
    count_massless: bool
    repair: float
    merging: bool = True
    notes: tuple[str, ...] = ()


def _expanded(
    path: Path, content: bytes, arguments: Mapping[str, str] | None
) -> tuple[bytes, str, tuple[str, ...]]:
    """What is read, what messages call it (their lines are those of what xacro makes), and what
    is to be told of how it was made."""
    if arguments is None:
        return content, str(path), ()
    made, warned = expansion.expanded(path, arguments)
    if _root(made) == b"mujoco":
        why = "is MJCF, which MuJoCo reads from a file: xacro FILE > FILE.xml, and import that"
        raise FileError(str(path), [Mistake("", why)])
    given = ", ".join(f"{name}:={value}" for name, value in arguments.items())
    note = f"expanded by xacro{f' with {given}' if given else ''}"
    return made, f"{path}, as xacro expands it", (note, *warned)


def _draft(path: Path, content: bytes, source: str, wished: _Wished, right_angles: bool) -> Draft:
    """A file's draft.

    Raises
    ------
    FileError
        With everything in it that cannot be represented.
    """
    closing, keyframe = wished.closing.replace("no", ""), wished.keyframe
    is_urdf = path.suffix in (".urdf", ".xacro", ".sdf") or _root(content) == b"robot"
    if _root(content) == b"sdf":
        draft = sdf.read(content, path.stem, right_angles)
    elif is_urdf:
        draft = urdf.read(content, path, right_angles, closing)
    else:
        draft = mjcf.read(path, wished.within, keyframe, wished.frictionless)
    draft.count_massless = wished.count_massless
    if keyframe is not None and draft.format != "MJCF":
        draft.refuse("keyframe", f"a {draft.format} file has none; leave it out")
    if right_angles and draft.format == "MJCF":
        draft.refuse("right_angles", "MuJoCo's angles are quaternions; leave it out")
    if wished.frictionless and draft.format != "MJCF":
        draft.refuse("frictionless", f"a {draft.format} file has none in balls; leave it out")
    if closing and draft.format != "URDF":
        draft.refuse("closing", f"a {draft.format} file has loops of its own; leave it out")
    if not draft.mistakes:
        settle(draft, wished.base)
        _note_angles(draft)
    if not draft.mistakes:
        pair_balls(draft, wished.repair)
        draft.has_merged = wished.merging and merge_stubs(draft)
        part_rods(draft)
    if draft.mistakes:
        raise FileError(source, draft.mistakes)
    draft.notes[:0] = wished.notes
    return draft


def _unmerged(
    path: Path, content: bytes, source: str, wished: _Wished, right_angles: bool
) -> Closed | None:
    """With all hinges and slides of stubs as the file has them, if it closes so: of a strut
    between two balls one of their hinges can be the coordinate that its spin needs, a ball's
    three values cannot."""
    plain = replace(wished, merging=False)
    draft = _draft(path, content, source, plain, right_angles)
    draft.notes.append(
        "links without inertia between joints stay bodies without mass: with one joint in their "
        "place it does not close, or no joint values determine the others"
    )
    again = lambda: _draft(path, content, source, plain, True)  # noqa: E731
    with suppress(FileError):  # nothing moves so: what was made with stubs merged stays
        made = closed(draft, str(path), wished.repair, again)
        return made if made.failure is None else None
    return None


def _note_angles(draft: Draft) -> None:
    """Say how many angles are nearly multiples of 90°, and how those are read as such."""
    if not (near := draft.nearly_right):
        return
    farthest = max(near, key=lambda name: near[name])
    draft.notes.append(
        f"{plural(len(near), 'angle')}, multiples of 90 deg as printed, taken as printed: the "
        f"farthest off is {farthest}, by {near[farthest]:.1e} rad; `import --right-angles` takes "
        f"all as multiples of 90 deg"
    )


def _no_robot(path: Path, content: bytes) -> str:
    """What a YAML file is, as a robot's."""
    node, _ = read(content.decode("utf-8", "replace"))
    if isinstance(node, Fields) and {"bodies", "joints"} & node.entries.keys():
        return f"is a mechanism file already; use it as it is: `basepar show {shell(str(path))}`"
    return "is YAML, and URDF and MJCF files are XML; name the robot's own file"


def _root(content: bytes) -> bytes:
    """Name of a file's first element; no byte is looked at twice, whatever stays open."""
    place = content.find(b"<")
    while place >= 0:
        if found := _ELEMENT.match(content, place):
            return found.group(1)
        for opening, closing in _SKIPPED:
            if content.startswith(opening, place):
                place = content.find(closing, place + len(opening))
                if place < 0:
                    return b""
                break
        place = content.find(b"<", place + 1)
    return b""
