"""Doubtful variants of a sweep: settled in variable precision, whoever computes them and when."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import workflows
from basepar_core.files.mechanism_file import library_path
from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.chunks.precise import PreciseEvaluator
from sweeps.run.driver import sweep
from sweeps.spec.reader import load_sweep, parse_sweep
from sweeps.store import Store, store
from sweeps.store.statuses import PreciseStatus, Reason, Status, reason_texts
from workflows.views.store import document as sweep_store

pytestmark = pytest.mark.slow

EXAMPLES = Path(workflows.__file__).parent / "examples" / "sweeps"


def spec_of(tmp_path, mechanism, text, space, rank="auto", chunk=8):
    """A sweep of a mechanism's changed text."""
    (tmp_path / f"{mechanism}.yaml").write_text(text)
    lines = [
        f"mechanism: ./{mechanism}.yaml",
        f"space: {space}",
        f"evaluate: {{rank: {rank}}}",
        f"store: {{path: {tmp_path / 'sweep.zarr'}, chunk: {chunk}}}",
    ]
    return parse_sweep("\n".join(lines), str(tmp_path / "sweep.yaml"))


def watt(tmp_path, amplitude="0.05 rad", rank="auto", candidates=24):
    text = library_path("watt-ii").read_text()
    text = text.replace("amplitude: {A: 0.05 rad}", f"amplitude: {{A: {amplitude}}}")
    space = (
        "{plan: sobol, variables: {l2: [0.324, 0.396], l4: [0.306, 0.374], l5: [0.216, 0.264]}, "
        f"candidates: {candidates}, seed: 7}}"
    )
    return spec_of(tmp_path, "watt", text, space, rank)


@pytest.fixture(scope="module")
def settled(tmp_path_factory, client):
    """A sweep of doubtful six-bars on two workers: summary and dataset."""
    spec = watt(tmp_path_factory.mktemp("watt"))
    summary = sweep(spec, client)
    return spec, summary, xr.open_zarr(spec.store).load()


def test_every_variant_is_settled(settled):
    _, summary, found = settled
    assert summary.done
    assert (summary.unsettled, summary.failed) == (0, 0)
    doubtful = found["status"].values == Status.AWAITING_PRECISE
    assert doubtful.sum() > 12  # this is what float64 cannot see
    # Enclosures from below, theorems about the joints from above.
    assert (found["precise_status"].values[doubtful] == PreciseStatus.CERTIFIED).all()
    assert (found["precise_rank"].values[doubtful] == 13).all()
    assert (found["precise_ridge"].values[doubtful] > 20).all()
    assert (found["precise_reason"].values == Reason.NONE).all()
    last = found["precise_singular_values"].values[doubtful][:, 12:14]
    assert (last[:, 0] > 1e-16).all()
    assert (last[:, 1] < 1e-35).all()  # noise of forty digits
    least, most = (found[f"precise_sigma_{x}"].values[doubtful] for x in ("least", "most"))
    # σ₁₃ of the same samples is bounded by its own columns, at most √13·13 below.
    assert ((least > last[:, 0] / 47) & (least <= last[:, 0] * (1 + 1e-12))).all()
    assert (most < 1e-50).all()  # of sixty digits


def test_one_worker_gives_the_same_arrays(settled, tmp_path):
    spec, _, found = settled
    alone = dataclasses.replace(spec, store=str(tmp_path / "alone.zarr"))
    with connect(Laptop(workers=1)) as client:
        sweep(alone, client)
    again = xr.open_zarr(alone.store).load()
    assert set(found.variables) == set(again.variables)
    for name in found.variables:
        np.testing.assert_array_equal(found[name].values, again[name].values, err_msg=name)


def test_interrupted_precise_tasks_are_taken_up_again(settled, tmp_path, client):
    """Float64's part is done, variable precision's is not: resume looks at both."""
    spec, _, found = settled
    half = dataclasses.replace(spec, store=str(tmp_path / "half.zarr"))
    sweep(half, client)
    group = Store.open(half.store, "r+")
    group["precise_status"][:8] = PreciseStatus.NONE
    group["precise_rank"][:8] = -1
    group.records("precise_").forget(0)
    summary = sweep(half, client)
    assert (summary.evaluated, summary.unsettled) == (0, 0)
    again = xr.open_zarr(half.store).load()
    np.testing.assert_array_equal(again["precise_rank"].values, found["precise_rank"].values)


