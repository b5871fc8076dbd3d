"""W against dust, maximal coordinates, Pinocchio, pen and paper; variants stand alone."""

import functools

import numpy as np
import pytest

from basepar_core.dynamics import closure, motion, regressor
from basepar_core.dynamics.closure import Outcome
from basepar_core.dynamics.motion import Motion
from basepar_core.files import mechanism_file
from tests import mechanisms
from tests.mechanisms import RRS3, C, E, F, P, R, S, U, linkage, loop, random_tree
from tests.oracles import closed_form, dust, maximal, pinocchio_model

CLOSED = ("four-bar", "slider-crank", "five-bar", "parallelogram", "rsur")

#: Single loops by joint types: seed, coordinates, and the joint that is cut. Seeds are those
#: whose random geometry moves freely (margin above 0.1) over the excitation.
LOOPS = {
    "cylindrical in tree and cut": (3, (R, C, C, C), ["a"], "cylindrical"),
    "spherical driven": (9, (S, C, U, C), ["a.1", "a.2", "a.3"], "cylindrical"),
    "universal cut": (16, (S, C, C, U), ["a.1", "a.2", "a.3"], "universal"),
    "planar cut": (0, (R, E, U, R), ["a"], "planar"),
    "planar half driven": (8, (E, C, U, R), ["a.1", "a.3"], "universal"),
    "universal in tree": (3, (R, S, U, R), ["a"], "spherical"),
    "fixed and prismatic": (14, (U, C, S, F, P), ["a.1", "e"], "spherical"),
    "prismatic cut": (16, (R, R, R, R, R, R, P), ["a"], "prismatic"),
    "cylindrical half driven": (8, (C, U, S), ["a.1"], "spherical"),
    "two planar joints": (6, (E, E, R), ["a.1"], "planar"),
}


def prepared(mechanism, values=None, every=1):
    """W over the mechanism's own excitation, or every so manieth sample; everything must close."""
    model = closure.prepare(mechanism)
    full = motion.excitation(mechanism, model.assembled.coordinates)
    moving = Motion(*(getattr(full, n)[..., ::every] for n in ("t", "q", "q_dot", "q_ddot")))
    seen = regressor.observe(model, values or {}, moving)
    assert seen.closed.all()
    return model, moving, seen


def single(name, swap=False):
    seed, kinds, coordinates, _ = LOOPS[name]
    links = loop(*kinds)
    swapped = [link[0] for link in links[::2]] if swap else []
    return linkage(seed, links, coordinates, swapped=swapped)


def assert_same_dust(mechanism, values, seen, moving, variant, samples, start=None):
    oracle = dust.Dust(mechanism, {name: x[variant] for name, x in values.items()}, start)
    cloud = dust.random_cloud(mechanism, np.random.default_rng(11))
    for s in samples:
        expected = oracle.forces(cloud, moving.q[:, s], moving.q_dot[:, s], moving.q_ddot[:, s])
        found = dust.work(mechanism, cloud, seen.W[variant, s])
        # The differences err near 1e-20. What is left is float64: the condition of the loops
        # (below 100 for these seeds) times some tens of roundings, of the largest force.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_every_joint_type_moves_dust(seed):
    mechanism = random_tree(seed, [R, U, P, S, C, F, E])
    _, moving, seen = prepared(mechanism)
    assert_same_dust(mechanism, {}, seen, moving, 0, [0])


#: Every kind of joint, in the tree and cut.
DAILY = (
    "cylindrical in tree and cut",
    "planar half driven",
    "universal in tree",
    "fixed and prismatic",
    "spherical driven",
)


@pytest.mark.parametrize(
    ("name", "swap"),
    [
        pytest.param(
            name,
            swap,
            marks=() if swap and name in DAILY else pytest.mark.slow,
            id=f"{name}, child first" if swap else name,
        )
        for name in LOOPS
        for swap in (False, True)
    ],
)
def test_loops_move_dust(name, swap):
    mechanism = single(name, swap)
    values = mechanisms.nearby(mechanism, 2, 0.03, 5)
    model, moving, seen = prepared(mechanism, values)
    assert [cut.kind for cut in model.topology.cuts] == [LOOPS[name][-1]]
    assert_same_dust(mechanism, values, seen, moving, 1, [3])


