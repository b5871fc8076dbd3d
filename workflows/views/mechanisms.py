"""What a mechanism consists of, as plain data: `--json` prints it, the terminal formats it."""

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
    impossible_inertias,
    kinematics,
    places,
)
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
        "joints": _joints(model),
        "couplings": _couplings(it),
        "loops": _loops(model),
        "redundant_constraints": len(model.loops.redundant),
        **_constraints(model),
        "blocks": [len(rows) for rows, _ in model.loops.blocks],
        "residual": model.assembled.residual,
        "branch_found": [
            _value(it, one.name)
            | {"value": one.value, "stated": one.stated}
            | ({"coupling": one.coupling, "offset": one.offset} if one.coupling else {})
            for one in branch_found(model)
        ],
        "motion_ends": _motion_ends(model),
        "points": _points(model),
        "symbols": [_symbol(it, symbol) for symbol in (*it.geometry, *it.constants)],
        "path": found.name,
        "path_why": found.why,
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
            "parameters": None if body.parameters is None else numbers(body.parameters),
        }
        for body in it.bodies
    ]


def _joints(model: Model) -> list[dict[str, Any]]:
    it, cuts = model.mechanism, {cut.joint for cut in model.topology.cuts}
    return [
        {
            "name": joint.name,
            "type": joint.type,
            "connects": list(joint.bodies),
            "cut": k in cuts,
            "actuated": any(value in it.actuated for value in joint.values),
        }
        for k, joint in enumerate(it.joints)
    ]


def _couplings(it: Mechanism) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "values": {name: _number(x, it.nominal) for name, x in one.terms},
            "offset": _number(one.offset, it.nominal),
        }
        for one in it.couplings
    ]


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
        "idle": [{"bodies": list(one.bodies), "joints": list(one.joints)} for one in found.idle],
    }


def _motion_ends(model: Model) -> list[dict[str, Any]]:
    return [
        {
            "motion": end.motion,
            "ends": "singular" if end.outcome == Outcome.SINGULAR else "locks",
            "at": [_value(model.mechanism, name) | {"value": value} for name, value in end.at],
            "sample": end.sample,
            "samples": end.samples,
        }
        for end in ends_of_motions(model)
    ]
