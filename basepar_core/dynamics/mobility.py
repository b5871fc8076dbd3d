"""Degrees of freedom of an assembled mechanism, and why they are not as many as coordinates.

A pose may be singular: there a mechanism has more degrees of freedom than anywhere near it. So
the count is repeated at poses nearby, to which the joints are closed anew.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.mechanism import IdleSpin, Mechanism, free_spins, joint_type
from basepar_core.texts import plural

from . import spatial
from .body_newton import Bodies, BodyNewton
from .coupling_findings import what_locks

#: Entries of the Jacobian are lengths and cosines of order one; this is far from both rounding
#: and design.
RANK = 1e-9
#: Poses nearby: how many, and how far (rad or m, of the body that moves most).
POSES, AWAY = 3, 0.05
#: A rate counts as independent if this share of it is not in those chosen before: first one that
#: leads far from where it is lost, then any that is more than rounding.
SHARES = (0.05, 1e-6)


def modes(newton: BodyNewton, at: Bodies) -> Array:
    """Twists of all bodies (unknown, freedom) that the joints allow at a pose; orthonormal."""
    jacobian = newton.equations(at)[1][:, newton.free]
    _, sigma, rows = np.linalg.svd(jacobian)
    rank = int((sigma > RANK).sum())
    found = np.zeros((newton.unknowns, len(newton.free) - rank))
    found[newton.free] = rows[rank:].T
    return found


def poses_nearby(newton: BodyNewton, at: Bodies) -> Iterator[Bodies]:
    """Closed poses that random motions lead to from a closed one."""
    rng, allowed = np.random.default_rng(0), modes(newton, at)
    for _ in range(POSES if allowed.size else 0):
        step = allowed @ rng.standard_normal(allowed.shape[1])
        turns, shifts = (AWAY / np.abs(step).max() * step).reshape(-1, 2, 3).swapaxes(0, 1)
        moved = at.copy()
        for body, (turn, shift) in enumerate(zip(turns, shifts, strict=True)):
            moved.R[body] = spatial.matrix(turn) @ moved.R[body]
            moved.p[body] += shift
        try:
            yield newton.solve(moved)
        except AssemblyError:  # another one is tried
            continue


def check_mobility(mechanism: Mechanism, newton: BodyNewton, at: Bodies) -> None:
    """As many coordinates as degrees of freedom at the assembled pose.

    Raises
    ------
    MechanismError
        There are more or fewer: names what turns idly, and says where the pose is singular.
    """
    freedom, count = modes(newton, at).shape[1], len(mechanism.coordinates)
    if freedom == count:
        return
    if not freedom:
        raise _locked(newton, at)
    nearby = [modes(newton, pose).shape[1] for pose in poses_nearby(newton, at)]
    named = ", ".join(mechanism.coordinates) or "none"
    if count in nearby and min(nearby) == count:
        raise MechanismError(
            f"{mechanism.name!r} is assembled at a singular pose: it has {freedom} degrees of "
            f"freedom there, and {count} at poses nearby, as many as coordinates ({named}). "
            f"State a pose away from it in `assembly`.",
            ["assembly"],
        )
    idle = free_spins(mechanism)
    text = (
        f"{mechanism.name!r} has {freedom} degree{'s' * (freedom != 1)} of freedom, but "
        f"{plural(count, 'coordinate')} {'is' if count == 1 else 'are'} named ({named})"
    )
    if idle and (rest := freedom - count - len(idle)) >= 0:
        others = f" Besides, name {plural(count + rest, 'joint value')}." if rest else ""
        raise MechanismError(
            f"{text}: {'; '.join(map(str, idle))}, and no other body moves with that. "
            f"{_remedy(mechanism, idle[0])}{others}",
            [f"joints.{name}" for one in idle for name in one.joints],
        )
    names = independent(newton, at, mechanism.coordinates)
    line = f": `coordinates: [{', '.join(names)}]`" if len(names) == freedom else ""
    raise MechanismError(
        f"{text}. Name exactly {plural(freedom, 'joint value')}{line}.",
        ["coordinates"],
    )


def _remedy(mechanism: Mechanism, spin: IdleSpin) -> str:
    """What leaves a spin undriven, exactly where no torque depends on it."""
    kinds = {joint.name: joint_type(joint.type) for joint in mechanism.joints}
    where = "Where mass lies on the line between the joints, or is of revolution about it, "
    if tubes := [name for name in spin.joints if not kinds[name].is_ball]:
        halves = next(one.bodies for one in mechanism.joints if one.name == tubes[0])
        return (
            f"{where}make {tubes[0]} prismatic, and write `form: slender` in "
            f"{' and '.join(halves)}; else make the two balls universal joints, with `axis` "
            f"across that line in these bodies."
        )
    return (
        f"{where}write `form: slender` in {' and '.join(spin.bodies)}; else make "
        f"{' or '.join(spin.joints)} a universal joint, with `axis` across that line in "
        f"{spin.bodies[-1]}."
    )


def independent(
    newton: BodyNewton, at: Bodies, preferred: Sequence[str] = (), avoided: Sequence[str] = ()
) -> list[str]:
    """Joint values whose rates are independent at a pose, in the order of the file; preferred ones
    are taken first, avoided ones last."""
    mechanism, allowed = newton.mechanism, modes(newton, at)
    units = sorted(_units(mechanism, avoided), key=lambda unit: not set(unit) & set(preferred))
    chosen: list[str] = []
    basis = np.zeros((0, allowed.shape[1]))
    for share in SHARES:
        for unit in units:
            if unit[0] in chosen or len(chosen) + len(unit) > allowed.shape[1]:
                continue
            rows = np.array([newton.value(name, at)[1] for name in unit]) @ allowed
            size = np.linalg.norm(rows, axis=1).max(initial=0.0)
            rest = rows - rows @ basis.T @ basis
            sigma = np.linalg.svd(rest, compute_uv=False)
            if size > RANK and sigma[-1] > share * size:
                chosen += unit
                basis = np.vstack([basis, np.linalg.qr(rest.T)[0].T])
    order = [name for joint in mechanism.joints for name in joint.values]
    return sorted(chosen, key=order.index)


def _units(mechanism: Mechanism, avoided: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Values that are coordinates together: a base's first, then those that are not avoided, a
    ball's last and only if need be."""
    kinds = [(joint_type(joint.type), joint.values) for joint in mechanism.joints]
    single = [name for kind, values in kinds if not kind.is_ball for name in values]
    yield from (values for kind, values in kinds if kind.is_free)
    yield from ((name,) for name in sorted(single, key=lambda name: name in avoided))
    yield from (values for kind, values in kinds if kind.is_ball and not kind.is_free)


class LockedError(MechanismError):
    """Nothing can move."""


def _locked(newton: BodyNewton, at: Bodies) -> LockedError:
    """Nothing can move, and every coupling holds where the joints close."""
    mechanism = newton.mechanism
    what, where = what_locks(mechanism)
    named = ", ".join(mechanism.coordinates) or "none"
    rows = newton.equations(at)[1]
    twice = len(rows) > np.linalg.matrix_rank(rows, tol=RANK)
    remedy = "Take out what is there twice" if twice else "Leave one of them out"
    return LockedError(
        f"{mechanism.name!r} cannot move at its assembly: its {what} leave no degree of "
        f"freedom, and {named} is to be driven. {remedy}.",
        where,
    )
