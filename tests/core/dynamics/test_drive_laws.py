"""Laws of drives: a wrist whose sixth motor also moves with joint 5, against laws written out."""

import math
from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base.extended import extend
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate import certify
from basepar_core.dynamics import closure, motion
from basepar_core.dynamics.drive_laws import DriveLaw
from basepar_core.dynamics.energy import check_columns
from basepar_core.dynamics.force_columns import columns, law_columns, observe_columns, unit
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.files import mechanism_file
from basepar_core.identification.measurement import Measurement
from basepar_core.identification.procedure import Choices, identify
from basepar_core.mechanism import Friction
from basepar_core.torque_code.program import torque_program

WRIST = (0.0, 0, 0, 0, 1, 1)
KINDS = ("viscous", "coulomb", "offset", "rotor")


@pytest.fixture(scope="module")
def puma():
    return closure.prepare(replace(mechanism_file.load("puma-560"), friction=()))


@pytest.fixture(scope="module")
def base(puma):
    return symbolic(puma)


def moving(model):
    return motion.excitation(model.mechanism, model.assembled.coordinates)


def seen(model, *laws):
    """The columns (sample, coordinate, law) along the excitation."""
    there = moving(model)
    path = closure.trace(model, {}, there.q)
    return observe_columns(model, {}, there, path.q, law_columns(model.mechanism, laws))[0]


def test_a_coupled_wrist_feels_the_motor_on_both_joints(puma):
    found = seen(puma, DriveLaw("wrist", "rotor", WRIST), DriveLaw("wrist", "coulomb", WRIST))
    there = moving(puma)
    speeding = there.q_ddot[4] + there.q_ddot[5]
    turning = there.q_dot[4] + there.q_dot[5]
    assert min((turning > 0).sum(), (turning < 0).sum()) > 10
    for joint in (4, 5):
        # One sum of two numbers: the order of six products with zeros may differ, no more.
        np.testing.assert_allclose(found[:, joint, 0], speeding, rtol=0, atol=1e-12)
        assert found[:, joint, 1].tolist() == [math.copysign(1, x) for x in turning]
    assert not found[:, :4].any()


def test_a_geared_drive_takes_the_power_of_its_law(puma):
    weights = (0.0, 2, -0.5, 0, 0, 0)
    found = seen(puma, *(DriveLaw("belt", kind, weights) for kind in ("viscous", "rotor")))
    there = moving(puma)
    power = np.einsum("sck,cs->ks", found, there.q_dot)
    x_dot = 2 * there.q_dot[1] - 0.5 * there.q_dot[2]
    x_ddot = 2 * there.q_ddot[1] - 0.5 * there.q_ddot[2]
    # Rounding of speeds of some rad/s.
    np.testing.assert_allclose(power, [x_dot**2, x_ddot * x_dot], rtol=1e-12, atol=1e-12)


def test_laws_of_one_joint_are_the_columns_of_files(puma):
    friction = tuple(Friction(name, kind) for name in puma.mechanism.coordinates for kind in KINDS)
    there = moving(puma)
    path = closure.trace(puma, {}, there.q)
    stated = closure.prepare(replace(puma.mechanism, friction=friction))
    expected = observe_columns(stated, {}, there, path.q, columns(stated.mechanism))[0]
    laws = [
        DriveLaw(name, kind, tuple(np.eye(6)[k]))
        for k, name in enumerate(puma.mechanism.coordinates)
        for kind in KINDS
    ]
    # The file's columns go through relative accelerations of bodies: rounding of tens of rad/s².
    np.testing.assert_allclose(seen(puma, *laws), expected, rtol=0, atol=1e-10)


def test_asymmetric_friction_is_one_number_forward_and_one_backward(puma):
    laws = [DriveLaw("J1", kind, (1.0, 0, 0, 0, 0, 0)) for kind in ("positive", "negative")]
    found, v = seen(puma, *laws)[:, 0], moving(puma).q_dot[0]
    # Forward 3 N m hold it back, backward 5 N m: the drive gives +3 and −5.
    assert (found @ [3.0, 5.0]).tolist() == [3.0 if x > 0 else -5.0 for x in v]
    still = np.zeros((6, 1))
    assert [law.law(still, still, still).tolist() for law in laws] == [[0.0], [0.0]]


def test_stribeck_friction_has_e_to_minus_one_of_it_left_at_its_speed():
    law = DriveLaw("J1", "stribeck", (1.0,), 0.2)
    speeds = np.array([[1e-9, -1e-9, 0.2, -0.2, 0.4, 0.0]])
    left = [1.0, -1.0, 1 / math.e, -1 / math.e, 1 / math.e**4, 0.0]
    # One exponential: a few units in the last place; at 1e-9 rad/s it misses 1 by 2.5e-17.
    np.testing.assert_allclose(law.law(0 * speeds, speeds, 0 * speeds), left, rtol=1e-15, atol=0)


