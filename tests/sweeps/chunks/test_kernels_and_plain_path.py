"""Sweeps by the compiled kernels and by the plain path: the same verdicts, the same numbers."""

import json
import pickle
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled import backend
from basepar_core.files.mechanism_file import library_path
from basepar_core.reduction import CRITERIA
from basepar_core.reduction.reduce import noise_levels
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, Reduction, SweepSpec
from sweeps.store.statuses import WITH_RESULTS, Reason, Status
from tests.mechanisms import nearby

#: Spread of the symbols, and variants: some of the first four's fail, in every way there is.
CASES = {
    "four-bar": (0.6, 99),
    "slider-crank": (0.5, 40),
    "five-bar": (0.4, 40),
    "watt-ii": (0.2, 34),
    "sla-suspension": (0.1, 10),
    "3-rps": (0.1, 6),
    "stewart-gough": (0.05, 4),
    "rssr": (0.2, 20),
    "ur5": (0.1, 4),
}


def evaluator_of(name: str) -> ChunkEvaluator:
    mechanism = load(name)
    bounds = tuple((symbol.name, 0.0, 1.0) for symbol in mechanism.geometry[:1])
    driven = set(mechanism.actuated) == set(mechanism.coordinates)
    whole = driven and mechanism.has_inertias and mechanism.cycle is not None
    asked = Reduction(CRITERIA, 0.02) if whole and noise_levels(mechanism) is not None else None
    metrics = ("torque_rms", "torque_peak") if whole else ()
    return prepare(
        SweepSpec(mechanism, Random(bounds, 1, 0), evaluation=Evaluation("auto", asked, metrics))
    )


@cache
def prepared(name: str) -> tuple[ChunkEvaluator, dict[str, np.ndarray]]:
    one = evaluator_of(name)
    spread, count = CASES[name]
    return one, nearby(one.model.mechanism, count, spread, 8)


@cache
def by_kernels(name: str) -> dict[str, np.ndarray]:
    one, columns = prepared(name)
    return one(columns, np.ones(CASES[name][1], bool))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_sweep_as_by_the_plain_path(name, monkeypatch):
    one, columns = prepared(name)
    fast = by_kernels(name)
    monkeypatch.setattr(backend, "LARGEST", -1.0)  # nothing is left to the kernels
    plain = one(columns, np.ones(CASES[name][1], bool))
    for what in ("status", "reason", "branch"):
        np.testing.assert_array_equal(fast[what], plain[what], err_msg=what)
    good = np.isin(plain["status"], WITH_RESULTS)
    assert good.any()
    # What float64 does not decide, rounding may: a rank, and which of two columns goes first.
    decided = plain["reason"] != Reason.DOUBTFUL_RANK
    for what in ("rank", "removed", "selected_size"):
        if what in plain:
            same = fast[what][decided], plain[what][decided]
            np.testing.assert_array_equal(*same, err_msg=what)
    # Where a variant was lost; a gap that Newton could not close, and a ratio to rounding, are
    # nobody's numbers.
    counted = ~np.isin(plain["reason"], (Reason.OTHER_ASSEMBLY, Reason.DOUBTFUL_RANK))
    np.testing.assert_array_equal(fast["reason_value"][counted], plain["reason_value"][counted])
    # The plain path takes the margin just before Newton's last update, which is below 1e-9.
    np.testing.assert_allclose(fast["margin"], plain["margin"], atol=1e-8)
    assert (fast["residual"][good] < plain["residual"][good] + 1e-14).all()
    # Some hundred roundings on either side; joints, and from them W, lose what the margin says,
    # and W's small singular values what its condition says (relative to the largest).
    loss = 1e-13 / plain["margin"][good]
    values = plain["singular_values"][good]
    error = np.abs(fast["singular_values"][good] - values).max(axis=1)
    assert (error < loss * values[:, 0]).all()
    condition = plain["condition"][good]
    error = np.abs(fast["condition"][good] / condition - 1)
    assert (error < loss * condition).all()
    for what in ("torque_rms", "torque_peak"):
        if what in plain:
            there, here = plain[what][good], fast[what][good]
            largest = np.abs(there.reshape(good.sum(), -1)).max(axis=1)
            error = np.abs((here - there).reshape(good.sum(), -1)).max(axis=1)
            assert (error < 10 * loss * largest).all(), what
    if "torque_error" in plain:
        # Shares of the torque; what is left out amplifies roundings by the columns' condition.
        error = np.abs(fast["torque_error"] - plain["torque_error"])[good].max(axis=1)
        assert (error < loss * condition).all()
    if "base_parameters" in plain:
        np.testing.assert_array_equal(fast["base_parameters"], plain["base_parameters"])


