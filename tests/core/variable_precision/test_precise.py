"""Variable precision: ranks of known mechanisms, refusals, and the precise route."""

import dataclasses
import re

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base import precise_route as route
from basepar_core.base.precise_route import precise, precise_rank, settle
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import EliminationError, MotionError
from basepar_core.files.mechanism_file import library_path, loads
from basepar_core.variable_precision.configurations import NotClosedError
from basepar_core.variable_precision.observation import Variant, variant
from tests.mechanisms import C, R, linkage, loop
from tests.oracles import sixbar


@pytest.fixture(scope="module")
def models():
    cache = {}

    def get(name):
        if name not in cache:
            cache[name] = prepare(load(name))
        return cache[name]

    return get


# Ranks of whole mechanisms.


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("four-bar", 8),
        ("slider-crank", 6),
        ("five-bar", 11),
        ("parallelogram", 3),
        ("rsur", 12),
        ("ur10", 36),
        ("watt-ii", 13),
        ("sla-suspension", 41),
    ],
)
def test_rank_of_known_mechanisms(models, name, rank):
    found = precise_rank(models(name))
    assert (found.rank, found.evident, found.reevaluated, found.reason) == (rank, True, True, "")
    assert found.ridge > 20  # of 40 digits; published for the suspension: 13 decades of 30
    assert found.samples > rank


@pytest.mark.parametrize("digits", [30, 100, 320])
def test_digits_do_not_change_the_answer(models, digits):
    """Up to beyond the range of floats: at 320 digits residuals are below 1e-330."""
    free, asked = precise_rank(models("watt-ii")), precise_rank(models("watt-ii"), digits=digits)
    assert (asked.rank, asked.evident, asked.digits, asked.reason) == (13, True, digits, "")
    assert asked.ridge == pytest.approx(digits - 15.5, abs=1)
    np.testing.assert_allclose(
        asked.log10_singular_values[:13], free.log10_singular_values[:13], rtol=0, atol=1e-12
    )


def test_watt_by_circle_intersections(models):
    """The same rank from closed-form geometry and energies alone."""
    mechanism = models("watt-ii").mechanism
    with mpmath.workdps(120):
        texts = {s.name: s.value.value for s in mechanism.geometry}
        g = {name: mpf(x.numerator) / x.denominator for name, x in texts.items()}
        table = sixbar.energy_matrix(g, mpmath.pi / 3, mpf("0.05"), 24)
        sizes = mpmath.svd_r(table, compute_uv=False)
        decades = [mpmath.log10(sizes[k] / sizes[0]) for k in (12, 13)]
    # Differences leave 120·4/5 digits; twelve decades of grading lie between.
    assert decades[0] > -20
    assert decades[1] < -80


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tie_rod", "gravity", "rank", "last"),
    [
        # σ₄₁ as measured with an independent implementation on all 150 instants
        ("z", "1.3, 2.1, -9.4", 41, 8.304e-14),
        ("z", "0, 0, -9.81", 40, None),
        ("y", "0, 0, -9.81", 41, None),
    ],
)
def test_suspension_depends_on_gravity_and_tie_rod(tie_rod, gravity, rank, last):
    text = library_path("sla-suspension").read_text()
    text = text.replace("gravity: [0, 0, -9.81]", f"gravity: [{gravity}]")
    if tie_rod == "z":
        text = text.replace("axis: [[0, 1, 0], [0, 0, 1]]}", "axis: [[0, 0, 1], [0, 1, 0]]}")
    found = precise_rank(prepare(loads(text)), samples=150 if last else None)
    assert found.rank == rank
    assert found.evident
    if last is not None:  # four published digits
        assert found.singular_values[rank - 1] == pytest.approx(last, rel=1e-4)


@pytest.mark.slow
def test_suspension_with_its_damper_in_the_arms_plane_is_special(models):
    """The symbolic 41 holds for generic geometry only; 34 is published for this one."""
    found = precise_rank(models("sla-suspension"), {"Cy": 0.0})
    assert (found.rank, found.evident) == (34, True)


@pytest.mark.slow
def test_float64_doubts_low_mobility_and_is_not_wrong(models):
    for name, rank in (("watt-ii", 13), ("sla-suspension", 41)):
        result = symbolic(models(name))
        assert result.rank == rank
        assert "variable precision decides" in result.float64_doubt
        assert result.doubt == ""  # exact arithmetic has counted


ALMOST = (
    library_path("parallelogram")
    .read_text()
    .replace("  lx2: {value", "  lx3: {value: 0.45, unit: m}\n  lx2: {value")
    .replace("at: [[lx2, 0], [lx1, 0]]", "at: [[lx2, 0], [lx3, 0]]")
)


