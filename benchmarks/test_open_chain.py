"""The regressor of an open chain against Pinocchio called sample by sample.

Plain NumPy; compiled kernels will take this place and are measured here too.
"""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import Motion
from basepar_core.dynamics.regressor import observe

SAMPLES = 2000


@pytest.mark.benchmark(group="regressor of the UR10, 2,000 samples")
def test_ur10_regressor_against_pinocchio(against):
    pin = pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    model = prepare(load("ur10"))
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-2, 2, (3, 6, SAMPLES))
    motion = Motion(np.arange(SAMPLES, dtype=float), q, v, a)
    chain = Chain(model.mechanism, {})
    tree, data = chain.model, chain.data
    states = [np.ascontiguousarray(x.T) for x in (q, v, a)]

    def ours():
        return observe(model, {}, motion).W[0]

    def theirs():
        W = np.empty((SAMPLES, 6, 60))
        for k in range(SAMPLES):
            W[k] = pin.computeJointTorqueRegressor(
                tree, data, states[0][k], states[1][k], states[2][k]
            )
        return W

    # Pinocchio's bodies are those carried by its joints; each is ours in another frame, so the
    # comparison is by the oracle, which maps columns; here only the work is the same.
    expected = np.stack([chain.columns(q[:, k], v[:, k], a[:, k]) for k in range(20)])
    # Float64 on both sides, some hundred operations deep.
    np.testing.assert_allclose(ours()[:20], expected, atol=1e-11 * np.abs(expected).max())
    against(ours, theirs, SAMPLES, "sample")
