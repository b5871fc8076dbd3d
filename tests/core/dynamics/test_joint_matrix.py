"""Every type of joint in every route: trees, loops, and mechanisms with redundant constraints.

Ranks of the symbolic, numeric and precise routes and over finite fields agree, β agrees to
rounding, and the null vectors are null on W of another formulation: Pinocchio's regressor for
trees, bodies in absolute coordinates with multipliers for loops.
"""

from fractions import Fraction

import numpy as np
import pytest

from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure, motion
from basepar_core.expressions.tree import evaluate
from basepar_core.files import mechanism_file
from basepar_core.finite_field.rank import generic_rank
from basepar_core.mechanism import GROUND, Mechanism
from tests.mechanisms import C, E, F, P, R, S, U, linkage, loop
from tests.oracles import maximal, pinocchio_model


def agree(mechanism: Mechanism) -> tuple[int, np.ndarray]:
    """Rank on which all routes agree, and the null vectors at the nominal geometry.

    Returns
    -------
    rank
    null
        (parameter, null vector): β negated over the unit matrix.
    """
    model = closure.prepare(mechanism)
    base = symbolic(model)
    assert base.rank == base.certificate.at_least == base.certificate.at_most
    # That constraints are redundant is counted at random points (decision 18).
    grade = "probability" if model.loops.redundant else "proved generically"
    assert base.certificate.at_least_grade == grade
    assert generic_rank(model, seed=3).rank == base.rank
    found = precise(model, base.eliminated)
    assert found.rank == base.rank
    assert found.kept == base.kept
    beta = base.nominal_beta
    # Both are right to rounding of the expressions.
    size = max(1.0, float(np.abs(beta).max(initial=0.0)))
    np.testing.assert_allclose(found.nominal_beta, beta, rtol=0, atol=1e-12 * size)
    plain = numeric(model)
    assert plain.rank == base.rank or plain.doubt
    null = np.zeros((len(base.parameters), len(base.eliminated)))
    null[list(base.kept)] = -np.reshape(beta, (len(base.kept), -1))
    null[list(base.eliminated)] = np.eye(len(base.eliminated))
    return base.rank, null


def vanishes(W: np.ndarray, null: np.ndarray) -> None:
    """W (…, parameter) annihilates the null vectors, by what its entries round to."""
    W = W.reshape(-1, W.shape[-1])
    # 1e-11: the oracles' own rounding, closure and accelerations of some ten bodies included. It
    # is of W's size: columns without effect are nothing but rounding.
    assert np.abs(W @ null).max() < 1e-11 * np.abs(W).max() * max(1, np.abs(null).max())


def rank_of(W: np.ndarray) -> int:
    """Rank of an oracle's W with unit columns, where nothing lies near the threshold."""
    W = W.reshape(-1, W.shape[-1])
    norms = np.linalg.norm(W, axis=0)
    W = W[:, norms > 1e-11 * norms.max()]
    values = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    rank = int((values > 1e-9).sum())
    assert rank == (values > 1e-12).sum()
    return rank


def first_axis(mechanism: Mechanism) -> list[Fraction]:
    """Direction of the first joint's axis in the ground, exactly: it is rational."""
    joint = mechanism.joints[0]
    axis = evaluate(joint.frames[joint.bodies.index(GROUND)].axis, mechanism.nominal)
    exact = [Fraction(float(x)).limit_denominator(1000) for x in axis]  # w² + x² + y² + z² ≤ 100
    assert sum(x * x for x in exact) == 4  # `linkage` writes axes of length two
    return exact


#: Base parameters by joint type at the ground and under the last body of three, with a revolute
#: between: gravity across the first axis, along it, and none.
TREES = {
    R: (17, 15, 15),
    P: (7, 7, 7),
    C: (20, 18, 18),
    U: (25, 24, 22),
    S: (25, 25, 22),
    E: (20, 20, 20),
    F: (3, 3, 1),
}


@pytest.mark.parametrize("pull", ["across", "along", "none"])
@pytest.mark.parametrize("kind", TREES)
@pytest.mark.slow
def test_joints_of_trees(kind, pull):
    links = [("J0", kind, GROUND, "b1"), ("J1", R, "b1", "b2"), ("J2", kind, "b2", "b3")]

    def build(gravity: list) -> Mechanism:
        return linkage(11, links, gravity=gravity, amplitude=1.0, samples=40, swapped=["J2"])

    gravity = {"across": [Fraction(1, 2), -1, Fraction(-97, 10)], "none": [0, 0, 0]}.get(pull)
    if gravity is None:
        gravity = [5 * x for x in first_axis(build([0, 0, 0]))]
    mechanism = build(gravity)
    rank, null = agree(mechanism)
    assert rank == TREES[kind][["across", "along", "none"].index(pull)]
    moving = motion.excitation(mechanism, closure.prepare(mechanism).assembled.coordinates)
    chain = pinocchio_model.Chain(mechanism, {})
    states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
    W = np.stack([chain.columns(*state) for state in states])
    assert rank_of(W) == rank
    vanishes(W, null)


