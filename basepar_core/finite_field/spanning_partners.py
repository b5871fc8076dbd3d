"""Pairs of modes whose rows span the energy form's, order by order.

A row is bilinear over power series in the velocities of its two modes. A row that is a sum of
others with series as coefficients adds nothing to the span of the first k orders, whatever k
is. In a tree whose bodies follow what carries them, let modes a, … move body r, whose joint
mode c is of, with twists that span all twists at the start. Any other mode that moves r is,
but for a sum of these, at rest there: then below r a sum of the modes of joints below r, whose
pairs with c are pairs of these modes. So six partners of c are enough, in the plane three.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from flint import nmod_mat

from .arithmetic import pivots
from .placed_rows import Layout
from .random_points import Point


def carriers(point: Point) -> dict[int, int]:
    """The body, −1 for the ground, that carries each; empty unless a tree in that order."""
    above = {max(joint.bodies): min(joint.bodies) for joint in point.joints}
    tree = len(above) == len(point.joints) == len(point.R) - 1
    return above if tree and not point.further else {}


def spanning_partners(
    point: Point,
    layout: Layout,
    moved: Sequence[AbstractSet[int]],
    driven: Sequence[int],
    start: nmod_mat,
) -> list[list[int]]:
    """By mode, modes that move a body in common with it: as many as span the rows of all pairs.

    Parameters
    ----------
    point, layout
        The member.
    moved
        By mode, the bodies that it moves.
    driven
        By mode, the body whose twist has its coordinate; ascending.
    start
        Twists (place, mode) at the start of the motion.
    """
    above, found = carriers(point), list[list[int]]()
    for c, bodies in enumerate(moved):
        partners = [a for a in range(c + 1) if moved[a] & bodies]
        if len(partners) > layout.size and _hang_on(driven[c], bodies, above):
            partners = _spanning(partners, driven[c], layout, start)
        found.append(partners)
    return found


def _hang_on(root: int, bodies: AbstractSet[int], above: dict[int, int]) -> bool:
    """Whether all of the bodies are this one or hang on it."""
    hanging = {root} if above else set[int]()
    for body in range(root + 1, len(above)):
        if above[body] in hanging:
            hanging.add(body)
    return bodies <= hanging


def _spanning(modes: list[int], body: int, layout: Layout, start: nmod_mat) -> list[int]:
    """The first modes whose twists of a body span all twists; all modes where none do."""
    places = range(layout.size * body, layout.size * (body + 1))
    flat = [start[place, mode] for mode in modes for place in places]
    twists = nmod_mat(len(modes), layout.size, flat, start.modulus()).transpose()
    found = pivots(twists)
    return [modes[k] for k in found] if len(found) == layout.size else modes
