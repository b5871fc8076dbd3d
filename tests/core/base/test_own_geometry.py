"""The count of the file's own numbers, where the family's is another and float64 is blind."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from basepar_core.base import own_geometry
from basepar_core.base.compiled import compiled
from basepar_core.base.near_relations import nearly_met
from basepar_core.base.nominal import nominal_observation
from basepar_core.base.own_geometry import Route, count, counted
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics import closure
from basepar_core.expressions import add, number
from basepar_core.files import mechanism_file
from basepar_core.finite_field import Branch, Grading, detect
from basepar_core.symbolic import GeometryField, Transfers
from tests.campaigns.homes import Written
from tests.campaigns.machine_families import parallel_rusr
from tests.campaigns.planar_families import equal_slider_crank, peaucellier, rhombus
from tests.campaigns.spatial_families import bell_crank, cardan
from tests.mechanisms import PARALLELOGRAM_BY_VALUE, build
from tests.oracles.energy_rank import energy_rank

CENTRIC = """
name: centric slider-crank
space: planar
gravity: [0, -9.81]
{symbols}
bodies: {{crank: {{}}, rod: {{}}, slider: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, rod], at: [[{crank}, 0], [0, 0]]}}
  C: {{type: revolute, connects: [rod, slider], at: [[{rod}, 0], [0, 0]]}}
  D: {{type: prismatic, connects: [ground, slider], axis: [[1, 0], [1, 0]]}}
coordinates: [A]
assembly: {{A: 40 deg, B: -80 deg, C: 40 deg, D: 0.766}}
excitation: {{kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {{A: {size} rad}},
             samples: 64, seed: 1}}
"""


def centric(size="0.004", crank="0.5", rod="0.5", symbols=""):
    """A centric slider-crank, in numbers or symbols."""
    text = CENTRIC.format(size=size, crank=crank, rod=rod, symbols=symbols)
    return closure.prepare(mechanism_file.loads(text))


@pytest.mark.parametrize(
    "size", ["0.3", "1e-6", *(pytest.param(x, marks=pytest.mark.slow) for x in ("0.004", "1e-4"))]
)
def test_a_small_motion_of_a_special_geometry_by_numbers(size):
    """Crank and rod of one length: θ₂ = −θ₁, 5 of the 6 that unequal lengths have."""
    model = centric(size)
    base = symbolic(model)
    assert (base.rank, base.count, base.doubt) == (5, 5, "")
    assert energy_rank(model).rank == 5
    # What the family has is said beside it.
    assert base.generic == 6
    assert base.document()["generic_rank"] == 6


@pytest.mark.parametrize(
    "name", ["watt-ii", pytest.param("sla-suspension", marks=pytest.mark.slow)]
)
def test_few_samples_confirm_what_null_vectors_leave(name, monkeypatch):
    """Float64 is blind there; balls prove the rank from below without a climb of digits."""
    model = closure.prepare(mechanism_file.load(name))
    asked = []
    monkeypatch.setattr(own_geometry, "confirmed", lambda *given: asked.append(given))
    climbed = symbolic(model)
    monkeypatch.undo()
    monkeypatch.setattr(own_geometry, "count", None)  # nobody calls it
    base = symbolic(model)
    assert base.float64_doubt
    assert (base.count, base.doubt, base.certificate) == (
        climbed.count,
        climbed.doubt,
        climbed.certificate,
    )
    ((it, graded, found),) = asked
    here = own_geometry.confirmed(it, graded, found)
    assert (here.rank, here.grade) == (base.count, "proved")
    # A coefficient that is wrong by 1e-30 does not vanish; nor are as many columns independent.
    first, *others = found.beta
    wrong = add(first.expression, number(Fraction(1, 10**30)))
    off = replace(found, beta=(replace(first, expression=wrong), *others))
    assert own_geometry.confirmed(it, graded, off) is None
    (gone, *rest) = found.eliminated
    more = replace(found, kept=tuple(sorted([*found.kept, gone])), eliminated=tuple(rest))
    assert own_geometry.confirmed(it, graded, more) is None


def test_a_special_member_is_not_confirmed_as_its_family():
    model = centric("0.004")
    base = symbolic(model, own=False)
    it = Route(
        model, GeometryField.of(model.mechanism), "symbolic", None, nominal_observation(model)
    )
    assert base.rank == 6
    assert own_geometry.confirmed(it, Grading((), None, None, ""), base) is None


@pytest.mark.slow
def test_a_peaucellier_by_numbers():
    """15 by the rules; its pen goes along a line, and 14 is right."""
    wanted = Written("numbers", "0.001", None, "aligned", "down", "states")
    made = peaucellier(np.random.default_rng(1))
    model = closure.prepare(build(made.document(np.random.default_rng(1), wanted, "inversor")))
    base = symbolic(model)
    assert (base.rank, base.doubt) == (energy_rank(model).rank, "")
    assert base.rank == 14


SARRUS = """
name: sarrus
space: spatial
gravity: [1/2, -9.81, -2]
bodies: {{low1: {{}}, up1: {{}}, low2: {{}}, up2: {{}}, top: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, low1], at: [[0.2, 0, 0], [0, 0, 0]], {y}}}
  B: {{type: revolute, connects: [low1, up1], at: [[{a}, 0, 0], [0, 0, 0]], {y}}}
  C: {{type: revolute, connects: [up1, top], at: [[{b}, 0, 0], [0.2, 0, 0]], {y}}}
  D: {{type: revolute, connects: [ground, low2], at: [[0, 0.2, 0], [0, 0, 0]], {x}}}
  E: {{type: revolute, connects: [low2, up2], at: [[0, {c}, 0], [0, 0, 0]], {x}}}
  F: {{type: revolute, connects: [up2, top], at: [[0, {d}, 0], [0, 0.2, 0]], {x}}}
