"""A mechanism as tables of numbers: what the kernels loop over, the same for every variant.

Every joint becomes a chain of elements with one freedom each (what turns in any way is one with
three); an element ends in its link frame, the last one's carries the body. A joint whose parent
is its second body runs backwards: its elements come in reverse order with sign −1.
"""

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, assert_never

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Topology, joints
from basepar_core.mechanism import joint_type

from .coupled_tables import OFFSET, coupled_entries
from .elimination import order

FIXED, TURN, SLIDE, BALL = 0, 1, 2, 3
#: Columns of `Plan.elements`.
KIND, PARENT, POSITION, SPEED, BODY, SIGN, SAME = range(7)
#: Columns of `Plan.cuts`; SPOT: only the points must meet, no frame is needed.
FIRST, SECOND, ROW, ROW_END, PATH, PATH_END, SPOT = range(7)
#: Rows of the loop equations: along an axis of the first frame; about one, by z × z or by the
#: whole frames; a universal joint's angle; along an axis of the world; linear in joint values.
ALONG, ABOUT, ABOUT_WHOLE, NORMAL, WORLD, LINEAR = range(6)


class Plan(NamedTuple):
    """Tables of one mechanism; int64 but for the scales.

    elements (element, 7), cuts (cut, 7), rows (row, 3): kind, axis, whether solved; paths
    (entry, 2): elements that move a cut's second body against its first, with sign. linear
    (entry, 5): of rows that are linear in joint values, see `coupled_tables`; blocks
    (block, 3): size, first step, sign of the determinant over the diagonal's; the block's rows,
    speeds and places stand from its first step on; steps and lists as in `qr.py`. full: as of
    `Loops`. free: speeds of the coordinates. mixed (entry, 2): coordinates whose rate, and whose
    speed, an entry of the map between the two ties that is not fixed. moved (coordinate, element)
    and rated (coordinate, element): whether the link moves with a coordinate, and whether its own
    joint does. carries (body,): its element. plain (body,): whether its frame is the link's.
    """

    planar: int
    elements: Array
    cuts: Array
    rows: Array
    paths: Array
    linear: Array
    blocks: Array
    block_rows: Array
    block_speeds: Array
    place: Array
    steps: Array
    lists: Array
    row_scale: Array
    speed_scale: Array
    limit: Array
    full: Array
    free: Array
    mixed: Array
    moved: Array
    rated: Array
    carries: Array
    plain: Array


#: The same tables for a planar mechanism: the type tells which kernels are compiled.
PlanarPlan: Any = namedtuple("PlanarPlan", Plan._fields)  # type: ignore[misc]


@dataclass(frozen=True)
class Element:
    """One step of a joint's chain; `turn`: constant rotation before it, 3×3."""

    kind: int
    place: int
    turn: Array


_SAME = np.eye(3)
_CYCLE = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
#: What takes z to an axis: a slide along the axis is one along z behind it.
_ALONG = {"x": _CYCLE, "y": _CYCLE @ _CYCLE, "z": _SAME}


def chain(kind: str, forward: bool) -> tuple[list[Element], Array]:
    """A joint's elements in order from parent to child, and the rotation behind the last one."""
    shape = joint_type(kind)
    match shape.turns:
        case "zz":
            middle = joints.UNIVERSAL_ZERO
            order_ = ((0, _SAME), (1, middle)) if forward else ((1, _SAME), (0, middle.T))
            return [Element(TURN, place, turn) for place, turn in order_], _SAME
        case "" | "z" | "any":
            slides = [(SLIDE, place, _ALONG[axis]) for place, axis in enumerate(shape.slides)]
            turning = BALL if shape.is_ball else TURN
            turns = [(turning, len(slides), _SAME)] * bool(shape.rotations)
            elements, axes = [], _SAME
            for motion, place, own in [*slides, *turns] if forward else [*turns, *slides]:
                elements.append(Element(motion, place, axes.T @ own))
                axes = own
            return elements or [Element(FIXED, 0, _SAME)], axes
    assert_never(shape.turns)


