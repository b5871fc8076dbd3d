"""The compiled kernels against the plain path, lane by lane, and against circles that meet."""

import functools

import numpy as np
import pytest

from basepar_core.compiled.backend import Engine, why_plain
from basepar_core.compiled.simd.lane_types import LANES
from basepar_core.dynamics import closure, motion, regressor
from basepar_core.dynamics.closure import Outcome
from basepar_core.dynamics.loop_newton import LAST_UPDATE
from basepar_core.dynamics.motion import Motion
from basepar_core.files import mechanism_file
from tests import mechanisms
from tests.core.dynamics.test_regressor import LOOPS, single
from tests.mechanisms import PLANAR, RRS3, C, E, F, P, R, S, U, linkage, random_tree
from tests.oracles import closed_form, pinocchio_model

pytestmark = pytest.mark.slow  # a minute of compiling before the first test

LIBRARY = (
    "bicycle",
    "dwell",
    "five-bar",
    "four-bar",
    "panda",
    "parallelogram",
    "rsur",
    "scara",
    "sla-suspension",
    "slider-crank",
    "stewart-gough",
    "ur5",
    "watt-ii",
    "whitworth",
)
#: One more variant than a block of lanes has, so that one lane of two blocks is checked too.
COUNT = LANES + 1


@functools.cache
def prepared(name, swap=False):
    if name == "three legs":
        swapped = ("A1", "B2", "C1", "C3") if swap else ()
        return closure.prepare(linkage(0, RRS3, ["A1", "A2", "A3"], swapped=swapped))
    return closure.prepare(single(name, swap) if name in LOOPS else mechanism_file.load(name))


def excited(model, samples):
    full = motion.excitation(model.mechanism, model.assembled.coordinates)
    return Motion(*(getattr(full, n)[..., :samples] for n in ("t", "q", "q_dot", "q_ddot")))


def by_kernels(model, values, moving, last_update=LAST_UPDATE):
    assert not why_plain(moving)
    return Engine(model).observe(values, moving, last_update)


def both(model, values, moving):
    return by_kernels(model, values, moving), regressor.observe(model, values, moving)


def assert_same(model, fast, plain):
    """Statuses are identical; numbers agree as far as the loops' condition lets them."""
    np.testing.assert_array_equal(fast.trace.outcome, plain.trace.outcome)
    np.testing.assert_array_equal(fast.trace.where, plain.trace.where)
    closed = plain.closed
    if not closed.any():
        return
    np.testing.assert_array_equal(fast.trace.branch[closed], plain.trace.branch[closed])
    expected = plain.W[closed]
    scale = np.abs(expected).max(axis=(1, 2), keepdims=True)
    # Small columns have their share of a larger one's rounding: all come from the same twists.
    scale = np.maximum(scale, 0.1 * scale.max(axis=-1, keepdims=True))
    # Some hundred roundings on either side; joints, and from them W, lose what the margin says,
    # and ten times that by lengths, which it does not see (as variable precision allows for). Of
    # three legs at a margin of 0.034, 60 digits say 757 eps/margin of the kernels' W and 2048 of
    # the plain path's, on a processor whose NumPy rounds otherwise.
    allowed = 1e-12 / plain.trace.margin[closed]
    error = (np.abs(fast.W[closed] - expected) / scale).max(axis=(1, 2, 3))
    assert (error < allowed).all()
    # The plain path takes the margin just before Newton's last update, which is below 1e-9.
    found, margin = fast.trace.margin[closed], plain.trace.margin[closed]
    assert (np.abs(found - margin) < 1e-8).all()
    np.testing.assert_allclose(fast.terms[closed], plain.terms[closed], rtol=1e-9)
    # Gaps at rounding: each path has its own, of the same size.
    assert (fast.residual[closed] < plain.residual[closed] + 1e-14).all()
    # Roundings left in the loops differ, one of them by 11 of three legs; eps itself is the other
    # part.
    most = 30.0 if model.loops.blocks else 1.0 + 1e-12
    ratio = fast.error[closed] / plain.error[closed]
    assert ((ratio > 1 / most) & (ratio < most)).all()


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize("spread", [0.03, pytest.param(0.3, marks=pytest.mark.slow)])
def test_library_as_the_plain_path_has_it(name, spread):
    model = prepared(name)
    values = mechanisms.nearby(model.mechanism, COUNT, spread, 4)
    assert_same(model, *both(model, values, excited(model, 20)))


