"""A load's parameters and gains from two simulated records, against what they were made by."""

import numpy as np
import pytest
from scipy.stats import chi2

from basepar_core.base import symbolic
from basepar_core.dynamics import excitation, prepare
from basepar_core.errors import UsageError
from basepar_core.files import mechanism_file
from basepar_core.identification import Choices, Measurement, declared, identify, identify_payload
from tests.oracles.pinocchio_model import Chain

#: kg, m, kg m² about the centre of mass, along the last body's axes.
MASS, CENTRE, ABOUT = 3.0, np.array([0.02, -0.03, 0.08]), np.diag([0.02, 0.03, 0.015])
#: Torque's noise, N m; friction, N m s/rad and N m; factors of the torques as they are stated.
NOISE = np.array([5.0, 4.0, 3.0, 1.0, 0.6, 0.3])[:, None]
VISCOUS, COULOMB = 5.0, 3.0
GAINS = np.array([1.0, 1.2, 0.8, 0.9, 1.1, 0.7])[:, None]


def tool():
    """Ten parameters about the origin of the body's frame."""
    I = ABOUT + MASS * (CENTRE @ CENTRE * np.eye(3) - np.outer(CENTRE, CENTRE))
    names = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    entries = (I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])
    numbers = (MASS, *MASS * CENTRE, *entries)
    return {f"payload.{name}": float(x) for name, x in zip(names, numbers, strict=True)}


@pytest.fixture(scope="module")
def made():
    """UR10, its base parameters, a motion, and Pinocchio's torques without and with the load."""
    mechanism = mechanism_file.load("ur10")
    model, chain = prepare(mechanism), Chain(mechanism, {})
    moving = excitation(mechanism, model.assembled.coordinates)
    every = max(1, moving.t.size // 400)
    states = [x[:, ::every] for x in (moving.q, moving.q_dot, moving.q_ddot)]
    phi = mechanism.inertial_parameters(mechanism.nominal)
    heavy = phi + np.concatenate([np.zeros(phi.size - 10), list(tool().values())])
    friction = VISCOUS * states[1] + COULOMB * np.sign(states[1])
    torques = [
        friction
        + np.stack(
            [chain.torque(*one, own, ()) for one in zip(*(x.T for x in states), strict=True)], 1
        )
        for own in (phi, heavy)
    ]
    return model, symbolic(model), moving.t[::every], states, torques


def records(made, seed, gains=1.0):
    """Without and with the load."""
    _, _, t, (q, v, a), torques = made
    rng = np.random.default_rng(seed)
    return [
        Measurement(name, t, q, (v, a), (tau + NOISE * rng.standard_normal(tau.shape)) / gains)
        for name, tau in zip(("empty", "loaded"), torques, strict=True)
    ]


def identified(made, record, **choices):
    model, base, *_ = made
    columns = declared(model.mechanism, ["viscous", "coulomb"])
    return identify(model, record, columns=columns, base=base, choices=Choices(**choices))


def test_ten_parameters_of_a_load_and_their_deviations(made):
    truth, far, draws = np.array(list(tool().values())), 0.0, 6
    for seed in range(draws):
        empty, loaded = records(made, seed)
        found = identify_payload(identified(made, empty), loaded)
        assert found.body == "wrist_3"
        assert list(found.values) == list(tool())
        assert found.undetermined == ()
        some = slice(len(found.robot), None)
        off = found.estimate.values[some] - truth
        far += off @ np.linalg.solve(found.estimate.covariance[some, some], off)
        centre, spread = found.centre()
        # 30 values, the largest of which is beyond 4.5 deviations once in 5,000 times.
        assert (np.abs(centre - CENTRE) < 4.5 * spread).all()
        assert spread.max() < 0.02
    # Of `draws` times ten independent squares; both ends once in 1,000 times.
    low, high = chi2.ppf([5e-4, 1 - 5e-4], 10 * draws)
    assert low < far < high


def test_without_noise_it_is_the_truth(made):
    _, _, t, (q, v, a), torques = made
    empty, loaded = (Measurement("exact", t, q, (v, a), tau) for tau in torques)
    found = identify_payload(identified(made, empty), loaded)
    # Two programs' torques agree to 1e-14; the load's condition is below 1e4.
    for name, value in tool().items():
        assert found.values[name] == pytest.approx(value, abs=1e-8)
    assert found.loaded.error < 1e-10
    weighed = identify_payload(identified(made, empty), loaded, known={"payload.m": MASS})
    assert weighed.known == {"payload.m": MASS}
    assert len(weighed.names) == 9
    assert weighed.values["payload.Izz"] == pytest.approx(tool()["payload.Izz"], abs=1e-8)


@pytest.mark.parametrize("known", [tool(), {"payload.m": MASS}], ids=["known load", "known mass"])
def test_gains_are_found_from_what_is_known_of_a_load(made, known):
    far, draws = 0.0, 4
    for seed in range(draws):
        empty, loaded = records(made, seed, GAINS)
        robot = identified(made, empty)
        found = identify_payload(robot, loaded, known=known, find_gains=True)
        off = (found.gains - GAINS[:, 0]) / found.gain_deviations
        assert (found.gain_deviations < 0.15).all()  # determined: of 128 samples
        far = max(far, float(np.abs(off).max()))
        # The robot's own parameters have the right scale again.
        names = [f"{joint}.viscous" for joint in made[0].mechanism.coordinates]
        places = [found.robot.index(name) for name in names]
        off = found.estimate.values[places] - VISCOUS
        far = max(far, float(np.abs(off / found.estimate.deviations[places]).max()))
    assert far < 4.5  # of 48 values; once in 3,000 times


def test_position_noise_and_instruments_do_for_loads_too(made):
    empty, loaded = records(made, 0)
    rng = np.random.default_rng(5)
    noisy = [
        Measurement(r.source, r.t, r.q + 1e-5 * rng.standard_normal(r.q.shape), None, r.tau)
        for r in (empty, loaded)
    ]
    robot = identified(made, noisy[0], method="iv", cutoff=2.0)
    found = identify_payload(robot, noisy[1])
    assert found.estimate.blocks > 0
    off = np.array([found.values[name] - x for name, x in tool().items()])
    spread = found.estimate.deviations[len(found.robot) :]
    assert (np.abs(off) < 4.5 * spread).all()


def test_what_is_refused(made):
    empty, loaded = records(made, 1)
    robot = identified(made, empty)
    for more, says in (
        ({"body": "hand"}, "is no body"),
        ({"known": {"payload.weight": 1.0}}, "no such parameter of a load"),
        ({"find_gains": True}, "Nothing fixes the scale"),
        ({"find_gains": True, "known": {"payload.m": 0.0}}, "Nothing fixes the scale"),
        ({"body": "shoulder", "known": {"payload.m": 3.0}, "find_gains": True}, "not determine"),
    ):
        with pytest.raises(UsageError, match=says):
            identify_payload(robot, loaded, **more)


def test_what_a_motion_does_not_tell_of_a_load(made):
    """On the first body, which turns about an upright axis, it has a moment of inertia only."""
    empty, _ = records(made, 2)
    found = identify_payload(identified(made, empty), empty, body="shoulder")
    assert len(found.names) == 1
    assert len(found.undetermined) == 9
    assert found.centre() is None
    assert "taken as zero" in found.notes[0].text
