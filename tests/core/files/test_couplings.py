"""The section `couplings`: what is rejected, with which message."""

import math

import pytest

from basepar_core.errors import BaseparWarning, FileError
from basepar_core.expressions import evaluate
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


def test_joint_values_by_name_everywhere():
    """`C.slide` and `C.angle` are `C.1` and `C.2` wherever a file names joint values."""
    more = (
        "\nassembly: {ANGLE: 0.1 rad}"
        "\nexcitation: {kind: states, samples: 9, seed: 1, frequency: 1 Hz,"
        "\n  amplitude: {A: 1, ANGLE: 2}}"
        "\nfriction: {SLIDE: {viscous: 2}, ANGLE: [coulomb]}"
        "\nsprings: {s: {joint: SLIDE, rest: 1 mm}}"
        "\nactuated: [A, ANGLE]\n"
    )
    named, numbered = (
        loads(
            (TEXT.replace("[A, C.2]", "[A, ANGLE]") + more).replace("ANGLE", a).replace("SLIDE", s)
        )
        for a, s in (("C.angle", "C.slide"), ("C.2", "C.1"))
    )
    assert named.coordinates == numbered.coordinates == ("A", "C.2")
    for key in ("assembly", "excitation", "friction", "springs", "actuated"):
        assert getattr(named, key) == getattr(numbered, key)
    assert "'C.angle' is given twice" in changed("[A, C.2]", "[A, C.2, C.angle]")


@pytest.mark.parametrize(
    "section",
    [
        "friction: {C.slide: {viscous: 2}, C.1: {viscous: 3}}",
        "friction: {C.1: [viscous], C.slide: [coulomb]}",
        "assembly: {C.slide: 1 mm, C.1: 2 mm}",
    ],
)
def test_one_value_by_both_names_is_given_twice(section):
    said = changed("coordinates: [A, C.2]", f"coordinates: [A, C.2]\n{section}")
    assert "'C.slide' is given twice" in said
    assert "1 mistake" in said


def test_pi_in_coefficients():
    for text in ("20 mm/rev", "r/(360 deg)", "r/(2*180 deg)"):
        (_, (name, x)), _ = loads(TEXT.replace("A: -r", f"A: {text}")).couplings[0].terms, 0
        assert name == "A"
        assert float(evaluate([x], {"r": 0.02})[0]) == pytest.approx(0.02 / (2 * math.pi))
    assert "pi stands outside" in changed(
        "{type: prismatic, connects: [ground, b]}",
        "{type: prismatic, connects: [ground, b], at: [[20 mm/rev, 0, 0], [0, 0, 0]]}",
    )


def test_values_and_units():
    rack, screw = loads(TEXT).couplings
    assert [name for name, _ in rack.terms] == ["B", "A"]
    assert [name for name, _ in screw.terms] == ["C.1", "C.2"]
    assert float(rack.offset.value) == 0.003
    (rack, _) = loads(TEXT.replace("offset: 3 mm", "offset: 2*r - sqrt(r^2)/n")).couplings
    assert float(evaluate([rack.offset], {"r": 0.02, "n": 4.0})[0]) == pytest.approx(0.035)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("B: 1,", "B: r,", "a factor in 1/m is missing"),
        ("B: 1,", "E: 1,", "no joint value is named 'E'"),
        ("C.slide: n", "C: n", "has several values: C.1, C.2, C.slide, C.angle"),
        ("{B: 1, A: -r}, offset: 3 mm", "{B: 1}", "at least two joint values"),
        ("A: -r}", "A: 0}", "0 couples nothing"),
        ("A: -r}", "B.1: -r}", "the prismatic joint 'B' has one value: B"),
        ("offset: 3 mm", "offset: 3 rad", "m is expected"),
        ("offset: 3 mm", "offset: n", "'n' has no unit, but m is expected here"),
        ("value: 20, unit: mm", "value: 20", "write r: {value: 20, unit: m}"),
        (
            "A: -r}",
            "A: -n}",
            "couplings.rack.values.A (line 12): '-n' has no unit, but with B in m the coefficient "
            "of an angle is a length, such as a pitch radius; the file has r",
        ),
        ("offset: 3 mm", "offset: B", "no symbol 'B' is declared"),
        ("rack:", "A:", "'A' is a joint too"),
        ("  screw:", "  twice: {values: {A: r, B: -1}, offset: -3 mm}\n  screw:", "follows from"),
        (
            "  screw:",
            "  not: {values: {A: r, B: -1}}\n  nor: {values: {A: r, B: -1}}\n  screw:",
            "couplings.not (line 13): coupling 'not' contradicts rack: its offset is 0 m, and "
            "-0.003 m follows from there, 0.003 m apart",
        ),
        (
            "  screw:",
            "  not: {values: {A: r, B: -1}}\n  nor: {values: {A: r, B: -1}}\n  screw:",
            "couplings.nor (line 14): coupling 'nor' contradicts rack",
        ),
        ("{B: 1, A: -r}", "{B: 1, A^2: -r}", "couplings are linear: 'A^2' is no joint value"),
        ("{B: 1, A: -r}", "{B: 1, A*B: -r}", "couplings are linear: 'A*B' is no joint value"),
        ("{B: 1, A: -r}", "{B: 1, A: A}", "couplings are linear: coefficients are of symbols"),
        ("{type: cylindrical,", "{type: screw, pitch: 0 mm,", "a screw of pitch 0 cannot move"),
        ("type: cylindrical", "type: free", "values of the free joint 'C' cannot be coupled"),
        ("{type: cylindrical,", "{type: screw,", "a screw needs its pitch"),
        ("{type: cylindrical,", "{type: cylindrical, pitch: 3 mm,", "only a screw has a pitch"),
    ],
)
def test_mistakes(old, new, said):
    assert said in changed(old, new)


def test_bare_lengths():
    for old, new in (("A: -r", "A: -20"), ("offset: 3 mm", "offset: 20")):
        with pytest.warns(BaseparWarning, match=r"couplings\.rack.*20 m; write '-?20 mm' or"):
            loads(TEXT.replace(old, new))


def test_units_of_a_relation_are_not_guessed_from_half_of_it():
    assert "factor" not in changed("B: 1,", "E: 1,")


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


def test_a_long_bare_pitch_is_warned_of():
    text = TEXT.replace("type: cylindrical", "type: screw, pitch: 5")
    text = text.replace("  screw: {values: {C.slide: n, C.angle: 1 mm}}\n", "")
    with pytest.warns(BaseparWarning, match="5 is taken as 5 m per turn; write '5 mm' or '5 m'"):
        loads(text)
