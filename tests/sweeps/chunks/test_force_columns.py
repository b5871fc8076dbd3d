"""Friction, offsets, rotors and springs in the torques and reductions of sweeps (`with`)."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.extended import extend
from basepar_core.dynamics.force_columns import observe_columns, select
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import FileError, MissingDataError
from basepar_core.files.mechanism_file import loads
from basepar_core.reduction.reduce import reduce_mechanism
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.spec.plans import Sobol
from sweeps.spec.reader import from_document
from sweeps.spec.sweep_spec import Evaluation, Reduction, SweepSpec
from sweeps.store.statuses import Status
from tests.oracles import elimination

FRICTION = "friction: {A: {viscous: 0.1, coulomb: 0.3, rotor: 0.02, offset: 0.05}}"
SPRINGS = """
springs:
  S: {joint: C, rest: -60 deg, stiffness: 2*lx1*(1 N*m)/(1 m)}
  L: {connects: [ground, right_rod], at: [[lx1, 0.6], [0.1, 0]], rest: lx1, stiffness: 40 N/m}
"""
NAMES = ["A.viscous", "A.coulomb", "A.rotor", "A.offset", "S.stiffness", "L.stiffness"]
ASKED = Reduction(("tolerance", "bic"), 0.01, arrays=("generalised", "validation"))
PLAN = Sobol((("lx1", 0.25, 0.35), ("lx2", 0.45, 0.6)), 24, 7)


def five_bar(friction: str = FRICTION, springs: str = SPRINGS):
    """The shipped five-bar with columns that have values."""
    text = re.sub("(?m)^friction:.*$", friction, load("five-bar").source)
    return loads(text + springs, "five-bar with columns")


def spec(columns=("friction", "springs"), mechanism=None, **others) -> SweepSpec:
    asked = Evaluation("none", ASKED, ("torque_rms",), columns=columns)
    return SweepSpec(mechanism or five_bar(), PLAN, evaluation=replace(asked, **others))


@cache
def prepared() -> ChunkEvaluator:
    return prepare(spec())


def of_variants(evaluator: ChunkEvaluator, **columns):
    found = {name: np.array(values) for name, values in columns.items()}
    return evaluator(found, np.ones(len(next(iter(found.values()))), bool))


def test_paths_and_torques_as_by_brute_force():
    evaluator, lengths = prepared(), [0.27, 0.33]
    model, motion = evaluator.model, evaluator.cycle
    arrays = of_variants(evaluator, lx1=lengths)
    assert arrays["status"].tolist() == [Status.SOLVED] * 2
    assert evaluator.coords["base_parameter"] == [*evaluator.base.base_names, *NAMES]
    springs = select(model.mechanism, ["springs"])
    for row, lx1 in enumerate(lengths):
        values = {"lx1": np.array([lx1])}
        seen = observe(model, values, motion)
        # Friction of a coordinate is its law; springs are compared in
        # tests/core/dynamics/test_columns.py.
        own = np.zeros((motion.t.size, 2, 6))
        v, a = motion.q_dot[0], motion.q_ddot[0]
        own[:, 0, :4] = np.stack([v, np.sign(v), a, np.ones_like(v)], axis=-1)
        own[..., 4:] = observe_columns(model, values, motion, seen.trace.q, springs)[0]
        W = np.concatenate([seen.W[0], own], axis=-1).reshape(motion.t.size * 2, -1)
        known = {**model.mechanism.nominal, **values}
        inertial = model.mechanism.inertial_parameters(known).reshape(-1)
        phi = np.concatenate([inertial, [0.1, 0.3, 0.02, 0.05, 2 * lx1, 40]])
        tau = W @ phi
        rms = np.sqrt((tau.reshape(-1, 2) ** 2).mean(axis=0))
        # Two ways to the same sums: rounding.
        np.testing.assert_allclose(arrays["torque_rms"][row], rms, rtol=1e-12)
        kept = [*evaluator.base.kept, *range(len(inertial), W.shape[1])]
        removed, errors = elimination.backward(W[:, kept] / 0.01, tau / 0.01)
        assert arrays["removed"][row].tolist() == [-1, *removed]
        # What counts as equal; both ways err by 1e-16 times a condition of some thousands.
        np.testing.assert_allclose(arrays["torque_error"][row], errors, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(arrays["base_parameters"][row, -6:], phi[-6:])


def test_one_variant_as_basepar_reduce_has_it():
    """There a rotor is sorted out before the path; here it leaves first, and costs nothing."""
    evaluator = prepared()
    model = evaluator.model
    columns = select(model.mechanism, ["friction", "springs"])
    base = extend(model, evaluator.base, columns)
    assert base.eliminated_names[-1] == "A.rotor"
    alone = reduce_mechanism(model, base, criteria=ASKED.criteria, columns=columns)
    arrays = of_variants(evaluator, lx1=[model.mechanism.nominal["lx1"]])
    labels = evaluator.coords["base_parameter"]
    left = [labels[k] for k in arrays["removed"][0, 1:]]
    assert left[0] == "A.rotor"
    assert arrays["torque_error"][0, 1] < 1e-12
    # A parameter that is zero here (no bar has a `my`) has nothing to lose: ties by name.
    assert left[1:] == list(alone.removed[1:])
    # The same least squares from other orthogonal columns.
    np.testing.assert_allclose(
        arrays["torque_error"][0, 1:], alone.path.torque_error[0], rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(arrays["selected_size"], alone.selection.size)
    for place, model_left in enumerate(alone.models):
        found = arrays["generalised"][0, place]
        assert [n for n, x in zip(labels, found, strict=True) if np.isfinite(x)] == [
            term.name for term in model_left
        ]
        # Least squares: rounding times the condition of some thousands.
        expected = [term.value for term in model_left]
        np.testing.assert_allclose(found[np.isfinite(found)], expected, rtol=1e-9, atol=1e-11)


def test_the_full_model_holds_on_the_excitation_and_neighbours_change_nothing():
    columns = {"lx1": np.array([0.3, 0.26, 0.34]), "lx2": np.array([0.5, 0.58, 0.46])}
    together = prepared()(columns, np.ones(3, bool))
    # φ_b against φ, two ways to one torque: rounding times the columns that cancel.
    assert (together["validation_error"][:, 0] < 1e-12).all()
    alone = prepared()({name: x[1:2] for name, x in columns.items()}, np.ones(1, bool))
    for name, values in alone.items():
        np.testing.assert_array_equal(values[0], together[name][1], err_msg=name)


def test_units_rank_and_certificate():
    """Columns have their own units; rank, singular values and certificate stay inertial."""
    evaluator = prepare(spec(rank="numeric"))
    outputs = {output.name: output for output in evaluator.outputs}
    units = ("N m s/rad", "N m", "kg m^2", "N m", "N m/rad", "N/m")
    for name in ("base_parameters", "generalised"):
        assert outputs[name].units[-6:] == units
    assert evaluator.attrs["columns"] == NAMES
    assert evaluator.attrs["base"]["rank"] == 11
    found = of_variants(evaluator, lx1=[0.3])
    assert found["rank"].tolist() == [11]
    assert found["singular_values"].shape == (1, 16)


def test_a_spring_between_points_that_coincide_is_a_singular_variant():
    springs = "springs: {L: {connects: [ground, left_crank], at: [[lx1 - 3/10 m, 0], [0, 0]], "
    springs += "rest: 0, stiffness: 40 N/m}}\n"
    evaluator = prepare(spec(("springs",), five_bar("", springs)))
    found = of_variants(evaluator, lx1=[0.3, 0.28])
    assert found["status"].tolist() == [Status.SINGULAR, Status.SOLVED]
    assert np.isnan(found["torque_error"][0]).all()
    assert np.isnan(found["base_parameters"][0]).all()


def test_specifications_keep_columns_and_older_ones_their_hash():
    job = spec()
    assert json.loads(job.document())["evaluate"]["with"] == ["friction", "springs"]
    assert from_document(job.document()).evaluation == job.evaluation
    plain = spec(())
    assert "with" not in plain.canonical["evaluate"]
    assert plain.hash != job.hash


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"columns": ("frictoin",)}, r"no column frictoin; did you mean 'friction'"),
        ({"reduction": None, "metrics": ("stroke(B)",)}, "none are asked for; add `reduction`"),
    ],
)
def test_columns_that_cannot_be_meant(others, words):
    with pytest.raises(FileError, match=words):
        spec(**others)


def test_columns_need_values():
    with pytest.raises(MissingDataError, match=r"Torques need the values of A.viscous"):
        prepare(spec(("friction",), load("five-bar")))
