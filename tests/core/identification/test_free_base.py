"""Excitations, records and gradients of a base that floats: twists from values, and back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import basepar
from basepar_core.base.symbolic_route import numeric
from basepar_core.dynamics import closure, excite, motion, observe
from basepar_core.files import mechanism_file
from basepar_core.identification.exciting import design, limits_of
from basepar_core.identification.measurement import read_measurement
from basepar_core.identification.preparation import prepare_record, recorded_motion
from basepar_core.identification.procedure import Choices, identify
from basepar_core.identification.series import Series
from basepar_core.identification.simulated import simulate
from basepar_core.identification.trajectory_regressor import Follower
from basepar_core.metrics import sensitivity

FLOATING = """
name: floating
space: spatial
gravity: [0, 0, -9.81]
geometry: {h: {value: 0.2, unit: m}}
bodies:
  base: {mass: 4 kg, centre: [0, 10 mm, 20 mm], central_inertia: [0.03, 0, 0, 0.03, 0, 0.05]}
  rod: {mass: 0.5 kg, centre: [0, 0, -0.15], central_inertia: [0.004, 0, 0, 0.004, 0, 1e-4]}
joints:
  B: {type: free, connects: [ground, base], at: [[0, 0, 0], [0, 0.1, 0]]}
  A: {type: revolute, connects: [base, rod], at: [[0, 0, -h], [0, 0, 0]],
      axis: [[0, 1, 0], [0, 1, 0]]}
coordinates: [A, B.1, B.2, B.3, B.4, B.5, B.6]
excitation: {kind: fourier, harmonics: 3, base_frequency: 0.5 Hz, samples: 400, seed: 1,
  amplitude: {A: 1, B.1: 0.2, B.2: 0.2, B.3: 0.2, B.4: 0.8, B.5: 0.8, B.6: 0.8}}
