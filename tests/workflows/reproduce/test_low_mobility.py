"""`basepar reproduce low-mobility`: Tables 1–5 of the suspension, and what must be caught."""

import copy
from dataclasses import replace

import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from workflows.reproduce import low_mobility
from workflows.reproduce.comparison import Verdict, data
from workflows.reproduce.low_mobility_numbers import equation_17, table_1, table_2
from workflows.reproduce.low_mobility_symbols import (
    table_3,
    table_4,
    table_5,
    table_5_without_rules,
)
from workflows.reproduce.suspension import Suspension


@pytest.fixture(scope="module")
def one():
    return Suspension(prepare(load("sla-suspension")), data("low-mobility"))


@pytest.fixture
def altered(one):
    """The same suspension and routes, with one printed number changed."""

    def change(*path_and_value):
        *path, last, value = path_and_value
        printed = copy.deepcopy(one.printed)
        place = printed
        for step in path:
            place = place[step]
        place[last] = value
        other = replace(one, printed=printed)
        found = {name: x for name, x in one.__dict__.items() if name != "printed"}
        other.__dict__.update(found)  # routes are not computed again
        return other

    return change


def differing(table):
    return [number.where for number in table.numbers if number.verdict == Verdict.DIFFERS]


@pytest.mark.slow
def test_symbolic_tables_agree(one):
    for make, count in ((table_3, 14), (table_4, 17), (table_5, 57)):
        table = make(one)
        assert table.counts == {
            "agrees": count,
            "erratum": 0,
            "not comparable": 0,
            "differs": 0,
        }, table.name
    assert all(number.difference == "0" for number in table_5(one).numbers)


@pytest.mark.slow
def test_table_5_without_joint_rules(one):
    table = table_5_without_rules(one)
    assert table.counts["agrees"] == len(table.numbers) == 57
    assert all(vector.grade == "probability" for vector in one.black_box.vectors)


@pytest.mark.parametrize(
    ("make", "change", "where"),
    [
        (table_5, ("table_5", "mx4", "text", "mx4 + Iyy4/L10"), ["mx4: Iyy4"]),
        (table_5, ("table_5", "my4", "text", "my4 + D31*m4"), ["my4: m4"]),
        (table_5, ("table_5", "my3", "text", "my3 + m5*DKy"), ["my3: mx5"]),
        (
            table_4,
            ("table_4", "mx5", "vector", "Ixx3", "2*DKy"),
            ["R35 (R), condition 2: mx5"],
        ),
        (table_4, ("table_4", "m4", "vector", "mz3", "D31"), ["S43 (S), condition 1: m4"]),
        (table_4, ("table_4", "m4", "type", "R"), ["S43 (R), condition 1: m4"]),
        (table_3, ("table_3", 0, "condition", "1"), ["my1"]),
        (table_3, ("table_3", 4, "parameters", ["m7"]), ["m7"]),
    ],
)
@pytest.mark.slow
def test_a_wrong_symbol_is_caught(one, altered, make, change, where):
    one.symbolic  # computed once for all
    assert differing(make(altered(*change))) == where


@pytest.mark.slow
def test_numeric_tables(one):
    assert table_2(one).counts == {"agrees": 56, "erratum": 2, "not comparable": 0, "differs": 0}
    first = table_1(one)
    # φb,25 and φb,26 are exchanged there too; noise is whatever it is, but nothing differs.
    assert (first.counts["erratum"], first.counts["differs"]) == (2, 0)
    assert sum(first.counts.values()) == 149
    declared = {n.where for n in first.numbers if n.verdict == Verdict.NOT_COMPARABLE}
    assert {f"{base}: mx5" for base in one.printed["table_1"]} <= declared
    # Two of sixteen terms of Eq. 17 are right.
    last = equation_17(one)
    right = [n.where for n in last.numbers if n.verdict == Verdict.AGREES]
    assert right == ["mx1: Iyy1", "mx1: m7"]
    assert last.counts == {"agrees": 2, "erratum": 0, "not comparable": 14, "differs": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "change", "where"),
    [
        (table_2, ("table_2", "mx1", "terms", "m7", "-0.065256973"), ["mx1: m7"]),
        (table_2, ("table_2", "my4", "terms", {"m4": "0.1"}), ["my4: m4"]),
        (table_2, ("table_2", "mx4", "terms", {}), ["mx4: Iyy4"]),
        (table_2, ("errata", "table_2", "Iyy5", "right", {"Izz5": "1"}), ["Iyy5: Izz5"]),
        (table_1, ("table_1", "mx4", "terms", "Iyy4", "-3.4"), ["mx4: Iyy4"]),
        (equation_17, ("equation_17", "Iyy1", "2.6"), ["mx1: Iyy1"]),
    ],
)
def test_a_wrong_number_is_caught(one, altered, make, change, where):
    one.symbolic, one.precise, one.double  # computed once for all
    assert differing(make(altered(*change))) == where


@pytest.mark.slow
def test_what_is_not_declared_to_be_noise_must_be_right(one, altered):
    """Which entries rounding changes by more than is printed is rounding's own affair."""
    one.symbolic, one.double  # computed once for all
    found = set(differing(table_1(altered("noise", "entries", {}))))
    assert found
    assert found <= {"Iyy6: Iyy4", "Iyy6: Iyy2", "Ixy6: Iyy2"}


@pytest.mark.slow
def test_the_command(run, tmp_path):
    """Everything once, 15 s of CPU: tables, statements, figures and numbers."""
    pytest.importorskip("matplotlib")
    ran = run("reproduce", "low-mobility", "-o", str(tmp_path), "--json")
    assert ran.status == 0
    document = ran.json
    assert document["reproduced"]
    names = [table["name"] for table in document["tables"]]
    assert names == [
        *("data", "Eq. 16", "Table 1", "Eq. 17", "Table 2", "Table 3", "Table 4", "Table 5"),
        *("Table 5, again", "text"),
    ]
    said = {one["where"]: one for one in document["tables"][-1]["numbers"]}
    assert said["ridge after σ₄₁ in double precision"]["verdict"] == "agrees"
    assert said["ridge after σ₄₁ in variable precision"]["verdict"] == "agrees"
    assert said["§6.2.2: condition for S and U joints"]["verdict"] == "erratum"
    assert "rank 41" in said["time of the rank, 500 digits"]["ours"]
    assert len(document["figures"]) == 2
    for figure in document["figures"]:
        assert (tmp_path / figure).stat().st_size > 20_000
    lines = (tmp_path / "low-mobility.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + sum(document["counts"].values())


@pytest.mark.slow
def test_figure_5_is_the_papers_kind(one):
    """Thirty digits on all instants show thirteen decades and more; doubles show none."""
    sigma = low_mobility.figure_5(one)
    assert (sigma.rank, sigma.samples, sigma.digits) == (41, 150, 30)
    assert sigma.precise[40] - sigma.precise[41] > 13  # as published
    assert sigma.double[40] - sigma.double[41] < 1
    assert sigma.hidden()[-1] == 41
