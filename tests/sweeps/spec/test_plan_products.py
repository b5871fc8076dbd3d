"""Plans of plans: the rows of a plain loop, whatever slice is asked for."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basepar_core.errors import ExpressionError, FileError
from basepar_core.files.mechanism_file import loads
from sweeps.spec.filters import condition, formula
from sweeps.spec.plan_products import Chain, Derived, Formula, Product
from sweeps.spec.plans import Grid, LatinHypercube, Random, Sobol, Zip
from sweeps.spec.reader import from_document, parse_sweep
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from tests.sweeps.fourbar import FOUR_BAR, MECHANISM, SPANNED, spec

ZIP = Zip((("lx1", (0.3, 0.4, 0.5)), ("lx3", (1.0, 1.1, 1.2))))
SOBOL = Sobol((("Dx", 0.6, 1.4),), 7, seed=3)
TILT = Grid((("tilt", (0.1, 0.2)),))


def listed(plan):
    """Rows one by one, as tuples in the order of the names."""
    return [
        tuple(float(plan.rows(i, i + 1)[name][0]) for name in plan.names) for i in range(len(plan))
    ]


def stacked(rows):
    return np.stack(list(rows.values()), axis=-1)


def test_a_product_is_the_nested_loop():
    product = Product((ZIP, SOBOL, TILT))
    assert product.names == ("lx1", "lx3", "Dx", "tilt")
    expected = [
        sum(rows, ()) for rows in itertools.product(listed(ZIP), listed(SOBOL), listed(TILT))
    ]
    assert len(product) == 42
    assert list(map(tuple, stacked(product.rows(0, 42)).tolist())) == expected


def test_a_chain_is_one_after_the_other():
    other = Random((("lx3", 1.0, 2.0), ("lx1", 0.2, 0.3)), 5, seed=1)
    chain = Chain((ZIP, other))
    rows = stacked(chain.rows(0, 8))
    np.testing.assert_array_equal(rows[:3], stacked(ZIP.rows(0, 3)))
    np.testing.assert_array_equal(rows[3:, 0], other.rows(0, 5)["lx1"])


NESTED = [
    Product((ZIP, SOBOL, TILT)),
    Product((TILT, Chain((SOBOL, Sobol((("Dx", 0.6, 1.4),), 4, seed=9))))),
    Chain((Product((TILT, SOBOL)), Random((("Dx", 0.0, 1.0), ("tilt", 0.0, 1.0)), 30))),
    Derived(Product((ZIP, SOBOL)), (formula(MECHANISM, "tilt", "lx1/lx3"),), MECHANISM),
]


@pytest.mark.parametrize("plan", NESTED, ids=["product", "nested", "chain", "derived"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_slice_is_the_same(plan, data):
    start = data.draw(st.integers(0, len(plan)))
    stop = data.draw(st.integers(start, len(plan)))
    whole = stacked(plan.rows(0, len(plan)))
    np.testing.assert_array_equal(stacked(plan.rows(start, stop)), whole[start:stop])


def test_a_hundred_million_rows_cost_what_is_asked_for():
    """Addressed by index: no part is ever computed beyond the slice."""
    plan = Product(
        (
            LatinHypercube((("lx1", 0.2, 0.6),), 10**5, seed=1),
            Grid((("Dx", tuple(np.linspace(0.6, 1.4, 1000))),)),
        )
    )
    assert len(plan) == 10**8
    asked = []
    rows = LatinHypercube.rows

    def counted(self, start, stop):
        asked.append(stop - start)
        return rows(self, start, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LatinHypercube, "rows", counted)
        block = plan.rows(98_765_000, 98_775_000)
    assert sum(asked) <= 11
    assert len(np.unique(block["lx1"])) == 10
    np.testing.assert_array_equal(block["lx1"][0], plan.parts[0].rows(98765, 98766)["lx1"][0])


def test_two_parts_sweep_one_symbol():
    with pytest.raises(ValueError, match="Two parts of the product sweep Dx"):
        Product((SOBOL, SOBOL))
    with pytest.raises(ValueError, match="The parts of a chain sweep the same symbols"):
        Chain((SOBOL, TILT))


LONG = tuple(np.linspace(0.5, 1.0, 1442).tolist())
SIX = ("lx1", "lx2", "lx3", "Dx", "tilt", "k")  # 1442^6 is 0.97 of 2^63


@pytest.mark.parametrize(
    "plan",
    [
        Grid(tuple((name, (*LONG, 2.0, *LONG)) for name in SIX)),
        Product(tuple(Grid(((name, (*LONG, 2.0, *LONG)),)) for name in SIX)),
        Chain((Grid(tuple((name, LONG) for name in SIX)),) * 2),
    ],
    ids=["grid", "product", "chain"],
)
def test_more_rows_than_can_be_counted(plan):
    with pytest.raises(FileError, match=r"space: more than 2\^63 − 1 variants") as caught:
        SweepSpec(MECHANISM, plan)
    assert caught.value.where == ("space",)


class TestDerived:
    def test_follows_the_swept_ones_and_each_other(self):
        first = formula(MECHANISM, "lx3", "2*lx1 + 100 mm")
        second = formula(MECHANISM, "Dx", "lx3 + lx2", later=["Dx"])
        plan = Derived(Grid((("lx1", (0.3, 0.5)),)), (first, second), MECHANISM)
        rows = plan.rows(0, 2)
        np.testing.assert_allclose(rows["lx3"], [0.7, 1.1], rtol=1e-15)
        np.testing.assert_allclose(rows["Dx"], [1.4, 1.8], rtol=1e-15)  # lx2 is nominal, 0.7

    def test_follows_roots_which_follow_the_swept_ones(self):
        first = formula(SPANNED, "lx2", "lx1 + 0.4 m")
        second = formula(SPANNED, "lx3", "2*span")
        plan = Derived(Grid((("lx1", (0.2, 0.3, 0.5)),)), (first, second), SPANNED)
        rows = plan.rows(0, 3)
        # Newton ends within a few roundings of the root.
        expected = 2 * np.hypot(rows["lx1"], rows["lx1"] + 0.4)
        np.testing.assert_allclose(rows["lx3"], expected, rtol=1e-14)

    def test_a_root_has_no_value_before_what_it_follows(self):
        with pytest.raises(ExpressionError, match="needs lx2, which has no value yet"):
            formula(SPANNED, "lx3", "2*span", later=["lx2", "lx3"])

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("2*lx1^2", "m"),
            ("lx9", "lx9"),
            ("lx3/2", "no value yet"),
            ("2*(", "expected|found|ends"),
        ],
    )
    def test_what_cannot_be(self, text, words):
        with pytest.raises(ExpressionError, match=words):
            formula(MECHANISM, "lx3", text, later=["lx3"])

    def test_a_bare_number_is_in_the_symbols_unit(self):
        found: Formula = formula(MECHANISM, "lx2", "650")
        plan = Derived(Grid((("lx1", (0.3,)),)), (found,), MECHANISM)
        assert plan.rows(0, 1)["lx2"][0] == 0.65  # its unit is mm


SPACE = """
mechanism: four-bar.yaml
space:
  plan: product
  of:
    - {plan: zip, variables: {lx1: [0.3, 0.4], lx3: [1.0, 1.1]}}
    - {plan: table, rows: [{tilt: 5}, {tilt: 10}, {tilt: 20}]}
    - plan: chain
      of:
        - {plan: sobol, variables: {k: [1, 3]}, candidates: 4, seed: 2}
        - {plan: grid, variables: {k: [7]}}
  derive: {Dx: lx1 + lx2}
  where: ["Dx <= 1.05 m"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "four-bar.yaml").write_text(FOUR_BAR)
    return tmp_path


