"""Design studies on real workers, a real journal and real stores."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pytest
import xarray as xr
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from basepar_core.api import load
from basepar_core.errors import StoreError, UsageError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.run.driver import sweep
from sweeps.spec.plans import Random
from sweeps.spec.reader import parse_sweep
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from sweeps.store import Store
from sweeps.store.statuses import Status
from tests.workflows.fourbar_study import SMALL, assert_equal_stores, small, swing
from workflows.studies import rows
from workflows.studies import study as design_study
from workflows.studies.feasibility import judge
from workflows.studies.reader import parse_study
from workflows.studies.storages import mend
from workflows.studies.study import study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def done(tmp_path_factory, client):
    """The small study, run through once."""
    spec = small(tmp_path_factory.mktemp("done"))
    result = study(spec, client)
    assert result.summary.done
    return spec


def told(spec):
    """The journal's trials, read by Optuna itself."""
    storage = optuna.storages.JournalStorage(JournalFileBackend(spec.storage))
    return optuna.load_study(study_name=spec.name, storage=storage).get_trials()


def verdict_of(spec):
    return judge(spec, Store.open(spec.path), 0, spec.trials)


@pytest.mark.slow
def test_a_mechanism_is_prepared_once_and_before_workers_start(tmp_path, monkeypatch):
    """A laptop's server of workers imports meanwhile; a store that is there may need none."""
    module = sys.modules[study.__module__]
    seen = []
    for place, name in ((module, "prepare"), (rows, "prepare"), (module, "connected")):
        found = getattr(place, name)
        monkeypatch.setattr(
            place, name, lambda *given, found=found, name=name: seen.append(name) or found(*given)
        )
    one = replace(small(f"{tmp_path}/run.zarr"), trials=40)
    module.run(one, Laptop(workers=1))
    assert seen == ["prepare", "connected"]
    module.run(one.of(80), Laptop(workers=1))
    assert seen[2:] == ["connected", "prepare"]


