"""What a mechanism consists of, as plain facts and in the terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.compiled import way
from basepar_core.dynamics import (
    Model,
    Outcome,
    branch_found,
    carried,
    constraints_found,
    ends_of_motions,
    explanation,
    impossible_inertias,
    impossible_text,
    kinematics,
    other_branches,
    places,
    travel,
    unlikely_inertias,
    unlikely_masses,
)
from basepar_core.expressions import Expression, evaluate, parse_unit
from basepar_core.mechanism import Mechanism, Symbol, unused_symbols
from basepar_core.texts import plural

from . import explanations, far_poses, kinematic_geometry, terminal


def _number(expression: Expression | None, values: Mapping[str, float]) -> float | None:
    return None if expression is None else float(evaluate([expression], values)[0])


def _symbol(mechanism: Mechanism, symbol: Symbol) -> dict[str, Any]:
    """A symbol with its numbers in its own unit."""
    one = parse_unit(symbol.unit or "1").size
    return {
        "name": symbol.name,
        "value": mechanism.nominal[symbol.name] / one,
        "unit": symbol.unit,
        "bounds": symbol.bounds and [float(x) / one for x in evaluate(symbol.bounds, {})],
        "constant": symbol in mechanism.constants,
    }


def document(model: Model) -> dict[str, Any]:
    """`basepar show`: bodies, joints, loops, degrees of freedom."""
    it, found = model.mechanism, way(model)
    assembled = zip(it.coordinates, model.assembled.coordinates, strict=True)
    return {
        "mechanism": it.name,
        "description": it.description,
        "space": "planar" if it.planar else "spatial",
        "degrees_of_freedom": len(it.coordinates),
        "coordinates": [
            _value(it, name) | {"assembled": float(value)} for name, value in assembled
        ],
        "parameters": list(it.parameter_names),
        "bodies": _bodies(it),
        "impossible_inertias": impossible_inertias(it),
        "unlikely_inertias": unlikely_inertias(it),
        "unlikely_masses": unlikely_masses(it),
        "joints": _joints(model),
        "couplings": _couplings(it),
        "loops": _loops(model),
        "redundant_constraints": len(model.loops.redundant),
        **_constraints(model),
        "blocks": [len(rows) for rows, _ in model.loops.blocks],
        "residual": model.assembled.residual,
        **explanations.facts(it, explanation(model)),
        **_branches(model),
        "far_poses": far_poses.found(model),
        **_motion_ends(model),
        "points": _points(model),
        "unused_symbols": unused_symbols(it.source),
        "symbols": [_symbol(it, symbol) for symbol in (*it.geometry, *it.constants)],
        "path": found.name,
        "path_why": found.why,
    }


def _branches(model: Model) -> dict[str, Any]:
    """The branch found where it is not as stated, and the others where it is far from that."""
    it, found = model.mechanism, branch_found(model)
    is_far = any(one.stated is not None and not one.coupling for one in found)
    return {
        "branch_found": [
            _value(it, one.name)
            | {"value": one.value, "stated": one.stated}
            | ({"coupling": one.coupling, "offset": one.offset} if one.coupling else {})
            for one in found
        ],
        "other_branches": [
            {
                "nearer": one.nearer,
                "values": [_value(it, name) | {"value": x} for name, x in one.values.items()],
            }
            for one in (other_branches(model) if is_far else ())
        ],
    }


def _value(it: Mechanism, name: str) -> dict[str, Any]:
    """A joint value's name and unit."""
    return {"name": name, "unit": it.value(name).unit}


def _bodies(it: Mechanism) -> list[dict[str, Any]]:
    per_body = len(it.parameter_names) // len(it.bodies)
    kinds = [name.split(".")[1] for name in it.parameter_names[:per_body]]

    def numbers(entries: Sequence[Expression | None]) -> dict[str, float | None]:
        return {kind: _number(x, it.nominal) for kind, x in zip(kinds, entries, strict=True)}

    return [
        {
            "name": body.name,
            "number": body.number,
            "form": body.form or None,
            "parameters": None if body.parameters is None else numbers(body.parameters),
        }
        for body in it.bodies
    ]


