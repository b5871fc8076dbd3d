"""What a mechanism consists of, as plain data: `--json` prints it, the terminal formats it."""

from collections.abc import Mapping
from typing import Any

from basepar_core.compiled import way
from basepar_core.dynamics import Model, Outcome, branch_found, ends_of_motions
from basepar_core.expressions import Expression, evaluate, parse_unit
from basepar_core.mechanism import Mechanism, Symbol


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


def mechanism(model: Model) -> dict[str, Any]:
    """`basepar show`: bodies, joints, loops, degrees of freedom."""
    it, graph = model.mechanism, model.topology
    symbols = [_symbol(it, symbol) for symbol in (*it.geometry, *it.constants)]
    kinds = [name.split(".")[1] for name in it.parameter_names]
    per_body = len(kinds) // len(it.bodies)
    bodies = [
        {
            "name": body.name,
            "number": body.number,
            "parameters": None
            if body.parameters is None
            else {
                kind: _number(entry, it.nominal)
                for kind, entry in zip(kinds[:per_body], body.parameters, strict=True)
            },
        }
        for body in it.bodies
    ]
    joints = [
        {
            "name": joint.name,
            "type": joint.type,
            "connects": list(joint.bodies),
            "cut": any(cut.joint == k for cut in graph.cuts),
            "actuated": any(value in it.actuated for value in joint.values),
        }
        for k, joint in enumerate(it.joints)
    ]
    loops = [
        [it.joints[graph.tree[place].joint].name for place, _ in graph.loop(cut)]
        + [it.joints[cut.joint].name]
        for cut in graph.cuts
    ]
    found = way(model)
    return {
        "mechanism": it.name,
        "description": it.description,
        "space": "planar" if it.planar else "spatial",
        "degrees_of_freedom": len(it.coordinates),
        "coordinates": [
            {"name": name, "unit": it.value(name).unit, "assembled": float(value)}
            for name, value in zip(it.coordinates, model.assembled.coordinates, strict=True)
        ],
        "parameters": list(it.parameter_names),
        "bodies": bodies,
        "joints": joints,
        "couplings": [
            {
                "name": one.name,
                "values": {name: _number(x, it.nominal) for name, x in one.terms},
                "offset": _number(one.offset, it.nominal),
            }
            for one in it.couplings
        ],
        "loops": loops,
        "redundant_constraints": len(model.loops.redundant),
        "blocks": [len(rows) for rows, _ in model.loops.blocks],
        "residual": model.assembled.residual,
        "branch_found": [
            {"name": one.name, "unit": it.value(one.name).unit, "value": one.value}
            | {"stated": one.stated}
            for one in branch_found(model)
        ],
        "motion_ends": [
            {
                "motion": end.motion,
                "ends": "singular" if end.outcome == Outcome.SINGULAR else "locks",
                "at": [
                    {"name": name, "unit": it.value(name).unit, "value": value}
                    for name, value in end.at
                ],
                "sample": end.sample,
                "samples": end.samples,
            }
            for end in ends_of_motions(model)
        ],
        "symbols": symbols,
        "path": found.name,
        "path_why": found.why,
    }
