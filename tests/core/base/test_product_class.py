"""Search in the planar paper's product class: its figures, and where it has to say no."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from basepar_core.api import load
from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.product_class import ADDED, ProductSearch, candidates, matches
from basepar_core.base.product_conditions import conditions, openings
from basepar_core.base.product_route import ProductParameters, product
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import Model, prepare
from basepar_core.errors import EliminationError, FamilyError, UsageError
from basepar_core.files.mechanism_file import loads
from basepar_core.symbolic.field import GeometryField

# Eq. 25 of the planar paper; by name, because the printed rows are duplicated (errata).
EQUATION_25 = {
    ("crank.mx", "crank.J"): "-1/lx1",
    ("coupler.m", "crank.J"): "1/lx1**2",
    ("coupler.m", "coupler.J"): "-1/(lx2**2 + ly2**2)",
    ("coupler.mx", "coupler.J"): "-lx2/(lx2**2 + ly2**2)",
    ("coupler.my", "coupler.J"): "ly2/(lx2**2 + ly2**2)",
    ("rocker.m", "coupler.J"): "1/(lx2**2 + ly2**2)",
    ("rocker.m", "rocker.J"): "-1/lx3**2",
    ("rocker.mx", "rocker.J"): "-1/lx3",
}


@cache
def prepared(name: str) -> Model:
    return prepare(five_bar_cut_at_c() if name == "five-bar, cut at C" else load(name))


def five_bar_cut_at_c():
    """The library's five-bar with the right rod's frame at D and the right crank's at E."""
    text = load("five-bar").source
    for old, new in (
        ("at: [[lx2, 0], [0, 0]]", "at: [[lx2, 0], [lx3, 0]]"),
        ("at: [[lx3, 0], [0, 0]]", "at: [[0, 0], [lx4, 0]]"),
        ("at: [[Ex, Ey], [lx4, 0]]", "at: [[Ex, Ey], [0, 0]]"),
        ("B: -74 deg, C: -76 deg, D: -91 deg, E: -120 deg", "B: -74 deg, D: -90 deg, E: 60 deg"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return loads(text, "five-bar, cut at C")


def found(name: str, eliminate: str = "") -> ProductParameters:
    model = prepared(name)
    wanted = parameter_indices(model.mechanism, eliminate.split(",")) if eliminate else None
    return product(model, wanted)


def entries(base) -> dict[tuple[str, str], str | None]:
    return {
        (base.base_names[e.base], base.eliminated_names[e.eliminated]): e.text for e in base.beta
    }


def test_equation_25():
    base = found("four-bar", "J1,J2,J3,m1")
    assert entries(base) == EQUATION_25
    assert base.no_effect == (0,)
    assert (base.missing, base.ambiguous, base.doubt) == ((), (), "")
    # Eq. 23 of the paper, and its counts of Eq. 21: 13 without the added 3·2 quotients.
    assert base.lengths == ("lx1", "lx2", "ly2", "lx3")
    assert base.squares == ("lx1**2", "lx2**2 + ly2**2", "lx3**2")
    assert base.candidates == (13 + 6, 16, 13)
    assert set(base.origins) == {"Eq. 21"}


@pytest.mark.parametrize(
    ("name", "eliminate"),
    [
        ("four-bar", "J1,J2,J3,m1"),
        ("four-bar", ""),
        ("five-bar", ""),
        ("five-bar", "m1,m4,m2,m3,J2"),
        ("slider-crank", ""),
    ],
)
def test_equal_to_the_symbolic_route(name, eliminate):
    """Two routes that share no rule: the same function, entry by entry."""
    base = found(name, eliminate)
    other = symbolic(prepared(name), base.eliminated, exact=False)
    assert entries(base) == entries(other)
    assert [e.value for e in base.beta] == [e.value for e in other.beta]
    assert base.rank == other.rank
    certificate = base.certificate
    assert (certificate.at_least, certificate.at_most) == (base.rank, base.rank)
    assert certificate.at_most_grade == "probability"
    assert len(certificate.vectors) == len(base.eliminated)
    assert all(condition.holds for condition in base.conditions)


def test_five_bar_with_two_choices():
    """Another implementation's two φ₂ of the five-bar cut at C, 9 and 11 entries.

    It mentions Λk/Λh for the second only. The first needs it too: the mass J2/λ2² that
    takes J2 away goes to the right rod at C, λ3 from its frame, and adds λ3² J2/λ2² to J3.
    """
    one = found("five-bar, cut at C", "m1,m4,J1,J4,J2")
    assert len(one.beta) == 9
    assert one.origins.count(ADDED) == 1
    assert "" not in one.origins
    assert entries(one)["right_rod.J", "left_rod.J"] == "lx3**2/lx2**2"
    two = found("five-bar, cut at C", "m1,m4,m2,m3,J2")
    assert len(two.beta) == 11
    assert two.origins.count(ADDED) > 1
    assert "" not in two.origins
    # 13, 20 and 14 as noted, and 4·3 quotients added.
    assert one.candidates == two.candidates == (13 + 12, 20, 14)
    (masses,) = (c for c in one.conditions if c.name.startswith("masses"))
    assert masses.detail == "wanted left_crank.m, right_crank.m"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "required", "admissible", "plain"),
    [
        ("four-bar", "m1", 39, 28),
        ("five-bar, cut at C", "m1,m4", 48, 24),
        ("slider-crank", "m1,m3", 3, 3),
    ],
)
def test_census(name, required, admissible, plain):
    """All φ₂ with the masses the paper requires, as another implementation counted them."""
    model = prepared(name)
    search = ProductSearch(model)
    fixed = parameter_indices(model.mechanism, required.split(","))
    others = [k for k in range(len(search.names)) if k not in fixed]
    rest = combinations(others, len(search.names) - search.solver.rank - len(fixed))
    chosen = [tuple(sorted((*fixed, *more))) for more in rest]
    census = [search.search(phi2) for phi2 in chosen if search.betas(phi2) is not None]
    assert len(census) == admissible
    assert all(len(match.found) == 1 for entries in census for match in entries)
    within = [all(match.found[0].origin != ADDED for match in entries) for entries in census]
    assert sum(within) == plain


