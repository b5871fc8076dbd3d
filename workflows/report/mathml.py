"""Expressions as MathML, which browsers typeset themselves.

From the text that the store keeps (Python syntax, or `^` as files write it) by way of Python's
own parser: a tree is read, nothing is ever run, and whatever is no arithmetic is shown as the
text it is.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from .numbers import brief

#: Longer text is shown as text: nobody reads such a formula.
LONGEST = 4000

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega"
)
_GREEK = dict(zip(_LETTERS.split(), "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
    ast.Eq: "=",
    ast.NotEq: "≠",
}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)

Terms = list[tuple[int, ast.expr]]


class _NotArithmetic(ValueError):
    """A construct that has no formula."""


def inline(*rows: Markup) -> Markup:
    """A formula within a line of text, its fractions in full size."""
    return Markup('<math displaystyle="true">{}</math>').format(Markup("").join(rows))


def expression(text: str) -> Markup:
    """A formula from its text; where that is no arithmetic, the text itself."""
    try:
        return inline(_compared(_parsed(text)))
    except _NotArithmetic:
        return Markup("<code>{}</code>").format(text)


def nonzero(text: str) -> Markup:
    """That an expression does not vanish; its sign and its divisor do not matter for that."""
    try:
        _, node = _signed(_parsed(text))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            node = node.left if isinstance(node.right, ast.Constant) else node
        return inline(_row(node)[0], Markup("<mo>≠</mo><mn>0</mn>"))
    except _NotArithmetic:
        return Markup("<code>{}</code> ≠ 0").format(text)


def symbol(name: str) -> Markup:
    """A symbol: `lx1` is l with index x1, `theta2` is θ with index 2, `offset` a word."""
    head, tail = _split(name)
    letters = _letters(head)
    return Markup("<msub>{}{}</msub>").format(letters, _index(tail)) if tail else letters


def parameter(name: str) -> Markup:
    """An inertial parameter: `crank.mx` is mx with index crank, `wheel.Ixy` is I with indices."""
    body, _, kind = name.rpartition(".")
    if not body:
        return symbol(name)
    if re.fullmatch("I[xyz]{2}", kind):
        index = Markup("<mrow><mi>{}</mi><mo>,</mo>{}</mrow>").format(kind[1:], _word(body))
        return Markup("<msub><mi>I</mi>{}</msub>").format(index)
    if re.fullmatch("m[xyz]?|J", kind):
        base = Markup("").join(Markup("<mi>{}</mi>").format(letter) for letter in kind)
        return Markup("<msub><mrow>{}</mrow>{}</msub>").format(base, _word(body))
    return Markup("<msub>{}{}</msub>").format(_word(kind), _word(body))


def combination(first: str, terms: Mapping[str, str]) -> Markup:
    """A base parameter as a sum, a formula per term so that lines may break between them."""
    parts = [inline(parameter(first)), *(term(text, name) for name, text in terms.items())]
    return Markup(" ").join(parts)


def term(coefficient: str, name: str) -> Markup:
    """A signed term of a combination: coefficient, then parameter."""
    try:
        sign, rest = _signed(_parsed(coefficient))
        factor = _factor(rest)
    except _NotArithmetic:
        sign, factor = 1, Markup("<mo>(</mo><mtext>{}</mtext><mo>)</mo>").format(coefficient)
    shown = Markup('<mo form="infix">{}</mo>').format("+" if sign > 0 else "−")
    gap = Markup('<mspace width="0.17em"></mspace>') if factor else Markup()
    return inline(shown, factor, gap, parameter(name))


def number_term(value: float, name: str) -> Markup:
    """A signed term with a number for a coefficient."""
    shown = Markup('<mo form="infix">{}</mo>').format("−" if value < 0 else "+")
    size = brief(abs(value))
    factor = Markup('<mn>{}</mn><mspace width="0.17em"></mspace>').format(size)
    return inline(shown, Markup() if size == "1" else factor, parameter(name))


def _factor(node: ast.expr) -> Markup:
    """A coefficient before a parameter; 1 is not written."""
    if isinstance(node, ast.Constant) and node.value == 1:
        return Markup()
    return _at_least(node, _PRODUCT)


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise _NotArithmetic
    try:
        return ast.parse(text.replace("^", "**").strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _NotArithmetic from None


def _compared(node: ast.expr) -> Markup:
    if not isinstance(node, ast.Compare):
        return _row(node)[0]
    parts = [_row(node.left)[0]]
    for sign, right in zip(node.ops, node.comparators, strict=True):
        if type(sign) not in _COMPARISONS:
            raise _NotArithmetic
        parts += [Markup("<mo>{}</mo>").format(_COMPARISONS[type(sign)]), _row(right)[0]]
    return Markup("").join(parts)


def _row(node: ast.expr) -> tuple[Markup, int]:
    """A formula and how tightly it binds."""
    sign, rest = _signed(node)
    if sign < 0:
        return Markup('<mo form="prefix">−</mo>{}').format(_at_least(rest, _PRODUCT)), _SUM
    match rest:
        case ast.Constant(value=int() | float()):
            return Markup("<mn>{}</mn>").format(rest.value), _ATOM
        case ast.Name(id=name):
            return symbol(name), _ATOM
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments), _ATOM
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return _sum(list(_terms(rest, 1))), _SUM
        case ast.BinOp(left=above, op=ast.Div(), right=below):
            return _fraction(_row(above)[0], _row(below)[0]), _PRODUCT
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(left, right), _PRODUCT
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _power(base, exponent), _POWER
    raise _NotArithmetic


def _at_least(node: ast.expr, binding: int) -> Markup:
    """A formula in parentheses if it binds less tightly than asked."""
    inner, tight = _row(node)
    return inner if tight >= binding else _fenced(inner)


def _fenced(inner: Markup) -> Markup:
    return Markup("<mrow><mo>(</mo>{}<mo>)</mo></mrow>").format(inner)


def _signed(node: ast.expr) -> tuple[int, ast.expr]:
    """The sign that may be pulled out in front, and what is left."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            sign, rest = _signed(inner)
            return -sign, rest
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _signed(inner)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            (sign, above), (other, below) = _signed(left), _signed(right)
            return sign * other, ast.BinOp(left=above, op=op, right=below)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            terms = list(_terms(node, 1))
            if all(sign < 0 for sign, _ in terms):
                return -1, _joined([inner for _, inner in terms])
    return 1, node


