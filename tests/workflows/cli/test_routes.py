"""`basepar base --route all`: the routes side by side, their spectra, and the verdict."""

import json
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base import nominal_observation, parameter_indices, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.variable_precision.numbers import svd
from basepar_core.variable_precision.observation import variant
from tests.mechanisms import PARALLELOGRAM_BY_VALUE
from tests.workflows.cli.test_base_command import EQUATION_25
from workflows.drawing import spectra
from workflows.jobs import base_routes

ROUTES = ("symbolic", "numeric", "precise")


@pytest.fixture(scope="module")
def four_bar():
    model = prepare(load("four-bar"))
    return model, base_routes.compare(model)


@pytest.fixture(scope="module")
def watt():
    """A linkage that double precision cannot decide."""
    return base_routes.compare(prepare(load("watt-ii")))


def test_four_bar_agrees(four_bar):
    _, found = four_bar
    assert found.agreed == "agreed"
    assert [row["rank"] for row in found.document()["side_by_side"]] == [8] * 5
    assert all("the same rank 8" in reason for reason in found.why)
    assert not found.not_run
    assert found.spectra.hidden() == ()


def test_document(four_bar):
    _, found = four_bar
    document = json.loads(json.dumps(found.document()))
    assert list(document["routes"]) == [*ROUTES, "product", "black-box"]
    rows = {row["route"]: row for row in document["side_by_side"]}
    assert (rows["symbolic"]["at_least"], rows["symbolic"]["at_most"]) == (
        "proved generically",
        "theorem",
    )
    # 40 digits show the ridge, 60 confirm it and are what the numbers are from.
    assert [rows[route]["digits"] for route in rows] == [None, 16, 60, None, None]
    assert (rows["black-box"]["at_least"], rows["black-box"]["at_most"]) == (
        "proved generically",
        "probability",
    )
    for route, row in rows.items():
        assert row["gap_decades"] == pytest.approx(math.log10(document["routes"][route]["gap"]))
        assert row["seconds"] == document["routes"][route]["seconds"] > 0
        assert row["cpu_seconds"] > 0
    assert len(document["spectra"]["log10_double"]) == len(document["parameters"]) == 12


def test_spectra_are_of_one_matrix(four_bar):
    """Both against decompositions of the same samples: LAPACK's, and mpmath's in 60 digits."""
    model, found = four_bar
    picks = found.found["precise"].picks
    assert found.spectra.samples == len(picks) == 18
    W = nominal_observation(model).W[0][list(picks)].reshape(-1, 12)
    double = np.linalg.svd(W, compute_uv=False)
    np.testing.assert_allclose(10 ** np.array(found.spectra.double[:8]), double[:8], rtol=1e-12)
    _, sizes, _ = svd(variant(model, {}).observe(60))
    precise = [float(mpmath.log10(sizes[k])) for k in range(8)]
    # The route's singular values have 13 digits.
    np.testing.assert_allclose(found.spectra.precise[:8], precise, rtol=0, atol=1e-12)
    # The bound holds: double precision is off by less than the error it is said to have.
    off = np.abs(double[:8] - [float(sizes[k]) for k in range(8)]).max()
    assert off < 10**found.spectra.error < 1e-9


def test_float64_in_doubt_has_no_vote_and_says_why(watt):
    assert watt.agreed == "agreed"
    exact = [watt.found[route].rank for route in ("symbolic", "precise", "black-box")]
    assert exact == [13, 13, 13]
    symbolic = watt.found["symbolic"]
    assert symbolic.doubt == ""
    assert "variable precision decides" in symbolic.document()["float64_doubt"]
    hidden = watt.spectra.hidden()
    assert hidden
    assert hidden[-1] == 13
    (said,) = (reason for reason in watt.why if "float64 doubts" in reason)
    assert "σ_13" in said
    assert "cannot be told from zero" in said


