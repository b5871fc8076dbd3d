"""Design metrics of a cycle, by name: a number per variant from its configurations.

`ClosedCycle` is what they are computed from, and what a user's own metric is handed. It is plain
NumPy on the closed configurations: the kernels that close the loops keep no velocities.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LANES,
    Model,
    Motion,
    Poses,
    Rates,
    cross,
    dot,
    evaluate,
    kinematics,
    spatial,
    tracks,
)
from basepar_core.errors import MechanismError, MissingDataError
from basepar_core.mechanism import (
    GROUND,
    PLANAR_PARAMETERS,
    SPATIAL_PARAMETERS,
    Joint,
    Mechanism,
    joint_type,
)
from basepar_core.symbolic import symbol_values

from . import regimes as regime
from .registry import canonical


@dataclass(frozen=True)
class ClosedCycle:
    """Variants of a mechanism that closed along their cycle.

    Attributes
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, (variant,) arrays, SI; others are nominal.
    motion
        The coordinates' motion; `motion.t` are the samples' times in s.
    q
        (position, variant, sample): configurations, `closure.Trace.q`.
    """

    model: Model
    values: Mapping[str, Array]
    motion: Motion
    q: Array

    @property
    def count(self) -> int:
        """Number of variants."""
        return self.q.shape[1]

    @cached_property
    def symbols(self) -> dict[str, Array]:
        """Every symbol and constant by name, (variant,), SI."""
        known = symbol_values(self.model.mechanism, self.values)
        return {name: np.broadcast_to(x, (self.count,)) for name, x in known.items()}

    @cached_property
    def parameters(self) -> Array:
        """Inertial parameters (variant, parameter), SI, bodies in file order."""
        phi = self.model.mechanism.inertial_parameters(self.symbols)
        return np.broadcast_to(phi, (self.count, phi.shape[-1]))

    def joint(self, name: str) -> Array:
        """Values (variant, sample) of a joint, `D` or `J.2`: rad, continued past π, or m."""
        ((_, track),) = tracks(self.model, self.values, self.q, [name])
        return track

    def position(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """A point of a body in the world, (variant, sample, 3) in m; `point` in its frame."""
        mechanism = self.model.mechanism
        names = [one.name for one in mechanism.bodies]
        if body not in names:
            raise MechanismError(
                f"{mechanism.name} has no body {body!r}: {', '.join(names)}.", ["bodies"]
            )
        here = np.zeros(3)
        here[: len(point)] = point
        place = names.index(body)
        found = np.empty((self.count, self.q.shape[2], 3))
        for part, at, _ in self._blocks():
            vector = spatial.rotate(at.R[place], here.reshape(3, 1, 1)) + at.p[place]
            found[part] = np.moveaxis(np.broadcast_to(vector, (3, *self._size(part))), 0, -1)
        return found

    @cached_property
    def torques(self) -> Array:
        """Generalised forces (variant, sample, coordinate) of the inertias and gravity."""
        found = np.empty((self.count, self.q.shape[2], len(self.motion.q)))
        with np.errstate(all="ignore"):
            for part, _, dims in self._blocks():
                W = evaluate(self.model, dims, self.q[:, part], self.motion)[0]
                found[part] = np.einsum("vskp,vp->vsk", W, self.parameters[part])
        return found

    @cached_property
    def shaking(self) -> tuple[Array, Array]:
        """Force (N) and moment (N m) of the bodies' inertia on the frame, (variant, sample, 3).

        The negative rates of the total momentum and of the angular momentum about the world's
        origin. Weights, which do not shake, are left out.
        """
        force = np.empty((self.count, self.q.shape[2], 3))
        moment = np.empty_like(force)
        for part, at, dims in self._blocks():
            rates = _momentum_rates(self, part, at, dims)
            for found, rate in zip((force, moment), rates, strict=True):
                found[part] = -np.moveaxis(rate, 0, -1)
        return force, moment

    def _size(self, part: slice) -> tuple[int, int]:
        return part.stop - part.start, self.q.shape[2]

    def _blocks(self) -> Iterator[tuple[slice, Poses, kinematics.Geometry]]:
        """Few variants at a time, so that their frames stay in the cache."""
        whole = kinematics.geometry(self.model.mechanism, self.values)
        alone = whole.gravity.shape[-1] == 1
        step = max(1, LANES // self.q.shape[2])
        for start in range(0, self.count, step):
            part = slice(start, min(start + step, self.count))
            dims = whole if alone else whole.take(np.arange(self.count)[part])
            dims = dims.over_samples()
            yield part, kinematics.poses(self.model.topology, dims, self.q[:, part]), dims


def _momentum_rates(
    of: ClosedCycle, part: slice, at: Poses, dims: kinematics.Geometry
) -> tuple[Array, Array]:
    """Rates (3, variant, sample) of momentum, and of angular momentum about the origin."""
    graph, size = of.model.topology, of._size(part)
    state = Rates(of.model, at, dims, of.motion, size)
    moving = kinematics.twists(graph, at, state.u)
    alpha, a = state.accelerations(moving)
    inertias = _inertias(of.model.mechanism, of.parameters[part])
    force, moment = np.zeros((2, 3, *size))
    for body, (m, first, I) in enumerate(inertias):
        R = at.R[body]
        w, turn = (spatial.rotate_back(R, x) for x in (moving.omega[body], alpha[body]))
        pull = spatial.rotate_back(R, a[body] + state.gravity)  # `a` is less gravity
        push = m * pull + cross(turn, first) + cross(w, cross(w, first))
        twist = spatial.rotate(I, turn) + cross(w, spatial.rotate(I, w)) + cross(first, pull)
        push = spatial.rotate(R, push)
        force += push
        moment += spatial.rotate(R, twist) + cross(at.p[body], push)
    return force, moment


def _inertias(mechanism: Mechanism, phi: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Per body mass, first moment (3, …) and inertia (3, 3, …), with an axis for samples."""
    planar = mechanism.planar
    each = len(PLANAR_PARAMETERS if planar else SPATIAL_PARAMETERS)
    for body in range(len(mechanism.bodies)):
        entries = phi[:, body * each : (body + 1) * each].T[..., None]
        first, I = np.zeros((3, *entries.shape[1:])), np.zeros((3, 3, *entries.shape[1:]))
        if planar:
            first[:2], I[2, 2] = entries[1:3], entries[3]
        else:
            first[:] = entries[1:4]
            for entry, (i, j) in zip(entries[4:], _SIX, strict=True):
                I[i, j] = I[j, i] = entry
        yield entries[0], first, I


_SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True)
class CycleMetric:
    """A number per variant of a cycle.

    Attributes
    ----------
    value
        From a `ClosedCycle` to (variant,).
    unit, words
        SI text, "1" where there is none; what it is.
    needs_inertias
        Whether every body must state its inertial parameters.
    """

    value: Callable[[ClosedCycle], Array]
    unit: str
    words: str
    needs_inertias: bool = False


def _mass(cycle: ClosedCycle) -> Array:
    each = cycle.parameters.shape[1] // len(cycle.model.mechanism.bodies)
    return cycle.parameters[:, ::each].sum(axis=1)


def _size_of(which: int, is_peak: bool) -> Callable[[ClosedCycle], Array]:
    def value(cycle: ClosedCycle) -> Array:
        squares = (cycle.shaking[which] ** 2).sum(axis=-1)
        return np.sqrt(squares.max(axis=-1) if is_peak else squares.mean(axis=-1))

    return value


_FORCE = "size of the bodies' inertia force on the frame, over the cycle"
_MOMENT = (
    "size of the bodies' inertia moment on the frame about the world's origin, over the cycle"
)
#: Metrics that are named by a word alone.
PLAIN: Mapping[str, CycleMetric] = {
    "mass": CycleMetric(_mass, "kg", "mass of all bodies", True),
    "shaking_force_rms": CycleMetric(_size_of(0, False), "N", f"root mean square {_FORCE}", True),
    "shaking_force_peak": CycleMetric(_size_of(0, True), "N", f"largest {_FORCE}", True),
    "shaking_moment_rms": CycleMetric(
        _size_of(1, False), "N m", f"root mean square {_MOMENT}", True
    ),
    "shaking_moment_peak": CycleMetric(_size_of(1, True), "N m", f"largest {_MOMENT}", True),
}
_CALL = re.compile(r"(stroke|transmission_angle)\(([A-Za-z0-9_., ]*)\)")


def find(mechanism: Mechanism, name: str) -> CycleMetric | None:
    """A metric by its name; None where no metric of this mechanism is called so."""
    if name in PLAIN:
        return PLAIN[name]
    if (known := regime.known(mechanism).get(canonical(name))) is not None:
        return CycleMetric(_of_regime(canonical(name)), known.unit, known.words, True)
    match = _CALL.fullmatch(name)
    if match is None or canonical(name) not in names(mechanism):
        return None
    arguments = canonical(match[2]).split(",")
    return _stroke(mechanism, arguments[0]) if match[1] == "stroke" else _angle(*arguments)


