"""Rational functions through their values over finite fields.

An entry of β is a quotient P/Q of polynomials in the geometry. P − β Q = 0 at random points is
linear in their coefficients: the least degrees that fit at one point more than there are unknowns
are taken, homogeneous in lengths first. Coefficients are reconstructed from as many primes as
they need (decision 12). What is found is a guess until it is tested as an
identity.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from flint import nmod, nmod_mat

from basepar_core.symbolic import Exact, GeometryField

from .reconstruction import combine, rational

#: Degree in lengths of denominators, and points, beyond which an entry is given up.
HIGHEST_DEGREE, MOST_POINTS = 4, 160
#: Degree in what is no length: sines and cosines, algebraic numbers, ratios.
HIGHEST_OTHERS = 5
#: A random residue has a fraction this much shorter than its modulus with probability 2⁻²⁰.
SPARE_BITS = 22
MOST_PRIMES = 12

#: A product of generators of the geometry field, by place; the empty one is 1.
Monomial = tuple[int, ...]
#: Prime, and at least so many points over it: values of the generators, and of the entry.
Values = tuple[int, Sequence[tuple[Sequence[nmod], nmod]]]
#: Values over the first, second, … prime.
Source = Callable[[int, int], Values]


@dataclass(frozen=True)
class Ansatz:
    """Monomials of numerator and denominator."""

    top: tuple[Monomial, ...]
    bottom: tuple[Monomial, ...]

    @property
    def points(self) -> int:
        """One more than there are unknowns."""
        return len(self.top) + len(self.bottom) + 1


@dataclass(frozen=True)
class Fit:
    """Coefficients of an ansatz."""

    ansatz: Ansatz
    top: list[Fraction]
    bottom: list[Fraction]


def fitted(field: GeometryField, source: Source, ansatzes: Iterator[Ansatz]) -> Exact | None:
    """The first quotient that fits, as an element of the geometry field; None if none does.

    Parameters
    ----------
    field
        Of the geometry.
    source
        Of values.
    ansatzes
        What to try, cheapest first.
    """
    for ansatz in ansatzes:
        if ansatz.points > MOST_POINTS:
            continue
        found = _sparse(source, ansatz)
        if found is not None:
            top = _polynomial(field, found.ansatz.top, found.top)
            return top / _polynomial(field, found.ansatz.bottom, found.bottom)
    return None


def quotients(
    field: GeometryField,
    lengths: Sequence[int],
    others: Sequence[int],
    excess: int,
    homogeneous: bool,
) -> Iterator[Ansatz]:
    """Numerators and denominators of rising degrees.

    Parameters
    ----------
    field
        Monomials that its relations would change are left out.
    lengths, others
        Generators that may occur, by place.
    excess
        Degree in lengths of the quotient, by its units.
    homogeneous
        Whether numbers in metres, which would spoil this, are left out of consideration.
    """
    most = HIGHEST_OTHERS if others else 0
    for total in range(HIGHEST_DEGREE + most + 1):
        for extra in range(min(total, most) + 1):
            degree = total - extra
            if degree > HIGHEST_DEGREE:
                continue
            parts = []
            for shift in (max(excess, 0), max(-excess, 0)):
                least = degree + shift if homogeneous else 0
                parts.append(_monomials(field, lengths, (least, degree + shift), others, extra))
            yield Ansatz(*parts)


def _monomials(
    field: GeometryField,
    lengths: Sequence[int],
    degrees: tuple[int, int],
    others: Sequence[int],
    extra: int,
) -> tuple[Monomial, ...]:
    gens = field.field.gens
    found = []
    for b in range(extra + 1):
        for second in combinations_with_replacement(others, b):
            product = field.one
            for k in second:
                product = product * gens[k]
            if b and field.reduce(product) != product:
                continue
            for a in range(degrees[0], degrees[1] + 1):
                found += [(*f, *second) for f in combinations_with_replacement(lengths, a)]
    return tuple(found)


def _sparse(source: Source, ansatz: Ansatz) -> Fit | None:
    """What fits, by the monomials that are left over the first prime.

    Few of an ansatz's monomials occur, and points cost more than all else: further primes are
    asked for no more of them than these few need.
    """
    while True:
        prime, points = source(0, ansatz.points)
        solution = _solution(prime, points, ansatz)
        if solution is None:
            return None
        fewer = _those(ansatz, solution)
        if fewer == ansatz:
            break
        ansatz = fewer
    found = _coefficients(source, ansatz, prime, solution)
    middle = len(ansatz.top)
    return Fit(ansatz, found[:middle], found[middle:]) if found else None


def _those(ansatz: Ansatz, solution: Sequence[int]) -> Ansatz:
    """Monomials with coefficients that are not zero."""
    every = (*ansatz.top, *ansatz.bottom)
    kept = [bool(x) for x in solution]
    middle = len(ansatz.top)
    return Ansatz(
        tuple(m for m, keep in zip(every[:middle], kept[:middle], strict=True) if keep),
        tuple(m for m, keep in zip(every[middle:], kept[middle:], strict=True) if keep),
    )


def _coefficients(
    source: Source, ansatz: Ansatz, prime: int, solution: list[int]
) -> list[Fraction] | None:
    """Of numerator and denominator, from the first prime's and as many more as they need."""
    residues, primes = [solution], [prime]
    while (found := _reconstructed(residues, primes)) is None:
        if len(primes) == MOST_PRIMES:
            return None
        prime, points = source(len(primes), ansatz.points)
        further = _solution(prime, points, ansatz)
        if further is None:
            return None
        residues.append(further)
        primes.append(prime)
    return found


def _reconstructed(residues: list[list[int]], primes: list[int]) -> list[Fraction] | None:
    found = []
    for column in zip(*residues, strict=True):
        value, modulus = combine(column, primes)
        guess = rational(value, modulus)
        if guess is None or abs(guess.numerator) * guess.denominator > modulus >> SPARE_BITS:
            return None
        found.append(guess)
    return found


def _solution(
    prime: int, points: Sequence[tuple[Sequence[nmod], nmod]], ansatz: Ansatz
) -> list[int] | None:
    """Coefficients modulo a prime, the denominator's first one 1; None if nothing fits."""
    unknowns = len(ansatz.top) + len(ansatz.bottom)
    flat: list[int] = []
    for generators, beta in points[: ansatz.points]:
        flat += [int(_value(generators, m, prime)) for m in ansatz.top]
        flat += [int(-beta * _value(generators, m, prime)) for m in ansatz.bottom]
    space, nullity = nmod_mat(ansatz.points, unknowns, flat, prime).nullspace()
    # More than one where symbols obey a relation on the family: each is as good as the others.
    for k in range(nullity):
        column = [space[i, k] for i in range(unknowns)]
        lead = next((x for x in column[len(ansatz.top) :] if x != 0), None)
        if lead is not None:
            return [int(x / lead) for x in column]
    return None


def _value(generators: Sequence[nmod], monomial: Monomial, prime: int) -> nmod:
    result = nmod(1, prime)
    for k in monomial:
        result *= generators[k]
    return result


def _polynomial(
    field: GeometryField, monomials: Sequence[Monomial], coefficients: Sequence[Fraction]
) -> Exact:
    total = field.zero
    for monomial, c in zip(monomials, coefficients, strict=True):
        if c:
            term = field.one * c.numerator / c.denominator
            for k in monomial:
                term = term * field.field.gens[k]
            total = total + term
    return field.reduce(total)
