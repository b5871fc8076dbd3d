"""What acts on the joints of a mechanism of one degree of freedom, as numbers at given symbols.

A load acts at a joint value θ. Its share of the generalised force of q is effort · ∂θ/∂q, and of
a virtual coordinate h effort · ∂θ/∂h (paper, §3.1 and §3.2; the gear ratio, missing there, is
part of ∂θ_motor/∂q).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.expressions import NODE_ZERO, Expression, Graph, evaluate, names
from basepar_core.mechanism import Damper, Mechanism, Motor, Spring, Torque
from basepar_core.symbolic import symbol_values

from .path import Values

#: Sign of a joint's rate that a one-way torque acts with.
_WAYS = {"": 0, "rising": 1, "falling": -1}


@dataclass(frozen=True)
class Resistance:
    """Friction at a joint, or a damper: against its motion; numbers (variant,)."""

    joint: int
    viscous: Array
    coulomb: Array
    offset: Array


@dataclass(frozen=True)
class Elastic:
    """A spring on a joint value."""

    joint: int
    stiffness: Array
    rest: Array


@dataclass(frozen=True)
class Push:
    """A torque on a joint: an expression, or pieces (from, to, value) over another's range.

    `way` is +1 or −1 where it acts only while the joint rises or falls. `number` (variant,) is the
    expression where neither position nor speed is in it.
    """

    joint: int
    way: int
    value: Expression
    along: int
    pieces: tuple[tuple[float, float, Array], ...]
    number: Array | None

    @cached_property
    def is_parabola(self) -> bool:
        """Whether it is a polynomial of at most second degree in speed."""
        graph = Graph()
        first = graph.derivative(graph.tree(self.value), "speed")
        second = graph.derivative(first, "speed")
        return graph.derivative(second, "speed") == NODE_ZERO


@dataclass(frozen=True)
class Drive:
    """A DC motor on a joint, per variant; `inductance` 0: the current follows at once."""

    name: str
    joint: int
    voltage: Array
    resistance: Array
    constant: Array
    ratio: Array
    inductance: Array
    rotor: Array

    @property
    def gain(self) -> Array:
        """K n, N m per A at the joint, and V per rad/s of it."""
        found: Array = self.constant * self.ratio
        return found

    @property
    def slow(self) -> bool:
        """Whether the current is a state: the motor has inductance, in all variants or in none.

        Raises
        ------
        UsageError
            Some variants have it and some do not; `alike` parts them.
        """
        if self.inductance.any() and not self.inductance.all():
            raise UsageError(
                f"Motor {self.name!r} has inductance in some variants and none in others; these "
                "are different equations. Compute them apart (loads.alike).",
                [f"motors.{self.name}.inductance"],
            )
        return bool(self.inductance.any())


@dataclass(frozen=True)
class Loads:
    """All loads of a mechanism; `joints` are the values they act on.

    `dampers` are lines between points, whose lengths come after the joints and have a
    `Resistance` each. `growth` is what a joint gains in one closed motion: ranges of pieces
    repeat with it.
    `lines` are springs between points, with stiffness and rest; `rotors` (joint, inertia) turning
    masses that friction's `rotor` and motors add.
    """

    joints: tuple[str, ...]
    dampers: tuple[Damper, ...]
    resistances: tuple[Resistance, ...]
    elastics: tuple[Elastic, ...]
    lines: tuple[tuple[Spring, Array, Array], ...]
    pushes: tuple[Push, ...]
    drives: tuple[Drive, ...]
    rotors: tuple[tuple[int, Array], ...]
    symbols: Mapping[str, Array]
    growth: Mapping[int, float] = field(default_factory=dict)

    @property
    def tracked(self) -> int:
        """How many joint values and lengths the loads act on."""
        return len(self.joints) + len(self.dampers)

    def efforts(
        self, theta: Array, rate: Array, currents: Array, ways: Array, where: Array | None = None
    ) -> Array:
        """Torque on every joint (joint, …) but those of elastics, which have a potential.

        Parameters
        ----------
        theta, rate
            (joint, …): value and its rate in time. Numbers broadcast against the variants'.
        currents
            (motor, …), A.
        ways
            (joint, …): sign of the rate, as Coulomb friction and one-way torques see it.
        where
            (joint, …): positions that tell which pieces act; θ itself without.
        """
        where = theta if where is None else where
        found = np.zeros(np.broadcast_shapes(theta.shape, rate.shape))
        for r in self.resistances:
            k = r.joint
            found[k] -= r.viscous * rate[k] + r.coulomb * ways[k] + r.offset
        for push in self.pushes:
            found[push.joint] += self.push(push, theta, rate, where) * (
                1.0 if push.way == 0 else (ways[push.joint] == push.way)
            )
        for k, drive in enumerate(self.drives):
            found[drive.joint] += drive.gain * currents[k]
        return found

    def per_variant(self) -> "Loads":
        """The same with a sample axis behind the variants, for arrays (joint, variant, sample)."""

        return self.mapped(lambda x: x[:, None])

    def mapped(self, change: Callable[[Array], Array]) -> "Loads":
        """Numbers (variant,) changed; those of one place for all stay."""

        def of(x: Array) -> Array:
            return change(x) if np.ndim(x) == 1 else x

        def every(one: Any) -> Any:
            arrays = {k: of(x) for k, x in vars(one).items() if isinstance(x, np.ndarray)}
            return replace(one, **arrays)

        return replace(
            self,
            resistances=tuple(map(every, self.resistances)),
            pushes=tuple(
                replace(every(p), pieces=tuple((a, b, of(v)) for a, b, v in p.pieces))
                for p in self.pushes
            ),
            drives=tuple(map(every, self.drives)),
            rotors=tuple((joint, of(inertia)) for joint, inertia in self.rotors),
            symbols={name: of(x) for name, x in self.symbols.items()},
        )

    def push(self, push: Push, theta: Array, rate: Array, where: Array) -> Array:
        """Effort of a torque where it acts."""
        if push.pieces:
            at, found = where[push.along], np.zeros(1)
            for low, high, value in push.pieces:
                found = found + value * is_within(at, low, high, self.growth.get(push.along, 0.0))
            return found
        known = {**self.symbols, "position": theta[push.joint], "speed": rate[push.joint]}
        (value,) = evaluate([push.value], known)
        return np.asarray(value, float)


def loads_of(mechanism: Mechanism, values: Values) -> Loads:
    """Loads at symbol values, (variant,) arrays; friction, springs, dampers without are none."""
    at = _Numbers(symbol_values(mechanism, values))
    rubbed = _rubbed(mechanism, at)
    resistances = tuple(
        Resistance(
            at.place(name), *(kinds.get(k, np.zeros(1)) for k in ("viscous", "coulomb", "offset"))
        )
        for name, kinds in rubbed.items()
        if kinds.keys() - {"rotor"}
    )
    stiff = [s for s in mechanism.springs if s.stiffness is not None]
    elastics = tuple(
        Elastic(at.place(s.coordinate), at.number(s.stiffness), at.number(s.rest))
        for s in stiff
        if s.coordinate is not None
    )
    lines = tuple(
        (s, at.number(s.stiffness), at.number(s.rest)) for s in stiff if s.coordinate is None
    )
    pushes = tuple(_push(torque, at) for torque in mechanism.torques)
    drives = tuple(_drive(motor, at) for motor in mechanism.motors)
    rotors = [
        (at.place(name), kinds["rotor"]) for name, kinds in rubbed.items() if "rotor" in kinds
    ]
    rotors += [(d.joint, d.ratio**2 * d.rotor) for d in drives if d.rotor.any()]
    symbols = {name: np.asarray(x, float) for name, x in at.known.items()}
    dampers = tuple(one for one in mechanism.dampers if one.damping is not None)
    none = np.zeros(1)
    resistances += tuple(
        Resistance(len(at.joints) + k, at.number(one.damping), none, none)
        for k, one in enumerate(dampers)
    )
    return Loads(
        tuple(at.joints),
        dampers,
        resistances,
        elastics,
        lines,
        pushes,
        drives,
        tuple(rotors),
        symbols,
    )


def load_names(mechanism: Mechanism) -> frozenset[str]:
    """Symbols that the numbers of loads name."""
    rows: list[Expression | None] = [f.value for f in mechanism.friction]
    rows += [x for s in mechanism.springs for x in (s.stiffness, s.rest)]
    rows += [one.damping for one in mechanism.dampers]
    rows += [x for t in mechanism.torques for x in (t.value, *chain(*t.pieces))]
    rows += [x for motor in mechanism.motors for x in _numbers_of(motor)]
    return frozenset().union(*(names(x) for x in rows if x is not None))


def alike(mechanism: Mechanism, values: Values, count: int) -> Array:
    """(variant,) numbers of groups in which every motor has inductance in all or in none."""
    at = _Numbers(symbol_values(mechanism, values))
    group = np.zeros(count, dtype=np.int64)
    for motor in mechanism.motors:
        group = 2 * group + (at.number(motor.inductance) != 0)
    return group


class _Numbers:
    """Expressions as (variant,) arrays, and joints in the order they are first met."""

    def __init__(self, known: Mapping[str, Any]):
        self.known = known
        self.joints: list[str] = []

    def place(self, name: str) -> int:
        if name not in self.joints:
            self.joints.append(name)
        return self.joints.index(name)

    def number(self, expression: Expression | None) -> Array:
        value = 0.0 if expression is None else evaluate([expression], self.known)[0]
        return np.atleast_1d(np.asarray(value, float))


def _rubbed(mechanism: Mechanism, at: _Numbers) -> dict[str, dict[str, Array]]:
    """Friction, offset and rotor that have values, per coordinate."""
    found: dict[str, dict[str, Array]] = {}
    for f in mechanism.friction:
        if f.value is not None:
            found.setdefault(f.coordinate, {})[f.kind] = at.number(f.value)
    return found


def _push(torque: Torque, at: _Numbers) -> Push:
    number = at.number
    even = not torque.pieces and names(torque.value).isdisjoint(("position", "speed"))
    return Push(
        at.place(torque.coordinate),
        _WAYS[torque.when],
        torque.value,
        at.place(torque.along or torque.coordinate),
        tuple((float(number(a)[0]), float(number(b)[0]), number(v)) for a, b, v in torque.pieces),
        number(torque.value) if even else None,
    )


def _drive(motor: Motor, at: _Numbers) -> Drive:
    return Drive(motor.name, at.place(motor.coordinate), *map(at.number, _numbers_of(motor)))


def _numbers_of(motor: Motor) -> tuple[Expression | None, ...]:
    """In the order of `Drive`."""
    return (
        motor.voltage,
        motor.resistance,
        motor.constant,
        motor.ratio,
        motor.inductance,
        motor.rotor,
    )


def speed_terms(push: Push, symbols: Mapping[str, Array], theta: Array) -> list[Array] | None:
    """a, b, c where a torque is a + b·speed + c·speed² at positions θ; None where it is not."""
    if push.pieces or not push.is_parabola:
        return None
    at = [  # three speeds give the three coefficients, exactly to rounding
        np.broadcast_to(
            evaluate([push.value], {**symbols, "position": theta, "speed": s})[0], theta.shape
        )
        for s in (0.0, 1.0, -1.0)
    ]
    return [at[0], (at[1] - at[2]) / 2, (at[1] + at[2]) / 2 - at[0]]


def terms_about(
    push: Push, symbols: Mapping[str, Array], theta: Array, speed: Array
) -> list[Array]:
    """a, b, c of the parabola in speed that a torque follows about given speeds of its joint."""
    size = np.abs(speed)
    step = 1e-4 * np.maximum(size, 1e-3 * size.max() + 1e-6)
    low, here, high = (
        np.broadcast_to(
            evaluate([push.value], {**symbols, "position": theta, "speed": s})[0], theta.shape
        )
        for s in (speed - step, speed, speed + step)
    )
    slope, bend = (high - low) / (2 * step), (high - 2 * here + low) / step**2
    return [
        here - slope * speed + bend / 2 * speed**2,
        slope - bend * speed,
        bend / 2,
    ]


def is_within(at: Array, low: float, high: float, growth: float) -> Array:
    """Whether positions are in [low, high), whole turns taken off where a joint turns."""
    if growth:
        found: Array = np.mod(at - low, abs(growth)) < high - low
        return found
    return (at >= low) & (at < high)


def kinked(loads: Loads) -> Sequence[int]:
    """Joints at whose turning points a load jumps or has a kink."""
    found = {r.joint for r in loads.resistances if r.coulomb.any()}
    found |= {p.joint for p in loads.pushes if p.way}
    return sorted(found)
