"""Motions of the coordinates: excitations (for rank and identification) and work cycles.

A free joint's velocities are its twist, not the rates of its values (`Motion`). Laws over time
state values, and what they are differentiated to is turned into twists; random states and data
state velocities themselves.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MissingDataError, MotionError
from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import (
    ConstantSpeed,
    Cycle,
    Data,
    Excitation,
    Fourier,
    Mechanism,
    RestToRest,
    Sines,
    SineSum,
    States,
    cycle_line,
    excitation_line,
    joint_type,
)

from . import spatial

#: Between two samples, rad or m: sixteen turns. The way there is gone in small steps.
FARTHEST = 100.0


@dataclass(frozen=True)
class Motion:
    """Coordinates, their velocities and accelerations over samples.

    Attributes
    ----------
    t
        (sample,) in s; the sample's number for random states, which have no time.
    q, q_dot, q_ddot
        (coordinate, sample), rad or m and per s, s². Derivatives of q, but for a free joint's
        coordinates: velocity of F2's origin and angular velocity, both in F2's axes, and the
        rates of these six numbers, as Pinocchio's free-flyer has them.
    """

    t: Array
    q: Array
    q_dot: Array
    q_ddot: Array


def excitation(mechanism: Mechanism, start: Array) -> Motion:
    """The mechanism's excitation; `start` is q_assembly (coordinate,)."""
    if mechanism.excitation is None:
        raise MissingDataError(
            f"{mechanism.name!r} states no excitation, so there is no motion to sample W on. Add "
            f"`{excitation_line(mechanism)}`.",
            ["excitation"],
        )
    motion = excite(mechanism.excitation, mechanism, start)
    return _within_reach(motion, mechanism, start, "excitation")


def excite(law: Excitation, mechanism: Mechanism, start: Array) -> Motion:
    """Samples of an excitation (docs/mechanism-files.md, "Motions")."""

    def value(*expressions: Expression) -> list[float]:
        return [float(x) for x in evaluate(expressions, mechanism.nominal)]

    match law:
        case Fourier(harmonics, base_frequency, amplitude, samples, seed):
            (base,) = value(base_frequency)
            size = np.array(value(*amplitude))
            return as_twists(mechanism, _fourier(harmonics, base, size, samples, seed, start))
        case Sines(duration, terms, samples):
            t = np.arange(samples) * value(duration)[0] / samples
            rows = [_sine_sum([value(*term) for term in law_], t) for law_ in terms]
            return as_twists(mechanism, _stacked(t, rows))
        case States(amplitude, frequency, samples, seed):
            omega = 2 * np.pi * value(frequency)[0]
            size = np.array(value(*amplitude))[:, None]
            u, v, w = np.moveaxis(
                np.random.default_rng(seed).uniform(-1, 1, (samples, 3, len(start))), 1, 0
            ).swapaxes(1, 2)
            t = np.arange(samples, dtype=float)
            return Motion(t, start[:, None] + size * u, size * omega * v, size * omega**2 * w)
        case Data():
            return _data(law, mechanism)


def cycle(mechanism: Mechanism, start: Array) -> Motion:
    """The mechanism's work cycle; `start` is q_assembly (coordinate,)."""
    return _within_reach(_cycle(mechanism, start), mechanism, start, "cycle")


def _within_reach(motion: Motion, mechanism: Mechanism, start: Array, where: str) -> Motion:
    """The motion, if it goes from sample to sample by no more than `FARTHEST`."""
    for name, q, q0 in zip(mechanism.coordinates, motion.q, start, strict=True):
        with np.errstate(all="ignore"):
            travel = np.abs(np.diff(q, prepend=q0))
        beyond = np.flatnonzero(~(travel <= FARTHEST))
        if beyond.size:
            k = int(beyond[0])
            raise MotionError(
                f"The {where} of {mechanism.name!r} moves {name} by {travel[k]:.4g} (rad or m) "
                f"{f'before sample {k + 1}' if k else 'from the assembly to its first sample'}; "
                f"at most {FARTHEST:g}. Check its units and size, or take more samples.",
                [where],
            )
    return motion


def _cycle(mechanism: Mechanism, start: Array) -> Motion:
    law = mechanism.cycle
    if law is None:
        raise MissingDataError(
            f"{mechanism.name!r} states no cycle, so torques, reduction and metrics have nothing "
            f"to act on. Add `{cycle_line(mechanism)}`.",
            ["cycle"],
        )
    if isinstance(law.laws, Data):
        return _data(law.laws, mechanism)
    T = cycle_duration(mechanism, law)
    t = np.arange(law.samples) * T / law.samples
    rows = [_law(one, mechanism, float(q0), t) for one, q0 in zip(law.laws, start, strict=True)]
    return as_twists(mechanism, _stacked(t, rows))


def as_twists(mechanism: Mechanism, motion: Motion) -> Motion:
    """A motion whose velocities are all derivatives of q, with free joints' as their twists.

    With R of F2 in F1 and the position x: v = Rᵀẋ and ω = Rᵀ J(r) ṙ, and their rates.
    """
    q, v, a = motion.q, motion.q_dot.copy(), motion.q_ddot.copy()
    for along, about in _free_places(mechanism):
        r, r_dot = q[about], motion.q_dot[about]
        R, J = spatial.matrix(r), spatial.rate_map(r)
        omega = spatial.rotate_back(R, spatial.rotate(J, r_dot))
        change = spatial.rotate(J, motion.q_ddot[about])
        change = change + spatial.rotate(spatial.rate_map_derivative(r, r_dot), r_dot)
        v[along], v[about] = spatial.rotate_back(R, motion.q_dot[along]), omega
        pull = spatial.rotate_back(R, motion.q_ddot[along])
        a[along] = pull - spatial.cross(omega, v[along])
        a[about] = spatial.rotate_back(R, change)
    return Motion(motion.t, q, v, a)


