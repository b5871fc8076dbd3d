"""Deviations where residuals follow one another, and instruments against noise in W."""

import numpy as np
import pytest
from scipy.signal import lfilter

from basepar_core.errors import UsageError
from basepar_core.identification.blocks import block_length
from basepar_core.identification.estimate import estimate

#: Rows of each of two drives, and draws of noise.
ROWS, DRAWS = 1500, 150


def columns(rng):
    """Slow columns of two drives, as motions are."""
    t = np.arange(ROWS) * 0.02
    waves = rng.uniform(0.1, 1.0, (2, 4)), rng.uniform(0, 2 * np.pi, (2, 4))
    W = np.sin(2 * np.pi * waves[0][..., None] * t + waves[1][..., None]).transpose(0, 2, 1)
    return W.reshape(-1, 4), np.repeat([0, 1], ROWS), np.tile(t, 2)


def slow(rng):
    """Noise that remembers ten rows."""
    return lfilter([1.0], [1.0, -0.9], rng.standard_normal((2, ROWS + 100)))[:, 100:].ravel()


def fast(rng):
    """Noise of second differences: an acceleration's."""
    return np.diff(rng.standard_normal((2, ROWS + 2)), 2, axis=1).ravel()


@pytest.mark.parametrize("noise", [slow, fast])
def test_blocks_say_what_estimates_spread(noise):
    rng = np.random.default_rng(1)
    W, groups, times = columns(rng)
    sizes, truth = np.where(groups == 0, 1.0, 0.2), np.array([1.0, -2.0, 0.5, 3.0])
    errors, white, blocks, inside = [], [], [], []
    for _ in range(DRAWS):
        tau = W @ truth + sizes * noise(rng)
        found = estimate(W, tau, groups, times=times)
        errors.append(found.values - truth)
        white.append(estimate(W, tau, groups).deviations)
        blocks.append(found.deviations)
        inside.append(np.abs(errors[-1]) <= found.half_widths())
    spread = np.std(errors, axis=0)
    off = spread / np.mean(white, axis=0)
    # Memory of ten rows widens by √((1 + 0.9)/(1 − 0.9)) = 4.4 at most; acceleration noise has
    # next to nothing at the motion's frequencies.
    assert (off > 2.5).all() if noise is slow else (off < 0.5).all()
    ratio = spread / np.mean(blocks, axis=0)
    assert (ratio > 0.75).all()  # the spread of 150 draws is 6 % off; windows are a little wide
    assert (ratio < 1.2).all()
    # 600 intervals of four parameters, 95 % ± 1.5 if all were independent. Second differences add
    # up to what is at the record's ends: the samples that move an estimate widen its interval in
    # the same draw, which then holds nearly always.
    assert 0.92 <= np.mean(inside) <= (0.98 if noise is slow else 1.0)


def test_the_length_of_pieces_goes_with_the_memory():
    rng = np.random.default_rng(2)
    t, one = np.arange(4000) * 0.01, np.zeros(4000, dtype=int)
    lengths = [
        block_length(lfilter([1.0], [1.0, -keep], rng.standard_normal(4000)), one, t)
        for keep in (0.0, 0.5, 0.9, 0.97)
    ]
    assert lengths == sorted(lengths)
    assert lengths[0] >= 2 * 39.99 / 240
    assert lengths[-1] <= 2 * 39.99 / 24


@pytest.mark.slow
def test_instruments_take_out_what_noise_in_w_does():
    rng = np.random.default_rng(3)
    W, groups, times = columns(rng)
    truth = np.array([1.0, -2.0, 0.5, 3.0])
    plain, freed, inside = [], [], []
    for _ in range(60):
        tau = W @ truth + 0.1 * rng.standard_normal(len(W))
        one, other = (W + 0.5 * rng.standard_normal(W.shape) for _ in range(2))
        both = (one + other) / 2
        halves = ((one, tau), (other, tau))
        plain.append(estimate(both, tau, groups).values)
        found = estimate(both, tau, groups, "iv", halves=halves, times=times)
        freed.append(found.values)
        inside.append(np.abs(found.values - truth) <= found.half_widths())
    # Least squares lose σ²/(σ² + ½) of each: 0.125/0.625.
    np.testing.assert_allclose(np.mean(plain, axis=0), 0.8 * truth, rtol=0.05, atol=0.02)
    error = np.std(freed, axis=0) / np.sqrt(60)
    assert (np.abs(np.mean(freed, axis=0) - truth) < 4 * error).all()
    assert 0.9 <= np.mean(inside) <= 0.99


def test_noise_that_hides_the_motion_is_named():
    rng = np.random.default_rng(4)
    W, groups, _ = columns(rng)
    tau = W @ np.ones(4)
    one, other = (W + 3 * rng.standard_normal(W.shape) for _ in range(2))
    with pytest.raises(UsageError, match="Noise of the positions makes up"):
        estimate((one + other) / 2, tau, groups, "iv", halves=((one, tau), (other, tau)))
