"""Symbolic β without joint rules: values of β modulo a prime, and rational functions through them.

An independent check of the symbolic route, and the last resort where rules and detection leave
null vectors to be found. One symbol at a time is changed to see which entries depend on it;
constants are reconstructed from their residue, the others as quotients of polynomials of the
least degree that fit, homogeneous where the geometry is. Every column is then tested as an
identity, which is what its grade rests on (methods: finite fields, §6; ours).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from flint import nmod, nmod_mat

from ..algebra import GeometryField
from ..base.null_space import Exact, NullVector
from ..closure import Model
from ..errors import FamilyError
from ..mechanism import Mechanism
from .arithmetic import Draw, random_prime
from .beta import BetaSolver, prescription
from .component import start
from .identities import check_identities
from .reconstruction import rational

#: Coefficients are accepted below this; a random residue has such a fraction with probability
#: 2⁻²⁰, and the identity test would reject it.
LARGEST = 1 << 20
#: Degree of denominators, and points, beyond which an entry is given up.
HIGHEST_DEGREE, MOST_POINTS = 4, 160

Place = tuple[int, int]
Residues = Mapping[Place, int]


@dataclass(frozen=True)
class BlackBox:
    """β of any origin but joint rules.

    Attributes
    ----------
    entries
        Nonzero entries by (kept parameter, eliminated parameter), in the geometry field.
    vectors
        The same as null vectors, one per eliminated parameter, graded by their tests.
    points
        Geometries that were evaluated.
    prime
        Over which.
    """

    entries: Mapping[Place, Exact]
    vectors: tuple[NullVector, ...]
    points: int
    prime: int


def black_box_beta(model: Model, eliminated: Sequence[int], seed: int = 0) -> BlackBox:
    """β(λ) from its values at random geometries over one finite field.

    Parameters
    ----------
    model
        The mechanism, assembled.
    eliminated
        φ₂ by index; one that the symbolic route found simple is simple here too.
    seed
        Of everything random.

    Raises
    ------
    FamilyError
        The family has no points that we know how to find, its geometry has angles or algebraic
        numbers, or an entry is of too high a degree.
    EliminationError
        φ₂ is not admissible.
    """
    samples = _Samples(model, eliminated, seed)
    field = GeometryField.of(model.mechanism)
    functions = {
        place: _fitted(samples, field, place) for place, x in samples.base.items() if x != 0
    }
    vectors = []
    for e in samples.eliminated:
        entries = {b: -x for (b, other), x in functions.items() if other == e}
        vectors.append({**entries, e: field.one})
    solver = samples.solver
    tests = check_identities(model, vectors, seed=seed, component=solver.component, field=field)
    wrong = [e for e, test in zip(samples.eliminated, tests, strict=True) if not test.passed]
    if wrong:
        names = model.mechanism.parameter_names
        raise FamilyError(
            f"Expressions found for {', '.join(names[e] for e in wrong)} do not vanish at other "
            f"random points; another seed may do."
        )
    names = model.mechanism.parameter_names
    graded = tuple(
        NullVector(
            vector,
            "probability",
            f"{names[e]} recovered over finite fields (vanishes on the family; error ≤ "
            f"2^-{test.bits})",
        )
        for e, vector, test in zip(samples.eliminated, vectors, tests, strict=True)
    )
    return BlackBox(functions, graded, len(samples.points), samples.prime)


class _Samples:
    """Values of β over one prime, at as many geometries as are asked for."""

    def __init__(self, model: Model, eliminated: Sequence[int], seed: int):
        self.solver = BetaSolver(model, seed)
        family = self.solver.component.family
        if family.angles or family.roots:
            raise FamilyError(
                f"The geometry of {model.mechanism.name!r} has angles or algebraic numbers; "
                f"rational functions of these are not reconstructed."
            )
        self.rng = np.random.default_rng([seed, 6])
        self.prime = random_prime(self.rng)
        self.kept, self.eliminated = self.solver.split(eliminated)
        self.symbols = tuple(prescription(family, model.mechanism, {}))
        first = self._random()
        self.narrow = self.solver.narrowed(_fractions(first))
        self.points: list[tuple[dict[str, nmod], Residues]] = []
        self.base = self._at(first)
        self.depends: dict[str, frozenset[Place]] = {}
        for name in self.symbols:
            other = self._at({**first, name: self._random()[name]})
            self.depends[name] = frozenset(k for k, x in other.items() if x != self.base[k])
        self.degrees = _degrees(model.mechanism)
        self.homogeneous = self._is_homogeneous(model.mechanism, first)

    def _random(self) -> dict[str, nmod]:
        draw = Draw(self.rng, self.prime)
        return {name: draw() for name in self.symbols}

    def _at(self, values: Mapping[str, nmod]) -> Residues:
        constants = {**self.narrow.family.constants, **_fractions(values)}
        family = replace(self.narrow.family, constants=constants)
        draw = Draw(self.rng, self.prime)
        while True:
            _, motion = start(family, draw)
            if motion.freedoms == self.narrow.freedoms:
                break
        found = self.solver.reduced(motion, self.kept, self.eliminated)
        self.points.append((dict(values), found))
        return found

    def at_least(self, count: int) -> list[tuple[dict[str, nmod], Residues]]:
        """Points at random values of all symbols."""
        if count > MOST_POINTS:
            raise FamilyError(
                f"An entry of β needs more than {MOST_POINTS} points: choose another φ₂."
            )
        alone = 1 + len(self.symbols) + int(self.homogeneous)
        while len(self.points) - alone < count:
            self._at(self._random())
        return self.points[alone : alone + count]

    def _is_homogeneous(self, mechanism: Mechanism, first: Mapping[str, nmod]) -> bool:
        """Whether β scales as its units say; a number in metres would spoil it."""
        units = {
            symbol.name: symbol.unit for symbol in (*mechanism.geometry, *mechanism.constants)
        }
        if any(units[name] not in ("m", "mm") for name in self.symbols) or not self.symbols:
            return False
        factor = Draw(self.rng, self.prime)()
        scaled = self._at({name: factor * x for name, x in first.items()})
        good = all(
            nmod(scaled[k], self.prime) == factor ** self.degree(k) * nmod(x, self.prime)
            for k, x in self.base.items()
        )
        if not good:
            self.points.pop()  # `at_least` counts it among the special ones only if homogeneous
        return good

    def degree(self, place: Place) -> int:
        """Degree of an entry of β in lengths."""
        return self.degrees[place[0]] - self.degrees[place[1]]


def _fractions(values: Mapping[str, nmod]) -> dict[str, Fraction]:
    return {name: Fraction(int(x)) for name, x in values.items()}


def _degrees(mechanism: Mechanism) -> list[int]:
    """Degree in lengths of every parameter: mass 0, first moments 1, second moments 2."""
    kinds = [name.rsplit(".", 1)[1] for name in mechanism.parameter_names]
    return [{"m": 0, "mx": 1, "my": 1, "mz": 1}.get(kind, 2) for kind in kinds]


def _fitted(samples: _Samples, field: GeometryField, place: Place) -> Exact:
    """One entry of β as an element of the geometry field."""
    names = [name for name in samples.symbols if place in samples.depends[name]]
    if not names:
        value = rational(samples.base[place], samples.prime)
        if value is None or max(abs(value.numerator), value.denominator) > LARGEST:
            raise FamilyError("A constant of β is no small fraction; another seed may do.")
        return field.one * value.numerator / value.denominator
    excess = samples.degree(place)
    for degree in range(HIGHEST_DEGREE + 1):
        if samples.homogeneous:
            if degree + excess < 0:
                continue
            top = _monomials(names, degree + excess)
            bottom = _monomials(names, degree)
        else:
            top = [m for d in range(degree + 3) for m in _monomials(names, d)]
            bottom = [m for d in range(degree + 1) for m in _monomials(names, d)]
        found = _quotient(samples, place, top, bottom)
        if found is not None:
            return _element(field, found[0], top) / _element(field, found[1], bottom)
    raise FamilyError(
        f"An entry of β in {', '.join(names)} is of a degree above {HIGHEST_DEGREE}: choose "
        f"another φ₂."
    )


def _monomials(names: Sequence[str], degree: int) -> list[tuple[str, ...]]:
    return list(combinations_with_replacement(names, degree))


def _quotient(
    samples: _Samples,
    place: Place,
    top: Sequence[tuple[str, ...]],
    bottom: Sequence[tuple[str, ...]],
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Coefficients of P and Q with β Q = P at one point more than they need; None if none fit."""
    unknowns = len(top) + len(bottom)
    rows = []
    for values, residues in samples.at_least(unknowns + 1):
        beta = nmod(residues[place], samples.prime)
        rows += [_monomial(values, m, samples.prime) for m in top]
        rows += [-beta * _monomial(values, m, samples.prime) for m in bottom]
    matrix = nmod_mat(unknowns + 1, unknowns, [int(x) for x in rows], samples.prime)
    space, nullity = matrix.nullspace()
    if nullity == 0:
        return None
    # More than one: a common factor of free choice, where degrees of both are not the least.
    solution = [space[k, 0] for k in range(unknowns)]
    lead = next((x for x in solution[len(top) :] if x != 0), None)
    if lead is None:
        return None
    coefficients = [rational(int(x / lead), samples.prime) for x in solution]
    if any(c is None or max(abs(c.numerator), c.denominator) > LARGEST for c in coefficients):
        return None
    exact = [c for c in coefficients if c is not None]
    return exact[: len(top)], exact[len(top) :]


def _monomial(values: Mapping[str, nmod], monomial: tuple[str, ...], prime: int) -> nmod:
    result = nmod(1, prime)
    for name in monomial:
        result *= values[name]
    return result


def _element(
    field: GeometryField, coefficients: Sequence[Fraction], monomials: Sequence[tuple[str, ...]]
) -> Exact:
    total = field.zero
    for c, monomial in zip(coefficients, monomials, strict=True):
        if c:
            term = field.one * c.numerator / c.denominator
            for name in monomial:
                term = term * field.symbol(name)
            total = total + term
    return total
