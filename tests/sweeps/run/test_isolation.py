"""What a variant may do to its worker: eat its memory, hang, die. Others never notice."""

import dataclasses
import time

import numpy as np
import pytest

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run.driver import sweep
from sweeps.run.limits import _memory_limit
from sweeps.store import store
from sweeps.store.statuses import Status
from tests.cluster.scheduler_asked import workers_of
from tests.sweeps import fourbar
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


@dataclasses.dataclass(frozen=True)
class Greedy(FourBar):
    """Asks for more memory than there is, piece by piece."""

    def accident(self, marks: np.ndarray) -> None:
        hoard = []
        while self.raises & set(marks.tolist()):
            hoard.append(np.ones(1 << 24))  # 128 MB
            time.sleep(0.02)


def test_a_variant_that_eats_all_memory(path, tmp_path):
    with connect(Laptop(workers=2, memory="700 MB")) as client:
        found = sweep(spec(path), client, evaluator=Greedy(raises=frozenset({433})))
    assert found.counts[Status.CRASHED] == 1
    assert found.done
    data = store.read(path)
    assert data["status"].values[199] == Status.CRASHED
    assert "MemoryError" in found.errors[199]
    whole = store.read(by_hand(spec(tmp_path / "whole.zarr"), FourBar()))
    others = np.arange(400) != 199
    np.testing.assert_array_equal(data["stroke"].values[others], whole["stroke"].values[others])


@pytest.mark.parametrize("accident", ["Deadly", "Endless"])
def test_workers_with_several_threads_are_shielded(path, tmp_path, accident):
    """Nobody could end one thread of a process: children do the work, and may die."""
    evaluator = getattr(fourbar, accident)(raises=frozenset({433}))
    limited = spec(path, variant_seconds=4.0)
    with connect(Laptop(workers=1, threads=2)) as client:
        (before,) = workers_of(client).values()
        found = sweep(limited, client, evaluator=evaluator)
        (after,) = workers_of(client).values()
    assert before["id"] == after["id"]  # the worker itself lived
    assert found.failed == 1
    expected = Status.CRASHED if accident == "Deadly" else Status.TIMED_OUT
    assert store.read(path)["status"].values[199] == expected
    assert found.lost == 0


def test_several_threads_give_the_same_arrays(path, tmp_path):
    with connect(Laptop(workers=1, threads=2, memory="3 GB")) as client:
        # Each thread's child may use its share; together they fill the worker's memory.
        assert client.submit(_memory_limit).result() == 1_500_000_000
        sweep(spec(path), client, evaluator=FourBar())
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))


def test_no_worker_is_ever_paused(client):
    """It holds nothing it could let go of, so a paused one would be waited for without end."""
    fractions = client.run(
        lambda dask_worker: dask_worker.memory_manager.memory_pause_fraction
    ).values()
    assert set(fractions) == {False}
