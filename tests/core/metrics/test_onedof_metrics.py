"""Metrics of steady regimes against the reduced equation of motion, run in time until steady."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import UsageError
from basepar_core.files.mechanism_file import loads
from basepar_core.metrics import regimes
from basepar_core.single_dof.load_jumps import Jumps, greatest
from basepar_core.single_dof.results import dwells
from basepar_core.single_dof.survey import survey

NAMES = (
    "speed_fluctuation",
    "period",
    "motor_torque_peak(drive)",
    "motor_current_rms(drive)",
    "energy_per_cycle",
)
VALUES = {"AB": np.array([0.03, 0.028, 0.2]), "gear": np.array([8.0, 6.0, 8.0])}
TURNS = 2  # a turn multiplies a change of speed by 1e-6 at most: the second is steady
K, R, L, U, VISCOUS, COULOMB = 0.064, 0.6, 1.5e-3, 12.0, 0.03, 0.1  # of the shipped file


def in_time(values):
    """m q̈ + ½ m′ q̇² = F and U = R i + L di/dt + K n q̇, in time, turn after turn."""
    one = {name: np.array([x]) for name, x in values.items()}
    curves = survey(prepare(load("dwell")), values=one).curves
    gain = K * values["gear"]

    def rates(t, x):
        w, i = x[1:3]
        at = np.array([x[0]])
        m, (dm, swing) = curves(at)[0, 0], curves(at, 1)[[0, 3], 0]  # row 3 is the rocker's angle
        force = gain * i - VISCOUS * swing**2 * w - COULOMB * abs(swing)
        return [w, (force - dm * w**2 / 2) / m, (U - R * i - gain * w) / L, U * i, i**2]

    def turned(t, x):
        return x[0] - 2 * np.pi

    turned.terminal = True
    x = [0.0, 20.0, 2.0]
    for _ in range(TURNS):
        start = [0.0, *x[1:3], 0.0, 0.0]
        ran = solve_ivp(
            rates, (0, 5), start, "LSODA", events=turned, rtol=1e-6, atol=1e-8, dense_output=True
        )
        x = ran.y_events[0][0]
    period = ran.t_events[0][0]
    fine = ran.sol(np.linspace(0, period, 4001))
    return {
        "speed_fluctuation": np.ptp(fine[1]) * period / (2 * np.pi),
        "period": period,
        "motor_torque_peak(drive)": gain * np.abs(fine[2]).max(),
        "motor_current_rms(drive)": np.sqrt(x[4] / period),
        "energy_per_cycle": x[3],
    }


@pytest.fixture(scope="module")
def found():
    return regimes.meter_of(prepare(load("dwell")), NAMES)(VALUES)


def test_who_does_not_close_has_a_word_and_no_number(found):
    assert sorted(regimes.STATES[k] for k in found.state) == ["not closed", "turning", "turning"]
    assert found.sound.tolist() == [True, True, False]
    assert all(np.isnan(x[2]) for x in found.values.values())


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.slow
def test_metrics_are_those_of_the_motion_in_time(found, k):
    expected = in_time({name: float(x[k]) for name, x in VALUES.items()})
    for name in NAMES:
        # Steps of 1e-6 and what is between them err near 1e-4; a wrong metric by far more.
        assert found.values[name][k] == pytest.approx(expected[name], rel=1e-3), name


def test_neutral_regime_has_the_period_of_the_cycle():
    meter = regimes.meter_of(prepare(load("bicycle")), ("period", "mean_speed"))
    found = meter({})
    assert found.values["period"][0] == pytest.approx(1.0, rel=1e-9)
    assert found.values["mean_speed"][0] == pytest.approx(2 * np.pi, rel=1e-9)


def test_without_balance_there_is_a_word_and_no_number():
    text = load("bicycle").source.replace("125 W", "150 W")
    found = regimes.meter_of(prepare(loads(text)), ("speed_fluctuation",))({})
    assert [regimes.STATES[k] for k in found.state] == ["no regime"]
    assert np.isnan(found.values["speed_fluctuation"][0])


def test_motors_with_and_without_inductance_beside_each_other():
    text = load("dwell").source
    text = text.replace("1.5e-3, constant", "coil, constant")
    text = text.replace("constants:\n", "constants:\n  coil: {value: 1.5e-3}\n")
    model = prepare(loads(text))
    coils = np.array([0.0, 1.5e-3, 0.0, 3e-3])
    names = ("period", "motor_current_rms(drive)")
    meter = regimes.meter_of(model, names)
    together, alone = meter({"coil": coils}), [meter({"coil": coils[k : k + 1]}) for k in (1, 2)]
    for name in names:
        expected = [one.values[name][0] for one in alone]
        np.testing.assert_allclose(together.values[name][1:3], expected, rtol=1e-12)
        assert np.ptp(expected) > 1e-4 * expected[0]
        assert together.values[name][0] == together.values[name][2]
    with pytest.raises(UsageError, match="some variants and none in others"):
        meter.turner({"coil": coils}, 360)


def test_what_is_asked_in_vain():
    with pytest.raises(UsageError, match="has no metric"):
        regimes.meter_of(prepare(load("dwell")), ("wobble",))
    assert regimes.known(load("four-bar")) == {}
    assert "reaction_peak(S,rocker,y)" in regimes.known(load("dwell"))


@pytest.mark.parametrize("start", [-np.pi, -0.3, 0.0, 0.2])
def test_a_dwell_across_the_seam_of_a_joint_that_turns_on(start):
    # θ = q − 0.9 sin q is slowest at q = 0 and odd: its dwell reaches as far both ways.
    half = brentq(lambda x: 2 * (x - 0.9 * np.sin(x)) - 0.1, 0, 1, xtol=1e-14)
    q = start + np.linspace(0, 2 * np.pi, 1441)
    stretch, begin = dwells(q, (q - 0.9 * np.sin(q))[None], 0.1)
    # Straight lines of 0.25° are off by h²/8 · 0.9 sin q, here 1e-6, over a slope of 0.1 to 0.2.
    assert stretch[0] == pytest.approx(2 * half, abs=4e-5)
    assert start <= begin[0] < q[-1]
    # Its longest place is flat: one end of it is at a node, 0.25° apart.
    assert np.sin(begin[0]) == pytest.approx(-np.sin(half), abs=np.radians(0.25))


def test_greatest_value_between_nodes():
    q = np.linspace(0, 2 * np.pi, 181)
    curves = np.stack([np.sin(q - 0.123), np.full_like(q, 0.7), 2 + np.cos(q + 0.01)])
    none = Jumps(*np.zeros((6, 0), int))
    # A parabola over 2° of a sine errs by its fourth order, 1e-8; the nodes alone by 1e-4.
    np.testing.assert_allclose(greatest(curves, q, none, np.zeros((2, 0))), [1, 0.7, 3], atol=1e-7)


def test_greatest_value_at_jumps():
    """A sine on steps that end between nodes, several in an interval, also across the seam."""
    q = np.linspace(0, 2 * np.pi, 181)
    ends = [np.array([2.0011, 4.0]), np.array([0.001, 3.0, 3.003, 3.02, 6.2831])]
    levels = [np.array([0, 0.7, 0]), np.array([0, -0.5, 1.5, 3, 1, 0])]
    curves = np.stack(
        [np.sin(q) + level[np.searchsorted(e, q)] for e, level in zip(ends, levels, strict=True)]
    )
    at = np.concatenate(ends)
    before, after = ([x[:-1] for x in levels], [x[1:] for x in levels])
    sides = np.sin(at) + np.stack([np.concatenate(before), np.concatenate(after)])
    jumps = Jumps(np.repeat([0, 1], [2, 5]), at, (at / q[1]).astype(int), *np.zeros((3, 7)))
    # From 2.0011 on 0.7 above the sine; between 3.003 and 3.02 3 above it.
    tops, lows = [0.7 + np.sin(2.0011), 3 + np.sin(3.003)], [1.0, 0.5 - np.sin(0.001)]
    np.testing.assert_allclose(greatest(curves, q, jumps, sides), tops, atol=1e-7)
    np.testing.assert_allclose(greatest(-curves, q, jumps, -sides), lows, atol=1e-7)
