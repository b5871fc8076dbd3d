"""What Python's door costs beyond the kernels: W of a UR10 at 10⁵ states, β of many geometries.

`out=` against the kernel that fills the same array again and again, which its cache holds; fresh
memory against that kernel and the first touch of as much memory.
"""

import numpy as np
import pytest

import basepar
from basepar_core.compiled import Engine
from basepar_core.dynamics import Motion

from .conftest import ONCE, seconds

STATES = 2_000 if ONCE else 100_000
#: States of which W stays in cache: 60 · 6 · 8 bytes each.
FEW = 200
GEOMETRIES = 1_000 if ONCE else 100_000


@pytest.mark.benchmark(group="W of a UR10 from Python")
def test_regressor_with_and_without_out(benchmark, figure):
    model = basepar.load("ur10")
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, STATES, 6))
    W = model.regressor(q, qd, qdd)
    kernel = _kernel(model, q[:FEW], qd[:FEW], qdd[:FEW])
    # The same kernel on both sides: equal to the last bit.
    np.testing.assert_array_equal(kernel()[0].transpose(2, 1, 0), W[:FEW])

    def again():
        for _ in range(STATES // FEW):
            kernel()

    def reused():
        model.regressor(q, qd, qdd, out=W)

    benchmark.pedantic(reused, rounds=5, warmup_rounds=1)
    alone = seconds(again)[1]
    touched = seconds(lambda: np.empty(W.size).fill(0.0))[1]
    fresh = seconds(lambda: model.regressor(q, qd, qdd))[1]
    figure("out=, CPU against the kernel in cache", seconds(reused)[1] / alone, 1.5)
    figure("fresh, CPU against kernel and first touch", fresh / (alone + touched), 1.2)


def _kernel(model, q, qd, qdd):
    """W by the compiled kernel into one array that is kept."""
    engine = Engine(model.prepared)
    motion = Motion(
        np.arange(len(q), dtype=float), *(np.ascontiguousarray(x.T) for x in (q, qd, qdd))
    )
    kernels = engine.kernels
    G = kernels.start({}).G
    path = np.ascontiguousarray(motion.q[:, None])
    W, _, _ = kernels.regress(G, path, motion, len(q))
    return lambda: kernels.regress(G, path, motion, len(q), W)[0]


@pytest.mark.benchmark(group="β of the suspension from Python")
def test_beta_of_many_geometries(benchmark, figure):
    base = basepar.load("sla-suspension").base()
    swept = np.random.default_rng(1).uniform(0.24, 0.26, GEOMETRIES)
    found = base.evaluate({"D22": swept})
    assert found.shape[0] == GEOMETRIES
    benchmark.pedantic(lambda: base.evaluate({"D22": swept}), rounds=5, warmup_rounds=1)
    rate = found.size / seconds(lambda: base.evaluate({"D22": swept}))[1]
    figure("entries of β a second of CPU", rate, 1e7, least=True)