def link_elements(graph: Topology) -> list[list[int]]:
    """Per tree joint the numbers of its elements."""
    found, count = [], 0
    for node in graph.tree:
        size = len(chain(node.kind, node.forward)[0])
        found.append(list(range(count, count + size)))
        count += size
    return found


def plan(model: Model, items: int, same: Array, plain: Array) -> Plan:
    """Tables of a mechanism.

    Parameters
    ----------
    model
        The mechanism, prepared.
    items
        Number of items of its constants; gravity is the last, linear rows' stand before it.
    same, plain
        (element,) and (body,) bool: constant rotations and frames that are trivial in every
        variant (`geometry_tables.Dimensions`).
    """
    graph, loops = model.topology, model.loops
    numbers = link_elements(graph)
    carries = np.zeros(graph.bodies, dtype=np.int64)
    for node, mine in zip(graph.tree, numbers, strict=True):
        carries[node.child] = mine[-1]
    elements = _elements(graph, numbers, carries, same)
    cuts, rows, paths = _cuts(model, numbers, carries, len(elements))
    linear = coupled_entries(graph, len(rows), items - 1)
    inside = _row_speeds(cuts, paths, elements, linear)
    solved = [(LINEAR, 0, row in loops.rows) for row in range(len(rows), len(inside))]
    rows = np.vstack([rows, _table(solved, 3)])
    tables = _blocks(model, inside)
    row_scale, speed_scale = _scales(loops.scale, graph.speeds)
    moved, rated = _moved(model, elements, inside)
    kind: Any = PlanarPlan if graph.planar else Plan
    return kind(
        int(graph.planar),
        elements,
        cuts,
        rows,
        paths,
        linear,
        *tables,
        row_scale,
        speed_scale,
        np.asarray(loops.limit, float),
        np.asarray(loops.full, float),
        np.array(graph.independent, dtype=np.int64),
        _table(_mixed(graph), 2),
        moved,
        rated,
        carries,
        plain.astype(np.int64),
    )


def _elements(graph: Topology, numbers: list[list[int]], carries: Array, same: Array) -> Array:
    count = sum(map(len, numbers))
    table = np.zeros((count, 7), dtype=np.int64)
    for node, mine in zip(graph.tree, numbers, strict=True):
        parent = int(carries[node.parent]) if node.parent >= 0 else count
        for e, element in zip(mine, chain(node.kind, node.forward)[0], strict=True):
            body = node.child if e == mine[-1] else -1
            position, speed = node.position + element.place, node.speed + element.place
            sign = 1 if node.forward else -1
            table[e] = element.kind, parent, position, speed, body, sign, same[e]
            parent = e
    return table


def _cuts(
    model: Model, numbers: list[list[int]], carries: Array, ground: int
) -> tuple[Array, Array, Array]:
    graph = model.topology
    solved = set(model.loops.rows)
    cuts: list[tuple] = []
    rows: list[tuple[int, int, bool]] = []
    paths: list[tuple[int, int]] = []
    for cut in graph.cuts:
        along, about = joints.locked_names(cut.kind, graph.planar)
        first_row, first_path = len(rows), len(paths)
        kinds = [(ALONG, "xyz".index(name)) for name in along]
        here = range(first_row, first_row + 3)
        spots = along == "xyz" and solved.issuperset(here)
        if spots:  # three turned together are as good, and need no frame
            kinds = [(WORLD, axis) for axis in range(3)]
        for name in about:
            whole = not joint_type(cut.kind).rotations
            how = NORMAL if name == "n" else ABOUT_WHOLE if whole else ABOUT
            kinds.append((how, 0 if name == "n" else "xyz".index(name)))
        rows += [(how, axis, len(rows) + i in solved) for i, (how, axis) in enumerate(kinds)]
        for place, sign in graph.loop(cut):
            up = sign if graph.tree[place].forward else -sign
            paths += [(e, up) for e in numbers[place]]
        ends = [carries[b] if b >= 0 else ground for b in (cut.first, cut.second)]
        spot = spots and not about
        cuts.append((*ends, first_row, len(rows), first_path, len(paths), spot))
    return _table(cuts, 7), _table(rows, 3), _table(paths, 2)


