"""β, base parameters and their exact derivatives at many geometries, as compiled functions.

    functions = compiled(symbolic(model), model.mechanism, jit=True)
    beta = functions.beta({"lx1": lengths})                    # (variant, entry)
    slope = functions.base_parameters_derivative({"lx1": lengths})  # (variant, base, symbol)

Derivatives are total: an algebraic number moves with the symbols of its relation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import NODE_ZERO, Graph, Program, names
from basepar_core.symbolic import symbol_values

from ..errors import MissingDataError, UsageError
from ..mechanism import Mechanism
from .result import BaseParameters

Values = Mapping[str, Array | float]


@dataclass(frozen=True)
class CompiledBase:
    """Functions of the geometry; picklable, compiled where they are first called.

    Every function takes swept symbols by name (SI; arrays (variant,) or numbers), the others
    being nominal, and optionally `out`, an array of the result's shape that is filled instead of
    a new one. Where β has no value (a pole) or a root stops being real there is inf or nan.

    Attributes
    ----------
    entries
        Places (base, eliminated) of β's entries, in the order of `BaseParameters.beta`.
    beta_symbols, symbols
        What derivatives of β, and of base parameters, are taken by: geometry symbols and
        constants that occur, in file order; angles in rad.
    distinct_of_entry
        Per entry its column in `distinct_beta`; −1 for a constant.
    """

    entries: tuple[tuple[int, int], ...]
    beta_symbols: tuple[str, ...]
    symbols: tuple[str, ...]
    distinct_of_entry: tuple[int, ...]
    rank: int
    jit: bool
    _mechanism: Mechanism = field(repr=False)
    _programs: Mapping[str, Program] = field(repr=False)

    def beta(self, values: Values, out: Array | None = None) -> Array:
        """β's entries (variant, entry), constant ones included."""
        return self._run("beta", values, (len(self.entries),), out)

    def distinct_beta(self, values: Values, out: Array | None = None) -> Array:
        """Entries that are not constant, equal ones once: (variant, distinct)."""
        return self._run("distinct", values, (max(self.distinct_of_entry, default=-1) + 1,), out)

    def beta_derivative(self, values: Values, out: Array | None = None) -> Array:
        """∂β/∂symbol (variant, entry, symbol), symbols as in `beta_symbols`."""
        shape = (len(self.entries), len(self.beta_symbols))
        return self._run("beta_derivative", values, shape, out)

    def base_parameters(self, values: Values, out: Array | None = None) -> Array:
        """φ_b = φ₁ + β φ₂ (variant, base), inertias as the file states them.

        Raises
        ------
        MissingDataError
            Bodies without inertias.
        """
        self._check_inertias()
        return self._run("base_parameters", values, (self.rank,), out)

    def base_parameters_derivative(self, values: Values, out: Array | None = None) -> Array:
        """∂φ_b/∂symbol (variant, base, symbol), symbols as in `symbols`.

        Raises
        ------
        MissingDataError
            Bodies without inertias.
        """
        self._check_inertias()
        shape = (self.rank, len(self.symbols))
        return self._run("base_parameters_derivative", values, shape, out)

    def _check_inertias(self) -> None:
        bare = [body.name for body in self._mechanism.bodies if body.parameters is None]
        if bare:
            raise MissingDataError(
                f"Base parameters as numbers need inertias, and {', '.join(bare)} of "
                f"{self._mechanism.name!r} {'has' if len(bare) == 1 else 'have'} none. Give "
                f"mass, centre and inertia.",
                [f"bodies.{name}" for name in bare],
            )

    def _run(self, what: str, values: Values, shape: tuple[int, ...], out: Array | None) -> Array:
        program = self._programs[what]
        arrays = {name: np.asarray(value, float).reshape(-1) for name, value in values.items()}
        count = _count(self._mechanism, arrays)
        known = symbol_values(self._mechanism, arrays)
        columns = [np.ascontiguousarray(known[name], float).reshape(-1) for name in program.inputs]
        if out is None:
            out = np.empty((count, *shape))
        elif out.shape != (count, *shape) or out.dtype != float or not out.flags.c_contiguous:
            raise UsageError(
                f"`out` is {out.dtype} {out.shape}; it must be a contiguous float64 array of "
                f"shape {(count, *shape)}.",
                ["out"],
            )
        program.run(columns, out.reshape(count, program.outputs), self.jit)
        return out


