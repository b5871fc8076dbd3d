"""Inertias that no body has: point masses are the oracle."""

import numpy as np
import pytest

from basepar_core.dynamics import impossible_inertias, unlikely_inertias, unlikely_masses
from basepar_core.files import library_names, library_path, loads
from basepar_core.files.mechanism_file import load
from tests.mechanisms import build


def mechanism(planar, **inertia):
    return build(
        {
            "name": "one body",
            "space": "planar" if planar else "spatial",
            "gravity": [0, -9.81] if planar else [0, 0, -9.81],
            "bodies": {"rod": inertia},
            "joints": {"A": {"type": "revolute", "connects": ["ground", "rod"]}},
            "coordinates": ["A"],
        }
    )


def sums(points, masses):
    """First moment and inertia matrix about the origin, point by point."""
    inertia = sum(
        m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True)
    )
    return masses @ points, inertia


@pytest.mark.parametrize("count", [1, 2, 3, 6])  # a point, a rod, a plate, a body
@pytest.mark.parametrize("planar", [True, False])
def test_point_masses_are_bodies_and_less_than_that_is_none(count, planar):
    rng = np.random.default_rng(count)
    points, masses = rng.standard_normal((count, 3)), rng.uniform(0.1, 2, count)
    if planar:
        points[:, 2] = 0
    first, I = sums(points, masses)
    shown = [*I[0], *I[1, 1:], I[2, 2]]
    given = {
        "mass": repr(float(masses.sum())),
        "first_moment": [repr(float(x)) for x in first[: 2 if planar else 3]],
        "inertia": repr(float(I[2, 2])) if planar else [repr(float(x)) for x in shown],
    }
    assert impossible_inertias(mechanism(planar, **given)) == {}
    # Less about z than there is: the points' own extent across the axis through their centre.
    centre = first / masses.sum()
    central = sums(points - centre, masses)[1]
    less = repr(float(I[2, 2] - central[2, 2] - 1e-3))
    inertia = less if planar else [*given["inertia"][:5], less]
    (why,) = impossible_inertias(mechanism(planar, **given | {"inertia": inertia})).values()
    assert "about the centre of mass" in why


@pytest.mark.parametrize(
    ("inertia", "why"),
    [
        ({"mass": "-0.5", "centre": [0, 0, 0], "inertia": [1, 0, 0, 1, 0, 1]}, "mass is -0.5 kg"),
        ({"mass": 0, "first_moment": [1, 0, 0], "inertia": [1, 0, 0, 1, 0, 1]}, "but no mass"),
        ({"mass": 1, "centre": [0, 0, 0], "inertia": [1, 0, 0, 1, 0, 2.1]}, "1, 1, 2.1 kg m²"),
        ({"mass": 1, "centre": [0, 0, 0], "inertia": [1, 1.5, 0, 1, 0, 2]}, "-0.5, 2, 2.5 kg m²"),
        ({"mass": 0, "centre": [0, 0, 0], "inertia": [1, 0, 0, 1, 0, 1]}, None),  # a rotor
    ],
)
def test_why(inertia, why):
    found = impossible_inertias(mechanism(False, **inertia))
    assert found == {} if why is None else why in found["rod"]


def test_shipped_bodies_are_bodies():
    found = {name: list(impossible_inertias(load(name))) for name in library_names()}
    # Armstrong, Khatib & Burdick (ICRA 1986) measured 0.066, 0.086 and 0.0125 kg m² of link 3.
    assert {name: bodies for name, bodies in found.items() if bodies} == {"puma-560": ["forearm"]}


def test_a_moment_in_another_unit():
    """A bar of 0.3 kg and 0.2 m has 1000 kg mm² about its centre; as kg m² it were 58 m."""
    text = (
        "name: bar\nspace: planar\ngravity: [0, -9.81]\n"
        "bodies: {bar: {mass: 0.3, centre: [0.1, 0], central_inertia: 1000}, end: {number: 2}}\n"
        "joints:\n  A: {type: revolute, connects: [ground, bar]}\n"
        "  B: {type: revolute, connects: [bar, end], at: [[0.2, 0], [0, 0]]}\n"
        "coordinates: [A, B]\n"
    )
    (why,) = unlikely_inertias(loads(text)).values()
    assert "57.7 m, 289 times" in why
    assert "`kg*mm^2`" in why
    assert unlikely_inertias(loads(text.replace("1000}", "1000 kg*mm^2}"))) == {}
    (why,) = unlikely_inertias(
        loads(text.replace("0.3,", "0.3 g,").replace("1000}", "1e-3}"))
    ).values()
    assert why.endswith("a mass of 0.3 kg would fit: is 0.3 g stated?")


