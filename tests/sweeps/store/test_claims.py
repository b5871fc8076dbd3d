"""Claims save work: one holder at a time, taken over when his counter stands still."""

import json
import os
import signal
import threading
import time

import pytest

from sweeps.store import claims, objects
from sweeps.store.claims import Claim, Taken
from sweeps.store.holders import machine


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "BEAT", 0.05)
    monkeypatch.setattr(claims, "STALE", 0.6)
    monkeypatch.setattr(claims, "LOOK", 0.05)
    (tmp_path / "sweep.zarr").mkdir()
    return objects.of(tmp_path / "sweep.zarr")


def beating(held, seconds, until):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until.is_set():
        held.beat()
        time.sleep(0.02)


def test_one_at_a_time(there):
    over = threading.Event()
    with claims.claimed(there, 0, 10, job="77") as held:
        heart = threading.Thread(target=beating, args=(held, 20, over))
        heart.start()
        try:
            for first, stop in ((0, 10), (5, 15), (9, 10)):
                with (
                    pytest.raises(Taken, match=r"evaluated by process \d+ on .*, job 77"),
                    claims.claimed(there, first, stop),
                ):
                    raise AssertionError("two holders")
            with pytest.raises(Taken, match="parts of it are being evaluated"):
                claims.refuse_busy(there)
            with claims.claimed(there, 10, 20):  # others' chunks are free
                pass
        finally:
            over.set()
            heart.join()
    assert claims.found(there) == []
    with claims.claimed(there, 0, 10):
        pass


def test_a_claim_that_stands_still_is_taken_over_and_its_holder_sees_it(there):
    with claims.claimed(there, 0, 10) as late:
        late.beat()
        with claims.claimed(there, 0, 10) as second:
            assert second.claim.generation == 2
            late.last = 0.0
            assert not late.beat()
            second.last = 0.0
            assert second.beat()
            assert [one.generation for one in claims.found(there)] == [2]
        late.last = 0.0
        assert not late.beat()  # and does not come back when the other is done
    assert claims.found(there) == []


def test_of_several_who_take_over_one_succeeds(there):
    """All find the same stale claim; each of the others meets the new holder."""
    there.create(Claim(0, 10, 1).key, b"{}")
    outcomes, gate = [], threading.Barrier(4)

    def take():
        gate.wait()
        try:
            with claims.claimed(there, 0, 10) as held:
                outcomes.append(held.claim.generation)
                beating(held, 2.0, threading.Event())
        except Taken:
            outcomes.append(None)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(map(str, outcomes)) == ["2", "None", "None", "None"]


def test_stale_claims_are_removed_by_who_wants_all(there):
    there.create(Claim(0, 10, 3).key, b"{}")
    there.put("chunk-records/claims/no claim", b"")
    claims.refuse_busy(there)
    assert claims.found(there) == []


def test_what_a_claim_says_may_be_damaged():
    assert Claim(0, 1, 1, b'{"host": 1').who == "somebody"
    assert Claim(0, 1, 1, b'{"host": "a", "pid": 3}').who == "process 3 on a"


@pytest.mark.skipif(not machine(), reason="processes are told apart by /proc")
def test_a_claim_of_a_process_that_ended_is_not_watched(there, monkeypatch):
    """Killed, and so not released: whoever wants the chunks has them at once."""
    monkeypatch.setattr(claims, "STALE", 600.0)
    ready, told = os.pipe()
    if (pid := os.fork()) == 0:
        with claims.claimed(there, 0, 10):
            os.write(told, b"1")
            time.sleep(600)
    os.read(ready, 1)
    (claim,) = claims.found(there)
    assert not claim.is_left
    os.kill(pid, signal.SIGKILL)
    while not claim.is_left:  # not waited for yet, it is a zombie
        time.sleep(0.01)
    os.waitpid(pid, 0)
    with claims.claimed(there, 0, 10) as held:
        assert held.claim.generation == 2
    for changed in ({"machine": "another"}, {"pid": os.getpid()}, {"born": ""}, {"pid": "x"}):
        told_of = json.loads(claim.content) | changed
        other = Claim(0, 10, 1, json.dumps(told_of).encode())
        # Of another machine, or told by nobody: it is watched. The number may be used anew.
        assert other.is_left == (changed == {"pid": os.getpid()})
