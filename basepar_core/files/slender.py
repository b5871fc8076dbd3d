"""Slender bodies: their line, inertia that fits it, and the spin that is left undriven.

Where slender bodies turn idly between two balls, the first of these is read as a universal joint:
it holds the spin, and no torque depends on how (decision 135).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.errors import MechanismError
from basepar_core.expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Number,
    add,
    cross,
    dot,
    evaluate,
    multiply,
    negate,
    subtract,
)
from basepar_core.mechanism import (
    JOINT_TYPES,
    Body,
    Frame,
    Joint,
    Line,
    Vector,
    idle_spins,
    line_of,
)

from . import remedies
from .reader import Reading
from .yaml_nodes import Fields, Items, Node, Text

#: What holds the spin of slender bodies: the type that turns about two axes.
HOLDS = next(name for name, one in JOINT_TYPES.items() if one.turns == "zz")
#: Share of a body's size by which its mass may be off the line: rounding of what a file computes.
OFF = 1e-9
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
#: Keys of a body that have an entry for each axis, and for each pair of them.
_OF_AXES = {3: ("centre", "first_moment"), 6: ("inertia", "central_inertia")}
_UNITS: tuple[Vector, ...] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


def read_slender(
    reading: Reading, top: Mapping[str, Node], bodies: Sequence[Body], joints: Sequence[Joint]
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies and joints with what follows for those that are slender.

    Parameters
    ----------
    reading
        Of the file.
    top
        Its sections.
    bodies, joints
        As they stand in it.
    """
    entries = _entries(top, "bodies")
    lines: dict[str, tuple[Vector, Vector]] = {}
    slender = [one.name for one in bodies if one.form == "slender"]
    for body in slender:
        found = _line(reading, entries[body], body, joints, slender)
        if found is not None:
            lines[body] = found
    if not lines or len(lines) < len(slender):
        return tuple(bodies), tuple(joints)
    tries = 1 if "relations" in top else 3  # an algebraic number has no other value of its own
    wrong = {".".join(one.path.split(".")[:2]) for one in reading.mistakes}
    kept = [
        _fitted(reading, entries[body.name], body, lines[body.name], tries)
        if body.name in lines and body.parameters and f"bodies.{body.name}" not in wrong
        else body
        for body in bodies
    ]
    return tuple(kept), tuple(_held(reading, top, bodies, joints, lines))


def check_attached(
    reading: Reading,
    top: Mapping[str, Node],
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    attached: Iterable[tuple[str, str, str, Vector]],
) -> None:
    """Report what acts on a slender body, or is looked at, elsewhere than on its line.

    Parameters
    ----------
    reading, top, bodies, joints
        As `read_slender` has and gives them.
    attached
        Sections, names in them, bodies and points there.
    """
    if reading.mistakes or reading.field is None:
        return
    slender = {body.name for body in bodies if body.form == "slender"}
    types = [(one.name, one.type, one.bodies) for one in joints]
    for section, name, body, point in attached:
        if body not in slender:
            continue
        start, end, slides = _ends(line_of(body, types, slender), joints)
        d = end.axis if slides else _minus(end.at, start.at)
        if not all(reading.field.is_zero(x) for x in cross(_minus(point, start.at), d)):
            reading.mistake(
                _entries(top, section)[name],
                f"its point is off the line of slender {body!r}, which turns about that as it "
                f"likes; take a point on the line",
            )


def _entries(top: Mapping[str, Node], section: str) -> Mapping[str, Node]:
    node = top.get(section)
    return node.entries if isinstance(node, Fields) else {}


def _ends(line: Line, joints: Sequence[Joint]) -> tuple[Frame, Frame, bool]:
    start, end = (joints[k].frames[side] for k, side in (line.start, line.end))
    return start, end, line.slides


