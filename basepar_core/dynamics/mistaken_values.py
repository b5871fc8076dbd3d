"""Joint values of the assembly that do not fit stated poses of bodies: one, or two exchanged."""

from dataclasses import replace
from fractions import Fraction
from math import degrees

import numpy as np

from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.expressions import Number

from .body_newton import measure
from .mistaken_entries import MistakenEntry, advising
from .trials import Trial

#: rad, or a share of the larger of two lengths: farther off is a mistake where everything else
#: that is stated fits the poses so many times better.
_OFF, _BETTER = 0.05, 10.0


def explaining(own: Trial) -> MistakenEntry | None:
    """The one value, or the two that are exchanged, with which the loops close as stated."""
    poses = own.mechanism.assembly.poses
    there = _at_poses(own) if poses and own.farthest[1] > _OFF else None
    if there is None:
        return None
    offs = {name: own.off_by(name, there[name]) for name in own.stated}
    wrong = [name for name, off in offs.items() if off > _OFF]
    others = max((off for off in offs.values() if off <= _OFF), default=0.0)
    if not 0 < len(wrong) <= 2 or others > min(offs[name] for name in wrong) / _BETTER:
        return None
    bodies = f" of {poses[0].body}" if len(poses) == 1 else "s"
    why = f"the stated pose{bodies} {'has' if len(poses) == 1 else 'have'} it so"
    if len(wrong) == 1:
        meant = float(f"{there[wrong[0]]:.4g}")
        is_all = len(poses) == len(own.mechanism.bodies)  # whose joints tell that the poses fit
        found = {wrong[0]: meant} if len(offs) > 1 or is_all else {}
    else:
        one, two = wrong
        found = {one: own.stated[two], two: own.stated[one]}
    if not found or not _fits(own, found):
        return None
    first, *rest = (
        MistakenEntry(f"assembly.{name}", _written(own, name, own.stated[name]), meant, why=why)
        for name, meant in ((name, _written(own, name, x)) for name, x in found.items())
    )
    return replace(first, partner=rest[0] if rest else None)


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the values that explain it, if there are."""
    found = explaining(own)
    return advising(error, found) if found else error


def _at_poses(own: Trial) -> dict[str, float] | None:
    """Joint values where bodies stand as stated and the others as their joints have them."""
    try:
        with np.errstate(all="ignore"):
            newton, start = own.laid_out(own.mechanism)
            posed = {newton.number[pose.body] for pose in own.mechanism.assembly.poses}
            newton.free = [k for k in newton.free if k // 6 not in posed]
            at = newton.approach(start) if newton.free else start
            open_by = float(np.abs(newton.equations(at)[0]).max(initial=0.0))
            fits = open_by <= _OFF / _BETTER * (newton.dims.longest_offset or 1.0)
            return measure(newton.mechanism, newton.dims, at) if fits else None
    except (AssemblyError, MechanismError, np.linalg.LinAlgError):
        return None


def _fits(own: Trial, found: dict[str, float]) -> bool:
    given = own.mechanism.assembly
    values = tuple(
        (name, Number(Fraction(found[name])) if name in found else x) for name, x in given.values
    )
    other = replace(own.mechanism, assembly=replace(given, values=values))
    trial = replace(own, mechanism=other, stated={**own.stated, **found})
    return trial.farthest[1] <= _OFF


def _written(own: Trial, name: str, value: float) -> str:
    if own.mechanism.value(name).is_length:
        return f"{value:.6g} m"
    return f"{degrees(value):.4g} deg"
