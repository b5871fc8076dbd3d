"""Numbers of steady regimes for sweeps and studies: many variants of one machine at once.

    meter = meter_of(model, ("speed_fluctuation", "motor_current_rms(drive)"))
    found = meter({"AB": lengths, "gear": ratios})
    found.values["speed_fluctuation"], found.state

A variant without a regime has nan and a state that says why; nothing is raised for it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Engine
from basepar_core.dynamics import Model, cycle
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.mechanism import ConstantSpeed, Data, Mechanism
from basepar_core.single_dof import (
    GUESS,
    NEUTRAL,
    STALLED,
    TURNING,
    Motion,
    Reaction,
    Table,
    Turner,
    Values,
    Way,
    alike,
    cycle_integrator,
    dwell,
    find_way,
    freed,
    measures,
    motion_of,
    reaction,
    regimes,
    run,
    turn_of,
)

#: What else can become of a variant: it does not follow a whole turn; the finest steps did not
#: settle its speed.
BROKEN, COARSE = 4, 5
STATES = (*cycle_integrator.STATES, "not closed", "not accurate")
#: Intervals a turn. Where half as many change the speed by more than `ACCURACY` of its range, the
#: next are taken: the result is about 16 times better, as steps of fourth order are.
INTERVALS, ACCURACY = (360, 1440), 5e-4
#: Variants that are measured together: the arrays of 512 with 1440 intervals stay below 200 MB.
PART = 512
#: A joint dwells while it stays within this share of its stroke.
BAND = 0.01


@dataclass(frozen=True)
class RegimeMetric:
    """What is known of a metric beforehand: SI text of its unit, and a line about it."""

    unit: str
    words: str


@dataclass(frozen=True)
class Measured:
    """Metrics by name and why there are none (codes of `STATES`), all (variant,).

    `error` is the change of speed by the last halving of the steps, as a share of its range.
    """

    values: dict[str, Array]
    state: Array
    error: Array

    @property
    def sound(self) -> Array:
        """(variant,) bool: has a regime, and so its metrics."""
        return np.isfinite(self.error) & np.isin(self.state, (TURNING, NEUTRAL))


_MOTOR = {
    "motor_torque_peak": "largest absolute torque of motor {} on its joint",
    "motor_torque_rms": "root mean square over time of the torque of motor {}",
    "motor_current_peak": "largest absolute current of motor {}",
    "motor_current_rms": "root mean square over time of the current of motor {}",
}
_REACTION = {"reaction_peak": ("N", "force"), "moment_peak": ("N m", "moment")}
_PLAIN = {
    "period": RegimeMetric("s", "time of one turn in the steady regime"),
    "mean_speed": RegimeMetric("rad/s", "mean speed over time in the steady regime"),
    "speed_fluctuation": RegimeMetric("1", "greatest less least speed over the mean speed"),
}
_ENERGY = RegimeMetric("J", "what the motors take from their supplies in one turn")
_CALL = re.compile(r"([a-z_]+)\(([^()]*)\)")


def known(mechanism: Mechanism) -> dict[str, RegimeMetric]:
    """Metrics of steady regimes that a mechanism has, by name; none where nothing drives it.

    `reaction_peak(S,rocker,y)` is of the force in joint S along the rocker's y axis, and
    `dwell(Q)` the longest stretch of the coordinate on which Q stays within 1 % of its stroke.
    """
    if len(mechanism.coordinates) != 1 or not (mechanism.motors or mechanism.torques):
        return {}
    found = dict(_PLAIN)
    if mechanism.motors:
        found["energy_per_cycle"] = _ENERGY
    for word, line in _MOTOR.items():
        for motor in mechanism.motors:
            name = f"{word}({motor.name})"
            found[name] = RegimeMetric(unit_of(mechanism, name), line.format(motor.name))
    for joint in mechanism.joints:
        for value in joint.values:
            line = f"longest stretch of a turn on which {value} stays within 1 % of its stroke"
            found[f"dwell({value})"] = RegimeMetric("rad", line)
        for word, (unit, what) in _REACTION.items():
            for body in joint.bodies:
                for axis in _axes(mechanism, word):
                    line = f"largest absolute {what} in joint {joint.name} along {body}'s {axis}"
                    found[f"{word}({joint.name},{body},{axis})"] = RegimeMetric(unit, line)
    return found


def unit_of(mechanism: Mechanism, name: str) -> str:
    """SI text of a metric's unit, by its name; of any that `results.measures` finds too."""
    word, argument = _parts(name)
    if word in _PLAIN:
        return _PLAIN[word].unit
    if word in _REACTION:
        return _REACTION[word][0]
    if word not in _MOTOR:
        return _ENERGY.unit if word == "energy_per_cycle" else "rad"
    if "current" in word:
        return "A"
    motor = next(one for one in mechanism.motors if one.name == argument)
    return _effort(mechanism, motor.coordinate)


