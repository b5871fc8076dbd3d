"""Four-bar designs by triangles and energy: RMS torque over a turn and the rocker's swing.

Another formulation than the program's: no loops are followed and no accelerations occur. At a
constant crank speed the torque is the derivative of the energy by the crank's angle, taken on its
Fourier series; a million designs are a minute's work.
"""

import numpy as np

GRAVITY = 9.81
#: Designs at a time: their samples stay in a core's cache.
PART = 2000


def designs(lx1, lx3, Dx, lx2=0.7, ly2=1.1, Dy=0.1, rho=2.7, speed=6.28, samples=128, start=0.0):
    """(torque_rms, swing) of the library's four-bar, each (design,); nan where it does not turn.

    Lengths in m, `rho` in kg/m, `speed` in rad/s; `start` is the crank's first angle, rad.
    """
    lx1, lx3, Dx = np.broadcast_arrays(*(np.asarray(x, float) for x in (lx1, lx3, Dx)))
    found = np.empty((2, lx1.size))
    for first in range(0, lx1.size, PART):
        part = slice(first, first + PART)
        found[:, part] = _part(
            lx1[part, None], lx3[part, None], Dx[part, None], lx2, ly2, Dy, rho, speed, samples,
            start,
        )  # fmt: skip
    return found


def _part(a, c, Dx, lx2, ly2, Dy, rho, speed, samples, start):
    b = np.hypot(lx2, ly2)
    angle = start + 2 * np.pi * np.arange(samples) / samples
    crank = np.exp(1j * angle)
    B, D = a * crank, Dx + 1j * Dy
    span = np.abs(D - B)
    with np.errstate(invalid="ignore"):
        along = (b**2 - c**2 + span**2) / (2 * span)
        # C on the side where the library's four-bar assembles.
        toward = (D - B) / span
        C = B + (along + 1j * np.sqrt(b**2 - along**2)) * toward
    # Unit rates by virtual rotations: B' = i B, C' at right angles to DC, C' − B' to BC.
    dB = 1j * B
    coupler, rocker = C - B, C - D
    # dC = dB + i w2 coupler = i w3 rocker; crossed with either vector.
    w2 = -_dot(dB, rocker) / _dot(1j * coupler, rocker)
    w3 = _dot(dB, coupler) / _dot(1j * rocker, coupler)
    bars = ((a, 0 * B, B, 1.0), (b, B, coupler, w2), (c, D, rocker, w3))
    energy = np.zeros_like(span)
    for (length, _, _, turn), origin_rate, from_, to in zip(
        bars, (0 * B, dB, 0 * B), (0 * B, B, D + 0 * B), (B, C, C), strict=True
    ):
        # A slender bar: mass at its middle, ρ l³/12 about it.
        middle_rate = origin_rate + 1j * turn * (to - from_) / 2
        mass = rho * length
        energy = energy + speed**2 / 2 * mass * np.abs(middle_rate) ** 2
        energy = energy + speed**2 / 2 * mass * length**2 / 12 * turn**2
        energy = energy + mass * GRAVITY * ((from_ + to) / 2).imag
    series = np.fft.rfft(energy, axis=1) / samples
    order = np.arange(series.shape[1])
    size = np.abs(series * order) ** 2
    rms = np.sqrt(2 * size[:, 1:-1].sum(axis=1))  # the Nyquist term has no derivative
    swing = np.ptp(np.unwrap(np.angle(rocker), axis=1), axis=1)
    return rms, swing


def _dot(u, v):
    return (u * v.conj()).real
