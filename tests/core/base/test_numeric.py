"""The numeric route: made-up matrices of known rank, and loops that were closed too loosely."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.numeric_route import CLEAR, check, group, spectrum
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure, motion, regressor
from basepar_core.errors import EliminationError
from basepar_core.files import mechanism_file

EPS = np.finfo(float).eps


def matrix(values, rows=40, seed=0):
    """A matrix of given singular values."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((rows, len(values))))[0]
    V = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (U * values) @ V.T


def test_singular_values_are_of_w_as_it_stands():
    values = np.array([3.0, 2.0, 0.5, 1e-3])
    found = spectrum(matrix(values)[None], np.array([EPS]))
    np.testing.assert_allclose(found.singular_values[0], values, rtol=1e-12)


def test_beta_has_no_rounding_where_parameters_move_whole():
    """Against the symbolic route, exact: its ones are ones, and its zeros are not listed."""
    model = closure.prepare(load("panda"))
    exact = symbolic(model)
    found = numeric(model, exact.eliminated)
    assert {(x.base, x.eliminated) for x in found.beta} == {
        (x.base, x.eliminated) for x in exact.beta if x.value != 0
    }
    ones = np.abs(exact.nominal_beta) == 1
    assert ones.any()
    np.testing.assert_array_equal(found.nominal_beta[ones], exact.nominal_beta[ones])


@pytest.mark.parametrize("smallest", [0.0, 1e-17])
def test_rank_of_a_clear_case(smallest):
    W = matrix([2.0, 1.0, 0.7, 0.5, smallest, smallest])
    found = spectrum(W[None], np.array([EPS]))
    assert found.rank == found.at_least == 4
    assert found.clear
    assert found.gap > 1e12


def test_columns_of_any_unit_and_weight_have_the_same_rank():
    W = matrix([2.0, 1.0, 0.7, 0.5, 0.0])
    scales = np.array([1e-4, 1.0, 1e6, 1e-3, 1e2])
    one, two = (spectrum(part[None], np.array([EPS])) for part in (W, W * scales))
    assert one.rank == two.rank == 4
    # Unit columns forget the scales, which are no powers of two: rounding.
    np.testing.assert_allclose(one.scaled, two.scaled, rtol=0, atol=1e-14)


@pytest.mark.parametrize("share", [2.0, 30.0, 0.9 * CLEAR])
def test_between_noise_and_clear_is_doubt(share):
    error = 1e-10
    W = matrix([1.0, 1.0, 1.0, 1.0])
    noise = spectrum(W[None], np.array([error])).noise[0]
    # A fifth column that differs from the first by a little, orthogonal to all.
    away = np.linalg.svd(W.T)[2][-1]
    first = W[:, 0]
    near = first + np.sqrt(2) * share * noise * np.linalg.norm(first) * away
    found = spectrum(np.column_stack([W, near])[None], np.array([error]))
    assert found.rank == 5
    assert found.at_least == 4
    assert not found.clear


def test_each_variant_has_its_own_verdict():
    stack = np.stack([matrix([1.0, 0.8, 0.0]), matrix([1.0, 0.8, 0.6])])
    found = spectrum(stack, np.array([EPS, EPS]))
    np.testing.assert_array_equal(found.rank, [2, 3])
    alone = spectrum(stack[1:], np.array([EPS]))
    np.testing.assert_array_equal(alone.scaled[0], found.scaled[1])


def test_fewer_rows_than_columns_leave_the_rank_open():
    W = np.random.default_rng(4).standard_normal((2, 3, 5))
    W[1, 2] = W[1, 0] + W[1, 1]
    found = spectrum(W, np.array([EPS, EPS]))
    np.testing.assert_array_equal(found.rank, [3, 2])
    np.testing.assert_array_equal(found.singular_values[:, 3:], 0.0)
    # More rows may raise the first one's rank; the second one's third row said nothing new.
    np.testing.assert_array_equal(found.clear, [False, True])
    held = check(W, np.array([EPS, EPS]), range(4), [4], np.zeros((2, 4, 1)))
    np.testing.assert_array_equal(held.condition > 1e15, [True, True])


def test_columns_without_effect_stay_without():
    W = matrix([1.0, 0.8, 0.6])
    W = np.column_stack([W, 1e-15 * np.random.default_rng(1).standard_normal(40)])
    found = spectrum(W[None], np.array([EPS]))
    assert found.rank == 3
    np.testing.assert_array_equal(found.no_effect, [[False, False, False, True]])


