"""Mechanisms with one mistake of their file corrected: whether loops then close as stated.

Whoever waits for an error or for `show` waits for these trials. Laying bodies out takes a
hundredth of solving, and tells which corrections are worth a solution.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.expressions import evaluate, names
from basepar_core.mechanism import GROUND, Frame, Joint, Mechanism, joint_type

from .body_newton import CLOSED, Bodies, BodyNewton, measure
from .joint_loops import around
from .kinematics import geometry
from .stated_poses import poses_off

LaysOut = Callable[[Mechanism], tuple[BodyNewton, Bodies]]
Correction = TypeVar("Correction")
#: rad, or a share of the larger of two lengths: who states values states them no rougher.
NEAR = 0.5
#: Shorter lengths than this share of the longest offset differ by rounding alone.
LEAST = 1e-6
#: Values that are stated no rougher than this (6°) tell also where they agree about with the file
#: as it is; with a correction they must be met so many times nearer, or far ones so many times.
ROUGH, BETTER, FAR_BETTER = 0.1, 4.0, 3.0
#: Corrections of one kind that are solved, those first with which the bodies fit best as they are
#: laid out: right ones start nearly closed.
TRIED = 12
#: What all kinds of one explanation may cost, in layouts; a solution costs so many of them.
MOST, SOLUTION = 500, 5
#: A share of the widest gap where Newton's method ends; loops beside it stay open by less.
_WIDE = 0.1


@dataclass
class Budget:
    """Layouts that are left: a count, so that every machine finds the same."""

    left: int = MOST


@dataclass(frozen=True)
class Trial:
    """A mechanism, and the joint values that its file states, rad or m, beside poses of bodies.

    `own` is the one of the file where this is a correction; they share one budget.
    """

    mechanism: Mechanism
    stated: Mapping[str, float]
    laid_out: LaysOut
    own: "Trial | None" = None
    budget: Budget = field(default_factory=Budget, compare=False)

    def of(self, mechanism: Mechanism) -> "Trial":
        """The same values, stated of another mechanism."""
        return replace(self, mechanism=mechanism, own=self.own or self)

    @cached_property
    def suspects(self) -> frozenset[str]:
        """Joints in the loops that stay open, else of the value that is farthest off: who corrects
        others alone explains nothing."""
        it = self.mechanism
        wide = {self.farthest[0]}
        if self.end and not self.closed:
            gaps, _, owners = self.end[0].equations(self.end[1])
            least = max(CLOSED, _WIDE * np.abs(gaps).max())
            wide = {owners[k] for k in np.flatnonzero(~(np.abs(gaps) <= least))}
        numbers = [k for k, one in enumerate(it.joints) if wide & {one.name, *one.values}]
        if it.is_tied or it.assembly.poses or not numbers:
            return frozenset(joint.name for joint in it.joints)  # loops hang together otherwise
        return frozenset(it.joints[i].name for k in numbers for i in {k, *around(it, k)})

    @property
    def concerns(self) -> bool:
        """Whether it corrects what may be wrong; corrections of stated values always do."""
        if self.own is None:
            return True
        one, two = self.own.mechanism, self.mechanism
        pairs = zip(one.geometry, two.geometry, strict=True)
        symbols = {old.name for old, new in pairs if old is not new}
        return any(
            joint is not other or not symbols.isdisjoint(_symbols(joint))
            for joint, other in zip(one.joints, two.joints, strict=True)
            if joint.name in self.own.suspects
        )

    def with_joint(self, joint: Joint, other: Joint) -> "Trial":
        """The same values, stated of the mechanism with another joint in the place of one."""
        joints = tuple(other if one is joint else one for one in self.mechanism.joints)
        return self.of(replace(self.mechanism, joints=joints))

    @property
    def tells(self) -> bool:
        """Whether values are stated beside the coordinates, or poses, which loops must meet."""
        given = self.stated.keys() - {*self.mechanism.coordinates}
        return bool(given or self.mechanism.assembly.poses)

    @cached_property
    def gaps(self) -> Array:
        """Gaps where bodies are laid out at stated values, m or rad; infinite where they cannot
        be."""
        self.budget.left -= 1
        try:
            with np.errstate(all="ignore"):  # points may coincide that must not
                newton, start = self.laid_out(self.mechanism)
                gaps = newton.equations(start)[0]
        # An idle spin has no axis there, or a body came off the ground.
        except (AssemblyError, MechanismError, np.linalg.LinAlgError):
            return np.array([np.inf])
        return np.where(np.isnan(gaps), np.inf, gaps)

    @property
    def gap(self) -> float:
        """The largest of the gaps."""
        return float(np.abs(self.gaps).max(initial=0.0))

    @cached_property
    def end(self) -> tuple[BodyNewton, Bodies] | None:
        """Newton's method and where it ends, closed or not; None where it cannot start."""
        self.budget.left -= SOLUTION
        try:
            with np.errstate(all="ignore"):
                newton, start = self.laid_out(self.mechanism)
                held = {name: newton.near[name] for name in self.mechanism.coordinates}
                held_newton = BodyNewton(self.mechanism, newton.dims, held, newton.near)
                return held_newton, held_newton.approach(start)
        except (AssemblyError, MechanismError, np.linalg.LinAlgError):
            return None

    @cached_property
    def closed(self) -> Bodies | None:
        """Bodies where the loops close; None where they stay open."""
        return self.end[1] if self.end and self.end[0].closes(self.end[1]) else None

    @cached_property
    def farthest(self) -> tuple[str, float]:
        """The stated value, or body, that is farthest off where the loops close, and how far: rad,
        or a share of the larger of two lengths, of a body of the longest offset; infinite where
        they stay open."""
        if self.closed is None:
            return "", np.inf
        return max(self._off(self.closed).items(), key=lambda one: one[1])

    @property
    def to_meet(self) -> float:
        """How far off stated values may be with a correction that explains this clearly."""
        off = self.farthest[1]
        return min(off / FAR_BETTER, NEAR) if off > NEAR else min(off / BETTER, ROUGH)

    def off_by(self, name: str, value: float) -> float:
        """How far a value is off its stated one: rad, or a share of the larger of two lengths."""
        off = value - self.stated[name]
        if self.mechanism.value(name).is_length:
            return abs(off) / max(abs(value), abs(self.stated[name]), self._least_length)
        return abs(float(np.remainder(off + np.pi, 2 * np.pi) - np.pi))

    @cached_property
    def _least_length(self) -> float:
        return LEAST * (geometry(self.mechanism, {}).longest_offset or 1.0)

    def _off(self, at: Bodies) -> dict[str, float]:
        dims, found = geometry(self.mechanism, {}), {"": 0.0}
        closed = measure(self.mechanism, dims, at)
        found |= {name: self.off_by(name, closed[name]) for name in self.stated}
        for pose in poses_off(self.mechanism, dims, at):
            found[pose.body] = pose.off / (dims.longest_offset or 1.0)
        return found


