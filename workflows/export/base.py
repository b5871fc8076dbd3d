"""Base parameters as LaTeX, and with their derivatives as Python and as C functions."""

import sympy

from basepar_core.base import BaseParameters
from basepar_core.errors import UsageError
from basepar_core.expressions import Call, Expression, Name, Number, names
from basepar_core.texts import c_comment, is_taken_by_code, latex, python_comment, python_text

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

    Raises
    ------
    UsageError
        The result has no expressions.
    """
    base = base.of_family or base  # functions are of other geometries too
    if any(entry.expression is None for entry in base.beta):
        raise UsageError(
            f"--format {form} needs expressions: use the symbolic route.", ["--format"]
        )
    return {"latex": _latex, "python": _python, "c": _c}[form](base)


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


def _latex(base: BaseParameters) -> str:
    rows = []
    for k, parameter in enumerate(base.base_names):
        terms = [
            sympy.latex(coefficient * sympy.Symbol(latex_name(other)))
            for other, _, coefficient in _entries(base, k)
        ]
        signed = "".join(f" - {t[1:].lstrip()}" if t[0] == "-" else f" + {t}" for t in terms)
        rows.append(rf"\phi_{{b,{k + 1}}} &= {latex_name(parameter)}{signed}")
    return "\\begin{align}\n" + " \\\\\n".join(rows) + "\n\\end{align}"


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


def _sum(terms: list[str]) -> str:
    return " + ".join(terms) or "0.0"


def _python(base: BaseParameters) -> str:
    symbols, called = _symbols(base), _arguments(base)
    arguments = ", ".join([*map(str, called.values()), "phi"])
    lines = [
        "from math import cos, sin",
        "",
        f"PARAMETERS = {list(base.parameters)!r}",
        f"BASE = {list(base.base_names)!r}",
        f"COLUMNS = {list(base.kept)!r}  # of the regressor, that base parameters multiply",
        f"SYMBOLS = {symbols!r}",
        "",
        "",
        f"def base_parameters({arguments}):",
        f'    """Base parameters of {python_text(base.mechanism)}; phi in the order of '
        'PARAMETERS, SI."""',
        "    return [",
    ]
    for k, place in enumerate(base.kept):
        terms = [f"({c.xreplace(called)})*phi[{p}]" for _, p, c in _entries(base, k)]
        lines.append(
            f"        {_sum([f'phi[{place}]', *terms])},  # {python_comment(base.base_names[k])}"
        )
    lines += [
        "    ]",
        "",
        "",
        f"def base_parameters_derivative({arguments}):",
        '    """Their derivatives by SYMBOLS, a row for each base parameter; phi is fixed."""',
        "    return [",
    ]
    for k, name in enumerate(base.base_names):
        sums = [
            _sum([f"({c.xreplace(called)})*phi[{p}]" for p, c in row]) for row in _slopes(base, k)
        ]
        lines.append(f"        [{', '.join(sums)}],  # {python_comment(name)}")
    return "\n".join([*lines, "    ]"])


def _c(base: BaseParameters) -> str:
    symbols, called = _symbols(base), _arguments(base)
    arguments = ", ".join([*(f"double {x}" for x in called.values()), "const double *phi"])
    columns = ", ".join(map(str, base.kept))
    lines = [
        "#include <math.h>",
        "",
        f"/* Base parameters of {c_comment(base.mechanism)}, SI. phi: "
        f"{c_comment(', '.join(base.parameters))}. */",
        f"void base_parameters({arguments}, double *out)",
        "{",
    ]
    for k, place in enumerate(base.kept):
        terms = [f"({sympy.ccode(c.xreplace(called))})*phi[{p}]" for _, p, c in _entries(base, k)]
        lines.append(
            f"    out[{k}] = {_sum([f'phi[{place}]', *terms])}; "
            f"/* {c_comment(base.base_names[k])} */"
        )
    lines += [
        "}",
        "",
        f"/* Their derivatives, row by row, by {c_comment(', '.join(symbols)) or 'none'}; "
        "phi is fixed. */",
        f"void base_parameters_derivative({arguments}, double *out)",
        "{",
    ]
    for k in range(base.rank):
        for n, row in enumerate(_slopes(base, k)):
            total = _sum([f"({sympy.ccode(c.xreplace(called))})*phi[{p}]" for p, c in row])
            lines.append(f"    out[{k * len(symbols) + n}] = {total};")
    lines += [
        "}",
        "",
        "/* Columns of the regressor, from 0, that base parameters multiply. */",
        f"const int base_columns[{base.rank}] = {{{columns}}};",
    ]
    return "\n".join(lines)
