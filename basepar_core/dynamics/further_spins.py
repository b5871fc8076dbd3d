"""Bodies that turn about a line fixed in them and move nothing else, found from the Jacobian.

A rod between two balls is read off the graph (`mechanism.idle_spins`). Others are seen at poses
nearby: bodies that are joined to each other have one twist that all constraints allow, the other
bodies at rest; it is a rotation, and its axis is the same line of them at every pose.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import GROUND, IdleSpin, Mechanism, free_spins, joint_type

from .body_newton import Bodies, BodyNewton
from .finite_motions import RANK, rates

#: Most bodies that are looked for together.
MOST = 3
#: Two axes of one body are one line: rad, or m.
SAME = 1e-7
#: Of a line that is reported; poses are closed to 1e-11.
DIGITS = 10


def further_spins(
    newton: BodyNewton, nearby: Sequence[Bodies], driven: bool = False
) -> tuple[IdleSpin, ...]:
    """Idle spins besides those between two balls.

    Parameters
    ----------
    newton
        Without held coordinates.
    nearby
        Closed poses that are no special ones.
    driven
        Also spins that a coordinate states.
    """
    it = newton.mechanism
    taken = {name for spin in free_spins(it) for name in spin.bodies}
    if len(nearby) < 2:
        return ()
    rows = [_rows(newton, pose, driven) for pose in nearby]
    found = []
    for group in _groups(it):
        held = [one.name for one in it.joints if len({*one.bodies} & group) == 1]
        if taken & group or len(held) < 2:
            continue
        names = tuple(one.name for one in it.bodies if one.name in group)
        numbers = [it.body_index[name] for name in names]
        lines = [_line(newton, *pair, numbers) for pair in zip(rows, nearby, strict=True)]
        fixed = [line for line in lines if line is not None]
        if len(fixed) < len(lines) or any(_differ(fixed[0], line) for line in fixed[1:]):
            continue
        point, way = (np.round(x, DIGITS) + 0.0 for x in fixed[0][0])
        way *= np.sign(way[np.abs(way).argmax()])
        taken |= group
        line = tuple(map(float, point)), tuple(map(float, way + 0.0))
        found.append(IdleSpin(names, tuple(held), line))
    return tuple(found)


def _groups(it: Mechanism) -> Iterator[set[str]]:
    """Bodies for themselves, then with joints between them, as many as `MOST`."""
    loose = {name for one in it.joints if joint_type(one.type).is_free for name in one.bodies}
    names = [one.name for one in it.bodies if one.name not in loose]
    groups = [frozenset([name]) for name in names]
    for _ in range(MOST):
        yield from map(set, groups)
        grown = (
            group | {*one.bodies}
            for group in groups
            for one in it.joints
            if len({*one.bodies} & group) == 1 and GROUND not in one.bodies
        )
        groups = list(dict.fromkeys(one for one in grown if not one & loose))


def _rows(newton: BodyNewton, at: Bodies, driven: bool) -> Array:
    """Constraints, and what coordinates state."""
    it = newton.mechanism
    rows = [newton.equations(at)[1]]
    if not driven:
        places = [(it.value(name).number, it.value(name).place) for name in it.coordinates]
        rows += [rates(newton, at, number)[[place]] for number, place in places]
    return np.vstack(rows)


def _line(
    newton: BodyNewton, rows: Array, at: Bodies, bodies: Sequence[int]
) -> list[tuple[Array, Array]] | None:
    """The axis of bodies that turn as one, in the frame of each: its point nearest to the origin,
    and its direction; None where they cannot move so, or in other ways too."""
    twists = np.zeros((newton.unknowns, 6))  # of twists about the first body's origin
    origin = at.p[bodies[0]]
    for body in bodies:
        twists[6 * body : 6 * body + 6] = np.eye(6)
        twists[6 * body + 3 : 6 * body + 6, :3] = np.cross(np.eye(3), at.p[body] - origin).T
    allowed = np.array([2, 3, 4] if newton.mechanism.planar else range(6))
    _, sigma, ways = np.linalg.svd(rows @ twists[:, allowed])
    null = np.zeros((6, len(allowed) - int((sigma > RANK).sum())))
    null[allowed] = ways[len(allowed) - null.shape[1] :].T
    twist = _rotation(null)
    if twist is None:
        return None
    way, v = twist
    through = origin + np.cross(way, v)
    found = []
    for body in bodies:
        d, c = at.R[body].T @ way, at.R[body].T @ (through - at.p[body])
        found.append((c - d * (c @ d), d))
    return found


def _rotation(null: Array) -> tuple[Array, Array] | None:
    """The rotation (unit vector, velocity of the origin) among one twist, or two of which one is
    a shift along its axis."""
    if not 1 <= null.shape[1] <= 2:
        return None
    _, sizes, mixed = np.linalg.svd(null[:3])
    if sizes[0] < SAME or (sizes[1:] > SAME).any():
        return None
    turn = null @ mixed[0]
    way, v = turn[:3] / sizes[0], turn[3:] / sizes[0]
    for k in range(1, null.shape[1]):
        shift = null[3:] @ mixed[k]
        if np.linalg.norm(np.cross(shift, way)) > SAME:
            return None
        v = v - way * (way @ v)
    return (way, v) if abs(way @ v) < SAME else None


def _differ(one: list[tuple[Array, Array]], other: list[tuple[Array, Array]]) -> bool:
    """Whether the lines of some body are different ones; they have no sense."""
    return any(
        np.abs(c - e).max() > SAME or np.linalg.norm(np.cross(d, f)) > SAME
        for (c, d), (e, f) in zip(one, other, strict=True)
    )
