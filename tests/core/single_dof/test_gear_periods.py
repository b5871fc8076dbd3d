"""Periods of gear trains: whole turns by the teeth, and the motion that closes after them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files import loads
from basepar_core.metrics.regimes import STATES, meter_of
from basepar_core.single_dof.gear_periods import MOST_TURNS, turns_to_try
from basepar_core.single_dof.range import find_way
from tests.core.dynamics.test_couplings import GEARED_FIVE_BAR, GEARS


def planetary(sun, planet):
    text = load("planetary-gear").source
    return loads(
        text.replace("zs: {value: 24", f"zs: {{value: {sun}").replace(
            "zp: {value: 18", f"zp: {{value: {planet}"
        )
    )


def turned_alike(sun, planet):
    """Turns of the sun after which carrier and planet are as they were, by the meshes.

    The ring stands: sun : carrier = 2 (zs + zp) : zs, and the planet turns in the ring by
    -(zs + 2 zp)/zp per turn of the carrier, seen from there.
    """
    for turns in range(1, MOST_TURNS + 1):
        carrier = turns * sun  # over 2 (zs + zp)
        seen = carrier * (sun + 2 * planet)  # over 2 (zs + zp) zp
        if carrier % (2 * (sun + planet)) == 0 and seen % (2 * (sun + planet) * planet) == 0:
            return turns
    return None


@pytest.mark.parametrize(
    ("sun", "planet"),
    [
        (20, 20),
        (30, 15),
        pytest.param(24, 18, marks=pytest.mark.slow),
        pytest.param(18, 27, marks=pytest.mark.slow),
    ],
)
def test_planetary_gears(sun, planet):
    mechanism = planetary(sun, planet)
    expected = turned_alike(sun, planet)
    assert expected in turns_to_try(mechanism)
    way = find_way(prepare(mechanism))
    assert way.closed
    assert way.length == pytest.approx(2 * np.pi * expected, rel=1e-12)  # a product of floats


def test_a_period_that_is_too_long_is_not_looked_for():
    assert turned_alike(24, 17) is None
    assert turns_to_try(planetary(24, 17)) == (1, 2)


@pytest.mark.parametrize(
    ("ratio", "turns"),
    [("5/2", (1, 2, 5, 10)), ("3", (1, 2, 3, 6)), ("1/4", (1, 2)), ("sqrt(2)", (1, 2))],
)
def test_gear_pairs(ratio, turns):
    """B turns 1/n times per turn of A."""
    assert turns_to_try(loads(GEARS.replace("{value: 2.5}", f"{{value: {ratio}}}"))) == turns


def test_an_irrational_train_never_closes():
    mechanism = loads(GEARS.replace("{value: 2.5}", "{value: sqrt(2)}"))
    assert not find_way(prepare(mechanism)).closed


def test_a_gear_that_a_loop_drives():
    """Half as fast as the crank: the five-bar is back after two turns."""
    way = find_way(prepare(loads(GEARED_FIVE_BAR)))
    assert way.closed
    assert way.length == pytest.approx(4 * np.pi, rel=1e-12)


def test_mechanisms_without_couplings():
    assert turns_to_try(load("four-bar")) == (1, 2)


def test_lengths_have_no_turns():
    """A slider's rack turns a flywheel forth and back: the crank's own turn."""
    text = load("slider-crank").source
    joint = "  W: {type: revolute, connects: [ground, flywheel], at: [[0, -1], [0, 0]]}\n"
    text = text.replace("joints:\n", f"joints:\n{joint}").replace(
        "bodies:\n", "bodies:\n  flywheel: {mass: 1 kg, centre: [0, 0], central_inertia: 1}\n"
    )
    text = text.replace(
        "\ncoordinates:", "\ncouplings: {rack: {values: {D: 1, W: 0.03 m}}}\ncoordinates:"
    )
    mechanism = loads(text)
    assert turns_to_try(mechanism) == (1, 2)
    way = find_way(prepare(mechanism))
    assert way.closed
    assert way.length == pytest.approx(2 * np.pi, rel=1e-12)


#: Both bodies off their axes, a motor on the pinion and friction on the wheel.
DRIVEN = (
    GEARS.replace("0.2 rad}", "0 rad}").replace("friction: {A: [rotor], B: [rotor]}\n", "")
    + "motors: {drive: {joint: A, voltage: 24, resistance: 0.6, constant: 0.2, ratio: 8}}\n"
    + "friction: {B: {viscous: 1.5}}\n"
)
RATIOS = np.array([2.5, 3.0, 0.5, np.sqrt(2), 4 / 3, 2.5])
#: B turns 1/n times per turn of A.
TURNED = (5, 3, 1, None, 4, 5)
NAMES = ("period", "speed_fluctuation", "motor_torque_peak(drive)", "dwell(B)")


def in_time(n):
    """m q̈ = F − V′ by hand: least and greatest speed, and time, of a period long after the start.

    The pinion's centre is at (0.01, 0.02) in its frame; the wheel's at (0.03, -0.02) in a frame
    that turns by -A/n.
    """
    m = 0.1 + 1 * 5e-4 + (0.4 + 2 * 1.3e-3) / n**2
    gain = 0.2 * 8

    def rates(t, x):
        a, w = x
        c, s, cn, sn = np.cos(a), np.sin(a), np.cos(a / n), -np.sin(a / n)
        slope = 9.81 * (1 * (0.01 * c - 0.02 * s) - 2 * (0.03 * cn + 0.02 * sn) / n)
        drive = gain * (24 - gain * w) / 0.6
        return [w, (drive - 1.5 * w / n**2 - slope) / m]

    turns = dict(zip(RATIOS, TURNED, strict=True))[n]
    start = 2 * np.pi * turns * 6

    def at(angle):
        def event(t, x):
            return x[0] - angle

        return event

    events = [at(start), at(start + 2 * np.pi * turns)]
    ran = solve_ivp(
        rates, (0, 40), [0.3, 14.0], events=events, rtol=1e-9, atol=1e-9, dense_output=True
    )
    times = [float(t[0]) for t in ran.t_events]
    period = times[1] - times[0]
    speed = ran.sol(np.linspace(*times, 20001))[1]
    torque = np.abs(gain * (24 - gain * speed) / 0.6)
    mean = 2 * np.pi * turns / period
    return {
        "period": period,
        "speed_fluctuation": np.ptp(speed) / mean,
        "motor_torque_peak(drive)": torque.max(),
    }


@pytest.fixture(scope="module")
def swept():
    return meter_of(prepare(loads(DRIVEN)), NAMES)({"n": RATIOS})


@pytest.mark.parametrize("k", [k for k, turns in enumerate(TURNED) if turns])
def test_a_swept_ratio_has_a_period_of_its_own(swept, k):
    for name, expected in in_time(RATIOS[k]).items():
        # 5e-4 of the speed's range is allowed to differ by steps, a sixteenth of that to err.
        assert swept.values[name][k] == pytest.approx(expected, rel=1e-4), name


def test_a_ratio_that_never_comes_back_says_so(swept):
    k = TURNED.index(None)
    assert STATES[swept.state[k]] == "not closed"
    assert all(np.isnan(swept.values[name][k]) for name in NAMES)


def test_a_variant_does_not_depend_on_the_others(swept):
    meter = meter_of(prepare(loads(DRIVEN)), NAMES)
    for k in (1, 2, 5):
        alone = meter({"n": RATIOS[k : k + 1]})
        assert {n: x[0] for n, x in alone.values.items()} == {
            n: x[k] for n, x in swept.values.items()
        }
