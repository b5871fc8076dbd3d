"""Whether columns of a record look exchanged: torques of two joints, positions of two joints.

The torque that the file's inertias give is made once; each measured column is then correlated with
that of every coordinate, and the right order stands out. Where the file has no inertias, or bad
ones, least squares judge: of a wrong order they leave much of the torque unexplained. Other orders
of positions need W anew, and are tried last. Only what is clearly better counts: where both orders
explain a record alike, or friction hides the inertias, there is nothing to report.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion
from basepar_core.mechanism import Mechanism, joint_type

from ..errors import MotionError
from .foretold import FileTorque, at, spread
from .smoothing import FEWEST

#: Correlation with the foretold torque that is good; by how much less another order must miss of
#: a full one; and below which correlation of one column other orders are tried.
GOOD, BETTER, EACH = 0.95, 5.0, 0.9
#: Foretold torque may be wrong by this factor and still be the right one.
SIZE = 3.0
#: Share of the torque that least squares leave as the record stands, at least, and by how many
#: times less they have to leave with columns exchanged.
LEFT, LESS = 0.15, 4.0
#: Rows per parameter below which least squares explain anything.
ROWS = 5
#: Pairs of torques that least squares are made for, and pairs of positions that W is made for.
TORQUE_PAIRS, POSITION_PAIRS = 45, 3
#: Singular values of W below this share are of parameters that have no effect.
NONE = 1e-8


@dataclass(frozen=True)
class Exchange:
    """Another order of a record's columns that explains it.

    Attributes
    ----------
    positions, torques
        (coordinate,): whose columns hold the position and the torque of each coordinate.
    found, as_is
        Correlation with the torque of the file's inertias, in this order and as the record stands,
        over the coordinates that are concerned; or, where least squares judged, the share of the
        torque they leave. None: as it stands the mechanism cannot follow it.
    by_file
        Which of the two.
    overall
        Correlation over all coordinates in this order; -1 where least squares judged.
    turned
        The coordinate whose torque has another sign than all others, or None.
    """

    positions: tuple[int, ...]
    torques: tuple[int, ...]
    found: float
    as_is: float | None
    by_file: bool
    overall: float = -1.0
    turned: int | None = None


class Reading(NamedTuple):
    """A record in another order: W, whose columns are whose, and whose torque is negated."""

    W: Array
    positions: tuple[int, ...]
    torques: tuple[int, ...]
    turned: int | None = None

    def of(self, tau: Array) -> Array:
        """(coordinate, sample): torques of a record, read so."""
        signs = np.where(np.arange(len(tau)) == self.turned, -1.0, 1.0)
        found: Array = tau[list(self.torques)] * signs[:, None]
        return found


class Products(NamedTuple):
    """Measured torques times foretold ones, as `products` has them.

    Attributes
    ----------
    both
        (foretold coordinate, measured one), summed over samples.
    measured, foretold
        Sums of squares, (foretold coordinate, measured one) and (foretold coordinate,).
    """

    both: Array
    measured: Array
    foretold: Array

    def alike(self) -> Array:
        """(foretold coordinate, measured one): correlation; 0 where either is nothing."""
        sizes = np.sqrt(self.measured * self.foretold[:, None])
        return np.divide(self.both, sizes, out=np.zeros(sizes.shape), where=sizes > 0)

    def together(self, places: Sequence[int], order: Sequence[int]) -> float:
        """Correlation over some coordinates as one signal, measured in the columns of others."""
        at = (list(places), list(order))
        size = float(np.sqrt(self.measured[at].sum() * self.foretold[at[0]].sum()))
        return float(self.both[at].sum()) / size if size > 0 else 0.0

    def score(self, places: Sequence[int], order: Sequence[int]) -> float:
        """The same; -1 where the measured signal has another size altogether."""
        at = (list(places), list(order))
        both, foretold = float(self.both[at].sum()), float(self.foretold[at[0]].sum())
        alike = foretold / SIZE < both < foretold * SIZE
        return self.together(places, order) if alike else -1.0


def products(tau: Array, foretold: Array, beside: Array) -> Products:
    """Each measured torque beside the foretold one of each coordinate.

    Parameters
    ----------
    tau, foretold
        (coordinate, sample), N m or N.
    beside
        (sample, coordinate, column): what may be taken off in a coordinate's row, as friction of
        which the file gives no value.
    """
    count = len(tau)
    both, measured = np.zeros((2, count, count))
    sizes = np.zeros(count)
    for k, wanted in enumerate(foretold):
        U, values, _ = np.linalg.svd(beside[:, k], full_matrices=False)
        U = U[:, values > NONE * values.max(initial=0.0)]
        rest, aim = tau - (tau @ U) @ U.T, wanted - U @ (U.T @ wanted)
        both[k], measured[k], sizes[k] = rest @ aim, (rest**2).sum(axis=1), aim @ aim
    return Products(both, measured, sizes)


def best_order(found: Products) -> tuple[int, ...]:
    """Whose torque column holds the torque of each coordinate; as they stand if nothing is clear.

    Pairs that are exchanged, each better than any other of its columns; any order of several
    columns only if it is clearly better still.
    """
    count = len(found.foretold)
    pairs = sorted(
        itertools.combinations(range(count), 2),
        key=lambda pair: found.score(pair, pair[::-1]),
        reverse=True,
    )
    same = order = tuple(range(count))
    for pair in pairs:
        untouched = all(order[k] == k for k in pair)
        better = is_clearly_better(found.score(pair, pair[::-1]), found.together(pair, pair))
        if untouched and better:
            order = _swapped(order, pair)
    _, other = linear_sum_assignment(-found.alike())
    moved = [k for k in same if other[k] != k or order[k] != k]
    first, second = ([of[k] for k in moved] for of in (order, other))
    if moved and is_clearly_better(found.score(moved, second), found.together(moved, first)):
        return tuple(map(int, other))
    return order


def is_clearly_better(found: float, as_is: float) -> bool:
    """Whether a correlation is good, and misses of 1 by clearly less than another."""
    return found >= GOOD and 1 - found < (1 - as_is) / BETTER


def left_by_fit(W: Array, tau: Array) -> float:
    """Share of the torque that least squares leave, every coordinate's rows by their own size.

    Parameters
    ----------
    W
        (sample, coordinate, parameter).
    tau
        (coordinate, sample), N m or N.
    """
    sizes = np.sqrt((tau**2).mean(axis=1))
    sizes = np.where(sizes > 0, sizes, sizes.max(initial=0.0))
    if not sizes.all():
        return 1.0
    rows = (W / sizes[:, None]).reshape(-1, W.shape[-1])
    right = (tau.T / sizes).ravel()
    Q, _ = np.linalg.qr(rows)
    rest = right - Q @ (Q.T @ right)
    return float(np.linalg.norm(rest) / np.linalg.norm(right))


def find_exchange(
    model: Model, motion: Motion, tau: Array, W: Array | None, columns: tuple[Column, ...] = ()
) -> Exchange | None:
    """The order of columns that explains a record far better than its own.

    Parameters
    ----------
    model
        The mechanism, prepared.
    motion
        As measured.
    tau
        (coordinate, sample), N m or N; nan where unusable.
    W
        (sample, coordinate, parameter) of the motion, inertial columns first, then `columns`;
        None: the mechanism cannot follow it.
    columns
        Of force laws.

    Returns
    -------
    Exchange or None
        None: the record is explained as it stands, or by no other order.
    """
    thin = spread(tau)
    if len(tau) < 2 or thin.size < FEWEST or not tau[:, thin].any():
        return None
    record = _Record(FileTorque(model, columns), at(motion, thin), tau[:, thin])
    if W is None:
        found = record.of_positions(None, 1.0)
        return None if found is None else replace(found, as_is=None)
    W = W[thin]
    if record.is_explained(W):
        return None
    left = left_by_fit(_independent(W), record.tau)
    if left < LEFT and not model.mechanism.has_inertias:
        return None
    return record.of_torques(W, left) or record.of_positions(W, left)


@dataclass(frozen=True)
class _Record:
    """Some samples of a record, held against the file and against least squares."""

    file: FileTorque
    motion: Motion
    tau: Array

    @property
    def measured(self) -> list[int]:
        """Coordinates whose torque is not zero throughout, as of joints without drives."""
        return [int(k) for k in np.flatnonzero(self.tau.any(axis=1))]

    def is_explained(self, W: Array) -> bool:
        """Whether the file gives every measured torque."""
        if not self.file.model.mechanism.has_inertias:
            return False
        judged, of = self._products(W), self.measured
        each = judged.alike().diagonal()[of]
        return bool(judged.score(of, of) >= GOOD and each.min() >= EACH)

    def of_torques(self, W: Array, left: float) -> Exchange | None:
        """Torque columns exchanged: by the file in any order, by least squares two of them."""
        same = tuple(range(len(self.tau)))
        if self.file.model.mechanism.has_inertias:
            judged = self._products(W)
            order = best_order(judged)
            if moved := [k for k in same if order[k] != k]:
                found = judged.together(moved, [order[k] for k in moved])
                as_is = judged.together(moved, moved)
                overall, _ = self.file.compare(W, self.tau[list(order)])
                return Exchange(same, order, found, as_is, True, overall)
        pairs = list(itertools.combinations(self.measured, 2))
        if len(pairs) > TORQUE_PAIRS:
            return None
        orders = [Reading(W, same, _swapped(same, pair)) for pair in pairs]
        signs = [Reading(W, same, same, k) for k in self.measured if pairs]
        if signs and self.file.model.mechanism.has_inertias:
            # Least squares do not tell one torque's sign from that of all others; the file does.
            signs = [max(signs, key=lambda one: self.file.compare(W, one.of(self.tau))[0])]
        return self._of_fit(left, orders + signs)

    def of_positions(self, W: Array | None, left: float) -> Exchange | None:
        """Two position columns exchanged, or positions and torques of two joints."""
        readings = list(self._reread())
        if self.file.model.mechanism.has_inertias:
            of = self.measured
            as_is = -1.0 if W is None else self._products(W).together(of, of)
            judged = [self._by_file(one, as_is) for one in readings]
            found = [one for one in judged if one is not None]
            if found:
                return max(found, key=lambda one: one.found)
        return self._of_fit(left, readings)

    def _products(self, W: Array) -> Products:
        return products(self.tau, self.file.foretold(W), self.file.unknown(W))

    def _reread(self) -> Iterator[Reading]:
        """Every pair of like positions exchanged, with and without their torques."""
        same = tuple(range(len(self.tau)))
        pairs = list(like_positions(self.file.model.mechanism))
        # Whole turns a sample are another unit, and take long to follow once more.
        wild = bool(np.abs(np.diff(self.motion.q)).max(initial=0.0) > np.pi)
        for pair in () if wild or len(pairs) > POSITION_PAIRS else pairs:
            order = _swapped(same, pair)
            of = self.motion
            q, q_dot, q_ddot = (x[list(order)] for x in (of.q, of.q_dot, of.q_ddot))
            try:
                W = self.file.observe(Motion(of.t, q, q_dot, q_ddot))
            except MotionError:
                continue
            yield Reading(W, order, same)
            if set(pair) <= set(self.measured):
                yield Reading(W, order, order)

    def _by_file(self, reading: Reading, as_is: float) -> Exchange | None:
        """A reading in which the file gives every measured torque, and `as_is` did not."""
        W, positions, torques, _ = reading
        tau = reading.of(self.tau)
        here = [int(k) for k in np.flatnonzero(tau.any(axis=1))]
        judged = self._products(W)
        score = judged.score(here, [torques[k] for k in here])
        if not is_clearly_better(score, as_is):
            return None
        overall, _ = self.file.compare(W, tau)
        return Exchange(positions, torques, score, as_is, True, overall)

    def _of_fit(self, as_is: float, readings: Sequence[Reading]) -> Exchange | None:
        """The reading of which least squares leave least, where that is clearly less."""
        few = bool(readings) and self.tau.size < ROWS * readings[0].W.shape[-1]
        if not readings or few or as_is < LEFT:
            return None
        left = []
        for _, group in itertools.groupby(readings, key=lambda one: id(one.W)):
            some = list(group)
            W = _independent(some[0].W)
            left += [left_by_fit(W, one.of(self.tau)) for one in some]
        best = int(np.argmin(left))
        if left[best] * LESS > as_is:
            return None
        _, positions, torques, turned = readings[best]
        return Exchange(positions, torques, left[best], as_is, by_file=False, turned=turned)


def like_positions(mechanism: Mechanism) -> Iterator[tuple[int, int]]:
    """Pairs of coordinates of one unit, each the only one of its joint's turns."""
    names = mechanism.coordinates
    kinds = [joint_type(mechanism.value(name).joint.type) for name in names]
    alone = [k for k, kind in enumerate(kinds) if not (kind.is_ball or kind.is_free)]
    for pair in itertools.combinations(alone, 2):
        one, other = (mechanism.value(names[k]).is_length for k in pair)
        if one == other:
            yield pair


def _swapped(order: tuple[int, ...], pair: Sequence[int]) -> tuple[int, ...]:
    found = list(order)
    found[pair[0]], found[pair[1]] = found[pair[1]], found[pair[0]]
    return tuple(map(int, found))


def _independent(W: Array) -> Array:
    """W (sample, coordinate, direction): as many directions of its parameters as have effects."""
    rows = W.reshape(-1, W.shape[-1])
    norms = np.sqrt((rows**2).sum(axis=0))
    unit = W / np.where(norms > 0, norms, 1.0)
    _, sizes, V = np.linalg.svd(unit.reshape(rows.shape), full_matrices=False)
    found: Array = unit @ V[sizes > NONE * sizes[0]].T
    return found