LOOPS = {
    "RSUR": (R, S, U, R),
    "PUSR": (P, U, S, R),
    "RCCC": (R, C, C, C),
    "RUER": (R, U, E, R),
    "RFSUR": (R, F, S, U, R),
}


@pytest.mark.slow
@pytest.mark.parametrize("pull", ["across", "along"])
@pytest.mark.parametrize("name", LOOPS)
def test_joints_of_loops(name, pull):
    def build(gravity: list) -> Mechanism:
        links = loop(*LOOPS[name])
        return linkage(2, links, ["a"], gravity=gravity, amplitude=0.05, samples=40)

    gravity = [Fraction(1, 2), -1, Fraction(-97, 10)]
    if pull == "along":
        gravity = [5 * x for x in first_axis(build([0, 0, 0]))]
    mechanism = build(gravity)
    _, null = agree(mechanism)
    # Few samples: bodies in absolute coordinates take their time, and every one must vanish.
    moving = motion.excitation(mechanism, closure.prepare(mechanism).assembled.coordinates)
    some = slice(None, None, 8)
    W = maximal.observe(
        mechanism, {}, moving.q[:, some], moving.q_dot[:, some], moving.q_ddot[:, some]
    )
    vanishes(W[0], null)


FLAT = """
name: flat
space: spatial
gravity: [1/2, -9.81, 3]
geometry:
  a: {value: 0.3, unit: m}
  b: {value: 0.7, unit: m}
  c: {value: 0.8, unit: m}
  d: {value: 0.6, unit: m}
  e: {value: 0.1, unit: m}
  h: {value: 0.05, unit: m}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[a, 0, h], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[b, 0, h], [c, 0, 0]]}
  D: {type: revolute, connects: [ground, three], at: [[d, e, 2*h], [0, 0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -40 deg, D: 110 deg}
excitation: {kind: states, samples: 40, seed: 3, amplitude: {A: 0.4 rad}, frequency: 0.3 Hz}
"""
PARALLEL = (
    FLAT.replace("[c, 0, 0]", "[a, 0, 0]")
    .replace("[d, e, 2*h]", "[b, 0, 2*h]")
    .replace("  c: {value: 0.8, unit: m}\n  d: {value: 0.6, unit: m}\n", "")
    .replace("  e: {value: 0.1, unit: m}\n", "")
    .replace("B: -40 deg, D: 110 deg", "B: -60 deg, C: 60 deg, D: 60 deg")
)
SLIDER = (
    FLAT.replace("[c, 0, 0]", "[0, 0, 0]")
    .replace("a: {value: 0.3", "a: {value: 0.2")
    .replace("revolute, connects: [ground, three]", "prismatic, connects: [ground, three]")
    .replace("[[d, e, 2*h], [0, 0, 0]]", "[[0, e, 2*h], [0, 0, 0]], AXES")
    .replace("AXES", "axis: [[1, 0, 0], [1, 0, 0]], reference: [[0, 0, 1], [0, 0, 1]]")
    .replace("  c: {value: 0.8, unit: m}\n  d: {value: 0.6, unit: m}\n", "")
    .replace("A: 60 deg, B: -40 deg, D: 110 deg", "A: 40 deg, B: -42 deg, C: 2 deg, D: 0.85 m")
)
#: Bennett's linkage: opposite links alike, lengths as the sines of their twists, 3/5 and 4/5.
BENNETT = """
name: bennett
space: spatial
gravity: [1/2, -9.81, -2]
geometry:
  a: {value: 0.3, unit: m}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one], reference: [[1, 0, 0], [1, 0, 0]]}
  B:
    type: revolute
    connects: [one, two]
    at: [[a, 0, 0], [0, 0, 0]]
    axis: [[0, -3, 4], [0, 0, 5]]
    reference: [[1, 0, 0], [1, 0, 0]]
  C:
    type: revolute
    connects: [two, three]
    at: [[4*a/3, 0, 0], [0, 0, 0]]
    axis: [[0, -4, 3], [0, 0, 5]]
    reference: [[1, 0, 0], [1, 0, 0]]
  D:
    type: revolute
    connects: [ground, three]
    at: [[-4*a/3, 0, 0], [a, 0, 0]]
    axis: [[0, 4, 3], [0, -3, 4]]
    reference: [[1, 0, 0], [1, 0, 0]]
coordinates: [A]
assembly: {A: 60 deg, B: 166.8 deg, C: -60 deg}
excitation: {kind: states, samples: 40, seed: 3, amplitude: {A: 0.4 rad}, frequency: 0.3 Hz}
"""


