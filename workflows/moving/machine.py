"""A mechanism as data for the page's own Newton: no type of joint and no name of a file is code.

The joint table goes along as chains of slides and turns, dimensions as one straight-line program
of the symbols, so that the page closes any variant's loops by itself (`newton.js`).
"""

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np

from basepar_core.dynamics import UNIVERSAL_ZERO, Model, TreeJoint
from basepar_core.expressions import Expression, Graph, operands
from basepar_core.mechanism import JOINT_TYPES, JointType, Mechanism

from .coupled_values import coupled
from .film import readings, view_of
from .motion import filmed_motion
from .sketch import draft


def kit(model: Model) -> dict[str, Any]:
    """All that a page needs to film any variant of a mechanism by itself (`filmed.js`).

    Raises
    ------
    MissingDataError
        The file states no motion.
    """
    it, made, whole = model.mechanism, draft(model), filmed_motion(model)
    shown = whole.shown(whole.motion.t.size)
    motion = whole.taken(shown).motion
    return {
        "mechanism": it.name,
        "flat": it.planar,
        "bodies": [body.name for body in it.bodies],
        "view": view_of(model).ravel().tolist(),
        "machine": machine(model, [one.share for one in made.circles]),
        "draft": {
            "lines": made.lines,
            "marks": made.marks,
            "points": made.points,
            "circles": [
                {"body": one.body, "centre": one.centre, "other": one.other}
                for one in made.circles
            ],
        },
        "motion": {
            "name": whole.name,
            "t": (motion.t - motion.t[0]).tolist(),
            "q": motion.q.T.tolist(),
            "step": whole.step,
            "lasts": float(np.ptp(whole.motion.t)),
            "readings": [
                {**one, "values": one["values"].tolist()} for one in readings(model, motion)
            ],
        },
    }


def joint_table(planar: bool) -> dict[str, Any]:
    """The table of joint types as data.

    Parameters
    ----------
    planar
        Whether the mechanism lies in a plane, where closed joints lock less.

    Returns
    -------
    By type `chain`, F2 seen from F1: {slide: axis}, {turn: axis}, {constant: rotation, by rows},
    {ball: true}, each in the frame that those before it have reached; and what a closed joint
    locks: F2's origin `along` axes of F1, and `pairs` of axes of F1 and F2 that stay
    perpendicular. Axes are 0, 1, 2.
    """
    return {name: _type(shape, planar) for name, shape in JOINT_TYPES.items()}


def _type(shape: JointType, planar: bool) -> dict[str, Any]:
    chain: list[dict[str, Any]] = [{"slide": axis} for axis in shape.directions]
    match shape.turns:
        case "":
            pass
        case "z":
            chain.append({"turn": 2})
        case "zz":
            chain += [{"turn": 2}, {"constant": UNIVERSAL_ZERO.ravel().tolist()}, {"turn": 2}]
        case "any":
            chain.append({"ball": True})
        case _:
            assert_never(shape.turns)
    return {
        "chain": chain,
        "along": ["xyz".index(axis) for axis in shape.locks(planar)[0]],
        "pairs": [["xyz".index(a) for a in pair] for pair in shape.locked_pairs(planar)],
    }


def machine(model: Model, shares: Sequence[Expression] = ()) -> dict[str, Any]:
    """What `newton.js` reads.

    Parameters
    ----------
    model
        The mechanism, prepared.
    shares
        Further formulas that the program evaluates.

    Returns
    -------
    JSON: `types`; `symbols` [name, nominal value]; `program`, whose outputs are the frames'
    vectors in the order of `Mechanism.frame_vectors`, then the couplings' rows, the points, per
    body mass and first moments (none without inertias), and the shares; `relations`; `joints`,
    `tree`, `cuts` and `coupled`; Newton's `limit` per speed (null: none) and the largest `step`
    per coordinate; the nominal `assembly`: its configuration and coordinates.
    """
    it, graph = model.mechanism, model.topology
    rows, couplings = coupled(model)
    return {
        "flat": it.planar,
        "bodies": len(it.bodies),
        "types": joint_table(it.planar),
        **_dimensions(it, rows, shares),
        "joints": [
            {"name": one.name, "type": one.type, "bodies": [it.body_index[b] for b in one.bodies]}
            for one in it.joints
        ],
        "tree": [_node(node) for node in graph.tree],
        "cuts": [cut.joint for cut in graph.cuts],
        "coupled": couplings,
        "independent": list(graph.independent),
        "limit": [x if np.isfinite(x) else None for x in model.loops.limit.tolist()],
        "step": model.loops.step.tolist(),
        "assembly": {
            "q": model.assembled.q.tolist(),
            "coordinates": model.assembled.coordinates.tolist(),
        },
    }


def _node(node: TreeJoint) -> dict[str, Any]:
    return {
        "joint": node.joint,
        "parent": node.parent,
        "child": node.child,
        "forward": node.forward,
        "position": node.position,
        "speed": node.speed,
    }


def _dimensions(
    it: Mechanism, rows: Sequence[Expression], shares: Sequence[Expression]
) -> dict[str, Any]:
    """Symbols, relations and the program of all that depends on them."""
    graph = Graph()
    flat = [entry for vector in it.frame_vectors for entry in vector]
    points = [entry for point in it.points for entry in point.at]
    moments = 3 if it.planar else 4
    known = it.bodies if it.has_inertias else ()
    masses = [x for body in known for x in (body.parameters or ())[:moments]]
    groups = {"frames": flat, "rows": rows, "points": points, "masses": masses, "shares": shares}
    outputs = [graph.tree(entry) for group in groups.values() for entry in group]
    relations: list[tuple[str, int, int]] = []
    for one in it.relations:
        gap = graph.tree(one.polynomial)
        relations.append((one.symbol, gap, graph.derivative(gap, one.symbol)))
    wanted = [*outputs, *(place for _, *pair in relations for place in pair)]
    steps, number = _program(graph, wanted)
    names = [step[1] for step in steps if step[0] == "name"]
    return {
        "symbols": [[name, it.nominal[name]] for name in names],
        "program": {
            "steps": steps,
            "outputs": [number[place] for place in outputs],
            "counts": {name: len(group) for name, group in groups.items()},
        },
        "relations": [[name, number[gap], number[slope]] for name, gap, slope in relations],
    }


def _program(graph: Graph, wanted: Sequence[int]) -> tuple[list[list[Any]], dict[int, int]]:
    """Steps [operation, operands …] of the nodes that are needed, and each node's number."""
    needed: set[int] = set()
    waiting = list(wanted)
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            waiting += operands(graph.nodes[place])
    number = {place: k for k, place in enumerate(sorted(needed))}
    steps: list[list[Any]] = []
    for place in number:
        operation, *rest = graph.nodes[place]
        if operation in ("number", "pi"):
            steps.append(["number", float(rest[0]) if rest else float(np.pi)])
        else:
            steps.append([operation, *(x if operation == "name" else number[x] for x in rest)])
    return steps, number
