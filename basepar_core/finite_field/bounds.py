"""How likely a wrong null vector is to pass at a random point modulo a random prime.

What is tested is a polynomial with integer coefficients in the parameters of the point. Were it
not zero, it would vanish modulo p at a random point for two reasons only: the point is a root
(Schwartz, Zippel: at most degree/p), or p divides all coefficients (at most log₂(1-norm)/61 of
all primes of 62 bits do). Degree and norm are followed through the construction: products add
both; sums are brought over common denominators, so that they add the degrees of these; Cramer's
rule adds all rows. Every step is generous, which costs nothing but some of the bits
(decision 8).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log2
from typing import Any

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Call, Expression, Name, Number, Pi
from basepar_core.mechanism import Joint
from basepar_core.symbolic import integer_combination

from .arithmetic import PRIME_BITS
from .coupled_sizes import coupled_sizes
from .family import Family
from .frames import locks
from .sizes import Size, total

#: Half a turn, or one about a hinge, is a quotient of forms whose 1-norm is below 8 times that
#: of the squares of its axis; three more bits leave room for products of 3×3 matrices.
_ROTATION = 6.0
#: A hinge that closes a loop is a rational function of the loop's rotations and of one square
#: root; the third of three is solved last and has the largest degree, below this many times the
#: loop's.
_SOLVED = 64.0


class Bounds:
    """Sizes of everything on the way from a point's parameters to a row of the energy form."""

    def __init__(self, family: Family, freedoms: int):
        self.family = family
        self.conjugates = 1.0
        self._names = self._name_sizes()
        self._edges = [self._edge(k) for k in range(len(family.forest.edges))]
        self.rotation = self._rotations()
        joints = family.mechanism.joints
        rows = [size for joint in joints for size in self._length_rows(joint)]
        #: Positions and lengths, over one common denominator.
        self.lengths = total(rows) + Size(1.0, 8.0)
        jacobian = [size for joint in joints for size in self._jacobian_rows(joint)]
        jacobian += coupled_sizes(self)
        width = len(family.mechanism.bodies) * (3 if family.mechanism.planar else 6)
        #: A random motion: modes by Cramer's rule (the drive's rows, single coordinates, make for
        #: no more), each times a random share, over one common denominator.
        self.modes = total(jacobian) + Size(freedoms, (freedoms + 1) * log2(width))
        self.modes += Size(1.0, log2(max(freedoms, 1)))

    # Symbols and expressions.

    def _name_sizes(self) -> dict[str, Size]:
        family = self.family
        sizes = {name: Size(1.0) for name in family.directions}
        sizes |= {name: _number(value) for name, value in family.constants.items()}
        for root in family.roots:
            degree = len(root.coefficients) - 1
            self.conjugates *= degree
            self._names = sizes
            parts = [self.expression(c) for c in root.coefficients]
            sizes[root.symbol] = total(parts, degree) + Size(1.0)
        return sizes

    def expression(self, node: Expression, unknown: Size | None = None) -> Size:
        """Size of an expression; `unknown`: of lengths that closure solves for."""
        match node:
            case Number(value):
                return _number(value)
            case Name(name):
                return self._names.get(name, unknown or Size())
            case Pi():  # drawn at random
                return Size(1.0)
            case Call("sin" | "cos" | "tan", (argument,)):
                counts = integer_combination(argument)
                turns = sum(abs(n) for angle, n in counts.items() if not isinstance(angle, Pi))
                # tan is a quotient of two such.
                return Size(2.0, 1.0) * (2.0 * float(turns)) + Size(0.0, 4.0)
            case Call("^", (base, Number(exponent))):
                return self.expression(base, unknown) * abs(int(exponent))
            case Call("+" | "-" | "*" | "/", arguments):
                parts = [self.expression(argument, unknown) for argument in arguments]
                return total(parts, log2(len(parts)))
        raise ExpressionError(f"{node!r} is not a rational function of the geometry.")

    def _vector(self, entries: Sequence[Expression]) -> Size:
        """A vector over a common denominator."""
        return total([self.expression(entry) for entry in entries], 2.0)

    # Orientations.

    def frames(self, joint: Joint) -> Size:
        """Axes and references of a joint, both bodies."""
        return total(
            [self._vector(v) for frame in joint.frames for v in (frame.axis, frame.reference)]
        )

    def _edge(self, k: int) -> Size:
        """Relative rotation of an edge."""
        edge = self.family.forest.edges[k]
        if edge.source < 0:
            relation = self.family.relations[~edge.source]
            if relation.axes is None:
                return total([_number(x) for row in relation.rotation or () for x in row])
            axes = self._vector(relation.axes[0]) + self._vector(relation.axes[1])
            return axes * 4.0 + Size(2.0, 2 * _ROTATION)
        frames = self.frames(self.family.mechanism.joints[edge.source])
        if edge.freedoms == 0:
            return frames * 8.0 + Size(0.0, _ROTATION)
        if edge.freedoms == 1:
            return frames * 4.0 + Size(2.0, 2 * _ROTATION)
        if k not in self.family.closing.starts:
            return frames * 4.0 + Size(4.0, 4 * _ROTATION)
        # It starts from a random axis turned by a square root's angle.
        self.conjugates *= 2.0
        return frames * 8.0 + Size(4.0 + 16.0, 4 * _ROTATION + 16.0)

    def _rotations(self) -> list[Size]:
        """Per body, the ground last."""
        forest = self.family.forest
        above = forest.above
        free = Size(4.0, _ROTATION)  # a quaternion: axis and two more

        def chain(body: int) -> Size:
            sizes = []
            while body >= 0:
                k, near, _ = above[body]
                sizes.append(free if k < 0 else self._edges[k])
                body = near
            return total(sizes)

        found = [chain(body) for body in range(len(forest.steps))] + [Size()]
        for k in sorted(set(self.family.closing.with_root)):
            edge = forest.edges[k]
            loop = found[edge.first] + found[edge.second] + self._edges[k]
            self.conjugates *= 2.0
            found = [size + loop * _SOLVED + Size(_SOLVED, _SOLVED) for size in found]
        return found

    # Equations.

    def ends(self, joint: Joint) -> Size:
        number = self.family.mechanism.body_index
        return self.rotation[number[joint.bodies[0]]] + self.rotation[number[joint.bodies[1]]]

    def points(self, joint: Joint) -> Size:
        return self._vector(joint.frames[0].at) + self._vector(joint.frames[1].at)

    def _length_rows(self, joint: Joint) -> list[Size]:
        across, _ = locks(joint.type, self.family.mechanism.planar)
        base = self.ends(joint) + self.points(joint) + Size(0.0, 10.0)
        if across is None:
            return [base] * (2 if self.family.mechanism.planar else 3)
        return [base + self.frames(joint) * 4.0] * len(across)

    def _jacobian_rows(self, joint: Joint) -> list[Size]:
        _, about = locks(joint.type, self.family.mechanism.planar)
        place = self._length_rows(joint)
        turn = self.ends(joint) + self.frames(joint) * 8.0 + Size(0.0, 10.0)
        arms = self.lengths + self.points(joint) + Size(0.0, 6.0)
        return [row + arms for row in place] + [turn] * len(about)

    # The test.

    def vector(self, entries: Mapping[int, Size], per_body: int) -> Size:
        """Size of a row of the energy form times a null vector with entries of these sizes."""
        bodies = {k // per_body for k in entries}
        turned = total([self.rotation[b] * 2.0 for b in bodies])
        gravity = self._vector(self.family.mechanism.gravity)
        terms = 32.0 * len(entries)
        row = self.modes * 2.0 + turned + gravity + self._of_forms(bodies)
        return row + total(list(entries.values()), log2(terms) + 8.0)

    def _of_forms(self, bodies: set[int]) -> Size:
        """What columns of slender bodies are multiplied by: of degree 6 in points of the line."""
        it = self.family.mechanism
        ends = [
            self.lengths + self.points(it.joints[k]) + self.frames(it.joints[k])
            for body in bodies & it.lines.keys()
            for k, _ in (it.lines[body].start, it.lines[body].end)
        ]
        return total(ends) * 8.0 + Size(0.0, 16.0 * len(ends))

    def polynomial_ratio(self, fraction: Any) -> Size:
        """Size of a fraction of the geometry field at the point's symbols."""
        each = Size(max(self.lengths.degree, 2.0), max(self.lengths.height, 2.0))
        found = Size()
        for polynomial in (fraction.numer, fraction.denom):
            if polynomial:
                degree = max(sum(monomial) for monomial in polynomial.monoms())
                norm = sum(abs(int(c)) for c in polynomial.coeffs())
                found = found + each * degree + Size(0.0, log2(max(norm, 1)))
        constants = [_number(value).height for value in self.family.constants.values()]
        return found + Size(0.0, max(constants, default=0.0) * found.degree)

    def plain(self, expression: Expression) -> Size:
        """Size of an expression in the symbols."""
        return self.expression(expression, self.lengths)


def _number(value: Fraction) -> Size:
    return Size(0.0, log2(max(abs(value.numerator), value.denominator, 1)))


def error_bits(size: Size, conjugates: float) -> float:
    """−log₂ of the probability to pass wrongly at one point over one prime of 62 bits.

    Roots taken in the point's construction have `conjugates` conjugates: the norm over these of
    what is tested is a polynomial again, and only a share of points or primes, at least one in as
    many, has the roots. One bit is for points that are redrawn.
    """
    low = PRIME_BITS - 1
    primes = 2.0**low / ((low + 1) * 0.6931471805599453)  # at least so many from 2⁶¹ to 2⁶²
    degree, height = size.degree * conjugates**2, size.height * conjugates**2
    return -log2(degree / 2.0**low + height / low / primes + 2.0**-200) - 1.0
