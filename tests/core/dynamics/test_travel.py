"""How far a coordinate goes: by the triangle's inequality at dead points."""

import numpy as np
import pytest

from basepar_core.dynamics import prepare
from basepar_core.dynamics.travel import _reached, travel, turning_joint
from basepar_core.files import loads

BARS = """
name: bars
space: planar
gravity: [0, 0]
geometry: {{a: {{value: {a}, unit: m}}}}
bodies: {{crank: {{}}, coupler: {{}}, rocker: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, coupler], at: [[a, 0], [0, 0]]}}
  C: {{type: revolute, connects: [coupler, rocker], at: [[0.35, 0], [0.3, 0]]}}
  D: {{type: revolute, connects: [ground, rocker], at: [[0.4, 0], [0, 0]]}}
coordinates: [{drive}]
assembly: {{A: 60 deg, points: {{B: [0.05, 0.087], C: [0.34, 0.29]}}}}
"""


def model(a=0.1, drive="A"):
    return prepare(loads(BARS.format(a=a, drive=drive)))


def test_a_crank_goes_all_the_way_round():
    assert travel(model()) == (-np.inf, np.inf)


def test_a_rocker_stops_where_crank_and_coupler_are_in_line():
    found = travel(model(drive="D"))
    angles = [np.pi - np.arccos((0.4**2 + 0.3**2 - r**2) / (2 * 0.4 * 0.3)) for r in (0.45, 0.25)]
    # Two looks of 180 places: a 32,400th of a turn before the dead point at most.
    assert found == pytest.approx(sorted(angles), abs=2 * np.pi / 180**2)
    assert turning_joint(model(drive="D")) == "A"


def test_a_way_that_ends_at_a_place_is_no_whole_turn():
    """A long crank stops: what is reached is a place on the way, in both looks."""
    of = model(a=0.3)
    low, high = travel(of)
    (start,) = of.assembled.coordinates
    # Coupler and rocker in line: 0.65 m from the crank's pin.
    dead = np.arccos((0.3**2 + 0.4**2 - 0.65**2) / (2 * 0.3 * 0.4))
    assert (low, high) == pytest.approx((-dead, dead), abs=2 * np.pi / 180**2)
    assert _reached(of, np.linspace(start, start + 0.1, 11)) == 10
