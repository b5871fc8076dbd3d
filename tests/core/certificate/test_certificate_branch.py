"""Certificates of assemblies that are typed far off, and texts of a file that do not matter.

Rank 13 of Stephenson III and Watt II as in the library (docs/library.md, counted three times);
that rougher angles lead to the same pose is what `prepare` makes of either, compared here.
"""

import json
import re

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.checker import RejectedError
from basepar_core.certificate.checker.checking import HERE, STATED, digest
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads

#: Angles up to 0.85 rad from those at which the loops close.
FAR = {
    "stephenson-iii": "{A: 50 deg, B: -1 deg, D: 65 deg, E: -108 deg, G: -124 deg}",
    "watt-ii": "{A: 60 deg, B: -26 deg, C: 47 deg, E: -91 deg, F: 6 deg}",
}
#: The four-bar of the library with its elbow on the other side.
ELBOW = "{A: 34 deg, B: -54.5 deg, C: 88.8 deg}"


def assembled(name, assembly=None):
    text = load(name).source
    if assembly is not None:
        text = re.sub(r"(?m)^assembly:.*", f"assembly: {assembly}", text)
    return prepare(loads(text))


def made(model):
    return json.loads(json.dumps(certify(model, symbolic(model))))


def signed(document):
    return document | {"digest": digest(document)}


@pytest.mark.parametrize("name", FAR)
def test_an_assembly_typed_far_off(name):
    model = assembled(name, FAR[name])
    # Both are closed to 1e-11, from different sides.
    np.testing.assert_allclose(model.assembled.q, assembled(name).assembled.q, atol=1e-9)
    document = made(model)
    assert document["at_least"]["scope"] == STATED
    verdict = verify(document)
    assert verdict.grade == "theorem"
    assert [row["statement"] for row in verdict.statements] == ["rank ≥ 13", "rank ≤ 13"]
    assert verdict.statements[0]["scope"] == STATED
    # It may not be said to be near.
    document["at_least"]["scope"] = HERE
    with pytest.raises(RejectedError, match=r"at_least\.pose: .*file's assembly"):
        checker.check(signed(document))


def test_a_near_pose_is_said_to_be_near():
    document = made(assembled("four-bar"))
    document["at_least"]["scope"] = STATED
    with pytest.raises(RejectedError, match=r"at_least\.scope"):
        checker.check(signed(document))


def test_another_branch_says_so_and_is_not_the_files():
    """The checker knows no assembler: `verify` holds the stated branch against the file's."""
    document, other = made(assembled("four-bar")), made(assembled("four-bar", ELBOW))
    document["at_least"] = other["at_least"] | {"scope": STATED}
    document = signed(document)
    assert checker.check(document).statements[0]["scope"] == STATED
    with pytest.raises(RejectedError, match=r"at_least\.pose: .*where the file's assembly leads"):
        verify(document)


@pytest.mark.parametrize("moved", ["at", "x"])
def test_a_far_scope_excuses_no_false_pose(moved):
    document = made(assembled("watt-ii", FAR["watt-ii"]))
    body = next(iter(document["at_least"]["pose"].values()))
    body[moved][0] = f"{float(body[moved][0]) + 0.01:.12f}"
    with pytest.raises(RejectedError, match="at_least"):
        checker.check(signed(document))


#: What no statement about the rank depends on: inertias and what only they need, and everything
#: about motions that the certificate does not use.
HARMLESS = {
    "an inertia's constant": ("rho: {value: 2.7,", "rho: {value: 2.8,"),
    "a mass": ("mass: rho*lx1,", "mass: 2*rho*lx1,"),
    "a centre": ("centre: [lx1/2, 0]", "centre: [lx1/3, 0]"),
    "a bound": ("bounds: [0.2, 1.5]", "bounds: [0.2, 1.4]"),
    "noise": ("noise: {A: 0.01", "noise: {A: 0.02"),
    "the excitation": ("amplitude: {A: 0.6 rad}", "amplitude: {A: 0.5 rad}"),
    "friction": ("friction: {A: [viscous, coulomb]}", "friction: {A: [viscous]}"),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_texts_that_do_not_matter(what):
    """Those that docs/certificate.md lists, and what a reader may take the digest for."""
    document = made(assembled("four-bar"))
    old, new = HARMLESS[what]
    text = document["mechanism"]["text"]
    assert text.count(old) >= 1
    document["mechanism"]["text"] = text.replace(old, new, 1)
    with pytest.raises(RejectedError, match="digest"):
        verify(document)
    assert verify(signed(document)).grade == "theorem"


@pytest.mark.parametrize(
    ("old", "new"), [("value: 0.3,", "value: 0.31,"), ("A: 34 deg", "A: 35 deg")]
)
def test_texts_that_matter(old, new):
    document = made(assembled("four-bar"))
    document["mechanism"]["text"] = document["mechanism"]["text"].replace(old, new, 1)
    with pytest.raises(RejectedError, match="mechanism"):
        verify(signed(document))
