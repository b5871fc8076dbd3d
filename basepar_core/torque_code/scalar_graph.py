"""Vectors and matrices of scalars on an expression graph: inverse dynamics written out.

A vector is a list of three nodes, a matrix a list of three rows. Products with 0 and 1 vanish as
they are written.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import NODE_ONE, NODE_ZERO, Call, Graph, Name

Vector = list[int]
Matrix = list[list[int]]
#: Entries of given frames this near to 0 or ±1 are these: rounding of cos 90° and the like.
SNAP = 1e-15


class ScalarGraph(Graph):
    """An expression graph with the algebra of vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.two, self.half = self.number(Fraction(2)), self.number(Fraction(1, 2))
        self.zero: Vector = [NODE_ZERO] * 3
        self.identity: Matrix = self.constant(np.eye(3))

    def vector(self, values: Array) -> Vector:
        """A vector of numbers."""
        return [self._float(float(x)) for x in values]

    def constant(self, values: Array) -> Matrix:
        """A matrix of numbers."""
        return [self.vector(row) for row in values]

    def _float(self, value: float) -> int:
        near = round(value)
        return self.number(Fraction(near if abs(value - near) <= SNAP else value))

    def real(self, value: float) -> int:
        """A number."""
        return self._float(value)

    def function(self, name: str, place: int) -> int:
        """A function of one argument, of `graph.FUNCTIONS`."""
        return self._node(name, place)

    def sum(self, places: Sequence[int]) -> int:
        """Sum of any number of nodes."""
        return self.add(*places) if places else NODE_ZERO

    def plus(self, a: Vector, b: Vector) -> Vector:
        return [self.add(x, y) for x, y in zip(a, b, strict=True)]

    def minus(self, a: Vector, b: Vector) -> Vector:
        return [self.add(x, self.negate(y)) for x, y in zip(a, b, strict=True)]

    def times(self, factor: int, a: Vector) -> Vector:
        return [self.multiply(factor, x) for x in a]

    def weighted(self, factors: Sequence[int], vectors: Sequence[Vector | None]) -> Vector:
        """Σ factor × vector, those that are None left out."""
        total = self.zero
        for factor, vector in zip(factors, vectors, strict=True):
            if vector is not None:
                total = self.plus(total, self.times(factor, vector))
        return total

    def dot(self, a: Vector, b: Vector) -> int:
        return self.add(*(self.multiply(x, y) for x, y in zip(a, b, strict=True)))

    def cross(self, a: Vector, b: Vector) -> Vector:
        return [
            self.add(self.multiply(a[i], b[j]), self.negate(self.multiply(a[j], b[i])))
            for i, j in ((1, 2), (2, 0), (0, 1))
        ]

    def of_point(self, alpha: Vector, omega: Vector, reach: Vector) -> Vector:
        """α × r + ω × (ω × r)."""
        return self.plus(self.cross(alpha, reach), self.cross(omega, self.cross(omega, reach)))

    def rotate(self, R: Matrix, a: Vector) -> Vector:
        """R a."""
        return [self.dot(row, a) for row in R]

    def rotate_back(self, R: Matrix, a: Vector) -> Vector:
        """Rᵀ a."""
        return self.rotate(self.transpose(R), a)

    def transpose(self, R: Matrix) -> Matrix:
        return [list(column) for column in zip(*R, strict=True)]

    def compose(self, A: Matrix, B: Matrix) -> Matrix:
        """A B."""
        columns = self.transpose(B)
        return [[self.dot(row, column) for column in columns] for row in A]

    def sandwich(self, left: Array, T: Matrix, right: Array) -> Matrix:
        """left T right of two matrices of numbers; entry by entry, numbers multiplied first."""
        return [
            [
                self.sum(
                    [
                        self.multiply(self._float(float(left[i, k] * right[n, j])), T[k][n])
                        for k in range(3)
                        for n in range(3)
                        if abs(left[i, k] * right[n, j]) > SNAP
                    ]
                )
                for j in range(3)
            ]
            for i in range(3)
        ]

    def about_z(self, angle: int) -> Matrix:
        """Rotation about z by a name."""
        name = Name(str(self.nodes[angle][1]))
        c, s = self.tree(Call("cos", (name,))), self.tree(Call("sin", (name,)))
        return [
            [c, self.negate(s), NODE_ZERO],
            [s, c, NODE_ZERO],
            [NODE_ZERO, NODE_ZERO, NODE_ONE],
        ]

    def of_quaternion(self, q: Sequence[int]) -> Matrix:
        """Rotation of a unit quaternion, scalar first."""
        w, x, y, z = q

        def twice(*parts: int) -> int:
            return self.multiply(self.two, self.add(*parts))

        def product(a: int, b: int) -> int:
            return self.multiply(a, b)

        def less(*parts: int) -> int:
            return self.add(NODE_ONE, self.negate(twice(*parts)))

        xx, yy, zz = product(x, x), product(y, y), product(z, z)
        wx, wy, wz = product(w, x), product(w, y), product(w, z)
        xy, xz, yz = product(x, y), product(x, z), product(y, z)
        return [
            [less(yy, zz), twice(xy, self.negate(wz)), twice(xz, wy)],
            [twice(xy, wz), less(xx, zz), twice(yz, self.negate(wx))],
            [twice(xz, self.negate(wy)), twice(yz, wx), less(xx, yy)],
        ]
