"""Optuna's journal in a bucket: several writers, killed ones, and studies that a driver runs."""

import json
import os
import random
import re
import signal
import subprocess
import sys

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.trial import TrialState

from basepar_core.errors import FileError, StoreError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store, locate
from sweeps.store.bucket import Bucket
from sweeps.store.bucket_requests import Unreachable
from tests.sweeps.conftest import bucket, bucket_server  # noqa: F401
from tests.workflows.fourbar_study import SMALL, small
from workflows.studies import storages
from workflows.studies.bucket_journal import BucketJournal, _key
from workflows.studies.polishing import polish
from workflows.studies.reader import parse_study
from workflows.studies.study import study


class Objects:
    """Objects by key in memory, made where nothing is; counts requests."""

    def __init__(self):
        self.there, self.asked, self.fault = {}, 0, ""

    def create(self, key, content):
        self.asked += 1
        fault, self.fault = self.fault, ""
        if fault == "failed":
            raise Unreachable("not done", [])
        made = self.there.setdefault(key, content) is content
        if fault == "lost":
            raise Unreachable("done", [])
        return made

    def get_all(self, keys):
        self.asked += len(keys)
        return [self.there.get(key) for key in keys]


def line(number, writer="a"):
    return {"op_code": 4, "worker_id": writer, "number": number}