def test_cancelled_terms_do_not_become_rank():
    """Columns of size 1e-8 left over of terms of size 1 are right to 1e-16, not to 1e-24."""
    rng = np.random.default_rng(2)
    W = rng.standard_normal((40, 3))
    weak = 1e-8 * rng.standard_normal(40)
    W = np.column_stack([W, weak, -2 * weak]) + 1e-16 * rng.standard_normal((40, 5))
    terms = np.linalg.norm(W, axis=0)[[0, 1, 2, 0, 0]][None]
    assert spectrum(W[None], np.array([EPS])).at_least == 5  # taken at its face value
    found = spectrum(W[None], np.array([EPS]), terms)
    assert found.rank == found.at_least == 4


def test_a_drop_of_decades_may_hide_another():
    """After 1, 1e-5, 1e-10 the next may be 1e-15, which nobody sees; after 1, 0.5, 0.1 not."""
    steep, gentle = (
        spectrum(matrix([1, share, share**2, 0.0], seed=5)[None], np.array([EPS]))
        for share in (1e-5, 0.3)
    )
    assert steep.rank == steep.at_least == gentle.rank == 3
    assert gentle.clear
    assert not steep.clear


def test_the_upper_bound_counts_what_shows_below_the_error_bound():
    """Columns of rank 4 by their numbers, each with a smaller share of its own; the bound of the
    error, 1e-8, hides the last one, rounding does not."""
    own = np.diag([1, 2.0**-10, 2.0**-20, 2.0**-30])  # exact in binary
    W = np.cumsum(own, axis=0).T[:, [0, 1, 2, 3, 0]]
    found = spectrum(np.vstack([W, W])[None], np.array([5e-10]))
    assert found.rank == 3
    assert not found.clear
    assert found.at_least <= 4
    assert found.at_most == 4


def test_the_upper_bound_is_all_columns_where_more_may_hide_below_rounding():
    """A fourth direction of 2⁻⁶⁰ is below rounding, and the ones before it fall as steeply."""
    own = np.diag([1, 2.0**-20, 2.0**-40, 2.0**-60])  # exact in binary
    W = np.cumsum(own, axis=0).T[:, [0, 1, 2, 3, 0]]
    found = spectrum(np.vstack([W, W])[None], np.array([5e-10]))
    assert found.shown == 3
    assert found.at_most == 5
    assert not found.clear


def dependent():
    """W (row, 5) with c3 = 2 c0 − c1 and c4 = 3 c2, and the names of its columns."""
    rng = np.random.default_rng(3)
    W = rng.standard_normal((30, 5))
    W[:, 3], W[:, 4] = 2 * W[:, 0] - W[:, 1], 3 * W[:, 2]
    return W, ("a", "b", "c", "d", "e")


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_grouping_by_hand(scale):
    W, names = dependent()
    W[:, 2] *= scale
    found = group(W, 3, names, [3, 4])
    assert found.kept == (0, 1, 2)
    assert found.eliminated == (3, 4)
    expected = [[2, 0], [-1, 0], [0, 3 / scale]]
    # Null vectors of a well-conditioned matrix: rounding.
    np.testing.assert_allclose(found.beta, expected, rtol=1e-12, atol=1e-13)


def test_grouping_by_itself_keeps_the_torque():
    W, names = dependent()
    found = group(W, 3, names)
    phi = np.random.default_rng(1).standard_normal(5)
    phi_b = phi[list(found.kept)] + found.beta @ phi[list(found.eliminated)]
    np.testing.assert_allclose(W[:, found.kept] @ phi_b, W @ phi, atol=1e-12)
    # The same choice whatever the order of the columns.
    order = [4, 2, 0, 3, 1]
    other = group(W[:, order], 3, [names[k] for k in order])
    chosen = {names[order[k]] for k in other.eliminated}
    assert chosen == {names[k] for k in found.eliminated}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [([3], "1 parameter is to be eliminated.* exactly 2"), ([2, 4], "not an admissible choice")],
)
def test_grouping_refuses(wanted, message):
    W, names = dependent()
    with pytest.raises(EliminationError, match=message):
        group(W, 3, names, wanted)


