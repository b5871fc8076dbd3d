"""Tables 1 and 2 of the low-mobility paper: its suspension, number by number.

Both are with the paper's φ₂ and by the parameters' names
(`workflows/reproduce/low-mobility.yaml`). Ground points are ours, on which no number of Table 2
depends. Table 1 is rounding noise that depends on everything, so its failure is repeated, not
its numbers.
"""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import yaml

from basepar_core.api import load
from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.precise_route import precise, precise_rank
from basepar_core.base.symbolic_route import nominal_observation, numeric
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision.numbers import text
from workflows import reproduce

GOLDEN = Path(reproduce.__file__).parent / "low-mobility.yaml"
PAPER = yaml.load(GOLDEN.read_text(), yaml.BaseLoader)  # numbers stay text
#: Digits that ours are written with: twenty more than the paper prints.
DIGITS = 30


@pytest.fixture(scope="module")
def suspension():
    return prepare(load("sla-suspension"))


@pytest.fixture(scope="module")
def ours(suspension):
    """Base parameters with the paper's φ₂: short names, and β as text by names."""
    wanted = PAPER["no_effect"] + PAPER["transferred"]
    found = precise(suspension, parameter_indices(suspension.mechanism, wanted), digits=DIGITS)
    short = {full: name for name, full in suspension.mechanism.parameter_aliases.items()}
    rows = {short[name]: {} for name in found.base_names}
    for entry, value in zip(found.beta, found.decimals, strict=True):
        row = rows[short[found.base_names[entry.base]]]
        row[short[found.eliminated_names[entry.eliminated]]] = text(value, DIGITS)
    return found, rows


def corrected(table):
    """A table's rows by name, its errata put right where they are as printed."""
    rows = {name: dict(row["terms"]) for name, row in PAPER[table].items()}
    for name, erratum in PAPER["errata"].get(table, {}).items():
        assert rows[name] == erratum["printed"]
        rows[name] = dict(erratum["right"])
    return rows


def at_printed_digits(value, printed):
    """Our number with as many decimals as the paper's."""
    return Decimal(value).quantize(Decimal(printed))


def test_geometry_is_the_papers(suspension):
    stated = {symbol.name: symbol.value for symbol in suspension.mechanism.geometry}
    for name, value in (PAPER["geometry"] | PAPER["hub_to_wheel"]).items():
        assert Decimal(value) == Decimal(str(float(stated[name].value)))


def test_rank_is_41_of_70(ours):
    found, _ = ours
    assert (found.rank, len(found.parameters), found.doubt) == (41, 70, "")
    assert found.certificate.at_least_grade == "proved"
    # Parameters of Table 3 have no column in W at all.
    assert len(found.no_effect) == len(PAPER["no_effect"]) == 13
    assert len(PAPER["transferred"]) == 16


def test_table_2_to_every_printed_digit(ours):
    _, rows = ours
    expected = corrected("table_2")
    assert rows.keys() == expected.keys()
    compared = 0
    for name, terms in expected.items():
        assert rows[name].keys() == terms.keys(), name  # what is not printed is zero
        for other, printed in terms.items():
            assert at_printed_digits(rows[name][other], printed) == Decimal(printed), (name, other)
            compared += 1
    assert compared == 57


def test_table_2_as_printed_differs_in_its_errata_only(ours):
    _, rows = ours
    wrong = {
        name
        for name, row in PAPER["table_2"].items()
        if rows[name].keys() != row["terms"].keys()
        or any(at_printed_digits(rows[name][k], v) != Decimal(v) for k, v in row["terms"].items())
    }
    assert wrong == PAPER["errata"]["table_2"].keys()


def test_numbers_that_the_text_repeats():
    """The golden file's own sums: Table 1 agrees with Table 2 where the paper says so."""
    one, two = (PAPER[f"table_{k}"]["mx1"]["terms"] for k in (1, 2))
    for name in ("Iyy1", "m7"):  # "close to those obtained with VP arithmetic"
        assert at_printed_digits(two[name], one[name]) == Decimal(one[name])
    # "The term multiplying mx5 is completely out of range": in every row of Table 1.
    for name, row in PAPER["table_1"].items():
        assert abs(float(row["terms"]["mx5"])) > 1, name
    assert {row["number"] for row in PAPER["table_1"].values()} == {str(k) for k in range(1, 42)}
    assert PAPER["table_1"].keys() == PAPER["table_2"].keys()


def test_table_1_double_precision_fails(suspension, ours):
    """Gautier's procedure in floats: no ridge, and wrong numbers even with the rank given."""
    found, _ = ours
    W = nominal_observation(suspension).stacked[0]
    assert W.shape == (300, 70)
    _, sizes, rows = np.linalg.svd(W)
    assert sizes[40] / sizes[41] < 10  # a ridge is not to be seen
    plain = numeric(suspension)
    assert plain.doubt != ""
    assert plain.certificate.at_least <= 41 <= plain.certificate.at_most
    null = rows[41:].T
    kept, eliminated = list(found.kept), list(found.eliminated)
    beta = -np.linalg.solve(null[eliminated].T, null[kept].T).T
    wrong = np.abs(beta - found.nominal_beta)
    # Table 1 leaves out what is below 1e-2: beyond that many terms appear that are not there,
    # and some by as much as the coefficients themselves (0.48 here).
    assert (wrong > 1e-2).sum() > 10
    assert wrong.max() > 0.1


@pytest.mark.slow
def test_ridge_of_figure_5(suspension):
    """Thirty digits and all 150 instants: a ridge after σ₄₁, and σ before it as more show them."""
    thirty = precise_rank(suspension, digits=30, samples=150)
    more = precise_rank(suspension, digits=60, samples=150)
    assert (thirty.rank, thirty.evident, more.rank) == (41, True, 41)
    assert thirty.gap > 13  # as published
    # What follows falls with the digits, what precedes stays.
    assert more.log10_singular_values[41] < thirty.log10_singular_values[41] - 25
    np.testing.assert_allclose(
        thirty.singular_values[:41], more.singular_values[:41], rtol=1e-9, atol=0
    )
