"""How operators of the grammar act on exact trees and on units.

Arithmetic of numbers is done at once and exactly, within bounds: a file cannot ask for a number
that fills the memory, or for a tree too deep to walk.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from basepar_core.errors import ExpressionError

from .lexer import shown
from .tree import ONE, ZERO, Call, Expression, Number, multiply, negate
from .units import LENGTH, NUMBER, UNITS, Dimension, Unit

FUNCTIONS = ("sqrt", "sin", "cos", "tan", "abs", "min", "max")
MAX_DEPTH = 40
_MAX_EXPONENT = 64
_MAX_BITS = 1000  # of an exact number's numerator and denominator; float64 ends at 1024


@dataclass(frozen=True, slots=True)
class Term:
    """A part of an expression: its tree, its dimension, and the unit it was written with.

    `dimension` None is a zero, or a name of unknown unit: it fits anything. `written` is None
    where the dimension came about by calculation. `angle`: something in rad; such things have
    no dimension, but a number that is compared with one should say which unit it means.
    """

    tree: Expression
    dimension: Dimension | None = NUMBER
    written: str | None = None
    depth: int = 0
    angle: bool = False

    @property
    def unit(self) -> str:
        if self.angle and not self.written:
            return "rad"
        return self.written or str(self.dimension)

    @property
    def bare(self) -> Fraction | None:
        """Its value where it is a number without a unit, and not zero, which fits anything."""
        if not isinstance(self.tree, Number) or self.written or self.angle:
            return None
        return self.tree.value if self.dimension == NUMBER and self.tree.value else None


def _number(value: Fraction) -> Number:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise ExpressionError(
            f"its number has more than {int(_MAX_BITS * 0.3)} digits; no dimension needs it"
        )
    return Number(value)


def _term(tree: Expression, dimension: Dimension | None, *parts: Term) -> Term:
    if tree == ZERO:
        return Term(ZERO, dimension)
    depth = 0 if isinstance(tree, Number) else max(_depth_in(tree, part) for part in parts)
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH}; name a part of it in `constants`")
    return Term(tree, dimension, None, depth)


def _depth_in(tree: Expression, part: Term) -> int:
    """Depth of a tree by one of its parts: a chain of + or * swallows a chain of the same."""
    chains = isinstance(tree, Call) and isinstance(part.tree, Call) and tree.operator in "+*"
    same = chains and tree.operator == part.tree.operator  # type: ignore[union-attr]
    return part.depth + (not same)


def measure(term: Term, unit: Unit) -> Term:
    """The term times a unit."""
    dimension = unit.dimension if term.dimension is None else term.dimension * unit.dimension
    tree = unit.scale(term.tree)
    if isinstance(tree, Number):
        tree = _number(tree.value)
    written = unit.text if term.dimension in (None, NUMBER) and not term.written else None
    angle = unit.is_angle and dimension == NUMBER
    return replace(_term(tree, dimension, term), written=written, angle=angle)


def minus(term: Term) -> Term:
    """Its negative, units kept as written."""
    depth = term.depth + (not isinstance(term.tree, Number))
    return replace(term, tree=negate(term.tree), depth=depth)


def combine(sign: str, left: Term, right: Term) -> Term:
    """`left sign right` for one of + - * /."""
    if sign in "+-":
        return replace(_sum(sign, left, right), angle=left.angle or right.angle)
    if sign == "*":
        return replace(_product(left, right), angle=left.angle != right.angle)
    return replace(_quotient(left, right), angle=left.angle and not right.angle)


def _sum(sign: str, left: Term, right: Term) -> Term:
    dimension = _common(f"{sign!r} joins", (left, right))
    if sign == "-":
        right = minus(right)
    if isinstance(left.tree, Number) and isinstance(right.tree, Number):
        return Term(_number(left.tree.value + right.tree.value), dimension)
    terms = (*_arguments("+", left.tree), *_arguments("+", right.tree))
    kept = tuple(term for term in terms if term != ZERO)
    return _term(kept[0] if len(kept) == 1 else Call("+", kept), dimension, left, right)


def _arguments(operator: str, tree: Expression) -> tuple[Expression, ...]:
    """Operands of a chain, so that a long sum is one wide node and not a deep one."""
    return tree.arguments if isinstance(tree, Call) and tree.operator == operator else (tree,)


def _product(left: Term, right: Term) -> Term:
    known = left.dimension is not None and right.dimension is not None
    dimension = left.dimension * right.dimension if known else None  # type: ignore[operator]
    if isinstance(left.tree, Number) and isinstance(right.tree, Number):
        return Term(_number(left.tree.value * right.tree.value), dimension)
    factors = (*_arguments("*", left.tree), *_arguments("*", right.tree))
    return _term(multiply(*factors), dimension, left, right)


def _quotient(left: Term, right: Term) -> Term:
    if right.tree == ZERO:
        raise ExpressionError("division by zero")
    known = left.dimension is not None and right.dimension is not None
    dimension = left.dimension / right.dimension if known else None  # type: ignore[operator]
    if left.tree == ZERO:
        return Term(ZERO, dimension)
    if isinstance(right.tree, Number):
        if isinstance(left.tree, Number):
            return Term(_number(left.tree.value / right.tree.value), dimension)
        if right.tree == ONE:
            return replace(left, dimension=dimension, written=None)
    return _term(Call("/", (left.tree, right.tree)), dimension, left, right)


def power(base: Term, exponent: Term) -> Term:
    """base^exponent; a base with a unit needs a fixed number as exponent."""
    if exponent.dimension not in (None, NUMBER):
        raise ExpressionError(f"the exponent is in {exponent.unit}; it must be a plain number")
    if not isinstance(exponent.tree, Number):
        if base.dimension not in (None, NUMBER):
            raise ExpressionError(
                f"something in {base.unit} has a variable exponent; write a number there"
            )
        return _term(Call("^", (base.tree, exponent.tree)), NUMBER, base, exponent)
    value = exponent.tree.value
    if abs(value) > _MAX_EXPONENT or value.denominator > _MAX_EXPONENT:
        raise ExpressionError(f"the exponent is beyond ±{_MAX_EXPONENT}")
    dimension = None if base.dimension is None else base.dimension**value
    if base.tree == ZERO and value < 0:
        raise ExpressionError("division by zero")
    if value == 1:
        return base
    if isinstance(base.tree, Number) and value.denominator == 1:
        return Term(_number(base.tree.value ** int(value)), dimension)
    return _term(Call("^", (base.tree, exponent.tree)), dimension, base, exponent)


def apply(function: str, arguments: Sequence[Term]) -> Term:
    """A function of the grammar on its arguments."""
    most = len(arguments) if function in ("min", "max") else 1
    if len(arguments) != most:
        raise ExpressionError(f"{function} takes one argument, not {len(arguments)}")
    tree = Call(function, tuple(argument.tree for argument in arguments))
    found = _term(tree, _DIMENSIONS[function](function, arguments), *arguments)
    angle = _DIMENSIONS[function] is _kept and any(argument.angle for argument in arguments)
    return replace(found, angle=angle)


def _halved(function: str, arguments: Sequence[Term]) -> Dimension | None:
    dimension = arguments[0].dimension
    return None if dimension is None else dimension ** Fraction(1, 2)


def _from_angle(function: str, arguments: Sequence[Term]) -> Dimension | None:
    if arguments[0].dimension not in (None, NUMBER):
        raise ExpressionError(f"{function} of something in {arguments[0].unit}; it needs rad")
    return NUMBER


def _kept(function: str, arguments: Sequence[Term]) -> Dimension | None:
    return _common(f"{function} joins", arguments)


_DIMENSIONS: dict[str, Callable[[str, Sequence[Term]], Dimension | None]] = {
    "sqrt": _halved,
    "sin": _from_angle,
    "cos": _from_angle,
    "tan": _from_angle,
    "abs": _kept,
    "min": _kept,
    "max": _kept,
}


def compare(sign: str, left: Term, right: Term) -> Term:
    """A comparison of two terms of one unit."""
    _common(f"{sign!r} compares", (left, right))
    return _term(Call(sign, (left.tree, right.tree)), NUMBER, left, right)


def _common(what: str, terms: Sequence[Term]) -> Dimension | None:
    known = [term for term in terms if term.dimension is not None]
    for term in known[1:]:
        if term.dimension != known[0].dimension:
            raise ExpressionError(
                f"{what} {_unit_of(known[0])} and {_unit_of(term)}{_remedy(known[0], term)}"
            )
    return known[0].dimension if known else None


def _unit_of(term: Term) -> str:
    """The unit; what has none, and is no number, may be an angle."""
    plain = term.unit == "no unit" and not isinstance(term.tree, Number)
    return "rad (or no unit)" if plain else term.unit


def _remedy(*pair: Term) -> str:
    """What to write where one of the two is a number; lengths are mm as often as m."""
    for one, other in (pair, pair[::-1]):
        units = ["mm", "m"] if other.dimension == LENGTH else [str(other.dimension)]
        if isinstance(one.tree, Number) and one.dimension == NUMBER and not one.written:
            examples = " or ".join(f"'{_decimal(one.tree.value)} {unit}'" for unit in units)
            return f"; inside an expression a bare number has no unit: write {examples}"
        if one.written and not other.written and other.dimension != NUMBER:
            return f"; give it in {' or '.join(units)}"
    return ""


def _decimal(value: Fraction) -> str:
    """As short as it is exact: 0.01, else 1/3."""
    text = f"{float(value):g}"
    return text if Fraction(text) == value else str(value)


def misfit(text: str, term: Term, slot: Unit) -> str:
    """What to say of a text whose unit does not fit its slot."""
    assert term.dimension is not None
    has = "has" if term.unit == "no unit" else "is in"
    wanted = "a number without a unit" if slot.text in ("", "1") else slot.text
    message = f"{shown(text)} {has} {term.unit}, but {wanted} is expected here"
    if _is_frequency(slot.dimension) and term.dimension == _PER_SECOND:
        return f"{message}; one Hz is 2π rad/s: divide by it and write Hz."
    if term.written == "Hz" and slot.dimension == _PER_SECOND:
        plain = text.strip().removesuffix("Hz").strip()
        return f"{message}; write '{plain} rev/s'."
    if _is_frequency(term.dimension) and slot.dimension == _PER_SECOND:
        return f"{message}; one Hz is 2π rad/s: multiply by it and write rad/s."
    if term.written is not None and not _shares_a_base(term.dimension, slot.dimension):
        return f"{message}."
    if term.written is not None:
        plain = text.strip().removesuffix(term.written).strip()
        unit = _in_same_units(term.written, slot.dimension) or slot.text
        return f"{message}; write '{f'{plain} {unit}'.strip()}' if that is meant."
    lacking = slot.dimension / term.dimension
    return (
        f"{message}; a factor in {lacking} is missing (inside an expression a bare number has "
        f"no unit)."
    )


def _shares_a_base(one: Dimension, other: Dimension) -> bool:
    """Whether a unit may be one of the other with a factor left out or too many, as N for N m."""
    return any(p * q > 0 for p, q in zip(one.powers, other.powers, strict=True))


def _in_same_units(written: str, wanted: Dimension) -> str:
    """The units of `kg*cm` with the powers of what is wanted, `kg*cm^2`; empty where others are
    needed."""
    names = re.findall(r"[A-Za-z]+", written)
    found = {UNITS[name].dimension: name for name in names}
    powers = {
        name: sum(wanted.powers[k] for k, power in enumerate(base.powers) if power == 1)
        for base, name in found.items()
    }
    right = NUMBER
    for base, name in found.items():
        right *= base ** powers[name]
    if len(found) < len(names) or right != wanted or min(powers.values(), default=0) < 1:
        return ""
    return "*".join(name if p == 1 else f"{name}^{p}" for name, p in powers.items())


_PER_SECOND = UNITS["s"].dimension ** -1


def _is_frequency(dimension: Dimension) -> bool:
    return dimension == UNITS["Hz"].dimension