def test_smooth_friction_is_the_logistic_curve_of_twice_the_speed():
    law = DriveLaw("J1", "smooth_coulomb", (1.0,), 0.2)
    speeds = np.array([[-50.0, -0.2, 1e-9, 0.1 * math.log(3), 0.2, 50.0, 0.0]])
    half = [(math.exp(x) - math.exp(-x)) / (math.exp(x) + math.exp(-x)) for x in (-1, 5e-9)]
    expected = [-1.0, half[0], half[1], 0.5, -half[0], 1.0, 0.0]
    # The quotient written out loses the last 8 digits of what is 5e-9.
    np.testing.assert_allclose(law.law(speeds, speeds, speeds), expected, rtol=1e-7, atol=0)


def test_the_counts_published_for_an_arm_with_a_coupled_wrist(puma, base):
    """Stäubli's TX40, of the PUMA's structure: 36, 40, 52, 58, 60 and 61 parameters."""
    each = {
        kind: [DriveLaw(f"J{k + 1}", kind, tuple(np.eye(6)[k])) for k in range(6)]
        for kind in KINDS
    }
    coupled = [DriveLaw("wrist", kind, WRIST) for kind in ("viscous", "coulomb", "rotor")]
    laws, counts = [], []
    steps = ([], each["rotor"], each["viscous"] + each["coulomb"], each["offset"])
    for more in (*steps, coupled[:2], coupled[2:]):
        laws += more
        counts.append(extend(puma, base, law_columns(puma.mechanism, laws)).rank)
    assert counts == [36, 40, 52, 58, 60, 61]


def test_a_record_of_a_coupled_wrist_gives_its_friction(puma, base):
    laws = [DriveLaw("wrist", "viscous", WRIST), DriveLaw("wrist", "positive", WRIST)]
    laws.append(DriveLaw("wrist", "negative", WRIST))
    there = moving(puma)
    W = observe(puma, {}, there).W[0][..., list(base.kept)]
    true = np.linspace(0.1, 1, len(base.kept))
    turning = there.q_dot[4] + there.q_dot[5]
    tau = (W @ true).T
    tau[4:] += 0.3 * turning + np.where(turning > 0, 0.7, -0.4)
    record = Measurement("made", there.t, there.q, (there.q_dot, there.q_ddot), tau)
    columns = law_columns(puma.mechanism, laws)
    found = identify(puma, record, columns=columns, base=base, choices=Choices(method="ols"))
    # Rounding, 1e-16 of torques of tens of N m, times the condition of W, 8e2.
    np.testing.assert_allclose(found.estimate.values, [*true, 0.3, 0.7, 0.4], rtol=0, atol=1e-11)
    assert found.names[-3:] == ("wrist.viscous", "wrist.positive", "wrist.negative")


def test_units_are_of_what_the_drive_moves():
    scara = mechanism_file.load("scara")
    laws = [DriveLaw("lift", "rotor", (0.0, 0, 1, 0)), DriveLaw("arm", "rotor", (1.0, 0, 0, 1))]
    assert [unit(scara, one) for one in law_columns(scara, laws)] == ["kg", "kg m^2"]


def test_laws_that_do_not_fit_are_named_together():
    scara = mechanism_file.load("scara")
    fine = DriveLaw("fine", "offset", (1.0, 0, 0, 0))
    laws = [
        DriveLaw("short", "offset", (1.0,)),
        DriveLaw("none", "offset", (0.0, 0, 0, 0)),
        DriveLaw("far", "offset", (math.inf, 0, 0, 0)),
        DriveLaw("mixed", "offset", (0.0, 0, 1, 1)),
        DriveLaw("q1", "viscous", (1.0, 0, 0, 0)),  # the file has it
        fine,
    ]
    with pytest.raises(UsageError) as raised:
        law_columns(scara, laws)
    for words in (
        "short.offset has 1 weights; state 4, of q1, q2, q3, q4",
        "none.offset has the weights",
        "far.offset has the weights",
        "mixed.offset turns angles and lengths at once",
        "q1.viscous is there twice",
    ):
        assert words in str(raised.value)
    assert "fine" not in str(raised.value)


def test_speeds_of_spherical_joints_turn_no_drive():
    ball = mechanism_file.load("quadruped")
    weights = tuple(float(k == 3) for k in range(len(ball.coordinates)))
    with pytest.raises(UsageError, match="spherical or free"):
        law_columns(ball, [DriveLaw("base", "viscous", weights)])


@pytest.mark.parametrize(
    ("kind", "speed", "words"),
    [
        ("grease", None, "no such law 'grease'"),
        ("stribeck", None, "the speed None; it is positive"),
        ("stribeck", -0.1, "the speed -0.1"),
        ("stribeck", math.inf, "the speed inf"),
        ("rotor", 0.1, "has no shape"),
        ("polynomial", 1.5, "the degree 1.5"),
    ],
)
def test_laws_that_are_none(kind, speed, words):
    with pytest.raises(UsageError, match=words):
        DriveLaw("J1", kind, (1.0,), speed)


def test_energies_certificates_and_code_have_no_drives(puma, base):
    chosen = law_columns(puma.mechanism, [DriveLaw("wrist", "rotor", WRIST)])
    with pytest.raises(UsageError, match=r"cannot carry wrist\.rotor"):
        check_columns(chosen)
    with pytest.raises(UsageError, match=r"No certificate has wrist\.rotor"):
        certify(puma, base, chosen)
    with pytest.raises(UsageError, match=r"wrist\.rotor cannot be written out"):
        torque_program(puma, [*base.kept, len(base.parameters)], chosen)
