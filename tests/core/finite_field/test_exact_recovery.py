"""Null vectors recovered over finite fields, against variable precision and float64's W."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from flint import nmod

from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import EliminationError, MechanismError
from basepar_core.files import mechanism_file
from basepar_core.finite_field import grading
from basepar_core.finite_field.arithmetic import random_prime
from basepar_core.finite_field.conditions import conditions
from basepar_core.finite_field.detection import Branch, detect
from basepar_core.finite_field.family_component import find_component
from basepar_core.finite_field.fitting import fitted, quotients
from basepar_core.finite_field.lengths import exact_number
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from tests.campaigns.generator import random_mechanism
from tests.campaigns.random_mechanisms import assembled
from tests.core.finite_field.test_exact_family import BENNETT, made
from tests.mechanisms import E, P, linkage, nearby

TWO = """
name: two symbols
space: planar
gravity: [0, -9.81]
geometry: {x: {value: 1/2, unit: m}, h: {value: 1/4, unit: m}}
bodies: {one: {}}
joints: {A: {type: revolute, connects: [ground, one], at: [[0, 0], [x, h]]}}
coordinates: [A]
excitation: {kind: states, samples: 6, seed: 1, amplitude: {A: 1}, frequency: 0.3 Hz}
"""


def campaign(seed):
    """A mechanism of the campaign."""
    model = assembled(seed)
    assert not isinstance(model, str), model
    return model


def recovered(base):
    return [v for v in base.certificate.vectors if "recovered over finite fields" in v.reason]


def rules_leave(model):
    """Rank that joint rules and detection leave."""
    field = GeometryField.of(model.mechanism)
    transfers = Transfers(model.mechanism, field)
    names = model.mechanism.parameter_names
    known = [*joint_vectors(transfers), *detect(transfers, Branch(model))]
    return len(names) - len(eliminate(field, known, names).eliminated)


FIXTURES = Path(__file__).parents[2] / "fixtures"

CASES = {
    "bennett": (lambda: made(BENNETT, GEOMETRY="", LONG="3", WIDE="4"), 1),
    "bennett in one symbol": (
        lambda: made(
            BENNETT, GEOMETRY="geometry: {b: {value: 4, unit: m}}", LONG="3/4*b", WIDE="b"
        ),
        1,
    ),
    # Twists that are angles, a second length as Bennett's condition asks: denominators of degree
    # five in sines and cosines.
    "bennett by angles": (
        lambda: closure.prepare(mechanism_file.load(str(FIXTURES / "bennett-angles.yaml"))),
        1,
    ),
    "slide on a plate": (
        lambda: closure.prepare(
            linkage(
                4,
                [("a", E, "ground", "plate"), ("b", P, "plate", "slide")],
                amplitude=1.0,
                samples=60,
            )
        ),
        1,
    ),
    "scara": (lambda: closure.prepare(mechanism_file.load("scara")), 2),
    "carried parallelogram of parallel hinges": (lambda: campaign(51), 1),
    "two vectors with a symbol": (lambda: campaign(23), 2),
}


SLOW = {
    "bennett by angles",
    "carried parallelogram of parallel hinges",
    "two vectors with a symbol",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in CASES],
)
def test_what_is_missing_is_recovered(name):
    """Rank and β are those of variable precision, which knows no rule."""
    make, count = CASES[name]
    model = make()
    base = symbolic(model)
    assert base.doubt == ""
    assert base.certificate.at_least == base.certificate.at_most == base.rank
    loop = name.startswith(
        ("bennett", "carried", "two")
    )  # with redundant constraints: nothing lifts
    assert base.certificate.at_least_grade == ("probability" if loop else "proved generically")
    assert rules_leave(model) - base.rank == len(recovered(base)) > 0
    assert len(recovered(base)) == count
    assert {vector.grade for vector in recovered(base)} == {"probability"}
    other = precise(model, list(base.eliminated))
    assert other.rank == base.rank
    # Precise β is right to 17 digits, and rounded to float64 as ours is.
    np.testing.assert_allclose(other.nominal_beta, base.nominal_beta, rtol=1e-14, atol=1e-15)


@pytest.mark.slow
def test_recovered_vectors_hold_at_other_geometries():
    """W φ in float64 at variants, by recovered vectors with symbols in them."""
    model = campaign(51)
    base = symbolic(model)
    assert any("l4" in text for v in recovered(base) for text in v.entries.values())
    values = nearby(model.mechanism, 5, 0.05, seed=4)
    seen = observe(model, values, excitation(model.mechanism, model.assembled.coordinates))
    assert seen.closed.all()
    beta = base.beta_matrix(base.beta_entries({**model.mechanism.nominal, **values}))
    W1, W2 = seen.W[..., list(base.kept)], seen.W[..., list(base.eliminated)]
    gap = np.abs(np.einsum("vscb,vbe->vsce", W1, beta) - W2).max()
    # Rounding of W, magnified by β: entries of order one.
    assert gap < 1e-12 * np.abs(seen.W).max() * max(1, np.abs(beta).max())


def test_a_choice_that_needs_the_recovered_vector():
    """φ₂ with the parameters that only it can eliminate; one more or another is refused."""
    model = made(BENNETT, GEOMETRY="", LONG="3", WIDE="4")
    eliminated = numeric(model).eliminated
    base = symbolic(model, eliminated)
    assert base.eliminated == eliminated
    names = model.mechanism.parameter_names
    loud = next(k for k in eliminated if k not in base.no_effect)
    with pytest.raises(EliminationError, match="1 more parameter must be eliminated"):
        symbolic(model, [k for k in eliminated if k != loud])
    with pytest.raises(EliminationError, match="cannot be eliminated together"):
        symbolic(model, [*eliminated, base.kept[0]])
    assert len(names) - len(eliminated) == 9


def test_poles_of_recovered_vectors_are_in_the_validity():
    """What β divides by vanishes only where one of the exported expressions does."""
    model = made(BENNETT, GEOMETRY="geometry: {b: {value: 4, unit: m}}", LONG="3/4*b", WIDE="b")
    base = symbolic(model, numeric(model).eliminated)
    assert recovered(base)
    field = GeometryField.of(model.mechanism)
    denominators = {field.element(e.expression).denom for e in base.beta}
    assert any(not d.is_ground for d in denominators)
    assert [text for _, text in base.validity] == ["b"]
    assert all(d.is_ground or set(d.monoms()) == {(1,)} for d in denominators)


@pytest.mark.slow
def test_lengths_that_closure_ties():
    """Hinges through one point whose distances have symbols of their own: these must be equal.

    Without this the elimination divides by their difference, which is zero.
    """
    model = campaign(38)
    tied = conditions(find_component(model))
    assert {name: dict(others) for name, others in tied.items()} == {"l0": {"l1": 1}}
    base = symbolic(model)
    assert base.rank == numeric(model).rank == base.certificate.at_least == 29
    assert "the loops close only where l0 = l1" in base.certificate.at_least_scope
    tied_ = [v for v in base.certificate.vectors if ", where the loops close" in v.reason]
    assert {v.grade for v in tied_} <= {"probability"}
    assert "l0 = l1" in base.certificate.at_most_scope
    assert np.isfinite(base.nominal_beta).all()


#: A four-bar on a swinging base, modelled in space; its numbers are all coordinates in bodies.
CARRIED = """
name: carried
space: spatial
gravity: [1, 2, -9.81]
bodies: {base: {}, one: {}, two: {}, three: {}}
joints:
  O: {type: revolute, connects: [ground, base], axis: [[0, 1, 0], [0, 1, 0]]}
  A: {type: revolute, connects: [base, one]}
  B: {type: revolute, connects: [one, two], at: [[0.3, 0, 0.1], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[0.75, 0, 0], [0, 0, 0.2]]}
  D: {type: revolute, connects: [base, three], at: [[0.7, 0, 0.1], [0.45, 0, 0.2]]}