def _joined(nodes: Sequence[ast.expr]) -> ast.expr:
    found = nodes[0]
    for node in nodes[1:]:
        found = ast.BinOp(left=found, op=ast.Add(), right=node)
    return found


def _terms(node: ast.expr, sign: int) -> Iterator[tuple[int, ast.expr]]:
    """Terms of a sum with their signs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left, sign)
        yield from _terms(node.right, -sign if isinstance(node.op, ast.Sub) else sign)
        return
    own, rest = _signed(node)
    yield sign * own, rest


def _sum(terms: Terms) -> Markup:
    # A positive term first where there is one: b − a rather than −a + b.
    first = next((k for k, (sign, _) in enumerate(terms) if sign > 0), 0)
    terms = [terms[first], *terms[:first], *terms[first + 1 :]]
    parts = []
    for k, (sign, node) in enumerate(terms):
        if k or sign < 0:
            form = "infix" if k else "prefix"
            shown = "+" if sign > 0 else "−"
            parts.append(Markup('<mo form="{}">{}</mo>').format(form, shown))
        parts.append(_at_least(node, _PRODUCT))
    return Markup("").join(parts)


def _fraction(above: Markup, below: Markup) -> Markup:
    row = Markup("<mrow>{}</mrow>")
    return Markup("<mfrac>{}{}</mfrac>").format(row.format(above), row.format(below))


def _product(left: ast.expr, right: ast.expr) -> Markup:
    # Two numbers side by side would read as one; other factors stand together.
    between = "·" if _first(right) and _last(left) else "\u2062"
    return Markup("{}<mo>{}</mo>{}").format(
        _at_least(left, _PRODUCT), between, _at_least(right, _PRODUCT)
    )


def _first(node: ast.expr) -> bool:
    """Whether a factor begins with a digit."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        node = node.left
    return isinstance(node, ast.Constant)


def _last(node: ast.expr) -> bool:
    """Whether a factor ends in a digit."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.right
    return isinstance(node, ast.Constant)


def _power(base: ast.expr, exponent: ast.expr) -> Markup:
    match exponent:
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Div(), right=ast.Constant(value=2)):
            return Markup("<msqrt>{}</msqrt>").format(_row(base)[0])
    row = Markup("<mrow>{}</mrow>").format(_row(exponent)[0])
    if isinstance(base, ast.Name) and (parts := _split(base.id))[1]:
        head, tail = parts
        return Markup("<msubsup>{}{}{}</msubsup>").format(_letters(head), _index(tail), row)
    return Markup("<msup>{}{}</msup>").format(_at_least(base, _ATOM), row)


def _call(name: str, arguments: list[ast.expr]) -> Markup:
    inner = [_row(argument)[0] for argument in arguments]
    if name == "sqrt" and len(inner) == 1:
        return Markup("<msqrt>{}</msqrt>").format(inner[0])
    if name in ("abs", "Abs") and len(inner) == 1:
        return Markup(
            '<mrow><mo fence="true" form="prefix">|</mo>{}'
            '<mo fence="true" form="postfix">|</mo></mrow>'
        ).format(inner[0])
    row = Markup("<mo>,</mo>").join(inner)
    return Markup("<mrow><mi>{}</mi><mo>\u2061</mo>{}</mrow>").format(name, _fenced(row))


def letter_and_index(name: str) -> tuple[str, str]:
    """A symbol's letter (Greek as such) and index, for where there is no MathML."""
    head, tail = _split(name)
    return _greek(head) or head, tail


def _split(name: str) -> tuple[str, str]:
    """Letter (or Greek name, or word) and index of a symbol's name."""
    head, _, rest = name.partition("_")
    letters = re.match("[A-Za-z]*", head)
    word = letters.group() if letters else ""
    if word.lower() in _GREEK or len(word) > 3:
        return word, ", ".join(filter(None, (head[len(word) :], rest.replace("_", " "))))
    return head[:1], ", ".join(filter(None, (head[1:], rest.replace("_", " "))))


def _letters(head: str) -> Markup:
    return Markup("<mi>{}</mi>").format(_greek(head) or head)


def _greek(head: str) -> str:
    found = _GREEK.get(head.lower(), "")
    return found.upper() if head[:1].isupper() else found


def _index(tail: str) -> Markup:
    """Letters and digits of an index, each as what it is."""
    pieces = re.findall(r"\d+|[^\d]+", tail)
    row = [Markup("<mn>{}</mn>" if p.isdecimal() else "<mi>{}</mi>").format(p) for p in pieces]
    return row[0] if len(row) == 1 else Markup("<mrow>{}</mrow>").format(Markup("").join(row))


def _word(text: str) -> Markup:
    return Markup("<mtext>{}</mtext>").format(escape(text))
