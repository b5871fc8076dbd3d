"""Random primes, and vectors and rotations over any commutative ring.

Ring elements are `nmod`, `nmod_poly`, Python integers or floats: whatever has + − * works. A
rotation about an axis k (of any length) is given by the quaternion (a, b k), so that no square
root is taken; its matrix is a quotient of quadratic forms in (a, b).
"""

from typing import Any, TypeAlias

import numpy as np
from flint import fmpz, nmod, nmod_mat
from flint.utils.flint_exceptions import DomainError

from basepar_core.symbolic import add, cross, dot, minus, scale

Scalar: TypeAlias = Any
Vec: TypeAlias = tuple[Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vec, Vec, Vec]

#: Size of the primes in bits: the largest whose sums flint can delay reducing in one word, and
#: about 5·10¹⁶ of them to draw from.
PRIME_BITS = 62

IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def random_prime(rng: np.random.Generator, bits: int = PRIME_BITS) -> int:
    """A prime of exactly so many bits, all equally likely."""
    low, high = 1 << (bits - 1), 1 << bits
    while True:
        candidate = int(rng.integers(low, high)) | 1
        if fmpz(candidate).is_prime():
            return candidate


class Draw:
    """Random elements of GF(p), drawn in blocks from a generator."""

    def __init__(self, rng: np.random.Generator, prime: int):
        self.rng, self.prime = rng, prime
        self._waiting: list[int] = []

    def __call__(self) -> nmod:
        """One element."""
        if not self._waiting:
            self._waiting = self.rng.integers(0, self.prime, 64).tolist()
        return nmod(self._waiting.pop(), self.prime)

    def vector(self) -> Vec:
        """Three of them."""
        return (self(), self(), self())


def rotation(k: Vec, a: Scalar, b: Scalar) -> Matrix:
    """Rotation about k by the quaternion (a, b k).

    Raises
    ------
    ZeroDivisionError
        The quaternion's norm is zero in this field.
    """
    x, y, z = scale(b, k)
    norm = a * a + x * x + y * y + z * z
    scale_by = 2 / norm
    one = 1 + 0 * norm
    return (
        (
            one - scale_by * (y * y + z * z),
            scale_by * (x * y - a * z),
            scale_by * (x * z + a * y),
        ),
        (
            scale_by * (x * y + a * z),
            one - scale_by * (x * x + z * z),
            scale_by * (y * z - a * x),
        ),
        (
            scale_by * (x * z - a * y),
            scale_by * (y * z + a * x),
            one - scale_by * (x * x + y * y),
        ),
    )


def aligning(u: Vec, w: Vec) -> Matrix:
    """A rational rotation that takes w to u, equally long: half a turn about u + w.

    Raises
    ------
    ZeroDivisionError
        The middle direction has norm zero in this field.
    """
    s = add(u, w)
    if all(entry == 0 for entry in s):  # opposite: half a turn about anything across
        s = next(v for v in (cross(u, e) for e in IDENTITY) if any(x != 0 for x in v))
    return half_turn(s)


def half_turn(s: Vec) -> Matrix:
    """Half a turn about s."""
    twice = 2 / dot(s, s)
    return tuple(  # type: ignore[return-value]
        tuple(twice * s[i] * s[j] - (1 if i == j else 0) for j in range(3)) for i in range(3)
    )


def turning_onto(k: Vec, y: Vec, t: Vec) -> tuple[Scalar, Scalar]:
    """Quaternion (a, b) about k that takes y to t, equally long and with equal part along k.

    From t − y = (b/a) k×(t + y).

    Raises
    ------
    ZeroDivisionError
        y is along k.
    """
    change, lever = minus(t, y), cross(k, add(t, y))
    for difference, arm in zip(change, lever, strict=True):
        if arm != 0:
            return 1 + 0 * arm, difference / arm
    if any(entry != 0 for entry in cross(k, y)):  # t = −y across k: half a turn
        return 0 * y[0], 1 + 0 * y[0]
    raise ZeroDivisionError("the vector lies along the axis")


def turns_to_component(k: Vec, u: Vec, w: Vec, e: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Coefficients of a², ab, b² in (a² + b² k·k)(u · Rot(k; a, b) w − e)."""
    square, across = dot(k, k), dot(u, w)
    return (
        across - e,
        2 * dot(u, cross(k, w)),
        2 * dot(u, k) * dot(k, w) - square * (across + e),
    )


def quadratic_root(c0: nmod, c1: nmod, c2: nmod, sign: int) -> tuple[nmod, nmod] | None:
    """(a, b) with c0 a² + c1 ab + c2 b² = 0, not both zero; None without a root in the field.

    `sign` picks one of the two.
    """
    root = square_root(c1 * c1 - 4 * c0 * c2)
    if root is None:
        return None
    one = 1 + 0 * root
    if c0 != 0:
        return (sign * root - c1) / (2 * c0), one
    return (one, 0 * one) if sign > 0 or c1 == 0 else (-c2 / c1, one)


def square_root(value: nmod) -> nmod | None:
    """A square root in the field, or None."""
    try:
        return value.sqrt()
    except DomainError:
        return None


def echelon(matrix: nmod_mat) -> tuple[nmod_mat, list[int]]:
    """The reduced echelon form, and its pivot columns."""
    reduced, rank = matrix.rref()
    found, column = [], 0
    for row in range(rank):
        while reduced[row, column] == 0:
            column += 1
        found.append(column)
        column += 1
    return reduced, found


def pivots(matrix: nmod_mat) -> list[int]:
    """Pivot columns of the reduced echelon form."""
    return echelon(matrix)[1]
