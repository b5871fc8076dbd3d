"""Reduction in the chunk function: every lane as by brute force, and what it refuses."""

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import MissingDataError
from basepar_core.expressions.tree import Call, Number
from basepar_core.mechanism import Mechanism
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.spec.plans import Sobol
from sweeps.spec.reader import from_document
from sweeps.spec.sweep_spec import Evaluation, Reduction, SweepSpec
from sweeps.store.statuses import Status
from tests.oracles import elimination

ASKED = Reduction(("tolerance", "aic", "bic", "mdl", "fpe", "aicc"), 0.02)
BOUNDS = {
    "four-bar": (("lx1", 0.2, 1.2), ("lx2", 0.5, 0.9), ("Dx", 0.6, 1.4)),
    "five-bar": (("lx1", 0.25, 0.35), ("lx2", 0.45, 0.6)),
}


def spec(mechanism: Mechanism, asked: Reduction = ASKED, **others) -> SweepSpec:
    plan = Sobol(BOUNDS[mechanism.name], 24, 7)
    return SweepSpec(mechanism, plan, evaluation=Evaluation("none", asked, **others))


@cache
def evaluated(name: str) -> tuple[ChunkEvaluator, dict, dict]:
    """An evaluator, 24 variants, and what it says of them."""
    job = spec(load(name))
    columns = job.plan.rows(0, len(job))
    evaluator = prepare(job)
    return evaluator, columns, evaluator(columns, np.ones(len(job), bool))


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.slow
def test_every_variant_as_by_brute_force(name):
    evaluator, columns, arrays = evaluated(name)
    mechanism = evaluator.model.mechanism
    solved = np.flatnonzero(arrays["status"] == Status.SOLVED)
    assert solved.size >= 10
    part = {key: values[solved] for key, values in columns.items()}
    assert evaluator.cycle is not None
    seen = observe(evaluator.model, part, evaluator.cycle)
    phi = mechanism.inertial_parameters({**mechanism.nominal, **part})
    kept = list(evaluator.base.kept)
    n = evaluator.cycle.t.size * len(mechanism.coordinates)
    for lane, row in enumerate(solved):
        W = seen.W[lane].reshape(n, -1)
        # Both coordinates have σ = 0.01 N m.
        removed, errors = elimination.backward(W[:, kept] / 0.01, W @ phi[lane] / 0.01)
        assert arrays["removed"][row].tolist() == [-1, *removed]
        # What counts as equal; both ways err by 1e-16 times a condition of some thousands.
        np.testing.assert_allclose(arrays["torque_error"][row], errors, rtol=1e-9, atol=1e-12)
        k = np.arange(len(kept), -1, -1)
        rss = (np.array(errors) * np.linalg.norm(W @ phi[lane] / 0.01)) ** 2 + n - k
        log = n * np.log(rss / n)
        best = {
            "tolerance": np.flatnonzero(np.array(errors) < 0.02)[-1],
            "aic": np.argmin(rss + 2 * k),
            "bic": np.argmin(rss + k * np.log(n)),
            "mdl": np.argmin(rss + k * np.log(n)),
            "fpe": np.argmin(rss * (n + k) / (n - k)),
            "aicc": np.argmin(log + 2 * k + 2 * k * (k + 1) / (n - k - 1)),
        }
        expected = [best[criterion] for criterion in ASKED.criteria]
        assert arrays["selected_size"][row].tolist() == k[expected].tolist()
        assert arrays["selected_error"][row].tolist() == (
            arrays["torque_error"][row, expected].tolist()
        )


def test_variants_that_fail_have_no_path():
    evaluator, columns, arrays = evaluated("four-bar")
    failed = np.isin(arrays["status"], (Status.UNASSEMBLABLE, Status.LOST, Status.SINGULAR))
    assert 0 < failed.sum() < failed.size
    assert (arrays["removed"][failed] == -1).all()
    assert (arrays["selected_size"][failed] == -1).all()
    assert np.isnan(arrays["torque_error"][failed]).all()
    assert np.isnan(arrays["selected_error"][failed]).all()
    assert np.isfinite(arrays["torque_error"][~failed]).all()
    filtered = evaluator(columns, ~failed & (np.arange(failed.size) % 2 == 0))
    assert (filtered["removed"][1::2] == -1).all()


def test_neighbours_in_a_chunk_change_nothing():
    evaluator, columns, arrays = evaluated("five-bar")
    for row in range(0, 24, 5):
        alone = evaluator({key: x[row : row + 1] for key, x in columns.items()}, np.ones(1, bool))
        for name, values in alone.items():
            np.testing.assert_array_equal(values[0], arrays[name][row], err_msg=name)