def _joints(model: Model) -> list[dict[str, Any]]:
    it, cuts = model.mechanism, {cut.joint for cut in model.topology.cuts}
    screws = {one.name for one in it.couplings}  # no other coupling has a joint's name
    return [
        {
            "name": joint.name,
            "type": "screw" if joint.name in screws else joint.type,
            "connects": list(joint.bodies),
            "cut": k in cuts,
            "coordinate": any(value in it.coordinates for value in joint.values),
            "actuated": any(value in it.actuated for value in joint.values),
            "holds_spin": joint.holds is not None,
        }
        for k, joint in enumerate(it.joints)
    ]


def _couplings(it: Mechanism) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "values": {name: _number(x, it.nominal) for name, x in one.terms},
            "arms": _arms(it, [name for name, _ in one.terms]),
            "offset": _number(one.offset, it.nominal),
        }
        for one in it.couplings
    ]


def _arms(it: Mechanism, values: Sequence[str]) -> list[str]:
    """Joint values of a coupling whose coefficients are in m: angles beside lengths."""
    angles = [name for name in values if not it.value(name).is_length]
    return angles if len(angles) < len(values) else []


def _points(model: Model) -> list[dict[str, Any]]:
    """Points with their places in the ground's frame where the mechanism is assembled."""
    it = model.mechanism
    local = carried(it.points, it.nominal)[..., 0]
    stand = places(
        model, kinematics.geometry(it, {}), model.assembled.q[:, None], it.points, local[..., None]
    )
    axes = 2 if it.planar else 3
    return [
        {
            "name": one.name,
            "body": one.body,
            "at": [float(x) for x in here[:axes]],
            "assembled": [float(x) for x in there[:axes, 0]],
        }
        for one, here, there in zip(it.points, local, stand, strict=True)
    ]


def _loops(model: Model) -> list[list[str]]:
    """Names of the joints around each loop, the cut one last."""
    joints, graph = model.mechanism.joints, model.topology
    return [
        [joints[graph.tree[place].joint].name for place, _ in graph.loop(cut)]
        + [joints[cut.joint].name]
        for cut in graph.cuts
    ]


def _constraints(model: Model) -> dict[str, Any]:
    found = constraints_found(model)
    return {
        "overconstrained": [
            {"names": list(one.names), "excess": one.excess} for one in found.overconstrained
        ],
        "locked": list(found.locked),
        "idle": [
            {"bodies": list(one.bodies), "joints": list(one.joints)}
            | ({"point": list(one.line[0]), "direction": list(one.line[1])} if one.line else {})
            for one in found.idle
        ],
    }


def _motion_ends(model: Model) -> dict[str, Any]:
    """Where motions end, and how far a single coordinate goes then; null: without an end."""
    ends = [
        {
            "motion": end.motion,
            "ends": "singular" if end.outcome == Outcome.SINGULAR else "locks",
            "at": [_value(model.mechanism, name) | {"value": value} for name, value in end.at],
            "sample": end.sample,
            "samples": end.samples,
        }
        for end in ends_of_motions(model)
    ]
    found = travel(model) if ends else None
    reach = None if found is None else [x if math.isfinite(x) else None for x in found]
    return {"motion_ends": ends, "reach": reach}


