"""Symbolic β of planar mechanisms by search in a product class: a route without joint rules.

Every entry of β is compared with products and quotients of the mechanism's lengths until one
has its value (planar paper, §4 and Eq. 21, with the missing class Λk/Λh added). β is exact here:
distinct primes as lengths, rational numbers from finite fields, where the loops need not close
over the reals. So a match is equality without a tolerance; it must hold at two sets of primes,
and complete columns are tested as identities. What has no match, or several, is reported and stays
a number. The class is narrow: it follows φ₂, and `product_conditions` says what the paper asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, count, permutations

from flint import fmpq, fmpq_mat
from sympy import sieve

from basepar_core.dynamics import Model
from basepar_core.finite_field import BetaSolver, Evaluator, exact_beta
from basepar_core.symbolic import Exact, GeometryField

from ..errors import EliminationError, FamilyError, UsageError
from ..mechanism import GROUND, Mechanism
from .product_conditions import required_masses

#: Power of length in each parameter of a body.
_LENGTHS = {"m": 0, "mx": 1, "my": 1, "J": 2}
#: Geometries at which a candidate must have the value of β.
GEOMETRIES = 2
EQUATION_21, ADDED = "Eq. 21", "Λk/Λh"

#: A function of the geometry, and its values at the geometries of the search.
Valued = tuple[Exact, tuple[Fraction, ...]]
Place = tuple[int, int]


@dataclass(frozen=True)
class Candidate:
    """A member of the class: where it is from, the function, and its value at each geometry."""

    origin: str
    element: Exact
    values: tuple[Fraction, ...]


def candidates(
    one: Valued, lengths: Sequence[Valued], squares: Sequence[Valued]
) -> dict[int, tuple[Candidate, ...]]:
    """Members of the product class by their power of length: 0, 1, 2.

    Parameters
    ----------
    one
        The constant 1.
    lengths, squares
        λ and Λ (planar paper, Eq. 23): Cartesian coordinates of joint points, and squared
        distances of joint points from the origins of their bodies' frames.
    """

    def plain(a: Valued) -> Candidate:
        return Candidate(EQUATION_21, *a)

    def times(a: Valued, b: Valued) -> Candidate:
        values = tuple(x * y for x, y in zip(a[1], b[1], strict=True))
        return Candidate(EQUATION_21, a[0] * b[0], values)

    def over(a: Valued, b: Valued, origin: str = EQUATION_21) -> Candidate:
        values = tuple(x / y for x, y in zip(a[1], b[1], strict=True))
        return Candidate(origin, a[0] / b[0], values)

    return {
        0: (
            plain(one),
            *(over(a, b) for a, b in permutations(lengths, 2)),
            *(over(a, b, ADDED) for a, b in permutations(squares, 2)),
        ),
        1: (*map(plain, lengths), *(over(a, b) for a in squares for b in lengths)),
        2: (
            *map(plain, squares),
            *(times(a, b) for a, b in combinations_with_replacement(lengths, 2)),
        ),
    }


def matches(
    values: Sequence[Fraction], power: int, among: dict[int, tuple[Candidate, ...]]
) -> list[Candidate]:
    """Different functions of a class that have given values at all geometries, sign included.

    `power` is the dimension of the entry, L^power; for a negative one inverses are compared. A
    function that both Eq. 21 and the added class contain counts as Eq. 21's.
    """
    found: list[Candidate] = []
    for candidate in among[abs(power)]:
        if power >= 0:
            element, at = candidate.element, candidate.values
        else:
            element, at = 1 / candidate.element, tuple(1 / x for x in candidate.values)
        for sign in (1, -1):
            same = all(sign * x == y for x, y in zip(at, values, strict=True))
            if same and all(sign * element != other.element for other in found):
                found.append(Candidate(candidate.origin, sign * element, tuple(values)))
    return found


@dataclass(frozen=True)
class Match:
    """One nonzero entry of β: parameters by index, values per geometry, functions that fit."""

    place: Place
    values: tuple[Fraction, ...]
    found: tuple[Candidate, ...]


class ProductSearch:
    """The search for one mechanism: null space at primes once, then any φ₂ by linear algebra.

    Parameters
    ----------
    model
        A planar mechanism, prepared.
    seed
        Of the points over finite fields.

    Raises
    ------
    UsageError
        The mechanism is spatial.
    FamilyError
        Its geometry has angles or algebraic numbers, or no points over finite fields.
    """

    def __init__(self, model: Model, seed: int = 0):
        mechanism = model.mechanism
        if not mechanism.planar:
            raise UsageError(
                f"{mechanism.name!r} is spatial, and the product class is of planar mechanisms: "
                f"entries of spatial ones are sums of products. Use `route=symbolic`.",
                ["route="],
            )
        self.model, self.names = model, mechanism.parameter_names
        self.solver = BetaSolver(model, seed)
        family = self.solver.component.family
        if family.angles or family.roots:
            names = [*family.angles, *(root.symbol for root in family.roots)]
            raise FamilyError(
                f"The product class knows lengths only, and the geometry of {mechanism.name!r} "
                f"has angles or algebraic numbers: {', '.join(names)}. Use `route=symbolic`."
            )
        self.field = GeometryField.of(mechanism)
        self.elements, self.square_elements = _joint_points(mechanism, self.field)
        self.geometries = self._primes()
        self.candidates = candidates(
            (self.field.one, (Fraction(1),) * GEOMETRIES),
            [(x, self._values(x)) for x in self.elements],
            [(x, self._values(x)) for x in self.square_elements],
        )

    def _primes(self) -> list[dict[str, Fraction]]:
        """Distinct primes over ten as lengths, twice; no λ or Λ vanishes."""
        symbols = (*self.model.mechanism.geometry, *self.model.mechanism.constants)
        found: list[dict[str, Fraction]] = []
        for first in count(4, len(symbols)):  # from 7: 2 and 5 divide ten, 3 is a small factor
            values = {s.name: Fraction(int(sieve[first + k]), 10) for k, s in enumerate(symbols)}
            if all(self._value(x, values) != 0 for x in (*self.elements, *self.square_elements)):
                found.append(values)
            if len(found) == GEOMETRIES:
                return found
        raise AssertionError  # count does not end

    def _values(self, element: Exact) -> tuple[Fraction, ...]:
        return tuple(self._value(element, values) for values in self.geometries)

    def _value(self, element: Exact, values: Mapping[str, Fraction]) -> Fraction:
        evaluator = Evaluator(Fraction, values, {})
        return Fraction(evaluator.scalar(self.field.to_expression(element)))

    @cached_property
    def null_spaces(self) -> list[fmpq_mat]:
        """Null space of W (parameter, vector) at each geometry, exact."""
        some = self.solver.admissible(())
        found = []
        for values in self.geometries:
            beta = exact_beta(self.model, some, values)
            space = fmpq_mat(len(self.names), len(some))
            for column, k in enumerate(beta.eliminated):
                space[k, column] = 1
            for (base, eliminated), x in beta.entries.items():
                space[base, beta.eliminated.index(eliminated)] = fmpq(-x.numerator, x.denominator)
            found.append(space)
        return found

    def preferred(self) -> tuple[int, ...]:
        """φ₂ as the paper chooses it: masses it requires, second moments, masses, the rest."""
        required = required_masses(self.model.mechanism, self.field)
        kinds = ("J", "m", "mx", "my")

        def order(k: int) -> tuple[bool, int, int]:
            body, kind = self.names[k].rsplit(".", 1)
            return not (kind == "m" and body in required), kinds.index(kind), k

        space, chosen = self.null_spaces[0], list[int]()
        for k in sorted(range(len(self.names)), key=order):
            if _rows(space, [*chosen, k]).rank() == len(chosen) + 1:
                chosen.append(k)
        return tuple(sorted(chosen))

    def betas(self, eliminated: Sequence[int]) -> list[fmpq_mat] | None:
        """β (kept, eliminated) at each geometry; None where φ₂ is not admissible."""
        kept = [k for k in range(len(self.names)) if k not in set(eliminated)]
        found = []
        for space in self.null_spaces:
            below = _rows(space, eliminated)
            if below.det() == 0:
                return None
            found.append(-_rows(space, kept) * below.inv())
        return found

    def search(self, eliminated: Sequence[int]) -> list[Match]:
        """Every nonzero entry of β with the functions of the class that it may be.

        Raises
        ------
        EliminationError
            φ₂ is not admissible.
        """
        kept, left = self.solver.split(eliminated)
        betas = self.betas(left)
        if betas is None:
            self._refuse(left)
            raise AssertionError
        found = []
        for j, gone in enumerate(left):
            for i, base in enumerate(kept):
                values = tuple(Fraction(int(b[i, j].p), int(b[i, j].q)) for b in betas)
                if any(values):
                    power = _power(self.names[base]) - _power(self.names[gone])
                    fitting = matches(values, power, self.candidates)
                    found.append(Match((base, gone), values, tuple(fitting)))
        return found

    def _refuse(self, eliminated: Sequence[int]) -> None:
        chosen: list[int] = []
        extra: list[int] = []
        for k in eliminated:
            fits = all(
                _rows(space, [*chosen, k]).rank() > len(chosen) for space in self.null_spaces
            )
            (chosen if fits else extra).append(k)
        raise EliminationError(
            f"These parameters are not an admissible choice of φ₂: "
            f"{', '.join(self.names[k] for k in extra)} cannot be eliminated together with "
            f"{', '.join(self.names[k] for k in chosen) or 'the others'}.",
            [self.names[k] for k in extra],
        )


def _joint_points(mechanism: Mechanism, field_: GeometryField) -> tuple[list[Exact], list[Exact]]:
    """λ and Λ: coordinates of joint points in moving bodies, up to sign, and their squares."""
    lengths: list[Exact] = []
    squares: list[Exact] = []
    for joint in mechanism.joints:
        for body, frame in zip(joint.bodies, joint.frames, strict=True):
            if body == GROUND:
                continue
            point = [field_.element(x) for x in frame.at[:2]]
            for x in point:
                x = -x if x != 0 and x.numer.LC < 0 else x
                if x != 0 and x not in lengths:
                    lengths.append(x)
            square = field_.reduce(point[0] ** 2 + point[1] ** 2)
            if square != 0 and square not in squares:
                squares.append(square)
    return lengths, squares


def _power(name: str) -> int:
    """Power of length in a parameter: 0 of a mass, 1 of a first, 2 of a second moment."""
    return _LENGTHS[name.rsplit(".", 1)[1]]


def _rows(space: fmpq_mat, rows: Sequence[int]) -> fmpq_mat:
    return fmpq_mat(
        len(rows), space.ncols(), [space[i, j] for i in rows for j in range(space.ncols())]
    )
