"""How far from feasible: signs, weights, and what a variant left undone."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basepar_core.api import load
from basepar_core.expressions.grammar import parse_comparison
from basepar_core.expressions.units import NUMBER
from sweeps.chunks.evaluator import prepare
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec import own_metrics
from sweeps.spec.filters import Condition, Filter
from sweeps.store import Store, store
from sweeps.store.statuses import Reason, Status
from tests.workflows.study_specs import study_from
from workflows.jobs.examples import study_file
from workflows.studies.feasibility import (
    constraint_violations,
    far_apart,
    judge,
    undone,
    weigh,
)
from workflows.studies.quantity_names import check_words
from workflows.studies.reader import load_study
from workflows.studies.samplers import row_seed
from workflows.studies.warm_start import _Source, spread

numbers = st.floats(-1e6, 1e6)


@given(numbers, numbers, st.sampled_from(["<", "<=", ">", ">="]))
def test_a_constraint_is_met_exactly_where_its_number_is_not_positive(a, b, sign):
    text = f"a {sign} b"
    line = Condition(text, parse_comparison(text, {"a": NUMBER, "b": NUMBER}))
    found = constraint_violations([line], {"a": np.array([a]), "b": np.array([b])}, 1)[0, 0]
    met = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]
    assert (found <= 0) == met
    assert -1 <= found <= 1


def test_units_weigh_alike_and_no_value_is_the_worst():
    lines = [
        Condition(text, parse_comparison(text, {"a": NUMBER, "b": NUMBER}))
        for text in ("a >= 40 deg", "b <= 1e4")
    ]
    known = {"a": np.radians([20.0, 20.0, np.nan]), "b": np.array([2e4, np.inf, 2e4])}
    found = constraint_violations(lines, known, 3)
    # Half of what is wanted and twice what is allowed are equally far: (2 − 1)/(2 + 1).
    np.testing.assert_allclose(found[0], [1 / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_array_equal(found[1:, 1], [1.0, found[0, 1]])
    assert found[2, 0] == 1


def test_the_later_it_was_lost_the_nearer():
    mechanism = load("four-bar")  # 64 samples of excitation, 128 of the cycle
    cases = [
        (Reason.LOST_IN_CYCLE, 127, 1 / 128),
        (Reason.LOST_IN_CYCLE, 64, 1 / 2),
        (Reason.SINGULAR_IN_CYCLE, 0, 1),
        (Reason.SINGULAR_IN_CYCLE, np.nan, 1),
        (Reason.VANISHING_PIVOT, 1e-12, 1),
        (Reason.LOST_LOOP, 32, 1.5),
        (Reason.NEAR_SINGULAR, np.nan, 2),
        (Reason.OTHER_ASSEMBLY, 0.25, 2.2),
        (Reason.OTHER_ASSEMBLY, np.nan, 3),
        (Reason.UNDEFINED, np.nan, 3),
    ]
    reason, number, expected = (np.array(column, float) for column in zip(*cases, strict=True))
    np.testing.assert_allclose(undone(mechanism, reason.astype(int), number), expected)
    assert (np.diff(expected) >= 0).all()


def test_a_special_variant_with_values_is_judged_by_them(tmp_path):
    """A pivot of β vanishes in the first variant: no condition, but a torque."""
    (tmp_path / "study.yaml").write_text("""
