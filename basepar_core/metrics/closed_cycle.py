"""Variants closed along their cycle: what metrics are computed from, a user's own among them.

Plain NumPy on the closed configurations: velocities are solved for when they are asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LANES,
    Model,
    Motion,
    Poses,
    Rates,
    carried,
    cross,
    evaluate,
    kinematics,
    movements,
    places,
    spatial,
    tracks,
)
from basepar_core.errors import MechanismError
from basepar_core.expressions import parse_unit
from basepar_core.mechanism import PLANAR_PARAMETERS, SPATIAL_PARAMETERS, Mechanism, Point
from basepar_core.symbolic import symbol_values


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
    _carry
        What computes (variant, point, axis, sample) of the file's points, for any symbols'
        values; None: NumPy.
    """

    model: Model
    values: Mapping[str, Array]
    motion: Motion
    q: Array
    _carry: Callable[[Mapping[str, Array]], Array] | None = field(default=None, repr=False)

    @property
    def count(self) -> int:
        """Number of variants."""
        return self.q.shape[1]

    @cached_property
    def symbols(self) -> dict[str, Array]:
        """Every symbol and constant by name, (variant,), SI."""
        known = symbol_values(self.model.mechanism, self.values)
        return {name: np.broadcast_to(x, (self.count,)) for name, x in known.items()}

    @property
    def units(self) -> dict[str, str]:
        """SI unit of each of `symbols` by name, "1" for a number."""
        mechanism = self.model.mechanism
        return {
            one.name: "rad"
            if one.is_angle
            else str(parse_unit(one.unit).dimension)
            if one.unit
            else "1"
            for one in (*mechanism.geometry, *mechanism.constants)
        }

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
        place, here = self._body(body), _in_space(point)
        return self._over_blocks(lambda _, at, __: spatial.rotate(at.R[place], here) + at.p[place])

    def velocity(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """Velocity of a point of a body in the world, (variant, sample, 3) in m/s."""
        place, here = self._body(body), _in_space(point)

        def moved(part: slice, at: Poses, dims: kinematics.Geometry) -> Array:
            moving = self._twists(part, at, dims)
            arm = spatial.rotate(at.R[place], here)
            return moving.v[place] + cross(moving.omega[place], arm)

        return self._over_blocks(moved)

    def path(self, name: str) -> Array:
        """A point of the file in the ground's frame, (variant, sample, 3) in m."""
        track = self.tracks(name)
        found = np.zeros((*track.shape[::2], 3))
        found[..., : track.shape[1]] = track.swapaxes(1, 2)
        return found

    def tracks(self, name: str) -> Array:
        """A point's coordinates in the ground's frame, m: (variant, axis, sample), x and y first.

        In the plane these two alone.
        """
        axes = 2 if self.model.mechanism.planar else 3
        if self._carry is None:
            return self._of_point(name, places).swapaxes(1, 2)[:, :axes]
        return self._tracks[:, self.model.mechanism.points.index(self._point(name))]

    @cached_property
    def _tracks(self) -> Array:
        assert self._carry is not None
        return self._carry(self.symbols)

    def _point(self, name: str) -> Point:
        """A point of the file by its name."""
        points = {one.name: one for one in self.model.mechanism.points}
        if name not in points:
            raise MechanismError(
                f"{self.model.mechanism.name} has no point {name!r}: "
                f"{', '.join(points) or 'none'}.",
                ["points"],
            )
        return points[name]

    def movement(self, name: str) -> Array:
        """Its position, velocity and acceleration, (3, variant, sample, 3) in m, m/s, m/s²."""
        found = self._of_point(
            name,
            lambda model, dims, q, points, local: np.concatenate(
                movements(model, dims, q, self.motion, points, local)
            ).reshape(9, 1, *q.shape[1:])[None, :, 0],
        )
        return np.stack(np.split(found, 3, axis=-1))

    def _of_point(self, name: str, found: Callable[..., Array]) -> Array:
        """(variant, sample, entry) of one point, from a function to (point, entry, …)."""
        points = [self._point(name)]
        local = carried(points, self.symbols)[..., None]
        blocks = []
        for part, dims in self._parts():
            here = local if local.shape[2] == 1 else local[:, :, part]
            blocks.append(found(self.model, dims, self.q[:, part], points, here)[0])
        return np.moveaxis(np.concatenate(blocks, axis=1), 0, -1)

    def angular_velocity(self, body: str) -> Array:
        """Angular velocity of a body in the world, (variant, sample, 3) in rad/s."""
        place = self._body(body)
        return self._over_blocks(lambda *block: self._twists(*block).omega[place])

    def orientation(self, body: str) -> Array:
        """Axes of a body's frame in the world as columns, (variant, sample, 3, 3)."""
        place = self._body(body)
        flat = self._over_blocks(
            lambda part, at, _: np.broadcast_to(at.R[place], (3, 3, *self._size(part))).reshape(
                9, *self._size(part)
            )
        )
        return flat.reshape(*flat.shape[:2], 3, 3)

    def angle(self, body: str) -> Array:
        """Angle of a body of a planar mechanism in the world, (variant, sample).

        In rad, counterclockwise from the world's x axis to the body's, continued past π.
        """
        if not self.model.mechanism.planar:
            raise MechanismError(
                f"{self.model.mechanism.name} is spatial: its bodies have no one angle. Take "
                f"orientation({body!r}).",
                ["bodies"],
            )
        R = self.orientation(body)
        return np.unwrap(np.arctan2(R[..., 1, 0], R[..., 0, 0]), axis=1)

    def _body(self, name: str) -> int:
        mechanism = self.model.mechanism
        names = [one.name for one in mechanism.bodies]
        if name not in names:
            raise MechanismError(
                f"{mechanism.name} has no body {name!r}: {', '.join(names)}.", ["bodies"]
            )
        return names.index(name)

    def _twists(self, part: slice, at: Poses, dims: kinematics.Geometry) -> kinematics.Twists:
        state = Rates(self.model, at, dims, self.motion, self._size(part))
        return kinematics.twists(self.model.topology, at, state.u)

    def _over_blocks(self, vector: Callable[[slice, Poses, kinematics.Geometry], Array]) -> Array:
        """(variant, sample, entry) of vectors (entry, variant, sample) of each block."""
        blocks = []
        for part, at, dims in self._blocks():
            found = vector(part, at, dims)
            blocks.append(np.broadcast_to(found, (len(found), *self._size(part))))
        return np.moveaxis(np.concatenate(blocks, axis=1), 0, -1)

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
        """The poses of few variants at a time."""
        for part, dims in self._parts():
            yield part, kinematics.poses(self.model.topology, dims, self.q[:, part]), dims

    def _parts(self) -> Iterator[tuple[slice, kinematics.Geometry]]:
        """Few variants at a time, so that their frames stay in the cache."""
        whole = kinematics.geometry(self.model.mechanism, self.values)
        alone = whole.gravity.shape[-1] == 1
        step = max(1, LANES // self.q.shape[2])
        for start in range(0, self.count, step):
            part = slice(start, min(start + step, self.count))
            dims = whole if alone else whole.take(np.arange(self.count)[part])
            yield part, dims.over_samples()


def _in_space(point: Sequence[float]) -> Array:
    """(3, 1, 1) of a point with two or three numbers."""
    return np.pad(np.asarray(point, float), (0, 3 - len(point))).reshape(3, 1, 1)


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
