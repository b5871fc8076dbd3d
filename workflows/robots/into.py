"""A mechanism put into the robot's file that it comes from: what differs from it, and no more.

Bodies and joints are those of the file by name. Inertias, friction and frames of joints that
differ are written into its text; then the new text is read and held against the mechanism, so
that what the file cannot take is reported and never lost.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from basepar_core.dynamics import Model, kinematics
from basepar_core.errors import FileError, MechanismError, UsageError
from basepar_core.imported import Imported, Origin, read_file
from basepar_core.mechanism import GROUND, Mechanism, joint_type
from basepar_core.texts import plural

from . import into_mjcf, into_sdf, into_urdf
from .changes import CLOSE, Change, Changes, Force, same, same_inertia, shared
from .coupled_values import couplings_of
from .edited import Document
from .kinds import BASES
from .numbers import frames_of, gravity_of, inertias, laws_of, zero
from .parts import Joint, Law, Pose

#: Writers by the formats of imported files.
_WRITERS: Mapping[str, Callable[[Document, Changes, list[str]], None]] = {
    "URDF": into_urdf.write,
    "MJCF": into_mjcf.write,
    "SDF": into_sdf.write,
}


@dataclass(frozen=True)
class Renewed:
    """A robot's file with a mechanism put into it: its text, what was changed, and the text of the
    YAML file that closes its loops, if there is one beside the original."""

    format: str
    text: bytes
    notes: tuple[str, ...]
    companion: bytes = b""


def into(
    original: str | Path, model: Model, parameters: Mapping[str, float] | None = None
) -> Renewed:
    """A robot's file in which what differs from a mechanism is the mechanism's.

    Parameters
    ----------
    original
        A URDF, MJCF or SDF file.
    model
        At the geometry that is meant; its bodies and joints are those that `import` makes.
    parameters
        Inertial parameters and friction by name that take the place of the mechanism's, SI.

    Raises
    ------
    FileError
        The original cannot be read.
    UsageError
        The mechanism has other bodies or joints.
    MechanismError
        The file cannot take a change; names all of them.
    """
    path, given = Path(original), parameters or {}
    found, base = _read(path, model.mechanism)
    document = Document(path.read_bytes(), str(path))
    problems = _fixed(found.mechanism, model.mechanism)
    changes = _changes(found, model, given)
    _WRITERS[found.format](document, changes, problems)
    text = document.text
    if changes and not problems:
        with _copied(path, text) as copy:
            problems += _missed(read_file(copy, path.parent, base=base).mechanism, model, given)
    if problems:
        raise MechanismError(
            f"{path} cannot take {plural(len(problems), 'change')}: {'; '.join(problems)}. Leave "
            f"out what it cannot take, or write a new file by a dialect.",
            problems,
        )
    places = companions(path) if found.format == "URDF" else []
    closing = places[0].read_bytes() if places else b""
    return Renewed(found.format, text, tuple(changes.notes), closing)


def _read(path: Path, ours: Mechanism) -> tuple[Imported, str]:
    """The file with its base as the mechanism has it, and which that is."""
    found = read_file(path)
    base, differ = "auto", _differences(found.mechanism, ours)
    for other in BASES if differ else ():
        with suppress(FileError):
            again = read_file(path, base=other)
            if not _differences(again.mechanism, ours):
                return again, other
    if differ:
        listed = "; ".join(differ[:6])
        listed += f" and {len(differ) - 6} more" if len(differ) > 6 else ""
        remedy = "Name the file that it was imported from, or write a new file by a dialect"
        if hinges := _of_repair(found.mechanism, ours):
            remedy = (
                f"{' and '.join(hinges)}: two balls of the file, which `import --repair` reads as "
                f"one hinge, and which stay two without; a file is read here without. Make the "
                f"distances of their points agree in it, or write a new file by a dialect"
            )
        raise UsageError(
            f"{ours.name!r} is not what `basepar import` makes of {path}: {listed}. {remedy}.",
            [str(path)],
        )
    return found, base


def _of_repair(theirs: Mechanism, ours: Mechanism) -> list[str]:
    """Hinges that have the names of two balls of the file: a repair made them (decision 177)."""
    balls = [joint.name for joint in theirs.joints if joint_type(joint.type).is_ball]
    named = {f"{one}_{two}" for one, two in permutations(balls, 2)}
    return [joint.name for joint in ours.joints if joint.name in named and joint.name not in balls]


def _differences(theirs: Mechanism, ours: Mechanism) -> list[str]:
    """Bodies and joints that are not the same."""
    here, there = (
        {f"body {b.name}": "" for b in it.bodies}
        | {f"joint {j.name}": f"{j.type} of {' and '.join(j.bodies)}" for j in it.joints}
        for it in (theirs, ours)
    )
    told = [f"{one} is not in the file" for one in there if one not in here]
    told += [f"{one} is not in the mechanism" for one in here if one not in there]
    told += [
        f"{one} is {there[one]}, in the file {here[one]}"
        for one in here
        if there.get(one, here[one]) != here[one]
    ]
    return told


def _fixed(theirs: Mechanism, ours: Mechanism) -> list[str]:
    """What differs and is never put into a file."""
    found = []
    if np.abs(gravity_of(theirs) - gravity_of(ours)).max() > CLOSE:
        found.append("gravity")
    one, two = ({c.name: c for c in couplings_of(it)} for it in (theirs, ours))
    for name in sorted(one.keys() | two.keys()):
        if name not in one or name not in two or one[name] != two[name]:
            found.append(f"coupling {name}")
    return found


def _changes(found: Imported, model: Model, given: Mapping[str, float]) -> Changes:
    """What of the mechanism differs from the file's."""
    changes, origin = Changes(), found.origin
    theirs, ours = found.mechanism, model.mechanism
    before, after = inertias(theirs, {}), inertias(ours, given)
    for body, wanted in after.items():
        if not same_inertia(before[body], wanted):
            own, told = shared(origin.bodies[body], wanted)
            changes.inertias |= own
            changes.notes += [f"inertia of {', '.join(own)}", *filter(None, [told])]
    carried = {
        part.link: Pose(part.R, part.p) for parts in origin.bodies.values() for part in parts
    }
    joints = _joints(ours)
    for name, old in _joints(theirs).items():
        new, tie = joints[name], origin.joints[name]
        if not same(old, new):
            own_frames = (carried.get(tie.links[0], Pose()), carried.get(tie.links[1], Pose()))
            changes.joints.append(Change(old, new, tie, own_frames))
            changes.notes.append(f"joint {tie.name}")
    changes.forces = _forces(origin, theirs, ours, given)
    changes.notes += [f"friction of {value}" for value in changes.forces]
    changes.poses = _poses(origin, model, theirs)
    return changes


