"""Generalised base parameters: symbolic combinations that explain what the reduced model does."""

import numpy as np
import pytest
import sympy

from basepar_core.base.result import BaseParameters
from basepar_core.expressions.tree import evaluate
from basepar_core.reduction.projection import generalise, left_out, shares
from basepar_core.reduction.reduce import own_path, reduce_mechanism
from tests.core.cycles import case


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "ur10"])
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_combination_is_least_squares_of_the_torque(name, share):
    """φ_g by the combination of φ, against least squares of τ: two ways to one number."""
    one = case(name)
    phi = one.random_phi(5)[0]
    reduced = reduce_mechanism(one.model, one.base)
    size = round(share * one.base.rank)
    found = reduced.generalised(size)
    rows = (one.W[0] / one.noise[:, None]).reshape(-1, len(phi))
    columns = rows[:, list(found.columns)]
    lengths = np.linalg.norm(columns, axis=0)
    fitted = np.linalg.lstsq(columns / lengths, rows @ phi, rcond=None)[0] / lengths
    # Both err by rounding of τ times the condition (at most 3e4), shared out by column length.
    allowed = 1e-11 * np.linalg.norm(rows @ phi) / lengths
    assert (np.abs(found.nominal(phi) - fitted) <= allowed + 1e-9 * np.abs(fitted)).all()


def test_texts_expressions_and_values_are_one_combination():
    one = case("four-bar")
    found = reduce_mechanism(one.model, one.base).generalised(4)
    nominal = one.model.mechanism.nominal
    phi = dict(zip(one.base.parameters, one.random_phi(2)[0], strict=True))
    total = found.nominal(np.array(list(phi.values())))
    names = {name: sympy.Symbol(name) for name in nominal}
    for place, parts in enumerate(found.parts):
        assert parts[0].parameter == found.names[place]
        assert len({part.parameter for part in parts}) == len(parts)
        assert sum(p.value * phi[p.parameter] for p in parts) == pytest.approx(total[place])
        for part in parts:
            (number,) = evaluate([part.expression], nominal)
            text = sympy.sympify(part.text, locals=names).subs(nominal)
            assert float(number) == pytest.approx(part.value, rel=1e-12, abs=1e-15)
            assert float(text) == pytest.approx(part.value, rel=1e-12, abs=1e-15)
    # Some entry carries both β's symbols and the motion's numbers.
    assert any("lx" in p.text and "*(" in p.text for parts in found.parts for p in parts[1:])


def test_nothing_dropped_is_the_base_parameters_themselves():
    one = case("five-bar")
    found = generalise(one.W[0], one.base, [])
    entries = one.base.beta_entries(one.model.mechanism.nominal)
    phi = one.random_phi(3)[:1]
    np.testing.assert_array_equal(found.combine(phi, entries), one.base.combine(phi, entries))
    assert found.names == one.base.base_names


def test_a_numeric_base_has_values_without_texts():
    from dataclasses import replace

    one = case("four-bar")
    beta = tuple(replace(entry, expression=None, text=None) for entry in one.base.beta)
    base: BaseParameters = replace(one.base, beta=beta)
    document = reduce_mechanism(one.model, base).generalised(5).document()
    assert all(row["terms"] is None for row in document)
    assert document[0]["values"]


def test_batch_equals_one_by_one_with_dropped_sets_of_their_own():
    one = case("five-bar")
    path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
    step = np.arange(len(one.W)) % 5 + 3
    gone = left_out(path, step)
    assert (gone.sum(axis=1) == step).all()
    S = shares(one.W_b, gone, one.noise)
    for lane, k in enumerate(step):
        alone = generalise(one.W[lane], one.base, path.gone(int(k), lane), one.noise)
        mine = S[lane][np.ix_(alone.kept, alone.dropped)]
        # One and the same projection, batched or not: rounding times the condition of 2e3.
        np.testing.assert_allclose(mine, alone.shares, rtol=1e-9, atol=1e-10)
        assert np.count_nonzero(S[lane]) == np.count_nonzero(mine)


def test_exactly_dependent_columns_are_carried_exactly():
    """On its cycle the four-bar has 7 of 8: the first to leave is a combination, without loss."""
    one = case("four-bar")
    reduced = reduce_mechanism(one.model, one.base)
    found = reduced.generalised(7)
    columns = one.W[0][..., list(found.columns)] @ found.shares
    dropped = one.W_b[0][..., list(found.dropped)]
    # The column's own rounding: 1e-12 of its length.
    assert np.abs(columns - dropped).max() <= 1e-12 * np.abs(dropped).max()
