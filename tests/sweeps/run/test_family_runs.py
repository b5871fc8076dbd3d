"""Sweeps of a family at the same time: equal results, no idle workers, one end for all."""

import dataclasses
import os
import time
from pathlib import Path

import pytest

from basepar_core.errors import StoreError
from sweeps.run import family_runs
from sweeps.run.family_runs import sweep_together
from sweeps.store import store
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand


@dataclasses.dataclass(frozen=True)
class Noted(FourBar):
    """Notes in a file when it worked, and where; one call waits until another's name is there."""

    book: str = ""
    name: str = ""
    awaited: str = ""

    def __call__(self, columns, passed):
        begun = time.time()
        found = super().__call__(columns, passed)
        if self.awaited and self.first():
            end = time.monotonic() + 600
            while self.awaited not in Path(self.book).read_text() and time.monotonic() < end:
                time.sleep(0.05)
        with open(self.book, "a") as book:  # short lines at the end of a file are whole
            book.write(f"{self.name} {os.getpid()} {begun} {time.time()}\n")
        return found

    def first(self):
        try:
            Path(f"{self.book}.first").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def noted(book):
    lines = [line.split() for line in Path(book).read_text().splitlines()]
    return [(name, pid, float(begun), float(ended)) for name, pid, begun, ended in lines]


@pytest.fixture
def specs(tmp_path):
    return {
        "heavy": spec(tmp_path / "heavy.zarr", 48),
        "cheap": spec(tmp_path / "cheap.zarr", 800),
    }


@pytest.mark.slow
def test_heavy_and_cheap_share_the_workers(specs, tmp_path, client):
    """A heavy chunk that lasts until cheap ones are done beside it: one after the other, it
    would wait in vain, whatever the machine's speed."""
    book = str(tmp_path / "book")
    Path(book).touch()
    evaluators = {
        "heavy": Noted(book=book, name="heavy", awaited="cheap"),
        "cheap": Noted(book=book, name="cheap"),
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
    assert cheap_start < heavy_end
    assert len({pid for _, pid, _, _ in calls}) == 2


def test_again_nothing_is_done(specs, client):
    evaluators = dict.fromkeys(specs, FourBar())
    sweep_together(specs, client, evaluators=evaluators)
    again = sweep_together(specs, client)  # without evaluators: none is prepared
    assert [summary.evaluated for summary in again.values()] == [0, 0]


def test_more_than_run_at_once(tmp_path, client, monkeypatch):
    monkeypatch.setattr(family_runs, "AT_ONCE", 2)
    many = {f"m{k}": spec(tmp_path / f"{k}.zarr", 64) for k in range(5)}
    found = sweep_together(many, client, evaluators=dict.fromkeys(many, FourBar()))
    assert [summary.counts for summary in found.values()] == [found["m0"].counts] * 5


def test_one_that_is_refused_stops_the_others(specs, client):
    """The cheap one's store is another sweep's: the heavy one, begun already, ends early."""
    by_hand(spec(specs["cheap"].store, 32), FourBar())
    endless = FourBar(delay=1.0)
    long = {"long": spec(f"{specs['heavy'].store}.long", 4000), "cheap": specs["cheap"]}
    with pytest.raises(StoreError, match="holds another sweep"):
        sweep_together(long, client, evaluators=dict.fromkeys(long, endless))
    survey = store.read(long["long"].store)["status"].values
    assert (survey == 0).any()
