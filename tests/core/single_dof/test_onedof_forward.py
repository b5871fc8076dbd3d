"""Motion in time against closed formulas and against the integrator in q."""

import numpy as np
import pytest
from scipy.special import ellipk

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof import cycle_integrator
from basepar_core.single_dof.forward import breakpoints, simulate
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.survey import survey

PENDULUM = """
name: pendulum
space: planar
gravity: [0, -9.81]
bodies: {bar: {mass: 1, centre: [0, -0.5], inertia: 0.25}}
joints: {A: {type: revolute, connects: [ground, bar]}}
coordinates: [A]
"""


def test_pendulum_s_period():
    found = survey(prepare(loads(PENDULUM)))
    swing = 2.0
    down = simulate(found, swing, 0.0, 10.0, events=(lambda t, q, w, i: q,))
    assert down.end == "event 0"
    # A point mass at 0.5 m: a quarter of the period is √(l/g) K(sin²(swing/2)).
    quarter = np.sqrt(0.5 / 9.81) * ellipk(np.sin(swing / 2) ** 2)
    assert down.t[-1] == pytest.approx(quarter, rel=1e-8)
    assert down.speed[-1] == pytest.approx(
        -np.sqrt(2 * 9.81 / 0.5 * (1 - np.cos(swing))), rel=1e-8
    )


def test_block_slides_sticks_and_stays():
    text = PENDULUM.replace("[0, -9.81]", "[0, 0]") + "friction: {A: {coulomb: 0.5}}"
    found = simulate(survey(prepare(loads(text))), 0.0, 3.0, 10.0)
    assert found.end == "stuck"
    assert found.t[-1] == pytest.approx(3.0 * 0.25 / 0.5, rel=1e-9)
    assert found.q[-1] == pytest.approx(3.0**2 * 0.25 / 2 / 0.5, rel=1e-9)


def test_damped_pendulum_comes_back_until_friction_holds_it():
    text = PENDULUM + "friction: {A: {coulomb: 0.4}}"
    found = simulate(survey(prepare(loads(text))), 1.5, 0.0, 60.0)
    assert found.end == "stuck"
    turned = (found.speed[:-1] == 0).sum()
    assert turned >= 3
    # It stays where gravity's moment is less than friction's.
    assert abs(9.81 * 0.5 * np.sin(found.q[-1])) < 0.4


def test_motor_starts_against_friction_as_its_current_rises():
    text = PENDULUM.replace("[0, -9.81]", "[0, 0]") + (
        "friction: {A: {coulomb: 0.5}}\n"
        "motors: {M: {joint: A, voltage: 12, resistance: 2, constant: 0.25, inductance: 0.1}}"
    )
    found = simulate(survey(prepare(loads(text))), 0.0, 0.0, 1.0)
    moved = found.t[np.flatnonzero(found.speed > 0)[0] - 1]
    # K i = 0.5 at i = 2 A: i = 6 (1 − exp(−20 t)).
    assert moved == pytest.approx(-np.log(1 - 2 / 6) / 20, rel=1e-6)
    assert found.end == "time"


@pytest.mark.slow
def test_dwell_linkage_in_time_is_what_it_is_in_q():
    model = prepare(load("dwell"))
    found = survey(model)
    assert len(breakpoints(found)) == 6  # the rocker turns back six times
    _, turn = turn_at(model, found.way, {}, 1440)
    ran = cycle_integrator.run(turn, np.array([20.0]))
    period = ran.time[0, 0, -1]
    moved = simulate(found, 0.0, 20.0, period)
    # The integrator in q errs by 3e-8 of the speed's range at 1440 intervals.
    assert moved.q[-1] == pytest.approx(2 * np.pi, abs=1e-6)
    assert moved.speed[-1] == pytest.approx(ran.speed[0, 0, -1], rel=1e-6)
    assert moved.currents[0, -1] == pytest.approx(ran.currents[0, 0, 0, -1], abs=1e-5)


def test_a_range_ends():
    model = prepare(load("parallelogram"))
    assert simulate(survey(model), 1.0, 50.0, 10.0).end == "end of the range"
