"""A wrong length in a joint's point: what a drawing's distances tell, and what to write."""

import random

import pytest

from .test_exchanged_points import FOUR_BAR, drawn, warned
from .test_misnamed_bodies import SIX_BAR


@pytest.mark.parametrize(
    ("right", "wrong", "place", "written", "meant"),
    [
        ("[[b, 0], [c, 0]]", "[[a, 0], [c, 0]]", "joints.C.at[0][0] (line 13)", "a", "b"),
        ("[[b, 0], [c, 0]]", "[[b, 0], [a, 0]]", "joints.C.at[1][0] (line 13)", "a", "c"),
        ("[[a, 0], [0, 0]]", "[[b, 0], [0, 0]]", "joints.B.at[0][0] (line 12)", "b", "a"),
        ("[[d, 0], [0, 0]]", "[[a, 0], [0, 0]]", "joints.D.at[0][0] (line 14)", "a", "d"),
        ("[[d, 0],", "[[28 mm, 0],", "joints.D.at[0][0] (line 14)", "0.028 m", "0.28 m"),
        ("[[d, 0],", "[[2.8, 0],", "joints.D.at[0][0] (line 14)", "2.8 m", "0.28 m"),
        ("[[d, 0],", "[[280 m, 0],", "joints.D.at[0][0] (line 14)", "280 m", "0.28 m"),
        ("b: {value: 260", "b: {value: 26", "geometry.b (line 6)", "0.026 m", "0.26 m"),
    ],
)
def test_what_to_write(right, wrong, place, written, meant):
    assert right in FOUR_BAR
    (message,) = warned(FOUR_BAR.replace(right, wrong))
    assert message.startswith(f"{place}: ")
    assert f"; with {meant} in place of {written}, " in message
    assert message.endswith(f" Write {meant}.")


def test_a_length_of_the_constants():
    text = FOUR_BAR.replace("  b: {value: 260, unit: mm}\n", "").replace(
        "bodies:", "constants: {b: {value: 2.6, unit: m}}\nbodies:"
    )
    (message,) = warned(text)
    assert message.startswith("constants.b (line 8): ")
    assert message.endswith("Write 0.26 m.")


def test_a_wrong_place_of_the_drawing_is_none():
    places, told = random.Random(1), []
    for _ in range(10):
        x, y = (places.randrange(-600, 600) for _ in "xy")
        told += warned(drawn(FOUR_BAR, B=(40, 69), C=(x, y)))
        told += warned(SIX_BAR.replace("E: [0.26, 0.29]", f"E: [{x} mm, {y} mm]"))
    assert told
    assert not any("in place of" in one for one in told)
