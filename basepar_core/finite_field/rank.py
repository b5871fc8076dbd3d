"""The generic rank: of a random member, along one random motion, to the first order that adds
nothing.

A nonzero minor modulo a prime at a point that lifts proves rank ≥ r for generic geometry,
whatever the prime. A point lifts where the constraints are independent; where some are redundant,
it does so with a probability only. That the first stall is final is a theorem about independent
unknowns; at a random point over GF(p) it fails, towards too low a rank, with a probability below
2⁻³³ per (prime, point) (decision 8).
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.dynamics import Model
from basepar_core.errors import FamilyError

from .arithmetic import PRIME_BITS
from .family_component import Component, find_component, start
from .motion import ranks_by_order
from .random_points import field_for
from .seeds import seed_of

#: Orders to begin with, and how they grow: a stall is usually seen within a third more than
#: needed, and nothing is computed twice but the rows.
FIRST_ORDERS = 5


@dataclass(frozen=True)
class GenericRank:
    """Rank of W for generic geometry.

    Attributes
    ----------
    rank
        Of W, by a point of the family over each of the primes.
    primes, seeds
        Of the points: `numpy.random.default_rng(seed)` draws the prime, then everything.
    order_of_stall
        First order of the series that added nothing, per point.
    ranks_by_order
        Of the first point: rank of orders 0, 0…1, 0…2, …
    scope
        Of what geometry this is reported.
    freed
        Numbers of the file that vary as well.
    relations
        Relations between orientations seen on the real branch, and imposed.
    freedoms, dimension, symbols
        Degrees of freedom, dimension of the family's variety, number of geometry symbols.
    redundant
        Constraint equations beyond the rank of their Jacobian. None: the minor proves the rank.
        Otherwise the motion is seen to satisfy them to the orders used, and by a count of
        dimensions at a random point (decision 18): right with probability, not proved.
    notes
        Reservations.
    """

    rank: int
    primes: tuple[int, ...]
    seeds: tuple[tuple[int, ...], ...]
    order_of_stall: tuple[int, ...]
    ranks_by_order: tuple[int, ...]
    scope: str
    freed: tuple[str, ...]
    relations: tuple[str, ...]
    freedoms: int
    dimension: int
    symbols: int
    redundant: int
    notes: tuple[str, ...]

    @property
    def grade(self) -> str:
        """Of rank ≥ `rank`."""
        return "probability" if self.redundant else "proved generically"

    @property
    def reason(self) -> str:
        """Why no more than that; empty where it is proved."""
        if not self.redundant:
            return ""
        many = f"{self.redundant} constraint equations are"
        return (
            f"{many if self.redundant > 1 else 'one constraint equation is'} redundant, which a "
            f"count of dimensions at random points shows with probability"
        )


def generic_rank(
    model: Model,
    seed: int = 0,
    pairs: int = 1,
    bits: int = PRIME_BITS,
    component: Component | None = None,
    likely: int | None = None,
) -> GenericRank:
    """Rank of W for generic geometry of a mechanism's family.

    Parameters
    ----------
    model
        The mechanism, assembled; its branch is where special families are recognised.
    seed
        Of everything random.
    pairs
        Independent (prime, point) pairs.
    bits
        Size of the primes.
    component
        Of the family, if already known.
    likely
        A rank to guess by how many orders it takes; the result does not depend on it.

    Raises
    ------
    FamilyError
        The family has no points that we know how to find; says why.
    """
    component = component or find_component(model, seed)
    own = seed_of(component.family.mechanism, "rank", seed)
    seeds = [(own, pair) for pair in range(pairs)]
    found = [member_rank(component, seeds[0], bits, likely=likely)]
    # Another member most likely stalls at the same order.
    orders = len(found[0][1])
    found += [member_rank(component, given, bits, orders=orders) for given in seeds[1:]]
    best = max(range(pairs), key=lambda k: found[k][1][-1])
    return GenericRank(
        rank=found[best][1][-1],
        primes=tuple(prime for prime, _ in found),
        seeds=tuple(seeds),
        order_of_stall=tuple(len(ranks) - 1 for _, ranks in found),
        ranks_by_order=tuple(found[best][1]),
        scope=scope(component),
        freed=component.family.freed,
        relations=tuple(
            f"{edge.name} {'turn alike' if edge.freedoms == 0 else 'have an axis in common'}"
            for edge in component.family.forest.edges
            if edge.source < 0
        ),
        freedoms=component.freedoms,
        dimension=component.dimension,
        symbols=component.symbols,
        redundant=component.redundant,
        notes=component.notes,
    )


def member_rank(
    component: Component,
    seed: tuple[int, ...],
    bits: int = PRIME_BITS,
    beyond: float = 1.0,
    orders: int = FIRST_ORDERS,
    likely: int | None = None,
) -> tuple[int, list[int]]:
    """Prime, and ranks by order up to the first stall, of one random member.

    Parameters
    ----------
    component
        To draw from.
    seed
        Of prime, point and motion.
    bits
        Size of the prime.
    beyond
        Look this many times as far as the stall.
    orders
        To begin with.
    likely
        As in `generic_rank`.

    Raises
    ------
    FamilyError
        The motion leaves constraints open that were taken for redundant.
    """
    if beyond == 1.0 and (seed, bits) in component.ranks:
        return component.ranks[seed, bits]
    draw = field_for(component.family, np.random.default_rng(seed), bits)
    while True:
        _, motion = start(component.family, draw)
        if motion.freedoms == component.freedoms:
            break  # otherwise a singular member, with probability about 1/p
    order = orders
    while True:
        ranks = ranks_by_order(motion.coefficient_matrix(order), order)
        stall = next((k for k in range(1, order) if ranks[k] == ranks[k - 1]), None)
        if stall is not None and order >= beyond * (stall + 1):
            break
        order = _next(order, ranks, likely)
    if len(motion.kept) < motion.equations and not motion.redundant_gaps_vanish(order):
        raise FamilyError(
            "Constraints that look redundant at a random point do not hold along the motion."
        )
    if beyond > 1:
        return draw.prime, ranks
    return component.ranks.setdefault((seed, bits), (draw.prime, ranks[: stall + 1]))


def _next(order: int, ranks: list[int], likely: int | None) -> int:
    """Orders to try where so many show no stall: half as many again, or what the last one's share
    promises up to a likely rank, and one to see that it is final."""
    more = order * 3 // 2 + 1
    if likely is None or order < 2 or not ranks[-1] < likely:
        return more
    last = max(1, ranks[-1] - ranks[-2])
    return max(more, min(2 * order + 1, order + -(-(likely - ranks[-1]) // last) + 1))


def scope(component: Component) -> str:
    """Of what geometry a generic statement is made, in words."""
    parts = ["generic geometry"]
    if component.family.freed:
        freed = component.family.freed
        listed = ", ".join(freed[:4]) + (f" and {len(freed) - 4} more" if len(freed) > 4 else "")
        parts.append(f"where {listed} may vary too")
    if component.codimension:
        parts.append("among geometries that close")
    if component.family.relations:
        parts.append("on the branch with the relations seen on it")
    return ", ".join(parts)
