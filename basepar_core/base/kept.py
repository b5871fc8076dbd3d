"""A symbolic result as plain data, from which it is made again without computer algebra.

A store keeps it: whoever does a part of a sweep, or goes on with one, has the base parameters at
once, and the same ones whatever a later version would choose. Expressions are lists in prefix
notation; names and exact numbers are texts.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from basepar_core.expressions import Call, Expression, Name, Number, Pi
from basepar_core.mechanism import Mechanism

from .result import BaseParameters, BetaEntry, Certificate, RandomPoint, VectorGrade

_FUNCTIONS = {"+", "*", "/", "^", "-", "sqrt", "sin", "cos", "tan", "abs", "min", "max"}
#: Fields of the result that are numbers or texts, and those that are tuples of them.
_SINGLE = ("mechanism", "route", "gap", "doubt", "float64_doubt", "generic")
_LISTS = ("parameters", "kept", "eliminated", "no_effect", "singular_values", "near")
#: Of the certificate.
_BOUNDS = tuple(f"{end}{of}" for end in ("at_least", "at_most") for of in ("", "_grade", "_scope"))


def plain(base: BaseParameters) -> dict[str, Any]:
    """A symbolic result as lists, texts and numbers."""
    stated = base.certificate
    entries = [
        [one.base, one.eliminated, one.value, one.expression and _listed(one.expression), one.text]
        for one in base.beta
    ]
    return {
        **{key: getattr(base, key) for key in _SINGLE},
        **{key: list(getattr(base, key)) for key in _LISTS},
        "beta": entries,
        "validity": [[_listed(expression), text] for expression, text in base.validity],
        "bounds": {key: getattr(stated, key) for key in _BOUNDS},
        "vectors": [[one.grade, one.reason, dict(one.entries)] for one in stated.vectors],
        "points": [
            [[str(one.prime), list(map(str, one.seed))] for one in points]
            for points in (stated.at_least_points, stated.at_most_points)
        ],
        "of_family": base.of_family and plain(base.of_family),
    }


def of_plain(found: Mapping[str, Any], mechanism: Mechanism) -> BaseParameters:
    """The result that `plain` told of a mechanism.

    Raises
    ------
    ValueError
        It is no result of this mechanism: other parameters, unknown names or functions.
    """
    if tuple(found["parameters"]) != mechanism.parameter_names:
        raise ValueError("base parameters of another mechanism")
    symbols = frozenset(mechanism.nominal)
    same: dict[str, Any] = {key: found[key] for key in _SINGLE}
    same |= {key: tuple(found[key]) for key in _LISTS}
    bounds: dict[str, Any] = {key: found["bounds"][key] for key in _BOUNDS}
    vectors = tuple(VectorGrade(*one) for one in found["vectors"])
    least, most = (tuple(map(_point, points)) for points in found["points"])
    return BaseParameters(
        **same,
        beta=tuple(
            BetaEntry(i, j, value, None if tree is None else _read(tree, symbols), text)
            for i, j, value, tree, text in found["beta"]
        ),
        validity=tuple((_read(tree, symbols), text) for tree, text in found["validity"]),
        certificate=Certificate(
            **bounds, vectors=vectors, at_least_points=least, at_most_points=most
        ),
        of_family=found["of_family"] and of_plain(found["of_family"], mechanism),
    )


def _listed(tree: Expression) -> Any:
    match tree:
        case Number(value):
            return str(value)
        case Name(name):
            return name
        case Call(operator, arguments):
            return [operator, *map(_listed, arguments)]
    return ["pi"]


def _read(plain: Any, symbols: frozenset[str]) -> Expression:
    if isinstance(plain, str):
        known = plain in symbols
        return Name(plain) if known else Number(Fraction(*map(int, plain.split("/"))))
    operator, *arguments = plain
    if operator == "pi":
        return Pi()
    if operator not in _FUNCTIONS:
        raise ValueError(f"no function: {operator!r}")
    return Call(operator, tuple(_read(one, symbols) for one in arguments))


def _point(plain: Any) -> RandomPoint:
    prime, seed = plain
    return RandomPoint(int(prime), tuple(map(int, seed)))
