"""Torques that drive a joint the faster it turns: a resistance without its sign."""

import warnings

import pytest

from basepar_core.files import loads

TEXT = """\
name: shaft
space: planar
gravity: [0, -9.81]
constants: {drag: {value: 2, unit: N*m*s}}
bodies: {shaft: {mass: 1, centre: [0.1, 0], central_inertia: 0.01}}
joints: {A: {type: revolute, connects: [ground, shaft]}}
coordinates: [A]
torques: {bearing: {joint: A, value: VALUE}}
"""


def warned(value):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        loads(TEXT.replace("VALUE", value))
    return [str(one.message) for one in found]


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("drag*speed", "-drag*speed"),
        ("drag*speed + 3 N*m", "-(drag*speed + 3 N*m)"),
        ("drag*speed*abs(speed)/(1 rad/s)", "-drag*speed*abs(speed)/(1 rad/s)"),
    ],
)
def test_a_resistance_that_drives(value, meant):
    (message,) = warned(value)
    assert message.startswith("torques.bearing (line 8): drives the joint the faster it turns")
    assert message.endswith(f"a resistance is `{meant}`.")


@pytest.mark.parametrize(
    "value",
    ["-drag*speed", "3 N*m", "2 N*m - drag*speed", "drag*abs(speed)", "drag*speed*sin(position)"],
)
def test_what_may_be_meant(value):
    assert warned(value) == []