class TestFile:
    def test_reads_runs_again_and_hashes(self, folder):
        found = parse_sweep(SPACE, str(folder / "sweep.yaml"))
        assert len(found) == 2 * 3 * 5
        assert found.plan.names == ("lx1", "lx3", "tilt", "k", "Dx")
        np.testing.assert_allclose(found.plan.rows(0, 30)["Dx"][[0, 29]], [1.0, 1.1], rtol=1e-15)
        again = from_document(found.document())
        assert again == found
        assert again.hash == found.hash
        np.testing.assert_array_equal(
            stacked(again.plan.rows(3, 28)), stacked(found.plan.rows(3, 28))
        )
        other = parse_sweep(SPACE.replace("lx1 + lx2", "lx1 + 2*lx2"), str(folder / "sweep.yaml"))
        assert other.difference(found.canonical) == [
            "space.derive.Dx: lx1 + 2*lx2 here, lx1 + lx2 there"
        ]

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("lx3: [1.0", "tilt: [1.0", "Two parts of the product sweep tilt"),
            ("{k: [7]}", "{lx2: [7]}", "parts of a chain sweep the same"),
            ("derive: {Dx: lx1 + lx2}", "derive: {lx1: lx2}", "'lx1' is swept"),
            ("derive: {Dx: lx1 + lx2}", "derive: {rho: lx2}", "constants are never swept"),
            ("derive: {Dx: lx1 + lx2}", "derive: {Dx: lx2 + Dx}", "no value yet"),
            ("candidates: 4, seed: 2", "candidates: 4, where: []", "where"),
            ("plan: chain", "plan: chian", "did you mean 'chain'"),
        ],
    )
    def test_mistakes_are_named(self, folder, old, new, words):
        assert old in SPACE
        with pytest.raises(FileError, match=words):
            parse_sweep(SPACE.replace(old, new, 1), str(folder / "sweep.yaml"))

    def test_nothing_in_it(self, folder):
        text = "mechanism: four-bar.yaml\nspace: {plan: product, of: []}\n"
        with pytest.raises(FileError, match="at least one is needed"):
            parse_sweep(text, str(folder / "sweep.yaml"))


