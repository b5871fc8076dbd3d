"""The section `joints`: frames in both bodies, their defaults, and what must hold exactly.

Axes of one joint have equal length as an identity in the symbols (prismatic and fixed joints:
their projected references too). Then the rotation from body to body is rational in the symbols,
which everything symbolic rests on.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.errors import ExpressionError
from basepar_core.expressions import ONE, UNITS, ZERO, Expression, cross, dot, multiply, subtract
from basepar_core.mechanism import CALLED, GROUND, JOINT_TYPES, Frame, Joint, Vector, joint_type
from basepar_core.symbolic import Identities

from . import remedies, vector_remedies
from .bare_numbers import warn_of_pitch
from .bars_without_length import warn_of_no_length
from .mechanism_keys import FREE, JOINT, SCREW
from .named_bodies import lacking_joints
from .reader import ORIGIN, Reading
from .yaml_nodes import Fields, Items, Node, Text

_UNIT_VECTORS: tuple[Vector, ...] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
_PLANAR_TYPES = tuple(name for name, one in JOINT_TYPES.items() if one.planar)
_SPATIAL_TYPES = tuple(name for name, one in JOINT_TYPES.items() if one.spatial)
#: Keys of `assembly` that are no joint values.
_TAKEN = {"bodies": "the poses", "points": "the places of joints and points"}
#: What other formats call a joint's two bodies, and the ground.
_ENDS = (("parent", "child"), ("body1", "body2"), ("from", "to"))
_GROUNDS = dict.fromkeys(("world", "World", "base", "fixed", "frame", "earth"), GROUND)
Pair = tuple[Vector, Vector]


def read_joints(reading: Reading, node: Node | None, bodies: Sequence[str]) -> tuple[Joint, ...]:
    """All joints in file order; those with an unreadable type are left out."""
    entries = reading.entries(node, "a mapping of joints, such as A: {type: revolute, …}")
    if entries is None:
        reading.unknown.add("joints")
    joints = []
    lacking = lacking_joints(node, bodies)
    for name, body in (entries or {}).items():
        joint = _joint(reading, name, body, bodies, lacking)
        if joint is None:
            reading.spoilt.update({name, *(f"{name}.{k}" for k in range(1, 7))})
        else:
            joints.append(joint)
    if entries and not reading.mistakes:
        warn_of_no_length(reading, joints, node)
    return tuple(joints)


def _joint(
    reading: Reading, name: str, node: Node, bodies: Sequence[str], lacking: str
) -> Joint | None:
    if name in _TAKEN:
        reading.mistake(node, f"{name!r} means {_TAKEN[name]} in `assembly`; rename the joint")
    else:
        reading.name(node, name, "joint")
    entries = reading.fields(node, JOINT, {"type": next(iter(JOINT_TYPES)), **_connected(node)})
    kind = _type(reading, entries.get("type"))
    connects = read_connects(reading, entries.get("connects"), bodies, lacking)
    _check_base(reading, node, entries, connects)
    at = points(reading, entries.get("at"))
    if kind is None:
        for key in ("axis", "reference"):
            _directions(reading, entries.get(key))
        return None
    _read_pitch(reading, name, node, entries)
    axes = _axes(reading, kind, node, entries.get("axis"))
    references = _references(reading, kind, node, entries.get("reference"), axes)
    if axes is None or references is None:
        return Joint(name, kind, connects, (Frame(ORIGIN, ORIGIN, ORIGIN),) * 2)
    _check_lengths(reading, kind, node, axes, references)
    first, second = (Frame(*f) for f in zip(at, axes, references, strict=True))
    return Joint(name, kind, connects, (first, second))


def _connected(node: Node) -> dict[str, str]:
    """What `connects` is where a joint names its bodies by two keys, as other formats do."""
    entries = node.entries if isinstance(node, Fields) else {}
    named = [one for pair in _ENDS for one in [[entries.get(key) for key in pair]] if all(one)]
    ends = [one.value.strip() for pair in named[:1] for one in pair if isinstance(one, Text)]
    return {"connects": f"[{', '.join(_GROUNDS.get(x, x) for x in ends)}]"} if ends else {}


def _type(reading: Reading, node: Node | None) -> str | None:
    kind = reading.choice(node, (*JOINT_TYPES, SCREW), "joint type", CALLED)
    allowed = (*_PLANAR_TYPES, FREE) if reading.planar else (*_SPATIAL_TYPES, SCREW)
    if kind is None or kind in allowed:
        meant = {SCREW: "cylindrical", FREE: "planar" if reading.planar else FREE}
        return meant.get(kind or "", kind)
    assert node is not None
    here, there = ("planar", "spatial") if reading.planar else ("spatial", "planar")
    reading.mistake(node, f"a {kind} joint is {there}; a {here} file has {', '.join(allowed)}")
    return None


def _check_base(
    reading: Reading, node: Node, entries: Mapping[str, Node], connects: tuple[str, str]
) -> None:
    """A free joint goes from the ground to the body that floats."""
    kind = entries.get("type")
    if not (isinstance(kind, Text) and kind.value.strip() == FREE) or "connects" not in entries:
        return
    if connects[0] != GROUND:
        floating = connects[0] if connects[1] == GROUND else connects[1]
        reading.mistake(
            entries.get("connects", node),
            f"a free joint goes from the ground to the body that floats; write "
            f"`connects: [{GROUND}, {floating}]`. Between two moving bodies it would lock "
            f"nothing: leave it out, and give each of them a free joint of its own",
        )


def _read_pitch(reading: Reading, name: str, node: Node, entries: Mapping[str, Node]) -> None:
    """A screw's pitch, noted for its coupling."""
    kind, pitch = entries.get("type"), entries.get("pitch")
    is_screw = isinstance(kind, Text) and kind.value.strip() == SCREW
    if is_screw and pitch is None:
        reading.mistake(node, "a screw needs its pitch in m per turn; write `pitch: 5 mm`")
    elif pitch is not None and not is_screw:
        reading.mistake(pitch, "only a screw has a pitch")
    elif pitch is not None:
        before = reading.count
        found = reading.geometric(pitch, UNITS["m"])[0]
        if reading.count > before or reading.dubious:
            return
        if not reading.at_nominal([found])[0]:
            reading.mistake(pitch, "a screw of pitch 0 cannot move; write `pitch: 5 mm`")
        else:
            reading.pitches[name] = found
            warn_of_pitch(pitch)


