"""A mechanism from a file of another format, held against what it reads back to."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random

from basepar_core.base import nominal_observation
from basepar_core.dynamics import independent_values, prepare
from basepar_core.errors import (
    AssemblyError,
    BaseparError,
    FileError,
    MechanismError,
    Mistake,
    MotionError,
)
from basepar_core.files import Fields, loads, read
from basepar_core.mechanism import Mechanism
from basepar_core.texts import opened, plural, shell

from . import mjcf, sdf, urdf
from .bases import settle
from .draft import Draft, merge, value_names
from .repair import repaired
from .text import mechanism_text

#: Amplitudes of the excitation (rad) that are tried; trees can follow any.
AMPLITUDES = (1.0, 0.5, 0.25, 0.1, 0.03)
#: Where coordinates of closed loops begin (rad): zero is often where links lie flat on each other,
#: or out of reach.
AWAY = (Fraction(0), Fraction("0.3"), Fraction("-0.3"), Fraction("0.8"), Fraction("-0.8"))
#: How far joint values of other starts are from zero: rad (m), one try each.
REACHES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0, 1.0)
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
    notes, dropped
        What was changed, and what was left out: counts and kinds, `3 visual`.
    failure
        Why it does not assemble, or cannot be moved as its excitation has it; None if it does.
    """

    text: str
    mechanism: Mechanism
    format: str
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
        m: loops that stay open are closed by the least change of dimensions, if no joint's point
        moves by more than this; the notes list the changes.
    right_angles
        Take angles that are multiples of 90° as printed, such as 1.57 and 1.5708, as such; the
        notes list them. Without, they are what they are, as simulators have them.
    closing
        How frames of a URDF file are held that are named as ends of loops and that no file beside
        it pairs: `fixed`, `spherical`, `revolute`, or `no`: they hold nothing.

    Raises
    ------
    FileError
        With everything in it that cannot be represented.
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
    folder = None if within is None else Path(within)
    closing = closing.replace("no", "")
    is_urdf = path.suffix in (".urdf", ".xacro", ".sdf") or _root(content) == b"robot"
    if _root(content) == b"sdf":
        draft = sdf.read(content, path.stem, right_angles)
    else:
        draft = (
            urdf.read(content, path, right_angles, closing)
            if is_urdf
            else mjcf.read(path, folder, keyframe)
        )
    if keyframe is not None and draft.format != "MJCF":
        draft.refuse("keyframe", f"a {draft.format} file has none; leave it out")
    if right_angles and draft.format == "MJCF":
        draft.refuse("right_angles", "MuJoCo's angles are quaternions; leave it out")
    if closing and draft.format != "URDF":
        draft.refuse("closing", f"a {draft.format} file has loops of its own; leave it out")
    if not draft.mistakes:
        settle(draft, base)
        _note_angles(draft)
    if draft.mistakes:
        raise FileError(str(path), draft.mistakes)
    return _checked(draft, str(path), repair)


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


def _checked(draft: Draft, source: str, tolerance: float) -> Imported:
    """The text, read back and assembled, with an excitation that can be followed; where there is
    none, what is open stands at the top."""
    draft = _repaired(draft, source, tolerance)
    failure: BaseparError | None = None
    try:
        _choose_coordinates(draft, source)
    except AssemblyError as error:
        failure = error
    for away, amplitude in () if failure else _tries(draft):
        fresh = _copied(draft)
        if away:
            fresh.notes.append(f"assembled with its coordinates at {float(away):g}: not at zero")
        text = mechanism_text(fresh, amplitude, away)
        mechanism = loads(text, source)
        try:
            model = prepare(mechanism)
            if model.topology.cuts or model.topology.couplings:
                nominal_observation(model)
        except (MotionError, AssemblyError, MechanismError) as error:
            failure = failure or error
            continue
        return Imported(text, mechanism, draft.format, tuple(fresh.notes), tuple(draft.dropped))
    assert failure is not None
    draft.notes.insert(0, f"OPEN, to be fixed by hand: {failure.message}")
    text = mechanism_text(draft, AMPLITUDES[-1])
    notes, dropped = tuple(draft.notes), tuple(draft.dropped)
    return Imported(text, loads(text, source), draft.format, notes, dropped, failure)


