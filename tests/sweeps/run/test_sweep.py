"""Sweeps on real processes and real stores: the same arrays, whatever happens on the way."""

import dataclasses
import os
import warnings

import numpy as np
import psutil
import pytest
import xarray as xr
from distributed import Client, LocalCluster

from basepar_core.errors import StoreError, UsageError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.run import fanout
from sweeps.run.driver import ready, sweep
from sweeps.run.stall_watchdog import WorkersError
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.spec.plans import Sobol
from sweeps.store import Store, origins, store
from sweeps.store.statuses import PreciseStatus, Reason, Status
from tests.sweeps.fourbar import BOUNDS, Deadly, Digits, Endless, FourBar, rocker_angles, spec


def by_hand(spec, evaluator):
    """The same sweep without any cluster, chunk by chunk in this process."""
    layout = layout_of(spec, evaluator)
    path = store.Path(spec.store)
    store.create(path, layout)
    stages = (Stage(evaluator, layout.parts[0]),)
    where = Filter.of(spec.mechanism, spec.where)
    Work(str(path), "by hand", spec.plan, where, stages)(Task(0, 0, len(spec)))
    return path


def assert_equal_arrays(one, two):
    left, right = xr.open_zarr(one), xr.open_zarr(two)
    assert set(left.variables) == set(right.variables)
    for name in left.variables:
        np.testing.assert_array_equal(left[name].values, right[name].values, err_msg=name)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "sweep.zarr"
    return by_hand(spec(path), FourBar())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sweep.zarr"


@pytest.mark.slow
def test_equals_the_plain_loop(client, path, reference):
    summary = sweep(spec(path), client, evaluator=FourBar())
    assert_equal_arrays(path, reference)
    assert summary.done
    assert (summary.total, summary.evaluated, summary.failed, summary.unsettled) == (
        400,
        400,
        0,
        0,
    )
    assert sum(summary.counts.values()) == 400


def test_arrays_are_what_they_should_be(reference):
    dataset = store.read(reference)
    columns = {name: dataset[name].values for name, _, _ in BOUNDS}
    kept = columns["lx1"] + columns["Dx"] <= 1.8
    status = dataset["status"].values
    np.testing.assert_array_equal(status == Status.FILTERED, ~kept)
    assert (dataset["reason"].values[~kept] == Reason.FILTER).all()
    assert (dataset["reason_value"].values[~kept] == 1).all()
    assert np.isnan(dataset["stroke"].values[~kept]).all()
    solved = status == Status.SOLVED
    angles = rocker_angles(columns, np.linspace(0, 2 * np.pi, 16))
    np.testing.assert_array_equal(dataset["rocker"].values[solved], angles[solved])
    assert solved.sum() > 100


@pytest.mark.slow
def test_one_worker_equals_two(path, reference):
    with connect(Laptop(workers=1)) as single:
        sweep(spec(path), single, evaluator=FourBar())
    assert_equal_arrays(path, reference)


def test_again_does_nothing_and_prepares_nothing(client, path):
    first = sweep(spec(path), client, evaluator=FourBar())
    again = sweep(spec(path), client)  # without an evaluator: none is needed
    assert again.evaluated == 0
    assert again.counts == first.counts


def test_another_store_made_in_the_same_second(client, path, monkeypatch):
    """Moved away, and another sweep made where it was: no worker writes for the one it knew."""
    monkeypatch.setattr(origins, "now", lambda: "2026-01-01T00:00:00+00:00")
    sweep(spec(path), client, evaluator=FourBar())
    path.rename(path.with_name("aside.zarr"))
    other = spec(path, plan=Sobol(BOUNDS, 400, 8))
    assert sweep(other, client, evaluator=FourBar()).done
    with connect(Laptop(workers=1)) as anew:
        again = dataclasses.replace(other, store=str(path.with_name("again.zarr")))
        sweep(again, anew, evaluator=FourBar())
    assert_equal_arrays(path, path.with_name("again.zarr"))


def test_only_what_is_missing(client, path, reference):
    by_hand(spec(path), FourBar())
    layout = layout_of(spec(path), FourBar())
    group = store.check(path, layout)
    group["stroke"][32:64] = -1.0
    for number in (2, 3):
        group.records().forget(number)
    assert sweep(spec(path), client, evaluator=FourBar()).evaluated == 32
    assert_equal_arrays(path, reference)


