"""Compiled kernels: W of arms against Pinocchio, closed loops against the plain NumPy path.

Wanted of the arms is 8 and 7 times, in chunks whose W stays in a core's cache; of the four-bar
0.25 µs per sample for loops and W together on a free core.
"""

import numpy as np
import pytest

from basepar_core.closure import prepare
from basepar_core.files import load
from basepar_core.kernels.run import Kernels
from basepar_core.motion import Motion, excitation
from basepar_core.newton import LAST_UPDATE
from basepar_core.regressor import observe
from tests.mechanisms import nearby

VARIANTS, SAMPLES = 8, 64


@pytest.mark.parametrize("name", ["ur5", "panda"])
@pytest.mark.benchmark(group="W of an arm, 8 variants of 64 samples")
def test_arm_against_pinocchio(against, name):
    pin = pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    model = prepare(load(name))
    count = len(model.mechanism.coordinates)
    q, v, a = np.random.default_rng(3).uniform(-2, 2, (3, count, SAMPLES))
    motion = Motion(np.arange(SAMPLES, dtype=float), q, v, a)
    values = nearby(model.mechanism, VARIANTS, 0.05, 1)
    kernels = Kernels(model)
    G = kernels.dimensions.table(values, VARIANTS)
    path = kernels.trace(values, G, q, LAST_UPDATE)
    chain = Chain(model.mechanism, {n: x[0] for n, x in values.items()})
    tree, data = chain.model, chain.data
    states = [np.ascontiguousarray(x.T) for x in (q, v, a)]

    def ours():
        return kernels.regress(G, path.q, motion, SAMPLES)[0]

    def theirs():
        W = np.empty((SAMPLES, count, 10 * count))
        for _ in range(VARIANTS):  # one model's placements are as good as another's for time
            for k in range(SAMPLES):
                W[k] = pin.computeJointTorqueRegressor(
                    tree, data, states[0][k], states[1][k], states[2][k]
                )
        return W

    expected = np.stack([chain.columns(q[:, k], v[:, k], a[:, k]) for k in range(20)])
    found = ours()[0].transpose(2, 1, 0)[:20]
    # Float64 on both sides, some hundred operations deep.
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    against(ours, theirs, VARIANTS * SAMPLES, "sample")


@pytest.mark.parametrize(
    ("name", "variants"), [("four-bar", 512), ("sla-suspension", 64), ("stewart-gough", 64)]
)
@pytest.mark.benchmark(group="closed loops and W, 64 samples")
def test_loops_against_the_plain_path(against, name, variants):
    model = prepare(load(name))
    full = excitation(model.mechanism, model.assembled.coordinates)
    motion = Motion(*(getattr(full, n)[..., :SAMPLES] for n in ("t", "q", "q_dot", "q_ddot")))
    values = nearby(model.mechanism, variants, 0.03, 1)
    kernels = Kernels(model)
    few = {n: x[:16] for n, x in values.items()}

    def ours():
        return kernels.observe(values, motion)

    def theirs():
        return [observe(model, few, motion) for _ in range(variants // 16)]

    fast, plain = ours(), theirs()[0]
    assert fast.closed.all()
    scale = np.abs(plain.W).max(axis=(1, 2), keepdims=True)
    scale = np.maximum(scale, 0.1 * scale.max())
    # Some hundred roundings on either side, times the loops' condition.
    assert (np.abs(fast.W[:16] - plain.W) / scale).max() < 1e-12
    against(ours, theirs, variants * motion.t.size, "sample")