def test_float64_in_doubt_hides_no_contradiction(watt):
    """An evident rank of 12 against 13 by theorems: no doubt of float64's excuses that."""
    precise = watt.found["precise"]
    lower = replace(precise, kept=precise.kept[:-1])
    verdict, why = base_routes._judged({**watt.found, "precise": lower}, watt.spectra)
    assert (verdict, why[0]) == ("contradictory", "symbolic and precise: ranks 13 and 12")
    doubted = replace(lower, doubt="the ridge is 3 decades high")
    verdict, _ = base_routes._judged({**watt.found, "precise": doubted}, watt.spectra)
    assert verdict == "doubtful"


def test_other_numbers_are_contradictory(four_bar):
    _, found = four_bar
    base = found.found["numeric"]
    entry = replace(base.beta[0], value=base.beta[0].value + 1e-5)
    wrong = replace(base, beta=(entry, *base.beta[1:]))
    verdict, why = base_routes._judged({**found.found, "numeric": wrong}, found.spectra)
    assert verdict == "contradictory"
    assert "different" in why[1]


@pytest.mark.parametrize("route", ["product", "black-box"])
def test_a_check_that_differs_is_contradictory(four_bar, route):
    """Also where the symbolic β is regrouped for the check's own φ₂."""
    _, found = four_bar
    base = found.found[route]
    entry = replace(base.beta[0], value=base.beta[0].value + 1e-5)
    wrong = replace(base, beta=(entry, *base.beta[1:]))
    verdict, why = base_routes._judged({**found.found, route: wrong}, found.spectra)
    assert verdict == "contradictory"
    assert any(f"symbolic and {route}" in said and "different" in said for said in why)


def test_beta_regrouped_is_the_symbolic_routes():
    model = prepare(load("five-bar"))
    one = base_routes.find(model, "symbolic")
    # Planar paper's choice, in the order of the file.
    gone = parameter_indices(model.mechanism, ["m1", "m4", "J1", "J4", "J2"])
    two = base_routes.find(model, "symbolic", gone)
    assert one.eliminated != two.eliminated
    # Exact expressions evaluated in float64, and a change of φ₂ with a small condition.
    np.testing.assert_allclose(
        base_routes._regrouped(one, two.eliminated), two.nominal_beta, rtol=0, atol=1e-13
    )
    # All first moments along y: crank's and rods' cannot go together.
    names = ["left_crank.my", "left_rod.my", "right_rod.my", "right_crank.my", "left_rod.mx"]
    assert base_routes._regrouped(one, parameter_indices(model.mechanism, names)) is None


def test_a_check_that_cannot_run_says_why_and_does_not_judge():
    """The product class is of planar mechanisms; one that is spatial is judged without it."""
    found = base_routes.compare(prepare(load("rssr")))
    assert "black-box" in found.found
    assert "of planar mechanisms" in found.not_run["product"]
    assert found.agreed == "agreed"


def test_black_box_alone(run):
    """φ₂ given and not; an inadmissible one is refused."""
    chosen = ("--eliminate", "J1,J2,J3,m1", "--route", "black-box")
    given = run("base", "four-bar", *chosen, "--json").json
    assert (given["route"], given["rank"]) == ("black-box", 8)
    assert {row["parameter"]: row["terms"] for row in given["base"]} == EQUATION_25
    assert given["certificate"]["at_most"]["grade"] == "probability"
    assert "lx1" in given["validity"]
    assert "black-box route" in run("base", "slider-crank", "--route", "black-box").out
    refused = run("base", "four-bar", "--eliminate", "J1", "--route", "black-box", "--json")
    assert refused.status == 1
    assert "exactly 4" in refused.json["error"]["message"]


def test_another_rank_is_contradictory_unless_it_is_doubted(four_bar, watt):
    _, found = four_bar
    other = watt.found["precise"]  # of another mechanism: rank 13
    verdict, why = base_routes._judged({**found.found, "precise": other}, found.spectra)
    assert (verdict, why[0]) == ("contradictory", "symbolic and precise: ranks 8 and 13")
    doubted = replace(other, doubt="the ridge is 3 decades high")
    verdict, why = base_routes._judged({**found.found, "precise": doubted}, found.spectra)
    assert verdict == "doubtful"
    assert "3 decades" in why[1]


