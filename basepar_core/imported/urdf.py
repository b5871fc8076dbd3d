"""URDF through its own parser (urdf_parser_py, extra `urdf`): trees, and URDF+'s loops.

Every link and joint is parsed by itself, so that all mistakes are found at once. The root link is
the ground; a child link's frame is its joint's, as URDF has it.
"""

import contextlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from basepar_core.errors import MissingDataError, Mistake
from basepar_core.expressions import did_you_mean

from .draft import NOTHING, Connection, Draft, End, Fixture, Inertia, Link
from .kinds import FIXED, OF_URDF, PLANAR, PRISMATIC, REVOLUTE
from .rationals import (
    ZERO,
    Pose,
    Vec,
    centre,
    decimal,
    direction,
    least_aligned,
    vector,
)
from .urdf_closures import connect
from .urdf_elements import audit
from .urdf_extended import Companion, beside, close, retype
from .urdf_gazebo import Places, read_joints, taken
from .urdf_loops import TAGS, loops
from .urdf_mimics import couple
from .urdf_plugins import mimics
from .urdf_plus import Extended, extend
from .urdf_rotors import drive, rotors
from .xacro import remedy
from .xml_text import parse

#: Roots of other formats, and what to do about them.
OTHERS = {
    "model": "; that is a part of SDF: put it into <sdf version='1.9'>",
    "gazebo": "; that is SDF of an old kind: gz sdf --convert FILE",
    "mujoco": "; that is MJCF: name the file .xml",
}
#: Entries of an inertia below this share of its largest are rounding of whoever wrote the file.
INERTIA_NOISE = 1e-15
#: Python's words for a text that is no number.
_NO_NUMBER = re.compile(r"could not convert string to float: (.+)")
GRAVITY = (Fraction(0), Fraction(0), Fraction("-9.81"))


def read(text: bytes, path: Path, right_angles: bool = False, closing: str = "") -> Draft:
    """A draft of a URDF file of some name, with the YAML file that closes its loops if there is
    one beside it; what it rejects is in `mistakes`.

    Parameters
    ----------
    right_angles
        See `Draft`.
    closing
        How frames are held that are named as ends of loops, see `urdf_named`.

    Raises
    ------
    MissingDataError
        The parser is not installed.
    """
    try:
        import lxml  # noqa: F401
        from urdf_parser_py import urdf
    except ImportError as error:
        raise MissingDataError(
            "Reading URDF needs urdf_parser_py. Install the extra: pip install 'basepar[urdf]'."
        ) from error
    draft = Draft(path.stem, "URDF", GRAVITY, right_angles=right_angles)
    root = parse(text)
    if isinstance(root, Mistake):
        draft.mistakes.append(root)
        return draft
    kind = root.tag.rpartition("}")[2]
    if kind != "robot":
        what = f"its root is <{kind}>, that of a URDF file is <robot>{OTHERS.get(kind, '')}"
        draft.refuse("", what, 1)
        return draft
    draft.name = root.get("name") or path.stem
    if any("xacro" in f"{node.prefix} {node.tag}" for node in root.iter()):
        draft.refuse("", remedy(path))
        return draft
    driven, more_joints = _driven(root), taken(root)
    mimics(draft, root)
    behind = rotors(root)
    audit(draft, root)
    more, ties = Extended.taken(draft, root), _taken(root, TAGS)
    companion = beside(draft, path)
    retype(companion, root)
    links = _parsed(draft, root, "link", urdf.Link)
    joints = _parsed(draft, root, "joint", urdf.Joint)
    for link, line in links:
        draft.links.append(Link(link.name, _inertia(draft, link, line)))
    _tree(draft, links, joints, len(joints) == len(root.findall("joint")))
    for joint, line in joints:
        _joint(draft, joint, line, companion)
    drive(draft, behind)
    couple(draft, joints)
    extend(draft, more, joints)
    loops(draft, ties, [link.name for link, _ in links])
    held = close(draft, companion, joints, closing)
    if more_joints or companion.cuts:
        # All has been said of these poses.
        quiet = Draft(draft.name, draft.format, draft.gravity, right_angles=right_angles)
        poses = [(joint, _pose(quiet, "", joint.origin, line)) for joint, line in joints]
        places = Places.of(draft, poses)
        read_joints(draft, more_joints, places)
        connect(draft, companion.cuts, places.place)
    closed = bool(ties or held or companion.cuts or more.loops or more_joints)
    if closed and not more.dependent:
        draft.preferred += driven
        draft.coordinates.clear()
    if not draft.mistakes and not draft.connections:
        draft.refuse("", "nothing moves: all joints are fixed")
    draft.notes.append("gravity is not part of URDF: 9.81 m/s^2 along −z of the root link")
    return draft


