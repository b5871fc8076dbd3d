"""Characters of an expression as tokens with positions."""

import re
from dataclasses import dataclass

from basepar_core.errors import ExpressionError

COMPARISONS = ("<", "<=", ">", ">=", "==")
_MAX_LENGTH = 4000
_MAX_DIGITS = 60  # of one number
_MAX_DECIMAL_EXPONENT = 60

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)?)"
    r"|(?P<sign><=|>=|==|\*\*|[-+*/^(),<>=])"
    r")"
)
_LITERAL = re.compile(
    r"\s*[-+]?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"(?:\s*/\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)?\s*\Z"
)
_MEANT = {
    "−": "'-'",
    "–": "'-'",
    "·": "'*'",
    "×": "'*'",
    "÷": "'/'",
    "²": "'^2'",
    "³": "'^3'",
    "°": "'deg'",
    "π": "'180 deg'",
    "≤": "'<='",
    "≥": "'>='",
    "√": "'sqrt(…)'",
}


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is number, name, sign or end; `position` counts characters from 1."""

    kind: str
    text: str
    position: int


def is_literal(text: str) -> bool:
    """Whether it is a bare literal: a signed integer, decimal or fraction, nothing else."""
    return _LITERAL.match(text) is not None


def tokens(text: str) -> list[Token]:
    """All tokens, an end token last."""
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(
            f"An expression of {len(text)} characters; at most {_MAX_LENGTH} are read. Split it "
            f"into several symbols."
        )
    found: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _stray(text, at)
        kind = str(match.lastgroup)
        token = Token(kind, match[kind], match.start(kind) + 1)
        if kind == "number":
            _check_size(token)
        found.append(token)
        at = match.end()
    return [*found, Token("end", "", end + 1)]


def _stray(text: str, at: int) -> ExpressionError:
    while text[at].isspace():
        at += 1
    meant = _MEANT.get(text[at])
    if share := re.fullmatch(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%\s*", text):
        meant = f"'{float(share[1]) / 100:g}'"
    remedy = f"write {meant}" if meant else "an expression has numbers, names and + - * / ^ ( )"
    return ExpressionError(f"Position {at + 1} of {shown(text)}: stray {text[at]!r}; {remedy}.")


def _check_size(token: Token) -> None:
    if wrong := size_mistake(token.text):
        raise ExpressionError(f"Position {token.position}: {wrong}.")


def size_mistake(text: str) -> str:
    """Why a decimal number is too large, too small or too long to be read; "" if it is not."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(exponent.lstrip("+-0"))
    if (
        len(mantissa.lstrip("+-")) <= _MAX_DIGITS
        and digits <= 3
        and abs(int(exponent or 0)) <= _MAX_DECIMAL_EXPONENT
    ):
        return ""
    return (
        f"a number beyond 1e±{_MAX_DECIMAL_EXPONENT} or {_MAX_DIGITS} digits; no dimension of a "
        "mechanism needs it"
    )


def shown(text: str) -> str:
    """Text quoted for a message, shortened where it is long."""
    text = text.strip()
    return repr(text if len(text) <= 60 else text[:57] + "...")
