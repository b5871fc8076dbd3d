"""Sweeps by this process itself: the bytes of its children's, and what becomes of it."""

import signal

import numpy as np
import pytest

from sweeps.run import alone, here
from sweeps.run.leave import Leave
from sweeps.run.task_queue import Outcome, WorkersError
from sweeps.run.worker import Receipt
from sweeps.store import Status, Store, check_and_repair, store
from tests.sweeps.fourbar import Digits, FourBar, spec


def files(path):
    """All of a store but what runs and their machine say of themselves."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and file.name != "zarr.json" and "runs" not in file.parts
    }


@pytest.mark.parametrize("doubtful", [-1.0, 0.9])
def test_the_bytes_of_children(tmp_path, doubtful):
    one, two = tmp_path / "alone.zarr", tmp_path / "crew.zarr"
    evaluator = FourBar(doubtful=doubtful)
    given = {"evaluator": evaluator, "precise": Digits() if doubtful > 0 else None}
    found = here.sweep(spec(one), 0, **given)
    assert (found.done, found.evaluated, found.unsettled, found.stopped) == (True, 400, 0, False)
    here.sweep(spec(two), 2, **given)
    left, right = files(one), files(two)
    assert len(left) > 100
    assert left == right
    assert check_and_repair.find(one) == []
    assert here.sweep(spec(one), 0).evaluated == 0


def test_parts_of_it(tmp_path):
    one, two = tmp_path / "parts.zarr", tmp_path / "crew.zarr"
    here.prepare(spec(one), evaluator=FourBar())

    def filling():
        return here.prepare(spec(one), evaluator=FourBar())

    for number in (2, 1):
        assert here.part(spec(one), number, 2, 0, filling=filling).evaluated == 200 + 8 * (
            2 * number - 3
        )
    here.finish(spec(one), 0)
    here.sweep(spec(two), 1, evaluator=FourBar())
    left, right = files(one), files(two)
    assert {name for name in left if "/c/" in name} == {name for name in right if "/c/" in name}
    assert all(left[name] == content for name, content in right.items() if "/c/" in name)


def test_what_raises_is_found(tmp_path):
    path = tmp_path / "sweep.zarr"
    assert here.sweep(spec(path), 0, evaluator=FourBar(raises=frozenset({433}))).done
    status = store.read(path)["status"].values
    marks = np.floor(spec(path).plan.rows(0, 400)["lx1"] * 1000).astype(int)
    guilty = np.flatnonzero(status == Status.CRASHED)
    assert guilty.tolist() == [199]
    assert marks[199] == 433


def test_leaving_ends_after_what_is_begun(tmp_path):
    path, leave = tmp_path / "sweep.zarr", Leave()

    def ask(advance):
        if advance.done > 100:
            leave.ask(signal.SIGTERM)

    with leave.working():
        found = here.sweep(spec(path), 0, ask, evaluator=FourBar(delay=0.02), leave=leave)
    assert found.stopped
    assert 100 < Store.open(path).records().survey().rows == found.evaluated < 400


def test_a_task_that_raises_twice_ends_the_run():
    def work(task):
        raise OSError("no room")

    with pytest.raises(WorkersError, match=r"could not be evaluated and stored: OSError: no room"):
        alone.run(work, [(0, 4)], chunks=[1])


def test_a_task_that_raises_once_is_done_again():
    raised = []

    def work(task):
        if not raised:
            raised.append(task)
            raise OSError("no room")
        return Receipt(0, task.start, task.stop)

    done = []
    found = alone.run(work, [(0, 4)], chunks=[1], on_receipts=lambda new, _: done.extend(new))
    assert found == Outcome()
    assert sorted(one.start for one in done) == [0, 1, 2, 3]
