"""Relations that a file's numbers nearly meet: a count is of the numbers as they are written.

0.7071 is not √2/2, and two lengths that differ in the fourth decimal are not equal; a special
geometry that was meant is then none, and its count is a generic one. Near misses are reported.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, pairwise

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Expression, Number
from basepar_core.finite_field import Evaluator, rational_values
from basepar_core.mechanism import Mechanism

#: Lengths or directions this near, relatively, are nearly equal, parallel or at right angles.
NEAR = Fraction(1, 1000)
#: A decimal has so many places before it is taken for a rounded number, and at most so many.
PLACES = range(3, 31)
#: Numbers that decimals are often rounded from: squares, and how they are written.
ROOTS = {
    Fraction(1, 2): "sqrt(2)/2",
    Fraction(3, 4): "sqrt(3)/2",
    Fraction(2): "sqrt(2)",
    Fraction(3): "sqrt(3)",
    Fraction(1, 3): "1/sqrt(3)",
    Fraction(1, 9): "1/3",
    Fraction(4, 9): "2/3",
    Fraction(1, 36): "1/6",
}
#: Most relations that are reported.
MOST = 8

Vector = tuple[Fraction, Fraction, Fraction]


def nearly_met(mechanism: Mechanism) -> tuple[str, ...]:
    """What the numbers of a file nearly are, in words; nothing where they are so exactly."""
    found = [*_rounded(mechanism), *_lengths(mechanism), *_directions(mechanism)]
    return tuple(dict.fromkeys(found))[:MOST]


def _rounded(mechanism: Mechanism) -> Iterator[str]:
    symbols = [*mechanism.geometry, *mechanism.constants]
    # Nobody rounds a root of metres to millimetres.
    values: list[tuple[str, Expression]] = [
        (f"{one.name} = ", one.value) for one in symbols if one.unit in ("", "m")
    ]
    values += [("", value) for value in chain(*mechanism.frame_vectors)]
    for name, value in values:
        if isinstance(value, Number) and (text := _root(abs(value.value))):
            yield f"{name}{float(value.value):.15g} is nearly {'-' * (value.value < 0)}{text}"


def _root(value: Fraction) -> str:
    """The number that a decimal was rounded from; empty if there is none."""
    places = next((d for d in PLACES if (value * 10**d).denominator == 1), None)
    if places is None or (value * 100).denominator == 1:
        return ""
    unit = Fraction(1, 10**places)
    return next(
        (
            text
            for square, text in ROOTS.items()
            if value**2 != square and (value - unit) ** 2 < square < (value + unit) ** 2
        ),
        "",
    )


def _bodies(mechanism: Mechanism) -> dict[str, list[tuple[str, Vector, Vector]]]:
    """Per body its joints with point and axis; without those that are not rational."""
    symbols = [*mechanism.geometry, *mechanism.constants]
    exact = Evaluator(lambda value: value, rational_values(symbols)[0], {})
    found: dict[str, list[tuple[str, Vector, Vector]]] = {}
    for joint in mechanism.joints:
        for body, frame in zip(joint.bodies, joint.frames, strict=True):
            try:
                at, axis = (
                    (exact.scalar(x), exact.scalar(y), exact.scalar(z))
                    for x, y, z in (frame.at, frame.axis)
                )
            except (ExpressionError, KeyError, ZeroDivisionError):
                continue
            found.setdefault(body, []).append((joint.name, at, axis))
    return found


def _dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _lengths(mechanism: Mechanism) -> Iterator[str]:
    squares: list[tuple[Fraction, str]] = []
    for body, joints in _bodies(mechanism).items():
        for (one, a, _), (two, b, _) in combinations(joints, 2):
            way = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
            if square := _dot(way, way):
                squares.append((square, f"{one}-{two} on {body}"))
    squares.sort()
    for (a2, first), (b2, second) in pairwise(squares):
        # Squares differ by twice the share that lengths do.
        if 0 < b2 - a2 < 2 * NEAR * b2:
            lengths = [float(x) ** 0.5 for x in (a2, b2)]
            off = float(b2 - a2) / sum(lengths)
            yield f"lengths {first} and {second} ({lengths[0]:.6g} m) differ by {off:.1g} m"


def _directions(mechanism: Mechanism) -> Iterator[str]:
    if mechanism.planar:
        return
    for body, joints in _bodies(mechanism).items():
        for (one, _, u), (two, _, w) in combinations(joints, 2):
            along, whole = _dot(u, w) ** 2, _dot(u, u) * _dot(w, w)
            if 0 < along < NEAR**2 * whole:
                yield f"axes of {one} and {two} on {body} are nearly at right angles"
            if 0 < whole - along < NEAR**2 * whole:
                yield f"axes of {one} and {two} on {body} are nearly parallel"
