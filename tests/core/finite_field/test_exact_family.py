"""What may vary in a family, what is freed, what is special, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.errors import EliminationError, FamilyError
from basepar_core.expressions.tree import Call, Name, add, multiply, number
from basepar_core.files import mechanism_file
from basepar_core.finite_field import family, grading
from basepar_core.finite_field.evaluation import Evaluator, spoilers
from basepar_core.finite_field.family_component import find_component
from basepar_core.finite_field.grading import grade
from basepar_core.finite_field.identities import check_identities, same_at
from basepar_core.finite_field.random_points import draw_point, field_for
from basepar_core.finite_field.rank import generic_rank
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import NullVector, Transfers, joint_vectors
from tests.core.finite_field.test_detection import SPATIAL_FOUR_BAR

NUMBERS = """
name: numbers
space: planar
gravity: [0, -9.81]
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[COUPLER, 0], [0, 0]]}
  D: {type: revolute, connects: [ground, three], at: [[0.7, 0], [ROCKER, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -60 deg, C: -120 deg}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {A: 0.3}, samples: 64, seed: 1}
"""

#: Four skew hinges that move only because 3 : 4 = sin α : sin β (Bennett 1903).
BENNETT = """
name: bennett
space: spatial
gravity: [1, 2, -9.81]
GEOMETRY
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[LONG, 0, 0], [0, 0, 0]], axis: [[0, -3, 4], [0, 0, 5]]}
  C: {type: revolute, connects: [two, three], at: [[WIDE, 0, 0], [0, 0, 0]], axis: [[0, -4, 3], [0, 0, 5]]}
  D:
    type: revolute
    connects: [ground, three]
    at: [[-WIDE, 0, 0], [LONG, 0, 0]]
    axis: [[0, 4, 3], [0, -3, 4]]
    reference: [[1, 0, 0], [1, 0, 0]]
coordinates: [A]
assembly: {A: 1 rad, B: 2.97 rad, C: -1 rad}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {A: 0.3}, samples: 64, seed: 1}
"""  # noqa: E501

ARM = """
name: arm
space: spatial
gravity: [1, 2, -9.81]
geometry: {l: {value: 0.4, unit: m}EXTRA}
RELATIONS
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one], axis: AXES}
  B: {type: revolute, connects: [one, two], at: [[l, 0, 1/3], [0, 0, 0]], axis: AXES, reference: [[1, 0, 0], [1, 0, 0]]}
  C: {type: fixed, connects: [two, three], at: [[l, 0, 0], [0, 0, 0]]}
coordinates: [A, B]
excitation: {kind: states, samples: 60, seed: 1, amplitude: {A: 1, B: 1}, frequency: 0.5 Hz}
"""  # noqa: E501

#: A four-bar that does not touch the ground: its numbers are all coordinates in bodies.
INNER = """
name: inner
space: planar
gravity: [0, -9.81]
bodies: {base: {}, one: {}, two: {}, three: {}}
joints:
  O: {type: revolute, connects: [ground, base]}
  A: {type: revolute, connects: [base, one]}
  B: {type: revolute, connects: [one, two], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[0.75, 0], [0, 0]]}
  D: {type: revolute, connects: [base, three], at: [[0.7, 0], [0.45, 0]]}
coordinates: [O, A]
assembly: {O: 0, A: 60 deg, B: -60 deg, C: -120 deg}
excitation:
  kind: fourier
  harmonics: 5
  base_frequency: 0.5 Hz
  amplitude: {O: 1, A: 0.3}
  samples: 64
  seed: 1
