"""Motions of an assembled mechanism: those its joints allow at first order, and how far they lead.

At first order motions are the null space of the constraints' Jacobian. Where its rows are
independent they are all motions there are (implicit function theorem). Elsewhere some may lead
nowhere: then a finite step along them, and the joints closed anew, comes back.
"""

from collections.abc import Iterator

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.mechanism import joint_type

from . import joint_rates, joints, spatial
from .body_newton import Bodies, BodyNewton, ends

#: Entries of the Jacobian are lengths and cosines of order one; this is far from both rounding
#: and design.
RANK = 1e-9
#: Independent beyond doubt: steps that come back end up to 1e-5 from where they are dependent.
CLEARLY = 1e-5
#: Poses nearby: how many, and how far (rad or m, of the body that moves most), nearer ones where
#: loops do not follow.
POSES, AWAY = 3, (0.05, 0.0125, 0.003)
#: Steps that tell from a pose which motions lead on: curvature takes a hundredth off, and what
#: leads nowhere comes back to 2e-5 at worst (a triple root, closed to 1e-11).
FINE = 0.01
#: Share of a step that a motion keeps: of one that leads on nearly all, of others none.
KEPT = 0.3
#: Share of a random step that may get lost where all motions lead on: the second order of `AWAY`.
LOST = 0.01
#: Share of its first-order rate that a joint may move by along finite steps and yet stand still:
#: the longest step times curvatures.
STILL = 0.2


def modes(newton: BodyNewton, at: Bodies) -> Array:
    """Twists of all bodies (unknown, freedom) that the joints allow at a pose; orthonormal."""
    return _modes(newton, at)[0]


def _modes(newton: BodyNewton, at: Bodies) -> tuple[Array, bool]:
    """Those twists, and whether the constraints are clearly independent."""
    jacobian = newton.equations(at)[1][:, newton.free]
    _, sigma, rows = np.linalg.svd(jacobian)
    rank = int((sigma > RANK).sum())
    found = np.zeros((newton.unknowns, len(newton.free) - rank))
    found[newton.free] = rows[rank:].T
    return found, rank == len(jacobian) and bool(sigma.min(initial=1.0) > CLEARLY)


def is_regular(newton: BodyNewton, at: Bodies) -> bool:
    """Whether constraints are independent, so that all first-order motions are finite ones."""
    return _modes(newton, at)[1]


def poses_nearby(newton: BodyNewton, at: Bodies) -> Iterator[Bodies]:
    """Closed poses that random motions lead to from a closed one."""
    return (pose for pose, _ in steps_nearby(newton, at))


def steps_nearby(newton: BodyNewton, at: Bodies) -> Iterator[tuple[Bodies, float]]:
    """Those poses, and the share of the step's first-order motion that got lost on the way."""
    rng, allowed = np.random.default_rng(0), modes(newton, at)
    for _ in range(POSES if allowed.size else 0):
        way = rng.standard_normal(allowed.shape[1])
        for size in AWAY:
            step = allowed @ way
            share = size / np.abs(step).max()
            pose = _moved(newton, at, share * step)
            if pose is not None:
                went = allowed.T @ _displacement(at, pose) / share
                yield pose, float(np.linalg.norm(went - way) / np.linalg.norm(way))
                break


def finite_freedoms(newton: BodyNewton, at: Bodies) -> int:
    """How many independent motions lead away from a pose.

    A step that is closed by least changes is projected onto the motions that lead on, so that the
    steps along all modes have as many singular values near one as there are such motions; others
    are near zero.
    """
    allowed, regular = _modes(newton, at)
    count = allowed.shape[1]
    if regular or not count:
        return count
    columns = []
    for mode in allowed.T:
        step = FINE / np.abs(mode).max() * mode
        pose = _moved(newton, at, step)
        went = step if pose is None else _displacement(at, pose)  # unknown: as at first order
        columns.append(allowed.T @ went / np.linalg.norm(step))
    return int((np.linalg.svd(np.array(columns), compute_uv=False) > KEPT).sum())


def first_order_only(newton: BodyNewton, at: Bodies) -> tuple[str, ...]:
    """Joints that move at first order, and stand still on every finite way from a pose."""
    allowed, rng = modes(newton, at), np.random.default_rng(1)
    ways = [*np.eye(allowed.shape[1]), *rng.standard_normal((4, allowed.shape[1]))]
    went = []
    for step in (sign * allowed @ way for way in ways for sign in (1, -1)):
        short = AWAY[0] / np.abs(step).max() * step
        pose = _moved(newton, at, short)
        if pose is not None:
            went.append(_displacement(at, pose) / np.linalg.norm(short))
    if not went:
        return ()
    found = []
    for k, joint in enumerate(newton.mechanism.joints):
        rows = rates(newton, at, k)
        first, finite = (np.abs(rows @ x).max(initial=0.0) for x in (allowed, np.array(went).T))
        if first > RANK and finite < STILL * first:
            found.append(joint.name)
    return tuple(found)


def rates(newton: BodyNewton, at: Bodies, k: int) -> Array:
    """Rates of a joint's values by the bodies' twists (value, unknown); of a ball's rotation
    vector the angular velocity in its place."""
    joint = newton.mechanism.joints[k]
    X1, X2, P1, P2 = ends(newton.mechanism, newton.dims, k, at)
    if joint_type(joint.type).is_ball:
        ways = joints.speeds(joint.type, X1, X2)
    else:
        values = joints.values(joint.type, X1, X2, P2 - P1)
        ways = joint_rates.directions(joint.type, X1, X2, values)
    rows = [newton.row(joint, at, P2, about=about, along=along) for about, along in ways]
    return np.array(rows).reshape(-1, newton.unknowns)


def _moved(newton: BodyNewton, at: Bodies, step: Array) -> Bodies | None:
    """The closed pose next to a step's end; None where joints stay open."""
    moved = at.copy()
    for body, (turn, shift) in enumerate(step.reshape(-1, 2, 3)):
        moved.R[body] = spatial.matrix(turn) @ moved.R[body]
        moved.p[body] += shift
    try:
        return newton.solve(moved)
    except AssemblyError:
        return None


def _displacement(before: Bodies, after: Bodies) -> Array:
    """Rotation vectors and shifts of all bodies but the ground (unknown,)."""
    pairs = zip(before.R[:-1], after.R[:-1], before.p[:-1], after.p[:-1], strict=True)
    return np.concatenate([[*spatial.rotation_vector(S @ R.T), *(q - p)] for R, S, p, q in pairs])
