"""Base parameters as LaTeX, and with their derivatives as Python and as C functions."""

from collections.abc import Iterable

import sympy

from basepar_core.base import BaseParameters
from basepar_core.errors import UsageError
from basepar_core.expressions import Call, Expression, Name, Number, names
from basepar_core.texts import is_taken_by_code, latex, visible

from .templates import filled

#: Names that an argument cannot have in the functions, by what they use.
_USED = {"phi", "out", "pow", "sqrt"}


def export(base: BaseParameters, form: str) -> str:
    """Source text of φ_b(λ, φ), and for programs of ∂φ_b/∂λ at fixed φ.

    Parameters
    ----------
    base
        Of the symbolic route.
    form
        latex, python or c. The functions take the geometry symbols they need (SI, in
        alphabetical order; an algebraic number counts as one of its own; a name that is taken,
        like `lambda` or `phi`, ends in an underscore) and φ in the order of the mechanism's
        parameters. Derivatives are (base, symbol).

    Returns
    -------
    The text, whose first lines are comments: of what these are the base parameters, and where
    they hold.

    Raises
    ------
    UsageError
        The result has no expressions.
    """
    own, base = base, base.of_family or base  # functions are of other geometries too
    if any(entry.expression is None for entry in base.beta):
        raise UsageError(
            f"--format {form} needs expressions: use the symbolic route.", ["--format"]
        )
    about = _about(own, base)
    return _latex(base, about) if form == "latex" else _functions(base, form, about)


def _about(own: BaseParameters, base: BaseParameters) -> list[str]:
    """What is exported, and where it holds: of the family where the file's numbers are special."""
    found = [f"Base parameters of {base.mechanism}: {base.rank} of {len(base.parameters)}, SI."]
    if base is not own:
        found = [
            f"Base parameters of the family of {base.mechanism}: {base.rank} of "
            f"{len(base.parameters)}, SI.",
            f"They hold at the file's own geometry and at others. The file's own numbers are "
            f"special: {own.rank} are enough for them.",
        ]
    if base.validity:
        found.append(f"Valid where none vanishes: {', '.join(text for _, text in base.validity)}.")
    return found


def to_sympy(node: Expression) -> sympy.Expr:
    """An entry of β as a sympy expression; rational functions, sin and cos only."""
    match node:
        case Number(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Name(name):
            return sympy.Symbol(name)
        case Call("+", terms):
            return sympy.Add(*map(to_sympy, terms))
        case Call("*", factors):
            return sympy.Mul(*map(to_sympy, factors))
        case Call("-", (term,)):
            return -to_sympy(term)
        case Call("/", (top, bottom)):
            return to_sympy(top) / to_sympy(bottom)
        case Call("^", (power, exponent)):
            return to_sympy(power) ** to_sympy(exponent)
        case Call("sin" | "cos" as function, (angle,)):
            return getattr(sympy, function)(to_sympy(angle))
    raise TypeError(f"no entry of β contains {node!r}")


def _symbols(base: BaseParameters) -> list[str]:
    found: set[str] = set()
    for entry in base.beta:
        assert entry.expression is not None
        found |= names(entry.expression)
    return sorted(found)


def _arguments(base: BaseParameters) -> dict[sympy.Symbol, sympy.Symbol]:
    """What the symbols are called in the functions."""
    symbols, found = _symbols(base), {}
    for name in symbols:
        called = name
        while (
            called in _USED or is_taken_by_code(called) or (called != name and called in symbols)
        ):
            called += "_"
        found[sympy.Symbol(name)] = sympy.Symbol(called)
    return found


def _entries(base: BaseParameters, row: int) -> list[tuple[str, int, sympy.Expr]]:
    """The other terms of a base parameter: parameter, its place in φ, coefficient."""
    return [
        (
            base.eliminated_names[entry.eliminated],
            base.eliminated[entry.eliminated],
            sympy.factor(to_sympy(entry.expression)),  # type: ignore[arg-type]
        )
        for entry in base.beta
        if entry.base == row
    ]


def latex_name(parameter: str) -> str:
    """A parameter in LaTeX: `J_{\\mathrm{crank}}`."""
    body, _, kind = parameter.rpartition(".")
    if not body:
        return latex(parameter)
    stem, index = (kind[:1], kind[1:]) if kind[:1] in ("I", "J") or kind == "m" else (kind, "")
    below = ",".join(filter(None, (latex(index), rf"\mathrm{{{latex(body)}}}")))
    return rf"{latex(stem)}_{{{below}}}"


def _latex(base: BaseParameters, about: Iterable[str]) -> str:
    rows = []
    for k, parameter in enumerate(base.base_names):
        terms = [
            sympy.latex(coefficient * sympy.Symbol(latex_name(other)))
            for other, _, coefficient in _entries(base, k)
        ]
        signed = "".join(f" - {t[1:].lstrip()}" if t[0] == "-" else f" + {t}" for t in terms)
        rows.append(rf"\phi_{{b,{k + 1}}} &= {latex_name(parameter)}{signed}")
    # Within the formula, where a notebook takes them for comments too.
    head = "".join(f"% {visible(line)}\n" for line in about)
    return f"\\begin{{align}}\n{head}" + " \\\\\n".join(rows) + "\n\\end{align}"


def _slopes(base: BaseParameters, row: int) -> list[list[tuple[int, sympy.Expr]]]:
    """Per symbol the terms of a base parameter's derivative: place in φ, coefficient."""
    entries = _entries(base, row)
    return [
        [
            (place, sympy.factor(slope))
            for _, place, coefficient in entries
            if (slope := sympy.diff(coefficient, sympy.Symbol(symbol))) != 0
        ]
        for symbol in _symbols(base)
    ]


def _functions(base: BaseParameters, form: str, about: Iterable[str]) -> str:
    symbols, called = _symbols(base), _arguments(base)
    shown = sympy.ccode if form == "c" else str

    def terms(pairs: Iterable[tuple[int, sympy.Expr]]) -> list[str]:
        return [f"({shown(c.xreplace(called))})*phi[{place}]" for place, c in pairs]

    rows = [
        {
            "name": name,
            "value": " + ".join([f"phi[{place}]", *terms(x[1:] for x in _entries(base, k))]),
            "slopes": [" + ".join(terms(row)) or "0.0" for row in _slopes(base, k)],
        }
        for k, (name, place) in enumerate(zip(base.base_names, base.kept, strict=True))
    ]
    facts = {"base": base, "symbols": symbols, "arguments": list(map(str, called.values()))}
    name = "base.c" if form == "c" else "base.py"
    return filled(name, {**facts, "rows": rows, "about": about})
