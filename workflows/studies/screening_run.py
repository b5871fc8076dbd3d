"""The screened rows of a study: asked for by `screening`, evaluated, and told in the end."""

from collections.abc import Mapping, Sequence

import numpy as np
from distributed import wait

from .ask_tell_log import Journal
from .descents import Aim, Descent, descend
from .gradients import Landscape
from .rounds import Round
from .rows import Rows
from .screening import MOST, Begin, Screen, designs_of
from .warm_start import tell_screened


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
        self.shared: object = None  # the landscape, on the workers

    def run(self, one: Round) -> None:
        """Evaluate what is missing of a round."""
        stored = self.rows.stored(one.start, one.stop)
        missing = np.isnan(stored).any(axis=1)
        if not missing.any():
            self.passed.append(one)
            return
        screen = self._caught_up()
        proposal = screen.propose(one.size)
        values = stored
        ends = len(proposal.begins)
        rest = designs_of(self.spec, proposal.shares)[: max(0, one.stop - one.start - ends)]
        values[ends:] = np.where(missing[ends:, None], rest, stored[ends:])
        here = np.flatnonzero(missing[:ends])
        for k, end in zip(here, self._ends([proposal.begins[k] for k in here]), strict=True):
            values[k] = end
        self.rows.evaluate(one.start, one.stop, values)
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
            self.screen = Screen(self.spec, np.array(given) if given else None)
        for one in self.passed:
            proposal = self.screen.propose(one.size)
            self.screen.learn(proposal, self.rows.judged(one.start, one.stop))
        self.passed = []
        return self.screen

    def _candidates(self) -> Sequence[Mapping[str, float | int]]:
        return self.journal.candidates

    def _ends(self, begins: Sequence[Begin]) -> list[list[float]]:
        """Where descents end, each a task of a worker; one that fails ends where it began."""
        if not begins:
            return []
        client = self.rows.client
        if self.shared is None:
            landscape = Landscape.of(self.spec, self.rows.evaluator)
            self.shared = client.scatter(landscape, broadcast=True, hash=False)
        starts = [self._design(one.row) for one in begins]
        tasks = [
            client.submit(_descended, self.shared, start, one.aim, pure=False)
            for start, one in zip(starts, begins, strict=True)
        ]
        wait(tasks)
        return [
            [
                float((task.result().design if task.status == "finished" else start)[name])
                for name in self.spec.names
            ]
            for task, start in zip(tasks, starts, strict=True)
        ]

    def _design(self, row: int) -> dict[str, float]:
        values = self.rows.stored(row, row + 1)[0]
        return dict(zip(self.spec.names, map(float, values), strict=True))


def _descended(landscape: Landscape, start: Mapping[str, float], aim: Aim) -> Descent:
    try:
        return descend(landscape, start, aim, MOST)
    except Exception as cause:  # of a user's own metric, of LAPACK: data, as of a variant
        return Descent(start, 0, f"{type(cause).__name__}: {cause}")
