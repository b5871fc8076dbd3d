"""Regimes and reactions against other programs, Lagrange multipliers and closed formulas."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from basepar_core.api import load
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import kinematics
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import MechanismError, UsageError
from basepar_core.files.mechanism_file import loads
from basepar_core.metrics.regimes import STATES, meter_of
from basepar_core.single_dof import cycle_integrator
from basepar_core.single_dof.forward import simulate
from basepar_core.single_dof.joint_rates import modes
from basepar_core.single_dof.loads import kinked
from basepar_core.single_dof.machines import machine, turn_at
from basepar_core.single_dof.path import blocks, follow
from basepar_core.single_dof.periodic_tables import Turner
from basepar_core.single_dof.range import find_way
from basepar_core.single_dof.reaction_freedoms import freed, reaction
from basepar_core.single_dof.reduced import inertias, reduce_inertia
from basepar_core.single_dof.results import dwell, measures, motion_of
from basepar_core.single_dof.survey import survey
from basepar_core.single_dof.work import above, ways
from tests.core.single_dof.crossings import sign_changes

DATA = Path(__file__).parents[2] / "data" / "onedof"
FORCE = {"bicycle": "knee_1:leg_1:x", "dwell": "S:rocker:y"}
COLUMN = {"bicycle": "F_knee", "dwell": "F_prismatic"}
#: What the curves are asked to agree to, of their range.
AGREED = 1e-4


def table(name):
    return np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)


@pytest.fixture(scope="module")
def machines():
    found = {}
    for name, force in FORCE.items():
        model = prepare(load(name))
        found[name] = machine(model, [reaction(model.mechanism, force)], period=1.0)
    return found


def off(ours, printed):
    return np.abs(ours - printed) / np.ptp(printed)


@pytest.mark.parametrize("name", ["bicycle", "dwell"])
def test_reaction_parameters_are_the_reference_curves(machines, name):
    rows, survey = table(f"{name}_reduced"), machines[name].survey
    found = survey.curves(np.linspace(0, 2 * np.pi, len(rows)))[survey.virtual_rows(0)]
    # 1e-11: the rounding of twelve printed digits, in shares of a range.
    assert off(found[0], rows["m_e1"]).max() < 1e-11
    assert off(found[1], rows["m_e2"]).max() < 1e-11


@pytest.mark.parametrize("name", ["bicycle", "dwell"])
def test_regime_is_the_reference_curve(machines, name):
    rows, made = table(f"{name}_reduced"), machines[name]
    every = (made.motion.q.size - 1) // (len(rows) - 1)
    motion = made.motion
    np.testing.assert_allclose(motion.q[::every], rows["phi"], atol=1e-11)
    # The reference regime is periodic to 2.5e-9 rad/s; ours errs by the last doubling at most.
    assert off(motion.speed[0, ::every], rows["omega"]).max() < 1e-6
    assert off(motion.time[0, ::every], rows["t"]).max() < 1e-6
    if name == "dwell":
        assert off(motion.currents[0, 0, ::every], rows["current"]).max() < 1e-5
    jumps = off(motion.reactions[0, 0, ::every], rows[COLUMN[name]]) > AGREED
    # Only a sample at which friction has just changed its sign, to the last digit, may differ.
    assert jumps.sum() <= 1


@pytest.mark.parametrize("name", ["bicycle", "dwell"])
def test_two_turns_are_those_of_the_full_model(machines, name):
    """Exudyn: all bodies, constraints, multipliers; nothing reduced."""
    rows, made = table(f"{name}_exudyn"), machines[name]
    ran = cycle_integrator.run(
        made.turn, made.motion.speed[:, 0], made.regimes.currents.reshape(1, -1), turns=2
    )
    period = ran.time[0, 0, -1]
    q = np.concatenate([ran.q, ran.q[1:] + 2 * np.pi])
    t = np.concatenate([ran.time[0, 0], period + ran.time[0, 1, 1:]])
    assert off(CubicSpline(q, t)(rows["phi"]), rows["t"]).max() < AGREED
    speed = np.concatenate([ran.speed[0, 0], ran.speed[0, 1, 1:]])
    assert off(CubicSpline(q, speed)(rows["phi"]), rows["omega"]).max() < AGREED
    if name == "dwell":
        flow = np.concatenate([ran.currents[0, 0, 0], ran.currents[0, 1, 0, 1:]])
        assert off(CubicSpline(q, flow)(rows["phi"]), rows["current"]).max() < AGREED
    inside = np.mod(rows["phi"], 2 * np.pi)
    # Nodes so fine that straight lines between them err by less than a tenth of what is asked.
    fine, turn = turn_at(made.model, made.survey.way, {}, 2880)
    once = cycle_integrator.run(turn, made.regimes.speed, made.regimes.currents)
    force = np.interp(inside, once.q, motion_of(fine, turn, once).reactions[0, 0])
    # Loads jump where their joint turns back; for some steps the simulator's damped integrator
    # still rings (printed rows of the bicycle are 0.025 rad apart).
    joints = kinked(made.table.loads)
    turned = [sign_changes(made.table.q, made.table.rates[k, 0, 0]) for k in joints]
    gap = np.abs(inside[:, None] - np.concatenate(turned)).min(axis=1)
    away = gap > 0.03
    assert away.mean() > 0.85
    assert off(force, rows[COLUMN[name]])[away].max() < AGREED


def test_reactions_are_lagrange_multipliers():
    """Free motion of the four-bar under gravity: M a − Gᵀλ = f, G a = γ, solved as it stands."""
    model = prepare(load("four-bar"))
    it, q = model.mechanism, np.array([0.7, 2.0, 4.5, 5.5, 6.5])
    wanted = [reaction(it, f"{j.name}:{j.bodies[0]}:{d}") for j in it.joints for d in "xy"]
    full = freed(model, wanted)
    found = reduce_inertia(full, {}, q, inertias(full, {}))
    w = 1.7
    bend = -(found.half_slope[0, 0] * w**2 + found.potential_slope[0, 0]) / found.m[0]
    ours = (
        found.inertia[0, 1:] * bend + found.half_slope[0, 1:] * w**2 + found.potential_slope[0, 1:]
    )
    path = follow(model, {}, q)
    [(_, dims)] = blocks(model, {}, path.q)
    at = kinematics.poses(model.topology, dims, path.q)
    moving = kinematics.twists(model.topology, at, modes(model, at, path.q.shape[1:])[:, 0] * w)
    for sample in range(q.size):
        a, carried = multipliers(model, at, moving, sample)
        assert a[2] == pytest.approx(bend[sample], rel=1e-11)  # the crank's angular acceleration
        np.testing.assert_allclose(
            ours[:, sample], carried, rtol=0, atol=1e-11 * np.abs(carried).max()
        )


def multipliers(model, at, moving, sample):
    """Accelerations (x, y, angle of every body) and joint forces in first bodies' axes."""
    it = model.mechanism
    number = {"ground": -1} | {body.name: k for k, body in enumerate(it.bodies)}
    phi = it.inertial_parameters(it.nominal).reshape(-1, 4)
    size = 3 * len(it.bodies)
    M, f = np.zeros((size, size)), np.zeros(size)
    G, gamma = np.zeros((2 * len(it.joints), size)), np.zeros(2 * len(it.joints))
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    for k, (m, mx, my, J) in enumerate(phi):
        R = at.R[k][:2, :2, 0, sample]
        w = moving.omega[k][2, 0, sample]
        c = R @ [mx, my]
        rows = slice(3 * k, 3 * k + 3)
        M[rows, rows] = np.block([[m * np.eye(2), (turn @ c)[:, None]], [(turn @ c)[None], J]])
        pull = np.array([0, -9.81])
        f[rows] = [*(c * w**2 + m * pull), c @ (-turn @ pull)]
    for j, joint in enumerate(it.joints):
        P = _at(at.P2[j], sample)
        for sign, body in zip((-1, 1), joint.bodies, strict=True):
            k = number[body]
            if k < 0:
                continue
            r = P - _at(at.p[k], sample)
            G[2 * j : 2 * j + 2, 3 * k : 3 * k + 2] = sign * np.eye(2)
            G[2 * j : 2 * j + 2, 3 * k + 2] = sign * (turn @ r)
            gamma[2 * j : 2 * j + 2] += sign * r * moving.omega[k][2, 0, sample] ** 2
    solved = np.linalg.solve(
        np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]]), np.concatenate([f, gamma])
    )
    forces = solved[size:].reshape(-1, 2)
    first = [number[joint.bodies[0]] for joint in it.joints]
    axes = [_at(at.R[k], sample)[:, :2] for k in first]
    return solved[:size], np.concatenate([R.T @ x for R, x in zip(axes, forces, strict=True)])