@pytest.mark.parametrize("name", [*LOOPS, "three legs"])
@pytest.mark.parametrize(
    "swap", [pytest.param(False, marks=pytest.mark.slow), True], ids=["", "child first"]
)
@pytest.mark.parametrize("spread", [0.03, pytest.param(0.3, marks=pytest.mark.slow)])
def test_every_joint_in_loops(name, swap, spread):
    model = prepared(name, swap)
    values = mechanisms.nearby(model.mechanism, COUNT, spread, 6)
    assert_same(model, *both(model, values, excited(model, 6)))


@pytest.mark.parametrize("seed", range(4))
def test_every_joint_in_trees(seed):
    model = closure.prepare(random_tree(seed, [R, U, P, S, C, F, E]))
    values = mechanisms.nearby(model.mechanism, 3, 0.3, seed)
    assert_same(model, *both(model, values, excited(model, 12)))


@pytest.mark.parametrize(
    ("B", "C", "D", "coordinates", "assembly"),
    [
        ("revolute", "revolute", "revolute", "A", "A: 1, B: -0.6, C: -1.5, D: -1.1"),
        (
            "planar",
            "revolute",
            "fixed",
            "A, B.1",
            "A: 1, B.1: 0.7, B.2: 0.49, B.3: 2.18, C: 1.18",
        ),
    ],
    ids=["revolute", "planar and fixed"],
)
@pytest.mark.parametrize("swap", [False, True])
def test_planar_joints(B, C, D, coordinates, assembly, swap):
    ends = {
        "one_two": "[two, one], at: [[0, 0], [a, 0]]",
        "two_three": "[two, three], at: [[b, e], [0, 0]]",
        "ground_three": "[three, ground], at: [[c, 0], [d, e]]",
    }
    if swap and B == "revolute":
        ends["one_two"] = "[one, two], at: [[a, 0], [0, 0]]"
        assembly = assembly.replace("B: -0.6", "B: 0.6")
    names = {"name": "p", "B": B, "C": C, "D": D, "coordinates": coordinates}
    amplitude = ", ".join(f"{one.strip()}: 0.1" for one in coordinates.split(","))
    text = PLANAR.format(**names, **ends, assembly=assembly, amplitude=amplitude)
    model = closure.prepare(mechanism_file.loads(text, "planar"))
    values = mechanisms.nearby(model.mechanism, 5, 0.02, 2)
    assert_same(model, *both(model, values, excited(model, 6)))


FLAT = """
name: flat
space: {space}
gravity: [0, -9.81{zero}]
geometry: {{a: {{value: 0.3, unit: m}}, b: {{value: 0.7, unit: m}}, d: {{value: 0.6, unit: m}}}}
bodies: {{one: {{}}, two: {{}}, three: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one]}}
  B: {{type: revolute, connects: [one, two], at: [[a, 0{zero}], [0, 0{zero}]]}}
  C: {{type: revolute, connects: [two, three], at: [[b, 0{zero}], [0, 0{zero}]]}}
  D: {{type: revolute, connects: [three, ground], at: [[d, 0{zero}], [d, 0{zero}]]}}
coordinates: [A]
assembly: {{A: 80 deg, B: -60 deg, C: -100 deg}}
excitation: {{kind: states, samples: 20, seed: 1, amplitude: {{A: 0.3}}, frequency: 0.2 Hz}}
"""


