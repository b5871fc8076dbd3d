"""Base parameters as a value: what every route returns, and what sweeps evaluate.

φ_b = φ₁ + β φ₂: `kept` are φ₁, `eliminated` φ₂ (parameters without effect among them, with an
empty column). Knows no computer algebra: β is a table of expression trees, so that workers
evaluate it without importing any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import Expression, Steps, evaluate
from basepar_core.symbolic import vanishing

#: Weakest last. At least: proved, proved generically, probability, numerical; at most: theorem,
#: probability, numerical. No route decides an identity exactly but as a theorem of one joint, so
#: that *identity* is not awarded (docs/decisions/0018).
GRADES = ("proved", "theorem", "proved generically", "identity", "probability", "numerical")


@dataclass(frozen=True)
class BetaEntry:
    """One nonzero entry of β.

    `base` counts in `kept`, `eliminated` in `eliminated`; `value` is at nominal geometry (SI);
    `text` is the expression in Python syntax. Numeric routes have neither text nor expression.
    """

    base: int
    eliminated: int
    value: float
    expression: Expression | None = None
    text: str | None = None


@dataclass(frozen=True)
class VectorGrade:
    """A null vector of the certificate: entries as text by parameter name."""

    grade: str
    reason: str
    entries: Mapping[str, str]


@dataclass(frozen=True)
class RandomPoint:
    """A random point over a finite field: `numpy.random.default_rng(seed)` draws its prime first.

    Same seed, same program: same point.
    """

    prime: int
    seed: tuple[int, ...]

    def document(self) -> dict[str, Any]:
        """Texts: these numbers are longer than those of JSON's readers."""
        return {"prime": str(self.prime), "seed": list(map(str, self.seed))}


def _listed(points: Sequence[RandomPoint]) -> dict[str, Any]:
    return {"points": [point.document() for point in points]} if points else {}


