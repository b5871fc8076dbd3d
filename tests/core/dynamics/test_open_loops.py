"""How far a loop is open, as it is reported: against mechanisms whose gap is known by hand."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from basepar_core.api import load
from basepar_core.dynamics.assembly import assemble
from basepar_core.dynamics.open_loops import OpenLoop
from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number
from basepar_core.files import mechanism_file


def bar(rod="0.5", off="0", closing="type: spherical", more=""):
    """A four-bar with crank 0.2 m, rocker 0.3 m and 0.5 m of ground, its hinges about z."""
    return mechanism_file.loads(
        f"""
name: bar
space: spatial
gravity: [0, 0, -9.81]
bodies: {{crank: {{}}, rod: {{}}, rocker: {{}}{", rod2: {}, rocker2: {}" if more else ""}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, rod], at: [[1/5, 0, {off}], [0, 0, 0]]}}
  D: {{type: revolute, connects: [ground, rocker], at: [[1/2, 0, 0], [0, 0, 0]]}}
  C: {{{closing}, connects: [rod, rocker], at: [[{rod}, 0, 0], [3/10, 0, 0]]}}
{more}
coordinates: [A]
assembly: {{A: 2.6, B: -2.4, D: 0.4}}
"""
    )


SECOND = """
  B2: {type: revolute, connects: [crank, rod2], at: [[1/5, 0, 0], [0, 0, 0]]}
  D2: {type: revolute, connects: [ground, rocker2], at: [[1/2, 0, 0], [0, 0, 0]]}
  C2: {type: spherical, connects: [rod2, rocker2], at: [[11/10, 0, 0], [3/10, 0, 0]]}
"""


def reported(mechanism):
    """The joint, and the gaps in m and rad."""
    with pytest.raises(AssemblyError, match="stays open") as caught:
        assemble(mechanism)
    found = re.match(r"Joint '(\w+)' stays open by (.*) \(allowed", caught.value.message)
    gaps = [part.split() for part in found[2].split(" and ")]
    units = {"m": ("m", 1), "mm": ("m", 1e-3), "deg": ("rad", math.pi / 180)}
    return found[1], {units[unit][0]: float(size) * units[unit][1] for size, unit in gaps}


@pytest.mark.parametrize(
    ("change", "gap"),
    [
        # Out of the plane of all hinges, wherever they stand: closed or not, the offset stays.
        ({"off": "0.000001"}, {"m": 1e-6}),
        ({"off": "0.02"}, {"m": 0.02}),
        # Crank, ground and rocker in one line reach 1 m, the rod is longer.
        ({"rod": "1.3"}, {"m": 0.3}),
        # Two hinges that are not parallel to the others: by a right triangle 7, 24, 25.
        (
            {"closing": "type: revolute, axis: [[0, 0, 25], [0, 7, 24]]"},
            {"rad": math.atan2(7, 24)},
        ),
        # Two loops on one crank: the one that is open farther is not helped by the other.
        ({"rod": "1.3", "more": SECOND}, {"m": 0.3}),
    ],
)
def test_the_gap_is_that_of_the_dimensions(change, gap):
    """Printed to four digits; where it is least by lengths in line the search is at rest to a
    thousandth of its square."""
    joint, found = reported(bar(**change))
    assert joint in {"A", "B", "C", "D"}
    assert found == pytest.approx(gap, rel=1e-3)


def test_a_crank_that_is_held_does_not_move_to_close():
    """The loop would close with the crank on the other side."""
    text = bar(rod="0.1").source.replace("A: 2.6", "A: 3.141592653589793")
    joint, found = reported(mechanism_file.loads(text))
    # From the crank's end to the pivot 0.7 m, and 0.4 m of links in line.
    assert found == pytest.approx({"m": 0.3}, rel=1e-3)
    assert joint in {"B", "C", "D"}


@pytest.mark.parametrize(
    ("length", "angle", "text"),
    [
        (0.04, 1.045e-9, "40 mm"),
        (0.04, 3e-4, "40 mm"),
        (0.04, 4e-3, "40 mm and 0.2292 deg"),
        (1e-8, 0.3, "17.19 deg"),
        (2.5, 0.0, "2.5 m"),
        (3e-8, 2e-9, "3e-05 mm"),
    ],
)
def test_gaps_in_the_units_of_a_drawing(length, angle, text):
    assert str(OpenLoop("A", length, angle)) == text


@pytest.mark.parametrize(
    ("name", "symbol", "share"), [("3-rrr", "a", 1 / 100), ("bicycle", "r", 30)]
)
def test_lengths_that_are_far_off_are_reported(name, symbol, share):
    """The least damping is lost beside entries that large: normal equations are singular."""
    given = load(name)
    geometry = tuple(
        replace(
            one, value=Number(Fraction(given.nominal[symbol] * share).limit_denominator(10**6))
        )
        if one.name == symbol
        else one
        for one in given.geometry
    )
    _, gaps = reported(replace(given, geometry=geometry))
    assert max(gaps.values()) > 0.01
