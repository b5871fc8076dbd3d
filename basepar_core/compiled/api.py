"""The door to the kernels: W of many variants along a motion, as `regressor.observe` gives it.

Loops are closed with lanes over variants (`loop_closure.py`), W is made with lanes over samples
(`regress.py`). The result is that of the plain path up to rounding; a variant's bits do not
depend on the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array, writable
from basepar_core.compiled.simd import LANES, ORDER
from basepar_core.dynamics import (
    ASSEMBLY_REFINEMENTS,
    GEOMETRY_STEPS,
    LAST_UPDATE,
    REFINEMENTS,
    Closer,
    Model,
    Motion,
    Observation,
    Outcome,
    Trace,
    coordinate_configuration,
    coordinate_speeds,
    coordinate_step,
    kinematics,
    slender_lines,
    slender_projection,
)

from .continuation import approach
from .geometry_tables import Dimensions
from .loop_closure import walk
from .mechanism_tables import Plan, plan
from .regress import regress
from .workspace import Work, aligned, is_streamed, workspace

#: Geometries on the way that are evaluated together: two megabytes, most often.
_TOGETHER = 8192
#: Sums of an extrapolation's weights, by its degree: of equal steps they are 1, 3, 7, 15.
_FARTHEST = (5.0, 32.0, 32.0, 32.0)
#: An extrapolation is at most so many times the last curvature, scaled to the step.
_MOST = 2.0
#: Motions whose steps, and speeds of bases, are kept; samples of one whose speeds are.
_WAYS, _SHORT = 8, 4096


@dataclass(frozen=True)
class Start:
    """Variants in their own geometries, at q_assembly: where every motion begins.

    Attributes
    ----------
    last_update
        As in `closure.trace`.
    G
        (item, 12, variant), `geometry_tables.Dimensions.table`.
    q
        (position, variant).
    assembled
        (variant,) bool: whether the loops closed all the way from the nominal geometry.
    margin
        (variant,) where it begins.
    tied
        (10, 10, variant) of slender bodies, by number: `dynamics.slender_projection`.
    """

    last_update: float
    G: Array
    q: Array
    assembled: Array
    margin: Array
    tied: Mapping[int, Array]

    def take(self, rows: Array) -> "Start":
        """Some of them, by index."""
        G, q = (np.ascontiguousarray(x[..., rows]) for x in (self.G, self.q))
        tied = {body: share[..., rows] for body, share in self.tied.items()}
        return Start(self.last_update, G, q, self.assembled[rows], self.margin[rows], tied)


def _count(values: Mapping[str, Array]) -> int:
    return max((np.size(value) for value in values.values()), default=1)


@dataclass(frozen=True)
class Kernels:
    """The kernels' tables of one mechanism."""

    model: Model

    @cached_property
    def dimensions(self) -> Dimensions:
        return Dimensions(self.model)

    @cached_property
    def plan(self) -> Plan:
        return plan(self.model, self.dimensions.items, *self.dimensions.trivial())

    @cached_property
    def signs(self) -> Array:
        """(block,) signs of the loops' determinants at the nominal assembly."""
        closer = Closer(self.model.topology, self.model.loops, LAST_UPDATE)
        nominal = closer.start(self.model.assembled.q, 1)
        closer.close(kinematics.geometry(self.model.mechanism, {}), nominal)
        return np.sign(closer.ratios(nominal))[:, 0]

    @cached_property
    def kept(self) -> Array:
        """(block,) signs that variants must keep; 0 of linear blocks, which have no branch."""
        return np.where(self.model.loops.linear, 0.0, self.signs)

    @cached_property
    def work(self) -> Work:
        """Scratch of all doors: each fills what it reads, and holds the interpreter meanwhile."""
        return workspace(self.plan, self.dimensions.items, self.model.topology.positions)

    def observe(
        self, values: Mapping[str, Array], motion: Motion, last_update: float = LAST_UPDATE
    ) -> Observation:
        """As the function of this name."""
        return self.follow(self.start(values, last_update), motion)

    def table(self, values: Mapping[str, Array]) -> Array:
        """Constants (item, 12, variant) at swept symbols' values, (variant,), SI."""
        return self.dimensions.table(values, _count(values))

    def start(
        self,
        values: Mapping[str, Array],
        last_update: float = LAST_UPDATE,
        table: Array | None = None,
    ) -> Start:
        """Bring variants to their geometries; swept symbols (variant,), SI, and their `table`."""
        count = _count(values)
        values = {name: np.broadcast_to(x, (count,)) for name, x in values.items()}
        G = self.table(values) if table is None else table
        loops = self.model.loops
        q, margin = np.repeat(self._nominal[:, None], count, axis=1), np.ones(count)
        assembled = np.ones(count, dtype=bool)
        if values and loops.blocks:
            assembled = self._assemble(values, G, q, margin, last_update)
        return Start(last_update, G, q, assembled, margin, self._tied(values, count))

    def _tied(self, values: Mapping[str, Array], count: int) -> dict[int, Array]:
        it = self.model.mechanism
        dims = kinematics.geometry(it, values) if it.lines else None
        found = (
            {}
            if dims is None
            else {b: slender_projection(a, d) for b, a, d in slender_lines(it, dims)}
        )
        return {body: np.broadcast_to(x, (*x.shape[:2], count)) for body, x in found.items()}

    def follow(self, start: Start, motion: Motion) -> Observation:
        """W of variants along a motion; see `observe`."""
        motion, samples = padded(motion)
        path = self.trace(start, motion.q)
        W, quality, terms = self.regress(start.G, path.q, motion, samples, tied=start.tied)
        margin = np.where(
            path.outcome == Outcome.CLOSED, np.minimum(path.margin, quality[:, 2]), path.margin
        )
        path = Trace(path.q[..., :samples], path.outcome, path.where, margin, path.branch)
        orders = (0, 1, 1, 2) if self.plan.planar else (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)
        sizes = np.tile(np.sqrt(terms)[:, orders], (1, self.model.topology.bodies))
        for body, share in start.tied.items():
            own = slice(10 * body, 10 * (body + 1))
            sizes[:, own] = np.einsum("vk,kpv->vp", sizes[:, own], np.abs(share))
        W = W[..., :samples].transpose(0, 3, 2, 1)
        return Observation(W, path, quality[:, 0], quality[:, 1], sizes)

    def regress(
        self,
        G: Array,
        q: Array,
        motion: Motion,
        counted: int,
        W: Array | None = None,
        tied: Mapping[int, Array] | None = None,
    ) -> tuple[Array, Array, Array]:
        """W (variant, parameter, coordinate, sample), quality and terms as `regress.regress`.

        A `W` given is filled: zeros, or what a call before has left for this mechanism. `tied`:
        as in `Start`.
        """
        free = len(motion.q)
        u, u_dot, maps = self.speeds(motion)
        count, samples = q.shape[1:]
        if W is None:
            names = self.model.mechanism.parameter_names
            W = aligned((count, len(names), free, samples))
            if not is_streamed(W):
                self.clear(W)
        quality, terms = np.empty((count, 3)), np.empty((count, 3))
        regress(
            *(self.plan, self.work, G, q, counted, writable(motion.q_dot), u, u_dot, maps),
            *(W, is_streamed(W), quality, terms),
        )
        self._tie(W, tied or {})
        return W, quality, terms

    def _tie(self, W: Array, tied: Mapping[int, Array]) -> None:
        """Columns of bodies of a stated form in the place of their own."""
        width = 4 if self.plan.planar else 10
        for body in self.model.mechanism.massless:
            W[:, body * width : (body + 1) * width] = 0.0
        for body, share in tied.items():
            own = W[:, body * width : (body + 1) * width]
            own[:] = np.einsum("kpv,vkcs->vpcs", share, own)

    def clear(self, W: Array) -> None:
        """Put zeros where `regress` writes nothing: W (variant, parameter, coordinate, sample)."""
        for k, columns in self._still:
            W[:, columns, k] = 0.0

    @cached_property
    def _still(self) -> list[tuple[int, slice]]:
        """Coordinates with the columns of bodies that they do not move."""
        width = 4 if self.plan.planar else 10
        moved = self.plan.moved[:, self.plan.carries]
        return [(int(k), slice(width * b, width * (b + 1))) for k, b in np.argwhere(moved == 0)]

    def speeds(self, motion: Motion) -> tuple[Array, Array, Array]:
        """Speeds, their rates, and entries (`Plan.mixed`) of the map from rates to speeds."""
        rates, speeds = self.plan.mixed.T
        if not rates.size:
            u, u_dot = writable(motion.q_dot), writable(motion.q_ddot)
            return u, u_dot, np.zeros((0, motion.t.size))
        states = (motion.q, motion.q_dot, motion.q_ddot)
        short = motion.t.size <= _SHORT  # kept, as `_way` keeps the last ones
        key = b"".join(x.tobytes() for x in states) if short else b""
        found = self._turned.get(key)
        if found is None:
            u, u_dot, T = coordinate_speeds(self.model.topology, *states)
            found = u, u_dot, np.ascontiguousarray(T[speeds, rates])
            if short:
                if len(self._turned) >= _WAYS:
                    self._turned.clear()
                self._turned[key] = found
        return found

    @cached_property
    def _turned(self) -> dict[bytes, tuple[Array, Array, Array]]:
        return {}

    def trace(self, start: Start, targets: Array) -> Trace:
        """Configurations along a motion; see `closure.trace`."""
        graph, count = self.model.topology, len(start.margin)
        path = np.empty((graph.positions, count, targets.shape[1]))
        outcome = np.full(count, Outcome.CLOSED, dtype=np.int8)
        where = np.full(count, np.nan)
        if not self.model.loops.blocks:
            for place, setting in coordinate_configuration(graph, targets):
                path[place] = setting[:, None]
            return Trace(path, outcome, where, start.margin, np.zeros(count, dtype=int))
        outcome[~start.assembled] = Outcome.UNASSEMBLABLE
        live = start.assembled.astype(np.int64)
        settings, places, travel, bends, legs = self._way(targets)
        walk(
            self.plan,
            self.work,
            start.G,
            start.q,
            live,
            settings,
            places,
            travel,
            bends,
            legs,
            self.kept,
            start.last_update,
            path,
            outcome,
            where,
        )
        bits = 1 << np.arange(len(self.signs))
        # Variants that close are on the nominal branch; of the others it says nothing.
        branch = np.full(count, ((self.signs < 0) * bits).sum())
        return Trace(path, outcome, where, start.margin, branch)

    @cached_property
    def _nominal(self) -> Array:
        closer = Closer(self.model.topology, self.model.loops, LAST_UPDATE)
        nominal = closer.start(self.model.assembled.q, 1)
        closer.close(kinematics.geometry(self.model.mechanism, {}), nominal)
        return nominal.q[:, 0]

    def _assemble(
        self, values: Mapping[str, Array], G: Array, q: Array, margin: Array, last_update: float
    ) -> Array:
        """Bring all variants from the nominal geometry to theirs; (variant,) bool: who arrived."""
        assembled = np.zeros(len(margin), dtype=bool)
        waiting = np.arange(len(margin))
        for finer in ASSEMBLY_REFINEMENTS:
            steps = GEOMETRY_STEPS * finer
            group = max(LANES, _TOGETHER // steps)
            for first in range(0, waiting.size, group):
                these = waiting[first : first + group]
                here = {name: x[these] for name, x in values.items()}
                part = np.repeat(self._nominal[:, None], these.size, axis=1)
                live, regular = np.ones((2, these.size), dtype=np.int64)
                least = np.ones(these.size)
                approach(
                    self.plan,
                    self.work,
                    np.ascontiguousarray(G[..., these]),
                    *self.dimensions.way(here, steps),
                    part,
                    live,
                    regular,
                    least,
                    self.kept,
                    last_update,
                )
                q[:, these] = part
                assembled[these] = good = (live & regular) == 1
                margin[these[good]] = least[good]
            waiting = waiting[~assembled[waiting]]
            if not waiting.size:
                break
        return assembled

    def deformed(self, values: Mapping[str, Array], q: Array) -> tuple[Array, Array, bool]:
        """One variant's configurations at many places of a motion, from nominal ones there.

        As `start` brings it from the nominal assembly, with lanes over the places: half of what
        one lane needs along the motion. Not where `loops.jumping` symbols are swept.

        Parameters
        ----------
        values
            Symbols (1,), SI.
        q
            (position, sample), nominal.

        Returns
        -------
        (item, 12, 1) as `Start.G`, (position, sample), and whether all loops closed on the way, on
        the nominal branch.
        """
        dimensions, places = self.dimensions, q.shape[1]
        if not values or not self.model.loops.blocks:
            return dimensions.table(values, 1), q, True
        rows, way = dimensions.way(values, GEOMETRY_STEPS, last=True)
        G = dimensions.nominal.copy()
        G[rows] = way[:, -1]
        G = G.reshape(dimensions.items, -1, 1)
        live, regular = np.ones((2, places), dtype=np.int64)
        found = q.copy()
        approach(
            *(self.plan, self.work, np.repeat(G, places, axis=2)),
            *(rows, np.repeat(way[:, :-1], places, axis=2), found),
            *(live, regular, np.empty(places), self.kept, LAST_UPDATE),
        )
        return G, found, bool((live & regular).all())

    def _way(self, targets: Array) -> tuple[Array, Array, Array, Array, Array]:
        """As `_legs`; the last ones are kept, since sweeps follow the same motions for ever."""
        key = targets.tobytes()
        found = self._ways.get(key)
        if found is None:
            if len(self._ways) >= _WAYS:
                self._ways.clear()
            found = self._ways[key] = self._legs(targets)
        return found

    @cached_property
    def _ways(self) -> dict[bytes, tuple[Array, Array, Array, Array, Array]]:
        return {}

    def _legs(self, targets: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Settings, places, travel, bends and legs of `loop_closure.walk`, from q_assembly on."""
        graph, loops = self.model.topology, self.model.loops
        befores = np.column_stack([self.model.assembled.coordinates, targets[:, :-1]])
        change = np.abs(targets - befores) / loops.step[:, None]
        pieces = np.maximum(1, np.ceil(change.max(axis=0)).astype(int))
        stops: list[Array] = []
        starts: list[Array] = []
        legs: list[Array] = []
        lengths: list[Array] = []  # in time, where each leg has length 1
        for finer in REFINEMENTS:
            begun = sum(len(x) for x in stops)
            legs.append(begun + np.concatenate([[0], np.cumsum(pieces * finer)]))
            leg = np.repeat(np.arange(len(pieces)), pieces * finer)
            k = np.concatenate([np.arange(1, n * finer + 1) for n in pieces])
            share = k / (pieces * finer)[leg]
            last = (k - 1) / (pieces * finer)[leg]
            lengths.append(1 / (pieces * finer)[leg])
            way = (targets - befores)[:, leg]
            stops.append((befores[:, leg] + way * share).T)
            starts.append((befores[:, leg] + way * last).T)
        after, before = np.concatenate(stops).T, np.concatenate(starts).T
        places: list[int] = []
        settings: list[Array] = []
        for place, setting in coordinate_configuration(graph, after):
            places += range(place.start, place.stop)
            settings += list(setting)
        travel = coordinate_step(graph, before, after)
        firsts = [x[0] if level == 0 else x[:-1] for level, x in enumerate(legs)]
        return (
            np.ascontiguousarray(np.array(settings).T),
            np.array(places, dtype=np.int64),
            np.ascontiguousarray(travel.T),
            _bends(
                travel,
                np.concatenate(lengths),
                np.hstack(firsts),
                np.arange(travel.shape[1]) < legs[0][-1],
            ),
            np.array(legs, dtype=np.int64),
        )


def _bends(travel: Array, lengths: Array, firsts: Array, coarse: Array) -> Array:
    """(step, ORDER + 1): shares of the last steps' curvatures in the next one's, latest first.

    What a tangent is short of is the square of the step times a smooth function, which a
    polynomial through the last steps extrapolates: of the coordinate if there is one, else of
    time. Of which degree is seen by extrapolating the coordinates' own speeds; one coordinate's
    are all alike. `travel` is (coordinate, step), `lengths` (step,) in time.
    """
    if len(travel) == 1:
        lengths = travel[0]
    steps = np.arange(lengths.size)
    since = steps - np.maximum.accumulate(np.where(np.isin(steps, firsts), steps, 0))
    places = np.cumsum(lengths) - lengths * (2 / 3)
    shares = np.zeros((lengths.size, ORDER + 1))
    with np.errstate(all="ignore"):
        speeds = travel / lengths
        error = np.linalg.norm(speeds, axis=0)
        rounding = 1e-9 * error
        for count in range(1, ORDER + 1):
            here = steps[since >= (count if count == 1 else np.where(coarse, count, steps.size))]
            last = here[:, None] - np.arange(1, count + 1)
            weights = _extrapolation(places[last], places[here])
            wrong = np.linalg.norm(
                (speeds[:, last] * weights).sum(axis=-1) - speeds[:, here], axis=0
            )
            weights *= (lengths[here, None] / lengths[last]) ** 2
            # A far-fetched extrapolation is worse than none.
            good = (wrong <= error[here] + rounding[here]) & (
                np.abs(weights).sum(axis=1) < _FARTHEST[count - 1]
            )
            error[here[good]] = wrong[good]
            shares[here[good], :count] = weights[good]
            if count == 1:
                shares[here, ORDER] = _MOST * np.where(good, weights[:, 0], 0.0)
    return shares


def _extrapolation(nodes: Array, at: Array) -> Array:
    """Lagrange's weights (case, node) of nodes (case, node) at one place per case."""
    weights = np.ones_like(nodes)
    for i in range(nodes.shape[1]):
        for j in range(nodes.shape[1]):
            if i != j:
                weights[:, i] *= (at - nodes[:, j]) / (nodes[:, i] - nodes[:, j])
    return weights


def padded(motion: Motion) -> tuple[Motion, int]:
    """A motion of at least LANES samples, the last repeated; and how many it had."""
    samples = motion.t.size
    # Contiguous: another layout would be compiled for anew.
    parts = [np.ascontiguousarray(x) for x in (motion.t, motion.q, motion.q_dot, motion.q_ddot)]
    if samples >= LANES:
        return Motion(*parts), samples
    more = LANES - samples
    return Motion(
        *(np.concatenate([x, np.repeat(x[..., -1:], more, -1)], -1) for x in parts)
    ), samples
