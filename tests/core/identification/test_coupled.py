"""Identification through a gear: parameters by hand from torques by hand, and exciting motions."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure, excitation, excite
from basepar_core.files import loads
from basepar_core.identification.exciting import design, limits_of
from basepar_core.identification.measurement import read_measurement
from basepar_core.identification.procedure import identify
from tests.core.dynamics.test_couplings import GEARS


@pytest.fixture(scope="module")
def model():
    return closure.prepare(loads(GEARS))


def test_parameters_of_both_gears_from_the_pinions_torque(model):
    """Lagrange's torque: the wheel turns by -(q - 0.2)/2.5, its inertia counts 1/2.5 squared."""
    own = excitation(model.mechanism, model.assembled.coordinates)
    q, speed, acceleration = (x[0] for x in (own.q, own.q_dot, own.q_ddot))
    x1, y1, x2, y2, inertia = 0.01, 0.02, 0.06, -0.04, 0.1 + 5e-4 + (0.4 + 2 * 0.0013) / 2.5**2
    wheel, rate = -(q - 0.2) / 2.5, -1 / 2.5
    tau = inertia * acceleration + 9.81 * (x1 * np.cos(q) - y1 * np.sin(q))
    tau += 9.81 * rate * (x2 * np.cos(wheel) - y2 * np.sin(wheel))
    table = {"t": own.t, "A": q, "A'": speed, "A''": acceleration, "tau.A": tau}
    base = symbolic(model)
    found = identify(model, read_measurement(table, model.mechanism), base=base)
    names = [model.mechanism.parameter_names[k] for k in base.kept]
    values = dict(zip(names, found.base_values, strict=True))
    by_hand = {"pinion.mx": x1, "pinion.my": y1, "wheel.mx": x2, "wheel.my": y2}
    (own_inertia,) = names - by_hand.keys()  # of pinion or wheel, as felt at the kept one
    by_hand[own_inertia] = inertia * (1 if own_inertia == "pinion.J" else 2.5**2)
    # Least squares of condition below 1e3 on torques without noise.
    assert values == pytest.approx(by_hand, rel=1e-11)


def test_a_designed_motion_drives_the_pinion_alone(model):
    base, own = symbolic(model), excitation(model.mechanism, model.assembled.coordinates)
    found = design(model, base, limits_of(model, own), 0.5, harmonics=3, draws=3, starts=1, seed=2)
    assert found.criterion < min(found.random)
    mechanism = replace(model.mechanism, excitation=found.excitation)
    again = excite(found.excitation, mechanism, model.assembled.coordinates)
    # Coefficients are printed as doubles; sums of six sines.
    np.testing.assert_allclose(again.q, found.motion.q, rtol=0, atol=1e-10 * np.abs(again.q).max())
    assert again.q.shape[0] == 1