@pytest.mark.slow
def test_nothing_stands_as_a_number_where_there_is_none():
    fast = by_kernels("four-bar")
    good = np.isin(fast["status"], WITH_RESULTS)
    assert 0 < good.sum() < good.size
    for what, values in fast.items():
        if values.dtype.kind != "f" or what == "reason_value":
            continue
        assert np.isfinite(values[good]).all(), what
        assert np.isnan(values[~good]).all(), what


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 33])
def test_chunks_of_any_size_give_the_same_bits(size):
    """So workers do, however many share the chunks; the evaluator is as they get it."""
    one, columns = prepared("four-bar")
    whole, copy = by_kernels("four-bar"), pickle.loads(pickle.dumps(one))
    for first in range(0, 99 if size > 1 else 12, size):
        piece = slice(first, first + size)
        part = {name: column[piece] for name, column in columns.items()}
        alone = copy(part, np.ones(len(part["lx1"]), bool))
        for what, values in alone.items():
            np.testing.assert_array_equal(values, whole[what][piece], err_msg=what)


@pytest.mark.slow
def test_show_says_which_way_and_why(tmp_path):
    def told(name):
        command = [sys.executable, "-m", "workflows.cli.main", "show", str(name), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    found = told("four-bar")
    assert found["path"] == "compiled kernels"
    assert "its motions stay within" in found["path_why"]
    text = library_path("four-bar").read_text()
    far = tmp_path / "far.yaml"
    # Samples enough for less than 100 rad between two of them, as motions must have.
    far.write_text(text.replace("turns: 1", "turns: 5000").replace("samples: 128", "samples: 512"))
    # 5000 turns, less the last of 512 steps.
    assert "but not the cycle: coordinates reach 3.14e+04 rad" in told(far)["path_why"]


def test_far_cycles_go_the_plain_way(monkeypatch):
    """The four-bar's cycle is one turn: with less than that allowed, only the excitation is in."""
    model = prepared("four-bar")[0].model
    monkeypatch.setattr(backend, "LARGEST", 4.0)
    found = backend.way(model)
    assert found.name == "compiled kernels"
    assert "cycle: coordinates reach" in found.why
    monkeypatch.setattr(backend, "LARGEST", 1e-3)
    found = backend.way(model)
    assert found.name == "plain NumPy"
    assert "excitation: coordinates reach" in found.why


def test_statuses_of_the_cases_are_all_there():
    assert {*by_kernels("four-bar")["status"]} >= {Status.UNASSEMBLABLE, Status.LOST}


def test_a_first_result_needs_no_computer_algebra():
    """To load sympy takes a quarter of the second that a fresh process has for its first W."""
    program = (
        "import sys\n"
        "from basepar_core.api import load\n"
        "from basepar_core.compiled import Engine\n"
        "from basepar_core.dynamics import excitation, prepare\n"
        "for name in ('four-bar', 'ur5', 'stewart-gough'):\n"
        "    model = prepare(load(name))\n"
        "    sought = excitation(model.mechanism, model.assembled.coordinates)\n"
        "    assert Engine(model).observe({}, sought).closed.all()\n"
        "print('sympy' in sys.modules)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"