def closing(
    trials: Iterable[tuple[Correction, Trial]], gap: float, most: float
) -> list[tuple[Correction, Trial]]:
    """Corrections with which loops start no wider open than `gap` and close with no stated value
    farther off than `most`, in the order of `trials`."""
    open_first = []
    for one in trials:
        if one[1].concerns and one[1].gap <= gap:
            open_first.append(one)
        if one[1].budget.left <= 0:
            return []  # another of those that are left may explain it as well
    tried = sorted(range(len(open_first)), key=lambda k: open_first[k][1].gap)[:TRIED]
    if tried and open_first[0][1].budget.left < SOLUTION * len(tried):
        return []
    return [open_first[k] for k in sorted(tried) if open_first[k][1].farthest[1] <= most]


def stands_on_pin(joint: Joint, mechanism: Mechanism) -> bool:
    """Whether a corrected joint is a pin at another one of a moving body and along it: such a bar
    without length meets whatever is stated."""
    return _is_pin(joint) and any(
        body in other.bodies
        and _line(frame, mechanism) == _line(other.frames[other.bodies.index(body)], mechanism)
        for body, frame in zip(joint.bodies, joint.frames, strict=True)
        for other in mechanism.joints
        if body != GROUND and other.name != joint.name and _is_pin(other)
    )


def _symbols(joint: Joint) -> set[str]:
    vectors = (v for frame in joint.frames for v in (frame.at, frame.axis, frame.reference))
    return {name for vector in vectors for entry in vector for name in names(entry)}


def _is_pin(joint: Joint) -> bool:
    """Whether it turns, about a point that stays where it is in both bodies."""
    return bool(joint.values) and not joint_type(joint.type).lengths


def _line(frame: Frame, mechanism: Mechanism) -> list[float]:
    return evaluate([*frame.at, *frame.axis], mechanism.nominal)
