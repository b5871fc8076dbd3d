"""Symbol values at the document's geometry, as balls at the precision in force."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from .exact import Field
from .expressions import MalformedError, Numbers

FUNCTIONS = {"sqrt": arb.sqrt, "sin": arb.sin, "cos": arb.cos, "tan": arb.tan}


def ball(x: Fraction) -> arb:
    """A rational number."""
    return arb(fmpq(x.numerator, x.denominator))


def nominal(symbols: Mapping[str, Mapping[str, Any]], field: Field) -> Numbers:
    """Values of all symbols; algebraic ones are enclosed next to what the document says.

    Raises
    ------
    MalformedError
        A relation has no single root there.
    """
    plain = Numbers(ball, {"pi": arb.pi()}, functions=FUNCTIONS)
    values: dict[str, Any] = {"pi": arb.pi()}
    angles: dict[str, tuple[Any, Any]] = {}
    turns: dict[str, Any] = {}
    generators: dict[str, arb] = {"-": arb(0), "pi": arb.pi()}
    for name, given in symbols.items():
        value = plain.of(given["value"])
        if given["angle"]:
            turns[name], angles[name] = value, (value.cos(), value.sin())
            generators[f"c {name}"], generators[f"s {name}"] = angles[name]
        else:
            values[name] = generators[name] = value
    for name, polynomial in reversed(field.roots):  # first those that others depend on
        values[name] = generators[name] = _root(name, polynomial, generators)
    return Numbers(ball, values, angles, turns=turns)


def _root(name: str, polynomial: Any, generators: dict[str, arb]) -> arb:
    slope = polynomial.derivative(name)
    at = dict(generators)
    for _ in range(ctx.prec.bit_length() + 2):
        at[name] = (at[name] - _value(polynomial, at) / _value(slope, at)).mid()
    middle = at[name]
    step = _value(polynomial, at) / _value(slope, at)
    wide = middle + arb(0, 4 * step.abs_upper() + arb(2) ** (8 - ctx.prec))
    at[name] = wide
    narrow = middle - (step * _value(slope, {**at, name: middle})) / _value(slope, at)
    # Half a millionth is nearer than any two roots that a file tells apart.
    close = abs(middle - generators[name]) < arb("5e-7")
    if not (narrow.is_finite() and wide.contains_interior(narrow) and close):
        raise MalformedError(f"no root of the relation of {name!r} is next to its value")
    return narrow


def _value(polynomial: Any, at: Mapping[str, arb]) -> arb:
    names = polynomial.context().names()
    total = arb(0)
    for powers, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for name, power in zip(names, powers, strict=True):
            if power:
                term *= at[name] ** int(power)
        total += term
    return total