def test_no_shipped_inertia_is_unlikely():
    assert not any(unlikely_inertias(load(name)) for name in library_names())


PRESS = """\
name: press
space: planar
gravity: [0, -9.81]
geometry: {r: {value: 60, unit: mm}, l: {value: 220, unit: mm}}
constants: {rho: {value: 2.1, unit: kg/m}, mp: {value: 700, unit: g}}
bodies:
  crank: {mass: rho*r, centre: [r/2, 0], inertia: rho*r^3/3}
  rod: {mass: rho*l, centre: [l/2, 0], inertia: rho*l^3/3}
  piston: {mass: mp, centre: [0, 0], inertia: mp*(50 mm)^2/6}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, piston], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, piston], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, B: -50 deg, C: 10 deg, D: 264 mm}
"""


def test_a_mass_in_another_unit():
    assert unlikely_masses(loads(PRESS)) == {}
    wrong = loads(PRESS.replace("700, unit: g", "700, unit: kg"))
    assert unlikely_masses(wrong) == {
        "piston": "700 kg, more than 1,000 times every other body (rod 0.462 kg, crank 0.126 kg): "
        "is `mp` in g?"
    }
    stated = loads(PRESS.replace("mass: mp", "mass: 700 kg"))
    assert unlikely_masses(stated)["piston"].endswith(": is it in g?")


def test_a_line_density_in_another_unit():
    wrong = PRESS.replace("2.1, unit: kg/m", "1200, unit: kg/m")
    assert unlikely_masses(loads(wrong)) == {
        "rod": "264 kg: `rho` is 1200 kg/m, which no bar in a mechanism of this size has: is it "
        "in g/m?"
    }
    assert unlikely_masses(loads(PRESS.replace("2.1, unit: kg/m", "100, unit: kg/m"))) == {}


@pytest.mark.parametrize(("mass", "beside"), [("90 kg", "1 g"), ("5000 kg", "10 kg")])
def test_a_machine_may_have_light_and_heavy_bodies(mass, beside):
    text = PRESS.replace("mass: mp", f"mass: {mass}").replace("mass: rho*l", f"mass: {beside}")
    assert unlikely_masses(loads(text)) == {}


def test_no_shipped_mass_is_unlikely():
    assert not any(unlikely_masses(load(name)) for name in library_names())


def test_a_flywheel_on_an_eccentric_is_no_mistake():
    """A press's: 10 mm of throw, 200 kg with a radius of gyration of 0.3 m, 10 rods' lengths."""
    press = """
name: press
space: planar
gravity: [0, -9.81]
geometry: {e: {value: 10, unit: mm}, l: {value: 30, unit: mm}}
bodies:
  shaft: {mass: 200 kg, centre: [0, 0], inertia: 18 kg*m^2}
  rod: {mass: 2 kg, centre: [l/2, 0], central_inertia: 2 kg*l^2/10}
  ram: {mass: 5 kg, centre: [0, 0], inertia: 0.01 kg*m^2}
joints:
  A: {type: revolute, connects: [ground, shaft]}
  B: {type: revolute, connects: [shaft, rod], at: [[e, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, ram], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, ram], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 30 deg, B: -40 deg, C: 10 deg, D: 38 mm}
"""
    assert unlikely_inertias(loads(press)) == {}
    assert list(unlikely_inertias(loads(press.replace("18 kg", "180 kg")))) == ["shaft"]


def test_a_flange_in_grams_is_denser_than_any_material():
    text = library_path("ur5").read_text(encoding="utf-8")
    wrong = text.replace("m6: {value: 0.1879, unit: kg}", "m6: {value: 187.9, unit: kg}")
    assert wrong != text
    (found,) = unlikely_masses(loads(wrong)).items()
    assert found[0] == "wrist_3"
    assert "more than 10 times every other body" in found[1]
    assert found[1].endswith("denser than any material: is `m6` in g?")
    # As heavy, as a ball of steel would be: radius (3 m/4πρ)^⅓, moment ⅖ m r².
    ball = 0.4 * 187.9 * (3 * 187.9 / (4 * np.pi * 7850)) ** (2 / 3)
    start = wrong.index("central_inertia:", wrong.index("wrist_3:"))
    stop = wrong.index("joints:")
    solid = f"central_inertia: [{ball}, 0, 0, {ball}, 0, {ball}]\n"
    assert unlikely_masses(loads(wrong[:start] + solid + wrong[stop:])) == {}
