"""Parts of a sweep by real processes that are killed, stopped and run twice: the same bytes."""

import os
import random
import signal
import time
from functools import partial

import pytest

from basepar_core.errors import StoreError, UsageError
from sweeps.run import crew, here
from sweeps.run.filling import Filling
from sweeps.run.leave import Leave, heard
from sweeps.store import Store, check_and_repair, claims, locked, status
from sweeps.store.claims import Taken
from tests.sweeps.fourbar import Digits, FourBar, spec

#: Of a real one, a fiftieth: a process that is killed leaves a claim for so long.
BEAT, STALE, TICK = 0.1, 1.5, 0.05


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(claims, "BEAT", BEAT)
    monkeypatch.setattr(claims, "STALE", STALE)
    monkeypatch.setattr(claims, "LOOK", TICK)
    monkeypatch.setattr(crew, "TICK", TICK)


def evaluators(delay=0.0):
    return FourBar(doubtful=0.9, delay=delay), Digits()


def prepared(path, delay=0.0):
    evaluator, precise = evaluators(delay)
    return here.prepare(spec(path), evaluator=evaluator, precise=precise)


def files(path):
    """Every chunk of results, by its name."""
    found = (file for file in path.rglob("*") if "/c/" in str(file) and file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in found}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """What one process makes of it in one go."""
    path = tmp_path_factory.mktemp("whole") / "sweep.zarr"
    evaluator, precise = evaluators()
    assert here.sweep(spec(path), 1, evaluator=evaluator, precise=precise).unsettled == 0
    return files(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


def begun(path, number, count, delay=0.0, workers=1):
    """A process of its own that evaluates a part; its id. 0: done, 4: stopped, 9: taken."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with heard(Leave()) as leave:
            filling = partial(Filling.of, spec(path), *evaluators(delay))
            found = here.part(spec(path), number, count, workers, filling=filling, leave=leave)
        code = 4 if found.stopped else 0
    except Taken:
        code = 9
    finally:
        os._exit(code)


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def finish(path):
    evaluator, precise = evaluators()
    return here.sweep(spec(path), 1, evaluator=evaluator, precise=precise)


def test_parts_in_any_order_equal_the_whole(path, reference):
    prepared(path)
    for number in (3, 1, 4, 2, 3):
        assert ended(begun(path, number, 4)) == 0
    assert finish(path).evaluated == 0
    assert files(path) == reference
    assert check_and_repair.find(path) == []
    assert claims.found(Store.open(path).objects) == []


def test_parts_cover_all_chunks_once(path):
    held = prepared(path).store
    for count in (1, 3, 7, 25, 40):  # of 25 chunks
        rows = [here.rows_of(held, number, count) for number in range(1, count + 1)]
        assert rows[0][0] == 0
        assert rows[-1][1] == 400
        assert [stop for _, stop in rows[:-1]] == [start for start, _ in rows[1:]]
    for number, count in ((0, 4), (5, 4)):
        with pytest.raises(UsageError, match=f"no part {number}/{count}"):
            here.rows_of(held, number, count)


def test_a_part_wants_its_store(path):
    with pytest.raises(StoreError, match="make it first, with `prepare=`"):
        here.part(spec(path), 1, 2)
    with pytest.raises(StoreError, match="make it first, with `prepare=`"):
        here.finish(spec(path))
    prepared(path)
    with pytest.raises(StoreError, match="another sweep"):
        here.part(spec(path, 300), 1, 2)


def test_parts_that_are_killed_and_run_again(path, reference):
    """A third are killed wherever they are, two at a time; then they are done once more."""
    prepared(path)
    chance, waiting, flying, kills = random.Random(5), list(range(1, 13)), {}, 0
    while waiting or flying:
        while waiting and len(flying) < 2:
            number = waiting.pop(0)
            flying[begun(path, number, 12, delay=0.01)] = number
            if chance.random() < 0.3 and kills < 8:
                pid = list(flying)[-1]
                time.sleep(chance.random() * 0.15)
                os.kill(pid, signal.SIGKILL)
                kills += 1
        pid = next(iter(flying))
        number = flying.pop(pid)
        if ended(pid) != 0:
            waiting.append(number)
    assert kills >= 3
    finish(path)
    assert files(path) == reference
    assert check_and_repair.find(path) == []


def test_two_at_the_same_part(path, reference):
    """One does it, the other gets an error; a second later nothing is left to do."""
    prepared(path)
    first = begun(path, 1, 2, delay=0.3)
    time.sleep(0.5)
    assert ended(begun(path, 1, 2)) == 9
    with pytest.raises(StoreError, match="parts of it are being evaluated by process"):
        finish(path)
    assert ended(first) == 0
    assert ended(begun(path, 1, 2)) == 0
    finish(path)
    assert files(path) == reference


def test_a_writer_that_wakes_late(path, reference):
    """It was thought dead; what it writes then are the same bytes, and it leaves."""
    prepared(path)
    late = begun(path, 1, 2, delay=0.2)
    time.sleep(0.6)
    os.kill(late, signal.SIGSTOP)
    assert ended(begun(path, 1, 2, delay=0.1)) == 0  # after `STALE`
    os.kill(late, signal.SIGCONT)
    assert ended(late) in (0, 4)
    finish(path)
    assert files(path) == reference
    assert check_and_repair.find(path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_part_that_is_asked_to_leave_loses_nothing(path, reference, number):
    filling = prepared(path)
    pid = begun(path, 1, 1, delay=0.1)
    end = time.monotonic() + 60
    while (
        status.take(filling.store).total
        - sum(stop - start for start, stop in status.take(filling.store).pending)
        < 48
    ):
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(pid, number)
    assert ended(pid) == 4
    held = Store.open(path)
    assert files(path).keys() < reference.keys()
    assert {name: reference[name] for name in files(path)} == files(path)
    # Everything written has its record: nothing half-done is left.
    recorded = set(held.records().numbers(0, 25))
    assert held.objects.chunks("status", 1) == recorded
    assert claims.found(held.objects) == []
    finish(path)
    assert files(path) == reference


def test_a_driver_and_parts_exclude_each_other(path):
    prepared(path)
    with locked(path), pytest.raises(StoreError, match="is being filled by"):
        here.part(spec(path), 1, 2)
