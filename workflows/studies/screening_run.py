"""The screened rows of a study: asked for by `screening`, evaluated, and told in the end."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np
from distributed import Future, wait
from distributed.client import FuturesCancelledError

from .ask_tell_log import Journal
from .descents import Aim, descend, descend_together
from .gradients import Landscape
from .rounds import Round
from .rows import Rows
from .screening import MOST, MOST_TOGETHER, Begin, Screen
from .shares import designs_of
from .warm_start import tell_screened

#: A descent by the values that it begins at, SI.
_Start = tuple[Mapping[str, float], Aim]


class Screening:
    """Rounds, one after the other.

    What is stored already is not looked at before a row is missing: then the rounds before it
    are gone through, without their descents, whose ends the store has.
    """

    def __init__(self, rows: Rows, journal: Journal):
        self.spec, self.rows, self.journal = rows.spec, rows, journal
        self.passed: list[Round] = []  # stored, and not gone through
        self.finished = not self.spec.screened
        self.screen: Screen | None = None
        self.shared: Future[Landscape] | None = None  # the landscape, on the workers

    def run(self, one: Round) -> None:
        """Evaluate what is missing of a round."""
        stored = self.rows.stored(one.start, one.stop)
        missing = np.isnan(stored).any(axis=1)
        if not missing.any():
            self.passed.append(one)
            return
        screen = self._caught_up()
        proposal = screen.propose(one)
        values = stored
        ends = len(proposal.begins)
        rest = designs_of(self.spec, proposal.shares)[: max(0, one.stop - one.start - ends)]
        values[ends:] = np.where(missing[ends:, None], rest, stored[ends:])
        here = np.flatnonzero(missing[:ends])
        for k, end in zip(here, self._ends([proposal.begins[k] for k in here]), strict=True):
            values[k] = end
        self.rows.evaluate(one.start, values)
        screen.learn(proposal, self.rows.judged(one.start, one.stop))

    def finish(self) -> None:
        """Tell the journal what was found; what it knows is not told again."""
        if not self.finished:
            verdict = self.rows.judged(0, self.spec.screened)
            tell_screened(self.spec, self.journal, verdict)
            self.finished = True

    def _caught_up(self) -> Screen:
        if self.screen is None:
            given = [[v.si(one[n]) for n, v in self.spec.variables] for one in self._candidates()]
            self.screen = Screen(self.spec, np.array(given) if given else None, self.together)
        for one in self.passed:
            proposal = self.screen.propose(one)
            self.screen.learn(proposal, self.rows.judged(one.start, one.stop))
        self.passed = []
        return self.screen

    def _candidates(self) -> Sequence[Mapping[str, float | int]]:
        return self.journal.candidates

    def _ends(self, begins: Sequence[Begin]) -> list[list[float]]:
        """Where descents end: a task for each, or one for those that a worker takes together."""
        if not begins:
            return []
        starts = [(self._design(one.row), one.aim) for one in begins]
        workers = max(1, len(self.rows.client.nthreads()))  # all may have been lost just now
        count = min(workers, len(starts)) if self.together else len(starts)
        ends = self._followed([starts[k::count] for k in range(count)])
        found: list[list[float]] = [[]] * len(starts)
        for k, group in enumerate(ends):
            found[k::count] = [[float(one[name]) for name in self.spec.names] for one in group]
        return found

    def _followed(self, groups: Sequence[Sequence[_Start]]) -> list[list[Mapping[str, float]]]:
        """Ends of groups, each a task; of one that fails each by itself, which ends where it
        began if that fails too."""
        client = self.rows.client
        if self.shared is None or self.shared.status != "finished":  # lost with its workers
            self.shared = client.scatter(self.landscape, broadcast=True, hash=False)
        tasks = [
            client.submit(_descended, self.shared, group, self.together, pure=False)
            for group in groups
        ]
        for task in tasks:
            with suppress(FuturesCancelledError):  # its worker died, and with it the landscape
                wait([task])
        found: list[list[Mapping[str, float]]] = []
        for task, group in zip(tasks, groups, strict=True):
            if task.status == "finished":
                found.append(task.result())
            elif len(group) > 1:
                found.append([end for (end,) in self._followed([[one] for one in group])])
            else:
                found.append([group[0][0]])
        return found

    @cached_property
    def together(self) -> bool:
        """Whether descents go side by side, by differences: those to one objective's least come
        to rest, by exact slopes."""
        return len(self.spec.objectives) > 1 and self.landscape.is_of_the_cycle

    @cached_property
    def landscape(self) -> Landscape:
        return Landscape.of(self.spec, self.rows.evaluator)

    def _design(self, row: int) -> dict[str, float]:
        values = self.rows.stored(row, row + 1)[0]
        return dict(zip(self.spec.names, map(float, values), strict=True))


def _descended(
    landscape: Landscape, begins: Sequence[_Start], together: bool
) -> list[Mapping[str, float]]:
    if together:
        return [one.design for one in descend_together(landscape, begins, MOST_TOGETHER)]
    ((start, aim),) = begins
    try:
        return [descend(landscape, start, aim, MOST).design]
    except Exception:  # of a user's own metric, of LAPACK: data, as of a variant
        return [start]
