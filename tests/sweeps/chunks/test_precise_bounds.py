"""Proved bounds stay bounds as floats, at both ends of the floats' range."""

import math

import mpmath
import numpy as np
import pytest

from sweeps.chunks.precise import lower_power, upper_power

TINY = float(np.finfo(float).tiny)


@pytest.mark.parametrize(
    "log10",
    [-400.0, -320.5, -308.0, -307.61, -307.5, -303.7, -300.0, -12.3, 0.0, 0.1, 17.9, 307.9],
)
def test_powers_are_rounded_outward(log10):
    """Against 40 digits of mpmath."""
    with mpmath.workdps(40):
        exact = mpmath.mpf(10) ** mpmath.mpf(log10)
        assert mpmath.mpf(lower_power(log10)) < exact < mpmath.mpf(upper_power(log10))
    if log10 > -306:  # and no further than the logarithm's own rounding may be off
        assert upper_power(log10) / lower_power(log10) - 1 < 1e-10


def test_powers_beyond_the_range():
    assert (lower_power(-math.inf), upper_power(-math.inf)) == (0.0, 0.0)
    assert upper_power(310.0) == upper_power(math.inf) == math.inf
    assert lower_power(310.0) <= 1e308
    assert (lower_power(-330.0), upper_power(-330.0) >= TINY) == (0.0, True)
