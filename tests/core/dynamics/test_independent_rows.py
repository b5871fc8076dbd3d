"""Rows by independence: LAPACK's QR with column pivoting chooses the same."""

import numpy as np
import pytest
from scipy.linalg import qr

from basepar_core.dynamics import independent_rows


@pytest.mark.parametrize(
    ("rows", "columns", "rank"), [(1, 1, 1), (7, 5, 5), (5, 9, 5), (12, 9, 4)]
)
@pytest.mark.parametrize("seed", range(5))
def test_lapack_chooses_the_same(rows, columns, rank, seed):
    rng = np.random.default_rng(seed)
    # Lengths over six decades: what is left must not drown in rounding of what was long.
    table = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    table *= 10.0 ** rng.uniform(-6, 0, (rows, 1))
    order, left = independent_rows(table)
    _, R, pivots = qr(table.T, mode="economic", pivoting=True)
    assert order[:rank].tolist() == pivots[:rank].tolist()
    # Both are exact to rounding of the longest row; the shortest are 1e-7 of it.
    np.testing.assert_allclose(left, abs(np.diag(R)), rtol=1e-6, atol=1e-14 * left[0])
    assert (left[rank:] < 1e-13 * left[0]).all()


def test_rows_of_zeros_come_last_and_once():
    order, left = independent_rows(np.array([[0.0, 0, 0], [0, 2, 0], [0, 0, 0], [1, 0, 0]]))
    assert order.tolist() == [1, 3, 0]
    assert left.tolist() == [2, 1, 0]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_has_no_order(shape):
    order, left = independent_rows(np.zeros(shape))
    assert order.shape == left.shape == (0,)
