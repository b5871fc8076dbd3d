"""States that stand alone: loops closed, W and energies at any q, q̇ and q̈, in any order.

A sweep follows a motion, and a sample lost ends it. A state is reached in a straight line of the
coordinates from the assembly instead, whatever other states share its array. With one coordinate
such lines lie on one another, so that the kernels walk through the sorted states once upwards and
once downwards; with several every state is a lane of the plain path's Newton.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LANES,
    LAST_UPDATE,
    OPEN,
    REFINEMENTS,
    SINGULAR,
    Closer,
    Geometry,
    Lanes,
    Motion,
    Outcome,
    carried,
    configuration_energies,
    coordinate_configuration,
    evaluate,
    instant_centres,
    kinematics,
    measured,
    movements,
    point_rates,
)
from basepar_core.mechanism import joint_type
from basepar_core.symbolic import symbol_values

from .api import Kernels, Start, padded
from .workspace import is_aligned, is_streamed

#: States that are walked through at once: steps of all refinements take some megabytes.
_WALKED = 4096


@dataclass(frozen=True)
class Closed:
    """Configurations (position, variant, sample), and which of them (variant, sample) closed.

    Those that did not stand at the assembly.
    """

    q: Array
    closed: Array


class States:
    """A mechanism at some geometries, to be evaluated at states.

    Parameters
    ----------
    kernels
        The mechanism's.
    values
        Swept symbols, (variant,) arrays, SI; with `paired` (sample,): each state has a geometry
        of its own, and there is one variant in every result. Empty: the nominal geometry.
    paired
        Which of the two.
    """

    def __init__(self, kernels: Kernels, values: Mapping[str, Array], paired: bool = False):
        self.kernels, self.model, self.values = kernels, kernels.model, values
        self.paired = paired

    @cached_property
    def start(self) -> Start:
        """Every geometry at q_assembly."""
        return self.kernels.start(self.values)

    def take(self, part: slice) -> "States":
        """Some of the pairs."""
        some = {n: x[part] if x.size > 1 else x for n, x in self.values.items()}
        found = States(self.kernels, some, paired=True)
        start = self.start
        found.start = start.take(np.arange(len(start.margin))[part])
        return found

    def close(self, q: Array) -> Closed:
        """Close the loops at coordinates q (coordinate, sample), rad or m."""
        samples = q.shape[1]
        count = 1 if self.paired else len(self.start.margin)
        blocks = self.model.loops.blocks
        if blocks and len(q) == 1 and not self.paired:
            found = self._walked(q[0])
        elif blocks:
            found = self._straight(q)
        else:
            path = np.empty((self.model.topology.positions, count, samples))
            for place, setting in coordinate_configuration(self.model.topology, q):
                path[place] = setting[:, None]
            return Closed(path, np.ones((count, samples), dtype=bool))
        home = self.start.q[:, None] if self.paired else self.start.q[..., None]
        np.copyto(found.q, home, where=~found.closed)
        return found

    def _walked(self, q: Array) -> Closed:
        """One coordinate: up and down through the sorted states."""
        here = self.model.assembled.coordinates[0]
        path = np.empty((self.model.topology.positions, len(self.start.margin), q.size))
        closed = np.zeros(path.shape[1:], dtype=bool)
        order = np.argsort(q, kind="stable")
        below = np.searchsorted(q[order], here)
        for way in (order[below:], order[:below][::-1]):
            for first in range(0, way.size, _WALKED):
                part = way[first : first + _WALKED]
                trace = self.kernels.trace(self.start, q[None, part])
                path[..., part] = trace.q
                lost = np.where(trace.outcome == Outcome.CLOSED, np.inf, trace.where)
                closed[:, part] = np.arange(part.size) < np.nan_to_num(lost, nan=0.0)[:, None]
        return Closed(path, closed)

    def _straight(self, q: Array) -> Closed:
        """Several coordinates, or a geometry for each state: every state is a lane."""
        samples = q.shape[1]
        count = 1 if self.paired else len(self.start.margin)
        geometry = kinematics.geometry(self.model.mechanism, self.values)
        alone = geometry.gravity.shape[-1] == 1
        lane = np.arange(count * samples)
        state = lane % samples
        variant = state if self.paired else lane // samples
        here = self.model.assembled.coordinates[:, None]
        pieces = np.ceil(np.abs(q - here) / self.model.loops.step[:, None]).max(axis=0)
        path = np.empty((self.model.topology.positions, lane.size))
        closed = np.zeros(lane.size, dtype=bool)
        near = np.argsort(pieces[state], kind="stable")
        for first in range(0, lane.size, LANES):
            part = near[first : first + LANES]
            dims = geometry if alone else geometry.take(variant[part])
            own = variant[part] if len(self.start.margin) > 1 else np.zeros(part.size, dtype=int)
            path[:, part], closed[part] = self._driven(dims, own, q[:, state[part]])
        shape = (count, samples)
        return Closed(path.reshape(-1, *shape), closed.reshape(shape))

    def _driven(self, dims: Geometry, own: Array, targets: Array) -> tuple[Array, Array]:
        """Lanes from the assembly to their states (coordinate, lane); who fails takes more steps.

        `own` is each lane's place in `start`. Also (lane,) bool: who arrived.
        """
        here = self.model.assembled.coordinates[:, None]
        pieces = np.ceil(np.abs(targets - here) / self.model.loops.step[:, None]).max(initial=1)
        path, arrived = self.start.q[:, own].copy(), np.zeros(own.size, dtype=bool)
        waiting = np.flatnonzero(self.start.assembled[own])
        for finer in REFINEMENTS:
            if not waiting.size:
                break
            part = dims if dims.gravity.shape[-1] == 1 else dims.take(waiting)
            lanes = self._along(
                part, self.start.q[:, own[waiting]], targets[:, waiting], int(pieces) * finer
            )
            good = waiting[lanes.live]
            path[:, good], arrived[good] = lanes.q[:, lanes.live], True
            waiting = waiting[~lanes.live]
        return path, arrived

    def _along(self, dims: Geometry, q: Array, targets: Array, steps: int) -> Lanes:
        """Lanes that go their straight lines in a number of steps."""
        closer = Closer(self.model.topology, self.model.loops, LAST_UPDATE)
        lanes = closer.start(q[:, 0], q.shape[1])
        lanes.q = np.array(q)
        before = np.repeat(self.model.assembled.coordinates[:, None], q.shape[1], axis=1)
        way = targets - before
        with np.errstate(all="ignore"):  # failed lanes go on as passengers
            closer.close(dims, lanes)
            here = before
            for k in range(1, steps + 1):
                there = before + way * (k / steps)
                closer.drive(dims, lanes, here, there)
                ratios = closer.ratios(lanes)
                kept = self.kernels.kept[:, None]
                same = (np.sign(ratios) == kept) | (kept == 0)
                lanes.live &= (same & (np.abs(ratios) > SINGULAR)).all(axis=0)
                here = there
        return lanes

    def regressor(self, motion: Motion, at: Closed, W: Array | None = None) -> tuple[Array, Array]:
        """W (variant, parameter, coordinate, sample) at closed states, N or N m per unit.

        Also (variant,) bool: variants whose redundant constraints stay closed. `W` is filled if
        given: an array (variant, sample, coordinate, parameter) that an earlier
        call with as many states made; another one is left alone.
        """
        if self.paired:
            return self._paired_regressor(motion, at)
        W = None if W is None else W.transpose(0, 3, 2, 1)
        samples = motion.t.size
        motion, counted = padded(motion)
        q = at.q
        if motion.t.size > samples:
            q = np.concatenate([q, np.repeat(q[..., -1:], motion.t.size - samples, -1)], -1)
        if W is not None and motion.t.size == samples and is_aligned(W):
            if not is_streamed(W):
                self.kernels.clear(W)
        else:
            W = None
        W, quality, _ = self.kernels.regress(self.start.G, q, motion, counted, W, self.start.tied)
        return W[..., :samples], quality[:, 0] <= OPEN

    def _paired_regressor(self, motion: Motion, at: Closed) -> tuple[Array, Array]:
        names = self.model.mechanism.parameter_names
        W = np.empty((1, motion.t.size, len(motion.q), len(names)))
        whole = np.ones(1, dtype=bool)
        for part in self._parts(motion.t.size):
            with np.errstate(all="ignore"):
                W[:, part], residual, _, _ = evaluate(
                    self.model, self.dims(part), at.q[..., part], _of(motion, part)
                )
            whole &= residual <= OPEN
        return W.transpose(0, 3, 2, 1), whole

    def energies(self, motion: Motion, at: Closed) -> Array:
        """h (variant, sample, parameter), J per unit parameter; see `configuration_energies`."""
        names = self.model.mechanism.parameter_names
        h = np.empty((at.q.shape[1], motion.t.size, len(names)))
        for part in self._parts(motion.t.size):
            h[:, part] = configuration_energies(
                self.model, self.dims(part), at.q[..., part], _of(motion, part)
            )
        return h

    def point_rates(self, motion: Motion, at: Closed, body: str, point: Sequence[float]) -> Array:
        """Jacobian (variant, sample, coordinate, component) of a point; see the function."""
        width = 3 if self.model.topology.planar else 6
        found = np.empty((at.q.shape[1], motion.t.size, len(motion.q), width))
        for part in self._parts(motion.t.size):
            found[:, part] = point_rates(
                self.model, self.dims(part), at.q[..., part], _of(motion, part), body, point
            )
        return found

    def points(self, motion: Motion, at: Closed) -> Array:
        """(order, point, axis, variant, sample) of the file's points; see `movements`.

        Order 0 are positions, 1 velocities, 2 accelerations: m, m/s, m/s².
        """
        points = self.model.mechanism.points
        known = symbol_values(self.model.mechanism, self.values)
        local = carried(points, known)
        local = local[:, :, None] if self.paired else local[..., None]
        found = np.empty((3, len(points), 3, *at.q.shape[1:]))
        for part in self._parts(at.q.shape[2]):
            here = local[..., part] if self.paired and local.shape[-1] > 1 else local
            found[..., part] = movements(
                self.model, self.dims(part), at.q[..., part], _of(motion, part), points, here
            )
        return found

    def instant_centres(self, motion: Motion, at: Closed) -> Array:
        """(body, body, 2, variant, sample), m; see `dynamics.instant_centres`."""
        count = 1 + len(self.model.mechanism.bodies)
        found = np.empty((count, count, 2, *at.q.shape[1:]))
        for part in self._parts(at.q.shape[2]):
            found[..., part] = instant_centres(
                self.model, self.dims(part), at.q[..., part], _of(motion, part)
            )
        return found

    def joint_values(self, at: Closed) -> Array:
        """(value, variant, sample) of all joints in file order, rad or m.

        What closes a loop, and what turns in any way, is measured: angles within (−π, π].
        """
        mechanism, graph = self.model.mechanism, self.model.topology
        places = {n.joint: n.position for n in graph.tree if not joint_type(n.kind).is_ball}
        counts = [joint_type(joint.type).values for joint in mechanism.joints]
        found = np.empty((sum(counts), *at.q.shape[1:]))
        others = [k for k, count in enumerate(counts) if count and k not in places]
        for k, count in enumerate(counts):
            if k in places:
                row = sum(counts[:k])
                found[row : row + count] = at.q[places[k] : places[k] + count]
        for part in self._parts(at.q.shape[2]) if others else ():
            stand = kinematics.poses(graph, self.dims(part), at.q[..., part])
            for k in others:
                row = sum(counts[:k])
                found[row : row + counts[k], :, part] = measured(mechanism.joints[k], k, stand)
        return found

    def dims(self, part: slice) -> Geometry:
        """Geometry that broadcasts over (variant, sample) of some samples."""
        if not self.paired or self._dims.gravity.shape[-1] == 1:
            return self._dims.over_samples()
        states = np.arange(part.start, part.stop)
        return self._dims.take(states).over_variants()

    @cached_property
    def _dims(self) -> Geometry:
        return kinematics.geometry(self.model.mechanism, self.values)

    def _parts(self, samples: int) -> list[slice]:
        count = 1 if self.paired else len(self.start.margin)
        size = max(1, LANES // count)
        return [slice(k, min(k + size, samples)) for k in range(0, samples, size)]


def _of(motion: Motion, part: slice) -> Motion:
    """Some samples of a motion."""
    return Motion(motion.t[part], motion.q[:, part], motion.q_dot[:, part], motion.q_ddot[:, part])
