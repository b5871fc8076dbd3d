"""External wrenches on bodies: Pinocchio's recursive Newton-Euler, and poses of all bodies."""

from dataclasses import replace

import numpy as np
import pytest

import basepar
from basepar_core.api import load
from basepar_core.dynamics import closure, motion
from basepar_core.errors import UsageError
from tests.mechanisms import FREE, C, F, P, R, S, U, random_tree
from tests.oracles.maximal import Bodies
from tests.oracles.pinocchio_model import Chain

POINT = (0.11, -0.23, 0.31)


@pytest.mark.parametrize("kinds", [(R, P, R, R, P), (U, S, C, F, R)], ids=["legs", "every joint"])
@pytest.mark.parametrize("base", [(FREE,), ()], ids=["free", "fixed"])
def test_torque_with_wrenches_is_pinocchios(kinds, base):
    """`rnea` with `fext`: two bodies are pushed, one of them at its origin."""
    it = random_tree(3, [*base, *kinds])
    home = closure.prepare(it).assembled.coordinates
    moving = motion.excite(replace(it.excitation, samples=7), it, home)
    rng = np.random.default_rng(4)
    wrenches = rng.normal(size=(2, 7, 6))
    phi = rng.normal(size=len(it.parameter_names))
    phi[::10] = 1 + rng.uniform(size=len(it.bodies))  # Pinocchio divides by masses
    names = [it.bodies[-1].name, it.bodies[1].name]
    states = [x.T for x in (moving.q, moving.q_dot, moving.q_ddot)]
    contacts = [
        basepar.Contact(names[0], wrenches[0], POINT),
        basepar.Contact(names[1], wrenches[1]),
    ]
    model = basepar.Model(it)
    found = model.torque(*states, phi, contacts=contacts)
    oracle = Chain(it, {})
    expected = [
        oracle.torque(*state, phi, [(names[0], POINT, w[0]), (names[1], (0, 0, 0), w[1])])
        for *state, w in zip(*states, wrenches.swapaxes(0, 1), strict=True)
    ]
    # Asked for are 1e-10; some hundred roundings of the largest are 1e-13 of it.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    # As columns beside W: W φ = τ + Jᵀ w.
    J = model.contact_rates(states[0], names[0], POINT)
    rest = model.torque(*states, phi, contacts=contacts[1:])
    np.testing.assert_allclose(
        (J @ wrenches[0][..., None])[..., 0], rest - found, rtol=0, atol=1e-12 * np.abs(rest).max()
    )


@pytest.mark.parametrize(("name", "body"), [("five-bar", 1), ("rsur", 1), ("slider-crank", 1)])
def test_rates_of_points_in_loops_are_those_of_free_bodies(name, body):
    """All bodies free, joints as constraints: twists by their null space."""
    it = load(name)
    model = basepar.Model(it)
    at = POINT[: 2 if it.planar else 3]
    label = it.bodies[body].name
    q = model.assembly + 0.1 * np.arange(1, 3)[:, None]
    found = model.contact_rates(q, label, at)
    oracle = Bodies(it, {})
    n = len(it.coordinates)
    for k, here in enumerate(q):
        oracle.walk(here)
        slope = oracle.equations(np.zeros((1, oracle.size)))[1][0]
        twists = np.linalg.pinv(slope, rcond=1e-10)[:, -n:]
        omega, v = twists[6 * body : 6 * body + 3].T, twists[6 * body + 3 : 6 * body + 6].T
        turned = oracle.R[0, body]
        point = (v + np.cross(omega, turned @ [*at, 0.0][:3])) @ turned
        omega = omega @ turned
        expected = np.hstack([point[:, :2], omega[:, 2:]] if it.planar else [point, omega])
        # The oracle settles to 1e-11, in loops of condition below 100.
        np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-8)


def test_each_state_may_have_its_own_geometry():
    model = basepar.load("four-bar")
    lengths = np.array([0.25, 0.3])
    q = np.array([[0.2], [0.4]])
    paired = model.contact_rates(q, "rocker", geometry={"lx1": lengths})
    for k in range(2):
        alone = model.contact_rates(q[k], "rocker", geometry={"lx1": lengths[k]})
        # Other batches sum in other orders.
        np.testing.assert_allclose(paired[k], alone, rtol=0, atol=1e-13)


def test_the_weight_of_what_stands_is_carried_by_its_contact():
    """A quadruped that hangs in the air needs its weight at the base; a push up takes it off."""
    model = basepar.load("quadruped")
    q, rest = model.assembly, np.zeros(len(model.coordinates))
    weight = 9.81 * model.phi()[::10].sum()
    hanging = model.torque(q, rest, rest)
    pushed = model.torque(
        q, rest, rest, contacts=[basepar.Contact("trunk", [0, 0, weight, 0, 0, 0])]
    )
    upright = np.abs(hanging[2] - weight) < 1e-9 * weight  # the trunk stands upright there
    assert upright
    assert abs(pushed[2]) < 1e-9 * weight


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"body": "rockr", "wrench": [0, 0, 0]}, "did you mean 'rocker'"),
        ({"body": "rocker", "wrench": [0, 0, 0], "at": [1, 2, 3]}, "give 2 numbers"),
        ({"body": "rocker", "wrench": [0, 0]}, "give 3 finite numbers"),
        ({"body": "rocker", "wrench": [0, 0, np.nan]}, "give 3 finite numbers"),
        ({"body": "rocker", "wrench": np.zeros((5, 3))}, "broadcast with the states"),
    ],
)
def test_mistakes_are_told(given, said):
    model = basepar.load("four-bar")
    q = np.full((2, 1), 0.6)
    with pytest.raises(UsageError, match=said):
        model.torque(q, q, q, contacts=[basepar.Contact(**given)])