def show(document: Mapping[str, Any]) -> None:
    """The same for reading."""
    terminal.out.print(
        terminal.said((document["mechanism"], "bold"), f"  {document['description']}")
    )
    if "design" in document:
        terminal.out.print(document["design"])
    named = ", ".join(
        f"{c['name']} = {c['assembled']:.4g} {c['unit']}" for c in document["coordinates"]
    )
    terminal.out.print(
        f"{document['space']}, {plural(len(document['bodies']), 'body', 'bodies')}, "
        f"{plural(len(document['joints']), 'joint')}, {plural(len(document['loops']), 'loop')}, "
        f"{plural(document['degrees_of_freedom'], 'degree')} of freedom "
        f"({named}), {plural(_counted(document), 'inertial parameter')}"
    )
    _show_connections(document)
    _show_symbols(document["symbols"])
    terminal.out.print(
        f"\nassembled, gap {document['residual']:.1e} m or rad; evaluated by {document['path']}"
        f" ({document['path_why']})"
    )
    is_explained = explanations.show(document)
    _show_branch(document, is_explained)
    far_poses.show([] if is_explained else document["far_poses"])
    for one in document["points"]:
        here, there = (", ".join(map(terminal.number, one[key])) for key in ("at", "assembled"))
        terminal.out.print(
            f"point {one['name']} of {one['body']}, ({here}) m there: at ({there}) m"
        )
    kinematic_geometry.show(document)
    for name, line in document["unused_symbols"].items():
        terminal.out.print(f"symbol {name} (line {line}) is used nowhere", style="yellow")
    for name, why in document["impossible_inertias"].items():
        terminal.out.print(impossible_text(name, why), style="yellow")
    for name, why in document["unlikely_inertias"].items():
        terminal.out.print(f"inertia of {name}: {why}", style="yellow")
    for name, why in document["unlikely_masses"].items():
        terminal.out.print(f"{name} has {why}", style="yellow")
    for end in () if is_explained else document["motion_ends"]:  # with what is wrong
        what = "is singular at" if end["ends"] == "singular" else "locks before"
        at = ", ".join(f"{one['name']} = {_as_written(one)}" for one in end["at"])
        terminal.out.print(
            f"{what} {at}: sample {end['sample']} of {end['samples']} of its {end['motion']}"
            + _reach(document["reach"], end["at"][0]),
            style="yellow",
        )
    if document.get("drawing"):
        terminal.out.print(f"drawing: {document['drawing']}")
    if document.get("trace"):
        terminal.out.print(f"paths of points: {document['trace']}")


def _reach(reach: Sequence[float | None] | None, value: Mapping[str, Any]) -> str:
    ends = [
        f"{way} {_as_written({**value, 'value': x})}"
        for way, x in zip(("from", "to"), reach or (), strict=False)
        if x is not None
    ]
    if not ends:
        return ""
    return (
        f"; on this branch {value['name']} goes {' '.join(ends)}: give it a smaller motion, or an "
        "assembly nearer to the middle"
    )


def _counted(document: Mapping[str, Any]) -> int:
    """Parameters but those of massless bodies, which do not count."""
    bodies = document["bodies"]
    each = len(document["parameters"]) // len(bodies)
    return sum(each for one in bodies if one["form"] != "massless")


def _show_connections(document: Mapping[str, Any]) -> None:
    joints = terminal.table("joint", "type", "between", "")
    # Of a file that names no drives all coordinates are, also those that nothing can drive.
    said = any(one["actuated"] != one["coordinate"] for one in document["joints"])
    words = ("coordinate", *["actuated"] * said, "cut")
    for one in document["joints"]:
        notes = ", ".join(word for word in words if one[word])
        notes += " holds an idle spin" * one["holds_spin"]
        joints.add_row(one["name"], one["type"], " – ".join(one["connects"]), notes)
    terminal.out.print()
    terminal.out.print(joints)
    for one in document["couplings"]:
        terms = " + ".join(
            f"{terminal.number(x)}{' m' * (name in one['arms'])} {name}"
            for name, x in one["values"].items()
        )
        terminal.out.print(
            f"coupling {one['name']}: {terms} = {terminal.number(one['offset'])}".replace(
                "+ -", "- "
            )
        )
    for loop in document["loops"]:
        terminal.out.print(f"loop: {' – '.join(loop)}")
    for one in document["overconstrained"]:
        excess = plural(one["excess"], "constraint")
        terminal.out.print(
            f"overconstrained: {', '.join(one['names'])}; {excess} redundant, left out"
        )
    for one in document["idle"]:
        line = ""
        if "point" in one:
            point, way = (
                ", ".join(map(terminal.number, one[key])) for key in ("point", "direction")
            )
            line = f" (about [{way}] through [{point}] of {one['bodies'][0]})"
        terminal.out.print(
            f"idle between {' and '.join(one['joints'])}: {', '.join(one['bodies'])}{line}"
        )
    for form in ("slender", "massless"):
        if named := [one["name"] for one in document["bodies"] if one["form"] == form]:
            terminal.out.print(f"{form}: {', '.join(named)}")
    masses = {one["name"]: (one["parameters"] or {}).get("m") for one in document["bodies"]}
    if told := [f"{name} {mass:.4g} kg" for name, mass in masses.items() if mass]:
        terminal.out.print(f"mass: {', '.join(told)}")
    if document["locked"]:
        terminal.out.print(f"locked: {', '.join(document['locked'])}")


