"""Doubtful variants are settled while the sweep goes on, and neither kind of task waits long."""

import dataclasses
import time

import numpy as np
import pytest

from sweeps.run import fanout, task_queue
from sweeps.run.driver import sweep
from sweeps.store import store
from sweeps.store.outputs import Arrays, Columns
from tests.sweeps.fourbar import Digits, FourBar, spec

pytestmark = pytest.mark.slow


@dataclasses.dataclass(frozen=True)
class SlowDigits(Digits):
    """A precise task that takes longer than a chunk of the sweep."""

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        time.sleep(0.03)
        return super().__call__(columns, passed)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


def test_both_go_on_side_by_side(path, client, monkeypatch):
    """Precise tasks begin before the last chunks do, and take one of two threads until then."""
    flying = []
    submit = fanout._Fan._submit

    def noted(fan, task):
        submit(fan, task)
        flying.append((task.stage, fan.tasks.aloft["extra"]))

    monkeypatch.setattr(fanout._Fan, "_submit", noted)
    many = spec(path, 1600)  # much more than the driver sends ahead before anything is known
    summary = sweep(
        many, client, evaluator=FourBar(doubtful=9.0, delay=0.02), precise=SlowDigits()
    )
    assert summary.unsettled == 0
    last = max(place for place, (stage, _) in enumerate(flying) if stage == 0)
    meanwhile = [extra for stage, extra in flying[:last] if stage == 1]
    assert len(meanwhile) > 2
    assert max(meanwhile) == 1
    assert max(extra for _, extra in flying[last:]) > 1  # and all threads afterwards


def test_more_doubts_than_are_remembered(path, client, monkeypatch):
    monkeypatch.setattr(task_queue, "FOUND", 3)
    evaluator = FourBar(doubtful=9.0)
    dropped = []
    run = fanout.run

    def noted(*arguments, **others):
        dropped.append(run(*arguments, **others))
        return dropped[-1]

    monkeypatch.setattr(fanout, "run", noted)
    summary = sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    assert dropped[0].dropped > 0
    assert len(dropped) == 2
    assert summary.unsettled == 0
    found = store.read(path)
    np.testing.assert_array_equal(found["precise_status"] == 1, found["status"] == 6)


def test_neighbours_are_settled_together(path, client):
    """Precise tasks of microseconds are put together, or the scheduler would be all there is."""
    taken = []
    run = fanout._Fan._submit

    def noted(fan, task):
        taken.append(task)
        run(fan, task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fanout._Fan, "_submit", noted)
        sweep(
            spec(path, 3200),
            client,
            evaluator=FourBar(doubtful=9.0),
            precise=Digits(),
        )
    lengths = [task.stop - task.start for task in taken if task.stage == 1]
    assert max(lengths) > 8
    assert (store.read(path)["precise_status"] == 1).sum() == (
        store.read(path)["status"] == 6
    ).sum()
