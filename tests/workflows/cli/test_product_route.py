"""`basepar base --route product`: what programs and people see."""

from tests.workflows.cli.test_base_command import EQUATION_25


def test_document(run):
    choice = ("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--route", "product")
    found = run(*choice, "--json").json
    assert found["route"] == "product"
    assert {row["parameter"]: row["terms"] for row in found["base"]} == EQUATION_25
    search = found["search"]
    assert search["lengths"] == ["lx1", "lx2", "ly2", "lx3"]
    assert search["matched"] == {"Eq. 21": 8, "Λk/Λh": 0}
    assert all(row["holds"] for row in search["conditions"])
    shown = run(*choice).out
    assert "crank.mx − crank.J/lx1" in shown
    assert "8 of 8 entries of β matched" in shown
    assert "masses next to the ground in φ₂: holds (wanted crank.m)" in shown
    latex = run(*choice, "--format", "latex").out
    assert r"\frac{J_{\mathrm{crank}}}{lx_{1}}" in latex


def test_what_is_missing_is_said(run):
    shown = run("base", "watt-ii", "--route", "product").out
    assert "11 of 14 entries of β matched (10 in Eq. 21, 1 in Λk/Λh)" in shown
    assert "no product for coupler.J in rod.m: its value only" in shown
    assert "does not hold (bell_crank;" in shown
    ran = run("base", "watt-ii", "--route", "product", "--format", "c", "--json")
    assert ran.status == 2


def test_spatial_mechanisms_are_refused_by_name(run):
    ran = run("base", "ur10", "--route", "product", "--json")
    assert ran.status == 2
    error = ran.json["error"]
    assert "'ur10' is spatial" in error["message"]
    assert "--route symbolic" in error["message"]
