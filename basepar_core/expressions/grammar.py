"""Text of a mechanism or sweep file as an exact, SI expression with its units checked.

A hand-written recursive descent: the grammar is small, positions and units are available when
something is wrong, and text from a file never reaches `eval` or `sympify`.

    comparison  sum [("<" | "<=" | ">" | ">=" | "==") sum]
    sum         term (("+" | "-") term)*
    term        factor (("*" | "/") factor | units)*
    factor      ("+" | "-")* power
    power       atom ["^" factor]
    atom        number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
    units       ["/"] unit (("*" | "/") unit)*          after a number, a unit or ")"
    unit        symbol ["^" ["-"] integer] | "(" units ")"
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from math import pi

from basepar_core.errors import ExpressionError

from .checked import (
    FUNCTIONS,
    MAX_DEPTH,
    Term,
    apply,
    combine,
    compare,
    measure,
    minus,
    misfit,
    power,
)
from .lexer import COMPARISONS, Token, is_literal, shown, tokens
from .tree import Call, Expression, Name, Number
from .units import NUMBER, UNITS, Dimension, Unit, meant_power

#: Names that no symbol may have.
RESERVED = frozenset(UNITS) | frozenset(FUNCTIONS) | {"ground"}
#: Units of other files: how many of which of ours one is.
_FOREIGN: Mapping[str, tuple[float, str]] = {
    "rps": (2 * pi, "rad/s"),
    "dm": (100, "mm"),
    "km": (1000, "m"),
    "in": (25.4, "mm"),
    "ft": (304.8, "mm"),
    "t": (1000, "kg"),
    "lb": (0.45359237, "kg"),
    "min": (60, "s"),
    "h": (3600, "s"),
    "kN": (1000, "N"),
    "mN": (0.001, "N"),
    "mNm": (0.001, "N*m"),
    "Nm": (1, "N*m"),
    "kW": (1000, "W"),
    "degrees": (1, "deg"),
}
_A_MINUTE = re.compile(r"\b(1|U|r|rev) */ *min\b")
_ELECTRICAL = ("V", "A", "ohm", "Ohm", "Ω", "H", "mH", "mA")
#: Units in words, in the singular; -re is spelled -er.
_IN_WORDS = {
    "meter": "m",
    "millimeter": "mm",
    "centimeter": "cm",
    "kilogram": "kg",
    "gram": "g",
    "second": "s",
    "newton": "N",
    "radian": "rad",
    "degree": "deg",
}
#: Other words for parts of names.
_MEANT = {
    "max": "peak",
    "maximum": "peak",
    "plot": "show",
    "draw": "show",
    "i": "1",
    "ii": "2",
    "iii": "3",
    "center": "centre",
}
_MAX_UNIT_POWER = 12  # beyond any quantity of mechanics


def parse(text: str, slot: Unit, names: Mapping[str, Dimension | None]) -> Expression:
    """An expression in SI that fits its slot.

    Parameters
    ----------
    text
        As it stands in the file.
    slot
        The unit a bare literal is taken in; its dimension is the one that is expected.
    names
        Dimension of every name that may occur; None fits anything. A key such as `stroke(D)`
        stands for that very text.

    Raises
    ------
    ExpressionError
        Naming the position, what was found and expected, and the remedy.
    """
    if is_literal(text):
        return slot.scale(_Parser(text, {}).whole().tree)
    term = _Parser(text, names).whole()
    if term.dimension is not None and term.dimension != slot.dimension:
        raise ExpressionError(misfit(text, term, slot))
    return term.tree


def parse_any(
    text: str, names: Mapping[str, Dimension | None]
) -> tuple[Expression, Dimension | None]:
    """An expression in SI and its dimension (None: a zero, which fits anything)."""
    term = _Parser(text, names).whole()
    return term.tree, term.dimension


def parse_comparison(text: str, names: Mapping[str, Dimension | None]) -> Expression:
    """A filter: one comparison of two expressions of one unit.

    Examples
    --------
    >>> from basepar_core.expressions.units import LENGTH
    >>> parse_comparison("2*a <= 300 mm", {"a": LENGTH}).operator
    '<='
    """
    sign, left, right = _Parser(text, names).sides(COMPARISONS, "a + b <= 0.5 m")
    return Call(sign, (left, right))


def bare_angles(
    text: str, names: Mapping[str, Dimension | None], angles: Collection[str]
) -> tuple[Fraction, ...]:
    """Numbers without a unit that an expression, or a comparison, joins with angles.

    They are rad, as `rad` is 1; whoever writes 40 next to an angle may mean degrees.

    Examples
    --------
    >>> bare_angles("stroke(D) >= 40", {"stroke(D)": NUMBER}, ["stroke(D)"])
    (Fraction(40, 1),)
    >>> bare_angles("stroke(D) >= 40 deg", {"stroke(D)": NUMBER}, ["stroke(D)"])
    ()
    """
    parser = _Parser(text, names, angles)
    left = parser.sum()
    if parser.take(*COMPARISONS):
        parser.join(left, parser.sum())
    return tuple(parser.bare)


def parse_equation(
    text: str, names: Mapping[str, Dimension | None]
) -> tuple[Expression, Expression]:
    """Both sides of an equation such as `r^2 = 3`."""
    _, left, right = _Parser(text, names).sides(("=",), "r^2 = 3")
    return left, right


def parse_unit(text: str) -> Unit:
    """A unit such as `kg/m` or `1/s`."""
    parser = _Parser(text, {})
    unit = Unit("1") if parser.take("1") else parser.unit()
    unit = parser.more_units(unit)
    parser.expect_end()
    return unit


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'lx1'?` where something known is close, else nothing."""
    known = list(known)
    plain = word.lower()
    if calls := [one for one in known if one.startswith(f"{word}(")]:
        return f"; it takes an argument: write one of {', '.join(calls[:20])}"
    close = [one for one in known if _parts(one) == _parts(word)]
    close += [one for one in known if len(plain) > 2 and one.lower().startswith(plain)]
    close += difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _parts(word: str) -> list[str]:
    """What a name is made of, in any order, spelling or notation: torque_max is torque_peak."""
    parts = re.findall(r"[a-z]+|[0-9]+", word.lower())
    return sorted(_MEANT.get(part, part) for part in parts)