@pytest.mark.slow
def test_readable_while_it_runs(client, path):
    seen = []

    def look(advance):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dataset = xr.open_zarr(path)
            done = dataset["status"].values != Status.PENDING
            solved = dataset["status"].values == Status.SOLVED
        assert not np.isnan(dataset["stroke"].values[solved]).any()
        seen.append((advance.done, int(done.sum()), advance.workers))

    sweep(spec(path), client, look, evaluator=FourBar(delay=0.02))
    told, found, workers = zip(*seen, strict=True)
    assert list(told) == sorted(told)
    assert told[-1] == 400
    assert 0 < told[0] < 200
    assert all(stored >= said for said, stored in zip(told, found, strict=True))
    assert set(workers) == {2}


@pytest.mark.slow
def test_a_receipt_that_is_lost_is_asked_for_again(client, path, reference, monkeypatch):
    gather, failures = client.gather, []

    def failing(futures, **options):
        if not failures:
            failures.append("a worker died with its receipts")
            for future in futures:
                client.cancel(future, force=True)
        return gather(futures, **options)

    monkeypatch.setattr(client, "gather", failing)
    sweep(spec(path), client, evaluator=FourBar())
    assert failures
    assert_equal_arrays(path, reference)


def test_tasks_grow_to_fill_their_time(client, path):
    taken = []
    layout = layout_of(spec(path, 4000), FourBar())
    store.create(path, layout)
    where = Filter.of(spec().mechanism, ())
    work = Work(
        str(path), "grow", spec(count=4000).plan, where, (Stage(FourBar(), layout.parts[0]),)
    )

    def note(receipts, threads):
        taken.extend(receipt.stop - receipt.start for receipt in receipts)

    assert fanout.run(work, [(0, 4000)], client, chunks=[16], on_receipts=note).lost == 0
    assert sum(taken) == 4000
    assert taken[0] == 16
    assert max(taken) > 100


def test_doubtful_variants_get_precise_tasks_of_their_own(client, path):
    evaluator = FourBar(doubtful=0.9)
    summary = sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    dataset = store.read(path)
    awaiting = dataset["status"].values == Status.AWAITING_PRECISE
    assert awaiting.sum() > 50
    np.testing.assert_array_equal(
        dataset["precise_status"].values, np.where(awaiting, PreciseStatus.CERTIFIED, 0)
    )
    np.testing.assert_array_equal(dataset["precise_rank"].values, np.where(awaiting, 8, -1))
    assert summary.precise == {PreciseStatus.CERTIFIED: awaiting.sum()}
    assert summary.unsettled == 0


def test_precise_tasks_left_behind_are_done_later(client, path):
    evaluator = FourBar(doubtful=0.9)
    sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    group = Store.open(path, "r+")
    before = group["precise_status"][:]
    group["precise_status"][64:160] = 0
    group["precise_rank"][64:160] = -1
    for number in range(4, 10):
        group.records("precise_").forget(number)
    summary = sweep(spec(path), client, evaluator=evaluator, precise=Digits())
    assert summary.evaluated == 0
    np.testing.assert_array_equal(group["precise_status"][:], before)


