"""The section `couplings`: what is rejected, with which message."""

import pytest

from basepar_core.errors import FileError
from basepar_core.files import loads

TEXT = """
name: gears
space: spatial
gravity: [0, 0, -9.81]
geometry: {r: {value: 20, unit: mm}, n: {value: 3}}
bodies: {a: {}, b: {}, c: {}}
joints:
  A: {type: revolute, connects: [ground, a]}
  B: {type: prismatic, connects: [ground, b]}
  C: {type: cylindrical, connects: [ground, c]}
couplings:
  rack: {values: {B: 1, A: -r}, offset: 3 mm}
  screw: {values: {C.slide: n, C.angle: 1 mm}}
coordinates: [A, C.2]
"""


def changed(old: str, new: str) -> str:
    """The mistakes of the file with one change."""
    assert old in TEXT
    with pytest.raises(FileError) as caught:
        loads(TEXT.replace(old, new))
    return str(caught.value)


def test_values_and_units():
    rack, screw = loads(TEXT).couplings
    assert [name for name, _ in rack.terms] == ["B", "A"]
    assert [name for name, _ in screw.terms] == ["C.1", "C.2"]
    assert float(rack.offset.value) == 0.003


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("A: -r}", "A: -n}", "write n: {value: 3, unit: m}"),
        ("B: 1,", "B: r,", "a factor in 1/m is missing"),
        ("B: 1,", "E: 1,", "no joint value is named 'E'"),
        ("C.slide: n", "C: n", "has several values: C.1, C.2, C.slide, C.angle"),
        ("{B: 1, A: -r}, offset: 3 mm", "{B: 1}", "at least two joint values"),
        ("A: -r}", "A: 0}", "0 couples nothing"),
        ("A: -r}", "B.1: -r}", "the prismatic joint 'B' has one value: B"),
        ("offset: 3 mm", "offset: 3 rad", "m is expected"),
        ("rack:", "A:", "'A' is a joint too"),
        ("  screw:", "  twice: {values: {A: r, B: -1}, offset: -3 mm}\n  screw:", "follows from"),
        ("  screw:", "  not: {values: {A: r, B: -1}}\n  screw:", "'not' contradicts rack"),
        ("{type: cylindrical,", "{type: screw,", "a screw needs its pitch"),
        ("{type: cylindrical,", "{type: cylindrical, pitch: 3 mm,", "only a screw has a pitch"),
        ("type: prismatic", "type: screw, pitch: 2", "unit"),
    ],
)
def test_mistakes(old, new, said):
    assert said in changed(old, new)


def test_coefficients_that_vanish():
    text = TEXT.replace("C.slide: n, C.angle: 1 mm", "C.slide: n, C.angle: n*(1 mm)")
    with pytest.raises(FileError, match="all coefficients of coupling 'screw' are 0"):
        loads(text.replace("n: {value: 3}", "n: {value: 0}"))


def test_a_screw_in_the_plane():
    text = "name: s\nspace: planar\ngravity: [0, 0]\nbodies: {a: {}}\ncoordinates: [A.2]\n"
    joint = "joints: {A: {type: screw, connects: [ground, a], pitch: 5 mm}}\n"
    with pytest.raises(FileError, match="a screw joint is spatial"):
        loads(text + joint)


def test_what_turns_about_two_axes_is_rejected():
    text = TEXT.replace("type: cylindrical", "type: universal").replace("C.slide", "C.1")
    with pytest.raises(FileError, match="two revolute joints in its place"):
        loads(text.replace("1 mm", "1").replace("C.angle", "C.2"))


def test_a_screw_is_a_cylindrical_joint_with_its_pitch():
    text = TEXT.replace("type: cylindrical", "type: screw, pitch: 5 mm")
    mechanism = loads(text.replace("  screw: {values: {C.slide: n, C.angle: 1 mm}}\n", ""))
    assert mechanism.joints[2].type == "cylindrical"
    assert [one.name for one in mechanism.couplings] == ["C", "rack"]
