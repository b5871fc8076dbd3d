"""`basepar reproduce`: the shared comparison, the command, and the planar paper."""

import copy
import csv
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from basepar_core.api import load
from workflows.reproduce import comparison, planar_symbolic
from workflows.reproduce.comparison import Verdict
from workflows.reproduce.expressions import PrintedField
from workflows.reproduce.papers import PAPERS

# The rule.


@pytest.mark.parametrize(
    ("printed", "near", "far"),
    [
        ("2.4900398", "2.49003984", "2.49003986"),  # half of 1e-7
        ("-16.0", "-15.951", "-15.949"),
        ("4.6e10", "4.649e10", "4.651e10"),
        ("-6.4e-4", "-6.351e-4", "-6.349e-4"),
        ("1", "1.00000000000001", "1.000001"),  # a whole number is exact
        ("0", "0.0", "1e-30"),
    ],
)
def test_half_a_unit_of_the_last_printed_digit(printed, near, far):
    assert comparison.agrees(printed, near)
    assert comparison.agrees(printed, float(near))
    assert not comparison.agrees(printed, far)
    assert comparison.number("x", printed, far).verdict == Verdict.DIFFERS


def test_the_difference_is_ours_less_printed():
    one = comparison.number("x", "2.5", 2.25)
    assert (one.difference, one.ours, one.verdict) == ("-2.5e-1", "2.25", Verdict.DIFFERS)
    assert comparison.number("x", "2.5", "2.5").difference == "0"
    assert comparison.half_a_unit("0.038") == Decimal("0.0005")


def test_an_erratum_needs_our_number_to_be_the_corrected_one():
    wrong = comparison.number("x", "-1", "0")
    assert comparison.erratum(wrong, True, "exchanged").verdict == Verdict.ERRATUM
    neither = comparison.erratum(wrong, False, "exchanged")
    assert neither.verdict == Verdict.DIFFERS
    assert "not as the erratum has it" in neither.reason
    # One that is not needed is no excuse: the paper is right there.
    right = comparison.number("x", "-1", "-1")
    assert comparison.erratum(right, True, "exchanged").verdict == Verdict.DIFFERS


def test_what_cannot_be_repeated_is_excused_only_where_it_differs():
    assert (
        comparison.not_comparable(comparison.number("x", "1.0", 3.0), "noise").verdict
        == Verdict.NOT_COMPARABLE
    )
    agreeing = comparison.not_comparable(comparison.number("x", "1.0", 1.01), "noise")
    assert (agreeing.verdict, agreeing.reason) == (Verdict.AGREES, "")


def test_printed_expressions_are_compared_identically():
    field = PrintedField(load("four-bar"), ["J1", "m1"])
    said = field.coefficients("m1 - J1*(lx1 + 1/lx2) + J1*lx1")
    assert field.difference(said["J1"], field.geometric("-1/lx2")) == "0"
    assert field.difference(said["m1"], field.geometric("(lx1 + lx2)/(lx2 + lx1)")) == "0"
    assert field.difference(said["J1"], field.geometric("1/lx2")) == "-2/lx2"


# The command.


def test_papers_are_listed(run):
    listed = run("reproduce", "--json").json["papers"]
    assert [one["paper"] for one in listed] == [paper.name for paper in PAPERS]
    shown = run("reproduce").out
    assert all(paper.name in shown for paper in PAPERS)


def test_an_unknown_paper(run):
    ran = run("reproduce", "low-mobilty", "--json")
    assert ran.status == 2
    assert "did you mean 'low-mobility'" in ran.json["error"]["message"]


# The planar paper.


@pytest.fixture(scope="module")
def four_bar():
    return planar_symbolic.four_bar()


@pytest.fixture
def planar(monkeypatch, four_bar):
    """The reproduction, its routes computed once for all tests."""
    monkeypatch.setattr(planar_symbolic, "four_bar", lambda: four_bar)
    return planar_symbolic.reproduce(lambda _: None, None)


