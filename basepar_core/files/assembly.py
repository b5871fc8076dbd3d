"""Joint values by name: `coordinates`, `actuated` and `assembly`."""

from collections.abc import Mapping, Sequence

from basepar_core.expressions import UNITS, Expression, Unit, did_you_mean
from basepar_core.mechanism import Assembly, Joint, Point, Pose, joint_type

from .bare_numbers import warn_of_degrees_beside, warn_of_millimetres
from .drawn_poses import read_drawn
from .mechanism_keys import POSE
from .named_bodies import body_meant
from .reader import ORIGIN, Reading
from .welds import no_value_of_weld
from .yaml_nodes import Items, Node


def value_units(joints: Sequence[Joint]) -> dict[str, Unit]:
    """Every joint value's unit: m where it is a distance, else rad."""
    return {
        name: UNITS["m"] if k in joint_type(joint.type).lengths else UNITS["rad"]
        for joint in joints
        for k, name in enumerate(joint.values)
    }


def nameable(joints: Sequence[Joint]) -> dict[str, str]:
    """Words for joint values that may be coupled, and the values' names."""
    found: dict[str, str] = {}
    for joint in joints:
        shape = joint_type(joint.type)
        if shape.rotations > 1:
            continue
        found |= {value: value for value in joint.values}
        if len(joint.values) > 1:
            if len(shape.slides) == 1:
                found[f"{joint.name}.slide"] = joint.values[0]
            found[f"{joint.name}.angle"] = joint.values[-1]
    return found


def named_value(reading: Reading, node: Node, word: str, joints: Sequence[Joint]) -> str | None:
    """The joint value that a word names; None where it names none, which is reported."""
    word = reading.called.get(word, word)
    return word if _is_value(reading, node, word, joints) else None


def check_once(reading: Reading, entries: Mapping[str, Node]) -> None:
    """Report joint values that are given by both of their names, as `C.slide` and `C.1`."""
    for name, entry in entries.items():
        called = reading.called.get(name, name)
        if called != name and called in entries:
            reading.mistake(entry, f"{name!r} is given twice")


def _is_value(reading: Reading, node: Node, word: str, joints: Sequence[Joint]) -> bool:
    """Whether a word names a joint value; reported at the node if it does not."""
    values = [name for joint in joints for name in joint.values]
    if holds := [joint for joint in joints if joint.holds and word.startswith(f"{joint.name}.")]:
        reading.mistake(
            node,
            f"{holds[0].name!r} holds the idle spin of a slender body, and its values mean "
            f"nothing; name those of another joint, or poses of bodies",
        )
        return False
    if word in values or word in reading.spoilt or "joints" in reading.unknown:
        return word in values
    joint = next((joint for joint in joints if joint.name == word), None)
    if joint is None:
        hint = did_you_mean(word, values) or f"; there are {', '.join(values) or 'none'}"
        reading.mistake(node, f"no joint value is named {word!r}{hint}")
    elif joint.values:
        listed = ", ".join(joint.values)
        reading.mistake(node, f"the {joint.type} joint {word!r} has several values: {listed}")
    else:
        reading.mistake(node, no_value_of_weld(reading, node, joint))
    return False


def read_coordinates(
    reading: Reading, node: Node | None, joints: Sequence[Joint]
) -> tuple[str, ...]:
    """Names of joint values, each once; at least one."""
    before = reading.count
    reading.coordinates = node
    found = _value_names(reading, node, joints)
    if isinstance(node, Items) and not node.items:
        reading.mistake(node, "a mechanism moves; name at least one joint value")
    if reading.count > before or not found:
        reading.unknown.add("coordinates")
    return found


def _value_names(reading: Reading, node: Node | None, joints: Sequence[Joint]) -> tuple[str, ...]:
    items = reading.items(node, None, "a list of joint values") or ()
    found: list[str] = []
    for item in items:
        word = reading.text(item, "the name of a joint value")
        if word is None:
            continue
        if reading.called.get(word, word) in found:
            reading.mistake(item, f"{word!r} is given twice")
        elif value := named_value(reading, item, word, joints):
            found.append(value)
    return tuple(found)


def read_actuated(
    reading: Reading, node: Node | None, joints: Sequence[Joint], coordinates: tuple[str, ...]
) -> tuple[str, ...]:
    """The joint values with motors; all coordinates where the file does not say.

    Others may be named too: rank, conditioning and reduction ask for no drives. Who needs torques
    of drives checks them.
    """
    return coordinates if node is None else _value_names(reading, node, joints)


def read_assembly(
    reading: Reading,
    node: Node | None,
    joints: Sequence[Joint],
    bodies: Sequence[str],
    points: Sequence[Point],
) -> Assembly:
    """Approximate joint values, poses and places of points; all may be incomplete."""
    entries = reading.entries(node, "a mapping of joint values, `bodies` and `points`") or {}
    check_once(reading, entries)
    units = value_units(joints)
    values: list[tuple[str, Expression]] = []
    angles: list[Node] = []
    poses: tuple[Pose, ...] = ()
    for name, entry in entries.items():
        if name == "bodies":
            poses = _poses(reading, entry, bodies)
        elif name != "points" and (value := named_value(reading, entry, name, joints)):
            values.append((value, reading.motion(entry, units[value])))
            warn_of_millimetres(entry, units[value])
            angles += [entry] * (units[value] == UNITS["rad"])
    warn_of_degrees_beside(angles)
    if "points" in entries:
        stated = [pose.body for pose in poses]
        drawn = read_drawn(reading, entries["points"], joints, points)
        poses += tuple(pose for pose in drawn if pose.body not in stated)
    return Assembly(tuple(values), poses)


def _poses(reading: Reading, node: Node, bodies: Sequence[str]) -> tuple[Pose, ...]:
    entries = reading.entries(node, "a mapping of bodies, such as hub: {at: […], rotation: […]}")
    poses = []
    for name, entry in (entries or {}).items():
        if name not in bodies and "bodies" not in reading.unknown:
            hint = body_meant(name, bodies) or f"; there are {', '.join(bodies)}"
            reading.mistake(entry, f"no body is named {name!r}{hint}")
        poses.append(_pose(reading, name, entry))
    return tuple(poses)


def _pose(reading: Reading, name: str, node: Node) -> Pose:
    entries = reading.fields(node, POSE, vector="at: «»")
    at = reading.fixed_point(entries.get("at"), UNITS["m"])
    if not reading.planar:
        return Pose(name, at, reading.fixed_point(entries.get("rotation"), UNITS["rad"]))
    angle = entries.get("rotation")
    if isinstance(angle, Items):
        items = reading.items(angle, 1, "one angle")
        angle = items[0] if items else None
    turn = reading.motion(angle, UNITS["rad"])
    return Pose(name, at, (ORIGIN[0], ORIGIN[1], turn))