def test_loops_with_redundant_rows():
    """A planar four-bar in space: of five rows of its cut three are redundant."""
    model = closure.prepare(
        mechanism_file.loads(FLAT.format(space="spatial", zero=", 0"), "space")
    )
    plane = closure.prepare(mechanism_file.loads(FLAT.format(space="planar", zero=""), "plane"))
    assert len(model.loops.redundant) == 3
    assert not plane.loops.redundant
    values = mechanisms.nearby(model.mechanism, COUNT, 0.2, 4)
    moving = excited(model, 20)
    fast, plain = both(model, values, moving)
    assert_same(model, fast, plain)
    flat = by_kernels(plane, values, moving)
    closed = fast.closed & flat.closed
    assert closed.sum() > COUNT / 2
    np.testing.assert_array_equal(fast.trace.outcome, flat.trace.outcome)
    # m, mx, my and Izz of every body are the plane's m, mx, my and J.
    ten = fast.W[closed].reshape(*fast.W[closed].shape[:3], 3, 10)
    four = flat.W[closed].reshape(*flat.W[closed].shape[:3], 3, 4)
    scale = np.abs(four).max(axis=(1, 2, 3, 4))
    error = np.abs(ten[..., [0, 1, 2, 9]] - four).max(axis=(1, 2, 3, 4)) / scale
    # Some hundred roundings on either side; joints, and from them W, lose what the margin says.
    assert (error < 1e-13 / plain.trace.margin[closed]).all()


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_arms_as_pinocchio_has_them(name):
    model = prepared(name)
    values = mechanisms.nearby(model.mechanism, 2, 0.1, 1)
    moving = excited(model, 50)
    seen = by_kernels(model, values, moving)
    for variant in range(2):
        one = {symbol: x[variant] for symbol, x in values.items()}
        chain = pinocchio_model.Chain(model.mechanism, one)
        states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
        expected = np.stack([chain.columns(*state) for state in states])
        scale = np.abs(expected).max(axis=(0, 1))
        # Some tens of roundings on either side; dead columns are held against the largest.
        scale = np.maximum(scale, 1e-3 * scale.max())
        assert np.abs((seen.W[variant] - expected) / scale).max() < 1e-12


@pytest.mark.parametrize("spread", [0.2, pytest.param(0.4, marks=pytest.mark.slow), 0.6])
def test_four_bars_close_where_the_circles_meet(spread):
    """No false accept and no false reject among 4,096, and every status is the right one."""
    model = prepared("four-bar")
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    values = mechanisms.nearby(model.mechanism, 4096, spread, 5)
    path = by_kernels(model, values, moving).trace
    start = model.assembled.coordinates[0]
    expected = closed_form.expected_outcomes(model.mechanism.nominal, values, start, moving.q)
    if spread > 0.3:
        assert set(expected) == {1, 3, 4}
    np.testing.assert_array_equal(path.outcome, expected)


def test_closed_four_bars_have_the_angles_of_the_circles():
    model = prepared("four-bar")
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    values = mechanisms.nearby(model.mechanism, 512, 0.5, 6)
    path = by_kernels(model, values, moving).trace
    closed = path.outcome == Outcome.CLOSED
    assert 100 < closed.sum() < 512
    lengths = {name: x[closed, None] for name, x in values.items()}
    expected = closed_form.four_bar_angles(lengths, moving.q[0], 1)
    names = [model.mechanism.joints[node.joint].name for node in model.topology.tree]
    # Near dead points angles lose the square root of what is left, which the margin measures.
    allowed = 1e-14 / path.margin[closed, None]
    for name, angle in zip("BC", expected[:2], strict=True):
        turn = path.q[names.index(name)][closed] - angle
        assert (np.abs((turn + np.pi) % (2 * np.pi) - np.pi) < allowed).all()


