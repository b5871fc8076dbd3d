"""Tasks performed by this process itself: nothing is copied, and what kills it kills all.

To copy a process, its copies of pages and its end take 15 ms of CPU where libraries fill 90 MB: as
much as 10⁴ rows of a NumPy function. What is stored is the same, and so is going on; a row that
raises is found as ever. One that never returns is not, and one that kills the process is found by
a crew, which goes on where this process died.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from basepar_core.errors import BaseparError

from .leave import Leave
from .pace import Pace
from .task_queue import TASK_SECONDS, TICK, Outcome, Tasks
from .worker import Receipt, Task


def run(
    work: Callable[[Task], Receipt],
    ranges: Iterable[tuple[int, int]],
    *,
    chunks: Sequence[int],
    tasks: Iterable[Task] = (),
    on_receipts: Callable[[Sequence[Receipt], int], None] = lambda receipts, threads: None,
    leave: Leave | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Outcome:
    """Perform tasks that cover the ranges, and whatever work they find; as of `crew.run`.

    Raises
    ------
    WorkersError
        A task that raises twice.
    """
    queue = Tasks(chunks, iter(ranges), iter(tasks), [Pace() for _ in chunks], TASK_SECONDS)
    leave, ticked = leave or Leave(), time.monotonic()
    while not leave.asked and (task := queue.next(1)) is not None:
        try:
            receipt = work(task)
        except BaseparError:
            raise
        except Exception as error:
            queue.ended(task)
            queue.failed(task, error)
            continue
        queue.ended(task)
        queue.landed([receipt])
        on_receipts([receipt], 1)
        if time.monotonic() - ticked >= TICK:
            ticked = time.monotonic()
            tick()
    return Outcome(queue.lost, queue.dropped, leave.asked and queue.next(1) is not None)


def asked(function: Callable[..., Any], *given: Any, seconds: float) -> Any:
    """What a function returns, however long it takes; as of `crew.asked`."""
    return function(*given)
