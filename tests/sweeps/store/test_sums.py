"""Sums of ranges that are done: what they spare whoever surveys, and that they are never wrong."""

import pytest

from sweeps.run import here
from sweeps.store import Status, check_and_repair, status
from sweeps.store.facts import Facts
from sweeps.store.records import GROUP, SOME, Records
from tests.sweeps.fourbar import FourBar, spec

CHUNKS, CHUNK = 3000, 4


@pytest.fixture
def held(tmp_path):
    job = spec(tmp_path / "sweep.zarr", CHUNKS * CHUNK, CHUNK)
    return here.prepare(job, evaluator=FourBar()).store


def write(held, first, stop):
    """Records of chunks first … stop − 1, as their writers leave them."""
    known = held.records()
    for number in range(first, stop):
        told = Facts()
        told.statuses[Status.SOLVED] = CHUNK - number % 2
        told.statuses[Status.SINGULAR] = number % 2
        held.objects.put(known.name(number), known.encode(number, CHUNK, {}, told))


def expected(*ranges):
    odd = sum(number % 2 for first, stop in ranges for number in range(first, stop))
    return sum(stop - first for first, stop in ranges) * CHUNK - odd, odd


def counted(held):
    found = status.take(held)
    return found.counts.get(Status.SOLVED, 0), found.counts.get(Status.SINGULAR, 0)


def test_what_is_done_of_parts_is_not_read_one_by_one(held, monkeypatch):
    known = held.records()
    write(held, 100, 100 + 2 * SOME)
    write(held, 900, GROUP + 500)
    write(held, 2000, 2000 + SOME - 1)  # too few
    status.sum_up(held)
    assert sorted(known.ranges()) == [(100, 100 + 2 * SOME), (900, GROUP), (GROUP, GROUP + 500)]
    write(held, 100 + 2 * SOME, 400)
    status.sum_up(held, (0, 1000 * CHUNK))
    ranges = [(100, 400), (900, GROUP), (GROUP, GROUP + 500)]
    assert sorted(known.ranges()) == ranges  # one sum of what was there and what came
    assert counted(held) == expected(*ranges, (2000, 2000 + SOME - 1))
    read, plain = [], Records.decode
    monkeypatch.setattr(
        Records, "decode", lambda ours, n, content: read.append(n) or plain(ours, n, content)
    )
    assert counted(held) == expected(*ranges, (2000, 2000 + SOME - 1))
    assert read == list(range(2000, 2000 + SOME - 1))
    pending = [(first // CHUNK, stop // CHUNK) for first, stop in status.take(held).pending]
    assert pending == [(0, 100), (400, 900), (GROUP + 500, 2000), (2000 + SOME - 1, CHUNKS)]


def test_what_is_replaced_is_in_no_sum(held):
    known = held.records()
    write(held, 0, 300)
    status.sum_up(held)
    known.forget(50)
    assert known.ranges() == []
    status.sum_up(held)
    assert sorted(known.ranges()) == [(0, 50), (51, 300)]
    assert counted(held) == expected((0, 50), (51, 300))
    write(held, 50, 51)
    status.sum_up(held)  # alone in its gap: all that is left there
    assert counted(held) == expected((0, 300))
    assert all(known.is_right(*one) for one in known.ranges())


def test_all_of_it_is_summed_by_groups(held):
    for first in range(0, CHUNKS, 200):
        write(held, first, min(first + 200, CHUNKS))
        status.sum_up(held)
    assert sorted(held.records().ranges()) == [(0, 1024), (1024, 2048), (2048, 3000)]
    assert counted(held) == expected((0, CHUNKS))
    assert not any("sum" in str(one) for one in check_and_repair.find(held.path))
