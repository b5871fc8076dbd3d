"""Instant centres against Aronhold and Kennedy: three bodies have theirs on one line."""

from itertools import combinations

import numpy as np
import pytest

import basepar
from basepar_core.errors import UsageError


def crossing(A, B, C, D):
    """Where the lines AB and CD meet, (state, 2)."""
    u, v, w = B - A, D - C, C - A
    share = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    return A + share[:, None] * u


def test_of_a_four_bar_they_are_where_lines_of_bars_meet():
    model = basepar.load("workflows/examples/mechanisms/straight-line.yaml")
    crank = np.linspace(3.3, 9.3, 37)[:, None]
    found = model.instant_centres(crank, geometry={"c": 0.13})
    A, D = np.zeros((37, 2)), np.tile([0.104, 0.0], (37, 1))
    B, C = found["crank", "coupler"], found["rocker", "coupler"]
    # B and C first: on the crank, and as far from one another and from D as bars are long.
    np.testing.assert_allclose(B, 0.05 * np.hstack([np.cos(crank), np.sin(crank)]), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(C - B, axis=1), 0.12, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(C - D, axis=1), 0.13, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["ground", "crank"], A, atol=1e-15)
    np.testing.assert_allclose(found["ground", "rocker"], D, atol=1e-13)
    for pair, lines in {
        ("ground", "coupler"): (A, B, D, C),
        ("rocker", "crank"): (A, D, B, C),
    }.items():
        # Lines that are nearly parallel meet far away, at a relative error of rounding over angle.
        expected = crossing(*lines)
        scale = 1.0 + np.linalg.norm(expected, axis=1)[:, None] ** 2
        assert np.abs((found[pair] - expected) / scale).max() < 1e-10
        np.testing.assert_array_equal(found[pair], found[pair[::-1]])
    assert np.isnan(found["crank", "crank"]).all()


@pytest.mark.parametrize(
    "name", ["watt-i", "stephenson-iii", "slider-crank", "quick-return", "dwell"]
)
def test_three_bodies_have_theirs_on_a_line(name):
    model = basepar.load(name)
    q = model.assembly + np.linspace(-0.02, 0.03, 5)[:, None]
    found = model.instant_centres(q)
    checked = 0
    for i, j, k in combinations(range(len(found.bodies)), 3):
        a, b, c = (found.position[:, x, y] for x, y in ((i, j), (j, k), (i, k)))
        u, v = b - a, c - a
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        size = 1.0 + np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
        good = np.isfinite(area)
        # Velocities are solved for to rounding times the condition of the loops.
        assert (np.abs(area / size)[good] < 1e-9).all(), (name, i, j, k)
        checked += int(good.sum())
    assert checked >= 5


def test_what_only_shifts_has_none():
    found = basepar.load("slider-crank").instant_centres([[0.4], [0.7]])
    assert np.isnan(found["ground", "slider"]).all()
    # The rod's centre is above the slider, on the crank's line: kinematics of 1875.
    B = found["crank", "rod"]
    C = found["rod", "slider"]
    np.testing.assert_allclose(
        found["ground", "rod"][:, 1], C[:, 0] * B[:, 1] / B[:, 0], rtol=0, atol=1e-11
    )
    np.testing.assert_allclose(found["ground", "rod"][:, 0], C[:, 0], rtol=0, atol=1e-11)


def test_several_coordinates_need_rates():
    model = basepar.load("five-bar")
    q = model.assembly
    with pytest.raises(UsageError, match="give qd"):
        model.instant_centres(q)
    once, faster = (model.instant_centres(q, k * np.array([1.0, -0.3])) for k in (1, 50))
    # The ratio of rates alone matters; rounding.
    np.testing.assert_allclose(once.position, faster.position, rtol=1e-11, atol=1e-13)
    with pytest.raises(UsageError, match="spatial"):
        basepar.load("rssr").instant_centres([0.1])
    with pytest.raises(UsageError, match="no pair of bodies"):
        once["ground", "moon"]
