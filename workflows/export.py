"""Base parameters as LaTeX, as a Python function and as a C function."""

import sympy

from basepar_core.base.result import BaseParameters
from basepar_core.errors import UsageError
from basepar_core.expressions import Call, Expression, Name, Number, names

FORMATS = ("latex", "python", "c")


def export(base: BaseParameters, form: str) -> str:
    """Source text of φ_b(λ, φ).

    Parameters
    ----------
    base
        Of the symbolic route.
    form
        latex, python or c. The functions take the geometry symbols they need (SI, in
        alphabetical order) and φ in the order of the mechanism's parameters.

    Raises
    ------
    UsageError
        The result has no expressions.
    """
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


def _latex(base: BaseParameters) -> str:
    def name(parameter: str) -> str:
        body, kind = parameter.split(".", 1)
        stem, index = (kind[0], kind[1:]) if kind[0] in "IJ" or kind == "m" else (kind, "")
        below = ",".join(filter(None, (index, rf"\mathrm{{{body}}}".replace("_", r"\_"))))
        return rf"{stem}_{{{below}}}"

    rows = []
    for k, parameter in enumerate(base.base_names):
        terms = [
            sympy.latex(coefficient * sympy.Symbol(name(other)))
            for other, _, coefficient in _entries(base, k)
        ]
        signed = "".join(f" - {t[1:].lstrip()}" if t[0] == "-" else f" + {t}" for t in terms)
        rows.append(rf"\phi_{{b,{k + 1}}} &= {name(parameter)}{signed}")
    return "\\begin{align}\n" + " \\\\\n".join(rows) + "\n\\end{align}"


def _python(base: BaseParameters) -> str:
    arguments = ", ".join([*_symbols(base), "phi"])
    lines = [
        "from math import cos, sin",
        "",
        f"PARAMETERS = {list(base.parameters)!r}",
        f"BASE = {list(base.base_names)!r}",
        "",
        "",
        f"def base_parameters({arguments}):",
        f'    """Base parameters of {base.mechanism}; phi in the order of PARAMETERS, SI."""',
        "    return [",
    ]
    for k, place in enumerate(base.kept):
        terms = [f"({c})*phi[{p}]" for _, p, c in _entries(base, k)]
        lines.append(f"        {' + '.join([f'phi[{place}]', *terms])},  # {base.base_names[k]}")
    return "\n".join([*lines, "    ]"])


def _c(base: BaseParameters) -> str:
    symbols = _symbols(base)
    arguments = ", ".join([*(f"double {name}" for name in symbols), "const double *phi"])
    lines = [
        "#include <math.h>",
        "",
        f"/* Base parameters of {base.mechanism}, SI. phi: {', '.join(base.parameters)}. */",
        f"void base_parameters({arguments}, double *out)",
        "{",
    ]
    for k, place in enumerate(base.kept):
        terms = [f"({sympy.ccode(c)})*phi[{p}]" for _, p, c in _entries(base, k)]
        right = " + ".join([f"phi[{place}]", *terms])
        lines.append(f"    out[{k}] = {right}; /* {base.base_names[k]} */")
    return "\n".join([*lines, "}"])
