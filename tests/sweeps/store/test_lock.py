"""A store has one writer; a writer that is gone leaves no trace."""

import json
import multiprocessing
import os
import socket
import subprocess
import sys
import time

import pytest

from basepar_core.errors import StoreError
from sweeps.run.driver import sweep
from sweeps.store import lock
from sweeps.store.lock import busy, holder, lock_file, locked
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_killed_driver import wait_until

HOLDER = """
import sys, time
from pathlib import Path
from sweeps.store.lock import locked

with locked(Path(sys.argv[1])) as held:
    held.tell(done=400, total=1200, evaluated=400, seconds=2.0, workers=2)
    print("held", flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


@pytest.fixture
def other(path):
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def foreign(path, **others):
    """A lock as another machine that shares the directory would write it."""
    plain = {"lock": "basepar", "host": "elsewhere", "pid": 4, "since": "2026-11-20"}
    plain |= {"beats": 7, "told": {}} | others
    lock_file(path).write_bytes(json.dumps(plain).encode().ljust(lock.LENGTH))


def test_nobody_holds_it(path):
    assert holder(path) is None
    with locked(path) as held:
        assert held.stale is None
        found = holder(path)
        assert (found.host, found.pid) == (socket.gethostname(), os.getpid())
    assert holder(path) is None
    assert list(path.parent.iterdir()) == []


def test_another_process_is_named(path, other):
    found = holder(path)
    assert found.pid == other.pid
    words = rf"filled by process {other.pid} on .* since"
    with pytest.raises(StoreError, match=words), locked(path):
        pass


@pytest.mark.slow
def test_two_sweeps_at_once(path, client, other):
    # Its next sign of life says how far it is.
    wait_until(lambda: (found := holder(path)) is not None and found.told.get("done") == 400)
    with pytest.raises(StoreError, match=r"400 of 1,200 variants done.*Wait for it or stop it"):
        sweep(spec(path), client, evaluator=FourBar())
    assert not path.exists()


@pytest.mark.slow
def test_a_killed_holder_is_taken_over(path, client, other):
    other.kill()
    other.wait()
    assert lock_file(path).exists()
    assert holder(path) is None
    summary = sweep(spec(path, 32), client, evaluator=FourBar())
    assert summary.done
    (note,) = summary.notes
    assert f"process {other.pid}" in note
    assert "taken over" in note
    assert not lock_file(path).exists()


def test_another_machine_without_signs_of_life(path, monkeypatch):
    monkeypatch.setattr(lock, "WATCHED", 0.5)
    foreign(path)
    assert holder(path).host == "elsewhere"
    with locked(path) as held:
        assert held.stale.host == "elsewhere"


def _beat(path):
    for beats in range(8, 1000):
        foreign(path, beats=beats)
        time.sleep(0.2)


@pytest.mark.slow
def test_another_machine_that_lives(path):
    foreign(path)
    beating = multiprocessing.get_context("spawn").Process(target=_beat, args=(path,))
    beating.start()
    try:
        wait_until(lambda: (found := holder(path)) is not None and found.beats >= 8)
        with pytest.raises(StoreError, match="process 4 on elsewhere"), locked(path):
            pass
    finally:
        beating.kill()
        beating.join()


@pytest.mark.slow
def test_only_one_of_many_gets_it(path):
    """Four processes at the door at once; whoever is in stays until the others have given up."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(4, _meet, [context.Barrier(4)]) as pool:
        got = pool.map_async(_try, [path] * 4, chunksize=1).get(180)  # dead ones never answer
        # Left to end by themselves: coverage saves its data in them, and a signal in the middle
        # of that (a pool's own way to end them) may be waited for without end.
        pool.close()
        pool.join()
    assert sum(got) == 1


def _meet(barrier):
    global _barrier
    _barrier = barrier


def _try(path):
    _barrier.wait(60)
    try:
        with locked(path):
            _barrier.wait(60)
            return True
    except StoreError:
        _barrier.wait(60)
        return False


def test_words_without_a_holder(path):
    assert "another process" in busy(path, None).message


NO_LOCKS = [
    b"[tool]\nname = 1\n",
    b"[]",
    b"null",
    b"[" * 900,
    b"\xff\xfe\x00",
    b'{"host": "somebody\'s settings"}',
]
#: Locks that are damaged, or were torn.
TORN = [
    b"",
    b"{",
    b'{"lock": "basepar", "host": "h", "pi',
    b'{"lock": "basepar", "host": ' + b"[" * 900,
    b'{"lock": "basepar", "host": 1, "pid": "x", "since": "", "beats": 1, "told": {}}',
    b'{"lock": "basepar", "host": "h", "pid": 1, "since": "", "beats": [], "told": {}}',
    b'{"lock": "basepar", "host": "h", "pid": 1, "since": "", "beats": 1, "told": 3}',
    b'{"lock": "basepar", "host": "h", "pid": 1, "since": "", "beats": 1}',
]


@pytest.mark.parametrize("text", TORN)
def test_a_damaged_lock_is_nobody(path, text):
    lock_file(path).write_bytes(text)
    assert holder(path) is None
    with locked(path) as held:
        assert held.stale is None
    assert not lock_file(path).exists()


@pytest.mark.parametrize("text", NO_LOCKS)
def test_what_is_no_lock_is_neither_written_over_nor_removed(path, text):
    lock_file(path).write_bytes(text)
    assert holder(path) is None
    with pytest.raises(StoreError, match=r"is none: .* Move it away"), locked(path):
        pass
    assert lock_file(path).read_bytes() == text


def test_a_lock_that_leads_elsewhere_is_not_followed(path):
    other = path.with_name("notes.txt")
    other.write_text("mine")
    lock_file(path).symlink_to(other)
    with pytest.raises(StoreError, match="cannot be locked"), locked(path):
        pass
    assert other.read_text() == "mine"


@pytest.mark.parametrize("told", [{"done": "x", "total": 4}, {"seconds": 1e300}, {"done": [1]}])
def test_odd_numbers_of_a_holder_are_left_out(path, told):
    foreign(path, told=told, pid=10**30)
    found = holder(path)
    assert set(found.told) <= {"total"}
    assert "being filled by process" in str(busy(path, found))
