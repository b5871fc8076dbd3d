"""Closing the loops of many variants along a motion, on one continuous branch.

Relative joint coordinates with cut joints: the coordinates are prescribed, Newton's method
solves the cut joints' equations for the other tree joints, block by independent block, from
the nominal assembly to each variant's geometry in a straight line and then along the motion in
small steps. Against maximal coordinates this is about 8 (planar) to 30 (Stewart platform) times
cheaper, because the systems solved are 2×2 to 9×9.

Every variant is solved as if it were alone: it stops iterating when *it* has converged, so
results do not depend on which variants share an array. A variant that fails goes on as a
passenger and is marked; nothing raises.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import roots

from . import kinematics
from .assembly import Assembled, assemble
from .coordinates import coordinate_configuration
from .kinematics import Geometry
from .loop_newton import LAST_UPDATE, Closer, Lanes
from .loops import Loops, choose_loops
from .topology import Topology

#: Variants that fail on a leg repeat it with each finer factor.
REFINEMENTS = (1, 4, 16)
#: The same on the way from the nominal geometry.
ASSEMBLY_REFINEMENTS = (1, 4, 16, 64)
#: Closures on the way from the nominal geometry to a variant's.
GEOMETRY_STEPS = 8
#: Newton's last update on a coarse way: the next one is its square, far within the branch.
COARSE = 1e-3
#: Samples whose Newton step takes as long as the calls that it is made of.
LANES_A_CALL = 200
#: Of two closures of one sample, in rad and m: each is within Newton's last update, squared.
SAME = 1e-6
#: A block this near to singular (`regularity`) counts as singular: its inverse
#: would lose all but two or three digits twice over.
SINGULAR = 1e-7


class Outcome(IntEnum):
    """What became of a variant's motion (numbers as in docs/sweep-files.md, "Statuses")."""

    CLOSED = 1
    UNASSEMBLABLE = 3
    LOST = 4
    SINGULAR = 5


@dataclass(frozen=True)
class Model:
    """A mechanism ready for evaluation: assembled, its loops prepared. Immutable, picklable."""

    mechanism: Mechanism
    assembled: Assembled
    loops: Loops

    def __repr__(self) -> str:
        return f"Model({self.mechanism.name[:80]!r})"

    @property
    def topology(self) -> Topology:
        return self.assembled.topology


def prepare(mechanism: Mechanism) -> Model:
    """Assemble a mechanism and choose the equations that close its loops.

    Raises
    ------
    AssemblyError, MechanismError
        As `assemble`; or the coordinates cannot drive the mechanism at its assembly.
    """
    assembled = assemble(mechanism)
    it = assembled.mechanism
    return Model(it, assembled, choose_loops(it, assembled))


@dataclass(frozen=True)
class Trace:
    """Configurations of many variants along a motion.

    Attributes
    ----------
    q
        (position, variant, sample).
    outcome
        `Outcome` per variant, int8.
    where
        Per variant the sample at which it was lost or became singular; nan where it closed or
        could not be assembled.
    margin
        Least `regularity` of the loop equations over `Loops.full`, along the motion; 1 without
        loops.
    branch
        Per variant a bit per block: whether its determinant is negative at the assembly.
    """

    q: Array
    outcome: Array
    where: Array
    margin: Array
    branch: Array


def trace(
    model: Model,
    values: Mapping[str, Array],
    targets: Array,
    last_update: float = LAST_UPDATE,
) -> Trace:
    """Follow a motion with every variant.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, (variant,) arrays in SI; the others are nominal.
    targets
        Coordinates' configuration (coordinate, sample): what the tree joints are set to. From
        q_assembly to the first sample and on, in straight lines and small steps.
    last_update
        Newton stops after an update below this (rad or m). Only tests of badly closed loops
        change it.

    Returns
    -------
    Trace
        Variants that fail on a leg repeat it in 4 and 16 times finer steps (64 too on the way
        to their geometry) before they are reported: of 4 096 random four-bars plain steps
        falsely reject up to 27, finer ones none.
    """
    if not model.loops.blocks:
        return _open_chain(model, values, targets)
    with np.errstate(all="ignore"):  # failed variants go on as passengers
        return _Walk(model, values, last_update).along(targets)