"""


def made(text: str, **replaced: str) -> Model:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return closure.prepare(mechanism_file.loads(text))


def test_numbers_of_ground_points_are_freed_first():
    moving = made(NUMBERS, COUPLER="0.75", ROCKER="0.45")
    found = generic_rank(moving)
    assert found.rank == numeric(moving).rank == 8
    assert found.freed == ("joints.D.at[0][0] = 7/10", "joints.A.at[0][1] = 0")
    assert "joints.D.at[0][0] = 7/10" in found.scope


def test_equal_numbers_may_be_a_parallelogram():
    """Freed ground points would hide it; the relations on its branch do not need them."""
    moving = made(NUMBERS, COUPLER="0.7", ROCKER="0.3")
    found = generic_rank(moving)
    assert (found.rank, found.freed, len(found.relations)) == (3, (), 2)
    assert numeric(moving).rank == 3


def test_numbers_of_bodies_are_freed_last():
    moving = made(INNER)
    found = generic_rank(moving)
    assert found.rank == numeric(moving).rank == 11
    assert len(found.freed) == 2
    assert not any("at[0][0] = 0" in text for text in found.freed)
    # Null vectors have these numbers as numbers, so that points with others cannot test them.
    with pytest.raises(FamilyError, match="Write them as symbols"):
        check_identities(moving, [{0: Name("x")}])
    base = symbolic(moving)
    assert base.certificate.at_least_grade == "proved generically"
    assert "may vary too" in base.certificate.at_least_scope


@pytest.mark.parametrize(
    ("extra", "relations", "axes"),
    [
        ("", "", "[[0, 3, 4], [0, 0, 5]]"),
        (", r3: {value: sqrt(3)}", "relations: {r3: r3^2 = 3}", "[[0, 1, r3], [0, 0, 2]]"),
        (
            ", u: {value: 0.3, unit: m}, w: {value: 0.5, unit: m}",
            "relations: {w: w^2 = u^2 + l^2}",
            "[[0, u, l], [0, 0, w]]",
        ),
        (", t: {value: 20 deg, unit: deg}", "", '[[0, "sin(t)", "cos(t)"], [0, 0, 1]]'),
        (", t: {value: 20 deg, unit: deg}", "", '[[0, "sin(2*t)", "cos(2*t)"], [0, 0, 1]]'),
    ],
    ids=["numbers", "constant root", "root of symbols", "angle", "twice an angle"],
)
def test_directions(extra, relations, axes):
    """Skew axes by numbers, algebraic numbers and angles: the same arm, the same rank."""
    text = ARM.replace("EXTRA", extra).replace("RELATIONS", relations).replace("AXES", axes)
    if "w^2" in relations:
        text = text.replace("l: {value: 0.4", "l: {value: 0.4").replace(
            "value: 0.5 m", "value: 0.5"
        )
    moving = made(text)
    found = [generic_rank(moving, seed) for seed in range(4)]
    assert {each.rank for each in found} == {numeric(moving).rank} == {10}
    assert symbolic(moving).certificate.grade == "proved generically"


def test_primes_are_those_that_have_the_roots():
    text = ARM.replace("EXTRA", ", r3: {value: sqrt(3)}").replace(
        "AXES", "[[0, 1, r3], [0, 0, 2]]"
    )
    mechanism = mechanism_file.loads(text.replace("RELATIONS", "relations: {r3: r3^2 = 3}"))
    kin = family.build(mechanism)
    for seed in range(10):
        draw = field_for(kin, np.random.default_rng(seed))
        assert draw_point(kin, draw).values["r3"] ** 2 == 3


@pytest.mark.parametrize("symbols", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_overconstrained_loop_on_its_own_component(symbols):
    """Bennett's linkage: each root of its closure is a component; one has no lengths."""
    if symbols:
        geometry = "geometry: {a: {value: 3, unit: m}, b: {value: 4, unit: m}}"
        moving = made(BENNETT, GEOMETRY=geometry, LONG="a", WIDE="b")
    else:
        moving = made(BENNETT, GEOMETRY="", LONG="3", WIDE="4")
    assert find_component(moving).codimension == int(symbols)  # 4 a = 3 b
    found = generic_rank(moving)
    assert found.rank == numeric(moving).rank == 9
    assert ("among geometries that close" in found.scope) == symbols
    # Joint rules leave 10: one null vector is recovered.
    base = symbolic(moving)
    assert (base.rank, base.certificate.at_least, base.certificate.grade) == (9, 9, "probability")
    assert base.doubt == ""