def _line(
    reading: Reading, node: Node, body: str, joints: Sequence[Joint], slender: Collection[str]
) -> tuple[Vector, Vector] | None:
    """A point of its line and a direction; None where it has none (reported, or in doubt)."""
    if reading.unknown & {"joints", "bodies"} or reading.spoilt or reading.field is None:
        return None
    try:
        line = line_of(body, [(one.name, one.type, one.bodies) for one in joints], slender)
    except MechanismError as error:
        reading.mistake(node, error.message)
        return None
    start, end, _ = _ends(line, joints)
    apart = _minus(end.at, start.at)
    if not line.slides:
        if all(reading.field.is_zero(x) for x in apart):
            reading.mistake(node, "its two joints are at one point, and no line goes through them")
            return None
        return start.at, apart
    if not all(reading.field.is_zero(x) for x in cross(apart, end.axis)):
        ball, slide = (joints[k].name for k, _ in (line.start, line.end))
        reading.mistake(
            node,
            f"the axis of {slide} does not go through {ball}, as an identity in the symbols; a "
            f"slender body slides along its line",
        )
        return None
    return start.at, end.axis


def _minus(a: Vector, b: Vector) -> Vector:
    x, y, z = (subtract(p, q) for p, q in zip(a, b, strict=True))
    return (x, y, z)


# Inertia.


def _fitted(
    reading: Reading, node: Node, body: Body, line: tuple[Vector, Vector], tries: int
) -> Body:
    """The body without inertia about its line, which nothing feels; or what does not fit."""
    assert body.parameters is not None
    a, d = line
    rng = np.random.default_rng(0)
    names = list(reading.values)
    nominal = np.array(evaluate(list(reading.values.values()), {}), float)
    for k in range(tries):  # at the file's values, and where symbols have others
        sizes = nominal * (rng.uniform(0.9, 1.1, nominal.size) if k else 1)
        with np.errstate(all="ignore"):
            found = evaluate([*body.parameters, *a, *d], dict(zip(names, sizes, strict=True)))
        wrong, about = _misfit(np.array(found, float))
        if wrong:
            where = "" if k == 0 else "where symbols have other values, "
            remedy = _along_another(node, np.array(found, float)) if k == 0 else ""
            remedy = remedy or "leave `form` out, or correct it"
            reading.mistake(node, f"{where}{wrong}; {remedy}")
            return body
        if k == 0 and about:
            body = replace(body, parameters=_without_spin(body.parameters, a, d))
    return body


