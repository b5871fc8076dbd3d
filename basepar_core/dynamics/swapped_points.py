"""Joints whose two points stand in the wrong order: with them swapped the loops close."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.mechanism import Joint, Mechanism

from .body_newton import Bodies, BodyNewton, measure
from .kinematics import geometry

LaysOut = Callable[[Mechanism], tuple[BodyNewton, Bodies]]
#: rad, or a share of the larger of two lengths: who states values states them no rougher.
NEAR = 0.5
#: Of loops that close in both orders, values that are stated no rougher than this (6°) tell; with
#: the points swapped they are met so many times nearer.
_ROUGH, _BETTER = 0.1, 4.0


@dataclass(frozen=True, slots=True)
class SwappedPoints:
    """A joint whose points look swapped, by the stated value that is farthest off, `value`.

    `off` is how far, rad or a share of the larger of two lengths; `left` is how far `nearest`,
    the value that is then farthest off, is with the points swapped. `connects` are its bodies in
    the other order where that does as well: its axes are swapped too.
    """

    joint: str
    value: str
    off: float
    nearest: str
    left: float
    connects: tuple[str, ...] = ()


def advised(
    error: AssemblyError,
    mechanism: Mechanism,
    stated: Mapping[str, float],
    laid_out: LaysOut,
) -> AssemblyError:
    """The error of open loops, with the joint whose points are swapped where there is just one.

    Values that are stated beside the coordinates tell whether they close as they are meant to.
    """
    if not stated.keys() - {*mechanism.coordinates}:
        return error
    found, turned = (
        [joint for joint, other in some if farthest(other, stated, laid_out)[1] <= NEAR]
        for some in (_swaps(mechanism), _turns(mechanism))
    )
    if len(turned) == 1 and found in ([], turned):
        second, first = turned[0].bodies
        return AssemblyError(
            f"{error.message} With joints.{turned[0].name}.connects: [{first}, {second}] all "
            f"loops close about as stated: `at`, `axis` and `reference` are in this order.",
            [f"joints.{turned[0].name}"],
        )
    if len(found) != 1:
        return error
    first, second = found[0].bodies
    return AssemblyError(
        f"{error.message} With the two points of {found[0].name} the other way round all loops "
        f"close about as stated: in its `at` the first point is in {first}, the second in "
        f"{second}.",
        [f"joints.{found[0].name}"],
    )


def explaining(
    mechanism: Mechanism, stated: Mapping[str, float], laid_out: LaysOut
) -> SwappedPoints | None:
    """The one joint with whose points swapped the loops close clearly nearer to stated values.

    For loops that close in both orders; None where stated values are met about, or no swap, or
    more than one, explains them.
    """
    if not stated.keys() - {*mechanism.coordinates}:
        return None
    off = farthest(mechanism, stated, laid_out)
    if off[1] < _ROUGH:
        return None
    most, gap = min(off[1] / _BETTER, _ROUGH), starting_gap(mechanism, laid_out)
    found, turned = (
        {
            joint.name: SwappedPoints(joint.name, *off, *left, joint.bodies[::-1] * is_turned)
            for joint, other in some
            if (left := explains(other, stated, laid_out, gap, most))
        }
        for is_turned, some in enumerate((_swaps(mechanism), _turns(mechanism)))
    )
    if len(turned) == 1 and found.keys() <= turned.keys():
        found = turned
    return next(iter(found.values())) if len(found) == 1 else None


def _swaps(mechanism: Mechanism) -> Iterator[tuple[Joint, Mechanism]]:
    """Joints of two different points, and the mechanism with these swapped."""
    for joint in mechanism.joints:
        one, two = joint.frames
        if one.at != two.at:
            turned = replace(joint, frames=(replace(one, at=two.at), replace(two, at=one.at)))
            joints = tuple(turned if each is joint else each for each in mechanism.joints)
            yield joint, replace(mechanism, joints=joints)


def _turns(mechanism: Mechanism) -> Iterator[tuple[Joint, Mechanism]]:
    """Joints of two different axes, and the mechanism with their bodies swapped: with them go
    points, axes and references."""
    for joint in mechanism.joints:
        one, two = joint.frames
        if (one.axis, one.reference) != (two.axis, two.reference):
            turned = replace(joint, bodies=joint.bodies[::-1])
            joints = tuple(turned if each is joint else each for each in mechanism.joints)
            yield joint, replace(mechanism, joints=joints)


def explains(
    other: Mechanism, stated: Mapping[str, float], laid_out: LaysOut, gap: float, most: float
) -> tuple[str, float] | None:
    """`farthest` of a mechanism with one mistake corrected, None where that is more than `most`.

    `gap` is the starting gap with the mistake. Newton's method takes long where something else
    is wrong; most of these start wide open, and are not solved.
    """
    if starting_gap(other, laid_out) > gap / 2:
        return None
    left = farthest(other, stated, laid_out)
    return left if left[1] <= most else None


def starting_gap(mechanism: Mechanism, laid_out: LaysOut) -> float:
    """The largest gap where bodies are laid out at stated values, m or rad; infinite where they
    cannot be."""
    try:
        with np.errstate(all="ignore"):  # points may coincide that must not
            newton, start = laid_out(mechanism)
            gaps = newton.equations(start)[0]
    except (AssemblyError, np.linalg.LinAlgError):  # an idle spin has no axis there
        return np.inf
    return float(np.nan_to_num(np.abs(gaps), nan=np.inf).max(initial=0.0))


def farthest(
    mechanism: Mechanism,
    stated: Mapping[str, float],
    laid_out: LaysOut,
) -> tuple[str, float]:
    """The stated joint value that is farthest off where the loops close, and how far: rad, or a
    share of the larger of two lengths; infinite where they stay open."""
    try:
        with np.errstate(all="ignore"):  # points may coincide that must not
            newton, start = laid_out(mechanism)
            held = {name: newton.near[name] for name in mechanism.coordinates}
            dims = geometry(mechanism, {})
            closed = BodyNewton(mechanism, dims, held, newton.near).solve(start)
    except (AssemblyError, np.linalg.LinAlgError):
        return "", np.inf
    measured = measure(mechanism, dims, closed)
    found = {}
    for name, wanted in stated.items():
        off = measured[name] - wanted
        if mechanism.value(name).is_length:
            off /= max(abs(wanted), abs(measured[name]), 1e-9)
        else:
            off = np.remainder(off + np.pi, 2 * np.pi) - np.pi
        found[name] = abs(float(off))
    return max(found.items(), key=lambda one: one[1])