def as_rates(mechanism: Mechanism, motion: Motion) -> Motion:
    """The reverse of `as_twists`: all velocities derivatives of q."""
    q, v, a = motion.q, motion.q_dot.copy(), motion.q_ddot.copy()
    for along, about in _free_places(mechanism):
        r, omega = q[about], motion.q_dot[about]
        R = spatial.matrix(r)
        inverse = spatial.inverse_rate_map(r)
        r_dot = spatial.rotate(inverse, spatial.rotate(R, omega))
        bent = spatial.rotate(spatial.rate_map_derivative(r, r_dot), r_dot)
        v[along], v[about] = spatial.rotate(R, motion.q_dot[along]), r_dot
        turned = motion.q_ddot[along] + spatial.cross(omega, motion.q_dot[along])
        a[along] = spatial.rotate(R, turned)
        change = spatial.rotate(R, motion.q_ddot[about])
        a[about] = spatial.rotate(inverse, change - bent)
    return Motion(motion.t, q, v, a)


def _free_places(mechanism: Mechanism) -> list[tuple[list[int], list[int]]]:
    """Per free joint that is driven its coordinates' numbers: of the position, the rotation."""
    number = {name: k for k, name in enumerate(mechanism.coordinates)}
    found = []
    for joint in mechanism.joints:
        if joint_type(joint.type).is_free and number.keys() >= set(joint.values):
            places = [number[name] for name in joint.values]
            found.append((places[:3], places[3:]))
    return found


def cycle_duration(mechanism: Mechanism, law: Cycle) -> float:
    """T of a cycle in s: the same for all coordinates (checked when the file is read)."""
    assert not isinstance(law.laws, Data)
    first = law.laws[0]
    if isinstance(first, ConstantSpeed) and first.duration is None:
        assert first.turns is not None
        speed, turns = (float(x) for x in evaluate([first.speed, first.turns], mechanism.nominal))
        return 2 * np.pi * abs(turns / speed)
    assert first.duration is not None
    return float(evaluate([first.duration], mechanism.nominal)[0])


def _law(
    law: ConstantSpeed | SineSum | RestToRest, mechanism: Mechanism, start: float, t: Array
) -> tuple[Array, Array, Array]:
    nominal = mechanism.nominal
    match law:
        case ConstantSpeed(speed):
            rate = float(evaluate([speed], nominal)[0])
            return start + rate * t, np.full_like(t, rate), np.zeros_like(t)
        case SineSum(terms):
            return _sine_sum([[float(x) for x in evaluate(one, nominal)] for one in terms], t)
        case RestToRest(to, duration):
            end, T = (float(x) for x in evaluate([to, duration], nominal))
            s, d = t / T, end - start
            return (
                start + d * s**3 * (10 - 15 * s + 6 * s**2),
                d / T * 30 * s**2 * (1 - s) ** 2,
                d / T**2 * 60 * s * (1 - s) * (1 - 2 * s),
            )


def _fourier(
    harmonics: int, base: float, amplitude: Array, samples: int, seed: int, start: Array
) -> Motion:
    coefficients = np.random.default_rng(seed).standard_normal((len(start), harmonics, 2))
    t = np.arange(samples) / (samples * base)
    rate = 2 * np.pi * base * np.arange(1, harmonics + 1)
    angle = rate[:, None] * t
    a, b = coefficients[..., 0], coefficients[..., 1]
    shape = a @ np.sin(angle) + b @ np.cos(angle)
    scale = (amplitude / np.abs(shape).max(axis=1))[:, None]
    first = (a * rate) @ np.cos(angle) - (b * rate) @ np.sin(angle)
    second = -(a * rate**2) @ np.sin(angle) - (b * rate**2) @ np.cos(angle)
    return Motion(t, start[:, None] + scale * shape, scale * first, scale * second)


def _sine_sum(terms: list[list[float]], t: Array) -> tuple[Array, Array, Array]:
    q, q_dot, q_ddot = np.zeros((3, t.size))
    for size, rate, phase in terms:
        q = q + size * np.sin(rate * t + phase)
        q_dot = q_dot + size * rate * np.cos(rate * t + phase)
        q_ddot = q_ddot - size * rate**2 * np.sin(rate * t + phase)
    return q, q_dot, q_ddot


def _stacked(t: Array, rows: list[tuple[Array, Array, Array]]) -> Motion:
    q, q_dot, q_ddot = (np.stack(part) for part in zip(*rows, strict=True))
    return Motion(t, q, q_dot, q_ddot)


def _data(law: Data, mechanism: Mechanism) -> Motion:
    numbers = evaluate(
        [x for sample in law.values for triple in sample for x in triple], mechanism.nominal
    )
    table = np.array(numbers, float).reshape(len(law.times), -1, 3)
    t = np.array(evaluate(law.times, mechanism.nominal), float)
    return Motion(t, *(np.ascontiguousarray(table[..., k].T) for k in range(3)))
