"""Pairs of modes that are left out add nothing to the rank of any order."""

import numpy as np
import pytest

from basepar_core.dynamics import closure
from basepar_core.finite_field import motion as motions
from basepar_core.finite_field.arithmetic import Draw, random_prime
from basepar_core.finite_field.family_component import find_component, start
from basepar_core.finite_field.motion import ranks_by_order
from basepar_core.finite_field.spanning_partners import carriers
from tests.mechanisms import build, linkage

ORDERS = 5
KINDS = ("revolute", "revolute", "prismatic", "cylindrical", "universal", "spherical")


def random_tree(seed, bodies=9, backwards=False):
    """Joints of all kinds; a body hangs on one of the two before it."""
    rng = np.random.default_rng(seed)
    names = ["ground", *(f"b{k}" for k in range(bodies))]
    links = [
        (f"j{k}", str(rng.choice(KINDS)), names[max(0, k - int(rng.integers(2)))], names[k + 1])
        for k in range(bodies)
    ]
    return linkage(seed, links[::-1] if backwards else links)


def planar_chain(bodies=7):
    count = range(bodies)
    return build(
        {
            "name": "planar chain",
            "space": "planar",
            "gravity": [0, "-9.81"],
            "geometry": {f"l{k}": {"value": f"{k + 3}/10", "unit": "m"} for k in count},
            "bodies": {f"b{k}": {} for k in count},
            "joints": {
                f"q{k}": {
                    "type": "revolute",
                    "connects": [f"b{k - 1}" if k else "ground", f"b{k}"],
                    "at": [[f"l{k}", 0], [0, 0]],
                }
                for k in count
            },
            "coordinates": [f"q{k}" for k in count],
        }
    )


def member(mechanism):
    family = find_component(closure.prepare(mechanism)).family
    rng = np.random.default_rng(7)
    return start(family, Draw(rng, random_prime(rng)))[1]


def every_pair(point, layout, moved, driven, at_start):
    return [[a for a in range(c + 1) if moved[a] & moved[c]] for c in range(len(moved))]


TREES = [lambda seed=seed: random_tree(seed) for seed in range(4)]


@pytest.mark.parametrize("tree", [*TREES, planar_chain])
def test_pairs_of_a_tree_span_all(tree, monkeypatch):
    fewer = member(tree()).coefficient_matrix(ORDERS)
    monkeypatch.setattr(motions, "spanning_partners", every_pair)
    every = member(tree()).coefficient_matrix(ORDERS)
    assert fewer.ncols() < every.ncols()
    assert ranks_by_order(fewer, ORDERS) == ranks_by_order(every, ORDERS)


def test_bodies_before_what_carries_them_keep_all_pairs(monkeypatch):
    mechanism = random_tree(1, backwards=True)
    one = member(mechanism)
    assert not carriers(one.point)
    found = one.coefficient_matrix(3)
    monkeypatch.setattr(motions, "spanning_partners", every_pair)
    assert found.ncols() == member(mechanism).coefficient_matrix(3).ncols()