def _joints(mechanism: Mechanism) -> dict[str, Joint]:
    return {
        joint.name: Joint(joint.name, joint.type, (joint.bodies[0], joint.bodies[1]), frames)
        for joint, frames in zip(mechanism.joints, frames_of(mechanism), strict=True)
    }


def _forces(
    origin: Origin, theirs: Mechanism, ours: Mechanism, given: Mapping[str, float]
) -> dict[str, Force]:
    before, after = laws_of(theirs, {})[0], laws_of(ours, given)[0]
    found = {}
    for value in [*before, *(one for one in after if one not in before)]:
        old, new = before.get(value, Law()), after.get(value, Law())
        if old != new:
            it = ours.value(value)
            found[value] = Force(origin.joints[it.joint.name], it.place, new, old)
    return found


def _poses(origin: Origin, model: Model, theirs: Mechanism) -> dict[str, tuple[Pose, Pose]]:
    """Of all links in the ground at zero joint values, before and after."""
    seen = []
    for it in (theirs, model.mechanism):
        at = kinematics.poses(model.topology, kinematics.geometry(it, {}), zero(model)[:, None])
        places = {
            body.name: Pose(at.R[b][..., 0], at.p[b][..., 0]) for b, body in enumerate(it.bodies)
        }
        seen.append(places | {GROUND: Pose()})
    return {
        part.link: (
            seen[0][body].then(Pose(part.R, part.p)),
            seen[1][body].then(Pose(part.R, part.p)),
        )
        for body, parts in origin.bodies.items()
        for part in parts
    }


def _missed(read: Mechanism, model: Model, given: Mapping[str, float]) -> list[str]:
    """What is not in the new file as it is in the mechanism."""
    found = []
    one, two = inertias(read, {}), inertias(model.mechanism, given)
    found += [f"inertia of body {name}" for name in two if not same_inertia(one[name], two[name])]
    joints = [_joints(it) for it in (read, model.mechanism)]
    found += [f"joint {name}" for name, new in joints[1].items() if not same(joints[0][name], new)]
    laws = [laws_of(it, more)[0] for it, more in ((read, {}), (model.mechanism, given))]
    for value in sorted(laws[0].keys() | laws[1].keys()):
        found += laws[0].get(value, Law()).beyond(laws[1].get(value, Law()), value)
    return found


def companions(path: Path) -> list[Path]:
    """YAML files that are read with a URDF file, if they are there and close loops."""
    places = dict.fromkeys((path.with_suffix(".yaml"), path.with_name("robot.yaml")))
    return [one for one in places if one.is_file() and b"closed_loop" in one.read_bytes()]


@contextmanager
def _copied(path: Path, text: bytes) -> Iterator[Path]:
    """A new file beside the original, for files are named relative to it; companions with it."""
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix.lower() in (".xml", ".mjcf"):
            with tempfile.NamedTemporaryFile(suffix=path.suffix, dir=path.parent) as made:
                made.write(text)
                made.flush()
                yield Path(made.name)
            return
        copy = Path(folder) / path.name
        copy.write_bytes(text)
        for one in companions(path):
            shutil.copy(one, folder)
        yield copy