def test_a_planar_loop_in_space():
    """Constraints that are redundant at a point are so along the motion, or it would be said."""
    text = SPATIAL_FOUR_BAR.replace("GZ", "2")
    moving = closure.prepare(mechanism_file.loads(text))
    found = generic_rank(moving)
    assert (found.rank, found.freedoms, found.relations) == (8, 1, ())
    certificate = symbolic(moving).certificate
    # Each of the loop's joints holds it in its plane, and three times too often: no lift by
    # Hensel's lemma, which wants independent equations.
    assert (found.redundant, found.grade) == (3, "probability")
    assert certificate.at_least_grade == "probability"
    assert "3 constraint equations are redundant" in certificate.at_least_scope
    # All turn about z: seen, and an identity on the whole family.
    assert (certificate.grade, certificate.at_most_scope) == ("probability", "generic geometry")


def test_two_closures_that_nothing_tells_apart_are_refused():
    """A spherical four-bar with equal opposite arcs: both closures have its four links."""
    text = made_spherical()
    with pytest.raises(FamilyError, match="two solutions of different kinds"):
        generic_rank(closure.prepare(mechanism_file.loads(text)))


def made_spherical() -> str:
    """Bennett's axes through one point."""
    text = BENNETT.replace("GEOMETRY", "").replace("-WIDE", "0")
    return text.replace("WIDE", "0").replace("LONG", "0").replace("bennett", "spherical")


def test_a_refusal_leaves_numerical_grades():
    base = symbolic(closure.prepare(mechanism_file.loads(made_spherical())))
    assert base.certificate.at_least_grade == "numerical"
    assert "not tested over finite fields" in base.certificate.at_least_scope


def test_a_false_theorem_is_a_defect():
    moving = closure.prepare(mechanism_file.load("four-bar"))
    geometry = GeometryField.of(moving.mechanism)
    false = NullVector({0: geometry.one, 1: geometry.one}, "theorem", "mass of nothing")
    with pytest.raises(EliminationError, match="mass of nothing"):
        grade(moving, geometry, [false])


def test_what_closing_ties_is_no_theorem(monkeypatch):
    """Entries changed after the test are tested again, whatever relation changed them."""
    moving = closure.prepare(mechanism_file.load("four-bar"))
    geometry = GeometryField.of(moving.mechanism)
    known = joint_vectors(Transfers(moving.mechanism, geometry))
    before = [v.grade for v in grade(moving, geometry, known).vectors]
    assert set(before) == {"theorem"}
    tied = {"lx1": {"lx3": Fraction(1)}}  # guessed wrongly: nothing ties these
    monkeypatch.setattr(grading, "conditions", lambda *_: tied)
    after = grade(moving, geometry, known).vectors
    for old, new in zip(known, after, strict=True):
        if any("lx1" in geometry.to_text(x) for x in old.entries.values()):
            assert new.grade == "numerical"
        else:
            assert (new.grade, new.entries) == ("theorem", old.entries)
    assert {v.grade for v in after} == {"theorem", "numerical"}


def test_a_vector_at_the_files_numbers_is_compared(monkeypatch):
    """Numbers that had to vary are put back; another number is noticed."""
    moving = made(INNER)
    component = find_component(moving)
    wide = GeometryField.of(component.family.mechanism)
    field = GeometryField.of(moving.mechanism)
    freed = [s for s in component.family.mechanism.geometry if s.name.startswith("?")]
    numbers, _ = family.rational_values(freed)
    name, value = next(iter(numbers.items()))
    right = (
        (wide, {0: wide.symbol(name)}),
        (field, {0: field.one * value.numerator / value.denominator}),
    )
    assert same_at(component, *right, numbers)
    assert not same_at(component, *right, {**numbers, name: value + 1})


def test_spoilers_keep_lengths():
    """A ratio times a length: the ratio gets a value, the length stays unknown."""
    names = frozenset(("k", "x", "y"))
    k, x, y = (Name(name) for name in sorted(names))
    product = multiply(k, add(x, Call("/", (y, number(2)))))
    assert spoilers([product], names, lambda name: name != "k") == {"k"}
    assert spoilers([Call("/", (x, y))], names, lambda name: True) == {"y"}
    assert spoilers([add(Call("^", (x, number(2))), y)], names, lambda name: True) == {"x"}
    exact = Evaluator(lambda value: value, {"k": Fraction(2)}, {})
    assert exact.affine(product) == {"x": 2, "y": 1}
