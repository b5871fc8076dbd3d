"""Forward dynamics in time, from any state: starts, stops, reversals, events.

The equation of motion is smooth between the places where a load jumps: turning points of joints
with Coulomb or one-way loads, edges of pieces, standstill. Each smooth stretch is integrated by
itself (DOP853, relative 1e-10) up to the place, found as a root, where the next begins; so no step
straddles a jump. At standstill the machine sticks while friction holds it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from .loads import kinked
from .survey import Survey

#: Of the integrator. The curves themselves hold to `Survey.errors`.
RELATIVE, ABSOLUTE = 1e-10, 1e-12
#: Stretches after which a motion is given up: a machine that chatters about a standstill.
MOST = 10_000
_LOOK = 2048

#: An event: a function of time, q, q̇ and currents that a motion ends at when it crosses zero.
Event = Callable[[float, float, float, Array], float]


@dataclass(frozen=True)
class Trajectory:
    """A motion in time: (step,) arrays, `currents` (motor, step); and why it ended.

    `end` is "time", "event k", "end of the range", "stuck" or "too many stretches".
    """

    t: Array
    q: Array
    speed: Array
    currents: Array
    end: str


def simulate(
    survey: Survey,
    q: float,
    speed: float,
    duration: float,
    currents: Array | None = None,
    events: tuple[Event, ...] = (),
) -> Trajectory:
    """Move from a state until the time is over or an event crosses zero.

    Parameters
    ----------
    survey
        The reduced mechanism.
    q, speed
        rad, rad/s (or m).
    duration
        s.
    currents
        (motor,) A; 0 without. Motors without inductance have no state.

    Raises
    ------
    UsageError
        The start is outside the range that was tabulated.
    """
    way = survey.way
    if not way.closed and not (0 <= q - way.low <= way.length):
        name = survey.model.mechanism.coordinates[0]
        raise UsageError(
            f"A motion in time cannot start at {name} = {q:.6g}: the range goes from "
            f"{way.low:.6g} to {way.high:.6g} only. Give a range that contains the start, or "
            "none.",
            ["range"],
        )
    return _Motion(survey, events).run(q, speed, duration, currents)


class _Motion:
    def __init__(self, survey: Survey, events: tuple[Event, ...]):
        self.of, self.events = survey, events
        self.loads = survey.table.loads
        self.places = breakpoints(survey)
        self.joints = len(self.loads.joints)
        self.leaving = 0

    def run(self, q: float, w: float, duration: float, currents: Array | None) -> Trajectory:
        drives = len(self.loads.drives)
        i = np.zeros(drives) if currents is None else np.array(currents, float)
        t, parts, end = 0.0, [np.array([[0.0, q, w, *i]]).T], "too many stretches"
        for _ in range(MOST):
            way = self._way(q, w, i)
            if way == 0 and not any(d.slow for d in self.loads.drives):
                end = "stuck"
                break
            track, why = self._stretch(t, q, w, i, way, duration)
            parts.append(track)
            t, q, w = (float(x) for x in track[:3, -1])
            i = np.array(track[3:, -1])
            if why:
                end = why
                break
        track = np.concatenate(parts, axis=1)
        return Trajectory(track[0], track[1], track[2], track[3:], end)

    def _way(self, q: float, w: float, i: Array) -> int:
        """Direction of motion; at standstill the one that the forces can start, or 0."""
        if w != 0:
            return 1 if w > 0 else -1
        if self.leaving:  # friction has just been overcome: the force there is zero to rounding
            way, self.leaving = self.leaving, 0
            return way
        for way in (1, -1):
            if way * self._force(q, 0.0, i, way, q + way * 1e-9) > 0:
                return way
        return 0

    def _rows(self, q: float) -> tuple[Array, Array]:
        at = self._inside(q)
        return self.of.curves(np.array([at])), self.of.curves(np.array([at]), 1)

    def _inside(self, q: float) -> float:
        way = self.of.way
        return way.low + (q - way.low) % way.length if way.closed else q

    def _force(self, q: float, w: float, i: Array, way: int, probe: float) -> float:
        """Generalised force; what jumps is as at `probe`, a place within the same stretch."""
        rows = self.of.curves(np.array([self._inside(q)]))
        there = self.of.curves(np.array([self._inside(probe)]))
        theta, rate = rows[self.of.theta_rows], rows[self.of.rate_rows]
        ways = way * np.sign(there[self.of.rate_rows])
        flow = self._currents(i, rate[: self.joints] * w)
        efforts = self.loads.efforts(
            theta, rate * w, flow[:, None], ways, there[self.of.theta_rows]
        )
        return float((efforts * rate).sum() - rows[1, 0])

    def _currents(self, i: Array, rate: Array) -> Array:
        """Currents: states, or what follows at once without inductance."""
        found = i.copy()
        for k, d in enumerate(self.loads.drives):
            if not d.slow:
                back = d.voltage[0] - d.gain[0] * rate[d.joint, 0]
                found[k] = back / d.resistance[0]
        return found

    def _next(self, q: float, way: int) -> tuple[float, bool]:
        """The next place where something jumps, and whether the range ends there."""
        along, far = self.of.way, 1e-9 * self.of.way.length
        if along.closed:
            turn = np.floor((q - along.low) / along.length)
            around = [self.places + (turn + k) * along.length for k in (-1, 0, 1)]
            all_ = np.concatenate([*around, [q + way * along.length]])
        else:
            all_ = np.concatenate([self.places, [along.low, along.high]])
        ahead = all_[way * (all_ - q) > far]
        if not ahead.size:
            return q, True
        place = float(ahead[np.argmin(np.abs(ahead - q))])
        return place, not along.closed and place in (along.low, along.high)

    def _stretch(
        self, t: float, q: float, w: float, i: Array, way: int, duration: float
    ) -> tuple[Array, str]:
        """One smooth stretch: its states (state, step), and why the whole motion ends with it."""
        target, last = self._next(q, way or 1)
        if way and last and target == q:
            return np.array([[t, q, w, *i]]).T, "end of the range"
        probe = (q + target) / 2

        def slope(t: float, y: Array) -> Array:
            rows, slopes = self._rows(y[0])
            rate = rows[self.of.rate_rows]
            speed = y[1] if way else 0.0
            bend = 0.0
            if way:
                force = self._force(y[0], y[1], y[2:], way, probe)
                bend = (force - slopes[0, 0] / 2 * y[1] ** 2) / rows[0, 0]
            flow = np.zeros(len(i))
            for k, d in enumerate(self.loads.drives):
                if d.slow:
                    back = d.gain[0] * rate[d.joint, 0] * speed
                    flow[k] = (d.voltage[0] - d.resistance[0] * y[2 + k] - back) / d.inductance[0]
            return np.array([speed, bend, *flow])

        stops: list[Callable[[float, Array], float]]
        if way:
            stops = [lambda t, y: way * (y[0] - target), lambda t, y: way * y[1]]
        else:
            stops = [
                lambda t, y: self._force(y[0], 0.0, np.array(y[2:]), 1, y[0] + 1e-9),
                lambda t, y: -self._force(y[0], 0.0, np.array(y[2:]), -1, y[0] - 1e-9),
            ]
        own = len(stops)
        stops += [_as_stop(event) for event in self.events]
        for k, stop in enumerate(stops):
            stop.terminal = True  # type: ignore[attr-defined]
            if k < own:
                stop.direction = (1 if k == 0 else -1) if way else 1  # type: ignore[attr-defined]
        found = solve_ivp(
            slope, (t, duration), [q, w, *i], "DOP853", events=stops, rtol=RELATIVE, atol=ABSOLUTE
        )
        track = np.vstack([found.t, found.y])
        hit = [k for k, times in enumerate(found.t_events) if times.size]
        if found.status == 0:
            return track, "time"
        if hit and hit[0] >= own:
            return track, f"event {hit[0] - own}"
        if way and hit[0] == 0:
            track[1, -1] = target
            return track, "end of the range" if last else ""
        track[2, -1] = 0.0
        if not way:
            self.leaving = 1 if hit[0] == 0 else -1
        return track, ""


def _as_stop(event: Event) -> Callable[[float, Array], float]:
    """An event as the integrator calls it."""
    return lambda t, y: event(t, y[0], y[1], np.array(y[2:]))


def breakpoints(survey: Survey) -> Array:
    """Places of one way, in order, at which a load jumps or has a kink."""
    way, loads = survey.way, survey.table.loads
    places = np.linspace(way.low, way.high, _LOOK)
    rows = survey.curves(places)
    found: list[float] = []

    def roots(row: int, level: float) -> None:
        values = rows[row] - level
        for k in np.flatnonzero(values[:-1] * values[1:] < 0):
            found.append(
                brentq(
                    lambda x: float(survey.curves(np.array([x]))[row, 0] - level),
                    places[k],
                    places[k + 1],
                    xtol=1e-14,
                )
            )

    for joint in kinked(loads):
        roots(survey.rate_rows.start + joint, 0.0)
    for push in loads.pushes:
        row = survey.theta_rows.start + push.along
        for low, high, _ in push.pieces:
            for edge in (low, high):
                growth = abs(loads.growth.get(push.along, 0.0))
                for k in range(-2, 3) if growth else (0,):
                    roots(row, edge + k * growth)
    return np.array(sorted(found))