def test_float64_is_doubtful_or_right(tmp_path, client):
    """Wider motion: float64 decides some ranks. Each must be the one of variable precision."""
    spec = watt(tmp_path, amplitude="0.4 rad", rank="precise", candidates=32)
    summary = sweep(spec, client)
    assert summary.unsettled == 0
    found = xr.open_zarr(spec.store).load()
    sure = found["reason"].values == Reason.PRECISE_ASKED
    assert sure.any()
    np.testing.assert_array_equal(found["rank"].values[sure], found["precise_rank"].values[sure])
    went = found["status"].values == Status.AWAITING_PRECISE
    assert (found["precise_status"].values[went] == PreciseStatus.CERTIFIED).all()


def test_special_variants_say_their_rank(tmp_path, client):
    """Among four-bars of four free lengths a parallelogram has rank 3."""
    text = (
        library_path("parallelogram")
        .read_text()
        .replace("  lx2: {value", "  lx3: {value: 0.45, unit: m}\n  lx2: {value")
        .replace("at: [[lx2, 0], [lx1, 0]]", "at: [[lx2, 0], [lx3, 0]]")
    )
    space = "{plan: zip, variables: {lx1: [0.38, 0.4, 0.4], lx3: [0.45, 0.4, 0.45]}}"
    spec = spec_of(tmp_path, "almost", text, space)
    sweep(spec, client)
    found = store.read(spec.store)
    assert found["precise_rank"].values[1] == 3
    assert found["precise_status"].values[1] == PreciseStatus.EVIDENT
    (text,) = reason_texts(
        found["precise_reason"].values[1:2], found["precise_reason_value"].values[1:2]
    )
    assert text == "the rank is 3, below the generic one"
    assert sweep_store(Path(spec.store))["special"] == 1
    assert found["status"].values[0] == found["status"].values[2] == Status.SOLVED


def test_a_rank_above_the_generic_one_stays_in_doubt(tmp_path):
    """Evident digits against null vectors that are too many: neither is believed."""
    spec = watt(tmp_path)
    evaluator = prepare(spec).precise
    assert isinstance(evaluator, PreciseEvaluator)
    columns = spec.plan.rows(0, 2)
    wrong = PreciseEvaluator(evaluator.model, 12, True)(columns, np.array([True, False]))
    assert wrong["precise_status"].tolist() == [PreciseStatus.STILL_DOUBTFUL, PreciseStatus.NONE]
    assert wrong["precise_reason"].tolist() == [Reason.HIGH_RANK, Reason.NONE]
    assert wrong["precise_rank"].tolist() == [13, -1]
    unbounded = PreciseEvaluator(evaluator.model, 13)(columns, np.array([True, False]))
    assert unbounded["precise_status"][0] == PreciseStatus.EVIDENT  # no word on rank ≤ 13
    nobody = evaluator(columns, np.zeros(2, bool))
    assert (nobody["precise_status"] == PreciseStatus.NONE).all()


def test_a_variant_that_cannot_move_is_no_rank(tmp_path):
    evaluator = prepare(watt(tmp_path)).precise
    columns = {"l2": np.array([5.0]), "l4": np.array([0.34]), "l5": np.array([0.24])}
    found = evaluator(columns, np.array([True]))
    assert found["precise_status"][0] == PreciseStatus.STILL_DOUBTFUL
    assert found["precise_rank"][0] == -1


@pytest.mark.parametrize("rank", ["numeric", "none"])
def test_other_routes_have_no_precise_stage(tmp_path, rank):
    assert prepare(watt(tmp_path, rank=rank)).precise is None


@pytest.mark.slow  # eight suspensions, most of a second each
def test_suspensions_have_rank_41(tmp_path, client):
    spec = load_sweep(EXAMPLES / "sla-suspension.yaml")
    spec = dataclasses.replace(spec, store=str(tmp_path / "sla.zarr"))
    summary = sweep(spec, client)
    assert (summary.done, summary.unsettled, summary.failed) == (True, 0, 0)
    found = xr.open_zarr(spec.store).load()
    assert (found["status"].values == Status.AWAITING_PRECISE).all()
    assert (found["precise_rank"].values == 41).all()
    assert (found["rank"].values < 41).all()  # float64 sees too little, and says that it doubts


def test_examples_read():
    assert len(load_sweep(EXAMPLES / "watt-ii.yaml")) == 64
    assert load_sweep(EXAMPLES / "sla-suspension.yaml").mechanism.name == "sla-suspension"