def names(mechanism: Mechanism) -> list[str]:
    """Every metric that a mechanism has."""
    strokes = [f"stroke({value})" for joint in mechanism.joints for value in joint.values]
    angles = [f"transmission_angle({','.join(t)})" for t in _triples(mechanism)]
    return [*PLAIN, *strokes, *angles, *regime.known(mechanism)]


def _of_regime(name: str) -> Callable[[ClosedCycle], Array]:
    """One alone; sweeps measure all they need of a regime at once (`metrics.regimes.Meter`)."""

    def value(cycle: ClosedCycle) -> Array:
        found = regime.meter_of(cycle.model, [name])(cycle.values)
        return np.broadcast_to(found.values[name], (cycle.count,))

    return value


def _triples(mechanism: Mechanism) -> Iterator[tuple[str, str, str]]:
    """Joints B, C, D: a coupler with B and C, and a body with C and D that drives or is driven."""
    joints = [
        joint
        for joint in mechanism.joints
        if set(joint_type(joint.type).slides) <= {"z"} and joint_type(joint.type).values
    ]
    of = {body: [one for one in joints if body in one.bodies] for body in _bodies(joints)}
    for C in joints:
        if GROUND in C.bodies or joint_type(C.type).is_slide:
            continue
        for coupler, output in (C.bodies, C.bodies[::-1]):
            for B in of[coupler]:
                for D in of[output]:
                    if len({B.name, C.name, D.name}) == 3 and not joint_type(B.type).is_slide:
                        yield B.name, C.name, D.name


def _bodies(joints: Sequence[Joint]) -> set[str]:
    return {body for joint in joints for body in joint.bodies}


def _stroke(mechanism: Mechanism, value: str) -> CycleMetric:
    unit = mechanism.value(value).unit
    words = f"greatest less least value of joint {value} over the cycle"
    return CycleMetric(lambda cycle: np.ptp(cycle.joint(value), axis=-1), unit, words)


def _angle(B: str, C: str, D: str) -> CycleMetric:
    words = (
        f"least transmission angle over the cycle at joint {C}, between the lines to {B} and "
        f"to {D} (the normal of its axis if {D} slides); at most a right angle"
    )
    return CycleMetric(lambda cycle: _least_angle(cycle, B, C, D), "rad", words)


def _least_angle(cycle: ClosedCycle, B: str, C: str, D: str) -> Array:
    joints = {joint.name: place for place, joint in enumerate(cycle.model.mechanism.joints)}
    b, c, d = (joints[name] for name in (B, C, D))
    slides = joint_type(cycle.model.mechanism.joints[d].type).is_slide
    found = np.empty(cycle.count)
    for part, at, _ in cycle._blocks():
        coupler = at.P2[b] - at.P2[c]
        other = at.X1[d][:, 2] if slides else at.P2[d] - at.P2[c]
        sine, cosine = _length(cross(coupler, other)), np.abs(dot(coupler, other))
        angle = np.arctan2(cosine, sine) if slides else np.arctan2(sine, cosine)
        found[part] = np.broadcast_to(angle, cycle._size(part)).min(axis=-1)
    return found


def _length(vector: Array) -> Array:
    return np.sqrt(dot(vector, vector))


def check(mechanism: Mechanism, asked: Sequence[str]) -> None:
    """Make sure that a mechanism states what metrics need.

    Raises
    ------
    MissingDataError
        Naming the bodies without inertias.
    """
    found = {name: find(mechanism, name) for name in asked}
    needing = [name for name, metric in found.items() if metric and metric.needs_inertias]
    if needing and not mechanism.has_inertias:
        bare = [body.name for body in mechanism.bodies if body.parameters is None]
        raise MissingDataError(
            f"{', '.join(needing)} of {mechanism.name!r} needs inertias, and {', '.join(bare)} "
            "states none. Give mass, centre and inertia, or drop the metric.",
            [f"bodies.{name}" for name in bare],
        )


def of_cycle(cycle: ClosedCycle, asked: Sequence[str]) -> dict[str, Array]:
    """Metrics (variant,) of a cycle by name; unknown ones raise MechanismError."""
    found = {}
    for name in asked:
        metric = find(cycle.model.mechanism, name)
        if metric is None:
            raise MechanismError(f"{cycle.model.mechanism.name} has no metric {name!r}.", [name])
        found[name] = metric.value(cycle)
    return found
