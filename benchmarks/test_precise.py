"""The precise route on the suspension, and its linear algebra against mpmath's.

Published for one mechanism of this kind: 5 minutes (Maple, 500 digits) and more than an hour
(MATLAB). The first figure counts everything: the excitation followed in float64, W twice, all
singular values, bounds, null space. The second is rank and all singular values alone, of the
same matrix in the same run; mpmath's side is measured once, and computes no vectors.
"""

import time

import mpmath
import pytest

from basepar_core.api import load
from basepar_core.base.precise_route import precise
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision import numbers
from basepar_core.variable_precision.observation import variant
from basepar_core.variable_precision.singular_value_gap import rung

#: CPU seconds that may be used, by digits.
FIGURES = {60: 2.0, 500: 10.0}
#: Rows of W: 140 of the suspension's instants.
INSTANTS = 140
TIMES_FASTER = 80


@pytest.fixture(scope="module")
def suspension():
    return prepare(load("sla-suspension"))


@pytest.mark.parametrize("digits", FIGURES)
@pytest.mark.benchmark(group="suspension by variable precision, everything included")
def test_suspension(benchmark, figure, suspension, digits):
    begun = time.process_time()
    found = benchmark.pedantic(lambda: precise(suspension, digits=digits), rounds=3)
    cpu = (time.process_time() - begun) / 3
    assert (found.rank, found.doubt) == (41, "")
    assert found.least > 0
    figure(f"{digits} digits, CPU s", cpu, FIGURES[digits])


@pytest.mark.benchmark(group="rank and all singular values, 280×70 at 500 digits")
def test_rank_and_values_against_mpmath(benchmark, figure, suspension):
    W = variant(suspension, {}, INSTANTS).observe(500)
    assert (W.entries.nrows(), W.entries.ncols()) == (280, 70)
    begun = time.process_time()
    found = benchmark.pedantic(lambda: rung(W), rounds=5)
    ours = (time.process_time() - begun) / 5
    with mpmath.workdps(500):
        table = numbers.matrix(W)
        begun = time.process_time()
        values = mpmath.svd_r(table, compute_uv=False)
        theirs = time.process_time() - begun
        assert found.rank == 41
        for k in range(41):  # thirteen digits
            assert abs(numbers.from_float(*found.values[k]) / values[k] - 1) < 1e-13
        assert values[41] < mpmath.mpf(10) ** -480
    figure("CPU s", ours)
    figure("mpmath, CPU s", theirs)
    figure("times faster", theirs / ours, TIMES_FASTER, least=True)
