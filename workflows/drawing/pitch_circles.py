"""Pitch circles of gears in the plane: what a coupling of three bodies' turning looks like.

A coupling of angles is a relation of the bodies' angular velocities. Where it is of three bodies,
and two of them turn about points of the third, these two roll on each other: as a pair of gears
outside each other, or in a ring that stands. Belts are couplings too, and a file does not tell
them from rings; two moving bodies that turn alike are not drawn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from basepar_core.dynamics import kinematics
from basepar_core.expressions import ZERO, Call, Expression, add, evaluate, negate
from basepar_core.mechanism import Coupling, Mechanism

#: A point counts as fixed where it moves less, as a share of the mechanism's size; a coefficient
#: as zero below this share of the largest.
FIXED = 1e-8


@dataclass(frozen=True)
class PitchCircle:
    """A body's (−1: the ground), with its centre (2,) and radius in m, in the first pose.

    `share`: the radius over the distance to the other circle's centre, or its negative.
    """

    body: int
    centre: np.ndarray
    radius: float
    share: Expression

    @property
    def line(self) -> np.ndarray:
        """Points (2, point) all around."""
        around = np.linspace(0, 2 * np.pi, 181)
        return self.centre[:, None] + self.radius * np.stack([np.cos(around), np.sin(around)])


def pitch_circles(
    it: Mechanism, at: kinematics.Poses, values: Mapping[str, float], size: float
) -> list[PitchCircle]:
    """All pitch circles of a planar mechanism.

    Parameters
    ----------
    it
        The mechanism.
    at
        Poses (…, pose) of one variant, more than one of them.
    values
        Its swept symbols, SI.
    size
        Of the drawing, m.
    """
    R = [np.reshape(x, (3, 3, -1))[:2, :2] for x in at.R]
    p = [np.reshape(x, (3, -1))[:2] for x in at.p]
    count = max(x.shape[-1] for x in (*R, *p))
    R = [np.broadcast_to(x, (2, 2, count)) for x in R]
    p = [np.broadcast_to(x, (2, count)) for x in p]
    found: list[PitchCircle] = []
    if it.planar and count > 1:
        for coupling in it.couplings:
            rates = _rates(it, coupling)
            known = {**it.nominal, **values}
            numbers = dict(zip(rates, evaluate(rates.values(), known), strict=True))
            most = max(map(abs, numbers.values()), default=0.0)
            turning = {body: float(x) for body, x in numbers.items() if abs(x) > FIXED * most}
            found += _rolling(turning, rates, R, p, size)
    return found


def _rates(it: Mechanism, coupling: Coupling) -> dict[int, Expression]:
    """A coupling's coefficients of bodies' angular velocities; none where it has lengths."""
    total: dict[int, Expression] = {}
    for name, factor in coupling.terms:
        value = it.value(name)
        if value.is_length:
            return {}
        first, second = (it.body_index[body] for body in value.joint.bodies)
        total[first] = add(total.get(first, ZERO), negate(factor))
        total[second] = add(total.get(second, ZERO), factor)
    return total


def _rolling(
    rates: Mapping[int, float],
    formulas: Mapping[int, Expression],
    R: list[np.ndarray],
    p: list[np.ndarray],
    size: float,
) -> Iterator[PitchCircle]:
    """Circles of the two of three bodies that turn about points of the third."""
    for one, two, carrier in permutations(rates, 3) if len(rates) == 3 else ():
        if one > two:
            continue
        here, there = (_centre(body, carrier, R, p, size) for body in (one, two))
        if here is None or there is None:
            continue
        apart = float(np.linalg.norm(there - here))
        # Speeds against the carrier are in inverse ratio of the coefficients, with the other sign.
        ratio = -rates[one] / rates[two]
        if apart < FIXED * size or (ratio > 0 and -1 not in (one, two)) or abs(ratio - 1) < FIXED:
            continue
        both = rates[one] + rates[two]
        whole = add(formulas[one], formulas[two])
        for body, centre in ((one, here), (two, there)):
            share = Call("/", (formulas[body], whole))
            yield PitchCircle(body, centre, abs(rates[body] / both) * apart, share)


def _centre(
    body: int, carrier: int, R: list[np.ndarray], p: list[np.ndarray], size: float
) -> np.ndarray | None:
    """The world point in the first pose about which a body turns in another; None without one."""
    count = R[0].shape[-1]
    rows, right = [], []
    for k in range(count):
        rows.append(np.hstack([_at(R, body, k, np.eye(2)), -_at(R, carrier, k, np.eye(2))]))
        right.append(_at(p, carrier, k, np.zeros(2)) - _at(p, body, k, np.zeros(2)))
    matrix, vector = np.vstack(rows), np.concatenate(right)
    point, _, rank, _ = np.linalg.lstsq(matrix, vector, rcond=FIXED)
    if rank < 4 or np.abs(matrix @ point - vector).max() > FIXED * size:
        return None
    found: np.ndarray = rows[0][:, :2] @ point[:2] + _at(p, body, 0, np.zeros(2))
    return found


def _at(arrays: list[np.ndarray], body: int, pose: int, ground: np.ndarray) -> np.ndarray:
    return ground if body < 0 else arrays[body][..., pose]
