"""Another length's symbol in a joint's point, a point that is given in another frame than its
body's, or an axis of a joint along another main axis.

With it corrected the loops close as stated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from basepar_core.errors import AssemblyError
from basepar_core.expressions import ONE, ZERO, Number, evaluate
from basepar_core.mechanism import GROUND, Frame, Vector, with_other_symbols

from . import opposed_axes
from .trials import Trial, closing, stands_on_pin

#: rad, or a share of the larger of two lengths: values farther off tell; with the entry corrected
#: they are so many times nearer, and no farther off than they are stated roughly.
_OFF, _BETTER, _ROUGH = 0.1, 4.0, 0.2
#: With a point at an origin values are met to this: any wrong point's origin may lie near.
_MET = 0.05
#: Bodies are laid out as far open with a correction as without, up to rounding.
_AS_OPEN = 1 + 1e-6
#: Of several entries one that meets them so many times nearer than all others is meant.
_CLEARLY = 10.0
_X, _Y, _Z = (ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE)


@dataclass(frozen=True, slots=True)
class MistakenEntry:
    """What stands at a place of the file, and what looks meant there; of several that explain it
    alike the one of the least `cost` does.

    `partner` is the entry with which it is exchanged, `why` a remark for whoever corrects it.
    """

    place: str
    written: str
    meant: str
    cost: int = 0
    partner: "MistakenEntry | None" = None
    why: str = ""


def explaining(own: Trial) -> MistakenEntry | None:
    """The one entry with which all that is stated is met clearly nearer; None where it is met
    about already, or none, or more than one, explains it."""
    off = own.farthest[1]
    if off < _OFF:
        return None
    most = min(off / _BETTER, _ROUGH)
    for trials, to_meet in (
        (_other_symbols(own), most),
        (_other_axes(own), most),
        (_at_origins(own), min(most, _MET)),
    ):
        # Bodies are laid out over most joints as if nothing were wrong: no wider open will do.
        found = closing(trials, own.gap * _AS_OPEN, to_meet)
        least = min((entry.cost for entry, _ in found), default=0)
        offs = [(one.farthest[1], entry) for entry, one in found if entry.cost == least]
        if best := sorted(offs, key=lambda one: one[0]):
            is_clear = len(best) == 1 or best[1][0] > _CLEARLY * best[0][0]
            return best[0][1] if is_clear else None
    return None


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the entry that explains it, if there is just one."""
    found = explaining(own) if own.tells else None
    return advising(error, found) if found else error


def advising(error: AssemblyError, found: MistakenEntry) -> AssemblyError:
    """The error of open loops, with the entry that explains it."""
    entries = [found, found.partner] if found.partner else [found]
    if found.partner:
        values = ", ".join(f"{one.place.split('.')[-1]} = {one.meant}" for one in entries)
        advice = f"the values of {found.place} and {found.partner.place} exchanged ({values})"
    else:
        advice = f"{found.meant} in place of {found.written} in {found.place}"
    why = f"; {found.why}" if found.why else ""
    return AssemblyError(
        f"{error.message} With {advice} all loops close as stated{why}.",
        [one.place for one in entries],
    )


def _other_symbols(own: Trial) -> Iterator[tuple[MistakenEntry, Trial]]:
    mechanism = own.mechanism
    symbols = (*mechanism.geometry, *mechanism.constants)
    lengths = [one.name for one in symbols if one.is_length]
    for one in with_other_symbols(mechanism.joints, lengths):
        entry = MistakenEntry(one.place, one.written, one.meant, one.cost)
        yield entry, own.with_joint(one.joint, one.other)


def _other_axes(own: Trial) -> Iterator[tuple[MistakenEntry, Trial]]:
    """Of joints with one value; others may stand in too many ways for what is stated to tell.

    Axes that are equal in both bodies stay so, of others one changes; plus goes before minus.
    """
    planar = own.mechanism.planar
    for joint in own.mechanism.joints:
        one, two = joint.frames
        if len(joint.values) != 1 or (planar and one.axis == _Z):
            continue
        first, second = ([*_turned(frame, planar)] for frame in joint.frames)
        if one == replace(two, at=one.at):
            pairs = [(frame, replace(frame, at=two.at)) for frame in first]
        else:
            pairs = [(frame, two) for frame in first] + [(one, frame) for frame in second]
        before = opposed_axes.written(one, two, planar)
        for frames in pairs:
            after = opposed_axes.written(*frames, planar)
            if not (before and after):  # of symbols
                continue
            entry = MistakenEntry(f"joints.{joint.name}.axis", before, after, after.count("-"))
            yield entry, own.with_joint(joint, replace(joint, frames=frames))


def _at_origins(own: Trial) -> Iterator[tuple[MistakenEntry, Trial]]:
    """Joints with a point at its body's origin, where most bodies have one: stated elsewhere, it
    is in the ground's frame perhaps."""
    planar = own.mechanism.planar
    origin = (ZERO, ZERO, ZERO)
    for joint in own.mechanism.joints:
        for side, frame in enumerate(joint.frames):
            body = joint.bodies[side]
            if body == GROUND or frame.at == origin:
                continue
            frames = list(joint.frames)
            frames[side] = replace(frame, at=origin)
            other = replace(joint, frames=(frames[0], frames[1]))
            if stands_on_pin(other, own.mechanism):
                continue
            entry = MistakenEntry(
                f"joints.{joint.name}.at[{side}]",
                _written(frame.at, own),
                "[0, 0]" if planar else "[0, 0, 0]",
                why=f"points are in the own frame of their body, {body}",
            )
            yield entry, own.with_joint(joint, other)


def _written(at: Vector, own: Trial) -> str:
    numbers = evaluate(at[: 2 if own.mechanism.planar else 3], own.mechanism.nominal)
    return f"[{', '.join(f'{float(x):.6g} m' if x else '0' for x in numbers)}]"


def _turned(frame: Frame, planar: bool) -> Iterator[Frame]:
    """A frame along a main axis with its axis along each other one."""
    numbers = [one.value for one in frame.axis if isinstance(one, Number) and one.value]
    if len(numbers) != 1 or frame.axis.count(ZERO) != 2:
        return
    for k in range(2 if planar else 3):
        if frame.axis[k] != ZERO:
            continue
        for size in (Number(abs(numbers[0])), Number(-abs(numbers[0]))):
            x, y, z = (size if axis == k else ZERO for axis in range(3))
            reference = frame.reference
            if reference == _default_reference(frame.axis):
                reference = _default_reference((x, y, z))
            if reference[k] == ZERO:  # not parallel to the axis
                yield Frame(frame.at, (x, y, z), reference)


def _default_reference(axis: Vector) -> Vector:
    """Of a main axis, as a file without `reference` has it."""
    return _X if axis[0] == ZERO else _Y
