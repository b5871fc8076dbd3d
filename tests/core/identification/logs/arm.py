"""A planar arm of two links, its torque from the textbook, and raw logs of it."""

import numpy as np

from basepar_core.files import loads

L1, G = 0.4, 9.81
#: J1, a1 = m1 x1, m2, c = m2 x2, J2 about the joints.
J1, A1, M2, C, J2 = 0.08, 0.6, 1.5, 0.3, 0.09
VISCOUS, COULOMB, OFFSET, ROTOR = (
    np.array([0.7, 0.3]),
    np.array([1.1, 0.5]),
    np.array([0.2, -0.1]),
    np.array([0.05, 0.02]),
)
ARM = """\
name: arm
space: planar
gravity: [0, -9.81]
geometry: {l1: {value: 0.4, unit: m, bounds: [0.2, 0.8]}}
bodies:
  one: {number: 1}
  two: {number: 2}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[l1, 0], [0, 0]]}
coordinates: [A, B]
assembly: {A: 0, B: 0}
excitation: {kind: fourier, harmonics: 3, base_frequency: 0.5 Hz, amplitude: {A: 1, B: 1},
  samples: 64, seed: 1}
"""
#: Base parameters, by hand. `one` carries the mass of `two` at B.
BASE = {
    "one.mx": A1 + M2 * L1,
    "one.my": 0.0,
    "one.J": J1 + M2 * L1**2,
    "two.mx": C,
    "two.my": 0.0,
    "two.J": J2,
}


def mechanism():
    return loads(ARM, "arm")


def torque(q, v, a, rotors=ROTOR):
    """Spong, Hutchinson & Vidyasagar, Robot Modeling and Control, 2006, §7.3; and friction."""
    h = L1 * C
    c2, s2, c12 = np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
    M11, M12 = J1 + M2 * L1**2 + J2 + 2 * h * c2, J2 + h * c2
    one = M11 * a[0] + M12 * a[1] - h * s2 * (2 * v[0] * v[1] + v[1] ** 2)
    one += G * ((A1 + M2 * L1) * np.cos(q[0]) + C * c12)
    two = M12 * a[0] + J2 * a[1] + h * s2 * v[0] ** 2 + G * C * c12
    wide = (slice(None), None)
    drives = VISCOUS[wide] * v + COULOMB[wide] * np.sign(v) + OFFSET[wide] + rotors[wide] * a
    return np.stack([one, two]) + drives


def motion(t, duration, seed):
    """Joint angles that start and end at rest; derivatives by differences, good to 10⁻⁶."""
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0.2, 1.0, (2, 4)), rng.uniform(0, 2 * np.pi, (2, 4))

    def q(t):
        inside = np.clip(t / duration, 0, 1)
        waves = np.sin(2 * np.pi * frequency[..., None] * t + phase[..., None]).sum(axis=1)
        return 0.6 * np.sin(np.pi * inside) ** 2 * waves

    h = 1e-4
    return q(t), (q(t + h) - q(t - h)) / (2 * h), (q(t + h) - 2 * q(t) + q(t - h)) / h**2


def raw_log(seed=1, duration=16.0, rest=1.5, noise=1e-5, torque_noise=0.02):
    """Time in ms from a clock of uneven steps, angles in degrees, speeds, currents.

    At rest the currents are anything below the Coulomb friction; every 50th row stands twice.
    """
    rng = np.random.default_rng(seed)
    steps = rng.choice([0.004, 0.005, 0.006], int((duration + 2 * rest) / 0.005))
    t = np.cumsum(steps)
    q, v, a = motion(t - rest, duration, seed)
    tau = torque(q, v, a)
    moving = (t > rest) & (t < rest + duration)
    stuck = torque(q, 0 * v, 0 * a) - OFFSET[:, None] + 0.8 * COULOMB[:, None]
    tau = np.where(moving, tau, stuck) + torque_noise * rng.standard_normal(q.shape)
    q = q + noise * rng.standard_normal(q.shape)
    table = np.column_stack([1e3 * t, np.degrees(q).T, np.degrees(v).T, (tau / GAINS[:, None]).T])
    repeated = np.repeat(table, np.where(np.arange(len(t)) % 50 == 49, 2, 1), axis=0)
    same = np.flatnonzero((np.diff(repeated, axis=0) == 0).all(axis=1)) + 1
    repeated[same, 0] += 2.0  # the clock goes on
    return repeated, moving


#: N m/A.
GAINS = np.array([12.0, -8.0])