@pytest.mark.parametrize("name", ["four-bar", "rsur", "ur5", "three legs", "spherical driven"])
@pytest.mark.parametrize("size", [1, 7])
def test_company_changes_no_bit(name, size):
    """100 variants at once, and in pieces: failures, retries and all."""
    model = prepared(name)
    moving = excited(model, 6)
    values = mechanisms.nearby(model.mechanism, 100, 0.4, 2)
    whole = by_kernels(model, values, moving)
    if name in ("four-bar", "rsur", "three legs"):
        assert 0 < np.count_nonzero(whole.closed) < 100
    for first in range(0, 100 if size > 1 else 10, size):
        piece = slice(first, first + size)
        alone = by_kernels(model, {n: x[piece] for n, x in values.items()}, moving)
        for field in ("outcome", "where", "margin", "branch"):
            one, many = getattr(alone.trace, field), getattr(whole.trace, field)[piece]
            np.testing.assert_array_equal(one, many)
        good = alone.closed
        for field in ("W", "residual", "error", "terms"):
            one, many = getattr(alone, field)[good], getattr(whole, field)[piece][good]
            np.testing.assert_array_equal(one, many)


def test_impossible_variants_disturb_no_other():
    model = prepared("four-bar")
    moving = excited(model, 40)
    good = mechanisms.nearby(model.mechanism, 12, 0.05, 1)
    alone = by_kernels(model, good, moving)
    # Lengths that vanish, that cannot reach, that overflow, that are no numbers at all.
    bad = {name: np.array([0.0, 1e-300, 50.0, 1e200, np.nan, np.inf]) for name in good}
    order = np.random.default_rng(3).permutation(18)
    mixed = {name: np.concatenate([good[name], bad[name]])[order] for name in good}
    together = by_kernels(model, mixed, moving)
    kept = np.argsort(order)[:12]
    assert alone.closed.all()
    np.testing.assert_array_equal(together.W[kept], alone.W)
    np.testing.assert_array_equal(together.error[kept], alone.error)
    failed = together.trace.outcome[np.argsort(order)[12:]]
    assert (failed != Outcome.CLOSED).all()


def test_samples_that_fill_no_block():
    """A motion's W is the same whatever samples come behind it."""
    model = prepared("five-bar")
    values = mechanisms.nearby(model.mechanism, 3, 0.05, 1)
    long = by_kernels(model, values, excited(model, LANES + 5))
    for samples in (1, LANES - 1, LANES, LANES + 1):
        short = by_kernels(model, values, excited(model, samples))
        assert short.W.shape[1] == samples
        np.testing.assert_array_equal(short.W, long.W[:, :samples])


def test_nominal_mechanism_alone():
    model = prepared("sla-suspension")
    assert_same(model, *both(model, {}, excited(model, 9)))


def test_parallelogram_does_not_pass_its_flat_position():
    model = prepared("parallelogram")
    start = model.assembled.coordinates[0]
    q = np.concatenate([np.linspace(start, 0, 8), [-0.3]])[None]
    path = by_kernels(model, {"lx1": np.array([0.4, 0.5])}, Motion(q[0], q, q, q)).trace
    assert set(path.outcome) <= {Outcome.LOST, Outcome.SINGULAR}
    assert (path.where >= 7).all()


def test_loops_closed_badly_are_known_to_be():
    """The error grows with what Newton leaves open, as the plain path's does."""
    model = prepared("four-bar")
    moving = excited(model, 40)
    loose, tight = (by_kernels(model, {}, moving, last) for last in (1e-2, 1e-9))
    assert loose.residual[0] > 1e4 * tight.residual[0]
    assert loose.error[0] > 1e4 * tight.error[0]


def test_great_angles_stay_with_the_plain_path():
    model = prepared("slider-crank")
    q = model.assembled.coordinates[0] + 2e4 + np.zeros((1, 1))
    assert why_plain(Motion(q[0], q, q, q))
    assert not why_plain(excited(model, 5))
