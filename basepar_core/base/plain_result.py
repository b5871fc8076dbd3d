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

from .result import GRADES, BaseParameters, BetaEntry, Certificate, RandomPoint, VectorGrade

#: Of what is written; of another one nothing is known.
VERSION = 1
#: Numbers of arguments; None: one or more.
_ARGUMENTS = {"+": None, "*": None, "min": None, "max": None, "/": 2, "^": 2} | dict.fromkeys(
    ("-", "sqrt", "sin", "cos", "tan", "abs"), 1
)
#: Fields of the result that are numbers or texts, and those that are tuples of them.
_SINGLE = ("mechanism", "route", "gap", "doubt", "float64_doubt", "generic")
_LISTS = ("parameters", "kept", "eliminated", "no_effect", "singular_values", "near")
#: Of the certificate.
_BOUNDS = tuple(f"{end}{of}" for end in ("at_least", "at_most") for of in ("", "_grade", "_scope"))


def plain(base: BaseParameters) -> dict[str, Any]:
    """A symbolic result as lists, texts and numbers."""
    stated = base.certificate
    entries = [
        [one.base, one.eliminated, one.value, _listed(one.expression), one.text]
        for one in base.beta
        if one.expression is not None  # as all have in a symbolic result
    ]
    return {
        "version": VERSION,
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


def of_plain(found: Mapping[str, Any], mechanism: Mechanism) -> BaseParameters | None:
    """The result that `plain` told of a mechanism; None: another version did.

    Raises
    ------
    ValueError, or what else reading finds
        It is no result of this mechanism: other parameters, unknown names or functions.
    """
    if found["version"] != VERSION:
        return None
    symbols = frozenset(mechanism.nominal)
    same: dict[str, Any] = {key: found[key] for key in _SINGLE}
    same |= {key: tuple(found[key]) for key in _LISTS}
    bounds: dict[str, Any] = {key: found["bounds"][key] for key in _BOUNDS}
    vectors = tuple(VectorGrade(*one) for one in found["vectors"])
    least, most = (tuple(map(_point, points)) for points in found["points"])
    made = BaseParameters(
        **same,
        beta=tuple(
            BetaEntry(i, j, float(value), _read(tree, symbols), str(text))
            for i, j, value, tree, text in found["beta"]
        ),
        validity=tuple((_read(tree, symbols), str(text)) for tree, text in found["validity"]),
        certificate=Certificate(
            **bounds, vectors=vectors, at_least_points=least, at_most_points=most
        ),
        of_family=found["of_family"] and of_plain(found["of_family"], mechanism),
    )
    if not _fits(made, mechanism):
        raise ValueError("no base parameters of this mechanism")
    return made


def _fits(made: BaseParameters, mechanism: Mechanism) -> bool:
    """Whether parameters are this mechanism's, and numbers and grades such as there are."""
    stated, kept, eliminated = made.certificate, len(made.kept), len(made.eliminated)
    return (
        made.parameters == mechanism.parameter_names
        and sorted((*made.kept, *made.eliminated)) == list(range(len(made.parameters)))
        and list(made.kept) == sorted(made.kept)
        and set(made.no_effect) <= set(made.eliminated)
        and all(one.base in range(kept) for one in made.beta)
        and all(one.eliminated in range(eliminated) for one in made.beta)
        and {stated.at_least_grade, stated.at_most_grade} <= set(GRADES)
        and isinstance(stated.at_least, int)
        and isinstance(stated.at_most, int)
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
        if plain in symbols:
            return Name(plain)
        value = Fraction(*map(int, plain.split("/")))
        float(value)  # OverflowError: more than there is
        return Number(value)
    operator, *arguments = plain
    if operator == "pi" and not arguments:
        return Pi()
    if not arguments or _ARGUMENTS[operator] not in (None, len(arguments)):
        raise ValueError(f"{operator} of {len(arguments)} arguments")
    return Call(operator, tuple(_read(one, symbols) for one in arguments))


def _point(plain: Any) -> RandomPoint:
    prime, seed = plain
    return RandomPoint(int(prime), tuple(map(int, seed)))