def _table(lines: Sequence[tuple], width: int) -> Array:
    return np.array(lines, dtype=np.int64).reshape(-1, width)


def _row_speeds(cuts: Array, paths: Array, elements: Array, linear: Array) -> list[set[int]]:
    """Per row the speeds in it."""
    found: list[set[int]] = []
    for cut in cuts:
        mine = set()
        for e, _ in paths[cut[PATH] : cut[PATH_END]]:
            mine |= set(_speeds_of(elements[e]))
        found += [mine] * int(cut[ROW_END] - cut[ROW])
    for row, position, speed, *_ in linear:
        if position == OFFSET:
            found.append(set())
        else:
            found[row].add(int(speed))
    return found


def _speeds_of(element: Array) -> range:
    size = {FIXED: 0, BALL: 3}.get(int(element[KIND]), 1)
    return range(int(element[SPEED]), int(element[SPEED]) + size)


def _blocks(model: Model, inside: list[set[int]]) -> tuple[Array, ...]:
    """blocks, block_rows, block_speeds, place, steps, lists."""
    blocks: list[tuple[int, int, int]] = []
    steps: list[tuple[int, ...]] = []
    all_rows: list[int] = []
    all_speeds: list[int] = []
    place: list[int] = []
    lists: list[int] = []
    for rows, speeds in model.loops.blocks:
        found = order(np.array([[s in inside[r] for s in speeds] for r in rows]))
        blocks.append((len(rows), len(steps), found.sign))
        all_rows += rows
        all_speeds += speeds
        place += [int(k) for k in np.argsort(found.column)]
        for t in range(len(rows)):
            first = len(lists)
            lists += found.rows[t]
            middle = len(lists)
            lists += found.others[t]
            steps.append((found.column[t], found.row[t], first, middle, middle, len(lists)))
    flat = [np.array(x, dtype=np.int64) for x in (all_rows, all_speeds, place)]
    return _table(blocks, 3), *flat, _table(steps, 6), np.array(lists, dtype=np.int64)


def _scales(scale: Array, speeds: int) -> tuple[Array, Array]:
    """`Loops.scale` as factors of rows and of speeds."""
    if not scale.size:
        return np.ones(0), np.ones(speeds)
    return scale[:, 0] / scale[0, 0], scale[0].copy()


def _moved(model: Model, elements: Array, inside: list[set[int]]) -> tuple[Array, Array]:
    graph = model.topology
    balls = [set(_speeds_of(element)) for element in elements]
    rated = np.zeros((len(graph.independent), len(elements) + 1), dtype=np.int64)
    for k, free in enumerate(graph.independent):
        own = _together(graph, free) or next(mine for mine in balls if free in mine)
        moving = set(own)
        for rows, speeds in model.loops.blocks:
            if any(inside[r] & own for r in rows):
                moving |= set(speeds)
        rated[k, :-1] = [bool(mine & moving) for mine in balls]
    moved = rated.copy()
    for e, parent in enumerate(elements[:, PARENT]):
        moved[:, e] |= moved[:, parent]  # the ground, last, never moves
    return moved, rated


def _mixed(graph: Topology) -> list[tuple[int, int]]:
    """Coordinates (of a rate, of a speed) that one joint's rotation vector or twist ties."""
    number = {speed: k for k, speed in enumerate(graph.independent)}
    found = []
    for node in graph.tree:
        shape = joint_type(node.kind)
        mine = [number[s] for s in range(node.speed, node.speed + shape.values) if s in number]
        if shape.is_ball and mine:
            slides = len(shape.slides)
            found += [
                (j, k) for part in (mine[:slides], mine[slides:]) for j in part for k in part
            ]
    return found


def _together(graph: Topology, speed: int) -> set[int]:
    """Slides of a free joint, one of which is `speed`: a velocity in its own axes mixes them."""
    for node in graph.tree:
        slides = range(node.speed, node.speed + len(joint_type(node.kind).slides))
        if joint_type(node.kind).is_free and speed in slides:
            return set(slides)
    return set()