def _driven(root: Any) -> list[str]:
    """Joints that motors drive, as transmissions and ros2_control have them."""
    found = [node.get("name") for node in root.iterfind("transmission/joint")]
    for node in root.iterfind("ros2_control/joint"):
        if node.find("command_interface") is not None:
            found.append(node.get("name"))
    return list(dict.fromkeys(found))


def _taken(root: Any, tags: Sequence[str]) -> list[Any]:
    """Elements that URDF's own parser does not know, taken out of the tree."""
    found = [node for node in root if node.tag in tags]
    for node in found:
        root.remove(node)
    return found


def _parsed(draft: Draft, root: Any, tag: str, kind: Any) -> list[tuple[Any, int]]:
    """All links or joints with their lines; those that cannot be parsed are rejected."""
    from urdf_parser_py.xml_reflection.core import Path

    found: list[tuple[Any, int]] = []
    names: set[str] = set()
    for node in root.findall(tag):
        name, line = node.get("name"), node.sourceline
        where = f"{tag} {name!r}" if name else f"{tag} without a name"
        if name in names:
            draft.refuse(where, f"this name is given twice; rename one {tag}", line)
            continue
        names.add(name)
        bounds = node.find("limit") if tag == "joint" else None
        limits = None if bounds is None else (bounds.get("lower"), bounds.get("upper"))
        if bounds is not None:
            node.remove(bounds)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                made = kind.from_xml(node, Path(tag))
        except Exception as error:  # the parser raises whatever comes
            draft.refuse(where, f"cannot be read: {_reason(error, node)}", line)
            continue
        draft.notes += [f"{where}: {text}" for text in said.getvalue().splitlines() if text]
        made.bounds = limits
        found.append((made, line))
    return found


def _reason(error: BaseException, node: Any) -> str:
    """The parser's words; of a text in a number's place, which attribute has it."""
    inner = getattr(error, "e", None)
    if inner is not None:
        return _reason(inner, node)
    text = " ".join(str(error).split())
    if (found := _NO_NUMBER.fullmatch(text)) is None:
        return text
    holders = (
        f"{key} of <{part.tag}> = {value!r}"
        for part in node.iter()
        for key, value in part.attrib.items()
        if found[1] in map(repr, (value, *value.split()))
    )
    return f"{next(holders, found[1])} is no number"


def _numbers(
    draft: Draft, where: str, what: str, values: Sequence[float] | None, line: int
) -> Sequence[Any]:
    """Finite numbers, zeros where there are none."""
    if values is None:
        return (0.0, 0.0, 0.0)
    if not all(map(math.isfinite, values)):
        draft.refuse(where, f"{what} {list(values)} is not finite", line)
        return (0.0,) * len(values)
    return values


def _inertia(draft: Draft, link: Any, line: int) -> Inertia:
    where = f"link {link.name!r}"
    given = link.inertial
    if given is None:
        return NOTHING
    if given.mass is None or given.inertia is None:
        lacks = "mass" if given.mass is None else "inertia"
        draft.refuse(where, f"its inertial has no {lacks}; give both, or no inertial", line)
        return NOTHING
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    six = _numbers(draft, where, "inertia", [getattr(given.inertia, k) for k in keys], line)
    (mass,) = _numbers(draft, where, "mass", [float(given.mass)], line)
    if mass < 0:
        draft.refuse(where, f"its mass is {mass} kg; it must not be negative", line)
    origin = given.origin
    at = _numbers(draft, where, "xyz", origin.xyz if origin else None, line)
    pose = Pose(centre(at), _pose(draft, where, origin, line).turn)
    noise = INERTIA_NOISE * max(map(abs, six))
    central: Any = tuple(decimal(x if abs(x) > noise else 0.0) for x in six)
    return Inertia(decimal(mass), ZERO, central).seen_from(pose)


def _pose(draft: Draft, where: str, origin: Any, line: int) -> Pose:
    """An origin element."""
    if origin is None:
        return Pose()
    at = vector(_numbers(draft, where, "xyz", origin.xyz, line))
    angles = _numbers(draft, where, "rpy", origin.rpy, line)
    return Pose(at, draft.turned(where, angles)).short


def _tree(
    draft: Draft, links: list[tuple[Any, int]], joints: list[tuple[Any, int]], are_all: bool
) -> None:
    """One root, one parent for every other link, no circle.

    Where joints are missing that cannot be read, links seem to hang from nothing.
    """
    names = [link.name for link, _ in links]
    parents: dict[str, str] = {}
    for joint, line in joints:
        where = f"joint {joint.name!r}"
        for end in (joint.parent, joint.child):
            if end not in names:
                hint = did_you_mean(end, names) or f"; links are {', '.join(names[:8])}"
                draft.refuse(where, f"no link is named {end!r}{hint}", line)
        if joint.child in parents:
            draft.refuse(
                where,
                f"link {joint.child!r} hangs from {parents[joint.child]!r} already: URDF is of "
                f"trees. Import the tree, and write the joint that closes the loop into the "
                f"mechanism file",
                line,
            )
        parents.setdefault(joint.child, joint.parent)
    roots = [name for name in names if name not in parents]
    draft.ground = roots[:1]
    if len(roots) > 1 and are_all:
        listed = ", ".join(roots)
        draft.refuse("", f"several links hang from nothing: {listed}; join all but one to others")
    circular = [name for name in names if not _leads_to_root(name, parents)]
    if circular:
        draft.refuse("", f"joints run in a circle: {', '.join(circular)}")