def read_connects(
    reading: Reading, node: Node | None, bodies: Sequence[str], lacking: str = ""
) -> tuple[str, str]:
    """The two bodies of a joint or spring; ground is one like any other.

    `lacking` is told of a body that is not there, as `lacking_joints` has it.
    """
    if isinstance(node, Items) and len(node.items) > 2:
        first, *others = map(remedies.written, node.items)
        pairs = ", ".join(f"[{first}, {other}]" for other in others)
        reading.mistake(
            node, f"two bodies are expected, not {len(node.items)}; write one each for {pairs}"
        )
        return GROUND, GROUND
    if isinstance(node, Items) and len(node.items) == 1:
        one = remedies.written(node.items[0])
        other = bodies[-1] if one == GROUND and bodies else one
        reading.mistake(node, f"two bodies are expected, as in [{GROUND}, {other}]")
        return GROUND, GROUND
    pair = reading.items(node, 2, "a pair of bodies")
    if node is None or pair is None:
        return GROUND, GROUND
    if "bodies" in reading.unknown:
        found = [reading.text(item, "the name of a body") for item in pair]
    else:
        known = (GROUND, *bodies)
        found = [reading.known(item, known, "body", _GROUNDS, lacking) for item in pair]
    if found[0] is not None and found[0] == found[1]:
        reading.mistake(node, f"connects {found[0]!r} with itself")
    return found[0] or GROUND, found[1] or GROUND


def points(reading: Reading, node: Node | None) -> Pair:
    """A pair of points, first body and second body; the origins where there is none."""
    pair = _pair(reading, node, "points")
    if pair is None:
        return ORIGIN, ORIGIN
    return reading.point(pair[0]), reading.point(pair[1])


def _pair(reading: Reading, node: Node | None, what: str) -> tuple[Node, ...] | None:
    """One vector for each body."""
    twice = what == "directions"
    remedy = "" if node is None else vector_remedies.pair(node, reading.planar, twice)
    if node is not None and remedy:
        reading.mistake(node, remedy)
        return None
    return reading.items(node, 2, f"a pair of {what}, first body and second body")


