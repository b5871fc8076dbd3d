"""A mechanism with one degree of freedom: from words to its motion, regime and dwells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.dynamics import Model
from basepar_core.errors import UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import GROUND, Mechanism, joint_type
from basepar_core.metrics import BAND
from basepar_core.single_dof import (
    STATES,
    Machine,
    Trajectory,
    dwell,
    dwells,
    machine,
    measures,
    reaction,
    simulate,
    the_coordinate,
)

from .saying import Say, silent

#: Places on which dwells are looked for.
FINE = 1440


@dataclass(frozen=True)
class Dwell:
    """The longest stretch of a motion on which a joint value stays within a band.

    Attributes
    ----------
    band
        Its width, rad or m.
    stretch
        How long, of the coordinate.
    where
        From and to, of the coordinate; two pieces where it goes over the motion's end.
    """

    band: float
    stretch: float
    where: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class OneDof:
    """A mechanism reduced to its coordinate.

    Attributes
    ----------
    machine
        The survey of the motion, and the steady regime where there is one.
    joints
        Joint values that were followed, in the machine's order.
    dwells
        By joint value.
    measures
        Numbers of the steady turn by name, SI; empty without one.
    run
        The motion in time, with no current at its start; None where none was asked for.
    """

    machine: Machine
    joints: tuple[str, ...]
    dwells: Mapping[str, Dwell]
    measures: Mapping[str, float]
    run: Trajectory | None


def one_dof(
    model: Model,
    *,
    force: Sequence[str] = (),
    moment: Sequence[str] = (),
    range: tuple[float, float] | None = None,
    period: float | None = None,
    speed: float | None = None,
    time: float | None = None,
    dwell: Mapping[str, float | None] | None = None,
    say: Say = silent,
) -> OneDof:
    """A mechanism with one degree of freedom; see `single_dof.machine`.

    `force` and `moment` are texts JOINT:BODY:DIR, `dwell` bands (rad or m; None: 1 % of the
    stroke) by joint value. With a `time`, in s, `speed` is what a motion in time begins with: any
    number.

    Raises
    ------
    UsageError
        Joints that there are not; numbers or choices that do not go together.
    """
    the_coordinate(model)
    say("reduced parameters and regime")
    mechanism, bands = model.mechanism, dwell or {}
    wanted = [reaction(mechanism, text) for text in force]
    wanted += [reaction(mechanism, text, moment=True) for text in moment]
    _check_bands(mechanism, bands)
    _check_regime(range, period, speed, time)
    forward = speed if speed is not None and speed > 0 else None
    joints = tuple(dict.fromkeys([*bands, *outputs(mechanism)]))
    made = machine(model, wanted, range, period, forward, joints)
    if period is not None:
        _check_neutral(made)
    found = _dwells(made, bands, joints)
    run = None
    if time is not None:
        say("motion in time")
        run = simulate(made.survey, made.survey.way.start, speed or 0.0, time)
    return OneDof(made, joints, found, _measures(made, found, joints), run)


def _dwells(
    made: Machine, bands: Mapping[str, float | None], joints: Sequence[str]
) -> dict[str, Dwell]:
    """Longest stretch of the motion on which each joint stays within its band."""
    survey, way = made.survey, made.survey.way
    if bands and way.asked:
        raise UsageError(
            "`dwell=`: a range was asked for, and dwells are of whole motions. Leave `range=` or "
            "`dwell=` out.",
            ["dwell="],
        )
    if bands and not way.closed:
        raise UsageError(
            f"`dwell=`: {made.model.mechanism.coordinates[0]} goes from {way.low:.6g} to "
            f"{way.high:.6g} and does not turn on; dwells are of motions that close.",
            ["dwell="],
        )
    q = np.linspace(way.low, way.high, FINE + 1)
    followed = survey.curves(q)[survey.theta_rows][survey.table.loads.tracked :]
    found = {}
    for name, band in bands.items():
        values = followed[joints.index(name)]
        width = BAND * float(np.ptp(values)) if band is None else band
        stretch, low = (float(x[0]) for x in dwells(q, values[None], width))
        high = low + stretch
        over = high - way.high
        ends = ((low, way.high), (way.low, way.low + over)) if over > 0 else ((low, high),)
        found[name] = Dwell(width, stretch, ends)
    return found


def _measures(
    made: Machine, found: Mapping[str, Dwell], joints: Sequence[str]
) -> dict[str, float]:
    """Of the steady turn; dwells in time too."""
    if made.motion is None or made.table is None:
        return {}
    numbers = measures(made.table, made.motion, [one.metric for one in made.reactions])
    own = made.table.loads.tracked
    for joint, one in found.items():
        theta = made.table.theta[own + joints.index(joint)]
        numbers[f"dwell({joint})"] = dwell(made.table.q, theta, one.band)
    return {name: float(values[0]) for name, values in numbers.items()}


def _check_neutral(made: Machine) -> None:
    """UsageError where a period was asked of a machine that has its own, or no regime."""
    name = made.model.mechanism.name
    if made.regimes is None:
        why = f"{name} has no steady regime"
    elif STATES[int(made.regimes.state[0])] in ("neutral", "stalled"):
        return
    else:
        why = f"the regime of {name} is not"
    raise UsageError(
        f"`period=` is of neutral regimes, whose speed is free; {why}. Leave it out.",
        ["period="],
    )


def outputs(mechanism: Mechanism) -> tuple[str, ...]:
    """Joint values on the frame that the coordinate moves: what a linkage is made for."""
    return tuple(
        value
        for joint in mechanism.joints
        if GROUND in joint.bodies and joint_type(joint.type).values == 1
        for value in joint.values
        if value not in mechanism.coordinates
    )


def _check_bands(mechanism: Mechanism, bands: Mapping[str, float | None]) -> None:
    known = [value for joint in mechanism.joints for value in joint.values]
    for name, band in bands.items():
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UsageError(
                f"`dwell={name}`: {mechanism.name} has no joint value {name!r}{hint}. Give a "
                "joint value and its band, as in Q:1deg.",
                [name],
            )
        if band is not None and not band > 0:
            raise UsageError(f"`dwell={name}`: a band is wider than zero.", [name])


def _check_regime(
    limits: tuple[float, float] | None,
    period: float | None,
    speed: float | None,
    time: float | None,
) -> None:
    """Numbers that a steady turn can have."""
    for name, value in (("period", period), ("time", time)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"`{name}=` is {value:g} s; it must be positive.", [f"{name}="])
    if time is not None:
        speed = None  # of the motion in time
    if speed is not None and not 0 < speed < float("inf"):
        raise UsageError(
            f"`speed=` is {speed:g}; a steady turn goes forwards. With `time=` a motion may begin "
            "at any speed.",
            ["speed="],
        )
    given = [word for word, x in (("period", period), ("speed", speed)) if x is not None]
    if given and limits is not None:
        raise UsageError(
            f"`{given[0]}=` is of a steady regime, which is looked for in whole turns. Leave "
            f"`range=` or `{given[0]}=` out.",
            [f"{given[0]}="],
        )
    if len(given) == 2:
        raise UsageError(
            "`speed=` and `period=` both tell the speed of a neutral regime. Leave one out.",
            ["speed=", "period="],
        )
