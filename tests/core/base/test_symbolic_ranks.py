"""Ranks of trees and platforms against Pinocchio's regressor and maximal coordinates."""

import numpy as np
import pytest

from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure, motion
from basepar_core.files import mechanism_file
from tests.mechanisms import RRS3, C, E, F, P, R, S, U, linkage
from tests.oracles import maximal, pinocchio_model


def prepared(mechanism):
    model = closure.prepare(mechanism)
    return model, motion.excitation(mechanism, model.assembled.coordinates)


def svd_rank(W):
    """Rank of W (…, parameter) with unit columns, where a clear gap shows it."""
    W = W.reshape(-1, W.shape[-1])
    norms = np.linalg.norm(W, axis=0)
    # Columns that no motion notices are rounding: 1e-13 of the largest, as for their oracles.
    W = W[:, norms > 1e-11 * norms.max()]
    values = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    rank = int((values > 1e-11).sum())
    # Nothing between 1e-12 (rounding of the oracles) and 1e-9: the rank is beyond doubt.
    assert not ((values > 1e-12) & (values < 1e-9)).any()
    return rank


TREES = {
    "arm": (1, [R, R, R]),
    "wrist and slides": (2, [R, P, C, R, U]),
    "ball": (3, [S, R, P]),
    "sliding plate": (4, [E, R, F]),
    "branches": (5, [U, S, R, P, E, C]),
    "slides first": (6, [P, P, C, R]),
}


def tree(name, gravity):
    """A binary tree of a row of joints; the second joint is listed child first."""
    seed, kinds = TREES[name]
    parents = ["ground", "ground", *(f"b{k // 2}" for k in range(2, len(kinds)))]
    links = [
        (f"J{k}", kind, parent, f"b{k + 1}")
        for k, (kind, parent) in enumerate(zip(kinds, parents, strict=False))
    ]
    return linkage(seed, links, gravity=gravity, amplitude=1.0, samples=60, swapped=["J1"])


def pinocchio_rank(mechanism, moving):
    chain = pinocchio_model.Chain(mechanism, {})
    states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
    return svd_rank(np.stack([chain.columns(*state) for state in states]))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("gravity", [("1/2", -1, "-97/10"), (0, 0, 0)], ids=["heavy", "floating"])
@pytest.mark.slow
def test_trees_have_the_rank_of_pinocchios_regressor(name, gravity):
    model, moving = prepared(tree(name, gravity))
    base = symbolic(model)
    assert base.rank == pinocchio_rank(model.mechanism, moving)
    assert base.doubt == ""


def test_null_vectors_that_no_rule_finds_are_owned_up_to():
    """A slide on a plate: it turns about the plate's normal, which its own joints do not name."""
    links = [("J0", E, "ground", "plate"), ("J1", P, "plate", "slide")]
    model, moving = prepared(linkage(4, links, amplitude=1.0, samples=60))
    rank = pinocchio_rank(model.mechanism, moving)
    rules = symbolic(model, exact=False)
    assert rules.rank == rules.certificate.at_most == rank + 1
    assert "either some are missing" in rules.doubt
    base = symbolic(model)  # recovered over finite fields
    assert base.rank == base.certificate.at_least == numeric(model).rank == rank
    assert base.certificate.grade == "probability"
    assert base.doubt == ""


def test_gravity_a_hair_off_the_axis():
    """Columns that are all but cancelled do not pass for rank, nor for a contradiction."""
    text = """
name: hair
space: spatial
gravity: [-6.54 m/s^2 + (HAIR) m/s^2, -3.27, -6.54]
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one], axis: [[2, 1, 2], [1, 2, -2]]}
  B:
    type: revolute
    connects: [one, two]
    at: [[1/7, 2/7, 1/3], [1/3, 1/11, -1/7]]
    axis: [[2, 1, 2], [1, 2, -2]]
coordinates: [A, B]
excitation:
  {kind: states, samples: 60, seed: 2, amplitude: {A: 1 rad, B: 1 rad}, frequency: 0.3 Hz}
"""
    for hair, rank in (("0", 8), ("1/100", 10), ("1e-6", 10), ("1e-9", 10)):
        model, _ = prepared(mechanism_file.loads(text.replace("HAIR", hair)))
        # 10 = 3 of the first body and 7 of the second; two first moments go with the gravity.
        assert symbolic(model).rank == rank
        found = numeric(model)
        assert found.rank == rank or found.doubt


@pytest.mark.slow
def test_three_legs():
    mechanism = linkage(0, RRS3, ["A1", "A2", "A3"], amplitude=0.1, samples=40)
    model, moving = prepared(mechanism)
    base = symbolic(model)
    W = maximal.observe(mechanism, {}, moving.q, moving.q_dot, moving.q_ddot)
    assert base.rank == svd_rank(W[0])