@pytest.mark.slow
def test_planar_verdicts(planar):
    assert planar.reproduced
    assert {table.name: tuple(table.counts.values()) for table in planar.tables} == {
        "Eq. 22": (4, 0, 0, 0),
        "Eq. 23": (9, 0, 0, 0),
        "Eq. 24": (24, 0, 0, 0),
        "Table 1": (10, 0, 0, 0),
        # The plain text has another row in m2's place: two entries.
        "Eq. 25": (22, 2, 0, 0),
        "Eq. 25, search": (22, 2, 0, 0),
        "text": (4, 1, 0, 0),
    }
    errata = [n for t in planar.tables for n in t.numbers if n.verdict == Verdict.ERRATUM]
    assert all("erratum 9" in one.reason for one in errata)


@pytest.mark.slow
def test_planar_document_and_files(run, tmp_path):
    pytest.importorskip("matplotlib")
    ran = run("reproduce", "planar-symbolic", "-o", str(tmp_path), "--json")
    assert ran.status == 0
    document = ran.json
    assert document["reproduced"]
    assert document["counts"] == {"agrees": 95, "erratum": 5, "not comparable": 0, "differs": 0}
    assert "half a unit" in document["rule"]
    (row,) = (
        one
        for table in document["tables"]
        for one in table["numbers"]
        if (table["name"], one["where"]) == ("Eq. 24", "mx1: J1")
    )
    assert (row["printed"], row["ours"], row["verdict"]) == ("-3.333", "-3.333333", "agrees")
    for figure in document["figures"]:
        assert (tmp_path / figure).stat().st_size > 5000
    with (tmp_path / "planar-symbolic.csv").open(encoding="utf-8") as file:
        verdicts = Counter(line["verdict"] for line in csv.DictReader(file))
    assert verdicts == {"agrees": 95, "erratum": 5}


@pytest.mark.parametrize(
    ("path", "wrong", "where"),
    [
        (("equation_22", "lx1"), "31/100", {"Eq. 22": ["lx1"]}),
        (("equation_23", "squares", 1), "lx2^2 - ly2^2", {"Eq. 23": ["Λ 2"]}),
        (("equation_24", "m3", "J3"), "-0.5918", {"Eq. 24": ["m3: J3"]}),
        (("equation_24", "my1", "J2"), "0.1", {"Eq. 24": ["my1: J2"]}),
        (("table_1", "L^1", 0), "3.334", {"Table 1": ["[L^1] 1/β"]}),
        (
            ("equation_25", "mx3", "J3"),
            "1/lx3",
            {"Eq. 25": ["mx3: J3"], "Eq. 25, search": ["mx3: J3"]},
        ),
        (
            ("errata", "equation_25", "m2", "J1"),
            "1/lx1",
            {"Eq. 25": ["m2: J1"], "Eq. 25, search": ["m2: J1"]},
        ),
        (("rank",), "7", {"text": ["base parameters, symbolic", "base parameters, numeric"]}),
    ],
)
def test_a_wrong_number_is_caught(run, monkeypatch, four_bar, path, wrong, where):
    printed = copy.deepcopy(four_bar.printed)
    place = printed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    altered = replace(four_bar, printed=printed)
    routes = {name: x for name, x in four_bar.__dict__.items() if name != "printed"}
    altered.__dict__.update(routes)  # not computed again
    monkeypatch.setattr(planar_symbolic, "four_bar", lambda: altered)
    ran = run("reproduce", "planar-symbolic", "--json")
    assert ran.status == 1
    assert not ran.json["reproduced"]
    found = {
        table["name"]: [one["where"] for one in table["numbers"] if one["verdict"] == "differs"]
        for table in ran.json["tables"]
        if table["counts"]["differs"]
    }
    assert found == where


def test_shown_number_by_number(run, planar):
    shown = run("reproduce", "planar-symbolic").out
    assert "planar-symbolic is reproduced" in shown
    line = next(line for line in shown.splitlines() if line.startswith("m2: J1   11.11"))
    assert line.split() == ["m2:", "J1", "11.11", "11.11111", "1.1e-3", "agrees"]
