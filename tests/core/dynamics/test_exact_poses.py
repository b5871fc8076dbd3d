"""Burmester's points: bars of real four-bars, and what Newton's method finds from everywhere."""

import numpy as np
import pytest
from scipy.optimize import fsolve

from basepar_core.dynamics import exact_bars
from tests.core.dynamics.test_points import pins

LENGTHS = {"lx1": 0.3, "lx2": 0.7, "ly2": 1.1, "lx3": 1.3, "Dx": 1.0, "Dy": 0.1}


def spread(ground, body, places, angles):
    """Greatest less least length of a bar over the poses."""
    turn = np.exp(1j * np.asarray(angles))
    pin = places @ [1, 1j] + turn * (body @ [1, 1j])
    return np.ptp(np.abs(pin - ground @ [1, 1j]))


def test_a_four_bar_s_own_bars_are_found():
    crank = np.array([0.3, 1.1, 2.2, 3.6, 5.0])
    B, _, coupler, _ = pins(LENGTHS, crank, 1)
    places, angles = np.stack([B.real, B.imag], axis=1), np.angle(coupler)
    ground, body = exact_bars(places, angles)
    assert len(ground) in (2, 4)
    for pin, own in (((0, 0), (0, 0)), ((1.0, 0.1), (0.7, -1.1))):
        away = np.abs(np.hstack([ground - pin, body - own])).max(axis=1)
        assert away.min() < 1e-8  # poses to 1e-16, a condition near 1e6 at worst
    for one in zip(ground, body, strict=True):
        assert spread(*one, places, angles) < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_all_bars_are_found(seed):
    rng = np.random.default_rng(seed)
    places, angles = rng.uniform(-1, 1, (5, 2)), rng.uniform(-1.5, 1.5, 5)
    ground, body = exact_bars(places, angles)
    turn, p = np.exp(1j * angles), places @ [1, 1j]

    def gaps(x):
        away = np.abs(p + turn * (x[2] + 1j * x[3]) - (x[0] + 1j * x[1])) ** 2
        return away[1:] - away[0]

    found = []
    for start in rng.normal(0, 3, (400, 4)):
        x, _, flag, _ = fsolve(gaps, start, full_output=True, xtol=1e-13)
        is_new = all(np.abs(x - other).max() > 1e-5 for other in found)
        if flag == 1 and np.abs(gaps(x)).max() < 1e-9 and np.abs(x).max() < 1e4 and is_new:
            found.append(x)
    assert len(ground) == len(found)
    assert len(ground) in (0, 2, 4)
    mine = np.hstack([ground, body])
    for x in found:
        assert np.abs(mine - x).max(axis=1).min() < 1e-6 * (1 + np.abs(x).max())
    pins_there = p[0] + turn[0] * (body @ [1, 1j])
    sizes = np.abs(pins_there - ground @ [1, 1j])
    assert (np.diff(sizes) >= 0).all()