def _count(mechanism: Mechanism, arrays: Mapping[str, Array]) -> int:
    """Number of variants."""
    unknown = sorted(arrays.keys() - mechanism.nominal.keys())
    sizes = {array.size for array in arrays.values()} - {1}
    bound = sorted(arrays.keys() & mechanism.roots)
    if unknown or len(sizes) > 1 or bound:
        what = [f"no symbol is named {name}" for name in unknown]
        what += [f"{name} follows from its relation" for name in bound]
        if len(sizes) > 1:
            what.append(f"lengths of arrays differ ({', '.join(map(str, sorted(sizes)))})")
        raise UsageError(f"Values for {mechanism.name!r}: {'; '.join(what)}.", unknown)
    return sizes.pop() if sizes else 1


def compiled(base: BaseParameters, mechanism: Mechanism, jit: bool = False) -> CompiledBase:
    """Functions of a symbolic result.

    Parameters
    ----------
    base
        Of the symbolic route, for this mechanism.
    mechanism
        Gives inertias, nominal values and relations.
    jit
        Compile by numba when first called, which takes seconds and pays from about a million
        variants on; otherwise NumPy.

    Raises
    ------
    UsageError
        The result has no expressions, or is another mechanism's.
    """
    base = base.of_family or base  # functions are of other geometries too
    if any(entry.expression is None for entry in base.beta):
        raise UsageError("β as a function needs expressions: use the symbolic route.", ["base"])
    if base.parameters != mechanism.parameter_names:
        raise UsageError(
            f"These base parameters are of {base.mechanism!r}, not of {mechanism.name!r}.",
            ["mechanism"],
        )
    graph = Graph()
    beta = [graph.tree(entry.expression) for entry in base.beta if entry.expression is not None]
    phi = _inertias(graph, mechanism)
    combined = _combined(graph, base, beta, phi) if phi else []
    by_beta = _symbols(graph, mechanism, beta)
    by_phi = _symbols(graph, mechanism, combined)
    distinct = [place for place in dict.fromkeys(beta) if graph.value(place) is None]
    slopes = _slopes(graph, mechanism, beta, by_beta)
    phi_slopes = _slopes(graph, mechanism, combined, by_phi)
    outputs = {
        "beta": beta,
        "distinct": distinct,
        "beta_derivative": slopes,
        "base_parameters": combined,
        "base_parameters_derivative": phi_slopes,
    }
    return CompiledBase(
        entries=tuple((entry.base, entry.eliminated) for entry in base.beta),
        beta_symbols=by_beta,
        symbols=by_phi,
        distinct_of_entry=tuple(distinct.index(p) if p in distinct else -1 for p in beta),
        rank=base.rank,
        jit=jit,
        _mechanism=mechanism,
        _programs={name: Program.of(graph, places) for name, places in outputs.items()},
    )


def _inertias(graph: Graph, mechanism: Mechanism) -> list[int]:
    if not mechanism.has_inertias:
        return []
    return [graph.tree(x) for body in mechanism.bodies for x in body.parameters or ()]


def _combined(
    graph: Graph, base: BaseParameters, beta: Sequence[int], phi: Sequence[int]
) -> list[int]:
    """Nodes of φ_b."""
    terms = [[phi[place]] for place in base.kept]
    for entry, place in zip(base.beta, beta, strict=True):
        terms[entry.base].append(graph.multiply(place, phi[base.eliminated[entry.eliminated]]))
    return [graph.add(*row) for row in terms]


def _symbols(graph: Graph, mechanism: Mechanism, places: Sequence[int]) -> tuple[str, ...]:
    """Symbols that nodes depend on, roots resolved to what they follow from; in file order."""
    found = set(Program.of(graph, places).inputs)
    for relation in mechanism.relations:
        if relation.symbol in found:
            found |= names(relation.polynomial)
    order = (*mechanism.geometry, *mechanism.constants)
    return tuple(s.name for s in order if s.name in found - mechanism.roots)


def _slopes(
    graph: Graph, mechanism: Mechanism, places: Sequence[int], symbols: Sequence[str]
) -> list[int]:
    """Derivatives of nodes by symbols, place by place."""
    inner: dict[str, dict[str, int]] = {symbol: {} for symbol in symbols}
    for relation in mechanism.relations:
        polynomial = graph.tree(relation.polynomial)
        own = graph.derivative(polynomial, relation.symbol)
        for symbol in symbols:
            # P(r, λ) = 0 all the way: dr/dλ = −(∂P/∂λ)/(∂P/∂r).
            other = graph.derivative(polynomial, symbol)
            if other != NODE_ZERO:
                inner[symbol][relation.symbol] = graph.negate(graph.divide(other, own))
    columns = [graph.derivatives(places, symbol, inner[symbol]) for symbol in symbols]
    return [column[k] for k in range(len(places)) for column in columns]
