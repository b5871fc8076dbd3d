"""Screening: quasi-random designs at the kernels' speed, boxes around the best, and descents.

The first rows of a round may be where descents by slopes ended that began at the best distinct
designs so far; of several objectives, once there are some rows for each variable, at the front (by
sums of the objectives, and into its gaps) and at outstanding ones of the whole space. A quarter of
the rest goes on through a Sobol sequence of the whole space. Half of what is left, at a front of
two objectives, fills its gaps, between designs that are neighbours there. The other rows fall
around the centres: distinct basins of one objective, places of the front of several. Half of these
are drawn in boxes, half along differences of good designs, which follow valleys that lie askew. A
box reaches as far as the nearest designs that are evaluated already: it shrinks by being searched,
and moves with the best.

All of a round follows from the rows before it, whatever their number will be: a study that was
killed, or is prolonged, goes on as if nothing had happened.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sweeps.spec import sobol_points

from .descents import Aim
from .feasibility import Verdict, dominated
from .gradients import slope_kind
from .rounds import Round
from .shares import shares_of
from .spec import Range, StudySpec

#: Share of a round that goes on through the whole space.
EXPLORED = 0.25
#: Of what is left, at a front of two objectives, the share that fills its gaps; those that are no
#: wider, of a front that goes over 2, are not filled, nor those of designs that differ by less.
BETWEEN, NARROW, ALMOST = 0.5, 1e-3, 1e-9
#: Basins of one objective, places of a front that are searched at once; descents of a round.
BASINS, PLACES, DESCENTS = 6, 24, 4
#: Descents of a round at the front that go side by side: one for so many rows, at most so many,
#: from as many places of it. A few more take little longer, and many more leave time for fewer
#: rounds. With half as many elsewhere they leave some of the 64 rows in which they are.
ROWS_FOR_EACH, TOGETHER = 48, 24
#: Evaluations of a descent; of one of those that go side by side, which mostly come to rest where
#: a later round goes on from them: with 30 they end in a valley, with 100 all wait for the last.
MOST, MOST_TOGETHER = 30, 50
#: Rows for each variable before a front is followed by slopes: a descent takes as long as many
#: rows, and begins in a better basin where there are more to choose from.
SCOUTED = 100
#: Basins are apart by so many times the spacing of a grid of as many designs as are explored.
APART = 1.5
#: A descent does not begin where another of the same kind began, nor, to the least of one
#: objective, where one ended; in shares of the ranges.
SAME = 1e-3
#: The best designs so far among which basins are looked for; those whose differences are followed.
LEADERS, GOOD = 1000, 100


@dataclass(frozen=True)
class Begin:
    """A descent: the row where it begins, and what is to go down."""

    row: int
    aim: Aim


@dataclass(frozen=True)
class Proposal:
    """The rows of a round: ends of descents, then designs by their shares (row, symbol)."""

    begins: tuple[Begin, ...]
    shares: np.ndarray


class Screen:
    """What was found so far, and what comes next; grows by `learn`.

    Attributes
    ----------
    shares
        (row, symbol) designs as shares of the variables' ranges.
    goals
        (row, objective), the less the better; ∞ without a value.
    violation
        (row,) 0 where feasible; ∞ where nothing is known.

    Parameters
    ----------
    given
        (row, symbol) designs to begin with, SI.
    together
        Whether descents go side by side, which makes many as quick as a few.
    """

    def __init__(self, spec: StudySpec, given: np.ndarray | None = None, together: bool = False):
        count = len(spec.variables)
        self.spec = spec
        self.shares = np.empty((0, count))
        self.goals = np.empty((0, len(spec.objectives)))
        self.violation = np.empty(0)
        self.given = np.empty((0, count)) if given is None else shares_of(spec, given)
        self.explored = np.empty(0, int)  # rows that went on through the whole space
        self.ends = np.empty((0, count))  # where descents of one objective began and ended
        self.starts: dict[tuple[float, ...], np.ndarray] = {}  # of several, by their weights
        self.begun: set[tuple[object, ...]] = set()
        self.leaders = np.empty(0, int)  # the best, first of all
        self.front = np.empty(0, int)  # feasible, not dominated, by the first objective
        self.moving = np.array([isinstance(one, Range) for _, one in spec.variables])
        self.each = _evaluations(spec)
        self.together = together  # descents go side by side

    def learn(self, proposal: Proposal, verdict: Verdict) -> None:
        """Take the rows of a proposal, evaluated."""
        begun = [one.row for one in proposal.begins]
        shares = shares_of(self.spec, verdict.parameters)
        self.begun |= {_key(one) for one in proposal.begins}
        if self.goals.shape[1] == 1:
            self.ends = np.concatenate([self.ends, self.shares[begun], shares[: len(begun)]])
        else:
            for one in (x for x in proposal.begins if not _is_held(x)):
                before = self.starts.get(one.aim.weights, self.shares[:0])
                self.starts[one.aim.weights] = np.vstack([before, self.shares[one.row]])
        fresh = np.arange(len(self.shares), len(self.shares) + len(shares))
        count = len(begun) + len(proposal.shares)
        explored = self._share_explored(len(proposal.shares))
        self.explored = np.append(self.explored, fresh[count - explored :])
        violation = np.where(verdict.settled, verdict.violation, np.inf)
        self.shares = np.concatenate([self.shares, shares])
        self.goals = np.concatenate([self.goals, verdict.values * self.spec.signs])
        self.violation = np.concatenate([self.violation, violation])
        self._rank(fresh)

    def _rank(self, fresh: np.ndarray) -> None:
        known = fresh[np.isfinite(self.violation[fresh])]
        rows = np.concatenate([self.leaders, known])
        order = np.lexsort((self.goals[rows, 0], self.violation[rows]))
        self.leaders = rows[order][:LEADERS]
        if self.goals.shape[1] == 1:
            return
        rows = np.concatenate([self.front, known[self.violation[known] <= 0]])
        rows = rows[~dominated(self.goals[rows])]
        self.front = rows[np.unique(self.goals[rows], axis=0, return_index=True)[1]]

    def _share_explored(self, count: int) -> int:
        """Of so many rows those that go on through the whole space."""
        if not len(self.shares):
            return count - len(self.given)
        return round(count * EXPLORED) if self.leaders.size else count

    def propose(self, wanted: Round) -> Proposal:
        """The rows of the next round."""
        seed = self.spec.sampler.seed
        rng = np.random.default_rng([seed, len(self.shares)])
        centres = self._centres()
        begins = self._begins(centres) if wanted.descends else []
        left = wanted.size - len(begins)
        explore, known = self._share_explored(left), len(self.explored)
        free = sobol_points(self.shares.shape[1], seed, known, known + explore)
        if not len(self.shares):
            return Proposal(tuple(begins), np.concatenate([self.given, free]))
        between = self._between(round((left - explore) * BETWEEN), rng)
        near = self._around(centres, left - explore - len(between), rng)
        shares = np.concatenate([between, near, free])
        return Proposal(tuple(begins), np.clip(shares, 0.0, 1.0))

    # Where to look

    def _centres(self) -> np.ndarray:
        """Rows about which to search."""
        if self.goals.shape[1] > 1 and self.front.size:
            return self._places(PLACES)
        return self._basins()

    def _places(self, most: int) -> np.ndarray:
        """Those of the front where the next ones are farthest, its ends first."""
        gaps = _crowding(self.goals[self.front])
        return self.front[np.argsort(-gaps, kind="stable")][:most]

    def _best(self, rows: np.ndarray) -> np.ndarray:
        """Rows, the best ones first, of several objectives by their ranks."""
        goals = self.goals[rows]
        ranks = goals.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable").sum(axis=1)
        return rows[np.lexsort((ranks, self.violation[rows]))]

    def _basins(self) -> np.ndarray:
        """The best rows that are apart from each other, of several objectives by their ranks."""
        apart = APART * max(len(self.explored), 1) ** (-1 / self.shares.shape[1])
        found: list[int] = []
        for row in self._best(self.leaders):
            away = np.abs(self.shares[found] - self.shares[row]).max(axis=1)
            if not found or away.min() > apart:
                found.append(int(row))
            if len(found) == BASINS:
                break
        return np.array(found, int)

    def _around(self, centres: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """Designs about the centres, of which there are some."""
        size = self.shares.shape[1]
        if not count:
            return np.empty((0, size))
        which = np.arange(count) % len(centres)
        middles, reach = self.shares[centres[which]], self._reach(centres)[which, None]
        strata = np.argsort(rng.random((size, count)), axis=1).T
        drawn = 2 * (strata + rng.random((count, size))) / count - 1
        good = self._places(GOOD) if self.goals.shape[1] > 1 and self.front.size else None
        good = self.leaders[:GOOD] if good is None else good
        first, second = (good[rng.integers(len(good), size=count)] for _ in range(2))
        along = rng.uniform(0.1, 1.0, (count, 1)) * (self.shares[first] - self.shares[second])
        boxes, moved = middles + reach * drawn, middles + along + 0.1 * reach * drawn
        # Turn and turn about for every centre. Many an optimum lies on a bound: what leaves the
        # ranges stays there.
        found = np.where((np.arange(count) // len(centres) % 2 == 0)[:, None], boxes, moved)
        return np.clip(found, 0.0, 1.0)

    def _between(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Designs between neighbours on the front of two objectives, in the widest gaps first; at
        most so many.

        Where the best designs go on smoothly, those between are on the front too, but for the
        square of the distance. In each gap every other one is moved aside, for a constraint that
        bends.
        """
        goals = self.goals[self.front]
        if goals.shape[1] != 2 or len(goals) < 2:
            return self.shares[:0]
        widths = (np.abs(np.diff(goals, axis=0)) / self._sizes()).sum(axis=1)
        apart = np.abs(np.diff(self.shares[self.front], axis=0))[:, self.moving].max(
            axis=1, initial=0.0
        )
        widths[apart < ALMOST] = 0.0  # whole numbers and choices have nothing between them
        gaps = np.argsort(-widths, kind="stable")[: (widths > NARROW).sum()]
        if not gaps.size:
            return self.shares[:0]
        turn, place = np.divmod(np.arange(count), len(gaps))
        first, second = (self.shares[self.front[gaps[place] + k]] for k in (0, 1))
        aside = rng.uniform(-1, 1, first.shape) * ((turn + place) % 2)[:, None]
        return first + (second - first) * (rng.random((count, 1)) + aside)

    def _reach(self, centres: np.ndarray) -> np.ndarray:
        """(centre,) how far the box about each reaches: to the nearest of many neighbours."""
        found = np.empty(len(centres))
        for k, row in enumerate(centres):
            away = np.abs(self.shares - self.shares[row]).max(axis=1)
            nth = min(2 * self.shares.shape[1], len(away) - 1)
            found[k] = np.partition(away, nth)[nth]
        return np.maximum(found, 1e-9)

    # Descents

    def _begins(self, centres: np.ndarray) -> list[Begin]:
        """Where slopes are followed: from nowhere twice to the same end.

        Those side by side begin elsewhere first of all: from an early front all end in one basin.
        """
        most, elsewhere, found = self._most(), 0, list[Begin]()
        if most >= DESCENTS and self.goals.shape[1] > 1 and self.front.size:
            elsewhere = most // 2 if self.together else most // 4
        if elsewhere and self.together and not self.begun:
            elsewhere, most = elsewhere + most, 0
        if most:
            self._add(found, self._candidates(centres), most)
        if elsewhere:
            self._add(found, self._elsewhere(), len(found) + elsewhere)
        return found

    def _add(self, found: list[Begin], begins: Iterator[Begin], most: int) -> None:
        """Of some descents those that none was like, here or in an earlier round, up to `most`."""
        for one in begins:
            if len(found) == most:
                return
            alike = [x.row for x in found if _key(x)[1:] == _key(one)[1:]]
            away = np.abs(self.shares[alike] - self.shares[one.row]).max(axis=1)
            is_new = away.min(initial=np.inf) > SAME and _key(one) not in self.begun
            if is_new and not self._is_near_end(one):
                found.append(one)

    def _most(self) -> int:
        """Descents that the rows so far pay for."""
        rows, size = self.shares.shape
        if not self.each or (self.goals.shape[1] > 1 and rows < SCOUTED * size):
            return 0
        if self.together:
            return min(max(rows // ROWS_FOR_EACH, DESCENTS), TOGETHER)
        return min(DESCENTS, rows // self.each)

    def _is_near_end(self, one: Begin) -> bool:
        """Whether a descent that nothing but its start tells from others would come again."""
        if _is_held(one):
            return False
        # The next descent by a sum begins where the last one ended, once more where that had not
        # come to rest.
        weights = one.aim.weights
        known = self.starts.get(weights, self.shares[:0]) if len(weights) > 1 else self.ends
        away = np.abs(known - self.shares[one.row]).max(axis=1)
        return bool(away.min(initial=np.inf) <= SAME)

    def _candidates(self, centres: np.ndarray) -> Iterator[Begin]:
        if self.goals.shape[1] == 1:
            for row in centres[np.isfinite(self.goals[centres, 0])]:
                size = max(abs(float(self.goals[row, 0])), 1e-12)
                yield Begin(int(row), Aim((1.0,), (np.inf,), (size,)))
        elif self.front.size:
            yield from self._along_front()

    def _along_front(self) -> Iterator[Begin]:
        """Ends of the front, and sums of objectives; then its places, or the gaps before them."""
        goals, count = self.goals[self.front], self.goals.shape[1]
        sizes = self._sizes()
        for k in range(count):
            row = self.front[np.lexsort((goals.sum(axis=1), goals[:, k]))[0]]
            weights = tuple(1.0 if j == k else 1e-3 for j in range(count))
            yield Begin(int(row), Aim(weights, (np.inf,) * count, sizes))
        for weights in _weights(count):
            merit = goals @ (np.array(weights) / sizes)
            yield Begin(int(self.front[merit.argmin()]), Aim(weights, (np.inf,) * count, sizes))
        for row in self._places(TOGETHER):
            place = int(np.flatnonzero(self.front == row)[0])
            if count > 2:
                yield Begin(int(row), Aim((1.0,) * count, tuple(self.goals[row].tolist()), sizes))
            elif place > 0:  # the last one's first goal is less, its second more
                middle = float(goals[place - 1 : place + 1, 1].mean())
                yield Begin(int(row), Aim((1.0, 0.0), (np.inf, middle), sizes))

    def _elsewhere(self) -> Iterator[Begin]:
        """From designs of the whole space: a better front may lie elsewhere."""
        count, sizes = self.goals.shape[1], self._sizes()
        rows, weights = self._outstanding(), _weights(count)
        for turn in range(len(weights)):
            for place, row in enumerate(rows, start=turn):
                yield Begin(row, Aim(weights[place % len(weights)], (np.inf,) * count, sizes))

    def _outstanding(self) -> list[int]:
        """Explored rows: in turns the best, and those with the least of each objective whatever
        constraints say. The way to a better front may begin where they are violated."""
        rows = self.explored[np.isfinite(self.goals[self.explored]).all(axis=1)]
        orders = [self._best(rows)]
        orders += [rows[np.argsort(goal, kind="stable")] for goal in self.goals[rows].T]
        return list(dict.fromkeys(np.stack(orders, axis=1)[:PLACES].ravel().tolist()))

    def _sizes(self) -> tuple[float, ...]:
        """A large change of each objective: how far the front reaches."""
        goals = self.goals[self.front]
        span = np.maximum(np.ptp(goals, axis=0), 1e-6 * np.abs(goals).max(axis=0) + 1e-12)
        return tuple(span.tolist())


def _evaluations(spec: StudySpec) -> int:
    """How many rows there must be for every descent of a round; 0 where none can move.

    Where slopes are differences, as many as a descent evaluates beside them.
    """
    moving = sum(isinstance(variable, Range) for _, variable in spec.variables)
    differences = any(slope_kind(name).startswith("differences") for name in spec.results)
    return MOST * (1 + 2 * moving) if differences and moving else min(moving, 1)


def _weights(count: int) -> list[tuple[float, ...]]:
    """Of several objectives: in equal shares, and with more of one than of others."""
    if count == 2:
        return [(one, 1 - one) for one in (1 / (1 + 3.0**k) for k in (0, 1, -1, 2, -2, 3, -3))]
    shares = np.full((1 + count, count), 1.0)
    shares[1:] += 3 * np.eye(count)
    return [tuple(one) for one in (shares / shares.sum(axis=1, keepdims=True)).tolist()]


def _is_held(one: Begin) -> bool:
    """Whether objectives are held where a descent begins: it is no other's."""
    return bool(np.isfinite(one.aim.ceilings).any())


def _key(one: Begin) -> tuple[object, ...]:
    return one.row, one.aim.weights, one.aim.ceilings


def _crowding(goals: np.ndarray) -> np.ndarray:
    """(row,) gap between each row's neighbours on a front, summed over objectives; ends ∞."""
    found = np.zeros(len(goals))
    for column in goals.T:
        order = np.argsort(column, kind="stable")
        size = max(float(np.ptp(column)), 1e-300)
        found[order[[0, -1]]] = np.inf
        found[order[1:-1]] += (column[order[2:]] - column[order[:-2]]) / size
    return found