@pytest.mark.slow
@pytest.mark.parametrize("swap", [(), ("A1", "B2", "C1", "C3")], ids=["", "child first"])
def test_spherical_joint_left_in_the_tree_moves_dust(swap):
    mechanism = linkage(0, RRS3, ["A1", "A2", "A3"], swapped=swap, amplitude=0.1)
    model, moving, seen = prepared(mechanism)
    assert "spherical" in [node.kind for node in model.topology.tree]
    assert_same_dust(mechanism, {}, seen, moving, 0, [2])


@pytest.mark.parametrize(
    ("B", "D", "coordinates", "assembly"),
    [
        ("revolute", "revolute", "A", "A: 1, B: -0.6, C: -1.5, D: -1.1"),
        ("planar", "fixed", "A, B.1", "A: 1, B.1: 0.7, B.2: 0.49, B.3: 2.18, C: 1.18"),
    ],
    ids=["four revolute joints", "planar joint"],
)
def test_planar_loops_move_dust(B, D, coordinates, assembly):
    fields = {"name": "p", "B": B, "C": "revolute", "D": D, "coordinates": coordinates}
    ends = {
        "one_two": "[two, one], at: [[0, 0], [a, 0]]",
        "two_three": "[two, three], at: [[b, e], [0, 0]]",
        "ground_three": "[three, ground], at: [[c, 0], [d, e]]",
    }
    amplitude = ", ".join(f"{name.strip()}: 0.1" for name in coordinates.split(","))
    text = mechanisms.PLANAR.format(**fields, **ends, assembly=assembly, amplitude=amplitude)
    mechanism = mechanism_file.loads(text, "planar")
    _, moving, seen = prepared(mechanism)
    start = maximal.Bodies(mechanism, {}).joint_values()
    assert_same_dust(mechanism, {}, seen, moving, 0, [0, 1], start)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_maximal_coordinates_give_the_same_in_every_lane(name, every):
    mechanism = mechanism_file.load(name)
    values = mechanisms.nearby(mechanism, 6, 0.05, 3)
    _, moving, seen = prepared(mechanism, values, every)
    expected = maximal.observe(mechanism, values, moving.q, moving.q_dot, moving.q_ddot)
    assert_same_columns(seen.W, expected)


@pytest.mark.parametrize("name", [n for n in LOOPS if LOOPS[n][1][0] != S])
@pytest.mark.slow
def test_maximal_coordinates_agree_on_random_loops(name):
    mechanism = single(name, swap=True)
    values = mechanisms.nearby(mechanism, 3, 0.03, 8)
    _, moving, seen = prepared(mechanism, values)
    expected = maximal.observe(mechanism, values, moving.q, moving.q_dot, moving.q_ddot)
    assert_same_columns(seen.W, expected)


@pytest.mark.slow
def test_maximal_coordinates_agree_on_three_legs():
    mechanism = linkage(0, RRS3, ["A1", "A2", "A3"], swapped=["A1", "B2", "C1"], amplitude=0.1)
    values = mechanisms.nearby(mechanism, 2, 0.02, 8)
    _, moving, seen = prepared(mechanism, values)
    expected = maximal.observe(mechanism, values, moving.q, moving.q_dot, moving.q_ddot)
    assert_same_columns(seen.W, expected)


def assert_same_columns(found, expected):
    # Both formulations round some hundred times and invert matrices of condition up to 100.
    scale = np.abs(expected).max(axis=(1, 2), keepdims=True)
    # The oracle solves all columns at once: each has its share of the largest one's rounding.
    scale = np.maximum(scale, 0.1 * scale.max())
    assert np.abs((found - expected) / scale).max() < 1e-12
    stacked = [W.reshape(len(W), -1, W.shape[-1]) for W in (found, expected)]
    one, two = (np.linalg.svd(W, compute_uv=False) for W in stacked)
    # Singular values move by no more than the matrix does.
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * two.max())


