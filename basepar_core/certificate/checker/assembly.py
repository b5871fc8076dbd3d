"""Whether a pose is of the branch that the file's assembly means: near what it says, in floats.

A pose that is far from it may be of that branch all the same; this does not decide it.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .expressions import Numbers
from .joints import KINDS
from .natural import Joint, Mechanism, cross, dot, less, plus, sized

#: How far a body may be turned from what the assembly says (rad), and moved, as a share of the
#: mechanism's size: approximate values that a drawing gives, not another branch.
TURNED, MOVED = 0.5, 0.5

Matrix = Sequence[Sequence[float]]
_IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def assembly_faults(
    given: Mapping[str, Any],
    mechanism: Mechanism,
    joints: Sequence[Joint],
    pose: Sequence[Fraction],
    angles: Mapping[str, Fraction],
) -> tuple[str, str]:
    """Why the pose is none of the mechanism's, and how far it is from the stated assembly.

    The first is empty if it is one, the second if it is near.

    Parameters
    ----------
    given
        The document's mechanism.
    joints
        Its joints at this geometry, in balls.
    pose
        Natural coordinates.
    angles
        Of couplings at the pose, whole turns included.
    """
    bodies = [_body(mechanism, pose, k) for k in range(len(mechanism.bodies))]
    bodies.append(((0.0, 0.0, 0.0), _IDENTITY))  # the ground is −1
    mirrored = [mechanism.bodies[k] for k in range(len(bodies) - 1) if _volume(bodies[k][1]) < 0]
    if mirrored:
        return f"{', '.join(mirrored)}: a mirror image", ""
    size = max([1e-3, *(math.hypot(*map(float, at)) for j in joints for at in j.at)])
    functions = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan")}
    plain = Numbers(float, {"pi": math.pi}, functions=functions)
    values = {name: plain.of(text) for name, text in given["assembly"]["values"].items()}
    for joint in joints:
        if _is_reversed(joint, bodies):
            return f"joint {joint.name} has an axis reversed, {math.pi:.3g} rad from its own", ""
    for joint in joints:
        turned, moved = _joint_error(joint, bodies, values)
        if turned > TURNED or moved > MOVED * size:
            return "", (
                f"joint {joint.name} is {turned:.3g} rad and {moved:.3g} m from the file's "
                f"assembly; allowed are {TURNED} rad and {MOVED * size:.3g} m"
            )
    for name, angle in angles.items():
        off = abs(float(angle) - values.get(name, float(angle)))
        if off > TURNED:
            return "", (
                f"the coupled angle {name} is {off:.3g} rad from the file's assembly; allowed are "
                f"{TURNED} rad"
            )
    for name, wanted in given["assembly"]["poses"].items():
        at, R = bodies[mechanism.number(name)]
        place = [plain.of(text) for text in wanted["at"]]
        towards = _rotation([plain.of(text) for text in wanted["rotation"]])
        turned = _angle(towards, R)
        moved = math.dist(at, place)
        if turned > TURNED or moved > MOVED * size:
            return "", (
                f"body {name} is {turned:.3g} rad and {moved:.3g} m from the file's assembly; "
                f"allowed are {TURNED} rad and {MOVED * size:.3g} m"
            )
    return "", ""


def _body(
    mechanism: Mechanism, pose: Sequence[Fraction], k: int
) -> tuple[Sequence[float], Matrix]:
    """Position and axes (columns as rows) of a body."""
    x = [float(v) for v in pose[k * mechanism.width : (k + 1) * mechanism.width]]
    if mechanism.planar:
        return (x[0], x[1], 0.0), ((x[2], x[3], 0.0), (-x[3], x[2], 0.0), (0.0, 0.0, 1.0))
    return tuple(x[:3]), (x[3:6], x[6:9], x[9:12])


def _volume(axes: Matrix) -> float:
    return float(dot(cross(axes[0], axes[1]), axes[2]))


def _seen(axes: Matrix, v: Sequence[Any]) -> list[float]:
    """A body's direction in the world."""
    x, y, z = (float(entry) for entry in v)
    return plus(plus(sized(x, axes[0]), sized(y, axes[1])), sized(z, axes[2]))


def _unit(v: Sequence[float]) -> list[float]:
    return sized(1 / math.sqrt(dot(v, v)), v)


Placed = Sequence[tuple[Sequence[float], Matrix]]


def _axes(joint: Joint, bodies: Placed) -> tuple[Matrix, Matrix]:
    """Axes of both joint frames, in the world."""
    one, two = (
        [_unit(_seen(bodies[k][1], axes[name])) for name in "xyz"]
        for k, axes in zip(joint.bodies, joint.axes, strict=True)
    )
    return one, two


