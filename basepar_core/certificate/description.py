"""A mechanism as a certificate describes it: expressions in Python's syntax, SI."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from basepar_core.certificate.checker import names_of
from basepar_core.dynamics import Column, DriveLaw, joint_value
from basepar_core.errors import BaseparError
from basepar_core.expressions import Call, Expression, Name, Number, Pi, names
from basepar_core.mechanism import Coupling, Friction, Mechanism, Spring, Symbol, Vector


class CertificateError(BaseparError):
    """A certificate that cannot be made, or that does not hold."""

    kind = "certificate"


def described(
    mechanism: Mechanism, used: Sequence[str], further: Sequence[Column] = ()
) -> dict[str, Any]:
    """The mechanism as the checker reads it: expressions in Python's syntax, SI."""
    columns = [_column(one) for one in further]
    used = [*used, *(text for column in columns for text in _expressions(column))]
    found: dict[str, Any] = {
        "name": mechanism.name,
        "text": mechanism.source,
        "space": "planar" if mechanism.planar else "spatial",
        "gravity": texts(mechanism.gravity),
        "symbols": _symbols(mechanism, used),
        "bodies": [body.name for body in mechanism.bodies],
        "joints": [
            {
                "name": joint.name,
                "type": joint.type,
                "bodies": list(joint.bodies),
                "at": [texts(frame.at) for frame in joint.frames],
                "axis": [texts(frame.axis) for frame in joint.frames],
                "reference": [texts(frame.reference) for frame in joint.frames],
            }
            for joint in mechanism.joints
        ],
        "assembly": {
            "values": {name: python(value) for name, value in mechanism.assembly.values},
            "poses": {
                pose.body: {"at": texts(pose.at), "rotation": texts(pose.rotation)}
                for pose in mechanism.assembly.poses
            },
        },
    }
    if mechanism.couplings:
        found["couplings"] = [_coupling(one) for one in mechanism.couplings]
    forms = {body.name: body.form for body in mechanism.bodies if body.form}
    found |= {"forms": forms} if forms else {}
    return found | ({"columns": columns} if columns else {})


def _coupling(coupling: Coupling) -> dict[str, Any]:
    values = {name: python(coefficient) for name, coefficient in coupling.terms}
    return {"name": coupling.name, "values": values, "offset": python(coupling.offset)}


def _column(column: Column) -> dict[str, Any]:
    """A force-law column: its kind, the joint value or points it acts on, a spring's rest."""
    found: dict[str, Any] = {"name": column.name, "kind": column.kind}
    source = column.source
    if isinstance(source, Spring):
        found["rest"] = python(source.rest)
    if (name := joint_value(column)) is not None:
        return found | {"on": name}
    assert not isinstance(source, Friction | DriveLaw)  # `check` rejects drives
    return found | {"bodies": list(source.bodies or ()), "points": _pair(source.points)}


def _pair(points: tuple[Vector, Vector] | None) -> list[list[str]]:
    return [texts(point) for point in points or ()]


def _expressions(column: Mapping[str, Any]) -> list[str]:
    rest = [column["rest"]] if "rest" in column else []
    return [*rest, *(text for point in column.get("points", ()) for text in point)]


def _symbols(mechanism: Mechanism, used: Sequence[str]) -> dict[str, Any]:
    """Symbols of the geometry and of the texts `used`, with those that relations tie to them."""
    slots: list[tuple[Expression, ...]] = [*mechanism.frame_vectors, mechanism.gravity]
    slots += [(*(x for _, x in one.terms), one.offset) for one in mechanism.couplings]
    bound = {relation.symbol: relation.polynomial for relation in mechanism.relations}
    every = (*mechanism.geometry, *mechanism.constants)
    needed = frozenset().union(*(names(x) for v in slots for x in v))
    needed |= frozenset().union(*map(names_of, used)) & {symbol.name for symbol in every}
    for _ in bound:
        needed |= frozenset().union(*(names(p) for s, p in bound.items() if s in needed))
    return {
        symbol.name: {
            "value": python(_near(mechanism, symbol) if symbol.name in bound else symbol.value),
            "angle": symbol.is_angle,
            "relation": python(bound[symbol.name]) if symbol.name in bound else None,
        }
        for symbol in every
        if symbol.name in needed
    }


def _near(mechanism: Mechanism, symbol: Symbol) -> Expression:
    """An algebraic number as a decimal; the checker encloses the root next to it."""
    return Number(Fraction(f"{mechanism.nominal[symbol.name]:.12f}"))


def texts(vector: Sequence[Expression]) -> list[str]:
    return [python(entry) for entry in vector]


def python(node: Expression) -> str:
    """An expression in Python's syntax, whole numbers only."""
    match node:
        case Number(value):
            return str(value) if value.denominator == 1 and value >= 0 else f"({value})"
        case Pi():
            return "pi"
        case Name(name):
            return name
        case Call("-", (argument,)):
            return f"(-{python(argument)})"
        case Call("^", (base, exponent)):
            return f"{python(base)}**{python(exponent)}"
        case Call("+" | "*" | "/" as operator, arguments):
            return "(" + f" {operator} ".join(map(python, arguments)) + ")"
        case Call(function, (argument,)):
            inside = python(argument)
            return f"{function}{inside}" if inside[0] == "(" else f"{function}({inside})"
    raise CertificateError(f"{node!r} has no place in a certificate.")
