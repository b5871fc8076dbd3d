"""A study's rows: what its store holds of them, and workers who evaluate the others."""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
from distributed import Client

from sweeps.chunks import ChunkEvaluator, prepare
from sweeps.run import Progress, blocks, warm
from sweeps.store import Store
from sweeps.store import status as survey

from .feasibility import Verdict, judge
from .spec import StudySpec


class Rows:
    """Read from the store, and evaluated into it; the mechanism is prepared when there is need.

    Attributes
    ----------
    blocks
        What evaluates; None while nothing was missing.
    """

    def __init__(
        self,
        spec: StudySpec,
        client: Client,
        progress: Progress | None,
        stack: ExitStack,
        evaluator: ChunkEvaluator | None = None,
    ):
        self.spec, self.client, self.progress = spec, client, progress
        self.prepared = evaluator
        self.stack = stack  # what is opened, until the end
        self.blocks: blocks.Blocks | None = None

    def stored(self, start: int, stop: int) -> np.ndarray:
        """(row, symbol) of rows whose chunk is done; nan for the others."""
        found = np.full((stop - start, len(self.spec.variables)), np.nan)
        if not self.spec.path.exists():
            return found
        held = self._store()
        done = survey.done(held, start, stop)
        if done.any():
            for column, name in enumerate(self.spec.names):
                found[done, column] = held.rows(name, start, stop)[done]
        return found

    def judged(self, start: int, stop: int) -> Verdict:
        """The study's judgement of rows that are evaluated."""
        return judge(self.spec, self._store(), start, stop)

    def begin(self, start: int, values: np.ndarray) -> "Future[None]":
        """Set the workers at rows from `start` on, values (row, symbol), SI."""
        self.open()
        assert self.blocks is not None
        return self.thread.submit(self.blocks.evaluate, start, values)

    def evaluate(self, start: int, values: np.ndarray) -> None:
        """As `begin`, and wait for them."""
        self.begin(start, values).result()

    @property
    def evaluator(self) -> ChunkEvaluator:
        self.open()
        assert self.prepared is not None
        return self.prepared

    def _store(self) -> Store:
        return self.blocks.store if self.blocks else Store.open(self.spec.path)

    def open(self) -> None:
        """Prepare the mechanism and open the store, once."""
        if self.blocks is not None:
            return
        if self.prepared is None:
            self.prepared = prepare(self.spec.sweep)
        warm(self.prepared, self.spec.swept, self.client)
        opening = blocks.opened(self.spec.sweep, self.prepared, self.client, self.progress)
        self.blocks = self.stack.enter_context(opening)
        self.thread = self.stack.enter_context(ThreadPoolExecutor(1))
        self.stack.callback(self.blocks.stop)  # first of all, should anything go wrong
