"""The equations that close a mechanism's loops, chosen once at the nominal assembly."""

from dataclasses import dataclass, field

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MechanismError
from basepar_core.mechanism import Mechanism, joint_type

from . import joints, kinematics
from .assembly import Assembled
from .topology import Topology

#: Largest change of a coordinate between two closures, rad, and as a share of the mechanism's
#: longest offset for lengths.
STEP = 0.1
#: Where values are coupled: largest share of a dependent speed's limit that a step may make.
GEARED = 0.4


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
        Largest Newton update per speed: 0.5 rad, or half the longest offset in m; none where a
        speed occurs in couplings only, whose equations are linear.
    step
        Largest change per coordinate between closures.
    """

    rows: tuple[int, ...]
    redundant: tuple[int, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    scale: Array = field(repr=False)
    limit: Array = field(repr=False)
    step: Array = field(repr=False)


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
    jacobian = kinematics.loop_jacobian(graph, at, (1,))[..., 0]
    rows = _independent_rows(mechanism, graph, jacobian)
    redundant = tuple(k for k in range(len(jacobian)) if k not in rows)
    longest = dims.longest_offset or 1.0
    lengths = length_speeds(graph)
    scale = np.where(lengths, longest, 1.0) / np.where(gap_rows(graph), longest, 1.0)[:, None]
    limit = np.where(lengths, longest / 2, 0.5)
    limit[_only_coupled(graph)] = np.inf
    step = STEP * np.where(lengths[list(graph.independent)], longest, 1.0)
    if graph.couplings:
        step = np.minimum(step, _geared_step(graph, jacobian[list(rows)], limit))
    return Loops(rows, redundant, _blocks(graph, rows), scale, limit, step)


def _geared_step(graph: Topology, jacobian: Array, limit: Array) -> Array:
    """(coordinate,) steps in which no dependent speed makes more than a share of its limit."""
    dependent, free = list(graph.dependent), list(graph.independent)
    ratios = np.linalg.solve(jacobian[:, dependent], jacobian[:, free])
    with np.errstate(divide="ignore"):
        found: Array = GEARED / (np.abs(ratios) / limit[dependent][:, None]).max(axis=0)
    return found


def gap_rows(graph: Topology) -> Array:
    """Which rows of the loop equations are lengths; the others are angles."""
    kinds = [joints.locked_kinds(cut.kind, graph.planar) for cut in graph.cuts]
    flat = [flag for along, about in kinds for flag in [True] * along + [False] * about]
    flat += [values.is_length for values in graph.couplings]
    return np.array(flat, dtype=bool)


def _only_coupled(graph: Topology) -> list[int]:
    in_loops = [graph.tree[place] for cut in graph.cuts for place, _ in graph.loop(cut)]
    closing = {n.speed + k for n in in_loops for k in range(joint_type(n.kind).values)}
    return sorted({k for values in graph.couplings for k in values.speeds} - closing)


def length_speeds(graph: Topology) -> Array:
    """Which speeds are of lengths; the others are of angles."""
    lengths = np.zeros(graph.speeds, dtype=bool)
    for node in graph.tree:
        lengths[[node.speed + k for k in joint_type(node.kind).lengths]] = True
    return lengths


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
            for k in range(joint_type(graph.tree[place].kind).values)
        }
        for _ in range(joints.locked_count(cut.kind, graph.planar)):
            found[len(found)] = moved
    for values in graph.couplings:
        found[len(found)] = set(values.speeds)
    return found


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
