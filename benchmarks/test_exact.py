"""Finite fields: CPU time of what a certificate asks for, against the figures of the issue.

    pytest benchmarks/test_exact.py --benchmark-only

Everything included but reading and assembling the file: family, its check, point, series, rank.
"""

import time

import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure
from basepar_core.files import mechanism_file
from basepar_core.finite_field.beta import exact_beta
from basepar_core.finite_field.family_component import find_component
from basepar_core.finite_field.identities import check_identities
from basepar_core.finite_field.interpolated_beta import black_box_beta
from basepar_core.finite_field.rank import generic_rank
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from benchmarks.conftest import seconds
from tests.campaigns.random_mechanisms import assembled
from tests.core.dynamics.test_joint_matrix import SARRUS
from tests.core.finite_field.test_exact_family import BENNETT, made

#: Rank and the figure to reach, CPU seconds on one core.
FIGURES = {
    "four-bar": (8, 0.01),
    "ur10": (36, 0.1),
    "stewart-gough": (82, 0.15),
    "sla-suspension": (41, 0.3),
}


@pytest.mark.benchmark(group="generic rank over a finite field")
@pytest.mark.parametrize("name", FIGURES)
def test_generic_rank(benchmark, figure, name):
    model = closure.prepare(mechanism_file.load(name))
    rank, allowed = FIGURES[name]
    assert benchmark.pedantic(lambda: generic_rank(model), rounds=5, warmup_rounds=1).rank == rank
    figure(f"{name}, CPU s", seconds(lambda: generic_rank(model))[1], allowed)


@pytest.mark.benchmark(group="null vectors as identities, three points")
@pytest.mark.parametrize("name", FIGURES)
def test_identities(benchmark, capsys, name):
    model = closure.prepare(mechanism_file.load(name))
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
    model = closure.prepare(mechanism_file.load(name))
    eliminated = symbolic(model, exact=False).eliminated

    def job():
        return exact_beta(model, eliminated)

    found = benchmark.pedantic(job, rounds=3, warmup_rounds=1)
    with capsys.disabled():
        print(f"\n  {name}: {seconds(job, 3)[1]:.3f} s CPU, {len(found.primes)} primes")


@pytest.mark.benchmark(group="symbolic β without joint rules")
@pytest.mark.parametrize("name", FIGURES)
def test_black_box(benchmark, figure, name):
    model = closure.prepare(mechanism_file.load(name))
    eliminated = symbolic(model, exact=False).eliminated

    def job():
        return black_box_beta(model, eliminated)

    found = benchmark.pedantic(job, rounds=3, warmup_rounds=1)
    figure(f"{name} ({found.points} points), CPU s", seconds(job, 3)[1], 3.0)


#: Mechanisms with null vectors that no joint rule gives, and how many base parameters they have;
#: how many vectors are recovered, beyond what detection of common velocities finds.
RECOVERED = {
    "Bennett, numbers": (lambda: made(BENNETT, GEOMETRY="", LONG="3", WIDE="4"), 9, 1),
    "Bennett, two symbols": (
        lambda: made(
            BENNETT,
            GEOMETRY="geometry: {a: {value: 3, unit: m}, b: {value: 4, unit: m}}",
            LONG="a",
            WIDE="b",
        ),
        9,
        1,
    ),
    "parallelogram": (lambda: closure.prepare(mechanism_file.load("parallelogram")), 3, 0),
    "Delta (arms of parallelograms)": (
        lambda: closure.prepare(mechanism_file.load("delta")),
        34,
        0,
    ),
    "Sarrus": (lambda: closure.prepare(mechanism_file.loads(SARRUS)), 10, 1),
    "campaign's seed 23": (lambda: assembled(23), 15, 2),
    "campaign's seed 51, a carried parallelogram": (lambda: assembled(51), 7, 1),
    "campaign's seed 30, 14 symbols": (lambda: assembled(30), 28, 3),
}
#: CPU seconds of the whole `symbolic()`; seed 30 takes longer (docs/campaigns.md).
RECOVERY = 10.0


@pytest.mark.benchmark(group="vectors that no pairwise rule finds, recovered")
@pytest.mark.parametrize("name", RECOVERED)
def test_recovery(benchmark, figure, name):
    make, rank, count = RECOVERED[name]
    model = make()

    def job():
        begun = time.process_time()
        found = symbolic(model)
        return found, time.process_time() - begun

    base, cpu = benchmark.pedantic(job, rounds=1)
    reasons = [vector.reason for vector in base.certificate.vectors]
    recovered = sum("recovered over finite fields" in reason for reason in reasons)
    figure(f"{name} ({recovered} recovered, rank {base.rank}), CPU s", cpu, RECOVERY)
    assert base.certificate.at_least == base.certificate.at_most == base.rank
    assert (base.rank, recovered) == (rank, count)
