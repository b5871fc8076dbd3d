"""What is done next: tasks that cover ranges."""

from itertools import pairwise

import pytest

from sweeps.run import task_queue
from sweeps.run.pace import Pace
from sweeps.run.task_queue import Tasks


def cut(ranges, chunk, each, threads):
    """All tasks, each begun when the one before has ended."""
    pace = Pace()
    if each:
        pace.learn(each * chunk, chunk)
    tasks = Tasks([chunk], iter(ranges), iter(()), [pace])
    found = []
    while (task := tasks.next(threads)) is not None:
        found.append((task.start, task.stop))
        tasks.ended(task)
    return found


@pytest.mark.parametrize("least", [0.0, 0.05])
@pytest.mark.parametrize("threads", [1, 2, 300])
@pytest.mark.parametrize("each", [0.0, 1e-6, 4e-4, 0.03, 5.0])
def test_ranges_are_covered_once_by_whole_chunks(monkeypatch, least, threads, each):
    monkeypatch.setattr(task_queue, "LEAST_SECONDS", least)
    ranges = [(0, 16), (64, 1000), (2000, 2004)]
    found = cut(ranges, 16, each, threads)
    assert all(start < stop and start % 16 == 0 for start, stop in found)
    covered = [row for start, stop in found for row in range(start, stop)]
    assert covered == [row for start, stop in ranges for row in range(start, stop)]


def test_the_last_tasks_take_no_less_than_they_must():
    """Chunks of 25 ms: towards the end two together, but for what is left over."""
    found = cut([(0, 960)], 64, 0.025 / 64, 2)
    sizes = [stop - start for start, stop in found]
    assert min(sizes[:-1]) >= 2 * 64
    assert all(later <= before for before, later in pairwise(sizes))
