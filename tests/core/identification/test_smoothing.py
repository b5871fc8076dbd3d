"""Smoothing against SciPy's zero-phase Butterworth filter, dense traces and known signals."""

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from basepar_core.identification import smoothing
from tests.core import identification_data as data


def test_the_middle_is_the_zero_phase_butterworth_filter():
    rng = np.random.default_rng(3)
    t, y = np.arange(4000) * 1e-3, rng.standard_normal(4000)
    expected = sosfiltfilt(butter(4, 20, fs=1000, output="sos"), y)
    found = smoothing.smooth(t, y, 20.0).value
    # SciPy's filter is warped by the bilinear transform: (π·20/1000)² /3 = 0.13 % in frequency.
    assert np.abs(found - expected)[1000:3000].max() < 5e-3 * expected.std()


def test_ends_are_better_than_with_reflected_samples():
    t = np.arange(2000) * 1e-3
    y, curved = np.sin(3 * t + 0.4), -9 * np.sin(3 * t + 0.4)
    noise = 1e-3 * np.random.default_rng(1).standard_normal((40, t.size))
    ours = [smoothing.smooth(t, y + e, 5.0).acceleration - curved for e in noise]
    filtered = sosfiltfilt(butter(4, 5, fs=1000, output="sos"), y + noise)
    theirs = np.gradient(np.gradient(filtered, t, axis=1), t, axis=1) - curved
    ends = np.r_[10:80, 1920:1990]
    rms = [np.sqrt(np.mean(np.asarray(e)[:, ends] ** 2)) for e in (ours, theirs)]
    assert rms[0] < rms[1] / 3


@pytest.mark.parametrize("cutoff", [10.0, 25.0])
def test_freedom_is_the_trace_of_the_smoother(cutoff):
    t = np.arange(160) * 5e-3
    trace = sum(smoothing.smooth(t, row, cutoff).value[k] for k, row in enumerate(np.eye(160)))
    # The formula is for a long record; ends add or take a parameter or two.
    assert smoothing.freedom(t[-1], cutoff) == pytest.approx(trace, abs=2.5)


def test_cubics_pass_unchanged_with_uneven_and_missing_samples():
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0, 4, 400))
    y = 1 - 2 * t + 0.5 * t**2 - 0.3 * t**3
    known = np.ones(t.size, dtype=bool)
    known[100:130] = False
    found = smoothing.smooth(t, np.where(known, y, np.nan), 3.0, known)
    # The penalty does not see cubics; what is left is rounding of the normal equations.
    np.testing.assert_allclose(found.value, y, atol=1e-8 * np.abs(y).max())
    np.testing.assert_allclose(found.acceleration, 1 - 1.8 * t, atol=1e-5)


def test_the_cutoff_is_near_the_best_one_for_positions():
    one, rng = data.columns(), np.random.default_rng(2)
    t, q = one["t"], one["q"]
    y = q + data.SIGMA_Q * rng.standard_normal(t.size)
    chosen = smoothing.smooth(t, y)
    tried = np.geomspace(0.5, 30, 40)
    errors = [np.sqrt(np.mean((smoothing.smooth(t, y, f).value - q) ** 2)) for f in tried]
    mine = np.sqrt(np.mean((chosen.value - q) ** 2))
    # Cross-validation is an estimate: 30 % more than the least error is what it costs at worst.
    assert mine < 1.3 * min(errors)
    # σ from some 900 free samples: 2.4 % is one standard deviation.
    assert chosen.noise == pytest.approx(data.SIGMA_Q, rel=0.1)


def test_rims_are_ends_and_the_sides_of_gaps():
    t = np.r_[0:1:101j, 3:4:101j]
    poor = smoothing.rim(t, 4.0)  # 0.1 s
    assert poor[:10].all()
    assert not poor[12:90].any()
    assert poor[92:110].all()
    assert poor[-10:].all()


def test_the_low_pass_is_the_zero_phase_butterworth_filter_on_uneven_samples_too():
    rng = np.random.default_rng(4)
    even = np.arange(4000) * 1e-3
    noise = rng.standard_normal((4000, 2))
    expected = sosfiltfilt(butter(4, 20, fs=1000, output="sos"), noise, axis=0)
    found = smoothing.LowPass(even, 20.0).of(noise)
    assert np.abs(found - expected)[1000:3000].max() < 5e-3 * expected.std()  # as above
    t = np.cumsum(rng.choice([2e-3, 4e-3, 8e-3], 2000))
    for share in (0.5, 1.0, 1.5):
        wave = np.sin(2 * np.pi * 5 * share * t)
        left = smoothing.LowPass(t, 5.0).of(wave[:, None])[200:-200, 0]
        gain = left @ wave[200:-200] / (wave[200:-200] @ wave[200:-200])
        # Uneven samples see a wave of 100 samples a period to a percent.
        assert gain == pytest.approx(1 / (1 + share**8), abs=0.01)
