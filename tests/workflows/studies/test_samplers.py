"""Asking and telling: storages, samplers that learn, more trials, the best one once more."""

import shutil
import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

from basepar_core.api import load
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import StoreError, UsageError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.spec.reader import load_sweep
from sweeps.store import Store, safe_files, store
from tests.workflows.fourbar_study import assert_equal_stores, small
from tests.workflows.study_specs import study_from
from workflows.jobs.store import mend
from workflows.studies import certify_best
from workflows.studies.ask_tell_log import opened
from workflows.studies.feasibility import Verdict, judge
from workflows.studies.neighbourhood import write_neighbourhood
from workflows.studies.reader import parse_study
from workflows.studies.spec import Sampler
from workflows.studies.storages import file_of, shown
from workflows.studies.store import study_of as study_in
from workflows.studies.study import study
from workflows.studies.warm_start import possible

STORAGES = ("study.journal", "sqlite:///{folder}/study.db")


def paper(folder, storage="study.journal", **others):
    """A study that nobody evaluates: values are made up."""
    return study_from(
        "four-bar",
        variables={"lx1": (0.2, 0.6), "lx3": (1.0, 1.6)},
        objectives={"torque_rms": "minimize"},
        constraints=["stroke(D) >= 40 deg"],
        store=f"{folder}/study.zarr",
        storage=storage.format(folder=folder) if "://" in storage else f"{folder}/{storage}",
        **{"trials": 40, "batch": 10} | others,
    )


def bowl(values):
    """Least 0 at lx1 = 0.3, lx3 = 1.2; infeasible beyond lx1 = 0.55."""
    settled = np.ones(len(values), bool)
    value = ((values - [0.3, 1.2]) ** 2).sum(axis=1)
    beyond = values[:, :1] - 0.55
    return Verdict(values, {}, value[:, None], np.hstack([0 * beyond, beyond]), settled)


def asked(journal, start, stop):
    count = len(journal.spec.variables)
    return journal.ask(start, stop, np.full((stop - start, count), np.nan))


def played(spec, batches):
    """Parameters by batch, asked and told."""
    with opened(spec) as journal:
        found = []
        for start in range(0, batches * spec.batch, spec.batch):
            values = asked(journal, start, start + spec.batch)
            journal.tell(start, bowl(values))
            found.append(values)
    return found


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.slow
def test_any_storage_the_same_trials_and_plain_optuna_reads_it(storage, tmp_path):
    spec = paper(tmp_path, storage)
    values = np.concatenate(played(spec, 3))
    again = np.concatenate(played(replace(spec, storage=str(tmp_path / "other.journal")), 3))
    np.testing.assert_array_equal(values, again)
    # By Optuna alone, as its dashboard opens it.
    name = spec.storage
    if "://" not in name:
        backend = optuna.storages.journal.JournalFileBackend(name)
        name = optuna.storages.JournalStorage(backend)
    found = optuna.load_study(study_name="study", storage=name)
    assert [one.state for one in found.trials] == [TrialState.COMPLETE] * 30
    np.testing.assert_array_equal([one.params["lx1"] for one in found.trials], values[:, 0])
    feasible = values[:, 0] <= 0.55
    for one, good in zip(found.trials, feasible, strict=True):
        assert (one.constraints["stroke(D) >= 40 deg"] <= 0) == good
    assert found.best_trial.number in np.flatnonzero(feasible)
    mpl.use("Agg")
    axes = optuna.visualization.matplotlib.plot_optimization_history(found)
    assert axes.has_data()
    assert optuna.visualization.matplotlib.plot_slice(found, params=["lx1"]).has_data()


@pytest.mark.parametrize("storage", STORAGES)
def test_one_driver_at_a_time_on_any_file(storage, tmp_path):
    spec = paper(tmp_path, storage)
    with opened(spec), pytest.raises(StoreError, match="is being filled by process"), opened(spec):
        pass
    with opened(spec) as journal:
        assert asked(journal, 0, 3).shape == (3, 2)


