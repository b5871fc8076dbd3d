"""Joint rules: every column is null, and there are as many as the tables say."""

import numpy as np
import pytest

from basepar_core.dynamics import closure, motion, regressor
from basepar_core.expressions.tree import evaluate
from basepar_core.files import mechanism_file
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from tests import mechanisms
from tests.mechanisms import RRS3, C, E, F, P, R, S, U, linkage, loop, random_tree

#: Gravity along the axis of a world joint is written by hand below; here it is generic or none.
HEAVY, FLOATING = ("1/2", -1, "-97/10"), (0, 0, 0)

#: Vectors that leave one body into the ground, by hand: gravity generic, along the ground
#: side's axis, none. Planar: m, mx, my, J.
INTO_GROUND = {
    R: (7, 9, 9),
    S: (1, 1, 4),
    U: (1, 2, 4),
    P: (9, 9, 9),
    C: (6, 8, 8),
    E: (6, 6, 6),
}
#: Vectors between two bodies.
BETWEEN = {R: 3, S: 1, U: 1, P: 6, C: 1, E: 1, F: 10}

ONE_BODY = """
name: one
space: spatial
gravity: [{gravity}]
geometry: {{l: {{value: 0.3, unit: m}}}}
bodies: {{one: {{}}}}
joints:
  A:
    type: {kind}
    connects: {connects}
    at: {at}
    axis: {axis}
    reference: {reference}
coordinates: [{coordinates}]
excitation: {{kind: states, samples: 30, seed: 1, amplitude: {{{amplitude}}}, frequency: 0.5 Hz}}
"""


def null_matrix(mechanism, values):
    """N (parameter, vector) of the joint rules at symbol values, and the vectors."""
    field = GeometryField.of(mechanism)
    vectors = joint_vectors(Transfers(mechanism, field))
    N = np.zeros((len(mechanism.parameter_names), len(vectors)))
    known = {**mechanism.nominal, **values}
    for k, vector in enumerate(vectors):
        for row, entry in vector.entries.items():
            N[row, k] = float(evaluate([field.to_expression(entry)], known)[0])
    return N, vectors


def observed(mechanism, values):
    model = closure.prepare(mechanism)
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    return regressor.observe(model, values, moving)


def assert_null(mechanism, count=3, spread=0.02):
    values = mechanisms.nearby(mechanism, count, spread, 4)
    seen = observed(mechanism, values)
    for variant in np.flatnonzero(seen.closed):
        here = {name: x[variant] for name, x in values.items()}
        N, _ = null_matrix(mechanism, here)
        W = seen.stacked[variant]
        involved = np.abs(W).max(axis=0) @ np.abs(N)
        # W is right to 1e-14 of its columns times the condition of the loops (below 100).
        assert (np.abs(W @ N).max(axis=0) <= 1e-12 * np.maximum(involved, involved.max())).all()
    assert seen.closed.any()


