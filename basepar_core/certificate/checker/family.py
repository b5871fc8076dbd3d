"""Null vectors that are claimed for generic geometry: tested at the checker's own random points.

A point over a prime field: orientations and symbols in directions at random, then closure is one
linear system in positions and lengths. Null vectors must vanish on the energies' rows there, with
entries at the point's own symbols. Primes and points are drawn from a hash of what is tested:
nobody can choose vectors that happen to vanish there. Points whose loops need an orientation
solved for are not looked for; what would need them is not confirmed.
"""

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import log2
from typing import Any

from flint import fmpz, nmod, nmod_mat, nmod_poly

from .couplings import PrimeField
from .degree_bounds import total_weight
from .exact import Field
from .expressions import Numbers, names_of
from .forms import Forms
from .joints import KINDS
from .natural import Mechanism, less, power_row, slope, value, weight_row
from .points import PlacedPoint, RedrawError, UnconfirmedError, place
from .rotations import columns_of, turned

#: Bits of the primes; bits that a vector's test must have, its grade's probability of error.
BITS, SURE = 62, 100
#: Points drawn before giving up; half of them fail per square root.
DRAWS = 128


class FamilyTest:
    """Random points of a mechanism's family, and what null vectors do there.

    Parameters
    ----------
    mechanism, symbols
        As in the document.
    relations
        Between orientations: two bodies, and the rows of the second's fixed rotation seen from
        the first, or an axis that they have in common, once in each.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        symbols: Mapping[str, Mapping[str, Any]],
        relations: Sequence[Mapping[str, Any]],
    ):
        self.mechanism, self.symbols, self.relations = mechanism, symbols, relations
        for relation in relations:
            if set(relation) not in ({"bodies", "rotation"}, {"bodies", "axes"}):
                raise UnconfirmedError("a relation has bodies, and a rotation or axes")
        self.roots = Field(symbols).roots[::-1]
        bound = {name for name, given in symbols.items() if given["angle"]}
        bound |= {x for s in symbols.values() if s["relation"] for x in names_of(s["relation"])}
        self.bound = sorted(bound)

    @cached_property
    def _coupled(self) -> PrimeField:
        return PrimeField(self.mechanism, self.symbols)

    def independent(self, vectors: Sequence[Mapping[str, str]]) -> bool:
        """Whether null vectors are independent for generic geometry: at one point they are."""
        where = {name: k for k, name in enumerate(self.mechanism.parameters)}
        for attempt in range(DRAWS):
            rng = _random("independent", attempt)
            p = _prime(rng)
            table = nmod_mat(len(vectors), len(where), p)
            try:
                numbers = self._numbers(rng, p)
                for i, entries in enumerate(vectors):
                    for name, text in entries.items():
                        table[i, where[name]] = numbers.of(text)
            except (RedrawError, ZeroDivisionError):
                continue
            return bool(table.rank() == len(vectors))
        return False

    def confirm(
        self,
        vectors: Sequence[tuple[str, Mapping[str, Any]]],
        must: Callable[[bool, str, str], None],
    ) -> None:
        """Test vectors, given with their places in the document, until they are sure.

        Raises
        ------
        UnconfirmedError
            No points are found.
        """
        for where, vector in vectors:
            must(vector["bits"] == SURE, f"{where}.bits", f"this checker confirms {SURE}")
        entries = [vector["entries"] for _, vector in vectors]
        each = self._bits_of_a_point(entries)
        if each < 1:
            raise UnconfirmedError("the family is too large for these tests to say anything")
        sure, attempt = 0.0, 0
        while sure < SURE:
            attempt += 1
            if attempt > DRAWS:
                raise UnconfirmedError("random points of the family are too rare")
            it = self.mechanism
            about = (it.joints, it.gravity, self.symbols, self._coupled.stated)
            if it.forms:
                about = (*about, it.forms)  # type: ignore[assignment]
            rng = _random(about, self.relations, entries, attempt)
            try:
                good = self._vanish(rng, entries)
            except (RedrawError, ZeroDivisionError):
                continue
            for ok, (where, _) in zip(good, vectors, strict=True):
                must(ok, where, "it does not vanish at a random point of the family")
            sure += each

    def _vanish(self, rng: random.Random, vectors: Sequence[Mapping[str, str]]) -> list[bool]:
        p = _prime(rng)
        numbers = self._numbers(rng, p)
        point = place(self.mechanism, self.relations, self.bound, numbers, rng, p)
        rows = self._energies(point, p)
        at = {name: k for k, name in enumerate(self.mechanism.parameters)}
        found = []
        for entries in vectors:
            column = {at[name]: point.numbers.of(text) for name, text in entries.items()}
            totals = [sum((x * row[k] for k, x in column.items()), nmod(0, p)) for row in rows]
            found.append(all(total == 0 for total in totals))
        return found

    def _energies(self, point: PlacedPoint, p: int) -> list[list[nmod]]:
        """Rows of kinetic energies of pairs of modes, and of gravity's power."""
        mechanism, x, numbers = self.mechanism, point.x, point.numbers
        forms = mechanism.equations(point.joints)
        if any(value(form, x) != 0 for form in forms):
            raise UnconfirmedError("random orientations do not close the loops")
        coupled = self._coupled.at(point.joints, numbers, p)
        slopes = [slope(form, x) for form in forms] + [one.slope(x) for one in coupled]
        jacobian = nmod_mat(len(slopes), mechanism.unknowns, p)
        for row, entries in enumerate(slopes):
            for i, entry in entries.items():
                jacobian[row, i - 1] = nmod(int(entry), p)
        basis, freedoms = jacobian.nullspace()
        if freedoms != mechanism.unknowns - len(slopes):
            raise UnconfirmedError("a random member has other freedoms than the mechanism")
        table = basis.transpose().tolist()[:freedoms]
        # Else these points are a moment only of the motions that vectors must be null for.
        if any(gap != 0 for mode in table for gap in self._gaps([nmod(0, p), *mode], numbers)):
            raise UnconfirmedError("the relations do not last along the motion")
        # The constraints are independent: near here all geometries close, in as many dimensions
        # as there are freedoms and symbols, an offset of each coupling being one more. Points
        # that fill fewer are special geometries.
        if point.surplus != freedoms + len(coupled):
            raise UnconfirmedError(
                "points with these relations are of special geometries, not of generic ones"
            )
        width, planar = mechanism.width, mechanism.planar
        modes = [[m[o : o + width] for o in range(0, len(m), width)] for m in table]
        gravity = [numbers.of(text) for text in mechanism.gravity]
        rows = [
            [x for a, b in zip(one, two, strict=True) for x in power_row(planar, a, b)]
            for k, one in enumerate(modes)
            for two in modes[k:]
        ]
        rows += [[x for a in one for x in weight_row(planar, a, gravity)] for one in modes]
        of_bodies = Forms(mechanism, point.joints)
        return [of_bodies.row(row) for row in rows]

    def _numbers(self, rng: random.Random, p: int) -> Numbers:
        """Random values of all symbols; roots are taken where there are relations."""
        values = {
            name: nmod(rng.randrange(p), p) for name, s in self.symbols.items() if not s["angle"]
        } | {"pi": nmod(rng.randrange(p), p)}
        halves = {
            name: nmod(rng.randrange(p), p) for name, s in self.symbols.items() if s["angle"]
        }
        angles = {n: ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for n, t in halves.items()}
        generators = {f"c {n}": c for n, (c, _) in angles.items()}
        generators |= {f"s {n}": s for n, (_, s) in angles.items()} | {"-": nmod(0, p)}
        for name, polynomial in self.roots:
            known = generators | values
            coefficients = _in_one(polynomial, name, known, p)
            found = nmod_poly(coefficients, p).roots()
            if not found:
                raise RedrawError
            values[name] = nmod(int(found[rng.randrange(len(found))][0]), p)
        return Numbers(lambda x: nmod(x.numerator, p) / nmod(x.denominator, p), values, angles)

    def _bits_of_a_point(self, vectors: Sequence[Mapping[str, str]]) -> float:
        """−log₂ of the probability that a vector which is not null vanishes at one point."""
        weight = total_weight(self.mechanism, self.symbols, self.relations, vectors)
        degrees = [list(map(int, polynomial.degrees())) for _, polynomial in self.roots]
        conjugates = 2.0 ** sum(KINDS[j["type"]].free == 2 for j in self.mechanism.joints)
        for (_, polynomial), degree in zip(self.roots, degrees, strict=True):
            conjugates *= max(degree)
            weight += sum(degree) + log2(
                sum(abs(Fraction(str(c))) for c in polynomial.coeffs()) + 1
            )
        weight *= conjugates**2
        # A root of the polynomial, at most weight/p; or p divides all its coefficients, which at
        # most weight/61 of all primes of 62 bits do, and of these there are more than 2⁶¹/43.
        return -log2(weight / 2.0**61 + weight * 43 / 61 / 2.0**61) - 1

    def relations_hold(
        self, at: Sequence[Any], modes: Sequence[Sequence[Any]], numbers: Numbers
    ) -> bool:
        """Whether the relations may hold at a configuration in balls, and stay along its modes."""
        still = [[0 * at[0], *mode] for mode in modes]
        return all(gap.contains(0) for x in (at, *still) for gap in self._gaps(x, numbers))

    def _gaps(self, x: Sequence[Any], numbers: Numbers) -> list[Any]:
        """What vanishes where the relations hold: linear in (1, unknowns), or (0, rates)."""
        found = []
        for relation in self.relations:
            one, two = (
                columns_of(self.mechanism, x, self.mechanism.number(body))
                for body in relation["bodies"]
            )
            if "axes" in relation:
                u, w = ([numbers.of(text) for text in axis] for axis in relation["axes"])
                found += less(turned(one, u), turned(two, w))
                continue
            rows = [[numbers.of(text) for text in row] for row in relation["rotation"]]
            for j in range(3):
                found += less(turned(one, [row[j] for row in rows]), two[j])
        return found


def _random(*about: Any) -> random.Random:
    text = json.dumps(about, sort_keys=True)
    return random.Random(hashlib.sha256(text.encode()).digest())


def _prime(rng: random.Random) -> int:
    while True:
        p = rng.getrandbits(BITS - 1) | (1 << (BITS - 1)) | 1
        if fmpz(p).is_prime():
            return p


def _in_one(polynomial: Any, name: str, known: Mapping[str, nmod], p: int) -> list[nmod]:
    """Coefficients in one variable at values of the others, from the constant up."""
    names = polynomial.context().names()
    degree = int(polynomial.degrees()[names.index(name)])
    found = [nmod(0, p)] * (degree + 1)
    for powers, c in polynomial.to_dict().items():
        term = nmod(int(c.p), p) / nmod(int(c.q), p)
        for variable, power in zip(names, powers, strict=True):
            if power and variable != name:
                term *= known[variable] ** int(power)
        found[int(powers[names.index(name)])] += term
    return found
