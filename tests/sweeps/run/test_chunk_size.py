"""The chunk of a new store where its file leaves it open."""

import os
import time
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run import chunk_size, driver
from sweeps.run.driver import sweep
from sweeps.spec.filters import condition
from sweeps.spec.own_metrics import MetricError
from sweeps.spec.reader import from_document, parse_sweep
from sweeps.spec.sampling import FROM_PILOT
from sweeps.store import Store
from tests.sweeps.fourbar import FourBar, spec

from .test_killed_driver import wait_until


@pytest.mark.parametrize(
    ("each", "expected"),
    [(1e-6, 16_384), (30e-6, 16_384), (1e-3, 512), (0.01, 64), (0.06, 8), (5.0, 8)],
)
def test_half_a_second_to_the_nearest_power_of_two(each, expected):
    assert chunk_size.fitting(chunk_size.TASK_SECONDS / each) == expected


def test_one_worker_compiles_before_the_others_load(client, tmp_path):
    def load(names):
        begun = time.monotonic_ns()  # one clock for all processes of a machine
        time.sleep(0.1)  # so long that no worker takes the other's task
        (tmp_path / f"{begun} {time.monotonic_ns()} {os.getpid()}").touch()

    driver.warm(SimpleNamespace(warm=load), ["lx1"], client)
    wait_until(lambda: len({one.name.split()[2] for one in tmp_path.iterdir()}) == 2)
    first, *others = sorted(list(map(int, one.name.split())) for one in tmp_path.iterdir())
    assert all(begun >= first[1] for begun, _, _ in others)


@dataclass(frozen=True)
class Slow(FourBar):
    """Takes its time for every variant."""

    each: float = 0.02

    def __call__(self, columns, passed):
        time.sleep(self.each * len(passed))
        return super().__call__(columns, passed)


def by(client):
    """A worker is asked."""
    return partial(driver._asked, client)


def stored_chunk(path):
    return Store.open(path)["status"].chunks[0]


@pytest.mark.slow
def test_a_slow_mechanism_has_small_chunks(tmp_path, client):
    path = tmp_path / "sweep.zarr"
    open_spec = spec(path, 64, chunk=FROM_PILOT)
    assert sweep(open_spec, client, evaluator=Slow()).done
    assert stored_chunk(path) in (
        8,
        16,
        32,
    )  # 25 take half a second; on a busy machine sleeps last longer
    # What the store keeps names the chunk, and the same sweep goes on with it.
    kept = from_document(str(Store.open(path).attrs["spec"]))
    assert kept.chunk == stored_chunk(path)
    assert sweep(open_spec, client).evaluated == 0
    Store.open(path, "r+").records().forget(0)
    assert sweep(open_spec, client, evaluator=FourBar()).evaluated == kept.chunk


@pytest.mark.parametrize(("doubtful", "expected"), [(0.9, 2), (0.2, 512)])
def test_a_doubtful_mechanism_is_cut_for_its_precise_tasks(
    client, monkeypatch, doubtful, expected
):
    monkeypatch.setattr(chunk_size, "measured", lambda *_: (1e-3, doubtful))
    assert chunk_size.chunk(spec(count=64, chunk=FROM_PILOT), FourBar(), by(client)) == expected


@pytest.mark.parametrize(
    ("count", "each", "expected"),
    # However quick: not the whole sweep. Slow ones are cut by time, small ones not at all.
    [(10_000, 1e-6, 4096), (300_000, 1e-6, 16_384), (10_000, 1e-3, 512), (900, 1e-6, 1024)],
)
def test_no_sweep_is_a_single_chunk(count, each, expected):
    job = spec(count=count, chunk=FROM_PILOT)
    assert chunk_size.chunk(job, FourBar(), lambda *_, seconds: (each, 0.0)) == expected


@dataclass(frozen=True)
class Lethal(FourBar):
    def __call__(self, columns, passed):
        os._exit(3)


@pytest.mark.slow
def test_a_pilot_that_dies(tmp_path):
    with connect(Laptop(workers=1)) as alone:
        assert (
            chunk_size.chunk(spec(chunk=FROM_PILOT), Lethal(), by(alone)) == chunk_size.OTHERWISE
        )


def test_nobody_passes_the_filter(client):
    nothing = spec(chunk=FROM_PILOT, count=3)
    never = condition(nothing.mechanism, "lx1 > 9 m")
    far = replace(nothing, where=(never,))
    assert chunk_size.chunk(far, FourBar(), by(client)) == chunk_size.OTHERWISE


def test_measured_in_doublings(monkeypatch):
    monkeypatch.setattr(chunk_size, "PILOT_SECONDS", 60.0)  # however busy the machine
    monkeypatch.setattr(chunk_size, "QUICK_SECONDS", 0.0)
    counts = []

    @dataclass(frozen=True)
    class Counting(FourBar):
        def __call__(self, columns, passed):
            counts.append(len(passed))
            return super().__call__(columns, passed)

    columns = spec().plan.rows(0, 20)
    each, doubtful = chunk_size.measured(Counting(doubtful=9.0), columns, 60.0)
    assert counts == [1, 1, 2, 4, 8, 16, 20]
    assert 0 < each < 60
    assert doubtful > 0.5


def test_measured_no_longer_than_it_takes_to_be_clear():
    counts = []

    def quick(columns, passed):
        counts.append(len(passed))
        return {"status": np.ones(len(passed), np.int8)}

    columns = spec(count=4096).plan.rows(0, 4096)
    each, _ = chunk_size.measured(quick, columns, 60.0)
    assert counts[:3] == [1, 1, chunk_size.PIECES_OF_DOUBT]
    assert counts[-1] < 4096  # microseconds a row: every doubling says the same
    assert counts[-1] >= chunk_size.PIECES_OF_DOUBT  # of which a share in doubt is known
    assert chunk_size.fitting(chunk_size.TASK_SECONDS / each) == chunk_size.MOST


@dataclass(frozen=True)
class Warming(FourBar):
    """Fails, or kills its process, where the kernels are compiled."""

    deadly: bool = False

    def warm(self, names):
        if self.deadly:
            os._exit(1)
        raise MetricError(f"wrong at {', '.join(names)}", ["bad"])


@pytest.mark.slow
def test_a_metric_s_mistake_comes_back_from_the_worker_that_warms(client):
    with pytest.raises(MetricError, match="wrong at lx1") as raised:
        driver.warm(Warming(), ["lx1"], client)
    assert list(raised.value.where) == ["bad"]


@pytest.mark.slow
def test_a_worker_that_dies_in_warming_is_no_mistake():
    """The sweep itself finds out which variant it was."""
    with connect(Laptop(workers=1)) as client:
        driver.warm(Warming(deadly=True), ["lx1"], client)


@pytest.mark.slow
def test_a_metric_of_a_file_goes_to_the_worker_that_measures(tmp_path, client):
    """Its module is none that a worker could import; a worker that cannot read a task ends."""
    (tmp_path / "wear.py").write_text(
        "def wear(cycle):\n    return abs(cycle.joint('D')).max(axis=1)\n"
    )
    text = """
mechanism: four-bar
space: {plan: random, variables: {lx1: [0.2, 0.4]}, candidates: 16, seed: 1}
evaluate: {metrics: [wear], own: {wear: wear.py:wear}}
"""
    job = parse_sweep(text, str(tmp_path / "sweep.yaml")).at(str(tmp_path / "sweep.zarr"))
    assert job.chunk == FROM_PILOT
    found = sweep(job, client)
    assert found.done
    assert not found.lost
