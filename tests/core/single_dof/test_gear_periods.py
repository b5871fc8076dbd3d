"""Periods of gear trains: whole turns by the teeth, and the motion that closes after them."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files import loads
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


@pytest.mark.parametrize(("sun", "planet"), [(24, 18), (20, 20), (30, 15), (18, 27)])
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
