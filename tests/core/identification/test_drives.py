"""What real drives have, simulated by the textbook's arm: load, shapes, delay, springs, cables."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from basepar_core.dynamics import DriveLaw, law_columns, prepare
from basepar_core.errors import UsageError
from basepar_core.identification import (
    Choices,
    Measurement,
    consistent_parameters,
    declared,
    identify,
)

from .logs import arm

#: s, and Hz of the samples.
LASTS, RATE = 20.0, 250.0


@pytest.fixture(scope="module")
def model():
    return prepare(arm.mechanism())


def exact(seed=3):
    """Time and motion without noise; ends at rest are cut."""
    t = np.arange(0.5, LASTS - 0.5, 1 / RATE)
    return t, *arm.motion(t, LASTS, seed)


def rigid(q, v, a):
    """Torque of the links alone."""
    return arm.torque(q, v, a, rotors=np.zeros(2)) - (
        arm.VISCOUS[:, None] * v + arm.COULOMB[:, None] * np.sign(v) + arm.OFFSET[:, None]
    )


def record(t, q, v, a, tau, noise=0.0, seed=1):
    noise = noise * np.random.default_rng(seed).standard_normal(tau.shape)
    return Measurement("made", t, q, (v, a), tau + noise)


def found_by_name(found):
    return dict(zip(found.names, found.estimate.values, strict=True))


def test_friction_that_grows_with_the_load(model):
    t, q, v, a = exact()
    links = rigid(q, v, a)
    share = np.array([[0.12], [0.3]])
    drives = arm.VISCOUS[:, None] * v + np.sign(v) * (arm.COULOMB[:, None] + share * np.abs(links))
    columns = declared(model.mechanism, ["viscous", "coulomb", "load"])
    found = identify(model, record(t, q, v, a, links + drives), columns=columns)
    values = found_by_name(found)
    # Gauss–Newton stops where a pass moves by a hundredth of deviations that are rounding here;
    # the motion's differences are good to 1e-6.
    for k, name in enumerate("AB"):
        assert values[f"{name}.load"] == pytest.approx(share[k, 0], abs=1e-5)
        assert values[f"{name}.coulomb"] == pytest.approx(arm.COULOMB[k], abs=1e-4)
    assert values["two.mx"] == pytest.approx(arm.C, abs=1e-5)
    assert found.training.error < 1e-5
    # Held against another motion it foretells the torque with the load of the model itself.
    t, q, v, a = exact(4)
    links = rigid(q, v, a)
    drives = arm.VISCOUS[:, None] * v + np.sign(v) * (arm.COULOMB[:, None] + share * np.abs(links))
    second = record(t, q, v, a, links + drives)
    again = identify(model, record(t, q, v, a, links + drives), columns=columns, second=second)
    assert again.validation.error < 1e-5


@pytest.mark.slow
def test_deviations_count_how_loads_move_with_the_links(model):
    """Ten draws of noise: the spread of an estimate is what is stated of it, within a factor."""
    t, q, v, a = exact()
    links = rigid(q, v, a)
    tau = links + np.sign(v) * (arm.COULOMB[:, None] + 0.3 * np.abs(links))
    columns = declared(model.mechanism, ["coulomb", "load"])
    base, estimates, stated = None, [], []
    for seed in range(40):
        noisy = record(t, q, v, a, tau, noise=0.5, seed=seed)
        found = identify(model, noisy, columns=columns, base=base)
        estimates.append(found.estimate.values)
        stated.append(found.estimate.deviations)
    ratio = np.std(estimates, axis=0) / np.mean(stated, axis=0)
    # χ of 39: the spread of 40 draws is 0.11 of itself off; 0.65 and 1.35 are three of those.
    assert (ratio > 0.65).all()
    assert (ratio < 1.35).all()


@pytest.mark.parametrize(
    ("word", "shape"), [("stribeck", (0.25, 0.6)), ("power", (0.45, 1.7))], ids=str
)
def test_shapes_are_found_by_search(model, word, shape):
    t, q, v, a = exact()
    tau = rigid(q, v, a) + arm.VISCOUS[:, None] * v + arm.COULOMB[:, None] * np.sign(v)
    for k, one in enumerate(shape):
        law = DriveLaw("it", word, (1.0,), one)
        tau[k] += 2.0 * law.law(q[[k]], v[[k]], a[[k]])
    columns = declared(model.mechanism, ["viscous", "coulomb", word])
    found = identify(model, record(t, q, v, a, tau, noise=0.05), columns=columns)
    for name, one in zip("AB", shape, strict=True):
        searched = found.searched[f"{name}.{word}"]
        # The search ends at a third of a hundredth of the shape; beyond that it is noise.
        assert abs(searched.value - one) < 0.01 * one + 4 * searched.deviation
        assert searched.deviation < 0.1 * one
        assert searched.unit == ("rad/s" if word == "stribeck" else "")
        assert found_by_name(found)[f"{name}.{word}"] == pytest.approx(2.0, rel=0.1)
    law = {one.name: one.source for one in found.columns}[f"A.{word}"]
    assert law.shape == found.searched[f"A.{word}"].value


def test_smooth_friction_and_that_of_the_load_turn_over_within_one_speed(model):
    """(F + μ |load|)·(2/(1 + exp(−2 q̇/s)) − 1), a logistic curve; each drive has one s."""
    t, q, v, a = exact()
    links, speed = rigid(q, v, a), np.array([[0.08], [0.25]])
    turn = 2 / (1 + np.exp(-2 * v / speed)) - 1
    tau = links + arm.VISCOUS[:, None] * v + turn * (2.0 + 0.2 * np.abs(links))
    columns = declared(model.mechanism, ["viscous", "smooth_coulomb", "smooth_load"])
    second = record(t, q, v, a, tau, noise=0.05, seed=2)
    found = identify(model, record(t, q, v, a, tau, noise=0.05), columns=columns, second=second)
    assert set(found.searched) == {"A.smooth_coulomb", "B.smooth_coulomb"}
    deviations = dict(zip(found.names, found.estimate.deviations, strict=True))
    shapes = {one.name: one.source.shape for one in found.columns}
    for name, one in zip("AB", speed[:, 0], strict=True):
        searched = found.searched[f"{name}.smooth_coulomb"]
        # The search ends at a third of a hundredth of the shape; beyond that it is noise.
        assert abs(searched.value - one) < 0.01 * one + 4 * searched.deviation
        assert searched.deviation < 0.05 * one
        assert shapes[f"{name}.smooth_load"] == shapes[f"{name}.smooth_coulomb"] == searched.value
        for law, value in (("smooth_coulomb", 2.0), ("smooth_load", 0.2)):
            off = found_by_name(found)[f"{name}.{law}"] - value
            assert abs(off) < 4 * deviations[f"{name}.{law}"] < 0.2 * value
    # Noise alone is left: 0.05 N m of torques of some ten.
    left = second.tau - found.validation.predicted
    assert np.sqrt(np.mean(left**2)) == pytest.approx(0.05, rel=0.02)
    sharp = declared(model.mechanism, ["viscous", "coulomb", "load"])
    worse = identify(model, record(t, q, v, a, tau, noise=0.05), columns=sharp, second=second)
    assert worse.validation.error > 2 * found.validation.error


def test_the_delay_between_position_and_torque(model):
    late = 0.0123
    t, q, v, a = exact()
    then = arm.motion(t - late, LASTS, 3)
    tau = arm.torque(*then)
    noisy = record(t, q, v, a, tau, noise=0.05)
    columns = declared(model.mechanism, ["viscous", "coulomb", "offset", "rotor"])
    plain = identify(model, noisy, columns=columns, choices=Choices(lowpass=5.0))
    found = identify(model, noisy, columns=columns, choices=Choices(lowpass=5.0, delay=None))
    searched = found.searched["delay"]
    assert abs(searched.value - late) < 4 * searched.deviation
    assert searched.deviation < 5e-4
    assert found.delay == searched.value
    assert found.training.error < 0.5 * plain.training.error
    assert found.training.unfiltered_error < plain.training.unfiltered_error
    given = identify(model, noisy, columns=columns, choices=Choices(lowpass=5.0, delay=late))
    assert given.training.error == pytest.approx(found.training.error, rel=0.05)
    with pytest.raises(UsageError, match="after a low-pass"):
        identify(model, noisy, columns=columns, choices=Choices(delay=None))


def test_springs_cables_and_counterweights_of_drives(model):
    t, q, v, a = exact()
    tau = arm.torque(q, v, a, rotors=np.zeros(2))
    x = q[1]
    cable = 0.4 * x - 0.3 * x**2 + 0.05 * x**3
    weight = 1.5 * np.sin(q.sum(axis=0)) - 0.7 * np.cos(q.sum(axis=0))
    tau[1] += cable
    tau += weight
    tau[0] += 2.0 * q[0]
    both = np.array([[1.0, 0.0], [-1.0, 1.0]])  # the second motor turns by both angles
    words = ["viscous", "coulomb", "offset", "A.stiffness", "B.polynomial@3"]
    columns = declared(model.mechanism, [*words, "motor.counterweight"], both, q)
    assert {"B_motor.sine", "B_motor.cosine", "B.polynomial_3"} <= {one.name for one in columns}
    found = identify(model, record(t, q, v, a, tau), columns=columns)
    assert found.training.error < 1e-6
    values = found_by_name(found)
    assert values["A.stiffness"] == pytest.approx(2.0, abs=1e-4)
    assert values["B_motor.sine"] == pytest.approx(1.5, abs=1e-4)
    # Chebyshev's third polynomial over the record's positions is 4 x³ at its highest power.
    half = (x.max() - x.min()) / 2
    assert values["B.polynomial_3"] * 4 / half**3 == pytest.approx(0.05, abs=1e-4)
    noisy = identify(model, record(t, q, v, a, tau, noise=0.05), columns=columns)
    near = consistent_parameters(noisy).parameters
    for name in ("B_motor.cosine", "B.polynomial_2"):  # of any sign, unlike friction
        deviation = dict(zip(noisy.names, noisy.estimate.deviations, strict=True))[name]
        assert abs(near[name] - values[name]) < 4 * deviation
        assert near[name] < 0


def test_friction_that_differs_by_direction(model):
    t, q, v, a = exact()
    tau = rigid(q, v, a)
    tau[0] += np.where(v[0] > 0, 1.0 + 0.5 * v[0], -0.6 + 0.9 * v[0])
    columns = declared(model.mechanism, ["A.asymmetric"])
    values = found_by_name(identify(model, record(t, q, v, a, tau), columns=columns))
    expected = {"positive": 1.0, "negative": 0.6, "positive_viscous": 0.5, "negative_viscous": 0.9}
    for kind, value in expected.items():
        assert values[f"A.{kind}"] == pytest.approx(value, abs=1e-5)


def test_rows_are_weighed_on_the_motors_side(model):
    """A noisy second motor loads both joints; its noise stays in its own rows."""
    R = np.array([[1.0, 0.0], [1.0, 1.0]])
    t, q, v, a = exact()
    tau = arm.torque(q, v, a)
    rng, sigma = np.random.default_rng(2), np.array([[0.02], [1.0]])
    motors = np.linalg.inv(R).T @ tau + sigma * rng.standard_normal(tau.shape)
    noisy = Measurement("made", t, q, (v, a), R.T @ motors, motor_to_joint=np.linalg.inv(R))
    columns = declared(model.mechanism, ["viscous", "coulomb", "offset", "rotor"])
    found = identify(model, noisy, columns=columns)
    assert found.drives == ("A", "B_motor")
    np.testing.assert_allclose(found.estimate.sigma, sigma[:, 0], rtol=0.05)  # 4,750 rows: 1 %
    truth = arm.BASE["one.mx"]
    assert abs(found_by_name(found)["one.mx"] - truth) < 0.01
    assert found.training.drives.shape == (2, 2, t.size)
    expected = math.sqrt(np.sum(sigma[1] ** 2) * t.size) / np.linalg.norm(motors[1])
    assert found.training.drive_errors[1] == pytest.approx(expected, rel=0.05)


def test_essential_parameters_count_what_slow_residuals_say(model):
    """Cables that are not there: noise that lasts looks like them to BIC on white noise."""
    t, q, v, a = exact()
    noise = lfilter([1.0], [1.0, -0.995], np.random.default_rng(5).standard_normal(q.shape))
    made = Measurement("made", t, q, (v, a), arm.torque(q, v, a) + 0.03 * noise)
    columns = declared(model.mechanism, ["viscous", "coulomb", "offset", "polynomial@6"], q=q)
    kept = {}
    for deviations in ("white", "blocks"):
        how = Choices(lowpass=5.0, essential=True, deviations=deviations)
        found = identify(model, made, columns=columns, choices=how)
        kept[deviations] = {name for name in found.names if "polynomial" in name}
    assert kept["blocks"] < kept["white"]
    three = identify(model, made, columns=columns, choices=Choices(lowpass=5.0, essential=3))
    assert len(three.names) == 3
    assert len(three.dropped) == three.base.rank - 3
    with pytest.raises(UsageError, match="keeps no parameters"):
        Choices(essential=-1).check()
    with pytest.raises(UsageError, match="chooses nothing"):
        Choices(essential="most").check()


def test_cross_validation_leaves_out_what_does_not_predict(model):
    """Cables that are not there fit noise that lasts, and go astray beyond the record."""
    t, q, v, a = exact()
    noise = lfilter([1.0], [1.0, -0.995], np.random.default_rng(7).standard_normal(q.shape))
    made = Measurement("made", t, q, (v, a), arm.torque(q, v, a) + 0.03 * noise)
    columns = declared(model.mechanism, ["viscous", "coulomb", "offset", "polynomial@6"], q=q)
    beyond = exact(4)
    second = record(*beyond, arm.torque(*beyond[1:]))
    everything, essential = (
        identify(
            model,
            made,
            columns=columns,
            second=second,
            choices=Choices(lowpass=5.0, essential=how),
        )
        for how in (False, "cv")
    )
    # Twelve are the links' six, of which two are zero, and friction and offsets; 12 cables.
    assert 8 <= len(essential.names) <= 12
    assert len(everything.names) == 24
    assert essential.validation.error < 0.03  # noise of 0.3 N m of torques of ten
    assert everything.validation.error > 3 * essential.validation.error


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("polynomial", "write the degree"),
        ("A.polynomial@2.5", "write the degree"),
        ("viscous@3", "no number behind @"),
        ("power@-1", "it is positive"),
        ("power@half", "is no exponent"),
    ],
)
def test_words_that_say_no_law(model, word, says):
    with pytest.raises(UsageError, match=says):
        declared(model.mechanism, [word])


def test_lengths_have_no_sine():
    law = DriveLaw("slide", "sine", (1.0, 0.0))
    scara = arm.loads(arm.ARM.replace("B: {type: revolute", "B: {type: prismatic").replace(
        "at: [[l1, 0], [0, 0]]", "axis: [[1, 0], [1, 0]]"), "slide")  # fmt: skip
    with pytest.raises(UsageError, match="has no sine"):
        law_columns(scara, [DriveLaw("slide", "sine", (0.0, 1.0))])
    assert law_columns(scara, [law])[0].name == "slide.sine"