def _along_another(node: Node, numbers: np.ndarray) -> str:
    """What to write where a body is stated along another of its axes than the line."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        order = [0, 1, 2]
        order[i], order[j] = j, i
        pairs = [tuple(sorted((order[a], order[b]))) for a, b in _PAIRS]
        places = [_PAIRS.index((a, b)) for a, b in pairs]
        vector, tensor = numbers[1:4][order], numbers[4:10][places]
        if (
            not isinstance(node, Fields)
            or _misfit(np.concatenate([numbers[:1], vector, tensor, numbers[10:]]))[0]
        ):
            continue
        written = [
            f"{key}: [{', '.join(remedies.written(one.items[k]) for k in where)}]"
            for key, one in node.entries.items()
            for where in (order, places)
            if isinstance(one, Items) and key in _OF_AXES[len(where)]
        ]
        if written:
            return (
                f"with {'xyz'[i]} and {'xyz'[j]} exchanged all is along that line: write "
                f"`{', '.join(written)}`"
            )
    return ""


def _misfit(numbers: np.ndarray) -> tuple[str, bool]:
    """What is not of revolution about the line; and whether there is inertia about it."""
    phi, a, d = numbers[:10], numbers[10:13], numbers[13:]
    m, h = phi[0], phi[1:4]
    if not np.isfinite(numbers).all() or not m:
        return "", False
    J = np.zeros((3, 3))
    for (i, j), x in zip(_PAIRS, phi[4:], strict=True):
        J[i, j] = J[j, i] = x
    u, off = d / np.linalg.norm(d), h / m - a
    side = float(np.linalg.norm(off - (off @ u) * u))
    longest = max(float(np.linalg.norm(d)), float(np.linalg.norm(off)))
    if side > OFF * longest:
        return f"its centre of mass is {side:.4g} m off the line through its joints", False
    about_a = J - 2 * (h @ a) * np.eye(3) + np.outer(h, a) + np.outer(a, h)
    about_a += m * (a @ a * np.eye(3) - np.outer(a, a))
    along = float(u @ about_a @ u)
    mean = (np.trace(about_a) - along) / 2
    rest = about_a - along * np.outer(u, u) - mean * (np.eye(3) - np.outer(u, u))
    if np.abs(rest).max() > OFF * np.abs(about_a).max():
        return (
            f"its inertia is not of revolution about the line through its joints: off by "
            f"{np.abs(rest).max():.4g} kg m^2 of {np.abs(about_a).max():.4g}",
            False,
        )
    return "", abs(along) > OFF * np.abs(about_a).max()


def _without_spin(phi: Sequence[Expression], a: Vector, d: Vector) -> tuple[Expression, ...]:
    """Parameters less the inertia about the line."""
    m, *rest = phi
    h: Vector = (rest[0], rest[1], rest[2])
    n, shift = dot(d, d), dot(a, d)
    two = Number(Fraction(2))
    terms = [
        multiply(*((two,) if i != j else ()), x, d[i], d[j])
        for (i, j), x in zip(_PAIRS, rest[3:], strict=True)
    ]
    arm = subtract(multiply(dot(h, d), shift), multiply(dot(h, a), n))
    square = subtract(multiply(dot(a, a), n), multiply(shift, shift))
    total = add(*terms, multiply(two, arm), multiply(m, square))
    share = Call("/", (total, multiply(n, n)))
    left = (
        x if _is_zero(d[i], d[j]) else subtract(x, multiply(share, d[i], d[j]))
        for (i, j), x in zip(_PAIRS, rest[3:], strict=True)
    )
    return (m, *h, *left)


def _is_zero(*factors: Expression) -> bool:
    return any(x in (ZERO, negate(ZERO)) for x in factors)


# The spin.


def _held(
    reading: Reading,
    top: Mapping[str, Node],
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    lines: Mapping[str, tuple[Vector, Vector]],
) -> Iterator[Joint]:
    """Joints, one ball of every idle group of slender bodies a universal joint."""
    holding = {}
    for spin in idle_spins([body.name for body in bodies], joints):
        driven = [name for name in spin.joints if _named(top.get("coordinates"), name)]
        if driven or not all(name in lines for name in spin.bodies):
            continue
        stated = _entries(top, "assembly")
        free = [n for n in spin.joints if not any(x.startswith(f"{n}.") for x in stated)]
        holding[(free or spin.joints)[0]] = set(spin.bodies)
    for joint in joints:
        if joint.name in holding:
            side = 0 if joint.bodies[0] in holding[joint.name] else 1
            yield _holding(reading, joint, side, *lines[joint.bodies[side]])
        else:
            yield joint


def _named(node: Node | None, joint: str) -> bool:
    """Whether values of a joint are among the coordinates."""
    items = node.items if isinstance(node, Items) else ()
    return any(isinstance(x, Text) and x.value.strip().startswith(f"{joint}.") for x in items)


def _holding(reading: Reading, joint: Joint, side: int, a: Vector, d: Vector) -> Joint:
    """A ball as a universal joint whose axis in the slender body is across its line."""
    assert reading.field is not None
    field = reading.field
    frames = list(joint.frames)
    square = [k for k, e in enumerate(_UNITS) if field.is_zero(dot(e, d))]
    if square:
        axis, reference = _UNITS[square[0]], _UNITS[(square[0] + 1) % 3]
    else:  # the longest of those across the line and one of the body's axes
        across = [cross(d, e) for e in _UNITS]
        axis, reference = (
            max(across, key=lambda v: float(np.linalg.norm(reading.at_nominal(v)))),
            d,
        )
    frames[side] = Frame(joint.frames[side].at, axis, reference)
    return replace(joint, type=HOLDS, frames=(frames[0], frames[1]), holds=joint.frames)
