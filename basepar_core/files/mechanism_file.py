"""The one place where a mechanism file becomes a `Mechanism`.

All mistakes of a file are raised together, each with its path and line.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from basepar_core.errors import FileError, Mistake
from basepar_core.expressions import UNITS, Expression
from basepar_core.mechanism import GROUND, Data, Joint, Mechanism, Vector, joint_type
from basepar_core.symbolic import Identities
from basepar_core.texts import text_of

from . import remedies, vector_remedies, yaml_nodes
from .assembly import nameable, read_actuated, read_assembly, read_coordinates, value_units
from .bare_inertias import warn_of_bare_inertias
from .bare_numbers import warn_of_gravity
from .bodies import read_bodies
from .couplings import read_couplings
from .drive_loads import read_motors, read_torques
from .force_laws import read_dampers, read_friction, read_springs
from .joints import read_joints
from .mechanism_keys import MECHANISM
from .motions import read_cycle, read_excitation, read_noise
from .motor_speeds import warn_of_speed_constants
from .pinned_twice import check_pinned_twice
from .points import read_points
from .reader import ORIGIN, Reading
from .relations import read_relations
from .shapes import read_shapes
from .shipped import library_names, library_path, not_found
from .slender import check_attached, read_slender
from .symbols import read_symbols
from .yaml_nodes import Fields, Items, Node, Text

_LONGEST_NAME = 100
_ACCELERATION = UNITS["m"] / UNITS["s"] ** 2


def load(source: str | Path) -> Mechanism:
    """Read a mechanism.

    Parameters
    ----------
    source
        A file, or the name of a shipped mechanism; a plain word is looked for there first.

    Raises
    ------
    FileError
        With all mistakes of the file.
    Warns
    -----
    UserWarning
        A bare angle above a full turn, most likely meant in degrees.
    """
    path = library_path(str(source)) if str(source) in library_names() else Path(source)
    try:
        text = text_of(path)
    except (FileNotFoundError, IsADirectoryError):
        raise not_found(str(source)) from None
    except OSError as error:
        raise FileError(str(source), [Mistake("", f"cannot be read: {error.strerror}")]) from None
    return loads(text, str(path))


def loads(
    text: str,
    source_name: str = "mechanism.yaml",
    recorded: Mapping[str, Data] | None = None,
    values: Mapping[str, Expression] | None = None,
) -> Mechanism:
    """A mechanism from a file's text.

    Parameters
    ----------
    text
        YAML (docs/mechanism-files.md).
    source_name
        What messages call it; data files are looked for beside it.
    recorded
        Motions by the entry that names their file, such as `cycle.file`: read already.
    values
        Of symbols and constants, SI, in the place of the text's; of algebraic numbers near them.

    Raises
    ------
    FileError
        With all mistakes of the text.
    """
    node, mistakes = yaml_nodes.read(text)
    if message := _names_another(node) or _no_mapping(node):
        raise FileError(source_name, [Mistake("", message)])
    reading = Reading(mistakes, Path(source_name).parent, recorded, values)
    mechanism = None if node is None else _mechanism(reading, node, text)
    if mechanism is None or reading.mistakes:
        ordered = sorted(reading.mistakes, key=lambda mistake: mistake.line or 0)
        raise FileError(source_name, ordered)
    return mechanism


def recorded_motions(mechanism: Mechanism) -> dict[str, Data]:
    """Motions of files by the entry that names the file, as `loads` takes them."""
    laws = mechanism.cycle.laws if mechanism.cycle else None
    sections = {"excitation.file": mechanism.excitation, "cycle.file": laws}
    return {path: motion for path, motion in sections.items() if isinstance(motion, Data)}


def _names_another(node: Node | None) -> str:
    """Of a file that names a mechanism where bodies should be, such as a sweep's: what it is."""
    entries = node.entries if isinstance(node, Fields) else {}
    given = [key for key in ("mechanism", "mechanisms") if key in entries]
    if not given or {"bodies", "joints"} & entries.keys():
        return ""
    named = entries[given[0]]
    it = f" ({named.value})" if isinstance(named, Text) else ""
    return (
        f"it has a section {given[0]!r} and no bodies: the file of a sweep or of a study. Give "
        f"the mechanism that it names{it}."
    )


def _no_mapping(node: Node | None) -> str:
    """Of a file without keys, such as a table of numbers: what is needed."""
    if node is None or isinstance(node, Fields):
        return ""
    return (
        "it has no keys, and a mechanism file begins with `name: …` (docs/mechanism-files.md). "
        "Where a record or table is given too, the mechanism is named before it"
    )