def test_ur10_as_pinocchio_has_it():
    mechanism = mechanism_file.load("ur10")
    values = mechanisms.nearby(mechanism, 3, 0.2, 4)
    assert_pinocchio(mechanism, values)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_as_pinocchio_has_them(seed):
    kinds = np.random.default_rng([seed, 3]).permutation([R, P, S, R, C, U, E, F])
    mechanism = random_tree(seed, list(kinds))
    assert_pinocchio(mechanism, mechanisms.nearby(mechanism, 2, 0.3, seed))


def assert_pinocchio(mechanism, values):
    _, moving, seen = prepared(mechanism, values)
    for variant in range(len(seen.W)):
        chain = pinocchio_model.Chain(mechanism, {n: x[variant] for n, x in values.items()})
        states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
        expected = np.stack([chain.columns(*state) for state in states])
        scale = np.abs(expected).max(axis=(0, 1))
        # Some tens of roundings on either side; dead columns are held against the largest.
        scale = np.maximum(scale, 1e-3 * scale.max())
        assert np.abs((seen.W[variant] - expected) / scale).max() < 1e-12


def test_slider_crank_by_hand():
    mechanism = mechanism_file.load("slider-crank")
    values = mechanisms.nearby(mechanism, 5, 0.3, 6)
    _, moving, seen = prepared(mechanism, values)
    for variant in range(5):
        lengths = (values[name][variant] for name in ("lx1", "lx2"))
        row = (moving.q[0], moving.q_dot[0], moving.q_ddot[0])
        expected = closed_form.slider_crank_columns(*lengths, *row)
        # Rounding of a few operations over cos of the rod's angle (above 0.8), of the largest.
        atol = 1e-13 * np.abs(expected).max()
        np.testing.assert_allclose(seen.W[variant, :, 0], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["slider-crank", "rsur", "loop"])
@pytest.mark.slow
def test_power_goes_into_energy(name):
    """d/dt of kinetic and potential energy of dust is τ·q̇, for every grain."""
    mechanism = single("planar half driven") if name == "loop" else mechanism_file.load(name)
    _, moving, seen = prepared(mechanism)
    cloud = dust.random_cloud(mechanism, np.random.default_rng(2))
    oracle = dust.Dust(mechanism, {}, maximal.Bodies(mechanism, {}).joint_values())
    found = dust.work(mechanism, cloud, seen.W[0, 0]).T @ moving.q_dot[:, 0]
    state = (moving.q[:, 0], moving.q_dot[:, 0], moving.q_ddot[:, 0])
    expected = oracle.power(cloud, *state)
    # The oracle's nested differences err near 1e-16; the rest is float64 as above.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param("five-bar", 7, marks=pytest.mark.slow),
        pytest.param("rsur", 1, marks=pytest.mark.slow),
        pytest.param("rsur", 7, marks=pytest.mark.slow),
        ("ur10", 7),
        ("spherical driven", 1),
        pytest.param("spherical driven", 7, marks=pytest.mark.slow),
        pytest.param("three legs", 1, marks=pytest.mark.slow),
        pytest.param("three legs", 7, marks=pytest.mark.slow),
    ],
)
def test_company_changes_no_bit(name, size):
    """100 variants at once, and in pieces: failures, retries and all."""
    model, moving, values, whole = hundred(name)
    for first in range(0, 100 if size > 1 else 10, size):
        piece = slice(first, first + size)
        alone = regressor.observe(model, {n: x[piece] for n, x in values.items()}, moving)
        np.testing.assert_array_equal(alone.trace.outcome, whole.trace.outcome[piece])
        np.testing.assert_array_equal(alone.trace.where, whole.trace.where[piece])
        np.testing.assert_array_equal(alone.trace.margin, whole.trace.margin[piece])
        np.testing.assert_array_equal(alone.trace.branch, whole.trace.branch[piece])
        good = alone.closed
        np.testing.assert_array_equal(alone.W[good], whole.W[piece][good])
        np.testing.assert_array_equal(alone.residual[good], whole.residual[piece][good])
        np.testing.assert_array_equal(alone.error[good], whole.error[piece][good])


