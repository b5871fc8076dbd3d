"""Rows of couplings along a series of poses: travels of joint values, and their rates."""

from flint import nmod_poly

from .couplings import PlacedCoupling, Term
from .placed_rows import Layout, Poses, Row, distance, negative, polynomial, way_of
from .random_points import PlacedJoint, Point
from .series import Truncated


def coupling_gap(coupling: PlacedCoupling, point: Point, ring: Truncated, at: Poses) -> nmod_poly:
    """Σ coefficient · (value − value at the start)."""
    total = nmod_poly([0], ring.prime)
    for term in coupling:
        total += term.factor * _travel(term, point.joints[term.joint], ring, at)
    return total


def _travel(term: Term, joint: PlacedJoint, ring: Truncated, at: Poses) -> nmod_poly:
    """How far a value is from where it started; a slide in units of its axis over its length."""
    first, second = joint.bodies
    one, two = joint.axes
    if term.axis:
        n = ring.turned(at.R[first], getattr(one, term.axis))
        way = polynomial(ring.dot(n, way_of(joint, ring, at)), ring)
        return way - way[0]
    x2 = ring.turned(at.R[second], two.x)
    cosine, sine = (
        polynomial(ring.dot(ring.turned(at.R[first], axis), x2), ring) for axis in (one.x, one.y)
    )
    sine *= 1 / term.length
    rate = cosine * sine.derivative() - sine * cosine.derivative()
    size = cosine * cosine + sine * sine
    return (
        rate.mul_low(size.inverse_series_trunc(ring.order), ring.order)
        .integral()
        .truncate(ring.order)
    )


def coupling_row(
    coupling: PlacedCoupling, point: Point, ring: Truncated, at: Poses, layout: Layout
) -> Row:
    """Σ coefficient · rate, by the twists."""
    row: Row = {}
    for term in coupling:
        joint = point.joints[term.joint]
        if term.axis:
            own = distance(joint, ring, at, layout, term.axis)
            factor = term.factor
        else:
            n = ring.turned(at.R[joint.bodies[0]], joint.axes[0].z)
            own, factor = {}, term.factor / term.length
            layout.put(own, joint.bodies[1], (0, 0, 0), n)
            layout.put(own, joint.bodies[0], (0, 0, 0), negative(ring, n))
        for place, x in own.items():
            scaled = polynomial(x, ring) * factor
            row[place] = row[place] + scaled if place in row else scaled
    return row
