"""Joint types by docs/mechanism-files.md, written out once more in `oracles/dust.py`."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from basepar_core.dynamics import joints
from basepar_core.mechanism import JOINT_TYPES, joint_type
from tests.oracles import dust

KINDS = tuple(JOINT_TYPES)
RNG = np.random.default_rng(4)


def oracle(kind, values):
    """Orientation (3, 3) and origin (3,) of F2 in F1."""
    R, p = dust.joint_motion(kind, [mpf(float(x)) for x in values])
    return np.array(R, float), np.array(p, float)


def ends(kind, values, world=None):
    """X1, X2 and the way from P1 to P2 for a joint whose first frame is at `world`."""
    R, p = oracle(kind, values)
    X1 = np.eye(3) if world is None else world
    return X1, X1 @ R, X1 @ p


@pytest.mark.parametrize("kind", KINDS)
def test_relative_motion_is_formats(kind):
    for _ in range(5):
        values = RNG.uniform(-1.5, 1.5, joint_type(kind).values)
        turn, shift = joints.relative_motion(kind, joints.configuration(kind, values))
        R, p = oracle(kind, values)
        # Products of a few sines and cosines.
        np.testing.assert_allclose(turn, R, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.zeros(3) if shift is None else shift, p, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_measured_back(kind):
    world = oracle("spherical", [0.4, -0.9, 0.7])[0]
    for _ in range(5):
        expected = RNG.uniform(-1.5, 1.5, joint_type(kind).values)
        X1, X2, way = ends(kind, expected, world)
        found = joints.values(kind, X1, X2, way)
        np.testing.assert_allclose(found, expected, rtol=0, atol=3e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_speeds_are_rates_of_the_motion(kind):
    """Directions of angular velocity and of the second origin's velocity, by differences."""
    values = RNG.uniform(-1, 1, joint_type(kind).values)
    world = oracle("spherical", [0.4, -0.9, 0.7])[0]
    X1, X2, _ = ends(kind, values, world)
    found = joints.speeds(kind, X1, X2)
    assert len(found) == joint_type(kind).values
    for place, (turn, slide) in enumerate(found):
        spin, shift = differences(kind, values, place)
        for got, expected in ((turn, spin), (slide, shift)):
            got = np.zeros(3) if got is None else got
            np.testing.assert_allclose(got, world @ expected, rtol=0, atol=2e-15)


def differences(kind, values, place):
    """ω and velocity in F1 per unit speed, from positions in forty digits."""
    with mpmath.workdps(40):
        v = [mpf(float(x)) for x in values]
        h = mpf(10) ** -12
        R, _ = dust.joint_motion(kind, v)
        slides = len(joint_type(kind).slides)
        # The speeds of what turns in any way are the angular velocity in F1's axes.
        if joint_type(kind).is_ball and place >= slides:
            step = dust.turn([int(k == place - slides) for k in range(3)], h)
            later = dust.multiply(step, R), [0, 0, 0]
            before = dust.multiply(dust.transpose(step), R), [0, 0, 0]
        else:
            later, before = (
                dust.joint_motion(kind, [x + s * h * (k == place) for k, x in enumerate(v)])
                for s in (1, -1)
            )
        rate = [
            [(a - b) / (2 * h) for a, b in zip(*rows, strict=True)]
            for rows in zip(later[0], before[0], strict=True)
        ]
        W = dust.multiply(rate, dust.transpose(R))
        spin = [float(W[2][1]), float(W[0][2]), float(W[1][0])]
        return np.array(spin), np.array(
            [float((a - b) / (2 * h)) for a, b in zip(later[1], before[1], strict=True)]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_joint_has_no_gap_and_locks_the_rest(kind):
    values = RNG.uniform(-1, 1, joint_type(kind).values)
    world = oracle("spherical", [-0.2, 0.5, 1.1])[0]
    X1, X2, way = ends(kind, values, world)
    np.testing.assert_allclose(joints.gaps(kind, False, X1, X2, way), 0, atol=1e-15)
    along, about = joints.locked_directions(kind, False, X1, X2)
    assert (
        len(along) + len(about) == 6 - joint_type(kind).values == joints.locked_count(kind, False)
    )
    # What the joint lets go and what it locks make up all six relative speeds.
    free = [
        np.concatenate([np.zeros(3) if part is None else part for part in speed])
        for speed in joints.speeds(kind, X1, X2)
    ]
    locked = [np.concatenate([n, np.zeros(3)]) for n in about]
    locked += [np.concatenate([np.zeros(3), n]) for n in along]
    assert abs(np.linalg.det(np.array(free + locked))) == pytest.approx(1, abs=1e-14)
    if free and locked:
        np.testing.assert_allclose(np.array(free) @ np.array(locked).T, 0, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_grow_as_the_locked_directions_say(kind):
    values = RNG.uniform(-1, 1, joint_type(kind).values)
    X1, X2, way = ends(kind, values)
    along, about = joints.locked_directions(kind, False, X1, X2)
    turn, shift = RNG.standard_normal((2, 3))
    h = 1e-6
    found = [
        np.array(
            joints.gaps(
                kind, False, X1, oracle("spherical", s * h * turn)[0] @ X2, way + s * h * shift
            )
        )
        for s in (1, -1)
    ]
    expected = [n @ shift for n in along] + [n @ turn for n in about]
    # Central differences: h² and rounding over h, both near 1e-10.
    np.testing.assert_allclose((found[0] - found[1]) / (2 * h), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "planar", "pin_slot", "fixed"])
def test_in_the_plane_what_is_locked_and_free_makes_three(kind):
    assert joints.locked_count(kind, True) + joint_type(kind).values == 3


@pytest.mark.parametrize("kind", KINDS)
def test_opposed_axes(kind):
    values = RNG.uniform(-0.3, 0.3, joint_type(kind).values)
    X1, X2, _ = ends(kind, values)
    flipped = X2 @ np.diag([1.0, -1.0, -1.0])
    assert not joints.is_opposed(kind, X1, X2)
    assert joints.is_opposed(kind, X1, flipped) == (kind not in ("universal", "spherical", "free"))
    turned = X2 @ np.diag([-1.0, -1.0, 1.0])
    assert joints.is_opposed(kind, X1, turned) == (kind in ("prismatic", "fixed"))


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_what_turns_in_any_way_integrates_turns_in_its_first_frame(kind):
    q = np.array([0.3, 0.2, -0.5])
    step = np.array([0.1, -0.4, 0.2])
    shift = np.array([0.7, -0.1, 0.4])[: len(joint_type(kind).slides)]
    start = joints.configuration(kind, np.concatenate([shift, q]))
    moved = joints.integrate(kind, start, np.concatenate([2 * shift, step]))
    turn, there = joints.relative_motion(kind, moved)
    np.testing.assert_allclose(np.zeros(0) if there is None else there, 3 * shift, atol=1e-15)
    expected = oracle("spherical", step)[0] @ oracle("spherical", [0.3, 0.2, -0.5])[0]
    np.testing.assert_allclose(turn, expected, rtol=0, atol=1e-15)
