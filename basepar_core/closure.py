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
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from scipy.linalg import qr

from . import joints, kinematics
from .assembly import Assembled, assemble
from .errors import MechanismError
from .kinematics import Geometry
from .mechanism import JOINT_VALUES, LENGTH_VALUES, Mechanism
from .spatial import Array
from .topology import Topology

#: Newton converges quadratically: after an update below this the error is at rounding.
LAST_UPDATE = 1e-9
NEWTON_STEPS = 12
#: Largest change of a coordinate between two closures, rad, and as a share of the mechanism's
#: longest offset for lengths. Rejected variants are tried again with each finer factor.
STEP = 0.1
REFINEMENTS = (1, 4, 16)
#: Closures on the way from the nominal geometry to a variant's.
GEOMETRY_STEPS = 8
#: A block this near to singular (`regularity`) counts as singular: its inverse
#: would lose all but two or three digits twice over.
SINGULAR = 1e-7


class Outcome(IntEnum):
    """What became of a variant's motion (numbers as in FORMAT.md, "Statuses")."""

    CLOSED = 1
    UNASSEMBLABLE = 3
    LOST = 4
    SINGULAR = 5


@dataclass(frozen=True)
class Loops:
    """The equations that close a mechanism's loops, chosen once at the nominal assembly.

    Attributes
    ----------
    rows
        Independent rows of all cut joints' equations, and `redundant` the others (planar loops
        modelled in space have some); they are not solved, but their residual is reported.
    blocks
        Independent square systems: (rows, speeds solved for).
    scale
        (row, speed): makes the equations' derivatives free of units, with the mechanism's
        longest offset as unit of length; for judging how near to singular they are.
    limit
        Largest Newton update per speed: 0.5 rad, or half the longest offset in m.
    step
        Largest change per coordinate between closures.
    """

    rows: tuple[int, ...]
    redundant: tuple[int, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    scale: Array = field(repr=False)
    limit: Array = field(repr=False)
    step: Array = field(repr=False)


@dataclass(frozen=True)
class Model:
    """A mechanism ready for evaluation: assembled, its loops prepared. Immutable, picklable."""

    mechanism: Mechanism
    assembled: Assembled
    loops: Loops

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
    graph = assembled.topology
    dims = kinematics.geometry(mechanism, {})
    at = kinematics.poses(graph, dims, assembled.q[:, None])
    jacobian = kinematics.loop_jacobian(graph, at, (1,))[..., 0]
    rows = _independent_rows(mechanism, graph, jacobian)
    redundant = tuple(k for k in range(len(jacobian)) if k not in rows)
    longest = max(
        float(np.sqrt((origin**2).sum(axis=0)).max())
        for side in dims.joints
        for origin in (side.first_origin, side.second_origin)
    )
    longest = longest or 1.0
    lengths = _is_length(graph)
    scale = np.where(lengths, longest, 1.0) / np.where(_is_gap(graph), longest, 1.0)[:, None]
    limit = np.where(lengths, longest / 2, 0.5)
    step = STEP * np.where(lengths[list(graph.independent)], longest, 1.0)
    loops = Loops(rows, redundant, _blocks(graph, rows), scale, limit, step)
    return Model(mechanism, assembled, loops)


def _is_gap(graph: Topology) -> Array:
    """Which rows of the loop equations are lengths; the others are angles."""
    kinds = [joints.locked_kinds(cut.kind, graph.planar) for cut in graph.cuts]
    flat = [flag for along, about in kinds for flag in [True] * along + [False] * about]
    return np.array(flat, dtype=bool)


def _is_length(graph: Topology) -> Array:
    lengths = np.zeros(graph.speeds, dtype=bool)
    for node in graph.tree:
        lengths[[node.speed + k for k in LENGTH_VALUES.get(node.kind, ())]] = True
    return lengths


def _independent_rows(mechanism: Mechanism, graph: Topology, jacobian: Array) -> tuple[int, ...]:
    dependent = jacobian[:, list(graph.dependent)]
    if not dependent.size:
        return ()
    _, R, order = qr(dependent.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    # At an assembled pose redundant rows vanish to rounding (1e-13); 1e-7 is far from both.
    rank = int((pivots > 1e-7 * pivots[0]).sum())
    if rank < len(graph.dependent):
        raise MechanismError(
            f"The coordinates {', '.join(mechanism.coordinates)} do not determine the motion at "
            f"the assembled pose: {len(graph.dependent) - rank} of the other joints stay free. "
            f"Choose other coordinates, or assemble away from the dead point.",
            ["coordinates"],
        )
    return tuple(sorted(int(k) for k in order[:rank]))


def _blocks(
    graph: Topology, rows: tuple[int, ...]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Connected components of the graph that joins rows and the dependent speeds in them."""
    members: list[tuple[set[int], set[int]]] = []
    for row, speeds in _row_speeds(graph).items():
        if row not in rows:
            continue
        joined, group = [], ({row}, speeds & set(graph.dependent))
        for other in members:
            if other[1] & group[1]:
                group = (group[0] | other[0], group[1] | other[1])
            else:
                joined.append(other)
        members = [*joined, group]
    return tuple((tuple(sorted(r)), tuple(sorted(s))) for r, s in members)


def _row_speeds(graph: Topology) -> dict[int, set[int]]:
    """Which speeds can occur in which row of the loop equations."""
    found: dict[int, set[int]] = {}
    for cut in graph.cuts:
        moved = {
            graph.tree[place].speed + k
            for place, _ in graph.loop(cut)
            for k in range(JOINT_VALUES[graph.tree[place].kind])
        }
        for _ in range(joints.locked_count(cut.kind, graph.planar)):
            found[len(found)] = moved
    return found


def invert(matrices: Array) -> Array:
    """Inverses of (lane, k, k); a singular lane gives nan or inf, and disturbs no other."""
    if matrices.shape[-1] == 2:  # by hand: ten times faster than LAPACK called lane by lane
        return _invert_pairs(matrices)
    with np.errstate(all="ignore"):
        try:
            return np.linalg.inv(matrices)
        except np.linalg.LinAlgError:
            bad = ~(np.abs(np.linalg.det(matrices)) > 0)
            safe = np.where(bad[:, None, None], np.eye(matrices.shape[-1]), matrices)
            return np.where(bad[:, None, None], np.nan, np.linalg.inv(safe))


def _invert_pairs(matrices: Array) -> Array:
    """Inverses of (lane, 2, 2)."""
    a, b = matrices[..., 0, 0], matrices[..., 0, 1]
    c, d = matrices[..., 1, 0], matrices[..., 1, 1]
    adjugate = np.empty(matrices.shape)
    adjugate[..., 0, 0], adjugate[..., 0, 1] = d, -b
    adjugate[..., 1, 0], adjugate[..., 1, 1] = -c, a
    with np.errstate(all="ignore"):
        return adjugate / (a * d - b * c)[..., None, None]


def regularity(matrices: Array) -> Array:
    """Signed distance from singularity of (lane, k, k): sign of det times k/(‖A‖‖A⁻¹‖).

    ±1 for multiples of rotations, 0 where singular (Frobenius norms). Not a determinant over
    row norms: where a whole row vanishes, as at a parallelogram's flat position, that is blind.
    """
    with np.errstate(all="ignore"):
        # Lane by lane in memory: then sums have one order, however many lanes there are.
        k = matrices.shape[-1]
        both = (matrices, invert(matrices))
        pair = [np.ascontiguousarray(A).reshape(len(A), k * k) for A in both]
        size = np.sqrt((pair[0] ** 2).sum(axis=1)) * np.sqrt((pair[1] ** 2).sum(axis=1))
        ratio = k / size
        return np.where(ratio > 0, np.sign(np.linalg.det(matrices)) * ratio, 0.0)


@dataclass
class _Lanes:
    """Variants on their way: configuration (position, variant), and whether each still lives.

    `jacobian` (row, speed, variant) is each variant's own from its last Newton update: within
    that update (1e-9) of the one at `q`, which is plenty for predicting and for the margin.
    """

    q: Array
    live: Array
    jacobian: Array

    def take(self, variants: Array) -> "_Lanes":
        return _Lanes(*(kinematics.pick(a, variants) for a in (self.q, self.live, self.jacobian)))

    def put(self, variants: Array, other: "_Lanes") -> None:
        self.q[:, variants] = other.q
        self.live[variants] = other.live
        self.jacobian[..., variants] = other.jacobian


class _Closer:
    """Newton on the loop equations of a set of variants."""

    def __init__(self, model: Model, last_update: float):
        self.graph, self.loops = model.topology, model.loops
        self.last_update = last_update

    def systems(self, jacobian: Array) -> list[Array]:
        """Block matrices (variant, k, k)."""
        return [
            np.moveaxis(jacobian[np.ix_(rows, speeds)], -1, 0)
            for rows, speeds in self.loops.blocks
        ]

    def start(self, q: Array, count: int) -> _Lanes:
        """All variants at one configuration."""
        rows = len(self.loops.rows) + len(self.loops.redundant)
        return _Lanes(
            np.repeat(q[:, None], count, axis=1),
            np.ones(count, dtype=bool),
            np.zeros((rows, self.graph.speeds, count)),
        )

    def drive(self, dims: Geometry, lanes: _Lanes, before: Array, after: Array) -> None:
        """Set the coordinates to `after` (coordinate,) and close the loops.

        The dependent joints start from the tangent at `before`.
        """
        independent = list(self.graph.independent)
        travel = kinematics.coordinate_step(self.graph, before, after)
        drift = -np.einsum("rs...,s->r...", lanes.jacobian[:, independent], travel)
        self._update(lanes, lanes.jacobian, drift, lanes.live)
        for place, setting in kinematics.coordinate_configuration(self.graph, after):
            lanes.q[place] = setting[:, None]
        self.close(dims, lanes)

    def close(self, dims: Geometry, lanes: _Lanes) -> None:
        """Newton from where the lanes are; those that do not converge die."""
        moving = lanes.live.copy()
        for _ in range(NEWTON_STEPS if self.loops.blocks else 0):
            if not moving.any():
                return
            at = kinematics.poses(self.graph, dims, lanes.q)
            gaps = kinematics.loop_gaps(self.graph, at)
            jacobian = kinematics.loop_jacobian(self.graph, at, lanes.live.shape)
            np.copyto(lanes.jacobian, jacobian, where=moving)
            size = self._update(lanes, jacobian, -gaps, moving)
            moving &= ~(size < self.last_update)
        if self.loops.blocks:
            lanes.live &= ~moving

    def _update(self, lanes: _Lanes, jacobian: Array, right: Array, moving: Array) -> Array:
        """Solve the blocks for a step of the moving variants and take it; its size (variant,)."""
        step = np.zeros((self.graph.speeds, *lanes.live.shape))
        for (rows, speeds), A in zip(self.loops.blocks, self.systems(jacobian), strict=True):
            step[list(speeds)] = np.einsum("vij,jv->iv", invert(A), right[list(rows)])
        limit = self.loops.limit[:, None]
        taken = np.where(np.isfinite(step), np.clip(step, -limit, limit), 0.0)
        for node in self.graph.tree:
            here = slice(node.position, node.position + joints.configuration_size(node.kind))
            rates = slice(node.speed, node.speed + JOINT_VALUES[node.kind])
            moved = joints.integrate(node.kind, lanes.q[here], taken[rates])
            np.copyto(lanes.q[here], moved, where=moving)
        return np.abs(step).max(axis=0)

    def ratios(self, lanes: _Lanes) -> Array:
        """Signed distance from singularity of each block: (block, variant)."""
        if not self.loops.blocks:
            return np.ones((1, *lanes.live.shape))
        scaled = lanes.jacobian * self.loops.scale[..., None]
        return np.stack([regularity(A) for A in self.systems(scaled)])


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
        Least `regularity` of the loop equations over the motion; 1 without loops.
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
        Variants that fail on a leg repeat it in 4 and 16 times finer steps before they are
        reported: of 4 096 random four-bars plain steps falsely reject up to 27, finer ones none.
    """
    if not model.loops.blocks:
        return _open_chain(model, values, targets)
    with np.errstate(all="ignore"):  # failed variants go on as passengers
        return _Walk(model, values, last_update).along(targets)


def _open_chain(model: Model, values: Mapping[str, Array], targets: Array) -> Trace:
    """Without loops the coordinates are the configuration."""
    count = max((np.size(value) for value in values.values()), default=1)
    q = np.zeros((model.topology.positions, count, targets.shape[1]))
    for place, setting in kinematics.coordinate_configuration(model.topology, targets):
        q[place] = setting[:, None]
    outcome = np.full(count, Outcome.CLOSED, dtype=np.int8)
    return Trace(q, outcome, np.full(count, np.nan), np.ones(count), np.zeros(count, dtype=int))


class _Walk:
    """All variants on their way along a motion, with what became of each."""

    def __init__(self, model: Model, values: Mapping[str, Array], last_update: float):
        self.model, self.closer = model, _Closer(model, last_update)
        self.count = max((np.size(value) for value in values.values()), default=1)
        self.values = {n: np.broadcast_to(x, (self.count,)) for n, x in values.items()}
        self.outcome = np.full(self.count, Outcome.CLOSED, dtype=np.int8)
        self.where = np.full(self.count, np.nan)
        self.margin = np.ones(self.count)
        nominal = self.closer.start(model.assembled.q, 1)
        self.closer.close(kinematics.geometry(model.mechanism, {}), nominal)
        self.signs = np.sign(self.closer.ratios(nominal))
        self.lanes = nominal.take(np.zeros(self.count, dtype=int))

    def along(self, targets: Array) -> Trace:
        q = np.zeros((self.model.topology.positions, self.count, targets.shape[1]))
        here = self.model.assembled.coordinates
        if self.values:
            self._advance(self._on_the_way, here, here, GEOMETRY_STEPS)
            self._bury(Outcome.UNASSEMBLABLE, Outcome.UNASSEMBLABLE, np.nan)
        dims = kinematics.geometry(self.model.mechanism, self.values)
        alone = dims.gravity.shape[-1] == 1
        for sample in range(targets.shape[1]):
            there = targets[:, sample]
            pieces = int(np.ceil(np.max(np.abs(there - here) / self.model.loops.step)))
            self._advance(
                lambda variants, _: dims if alone else dims.take(variants),
                here,
                there,
                max(1, pieces),
            )
            self._bury(Outcome.LOST, Outcome.SINGULAR, sample)
            q[:, :, sample] = self.lanes.q
            here = there
        bits = (1 << np.arange(len(self.signs)))[:, None]
        branch = ((self.closer.ratios(self.lanes) < 0) * bits).sum(axis=0)
        return Trace(q, self.outcome, self.where, self.margin, branch)

    def _on_the_way(self, variants: Array, share: float) -> Geometry:
        """Geometries between the nominal one and the variants'."""
        nominal = self.model.mechanism.nominal
        between = {
            name: nominal[name] + share * (x[variants] - nominal[name])
            for name, x in self.values.items()
        }
        return kinematics.geometry(self.model.mechanism, between)

    def _advance(
        self,
        geometry_of: Callable[[Array, float], Geometry],
        before: Array,
        after: Array,
        pieces: int,
    ) -> None:
        """One leg of the way in a number of steps; whoever fails repeats it in finer steps."""
        started, walking = self.lanes, np.flatnonzero(self.lanes.live)
        self.lanes = started.take(np.arange(self.count))
        for finer in REFINEMENTS:
            if walking.size == 1:  # alone it would be summed in another order: it goes twice
                walking = np.repeat(walking, 2)
            part = started.take(walking)
            steps, here = pieces * finer, before
            for k in range(1, steps + 1):
                there = before + (after - before) * (k / steps)
                self.closer.drive(geometry_of(walking, k / steps), part, here, there)
                here = there
            self.lanes.put(walking, part)
            walking = walking[~(part.live & self._is_regular(part))]
            if not walking.size:
                return

    def _is_regular(self, lanes: _Lanes) -> Array:
        """Whether variants are on their branch and away from its ends."""
        ratios = self.closer.ratios(lanes)
        return ((np.sign(ratios) == self.signs) & (np.abs(ratios) > SINGULAR)).all(axis=0)

    def _bury(self, lost: Outcome, singular: Outcome, place: float) -> None:
        """Note cause and place of the variants that have just failed; update the margin."""
        fresh = self.outcome == Outcome.CLOSED
        regular = self._is_regular(self.lanes)
        for failed, cause in ((~self.lanes.live, lost), (self.lanes.live & ~regular, singular)):
            self.outcome[fresh & failed], self.where[fresh & failed] = cause, place
        self.lanes.live &= regular
        margin = np.abs(self.closer.ratios(self.lanes)).min(axis=0)
        self.margin = np.where(self.lanes.live, np.minimum(self.margin, margin), self.margin)