def test_parallelogram_is_no_product():
    """The coupler only translates: halves of sums occur, and stay numbers."""
    base = found("parallelogram")
    assert base.rank == 3
    assert 0 < len(base.missing) < len(base.beta)
    assert "are no product of the class" in base.doubt
    other = symbolic(prepared("parallelogram"), base.eliminated, exact=False)
    expected = {(e.base, e.eliminated): e for e in other.beta}
    for entry, origin in zip(base.beta, base.origins, strict=True):
        exact = expected[entry.base, entry.eliminated]
        assert (entry.text is None) == (origin == "")
        if origin:
            assert entry.text == exact.text
        # float64's null space: W of the parallelogram is good to ten digits.
        assert entry.value == pytest.approx(exact.value, rel=1e-10)
    assert base.certificate.at_most_grade == "numerical"
    assert len(base.certificate.vectors) < len(base.eliminated)
    rows = base.document()["base"]
    assert any("terms" in row for row in rows) != all("terms" in row for row in rows)


def test_watt_ii_leaves_the_class_although_the_conditions_of_the_paper_hold():
    """The bell crank carries a cut, the rod and the ground: it hands on longer products."""
    base = found("watt-ii")
    named = {(base.parameters[b], base.parameters[e]) for b, e in base.missing}
    other = entries(symbolic(prepared("watt-ii"), base.eliminated, exact=False))
    assert {place: other[place] for place in named} == {
        ("bell_crank.mx", "coupler.J"): "-l3*(-Ex**2 + Ex*l3 - Ey**2)/(l2**2*(Ex**2 + Ey**2))",
        ("bell_crank.my", "coupler.J"): "-Ey*l3**2/(l2**2*(Ex**2 + Ey**2))",
        ("rod.m", "coupler.J"): "l3**2/(l2**2*(Ex**2 + Ey**2))",
    }
    assert {k: x for k, x in entries(base).items() if k not in named} == {
        k: x for k, x in other.items() if k not in named
    }
    states = {c.name: c.holds for c in base.conditions}
    assert states.pop("no third joint on a link with a cut") is False
    assert set(states.values()) == {True}


def test_conditions_are_looked_at():
    def states(name, eliminated, change=("", "")):
        text = load(name).source
        assert change[0] in text
        mechanism = loads(text.replace(*change), name)
        found = conditions(mechanism, GeometryField.of(mechanism), eliminated)
        return {c.name.split()[0]: c for c in found}

    plain = states("four-bar", ["crank.m"])
    assert all(c.holds for c in plain.values())
    assert not states("four-bar", ["crank.J"])["masses"].holds
    # The coupler's frame in the middle of nowhere.
    moved = states("four-bar", ["crank.m"], ("at: [[lx1, 0], [0, 0]]", "at: [[lx1, 0], [ly2, 0]]"))
    assert not moved["optimal"].holds
    assert "coupler" in moved["optimal"].detail
    # Watt II with its fixed pivot D between two moving bodies: a loop without the ground.
    inner = states(
        "watt-ii", [], ("connects: [ground, bell_crank]", "connects: [crank, bell_crank]")
    )
    assert not inner["loops"].holds
    assert "closed among moving bodies by D" in inner["loops"].detail


def test_openings_follow_the_frames():
    mechanism = load("slider-crank")
    (opening,) = openings(mechanism, GeometryField.of(mechanism))
    assert [joint.name for joint in opening.cuts] == ["C"]
    assert opening.masses == ("crank", "slider")


def test_several_matches_are_not_decided():
    """Lengths 2, 3, 6: the product of two is the third's multiple of one."""
    field = GeometryField.of(load("four-bar"))
    a, b, c = (field.symbol(name) for name in ("lx1", "lx2", "lx3"))
    one = (field.one, (Fraction(1),))
    lengths = [(a, (Fraction(2),)), (b, (Fraction(3),)), (c, (Fraction(6),))]
    among = candidates(one, lengths, [])
    assert {match.element for match in matches((Fraction(-3),), 0, among)} == {-b / b * c / a}
    assert {m.element for m in matches((Fraction(1, 36),), -2, among)} == {1 / c**2}
    assert {m.element for m in matches((Fraction(2),), 1, among)} == {a}
    among = candidates(one, [*lengths, (field.symbol("ly2"), (Fraction(9),))], [])
    fits = matches((Fraction(18),), 2, among)
    assert {m.element for m in fits} == {a * field.symbol("ly2"), b * c}
    assert matches((Fraction(7),), 2, among) == []


def test_refusals():
    with pytest.raises(UsageError, match="'ur10' is spatial"):
        product(prepared("ur10"))
    with pytest.raises(EliminationError, match="exactly 4 must be"):
        found("four-bar", "J1,J2")
    with pytest.raises(EliminationError, match=r"crank\.J cannot be eliminated together"):
        found("four-bar", "m1,J1,mx1,m2")
    angled = load("slider-crank").source.replace(
        "axis: [[1, 0], [1, 0]]", 'axis: [["cos(t)", "sin(t)"], [1, 0]]'
    )
    angled = angled.replace("geometry:", "geometry:\n  t: {value: 0 deg, unit: deg}")
    with pytest.raises(FamilyError, match="angles or algebraic numbers: t"):
        product(prepare(loads(angled, "angled")))