def test_check_tells_a_wrong_beta():
    W, _ = dependent()
    beta = np.array([[2.0, 0], [-1, 0], [0, 3]])
    right, wrong = (
        check(W[None], np.array([EPS]), (0, 1, 2), (3, 4), b[None]) for b in (beta, beta + 1e-6)
    )
    assert right.null_error < 1e-14
    assert 1e-8 < wrong.null_error < 1e-5
    unit = W[:, :3] / np.linalg.norm(W[:, :3], axis=0)
    np.testing.assert_allclose(right.condition, np.linalg.cond(unit), rtol=1e-12)


@pytest.fixture(scope="module")
def four_bar():
    """The library's four-bar with the paper's φ₂."""
    model = closure.prepare(mechanism_file.load("four-bar"))
    wanted = parameter_indices(model.mechanism, ["J1", "J2", "J3", "m1"])
    return model, symbolic(model, wanted)


def swing(model, size):
    """The library's excitation with another amplitude."""
    start = model.assembled.coordinates
    full = motion.excitation(model.mechanism, start)
    share = size / 0.6
    return motion.Motion(
        full.t,
        start[:, None] + share * (full.q - start[:, None]),
        share * full.q_dot,
        share * full.q_ddot,
    )


def test_the_plain_four_bar_leaves_no_doubt(four_bar):
    model, _ = four_bar
    seen = regressor.observe(model, {}, swing(model, 0.6))
    found = spectrum(seen.stacked, seen.error, seen.terms)
    assert found.rank == 8
    assert found.clear


def test_a_hardly_moving_four_bar_with_loose_loops_is_doubtful(four_bar):
    """Gaps of 1e-10 and a crank that swings by a few hundredths: float64 must not decide."""
    model, _ = four_bar
    seen = regressor.observe(model, {}, swing(model, 0.03), last_update=1e-4)
    assert 1e-12 < seen.residual[0] < 1e-8
    assert not spectrum(seen.stacked, seen.error, seen.terms).clear
    tight = regressor.observe(model, {}, swing(model, 0.03))
    assert spectrum(tight.stacked, tight.error, tight.terms).clear


@pytest.mark.parametrize("size", [0.6, 0.1, 0.03, 0.01, 3e-3, 1e-3])
@pytest.mark.parametrize("last_update", [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1])
def test_no_wrong_rank_without_doubt(four_bar, size, last_update):
    """The rank is 8 by theorem, wherever the loops were left and however little they move."""
    model, base = four_bar
    rng = np.random.default_rng(4)
    values = {
        name: model.mechanism.nominal[name] * (1 + 0.05 * rng.uniform(-1, 1, 20))
        for name in ("lx1", "lx2", "ly2", "lx3", "Dx", "Dy")
    }
    seen = regressor.observe(model, values, swing(model, size), last_update)
    good = seen.closed
    W, error, terms = seen.stacked[good], seen.error[good], seen.terms[good]
    found = spectrum(W, error, terms)
    assert ((found.rank == 8) | ~found.clear).all()
    assert (found.at_least <= 8).all()
    assert base.rank == 8


def test_the_stated_error_covers_the_error(four_bar):
    """W with loose loops against W with tight ones: no further off than it says."""
    model, _ = four_bar
    moving = swing(model, 0.3)
    tight = regressor.observe(model, {}, moving, 1e-13)
    for last_update in (1e-1, 1e-2, 1e-3, 1e-5):
        loose = regressor.observe(model, {}, moving, last_update)
        away = np.linalg.norm((loose.W - tight.W)[0], axis=(0, 1))
        # Some few of the bound, as `OPERATIONS` has it.
        assert (away <= 8 * loose.error[0] * tight.terms[0]).all()


# Three rows show no more than three; the symbolic route knows eight without looking at W.
@pytest.mark.parametrize(("route", "known"), [(symbolic, 8), (numeric, 3)])
def test_too_few_samples_are_said(route, known):
    text = mechanism_file.library_path("four-bar").read_text().replace("samples: 64", "samples: 3")
    found = route(closure.prepare(mechanism_file.loads(text)))
    assert found.certificate.at_least == known
    assert found.certificate.at_most >= 8
    # The symbolic route's own count needs no samples.
    assert "only 3 rows" in (found.float64_doubt if route is symbolic else found.doubt)
    assert len(found.singular_values) == 12
