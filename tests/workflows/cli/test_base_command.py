"""`basepar base`: the planar paper's four-bar, number by number, and the other mechanisms."""

import pytest
import sympy

# Eq. 25 of the planar paper; by name, because the printed rows are duplicated (errata).
EQUATION_25 = {
    "crank.mx": {"crank.J": "-1/lx1"},
    "crank.my": {},
    "coupler.m": {"crank.J": "1/lx1**2", "coupler.J": "-1/(lx2**2 + ly2**2)"},
    "coupler.mx": {"coupler.J": "-lx2/(lx2**2 + ly2**2)"},
    "coupler.my": {"coupler.J": "ly2/(lx2**2 + ly2**2)"},
    "rocker.m": {"coupler.J": "1/(lx2**2 + ly2**2)", "rocker.J": "-1/lx3**2"},
    "rocker.mx": {"rocker.J": "-1/lx3"},
    "rocker.my": {},
}
# Eq. 24, four printed digits.
EQUATION_24 = {
    "crank.mx": {"crank.J": -3.333},
    "coupler.m": {"crank.J": 11.11, "coupler.J": -0.5882},
    "coupler.mx": {"coupler.J": -0.4118},
    "coupler.my": {"coupler.J": 0.6471},
    "rocker.m": {"coupler.J": 0.5882, "rocker.J": -0.5917},
    "rocker.mx": {"rocker.J": -0.7692},
}
RANKS = {
    "four-bar": 8,  # planar paper
    "slider-crank": 6,  # identification paper, Table 1
    "five-bar": 11,
    "parallelogram": 3,
    "ur10": 36,  # Pinocchio's regressor has 36 independent columns (tests/core)
}


@pytest.fixture
def paper(run):
    ran = run("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--json")
    assert ran.status == 0
    return ran.json


def test_equation_25(paper):
    assert [row["parameter"] for row in paper["base"]] == list(EQUATION_25)
    for row in paper["base"]:
        expected = EQUATION_25[row["parameter"]]
        assert row["terms"].keys() == expected.keys(), row["parameter"]
        for name, text in expected.items():
            difference = sympy.sympify(row["terms"][name]) - sympy.sympify(text)
            assert sympy.simplify(difference) == 0, (row["parameter"], name)


def test_a_pole_at_the_nominal_geometry_is_null(run, tmp_path):
    """Eliminating coupler.mx divides by lx2, which this file has at zero: JSON has no infinity."""
    from basepar_core.files.mechanism_file import library_path

    old = "lx2: {value: 0.7, unit: m, bounds: [0.5, 0.9]}"
    text = library_path("four-bar").read_text()
    assert old in text
    file = tmp_path / "four-bar.yaml"
    file.write_text(text.replace(old, "lx2: {value: 0, unit: m, bounds: [-0.1, 0.9]}"))
    found = run("base", str(file), "--eliminate", "J1,mx2,J3,m1", "--json").json
    rows = {row["parameter"]: row for row in found["base"]}
    # coupler.J − (lx2² + ly2²)/lx2 coupler.mx, from Eq. 25.
    term = sympy.sympify(rows["coupler.J"]["terms"]["coupler.mx"])
    assert sympy.simplify(term - sympy.sympify("-(lx2**2 + ly2**2)/lx2")) == 0
    assert rows["coupler.J"]["values"]["coupler.mx"] is None
    assert "β is infinite at the nominal geometry" in found["doubt"]


def test_equation_24(paper):
    for row in paper["base"]:
        expected = EQUATION_24.get(row["parameter"], {})
        assert row["values"].keys() == expected.keys()
        for name, value in expected.items():
            # Half a unit of the paper's fourth digit.
            assert f"{row['values'][name]:.4g}" == f"{value:.4g}"


