"""Closing loops: who closes and who does not, against circles that meet or do not."""

import pickle

import numpy as np
import pytest

from basepar_core.dynamics import closure, kinematics, motion
from basepar_core.dynamics.closure import Outcome
from basepar_core.dynamics.constraint_rows import loop_gaps
from basepar_core.dynamics.motion import Motion
from basepar_core.files import mechanism_file
from tests import mechanisms
from tests.mechanisms import C, R, S, U, linkage, loop
from tests.oracles import closed_form, dust


@pytest.fixture(scope="module")
def four_bar():
    model = closure.prepare(mechanism_file.load("four-bar"))
    return model, motion.excitation(model.mechanism, model.assembled.coordinates)


def random_four_bars(model, count, spread, seed):
    """All lengths of the four-bar within a share of their nominal values."""
    return mechanisms.nearby(model.mechanism, count, spread, seed)


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


@pytest.mark.parametrize(
    ("spread", "count"),
    [
        (0.2, 256),
        (0.4, 256),
        (0.6, 256),
        pytest.param(0.2, 4096, marks=pytest.mark.slow),
        pytest.param(0.4, 4096, marks=pytest.mark.slow),
        pytest.param(0.6, 4096, marks=pytest.mark.slow),
    ],
)
def test_four_bars_close_where_the_circles_meet(four_bar, spread, count):
    """No false accept and no false reject, and every status is the right one."""
    model, moving = four_bar
    values = random_four_bars(model, count, spread, 5)
    path = closure.trace(model, values, moving.q)
    start = model.assembled.coordinates[0]
    expected = closed_form.expected_outcomes(model.mechanism.nominal, values, start, moving.q)
    if spread > 0.3:
        assert set(expected) == {1, 3, 4}
    np.testing.assert_array_equal(path.outcome, expected)
    closed = path.outcome == Outcome.CLOSED
    assert np.isnan(path.where[closed]).all()
    assert np.isnan(path.where[path.outcome == Outcome.UNASSEMBLABLE]).all()
    lost = path.where[path.outcome == Outcome.LOST]
    assert ((lost >= 0) & (lost < moving.t.size)).all()


def test_closed_four_bars_have_the_angles_of_the_circles(four_bar):
    model, moving = four_bar
    values = random_four_bars(model, 256, 0.5, 6)
    path = closure.trace(model, values, moving.q)
    closed = path.outcome == Outcome.CLOSED
    assert 50 < closed.sum() < 256
    lengths = {name: x[closed, None] for name, x in values.items()}
    expected = closed_form.four_bar_angles(lengths, moving.q[0], 1)
    names = [model.mechanism.joints[node.joint].name for node in model.topology.tree]
    # Both round a few times; near dead points angles lose the square root of what is left,
    # which the margin measures.
    allowed = 1e-14 / path.margin[closed, None]
    for name, angle in zip("BC", expected[:2], strict=True):
        found = path.q[names.index(name)][closed]
        assert (np.abs(wrapped(found - angle)) < allowed).all()


def test_lost_at_the_sample_that_cannot_be_reached(four_bar):
    model, moving = four_bar
    values = random_four_bars(model, 256, 0.5, 7)
    path = closure.trace(model, values, moving.q)
    lost = np.flatnonzero(path.outcome == Outcome.LOST)
    assert lost.size > 10
    lengths = {name: x[lost, None] for name, x in values.items()}
    start = model.assembled.coordinates[0]
    q = np.concatenate([[start], moving.q[0]])
    for i, variant in enumerate(lost):
        one = {name: x[i] for name, x in lengths.items()}
        first = next(
            k
            for k in range(moving.t.size)
            if not closed_form.reach(
                model.mechanism.nominal, one, start, min(q[k : k + 2]), max(q[k : k + 2])
            ).moves.all()
        )
        assert path.where[variant] == first


def test_margin_by_hand(four_bar):
    """2/(‖C‖‖C⁻¹‖) of the two loop equations: C's columns are arms to D, turned."""
    model, moving = four_bar
    values = random_four_bars(model, 64, 0.2, 8)
    path = closure.trace(model, values, moving.q)
    lengths = {name: x[:, None] for name, x in values.items()}
    B, _, D = closed_form.four_bar_angles(lengths, moving.q[0], 1)
    coupler = moving.q[0] + B + np.arctan2(-lengths["ly2"], lengths["lx2"])
    two = np.hypot(lengths["lx2"], lengths["ly2"])
    # From joint B and from joint C to D; the columns are these arms turned by a right angle.
    c = lengths["lx3"] * np.array([np.cos(D), np.sin(D)])
    b = two * np.array([np.cos(coupler), np.sin(coupler)]) + c
    # The inverse of a 2×2 has the same Frobenius norm over the determinant.
    ratio = 2 * np.abs(b[0] * c[1] - b[1] * c[0]) / (b**2 + c**2).sum(axis=0)
    # Taken just before Newton's last update, which is below 1e-9.
    np.testing.assert_allclose(path.margin, ratio.min(axis=1), rtol=1e-8)