def test_arrays_are_as_promised():
    evaluator, _, arrays = evaluated("five-bar")
    outputs = {output.name: output for output in evaluator.outputs}
    coords = evaluator.coords
    assert coords["step"] == list(range(12))
    assert coords["criterion"] == list(ASKED.criteria)
    for name, dims in (
        ("removed", ("variant", "step")),
        ("torque_error", ("variant", "step")),
        ("selected_size", ("variant", "criterion")),
        ("selected_error", ("variant", "criterion")),
    ):
        assert outputs[name].dims == dims
        assert arrays[name].shape == (24, len(coords[dims[1]]))
        assert arrays[name].dtype == np.dtype(outputs[name].dtype)
    assert evaluator.attrs["reduction"] == {
        "method": "backward",
        "effective_samples": 256.0,
        "tolerance": 0.02,
        "noise": [0.01, 0.01],
        "pooling": "joint",
    }
    assert pickle.loads(pickle.dumps(evaluator)).reducer == evaluator.reducer


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.slow
def test_further_arrays_and_addition_as_by_brute_force(name):
    """Forward paths, generalised base parameters, and errors on a second trajectory."""
    asked = replace(ASKED, method="forward", arrays=("generalised", "validation"))
    job = spec(load(name), asked)
    evaluator = prepare(job)
    rows = np.arange(6)
    columns = {key: values[rows] for key, values in job.plan.rows(0, len(job)).items()}
    arrays = evaluator(columns, np.ones(6, bool))
    solved = np.flatnonzero(arrays["status"] == Status.SOLVED)
    assert solved.size >= 3
    part = {key: values[solved] for key, values in columns.items()}
    model, kept = evaluator.model, list(evaluator.base.kept)
    known = {**model.mechanism.nominal, **part}
    phi = model.mechanism.inertial_parameters(known)
    base = evaluator.base.combine(phi, evaluator.base.beta_entries(known))
    there = observe(model, part, evaluator.cycle)
    other = observe(model, part, excitation(model.mechanism, model.assembled.coordinates))
    for lane, row in enumerate(solved):
        W, second = (seen.W[lane].reshape(-1, phi.shape[1]) for seen in (there, other))
        lengths = np.linalg.norm(W[:, kept], axis=0)
        unit = W[:, kept] / np.where(lengths > 0, lengths, 1)
        left = [k for k in arrays["removed"][row] if k >= 0]
        independent = np.linalg.matrix_rank(unit, 1e-10)
        added = elimination.forward(unit, W @ phi[lane])
        # Up to where the torque is explained to nine digits; then rounding would decide.
        matters = int((arrays["torque_error"][row, ::-1] > 1e-9).sum())
        assert left[::-1][:matters] == added[:matters]
        for step in range(len(kept) + 1):
            some = [k for k in range(len(kept)) if k not in left[:step]]
            values = np.linalg.lstsq(unit[:, some], W @ phi[lane], rcond=1e-10)[0]
            # With dependent columns judged at step 0 only, where nothing has left.
            full = len(some) <= independent
            carried = values / lengths[some] if full else base[lane, some]
            torque = second @ phi[lane]
            error = np.linalg.norm(torque - second[:, kept][:, some] @ carried)
            if step == 0 or full:
                assert arrays["validation_error"][row, step] == pytest.approx(
                    error / np.linalg.norm(torque), rel=1e-6, abs=1e-9
                )
            for place in np.flatnonzero(arrays["selected_size"][row] == len(some)):
                found = arrays["generalised"][row, place]
                assert np.flatnonzero(np.isfinite(found)).tolist() == some
                if full:
                    # Least squares: rounding of τ times the condition, by column length.
                    allowed = 1e-10 * np.linalg.norm(W @ phi[lane]) / lengths[some]
                    assert (np.abs(found[some] - carried) <= allowed).all()
    failed = np.setdiff1d(rows, solved)
    assert np.isnan(arrays["validation_error"][failed]).all()


def test_the_full_model_holds_on_the_second_trajectory():
    """The four-bar's cycle has 7 independent columns of 8: its own parameters still hold."""
    evaluator = prepare(spec(load("four-bar"), replace(ASKED, arrays=("validation",))))
    found = evaluator({"lx1": np.array([0.3, 0.25])}, np.ones(2, bool))
    # φ_b against φ, two ways to one torque: rounding times the columns that cancel.
    assert (found["validation_error"][:, 0] < 1e-12).all()
    assert (found["validation_error"][:, 5:] > 1e-3).all()


