"""Degrees of freedom of an assembled mechanism, and why they are not as many as coordinates.

A pose may be singular: there a mechanism has more degrees of freedom than anywhere near it; and
first-order motions may lead nowhere. So the count is repeated at poses nearby, to which the joints
are closed anew.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from basepar_core.errors import MechanismError
from basepar_core.mechanism import (
    IdleSpin,
    Mechanism,
    are_too_many,
    free_spins,
    held_once,
    joint_to_add,
    joint_type,
)
from basepar_core.texts import plural

from .body_newton import Bodies, BodyNewton
from .coupling_findings import what_locks
from .finite_motions import (
    LOST,
    RANK,
    finite_freedoms,
    first_order_only,
    is_regular,
    modes,
    steps_nearby,
)
from .further_spins import further_spins
from .joint_loops import joint_loops

#: A rate counts as independent if this share of it is not in those chosen before: first one that
#: leads far from where it is lost, then any that is more than rounding.
SHARES = (0.05, 1e-6)


def check_mobility(mechanism: Mechanism, newton: BodyNewton, at: Bodies) -> None:
    """As many coordinates as degrees of freedom at the assembled pose and at poses nearby.

    Where the constraints are independent at the assembly, these are as many as there. Elsewhere
    poses nearby are looked at, and how far motions lead. Where no pose nearby closes there is
    nothing to look at, and the count at the assembly, of first order only, passes unverified; so
    does a motion from a pose nearby whose step does not close.

    Raises
    ------
    MechanismError
        There are more or fewer: names what turns idly or moves at first order only, and says where
        the pose is singular.
    """
    freedom, count = modes(newton, at).shape[1], len(mechanism.coordinates)
    if freedom == count and is_regular(newton, at):
        return
    if not freedom:
        raise _locked(newton, at)
    nearby = []
    for pose, lost in steps_nearby(newton, at):
        nearby.append(pose)
        if freedom == count == modes(newton, pose).shape[1] and lost < LOST:
            return  # overconstrained alike, and all motions lead on
    counts = [finite_freedoms(newton, pose) for pose in nearby] or [freedom]
    if freedom == count and count in counts:
        return
    if max(counts) < freedom and (shaky := first_order_only(newton, at)):
        raise _shaky(mechanism, freedom, max(counts), shaky)
    if max(counts) < freedom:
        pose = nearby[counts.index(max(counts))]
        raise _singular(mechanism, newton, pose, freedom, max(counts))
    raise _miscounted(mechanism, newton, at, nearby, freedom)


def _singular(
    mechanism: Mechanism, newton: BodyNewton, pose: Bodies, freedom: int, nearby: int
) -> MechanismError:
    """Of a pose where motions branch: what to write, seen from a pose nearby."""
    count, named = len(mechanism.coordinates), ", ".join(mechanism.coordinates) or "none"
    text = (
        f"{mechanism.name!r} is assembled at a singular pose: it has "
        f"{plural(freedom, 'degree')} of freedom there"
    )
    remedy = "State a pose away from it in `assembly`"
    if count == nearby:
        return MechanismError(
            f"{text}, and {nearby} at poses nearby, as many as coordinates ({named}). {remedy}.",
            ["assembly"],
        )
    names = independent(newton, pose, mechanism.coordinates)
    line = f": `coordinates: [{', '.join(names)}]`" if len(names) == nearby else ""
    return MechanismError(
        f"{text}, and {nearby} at poses nearby, but {plural(count, 'coordinate')} "
        f"{'is' if count == 1 else 'are'} named ({named}). {remedy}, and name exactly "
        f"{plural(nearby, 'joint value')}{line}.",
        ["coordinates", "assembly"],
    )


def _shaky(
    mechanism: Mechanism, freedom: int, finite: int, names: Sequence[str]
) -> MechanismError:
    """Of joints whose constraints are dependent where they stand, and let nothing move."""
    what = (
        f"{mechanism.name!r} moves at first order only at joint{'s' * (len(names) > 1)} "
        f"{', '.join(names)}: its constraints allow {plural(freedom, 'degree')} of freedom at its "
        f"assembly, of which {finite or 'none'} lead{'s' * (finite < 2)} to another pose"
    )
    remedy = (
        "Their constraints hold each other and have no finite motion: change lengths or axes so "
        "that they are mobile or rigid also at first order, or make one body of those that these "
        "joints join"
    )
    where = [f"joints.{name}" for name in names]
    return (MechanismError if finite else LockedError)(f"{what}. {remedy}.", where)


def _miscounted(
    mechanism: Mechanism, newton: BodyNewton, at: Bodies, nearby: Sequence[Bodies], freedom: int
) -> MechanismError:
    """More or fewer coordinates than degrees of freedom."""
    count, named = len(mechanism.coordinates), ", ".join(mechanism.coordinates) or "none"
    text = (
        f"{mechanism.name!r} has {plural(freedom, 'degree')} of freedom, but "
        f"{plural(count, 'coordinate')} {'is' if count == 1 else 'are'} named ({named})"
    )
    idle = (*free_spins(mechanism), *further_spins(newton, nearby))
    if idle and (rest := freedom - count - len(idle)) >= 0:
        others = f" Besides, name {plural(count + rest, 'joint value')}." if rest else ""
        return MechanismError(
            f"{text}: {'; '.join(map(str, idle))}, and no other body moves with that. "
            f"{_remedy(mechanism, idle[0])}{others}",
            [f"joints.{name}" for one in idle for name in one.joints],
        )
    names = independent(newton, at, mechanism.coordinates)
    line = f": `coordinates: [{', '.join(names)}]`" if len(names) == freedom else ""
    remedy = f"ame exactly {plural(freedom, 'joint value')}{line}."
    bodies = [body.name for body in mechanism.bodies]
    if freedom > count and (loose := held_once(bodies, mechanism.joints)):
        add = joint_to_add(loose, mechanism.planar)
        if not are_too_many(freedom, count, mechanism.planar):
            return MechanismError(
                f"{text}. N{remedy} Or is a joint missing? {add}.", ["coordinates", "joints"]
            )
        return MechanismError(f"{text}. Is a joint missing? {add}; or n{remedy}", ["joints"])
    return MechanismError(f"{text}. N{remedy}", ["coordinates"])


def _remedy(mechanism: Mechanism, spin: IdleSpin) -> str:
    """What leaves a spin undriven, exactly where no torque depends on it; else what drives it."""
    kinds = {joint.name: joint_type(joint.type) for joint in mechanism.joints}
    if spin.line is not None:
        held = [joint for joint in mechanism.joints if joint.name in spin.joints]
        if values := [one.values[-1] for one in held if kinds[one.name].turns == "z"]:
            return (
                f"Name {' or '.join(values)} in `coordinates` too, or take this turn away by a "
                f"joint that does not have it."
            )
        return (
            f"Take this turn away by a joint that does not have it in the place of "
            f"{' or '.join(spin.joints)}."
        )
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
    told = [_welds_in_loops(mechanism), "Take out what is there twice" if twice else ""]
    if len(mechanism.coordinates) > 1 or mechanism.couplings:
        told.append("" if twice else "Leave one of them out")
    remedies = "".join(f" {one}." for one in told if one) or (
        " Give a joint of a loop the type that has one freedom more."
    )
    return LockedError(
        f"{mechanism.name!r} cannot move at its assembly: its {what} leave no degree of "
        f"freedom, and {named} is to be driven.{remedies}",
        where,
    )


def _welds_in_loops(mechanism: Mechanism) -> str:
    """That fixed joints stand in loops, where bodies turn most often; nothing without them."""
    closing = frozenset[int]().union(*joint_loops(mechanism))
    kinds = {k: joint for k, joint in enumerate(mechanism.joints) if k in closing}
    welds = [joint.name for joint in kinds.values() if not joint.values]
    if not welds:
        return ""
    one = len(welds) == 1
    return (
        f"The fixed joint{'' if one else 's'} {' and '.join(welds)} "
        f"({'a weld' if one else 'welds'}) {'is in a loop' if one else 'are in loops'}: "
        f"`type: revolute` if {'it turns' if one else 'they turn'}"
    )