def test_a_driver_does_without_scipy_until_it_asks():
    """Half a second and more, while a worker could have begun."""
    code = (
        "import sys, workflows.studies.study, workflows.studies.screening_run\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'scipy'])"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_journal_and_store_say_the_same(done):
    trials, verdict = told(done), verdict_of(done)
    assert len(trials) == 35
    assert all(one.state == TrialState.COMPLETE for one in trials)
    parameters = np.array([[one.params[name] for name in done.names] for one in trials])
    np.testing.assert_array_equal(parameters, verdict.parameters)
    assert len(np.unique(parameters, axis=0)) == 35
    np.testing.assert_array_equal([one.value for one in trials], verdict.values[:, 0])
    for one, numbers in zip(trials, verdict.violations, strict=True):
        assert list(one.constraints) == ["closing", "stroke(D) >= 40 deg"]
        assert list(one.constraints.values()) == numbers.tolist()


def test_the_store_is_a_sweeps(done):
    data = xr.open_zarr(done.path)
    assert data.attrs["title"] == "study of four-bar"
    assert data.sizes["variant"] == 35
    assert data["stroke_D"].attrs["units"] == "rad"
    assert data["lx1"].attrs["units"] == "m"
    assert (data.status.values > 0).all()


def test_run_again_nothing_is_done(done, client):
    before = Path(done.storage).read_bytes()
    assert study(done, client).summary.evaluated == 0
    assert Path(done.storage).read_bytes() == before


def test_two_workers_find_the_same(done, tmp_path):
    spec = small(tmp_path)
    with connect(Laptop(workers=2)) as two:
        study(spec, two)
    assert_equal_stores(spec.path, done.path)
    for one, other in zip(told(spec), told(done), strict=True):
        assert (one.params, one.values, one.constraints) == (
            other.params,
            other.values,
            other.constraints,
        )


def test_infeasible_variants_are_told_how_far_they_were(tmp_path, client):
    text = SMALL.replace("lx1: [0.2, 0.6]", "lx1: [0.2, 1.5]").replace("tpe", "qmc")
    spec = small(tmp_path, text=text)
    study(spec, client)
    status = np.asarray(Store.open(spec.path)["status"][:])
    verdict, trials = verdict_of(spec), told(spec)
    lost = np.flatnonzero(np.isin(status, (Status.LOST, Status.UNASSEMBLABLE)))
    closed = np.flatnonzero(status == Status.SOLVED)
    assert lost.size > 5
    assert closed.size > 5
    # Above 1, the most that the one constraint can count for a variant that closed.
    assert (verdict.violation[lost] > 1).all()
    assert (verdict.violation[closed] <= 1).all()
    assert len(np.unique(verdict.violation[lost])) > lost.size / 2  # not all alike
    for row in lost:
        assert trials[row].values == [np.inf]
        assert trials[row].constraints["closing"] == verdict.violation[row]
    missed = closed[np.degrees(verdict.results["stroke(D)"][closed]) < 40]
    assert (verdict.violation[missed] > 0).all()
    assert set(missed) | set(lost) == set(np.flatnonzero(~verdict.feasible))


@pytest.mark.slow
def test_better_than_chance_and_truly_feasible(tmp_path, client):
    text = SMALL.replace("trials: 35", "trials: 150").replace("batch: 10", "batch: 15")
    spec = small(tmp_path, text=text)
    study(spec, client)
    verdict = verdict_of(spec)
    lx1, lx3, dx = verdict.parameters.T
    sampled, true = verdict.results["stroke(D)"], swing(lx1, lx3, dx)
    good = verdict.feasible
    # 128 samples see a little less than the swing: at each end at most half the curvature of
    # the angle (below 2 here) times a half step squared, (π/128)².
    assert (true[good] >= np.radians(40)).all()
    assert (sampled[good] <= true[good] + 1e-9).all()
    assert (sampled[good] >= true[good] - 2 * (np.pi / 128) ** 2).all()

    # Ten searches by as many random variants, feasible by the triangles. Two may be luckier: the
    # best corner of the space is a few thousandths of it (TPE with other seeds: 8.1 to 10.3,
    # random searches 8.4 to 13.7, half of them above 11.4).
    bounds = (("lx1", 0.2, 0.6), ("lx3", 1.0, 1.6), ("Dx", 0.6, 1.4))
    plan = Random(bounds, 1500, seed=5)
    drawn = SweepSpec(load("four-bar"), plan, evaluation=Evaluation("none", None, ("torque_rms",)))
    columns = plan.rows(0, 1500)
    found = prepare(drawn)(columns, np.ones(1500, bool))
    wide = swing(columns["lx1"], columns["lx3"], columns["Dx"]) >= np.radians(40)
    torque = np.where(wide & (found["status"] == Status.SOLVED), found["torque_rms"], np.inf)
    best = verdict.values[good, 0].min()
    assert (best <= torque.reshape(10, 150).min(axis=1)).sum() >= 8


def test_another_study_is_refused_with_the_difference(done, client, monkeypatch):
    other = small(done.path.parent, text=SMALL.replace("seed: 3", "seed: 4"))
    before = Path(done.storage).read_bytes()
    with pytest.raises(StoreError, match=r"\n  sampler\.seed: 4 here, 3 there") as caught:
        study(other, client)
    assert "Run with `store=" in caught.value.message
    assert "study-2.zarr`, or remove this one; of a study, with" in caught.value.message
    with monkeypatch.context() as patch:  # before any worker starts
        patch.setattr(design_study, "connected", None)
        with pytest.raises(StoreError, match=r"seed: 4 here, 3 there"):
            design_study.run(other, Laptop(1))
    # The same journal under a new store: it is the journal that objects.
    elsewhere = replace(other, store=str(done.path.parent / "new.zarr"))
    with pytest.raises(StoreError, match=r"another study 'torque'.*\n.*seed: 4 here, 3 there"):
        study(elsewhere, client)
    assert not elsewhere.path.exists()
    assert Path(done.storage).read_bytes() == before


def test_a_foreign_study_of_the_name_is_left_alone(tmp_path, client):
    spec = small(tmp_path)
    storage = optuna.storages.JournalStorage(JournalFileBackend(spec.storage))
    optuna.create_study(storage=storage, study_name="torque").ask()
    with pytest.raises(StoreError, match="did not make"):
        study(spec, client)


def test_one_driver_at_a_time(done, client):
    from workflows.studies.ask_tell_log import opened

    with opened(done), pytest.raises(StoreError, match="is being filled by process"):
        study(done, client)


def test_a_lost_journal_is_told_again_from_the_store(done, tmp_path, client):
    spec = small(done.path.parent)
    again = replace(spec, storage=str(tmp_path / "again.journal"))
    assert study(again, client).summary.evaluated == 0
    assert [one.values for one in told(again)] == [one.values for one in told(done)]


def test_a_torn_line_is_cut_off(tmp_path):
    file = tmp_path / "a.journal"
    for torn in (b'{"op_code":4,"tri', b'{"op_code":4,"tri\n', b""):
        file.write_bytes(b'{"op_code":1}\n' + torn)
        mend(file)
        assert file.read_bytes() == b'{"op_code":1}\n'
    file.write_bytes(b'{"op')
    mend(file)
    assert file.read_bytes() == b""
    mend(tmp_path / "none.journal")


@pytest.mark.parametrize("kind", ["random", "nsga2", "tpe"])
def test_several_objectives_with_choices_and_integers(kind, tmp_path, client):
    text = f"""
mechanism: four-bar
variables: {{lx1: [0.2, 1.2], lx3: {{choices: [1.1, 1.3, 1.5]}}, Dx: {{integer: [1, 1]}}}}
objectives: {{torque_rms: minimize, "stroke(D)": maximize}}
sampler: {{kind: {kind}, seed: 1}}
trials: 24
batch: 8
"""
    spec = parse_study(text).at(str(tmp_path / "front.zarr"))
    assert study(spec, client).summary.done
    verdict = verdict_of(spec)
    assert set(verdict.parameters[:, 1]) == {1.1, 1.3, 1.5}
    assert set(verdict.parameters[:, 2]) == {1.0}
    if kind != "nsga2":  # children may be copies of their parents
        assert len(np.unique(verdict.parameters[:, 0])) == 24
    assert 0 < verdict.feasible.sum() < 24  # some cranks are too long to turn
    assert np.isinf(verdict.values[~verdict.feasible]).all()


def test_other_samplers(tmp_path, client):
    pytest.importorskip("cmaes")
    text = SMALL.replace("tpe", "cmaes").replace('["stroke(D) >= 40 deg"]', "[]")
    spec = small(tmp_path, text=text)
    assert study(spec, client).summary.done
    assert len(told(spec)) == 35


def test_cmaes_says_what_to_install(tmp_path, client, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cmaes", None)
    text = SMALL.replace("tpe", "cmaes").replace('["stroke(D) >= 40 deg"]', "[]")
    with pytest.raises(UsageError, match="pip install cmaes"):
        study(small(tmp_path, text=text), client)


SWEEP = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.7], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: 256
evaluate: {rank: none, metrics: [torque_rms, stroke(D)]}
store: {chunk: 256}
"""


def test_warm_start_by_told_trials(tmp_path, client, done):
    sweep(parse_sweep(SWEEP).at(str(tmp_path / "sweep.zarr")), client)
    text = f"{SMALL}warm_start: {tmp_path}/sweep.zarr\n".replace("trials: 35", "trials: 20")
    spec = small(tmp_path, text=text)
    result = study(spec, client)
    assert (result.beginning.told, result.beginning.proposed) == (100, 0)
    trials = told(spec)
    assert len(trials) == 120
    data = xr.open_zarr(tmp_path / "sweep.zarr")
    for one in trials[:100]:
        row = one.user_attrs["warm_start"]
        assert one.params["lx1"] == data.lx1.values[row] <= 0.6
        if data.status.values[row] == Status.SOLVED:
            assert one.value == data.torque_rms.values[row]
            feasible = all(number <= 0 for number in one.constraints.values())
            assert feasible == (np.degrees(data.stroke_D.values[row]) >= 40)
    # The first batch is TPE's own, and knows where to look; the cold study's is Sobol's.
    warm, cold = verdict_of(spec), verdict_of(done)
    assert not set(warm.parameters[:10, 0]) & set(cold.parameters[:10, 0])

    def score(verdict):
        values = np.where(verdict.feasible[:10], verdict.values[:10, 0], np.inf)
        return np.median(values)

    assert score(warm) < score(cold)
    assert study(spec, client).summary.evaluated == 0
    assert len(told(spec)) == 120


def test_warm_start_by_proposals(tmp_path, client):
    """A sweep of other symbols too, without strokes: its best lengths are tried first."""
    text = SWEEP.replace("Dx: [", "lx2: [0.5, 0.9], Dx: [").replace(", stroke(D)", "")
    sweep(parse_sweep(text).at(str(tmp_path / "sweep.zarr")), client)
    spec = small(tmp_path, text=f"{SMALL}warm_start: {tmp_path}/sweep.zarr\n")
    result = study(spec, client)
    assert (result.beginning.told, result.beginning.proposed) == (0, 10)
    data = xr.open_zarr(tmp_path / "sweep.zarr")
    inside = (data.status.values == Status.SOLVED) & (data.lx1.values <= 0.6)
    order = np.flatnonzero(inside)[np.argsort(data.torque_rms.values[inside])][:10]
    np.testing.assert_array_equal(verdict_of(spec).parameters[:10, 0], data.lx1.values[order])


def test_warm_start_says_what_is_missing(tmp_path, client):
    text = SWEEP.replace("Dx: [0.6, 1.4]", "ly2: [0.9, 1.3]").replace("256", "8")
    sweep(parse_sweep(text).at(str(tmp_path / "sweep.zarr")), client)
    spec = small(tmp_path, text=f"{SMALL}warm_start: {tmp_path}/sweep.zarr\n")
    with pytest.raises(UsageError, match="does not sweep Dx"):
        study(spec, client)
    text = SWEEP.replace("[torque_rms, stroke(D)]", "[]").replace("256", "8")
    sweep(parse_sweep(text).at(str(tmp_path / "bare.zarr")), client)
    spec = small(tmp_path, "other", f"{SMALL}warm_start: {tmp_path}/bare.zarr\n")
    with pytest.raises(UsageError, match="no results for torque_rms"):
        study(spec, client)


def test_the_command(run, tmp_path):
    arguments = ("four-bar", "--store", str(tmp_path / "best.zarr"), "--trials", "64")
    ran = run("study", *arguments, "--workers", "1", "--json")
    assert ran.status == 0
    found = ran.json
    assert found["evaluated"] == found["total"] == found["trials"] == 64
    assert found["study"]["storage"] == str(tmp_path / "best.journal")
    assert found["units"]["stroke(D)"] == "rad"
    values = [one["values"]["torque_rms"] for one in found["best"]]
    assert values == sorted(values)
    assert all(one["feasible"] and not one["violations"] for one in found["best"])
    json.dumps(found, allow_nan=False)
    shown = run("study", *arguments, "--workers", "1")
    assert shown.status == 0
    assert "nothing was missing" in shown.out
    assert "torque_rms [N*m]" in shown.out
    assert run("status", str(tmp_path / "best.zarr"), "--json").json["done"]
    longer = run("study", *arguments[:-1], "128", "--workers", "1", "--json").json
    assert (longer["trials"], longer["evaluated"]) == (128, 64)
    # Fewer than there are: all are kept, and nothing is done.
    again = run("study", *arguments[:-1], "10", "--workers", "1", "--json").json
    assert (again["trials"], again["evaluated"]) == (128, 0)
    (winner,) = again["certified"]
    assert winner["variant"] == again["best"][0]["variant"]
    assert winner["rank"] == winner["generic_rank"] == len(winner["base_parameters"]) == 8
    assert winner["status"] == "certified"
    around = run("around", str(tmp_path / "best.zarr"), "-o", str(tmp_path / "a.yaml"), "--json")
    assert around.json["design"] == f"variant {winner['variant']}"
    first = (tmp_path / "a.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=../")
    assert first.endswith("/schemas/sweep.json")
    # Once more over its own file; never over somebody else's.
    words = ("around", str(tmp_path / "best.zarr"), "-o")
    assert run(*words, str(tmp_path / "a.yaml")).status == 0
    (tmp_path / "diary.yaml").write_text("today: nothing\n")
    refused = run(*words, str(tmp_path / "diary.yaml"), "--json")
    assert refused.status == 2
    assert "nothing was written" in refused.json["error"]["message"]
    assert refused.json["error"]["where"] == [str(tmp_path / "diary.yaml"), "--overwrite"]
    assert (tmp_path / "diary.yaml").read_text() == "today: nothing\n"
    assert run("study", "four-bra", "--json").status == 2
    assert "four-bar" in run("list", "--json").json["studies"]