coordinates: [A]
assembly: {{A: -40 deg, B: -100 deg, C: 140 deg, D: 40 deg, E: 100 deg, F: -140 deg}}
excitation: {{kind: states, samples: 40, seed: 3, amplitude: {{A: 0.001 rad}}, frequency: 0.3 Hz}}
"""


@pytest.mark.parametrize(
    ("a", "b", "c", "d", "rank"),
    [
        pytest.param("0.3", "0.4", "0.35", "0.3", 10, marks=pytest.mark.slow),
        pytest.param("0.3", "0.3", "0.4", "0.4", 8, marks=pytest.mark.slow),
        pytest.param("0.4", "0.4", "0.4", "0.4", 5, marks=pytest.mark.slow),
    ],
)
def test_a_sarrus_with_equal_links_by_numbers(a, b, c, d, rank):
    """Two of four plates, each pair, or all are of one length; unequal ones have 11."""
    x, y = "axis: [[1, 0, 0], [1, 0, 0]]", "axis: [[0, 1, 0], [0, 1, 0]]"
    text = SARRUS.format(a=a, b=b, c=c, d=d, x=x, y=y)
    model = closure.prepare(mechanism_file.loads(text))
    base = symbolic(model)
    assert (base.rank, base.count, base.generic, base.doubt) == (rank, rank, 11, "")
    assert energy_rank(model).rank == rank


SYMBOLS = "geometry: {a: {value: 0.5, unit: m}, b: {value: 0.5, unit: m}}"


@pytest.mark.parametrize("size", ["0.3", "1e-4"])
def test_symbols_of_equal_value_have_both_counts(size):
    """5 here and 6 for other members, with β of each; a function of a and b is of the 6."""
    model = centric(size, "a", "b", SYMBOLS)
    base = symbolic(model)
    assert (base.rank, base.generic, base.doubt) == (5, 6, "")
    document = base.document()
    assert (document["rank"], document["generic"]["rank"]) == (5, 6)
    assert (len(document["base"]), len(document["generic"]["base"])) == (5, 6)
    assert compiled(base, model.mechanism).rank == 6


@pytest.mark.parametrize(("rod", "off"), [("0.5001", "0.0001"), ("0.50000000000000001", "1e-17")])
def test_decimals_that_miss_a_special_value_are_generic(rod, off):
    model = centric("0.3", rod=rod)
    base = symbolic(model)
    assert (base.rank, base.doubt) == (6, "")
    assert energy_rank(model).rank == 6
    (said,) = base.document()["near"]
    assert "A-B on crank" in said
    assert f"differ by {off} m" in said


def test_rounded_roots_and_nearly_parallel_axes_are_said():
    text = """
name: arm
space: spatial
gravity: [0, 0, -9.81]
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one], axis: [[0.7071, 0, 0.7071], [0.7071, 0, 0.7071]]}
  B: {type: revolute, connects: [one, two], at: [[0.4, 0, 0], [0, 0, 0]],
      axis: [[0.7071, 0.0001, 0.7071], [0.7071, 0.0001, 0.7071]]}
