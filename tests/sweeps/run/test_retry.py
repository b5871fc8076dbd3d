"""Failures are data; asked for again, they are evaluated again and nothing else is."""

import dataclasses
import json

import numpy as np
import pytest

from sweeps.run.driver import sweep
from sweeps.run.standing import complete, layout_of
from sweeps.store import Store, runs, store
from sweeps.store.outputs import Arrays, Columns
from sweeps.store.statuses import PreciseStatus, Reason, Status
from tests.sweeps.fourbar import Digits, FourBar, spec
from tests.sweeps.run.test_sweep import by_hand

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


def test_what_crashed_is_solved_the_second_time(path, client, tmp_path):
    broken = FourBar(raises=frozenset({300}))  # variants 250 and 261
    first = sweep(spec(path), client, evaluator=broken)
    assert first.failed == 2
    assert complete(spec(path)).failed == 2  # nothing is missing
    assert complete(spec(path), retry_failed=True) is None
    Store.open(path, "r+")["stroke"][3] = -7.0  # whoever is not asked again, is not touched
    second = sweep(spec(path), client, evaluator=FourBar(), retry_failed=True)
    assert (second.evaluated, second.failed, second.errors) == (2, 0, {})
    found = store.read(path)
    assert found["stroke"][3] == -7.0
    np.testing.assert_array_equal(np.flatnonzero(found["retries"]), [250, 261])
    whole = store.read(by_hand(spec(tmp_path / "whole.zarr"), FourBar()))
    for name in ("status", "rocker", "reason", "lx1", "crank_turns"):
        np.testing.assert_array_equal(found[name], whole[name], err_msg=name)
    third = sweep(spec(path), client, evaluator=FourBar(), retry_failed=True)
    assert third.evaluated == 0


def test_what_crashes_again_is_counted(path, client):
    broken = FourBar(raises=frozenset({300}))
    sweep(spec(path), client, evaluator=broken)
    for times in (1, 2):
        again = sweep(spec(path), client, evaluator=broken, retry_failed=True)
        assert (again.evaluated, again.failed) == (2, 2)
        assert "a pivot is zero" in again.errors[250]
        assert store.read(path)["retries"].values[[250, 261]].tolist() == [times, times]


def test_more_time_for_what_timed_out(path, client):
    """The limit is not part of what fixes the arrays."""
    sweep(spec(path), client, evaluator=FourBar())
    group = Store.open(path, "r+")
    solved = int(np.flatnonzero(group["status"][:] == Status.SOLVED)[0])
    part, first = layout_of(spec(path), FourBar()).parts[0], solved // 16 * 16
    arrays = {one.name: group.rows(one.name, first, first + 16) for one in part.arrays}
    arrays["status"][solved - first] = Status.TIMED_OUT
    arrays["reason"][solved - first] = Reason.TOO_SLOW
    store.write(group, part, first, first + 16, arrays)
    slow = FourBar(delay=0.5)
    short = sweep(spec(path, variant_seconds=0.1), client, evaluator=slow, retry_failed=True)
    assert short.counts[Status.TIMED_OUT] == 1
    long = sweep(spec(path, variant_seconds=20.0), client, evaluator=slow, retry_failed=True)
    assert long.failed == 0
    assert store.read(path)["retries"].values[solved] == 2


@dataclasses.dataclass(frozen=True)
class Stumbling(Digits):
    """A precise task that fails for variants with a large lx1."""

    above: float = 0.35

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        if (columns["lx1"][passed] > self.above).any():
            raise ArithmeticError("out of digits")
        return super().__call__(columns, passed)


def test_precise_tasks_are_asked_for_again(path, client):
    evaluator = FourBar(doubtful=0.9)
    first = sweep(spec(path), client, evaluator=evaluator, precise=Stumbling())
    crashed = first.precise[PreciseStatus.CRASHED]
    assert 0 < crashed < first.precise[PreciseStatus.CERTIFIED]
    again = sweep(
        spec(path), client, evaluator=evaluator, precise=Stumbling(above=9.0), retry_failed=True
    )
    assert again.failed == 0
    assert again.unsettled == 0
    retries = store.read(path)["precise_retries"].values
    assert (retries == 1).sum() == crashed
    assert retries.max() == 1


def test_doubts_found_by_a_retry_are_settled(path, client):
    evaluator = FourBar(doubtful=0.9)
    broken = dataclasses.replace(evaluator, raises=frozenset(range(200, 260)))
    sweep(spec(path), client, evaluator=broken, precise=Digits())
    settled = store.read(path)["precise_status"].values > 0
    again = sweep(spec(path), client, evaluator=evaluator, precise=Digits(), retry_failed=True)
    assert again.unsettled == 0
    now = store.read(path)["precise_status"].values > 0
    assert (now & ~settled).any()
    assert (now | ~settled).all()


def test_runs_are_remembered(path, client):
    broken = FourBar(raises=frozenset({300}))
    sweep(spec(path, 64), client, evaluator=broken)
    (run,) = runs(Store.open(path))
    assert run["evaluated"] == 64
    assert run["started"] <= run["ended"]
    made = json.loads(str(Store.open(path).attrs["provenance"]))
    assert {"created", "machine", "versions"} <= made.keys()
