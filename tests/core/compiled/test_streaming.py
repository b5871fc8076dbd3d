"""W written past the cache is W: bit by bit, zeros included."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled import Engine, workspace
from basepar_core.dynamics import Motion, prepare

SAMPLES = 104  # three blocks of lanes and a piece, whole lines of the cache


def regressed(name, samples, W=None):
    """W of a mechanism about its assembly, for two variants of the nominal geometry."""
    engine = Engine(prepare(load(name)))
    mechanism = engine.model.mechanism
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-0.02, 0.02, (3, len(mechanism.coordinates), samples))
    motion = Motion(
        np.arange(float(samples)), q + engine.model.assembled.coordinates[:, None], qd, qdd
    )
    symbol = mechanism.geometry[0].name
    start = engine.kernels.start({symbol: np.full(2, mechanism.nominal[symbol])})
    path = engine.kernels.trace(start, motion.q)
    return engine.kernels.regress(start.G, path.q, motion, samples, W)[0]


@pytest.mark.parametrize("name", ["ur10", "four-bar", "five-bar", "delta"])
def test_it_is_what_is_stored(name, monkeypatch):
    stored = regressed(name, SAMPLES)
    assert not workspace.is_streamed(stored)
    monkeypatch.setattr(workspace, "_LARGE", 0)
    assert workspace.is_streamed(stored)
    room = workspace.aligned(stored.shape)
    room[:] = np.nan  # nothing is left of what was in it
    np.testing.assert_array_equal(regressed(name, SAMPLES, room), stored)
    np.testing.assert_array_equal(regressed(name, SAMPLES), stored)


def test_rows_that_do_not_begin_lines_are_stored(monkeypatch):
    monkeypatch.setattr(workspace, "_LARGE", 0)
    assert not workspace.is_streamed(workspace.aligned((1, 4, 1, 101)))
    room = workspace.aligned((448,))[1:417].reshape(1, 4, 1, 104)
    assert not workspace.is_streamed(room)
    expected = regressed("four-bar", 101)
    monkeypatch.undo()
    np.testing.assert_array_equal(regressed("four-bar", 101), expected)
