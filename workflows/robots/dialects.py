"""The dialects: which there are, what writes each, and a mechanism's file in one of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from basepar_core.dynamics import Model
from basepar_core.errors import MechanismError, UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.texts import plural

from . import extended, mjcf, sdf, urdf
from .coupled_values import has_couplings
from .numbers import robot_of
from .parts import Robot
from .rods import undriven, with_balls

#: Writers by dialect, with the endings of files that have it without being asked; what they make
#: is a file, or one with a companion.
Writer = Callable[[str, Robot, list[str], list[str]], str | tuple[str, str]]
_WRITERS: Mapping[str, tuple[Writer, tuple[str, ...]]] = {
    **dict.fromkeys(urdf.CLOSING, (urdf.write, (".urdf",))),
    "extended": (extended.write, (".urdf",)),
    "mjcf": (mjcf.write, (".xml", ".mjcf")),
    "sdf": (sdf.write, (".sdf",)),
}
DIALECTS = tuple(_WRITERS)


@dataclass(frozen=True)
class RobotFile:
    """A mechanism as a robot's file.

    Attributes
    ----------
    text
        Of the file.
    zeros
        Joint values of the mechanism where the file's are zero, rad or m; those that differ.
    notes
        What a reader of the file should know; it begins with them.
    companion
        Text of the YAML file beside it that closes its loops, in Extended URDF.
    """

    dialect: str
    text: str
    zeros: Mapping[str, float]
    notes: tuple[str, ...]
    companion: str = ""


def dialect_of(path: str | Path, model: Model) -> str:
    """The dialect of a file's ending; of URDF's the plainest that has the mechanism's loops.

    Raises
    ------
    UsageError
        An ending that no dialect has.
    """
    ending = Path(path).suffix.lower()
    for name, (_, endings) in _WRITERS.items():
        if ending in endings:
            return "urdf+" if name == "urdf" and model.topology.cuts else name
    known = sorted({one for _, endings in _WRITERS.values() for one in endings})
    raise UsageError(
        f"{path} ends in none of {', '.join(known)}. Name the file so, or give `dialect=`, one of "
        f"{', '.join(DIALECTS)}.",
        [str(path)],
    )


def robot_file(
    model: Model, dialect: str, parameters: Mapping[str, float] | None = None
) -> RobotFile:
    """A mechanism in a dialect.

    Parameters
    ----------
    model
        At the geometry that is meant.
    dialect
        One of `DIALECTS`.
    parameters
        Inertial parameters and friction by name that take the place of the file's, SI.

    Raises
    ------
    MechanismError
        The dialect cannot represent it: names everything, and the dialects that can.
    MissingDataError
        Bodies without inertia.
    UsageError
        There is no such dialect.
    """
    if dialect not in _WRITERS:
        hint = did_you_mean(dialect, DIALECTS) or f"; there are {', '.join(DIALECTS)}."
        message = f"There is no dialect {dialect!r}{hint}"
        raise UsageError(message, ["dialect="])
    problems, found = _written(model, dialect, parameters or {})
    if not problems:
        return found
    able = [one for one in DIALECTS if not _written(model, one, parameters or {})[0]]
    remedy = "No dialect can: take it out of the mechanism, or model it otherwise."
    if able:
        remedy = f"Write it as {' or '.join(able)}, or take it out of the mechanism."
    raise MechanismError(
        f"{dialect} cannot represent {plural(len(problems), 'part')} of {model.mechanism.name!r}: "
        f"{'; '.join(problems)}. {remedy}",
        problems,
    )


def _written(
    model: Model, dialect: str, parameters: Mapping[str, float]
) -> tuple[list[str], RobotFile]:
    moved = dialect in ("mjcf", "sdf") and has_couplings(model.mechanism)
    from_assembly = moved or bool(model.topology.cuts)
    stated = robot = robot_of(model, parameters, from_assembly)
    if dialect in ("mjcf", "sdf") and from_assembly:
        robot = with_balls(stated)
    zeros = {name: x for name, x in robot.zeros.items() if x}
    notes = [f"{robot.name}. Written by basepar.", *undriven(stated, robot)]
    if zeros and dialect != "mjcf":
        notes.append("Joint values count from the assembly, which in the mechanism's values is")
        notes += [
            f"{name} = {x!r} {model.mechanism.value(name).unit}" for name, x in zeros.items()
        ]
    problems: list[str] = []
    made = _WRITERS[dialect][0](dialect, robot, problems, notes)
    text, more = (made, "") if isinstance(made, str) else made
    zeros = zeros if dialect != "mjcf" else {}
    return problems, RobotFile(dialect, text, zeros, tuple(notes[1:]), more)
