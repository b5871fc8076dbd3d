"""Metrics of joint values over the samples of a cycle, and of how they go with the drive."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import JointValue, Mechanism

from .analytic import size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .path_error import fit, returns
from .targets import Target

#: Extremes of a value, by the word.
_EXTREMES: Mapping[str, tuple[Callable[..., Array], str]] = {
    "stroke": (np.ptp, "greatest less least value"),
    "joint_min": (np.min, "least value"),
    "joint_max": (np.max, "greatest value"),
}
WORDS = (*_EXTREMES, "time_ratio", "mechanical_advantage", "dead_points", "function_error")
#: Newton's steps for the moment of a reversal; it begins within a step between two samples.
_STEPS = 6


def metrics(mechanism: Mechanism, targets: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name."""
    found: dict[str, CycleMetric] = {}
    for name in (value for joint in mechanism.joints for value in joint.values):
        value = mechanism.value(name)
        for word, (reduce, which) in _EXTREMES.items():
            of = partial(_extreme, name=name, reduce=reduce)
            words = f"{which} of joint {name} over the cycle"
            found[f"{word}({name})"] = CycleMetric(of, value.unit, words)
        for target in targets:
            if target.is_function:
                of = partial(_function_error, name=name, target=target)
                squares = partial(_function_squares, name=name, target=target)
                words = f"root mean square error of joint {name} against {target.name}"
                error = CycleMetric(of, value.unit, words, squares=squares)
                found[f"function_error({name},{target.name})"] = error
        if len(mechanism.coordinates) == 1 and name not in mechanism.coordinates:
            found |= _against_drive(mechanism, value, name)
    return found


def _against_drive(mechanism: Mechanism, value: JointValue, name: str) -> dict[str, CycleMetric]:
    (drive,) = mechanism.coordinates
    pair = mechanism.value(drive).is_length, value.is_length
    unit = {(True, False): "m", (False, True): "1/m"}.get(pair, "1")
    return {
        f"time_ratio({name})": CycleMetric(
            partial(_time_ratio, name=name),
            "1",
            f"time of the slower stroke of joint {name} over that of the quicker one",
        ),
        f"mechanical_advantage({name})": CycleMetric(
            partial(_advantage, name=name),
            unit,
            f"least effort at joint {name} per effort of the drive {drive}, by virtual work",
        ),
        f"dead_points({name})": CycleMetric(
            partial(_dead_points, name=name),
            "1",
            f"positions in the cycle where joint {name} stands still and cannot drive",
        ),
    }


def _extreme(cycle: ClosedCycle, name: str, reduce: Callable[..., Array]) -> Array:
    return reduce(cycle.joint(name), axis=-1)


def _ratio(cycle: ClosedCycle, name: str) -> Array:
    """A joint's rate over the coordinate's (variant, sample), also where that stands still."""
    motion = cycle.motion
    unit = replace(motion, q_dot=np.ones_like(motion.q), q_ddot=np.zeros_like(motion.q))
    return replace(cycle, motion=unit).joint_rate(name)


def _advantage(cycle: ClosedCycle, name: str) -> Array:
    """Virtual work: efforts are as rates, the other way round."""
    return 1 / size(_ratio(cycle, name)).max(axis=-1)


def _dead_points(cycle: ClosedCycle, name: str) -> Array:
    up = np.real(_ratio(cycle, name)) > 0
    comes_back = returns(cycle.model.mechanism, cycle.motion)
    count = (up[:, 1:] != up[:, :-1]).sum(axis=1)
    return (count + (comes_back & (up[:, 0] != up[:, -1]))).astype(float)


def _time_ratio(cycle: ClosedCycle, name: str) -> Array:
    """Of the two strokes between the reversals; nan where there are not two of these."""
    rate = cycle.joint_rate(name)
    comes_back = returns(cycle.model.mechanism, cycle.motion)
    samples = rate.shape[1]
    up = np.real(rate) > 0
    turns = up != np.roll(up, -1, axis=1)
    found = np.full(len(rate), np.nan, rate.dtype)
    rows = np.flatnonzero((turns.sum(axis=1) == 2) & comes_back)
    if rows.size:
        first = turns[rows].argmax(axis=1)
        last = samples - 1 - turns[rows][:, ::-1].argmax(axis=1)
        begun, ended = (at + _zero(rate[rows], at) for at in (first, last))
        share = (ended - begun) / samples
        share = np.where(np.real(share) < 0.5, share, 1 - share)
        found[rows] = (1 - share) / share
    return found


def _zero(rate: Array, at: Array) -> Array:
    """Where between samples `at` and the next a rate vanishes: the cubic through four samples."""
    nodes = (at[:, None] + np.arange(-1, 3)) % rate.shape[1]
    before, first, last, after = rate[np.arange(len(rate))[:, None], nodes].T
    a1 = last - before / 3 - first / 2 - after / 6
    a2 = (before + last) / 2 - first
    a3 = (after - before) / 6 + (first - last) / 2
    u = first / (first - last)
    for _ in range(_STEPS):  # of complex numbers the last step has the derivative
        u = u - (first + u * (a1 + u * (a2 + u * a3))) / (a1 + u * (2 * a2 + 3 * u * a3))
    return u


def _function_error(cycle: ClosedCycle, name: str, target: Target) -> Array:
    track = _function(cycle, name, target)
    return fit(track, target, cycle.model.mechanism, cycle.motion, cycle._designs).analytic(track)


def _function_squares(cycle: ClosedCycle, name: str, target: Target) -> Array:
    track = _function(cycle, name, target)
    return fit(track, target, cycle.model.mechanism, cycle.motion).squares(track, target)


def _function(cycle: ClosedCycle, name: str, target: Target) -> Array:
    """A joint's value (variant, 1, sample), its whole turns as the target's."""
    track = cycle.joint(name)[:, None]
    if cycle.model.mechanism.value(name).is_angle and "position" not in target.fit:
        # Values are continued past π: what counts is the whole turn that is nearest.
        middle = np.real(track).mean(axis=(1, 2)) - target.table.mean()
        track = track - 2 * np.pi * np.round(middle / (2 * np.pi))[:, None, None]
    return track
