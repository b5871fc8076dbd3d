"""One writer of a store in a bucket at a time; nobody's clock but the observer's counts."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from basepar_core.errors import StoreError
from sweeps.store import bucket_lock
from sweeps.store.bucket_lock import BucketLock
from sweeps.store.location import locate
from sweeps.store.lock import holder, locked, watched
from tests.sweeps.bucket_server import Faults, proxied
from tests.sweeps.run.test_killed_driver import wait_until

KEY = "chunk-records/lock"
HOLDER = """
import sys, time
from sweeps.store.location import locate
from sweeps.store.lock import locked

with locked(locate(sys.argv[1])) as held:
    held.tell(done=400, total=1200)
    print("held", flush=True)
    time.sleep(3600)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Of a real one, a twentieth."""
    monkeypatch.setattr(bucket_lock, "BEAT", 0.2)
    monkeypatch.setattr(bucket_lock, "STALE", 2.0)
    monkeypatch.setattr(bucket_lock, "LOOK", 0.1)


@pytest.fixture
def there(bucket):
    return locate(f"{bucket}/x.zarr")


@pytest.fixture
def other(there):
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(there)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def elsewhere(there, **others):
    """A lock as another machine would write it."""
    plain = {"lock": "basepar", "host": "elsewhere", "pid": 4, "since": "2026-11-20"}
    plain |= {"beats": 7, "told": {}, "machine": "another boot", "born": "5"} | others
    there.put(KEY, json.dumps(plain).encode())


def test_nobody_holds_it(there):
    assert holder(there) is watched(there) is None
    with locked(there) as held:
        assert held.stale is None
        assert holder(there).pid == watched(there).pid == os.getpid()
    assert holder(there) is None
    assert not there.exists()
    with locked(there) as held:  # once more: it says that it was left
        assert held.stale is None


def test_another_process_is_named_and_watched_no_longer_than_needed(there, other):
    begun = time.monotonic()
    words = rf"filled by process {other.pid} on .* since"
    with pytest.raises(StoreError, match=words), locked(there):
        pass
    assert watched(there).pid == other.pid
    assert time.monotonic() - begun < 1.5  # it lives, says /proc: nobody waits for its beats


def test_a_process_of_this_machine_that_was_killed(there, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert holder(there) is None
    begun = time.monotonic()
    with locked(there) as held:
        assert held.stale.pid == other.pid
    assert time.monotonic() - begun < 1.5


def test_another_machine_without_signs_of_life(there):
    elsewhere(there)
    assert holder(there).host == "elsewhere"
    begun = time.monotonic()
    with locked(there) as held:
        assert str(held.stale).startswith("process 4 on elsewhere")
    assert time.monotonic() - begun > bucket_lock.STALE


def test_another_machine_that_lives(there):
    elsewhere(there)
    beat = threading.Timer(0.5, elsewhere, [there], {"beats": 8})
    beat.start()
    with pytest.raises(StoreError, match="process 4 on elsewhere"), locked(there):
        pass
    beat.join()


def test_of_several_that_take_over_one_succeeds(there):
    elsewhere(there)
    held, refused, done = [], [], threading.Event()

    def one():
        try:
            with locked(there) as lock:
                held.append(lock)
                done.wait(20)
        except StoreError as error:
            refused.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 20
    while len(refused) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    done.set()
    for thread in threads:
        thread.join()
    assert (len(held), len(refused)) == (1, 3)


def test_who_was_thought_dead_sees_that_he_lost_it(there):
    with locked(there) as held:
        elsewhere(there, host="thief")

        wait_until(lambda: held._lost)
        with pytest.raises(StoreError, match="on thief"):
            held.tell(done=1)
    assert holder(there).host == "thief"  # whose lock is not released


def test_beats_go_on_where_answers_are_lost(there, bucket_server, monkeypatch):
    faults = Faults(lost=0.25, failed=0.1)  # eleven in a row: 1e-5
    with proxied(bucket_server, faults) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        with locked(there) as held:
            for number in range(20):
                held.tell(done=number, total=20)
                time.sleep(0.1)
            assert holder(there).beats >= 2
        assert holder(there) is None


def test_a_lock_is_taken_only_as_it_was_seen(there):
    elsewhere(there)
    _, before = bucket_lock._seen(there)
    elsewhere(there, beats=8)
    assert not BucketLock(there, None).take(before)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"lock": "mine"}'])
def test_what_is_no_lock_is_left_alone(there, content):
    there.put(KEY, content)
    with (
        pytest.raises(StoreError, match="is where a store's lock goes, and is none"),
        locked(there),
    ):
        pass
    assert there.get(KEY) == content


@pytest.mark.parametrize("odd", [{"pid": "x"}, {"told": []}, {"beats": None}])
def test_a_lock_with_odd_contents_is_nobodys(there, odd):
    elsewhere(there, **odd)
    assert holder(there) is None
    with locked(there):
        pass