def _show_symbols(found: Sequence[Mapping[str, Any]]) -> None:
    symbols = terminal.table("symbol", "#value", "unit", "bounds")
    for symbol in found:
        bounds = symbol["bounds"]
        shown = "constant" if symbol["constant"] else ""
        shown = f"{terminal.number(bounds[0])} … {terminal.number(bounds[1])}" if bounds else shown
        symbols.add_row(symbol["name"], terminal.number(symbol["value"]), symbol["unit"], shown)
    if found:
        terminal.out.print()
        terminal.out.print(symbols)


def _show_branch(document: Mapping[str, Any], is_explained: bool) -> None:
    """Joint values as an assembly takes them; of a branch found by a mistake nothing."""
    found, others = document["branch_found"], document["other_branches"]
    bodies = {one["name"]: one["connects"] for one in document["joints"]}
    if is_explained:
        found, others = [one for one in found if "coupling" in one], []
    head = (
        "another branch than stated" if others and others[0]["nearer"] else "far from the stated"
    )
    new = [f"{one['name']}: {_as_written(one)}" for one in found if one["stated"] is None]
    if new:
        terminal.out.print(
            f"branch found, not stated: {', '.join(new)}; to keep it, add to `assembly`"
        )
    for one in (each for each in found if "coupling" in each):
        offset, stated = f"{one['offset']:.4g}", _as_written({**one, "value": one["stated"]})
        terminal.out.print(
            f"against coupling {one['coupling']}: {one['name']}: {_as_written(one)} found, "
            f"{stated} stated; take {one['name']} out of `assembly`, or give "
            f"{one['coupling']} `offset: {offset}` (rad or m)",
            style="yellow",
        )
    far = [one for one in found if "coupling" not in one and one["stated"] is not None]
    told = [_far(one, *bodies[one["name"].partition(".")[0]]) for one in far]
    for line, _ in told:
        terminal.out.print(f"{head}: {line}", style="yellow")
    if not all(is_remedy for _, is_remedy in told):
        terminal.out.print("change the `assembly` or the lengths", style="yellow")
    for other in others:
        values = ", ".join(f"{one['name']}: {_as_written(one)}" for one in other["values"])
        terminal.out.print(f"another branch, as `assembly` takes it: {values}")


def _far(one: Mapping[str, Any], first: str, second: str) -> tuple[str, bool]:
    """A value far from what the file states, found so many whole turns away that it is nearest to
    that; and whether what to write is told."""
    at, wanted = one["value"], one["stated"]
    if one["unit"] == "rad":
        at = wanted + math.remainder(at - wanted, 2 * math.pi)
    found, stated = (_as_written({**one, "value": x}) for x in (at, wanted))
    line = f"{one['name']}: {found} found, {stated} stated"
    if abs(at + wanted) < 0.05 * abs(wanted):
        counts = f"it counts from {first} to {second}: write {found}, or `connects: [{second}, "
        return f"{line}; {counts}{first}]` and its points and axes in this order", True
    return line + f" (turn of {second} against {first})" * (one["unit"] == "rad"), False


def _as_written(value: Mapping[str, Any]) -> str:
    """A joint value in units of files: deg, or m; no rounding of zero."""
    if value["unit"] == "rad":
        return f"{round(math.degrees(value['value']), 1) + 0.0:.1f} deg"
    return f"{round(value['value'], 9) + 0.0:.4g} {value['unit']}"
