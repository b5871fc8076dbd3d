"""The checker's joint rules against the maker's, for every type of joint, and against false ones.

The maker has a table of what each joint lets pass; the checker decides from energies. Mechanisms
are random linkages with rational frames (tests/mechanisms.py).
"""

import pytest

from basepar_core.certificate.checker.exact import Field
from basepar_core.certificate.checker.natural import Mechanism
from basepar_core.certificate.checker.rules import JointRules
from basepar_core.certificate.description import described
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from tests.mechanisms import build, linkage

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "fixed")
NO_WEIGHT = ("0", "0", "0")


def rules_of(mechanism):
    given = described(mechanism, [])
    return JointRules(Mechanism.of(given), Field(given["symbols"]))


def vectors_of(mechanism):
    field = GeometryField.of(mechanism)
    names = mechanism.parameter_names
    for vector in joint_vectors(Transfers(mechanism, field)):
        texts = {names[k]: field.to_text(x) for k, x in vector.entries.items()}
        yield vector.reason.rsplit(" ", 1)[-1], texts, vector.reason


def chain(kind, seed=3, **options):
    """One body on the joint, another on one of the same kind, and one that moves in any case."""
    links = [("A", kind, "ground", "one"), ("B", kind, "one", "two")]
    links.append(("C", "revolute", "two", "three"))
    return linkage(seed, links, **options)


@pytest.mark.parametrize("gravity", [("1/2", "-1", "-97/10"), NO_WEIGHT])
@pytest.mark.parametrize("kind", KINDS)
def test_the_makers_vectors_are_confirmed(kind, gravity):
    for swapped in ((), ("A", "B")):
        mechanism = chain(kind, gravity=gravity, swapped=swapped)
        rules = rules_of(mechanism)
        for joint, entries, reason in vectors_of(mechanism):
            assert rules.fault(joint, entries, reason) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_any_entry_changed_is_noticed(kind):
    mechanism = chain(kind)
    rules = rules_of(mechanism)
    for joint, entries, reason in vectors_of(mechanism):
        for name, text in entries.items():
            assert rules.fault(joint, entries | {name: f"({text})*998/997"}, reason)


def test_gravity_along_a_universal_joints_axis_lets_one_more_pass():
    def fault(gravity):
        mechanism = build(
            {
                "name": "hung",
                "space": "spatial",
                "gravity": gravity,
                "bodies": {"rod": {}},
                "joints": {"J": {"type": "universal", "connects": ["ground", "rod"],
                                 "axis": [[0, 1, 0], [0, 0, 1]]}},
                "coordinates": ["J.1", "J.2"],
            }
        )  # fmt: skip
        reason = "first moment along the axis of rod into the ground through universal J"
        return rules_of(mechanism).fault("J", {"rod.mz": "1"}, reason)

    assert fault([0, "-9.81", 0]) == ""
    assert fault([0, 0, "-9.81"]) == "the potential depends on it"


@pytest.mark.parametrize(
    ("kind", "entries", "what"),
    [
        # Points that coincide now slide apart: a first moment along the slide does not pass.
        ("prismatic", {"one.mz": "1", "two.mz": "-1"}, "first moment"),
        ("spherical", {"one.mx": "1", "two.mx": "-1"}, "first moment"),
        ("revolute", {"one.m": "1", "two.m": "-2"}, "mass"),
        # I·z = 0, so that turning about z carries no momentum, but it looks different after it.
        ("revolute", {"one.Ixx": "1", "one.Iyy": "-1", "two.Ixx": "-1", "two.Iyy": "1"},
         "second moment along the axis"),
    ],
)  # fmt: skip
def test_false_rules(kind, entries, what):
    mechanism = build(
        {
            "name": "two",
            "space": "spatial",
            "gravity": [0, 0, "-9.81"],
            "bodies": {"one": {}, "two": {}},
            "joints": {
                "A": {"type": "spherical", "connects": ["ground", "one"]},
                "B": {"type": kind, "connects": ["one", "two"]},
            },
            "coordinates": ["A.1", "A.2", "A.3"]
            + (["B.1", "B.2", "B.3"] if kind == "spherical" else ["B"]),
        }
    )
    reason = f"{what} between one and two through {kind} B"
    wrong = rules_of(mechanism).fault("B", entries, reason)
    assert wrong
    assert "not what its reason says" not in wrong  # the energies tell, not the name
