"""Sweeps by children of this process: the plain loop's arrays, whatever becomes of a child."""

import contextlib
import dataclasses
import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest

from sweeps.run import crew, here
from sweeps.run.leave import Leave, heard
from sweeps.run.pace import Pace
from sweeps.run.standing import complete
from sweeps.run.task_queue import Outcome, WorkersError
from sweeps.run.worker import Receipt, Task
from sweeps.store import Status, Store, check_and_repair, status, store
from sweeps.store.statuses import Reason
from tests.sweeps.fourbar import Deadly, Digits, Endless, FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return by_hand(spec(tmp_path_factory.mktemp("reference") / "sweep.zarr"), FourBar())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


def children():
    return psutil.Process().children()


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_equals_the_plain_loop(path, reference, workers):
    before = children()
    found = here.sweep(spec(path), workers, evaluator=FourBar())
    assert (found.done, found.evaluated, found.unsettled, found.stopped) == (True, 400, 0, False)
    assert_equal_arrays(path, reference)
    assert check_and_repair.find(path) == []
    assert here.sweep(spec(path), workers).evaluated == 0  # nothing is prepared
    assert children() == before


@pytest.mark.slow
def test_children_that_are_no_copies(path, reference, monkeypatch):
    """As where processes cannot be copied."""
    monkeypatch.setattr(crew, "FORKS", False)
    assert here.sweep(spec(path), 2, evaluator=FourBar()).done
    assert_equal_arrays(path, reference)


def test_doubts_are_settled_too(path):
    evaluator = FourBar(doubtful=0.9)
    found = here.sweep(spec(path), 2, evaluator=evaluator, precise=Digits())
    assert found.unsettled == 0
    stored = store.read(path)
    doubtful = stored["status"].values == Status.AWAITING_PRECISE
    assert doubtful.sum() > 20
    np.testing.assert_array_equal(stored["precise_status"].values == 1, doubtful)
    assert check_and_repair.find(path) == []


@pytest.mark.slow
def test_what_kills_its_process_is_found(path, reference):
    found = here.sweep(spec(path), 2, evaluator=Deadly(raises=frozenset({433})))
    assert found.done
    assert "exit status 3" in found.errors[199]
    left, right = store.read(path), store.read(reference)
    np.testing.assert_array_equal(np.flatnonzero(left["status"] == Status.CRASHED), [199])
    assert left["reason"][199] == Reason.DIED
    innocent = np.delete(np.arange(400), 199)
    for name in right.data_vars:
        np.testing.assert_array_equal(left[name].values[innocent], right[name].values[innocent])


@pytest.mark.slow
def test_what_never_ends_is_timed_out(path):
    limited = spec(path, 64, variant_seconds=0.7)
    columns = limited.plan.rows(0, 64)
    mark = int(np.floor(columns["lx1"][40] * 1000))
    found = here.sweep(limited, 1, evaluator=Endless(raises=frozenset({mark})))
    guilty = np.flatnonzero(np.floor(columns["lx1"] * 1000) == mark)
    stored = store.read(path)["status"].values
    assert set(np.flatnonzero(stored == Status.TIMED_OUT)) <= set(guilty)
    assert found.counts[Status.TIMED_OUT] >= 1
    assert found.done


def test_a_child_that_is_killed_is_replaced(path, reference):
    killed, before = [], children()

    def kill(advance):
        if advance.done > 60 and not killed:
            killed.append(next(one.pid for one in children() if one not in before))
            os.kill(killed[0], signal.SIGKILL)

    found = here.sweep(spec(path), 2, kill, evaluator=FourBar(delay=0.02))
    assert killed
    assert found.lost == 1
    assert_equal_arrays(path, reference)


def test_leaving_finishes_what_is_begun(path, reference):
    leave = Leave()

    def ask(advance):
        if advance.done > 100:
            leave.ask(signal.SIGTERM)

    found = here.sweep(spec(path), 2, ask, evaluator=FourBar(delay=0.02), leave=leave)
    assert found.stopped
    assert not found.done
    held = Store.open(path)
    recorded = held.records().survey().rows
    # Whatever was begun is stored: chunks of 16 by two children, all of them with a record.
    assert recorded == found.total - found.counts[Status.PENDING]
    assert recorded == found.evaluated >= 112
    assert check_and_repair.find(path) == []
    assert here.sweep(spec(path), 2, evaluator=FourBar()).done
    assert_equal_arrays(path, reference)


def test_what_cannot_end_in_the_grace_stays_pending(path):
    leave, before = Leave(grace=0.3), children()
    threading.Timer(0.3, leave.ask).start()
    begun = time.monotonic()
    found = here.sweep(spec(path, 32), 1, evaluator=FourBar(delay=60.0), leave=leave)
    assert time.monotonic() - begun < 30
    assert (found.stopped, found.evaluated) == (True, 0)
    assert complete(spec(path, 32)) is None
    assert children() == before


