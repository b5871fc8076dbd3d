"""Masses in g and moments in kg mm² that a file gives without a unit."""

import warnings

import pytest

from basepar_core.files import loads

BAR = """\
name: bar
space: planar
gravity: [0, -9.81]
geometry: {{a: {{value: 80, unit: mm}}}}
bodies:
  crank: {{mass: {mass}, centre: [{centre}, 0], {inertia}}}
  tool: {{}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, tool], at: [[a, 0], [0, 0]]}}
coordinates: [A, B]
"""
SPATIAL = """\
name: bar
space: spatial
gravity: [0, 0, -9.81]
bodies:
  crank: {{mass: {mass}, centre: [40 mm, 0, 0], {inertia}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
coordinates: [A]
"""


def warned(template=BAR, mass="0.6", inertia="central_inertia: 0.6 kg * a^2/12", centre="a/2"):
    return _messages(template.format(mass=mass, inertia=inertia, centre=centre))


def test_a_mass_in_grams():
    (message,) = warned(mass="600")
    assert message.startswith(
        "bodies.crank.mass (line 6): 600 is taken as 600 kg; with its central"
    )
    # By hand: 80 mm/√12/√1000.
    assert "radius of gyration is 0.73 mm in a body of 80 mm; write '600 g' or" in message


@pytest.mark.parametrize("moment", [0.02, 0.2, 2, 20, 40, 200, 2e3, 2e4, 2e5])
@pytest.mark.parametrize("mass", ["0.6", "250 g"])
def test_one_body_is_asked_about_once(mass, moment):
    assert len(warned(mass=mass, inertia=f"central_inertia: {moment}")) <= 1


@pytest.mark.parametrize(
    ("inertia", "unit"),
    [
        ("central_inertia: 320", "kg*mm^2"),
        ("central_inertia: 3.2e5", "g*mm^2"),
        ("inertia: 1280", "kg*mm^2"),
    ],
)
def test_a_moment_in_millimetres(inertia, unit):
    key, number = inertia.split(": ")
    (message,) = warned(inertia=inertia)
    assert f"bodies.crank.{key} (line 6): {number} is taken as {number} kg*m^2" in message
    assert f"write '{number} {unit}' or" in message


def test_a_mass_in_grams_with_a_moment_about_the_origin():
    (message,) = warned(mass="600", inertia="inertia: 0.6 kg * a^2/3")
    assert "bodies.crank.mass" in message
    assert "with its inertia the radius of gyration is 1.46 mm" in message


def test_in_space():
    moments = "central_inertia: [1e-5, 0, 0, 3.2e-4, 0, 3.2e-4]"
    assert warned(SPATIAL, "0.6", moments) == []
    (message,) = warned(SPATIAL, "600", moments)
    assert "bodies.crank.mass (line 5)" in message
    (message,) = warned(SPATIAL, "0.6", "central_inertia: [10, 0, 0, 320, 0, 320]")
    assert "bodies.crank.central_inertia (line 5)" in message
    assert "'10 kg*mm^2'" in message


@pytest.mark.parametrize(
    ("mass", "inertia", "said"),
    [
        ("2 g", "0.008 kg*m^2", "2 g with 0.008 kg*m^2 has a radius of gyration of 2 m, 25 times"),
        ("600 g", "12.8 kg*m^2", "is it 12.8 kg*cm^2?"),
        ("600 g", "320 kg*m^2", "is it 320 kg*mm^2?"),
        # By hand: 80 mm/√12·√1000 = 730 mm.
        ("0.2 g", "1.0667e-4 kg*m^2", "of 730 mm, 9 times the body's size, 80 mm; is it 0.2 kg?"),
        ("2e-4", "1.0667e-4", "2e-4 kg with 1.0667e-4 kg*m^2 has"),
    ],
)
def test_units_that_do_not_go_together(mass, inertia, said):
    (message,) = warned(mass=mass, inertia=f"central_inertia: {inertia}")
    assert said in message


#: A crank of 100 mm, a coupler of 300 mm.
BESIDE = """\
name: bar
space: planar
gravity: [0, -9.81]
bodies:
  crank: {{mass: 0.3, centre: [50 mm, 0], central_inertia: 2.5e-4}}
  coupler: {{mass: {mass}, centre: [150 mm, 0], central_inertia: {inertia}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, coupler], at: [[{a}, 0], [0, 0]]}}
coordinates: [A, B]
"""


def test_a_mass_in_grams_beside_others():
    bar = {"inertia": "500 kg*(300 mm)^2/12", "a": "100 mm"}
    (message,) = _messages(BESIDE.format(mass="500", **bar))
    assert message == (
        "bodies.coupler.mass (line 6): 500 is taken as 500 kg, more than 100 times every other "
        "body (crank 0.3 kg); write '500 g' or '500 kg'."
    )
    assert _messages(BESIDE.format(mass="500 kg", **bar)) == []
    assert _messages(BESIDE.format(mass="25", **bar)) == []


def test_heavy_bodies_of_large_machines_and_flywheels():
    """A car's body beside a wheel's carrier; a flywheel of 0.4 m on a shaft of 0.1 m."""
    assert _messages(BESIDE.format(mass="1500", inertia="1800", a="2.6 m")) == []
    assert _messages(BESIDE.format(mass="60", inertia="5.4", a="100 mm")) == []


RIGHT = {
    "kg": {},
    "with its unit": {"mass": "600 g"},
    "units are stated, whatever they are": {
        "mass": "600 kg",
        "inertia": "central_inertia: 320 kg*m^2",
    },
    "a heavy body": {"mass": "600", "inertia": "central_inertia: 0.32"},
    "a flywheel": {"mass": "20", "inertia": "central_inertia: 0.4"},
    "a flywheel on its axis, just off": {
        "mass": "20",
        "inertia": "inertia: 0.4",
        "centre": "1 mm",
    },
    "a small ball on a long arm": {
        "mass": "5",
        "inertia": "central_inertia: 0.002",
        "centre": "1",
    },
    "a point": {"mass": "5", "inertia": "central_inertia: 0"},
    "no mass": {"mass": "0", "inertia": "inertia: 0.001"},
}


@pytest.mark.parametrize("given", RIGHT.values(), ids=[*RIGHT])
def test_what_may_be_meant(given):
    assert warned(**given) == []


def test_points_give_a_body_its_size():
    """A last arm has one joint: its tool tells how long it is."""
    six = "0.011 kg*m^2, 0, 0, 0.011 kg*m^2, 0, 0.001 kg*m^2"
    text = SPATIAL.replace("40 mm", "0").format(mass="1800", inertia=f"central_inertia: [{six}]")
    tool = "points: {T: {body: crank, at: [250 mm, 0, 0]}}\n"
    assert not _messages(text)
    (message,) = _messages(text + tool)
    assert "in a body of 250 mm; write '1800 g'" in message


def _messages(text):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        loads(text)
    return [str(one.message) for one in found]