def _axes(mechanism: Mechanism, word: str) -> str:
    if not mechanism.planar:
        return "xyz"
    return "xy" if word == "reaction_peak" else "z"


def _effort(mechanism: Mechanism, value: str) -> str:
    return mechanism.value(value).effort_unit


@dataclass(frozen=True)
class Meter:
    """Measures variants of one machine; picklable, made by `meter_of`.

    Attributes
    ----------
    turner
        Of the model with a virtual coordinate for every reaction, along one closed motion of the
        nominal variant, which all are followed along.
    names, reactions, joints
        Metrics wanted; those that are reactions, and joint values whose dwell is wanted.
    period
        s per turn of a neutral regime, from the mechanism's cycle; None where it says none.
    """

    turner: Turner
    names: tuple[str, ...]
    reactions: tuple[str, ...]
    joints: tuple[str, ...]
    period: float | None

    def __call__(self, values: Values) -> Measured:
        """Metrics of variants: swept symbols, (variant,) arrays, SI; others are nominal."""
        count = max((np.size(x) for x in values.values()), default=1)
        every = {name: np.broadcast_to(x, (count,)) for name, x in values.items()}
        found = Measured(
            {name: np.full(count, np.nan) for name in self.names},
            np.full(count, BROKEN),
            np.full(count, np.nan),
        )
        groups = alike(self.turner.engine.model.mechanism, every, count)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            own = {name: x[rows] for name, x in every.items()}
            for turner, some in self.turner.by_period(own):
                meter = self._along(turner)
                for start in range(0, some.size, PART):
                    with np.errstate(all="ignore"):  # what does not close, stalls, has no regime
                        meter._measure(every, rows[some[start : start + PART]], found)
        return found

    def _along(self, turner: Turner) -> "Meter":
        """The same along a motion of other length."""
        longer = turner.way.length / self.turner.way.length
        period = None if self.period is None else self.period * longer
        return replace(self, turner=turner, period=period)

    def _measure(self, values: Values, rows: Array, found: Measured) -> None:
        """Fill rows, with ever finer steps for those that need them."""
        for intervals in INTERVALS:
            if not rows.size:
                return
            turns = self.turner({name: x[rows] for name, x in values.items()}, intervals)
            found.state[rows[turns.coarse]] = COARSE
            again = [rows[:0]]
            for part, table, turn in turns.parts():
                again.append(self._fill(rows[part], table, turn, found))
            rows = np.concatenate(again)

    def _fill(
        self, rows: Array, table: Table, turn: cycle_integrator.Turn, found: Measured
    ) -> Array:
        """Fill the rows that these steps are fine enough for; which ones they are not."""
        fine, coarse = (self._regime(t) for t in (turn, turn_of(_halved(table))))
        state, ran = fine
        speed, other = ran.speed[:, 0], coarse[1].speed[:, 0]
        span = np.maximum(np.ptp(speed, axis=1), 1e-12 * speed.max(axis=1))
        error = np.abs(speed[:, ::2] - other).max(axis=1) / span
        runs = np.isfinite(error)
        alone = np.isfinite(speed).all(axis=1) & ~runs  # with half the steps it ran away
        found.state[rows] = np.where(((error > ACCURACY) & runs) | alone, COARSE, state)
        good = runs & (error <= ACCURACY)
        found.error[rows] = np.where(good, error, np.nan)
        for name, numbers in self._numbers(table, motion_of(table, turn, ran)).items():
            found.values[name][rows[good]] = numbers[good]
        left: Array = rows[~good & (runs | turn.brakes)]
        return left

    def _regime(self, turn: cycle_integrator.Turn) -> tuple[Array, cycle_integrator.Run]:
        found = regimes(turn, np.array([GUESS]), self.period)
        good = (found.state == TURNING) | ((found.state == NEUTRAL) & (self.period is not None))
        ran = run(turn, np.where(good, found.speed, np.nan), found.currents)
        stalled = good & ~np.isfinite(ran.speed).all(axis=(1, 2))
        return np.where(stalled, STALLED, found.state), ran

    def _numbers(self, table: Table, motion: Motion) -> dict[str, Array]:
        every = measures(table, motion, self.reactions)
        found = {}
        for name in self.names:
            word, argument = _parts(name)
            if word == "dwell":
                own = table.loads.tracked + self.joints.index(argument)
                theta = table.theta[own]
                found[name] = dwell(table.q, theta, BAND * np.ptp(theta, axis=-1))
            else:
                found[name] = every[name]
        return found