def test_stated_noise_pooled_over_unequal_coordinates():
    mechanism = load("five-bar")
    (first, sigma), (second, _) = mechanism.noise
    louder = Call("*", (Number(Fraction(7)), sigma))
    unequal = replace(mechanism, noise=((first, sigma), (second, louder)))
    joint = prepare(spec(unequal)).attrs["reduction"]
    together = prepare(spec(unequal, replace(ASKED, noise="pooled"))).attrs["reduction"]
    assert joint["noise"] == pytest.approx([0.01, 0.07])
    # The same variance in all: (1 + 49)/2 = 25.
    assert together["noise"] == pytest.approx([0.05, 0.05])
    assert (joint["pooling"], together["pooling"]) == ("joint", "pooled")


def test_what_later_versions_added_leaves_older_stores_what_they_are():
    """A reduction as before has the hash it had; what is new counts."""
    mechanism = load("five-bar")
    plain = spec(mechanism)
    questions = json.loads(plain.document())["evaluate"]["reduction"]
    assert list(questions) == ["criteria", "tolerance", "effective_samples"]
    asked = replace(ASKED, method="forward", noise="pooled", arrays=("validation",))
    other = spec(mechanism, asked)
    assert other.hash != plain.hash
    again = from_document(other.document())
    assert again.evaluation.reduction == asked


def test_without_reduction_there_are_no_such_arrays():
    job = spec(load("four-bar"))
    plain = replace(job, evaluation=Evaluation("none", None, ("torque_rms",)))
    evaluator = prepare(plain)
    assert "step" not in evaluator.coords
    assert "reduction" not in evaluator.attrs
    assert not {"removed", "selected_size"} & {output.name for output in evaluator.outputs}


def test_fewer_effective_samples_are_recorded_and_used():
    few = prepare(spec(load("five-bar"), replace(ASKED, effective_samples=8)))
    _, columns, arrays = evaluated("five-bar")
    assert few.attrs["reduction"]["effective_samples"] == 8
    found = few(columns, np.ones(24, bool))
    place = ASKED.criteria.index("aicc")
    # AICc cannot judge seven parameters by eight samples.
    assert (arrays["selected_size"][:, place] == 7).all()
    assert (found["selected_size"][:, place] < 7).all()


def test_reduction_needs_noise_for_all_but_the_tolerance():
    silent = replace(load("four-bar"), noise=())
    with pytest.raises(MissingDataError, match=r"(?s)no noise in it.*aic, bic.*State `noise"):
        prepare(spec(silent, Reduction(("tolerance", "aic", "bic"))))
    evaluator = prepare(spec(silent, Reduction(("tolerance",), ASKED.tolerance)))
    found = evaluator({"lx1": np.array([0.3])}, np.ones(1, bool))
    assert found["status"].tolist() == [Status.SOLVED]
    # One coordinate: weights of all rows alike change no relative error.
    noisy = prepare(spec(load("four-bar")))({"lx1": np.array([0.3])}, np.ones(1, bool))
    assert found["selected_size"][0, 0] == noisy["selected_size"][0, 0]


def test_reduction_needs_a_cycle_and_inertias():
    mechanism = load("four-bar")
    with pytest.raises(MissingDataError, match="Add `cycle"):
        prepare(spec(replace(mechanism, cycle=None)))
    bodies = tuple(replace(body, parameters=None) for body in mechanism.bodies)
    with pytest.raises(MissingDataError, match="crank, coupler, rocker of 'four-bar' have none"):
        prepare(spec(replace(mechanism, bodies=bodies)))


def test_special_variants_have_torques():
    """A coupler joint on the crank's line: β has a pivot that vanishes, the torque does not."""
    job = spec(load("four-bar"), metrics=("torque_rms",))
    job = replace(job, evaluation=replace(job.evaluation, rank="numeric"))
    columns = {"lx1": np.full(2, 0.3), "lx2": np.array([0.0, 1e-6]), "Dx": np.ones(2)}
    arrays = prepare(job)(columns, np.ones(2, bool))
    np.testing.assert_array_equal(arrays["status"], [Status.SPECIAL, Status.SOLVED])
    # A coupler joint moved by a micrometre changes the torque by about as little.
    assert arrays["torque_rms"][0] == pytest.approx(arrays["torque_rms"][1], rel=1e-4)
    assert np.isfinite(arrays["torque_error"]).all()
    assert np.isnan(arrays["base_parameters"][0]).all()