class TestAccidents:
    """Variants 250 and 261 have lx1 of 0.300 m, variant 199 of 0.433 m: there it goes wrong."""

    def check(self, path, reference, status, reason, guilty):
        found, expected = store.read(path), store.read(reference)
        np.testing.assert_array_equal(np.flatnonzero(found["status"] == status), guilty)
        assert (found["reason"].values[list(guilty)] == reason).all()
        assert np.isnan(found["stroke"].values[list(guilty)]).all()
        innocent = np.delete(np.arange(400), guilty)
        for name in expected.data_vars:
            np.testing.assert_array_equal(
                found[name].values[innocent], expected[name].values[innocent], err_msg=name
            )

    def test_an_exception_is_a_status(self, client, path, reference):
        summary = sweep(spec(path), client, evaluator=FourBar(raises=frozenset({300})))
        self.check(path, reference, Status.CRASHED, Reason.RAISED, (250, 261))
        assert summary.failed == 2
        assert summary.errors[250] == "ArithmeticError: a pivot is zero"

    @pytest.mark.slow
    def test_a_variant_that_kills_its_process(self, path, reference):
        with connect(Laptop(workers=2)) as client:
            summary = sweep(spec(path), client, evaluator=Deadly(raises=frozenset({433})))
        self.check(path, reference, Status.CRASHED, Reason.DIED, (199,))
        assert summary.done
        assert "exit status 3" in summary.errors[199]

    @pytest.mark.slow
    def test_a_variant_that_never_ends(self, path, reference):
        with connect(Laptop(workers=2)) as client:
            limited = spec(path, variant_seconds=4.0)  # others take milliseconds
            summary = sweep(limited, client, evaluator=Endless(raises=frozenset({433})))
        self.check(path, reference, Status.TIMED_OUT, Reason.TOO_SLOW, (199,))
        assert summary.counts[Status.TIMED_OUT] == 1

    @pytest.mark.slow
    def test_a_worker_killed_in_the_middle(self, path, reference):
        killed = []

        def kill_one(advance):
            if advance.done > 60 and not killed:
                pid = next(iter(client.run(os.getpid).values()))
                psutil.Process(pid).kill()
                killed.append(pid)

        with connect(Laptop(workers=2)) as client:
            summary = sweep(spec(path), client, kill_one, evaluator=FourBar(delay=0.03))
        assert killed
        assert summary.done
        assert summary.counts.get(Status.CRASHED) is None
        assert_equal_arrays(path, reference)

    @pytest.mark.slow
    def test_all_workers_killed(self, path, reference):
        killed = []

        def kill_all(advance):
            if advance.done > 60 and not killed:
                for pid in client.run(os.getpid).values():
                    psutil.Process(pid).kill()
                    killed.append(pid)

        with connect(Laptop(workers=2)) as client:
            summary = sweep(spec(path), client, kill_all, evaluator=FourBar(delay=0.03))
        assert len(killed) == 2
        assert summary.done
        assert summary.counts.get(Status.CRASHED) is None
        assert_equal_arrays(path, reference)

    def test_an_evaluation_that_forgets_a_status(self, client, path):
        summary = sweep(spec(path, 32), client, evaluator=Forgetful())
        assert "left a variant without a status" in next(iter(summary.errors.values()))

    def test_results_that_cannot_be_written(self, client, path):
        store.create(path, layout_of(spec(path), FourBar()))
        (path / "stroke" / "c").write_text("a file where a folder should be")
        with pytest.raises(WorkersError, match="could not be evaluated and stored"):
            sweep(spec(path), client, evaluator=FourBar())


@dataclasses.dataclass(frozen=True)
class Forgetful(FourBar):
    """Says nothing of variants whose rocker turns far."""

    def __call__(self, columns, passed):
        arrays = super().__call__(columns, passed)
        arrays["status"][:3] = 0
        return arrays


def test_another_specification_is_refused(client, path):
    sweep(spec(path, 32), client, evaluator=FourBar())
    with pytest.raises(StoreError, match=r"space\.candidates: 48 here, 32 there"):
        sweep(spec(path, 48), client, evaluator=FourBar())


def test_no_store_named(client):
    with pytest.raises(UsageError, match="no store"):
        sweep(spec(), client, evaluator=FourBar())


def test_a_store_made_meanwhile_is_looked_at_again(path):
    """Another sweep's of the same shape, made between the first look and the lock."""
    store.create(path, layout_of(spec(path), FourBar()))
    other = spec(path, plan=Sobol(BOUNDS, 400, 8))
    before = (path / "zarr.json").read_bytes()
    with (
        pytest.raises(StoreError, match="holds another sweep"),
        ready(other, None, evaluator=FourBar()),
    ):
        raise AssertionError("it was opened for writing")
    assert (path / "zarr.json").read_bytes() == before


@pytest.mark.parametrize(
    ("count", "chunk", "expected"),
    [(400, 16, 8), (400, 12, 6), (400, 15, 5), (10**6, 999, 111), (10**6, 1024, 128)],
)
def test_a_piece_is_as_large_as_it_may_be(path, count, chunk, expected):
    job = spec(path, count, chunk)
    with ready(job, None, evaluator=FourBar(), precise=Digits()) as run:
        assert [stage.step for stage in run.filling.stages] == [chunk, expected]
        assert {stage.part.chunk for stage in run.filling.stages} == {chunk}


def _work_of(path):
    """A store made, and what fills it."""
    layout = layout_of(spec(path), FourBar())
    store.create(path, layout)
    return Work(
        str(path),
        "",
        spec().plan,
        Filter.of(spec().mechanism, ()),
        (Stage(FourBar(), layout.parts[0]),),
    )


def test_no_worker_is_loud(path):
    work = _work_of(path)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None) as nobody,
        Client(nobody) as client,
        pytest.raises(WorkersError, match="No worker for 1 s"),
    ):
        fanout.run(work, [(0, 400)], client, chunks=[16], patience=1.0)


def test_a_scheduler_that_is_gone_is_loud(path):
    work = _work_of(path)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as nobody:
        client = Client(nobody)
        client.close()
        with pytest.raises(WorkersError, match="scheduler is gone"):
            fanout.run(work, [(0, 400)], client, chunks=[16])