def _is_reversed(joint: Joint, bodies: Placed) -> bool:
    """Whether the joint closes the wrong way round, which the equations do not see."""
    one, two = _axes(joint, bodies)
    free = KINDS[joint.kind].free
    opposed = free < 2 and dot(one[2], two[2]) < 0
    return opposed or (free == 0 and dot(one[0], two[0]) < 0)


def _joint_error(joint: Joint, bodies: Placed, values: Mapping[str, float]) -> tuple[float, float]:
    """Angle (rad) and distance (m) between a joint's second frame and where its values put it."""
    (p1, R1), (p2, R2) = (bodies[k] for k in joint.bodies)
    one, two = _axes(joint, bodies)
    offset = less(plus(p2, _seen(R2, joint.at[1])), plus(p1, _seen(R1, joint.at[0])))
    kind = KINDS[joint.kind]
    slides = len(kind.lengths)
    count = slides + kind.free
    names = [joint.name] if count == 1 else [f"{joint.name}.{k + 1}" for k in range(count)]
    if not any(name in values for name in names):
        return 0.0, 0.0
    along = [one["xyz".index(axis)] for axis in kind.lengths]
    # What is not stated may be anything: it is as found.
    seen = [dot(offset, axis) for axis in along] + _measured(kind.free, one, two)
    q = [values.get(name, x) for name, x in zip(names, seen, strict=True)]
    expected = [0.0, 0.0, 0.0]
    for axis, x in zip(along, q[:slides], strict=True):
        expected = plus(expected, sized(x, axis))
    moved = math.dist(offset, expected) if slides else 0.0
    if len(q) == slides:
        return 0.0, moved
    return _angle(_turned(kind.free, one, q[slides:]), two), moved


def _measured(free: int, one: Matrix, two: Matrix) -> list[float]:
    """Angles of a joint as it stands; a spherical joint's rotation vector is the shortest."""
    if free == 0:
        return []
    if free == 2:
        first = math.atan2(dot(one[1], two[2]), dot(one[0], two[2]))
        return [first, math.atan2(-dot(one[2], two[1]), dot(one[2], two[0]))]
    if free == 3:
        return _rotation_vector([[dot(axis, e) for e in one] for axis in two])
    return [math.atan2(dot(one[1], two[0]), dot(one[0], two[0]))]


def _turned(free: int, one: Matrix, q: Sequence[float]) -> Matrix:
    """Axes of the second joint frame at given angles."""
    if free == 3:
        local = _rotation(q)
    elif free == 2:
        # Zero: the second's z along the first's x, and the first's z along the second's x.
        zero = ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0))
        first = _rotation((0.0, 0.0, q[0]))
        local = _compose(_compose(first, zero), _rotation((0.0, 0.0, q[1])))
    else:
        local = _rotation((0.0, 0.0, q[-1]))
    return [_seen(one, axis) for axis in local]


def _compose(A: Matrix, B: Matrix) -> Matrix:
    return [_seen(A, axis) for axis in B]


def _rotation(r: Sequence[float]) -> Matrix:
    """Axes (as rows) after a rotation vector."""
    angle = math.hypot(*r)
    if angle == 0:
        return _IDENTITY
    n = sized(1 / angle, r)
    return [
        plus(
            plus(sized(math.cos(angle), e), sized(math.sin(angle), cross(n, e))),
            sized((1 - math.cos(angle)) * dot(n, e), n),
        )
        for e in _IDENTITY
    ]


def _rotation_vector(axes: Matrix) -> list[float]:
    """Inverse of `_rotation` up to π; there, of one of the two axes."""
    x, y, z = axes
    twice = [y[2] - z[1], z[0] - x[2], x[1] - y[0]]  # 2 n sin(angle)
    sine, cosine = math.hypot(*twice) / 2, (x[0] + y[1] + z[2] - 1) / 2
    if sine > 1e-9:
        return sized(math.atan2(sine, cosine) / (2 * sine), twice)
    if cosine > 0:
        return [0.0, 0.0, 0.0]
    # Half a turn: the columns of R + 1 are multiples of the axis.
    columns = [plus(axis, e) for axis, e in zip(axes, _IDENTITY, strict=True)]
    n = max(columns, key=lambda v: math.hypot(*v))
    return sized(math.pi / math.hypot(*n), n)


def _angle(A: Matrix, B: Matrix) -> float:
    """Angle of the rotation between two sets of axes."""
    trace = sum(dot(a, b) for a, b in zip(A, B, strict=True))
    return math.acos(max(-1.0, min(1.0, (trace - 1) / 2)))