def unknown_unit(word: str, number: str = "1") -> str:
    """That a word is no unit, which there are, and the same in one of them."""
    if power := meant_power(word):
        return f"{word!r} is no unit; powers are written '^': {power}"
    said = f"the unit {word!r} is unknown; units are {', '.join(UNITS)} and their products, " + (
        "quotients and powers"
    )
    if word in _ELECTRICAL:
        return (
            f"{word!r} is no unit here; electrical values are plain numbers in V, A, ohm, H, V*s"
        )
    if word not in _FOREIGN:
        return f"{said}{_unit_meant(word)}"
    size, unit = _FOREIGN[word]
    count = float(number) if number.replace(".", "", 1).isdecimal() else 1.0
    return f"{said}; {count:g} {word} is {count * size:.5g} {unit}"


def _unit_meant(word: str) -> str:
    """`; did you mean 'mm'?` for millimetres."""
    for i in range(1, len(word)):  # Nmm, kgm
        if word[:i] in UNITS and word[i:] in UNITS:
            return f"; did you mean '{word[:i]}*{word[i:]}'?"
    plain = re.sub(r"re$", "er", word.lower().removesuffix("s"))
    return did_you_mean(_IN_WORDS.get(plain, word), UNITS)


class _Parser:
    """One pass over the tokens of a text; each method reads what its name says."""

    def __init__(
        self, text: str, names: Mapping[str, Dimension | None], angles: Collection[str] = ()
    ):
        self.text = text
        self.names = names
        self.angles = angles
        #: Numbers without a unit that were joined with angles.
        self.bare: list[Fraction] = []
        self.tokens = tokens(text)
        self.index = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self, *texts: str) -> Token | None:
        """The next token if it is one of these."""
        token = self.next
        if token.text not in texts or token.kind == "end":
            return None
        self.index += 1
        return token

    def error(self, message: str, token: Token | None = None) -> ExpressionError:
        position = (token or self.next).position
        if _A_MINUTE.search(self.text):
            message = (
                f"{message}; turns a minute are rpm: write {_A_MINUTE.sub('rpm', self.text)!r}"
            )
        stop = "" if message.endswith("?") else "."
        return ExpressionError(f"Position {position} of {shown(self.text)}: {message}{stop}")

    def at(self, token: Token, function: Callable[..., Term], *arguments: object) -> Term:
        """A step of the calculation, its errors placed at a token."""
        try:
            return function(*arguments)
        except ExpressionError as error:
            raise self.error(error.message, token) from None

    def join(self, *terms: Term) -> None:
        """Note numbers without a unit that are added to angles, or compared with them."""
        if any(term.angle for term in terms):
            self.bare += [term.bare for term in terms if term.bare is not None]

    def named(self, name: str) -> Term:
        return Term(Name(name), self.names[name], angle=name in self.angles)

    def whole(self) -> Term:
        term = self.sum()
        self.expect_end()
        return term

    def sides(self, signs: tuple[str, ...], example: str) -> tuple[str, Expression, Expression]:
        """The two sides of exactly one of these signs, and the sign."""
        left = self.sum()
        sign = self.take(*signs)
        if sign is None:
            if self.next.kind != "end":
                self._expect_one()
                self.expect_end(example)
            raise self.error(f"{' '.join(signs)} is missing; it reads like '{example}'")
        right = self.sum()
        self._expect_one()
        if self.next.text in signs:
            first = self.text[: self.next.position - 1].strip()
            second = self.text[sign.position - 1 + len(sign.text) :].strip()
            raise self.error(
                f"a second {self.next.text!r}; write two conditions: {first!r} and {second!r}"
            )
        self.expect_end(example)
        self.at(sign, compare, sign.text, left, right)
        return sign.text, left.tree, right.tree

    def _expect_one(self) -> None:
        """One condition, no words between two."""
        word = self.next.text.lower()
        if self.next.kind == "name" and word in ("and", "or", "between", "to"):
            remedy = "write two conditions, each with its own sign"
            if word == "and":
                first = self.text[: self.next.position - 1].strip()
                second = self.text[self.next.position + 2 :].strip()
                remedy = f"write two conditions: {first!r} and {second!r}"
            if word == "or":
                remedy = "all conditions of a list are to be met; of two, write max(a, b) >= c"
            raise self.error(f"{self.next.text!r} does not join conditions; {remedy}")

    def expect_end(self, example: str = "") -> None:
        token = self.next
        if token.kind == "end":
            return
        if token.text in COMPARISONS or token.text == "=":
            if example:
                sign = "; write <= or >=" if token.text == "=" else ""
                raise self.error(f"stray {token.text!r}{sign}; it reads like '{example}'")
            raise self.error("a comparison has its place in filters only")
        if token.text == ",":
            raise self.error("stray ','; a decimal point is '.', and a comma separates arguments")
        if token.text == "**":
            raise self.error("stray '**'; powers are written '^'")
        if self._is_stray_unit(token):
            previous = self.tokens[self.index - 1]
            raise self.error(unknown_unit(token.text, previous.text))
        raise self.error(f"{token.text!r} follows without an operator; write '*' between factors")

    def _is_stray_unit(self, token: Token) -> bool:
        """Whether a word that nobody declared stands where units stand."""
        before = self.tokens[self.index - 1]
        if token.kind != "name" or token.text in self.names or token.text in RESERVED:
            return False
        return before.kind == "number" or before.text == ")"

    def sum(self) -> Term:
        left = self.term()
        while sign := self.take("+", "-"):
            right = self.term()
            self.join(left, right)
            left = self.at(sign, combine, sign.text, left, right)
        return left

    def term(self) -> Term:
        left = self.factor()
        while True:
            if self._unit_comes():
                token = self.next
                left = self.at(token, measure, left, self.units())
            elif sign := self.take("*", "/"):
                left = self.at(sign, combine, sign.text, left, self.factor())
            else:
                return left

    def factor(self) -> Term:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign.text == "-"
        term = self.power()
        return minus(term) if negative else term

    def power(self) -> Term:
        base = self.atom()
        sign = self.take("^")
        if sign is None:
            return base
        self._deeper()
        exponent = self.factor()
        self.depth -= 1
        return self.at(sign, power, base, exponent)

    def atom(self) -> Term:
        token = self.next
        if token.kind == "number":
            self.index += 1
            value = Fraction(token.text)
            return Term(Number(value), None if value == 0 else NUMBER)
        if token.kind == "name":
            self.index += 1
            return self._named(token)
        if self.take("("):
            inner = self._parenthesised()
            self._close(token)
            return inner
        what = "it ends there" if token.kind == "end" else f"found {token.text!r}"
        raise self.error(f"a number, a name or '(' is expected, but {what}")

    def _parenthesised(self) -> Term:
        self._deeper()
        inner = self.sum()
        self.depth -= 1
        return inner

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH}; name a part of it in `constants`")

    def _close(self, opening: Token) -> None:
        if self.take(")"):
            return
        if self.next.kind == "end":
            raise self.error(
                "'(' is never closed; inside [ ] or { } of a file an expression with a comma "
                "needs quotes",
                opening,
            )
        self.expect_end()

    def _named(self, token: Token) -> Term:
        if self.next.text == "(":
            quantity = self._quantity(token)
            return quantity if quantity is not None else self._call(token)
        if token.text in self.names:
            return self.named(token.text)
        if token.text in UNITS:
            raise self.error(
                f"{token.text!r} is a unit and follows a number or ')', as in "
                f"'2 {token.text}'; no symbol has this name",
                token,
            )
        if token.text in FUNCTIONS:
            raise self.error(f"{token.text} needs parentheses: {token.text}(…)", token)
        raise self._unknown(token)

    def _unknown(self, token: Token) -> ExpressionError:
        if token.text.lower() == "pi":
            return self.error("no symbol 'pi' is declared; π is written '180 deg'", token)
        before = self.tokens[self.index - 3].text if self.index > 2 else ""
        if token.text in _ELECTRICAL and before in UNITS:  # else it may be a joint's name
            return self.error(f"{unknown_unit(token.text)}: write the number alone", token)
        if power := meant_power(token.text):
            said = f"{token.text!r} is no unit and no symbol; powers are written '^': {power}"
            return self.error(said, token)
        hint = did_you_mean(token.text, self.names)
        return self.error(f"no symbol {token.text!r} is declared{hint}", token)

    def _quantity(self, token: Token) -> Term | None:
        """A name that includes its parentheses, such as `stroke(D)` or `stroke(J.2)`."""
        known = [name for name in self.names if name.startswith(f"{token.text}(")]
        for name in known:
            end = self.index + len(tokens(name)) - 3
            spelled = "".join(t.text for t in self.tokens[self.index - 1 : end + 1])
            if spelled == name.replace(" ", ""):
                self.index = end + 1
                return self.named(name)
        return None

    def _call(self, token: Token) -> Term:
        if token.text in self.names or token.text in UNITS:
            raise self.error(f"{token.text!r} is not a function; write '*' before '('", token)
        if token.text not in FUNCTIONS:
            words = sorted({name.partition("(")[0] for name in self.names if "(" in name})
            if token.text not in words and (hint := did_you_mean(token.text, words)):
                raise self.error(f"nothing is called {token.text!r}{hint}", token)
            hint = did_you_mean(token.text, FUNCTIONS)
            known = ", ".join(FUNCTIONS)
            raise self.error(f"no function {token.text!r} ({known}){hint}", token)
        opening = self.next
        self.take("(")
        arguments = [self._parenthesised()]
        while self.take(","):
            arguments.append(self._parenthesised())
        self._close(opening)
        self.join(*arguments)
        return self.at(token, apply, token.text, arguments)

    def _unit_comes(self) -> bool:
        """Whether a unit follows; after a symbol it is rejected, as it would read like one."""
        token, previous = self.next, self.tokens[self.index - 1]
        slash = token.text == "/"
        named = self.tokens[self.index + 1] if slash else token
        if named.kind != "name" or named.text not in UNITS:
            return False
        if previous.kind == "number" or previous.text == ")":
            return True
        raise self.error(
            f"the unit {named.text!r} follows {previous.text!r}; a unit follows a number, a "
            f"fraction or ')'",
            named,
        )

    def units(self) -> Unit:
        """A product of units as far as it goes; `5/s` starts with the slash."""
        if self.next.text == "/":
            return self.more_units(Unit(""))
        return self.more_units(self.unit())

    def more_units(self, unit: Unit) -> Unit:
        while self.next.text in ("*", "/") and self._unit_at(self.index + 1):
            sign = self.next.text
            self.index += 1
            part = self.unit()
            unit = unit * part if sign == "*" else unit / part
            powers = [*unit.dimension.powers, Fraction(unit.pi)]
            if any(abs(power) > 2 * _MAX_UNIT_POWER for power in powers):
                raise self.error(f"its powers add up to more than {2 * _MAX_UNIT_POWER}")
        return unit

    def _unit_at(self, index: int) -> bool:
        token = self.tokens[index]
        if token.text == "(":
            return self._unit_at(index + 1)
        return token.kind == "name" and token.text in UNITS

    def unit(self) -> Unit:
        token = self.next
        if self.take("("):
            self._deeper()
            unit = self.more_units(self.unit())
            self.depth -= 1
            self._close(token)
        elif token.kind == "name" and token.text in UNITS:
            self.index += 1
            unit = UNITS[token.text]
        else:
            if token.text in _FOREIGN:
                raise self.error(unknown_unit(token.text))
            if power := meant_power(token.text):
                raise self.error(f"{token.text!r} is no unit; powers are written '^': {power}")
            hint = _unit_meant(token.text) if token.kind == "name" else ""
            raise self.error(f"a unit is expected ({', '.join(UNITS)}){hint}")
        sign = self.take("^")
        return unit ** self._whole_exponent(sign) if sign else unit

    def _whole_exponent(self, sign: Token) -> int:
        negative = self.take("-") is not None
        token = self.next
        if not token.text.isdecimal() or int(token.text) > _MAX_UNIT_POWER:
            raise self.error(f"a unit's power is a whole number up to {_MAX_UNIT_POWER}", sign)
        self.index += 1
        return -int(token.text) if negative else int(token.text)