def test_polished_designs_are_no_rows(tmp_path):
    """They are told to the journal between two runs; the rows go on where they were."""
    spec = paper(tmp_path, sampler="random")
    first = np.concatenate(played(spec, 1))
    with opened(spec) as journal:
        known = journal.study.trials[0]
        journal.study.add_trial(
            optuna.trial.create_trial(
                values=[0.0],
                params=known.params,
                distributions=known.distributions,
                user_attrs={"polished": 0},
            )
        )
    values = np.concatenate(played(spec, 3))
    np.testing.assert_array_equal(values[:10], first)
    other = replace(spec, storage=str(tmp_path / "plain.journal"))
    np.testing.assert_array_equal(values, np.concatenate(played(other, 3)))


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
from tests.workflows.studies.test_samplers import asked, bowl, paper
from workflows.studies.ask_tell_log import opened
folder, storage, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
from optuna.storages import JournalStorage, RDBStorage
owner = RDBStorage if "://" in storage else JournalStorage
made = []
for name in ("set_trial_param", "set_trial_state_values", "set_trial_system_attr"):
    def counted(*a, real=getattr(owner, name), **k):
        made.append(1)
        found = real(*a, **k)
        if len(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(owner, name, counted)
with opened(paper(folder, storage)) as journal:
    for start in (0, 10, 20):
        journal.tell(start, bowl(asked(journal, start, start + 10)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("storage", "calls"), [(STORAGES[1], 31), (STORAGES[1], 72)])
def test_killed_over_sqlite(storage, calls, tmp_path):
    """Between a trial's parameters, and between its constraints; then on, as if nothing were."""
    script = tmp_path / "driver.py"
    script.write_text(KILLED.format(path=sys.path))
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path), storage, str(calls)],
        stderr=subprocess.PIPE,
        timeout=400,
    )
    assert ran.returncode == -9, ran.stderr.decode()[-2000:]
    spec = paper(tmp_path, storage)
    values = np.concatenate(played(spec, 3))
    other = replace(spec, storage=str(tmp_path / "undisturbed.journal"))
    np.testing.assert_array_equal(values, np.concatenate(played(other, 3)))
    found = optuna.load_study(study_name="study", storage=spec.storage)
    assert [one.state for one in found.trials] == [TrialState.COMPLETE] * 30


def test_storages_by_name(tmp_path):
    assert file_of("a.journal").name == "a.journal"
    assert file_of(f"sqlite:///{tmp_path}/b.db") == tmp_path / "b.db"
    assert file_of("postgresql://me:secret@host/db") is None
    assert shown("postgresql://me:secret@host/db") == "postgresql://me@host/db"
    spec = replace(paper(tmp_path), storage="nonsense://me:secret@host/db")
    with pytest.raises(UsageError, match=r"nonsense://me@host/db: no storage") as caught:
        opened(spec).__enter__()
    assert "secret" not in str(caught.value)
    assert spec.at("elsewhere.zarr").storage == spec.storage


@pytest.mark.parametrize("kind", ["nsga2", "nsga3"])
def test_genetic_samplers_breed_from_what_was_proposed(kind, tmp_path):
    """Were the proposals not marked as a generation, the second batch would be random."""
    spec = paper(tmp_path, sampler=kind, seed=1)
    proposals = [{"lx1": 0.3 + 0.001 * k, "lx3": 1.2 + 0.002 * k} for k in range(10)]
    with opened(spec) as journal:
        journal.candidates = proposals
        first = asked(journal, 0, 10)
        np.testing.assert_array_equal(first[:, 0], [one["lx1"] for one in proposals])
        journal.tell(0, bowl(first))
        second = asked(journal, 10, 20)
    inherited = np.isin(second[:, 0], first[:, 0]) | np.isin(second[:, 1], first[:, 1])
    # A gene mutates with probability 1/2 here (one over the number of variables).
    assert inherited.sum() >= 5


