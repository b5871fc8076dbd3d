"""Sweeps of a family at the same time: equal results, no idle workers, one end for all."""

import dataclasses
import os
import time
from pathlib import Path

import pytest

from basepar_core.errors import StoreError
from sweeps import store, together
from sweeps.together import sweep_together

from .fourbar import FourBar, spec
from .test_sweep import assert_equal_arrays, by_hand


@dataclasses.dataclass(frozen=True)
class Noted(FourBar):
    """Notes in a file when it worked, and where."""

    book: str = ""
    name: str = ""

    def __call__(self, columns, passed):
        begun = time.time()
        found = super().__call__(columns, passed)
        with open(self.book, "a") as book:  # short lines at the end of a file are whole
            book.write(f"{self.name} {os.getpid()} {begun} {time.time()}\n")
        return found


def noted(book):
    lines = [line.split() for line in Path(book).read_text().splitlines()]
    return [(name, pid, float(begun), float(ended)) for name, pid, begun, ended in lines]


@pytest.fixture
def specs(tmp_path):
    return {
        "heavy": spec(tmp_path / "heavy.zarr", 48),
        "cheap": spec(tmp_path / "cheap.zarr", 800),
    }


def test_heavy_and_cheap_share_the_workers(specs, tmp_path, client):
    """Three heavy chunks leave a worker free at the end; the cheap ones fill the gap."""
    book = str(tmp_path / "book")
    evaluators = {
        "heavy": Noted(delay=1.0, book=book, name="heavy"),
        "cheap": Noted(delay=0.02, book=book, name="cheap"),
    }
    told = []
    found = sweep_together(specs, client, told.append, evaluators=evaluators)
    assert list(found) == ["heavy", "cheap"]
    assert all(summary.done for summary in found.values())
    assert told[-1].done == told[-1].total == 848
    assert [one.done for one in told] == sorted(one.done for one in told)
    for single in specs.values():
        assert_equal_arrays(
            Path(single.store), by_hand(single.at(f"{single.store}.hand"), FourBar())
        )
    calls = noted(book)
    heavy_end = max(ended for name, _, _, ended in calls if name == "heavy")
    cheap_start = min(begun for name, _, begun, _ in calls if name == "cheap")
    assert cheap_start < heavy_end  # how many of them, is a matter of how busy the machine is
    assert len({pid for _, pid, _, _ in calls}) == 2


def test_again_nothing_is_done(specs, client):
    evaluators = dict.fromkeys(specs, FourBar())
    sweep_together(specs, client, evaluators=evaluators)
    again = sweep_together(specs, client)  # without evaluators: none is prepared
    assert [summary.evaluated for summary in again.values()] == [0, 0]


def test_more_than_run_at_once(tmp_path, client, monkeypatch):
    monkeypatch.setattr(together, "AT_ONCE", 2)
    many = {f"m{k}": spec(tmp_path / f"{k}.zarr", 64) for k in range(5)}
    found = sweep_together(many, client, evaluators=dict.fromkeys(many, FourBar()))
    assert [summary.counts for summary in found.values()] == [found["m0"].counts] * 5


def test_one_that_is_refused_stops_the_others(specs, client):
    """The cheap one's store is another sweep's: the heavy one, begun already, ends early."""
    by_hand(spec(specs["cheap"].store, 32), FourBar())
    endless = FourBar(delay=1.0)
    long = {"long": spec(f"{specs['heavy'].store}.long", 4000), "cheap": specs["cheap"]}
    begun = time.monotonic()
    with pytest.raises(StoreError, match="holds another sweep"):
        sweep_together(long, client, evaluators=dict.fromkeys(long, endless))
    assert time.monotonic() - begun < 60  # all of it would take two minutes
    survey = store.read(long["long"].store)["status"].values
    assert (survey == 0).any()
