"""What the assembly found that the file does not state, and where a motion ends."""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MotionError
from basepar_core.mechanism import GROUND

from . import (
    mistaken_entries,
    mistaken_lengths,
    mistaken_signs,
    mistaken_units,
    mistaken_values,
    swapped_points,
)
from .assembly import laid_out, stated_values
from .body_newton import Bodies
from .branches import dependent_values
from .closure import Model, Outcome, Trace, trace
from .coupling_findings import contradicted, coupled_values
from .joint_tracks import tracks
from .kinematics import geometry, poses
from .mistaken_entries import MistakenEntry
from .mistaken_signs import MistakenSign
from .mistaken_units import MistakenUnit
from .motion import cycle, excitation
from .stated_poses import FoundPose, poses_off
from .swapped_points import SwappedPoints
from .trials import LEAST, ROUGH, Trial

#: A value that was stated and is found this far off was taken from another branch most likely:
#: rad, and share of a length.
_FAR = 0.5
#: Of a body where most others are so many times nearer to their poses: share of the longest
#: offset.
_FAR_ALONE, _NEARER = 0.1, 10.0
#: One sample in so many is followed at first: a motion that closes there does between them too,
#: as the way from one to the next is gone in small steps.
_EVERY = 12
#: Closures along a motion that take some seconds.
_MOST = 5_000


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A joint value of the assembly, rad or m; `stated` is None where the file has none.

    `coupling` is one that what the file states contradicts, and `offset` what that comes to, rad
    or m, in the place of the coupling's own.
    """

    name: str
    value: float
    stated: float | None = None
    coupling: str = ""
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class MotionEnd:
    """Where a motion cannot be followed further.

    Attributes
    ----------
    motion
        `cycle` or `excitation`.
    outcome
        `LOST`, `SINGULAR` or `UNASSEMBLABLE`.
    at
        The coordinates there, rad or m.
    sample, samples
        Number of the sample from 1, and how many there are.
    """

    motion: str
    outcome: Outcome
    at: tuple[tuple[str, float], ...]
    sample: int
    samples: int


def branch_found(model: Model) -> tuple[FoundValue, ...]:
    """Joint values that pick the branch and that the file does not state, or states otherwise.

    Those over which bodies were laid out at zero, unless all are found there; and stated ones
    that are found far away.
    """
    it = model.mechanism
    numbers = stated_values(it)
    against = contradicted(it, numbers, _FAR)
    if not model.topology.cuts and not against:
        return ()
    names = dependent_values(it)
    coupled = {name for one in it.couplings for name, _ in one.terms}
    guessed = _laid_out_at_zero(model) if model.topology.cuts else set()
    least = LEAST * (geometry(it, {}).longest_offset or 1.0)
    found = []
    for name, track in tracks(model, {}, model.assembled.q[:, None, None], names):
        value = float(track[0, 0])
        if not it.value(name).is_length and name not in coupled:  # these count on beyond a turn
            value = float((value + np.pi) % (2 * np.pi) - np.pi)
        if name in against and name in numbers:
            found.append(FoundValue(name, value, float(numbers[name]), *against[name]))
        elif name in guessed:
            found.append(FoundValue(name, value))
        elif name in numbers and _is_far(value, numbers[name], it.value(name).is_length, least):
            found.append(FoundValue(name, value, float(numbers[name])))
    if all(abs(one.value) <= least for one in found if one.stated is None):
        found = [one for one in found if one.stated is not None]
    return tuple(found)


def far_poses(model: Model) -> tuple[FoundPose, ...]:
    """Bodies that are found far from the poses that the file states."""
    it, dims = model.mechanism, geometry(model.mechanism, {})
    placed = poses(model.topology, dims, model.assembled.q[:, None])
    at = Bodies(*(np.stack([one[..., 0] for one in per]) for per in (placed.R, placed.p)))
    found, size = poses_off(it, dims, at), dims.longest_offset or 1.0
    usual = float(np.median([one.off for one in found])) if len(found) > 2 else np.inf
    far = min(_FAR, max(_FAR_ALONE, _NEARER * usual / size)) * size
    return tuple(one for one in found if one.off > far)


def explanation(
    model: Model,
) -> MistakenUnit | tuple[MistakenSign, ...] | SwappedPoints | MistakenEntry | None:
    """The one mistake by which the values that the file states are not met, if one explains it:
    a length's unit, a value's sign (each of two would do), the order of a joint's points, or a
    symbol in one of them, an axis of a joint, a length or the values of two."""
    own = Trial(model.mechanism, stated_values(model.mechanism), laid_out)
    if not model.topology.cuts or not own.tells:
        return None
    return (
        mistaken_units.explaining(own)
        or mistaken_signs.explaining(own)
        or mistaken_values.explaining(own)
        or mistaken_entries.explaining(own)
        or _exchanged(own)
        or _other_length(model, own)
    )


def _exchanged(own: Trial) -> SwappedPoints | MistakenEntry | None:
    """Points of a joint, which rough values may tell; two lengths are told by better ones."""
    points = swapped_points.explaining(own)
    if points and points.left <= ROUGH:
        return points
    return mistaken_lengths.exchanged(own) or points


def _other_length(model: Model, own: Trial) -> MistakenEntry | None:
    """Values that are met about are no reason to change a length, unless a motion locks."""
    if own.farthest[1] <= _FAR and not ends_of_motions(model):
        return None
    return mistaken_lengths.explaining(own)


def _is_far(value: float, stated: float, is_length: bool, least: float) -> bool:
    """Of lengths the longer one counts, or `least`."""
    if is_length:
        return abs(value - stated) > _FAR * max(abs(value), abs(stated), least)
    return abs((value - stated + np.pi) % (2 * np.pi) - np.pi) > _FAR


def _laid_out_at_zero(model: Model) -> set[str]:
    """Values of joints over which a body was placed although they have none in the file."""
    it = model.mechanism
    stated = coupled_values(it, geometry(it, {}), stated_values(it)).keys()
    known = {GROUND, *(pose.body for pose in it.assembly.poses)}
    guessed: set[str] = set()
    while len(known) <= len(it.bodies):
        frontier = [j for j in it.joints if (j.bodies[0] in known) != (j.bodies[1] in known)]
        valued = [joint for joint in frontier if stated & set(joint.values)]
        joint = (valued or frontier)[0]
        known |= set(joint.bodies)
        guessed |= set() if valued else set(joint.values)
    return guessed


def motion_end(model: Model, path: Trace, targets: Array, motion: str) -> MotionEnd | None:
    """Where the first variant of a trace ends, None where it closes."""
    outcome = Outcome(path.outcome[0])
    if outcome == Outcome.CLOSED:
        return None
    here = int(np.nan_to_num(path.where[0]))
    names = model.mechanism.coordinates
    at = tuple((name, float(q)) for name, q in zip(names, targets[:, here], strict=True))
    return MotionEnd(motion, outcome, at, here, targets.shape[1] - 1)


def ends_of_motions(model: Model) -> tuple[MotionEnd, ...]:
    """The motions of the file that cannot be followed to their ends, and where they end.

    Very long motions, of some 80 turns and more, are not looked at.
    """
    it, start = model.mechanism, model.assembled.coordinates
    found = []
    for name, given, made in (
        ("cycle", it.cycle, cycle),
        ("excitation", it.excitation, excitation),
    ):
        if given is None:
            continue
        try:
            targets = np.column_stack([start, made(it, start).q])
        except MotionError:  # of a size no one meant: whoever uses the motion says so
            continue
        closures = (np.abs(np.diff(targets)) / model.loops.step[:, None]).max(axis=0).sum()
        if closures > _MOST:
            continue
        few = targets[:, _some(targets.shape[1])]
        if trace(model, {}, few).outcome[0] == Outcome.CLOSED:
            continue
        end = motion_end(model, trace(model, {}, targets), targets, name)
        found += [] if end is None else [end]
    return tuple(found)


def _some(count: int) -> Array:
    """Few of so many samples, the first and the last among them."""
    return np.unique(np.append(np.arange(0, count, _EVERY), count - 1))