#: A shaft bent by a universal joint in the middle: all axes meet in one point.
HOOKE = """
name: hooke
space: spatial
gravity: [1/2, -9.81, -2]
geometry: {a: {value: 0.3, unit: m}}
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  U:
    type: universal
    connects: [one, two]
    at: [[0, 0, a], [0, 0, 0]]
    axis: [[1, 0, 0], [0, 1, 0]]
    reference: [[0, 1, 0], [1, 0, 0]]
  D:
    type: revolute
    connects: [ground, two]
    at: [[0, 0, a], [0, 0, 0]]
    axis: [[0, 3, 4], [0, 0, 5]]
    reference: [[1, 0, 0], [1, 0, 0]]
coordinates: [A]
assembly: {A: 20 deg, D: 20 deg}
excitation: {kind: states, samples: 40, seed: 3, amplitude: {A: 0.4 rad}, frequency: 0.3 Hz}
"""
#: Four hinges whose axes meet in one point, without any length.
SPHERE = """
name: spherical four-bar
space: spatial
gravity: [1/2, -9.81, -2]
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], axis: [[0, -3, 4], [0, 0, 5]]}
  C: {type: revolute, connects: [two, three], axis: [[0, -12, 5], [0, 0, 13]]}
  D:
    type: revolute
    connects: [ground, three]
    axis: [[12, 0, 5], [0, -5, 12]]
    reference: [[0, 1, 0], [1, 0, 0]]
coordinates: [A]
assembly: {A: 20 deg, B: 60 deg, C: 60 deg}
excitation: {kind: states, samples: 40, seed: 3, amplitude: {A: 0.2 rad}, frequency: 0.3 Hz}
"""
#: Sarrus: two folding pairs of plates across each other lift the top straight.
SARRUS = """
name: sarrus
space: spatial
gravity: [1/2, -9.81, -2]
geometry:
  a: {value: 0.3, unit: m}
  b: {value: 0.4, unit: m}
  c: {value: 0.35, unit: m}
  d: {value: 0.3, unit: m}
  e: {value: 0.2, unit: m}
bodies: {low1: {}, up1: {}, low2: {}, up2: {}, top: {}}
joints:
  A: {type: revolute, connects: [ground, low1], at: [[e, 0, 0], [0, 0, 0]], Y}
  B: {type: revolute, connects: [low1, up1], at: [[a, 0, 0], [0, 0, 0]], Y}
  C: {type: revolute, connects: [up1, top], at: [[b, 0, 0], [e, 0, 0]], Y}
  D: {type: revolute, connects: [ground, low2], at: [[0, e, 0], [0, 0, 0]], X}
  E: {type: revolute, connects: [low2, up2], at: [[0, c, 0], [0, 0, 0]], X}
  F: {type: revolute, connects: [up2, top], at: [[0, d, 0], [0, e, 0]], X}
coordinates: [A]
assembly: {A: -40 deg, B: -100 deg, C: 140 deg, D: 40 deg, E: 100 deg, F: -140 deg}
excitation: {kind: states, samples: 40, seed: 3, amplitude: {A: 0.2 rad}, frequency: 0.3 Hz}
""".replace("Y}", "axis: [[0, 1, 0], [0, 1, 0]]}").replace("X}", "axis: [[1, 0, 0], [1, 0, 0]]}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "redundant", "rank"),
    # Planar ones as in the library; for all the oracle below counts.
    [
        (FLAT, 3, 8),
        (PARALLEL, 3, 3),
        (SLIDER, 3, 6),
        (BENNETT, 3, 9),
        (HOOKE, 3, 6),
        (SPHERE, 3, 11),
        pytest.param(SARRUS, 1, 10, marks=pytest.mark.slow),
    ],
    ids=["four-bar", "parallelogram", "slider-crank", "Bennett", "Hooke", "spherical", "Sarrus"],
)
def test_redundant_constraints(text, redundant, rank):
    """Loops that close with equations to spare: these are seen and left out."""
    mechanism = mechanism_file.loads(text)
    model = closure.prepare(mechanism)
    assert len(model.loops.redundant) == redundant
    found, null = agree(mechanism)
    assert found == rank
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    W = maximal.observe(mechanism, {}, moving.q, moving.q_dot, moving.q_ddot)[0]
    assert rank_of(W) == rank
    vanishes(W, null)