def test_a_signal_asks(path):
    with heard(Leave()) as leave:
        with leave.working():
            os.kill(os.getpid(), signal.SIGUSR1)
            assert leave.asked
            assert leave.signal == signal.SIGUSR1
        with pytest.raises(KeyboardInterrupt):  # nothing is at work that could be finished
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) != leave.ask


def test_nothing_is_begun_that_cannot_end():
    leave = Leave(until=time.monotonic() + 10.0)
    assert leave.may_begin(5.0)
    assert not leave.may_begin(7.0)
    assert leave.asked  # and so nothing more
    assert not leave.may_begin(0.1)


def test_a_task_that_raises_twice_ends_the_run():
    def work(task):
        raise OSError("no room")

    with pytest.raises(WorkersError, match=r"could not be evaluated and stored: OSError: no room"):
        crew.run(work, [(0, 4)], 2, chunks=[1])


def test_a_child_dies_again_and_again():
    with pytest.raises(WorkersError, match="lost 10 times in a row"):
        crew.run(lambda task: os._exit(1), [(0, 1)], 1, chunks=[1])


def test_what_is_asked_of_a_child():
    assert crew.asked(lambda a, b: a + b, 1, 2, seconds=30.0) == 3
    with pytest.raises(ZeroDivisionError):
        crew.asked(lambda: 1 / 0, seconds=30.0)
    with pytest.raises(RuntimeError, match="died"):
        crew.asked(lambda: os._exit(1), seconds=30.0)
    with pytest.raises(RuntimeError, match="no answer"):
        crew.asked(lambda: time.sleep(60), seconds=0.2)


def by(task):
    """Who performs it."""
    return Receipt(0, task.start, task.stop, errors=((task.start, str(os.getpid())),))


@dataclasses.dataclass(frozen=True)
class Told:
    """Work that names something which cannot travel."""

    function: object

    def __call__(self, task):
        time.sleep(0.05)
        return self.function(task)


def test_who_was_asked_is_the_first_of_a_crew():
    told = {}

    def note(receipts, threads):
        told.update((row, int(pid)) for one in receipts for row, pid in one.errors)

    def local(task):  # which no pickle holds
        return by(task)

    before = children()
    with contextlib.closing(crew.Spare([None, local])) as spare:
        pid = spare.ask(os.getpid, seconds=30.0)
        assert crew.run(
            *(Told(local), [(0, 12)], 2), chunks=[1], on_receipts=note, spare=spare
        ) == Outcome(0, 0, False)
    assert sorted(told) == list(range(12))
    assert told[0] == pid
    assert len(set(told.values())) == 2
    assert children() == before


def test_who_was_asked_dies_before_the_work():
    told = []
    with contextlib.closing(crew.Spare()) as spare:
        os.kill(spare.ask(os.getpid, seconds=30.0), signal.SIGKILL)
        outcome = crew.run(
            *(by, [(0, 3)], 1), chunks=[1], on_receipts=lambda n, _: told.extend(n), spare=spare
        )
    assert (outcome.lost, sorted(one.start for one in told)) == (1, [0, 1, 2])


def test_who_was_asked_and_has_no_work(monkeypatch):
    before = children()
    with contextlib.closing(crew.Spare()) as spare:
        assert spare.ask(lambda: 5, seconds=30.0) == 5
        assert len(children()) == len(before) + 1
        monkeypatch.setattr(crew, "FORKS", False)  # programs of their own share nothing
        assert spare.ask(abs, -2, seconds=60.0) == 2
        assert spare.take(by) is None
    assert children() == before


def test_tasks_grow_with_the_pace():
    """Single chunks first, then as many as fill the time."""
    taken = []

    def work(task):
        time.sleep(0.002 * (task.stop - task.start))
        return Receipt(0, task.start, task.stop, (), 0.002 * (task.stop - task.start), 1)

    def note(receipts, threads):
        taken.extend(one.stop - one.start for one in receipts)

    crew.run(work, [(0, 200)], 1, chunks=[1], on_receipts=note, task_seconds=0.04)
    assert taken[0] == 1
    assert max(taken) == 20
    assert sum(taken) == 200


@dataclasses.dataclass(frozen=True)
class Loud(FourBar):
    """Prints, and writes to its standard error."""

    def __call__(self, columns, passed):
        print("a word")
        return super().__call__(columns, passed)


def test_evaluations_may_print(path, capfd):
    assert here.sweep(spec(path, 32), 1, evaluator=Loud()).done
    assert Task(0, 0, 1).stage == 0
    assert Pace().each == 0
    assert status.take(Store.open(path)).pending == []
