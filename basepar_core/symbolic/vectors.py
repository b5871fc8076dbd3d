"""Three-vectors, and matrices as their rows, over any commutative ring.

Entries are elements of a field of functions, residues, polynomials, balls or numbers: whatever has
+ − *. The checker of certificates has its own.
"""

from typing import Any, TypeAlias

Vec: TypeAlias = tuple[Any, Any, Any]
Matrix: TypeAlias = tuple[Vec, Vec, Vec]


def dot(a: Vec, b: Vec) -> Any:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """Vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def add(a: Vec, b: Vec) -> Vec:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vec, b: Vec) -> Vec:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(k: Any, a: Vec) -> Vec:
    """k a."""
    return (k * a[0], k * a[1], k * a[2])


def times(M: Matrix, v: Vec) -> Vec:
    """M v."""
    return (dot(M[0], v), dot(M[1], v), dot(M[2], v))


def transpose(M: Matrix) -> Matrix:
    """Mᵀ."""
    a, b, c = M
    return ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]))


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = transpose(B)
    return transpose((times(A, columns[0]), times(A, columns[1]), times(A, columns[2])))
