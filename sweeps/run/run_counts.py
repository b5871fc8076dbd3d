"""What a run has done so far, added up from its receipts."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sweeps.store import PreciseStatus, Status, status

from .progress import Advance, Progress
from .worker import Receipt

#: Seconds between two looks at what is complete; long looks are rarer.
SUMS = 60.0


class Tally:
    """Adds up receipts, and tells the progress."""

    def __init__(
        self,
        total: int,
        counts: Mapping[Status, int],
        precise: Mapping[PreciseStatus, int],
        progress: Progress | None,
        tell: Callable[..., None],
        sum_up: Callable[[], None] = lambda: None,
    ):
        self._sum_up, self._next = sum_up, time.monotonic() + SUMS
        self.total, self._tell = total, tell
        self.counts: list[Counter[int]] = [Counter(counts), Counter(precise)]
        self.progress = progress
        self.begun = time.monotonic()
        self.evaluated = 0

    def __call__(self, receipts: Sequence[Receipt], threads: int) -> None:
        for receipt in receipts:
            self.counts[receipt.stage].update(dict(receipt.counts))
            self.counts[1][PreciseStatus.NONE] = 0
            if receipt.stage == 0:
                self.evaluated += receipt.evaluated
        advance = self._advance(threads)
        self._tell(
            done=advance.done,
            total=advance.total,
            unsettled=advance.unsettled,
            evaluated=self.evaluated,
            seconds=round(advance.seconds, 1),
            workers=threads,
        )
        if self.progress is not None:
            self.progress(advance)
        if (begun := time.monotonic()) > self._next:
            self._sum_up()
            self._next = time.monotonic() + max(SUMS, 50 * (time.monotonic() - begun))

    def _advance(self, threads: int) -> Advance:
        counts = status.named(self.counts[0], Status)
        return Advance(
            done=self.total - counts.get(Status.PENDING, 0),
            total=self.total,
            counts=counts,
            precise=status.named(self.counts[1], PreciseStatus),
            seconds=time.monotonic() - self.begun,
            workers=threads,
        )
