"""Receipts that do not come in one message."""

from sweeps import fanout
from sweeps.sweep import sweep

from .fourbar import FourBar, spec
from .test_sweep import assert_equal_arrays, by_hand


def test_a_gather_that_runs_out_of_time(tmp_path, client, monkeypatch):
    """Not to be mistaken for one that is still under way: that would be waited for, for ever."""
    gather, look = client.gather, fanout._Fan._look_at_workers
    asked, looks = [], []

    def late(*arguments, **others):
        asked.append(arguments)
        if len(asked) == 1:
            raise TimeoutError("no answer from the scheduler")
        return gather(*arguments, **others)

    def counted(fan):
        looks.append(fan)
        assert len(looks) < 10_000, "a busy loop"
        look(fan)

    monkeypatch.setattr(client, "gather", late)
    monkeypatch.setattr(fanout._Fan, "_look_at_workers", counted)
    path = tmp_path / "sweep.zarr"
    assert sweep(spec(path), client, evaluator=FourBar()).done
    assert asked
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))
