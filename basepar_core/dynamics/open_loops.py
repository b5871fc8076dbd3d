"""How far a loop is open that does not close: at one of its joints, all others closed.

Newton's method on all bodies shares a gap among the joints of a loop, and each has a part of it.
What the file's dimensions leave open is the gap at one joint with the others closed, least over
the loop's poses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MechanismError
from basepar_core.mechanism import Mechanism

from . import joints
from .constraint_rows import constraint_rows
from .far_assembly import Search, tree_configuration
from .kinematics import Geometry
from .topology import Topology, topology

#: Rounding of a gap: m, or rad.
ROUNDING = 1e-9
#: What is less, m or rad, or such a share of the other of both, is rounding of the search.
LEAST, SHARE = 1e-6, 1e-2
#: Where several loops are open, those besides the worst weigh more by this.
OTHERS = 1e3
#: The gap is printed to four digits: by a thousandth of its square in 30 steps it is at rest.
AT_REST = 1e-3


@dataclass(frozen=True)
class OpenLoop:
    """A joint at which a loop is open: how far its points are apart (m) across what it lets move,
    and by which angle its axes are off (rad)."""

    joint: str
    length: float
    angle: float

    def __str__(self) -> str:
        sizes = [(self.length, "m"), (self.angle, "rad")]
        largest = max(self.length, self.angle)
        least = min(max(LEAST, largest * SHARE), largest)
        return " and ".join(readable(size, unit) for size, unit in sizes if size >= least)


def readable(size: float, unit: str) -> str:
    """A gap in m or rad as a drawing has it: in mm where it is less than a metre, or in deg."""
    if unit == "rad":
        return f"{np.degrees(size):.4g} deg"
    return f"{1000 * size:.4g} mm" if unit == "m" and size < 1 else f"{size:.4g} {unit}"


def open_loop(
    mechanism: Mechanism,
    dims: Geometry,
    held: Mapping[str, float],
    starts: Sequence[Mapping[str, float]],
) -> OpenLoop | None:
    """The loop that is open farthest at the pose with the least gap, and where.

    Parameters
    ----------
    held
        Joint values that stay as they are, rad or m: coordinates.
    starts
        Joint values about which the pose is looked for, rad or m.

    Returns
    -------
    OpenLoop or None
        None where no joint is open there: it is a relation of values, or closes after all.
    """
    try:
        graph = topology(mechanism if held else replace(mechanism, coordinates=()))
    except MechanismError:  # a loop of coordinates only, which is reported by itself
        return None
    if not graph.cuts:
        return None
    search = Search(graph, dims, _held(mechanism, graph, held), AT_REST)
    q = np.stack([tree_configuration(mechanism, graph, {**one, **held}) for one in starts], axis=1)
    q, found = _best(mechanism, search, q)
    if sum(one.length + one.angle > ROUNDING for one in found) > 1:
        worst = max(range(len(found)), key=lambda k: found[k].length + found[k].angle)
        search.weight = search.weight * _weights(graph, worst)
        _, found = _best(mechanism, search, q)
        found = [found[worst]]
    widest = max(found, key=lambda one: one.length + one.angle)
    return widest if widest.length + widest.angle > ROUNDING else None


def _held(mechanism: Mechanism, graph: Topology, held: Mapping[str, float]) -> Array:
    """Which speeds are of held values, (speed,)."""
    found = np.zeros(graph.speeds, dtype=bool)
    first = {node.joint: node.speed for node in graph.tree}
    for name in held:
        value = mechanism.value(name)
        found[first[value.number] + value.place] = True
    return found


def _best(mechanism: Mechanism, search: Search, q: Array) -> tuple[Array, list[OpenLoop]]:
    """The lane with the least sum of squares, (position, 1), and its gaps at all cut joints."""
    q, _, _ = search.run(q)
    gaps = search.look(q)[1]
    best = int(np.argmin((gaps**2).sum(axis=0)))
    rows = (gaps / search.weight)[:, best]
    found, top = [], 0
    for cut in search.graph.cuts:
        along, about = joints.locked_kinds(cut.kind, search.graph.planar)
        length = float(np.linalg.norm(rows[top : top + along]))
        sine = float(np.linalg.norm(rows[top + along : top + along + about]))
        name = mechanism.joints[cut.joint].name
        found.append(OpenLoop(name, length, float(np.arcsin(min(sine, 1.0)))))
        top += along + about
    return q[:, best : best + 1], found


def _weights(graph: Topology, worst: int) -> Array:
    """More for all rows but those of one cut joint, (row, 1)."""
    rows = constraint_rows(graph)
    sizes = [len(one.are_lengths) for one in rows]
    weights = [1.0 if k == worst else OTHERS for k in range(len(rows))]
    return np.repeat(weights, sizes)[:, None]