mechanism: four-bar
variables: {lx2: [0, 0.9]}
objectives: {torque_rms: minimize}
constraints: ["condition <= 1e9"]
sampler: {kind: random, seed: 1}
trials: 2
batch: 2
""")
    spec = load_study(tmp_path / "study.yaml").at(str(tmp_path / "study.zarr"))
    known = spec.plan.knowing(0, np.array([[0.0], [0.7]]))
    block = replace(spec.sweep, plan=known)
    evaluator = prepare(block)
    path = store.Path(spec.store)
    layout = layout_of(block, evaluator)
    store.create(path, layout)
    stages = (Stage(evaluator, layout.parts[0]),)
    Work(str(path), "here", block.plan, Filter.of(block.mechanism, ()), stages)(Task(0, 0, 2))
    found = judge(spec, Store.open(path), 0, 2)
    assert np.isfinite(found.values).all()
    np.testing.assert_array_equal(found.violations[0], [0.0, 1.0])
    np.testing.assert_array_equal(found.feasible, [False, True])


def test_an_own_metric_without_a_number_meets_nothing(monkeypatch):
    """−∞ ≤ 5 holds, and no design is so."""
    monkeypatch.setattr(own_metrics, "_registered", {})
    own_metrics.metric("wear")(lambda cycle: cycle.joint("D")[:, 0])
    spec = study_from(
        "four-bar",
        {"lx1": (0.2, 0.6)},
        {"mass": "minimize"},
        constraints=["wear <= 5"],
        trials=4,
    )
    wear = np.array([1.0, -np.inf, np.nan, 7.0])
    status = np.array([Status.SOLVED, Status.SPECIAL, Status.SPECIAL, Status.SOLVED])
    symbols = {"lx1": np.full(4, 0.3)}
    results = {"mass": np.ones(4), "wear": wear}
    found = weigh(spec, symbols, results, status, np.zeros(4, int), np.zeros(4))
    np.testing.assert_array_equal(found.feasible, [True, False, False, False])
    np.testing.assert_array_equal(np.isfinite(found.values[:, 0]), [True, False, False, True])
    assert (found.violations[1:3, 0] > found.violations[3].sum()).all()  # worse than a near miss


def test_seeds_of_trials_differ():
    seeds = {row_seed(seed, row) for seed in range(3) for row in range(1000)}
    assert len(seeds) > 2990  # 32 bits: a birthday or two in a thousand runs


def test_spread_takes_the_best_and_a_bit_of_everything():
    order = np.arange(1000)
    found = spread(order, 100)
    assert len(set(found.tolist())) == 100
    assert set(range(50)) <= set(found.tolist())
    assert found[-1] == 999
    assert np.diff(found[50:]).max() < 25
    np.testing.assert_array_equal(spread(order[:7], 100), order[:7])


def test_a_quantity_of_nothing_is_refused_in_its_own_words():
    from basepar_core.errors import ExpressionError

    known = ["stroke(A)", "stroke(B.1)", "lx1", "torque_rms"]
    check_words("max(stroke(A), stroke(B.1)) + sin(lx1) + torque_rms", known)
    with pytest.raises(ExpressionError, match=r"no stroke\(B\); did you mean"):
        check_words("stroke(B) >= 1", known)


def test_torques_with_friction_are_other_results_than_a_study_s():
    """A sweep's torques may have friction in them (`with`): a study is not told those."""
    spec = load_study(study_file("four-bar"))
    plain = spec.sweep.canonical
    assert _Source(spec, SimpleNamespace(spec=plain), []).is_same_mechanism
    other = {**plain, "evaluate": {**plain["evaluate"], "with": ["friction"]}}
    assert not _Source(spec, SimpleNamespace(spec=other), []).is_same_mechanism


def test_a_long_front_is_listed_from_end_to_end():
    """Far apart, wherever most of its designs are, and as many as asked for."""
    first = np.sort(np.concatenate([np.linspace(0.0, 1e-3, 500), np.linspace(0.0, 1.0, 41)]))
    front = np.stack([first, 5 - 2 * first], axis=1)
    places = far_apart(front, 20)
    assert len(places) == 20
    assert front[places[[0, -1]], 0].tolist() == [0.0, 1.0]
    # Halving again and again: gaps of a sixteenth and their halves.
    assert np.diff(front[places, 0]).max() <= 1 / 13
    assert far_apart(front[:7], 21).tolist() == [0, *range(2, 7)]  # two are the same
    assert far_apart(front, 1).tolist() == [0]
    assert far_apart(np.ones((30, 2)), 20).tolist() == [0]
    crowded = np.vstack([front[:500], front[-1:]])
    assert len(far_apart(crowded, 20)) == 20


def test_a_front_of_three_objectives_is_listed_with_the_least_of_each():
    points = np.abs(np.random.default_rng(0).normal(size=(300, 3)))
    front = points / np.linalg.norm(points, axis=1)[:, None]
    places = far_apart(front, 20)
    assert len(places) == 20
    np.testing.assert_array_equal(front[places].min(axis=0), front.min(axis=0))
