"""Special angular velocities: what they give, and what only looks like them."""

import numpy as np
import pytest

from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.files import mechanism_file
from basepar_core.finite_field.detection import Branch, detect
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors

SPATIAL_FOUR_BAR = """
name: flat
space: spatial
gravity: [1, -9.81, GZ]
geometry:
  a: {value: 0.3, unit: m}
  b: {value: 0.7, unit: m}
  c: {value: 0.6, unit: m}
  d: {value: 0.8, unit: m}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [two, one], at: [[0, 0, 1/10], [a, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[b, 0, 0], [0, 0, 1/5]]}
  D: {type: revolute, connects: [ground, three], at: [[d, 0, -3/10], [c, 0, 0]]}
coordinates: [A]
assembly: {A: 80 deg, B: 60 deg, C: -110 deg}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {A: 0.6}, samples: 64, seed: 1}
"""


def ranks(mechanism):
    """Rank left by joint rules alone, and with what is detected; the detected vectors."""
    model = closure.prepare(mechanism)
    field = GeometryField.of(mechanism)
    transfers = Transfers(mechanism, field)
    rules, found = joint_vectors(transfers), detect(transfers, Branch(model))
    names = mechanism.parameter_names
    left = [
        len(names) - len(eliminate(field, v, names).eliminated) for v in (rules, rules + found)
    ]
    return *left, found


@pytest.mark.parametrize(
    ("name", "joints", "all_"), [("parallelogram", 8, 3), ("five-bar", 11, 11)]
)
def test_in_the_plane(name, joints, all_):
    """Counts by variable precision, another implementation's."""
    before, after, found = ranks(mechanism_file.load(name))
    assert (before, after) == (joints, all_)
    assert {vector.grade for vector in found} <= {"numerical"}


def test_a_planar_four_bar_in_space_has_the_planar_count():
    """Ten parameters a body: 11 by joint rules, 8 once all turn about z.

    Distances along z do not matter; gravity along z does not, either.
    """
    for pull in ("0", "2"):
        mechanism = mechanism_file.loads(SPATIAL_FOUR_BAR.replace("GZ", pull))
        before, after, _ = ranks(mechanism)
        assert (before, after) == (11, 8)
        assert symbolic(closure.prepare(mechanism)).doubt == ""


def test_equal_values_of_different_symbols_are_no_parallelogram():
    """The geometry may be swept: what holds by value only is counted, beside the family's 8."""
    source = mechanism_file.load("parallelogram").source
    text = source.replace("lx1: {value: 0.4", "lx3: {value: 0.4, unit: m}\n  lx1: {value: 0.4")
    text = text.replace("[lx1, 0]]}\ncoordinates", "[lx3, 0]]}\ncoordinates")
    assert text != source
    model = closure.prepare(mechanism_file.loads(text))
    family = symbolic(model, own=False)
    assert (family.rank, family.generic) == (8, 8)
    assert numeric(model).rank == 3
    assert "float64 sees rank 3, the null vectors allow 8" in family.doubt
    base = symbolic(model)
    assert (base.rank, base.generic, base.doubt) == (3, 8, "")
    assert base.of_family.kept == family.kept


def test_parallelogram_says_why():
    _, _, found = ranks(mechanism_file.load("parallelogram"))
    reasons = {vector.reason for vector in found}
    assert any("coupler, which does not turn" in reason for reason in reasons)
    assert any("between crank and rocker, which turn alike" in reason for reason in reasons)


@pytest.mark.parametrize("turn", ["", "turned"])
def test_parallel_axes_in_space(turn):
    """An arm with parallel axes: mx, my and Izz of both are left of 20, as in the plane."""
    axis = "[[0, 0, 1], [0, 0, 1]]" if not turn else "[[0, 3/5, 4/5], [0, 0, 1]]"
    text = f"""
name: arm
space: spatial
gravity: [-9.81, 0, 0]
geometry: {{l: {{value: 0.4, unit: m}}}}
bodies: {{one: {{}}, two: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one], axis: {axis}}}
  B: {{type: revolute, connects: [one, two], at: [[l, 0, 1/3], [0, 0, 0]]}}
coordinates: [A, B]
excitation: {{kind: states, samples: 40, seed: 1, amplitude: {{A: 1, B: 1}}, frequency: 0.5 Hz}}
"""
    before, after, _ = ranks(mechanism_file.loads(text))
    # Joint rules: 7 into the ground, 3 between. That both turn about z gives 4 more.
    assert (before, after) == (10, 6)
    assert symbolic(closure.prepare(mechanism_file.loads(text))).doubt == ""


def test_detection_is_the_same_every_time():
    mechanism = mechanism_file.load("parallelogram")
    one, two = (ranks(mechanism)[2] for _ in range(2))
    assert [v.entries for v in one] == [v.entries for v in two]
    assert np.array([len(v.entries) for v in one]).min() >= 1