def test_cmaes_begins_where_the_sweep_was_good(tmp_path):
    pytest.importorskip("cmaes")
    rng = np.random.default_rng(1)
    values = rng.uniform([0.2, 1.0], [0.6, 1.6], (200, 2))
    spec = replace(paper(tmp_path), constraints=(), sampler=Sampler("cmaes"))
    distributions = {
        "lx1": optuna.distributions.FloatDistribution(0.2, 0.6),
        "lx3": optuna.distributions.FloatDistribution(1.0, 1.6),
    }
    with opened(spec) as journal:
        journal.source = [
            optuna.trial.create_trial(
                value=((one - [0.3, 1.2]) ** 2).sum(),
                params=dict(zip(distributions, one, strict=True)),
                distributions=distributions,
            )
            for one in values
        ]
        first = asked(journal, 0, 10)
        verdict = bowl(first)
        journal.tell(0, replace(verdict, violations=verdict.violations[:, :1]))
        second = asked(journal, 10, 20)
    # Around the best tenth, not the middle of the range (0.4, 1.3).
    assert np.linalg.norm(second.mean(axis=0) - [0.3, 1.2]) < 0.07


def test_possible_values_are_those_the_variables_know():
    spec = parse_study(
        "mechanism: four-bar\nvariables: {lx1: [0.2, 0.6], lx3: {choices: [1.1, 1.3]}, "
        "Dx: {integer: [1, 3]}}\nobjectives: {mass: minimize}\ntrials: 5"
    )
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.uniform(0, 4, 50), [0.2, 0.6, 1.1, 1.3, 1, 2, 3]])
    for _, variable in spec.variables:
        expected = [variable.parameter(float(x)) is not None for x in values]
        np.testing.assert_array_equal(possible(variable, values), expected)


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def done(tmp_path_factory, client):
    spec = small(tmp_path_factory.mktemp("whole"))
    assert study(spec, client).summary.done
    return spec


@pytest.mark.slow
def test_prolonged_it_is_the_longer_study(done, tmp_path, client):
    spec = small(tmp_path)
    assert study(spec.of(20), client).summary.done
    result = study(spec, client)  # 35: three batches more, the last one half
    assert (result.summary.evaluated, result.spec.trials) == (15, 35)
    assert_equal_stores(spec.path, done.path)
    # From the middle of a batch, and of a chunk; whole chunks are evaluated again, and agree.
    study(spec.of(37), client)
    before = store.read(spec.path).load()
    result = study(spec.of(44), client)
    assert result.summary.done
    after = store.read(spec.path).load()
    assert before.equals(after.isel(variant=slice(37)))
    assert study(spec.of(20), client).spec.trials == 44


@pytest.mark.slow
def test_an_interrupted_prolongation_is_done_again(done, tmp_path, client, monkeypatch):
    spec = small(tmp_path)
    study(spec.of(20), client)
    real = safe_files.replace

    def failing(root, file, content):
        if file.parent.name == "status":
            raise OSError(28, "No space left on device")
        real(root, file, content)

    monkeypatch.setattr(safe_files, "replace", failing)
    with pytest.raises(OSError, match="No space"):
        study(spec, client)
    monkeypatch.undo()
    assert study(spec, client).summary.done
    assert_equal_stores(spec.path, done.path)


@pytest.mark.slow
def test_a_lost_chunk_is_refused_and_mended(done, tmp_path, client):
    for kind in (".zarr", ".journal"):
        source, copy = done.path.with_suffix(kind), tmp_path / f"study{kind}"
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    spec = small(tmp_path)
    (spec.path / "torque_rms/c/1").unlink()
    for reader in (lambda: study(spec, client), lambda: study_in(spec.path)):
        with pytest.raises(StoreError, match="torque_rms, variants 5 to 10: its chunk is missing"):
            reader()
    assert mend(spec.sweep) == ["torque_rms, variants 5 to 10: its chunk is missing"]
    assert study(spec, client).summary.evaluated == 5
    assert_equal_stores(spec.path, done.path)


