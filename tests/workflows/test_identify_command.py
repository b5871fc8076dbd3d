"""`basepar identify`, `base --with`, and `basepar reproduce identification`."""

import json

import pytest

from tests.core import identification_data as data
from workflows.reproduce import identification
from workflows.reproduce.comparison import Verdict

ARGUMENTS = [
    "identify",
    str(data.MECHANISM),
    str(data.TRAIN),
    "--columns",
    "A=q,A'=qd,A''=qdd,tau.A=tau",
    "--eliminate",
    "m1,m2,m3,mx3,my3,J3",
]


def test_identify_document(run):
    ran = run(*ARGUMENTS, "--validate", str(data.VALIDATION), "--dependent", "m2=0.22,m3=0.25",
              "--json")  # fmt: skip
    found = ran.json
    assert {p["parameter"] for p in found["parameters"]} == set(data.BASE)
    for one in found["parameters"]:
        assert one["value"] == pytest.approx(data.BASE[one["parameter"]], abs=1e-7)
        assert one["interval"][0] < one["value"] < one["interval"][1]
    assert found["validation"]["relative_error"] < 1e-6
    assert found["standard"]["rod.mx"] == pytest.approx(0.0275, abs=1e-7)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--known", "J1"], "not of the form"),
        (["--known", "J1=x"], "no number"),
        (["--with", "friction"], "has no column friction"),
    ],
)
def test_identify_refuses(run, more, says):
    ran = run(*ARGUMENTS, *more, "--json")
    assert ran.status == 2
    assert says in ran.json["error"]["message"]


def test_base_with_friction(run):
    found = run("base", "four-bar", "--with", "friction", "--json").json
    assert found["rank"] == 10
    assert {"A.viscous", "A.coulomb"} <= {row["parameter"] for row in found["base"]}
    assert run("base", "four-bar", "--with", "friction", "--route", "precise").status == 2


@pytest.mark.slow
def test_the_papers_tables(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(identification, "DRAWS", 12)
    found = identification.reproduce(lambda _: None, tmp_path)
    assert found.reproduced
    assert [table.counts[Verdict.AGREES] for table in found.tables[:2]] == [12, 6]
    other = {n.where for t in found.tables for n in t.numbers if n.verdict != Verdict.AGREES}
    assert other <= {"crank.my"}  # 4.5 deviations of ours: its trajectory is not printed
    assert all(path.stat().st_size > 10_000 for path in found.figures)