@pytest.mark.parametrize("gravity", [HEAVY, FLOATING], ids=["heavy", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_trees(seed, gravity):
    kinds = list(np.random.default_rng(seed).permutation([R, P, C, U, S, E, F, R]))
    links = [
        (f"J{k}", kind, "ground" if k < 2 else f"b{k - 2}", f"b{k}")
        for k, kind in enumerate(kinds)
    ]
    assert_null(linkage(seed, links, swapped=["J1", "J4"], gravity=gravity, amplitude=1.0))


@pytest.mark.parametrize(
    ("seed", "kinds", "coordinates"),
    [
        (3, (R, C, C, C), ["a"]),
        (9, (S, C, U, C), ["a.1", "a.2", "a.3"]),
        (8, (E, C, U, R), ["a.1", "a.3"]),
        (14, (U, C, S, F, P), ["a.1", "e"]),
    ],
)
def test_loops(seed, kinds, coordinates):
    assert_null(linkage(seed, loop(*kinds), coordinates, swapped=["b", "d"]))


def test_three_legs():
    assert_null(linkage(0, RRS3, ["A1", "A2", "A3"], amplitude=0.1, swapped=["B2", "C3"]))


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar", "rsur", "ur10"])
def test_library(name):
    assert_null(mechanism_file.load(name), spread=0.05)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("which", [0, 1, 2], ids=["heavy", "along", "floating"])
@pytest.mark.parametrize("kind", INTO_GROUND)
def test_one_body_on_the_ground(kind, which, swap):
    """The count is the table's, and nothing is left for W: rank + vectors = 10."""
    # The ground's axis is (2, 1, 2)/3, the body's (1, 2, −2)/3.
    ends = [
        ("ground", "[0, 0, 0]", "[2, 1, 2]", "[1, 2, -2]"),
        ("one", "[l, 1/5, -1/10]", "[1, 2, -2]", "[2, 1, 2]"),
    ]
    if swap:
        ends.reverse()
    count = {R: 1, P: 1, C: 2, U: 2, S: 3, E: 3}[kind]
    names = ["A"] if count == 1 else [f"A.{k + 1}" for k in range(count)]
    text = ONE_BODY.format(
        gravity=("1/2, -1, -97/10", "-6, -3, -6", "0, 0, 0")[which],
        kind=kind,
        connects=f"[{ends[0][0]}, {ends[1][0]}]",
        at=f"[{ends[0][1]}, {ends[1][1]}]",
        axis=f"[{ends[0][2]}, {ends[1][2]}]",
        reference=f"[{ends[0][3]}, {ends[1][3]}]",
        coordinates=", ".join(names),
        amplitude=", ".join(f"{name}: 1" for name in names),
    )
    mechanism = mechanism_file.loads(text)
    field = GeometryField.of(mechanism)
    vectors = joint_vectors(Transfers(mechanism, field))
    result = eliminate(field, vectors, mechanism.parameter_names)
    assert len(result.eliminated) == len(vectors) == INTO_GROUND[kind][which]
    seen = observed(mechanism, {})
    N, _ = null_matrix(mechanism, {})
    W = seen.stacked[0]
    # Exact zeros but for rounding of numbers near ten.
    assert np.abs(W @ N).max() < 1e-13
    values = np.linalg.svd(W, compute_uv=False)
    # The body's own accelerations leave nothing between rounding and a hundredth.
    assert (values > 1e-2).sum() == 10 - len(vectors)
    assert (values < 1e-12).sum() == len(vectors)


@pytest.mark.parametrize("kind", BETWEEN)
def test_between_two_bodies(kind):
    links = [("A", S, "ground", "one"), ("B", kind, "one", "two")]
    mechanism = linkage(5, links, swapped=["B"])
    field = GeometryField.of(mechanism)
    vectors = joint_vectors(Transfers(mechanism, field))
    across = [vector for vector in vectors if "between" in vector.reason]
    assert len(across) == BETWEEN[kind]
    assert all(vector.grade == "theorem" for vector in vectors)
    assert all(f"through {kind} B" in vector.reason for vector in across)
    result = eliminate(field, vectors, mechanism.parameter_names)
    assert len(result.eliminated) == len(vectors)  # none says what another says


@pytest.mark.parametrize(
    ("D", "gravity", "count"),
    [
        ("revolute", "1, -9.81", 1 + 2),
        ("revolute", "0, 0", 3 + 2),
        ("prismatic", "1, -9.81", 3 + 2),
        ("fixed", "1, -9.81", 4 + 2),
        ("planar", "1, -9.81", 0 + 2),
    ],
)
def test_in_the_plane(D, gravity, count):
    """m, mx, my, J: a mass over every revolute joint, and what the ground takes at D."""
    axis = ", axis: [[3, 4], [0, 5]]" if D == "prismatic" else ""
    values = {"revolute": 1, "prismatic": 1, "fixed": 0, "planar": 3}[D]
    names = {0: [], 1: ["D"], 3: ["D.1", "D.2", "D.3"]}[values]
    text = f"""
name: plane
space: planar
gravity: [{gravity}]
geometry: {{l: {{value: 0.3, unit: m}}}}
bodies: {{one: {{}}, two: {{}}, three: {{}}}}
joints:
  D: {{type: {D}, connects: [ground, one], at: [[0, 0], [l, 1/5]]{axis}}}
  E: {{type: revolute, connects: [two, one], at: [[l, 0], [0, l]]}}
  F: {{type: revolute, connects: [two, three], at: [[0, l], [1/7, 1/3]]}}
coordinates: [{", ".join([*names, "E", "F"])}]
excitation:
  kind: states
  samples: 30
  seed: 1
  amplitude: {{{", ".join(f"{name}: 1" for name in [*names, "E", "F"])}}}
  frequency: 0.5 Hz
"""
    mechanism = mechanism_file.loads(text)
    _, vectors = null_matrix(mechanism, {})
    assert len(vectors) == count
    assert_null(mechanism)
    W = observed(mechanism, {}).stacked[0]
    values = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-9), compute_uv=False)
    if D != "fixed":  # there the next link turns about one fixed axis: no rule of one joint
        assert (values > 1e-8).sum() == 12 - count


def test_swapped_joints_give_the_same_space():
    kinds = [R, P, C, U, S, E, F]
    one = random_tree(3, kinds, swap=False)
    other = random_tree(3, kinds, swap=True)
    assert one.joints != other.joints
    N, M = (null_matrix(mechanism, {})[0] for mechanism in (one, other))
    rank = np.linalg.matrix_rank(N)
    assert rank == np.linalg.matrix_rank(M) == np.linalg.matrix_rank(np.concatenate([N, M], 1))
