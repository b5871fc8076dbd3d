"""Base parameters that answer: expressions, numbers at many geometries, certificates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters, CompiledBase, compiled, parameter_indices
from basepar_core.dynamics import Model
from basepar_core.errors import UsageError
from basepar_core.texts import plural

from .axes import GeometryValues, axes_of

if TYPE_CHECKING:
    import sympy

#: Characters of a base parameter that a notebook shows.
LONGEST = 2000
ROUTES = ("symbolic", "numeric", "precise", "product", "black-box")


def found(model: Model, route: str, eliminate: Sequence[str], digits: int | None) -> "Base":
    """Base parameters by a route; see `Model.base`."""
    from workflows.jobs import base_routes

    if route not in ROUTES:
        raise UsageError(f"There is no route {route!r}; there are {', '.join(ROUTES)}.", ["route"])
    if digits is not None and (route != "precise" or digits < 1):
        raise UsageError("digits is at least 1, and goes with route='precise'.", ["digits"])
    names = [eliminate] if isinstance(eliminate, str) else list(eliminate)
    wanted = parameter_indices(model.mechanism, names) if names else None
    return Base(base_routes.find(model, route, wanted, digits), model)


@dataclass(frozen=True, repr=False)
class Base:
    """Base parameters φ_b = φ₁ + β φ₂ of a mechanism; made by `Model.base`.

    Attributes
    ----------
    parameters
        What the route found: certificate, singular values, validity, document.

    Examples
    --------
    >>> import basepar
    >>> base = basepar.load("four-bar").base(eliminate=["J1", "J2", "J3", "m1"])
    >>> base.beta[0, base.eliminated.index("crank.J")]
    -1/lx1
    >>> base
    <basepar.Base of 'four-bar': 8 of 12 parameters, symbolic route, theorem at most, \
