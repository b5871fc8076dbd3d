"""Certificates: CPU time of making one (its one check included), and of checking it.

    pytest benchmarks/test_certificates.py --benchmark-only

The symbolic result is there before; the document has been through JSON.
"""

import json
import time

import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from workflows.jobs.base_routes import compare

NAMES = ("four-bar", "parallelogram", "ur10", "sla-suspension", "stewart-gough")


@pytest.mark.parametrize("name", NAMES)
def test_make(benchmark, name):
    model = prepare(load(name))
    base = symbolic(model)
    document = benchmark.pedantic(certify, (model, base), rounds=3, warmup_rounds=1)
    assert document["at_least"]["rank"] == document["at_most"]["rank"] == base.rank


@pytest.mark.parametrize("name", NAMES)
def test_check(benchmark, name):
    model = prepare(load(name))
    document = json.loads(json.dumps(certify(model, symbolic(model))))
    verdict = benchmark.pedantic(verify, (document,), rounds=3, warmup_rounds=1)
    benchmark.extra_info |= {"bits": verdict.bits, "kB": len(json.dumps(document)) // 1000}
    assert verdict.grade == document["grade"]


#: CPU seconds for the Stewart–Gough platform, all of the program's routes and its certificate.
ALL_ROUTES = 15


def test_all_routes_and_certificate(benchmark, figure):
    """Stewart–Gough, 82 of 130, from the file to a certificate made and checked."""

    def whole(name="stewart-gough"):
        started = time.process_time()
        model = prepare(load(name))
        found = compare(model)
        document = certify(model, found.found["symbolic"])
        verdict = verify(json.loads(json.dumps(document)))
        return found, verdict, time.process_time() - started

    whole("four-bar")  # imports
    found, verdict, spent = benchmark.pedantic(whole, rounds=1)
    assert {base.rank for base in found.found.values()} == {82}
    assert found.agreed == "agreed"
    stated = [line["statement"] for line in verdict.statements]
    assert (stated, verdict.grade) == (["rank ≥ 82", "rank ≤ 82"], "theorem")
    figure("stewart-gough, all and certified, CPU s", spent, ALL_ROUTES)
