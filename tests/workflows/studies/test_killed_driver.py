"""The driver is killed at every kind of moment, and the study ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import optuna
import pytest
from optuna.storages.journal import JournalFileBackend
from optuna.storages.journal._storage import JournalOperation
from optuna.trial import TrialState

from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store, status
from tests.workflows.fourbar_study import SMALL, assert_equal_stores, small
from workflows.studies.ask_tell_log import Journal
from workflows.studies.study import study

DRIVER = """
import os, signal, sys
from cluster.client import connect
from cluster.places import Laptop
from optuna.storages import JournalStorage
from tests.workflows.fourbar_study import SMALL, small
from sweeps.run import task_queue
from workflows.studies import ask_tell_log, rows, study as design_study

task_queue.LEAST_SECONDS = 0  # each chunk is a task, so that a batch can be half done


def die_after(owner, name, calls, before=False):
    real, made = getattr(owner, name), []

    def counted(*arguments, **options):
        made.append(1)
        if before and len(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        found = real(*arguments, **options)
        if len(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(owner, name, counted)


def progress(advance):
    if moment == "during evaluation" and advance.done >= 15:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, moment, kind = sys.argv[1:]
    if moment == "before the store is there":
        die_after(rows, "prepare", 1)
    elif moment == "while asking":  # the second batch, with two of three parameters set
        die_after(JournalStorage, "set_trial_param", 44)
    elif moment == "after asking":
        die_after(ask_tell_log.Journal, "ask", 2)
    elif moment == "between storing and telling":
        die_after(ask_tell_log.Journal, "tell", 2, before=True)
    elif moment == "while telling":
        die_after(JournalStorage, "set_trial_state_values", 14)
    elif moment == "between constraints":
        die_after(JournalStorage, "set_trial_system_attr", 40)
    with connect(Laptop(workers=1)) as client:
        design_study.study(small(folder, text=SMALL.replace("tpe", kind)), client, progress)
"""


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, client):
    found = {kind: of_kind(kind, tmp_path_factory.mktemp(kind)) for kind in ("tpe", "random")}
    for spec in found.values():
        study(spec, client)
    return found


def of_kind(kind, folder):
    return small(folder, text=SMALL.replace("tpe", kind))


def trials(spec):
    storage = optuna.storages.JournalStorage(JournalFileBackend(spec.storage))
    return optuna.load_study(study_name=spec.name, storage=storage).get_trials()


def times_told(spec):
    """How often each trial was finished, by the lines of the journal."""
    lines = [json.loads(line) for line in Path(spec.storage).read_text().splitlines()]
    told = JournalOperation.SET_TRIAL_STATE_VALUES
    return Counter(line["trial_id"] for line in lines if line["op_code"] == told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "kind", "least", "most", "told"),
    [
        ("before the store is there", "tpe", 0, 0, 0),
        ("while asking", "tpe", 10, 10, 10),
        ("after asking", "tpe", 10, 10, 10),
        # A worker may finish the chunk it is at before it sees that its driver is gone.
        ("during evaluation", "tpe", 15, 20, 10),
        ("between storing and telling", "tpe", 20, 20, 10),
        ("while telling", "tpe", 20, 20, 14),
        # The next batch is asked already, and a worker is at it or has done it.
        ("between constraints", "random", 20, 30, 19),
    ],
)
def test_killed_and_run_again(moment, kind, least, most, told, tmp_path, client, undisturbed):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    driver = subprocess.run(
        [sys.executable, str(script), str(tmp_path), moment, kind],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        stderr=subprocess.PIPE,
        timeout=400,
    )
    assert driver.returncode == -signal.SIGKILL, driver.stderr.decode()[-2000:]
    spec = of_kind(kind, tmp_path)
    left = 0
    if spec.path.exists():
        # By records: a worker that ends between a status and its record leaves none.
        pending = status.take(Store.open(spec.path)).pending
        left = Store.open(spec.path)["status"].shape[0] - sum(
            stop - start for start, stop in pending
        )
    assert least <= left <= most
    assert sum(times_told(spec).values()) == told
    if kind == "random":
        assert len(trials(spec)) == 30
    with open(spec.storage, "ab") as file:
        file.write(b'{"op_code":4,"worker_id":"')  # and the line it was at is torn

    assert 35 - most <= study(spec, client).summary.evaluated <= 35 - left
    assert_equal_stores(spec.path, undisturbed[kind].path)
    found = trials(spec)
    assert [one.state for one in found] == [TrialState.COMPLETE] * 35
    assert set(times_told(spec).values()) == {1}
    assert len({tuple(one.params.items()) for one in found}) == 35
    for one, other in zip(found, trials(undisturbed[kind]), strict=True):
        assert (one.params, one.values, one.constraints) == (
            other.params,
            other.values,
            other.constraints,
        )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "tpe",
            ["ask 0", "tell 0", "ask 10", "tell 10", "ask 20", "tell 20", "ask 30", "tell 30"],
        ),
        (
            "random",
            ["ask 0", "ask 10", "tell 0", "ask 20", "tell 10", "ask 30", "tell 20", "tell 30"],
        ),
    ],
)
def test_only_samplers_that_do_not_learn_are_asked_ahead(
    kind, expected, tmp_path, client, monkeypatch
):
    done = []

    def note(name):
        real = getattr(Journal, name)

        def noted(self, start, *others):
            done.append(f"{name} {start}")
            return real(self, start, *others)

        monkeypatch.setattr(Journal, name, noted)

    note("ask")
    note("tell")
    study(of_kind(kind, tmp_path), client)
    assert done == expected
