"""Lengths asked of angles in study files, and the other way round: what to write is right."""

import re

import pytest

from basepar_core.errors import FileError
from workflows.studies.reader import parse_study

STUDY = """
mechanism: slider-crank
variables: {lx1: [0.1, 0.2]}
objectives: {OBJECTIVE: minimize}
constraints: ["CONSTRAINT"]
trials: 8
sampler: {kind: tpe}
"""


def text(constraint, objective="torque_rms"):
    return STUDY.replace("CONSTRAINT", constraint).replace("OBJECTIVE", objective)


def message_of(study):
    with pytest.raises(FileError) as caught:
        parse_study(study)
    (found,) = caught.value.mistakes
    return found.message


@pytest.mark.parametrize(
    ("constraint", "why", "write"),
    [
        (
            "stroke(C) >= 150 mm",
            "C is revolute: stroke(C) is an angle, in deg or rad; lengths are the values of D",
            "stroke(D) >= 150 mm",
        ),
        (
            "40 deg <= stroke( D )",
            "D is prismatic: stroke(D) is a length; angles are the values of A, B, C",
            "40 deg <= stroke( A )",
        ),
        ("joint_max(B)/2 <= lx1", "B is revolute: joint_max(B) is an", "joint_max(D)/2 <= lx1"),
    ],
)
def test_the_other_kind_of_joint_is_named(constraint, why, write):
    message = message_of(text(constraint))
    assert why in message
    assert re.search(r": write (.*)\.$", message)[1] == write
    parse_study(text(write))


def test_objectives_too():
    message = message_of(text("stroke(D) >= 5 mm", "stroke(A) + 5 mm"))
    assert "stroke(A) is an angle" in message
    assert message.endswith("write stroke(D) + 5 mm.")


@pytest.mark.parametrize(
    "constraint",
    ["stroke(D) >= 40", "stroke(D) >= 3 kg", "stroke(X) >= 3 mm", "stroke(A) == 0"],
)
def test_other_mistakes_are_not_explained_so(constraint):
    message = message_of(text(constraint))
    assert "is revolute" not in message
    assert "is prismatic" not in message
