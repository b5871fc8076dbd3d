"""What is left of a slender body's ten parameters, and of columns by them, over any ring.

Mass on the line a + s d has three moments, ∫ dm, ∫ s dm and ∫ s² dm. Of a body of any inertia
they are taken as its mass, its first moment along the line, and its mean inertia across the line
about a; of a body of revolution about the line these say all that is felt where it does not spin.
"""

from collections.abc import Sequence
from typing import Any

from .vectors import Vec, cross, dot, minus

#: Places of Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the inertia matrix.
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def moments_of(a: Vec, d: Vec) -> list[list[Any]]:
    """The three moments as linear forms of the ten parameters: (moment, parameter).

    Parameters
    ----------
    a, d
        A point of the line and a vector along it, of any length; in the body's axes.
    """
    n = dot(d, d)
    mass, first, second = scaled_moments(a, d)
    return [mass, [x / n for x in first], [x / (2 * n * n) for x in second]]


def scaled_moments(a: Vec, d: Vec) -> list[list[Any]]:
    """The same times 1, d·d and 2 (d·d)²: polynomials of a and d."""
    n, across = dot(d, d), dot(a, d)
    # tr(I) − u·I u about a, over 2 n; both about the origin, with the terms of the shift.
    first = [-2 * (x * n + y * across) for x, y in zip(a, d, strict=True)]
    second = [n * (i == j) - (1 if i == j else 2) * d[i] * d[j] for i, j in _PLACES]
    return [
        [1, *[0] * 9],
        [-across, *d, *[0] * 6],
        [dot(a, a) * n + across * across, *first, *second],
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


def off_line(inertia: Sequence[Any], a: Vec, d: Vec) -> list[Any]:
    """What vanishes where ten parameters are those of mass on the line a + s d, divided nowhere.

    Parameters
    ----------
    inertia
        m, first moment (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin.
    a, d
        A point of the line and a vector along it, of any length.
    """
    m, h = inertia[0], inertia[1:4]
    about = dict(zip(_PLACES, inertia[4:], strict=True))
    trace = about[0, 0] + about[1, 1] + about[2, 2]
    # Twice the second moments ∫ (r − a) (r − a)ᵀ dm, with ∫ r rᵀ dm = tr(I)/2 − I.
    twice = {}
    for i, j in _PLACES:
        there = trace * (i == j) - 2 * about[i, j]
        twice[i, j] = there + 2 * (m * a[i] * a[j] - h[i] * a[j] - a[i] * h[j])
    columns = [tuple(twice[min(i, j), max(i, j)] for i in range(3)) for j in range(3)]
    moments = [[x - m * y for x, y in zip(h, a, strict=True)], *columns]  # each must be along d
    return [entry for x, y, z in moments for entry in cross((x, y, z), d)]


def line(a: Vec, end: Vec, slides: bool) -> tuple[Vec, Vec]:
    """Point and direction: from a to `end`, or along it where it is a slide's axis."""
    return a, end if slides else minus(end, a)