@pytest.mark.slow
def test_the_best_one_certified(done, client):
    verdict = judge(done, Store.open(done.path), 0, 35)
    row = int(np.argmin(np.where(verdict.feasible, verdict.values[:, 0], np.inf)))
    (found,) = certify_best.certify(done, [row])
    # Four-bar: 8 of 12 (planar paper, Table 1).
    assert (found["rank"], found["status"]) == (8, "certified")
    assert found["sigma_least"] > found["sigma_most"] >= 0
    evaluator = prepare(done.sweep)
    values = {
        name: np.array([x]) for name, x in zip(done.names, verdict.parameters[row], strict=True)
    }
    mechanism = done.mechanism
    moving = excitation(mechanism, evaluator.model.assembled.coordinates)
    W = observe(evaluator.model, values, moving).stacked[0]
    phi = mechanism.inertial_parameters({**mechanism.nominal, **values})[0]
    base = np.array(list(found["base_parameters"].values()))
    torque = W @ phi
    # The same torques from eight numbers as from twelve: that is what they are.
    kept = W[:, list(evaluator.base.kept)]
    np.testing.assert_allclose(kept @ base, torque, rtol=0, atol=1e-11 * np.abs(torque).max())
    assert certify_best.certify(done, [row]) == [found]  # from the store


@pytest.mark.slow
def test_a_sweep_around_the_best_one(done, tmp_path):
    facts = write_neighbourhood(str(done.path), str(tmp_path / "near.yaml"), 0.1, 64)
    again = study_in(done.path)
    assert again.variables == done.variables
    job = load_sweep(tmp_path / "near.yaml")
    assert len(job) == 64
    assert set(job.evaluation.metrics) == {"torque_rms", "stroke(D)"}
    rows = job.plan.rows(0, 64)
    verdict = judge(done, Store.open(done.path), 0, 35)
    row = int(facts["design"].removeprefix("variant "))
    assert verdict.feasible[row]
    assert verdict.values[row, 0] == verdict.values[verdict.feasible, 0].min()
    for (name, bounds), centre in zip(done.variables, verdict.parameters[row], strict=True):
        reach = 0.1 * (bounds.high - bounds.low) * (1 + 1e-12)
        assert (np.abs(rows[name] - centre) <= reach).all()
        assert (rows[name] >= bounds.low).all()
        assert np.ptp(rows[name]) > 0.8 * reach


@pytest.mark.slow
def test_own_metrics_and_derived_symbols_on_workers(tmp_path, client):
    (tmp_path / "wear.py").write_text(
        "def wear(cycle):\n    'Way of the rocker.'\n"
        "    return abs(cycle.joint('D')[:, 1:] - cycle.joint('D')[:, :-1]).sum(axis=1)\n"
    )
    text = """
mechanism: four-bar
variables: {lx1: [0.2, 0.5]}
derive: {lx3: lx1 + 0.8 m}
own_metrics: {wear: wear.py:wear}
objectives: {"wear*mass": minimize}
constraints: ["transmission_angle(B, C, D) >= 10 deg"]
sampler: {kind: qmc}
trials: 8
batch: 8
"""
    spec = parse_study(text, str(tmp_path / "study.yaml")).at(str(tmp_path / "s.zarr"))
    assert study(spec, client).summary.done
    data = store.read(spec.path).load()
    np.testing.assert_allclose(data.lx3, data.lx1 + 0.8, rtol=1e-15)
    good = np.isfinite(data.wear.values)
    assert good.any()
    # The rocker goes there and back; the last sample is one short of the first.
    way = data.wear.values[good]
    assert (way <= 2 * np.ptp([0, 2 * np.pi])).all()
    assert (way > 0).all()
    best = study_in(spec.path)
    assert best.derived == spec.derived
    assert load("four-bar").name == best.mechanism.name
