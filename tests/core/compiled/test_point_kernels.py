"""Points and loops by kernels without W, against the plain path and sweeps with W."""

import numpy as np
import pytest

from basepar_core.compiled.backend import Engine
from basepar_core.compiled.simd.lane_types import LANES
from basepar_core.dynamics import closure, kinematics, motion, places, regressor
from basepar_core.dynamics.motion import Motion
from basepar_core.dynamics.points import carried
from basepar_core.files import mechanism_file
from basepar_core.symbolic import symbol_values

#: A mechanism, a symbol that is swept (wide enough for lost loops where there are any), its ends.
CASES = [
    ("four-bar", "lx1", 0.2, 0.9),
    pytest.param("whitworth", "", 0, 0, marks=pytest.mark.slow),
    pytest.param("rsur", "", 0, 0, marks=pytest.mark.slow),  # half a minute of compiling
    pytest.param("ur5", "", 0, 0, marks=pytest.mark.slow),
    pytest.param("stewart-gough", "", 0, 0, marks=pytest.mark.slow),
]


def prepared(name):
    """With a point of each body and one of the ground, off every axis."""
    mechanism = mechanism_file.load(name)
    at = "[0.11, -0.23]" if mechanism.planar else "[0.11, -0.23, 0.31]"
    bodies = ["ground", *(body.name for body in mechanism.bodies)]
    lines = [f"  Q{k}: {{body: {body}, at: {at}}}" for k, body in enumerate(bodies)]
    text = "\n".join([mechanism.source.rstrip(), "points:", *lines, ""])
    return closure.prepare(mechanism_file.loads(text))


@pytest.mark.parametrize("samples", [LANES + 5, 7])  # blocks that overlap; fewer than lanes
@pytest.mark.parametrize(("name", "symbol", "low", "high"), CASES)
def test_kernels_give_what_the_plain_path_gives(name, symbol, low, high, samples):
    model = prepared(name)
    it = model.mechanism
    symbol = symbol or it.geometry[0].name
    low, high = (low, high) if high else (0.98 * it.nominal[symbol], 1.02 * it.nominal[symbol])
    values = {symbol: np.linspace(low, high, 9)}
    full = motion.excitation(it, model.assembled.coordinates)
    moving = Motion(*(getattr(full, n)[..., :samples] for n in ("t", "q", "q_dot", "q_ddot")))
    variants = Engine(model).variants(values)
    found, plain = variants.close(moving), regressor.observe(model, values, moving)
    closed = plain.closed
    assert closed.sum() > 2
    np.testing.assert_array_equal(found.trace.outcome, plain.trace.outcome)
    # Ratios of the same determinants, at configurations that differ by 1e-12.
    np.testing.assert_allclose(found.trace.margin[closed], plain.trace.margin[closed], rtol=1e-9)
    # Newton ends at updates of 1e-12 or less, then converges quadratically once more.
    assert (found.residual[closed] < 1e-11).all()
    known = symbol_values(it, {symbol: values[symbol][closed]})
    track = variants.take(np.flatnonzero(closed)).points(
        found.trace.q[:, closed], it.points, known
    )
    dims = kinematics.geometry(it, {symbol: values[symbol][closed]}).over_samples()
    local = carried(it.points, known)[..., None]
    expected = np.moveaxis(places(model, dims, plain.trace.q[:, closed], it.points, local), 2, 0)
    # Loops close to 1e-12 on both ways; lengths are near 1 m.
    np.testing.assert_allclose(track, expected[:, :, : track.shape[2]], rtol=0, atol=1e-11)
    assert np.ptp(expected, axis=-1).max() > 0.01
