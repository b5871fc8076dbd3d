"""Factored polynomials in Python syntax, with terms and factors in SymPy's order.

SymPy loads its tensors before it prints the first sum: a tenth of what `basepar base` takes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.expressions import Call, Expression, Name

#: Coefficients of monomials, by the powers of the generators.
Terms = Mapping[tuple[int, ...], int]

_NUMBER, _SYMBOL, _PRODUCT, _SUM = (1,), (2,), (3, 0), (3, 1)
_FUNCTIONS = {"sin": (4, 0), "cos": (4, 1)}


class FactoredText:
    """Texts of products of polynomials.

    Parameters
    ----------
    generators
        What each generator stands for: a symbol, or an angle's sine or cosine.
    """

    def __init__(self, generators: Sequence[Expression]):
        self._keys = [_key(node) for node in generators]
        self._texts = [_text(node) for node in generators]
        self._order = sorted(range(len(generators)), key=lambda k: self._keys[k])

    def fraction(
        self,
        top: tuple[int, Sequence[tuple[Terms, int]]],
        bottom: tuple[int, Sequence[tuple[Terms, int]]],
    ) -> str:
        """top / bottom, each as content and factors with their powers."""
        upper, is_sum, _ = self._product(*top)
        lower, *is_compound = self._product(*bottom)
        if lower == "1":
            return upper
        upper = f"({upper})" if is_sum else upper
        return f"{upper}/({lower})" if any(is_compound) else f"{upper}/{lower}"

    def _product(
        self, content: int, factors: Sequence[tuple[Terms, int]]
    ) -> tuple[str, bool, bool]:
        """Text; whether it is a sum; whether it is a product of several."""
        if factors and len(factors[0][0]) > 1 and factors[0][1] == 1:  # a number goes into a sum
            first = {powers: content * c for powers, c in factors[0][0].items()}
            content, factors = 1, [(first, 1), *factors[1:]]
        powers = [0] * len(self._keys)
        items = []
        for terms, exponent in factors:
            if len(terms) == 1:
                (monomial,) = terms
                powers = [p + exponent * m for p, m in zip(powers, monomial, strict=True)]
            else:
                ordered = self._ordered(terms)
                keys = tuple(self._term_key(*term) for term in ordered)
                items.append(((_SUM, (len(keys), keys), exponent), self._sum(ordered), exponent))
        items += [((*self._keys[k], p), self._texts[k], p) for k, p in enumerate(powers) if p]
        if len(items) == 1 and items[0][0][0] == _SUM and items[0][2] == 1 and content == 1:
            return items[0][1], True, False
        texts = [
            _power(f"({text})" if key[0] == _SUM else text, exponent)
            for key, text, exponent in sorted(items)
        ]
        whole = _times(content, texts)
        return whole, False, len(texts) + (content != 1) > 1

    def _ordered(self, terms: Terms) -> list[tuple[tuple[int, ...], int]]:
        """Lexicographically, highest powers first; but 1 - 2*x, where x is one generator's."""
        place = self._order
        found = sorted(terms.items(), key=lambda term: [-term[0][k] for k in place])
        (first, c), (last, d) = found[0], found[-1]
        if len(found) == 2 and not any(last) and sum(map(bool, first)) == 1 and c < 0 < d:
            found.reverse()
        return found

    def _sum(self, ordered: Sequence[tuple[tuple[int, ...], int]]) -> str:
        texts = [
            _times(c, [_power(self._texts[k], powers[k]) for k in self._order if powers[k]])
            for powers, c in ordered
        ]
        return " + ".join(texts).replace("+ -", "- ")

    def _term_key(self, powers: tuple[int, ...], coefficient: int) -> tuple[Any, ...]:
        factors = [(*self._keys[k], powers[k], 1) for k in self._order if powers[k]]
        if not factors:
            return (_NUMBER, (0, ()), 0, coefficient)
        if len(factors) == 1:
            return (*factors[0][:-1], coefficient)
        return (_PRODUCT, (len(factors), tuple(factors)), 1, coefficient)


def _key(node: Expression) -> tuple[Any, ...]:
    """By kind, then by name; angles of a function by theirs."""
    match node:
        case Name(name):
            return (_SYMBOL, (1, (name,)))
        case Call(function, (Name(name),)):
            return (_FUNCTIONS[function], (1, ((_SYMBOL, (1, (name,)), 1, 1),)))
    raise TypeError(f"{node} is no generator")


def _text(node: Expression) -> str:
    match node:
        case Name(name):
            return name
        case Call(function, (Name(name),)):
            return f"{function}({name})"
    raise TypeError(f"{node} is no generator")


def _power(text: str, exponent: int) -> str:
    return text if exponent == 1 else f"{text}**{exponent}"


def _times(coefficient: int, texts: Sequence[str]) -> str:
    if not texts:
        return str(coefficient)
    number = [] if abs(coefficient) == 1 else [str(abs(coefficient))]
    return "-" * (coefficient < 0) + "*".join([*number, *texts])
