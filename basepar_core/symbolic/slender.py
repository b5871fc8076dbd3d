"""What is left of a slender body's ten parameters, and of columns by them, over any ring.

Mass on the line a + s d has three moments, ∫ dm, ∫ s dm and ∫ s² dm. Of a body of any inertia
they are taken as its mass, its first moment along the line, and its mean inertia across the line
about a; of a body of revolution about the line these say all that is felt where it does not spin.
"""

from collections.abc import Sequence
from typing import Any

from .vectors import Vec, dot, minus

#: Places of Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the inertia matrix.
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def moments_of(a: Vec, d: Vec) -> list[list[Any]]:
    """The three moments as linear forms of the ten parameters: (moment, parameter).

    Parameters
    ----------
    a, d
        A point of the line and a vector along it, of any length; in the body's axes.
    """
    n, across = dot(d, d), dot(a, d)
    # tr(I) − u·I u about a, over 2 n; both about the origin, with the terms of the shift.
    first = [-(x + y * across / n) / n for x, y in zip(a, d, strict=True)]
    second = [((1 if i == j else 0) - (1 if i == j else 2) * d[i] * d[j] / n) for i, j in _PLACES]
    return [
        [1, *[0] * 9],
        [-across / n, *(x / n for x in d), *[0] * 6],
        [(dot(a, a) + across * across / n) / (2 * n), *first, *(x / (2 * n) for x in second)],
    ]


def parameters_of(a: Vec, d: Vec) -> list[list[Any]]:
    """The ten parameters of unit moments: (moment, parameter)."""

    def inertia(s: dict[tuple[int, int], Any]) -> list[Any]:
        trace = s[0, 0] + s[1, 1] + s[2, 2]
        return [(trace - s[i, j] if i == j else -s[i, j]) for i, j in _PLACES]

    both = {(i, j): (a[i] * a[j], a[i] * d[j] + d[i] * a[j], d[i] * d[j]) for i, j in _PLACES}
    order = [{place: x[k] for place, x in both.items()} for k in range(3)]
    return [
        [1, *a, *inertia(order[0])],
        [0, *d, *inertia(order[1])],
        [0, 0, 0, 0, *inertia(order[2])],
    ]


def slender(row: Sequence[Any], a: Vec, d: Vec) -> list[Any]:
    """Ten columns of a slender body, from those of a body of any inertia."""
    felt = [
        sum((x * y for x, y in zip(row, unit, strict=True)), 0 * row[0])
        for unit in parameters_of(a, d)
    ]
    return [
        sum((x * y for x, y in zip(felt, column, strict=True)), 0 * row[0])
        for column in zip(*moments_of(a, d), strict=True)
    ]


def slender_parameters(inertia: Sequence[Any], a: Vec, d: Vec) -> list[Any]:
    """Ten parameters of mass on the line, with the same moments as a body's."""
    moments = [
        sum((x * y for x, y in zip(inertia, row, strict=True)), 0 * inertia[0])
        for row in moments_of(a, d)
    ]
    return [
        sum((x * y for x, y in zip(moments, column, strict=True)), 0 * inertia[0])
        for column in zip(*parameters_of(a, d), strict=True)
    ]


def line(a: Vec, end: Vec, slides: bool) -> tuple[Vec, Vec]:
    """Point and direction: from a to `end`, or along it where it is a slide's axis."""
    return a, end if slides else minus(end, a)