coordinates: [O, A]
assembly: {O: 0, A: 60 deg, B: -60 deg, C: -120 deg}
excitation: {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {O: 1, A: 0.3},
             samples: 64, seed: 1}
"""


@pytest.mark.slow
def test_numbers_of_bodies_that_must_vary(monkeypatch):
    """Vectors that only were seen hold on the wider family, and with the file's numbers put back.

    Rank and β are variable precision's, which frees nothing.
    """
    model = closure.prepare(mechanism_file.loads(CARRIED))
    assert not model.mechanism.geometry
    family = find_component(model).family
    assert family.freed_on_bodies
    assert all(text.startswith(("joints.B.at[0]", "joints.C.at[0]")) for text in family.freed)
    base = symbolic(model)
    assert base.doubt == ""
    seen = [v for v in base.certificate.vectors if v.grade != "theorem"]
    assert [vector.grade for vector in seen] == ["probability"]
    assert not any("?" in text for vector in seen for text in vector.entries.values())
    assert "may vary too" in base.certificate.at_most_scope
    other = precise(model, list(base.eliminated))
    assert base.rank == base.certificate.at_least == other.rank == 21
    # Precise β is right to 17 digits, and rounded to float64 as ours is.
    np.testing.assert_allclose(other.nominal_beta, base.nominal_beta, rtol=1e-14, atol=1e-15)
    # Without what comes back from the wider family one vector is missing, and it is said.
    monkeypatch.setattr(grading, "_narrowed", lambda *_: None)
    short = symbolic(model, own=False)
    assert (short.rank, short.certificate.at_least) == (22, 21)
    assert "some are missing" in short.doubt


def test_a_quotient_is_found_by_its_values():
    """(x² − 3 y²/7)/(2 x − 5 y), over primes; a constant with 40 digits needs several."""
    mechanism = mechanism_file.loads(TWO)
    field = GeometryField.of(mechanism)
    x, y = (field.symbol(name) for name in ("x", "h"))
    long = Fraction(10**19 + 51, 10**18 + 9)
    primes = [random_prime(np.random.default_rng(k)) for k in range(12)]
    places = [field.generators.index(g) for g in field.generators]

    def source(function):
        def values(place, count):
            prime = primes[place]
            rng = np.random.default_rng(place)
            points = []
            for _ in range(count):
                at = [nmod(int(rng.integers(1, 2**60)), prime) for _ in places]
                number = exact_number(prime)
                points.append((at, function(*at, number)))
            return prime, points

        return values

    found = fitted(
        field,
        source(lambda a, b, q: (a * a - q(Fraction(3, 7)) * b * b) / (2 * a - 5 * b)),
        quotients(field, places, (), 1, True),
    )
    u, v = (field.field.gens[k] for k in places)
    assert found == (u**2 - 3 * v**2 / 7) / (2 * u - 5 * v)
    assert {x, y} == {u, v}
    constant = fitted(field, source(lambda a, b, q: q(long)), quotients(field, (), (), 0, True))
    assert constant == field.one * long.numerator / long.denominator
    wrong = fitted(
        field,
        source(lambda a, b, q: a**9 + b),
        list(quotients(field, places, (), 1, True))[:2],
    )
    assert wrong is None


def test_ansatzes_grow():
    field = GeometryField.of(mechanism_file.load("scara"))
    sizes = [a.points for a in quotients(field, [0, 1], (), 1, True)]
    assert len(sizes) == 5
    assert all(one < two for one, two in pairwise(sizes))


def test_a_singular_assembly_is_refused():
    """Constraints that look redundant where motions branch: of three at first order two go on."""
    for amplitude in (0.3, 0.1):
        with pytest.raises(MechanismError, match="of which 2 lead to another pose"):
            closure.prepare(random_mechanism(318, amplitude))