def test_document_of_the_paper(paper):
    assert paper["rank"] == 8
    assert paper["route"] == "symbolic"
    assert paper["eliminated"] == ["crank.m", "crank.J", "coupler.J", "rocker.J"]
    assert paper["no_effect"] == ["crank.m"]
    assert len(paper["parameters"]) == len(paper["singular_values"]) == 12
    assert paper["doubt"] == ""
    # Nine decades and more between σ₈ and rounding, for a well-separated four-bar.
    assert paper["gap"] > 1e9
    certificate = paper["certificate"]
    assert certificate["at_least"]["rank"] == certificate["at_most"]["rank"] == 8
    assert certificate["at_most"]["grade"] == "theorem"
    # A nonzero minor at a random point over a finite field, for the family of the file.
    assert certificate["grade"] == certificate["at_least"]["grade"] == "proved generically"
    assert {vector["grade"] for vector in certificate["at_most"]["vectors"]} == {"theorem"}
    reasons = [vector["reason"] for vector in certificate["at_most"]["vectors"]]
    assert "mass between crank and coupler through revolute B" in reasons


@pytest.mark.parametrize(("name", "rank"), RANKS.items())
def test_ranks_by_both_routes(run, name, rank):
    for route in ("symbolic", "numeric"):
        found = run("base", name, "--route", route, "--json").json
        assert (found["rank"], found["route"]) == (rank, route)
        assert len(found["base"]) == rank
        assert len(found["eliminated"]) == len(found["parameters"]) - rank


def test_numeric_route_has_no_terms(run):
    found = run("base", "four-bar", "--route", "numeric", "--json").json
    assert all("terms" not in row for row in found["base"])


def test_routes_agree_on_the_papers_choice(run, paper):
    choice = ("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--route", "numeric", "--json")
    numeric = run(*choice).json
    assert numeric["eliminated"] == paper["eliminated"]
    for one, two in zip(paper["base"], numeric["base"], strict=True):
        assert one["values"].keys() == two["values"].keys(), one["parameter"]
        for name, value in one["values"].items():
            # σ₈ is 1e-3 of σ₁ with unit columns: float64's null space is good to twelve digits.
            assert two["values"][name] == pytest.approx(value, rel=1e-10)


def test_table_for_people(run):
    shown = run("base", "four-bar", "--eliminate", "J1,J2,J3,m1").out
    assert "8 base parameters of 12" in shown
    assert "crank.mx − crank.J/lx1" in shown
    assert "crank.mx − 3.333*crank.J" in shown
    assert "rank ≤ 8 theorem" in " ".join(shown.split())


def test_unknown_parameters_are_named_at_once(run):
    ran = run("base", "four-bar", "--eliminate", "J1,m9,crank.K", "--json")
    assert ran.status == 2
    error = ran.json["error"]
    assert error["kind"] == "usage"
    assert error["where"] == ["m9", "crank.K"]
    assert "m9, crank.K" in error["message"]


def test_inadmissible_choice_says_what_is_left(run):
    ran = run("base", "four-bar", "--eliminate", "J1,J2,m2,m3", "--json")
    assert ran.status == 1
    error = ran.json["error"]
    assert error["kind"] == "elimination"
    assert "not an admissible choice" in error["message"]
    assert "exactly 4 eliminated" in error["message"]


def test_digits_are_text_beyond_a_float(run):
    choice = ("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--route", "precise", "--json")
    found = run(*choice, "--digits", "30").json
    values = found["base"][0]["values"]
    assert values == {"crank.J": "-3." + 29 * "3"}
    plain = run(*choice, "--digits", "17").json
    assert plain["base"][0]["values"]["crank.J"] == pytest.approx(-10 / 3, rel=1e-15)
    assert found["certificate"]["at_least"] == {
        "rank": 8,
        "grade": "proved",
        "scope": "this geometry and branch",
    }
    shown = run(*choice[:-1], "--digits", "20").out
    assert "crank.mx − 3.3333333333333333333*crank.J" in shown


@pytest.mark.parametrize("asked", [("--digits", "30"), ("--route", "precise", "--digits", "0")])
def test_digits_belong_to_the_precise_route(run, asked):
    ran = run("base", "four-bar", *asked, "--json")
    assert (ran.status, ran.json["error"]["where"]) == (2, ["--digits"])