@functools.cache
def hundred(name):
    """W of a hundred variants at once, some of which fail."""
    if name == "three legs":
        mechanism = linkage(0, RRS3, ["A1", "A2", "A3"], amplitude=0.1)
    else:
        mechanism = single(name) if name in LOOPS else mechanism_file.load(name)
    model = closure.prepare(mechanism)
    full = motion.excitation(mechanism, model.assembled.coordinates)
    moving = Motion(*(getattr(full, n)[..., :6] for n in ("t", "q", "q_dot", "q_ddot")))
    values = mechanisms.nearby(mechanism, 100, 0.3, 2)
    whole = regressor.observe(model, values, moving)
    if name in ("five-bar", "rsur", "three legs"):
        assert 0 < np.count_nonzero(whole.closed) < 100
    return model, moving, values, whole


def test_impossible_variants_disturb_no_other():
    mechanism = mechanism_file.load("four-bar")
    model = closure.prepare(mechanism)
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    good = mechanisms.nearby(mechanism, 12, 0.05, 1)
    alone = regressor.observe(model, good, moving)
    # Lengths that vanish, that cannot reach, that overflow, that are no numbers at all.
    bad = {name: np.array([0.0, 1e-300, 50.0, 1e200, np.nan, np.inf]) for name in good}
    order = np.random.default_rng(3).permutation(18)
    mixed = {name: np.concatenate([good[name], bad[name]])[order] for name in good}
    together = regressor.observe(model, mixed, moving)
    kept = np.argsort(order)[:12]
    assert alone.closed.all()
    np.testing.assert_array_equal(together.W[kept], alone.W)
    np.testing.assert_array_equal(together.error[kept], alone.error)
    failed = together.trace.outcome[np.argsort(order)[12:]]
    assert (failed != Outcome.CLOSED).all()


@pytest.mark.parametrize("name", ["ur10", "quadruped", "four-bar", "watt-ii"])
def test_the_triangle_has_the_norms_and_singular_values_of_w(name):
    """Of tall W; of an arm with its first body's mass, a column of zeros."""
    _, _, seen = prepared(mechanism_file.load(name))
    W, R = seen.stacked[0], seen.triangle[0]
    tall = W.shape[0] > regressor.TALL * W.shape[1]
    assert R.shape == ((W.shape[1],) * 2 if tall else W.shape)
    # Rounding of a few thousand rows, relative to the columns.
    norms = [np.sqrt((A**2).sum(axis=0)) for A in (W, R)]
    np.testing.assert_allclose(norms[1], norms[0], rtol=1e-13)
    unit = [A / np.where(norms[0] > 0, norms[0], 1.0) for A in (W, R)]
    sigma = [np.linalg.svd(A, compute_uv=False) for A in unit]
    np.testing.assert_allclose(sigma[1], sigma[0], atol=1e-13 * sigma[0][0])


def test_more_variants_than_one_block():
    """Blocks of W's evaluation leave no seam."""
    mechanism = mechanism_file.load("slider-crank")
    model = closure.prepare(mechanism)
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    values = mechanisms.nearby(mechanism, 3 * regressor.LANES // 64 + 5, 0.2, 9)
    seen = regressor.observe(model, values, moving)
    row = (moving.q[0], moving.q_dot[0], moving.q_ddot[0])
    for variant in (0, 63, 64, 65, len(seen.W) - 1):
        lengths = (values[name][variant] for name in ("lx1", "lx2"))
        expected = closed_form.slider_crank_columns(*lengths, *row)
        # As in `test_slider_crank_by_hand`.
        atol = 1e-13 * np.abs(expected).max()
        np.testing.assert_allclose(seen.W[variant, :, 0], expected, rtol=0, atol=atol)