"""
RANK = 17


@pytest.fixture(scope="module")
def model():
    return closure.prepare(mechanism_file.loads(FLOATING))


@pytest.fixture(scope="module")
def own(model):
    return motion.excitation(model.mechanism, model.assembled.coordinates)


def test_a_record_without_noise_gives_the_files_parameters(model, own):
    """Torque of the twists; positions alone are given, and smoothed."""
    zero = np.zeros(len(own.q))
    record = simulate(model, own, zero, zero)
    ready = prepare_record(model, record, 20.0)
    inner = slice(60, -60)  # the spline's ends are poorer
    for got, wanted in ((ready.motion.q_dot, own.q_dot), (ready.motion.q_ddot, own.q_ddot)):
        # 1.5 Hz under a Butterworth filter of 20 Hz: (1.5/20)⁸ = 1e-9 of it is damped.
        assert np.abs(got - wanted)[:, inner].max() < 1e-6 * np.abs(wanted).max()
    named = {name: record.q[k] for k, name in enumerate(model.mechanism.coordinates)}
    read = basepar.motion(basepar.Model(model.mechanism), {"t": record.t} | named, cutoff=20.0)
    np.testing.assert_array_equal(read.qdd.T, ready.motion.q_ddot)
    found = identify(model, record, base=numeric(model), choices=Choices(cutoff=20.0))
    phi = model.mechanism.inertial_parameters(model.mechanism.nominal)
    W = observe(model, {}, own).W[0]
    kept = list(found.base.kept)
    assert len(kept) == RANK
    torque = W @ phi
    again = W[..., kept] @ found.base_values
    assert np.abs(again - torque).max() < 1e-5 * np.abs(torque).max()


def test_given_velocities_of_a_base_are_its_twist(model, own):
    """They are no rates of the positions, and are not rejected for it."""
    names = model.mechanism.coordinates
    torque = observe(model, {}, own).W[0] @ model.mechanism.inertial_parameters(
        model.mechanism.nominal
    )
    table = {"t": own.t}
    for k, name in enumerate(names):
        table |= {name: own.q[k], f"{name}'": own.q_dot[k], f"{name}''": own.q_ddot[k]}
        table[f"tau.{name}"] = torque[:, k]
    record = read_measurement(table, model.mechanism)
    found = identify(model, record, base=numeric(model))
    # Least squares of condition below 1e3 on torques without noise.
    again = observe(model, {}, own).W[0][..., list(found.base.kept)] @ found.base_values
    assert np.abs(again - torque).max() < 1e-11 * np.abs(torque).max()


def test_slopes_of_a_course_are_those_of_the_trajectory(model, own):
    """The chain over rates of values and twists against differences of whole trajectories."""
    base, limits = numeric(model), limits_of(model, own)
    # Limits are of rates of the values: those of the motion itself are met by it.
    derived = np.gradient(own.q, own.t, axis=1)[:, 1:-1]
    np.testing.assert_allclose(limits.speed, np.abs(derived).max(axis=1), rtol=0.01)
    series = Series(limits, 0.3, 2, model.assembled.coordinates, rest=False)
    follower = Follower(model, base.kept)
    rng = np.random.default_rng(7)
    z = series.random(rng)
    z[:, 1:] *= 0.5
    samples = 12
    course = follower.at(series.motion(z, samples))
    slopes = follower.slopes(course)
    way, weights = rng.standard_normal(z.shape), rng.standard_normal(course.W.shape)
    by_state = np.einsum("skp,dcskp->dcs", weights, slopes.W)
    found = (series.by_z(by_state, series.basis(samples)) * way).sum()
    h = 1e-5
    ends = [follower.at(series.motion(z + s * h * way, samples)).W for s in (1, -1)]
    expected = (weights * (ends[0] - ends[1])).sum() / (2 * h)
    # One-sided differences by positions of 1e-6, of some hundred terms that cancel to a tenth.
    assert found == pytest.approx(expected, rel=2e-4)


@pytest.mark.slow
def test_a_designed_motion_is_what_its_law_gives(model, own):
    base, limits = numeric(model), limits_of(model, own)
    found = design(model, base, limits, 0.5, harmonics=3, draws=3, starts=1, seed=2)
    assert found.criterion < min(found.random)
    again = excite(found.excitation, model.mechanism, model.assembled.coordinates)
    for name in ("q", "q_dot", "q_ddot"):
        mine, its = getattr(found.motion, name), getattr(again, name)
        # Coefficients are printed as doubles; sums of ten sines.
        np.testing.assert_allclose(mine, its, rtol=0, atol=1e-10 * np.abs(its).max())


@pytest.mark.slow
def test_gradients_by_geometry_are_differences(model, own):
    few = replace(
        own, t=own.t[::40], q=own.q[:, ::40], q_dot=own.q_dot[:, ::40], q_ddot=own.q_ddot[:, ::40]
    )
    at = sensitivity.slopes(model, {"h": np.array([0.21])}, few, ("h",))
    step = 1e-6
    W = [observe(model, {"h": np.array([0.21 + s * step])}, few).W[0] for s in (1, -1)]
    expected = (W[0] - W[1]) / (2 * step)
    # Central differences: 1e-12 and 1e-16/1e-6 of W.
    np.testing.assert_allclose(at.W_slope[0, ..., 0], expected, rtol=0, atol=1e-8)


BALL = """
name: ball
space: spatial
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 1 kg, centre: [0.1, 0.02, 0.2], central_inertia: [0.01, 0, 0, 0.02, 0, 0.03]}
joints: {S: {type: spherical, connects: [ground, rod]}}
coordinates: [S.1, S.2, S.3]
assembly: {S.1: 0, S.2: 0, S.3: 0}
"""


def test_rates_and_efforts_go_with_a_spherical_joint_s_vector(tmp_path):
    """Both vectors' derivatives by hand, both torques by W there: a motion is the same as stated.

    Rounding of numbers near one, times a hundred for what derivatives are divided by.
    """
    file = tmp_path / "ball.yaml"
    file.write_text(BALL)
    model, t = basepar.load(file), np.linspace(0.2, 8, 1601)
    w = np.array([1, 1.3, 0.7])
    r = 0.4 * t[:, None] * [1, 2, 2] + 0.1 * np.sin(np.outer(t, w))
    v, a = 0.4 * np.array([1, 2, 2]) + 0.1 * w * np.cos(np.outer(t, w)), -0.1 * w**2
    a = a * np.sin(np.outer(t, w))
    size = np.linalg.norm(r, axis=1)[:, None]
    e = r / size
    along = (e * v).sum(axis=1, keepdims=True)
    de = (v - e * along) / size
    grown = ((de * v) + e * a).sum(axis=1, keepdims=True)
    dde = (a - de * along - e * grown - de * along) / size
    turns = np.round(size / (2 * np.pi))
    assert turns.max() == 2
    q, qd, qdd = (x - 2 * np.pi * turns * y for x, y in ((r, e), (v, de), (a, dde)))
    tau = model.torque(q, qd, qdd)
    columns = {"t": t}
    for k, name in enumerate(model.coordinates):
        columns |= {name: q[:, k], f"{name}'": qd[:, k], f"{name}''": qdd[:, k]}
        columns[f"tau.{name}"] = tau[:, k]
    record = read_measurement(columns, model.mechanism)
    np.testing.assert_allclose(record.q.T, r, atol=1e-9)
    np.testing.assert_allclose(record.rates[0].T, v, atol=1e-9)
    # Next to a whole turn (0.002 rad) the map back is large, and accelerations have its cube.
    np.testing.assert_allclose(record.rates[1].T, a, atol=1e-5)
    np.testing.assert_allclose(record.tau.T, model.torque(r, v, a), atol=1e-9)


def test_rotation_vectors_that_wrap_are_continued():
    """A base that turns steadily about a slanting axis, as SciPy and encoders state it.

    The spline follows a straight line to rounding, times half a cut-off's square.
    """
    mechanism = mechanism_file.load("quadruped")
    t, axis = np.linspace(0, 8, 801), np.array([1, 2, 2]) / 3
    turned = Rotation.from_rotvec(np.outer(1.2 * t, axis)).as_rotvec()
    assert np.abs(np.diff(turned, axis=0)).max() > 3
    columns = {name: 0.01 * np.sin(t) for name in mechanism.coordinates}
    columns |= {f"B.{k + 4}": turned[:, k] for k in range(3)}
    record = read_measurement({"t": t, **columns}, mechanism, torques=False)
    assert any("rotation vector of B jumps by a turn" in note.text for note in record.notes)
    found, _ = recorded_motion(mechanism, record, 5.0)
    steady = np.tile(1.2 * axis, (761, 1))
    np.testing.assert_allclose(found.q_dot[3:6, 20:-20].T, steady, atol=1e-6)
    assert np.abs(found.q_ddot[3:6, 20:-20]).max() < 1e-5