def test_writers_in_any_order_see_the_same_lines():
    """Against a list to which each appends in turn; readers begin anywhere."""
    chance = random.Random(5)
    there, whole = Objects(), []
    writers = [BucketJournal(there) for _ in range(3)]
    read = [0, 0, 0]
    for number in range(300):
        which = chance.randrange(3)
        if chance.random() < 0.5:
            lines = [line(number, which)] * chance.randint(1, 3)
            writers[which].append_logs(lines)
            whole += lines
        else:
            begin = chance.choice([read[which], read[which], 0, len(whole) // 2])
            assert list(writers[which].read_logs(begin)) == whole[begin:]
            read[which] = len(whole)
    assert BucketJournal(there).read_logs(0) == whole
    assert sorted(there.there) == [_key(number) for number in range(len(there.there))]


def test_who_holds_it_writes_an_object_a_batch():
    there = Objects()
    held = BucketJournal(there, is_held=True)
    assert held.read_logs(0) == []
    for number in range(20):
        held.append_logs([line(number)])
        assert held.read_logs(number) == [line(number)]
    before = there.asked
    assert there.there == {}
    held.sync()
    held.sync()
    assert len(there.there) == 1
    assert there.asked == before + 1
    held.append_logs([line(20)])
    assert held.read_logs(7) == [line(number) for number in range(7, 21)]
    assert BucketJournal(there).read_logs(20) == []
    held.release()
    held.append_logs([line(21)])
    assert BucketJournal(there).read_logs(20) == [line(20), line(21)]


def test_two_holders_are_noticed():
    """What the second one made of his lines is not what they are behind the first one's."""
    there = Objects()
    one, other = (BucketJournal(there, is_held=True) for _ in range(2))
    one.append_logs([line(1)])
    other.append_logs([line(2)])
    one.sync()
    with pytest.raises(StoreError, match="Another process has written"):
        other.sync()
    assert BucketJournal(there).read_logs(0) == [line(1)]


@pytest.mark.parametrize(
    ("fault", "states"),
    [("failed", [TrialState.COMPLETE]), ("lost", [TrialState.RUNNING, TrialState.COMPLETE])],
)
def test_what_could_not_be_appended_is_not_appended_later(fault, states):
    """Asked for again, a trial is there once; once more if only the answer was lost."""
    there = Objects()
    storage = JournalStorage(BucketJournal(there))
    one = optuna.create_study(storage=storage, study_name="s")
    there.fault = fault
    with pytest.raises(Unreachable):
        one.ask()
    one.tell(one.ask(), 1.0)
    seen = optuna.load_study(study_name="s", storage=JournalStorage(BucketJournal(there)))
    assert [trial.state for trial in seen.trials] == states


def test_few_new_objects_take_few_requests():
    """Each request is paid for: one for an object, and as many again to find the end."""
    there = Objects()
    writer, reader = BucketJournal(there), BucketJournal(there)
    for number in range(100):
        before = there.asked
        writer.append_logs([line(number)])
        assert reader.read_logs(number) == [line(number)]
        assert there.asked - before <= 1 + 3
    before = there.asked
    assert len(BucketJournal(there).read_logs(0)) == 100
    assert there.asked - before <= 2 * 100


@pytest.mark.parametrize("content", [b"", b"[]\n", b"{\n", b'{"op_code": 1}\n', b"\xff\n"])
def test_something_else_is_left_alone(content):
    there = Objects()
    there.there[_key(0)] = content
    with pytest.raises(StoreError, match="is not of a journal of Optuna's"):
        BucketJournal(there).read_logs(0)


def test_a_study_s_journal_lies_beside_its_store():
    """Where the file names none; a storage that is named stays."""
    text = re.sub("store: .*", "store: {path: 's3://b/f/x.zarr'}", SMALL)
    assert parse_study(text).storage == "s3://b/f/x.journal"
    assert parse_study(text).at("y.zarr").storage == "y.journal"
    assert parse_study(SMALL).at("gs://b/y.zarr").storage == "gs://b/y.journal"
    named = text.replace("name: torque", "name: torque, storage: 's3://c/a.journal'")
    assert parse_study(named).storage == "s3://c/a.journal"
    assert storages.file_of("s3://c/a.journal") is None
    with pytest.raises(FileError, match="names no store in a bucket"):
        parse_study(named.replace("s3://c/a.journal", "s3://c"))


ASKER = """
import json, sys, time
import optuna
from optuna.storages import JournalStorage
from sweeps.store.bucket import Bucket
from workflows.studies.bucket_journal import BucketJournal

url, count, wanted = sys.argv[1], *map(int, sys.argv[2:])
optuna.logging.disable_default_handler()
storage = JournalStorage(BucketJournal(Bucket(url)))
study = optuna.create_study(study_name="s", storage=storage, load_if_exists=True)
for number in range(count):
    trial = study.ask()
    value = trial.suggest_float("x", 0, 1) ** 2
    print(f"asked {trial.number}", flush=True)
    study.tell(trial, value)
    print(json.dumps([trial.number, trial.params["x"], value]), flush=True)
end = time.monotonic() + 100
while len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE])) < wanted:
    assert time.monotonic() < end
"""


@pytest.mark.slow
def test_processes_that_ask_at_once(bucket):  # noqa: F811
    """Three, one of which is killed between asking and telling: nothing else is missing."""
    url, told = f"{bucket}/s.journal", 2 * 6 + 2
    words = [sys.executable, "-c", ASKER, url]
    more = {"env": {**os.environ, "PYTHONPATH": ":".join(sys.path)}, "stdout": subprocess.PIPE}
    askers = [
        subprocess.Popen([*words, "6", str(told)], text=True, **more),
        subprocess.Popen([*words, "6", str(told)], text=True, **more),
        subprocess.Popen([*words, "9", "999"], text=True, **more),
    ]
    said, seen = "", 0
    while seen < 3:  # its third trial is asked and not told
        said += (one := askers[2].stdout.readline())
        seen += one.startswith("asked")
        if seen == 3:
            askers[2].send_signal(signal.SIGKILL)
    said += askers[2].communicate()[0]
    outputs = [said, *(one.communicate(timeout=100)[0] for one in askers[:2])]
    assert [one.returncode for one in askers] == [0, 0, -signal.SIGKILL]  # all saw all
    lines = [json.loads(one) for text in outputs for one in text.splitlines() if one[0] == "["]
    found = optuna.load_study(study_name="s", storage=JournalStorage(BucketJournal(Bucket(url))))
    trials = {one.number: one for one in found.trials}
    assert len({number for number, _, _ in lines}) == len(lines) >= told
    for number, x, value in lines:
        assert (trials[number].params["x"], trials[number].value) == (x, value)
    # One more at most: asked by who was killed, told where nobody heard that it was.
    assert sorted(trials) == list(range(len(trials)))
    assert told <= len(trials) <= told + 1
    running = [one for one in trials.values() if one.state == TrialState.RUNNING]
    assert len(running) <= 1


DRIVER = """
import os, signal, sys
from cluster.client import connect
from cluster.places import Laptop
from optuna.storages import JournalStorage
from tests.workflows.fourbar_study import small
from tests.workflows.studies.test_bucket_journal import TEXT
from workflows.studies.study import study

if __name__ == "__main__":
    real, made = JournalStorage.set_trial_state_values, []

    def counted(*arguments, **options):
        made.append(1)
        if len(made) == 14:  # of the second batch, four are told
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    JournalStorage.set_trial_state_values = counted
    with connect(Laptop(workers=1)) as client:
        study(small(sys.argv[1], text=TEXT), client)
"""
TEXT = SMALL.replace("trials: 35", "trials: 20")


@pytest.mark.slow
def test_a_killed_driver_s_study_ends_as_in_a_folder(bucket, tmp_path):  # noqa: F811
    (script := tmp_path / "driver.py").write_text(DRIVER)
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    killed = subprocess.run([sys.executable, script, bucket], env=environment, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    spec, folder = small(bucket, text=TEXT), small(tmp_path, text=TEXT)
    with connect(Laptop(workers=1)) as client:
        assert study(spec, client).summary.evaluated == 0  # all 20 were stored
        study(folder, client)
    ours, theirs = Store.open(spec.path), Store.open(folder.path)
    for name in theirs:
        assert ours[name][:].tobytes() == theirs[name][:].tobytes(), name
    with storages.opened(spec.storage, "torque") as one:
        found = optuna.load_study(study_name="torque", storage=one).trials
    with storages.opened(folder.storage, "torque") as other:
        expected = optuna.load_study(study_name="torque", storage=other).trials
    assert [one.state for one in found] == [TrialState.COMPLETE] * 20
    assert [(one.params, one.values) for one in found] == [
        (one.params, one.values) for one in expected
    ]


@pytest.mark.slow
def test_what_belongs_to_a_study_lies_beside_it(bucket, run):  # noqa: F811
    """Polished twice, the first answer is set aside whole; pages go where they are wanted."""
    spec = small(bucket, text=TEXT.replace("trials: 20", "trials: 10"))
    store = spec.store
    with connect(Laptop(workers=1)) as client:
        study(spec, client)
        assert polish(spec, client, 2).aside is None
        polished = polish(spec, client, 1)
    assert polished.told
    assert str(polished.aside) == f"{bucket}/study-polished-1.zarr"
    aside, now = (Store.open(f"{bucket}/study-polished{end}.zarr") for end in ("-1", ""))
    assert (aside["status"].shape, now["status"].shape) == ((2,), (1,))
    assert (aside["torque_rms"][0], aside["lx1"][0]) == (now["torque_rms"][0], now["lx1"][0])
    assert run("status", f"{bucket}/study-polished-1.zarr", "--check").status == 0
    page = f"{bucket}/pages/report.html"
    for _ in range(2):  # its own page is replaced
        assert run("report", store, "-o", page, "--json").json["report"] == page
    there = locate(f"{bucket}/pages")
    assert b"polished" in there.get("report.html")
    shown = f"{aside['torque_rms'][0]:.4g}".encode()
    assert shown in there.get("report.html")
    there.put("mine.html", b"somebody's")
    assert run("report", store, "-o", f"{bucket}/pages/mine.html").status == 2
    assert there.get("mine.html") == b"somebody's"
    assert run("report", store, "--batch", f"{bucket}/pages", "--json").status == 0
    assert there.get("index.html")
