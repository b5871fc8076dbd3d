"""Samples of an excitation as balls that hold the true values (docs/mechanism-files.md).

Random coefficients are doubles, hence exact rationals; everything else comes from the file's
exact expressions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import (
    Data,
    Excitation,
    Fourier,
    Mechanism,
    Sines,
    States,
    joint_type,
)
from basepar_core.symbolic import cross, minus, times, transpose

from .arithmetic import ARB, ONE, ZERO, Vec, exact
from .rotations import rates, rotation

#: Coordinates (rad or m), their velocities and accelerations (per s, s²) at one sample:
#: derivatives, but for a free joint's coordinates, as of `dynamics.Motion`.
State = tuple[list[arb], list[arb], list[arb]]


@dataclass(frozen=True)
class Start:
    """Where a motion starts, and which samples of it are wanted.

    `coordinates` is q_assembly in float64, used where the file states no value; `floats` are
    the float64 samples (coordinate, sample): they tell at which sample a Fourier series is
    largest.
    """

    coordinates: np.ndarray
    floats: np.ndarray
    picks: tuple[int, ...]


def samples(mechanism: Mechanism, start: Start) -> list[State]:
    """The picked samples of a mechanism's excitation."""
    law: Excitation | None = mechanism.excitation
    match law:
        case Fourier():
            return [_with_twists(mechanism, s) for s in _fourier(law, mechanism, start)]
        case Sines():
            return [_with_twists(mechanism, state) for state in _sines(law, start)]
        case States():
            return _states(law, mechanism, start)
        case Data():
            return [_datum(law, k) for k in start.picks]
    raise ValueError("the mechanism states no excitation")


def _with_twists(mechanism: Mechanism, state: State) -> State:
    """A state of derivatives, with free joints' velocities and accelerations as their twists."""
    number = {name: k for k, name in enumerate(mechanism.coordinates)}
    q, q_dot, q_ddot = state
    v, a = [*q_dot], [*q_ddot]
    for joint in mechanism.joints:
        if not (joint_type(joint.type).is_free and number.keys() >= set(joint.values)):
            continue
        places = [number[name] for name in joint.values]

        def of(rows: Sequence[arb], first: int, places: Sequence[int] = places) -> Vec:
            x, y, z = (rows[k] for k in places[first : first + 3])
            return x, y, z

        r = of(q, 3)
        _, turning, change = rates(r, of(q_dot, 3), of(q_ddot, 3))
        back = transpose(rotation(r))
        omega, shift = times(back, turning), times(back, of(q_dot, 0))
        pull = minus(times(back, of(q_ddot, 0)), cross(omega, shift))
        for k, x, y in zip(places, (*shift, *omega), (*pull, *times(back, change)), strict=True):
            v[k], a[k] = x, y
    return q, v, a


def _values(expressions: Sequence[Expression]) -> list[arb]:
    return [ZERO + x for x in evaluate(expressions, {}, ARB)]


def _assembly(mechanism: Mechanism, start: Start) -> list[arb]:
    """q_assembly: stated values exactly, measured ones as the floats that they are."""
    stated = dict(mechanism.assembly.values)
    return [
        _values([stated[name]])[0] if name in stated else exact(float(measured))
        for name, measured in zip(mechanism.coordinates, start.coordinates, strict=True)
    ]


def _fourier(law: Fourier, mechanism: Mechanism, start: Start) -> list[State]:
    count = len(mechanism.coordinates)
    coefficients = np.random.default_rng(law.seed).standard_normal((count, law.harmonics, 2))
    (base,) = _values([law.base_frequency])
    omega = 2 * arb.pi() * base
    waves = {}

    def wave(sample: int) -> list[tuple[arb, arb]]:
        """sin and cos of kωt; ωt = 2π·sample/samples."""
        if sample not in waves:
            angle = 2 * arb.pi() * sample / law.samples
            waves[sample] = [(k * angle).sin_cos() for k in range(1, law.harmonics + 1)]
        return waves[sample]

    def series(coordinate: int, sample: int) -> tuple[arb, arb, arb]:
        q, q_dot, q_ddot = ZERO, ZERO, ZERO
        for k, (sine, cosine) in enumerate(wave(sample), start=1):
            a, b = (arb(float(x)) for x in coefficients[coordinate, k - 1])
            even, odd, rate = a * sine + b * cosine, a * cosine - b * sine, k * omega
            q, q_dot, q_ddot = q + even, q_dot + rate * odd, q_ddot - rate * rate * even
        return q, q_dot, q_ddot

    offsets = np.abs(start.floats - start.coordinates[:, None])
    scales = [
        amplitude / abs(series(k, int(np.argmax(offsets[k])))[0]) if offsets[k].any() else ONE
        for k, amplitude in enumerate(_values(law.amplitude))
    ]
    q0 = _assembly(mechanism, start)
    found = []
    for sample in start.picks:
        moved = [tuple(scales[k] * x for x in series(k, sample)) for k in range(count)]
        found.append(_state([(q0[k] + q, v, a) for k, (q, v, a) in enumerate(moved)]))
    return found


def _sines(law: Sines, start: Start) -> list[State]:
    (duration,) = _values([law.duration])
    terms = [[_values(term) for term in terms] for terms in law.terms]
    found = []
    for sample in start.picks:
        t = duration * sample / law.samples
        rows = []
        for mine in terms:
            q, q_dot, q_ddot = ZERO, ZERO, ZERO
            for size, rate, phase in mine:
                sine, cosine = (rate * t + phase).sin_cos()
                q, q_dot = q + size * sine, q_dot + size * rate * cosine
                q_ddot = q_ddot - size * rate * rate * sine
            rows.append((q, q_dot, q_ddot))
        found.append(_state(rows))
    return found


def _states(law: States, mechanism: Mechanism, start: Start) -> list[State]:
    count = len(mechanism.coordinates)
    shape = (law.samples, 3, count)
    numbers = np.random.default_rng(law.seed).uniform(-1, 1, shape)
    amplitude, (frequency,) = _values(law.amplitude), _values([law.frequency])
    omega, q0 = 2 * arb.pi() * frequency, _assembly(mechanism, start)
    found = []
    for sample in start.picks:
        rows = []
        for k, size in enumerate(amplitude):
            u, v, w = (arb(float(x)) for x in numbers[sample, :, k])
            rows.append((q0[k] + size * u, size * omega * v, size * omega * omega * w))
        found.append(_state(rows))
    return found


def _datum(law: Data, sample: int) -> State:
    return _state([tuple(_values(triple)) for triple in law.values[sample]])


def _state(rows: Sequence[Sequence[arb]]) -> State:
    q, q_dot, q_ddot = ([row[k] for row in rows] for k in range(3))
    return q, q_dot, q_ddot
