"""Degrees without a unit in an assembly: all of them are named, also those of few degrees."""

import re
import warnings

import pytest

from basepar_core.errors import BaseparWarning
from basepar_core.files import library_path, loads


def warned(assembly):
    text = re.sub(
        "(?m)^assembly: .*", f"assembly: {assembly}", library_path("four-bar").read_text()
    )
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        loads(text)
    return {re.match(r"assembly\.(\w+)", str(one.message))[1]: str(one.message) for one in found}


def test_few_degrees_beside_many():
    messages = warned("{A: 30, B: -35, C: 5, D: 169}")
    assert messages.keys() == {"A", "B", "C", "D"}
    assert "5 is taken as 5 rad, beside angles of more than a turn; write '5 deg'" in messages["C"]


@pytest.mark.parametrize(
    ("assembly", "named"),
    [
        ("{A: 0.6, B: -2.1, C: 5, D: 1}", set()),
        ("{A: 30, B: 0, C: 5 rad, D: 169 deg}", {"A"}),
    ],
)
def test_radians_are_not(assembly, named):
    assert warned(assembly).keys() == named


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (
            360,
            "360 turns in 120 samples, 3 turns from one sample to the next; if 360 deg are meant",
        ),
        (40, "0.333 turns from one sample to the next; write at least `samples: 160`"),
    ],
)
def test_turns_of_a_cycle_that_are_degrees(turns, said):
    text = (
        "name: crank\nspace: planar\ngravity: [0, 0]\nbodies: {crank: {}}\n"
        "joints: {A: {type: revolute, connects: [ground, crank]}}\ncoordinates: [A]\n"
        "cycle: {joints: {A: {kind: constant_speed, speed: 60 rpm, turns: %s}}, samples: 120}\n"
    )
    with pytest.warns(BaseparWarning) as found:
        loads(text % turns)
    assert said in str(found[0].message)
