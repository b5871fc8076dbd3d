"""Columns of the mass matrix, against torques of all accelerations at once."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import cycle, observe, prepare, regressor
from basepar_core.reduction import mass_columns


@pytest.mark.parametrize("name", ["five-bar", "ur5"])
def test_columns_add_up_and_loops_are_closed_once(name, monkeypatch):
    model = prepare(load(name))
    motion = cycle(model.mechanism, model.assembled.coordinates)
    closed, trace = [], regressor.trace
    monkeypatch.setattr(regressor, "trace", lambda *given: closed.append(1) or trace(*given))
    columns = mass_columns(model, motion)
    assert len(closed) == 1
    q_ddot = np.random.default_rng(1).uniform(-1, 1, motion.q.shape)
    still = replace(motion, q_dot=0 * motion.q)
    pushed, held = (
        observe(model, {}, replace(still, q_ddot=x)).W[0] for x in (q_ddot, 0 * q_ddot)
    )
    found = np.einsum("sijp,js->sip", columns, q_ddot)
    # Sums of as many products as there are coordinates, gravity taken off: some roundings.
    np.testing.assert_allclose(found, pushed - held, rtol=0, atol=1e-13 * np.abs(pushed).max())
    # Of parameters that bodies of mass can have it is symmetric and positive.
    phi = model.mechanism.inertial_parameters(model.mechanism.nominal)
    M = columns @ phi
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=1e-13 * np.abs(M).max())
    assert (np.linalg.eigvalsh(M) > 0).all()
