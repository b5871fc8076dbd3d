"""The equations that close a mechanism's loops, chosen once at the nominal assembly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MechanismError
from basepar_core.expressions import names
from basepar_core.mechanism import Mechanism, joint_type

from . import joints, kinematics
from .assembly import Assembled
from .constraint_rows import (
    Rows,
    constraint_rows,
    gap_lengths,
    length_speeds,
    loop_jacobian,
)
from .topology import Topology
from .unplaced_joints import without_place

#: Largest change of a coordinate between two closures, rad, and as a share of the mechanism's
#: longest offset for lengths.
STEP = 0.1
#: Where values are coupled: largest share of a dependent speed's limit that a step may make.
GEARED = 0.4
#: Entries of derivatives that differ by less are the same: rounding.
_SAME = 1e-12


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
    linear
        Of every block whether it is linear in joint values: it then has one solution at any
        geometry, and no branch, wherever it is not singular.
    jumping
        Symbols that occur in linear blocks alone: variants need no way to their values, which
        may lead where a ratio is zero and a value without bound.
    scale
        (row, speed): makes the equations' derivatives free of units, with the mechanism's
        longest offset as unit of length, and of the couplings' nominal ratios; for judging how
        near to singular they are.
    limit
        Largest Newton update per speed: 0.5 rad, or half the longest offset in m; none where a
        speed occurs in couplings only, whose equations are linear.
    step
        Largest change per coordinate between closures.
    full
        (block,) what distances from singularity are measured in: of blocks that no motion changes,
        such as fixed ratios, which are no dead point, the one that they have; 1 of others.
    """

    rows: tuple[int, ...]
    redundant: tuple[int, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    linear: tuple[bool, ...]
    jumping: frozenset[str]
    scale: Array = field(repr=False)
    limit: Array = field(repr=False)
    step: Array = field(repr=False)
    full: Array = field(repr=False)


def choose_loops(mechanism: Mechanism, assembled: Assembled) -> Loops:
    """Choose independent equations, and split them into independent blocks.

    Raises
    ------
    MechanismError
        The coordinates cannot drive the mechanism at its assembly.
    """
    graph = assembled.topology
    dims = kinematics.geometry(mechanism, {})
    at = kinematics.poses(graph, dims, assembled.q[:, None])
    every = constraint_rows(graph)
    jacobian = loop_jacobian(graph, at, (1,))[..., 0]
    rows = _independent_rows(mechanism, graph, jacobian)
    redundant = tuple(k for k in range(len(jacobian)) if k not in rows)
    longest = dims.longest_offset or 1.0
    lengths = length_speeds(graph)
    scale = np.where(lengths, longest, 1.0) / np.where(gap_lengths(every), longest, 1.0)[:, None]
    scale *= _balance(graph, every, np.abs(jacobian * scale))
    limit = np.where(lengths, longest / 2, 0.5)
    limit[_only_linear(every)] = np.inf
    step = STEP * np.where(lengths[list(graph.independent)], longest, 1.0)
    if any(one.are_linear for one in every):
        step = np.minimum(step, _geared_step(graph, jacobian[list(rows)], limit))
    blocks = _blocks(graph, every, rows)
    owners = [one for one in every for _ in one.are_lengths]
    linear = tuple(all(owners[k].are_linear for k in own) for own, _ in blocks)
    straight = {k for (own, _), flag in zip(blocks, linear, strict=True) if flag for k in own}
    jumping = _only_in(mechanism, {n for k in straight for n in owners[k].constants})
    fixed = np.abs(_elsewhere(graph, dims) - jacobian) < _SAME
    full = [
        _regularity((jacobian * scale)[np.ix_(*one)]) if fixed[np.ix_(*one)].all() else 1.0
        for one in blocks
    ]
    return Loops(rows, redundant, blocks, linear, jumping, scale, limit, step, np.array(full))


def _elsewhere(graph: Topology, dims: kinematics.Geometry) -> Array:
    """The equations' derivatives (row, speed) at joint values at random, open or closed."""
    rng, q = np.random.default_rng(0), np.zeros(graph.positions)
    for node in graph.tree:
        size = joints.configuration_size(node.kind)
        values = rng.uniform(0.3, 1.0, joint_type(node.kind).values)
        q[node.position : node.position + size] = joints.configuration(node.kind, values)
    return loop_jacobian(graph, kinematics.poses(graph, dims, q[:, None]), (1,))[..., 0]


def _regularity(matrix: Array) -> float:
    """As `loop_newton.regularity`, without sign."""
    return float(len(matrix) / (np.linalg.norm(matrix) * np.linalg.norm(np.linalg.inv(matrix))))


def _only_in(mechanism: Mechanism, chosen: set[int]) -> frozenset[str]:
    """Symbols in some constants of constraints, and nowhere else in the geometry."""
    rows = mechanism.constraint_constants
    inside = [x for k, row in enumerate(rows) if k in chosen for x in row]
    outside = [x for k, row in enumerate(rows) if k not in chosen for x in row]
    outside += [relation.polynomial for relation in mechanism.relations]
    outside += chain(*mechanism.frame_vectors, mechanism.gravity)
    one, other = (frozenset().union(*map(names, some)) for some in (inside, outside))
    return one - other - mechanism.roots


def _balance(graph: Topology, every: Sequence[Rows], sizes: Array) -> Array:
    """(row, speed) factors of rows and dependent speeds that even out the couplings' coefficients.

    A fixed ratio is no dead point, however large it is. Least squares of the logarithms. `sizes`
    are those of the equations' derivatives; loops' rows keep their largest.
    """
    linear = np.array([one.are_linear for one in every for _ in one.are_lengths], bool)
    dependent = list(graph.dependent)
    table = sizes[linear][:, dependent]
    row, speed = np.nonzero(table)
    each, columns = np.arange(len(row)), np.ones(sizes.shape[1])
    incidence = np.zeros((len(row), sum(table.shape)))
    incidence[each, row] = incidence[each, len(table) + speed] = 1.0
    found = np.exp(np.linalg.lstsq(incidence, -np.log(table[row, speed]), rcond=None)[0])
    columns[dependent] = found[len(table) :]
    before, after = (x[:, dependent].max(axis=1, initial=0.0) for x in (sizes, sizes * columns))
    rows = np.divide(before, after, out=np.ones(len(sizes)), where=after > 0)
    rows[linear] = found[: len(table)]
    return rows[:, None] * columns


def _geared_step(graph: Topology, jacobian: Array, limit: Array) -> Array:
    """(coordinate,) steps in which no dependent speed makes more than a share of its limit."""
    dependent, free = list(graph.dependent), list(graph.independent)
    ratios = np.linalg.solve(jacobian[:, dependent], jacobian[:, free])
    with np.errstate(divide="ignore"):
        found: Array = GEARED / (np.abs(ratios) / limit[dependent][:, None]).max(axis=0)
    return found


def _only_linear(every: Sequence[Rows]) -> list[int]:
    """Speeds that occur in linear rows and in no others."""
    linear, others = (
        {k for one in every if one.are_linear is linear for k in one.speeds}
        for linear in (True, False)
    )
    return sorted(linear - others)


def _independent_rows(mechanism: Mechanism, graph: Topology, jacobian: Array) -> tuple[int, ...]:
    dependent = jacobian[:, list(graph.dependent)]
    if not dependent.size:
        return ()
    order, pivots = independent_rows(dependent)
    # At an assembled pose redundant rows vanish to rounding (1e-13); 1e-7 is far from both.
    rank = int((pivots > 1e-7 * pivots[0]).sum())
    if rank < len(graph.dependent):
        raise MechanismError(
            f"The coordinates {', '.join(mechanism.coordinates)} do not determine the motion at "
            f"the assembled pose: {len(graph.dependent) - rank} of the other joints stay free"
            f"{without_place(mechanism)}. Choose other coordinates, or assemble away from the "
            f"dead point.",
            ["coordinates"],
        )
    return tuple(sorted(int(k) for k in order[:rank]))


def _blocks(
    graph: Topology, every: Sequence[Rows], rows: tuple[int, ...]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Connected components of the graph that joins rows and the dependent speeds in them."""
    members: list[tuple[set[int], set[int]]] = []
    for row, speeds in enumerate(set(one.speeds) for one in every for _ in one.are_lengths):
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


def independent_rows(rows: Array) -> tuple[Array, Array]:
    """The order in which rows are most independent: each next one is the longest that is left.

    A QR with column pivoting of the transpose, for small matrices. SciPy's costs more than all
    of `basepar show` to import.

    Parameters
    ----------
    rows
        (row, column).

    Returns
    -------
    Places of the first min(row, column) rows in this order, and the length that was left of each
    without what those before it span: the diagonal of R.
    """
    rest = np.array(rows, float)
    count = min(rest.shape)
    order, left = np.zeros(count, int), np.zeros(count)
    waiting = np.ones(len(rest), bool)
    for k in range(count):
        lengths = np.where(waiting, np.linalg.norm(rest, axis=1), -1.0)
        order[k] = chosen = int(lengths.argmax())
        waiting[chosen], left[k] = False, lengths[chosen]
        if left[k] > 0:
            unit = rest[chosen] / left[k]
            for _ in range(2):  # once more for what rounding left of it
                rest -= np.outer(rest @ unit, unit)
    return order, left