def test_a_swept_value_is_the_number_that_its_float_is():
    model = prepare(loads(ALMOST))
    assert precise_rank(model).rank == 8
    assert precise_rank(model, {"lx1": 0.4, "lx3": 0.4}).rank == 3
    # float 0.4 differs from the file's 2/5 by 2e-17: not quite a parallelogram, and all digits
    # that this takes are found.
    almost = precise_rank(model, {"lx3": 0.4})
    assert (almost.rank, almost.evident, almost.digits) == (8, True, 80)
    assert almost.singular_values[7] < 1e-30


# What is not evident.


@pytest.mark.slow
def test_too_few_digits_are_said_so(models):
    low = precise_rank(models("sla-suspension"), digits=20)
    assert not low.evident
    assert "decades" in low.reason or "rank" in low.reason


def test_too_few_rows_are_said_so():
    found = precise_rank(prepare(linkage(0, loop(R, C, C, C), ["a"])))
    assert (found.rank, found.samples, found.evident) == (6, 6, False)
    assert "only 6 rows" in found.reason


def test_too_few_samples_are_not_confirmed_but_extended(models):
    """Eight rows cannot hold more than rank 8: no second evaluation before there are more."""
    few = variant(models("four-bar"), {}, samples=8)
    asked = []

    def observe(digits):
        asked.append(digits)
        return few.observe(digits)

    stopped = settle(observe, (40, 80), limit=8).result
    assert (stopped.rank, stopped.evident, asked) == (8, False, [40])
    assert "8 samples are too few for rank 8" in stopped.reason
    found = precise_rank(models("four-bar"), samples=8)
    assert (found.rank, found.samples, found.evident) == (8, 10, True)


def test_loops_that_cannot_be_closed_are_an_error_not_a_rank(models):
    one = variant(models("four-bar"), {})
    far = dataclasses.replace(one, p=one.p + 1e-5)  # another branch might be as near
    with pytest.raises(NotClosedError, match="float64 configuration is off"):
        far.observe(40)
    lost = settle(far.observe, (40, 80))
    assert (lost.result.rank, lost.result.evident, lost.matrix) == (0, False, None)


def test_a_geometry_that_cannot_move_says_so(models):
    with pytest.raises(MotionError, match="cannot follow"):
        precise_rank(models("four-bar"), {"lx1": 9.0})


# The route.


@pytest.mark.parametrize(
    "name",
    [
        "four-bar",
        "slider-crank",
        "parallelogram",
        "rsur",
        "watt-ii",
        pytest.param("sla-suspension", marks=pytest.mark.slow),
    ],
)
def test_route_agrees_with_the_symbolic_one(models, name):
    expected = symbolic(models(name))
    found = precise(models(name), expected.eliminated)
    assert found.route == "precise"
    assert found.doubt == ""
    assert found.certificate.grade == "numerical"
    assert found.no_effect == expected.no_effect
    # Rounding of the symbolic entries' float64 evaluation.
    np.testing.assert_allclose(found.nominal_beta, expected.nominal_beta, rtol=1e-13, atol=1e-14)
    assert ((found.nominal_beta != 0) == (expected.nominal_beta != 0)).all()


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar", "rsur"])
def test_route_chooses_as_the_numeric_one(models, name):
    assert precise(models(name)).eliminated == numeric(models(name)).eliminated


def test_two_precisions_with_two_ranks_prove_neither(monkeypatch):
    """A parallelogram but for 1e-45 m: 40 digits see rank 3, 60 see more."""
    nearly = "0.4" + 43 * "0" + "1"
    model = prepare(loads(ALMOST.replace("lx3: {value: 0.45", f"lx3: {{value: {nearly}")))
    monkeypatch.setattr(route, "MOST_DIGITS", 40)
    found = precise(model)  # nobody asks for a φ₂: nothing to refuse
    assert "the rank is 3, but" in found.doubt
    stated = found.certificate
    assert found.rank == stated.at_least == stated.at_most > 3
    assert stated.at_least_grade == "numerical"


def test_digits_of_beta_that_are_lacking_are_said(models, monkeypatch):
    """W is never right to more than 60 digits here, whatever is asked for."""
    observe = Variant.observe

    def coarse(self, digits, form="W"):
        return observe(self, min(digits, 60), form)

    monkeypatch.setattr(Variant, "observe", coarse)
    assert precise(models("four-bar"), digits=30).doubt == ""
    found = precise(models("four-bar"), digits=100)
    assert found.rank == 8
    assert re.search(r"β is proved to 5\d of 100 digits only", found.doubt)


def test_route_refuses_what_is_not_admissible(models):
    names = models("four-bar").mechanism.parameter_names
    with pytest.raises(EliminationError, match="exactly 4"):
        precise(models("four-bar"), [names.index("crank.mx")])
    wanted = [names.index(f"crank.{kind}") for kind in ("m", "mx", "my", "J")]
    with pytest.raises(EliminationError, match="admissible"):
        precise(models("four-bar"), wanted)
