"""`basepar reproduce reduction`: brute force that finds what is wrong."""

from dataclasses import replace

import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.reduction.reduce import reduce_mechanism
from workflows.reproduce import reduction
from workflows.reproduce.comparison import Verdict


@pytest.fixture(scope="module")
def case():
    model = prepare(load("five-bar"))
    found = reduce_mechanism(model, symbolic(model))
    phi = model.mechanism.inertial_parameters(model.mechanism.nominal)
    return found, phi, *reduction._system(found, phi)


@pytest.mark.slow
def test_the_papers_procedure_is_reproduced(run, tmp_path):
    ran = run("reproduce", "reduction", "-o", str(tmp_path), "--json")
    assert ran.status == 0
    assert ran.json["counts"]["differs"] == 0
    assert {table["name"] for table in ran.json["tables"]} == set(reduction.MECHANISMS)
    found = [n for t in ran.json["tables"] for n in t["numbers"] if n["verdict"] == "erratum"]
    # Addition is not equivalent to elimination on the five-bar.
    assert [n["where"] for n in found] == ["addition one by one"]
    assert len(list(tmp_path.glob("reduction-*.png"))) == 3
    assert (tmp_path / "reduction.csv").exists()


def test_another_order_is_seen(case):
    found, _, rows, torque = case
    removed = found.path.removed.copy()
    removed[0, [5, 11]] = removed[0, [11, 5]]  # the most relevant leaves early
    wrong = replace(found, path=replace(found.path, removed=removed))
    verdicts = [one.verdict for one in reduction._elimination(wrong, rows, torque)]
    assert verdicts[4] == Verdict.DIFFERS
    assert verdicts[:4] == [Verdict.AGREES] * 4


def test_another_error_or_stop_is_seen(case):
    found, phi, rows, torque = case
    path = replace(found.path, torque_error=found.path.torque_error * (1 + 1e-6))
    wrong = replace(found, path=path)
    assert Verdict.DIFFERS in {n.verdict for n in reduction._elimination(wrong, rows, torque)}
    size = found.selection.size.copy()
    size[0, 0] += 1
    late = replace(found, selection=replace(found.selection, size=size))
    assert reduction._tolerance(late, rows, torque).verdict == Verdict.DIFFERS
    assert reduction._generalised(late, phi).verdict == Verdict.DIFFERS