def _repaired(draft: Draft, source: str, tolerance: float) -> Draft:
    """The draft with dimensions changed by no more than a tolerance (m), if it closes only so."""
    for start in _starts(draft) if tolerance and _has_loops(draft) else ():
        trial = _started(draft, start)
        mechanism = loads(mechanism_text(_copied(trial), AMPLITUDES[0]), source)
        try:
            independent_values(mechanism)
            return draft
        except AssemblyError:
            found = repaired(trial, mechanism, tolerance)
        if found is None:
            continue
        with suppress(AssemblyError):
            independent_values(loads(mechanism_text(_copied(found), AMPLITUDES[0]), source))
            found.preferred = [*found.coordinates, *found.preferred]
            found.coordinates = []
            return found
    return draft


def _has_loops(draft: Draft) -> bool:
    return len(draft.connections) > len(merge(_copied(draft)).bodies)


def _started(draft: Draft, start: Mapping[str, Mapping[str, Fraction]]) -> Draft:
    """A draft that begins at these joint values, by joint, where it states none itself."""
    trial = _copied(draft)
    trial.connections = [
        replace(one, start={**start.get(one.name, {}), **one.start}) for one in draft.connections
    ]
    return trial


def _copied(draft: Draft) -> Draft:
    """The draft, with notes of its own to add to."""
    return Draft(**{**vars(draft), "notes": list(draft.notes)})


def _choose_coordinates(draft: Draft, source: str) -> None:
    """Of loops whose file does not say which joint values determine the others.

    Where loops stay open from the file's zeros, other starts are tried, and the values at which
    they close become those of the assembly.

    Raises
    ------
    FileError
        Nothing moves.
    AssemblyError
        A loop stays open.
    """
    coupled = draft.couplings or any(one.pitch for one in draft.connections)
    if draft.coordinates or not (_has_loops(draft) or coupled):
        return
    failure: AssemblyError | None = None
    for start in _starts(draft):
        trial = _started(draft, start)
        mechanism = loads(mechanism_text(trial, AMPLITUDES[0]), source)
        called = _called(draft, mechanism)
        preferred = [called[name] for name in draft.preferred if name in called]
        try:
            found = independent_values(mechanism, preferred)
        except AssemblyError as error:
            failure = failure or error
            continue
        if not found.count:
            hint = "; --right-angles may let it, see import --help" if draft.nearly_right else ""
            what = f"nothing moves: its loops leave no degree of freedom{hint}"
            where = Mistake("", what)
            raise FileError(source, [where])
        draft.coordinates += [theirs for theirs, ours in called.items() if ours in found.values]
        if start:
            _begin(draft, {theirs: found.at[ours] for theirs, ours in called.items()})
        return
    assert failure is not None
    raise failure


def _called(draft: Draft, mechanism: Mechanism) -> dict[str, str]:
    """Our joint values by the importer's names for them."""
    return {
        theirs: ours
        for one, joint in zip(draft.connections, mechanism.joints, strict=True)
        for theirs, ours in zip(value_names(one.name, one.kind), joint.values, strict=True)
    }


def _starts(draft: Draft) -> Iterator[dict[str, dict[str, Fraction]]]:
    """Joint values to begin from, by joint: the file's zeros, then random ones."""
    yield {}
    for seed, most in enumerate(REACHES):
        random = Random(seed)
        yield {
            one.name: {
                name: Fraction(round(random.uniform(-most, most), 3)).limit_denominator(1000)
                for name in value_names(one.name, one.kind)
            }
            for one in draft.connections
        }


def _begin(draft: Draft, values: dict[str, float]) -> None:
    """Assemble at these values, stated to a thousandth: Newton's method finds the rest."""
    draft.begin_at({name: Fraction(round(1000 * x), 1000) for name, x in values.items()})
    draft.notes.append(
        "its loops do not close from joint values of zero: assembled at the nearest branch of a "
        "random start, which `assembly` states; check that it is the one that is meant"
    )


def _tries(draft: Draft) -> Iterator[tuple[Fraction, float]]:
    """Where coordinates begin, and amplitudes: trees begin at zero."""
    for away in AWAY if draft.coordinates else AWAY[:1]:
        for amplitude in AMPLITUDES:
            yield away, amplitude
