"""Variants closed along their cycle: what metrics are computed from, a user's own among them.

Plain NumPy on the closed configurations: velocities are solved for when they are asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Variants
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
    measured,
    movements,
    pin_turn,
    spatial,
)
from basepar_core.dynamics import places as placed
from basepar_core.errors import MechanismError
from basepar_core.expressions import Expression, parse_unit
from basepar_core.expressions import evaluate as evaluated
from basepar_core.mechanism import GROUND, JointValue, Point, joint_type
from basepar_core.single_dof import Reaction
from basepar_core.symbolic import symbol_values

from .analytic import angle_of, continued
from .freed import freed_engine, with_virtual
from .rates import axis_of, has_planar_rate, planar_rate, planar_slide, rate_of
from .shaking import momentum_rates


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
    _by
        What computes where bodies carry points, and how these move; None: NumPy.
    _designs
        (variant,) numbers that ascend: variants with the same are a design, and small steps from
        it by which slopes are taken; None: each is one of its own.
    """

    model: Model
    values: Mapping[str, Array]
    motion: Motion
    q: Array
    _by: Variants | None = field(default=None, repr=False)
    _designs: Array | None = field(default=None, repr=False)

    @property
    def count(self) -> int:
        """Number of variants."""
        return self.q.shape[1]

    @cached_property
    def symbols(self) -> dict[str, Array]:
        """Every symbol and constant by name, (variant,), SI."""
        given = self.values if self._by is None else self._by.values  # with roots
        known = symbol_values(self.model.mechanism, given)
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
        value, graph = self.model.mechanism.value(name), self.model.topology
        for node in graph.tree:
            if node.joint == value.number and not joint_type(node.kind).is_ball:
                return self.q[node.position + value.place]
        turn = pin_turn(self.model, self.q, name)
        if turn is None:
            if self.model.mechanism.planar and joint_type(value.joint.type).is_slide:
                return planar_slide(value.joint, self._places)
            return self._measured(value, self.q)
        return turn + self._measured(value, self.q[..., :1]) - turn[:, :1]

    def _measured(self, value: JointValue, q: Array) -> Array:
        """A joint's value as its frames stand, angles continued."""
        blocks = []
        for part, at, _ in self._blocks() if q is self.q else self._posed(q):
            found = measured(value.joint, value.number, at)
            blocks.append(np.broadcast_to(found, (len(found), part.stop - part.start, q.shape[2])))
        whole = np.concatenate(blocks, axis=1)
        first = len(joint_type(value.joint.type).slides)
        if joint_type(value.joint.type).is_ball and not np.iscomplexobj(whole):
            whole[first:] = spatial.unwrapped(whole[first:])
        found = whole[value.place]
        return continued(found) if value.is_angle else found

    def joint_rate(self, name: str) -> Array:
        """Rates (variant, sample) of a joint's value, rad/s or m/s."""
        value = self.model.mechanism.value(name)

        def rated(part: slice, at: Poses, dims: kinematics.Geometry) -> Array:
            return rate_of(self.model, value, at, self._twists(part, at, dims))[None]

        if self.model.mechanism.planar and has_planar_rate(value):
            return planar_rate(value, self._moves)
        return self._over_blocks(rated)[..., 0]

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
        return _in_three(self.tracks(name))

    def tracks(self, name: str) -> Array:
        """A point's coordinates in the ground's frame, m: (variant, axis, sample), x and y first.

        In the plane these two alone.
        """
        return self._tracks[:, self.model.mechanism.points.index(self._point(name))]

    @cached_property
    def _tracks(self) -> Array:
        return self._places(self.model.mechanism.points)

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
        moved = self.moves(name)
        return np.stack([_in_three(moved[:, order]) for order in range(3)])

    def moves(self, name: str) -> Array:
        """The same as `tracks` has them: (variant, order, axis, sample)."""
        return self._file_moves[:, self.model.mechanism.points.index(self._point(name))]

    @cached_property
    def _file_moves(self) -> Array:
        return self._moves(self.model.mechanism.points)

    def _places(self, points: Sequence[Point]) -> Array:
        """(variant, point, axis, sample) of any points of bodies, m."""
        if self._by is not None:
            return self._by.points(self.q, points, self.symbols)
        return self._plainly(points, placed)

    def _moves(self, points: Sequence[Point]) -> Array:
        """(variant, point, order, axis, sample) of any points of bodies, SI."""
        if self._by is not None:
            return self._by.movements(self.q, self.motion, points, self.symbols)

        def moved(
            model: Model, dims: Any, q: Array, points: Any, local: Array, at: Poses | None
        ) -> Array:
            found = np.stack(movements(model, dims, q, self.motion, points, local, at), axis=1)
            return found.reshape(len(found), 9, *q.shape[1:])

        found = self._plainly(points, moved, 9)
        axes = 2 if self.model.mechanism.planar else 3
        return found.reshape(*found.shape[:2], 3, 3, -1)[:, :, :, :axes]

    def _plainly(
        self, points: Sequence[Point], found: Callable[..., Array], rows: int = 0
    ) -> Array:
        """(variant, point, row, sample), from a function to (point, row, variant, sample)."""
        rows = rows or (2 if self.model.mechanism.planar else 3)
        local, blocks = self._local(points)[..., None], []
        # Of many variants only the bodies that carry points are followed.
        alone = ((part, None, dims) for part, dims in self._parts())
        for part, at, dims in self._kept or alone:
            here = local if local.shape[2] == 1 else local[:, :, part]
            blocks.append(found(self.model, dims, self.q[:, part], points, here, at)[:, :rows])
        return np.moveaxis(np.concatenate(blocks, axis=2), 2, 0)

    def _of_symbols(self, expressions: Sequence[Expression]) -> Array:
        """Expressions in symbols alone, (variant, expression), SI."""
        found = evaluated(expressions, self.symbols)
        shape = (self.count, len(expressions))
        return np.stack([np.broadcast_to(x, (self.count,)) for x in found], 1).reshape(shape)

    @cached_property
    def regularity(self) -> Array:
        """(variant, sample) distance of the loop equations from singular; 1 without loops."""
        found = np.ones((self.count, self.q.shape[2]), self.q.dtype)
        for part, at, dims in self._blocks():
            state = Rates(self.model, at, dims, self.motion, self._size(part))
            loops = self.model.loops
            for (rows, _), full, condition in zip(
                loops.blocks, loops.full, state.conditions, strict=True
            ):
                found[part] = np.minimum(found[part], len(rows) / (full * condition))
        return found

    def _reactions(self, wanted: tuple[Reaction, ...]) -> Array:
        """What joints transmit (variant, sample, reaction), N or N m, of inertias and weights.

        Raises
        ------
        MechanismError, UsageError
            The motion does not determine it (`single_dof.freed`).
        """
        engine = freed_engine(self.model, wanted)
        seen = engine.variants(self.values).observe(with_virtual(self.motion, len(wanted)))
        phi = engine.model.mechanism.inertial_parameters(self.symbols)
        phi = np.broadcast_to(phi, (self.count, phi.shape[-1]))
        W = seen.W[:, :, -len(wanted) :]
        return np.einsum("vskp,vp->vsk", W, phi)

    def _local(self, points: Sequence[Point]) -> Array:
        return carried(points, self.symbols)

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
        if body == GROUND:
            return np.zeros((self.count, self.q.shape[2]))
        base, tip = np.moveaxis(self._places(axis_of(body)), 1, 0)
        x, y = np.moveaxis(tip - base, 1, 0)
        return continued(angle_of(y, x))

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
        found = np.empty((self.count, self.q.shape[2], len(self.motion.q)), self.q.dtype)
        with np.errstate(all="ignore"):
            for part, at, dims in self._blocks():
                W = evaluate(self.model, dims, self.q[:, part], self.motion, at)[0]
                found[part] = np.einsum("vskp,vp->vsk", W, self.parameters[part])
        return found

    @cached_property
    def shaking(self) -> tuple[Array, Array]:
        """Force (N) and moment (N m) of the bodies' inertia on the frame, (variant, sample, 3).

        The negative rates of the total momentum and of the angular momentum about the world's
        origin. Weights, which do not shake, are left out.
        """
        force = np.empty((self.count, self.q.shape[2], 3), self.q.dtype)
        moment = np.empty_like(force)
        for part, at, dims in self._blocks():
            rates = momentum_rates(self.model, self.motion, self.parameters[part], at, dims)
            for found, rate in zip((force, moment), rates, strict=True):
                found[part] = -np.moveaxis(rate, 0, -1)
        return force, moment

    def _size(self, part: slice) -> tuple[int, int]:
        return part.stop - part.start, self.q.shape[2]

    def _blocks(self) -> Iterable[tuple[slice, Poses, kinematics.Geometry]]:
        """The poses of few variants at a time."""
        return self._kept or self._posed(self.q)

    @cached_property
    def _kept(self) -> list[tuple[slice, Poses, kinematics.Geometry]]:
        """The poses of variants that are few in all, which nobody writes into; else none."""
        return list(self._posed(self.q)) if self.count * self.q.shape[2] <= LANES else []

    def _posed(self, q: Array) -> Iterator[tuple[slice, Poses, kinematics.Geometry]]:
        for part, dims in self._parts():
            yield part, kinematics.poses(self.model.topology, dims, q[:, part]), dims

    def _parts(self) -> Iterator[tuple[slice, kinematics.Geometry]]:
        """Few variants at a time, so that their frames stay in the cache."""
        whole = kinematics.geometry(self.model.mechanism, self.values)
        alone = whole.gravity.shape[-1] == 1
        step = max(1, LANES // self.q.shape[2])
        for start in range(0, self.count, step):
            part = slice(start, min(start + step, self.count))
            dims = whole if alone else whole.take(np.arange(self.count)[part])
            yield part, dims.over_samples()


def _in_three(track: Array) -> Array:
    """(variant, sample, 3) of (variant, axis, sample)."""
    found = np.zeros((*track.shape[::2], 3), track.dtype)
    found[..., : track.shape[1]] = track.swapaxes(1, 2)
    return found


def _in_space(point: Sequence[float]) -> Array:
    """(3, 1, 1) of a point with two or three numbers."""
    return np.pad(np.asarray(point, float), (0, 3 - len(point))).reshape(3, 1, 1)
