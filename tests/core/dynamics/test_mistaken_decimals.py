"""Open loops: a decimal point that is one place off, and a joint whose bodies are exchanged."""

import pytest

from basepar_core.dynamics.assembly import assemble
from basepar_core.errors import AssemblyError
from basepar_core.files import library_path, loads

from .test_mistaken_units import CRANK


def message(text, old, new):
    assert old in text
    with pytest.raises(AssemblyError) as caught:
        assemble(loads(text.replace(old, new)))
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        (
            "[[l, 0], [0, 0]]",
            "[[22 mm, 0], [0, 0]]",
            "joints.C.at[0][0]",
            "0.22 m in place of 0.0",
        ),
        ("e: {value: 15, ", "e: {value: 1500, ", "geometry.e", ""),
        ("r: {value: 60, ", "r: {value: 600, ", "geometry.r", "0.06 m in place of 0.6 m"),
    ],
)
def test_a_decimal_point(old, new, place, said):
    error = message(CRANK, old, new)
    if said:
        assert [*error.where] == [place]
        assert said in error.message
    else:  # two places off
        assert "in place of" not in error.message


def test_bodies_of_a_joint_with_two_axes():
    text = library_path("rssr").read_text(encoding="utf-8")
    error = message(text, "connects: [rocker, stem]", "connects: [stem, rocker]")
    assert "With joints.U.connects: [rocker, stem] all loops close about" in error.message
    assert [*error.where] == ["joints.U"]