def _mechanism(reading: Reading, node: Node, text: str) -> Mechanism | None:
    top = reading.fields(node, MECHANISM, remedies.top_lines(node))
    reading.planar = _is_planar(reading, top)
    before = reading.count
    geometry, constants = read_symbols(reading, top.get("geometry"), top.get("constants"))
    geometry, relations = read_relations(reading, top.get("relations"), geometry, constants)
    if reading.count == before:
        reading.field = Identities(geometry, constants, relations)
    gravity = _gravity(reading, top.get("gravity"))
    bodies = read_bodies(reading, top.get("bodies"))
    names = [body.name for body in bodies]
    joints = read_joints(reading, top.get("joints"), names)
    stated = bodies
    bodies, joints = read_slender(reading, top, bodies, joints)
    if not _is_drawn(top.get("assembly")):  # where it is, the drawing tells more
        check_pinned_twice(reading, joints)
    reading.called = nameable(joints)
    reading.joint_values = tuple(name for joint in joints for name in joint.values)
    coordinates = read_coordinates(reading, top.get("coordinates"), joints)
    reading.freedom = _freedom(reading.planar, joints)
    couplings = top.get("couplings")
    reading.coupled = len(couplings.entries) if isinstance(couplings, Fields) else 0
    units = value_units(joints)
    points = read_points(reading, top.get("points"), joints, names)
    warn_of_bare_inertias(reading, top.get("bodies"), stated, joints, points)
    slots = {name: units[name] for name in coordinates}
    if "coordinates" in reading.unknown:
        slots = units  # whichever are meant, their entries can be read
    springs = read_springs(reading, top.get("springs"), joints, names)
    dampers = read_dampers(reading, top.get("dampers"), top.get("springs"), joints, names)
    attached = [
        (section, one.name, body, at)
        for section, some in (("springs", springs), ("dampers", dampers))
        for one in some
        for body, at in zip(one.bodies or (), one.points or (), strict=True)
    ]
    attached += [("points", one.name, one.body, one.at) for one in points]
    check_attached(reading, top, bodies, joints, attached)
    mechanism = Mechanism(
        name=_name(reading, top.get("name")),
        planar=reading.planar,
        gravity=gravity,
        bodies=bodies,
        joints=joints,
        coordinates=coordinates,
        couplings=read_couplings(reading, top.get("couplings"), joints),
        geometry=geometry,
        constants=constants,
        relations=relations,
        actuated=read_actuated(reading, top.get("actuated"), joints, coordinates),
        assembly=read_assembly(reading, top.get("assembly"), joints, names, points),
        excitation=read_excitation(reading, top.get("excitation"), slots),
        cycle=read_cycle(reading, top.get("cycle"), slots),
        noise=read_noise(reading, top.get("noise"), slots),
        friction=read_friction(reading, top.get("friction"), joints),
        springs=springs,
        dampers=dampers,
        motors=read_motors(reading, top.get("motors"), joints),
        torques=read_torques(reading, top.get("torques"), joints),
        points=points,
        shapes=read_shapes(reading, top.get("bodies"), top.get("shape"), (*geometry, *constants)),
        description=_description(reading, top),
        source=text,
    )
    if not reading.mistakes:
        warn_of_speed_constants(top, mechanism)
    return mechanism


def _is_planar(reading: Reading, top: Mapping[str, Node]) -> bool:
    """The kind of space; where it is not said, gravity tells, so that no vector is blamed."""
    space = reading.choice(top.get("space"), ("planar", "spatial"), "space", _SPACES)
    gravity = top.get("gravity")
    if space is None and isinstance(gravity, Items):
        return len(gravity.items) == 2
    return space == "planar"


#: What they are called elsewhere.
_SPACES = {"2d": "planar", "plane": "planar", "3d": "spatial", "space": "spatial"}


def _freedom(planar: bool, joints: Sequence[Joint]) -> int:
    """Degrees of freedom by the count of bodies and joints, at least; motions may be redundant."""
    free = 3 if planar else 6
    bodies = {body for joint in joints for body in joint.bodies} - {GROUND}
    return len(bodies) * free - sum(free - joint_type(joint.type).values for joint in joints)


def _is_drawn(assembly: Node | None) -> bool:
    """Whether an assembly has points."""
    return isinstance(assembly, Fields) and "points" in assembly.entries


def _gravity(reading: Reading, node: Node | None) -> Vector:
    size = 2 if reading.planar else 3
    if isinstance(node, Text) or (isinstance(node, Items) and len(node.items) != size):
        reading.mistake(node, vector_remedies.gravity(node, reading.planar))
        return ORIGIN
    warn_of_gravity(node)
    return reading.point(node, _ACCELERATION)


def _name(reading: Reading, node: Node | None) -> str:
    """The mechanism's: any text of one line."""
    name = reading.text(node, "a name") or ""
    if node is not None and (len(name) > _LONGEST_NAME or set(name) & set("\n\t")):
        reading.mistake(
            node, f"a name is one line of at most {_LONGEST_NAME} characters, without tabs"
        )
    return name


def _description(reading: Reading, top: Mapping[str, Node]) -> str:
    if "description" not in top:
        return ""
    return " ".join((reading.text(top["description"], "a text", 100_000) or "").split())