def test_what_the_symbolic_route_doubts_itself_is_doubtful():
    """Of four lengths a four-bar's 8; of the values, a parallelogram's 3 (docs/library.md)."""
    found = base_routes.compare(prepare(loads(PARALLELOGRAM_BY_VALUE)))
    assert [found.found[route].rank for route in ROUTES] == [3, 3, 3]
    # Of random members, as the symbolic route's family.
    family = found.found["symbolic"].of_family
    assert found.found["black-box"].rank == family.rank == 8
    assert found.agreed == "agreed"
    verdict, why = base_routes._judged({**found.found, "symbolic": family}, found.spectra)
    assert verdict == "doubtful"
    assert any("the nominal geometry is special" in reason for reason in why)
    sure = replace(family, doubt="")
    assert base_routes._judged({**found.found, "symbolic": sure}, found.spectra)[0] == (
        "contradictory"
    )
    other = replace(found.found["numeric"], kept=found.found["numeric"].kept[:2])
    both = {**found.found, "symbolic": family, "numeric": other}
    verdict, why = base_routes._judged(both, found.spectra)
    assert verdict == "contradictory"
    assert "precise and numeric: ranks 3 and 2" in why


def test_a_special_geometry_that_float64_cannot_decide_is_counted_in_many_digits():
    """Exact arithmetic sees that these lengths close in a way of their own; float64 is blind."""
    text = PARALLELOGRAM_BY_VALUE.replace("[[l4, 0], [l3, 0]]", "[[l2, 0], [l3, 0]]").replace(
        "A: 0.6", "A: 1e-7"
    )
    text = text.replace(",\n           l4: {value: 0.7, unit: m}", "")
    base = base_routes.find(prepare(loads(text)), "symbolic")
    assert (base.rank, base.doubt) == (3, "")
    family = symbolic(prepare(loads(text)), own=False)
    assert family.float64_doubt
    assert "closes in a special way" in family.doubt


def test_chart_shows_the_ridge(watt):
    lines = spectra.chart(watt.spectra, width=100)
    assert max(map(len, lines)) <= 100
    body, under = lines[:-1], lines[-1]
    assert under.strip() == "σ_13"
    edge = body[0].index("│")
    assert all(line[edge] == "│" for line in body)
    error = next(line for line in body if line.endswith("float64's error"))
    # Variable precision has 13 values left of the edge, all above the lowest line.
    left = "".join(line[9:edge] for line in body[:-1])
    assert left.count("+") + left.count("#") == 13
    assert body.index(error) < len(body) - 1


def test_a_wide_spectrum_fits(four_bar):
    _, found = four_bar
    wide = replace(
        found.spectra,
        double=tuple(np.linspace(3, -16, 300)),
        precise=tuple(np.linspace(3, -16, 300)),
        rank=150,
    )
    assert max(map(len, spectra.chart(wide, width=80))) <= 80


@pytest.mark.slow
def test_printed_and_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "sigma.svg"
    shown = run("base", "four-bar", "--route", "all", "-o", str(file)).out
    assert "the routes are agreed" in shown
    assert "float64's error" in shown
    assert "proved generically" in shown
    assert file.stat().st_size > 5000
    drawn = run("base", "four-bar", "--route", "all", "--json", "-o", str(file)).json
    assert drawn["drawing"] == str(file)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("-o", "a.png"), "--route all"),
        (("--route", "all", "-o", "a.gif"), ".png, .svg or .pdf"),
        (("--route", "all", "--format", "c"), "prints one route"),
    ],
)
def test_options_that_do_not_go_together(run, arguments, word):
    ran = run("base", "four-bar", *arguments, "--json")
    assert ran.status == 2
    assert word in ran.json["error"]["message"]
