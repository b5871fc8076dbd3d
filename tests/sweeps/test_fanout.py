"""Receipts that do not come in one message, or not at all; tasks that are lost."""

import threading

import pytest

from sweeps import fanout, watch
from sweeps.sweep import sweep

from .fourbar import FourBar, spec
from .test_sweep import assert_equal_arrays, by_hand


@pytest.fixture
def said(monkeypatch):
    """What the fan-out warns of; Dask silences the handlers that would catch it."""
    lines = []
    monkeypatch.setattr(fanout.log, "warning", lambda *words: lines.append(words[0] % words[1:]))
    return lines


def test_a_gather_that_runs_out_of_time(tmp_path, client, monkeypatch):
    """Not to be mistaken for one that is still under way: that would be waited for, for ever."""
    gather, look = client.gather, watch.Watch.look
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
    monkeypatch.setattr(watch.Watch, "look", counted)
    path = tmp_path / "sweep.zarr"
    assert sweep(spec(path), client, evaluator=FourBar()).done
    assert asked
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


def test_tasks_that_nobody_is_at_are_asked_for_again(tmp_path, client, monkeypatch, said):
    """Two tasks wait for a thing no worker has, and are on no worker; all workers are idle."""
    submit, lost = client.submit, []

    def losing(function, *arguments, **options):
        if str(options.get("key", "")).startswith("chunk") and len(lost) < 2:
            lost.append(options | {"resources": {"a thing no worker has": 1}})
            return submit(function, *arguments, **lost[-1])
        return submit(function, *arguments, **options)

    monkeypatch.setattr(client, "submit", losing)
    monkeypatch.setattr(watch, "QUIET", 1.0)
    path = tmp_path / "sweep.zarr"
    assert sweep(spec(path), client, evaluator=FourBar()).done
    assert "2 tasks were lost on the way" in said[0]
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


def test_receipts_that_never_come(tmp_path, client, monkeypatch, said):
    gather, asked, over = client.gather, [], threading.Event()

    def silent(*arguments, **others):
        asked.append(arguments)
        if len(asked) == 1:
            over.wait(60)
        return gather(*arguments, **others)

    monkeypatch.setattr(client, "gather", silent)
    monkeypatch.setattr(watch, "QUIET", 1.0)
    path = tmp_path / "sweep.zarr"
    try:
        assert sweep(spec(path), client, evaluator=FourBar()).done
    finally:
        over.set()
    assert "receipts were lost on the way" in said[0]
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))