def _at(x, sample):
    """In the plane, at a sample; what stands still has only one."""
    return x[:2, ..., 0, sample if x.shape[-1] > 1 else 0]


def test_running_in_ends_in_the_regime(machines):
    made = machines["dwell"]
    ran = cycle_integrator.run(made.turn, np.array([5.0]), None, 12)
    speeds = np.append(ran.speed[0, :, 0], ran.speed[0, -1, -1])
    assert abs(speeds[0] - speeds[-1]) > 10
    assert speeds[-1] == pytest.approx(made.regimes.speed[0], rel=1e-9)
    # Found directly: one more turn changes nothing.
    once = cycle_integrator.run(made.turn, made.regimes.speed, made.regimes.currents)
    assert once.speed[0, 0, -1] == pytest.approx(once.speed[0, 0, 0], rel=1e-9)


@pytest.mark.slow
def test_neutral_regime_needs_its_speed(machines):
    model = prepare(load("bicycle"))
    slow = machine(model, period=2.0)
    assert slow.regimes.state[0] == cycle_integrator.NEUTRAL
    assert measures(slow.table, slow.motion)["period"][0] == pytest.approx(2.0, rel=1e-12)
    # Work per angle does not know of speed: changes of w² are the same at every speed.
    fast = machines["bicycle"].motion.speed[0, :: (machines["bicycle"].motion.q.size - 1) // 90]
    other = slow.motion.speed[0, :: (slow.motion.q.size - 1) // 90]
    start = machines["bicycle"].survey.curves(0.0)[0]
    gained = [
        machines["bicycle"].survey.curves(np.linspace(0, 2 * np.pi, 91))[0] * x**2 / 2
        - start * x[0] ** 2 / 2
        for x in (fast, other)
    ]
    np.testing.assert_allclose(gained[0], gained[1], atol=1e-9 * np.ptp(gained[0]))


def test_without_balance_there_is_no_regime():
    text = load("bicycle").source.replace("125 W", "150 W")
    made = machine(prepare(loads(text)), period=1.0)
    assert made.regimes.state[0] == cycle_integrator.NONE
    assert made.motion is None


FLYWHEEL = """
name: flywheel
space: planar
gravity: [0, 0]
geometry: {k: {value: 0.05, unit: N*m*s}}
bodies: {wheel: {mass: 1, centre: [0, 0], inertia: 0.2}}
joints: {A: {type: revolute, connects: [ground, wheel]}}
coordinates: [A]
"""


MOTOR = "{joint: A, voltage: 12, resistance: 0.6, constant: 0.06, ratio: 5"
RUBBED = "{A: {coulomb: 1.5, viscous: 0.1}}"
FAN = "{joint: A, value: -0.03 N*m*s^2*speed^2}"
PIECE = "{joint: A, pieces: [[0, 90 deg, 4 N*m]]}"
#: K n (U − K n w)/R = 1.5 + 0.1 w with K n = 0.3.
BALANCED = (0.3 * 12 / 0.6 - 1.5) / (0.1 + 0.3**2 / 0.6)


@pytest.mark.parametrize(
    ("loads_", "speed"),
    [
        (f"motors: {{M: {MOTOR}}}}}\nfriction: {RUBBED}", BALANCED),
        (f"motors: {{M: {MOTOR}, inductance: 1e-3}}}}\nfriction: {RUBBED}", BALANCED),
        (f"torques: {{T: {{joint: A, value: 3 N*m}}, F: {FAN}}}", 10.0),
        ("torques: {T: {joint: A, value: 5 N*m - k*speed, when: rising}}", 100.0),
        (f"torques: {{T: {PIECE}, F: {{joint: A, value: -k*speed}}}}", 20.0),
    ],
    ids=["motor", "inductance", "fan", "expression", "pieces"],
)
def test_a_flywheel_s_regime_by_hand(loads_, speed):
    made = machine(prepare(loads(FLYWHEEL + loads_)))
    assert made.regimes.state[0] == cycle_integrator.TURNING
    # Work balance: viscous work is the speed's mean over the angle. The piece's edges are kinks of
    # the speed, which the integrator crosses at third order; all others turn evenly.
    assert made.motion.speed[0, :-1].mean() == pytest.approx(speed, rel=1e-6)


#: Kloss's law of an asynchronous motor: 2 T/(s/k + k/s) at slip s = 1 − speed/(10 rad/s), k = 0.2.
SLIP = "(1 - speed/(10 rad/s))"
KLOSS = f"{{joint: A, value: 2*5 N*m*0.2*{SLIP}/(0.2^2 + {SLIP}^2)}}"


@pytest.mark.parametrize("guess", [1.0, 5.0, 9.0])
def test_torque_of_any_law_in_speed(guess):
    text = FLYWHEEL + f"torques: {{motor: {KLOSS}, load: {{joint: A, value: -6*k*speed}}}}"
    made = machine(prepare(loads(text)), speed=guess)
    balance = brentq(lambda w: 2 * (1 - w / 10) / (0.04 + (1 - w / 10) ** 2) - 0.3 * w, 9, 10)
    assert made.regimes.state[0] == cycle_integrator.TURNING
    np.testing.assert_allclose(made.motion.speed, balance, rtol=1e-9)


def test_torque_of_any_law_on_a_linkage():
    """Against the motion in time, another integrator; variants together."""
    text = load("slider-crank").source.replace("friction:", "# friction:")
    friction = "friction: {D: {viscous: 15}, A: {rotor: 0.02}}"
    model = prepare(loads(text + f"torques: {{motor: {KLOSS}}}\n{friction}"))
    way = find_way(model)
    values = {"lx1": np.array([0.1, 0.12])}
    turner = Turner(Engine(model), way)
    [(_, _, turn)] = turner(values, 1440).parts()
    known = cycle_integrator.regimes(turn, np.array([8.0]))
    assert (known.state == cycle_integrator.TURNING).all()
    moved = simulate(
        survey(model, values={"lx1": values["lx1"][1:]}, way=way),
        way.low,
        known.speed[1],
        10.0,
        events=(lambda t, q, w, i: q - way.high,),
    )
    # Fourth order: 720 intervals err 6e-7, 1440 4e-8; times 3e-7.
    assert moved.speed[-1] == pytest.approx(known.speed[1], rel=1e-7)
    ran = cycle_integrator.run(turn, known.speed, turns=2)
    assert ran.time[1, 1, -1] == pytest.approx(moved.t[-1], rel=1e-6)


@pytest.mark.slow
def test_steps_too_long_are_no_stall():
    """A motor so steep, on so little inertia, that 360 steps a turn run away."""
    text = load("slider-crank").source.replace("friction:", "# friction:")
    model = prepare(loads(text + f"torques: {{motor: {KLOSS}}}\nfriction: {{D: {{viscous: 15}}}}"))
    coarse = turn_at(model, find_way(model), {}, 360)[1]
    assert cycle_integrator.regimes(coarse, np.array([10.0])).state[0] == cycle_integrator.NONE
    # What its steps cannot tell a sweep says so of, and not that there were no regime.
    (state,) = meter_of(model, ("mean_speed",))({}).state
    assert STATES[state] == "not accurate"
    made = machine(model)
    assert made.regimes.state[0] == cycle_integrator.TURNING
    # Below the synchronous speed of 10 rad/s, by a slip that losses of 1 N m and less need.
    assert 9.5 < made.motion.speed.mean() < 10


def test_many_variants_are_those_alone():
    model = prepare(load("dwell"))
    way = find_way(model)
    values = {"AB": np.array([0.03, 0.028, 0.03]), "gear": np.array([8.0, 10.0, 6.0])}
    _, turn = turn_at(model, way, values, 360)
    together = cycle_integrator.regimes(turn, np.array([20.0]))
    for k in range(3):
        one = {name: x[k : k + 1] for name, x in values.items()}
        alone = cycle_integrator.regimes(turn_at(model, way, one, 360)[1], np.array([20.0]))
        assert alone.speed[0] == pytest.approx(together.speed[k], rel=1e-12)


def test_a_machine_too_weak_stalls():
    model = prepare(load("dwell"))
    _, turn = turn_at(model, find_way(model), {}, 360)
    weak = replace(turn, electric=turn.electric * [0.0, 1.0, 1.0])
    assert (
        cycle_integrator.run(weak, np.array([2.0]), turns=20).state[0] == cycle_integrator.STALLED
    )


def test_a_neutral_machine_too_slow_stalls(machines):
    turn = machines["bicycle"].turn  # its kinetic energy gives the work that its legs lack
    least = np.sqrt(-2 * turn.work[0].min() / turn.m[0, 0])
    model = prepare(load("bicycle"))
    slow = machine(model, speed=0.99 * least)
    assert (slow.regimes.state[0], slow.motion) == (cycle_integrator.STALLED, None)
    assert (
        cycle_integrator.run(turn, np.array([1.01 * least])).state[0] == cycle_integrator.TURNING
    )


@pytest.mark.slow
def test_rotor_is_an_inertia():
    text = load("dwell").source
    other = text.replace(" + 9.5e-5 kg*m^2*gear^2", "").replace(
        "ratio: gear", "ratio: gear, rotor: 9.5e-5 kg*m^2"
    )
    assert other.count("rotor") == text.count("rotor") + 1
    models = [prepare(loads(t)) for t in (text, other)]
    ours = [machine(m, [reaction(m.mechanism, "S:rocker:y")]) for m in models]
    np.testing.assert_allclose(ours[1].motion.speed, ours[0].motion.speed, rtol=1e-9)
    force = ours[0].motion.reactions
    np.testing.assert_allclose(ours[1].motion.reactions, force, atol=1e-7 * np.ptp(force))


def test_a_joint_transmits_nothing_where_it_is_free():
    model = prepare(load("slider-crank"))
    full = freed(model, [reaction(model.mechanism, f"D:slider:{d}") for d in "xy"])
    q = np.linspace(0.7, 3, 9)
    found = reduce_inertia(full, {}, q, inertias(full, {}))
    assert np.abs(found.inertia[0, 1]).max() < 1e-13 * np.abs(found.inertia[0, 2]).max()
    assert np.abs(found.half_slope[0, 1]).max() < 1e-13 * np.abs(found.half_slope[0, 2]).max()


TWO_GUIDES = """
name: guides
space: planar
gravity: [0, -9.81]
bodies: {slider: {mass: 1, centre: [0, 0], inertia: 0.2}}
joints:
  A: {type: prismatic, connects: [ground, slider], axis: [[1, 0], [1, 0]]}
  B: {type: prismatic, connects: [ground, slider], axis: [[1, 0], [1, 0]], at: [[1, 0], [0, 0]]}
coordinates: [A]
"""


def test_reactions_that_motion_does_not_determine():
    model = prepare(loads(TWO_GUIDES))
    with pytest.raises(MechanismError, match="Not determined"):
        freed(model, [reaction(model.mechanism, "A:slider:y")])


@pytest.mark.parametrize(
    ("text", "message"),
    [("Z:crank:x", "No joint"), ("A:rod:x", "joins"), ("A:crank", "direction")],
)
def test_reactions_misspelt(text, message):
    with pytest.raises(UsageError, match=message):
        reaction(load("slider-crank"), text)


def test_ways_are_split_where_a_joint_turns_back():
    q = np.linspace(0, 2 * np.pi, 101) + 0.013
    up, down = ways(np.sin(q), np.cos(q), q[1] - q[0])
    # Spacing^4/384 of the fourth derivative is the error of one cubic's extremum.
    assert up.sum() == pytest.approx(2.0, abs=1e-7)
    assert down.sum() == pytest.approx(2.0, abs=1e-7)
    theta, rate = np.sin(q), np.cos(q)
    inside = above(0.25, (theta, rate), (q, np.ones_like(q)), q[1] - q[0]).sum()
    assert inside == pytest.approx(np.pi - 2 * np.arcsin(0.25), abs=1e-6)


def test_dwell_of_a_known_curve():
    for shift in (1.0, 1.0007, 1.0013):  # wherever nodes are, 0.035 rad apart
        q = np.linspace(0, 2 * np.pi, 181)
        theta = np.maximum(np.abs(np.mod(q + shift, 2 * np.pi) - np.pi) - 0.8, 0.0)[None]
        # Flat for 1.6 rad, and 0.1 more on either side, where it is straight.
        assert dwell(q, theta, 0.1)[0] == pytest.approx(1.8, abs=1e-12)


def test_dwell_between_nodes_of_waves():
    """By brute force on a hundred times as many nodes; it changes smoothly with the band."""
    q, fine = np.linspace(0, 2 * np.pi, 361), np.linspace(0, 2 * np.pi, 36001)
    bands = np.linspace(0.1, 0.101, 5)

    def curve(x):
        return np.sin(x) ** 5 + 0.02 * np.sin(7 * x)

    found = dwell(q, np.broadcast_to(curve(q), (5, 361)), bands)
    expected = dwell(fine, np.broadcast_to(curve(fine), (5, 36001)), bands)
    # Straight lines: (1°)²/8 of the curvature over the slope where it leaves, 4e-5 · 1/0.1.
    np.testing.assert_allclose(found, expected, atol=4e-4)
    assert (np.diff(found) > 0).all()
