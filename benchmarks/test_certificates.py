"""Certificates: CPU time of making one (its one check included), and of checking it.

    pytest benchmarks/test_certificates.py --benchmark-only

The symbolic result is there before; the document has been through JSON.
"""

import json

import pytest

from basepar_core.base.symbolic import symbolic
from basepar_core.certificate import certify, verify
from basepar_core.closure import prepare
from basepar_core.files import load

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
