"""Pitch circles against the teeth: a radius is half of the module times the number of teeth."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files import loads
from tests.core.dynamics.test_couplings import BELT, GEARED_FIVE_BAR, GEARS
from workflows.drawing.scene import Scene

STATES = (
    "excitation: {kind: states, samples: 24, seed: 1, amplitude: {A: 0.3 rad}, frequency: 1 Hz}"
)
#: Rounding of poses near 0.1 m and of a least-squares problem of ten poses.
CLOSE = 1e-12


def circles_of(mechanism, values=None):
    names = [body.name for body in mechanism.bodies]
    found = {}
    for one in Scene(prepare(mechanism), values or {}).circles:
        name = "ground" if one.body < 0 else names[one.body]
        if name in found:  # of another mesh: the same circle
            assert one.radius == pytest.approx(found[name][1], abs=CLOSE)
        found[name] = one.centre, one.radius
    return found


def test_planetary_gear():
    """Module 2 mm: 24, 18 and 18 teeth, and 60 of the ring."""
    found = circles_of(load("planetary-gear"))
    teeth = {"sun": 24, "planet_1": 18, "planet_2": 18, "ground": 60}
    assert {name: radius for name, (_, radius) in found.items()} == pytest.approx(
        {name: 1e-3 * z for name, z in teeth.items()}, abs=CLOSE
    )
    places = {"sun": (0, 0), "ground": (0, 0), "planet_1": (0.042, 0), "planet_2": (-0.042, 0)}
    for name, place in places.items():
        np.testing.assert_allclose(found[name][0], place, atol=CLOSE)


def test_a_variant_has_its_own():
    found = circles_of(load("planetary-gear"), {"zp": 24.0})
    assert found["sun"][1] == pytest.approx(0.021, abs=CLOSE)


def test_a_pair_on_the_ground():
    """Distance 0.3 m; the pinion turns 2.5 times as fast."""
    found = circles_of(loads(GEARS))
    assert found["pinion"][1] == pytest.approx(0.3 / 3.5, abs=CLOSE)
    assert found["wheel"][1] == pytest.approx(0.75 / 3.5, abs=CLOSE)


def test_gears_on_cranks_of_a_loop():
    """The crank turns twice as fast as the lever, 0.6 m away."""
    found = circles_of(loads(GEARED_FIVE_BAR))
    assert set(found) == {"crank", "lever"}
    assert found["crank"][1] == pytest.approx(0.2, abs=1e-11)  # loops are closed to 1e-11
    assert found["lever"][1] == pytest.approx(0.4, abs=1e-11)


@pytest.mark.parametrize(
    "text", [BELT + STATES, load("slider-crank").source, load("gripper").source]
)
def test_none_of_belts_loops_and_space(text):
    assert circles_of(loads(text)) == {}
