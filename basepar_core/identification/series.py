"""Fourier series about the middle of their limits, which hold at every instant.

Between M even samples a trigonometric polynomial of degree H exceeds its greatest sample by no
more than 1/cos(πH/M) (Ehlich & Zeller, Mathematische Zeitschrift 86, 1964).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Motion
from basepar_core.expressions import Number

from ..mechanism import Sines

#: Samples per period of the highest harmonic at which limits are held: 1/cos(π/64) = 1.0012.
DENSE = 64
#: What shares of limits at these samples must not exceed.
BOUND = float(np.cos(np.pi / DENSE))


@dataclass(frozen=True)
class Limits:
    """What a motion may do.

    Attributes
    ----------
    lowest, highest, speed, acceleration
        (coordinate,), rad or m and per s, s²; infinite where free.
    regularity
        Least distance of the loops' equations from singular, 0 to 1.
    values
        (lowest, highest) of further joint values, by name.
    """

    lowest: Array
    highest: Array
    speed: Array
    acceleration: Array
    regularity: float
    values: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Series:
    """Motions q(t) = c + Σₖ aₖ sin kωt + bₖ cos kωt, by z (coordinate, 1 + 2H).

    z are c, a₁, b₁, a₂, … in units of `scale`, in which each harmonic alone comes to a limit.

    Parameters
    ----------
    limits
        Of the coordinates.
    frequency
        Of the first harmonic, Hz.
    harmonics
        H.
    start
        (coordinate,) where the loops are known to close.
    rest
        Whether motions start at rest, without acceleration.
    """

    def __init__(self, limits: Limits, frequency: float, harmonics: int, start: Array, rest: bool):
        self.frequency, self.harmonics = frequency, harmonics
        self.start, self.rest = start, rest
        self.dense = self.basis(DENSE * harmonics)
        self.middle, half = _centre(limits, start)
        omega = 2 * np.pi * frequency
        size = np.minimum(half, np.minimum(limits.speed / omega, limits.acceleration / omega**2))
        order = np.repeat(np.arange(1, harmonics + 1), 2)
        self.scale = size[:, None] / np.concatenate([[1.0], order])
        self.kinds = np.stack([half, limits.speed, limits.acceleration])
        # At rest at t = 0: Σ k aₖ = 0 and Σ k² bₖ = 0; coefficients are scaled by 1/k already.
        self.still = np.zeros((2, 1 + 2 * harmonics))
        self.still[0, 1::2], self.still[1, 2::2] = 1.0, np.arange(1, harmonics + 1)

    def basis(self, samples: int) -> Array:
        """(3, sample, 1 + 2H): 1, sin ωt, cos ωt, sin 2ωt, … and their two derivatives."""
        omega = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        angle = np.arange(samples)[:, None] / (samples * self.frequency) * omega
        s, c = np.sin(angle), np.cos(angle)
        pairs = [(s, c), (omega * c, -omega * s), (-(omega**2) * s, -(omega**2) * c)]
        flat = [np.stack(pair, axis=-1).reshape(samples, -1) for pair in pairs]
        ones = [np.full((samples, 1), x) for x in (1.0, 0.0, 0.0)]
        return np.stack([np.concatenate(x, axis=1) for x in zip(ones, flat, strict=True)])

    def motion(self, z: Array, samples: int) -> Motion:
        """Samples of a motion."""
        q, v, a = (self.scale * z) @ self.basis(samples).transpose(0, 2, 1)
        return Motion(np.arange(samples) / (samples * self.frequency), q, v, a)

    def shares(self, z: Array) -> Array:
        """(3, coordinate, dense sample): position about the middle, speed, acceleration."""
        found = (self.scale * z) @ self.dense.transpose(0, 2, 1)
        found[0] -= self.middle[:, None]
        return found / self.kinds[..., None]

    def random(self, rng: np.random.Generator) -> Array:
        """Coefficients of a random motion about `start`, as large as the limits allow."""
        coefficients = rng.standard_normal(self.scale.shape)  # alike, whatever the order
        z = coefficients * self.scale.min(axis=1, keepdims=True) / self.scale
        z[:, 0] = 0
        if self.rest:
            z = z - z @ np.linalg.pinv(self.still) @ self.still
        half = self.kinds[0]
        inside = self.middle + np.clip(self.start - self.middle, -half / 2, half / 2)
        reach = self.kinds.copy()
        reach[0] -= np.abs(inside - self.middle)
        swing = np.abs((self.scale * z) @ self.dense.transpose(0, 2, 1)).max(axis=-1)
        z = z * (BOUND * reach / swing).min(axis=0)[:, None]
        z[:, 0] = inside / self.scale[:, 0]
        return z

    def by_z(self, slope: Array, basis: Array) -> Array:
        """(coordinate, coefficient) of slopes by q, q̇, q̈ (3, coordinate, sample)."""
        return np.einsum("dcs,dsb->cb", slope, basis) * self.scale

    def law(self, z: Array, samples: int) -> Sines:
        """As a file's `excitation`; a constant is a sine of no frequency at its crest."""

        def term(*numbers: float) -> tuple[Number, Number, Number]:
            a, w, p = (Number(Fraction(float(x))) for x in numbers)
            return a, w, p

        omega = 2 * np.pi * self.frequency
        terms = tuple(
            (
                term(row[0], 0.0, np.pi / 2),
                *(
                    term(np.hypot(a, b), k * omega, np.arctan2(b, a))
                    for k, (a, b) in enumerate(row[1:].reshape(-1, 2), start=1)
                ),
            )
            for row in self.scale * z
        )
        return Sines(Number(1 / Fraction(self.frequency)), terms, samples)


def _centre(limits: Limits, start: Array) -> tuple[Array, Array]:
    """Middle and half of the range; where it is free, the assembly and infinity."""
    free = np.isinf(limits.lowest) | np.isinf(limits.highest)
    low, high = np.where(free, start, limits.lowest), np.where(free, start, limits.highest)
    return (low + high) / 2, np.where(free, np.inf, (high - low) / 2)
