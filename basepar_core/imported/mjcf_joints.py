"""Several joints of one MuJoCo body as one joint of ours.

MuJoCo stacks hinges and slides on a body, with nothing between them. A joint that has the same
motion is one joint here; bodies without mass between them would be none of the mechanism, and
would add parameters that do not exist.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .draft import Draft, End
from .kinds import UNIVERSAL
from .rationals import (
    UNITS,
    Vec,
    cross,
    decimal,
    direction,
    dot,
    least_aligned,
    minus,
    upright,
    vector,
)

#: Directions are perpendicular, lines meet, to this share: rounding of printed decimals.
CLOSE = 1e-9
#: Why the armature of a free joint is rejected whose body constraints hold.
HELD = (
    "it is free and has armature, a mass without weight, and constraints hold its body; set "
    "armature to zero, or add it to the body's inertia"
)


@dataclass(frozen=True)
class Moving:
    """A joint of MuJoCo's: point and axis in the body's frame at the reference pose."""

    index: int
    dof: int
    name: str
    kind: str
    at: Vec
    axis: Vec
    friction: dict[str, Fraction]
    spring: tuple[Fraction, Fraction] | None
    #: Of a free joint: kg along every axis, and kg m² about every one.
    armature: Fraction = Fraction(0)
    #: Of its value, counted from the reference pose.
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Combined:
    """One joint of ours: frames of the parent's side (in the body's frame at the reference pose)
    and of the body's; names of values by degree of freedom, and by MuJoCo's joint."""

    name: str
    kind: str
    ends: tuple[End, End]
    values: dict[int, str]
    names: dict[int, str]
    notes: tuple[str, ...] = ()
    #: Degrees of freedom that are counted the other way.
    reversed: frozenset[int] = frozenset()

    def spring(self, one: Moving) -> tuple[Fraction, Fraction] | None:
        """Stiffness, and the value at rest as it is counted here."""
        if one.spring is None or one.dof not in self.reversed:
            return one.spring
        return one.spring[0], -one.spring[1]

    def limits(self, one: Moving) -> tuple[float, float] | None:
        """Least and most value as it is counted here."""
        if one.limits is None or one.dof not in self.reversed:
            return one.limits
        return -one.limits[1], -one.limits[0]


def read_moving(
    mujoco: Any, model: Any, draft: Draft, j: int, name: str, frictionless: bool
) -> Moving:
    """Joint j of a compiled model; force laws that no mechanism file has are rejected, or those of
    balls left out."""
    kinds = mujoco.mjtJoint
    words = {
        int(kinds.mjJNT_FREE): "free",
        int(kinds.mjJNT_BALL): "ball",
        int(kinds.mjJNT_SLIDE): "slide",
        int(kinds.mjJNT_HINGE): "hinge",
    }
    kind, dof = words[int(model.jnt_type[j])], int(model.jnt_dofadr[j])
    given = {
        "viscous": model.dof_damping[dof],
        "coulomb": model.dof_frictionloss[dof],
        "rotor": model.dof_armature[dof],
    }
    where, stiffness = f"joint {name!r}", model.jnt_stiffness[j]
    at = vector(model.jnt_pos[j])
    if kind in ("hinge", "slide"):
        friction = {word: decimal(x) for word, x in given.items() if x}
        place, spring = model.jnt_qposadr[j], None
        start = float(model.qpos0[place])
        if start:
            _note(draft, f"{where}: its values count from ref = {start!r}")
        if stiffness:
            spring = (decimal(stiffness), decimal(float(model.qpos_spring[place]) - start))
        limits = None
        if model.jnt_limited[j]:
            low, high = (float(x) - start for x in model.jnt_range[j])
            limits = (low, high)
        along, none = direction(model.jnt_axis[j]), Fraction(0)
        return Moving(j, dof, name, kind, at, along, friction, spring, none, limits)
    rubs = [f"{word} {float(x)!r}" for word, x in given.items() if x] if kind == "ball" else []
    if stiffness or (rubs and not frictionless):
        hint = "" if stiffness else ", or leave them out by `import --frictionless-balls`"
        draft.refuse(
            where,
            f"it is a {kind} joint with damping, frictionloss, armature or stiffness, which a "
            f"mechanism file has for values of hinges and slides; set them to zero{hint}",
        )
    elif rubs:
        _note(draft, f"{where} is a ball: {', '.join(rubs)} left out")
    drags = ("viscous", "coulomb") if kind == "free" else ()
    if drag := [f"{word} {float(given[word])!r}" for word in drags if given[word]]:
        _note(
            draft,
            f"{where} is free: its friction ({', '.join(drag)}) is a drag of the surroundings, "
            f"and left out as contact is",
        )
    if kind == "free" and given["rotor"]:
        _note(
            draft,
            f"{where} is free and has armature {float(given['rotor'])!r}: rotors on its lengths, "
            f"and as much more of the body's moments of inertia",
        )
    return Moving(
        j, dof, name, kind, at, UNITS[2], {}, None, decimal(0 if rubs else given["rotor"])
    )


def _note(draft: Draft, note: str) -> None:
    """Add a note once: joints are read where their body is, and where it floats."""
    draft.notes += [note] * (note not in draft.notes)


def combined(moving: Sequence[Moving]) -> Combined:
    """One joint with the motion of several joints of a body.

    Raises
    ------
    ValueError
        There is none.
    """
    kinds = [one.kind for one in moving]
    if len(moving) == 1:
        return _single(moving[0])
    found = None
    if sorted(kinds) == ["hinge", "slide"]:
        found = _cylindrical(moving)
    elif kinds == ["hinge", "hinge"]:
        found = _universal(moving)
    elif kinds == ["slide", "slide", "hinge"]:
        found = _planar(moving)
    if found is None:
        raise ValueError(f"no one joint moves as {', '.join(one.name for one in moving)} do")
    return found


def parted(moving: Sequence[Moving], tied: Container[int] = ()) -> list[list[Moving]]:
    """The joints of a body in as few groups, from the parent on, as move like one joint each.

    Of `tied` joints (by number) values are coupled, which those of a universal joint cannot be.
    """
    groups: list[list[Moving]] = []
    rest = list(moving)
    while rest:
        size = next(n for n in range(len(rest), 0, -1) if _is_one(rest[:n], tied))
        groups.append(rest[:size])
        rest = rest[size:]
    return groups


def _is_one(moving: Sequence[Moving], tied: Container[int]) -> bool:
    try:
        kind = combined(moving).kind
    except ValueError:
        return False
    return kind != UNIVERSAL or not any(one.index in tied for one in moving)


def _single(one: Moving) -> Combined:
    kind = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}[one.kind]
    end = End(one.at, one.axis, UNITS[0] if one.kind == "ball" else least_aligned(one.axis))
    values = {one.dof: one.name}
    if one.kind == "ball":
        values = {one.dof + k: f"{one.name}.{k + 1}" for k in range(3)}
    return Combined(one.name, kind, (end, end), values, {one.index: one.name})


def _cylindrical(moving: Sequence[Moving]) -> Combined | None:
    hinge, slide = sorted(moving, key=lambda one: one.kind)
    if not _parallel(hinge.axis, slide.axis):
        return None
    notes: tuple[str, ...] = ()
    if dot(hinge.axis, slide.axis) < 0:
        notes = (f"joint {slide.name!r}: its slide is counted along the axis of {hinge.name!r}",)
    end = End(hinge.at, hinge.axis, least_aligned(hinge.axis))
    found = _named(hinge.name, "cylindrical", (end, end), [slide, hinge], notes)
    return replace(found, reversed=frozenset({slide.dof} if notes else ()))


def _universal(moving: Sequence[Moving]) -> Combined | None:
    first, second = moving
    across = cross(first.axis, second.axis)
    gap = minus(second.at, first.at)
    if not _perpendicular(first.axis, second.axis) or abs(dot(gap, across)) > CLOSE:
        return None
    # The point of the first axis that the second one passes.
    way = Fraction(dot(cross(gap, second.axis), across)) / dot(across, across)
    x, y, z = (a + way * b for a, b in zip(first.at, first.axis, strict=True))
    frame = upright(z=first.axis, x=second.axis)
    one, two = frame.turned(UNITS[2]), frame.turned(UNITS[0])
    ends = End((x, y, z), one, two), End((x, y, z), two, one)
    return _named(first.name, "universal", ends, [first, second])


def _planar(moving: Sequence[Moving]) -> Combined | None:
    one, two, hinge = moving
    if not _perpendicular(one.axis, hinge.axis):
        return None
    if not _parallel(cross(hinge.axis, one.axis), two.axis):
        return None
    notes: tuple[str, ...] = ()
    if dot(cross(hinge.axis, one.axis), two.axis) < 0:
        notes = (f"joint {two.name!r}: its slide is counted the other way",)
    frame = upright(z=hinge.axis, x=one.axis)
    end = End(hinge.at, frame.turned(UNITS[2]), frame.turned(UNITS[0]))
    found = _named(hinge.name, "planar", (end, end), list(moving), notes)
    return replace(found, reversed=frozenset({two.dof} if notes else ()))


def _named(
    name: str,
    kind: str,
    ends: tuple[End, End],
    moving: Sequence[Moving],
    notes: tuple[str, ...] = (),
) -> Combined:
    values = {one.dof: f"{name}.{k}" for k, one in enumerate(moving, start=1)}
    names = {one.index: f"{name}.{k}" for k, one in enumerate(moving, start=1)}
    listed = ", ".join(f"{one.name} is {names[one.index]}" for one in moving)
    said = f"{' and '.join(one.name for one in moving)} are one {kind} joint: {listed}"
    return Combined(name, kind, ends, values, names, (said, *notes))


def _parallel(a: Vec, b: Vec) -> bool:
    return max(map(abs, cross(a, b))) < CLOSE


def _perpendicular(a: Vec, b: Vec) -> bool:
    return abs(dot(a, b)) < CLOSE
