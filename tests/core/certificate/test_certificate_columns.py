"""Certificates of models with friction, rotors, offsets, springs and dampers.

The maker has these columns from twists, the checker from quadratic forms in natural coordinates:
that a determinant with all of them comes out alike to 18 digits is what says both are right.
"""

import copy
import json
from functools import cache

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.extended import extend
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate.checker import RejectedError
from basepar_core.certificate.checker.checking import check, digest
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.force_columns import observe_columns, select
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.files.mechanism_file import loads

EVERY = "[viscous, coulomb, offset, rotor]"
#: In space: every type of joint but the spherical one, values stated and not, axes of any length.
SPATIAL = f"""
name: chain
space: spatial
gravity: [1, 2, -9.81]
geometry: {{l: {{value: 0.7, unit: m}}, t: {{value: 20 deg, unit: deg}}}}
bodies: {{one: {{}}, two: {{}}, three: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one], axis: [[0, "sin(t)", "cos(t)"], [0, 0, 1]]}}
  U: {{type: universal, connects: [one, two], at: [[l, 0, 1/3], [0, 0, 0]],
      axis: [[0, 0, 2], [0, 2, 0]], reference: [[1, 0, 0], [1, 0, 0]]}}
  C: {{type: cylindrical, connects: [two, three], at: [[l, 1/5, 0], [0, 0, 0]],
      axis: [[1, 2, 2], [0, 0, 3]], reference: [[0, 1, 0], [1, 0, 0]]}}
coordinates: [A, U.1, U.2, C.1, C.2]
assembly: {{A: 0.3, U.1: 0.2, U.2: -0.4, C.1: 0.1, C.2: 2.9}}
excitation: {{kind: states, samples: 60, seed: 1, frequency: 1 Hz,
  amplitude: {{A: 1, U.1: 0.7, U.2: 0.7, C.1: 0.1, C.2: 1}}}}
friction: {{A: {EVERY}, U.1: {EVERY}, U.2: {EVERY}, C.1: {EVERY}, C.2: {EVERY}}}
springs:
  sA: {{joint: A, rest: -30 deg}}
  s1: {{joint: U.1, rest: t/2}}
  s2: {{joint: U.2, rest: 1/3}}
  sC: {{joint: C.1, rest: l/2}}
  st: {{joint: C.2, rest: 0}}
  across: {{connects: [ground, three], at: [[2*l, 0, 1], [0, 1/7, 0]], rest: l}}
dampers: {{d: {{connects: [one, three], at: [[l, 0, 1], [0, 1, 0]]}}}}
"""
FRICTION = "friction: {A: [viscous, coulomb, rotor], D: [viscous, rotor]}\n"
SPRINGS = (
    "springs: {S: {joint: C, rest: 10 deg}, "
    "L: {connects: [ground, rod], at: [[1/2, 1/4], [lx2/2, 0]], rest: lx1}}\n"
)


@cache
def _made(text):
    model = prepare(loads(text))
    chosen = select(model.mechanism, ["friction", "springs", *["dampers"] * ("dampers" in text)])
    return json.loads(json.dumps(certify(model, symbolic(model), chosen))), model, chosen


def slider_crank():
    source = load("slider-crank").source
    head, _, _ = source.partition("friction:")
    return head + FRICTION + SPRINGS


def made():
    """A slider-crank with friction, rotors and springs; its rotors depend on inertias."""
    return copy.deepcopy(_made(slider_crank())[0])


def seen_rank(model, chosen):
    """Rank of W with further columns at random states, by NumPy."""
    motion = excitation(model.mechanism, model.assembled.coordinates)
    seen = observe(model, {}, motion)
    extra = observe_columns(model, {}, motion, seen.trace.q, chosen)
    W = np.concatenate([seen.W, extra], axis=-1)[0].reshape(-1, seen.W.shape[-1] + len(chosen))
    lengths = np.linalg.norm(W, axis=0)
    return np.linalg.matrix_rank(W / np.where(lengths > 1e-9, lengths, 1), 1e-9)


@pytest.mark.parametrize("text", [slider_crank(), SPATIAL], ids=["slider-crank", "chain"])
def test_both_formulations_and_plain_numbers_agree(text):
    document, model, chosen = _made(text)
    verdict = verify(document)
    assert verdict.columns == tuple(one.name for one in chosen)
    rank = document["at_least"]["rank"]
    assert rank == document["at_most"]["rank"] == seen_rank(model, chosen)
    assert document["at_least"]["grade"] == "proved"
    # In the minor there are columns of every kind that is independent.
    kinds = {name.rpartition(".")[2] for name in document["at_least"]["minor"]["columns"]}
    assert kinds >= {"viscous", "coulomb", "stiffness"}
    more = [v for v in document["at_most"]["vectors"] if v["grade"] == "numerical"]
    assert all(any(name.endswith(".rotor") for name in v["entries"]) for v in more)
    assert document["grade"] == "numerical"
    base = extend(model, symbolic(model), chosen)
    assert base.rank == rank


def test_without_dependent_columns_the_upper_bound_keeps_its_grade():
    model = prepare(load("slider-crank"))
    document = certify(model, symbolic(model), select(model.mechanism, ["friction"]))
    assert (document["grade"], document["at_least"]["rank"]) == ("theorem", 10)


def resealed(document):
    return document | {"digest": digest(document)}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d["mechanism"]["columns"][0].update(kind="rotor"), "at_least"),
        (lambda d: d["mechanism"]["columns"][1].update(kind="offset"), "at_least"),
        (lambda d: d["mechanism"]["columns"][0].update(on="B"), "at_least"),
        (lambda d: d["mechanism"]["columns"][0].update(on="E"), "at_least"),
        (lambda d: d["mechanism"]["columns"][0].update(kind="drag"), "at_least"),
        (lambda d: d["mechanism"]["columns"][5].update(rest="(1/3)"), "at_least"),
        (lambda d: d["mechanism"]["columns"][6].update(rest="2*lx1"), "at_least"),
        (lambda d: d["mechanism"]["columns"][6]["points"][1].reverse(), "at_least"),
        (lambda d: d["mechanism"]["columns"].pop(), "parameters"),
        (lambda d: d["at_most"]["vectors"].pop(), "at_most"),
        (lambda d: d["at_most"]["vectors"][-1].update(grade="probability", bits=100), "at_most"),
    ],
)
def test_what_is_changed_is_rejected(change, where):
    """By the checker's mechanics, which does not see the file; `verify` compares that too."""
    document = made()
    change(document)
    with pytest.raises(RejectedError) as caught:
        check(resealed(document))
    assert caught.value.where.startswith(where), caught.value
    with pytest.raises(RejectedError):
        verify(resealed(document))


def test_values_of_spherical_joints_are_refused_by_name():
    text = load("rssr").source
    joint = next(j.name for j in loads(text).joints if j.type == "spherical")
    model = prepare(loads(text + f"\nsprings: {{S: {{joint: {joint}.1, rest: 0}}}}\n"))
    with pytest.raises(UsageError, match=r"No certificate has S\.stiffness"):
        certify(model, symbolic(model), select(model.mechanism, ["springs"]))
