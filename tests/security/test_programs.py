"""Reading a store imports nothing; who evaluates compares the file first, and asks."""

import hashlib
import importlib.util
import json
import pickle
import py_compile

import numpy as np
import optuna
import pytest

from basepar_core.errors import FileError, StoreError
from sweeps.chunks.evaluator import prepare
from sweeps.spec import own_code
from sweeps.spec.own_code import OwnCodeError
from sweeps.spec.reader import from_document
from workflows.studies import sampler_kinds
from workflows.studies.ask_tell_log import opened
from workflows.studies.cmaes_state import state
from workflows.studies.reader import parse_study
from workflows.studies.storages import Shared
from workflows.studies.store import study_of

from . import made

READING = [
    ("status", "{store}"),
    ("status", "--check", "{store}"),
    ("report", "{store}", "-o", "{folder}/page.html"),
    ("report", "{store}", "--format", "json"),
    ("report", "{store}", "--format", "csv"),
    ("report", "{store}", "--batch", "{folder}/pages"),
]
EVALUATING = [
    ("around", "{store}", "-o", "{folder}/around.yaml"),
    ("polish", "{store}", "--workers", "1"),
    ("tolerances", "{store}", "--tolerance", "lx1=1mm", "--workers", "1"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A sweep and a study with an own metric, done."""
    folder = tmp_path_factory.mktemp("stores")
    made.program(folder)
    made.swept(folder)
    made.studied(folder)
    assert made.traces(folder) == ["imported", "called"]  # what they see is seen
    return folder


def filled(words, folder, name):
    return [word.format(store=folder / f"{name}.zarr", folder=folder) for word in words]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(
            words,
            name,
            marks=pytest.mark.slow if "--batch" in words and name == "study" else (),
            id="-".join((*words[:4:2], name)),
        )
        for words in READING
        for name in ("sweep", "study")
    ],
)
def test_who_only_reads_imports_nothing(words, name, folder, run):
    found = run(*filled(words, folder, name))
    assert found.status == 0, found.err
    assert made.traces(folder) == []


def test_pictures_import_nothing(folder, run):
    assert run("pictures", str(folder / "study.zarr"), "-o", str(folder / "png")).status == 0
    assert made.traces(folder) == []


@pytest.mark.parametrize("words", EVALUATING, ids=lambda words: words[0])
def test_who_evaluates_asks(words, folder, run):
    found = run(*filled(words, folder, "study"))
    assert found.status != 0
    digest = hashlib.sha256(made.PROGRAM.encode()).hexdigest()
    assert found.err.count(digest) == 2  # here, and in the store
    assert f"{folder}/reach.py" in found.err
    assert "--trust-metrics" in found.err
    assert made.traces(folder) == []
    assert not (folder / "around.yaml").exists()


def test_a_sweep_from_a_store_asks(folder, run):
    words = ("sweep", "--from", "{store}", "--store", "{folder}/again.zarr", "--workers", "1")
    found = run(*filled(words, folder, "sweep"))
    assert found.status != 0
    assert "--trust-metrics" in found.err
    assert made.traces(folder) == []


def test_trusted_metrics_run(folder, run):
    words = [*EVALUATING[0], "--trust-metrics"]
    assert run(*filled(words, folder, "study")).status == 0
    assert made.traces(folder) == []  # `around` writes a file, and evaluates nothing
    (folder / "around.yaml").unlink()
    spec = study_of(folder / "study.zarr")
    assert spec.own[0].function is None
    with pytest.raises(OwnCodeError, match="`trust_metrics=`"):
        prepare(spec.sweep)
    assert made.traces(folder) == []
    trusted = spec.fetched(trust_metrics=True)
    assert trusted.hash == spec.hash
    assert made.traces(folder) == ["imported"]
    prepare(trusted.sweep).warm(spec.names)
    assert made.traces(folder) == ["called"]


@pytest.mark.parametrize("words", EVALUATING, ids=lambda words: words[0])
def test_another_file_of_the_name_is_refused_even_if_trusted(words, folder, run):
    made.program(folder, made.PROGRAM + "# another\n")
    try:
        found = run(*filled(words, folder, "study"), "--trust-metrics")
    finally:
        made.program(folder)
    assert found.status != 0
    assert "is not the same any more" in found.err
    assert made.traces(folder) == []


def test_a_store_that_names_a_program_of_its_own(folder, tmp_path, run):
    """The attack of the issue: the program lies within the store, its digest is right."""
    evil = made.program(tmp_path)
    for name in ("sweep", "study"):
        path = folder / f"{name}.zarr"
        attrs = made.attributes(path)
        plain = json.loads(attrs["spec"])
        own = plain["evaluate"]["own"]["reach"]
        own["entry"] = f"{evil}:reach"
        own["sha256"] = hashlib.sha256(evil.read_bytes()).hexdigest()
        made.set_attributes(path, attrs | {"spec": json.dumps(plain)})
        try:
            for words in [*READING, *EVALUATING]:
                run(*filled(words, folder, name))
            run(*filled(("sweep", "--from", "{store}", "--store", "{folder}/x"), folder, name))
        finally:
            made.set_attributes(path, attrs)
    assert made.traces(tmp_path) == []


def test_a_compiled_file_beside_is_not_taken_for_the_source(tmp_path):
    """The digest is of the text; Python's import would run what lies in __pycache__."""
    file = made.program(tmp_path, "def reach(cycle):\n    return 'source'\n")
    other = tmp_path / "other.py"
    other.write_text("def reach(cycle):\n    return 'compiled'\n")
    cache = importlib.util.cache_from_source(str(file))
    py_compile.compile(
        str(other), cfile=cache, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    _, function = own_code.loaded("reach.py:reach", tmp_path)
    assert function(None) == "source"


def test_modules_are_found_without_importing_their_packages(tmp_path, monkeypatch):
    package = tmp_path / "basepar_canary" / "inner"
    package.mkdir(parents=True)
    for place in (package.parent, package):
        (place / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "wear.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = own_code.find("basepar_canary.inner.wear:wear")
    assert found.path == package / "wear.py"
    with pytest.raises(OwnCodeError, match="No module named"):
        own_code.find("basepar_canary.other.wear:wear")


def _nothing(spec, count):
    """No stored rows."""
    return np.full((count, len(spec.names)), np.nan)


# Samplers


STUDY = made.STUDY.replace("{kind: random, seed: 3}", "SAMPLER").replace(
    "own_metrics: {reach: reach.py:reach}\n", ""
)
STUDY = STUDY.replace("{reach: minimize}", "{mass: minimize}")


@pytest.mark.parametrize(
    "sampler",
    [
        "{kind: 'os:system', options: {command: 'touch CANARY'}}",
        "{kind: 'canary:Sampler'}",
        "{kind: 'optuna.samplers:RandomSampler'}",
        "{kind: BaseSampler}",
        "{kind: nsgaii}",
        "{kind: __builtins__}",
        "{kind: own}",
        "{kind: tpe, options: {gamma: 'os:system'}}",
        "{kind: tpe, options: {constraints_func: 'os:system'}}",
        "{kind: nsga2, options: {crossover: 'os:system'}}",
        "{kind: qmc, options: {independent_sampler: 'os:system'}}",
        "{kind: cmaes, options: {independent_sampler: 'os:system'}}",
        "{kind: random, options: {seed: 3}}",
    ],
)
def test_a_sampler_is_a_name_of_a_list(sampler, tmp_path, monkeypatch):
    (tmp_path / "canary.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FileError, match=r"sampler"):
        parse_study(STUDY.replace("SAMPLER", sampler), str(tmp_path / "study.yaml"))
    assert not (tmp_path / "CANARY").exists()


def test_every_listed_sampler_is_optunas():
    for title in sampler_kinds.CLASSES:
        assert issubclass(getattr(optuna.samplers, title), optuna.samplers.BaseSampler)
    known = {kind.title for kind in sampler_kinds.KINDS.values()}
    assert known - {""} <= set(sampler_kinds.CLASSES)


def test_a_sampler_that_a_store_names_is_not_imported(tmp_path):
    mine = "from optuna.samplers import RandomSampler\n\n\nclass Mine(RandomSampler):\n    pass\n"
    (tmp_path / "mine.py").write_text(mine)
    text = STUDY.replace("SAMPLER", "{own: 'mine.py:Mine', seed: 3}")
    spec = made.studied(tmp_path, text)
    (tmp_path / "mine.py").write_text(mine + "raise SystemExit('imported')\n")
    found = study_of(spec.path)
    assert found.sampler.own is not None
    assert found.hash == spec.hash
    with pytest.raises(OwnCodeError, match="is not the same any more"):
        found.fetched(trust_metrics=True)
    (tmp_path / "mine.py").write_text(mine)
    with pytest.raises(OwnCodeError, match="`trust_metrics=`"):
        found.fetched()
    assert found.fetched(trust_metrics=True).sampler.own.make.__name__ == "Mine"


# Pickles


def test_the_state_of_cmaes_in_a_journal_cannot_import(tmp_path):
    """Optuna unpickles what the trials' attributes hold."""
    text = STUDY.replace("SAMPLER", "{kind: cmaes, seed: 3}").replace("trials: 4", "trials: 12")
    spec = parse_study(text.replace("batch: 4", "batch: 6")).at(str(tmp_path / "study.zarr"))
    with opened(spec) as journal:
        journal.ask(0, 6, _nothing(spec, 6))
        canary = tmp_path / "canary"
        bomb = made.Bomb(canary).hex()
        storage = journal.study._storage
        first = journal.trials(0, 1)[0]
        storage.set_trial_system_attr(first._trial_id, "cma:optimizer:0", bomb)
        for frozen in journal.trials(0, 6):
            journal.study.tell(frozen.number, 1.0 + frozen.number)
        with pytest.raises(StoreError, match=r"names _?io\.open"):
            journal.ask(6, 12, _nothing(spec, 6))
    assert not canary.exists()


def test_cmaes_goes_on_from_its_own_state():
    import cmaes

    for make in (cmaes.CMA, cmaes.SepCMA):
        before = make(mean=np.zeros(3), sigma=1.0, seed=1)
        before.tell([(before.ask(), float(k)) for k in range(before.population_size)])
        after = state(pickle.dumps(before))
        before._rng.seed(5)
        after._rng.seed(5)
        np.testing.assert_array_equal(before.ask(), after.ask())
    with pytest.raises(StoreError, match="it is a list"):
        state(pickle.dumps([1, 2]))


def test_a_journal_on_a_server_has_no_pickled_snapshot(tmp_path):
    """Optuna unpickles the snapshot that a Redis server hands out."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal._base import BaseJournalBackend, BaseJournalSnapshot

    class Server(BaseJournalBackend, BaseJournalSnapshot):
        """As Optuna's Redis backend, without a server."""

        def __init__(self):
            self.logs = []

        def read_logs(self, log_number_from):
            return self.logs[log_number_from:]

        def append_logs(self, logs):
            self.logs += logs

        def save_snapshot(self, snapshot):
            raise AssertionError("a snapshot is a pickle")

        def load_snapshot(self):
            return made.Bomb(tmp_path / "canary").pickled()

    storage = JournalStorage(Shared(Server()))
    optuna.create_study(storage=storage, study_name="one")
    assert optuna.get_all_study_names(storage) == ["one"]
    assert not (tmp_path / "canary").exists()


def test_a_specification_is_described_only(folder):
    text = made.attributes(folder / "sweep.zarr")["spec"]
    spec = from_document(text)
    assert spec.evaluation.own[0].function is None
    assert made.traces(folder) == []