def meter_of(model: Model, names: Sequence[str]) -> Meter:
    """What measures these metrics, of `known`, on variants of a machine.

    Raises
    ------
    UsageError
        No such metric; or the motion does not close, so that there is no steady turn.
    MissingDataError
        Bodies without inertias.
    MechanismError
        More than one coordinate; a reaction that motion does not determine.
    """
    it = model.mechanism
    wrong = [name for name in names if name not in known(it)]
    if wrong:
        raise UsageError(f"{it.name!r} has no metric {', '.join(wrong)} of a regime.", wrong)
    if not it.has_inertias:
        bare = [body.name for body in it.bodies if body.parameters is None]
        raise MissingDataError(
            f"A steady regime needs inertias, and {', '.join(bare)} of {it.name!r} states none. "
            f"Give mass, centre and inertia, or drop {', '.join(names)}.",
            [f"bodies.{name}" for name in bare],
        )
    way = find_way(model)
    if not way.closed:
        raise UsageError(
            f"{it.coordinates[0]!r} of {it.name!r} goes from {way.low:.4g} to {way.high:.4g} and "
            f"does not turn on, so it has no steady turn. Drop {', '.join(names)}, or choose "
            "another coordinate.",
            ["coordinates"],
        )
    reactions = tuple(name for name in names if _parts(name)[0] in _REACTION)
    wanted = [_reaction(it, name) for name in reactions]
    joints = tuple(argument for word, argument in map(_parts, names) if word == "dwell")
    full = freed(model, wanted) if wanted else model
    turner = Turner(Engine(full), way, joints)
    return Meter(turner, tuple(names), reactions, joints, _period(model, way))


def _parts(name: str) -> tuple[str, str]:
    match = _CALL.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _reaction(mechanism: Mechanism, name: str) -> Reaction:
    word, argument = _parts(name)
    return reaction(mechanism, argument.replace(",", ":"), word == "moment_peak")


def _period(model: Model, way: Way) -> float | None:
    """Time of a turn at the speed of the mechanism's cycle, where that is constant."""
    law = model.mechanism.cycle
    if law is None or isinstance(law.laws, Data) or not isinstance(law.laws[0], ConstantSpeed):
        return None
    speed = abs(float(cycle(model.mechanism, model.assembled.coordinates).q_dot[0, 0]))
    return way.length / speed if speed else None


def _halved(table: Table) -> Table:
    """Every second node: what half as many samples would have given, to the last digit."""

    def half(x: Array) -> Array:
        return x[..., ::2]

    return replace(
        table,
        reduced=replace(table.reduced, q=half(table.reduced.q)),
        m=half(table.m),
        slope=half(table.slope),
        virtual_slope=half(table.virtual_slope),
        potential=half(table.potential),
        theta=half(table.theta),
        rates=half(table.rates),
    )
