"""Receipts that do not come in one message, or not at all; tasks that are lost."""

import contextlib
import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run import fanout, stall_watchdog
from sweeps.run.driver import sweep
from sweeps.run.isolation import Child, in_pieces
from sweeps.store.statuses import Status
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand


@pytest.fixture
def said(monkeypatch):
    """What the fan-out warns of; Dask silences the handlers that would catch it."""
    lines = []
    monkeypatch.setattr(fanout.log, "warning", lambda *words: lines.append(words[0] % words[1:]))
    return lines


@pytest.mark.slow
def test_a_gather_that_runs_out_of_time(tmp_path, client, monkeypatch):
    """Not to be mistaken for one that is still under way: that would be waited for, for ever."""
    gather, look = client.gather, stall_watchdog.Watch.look
    asked, looks = [], []

    def late(*arguments, **others):
        asked.append(arguments)
        if len(asked) == 1:
            raise TimeoutError("no answer from the scheduler")
        return gather(*arguments, **others)

    def counted(self):
        looks.append(self)
        assert len(looks) < 10_000, "a busy loop"
        look(self)

    monkeypatch.setattr(client, "gather", late)
    monkeypatch.setattr(stall_watchdog.Watch, "look", counted)
    path = tmp_path / "sweep.zarr"
    assert sweep(spec(path), client, evaluator=FourBar()).done
    assert asked
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


@pytest.mark.slow
def test_tasks_that_nobody_is_at_are_asked_for_again(tmp_path, client, monkeypatch, said):
    """Two tasks wait for a thing no worker has, and are on no worker; all workers are idle."""
    submit, lost = client.submit, []

    def losing(function, *arguments, **options):
        if str(options.get("key", "")).startswith("chunk") and len(lost) < 2:
            lost.append(options | {"resources": {"a thing no worker has": 1}})
            return submit(function, *arguments, **lost[-1])
        return submit(function, *arguments, **options)

    monkeypatch.setattr(client, "submit", losing)
    monkeypatch.setattr(stall_watchdog, "QUIET", 1.0)
    path = tmp_path / "sweep.zarr"
    assert sweep(spec(path), client, evaluator=FourBar()).done
    assert "2 tasks were lost on the way" in said[0]
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


@pytest.mark.slow
def test_receipts_that_never_come(tmp_path, client, monkeypatch, said):
    gather, asked, over = client.gather, [], threading.Event()

    def silent(*arguments, **others):
        asked.append(arguments)
        if len(asked) == 1:
            over.wait(60)
        return gather(*arguments, **others)

    monkeypatch.setattr(client, "gather", silent)
    monkeypatch.setattr(stall_watchdog, "QUIET", 1.0)
    path = tmp_path / "sweep.zarr"
    try:
        assert sweep(spec(path), client, evaluator=FourBar()).done
    finally:
        over.set()
    assert "receipts were lost on the way" in said[0]
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


@dataclass(frozen=True)
class Fused(FourBar):
    """Ends the first process but the driver's that unpacks it or, with `late`, evaluates it."""

    fuse: str = ""
    late: bool = False

    def __reduce__(self):
        return _unpacked, (self.fuse, self.late)

    def __call__(self, columns, passed):
        if self.late:
            _burn(self.fuse)
        return super().__call__(columns, passed)


def _unpacked(fuse: str, late: bool) -> Fused:
    if not late:
        _burn(fuse)
    return Fused(fuse=fuse, late=late)


def _burn(fuse: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.rename(fuse, f"{fuse}.burnt")  # only one process takes it
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_that_dies_while_it_unpacks_the_program(tmp_path):
    """All chunks depend on the program; none of them is to blame, nor is it."""
    path, fuse = tmp_path / "sweep.zarr", tmp_path / "fuse"
    fuse.touch()
    with connect(Laptop(workers=2)) as client:
        found = sweep(spec(path), client, evaluator=Fused(fuse=str(fuse)))
    assert Path(f"{fuse}.burnt").exists()
    assert found.lost > 0
    assert found.done
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


@pytest.mark.slow
def test_a_child_that_somebody_else_kills(tmp_path):
    """Its variant is tried again: `scancel` and the memory killer mean nobody in particular."""
    fuse, columns = tmp_path / "fuse", spec().plan.rows(7, 8)
    fuse.touch()
    evaluator = Fused(fuse=str(fuse), late=True)
    child = Child(evaluator, 60.0)
    try:
        arrays, errors = in_pieces(child, evaluator, columns, np.array([True]), "", 60.0)
    finally:
        child.close()
    assert Path(f"{fuse}.burnt").exists()
    assert errors == []
    assert arrays["status"].tolist() == [Status.SOLVED]


@dataclass(frozen=True)
class Hoarder(FourBar):
    """Its variants of `raises` ask for memory until there is none, to the last bytes."""

    def accident(self, marks: np.ndarray) -> None:
        hoard = []
        while self.raises & set(marks.tolist()):
            try:
                hoard.append(bytearray(1 << 26))
            except MemoryError:
                while True:
                    hoard.append(bytearray(1 << 12))


@pytest.mark.slow
def test_a_variant_that_ate_all_memory_leaves_some_to_the_next():
    columns = spec().plan.rows(199, 203)
    guilty = int(columns["lx1"][0] * 1000)
    evaluator = Hoarder(raises=frozenset({guilty}))
    child = Child(evaluator, 60.0, 1_000_000_000)
    try:
        arrays, errors = in_pieces(child, evaluator, columns, np.ones(4, bool), "", 60.0)
    finally:
        child.close()
    alone = FourBar()(columns, np.ones(4, bool))["status"].tolist()
    assert arrays["status"].tolist() == [Status.CRASHED, *alone[1:]]
    assert "MemoryError" in errors[0][1]


@pytest.mark.slow
def test_a_child_that_dies_before_it_is_asked(tmp_path):
    """No variant is to blame; another one is started."""
    fuse, columns = tmp_path / "fuse", spec().plan.rows(7, 8)
    fuse.touch()
    evaluator = Fused(fuse=str(fuse))
    child = Child(evaluator, 60.0)
    try:
        child.start()
        arrays, errors = in_pieces(child, evaluator, columns, np.array([True]), "", 60.0)
    finally:
        child.close()
    assert Path(f"{fuse}.burnt").exists()
    assert (errors, arrays["status"].tolist()) == ([], [Status.SOLVED])
