"""What a chunk may take before anyone knows how long its variants do."""

from types import SimpleNamespace

import numpy as np
import pytest

from sweeps.run import worker
from sweeps.run.worker import Task, Work
from sweeps.spec.filters import Filter
from tests.sweeps.fourbar import MECHANISM, spec

LIMIT = 60.0
COUNT = 2048


@pytest.mark.parametrize(
    ("count", "expected", "durations", "allowed"),
    [
        # Two seconds of loading or compiling, a millisecond a variant: the least is enough.
        (COUNT, 0.0, [2.0, 1e-3], 2 * LIMIT),
        # What is quick with its loading is not timed again.
        (COUNT, 0.0, [5e-3], 2 * LIMIT),
        # Slow indeed: three times what the variants need by the second time.
        (COUNT, 0.0, [3.0, 0.1], 3 * 0.1 * COUNT),
        # Slower: what they need, and ten limits to spare, not two times as much again.
        (COUNT, 0.0, [3.0, 1.0], 1.0 * COUNT + 10 * LIMIT),
        # Nothing is tried where two limits are enough in any case, or the pace is known.
        (2, 0.0, [], 2 * LIMIT),
        (COUNT, 0.01, [], 20 * 0.01 * COUNT),
    ],
)
def test_allowed(monkeypatch, count, expected, durations, allowed):
    now, left = [0.0], list(durations)

    def guarded(columns, wanted, seconds):
        assert (len(columns["lx1"]), len(wanted), seconds) == (1, 1, 2 * LIMIT)
        now[0] += left.pop(0)
        return {}

    monkeypatch.setattr(worker, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    sweep = spec(count=COUNT)
    doing = Work("", "", sweep.plan, Filter.of(MECHANISM, ()), (), LIMIT)
    wanted = np.arange(COUNT) >= COUNT - count
    columns = sweep.plan.rows(0, COUNT)
    found = doing._allowed(guarded, Task(0, 0, COUNT, expected), columns, wanted)
    assert found == pytest.approx(allowed, rel=1e-12)  # sums of the clock's floats
    assert not left
