"""Leaving politely: finish what is begun, begin nothing that cannot end, and be gone in time."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

#: By which batch systems ask: the end of a job, its time limit soon, pre-emption.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
#: Seconds from the signal until what is not done is given up: SLURM kills 30 s after SIGTERM,
#: Kubernetes too.
GRACE = 25.0
#: Of what a task took before, that the next may take longer.
LONGER = 1.3
#: Seconds to write and to end.
TO_END = 2.0


@dataclass
class Leave:
    """Whether somebody wants this process to end, and until when it may go on.

    Attributes
    ----------
    grace
        Seconds from being asked until what is begun is given up.
    until
        When the process will be ended whatever it does (`time.monotonic`): its walltime.
    """

    grace: float = GRACE
    until: float = math.inf
    signal: int | None = None
    _working: int = 0
    _asked: threading.Event = field(default_factory=threading.Event)
    _end: float = math.inf

    def ask(self, number: int | None = None, frame: FrameType | None = None) -> None:
        """Have it end; a signal's handler.

        Raises
        ------
        KeyboardInterrupt
            At a signal, where nothing is at work that could be finished.
        """
        if not self._asked.is_set():
            self.signal, self._end = number, time.monotonic() + self.grace
            self._asked.set()
        if number is not None and not self._working:
            raise KeyboardInterrupt

    @contextmanager
    def working(self) -> Iterator[None]:
        """Somebody looks here again and again meanwhile, and ends when asked."""
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1

    @property
    def asked(self) -> bool:
        """Whether nothing more is to be begun."""
        return self._asked.is_set()

    @property
    def left(self) -> float:
        """Seconds until what is begun is given up."""
        return min(self._end, self.until) - time.monotonic()

    def may_begin(self, seconds: float) -> bool:
        """Whether a task that takes so long can end; once one cannot, nothing more is begun."""
        if not self.asked and self.left < LONGER * seconds + TO_END:
            self.ask()
        return not self.asked


@contextmanager
def heard(leave: Leave) -> Iterator[Leave]:
    """Signals of `SIGNALS` ask, while the block runs; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield leave
        return
    before = {number: signal.signal(number, leave.ask) for number in SIGNALS}
    try:
        yield leave
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