@dataclass(frozen=True)
class Certificate:
    """Two statements, rank ≥ `at_least` and rank ≤ `at_most`, each with grade and scope.

    `at_least_points` and `at_most_points` are the random points that they rest on, if any.
    """

    at_least: int
    at_least_grade: str
    at_least_scope: str
    at_most: int
    at_most_grade: str
    at_most_scope: str
    vectors: tuple[VectorGrade, ...] = ()
    at_least_points: tuple[RandomPoint, ...] = ()
    at_most_points: tuple[RandomPoint, ...] = ()

    @property
    def grade(self) -> str:
        """The weaker of the two statements' grades; numerical where they leave a gap."""
        if self.at_least != self.at_most:
            return "numerical"
        return max(self.at_least_grade, self.at_most_grade, key=GRADES.index)

    def document(self) -> dict[str, Any]:
        """As docs/json.md, has it."""
        return {
            "grade": self.grade,
            "at_least": {
                "rank": self.at_least,
                "grade": self.at_least_grade,
                "scope": self.at_least_scope,
                **_listed(self.at_least_points),
            },
            "at_most": {
                "rank": self.at_most,
                "grade": self.at_most_grade,
                "scope": self.at_most_scope,
                **_listed(self.at_most_points),
                "vectors": [
                    {"grade": v.grade, "reason": v.reason, "entries": dict(v.entries)}
                    for v in self.vectors
                ],
            },
        }


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters of a mechanism.

    Attributes
    ----------
    kept, eliminated, no_effect
        φ₁, φ₂ and the parameters among φ₂ that no motion notices; indices of `parameters`.
    beta
        Nonzero entries.
    rank
        len(kept), which the number of base parameters does not exceed.
    count
        That number; None where it is not known.
    gap
        σ_r/σ_{r+1} of W with unit columns at nominal geometry; σ_{r+1} at least rounding.
    singular_values
        Of W as it stands (parameter,), nominal geometry.
    doubt
        Why the route itself is not sure of its result; empty where it is.
    float64_doubt
        Why float64 alone does not decide the rank at nominal geometry, where the route rests on
        something better; empty where it decides.
    validity
        Expressions that must not vanish, with their text.
    generic
        Rank of generic members of the family, as the certificate's scope has it; None where
        finite fields do not say.
    of_family
        Base parameters of generic members, where this geometry has fewer; β is then a function
        of the geometry there only.
    near
        Relations that the file's numbers nearly meet, so that they do not count.
    """

    mechanism: str
    parameters: tuple[str, ...]
    route: str
    kept: tuple[int, ...]
    eliminated: tuple[int, ...]
    no_effect: tuple[int, ...]
    beta: tuple[BetaEntry, ...]
    gap: float
    singular_values: tuple[float, ...]
    certificate: Certificate = field(repr=False)
    doubt: str = ""
    float64_doubt: str = ""
    validity: tuple[tuple[Expression, str], ...] = ()
    generic: int | None = None
    of_family: "BaseParameters | None" = field(default=None, repr=False)
    near: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """Base parameters in the list: as many as the null vectors leave, an upper bound.

        Of the numeric route in doubt as many as show in float64, which may be fewer than that.
        """
        return len(self.kept)

    @property
    def count(self) -> int | None:
        """The number of base parameters; None where the certificate's two bounds differ."""
        stated = self.certificate
        return self.rank if stated.at_least == stated.at_most else None

    @cached_property
    def base_names(self) -> tuple[str, ...]:
        """A base parameter is called by its parameter in φ₁."""
        return tuple(self.parameters[k] for k in self.kept)

    @cached_property
    def eliminated_names(self) -> tuple[str, ...]:
        return tuple(self.parameters[k] for k in self.eliminated)

    @cached_property
    def places(self) -> Array:
        """(2, entry): where β's nonzero entries stand, in φ₁ and in φ₂."""
        found = [(entry.base, entry.eliminated) for entry in self.beta]
        return np.array(found, dtype=int).reshape(-1, 2).T.copy()

    def beta_entries(self, values: Mapping[str, Any]) -> Array:
        """β's nonzero entries (entry, variant) at symbol values (SI; all names needed)."""
        if any(entry.expression is None for entry in self.beta):
            raise ValueError("a numeric route's β holds at nominal geometry only")
        numbers = self._beta_steps.values(values)
        count = max((np.size(value) for value in values.values()), default=1)
        return np.array(
            [np.broadcast_to(np.asarray(x, float), (count,)) for x in numbers]
        ).reshape(len(self.beta), count)

    @cached_property
    def _beta_steps(self) -> Steps:
        return Steps.of(entry.expression for entry in self.beta if entry.expression)

    def beta_matrix(self, entries: Array) -> Array:
        """Dense β (variant, base, eliminated) of `beta_entries`."""
        dense = np.zeros((entries.shape[1], len(self.kept), len(self.eliminated)))
        rows, columns = self.places
        dense[:, rows, columns] = entries.T
        return dense

    @cached_property
    def nominal_beta(self) -> Array:
        """Dense β (base, eliminated) at nominal geometry."""
        values = np.array([[entry.value] for entry in self.beta]).reshape(len(self.beta), 1)
        return self.beta_matrix(values)[0]

    def combine(self, phi: Array, entries: Array) -> Array:
        """φ_b (variant, base) from φ (variant, parameter) and `beta_entries`."""
        phi_b = phi[:, list(self.kept)].copy()
        for entry, values in zip(self.beta, entries, strict=True):
            phi_b[:, entry.base] += values * phi[:, self.eliminated[entry.eliminated]]
        return phi_b

    def pivot_values(self, values: Mapping[str, Any]) -> Array:
        """Validity expressions (expression, variant); β holds where none vanishes."""
        numbers = evaluate([expression for expression, _ in self.validity], values)
        count = max((np.size(value) for value in values.values()), default=1)
        return np.array(
            [np.broadcast_to(np.asarray(x, float), (count,)) for x in numbers]
        ).reshape(len(self.validity), count)

    def vanishing_pivots(self, values: Mapping[str, Any]) -> Array:
        """Which validity expressions vanish within rounding: bool (expression, variant).

        `values` as in `beta_entries`. Where any does β has no value, though float64 may have
        found a large number for it.
        """
        return vanishing([expression for expression, _ in self.validity], values)

    def document(self) -> dict[str, Any]:
        """What `basepar base --json` prints (docs/json.md)."""
        texts = [entry.text is not None for entry in self.beta]
        symbolic = any(texts) or not texts  # force-law columns are numbers in a symbolic result
        base = []
        for k, name in enumerate(self.base_names):
            mine = [entry for entry in self.beta if entry.base == k]
            row: dict[str, Any] = {"parameter": name}
            if symbolic and all(entry.text is not None for entry in mine):
                row["terms"] = {self.eliminated_names[e.eliminated]: e.text for e in mine}
            row["values"] = {self.eliminated_names[e.eliminated]: e.value for e in mine}
            base.append(row)
        return {
            "mechanism": self.mechanism,
            "parameters": list(self.parameters),
            "rank": self.count,
            "generic_rank": self.generic,
            "route": self.route,
            "eliminated": list(self.eliminated_names),
            "no_effect": [self.parameters[k] for k in self.no_effect],
            "base": base,
            # τ = W[:, columns] @ base parameters, columns of W counted from 0.
            "columns": list(self.kept),
            "gap": self.gap,
            "singular_values": list(self.singular_values),
            "doubt": self.doubt,
            "float64_doubt": self.float64_doubt,
            "validity": [text for _, text in self.validity],
            "near": list(self.near),
            "certificate": self.certificate.document(),
            "generic": self.of_family.document() if self.of_family is not None else None,
        }


def number_of(document: Mapping[str, Any]) -> str:
    """The number of base parameters of a result's document, or the bounds it lies between."""
    if document["rank"] is not None:
        return str(document["rank"])
    low, high = (document["certificate"][bound]["rank"] for bound in ("at_least", "at_most"))
    return f"{low} to {high}"