def test_branch_bit_tells_the_two_assemblies_apart():
    source = mechanism_file.load("four-bar").source
    other = source.replace("B: 91.3 deg, C: -203.8 deg", "B: -2.07, C: -2.9")
    bits = set()
    for text in (source, other):
        model = closure.prepare(mechanism_file.loads(text))
        moving = motion.excitation(model.mechanism, model.assembled.coordinates)
        path = closure.trace(model, random_four_bars(model, 20, 0.05, 1), moving.q)
        side = 1 if text is source else -1
        B, *_ = closed_form.four_bar_angles(model.mechanism.nominal, moving.q[0], side)
        here = closure.trace(model, {}, moving.q)
        assert here.outcome == Outcome.CLOSED
        assert np.abs(wrapped(here.q[1, 0] - B)).max() < 1e-13
        assert len(set(path.branch)) == 1
        bits |= set(path.branch)
    assert bits == {0, 1}


@pytest.mark.parametrize("name", ["four-bar", "watt-ii", "rssr", "delta"])
def test_alone_it_closes_as_well_and_at_the_same_places(name):
    """Newton's last steps at all samples together; the loops are what both are measured by."""
    model = closure.prepare(mechanism_file.load(name))
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    alone, among = closure.trace_alone(model, moving.q), closure.trace(model, {}, moving.q)
    assert alone.outcome == among.outcome == Outcome.CLOSED
    dims = kinematics.geometry(model.mechanism, {}).over_samples()
    gaps = [
        np.abs(loop_gaps(model.topology, kinematics.poses(model.topology, dims, q)))
        for q in (alone.q, among.q)
    ]
    # Rounding of sums over a loop of about 1 m.
    assert max(gap.max() for gap in gaps) < 1e-13
    # The same to that rounding times the loops' condition: watt-ii's is the largest.
    assert np.abs(alone.q - among.q).max() < 1e-14 / among.margin[0]


ROUND_A_HOLE = """
name: five-bar of short rods
space: planar
gravity: [0, -9.81]
bodies: {left: {}, left_rod: {}, right_rod: {}, right: {}}
joints:
  A: {type: revolute, connects: [ground, left]}
  B: {type: revolute, connects: [left, left_rod], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [left_rod, right_rod], at: [[0.5, 0], [0, 0]]}
  D: {type: revolute, connects: [right_rod, right], at: [[0.5, 0], [0.3, 0]]}
  E: {type: revolute, connects: [ground, right], at: [[0.5, 0], [0, 0]]}
coordinates: [A, E]
assembly: {A: 260.2 deg, B: 144.7 deg, C: -51.4 deg, D: 6.5 deg, E: 0 deg}
"""


def test_alone_it_goes_round_what_straight_ways_lead_into():
    """Cranks' ends that are farther apart than both rods reach: a hole in the coordinates.

    The motion goes round it. The straight way from the assembly to the far side leads through it.
    """
    model = closure.prepare(mechanism_file.loads(ROUND_A_HOLE))
    turn = np.linspace(0, 1.5 * np.pi, 60)
    path = np.stack([np.pi + 1.4 * np.cos(turn), 1.4 * np.sin(turn)])
    alone, among = closure.trace_alone(model, path), closure.trace(model, {}, path)
    assert alone.outcome == among.outcome == Outcome.CLOSED
    # Coarse closures on the way come to the same ends, to rounding times the loops' condition.
    assert np.abs(alone.q - among.q).max() < 1e-13 / among.margin[0]
    middle = np.linspace(path[:, 0], path[:, 40], 30, axis=1)
    assert closure.trace(model, {}, middle).outcome != Outcome.CLOSED


def test_alone_it_is_lost_where_it_would_be_among_others():
    """A ground bar that is too long for the crank to turn all the way round."""
    source = mechanism_file.load("four-bar").source
    longer = source.replace("Dx: {value: 1.0", "Dx: {value: 2.5")
    assert longer != source
    model = closure.prepare(mechanism_file.loads(longer))
    far = np.linspace(0, 6, 60)[None] + model.assembled.coordinates[:, None]
    alone, among = closure.trace_alone(model, far), closure.trace(model, {}, far)
    assert alone.outcome == among.outcome != Outcome.CLOSED
    assert alone.where == among.where


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7])
def test_company_changes_no_bit_of_five_hundred_four_bars(four_bar, size):
    model, moving = four_bar
    values = random_four_bars(model, 500, 0.6, 2)
    short = moving.q[:, ::8]
    whole = closure.trace(model, values, short)
    assert {1, 3, 4} <= set(whole.outcome)
    for first in range(0, 56 if size > 1 else 8, size):
        piece = slice(first, first + size)
        alone = closure.trace(model, {n: x[piece] for n, x in values.items()}, short)
        np.testing.assert_array_equal(alone.outcome, whole.outcome[piece])
        np.testing.assert_array_equal(alone.q, whole.q[:, piece])
        np.testing.assert_array_equal(alone.margin, whole.margin[piece])
        np.testing.assert_array_equal(alone.where, whole.where[piece])