coordinates: [A, B]
"""
    rounded, parallel = nearly_met(mechanism_file.loads(text))
    assert rounded == "0.7071 is nearly sqrt(2)/2"
    assert parallel == "axes of A and B on one are nearly parallel"
    exact = text.replace("0.7071", "0.6").replace("0.0001", "0")
    assert nearly_met(mechanism_file.loads(exact)) == ()


def test_a_choice_for_the_family_is_kept_and_doubted():
    """The bounds differ, and programs see no number."""
    model = centric("0.004", "a", "b", SYMBOLS)
    family = symbolic(model, own=False)
    base = symbolic(model, family.eliminated)
    assert (base.rank, base.count) == (6, None)
    assert "this geometry has 5 by variable precision, the null vectors 6" in base.doubt
    document = base.document()
    assert document["rank"] is None
    bounds = document["certificate"]
    assert (bounds["at_least"]["rank"], bounds["at_most"]["rank"]) == (5, 6)


def test_the_completed_null_space_is_w_s():
    """β with the vectors of this geometry alone is variable precision's."""
    model = closure.prepare(mechanism_file.loads(PARALLELOGRAM_BY_VALUE))
    base = symbolic(model)
    other = numeric(model, base.eliminated)
    assert base.nominal_beta == pytest.approx(other.nominal_beta, abs=1e-9)


def test_a_certificate_of_a_completed_null_space_is_confirmed():
    model = centric("0.3")
    verdict = verify(json.loads(json.dumps(certify(model, symbolic(model)))))
    assert verdict.rank == 5
    assert [line["grade"] for line in verdict.statements] == ["proved", "numerical"]


def test_the_count_is_of_any_motion():
    """Two samples, or a course without accelerations, are the excitation's affair."""
    model = centric("0.3")
    few = CENTRIC.format(size="0.3", crank="0.5", rod="0.5", symbols="")
    few = few.replace("samples: 64", "samples: 12")
    assert count(closure.prepare(mechanism_file.loads(few))).rank == count(model).rank == 5


#: Where routes seemed to contradict each other: float64 sees one column too many in a motion of
#: 1e-5 rad; null vectors depend on each other where shafts meet (l0 = 2 l1); rules seen on
#: a bell crank that misses a parallelogram by 1e-10 m do not hold at its own geometry; random
#: members of a slider-crank of equal lengths have the slider stay at the crank's hinge.
SEEMING = {
    "rhombus": (rhombus, [43, 0], 3),
    "shafts that meet": (cardan, [33, 0], 6),
    "bell crank": (bell_crank, [24, 3], 19),
    "equal slider-crank": (equal_slider_crank, [825, 0], 5),
}


def drawn(family, *seed):
    """A mechanism as the campaign of counts draws it."""
    rng = np.random.default_rng([*seed, 20261122])
    made = family(rng)
    it = Written.random(rng, getattr(made, "loose", False))
    return closure.prepare(build(made.document(rng, it, f"{family.__name__} {seed}")))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "bell crank" else n for n in SEEMING]
)
def test_what_only_seems_a_contradiction_is_counted(name):
    family, seed, rank = SEEMING[name]
    model = drawn(family, *seed)
    base = symbolic(model)
    assert (base.rank, base.count, base.doubt) == (rank, rank, "")
    assert energy_rank(model).rank == rank


#: Draws with symbols, one rod or two: the rank here, and that of the family over finite fields.
PARALLEL = {(327, 0): (8, 8), (163, 0): (13, 25), (81, 1): (4, 10)}


@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=pytest.mark.slow) if k != (81, 1) else k for k in PARALLEL]
)
def test_rusr_with_parallel_hinges(seed):
    """Rods keep their slopes: null vectors with roots (decision 80) are found in digits."""
    model = drawn(parallel_rusr, *seed)
    rank, generic = PARALLEL[seed]
    base = symbolic(model)
    assert (base.count, base.generic, base.doubt) == (rank, generic, "")
    assert energy_rank(model).rank == rank
    assert base.certificate.at_most_grade == "numerical"


def test_what_detection_repeats_needs_no_count_of_its_own():
    """Of an arm all null vectors are theorems; float64 sees the rank that they leave."""
    model = closure.prepare(mechanism_file.load("ur10"))
    found = symbolic(model, exact=False)
    transfers = Transfers(model.mechanism, GeometryField.of(model.mechanism))
    assert any(vector.grade == "numerical" for vector in detect(transfers, Branch(model)))
    assert {vector.grade for vector in found.certificate.vectors} == {"theorem"}
    assert counted(found)
    # A parallelogram's coupler that does not turn is seen only.
    seen = symbolic(closure.prepare(mechanism_file.load("parallelogram")), exact=False)
    assert not counted(seen)
