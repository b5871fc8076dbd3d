"""Finite fields: CPU time of what a certificate asks for, against the figures of the issue.

    pytest benchmarks/test_exact.py --benchmark-only

Everything included but reading and assembling the file: family, its check, point, series, rank.
"""

import pytest

from basepar_core import closure, files
from basepar_core.algebra import GeometryField
from basepar_core.base.null_space import Transfers, joint_vectors
from basepar_core.base.symbolic import symbolic
from basepar_core.exact.beta import exact_beta
from basepar_core.exact.black_box import black_box_beta
from basepar_core.exact.component import find_component
from basepar_core.exact.identities import check_identities
from basepar_core.exact.rank import generic_rank
from benchmarks.conftest import seconds

#: Rank and the figure to reach, CPU seconds on one core.
FIGURES = {
    "four-bar": (8, 0.01),
    "ur10": (36, 0.1),
    "stewart-gough": (82, 0.15),
    "sla-suspension": (41, 0.3),
}


@pytest.mark.benchmark(group="generic rank over a finite field")
@pytest.mark.parametrize("name", FIGURES)
def test_generic_rank(benchmark, capsys, name):
    model = closure.prepare(files.load(name))
    rank, figure = FIGURES[name]
    assert benchmark.pedantic(lambda: generic_rank(model), rounds=5, warmup_rounds=1).rank == rank
    _, cpu = seconds(lambda: generic_rank(model))
    benchmark.extra_info["cpu s"], benchmark.extra_info["figure"] = cpu, figure
    with capsys.disabled():
        print(f"\n  {name}: {cpu * 1e3:.1f} ms CPU, figure {figure * 1e3:.0f} ms")
    assert cpu <= figure


@pytest.mark.benchmark(group="null vectors as identities, three points")
@pytest.mark.parametrize("name", FIGURES)
def test_identities(benchmark, capsys, name):
    model = closure.prepare(files.load(name))
    field = GeometryField.of(model.mechanism)
    entries = [vector.entries for vector in joint_vectors(Transfers(model.mechanism, field))]
    component = find_component(model)

    def job():
        return check_identities(model, entries, component=component, field=field)

    assert all(test.passed for test in benchmark.pedantic(job, rounds=5, warmup_rounds=1))
    with capsys.disabled():
        print(f"\n  {name}: {seconds(job)[1] * 1e3:.1f} ms CPU for {len(entries)} vectors")


@pytest.mark.benchmark(group="exact β at nominal lengths")
@pytest.mark.parametrize("name", FIGURES)
def test_exact_beta(benchmark, capsys, name):
    model = closure.prepare(files.load(name))
    eliminated = symbolic(model, exact=False).eliminated

    def job():
        return exact_beta(model, eliminated)

    found = benchmark.pedantic(job, rounds=3, warmup_rounds=1)
    with capsys.disabled():
        print(f"\n  {name}: {seconds(job, 3)[1]:.3f} s CPU, {len(found.primes)} primes")


@pytest.mark.benchmark(group="symbolic β without joint rules")
@pytest.mark.parametrize("name", FIGURES)
def test_black_box(benchmark, capsys, name):
    model = closure.prepare(files.load(name))
    eliminated = symbolic(model, exact=False).eliminated

    def job():
        return black_box_beta(model, eliminated)

    found = benchmark.pedantic(job, rounds=3, warmup_rounds=1)
    _, cpu = seconds(job, 3)
    with capsys.disabled():
        print(f"\n  {name}: {cpu:.2f} s CPU, {found.points} points, figure 3 s")
    assert cpu <= 3.0