def _directions(reading: Reading, node: Node | None) -> Pair | None:
    """A pair of directions; None where they cannot be used (reported, unless there is none)."""
    before = reading.count
    pair = _pair(reading, node, "directions")
    if pair is None:
        return None
    found = reading.direction(pair[0]), reading.direction(pair[1])
    if reading.count > before:
        return None
    if reading.field is not None:
        for item, vector in zip(pair, found, strict=True):
            if _vanishes(reading.field, vector):
                reading.mistake(item, "this direction is zero")
            elif _vanishes_nominally(reading, vector):
                reading.mistake(item, "this direction is zero at the values of the symbols")
    return None if reading.count > before else found


def _axes(reading: Reading, kind: str, joint: Node, node: Node | None) -> Pair | None:
    if not reading.planar:
        return (_UNIT_VECTORS[2],) * 2 if node is None else _directions(reading, node)
    if "z" not in joint_type(kind).slides:
        if node is not None:
            reading.mistake(node, f"a planar {kind} joint has its axis along +z; leave it out")
        return (_UNIT_VECTORS[2],) * 2
    if node is None:
        reading.mistake(joint, "a planar prismatic joint needs `axis`, such as [[1, 0], [1, 0]]")
        return None
    return _directions(reading, node)


def _references(
    reading: Reading, kind: str, joint: Node, node: Node | None, axes: Pair | None
) -> Pair | None:
    if reading.planar and "z" in joint_type(kind).slides:
        if node is not None:
            reading.mistake(node, "a planar prismatic joint has no `reference`; leave it out")
        return (_UNIT_VECTORS[2],) * 2
    given = _directions(reading, node)
    field = reading.field
    if axes is None or field is None or (node is not None and given is None):
        return None
    found = given or (default_reference(field, axes[0]), default_reference(field, axes[1]))
    blamed = node.items if isinstance(node, Items) else (joint, joint)
    for item, axis, reference in zip(blamed, axes, found, strict=True):
        across = cross(axis, reference)
        if _vanishes(field, across):
            reading.mistake(item, "parallel to the joint's axis; take another direction")
        elif _vanishes_nominally(reading, across):
            what = "its reference" if given else "the default reference; give a `reference`"
            reading.mistake(item, f"at the values of the symbols the axis is along {what}")
            break
    return found


def default_reference(field: Identities, axis: Vector) -> Vector:
    """The first of x, y, z that is not parallel to the axis, as an identity in the symbols."""
    for direction in _UNIT_VECTORS[:2]:
        if not _vanishes(field, cross(axis, direction)):
            return direction
    raise ExpressionError("The axis is zero.")  # parallel to x and to y


def _vanishes(field: Identities, vector: Sequence[Expression]) -> bool:
    return all(field.is_zero(entry) for entry in vector)


def _vanishes_nominally(reading: Reading, vector: Sequence[Expression]) -> bool:
    # 1e-12 of a length near 1: rounding of the values, not a direction anyone means.
    return bool(np.linalg.norm(reading.at_nominal(vector)) < 1e-12)


def _check_lengths(reading: Reading, kind: str, node: Node, axes: Pair, references: Pair) -> None:
    field = reading.field
    if field is None:
        return
    squares = [dot(axis, axis) for axis in axes]
    if not field.is_zero(subtract(*squares)):
        reading.mistake(
            node,
            "the axes of the two bodies have different lengths; write them equally long as an "
            "identity in the symbols, if need be with a relation for an algebraic number",
        )
        return
    if joint_type(kind).rotations:
        return
    projected = [
        subtract(multiply(dot(r, r), square), multiply(dot(r, axis), dot(r, axis)))
        for r, axis, square in zip(references, axes, squares, strict=True)
    ]
    if not field.is_zero(subtract(*projected)):
        reading.mistake(
            node,
            "across the axis the references of the two bodies have different lengths, so their "
            "relative orientation is not rational in the symbols; give a `reference` pair of "
            "equal length, if need be with a relation for an algebraic number",
        )