def trace_alone(model: Model, targets: Array) -> Trace:
    """The nominal mechanism's motion, all samples closed side by side where that is less work.

    One variant alone costs as many calls as thousands. So every sample gets a lane that goes
    straight from the assembly; then each goes the motion's leg to the next sample, and must end
    where that one is: by induction these are the configurations that `trace` follows. Where one
    does not get there, samples are closed one after the other, coarsely on the way and then all
    at once. Either way they are `trace`'s to rounding.

    Parameters
    ----------
    model, targets
        As in `trace`.
    """
    if not model.loops.blocks:
        return _open_chain(model, {}, targets)
    with np.errstate(all="ignore"):
        found = _side_by_side(model, targets)
    if found is not None:
        return found
    coarse = trace(model, {}, targets, COARSE)
    if coarse.outcome[0] != Outcome.CLOSED:
        return coarse
    closer = Closer(model.topology, model.loops, LAST_UPDATE)
    lanes = closer.start(coarse.q[:, 0, 0], targets.shape[1])
    lanes.q = coarse.q[:, 0].copy()
    with np.errstate(all="ignore"):
        closer.close(kinematics.geometry(model.mechanism, {}), lanes)
    if not lanes.live.all():
        return trace(model, {}, targets)
    return replace(coarse, q=lanes.q[:, None])


def _side_by_side(model: Model, targets: Array) -> Trace | None:
    """`trace_alone` by a lane for each sample; None where that is no less work, or one fails."""
    here, step = model.assembled.coordinates[:, None], model.loops.step[:, None]
    count = targets.shape[1]

    def steps(before: Array) -> Array:
        return np.maximum(1.0, np.ceil(np.max(np.abs(targets - before) / step, axis=0)))

    straight, legs = steps(here), steps(np.hstack([here, targets[:, :-1]]))
    calls = float(straight.max() + legs[1:].max(initial=0.0))
    if not calls * (1 + count / LANES_A_CALL) < legs.sum():
        return None
    walk = _Walk(model, {}, COARSE)
    found = walk.to_each(targets, (1,))
    if found is None or not walk.polished():
        return None
    q, ratios = walk.lanes.q, walk.closer.ratios(walk.lanes)
    # The last sample's lane has nowhere to go and stays.
    after = np.hstack([targets[:, 1:], targets[:, -1:]])
    walk.follow(targets, after, int(legs[1:].max(initial=1.0)))
    if not (walk.polished() and np.abs(walk.lanes.q[:, :-1] - q[:, 1:]).max(initial=0.0) < SAME):
        return None
    return replace(found, q=q[:, None], margin=np.abs(ratios).min(keepdims=True)[0])


def trace_states(model: Model, targets: Array, values: Mapping[str, Array] | None = None) -> Trace:
    """Variants at states that belong to no motion, each reached from the assembly.

    All go their straight ways side by side: as many calls as the longest of them has steps, where
    `trace` has as many as the way from one to the next and on. States that cannot be reached so
    are followed in their order.

    Parameters
    ----------
    model, targets
        As in `trace`.
    values
        As in `trace`; none: the nominal mechanism alone.
    """
    values = values or {}
    if not model.loops.blocks:
        return _open_chain(model, values, targets)
    with np.errstate(all="ignore"):
        walk = _Walk(model, values, LAST_UPDATE)
        found = walk.to_each(targets) if walk.to_geometry() else None
    return found or trace(model, values, targets)


