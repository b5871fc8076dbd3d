"""A mechanism from a file of another format, held against what it reads back to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from basepar_core.base import nominal_observation
from basepar_core.dynamics import prepare
from basepar_core.errors import (
    AssemblyError,
    BaseparError,
    FileError,
    MechanismError,
    Mistake,
    MotionError,
)
from basepar_core.files import loads
from basepar_core.mechanism import Mechanism
from basepar_core.texts import opened

from . import mjcf, urdf
from .draft import Draft
from .text import mechanism_text

#: Amplitudes of the excitation (rad) that are tried; trees can follow any.
AMPLITUDES = (1.0, 0.5, 0.25, 0.1, 0.03)
#: Where coordinates of closed loops begin (rad): zero is often where links lie flat on each other,
#: or out of reach.
AWAY = (Fraction(0), Fraction("0.3"), Fraction("-0.3"), Fraction("0.8"), Fraction("-0.8"))
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
        URDF or MJCF.
    notes, dropped
        What was changed, and what was left out: counts and kinds, `3 visual`.
    """

    text: str
    mechanism: Mechanism
    format: str
    notes: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def left_out(self) -> str:
        """What was left out, as a sentence; empty if nothing was."""
        listed = ", ".join(self.dropped)
        return f"left out of the {self.format} file: {listed}" if listed else ""


def read_file(path: str | Path, within: str | Path | None = None) -> Imported:
    """A mechanism from a URDF or MJCF file.

    Parameters
    ----------
    path
        The file.
    within
        A folder in which an MJCF file may name others (`include`, meshes); its own without.

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
    folder = None if within is None else Path(within)
    is_urdf = path.suffix in (".urdf", ".xacro", ".sdf") or _root(content) == b"robot"
    draft = urdf.read(content, path.stem) if is_urdf else mjcf.read(path, folder)
    if draft.mistakes:
        raise FileError(str(path), draft.mistakes)
    return _checked(draft, str(path))


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


def _checked(draft: Draft, source: str) -> Imported:
    """The text, read back and assembled, with an excitation that can be followed."""
    failure: BaseparError | None = None
    for away, amplitude in _tries(draft):
        fresh = Draft(**{**vars(draft), "notes": list(draft.notes)})
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
    raise failure


def _tries(draft: Draft) -> Iterator[tuple[Fraction, float]]:
    """Where coordinates begin, and amplitudes: trees begin at zero."""
    for away in AWAY if draft.coordinates else AWAY[:1]:
        for amplitude in AMPLITUDES:
            yield away, amplitude
