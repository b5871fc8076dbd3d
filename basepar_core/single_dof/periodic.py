"""Functions of a closed motion on even samples: Fourier sums, their slopes, and nodes between.

Samples are last, without the end that is the beginning again. What a function gains in a turn
(joints that turn with the coordinate, a potential that falls) is given apart.
"""

import numpy as np

from basepar_core.arrays import Array


def slopes(samples: Array, growth: Array, length: float) -> Array:
    """Derivative on the samples (…, sample); `growth` (…) is what a turn of `length` gains."""
    count = samples.shape[-1]
    waves = np.fft.rfft(_periodic(samples, growth))
    waves *= 2j * np.pi / length * np.arange(waves.shape[-1])
    waves[..., -1] = 0  # of an even count: sampled where its slope vanishes
    found: Array = np.fft.irfft(waves, count) + growth[..., None] / length
    return found


def integrals(samples: Array, length: float) -> Array:
    """Integral since the first sample, (…, sample), of what a turn of `length` repeats."""
    count = samples.shape[-1]
    waves = np.fft.rfft(samples)
    gained = waves[..., 0].real / count * length
    waves[..., 0] = 0
    waves[..., 1:] /= 2j * np.pi / length * np.arange(1, waves.shape[-1])
    waves[..., -1] = 0
    grown = np.fft.irfft(waves, count) + gained[..., None] * np.arange(count) / count
    found: Array = grown - grown[..., :1]
    return found


def finer(samples: Array, growth: Array | float, intervals: int) -> Array:
    """Values on the nodes of so many even intervals, both ends among them, (…, node)."""
    count = samples.shape[-1]
    growth = np.broadcast_to(growth, samples.shape[:-1])
    every = -(-count // intervals)  # never fewer than the samples, or harmonics would be lost
    waves = np.fft.rfft(_periodic(samples, growth)) * (intervals * every / count)
    if intervals * every > count:
        waves[..., -1] /= 2  # the highest stands for itself and its mirror image
    found = np.empty((*samples.shape[:-1], intervals + 1))
    found[..., :-1] = np.fft.irfft(waves, intervals * every)[..., ::every]
    found[..., -1] = found[..., 0]
    found += growth[..., None] * np.linspace(0, 1, intervals + 1)
    return found


def tail(samples: Array) -> Array:
    """Bound on what Fourier sums through the samples err, as a share of the range, (…).

    The upper third of the harmonics heard, all in phase. Harmonics of a smooth function fall off
    like a power of a number, so that those unheard are less than these.
    """
    count = samples.shape[-1]
    waves = np.abs(np.fft.rfft(samples)) * 2 / count
    size, span = np.abs(samples).max(axis=-1), np.ptp(samples, axis=-1)
    scale = np.where(span > 1e-9 * size, span, np.where(size > 0, size, 1.0))
    found: Array = waves[..., count // 3 :].sum(axis=-1) / scale
    return found


def _periodic(samples: Array, growth: Array) -> Array:
    return samples - growth[..., None] * np.arange(samples.shape[-1]) / samples.shape[-1]