def _leads_to_root(name: str, parents: dict[str, str]) -> bool:
    for _ in range(len(parents) + 1):
        if name not in parents:
            return True
        name = parents[name]
    return False


def _joint(draft: Draft, joint: Any, line: int, companion: Companion) -> None:
    where = f"joint {joint.name!r}"
    pose = _pose(draft, where, joint.origin, line)
    if retyped := companion.ends(draft, joint.name, line):
        kind, ends = retyped
        joint.type = kind
        if _friction(draft, joint, line):
            draft.refuse(where, f"it has damping or friction, and is {kind}", line)
        ends = ends[0].seen_from(pose), ends[1]
        links = joint.parent, joint.child
        draft.connections.append(Connection(joint.name, kind, links, ends))
        return
    if joint.type == FIXED:
        draft.fixtures.append(Fixture(joint.child, joint.parent, pose))
        return
    if joint.type == "floating":
        _base(draft, joint, pose, line)
        return
    axis = _axis(draft, where, joint, line)
    if axis is None:
        return
    child = End(ZERO, axis, least_aligned(axis))
    kind = OF_URDF[joint.type]
    if kind == PLANAR:
        draft.notes.append(f"{where}: moves in the plane across its axis, and turns about it")
        if any(_friction(draft, joint, line).values()):
            draft.refuse(
                where,
                "it has damping or friction, which URDF does not say of which of its three "
                "values; remove dynamics, and write friction into the mechanism file",
                line,
            )
    draft.connections.append(
        Connection(
            joint.name,
            kind,
            (joint.parent, joint.child),
            (child.seen_from(pose), child),
            friction=_friction(draft, joint, line) if kind != PLANAR else {},
            start=_start(_limits(joint)),
            limits=_limits(joint),
        )
    )


def _base(draft: Draft, joint: Any, pose: Pose, line: int) -> None:
    """A joint of type floating, from the root link to the base of what floats."""
    where = f"joint {joint.name!r}"
    if joint.parent not in draft.ground:
        draft.refuse(
            where,
            f"it hangs from {joint.parent!r}, and what floats hangs from the root link "
            f"({', '.join(draft.ground)}): make that its parent",
            line,
        )
        return
    if any(_friction(draft, joint, line).values()):
        draft.refuse(where, "it has damping or friction, which nothing can exert on it", line)
    draft.let_float(joint.name, (joint.parent, joint.child), pose)


def _axis(draft: Draft, where: str, joint: Any, line: int) -> Vec | None:
    """The axis of a joint that moves in a way that can be represented."""
    if joint.type not in OF_URDF:
        draft.refuse(
            where,
            f"a joint of type {joint.type!r} cannot be represented; a joint is one of fixed, "
            f"floating, {', '.join(OF_URDF)}",
            line,
        )
        return None
    given = _numbers(draft, where, "axis", joint.axis or (1.0, 0.0, 0.0), line)
    try:
        return direction(given)
    except ValueError:
        draft.refuse(where, "its axis is zero; give a direction, such as 0 0 1", line)
        return None


def _friction(draft: Draft, joint: Any, line: int) -> dict[str, dict[str, Fraction]]:
    if joint.dynamics is None:
        return {}
    stated = [joint.dynamics.damping or 0.0, joint.dynamics.friction or 0.0]
    given = _numbers(draft, f"joint {joint.name!r}", "dynamics", stated, line)
    kinds = ("viscous", "coulomb")
    found = {kind: decimal(value) for kind, value in zip(kinds, given, strict=True) if value}
    return {joint.name: found} if found else {}


def _limits(joint: Any) -> dict[str, tuple[float, float]]:
    """Of a joint that has some, least and most."""
    if joint.bounds is None or joint.type not in (REVOLUTE, PRISMATIC):
        return {}
    try:
        low, high = (float(x) if x is not None else 0.0 for x in joint.bounds)
    except ValueError:
        return {}
    return {joint.name: (low, high)} if low < high and not math.isinf(high - low) else {}


def _start(limits: Mapping[str, tuple[float, float]]) -> dict[str, Fraction]:
    """Zero, or the middle of the limits where these leave zero out."""
    return {
        name: (decimal(low) + decimal(high)) / 2
        for name, (low, high) in limits.items()
        if low > 0 or high < 0
    }
