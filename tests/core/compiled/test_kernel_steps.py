"""Steps of the kernels' way: what is predicted, and that nobody wanders."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled.api import _bends
from basepar_core.compiled.backend import Engine
from basepar_core.compiled.simd.lane_types import ORDER
from basepar_core.dynamics.closure import Outcome, prepare, trace
from basepar_core.dynamics.motion import excitation
from tests.mechanisms import nearby


def shares(travel, firsts=(0,)):
    travel = np.atleast_2d(np.asarray(travel, float))
    count = travel.shape[1]
    return _bends(travel, np.ones(count), np.array(firsts), np.ones(count, dtype=bool))


@pytest.mark.parametrize(
    "h", [np.full(12, 0.05), np.geomspace(0.05, 0.08, 12)], ids=["equal", "growing"]
)
def test_cubics_are_extrapolated_exactly(h):
    """By shares of earlier values, after four steps; h² p(q) with a cubic p, at q + h/3."""
    q = np.cumsum(h) - h
    short = h**2 * np.polyval([2.0, -1.0, 0.5, 0.3], q + h / 3)
    found = shares(h)
    for i in range(ORDER, len(h)):
        predicted = found[i, :ORDER] @ short[i - 1 - np.arange(ORDER)]
        assert predicted == pytest.approx(short[i], rel=1e-11)  # weights up to 30 times rounding


def test_first_steps_and_leaps_are_not_extrapolated():
    found = shares([0.1, 0.1, 0.1, 0.9, 0.9, 0.9], firsts=(0,))
    assert not found[0].any()
    np.testing.assert_allclose(found[1, :ORDER], [1, 0, 0, 0])
    assert not found[3].any()  # nine times the step: 81 times the last curvature
    assert not shares([0.1] * 6, firsts=(0, 3))[3].any()


@pytest.mark.parametrize("travel", [np.zeros(9), [0.1, 0, 0.1, -0.1, 0, 0, 0.1, 1e-300, 0.1]])
def test_standstill_and_reversals_stay_finite(travel):
    assert np.isfinite(shares(travel)).all()


@pytest.mark.parametrize(
    ("name", "count", "width", "seed", "rows"),
    [
        pytest.param("watt-ii", 4000, 0.4, 31, (1667, 5), marks=pytest.mark.slow),
        pytest.param("dwell", 2000, 0.3, 31, (1163, 49, 1072, 1812), marks=pytest.mark.slow),
    ],
)
def test_nobody_wanders(name, count, width, seed, rows):
    """These once closed after updates of Newton's that led anywhere, or not at all.

    Whole ways in 256 times finer steps are the oracle: a loop that closes has one pose by
    continuity, whatever the steps.
    """
    model = prepare(load(name))
    values = {n: x[list(rows)] for n, x in nearby(model.mechanism, count, width, seed).items()}
    targets = excitation(model.mechanism, model.assembled.coordinates).q[:, :1]
    kernels = Engine(model).kernels
    found = kernels.trace(kernels.start(values), targets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("basepar_core.dynamics.closure.ASSEMBLY_REFINEMENTS", (256,))
        exact = trace(model, values, targets)
    closed = found.outcome == Outcome.CLOSED
    assert closed.any()
    assert (exact.outcome[closed] == Outcome.CLOSED).all()
    # Turns included. Both end at Newton's rounding, which these linkages multiply by up to 20.
    np.testing.assert_allclose(found.q[:, closed], exact.q[:, closed], rtol=0, atol=1e-12)
