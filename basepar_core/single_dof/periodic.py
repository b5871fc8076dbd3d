"""Functions of a closed motion on even samples: Fourier sums, their slopes, and nodes between.

Samples are last, without the end that is the beginning again. What a function gains in a turn
(joints that turn with the coordinate, a potential that falls) is given apart.
"""

from functools import lru_cache

import numpy as np

from basepar_core.arrays import Array

#: Sums over at most so many samples, and products of samples and intervals up to its square, are
#: made as they stand; more by fast transforms.
FEW = 80


def slopes(samples: Array, growth: Array, length: float) -> Array:
    """Derivative on the samples (…, sample); `growth` (…) is what a turn of `length` gains."""
    count = samples.shape[-1]
    if count <= FEW:
        return _summed(samples, growth, *_slopes_of(count)) / length
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
    growth = np.full(samples.shape[:-1], growth)
    if count * intervals <= FEW**2:
        return _summed(samples, growth, *_nodes_of(count, intervals))
    found = np.empty((*samples.shape[:-1], intervals + 1))
    found[..., :-1] = _resampled(_periodic(samples, growth), intervals)
    found[..., -1] = found[..., 0]
    found += growth[..., None] * np.linspace(0, 1, intervals + 1)
    return found


def _resampled(samples: Array, intervals: int) -> Array:
    count = samples.shape[-1]
    every = -(-count // intervals)  # never fewer than the samples, or harmonics would be lost
    waves = np.fft.rfft(samples) * (intervals * every / count)
    if intervals * every > count:
        waves[..., -1] /= 2  # the highest stands for itself and its mirror image
    found: Array = np.fft.irfft(waves, intervals * every)[..., ::every]
    return found


@lru_cache(maxsize=16)
def _nodes_of(count: int, intervals: int) -> tuple[Array, Array]:
    """Weights (sample, node) of samples, and what a growth of 1 adds (node,)."""
    weights = _resampled(np.eye(count), intervals)
    return np.hstack([weights, weights[:, :1]]), np.linspace(0, 1, intervals + 1)


@lru_cache(maxsize=16)
def _slopes_of(count: int) -> tuple[Array, Array]:
    """Alike, of slopes on the samples of a turn of length 1."""
    waves = np.fft.rfft(np.eye(count)) * (2j * np.pi * np.arange(count // 2 + 1))
    waves[:, -1] = 0
    return np.fft.irfft(waves, count), np.ones(count)


def _summed(samples: Array, growth: Array, weights: Array, line: Array) -> Array:
    """Few samples times weights: a fifth of the time of two transforms, row by row alike."""
    from . import sample_kernels as kernels  # the compiler: who prepares a sweep needs none

    found = np.empty((*samples.shape[:-1], line.size))
    rows = np.ascontiguousarray(samples).reshape(-1, samples.shape[-1])
    kernels.weighted(
        rows, np.ascontiguousarray(growth).reshape(-1), weights, line, found.reshape(-1, line.size)
    )
    return found


def tail(samples: Array) -> Array:
    """Bound on what Fourier sums through the samples err, as a share of the range, (…).

    The upper third of the harmonics heard, all in phase. Harmonics of a smooth function fall off
    like a power of a number, so that those unheard are less than these.
    """
    from . import sample_kernels as kernels  # as above

    found = np.empty(samples.shape[:-1])
    rows = np.ascontiguousarray(samples).reshape(-1, samples.shape[-1])
    kernels.tails(rows, _upper_third(samples.shape[-1]), found.reshape(-1))
    return found


@lru_cache(maxsize=16)
def _upper_third(count: int) -> Array:
    """Cosines and sines (sample, 2 · harmonic) whose sums are amplitudes."""
    turns = np.outer(np.arange(count), np.arange(count // 3, count // 2 + 1)) % count / count
    return np.hstack([f(2 * np.pi * turns) for f in (np.cos, np.sin)]) * 2 / count


def _periodic(samples: Array, growth: Array) -> Array:
    return samples - growth[..., None] * np.arange(samples.shape[-1]) / samples.shape[-1]