def _open_chain(model: Model, values: Mapping[str, Array], targets: Array) -> Trace:
    """Without loops the coordinates are the configuration."""
    count = max((np.size(value) for value in values.values()), default=1)
    q = np.zeros((model.topology.positions, count, targets.shape[1]))
    for place, setting in coordinate_configuration(model.topology, targets):
        q[place] = setting[:, None]
    outcome = np.full(count, Outcome.CLOSED, dtype=np.int8)
    return Trace(q, outcome, np.full(count, np.nan), np.ones(count), np.zeros(count, dtype=int))


class _Walk:
    """All variants on their way along a motion, with what became of each."""

    def __init__(self, model: Model, values: Mapping[str, Array], last_update: float):
        self.model, self.closer = model, Closer(model.topology, model.loops, last_update)
        self.count = max((np.size(value) for value in values.values()), default=1)
        self.values = {n: np.broadcast_to(x, (self.count,)) for n, x in values.items()}
        self.outcome = np.full(self.count, Outcome.CLOSED, dtype=np.int8)
        self.where = np.full(self.count, np.nan)
        self.margin = np.ones(self.count)
        self.nominal = kinematics.geometry(model.mechanism, {})
        nominal = self.closer.start(model.assembled.q, 1)
        self.closer.close(self.nominal, nominal)
        self.signs = np.sign(self.closer.ratios(nominal))
        self.lanes = nominal.take(np.zeros(self.count, dtype=int))

    def along(self, targets: Array) -> Trace:
        q = np.zeros((self.model.topology.positions, self.count, targets.shape[1]))
        here = self.model.assembled.coordinates
        self.to_geometry()
        geometry_of = self._there()
        for sample in range(targets.shape[1]):
            there = targets[:, sample]
            pieces = int(np.ceil(np.max(np.abs(there - here) / self.model.loops.step)))
            self._advance(geometry_of, here, there, max(1, pieces))
            self._bury(Outcome.LOST, Outcome.SINGULAR, sample)
            q[:, :, sample] = self.lanes.q
            here = there
        return Trace(q, self.outcome, self.where, self.margin, self._branch())

    def to_geometry(self) -> bool:
        """From the nominal geometry to the variants'; whether all get there."""
        here = self.model.assembled.coordinates
        if self.values:
            self._advance(self._on_the_way, here, here, GEOMETRY_STEPS, ASSEMBLY_REFINEMENTS)
            self._bury(Outcome.UNASSEMBLABLE, Outcome.UNASSEMBLABLE, np.nan)
        return bool((self.outcome == Outcome.CLOSED).all())

    def to_each(self, targets: Array, refinements: tuple[int, ...] = REFINEMENTS) -> Trace | None:
        """Every variant's every sample by a lane of its own; None where one does not get there.

        From here on a lane is a sample of a variant, the samples of the first variant first.
        """
        here, shape = self.model.assembled.coordinates, (self.count, targets.shape[1])
        way = np.abs(targets - here[:, None]) / self.model.loops.step[:, None]
        self._repeat(targets.shape[1])
        pieces = max(1, int(np.ceil(way.max())))
        self.follow(here, np.tile(targets, shape[0]), pieces, refinements)
        self._bury(Outcome.LOST, Outcome.SINGULAR, np.nan)
        if (self.outcome != Outcome.CLOSED).any():
            return None
        q, first = self.lanes.q.reshape(-1, *shape), slice(None, None, shape[1])
        margin = self.margin.reshape(shape).min(axis=1)
        branch = self._branch().reshape(shape)[:, -1]
        return Trace(q, self.outcome[first], self.where[first], margin, branch)

    def _branch(self) -> Array:
        """(lane,) a bit per block."""
        bits = (1 << np.arange(len(self.signs)))[:, None]
        return np.asarray(((self.closer.ratios(self.lanes) < 0) * bits).sum(axis=0))

    def _repeat(self, samples: int) -> None:
        """So many lanes in the place of each."""
        lanes = np.repeat(np.arange(self.count), samples)
        self.count *= samples
        self.values = {name: x[lanes] for name, x in self.values.items()}
        self.lanes = self.lanes.take(lanes)
        self.outcome, self.where = self.outcome[lanes], self.where[lanes]
        self.margin = np.ones(self.count)

    def _there(self) -> Callable[[Array, float], Geometry]:
        """The lanes' own geometry, for `_advance`."""
        if not self.values:
            return lambda *_: self.nominal
        dims = kinematics.geometry(self.model.mechanism, self.values)
        return lambda lanes, _: dims.take(lanes)

    def follow(
        self, before: Array, after: Array, pieces: int, refinements: tuple[int, ...] = (1,)
    ) -> None:
        """Every lane from its coordinates to others, at its geometry."""
        self._advance(self._there(), before, after, pieces, refinements)

    def polished(self) -> bool:
        """Close all lanes to rounding; whether they close, on their branch."""
        closer = Closer(self.model.topology, self.model.loops, LAST_UPDATE)
        closer.close(self._there()(np.arange(self.count), 1.0), self.lanes)
        return bool((self.lanes.live & self._is_regular(self.lanes)).all())

    def _on_the_way(self, variants: Array, share: float) -> Geometry:
        """Geometries between the nominal one and the variants'."""
        nominal = self.model.mechanism.nominal
        between = {
            name: x[variants]
            if name in self.model.loops.jumping
            else nominal[name] + share * (x[variants] - nominal[name])
            for name, x in self.values.items()
            if name not in self.model.mechanism.roots  # they do not go straight
        }
        between |= roots(self.model.mechanism, between, way=share < 1)
        return kinematics.geometry(self.model.mechanism, between)

    def _advance(
        self,
        geometry_of: Callable[[Array, float], Geometry],
        before: Array,
        after: Array,
        pieces: int,
        refinements: tuple[int, ...] = REFINEMENTS,
    ) -> None:
        """One leg of the way in a number of steps; whoever fails repeats it in finer steps.

        `after`, and then `before` too, is (coordinate,), or (coordinate, variant) where each goes
        its own way.
        """
        started, walking = self.lanes, np.flatnonzero(self.lanes.live)
        self.lanes = started.take(np.arange(self.count))
        for finer in refinements:
            if walking.size == 1:  # alone it would be summed in another order: it goes twice
                walking = np.repeat(walking, 2)
            part = started.take(walking)
            start = before if after.ndim == 1 else before[:, None]
            if before.ndim > 1:
                start = before[:, walking]
            travel = (after if after.ndim == 1 else after[:, walking]) - start
            steps, here = pieces * finer, start
            for k in range(1, steps + 1):
                there = start + travel * (k / steps)
                self.closer.drive(geometry_of(walking, k / steps), part, here, there)
                here = there
            self.lanes.put(walking, part)
            walking = walking[~(part.live & self._is_regular(part))]
            if not walking.size:
                return

    def _is_regular(self, lanes: Lanes) -> Array:
        """Whether variants are on their branch and away from its ends."""
        ratios = self.closer.ratios(lanes)
        same = (np.sign(ratios) == self.signs) | np.array(self.model.loops.linear)[:, None]
        return (same & (np.abs(ratios) > SINGULAR)).all(axis=0)

    def _bury(self, lost: Outcome, singular: Outcome, place: float) -> None:
        """Note cause and place of the variants that have just failed; update the margin."""
        fresh = self.outcome == Outcome.CLOSED
        regular = self._is_regular(self.lanes)
        for failed, cause in ((~self.lanes.live, lost), (self.lanes.live & ~regular, singular)):
            self.outcome[fresh & failed], self.where[fresh & failed] = cause, place
        self.lanes.live &= regular
        margin = np.abs(self.closer.ratios(self.lanes)).min(axis=0)
        self.margin = np.where(self.lanes.live, np.minimum(self.margin, margin), self.margin)