class TestNotes:
    BOUNDED = loads(
        FOUR_BAR.replace(
            "lx1: {value: 0.3, unit: m}", "lx1: {value: 0.3, unit: m, bounds: [0.2, 0.6]}"
        )
    )

    def test_nothing_to_say(self):
        assert spec().notes == ()

    def test_swept_beyond_bounds(self):
        plan = Product((Grid((("lx1", (0.2, 0.6, 0.7)),)), SOBOL))
        (note,) = SweepSpec(self.BOUNDED, plan).notes
        assert note == "lx1 is swept from 0.2 to 0.7 m, beyond its bounds 0.2 … 0.6 m"
        assert SweepSpec(self.BOUNDED, Grid((("lx1", (0.2, 0.6)),))).notes == ()

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            (
                (200, 600),
                "from 200 to 600 m, wholly outside its bounds 0.2 … 0.6 m. In mm .* '200 mm'",
            ),
            ((20, 60), "wholly outside its bounds 0.2 … 0.6 m. In cm .* '20 cm'"),
            ((2, 6), r"from 2 to 6 m, wholly outside its bounds 0.2 … 0.6 m$"),
            ((0.6, 600), "beyond its bounds 0.2 … 0.6 m$"),
        ],
    )
    def test_another_unit_is_guessed(self, values, words):
        (note,) = SweepSpec(self.BOUNDED, Grid((("lx1", values),))).notes
        assert re.search(words, note)

    def test_radians_for_degrees_are_guessed(self):
        old = "tilt: {value: 10, unit: deg"
        it = loads(FOUR_BAR.replace(old, f"{old}, bounds: [5, 20]"))
        (note,) = SweepSpec(it, Grid((("tilt", tuple(np.radians([0.1, 0.3]))),))).notes
        assert "from 0.1 to 0.3 deg, wholly outside its bounds 5 … 20 deg. In rad" in note

    def test_derived_beyond_bounds(self):
        follows = (formula(self.BOUNDED, "lx1", "Dx/2"),)
        plan = Derived(SOBOL, follows, self.BOUNDED)
        (note,) = SweepSpec(self.BOUNDED, plan).notes
        assert "lx1 is swept from" in note

    def test_negative_masses(self):
        odd = loads(FOUR_BAR.replace("mass: rho*lx1", "mass: rho*(lx1 - 0.4 m)"))
        plan = Grid((("lx1", (0.3, 0.35, 0.5, 0.6)),))
        (note,) = SweepSpec(odd, plan).notes
        assert note == "crank has a negative mass in 2 of 4 variants looked at"
        filtered = SweepSpec(odd, plan, (condition(odd, "lx1 >= 0.4 m"),))
        assert not [one for one in filtered.notes if "mass" in one]

    def test_an_inertia_that_no_body_has(self):
        """Of results that inertias enter, at the file's own values."""
        odd = loads(FOUR_BAR.replace("mass: rho*lx1", "mass: rho*(lx1 - 0.4 m)"))
        plan = Grid((("lx1", (0.5, 0.6)),))
        of_torques = Evaluation(metrics=("torque_rms",))
        (note,) = SweepSpec(odd, plan, evaluation=of_torques).notes
        assert note.startswith("no body has the inertia of crank: its mass is -")
        places = Evaluation(metrics=("stroke(D)", "angle_max(crank)"))
        assert SweepSpec(odd, plan, evaluation=places).notes == ()
        follows = Derived(Grid((("Dx", (1.0, 1.1)),)), (formula(odd, "lx1", "Dx/2"),), odd)
        assert SweepSpec(odd, follows, evaluation=of_torques).notes == ()

    def test_a_long_space_is_sampled_all_over(self):
        odd = loads(FOUR_BAR.replace("mass: rho*lx1", "mass: rho*(0.599 m - lx1)"))
        plan = Grid((("lx1", tuple(np.linspace(0.3, 0.6, 100_000))),))
        (note,) = SweepSpec(odd, plan).notes  # the last third of a percent only
        assert "of 2,048 variants" in note

    def test_a_sweep_that_asks_for_nothing(self):
        (note,) = replace(spec(), evaluation=Evaluation(rank="none")).notes
        assert "nothing is evaluated" in note
        asks = Evaluation(rank="none", metrics=("stroke(D)",))
        assert replace(spec(), evaluation=asks).notes == ()