proved generically at least>
    """

    parameters: BaseParameters
    model: Model

    @property
    def rank(self) -> int | None:
        """Number of base parameters; None where the certificate's bounds differ."""
        return self.parameters.count

    @property
    def names(self) -> tuple[str, ...]:
        """φ₁: each base parameter is called by the parameter that it begins with."""
        return self.parameters.base_names

    @property
    def eliminated(self) -> tuple[str, ...]:
        """φ₂, columns of β."""
        return self.parameters.eliminated_names

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of W that the base parameters multiply: τ = W[..., columns] @ φ_b."""
        return self.parameters.kept

    @property
    def family(self) -> "Base":
        """The base parameters of generic members of the family, which hold at other geometries.

        The same, unless the file's own numbers are special (`basepar base` says so): then
        `rank`, `names`, `columns` and `beta` are of the file's geometry alone, and `entries`,
        `evaluate` and `base_parameters` of the family.

        Examples
        --------
        >>> import basepar
        >>> base = basepar.load("four-bar").base()
        >>> base.family.rank == base.rank
        True
        """
        of = self.parameters.of_family
        return self if of is None else Base(of, self.model)

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """(base parameter, eliminated parameter) of each nonzero entry of the family's β."""
        of = self.family.parameters
        return tuple((of.base_names[e.base], of.eliminated_names[e.eliminated]) for e in of.beta)

    @cached_property
    def beta(self) -> "sympy.Matrix":
        """β as a SymPy matrix (base, eliminated); numbers where the route has no expressions.

        At the file's geometry; elsewhere `family.beta` holds.
        """
        import sympy

        from workflows.export import to_sympy

        found = sympy.zeros(len(self.names), len(self.eliminated))
        for entry in self.parameters.beta:
            known = entry.expression
            value = sympy.Float(entry.value) if known is None else to_sympy(known)
            found[entry.base, entry.eliminated] = value
        return found

    @cached_property
    def _functions(self) -> CompiledBase:
        return compiled(self.parameters, self.model.mechanism)

    def evaluate(self, geometry: GeometryValues | None = None, out: Array | None = None) -> Array:
        """Nonzero entries of the family's β at many geometries (`family`).

        Parameters
        ----------
        geometry
            Symbols by name, SI: numbers or arrays that broadcast; others are nominal.
        out
            A contiguous array of the result's shape to fill.

        Returns
        -------
        (…, entry) in the order of `entries`, SI; inf or nan where β has no value.

        Raises
        ------
        UsageError
            The route has no expressions (numeric, precise); symbols that there are not; `out`
            of another shape.

        Examples
        --------
        >>> import basepar, numpy as np
        >>> base = basepar.load("four-bar").base()
        >>> lengths = np.linspace(0.2, 0.4, 100_000)
        >>> base.evaluate({"lx1": lengths}).shape == (100_000, len(base.entries))
        True
        """
        return self._run(self._functions.beta, len(self.entries), geometry, out)

    def base_parameters(
        self, geometry: GeometryValues | None = None, out: Array | None = None
    ) -> Array:
        """φ_b of the family at many geometries, inertias as the file states them (`family`).

        Parameters, errors
            As of `evaluate`; MissingDataError where bodies have no inertia.

        Returns
        -------
        (…, base), kg, kg m or kg m² like the parameter in `family.names`.

        Examples
        --------
        >>> import basepar
        >>> basepar.load("four-bar").base().base_parameters({"lx1": [0.2, 0.3]}).shape
        (2, 8)
        """
        width = len(self.family.columns)
        return self._run(self._functions.base_parameters, width, geometry, out)

    def _run(
        self, function: Any, width: int, geometry: GeometryValues | None, out: Array | None
    ) -> Array:
        axes = axes_of(self.model.mechanism, geometry)
        shape = (*axes.lead, width)
        if out is not None and out.shape != shape:
            raise UsageError(f"out has shape {out.shape}; it must be {shape}.", ["out"])
        flat = None if out is None else out.reshape(-1, width)
        if flat is not None and not flat.flags.c_contiguous:
            raise UsageError("out is not contiguous; give numpy.empty's like.", ["out"])
        filled = function(axes.values, flat)
        return filled.reshape(shape) if out is None else out

    def certificate(self) -> dict[str, Any]:
        """What proves the number: a document that `basepar.verify` checks.

        Returns
        -------
        The same that `basepar base --certificate` writes; plain data for JSON.

        Raises
        ------
        UsageError
            Of another route than the symbolic one.
        BaseparError
            None can be made.

        Examples
        --------
        >>> import basepar
        >>> document = basepar.load("four-bar").base().certificate()
        >>> document["at_least"]["rank"], document["at_most"]["rank"]
        (8, 8)
        """
        from basepar_core.certificate import certify

        if self.parameters.route != "symbolic":
            raise UsageError(
                f"Certificates are of the symbolic route, not of {self.parameters.route}.",
                ["route"],
            )
        return certify(self.model, self.parameters)

    def document(self) -> Mapping[str, Any]:
        """Plain data, as `basepar base --json` prints it."""
        return self.parameters.document()

    def __repr__(self) -> str:
        it, stated = self.parameters, self.parameters.certificate
        number = it.count if it.count is not None else f"{stated.at_least} to {stated.at_most}"
        return (
            f"<basepar.Base of {it.mechanism[:80]!r}: {number} of "
            f"{plural(len(it.parameters), 'parameter')}, {it.route} route, "
            f"{stated.at_most_grade} at most, {stated.at_least_grade} at least>"
        )

    def _repr_html_(self) -> str:
        from workflows.views import base

        from .html import page

        # Expressions of special numbers would look as if they held with others.
        special = self.parameters.of_family is not None
        sums = {
            row["parameter"]: base.combination(row, not special) for row in self.document()["base"]
        }
        rows = ((x, y if len(y) <= LONGEST else f"{y[:LONGEST]}…") for x, y in sums.items())
        return page(repr(self), self.model, ("name", "base parameter"), rows)

    def _repr_latex_(self) -> str:
        from workflows.export import base as export

        it = self.parameters  # the export of special numbers is of the family, which has its own
        if it.of_family or any(entry.expression is None for entry in it.beta):
            return ""
        return export.export(self.parameters, "latex")