def test_parallelogram_does_not_pass_its_flat_position():
    model = closure.prepare(mechanism_file.load("parallelogram"))
    start = model.assembled.coordinates[0]
    # 60 deg to −0.3 rad over zero, where the parallelogram folds flat: a sample stands there.
    q = np.concatenate([np.linspace(start, 0, 8), [-0.3]])[None]
    path = closure.trace(model, {"lx1": np.array([0.4, 0.5])}, q)
    # Newton either creeps there and gives up, or arrives and finds no inverse.
    assert set(path.outcome) <= {Outcome.LOST, Outcome.SINGULAR}
    assert (path.where >= 7).all()


def test_coordinates_go_on_turning():
    """A crank that turns twice is where it was; its joints' angles have gone on as well."""
    model = closure.prepare(mechanism_file.load("slider-crank"))
    start = model.assembled.coordinates[0]
    turns = np.linspace(0, 4 * np.pi, 41)
    path = closure.trace(model, {}, (start + turns)[None])
    assert path.outcome == Outcome.CLOSED
    np.testing.assert_array_equal(path.q[0, 0], start + turns)
    rod = -np.arcsin(0.25 * np.sin(start + turns))
    # B is the rod against the crank. A few roundings of angles up to 13 rad.
    np.testing.assert_allclose(path.q[1, 0], rod - (start + turns), rtol=0, atol=2e-14)


def test_spherical_coordinates_pass_a_half_turn():
    """Rotation vectors go on past π in straight lines; dust follows them with Rodrigues."""
    mechanism = linkage(4, [("S", S, "ground", "one"), ("A", R, "one", "two")])
    model = closure.prepare(mechanism)
    q = np.array([[1.0, 0.5, -0.4, 0.1], [2.0, 1.0, -0.8, 0.2], [3.2, 1.7, -1.3, 0.3]]).T
    path = closure.trace(model, {}, q)
    dims = kinematics.geometry(mechanism, {}).over_samples()
    at = kinematics.poses(model.topology, dims, path.q)
    oracle = dust.Dust(mechanism, {})
    for s in range(3):
        expected = oracle.poses(oracle.walk(q[:, s]))
        for k, body in enumerate(("one", "two")):
            R_, p = (np.array(part, float) for part in expected[body])
            # Products of a few sines and cosines.
            np.testing.assert_allclose(at.R[k][..., 0, s], R_, rtol=0, atol=3e-15)
            np.testing.assert_allclose(at.p[k][..., 0, s], p, rtol=0, atol=5e-15)


def test_independent_loops_are_independent_blocks():
    """Two single loops that share only the ground are solved one by one."""
    one = loop(R, C, C, C)
    two = [(n + "2", k, *(b if b == "ground" else b + "x" for b in ends)) for n, k, *ends in one]
    both = linkage(3, [*one, *two], ["a", "a2"])
    blocks = closure.prepare(both).loops.blocks
    assert sorted(len(rows) for rows, _ in blocks) == [4, 4]
    single = closure.prepare(linkage(3, one, ["a"])).loops.blocks
    assert [len(rows) for rows, _ in single] == [4]


def test_planar_loop_in_space_drops_redundant_rows():
    text = """
name: flat
space: spatial
gravity: [0, -9.81, 0]
geometry: {l: {value: 0.3, unit: m}}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[l, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[2*l, 0, 0], [0, 0, 0]]}
  D: {type: revolute, connects: [three, ground], at: [[2*l, 0, 0], [2*l, 0, 0]]}
coordinates: [A]
assembly: {A: 80 deg, B: -60 deg, C: -100 deg}
excitation: {kind: states, samples: 5, seed: 1, amplitude: {A: 0.3}, frequency: 0.2 Hz}
"""
    model = closure.prepare(mechanism_file.loads(text))
    assert len(model.loops.rows) == 2
    assert len(model.loops.redundant) == 3
    assert len(model.loops.rows) == len(model.topology.dependent)


def test_a_model_travels_to_another_process(four_bar):
    model, moving = four_bar
    again = pickle.loads(pickle.dumps(model))
    values = random_four_bars(model, 5, 0.1, 3)
    one, two = (closure.trace(m, values, moving.q) for m in (model, again))
    np.testing.assert_array_equal(one.q, two.q)


def test_motion_of_nothing_new_stays_at_the_assembly():
    model = closure.prepare(linkage(3, loop(R, S, U, R), ["a"]))
    still = Motion(np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
    path = closure.trace(model, {}, still.q)
    # Zero is where the linkage was built; Newton has nothing to do but rounding.
    np.testing.assert_allclose(path.q[:, 0, 0], model.assembled.q, rtol=0, atol=1e-13)
