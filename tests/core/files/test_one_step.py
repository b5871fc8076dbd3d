"""Mistakes as a new user makes them: what the message says to write, written, works at once.

Every case breaks a good file, finds the mistake by its key, takes the remedy from the message
and reads the file again with it: a message that names a remedy which does not work fails.
"""

import re

import pytest

from basepar_core.dynamics import Outcome, cycle, excitation, prepare, trace
from basepar_core.errors import FileError, MechanismError, MissingDataError
from basepar_core.files import library_path, loads

FOUR_BAR = library_path("four-bar").read_text(encoding="utf-8")
CYCLE = FOUR_BAR[FOUR_BAR.index("cycle:") : FOUR_BAR.index("noise:")]
ARM = """\
name: arm
space: spatial
gravity: [0, 0, -9.81]
geometry: {h: {value: 0.35, unit: m}}
bodies:
  column: {mass: 6 kg, centre: [0, 0, h/2], central_inertia: [0.08, 0, 0, 0.08, 0, 0.02]}
  arm: {mass: 3 kg, centre: [0.1, 0, 0], central_inertia: [0.004, 0, 0, 0.02, 0, 0.02]}
joints:
  yaw: {type: revolute, connects: [ground, column]}
  shoulder:
    type: revolute
    connects: [column, arm]
    at: [[0, 0, h], [0, 0, 0]]
    axis: [[0, 1, 0], [0, 1, 0]]
coordinates: [yaw, shoulder]
"""
LX1 = "lx1: {value: 0.3, unit: m, bounds: [0.2, 1.5]}"

#: What was meant, what the user wrote instead, the mistake's key, what the message says to
#: write, and that in its place («»).
CASES = {
    "a typo of a key": (
        "mass: rho*lx1",
        "mas: rho*lx1",
        "bodies.crank.mas",
        "mass",
        "«»: rho*lx1",
    ),
    "a typo of a section": ("coordinates:", "coordinate:", "coordinate", "coordinates", "«»:"),
    "a typo of a body": (
        "[crank, coupler]",
        "[crank, cuopler]",
        "joints.B.connects[1]",
        "coupler",
        "[crank, «»]",
    ),
    "a typo of a symbol": (
        "mass: rho*lx1",
        "mass: rho*l1",
        "bodies.crank.mass",
        "lx1",
        "mass: rho*«»",
    ),
    "a joint's name in other case": (
        "assembly: {A:",
        "assembly: {a:",
        "assembly.a",
        "A",
        "assembly: {«»:",
    ),
    "a kind in capitals": (
        "kind: fourier",
        "kind: Fourier",
        "excitation.kind",
        "fourier",
        "kind: «»",
    ),
    "no space": ("space: planar\n", "", "space", "space: planar", "«»\n"),
    "no coordinates": ("coordinates: [A]\n", "", "coordinates", "coordinates: [A]", "«»\n"),
    "no seed": (", seed: 1}", "}", "excitation.seed", "seed: 1", ", «»}"),
    "a unit's power without ^": ("9.81]", "9810 mm/s2]", "gravity[1]", "s^2", "9810 mm/«»]"),
    "turns per second": ("6.28 rad/s", "1 rps", "cycle.joints.A.speed", "6.2832 rad/s", "«»"),
    "degrees in full": ("34 deg", "34 degrees", "assembly.A", "34 deg", "«»"),
    "pi": ("34 deg", "pi/6", "assembly.A", "180 deg", "«»/6"),
    "powers as in Python": ("lx1^3/3", "lx1**3/3", "bodies.crank.inertia", "^", "lx1«»3/3"),
    "a number without unit in a sum": (
        "[Dx, Dy]",
        "[Dx + 0.1, Dy]",
        "joints.D.at[0][0]",
        "0.1 m",
        "[Dx + «», Dy]",
    ),
    "a decimal comma": ("value: 0.3,", "value: 0,3,", "geometry.lx1.3", "0.3", "value: «»,"),
    "a symbol as a number": (LX1, "lx1: 0.3", "geometry.lx1", "lx1: {value: 0.3, unit: m}", "«»"),
    "a symbol as a quantity": (
        LX1,
        "lx1: 300 mm",
        "geometry.lx1",
        "lx1: {value: 300, unit: mm}",
        "«»",
    ),
    "a symbol without unit": (
        LX1,
        "lx1: {value: 0.3, bounds: [0.2, 1.5]}",
        "geometry.lx1",
        LX1,
        "«»",
    ),
    "a constant without unit": (
        "rho: {value: 2.7, unit: kg/m}",
        "rho: {value: 2.7}",
        "constants.rho",
        "rho: {value: 2.7, unit: kg/m}",
        "«»",
    ),
    "bounds the wrong way round": (
        "[0.2, 1.5]",
        "[1.5, 0.2]",
        "geometry.lx1.bounds",
        "[0.2, 1.5]",
        "«»",
    ),
    "gravity as a number": ("[0, -9.81]", "9.81", "gravity", "[0, -9.81]", "«»"),
    "one point instead of two": (
        "at: [[lx1, 0], [0, 0]]",
        "at: [lx1, 0]",
        "joints.B.at",
        "[[lx1, 0], [0, 0]]",
        "at: «»",
    ),
    "six inertias in the plane": (
        "rho*lx3^3/3",
        "[0, 0, 0, 0, 0, rho*lx3^3/3]",
        "bodies.rocker.inertia",
        "rho*lx3^3/3",
        "«»",
    ),
    "no blank after a colon": ("name: four-bar", "name:four-bar", "", "name: four-bar", "«»"),
    "friction as a number": (
        "A: [viscous, coulomb]",
        "A: 0.1",
        "friction.A",
        "{viscous: 0.1}",
        "A: «»",
    ),
    "a cycle without its coordinate": (
        CYCLE,
        "cycle: {kind: constant_speed, speed: 6.28 rad/s, turns: 1, samples: 128}\n",
        "cycle",
        CYCLE.strip(),
        "«»\n",
    ),
    "one axis instead of two": (
        "[[0, 1, 0], [0, 1, 0]]",
        "[0, 1, 0]",
        "joints.shoulder.axis",
        "[[0, 1, 0], [0, 1, 0]]",
        "«»",
    ),
    "an axis by its name": (
        "[[0, 1, 0], [0, 1, 0]]",
        "y",
        "joints.shoulder.axis",
        "[[0, 1, 0], [0, 1, 0]]",
        "«»",
    ),
    "three moments of inertia": (
        "[0.08, 0, 0, 0.08, 0, 0.02]",
        "[0.08, 0.08, 0.02]",
        "bodies.column.central_inertia",
        "[0.08, 0, 0, 0.08, 0, 0.02]",
        "«»",
    ),
}


def broken(meant, wrong):
    good = FOUR_BAR if meant in FOUR_BAR else ARM
    assert good.count(meant) >= 1
    return good.replace(meant, wrong, 1)


@pytest.mark.parametrize(("meant", "wrong", "key", "said", "fixed"), CASES.values(), ids=CASES)
def test_what_the_message_says_works(meant, wrong, key, said, fixed):
    with pytest.raises(FileError) as caught:
        loads(broken(meant, wrong))
    (mistake,) = caught.value.mistakes
    assert mistake.path == key
    assert said in mistake.message
    assert prepare(loads(broken(meant, fixed.replace("«»", said)))).assembled.residual < 1e-9


def test_degrees_that_look_like_radians_are_warned_of():
    with pytest.warns(UserWarning, match="write '34 deg'"):
        loads(FOUR_BAR.replace("A: 34 deg", "A: 34"))


def test_a_ratio_is_not_blamed_for_another_mistake():
    """A symbol without a unit is blamed only where a unit would mend the expression."""
    ratio = FOUR_BAR.replace("constants: {", "constants: {k: {value: 2}, ")
    assert loads(ratio.replace("mass: rho*lx1", "mass: k*rho*lx1"))
    with pytest.raises(FileError) as caught:
        loads(ratio.replace("mass: rho*lx1", "mass: k*rho*lx1 + lx1"))
    assert [mistake.path for mistake in caught.value.mistakes] == ["bodies.crank.mass"]


@pytest.mark.parametrize(("what", "motion"), [("excitation", excitation), ("cycle", cycle)])
@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "3-rrr", "stewart-gough"])
def test_a_missing_motion_gives_the_line_to_paste(name, what, motion):
    text = library_path(name).read_text(encoding="utf-8")
    rest = re.sub(rf"^{what}:.*\n(?:[ ].*\n)*", "", text, flags=re.MULTILINE)
    assert rest != text
    model = prepare(loads(rest))
    with pytest.raises(MissingDataError) as caught:
        motion(model.mechanism, model.assembled.coordinates)
    line = caught.value.message.split("`")[1]
    assert line.startswith(f"{what}: ")
    pasted = prepare(loads(f"{rest}{line}\n"))
    moved = motion(pasted.mechanism, pasted.assembled.coordinates)
    assert trace(pasted, {}, moved.q).outcome[0] == Outcome.CLOSED  # it follows the whole motion


def test_a_body_without_joint_gives_the_joint_to_paste():
    lone = FOUR_BAR.replace(
        "joints:\n", "  wheel: {mass: 1, centre: [0, 0], inertia: 0.1}\njoints:\n"
    )
    with pytest.raises(MechanismError) as caught:
        prepare(loads(lone))
    assert caught.value.where == ("bodies.wheel",)
    line = caught.value.message.split("`")[3]
    assert prepare(loads(lone.replace("joints:\n", f"joints:\n  {line}\n")))


def test_values_of_a_free_joint_that_are_no_coordinates_are_told_once():
    text = library_path("quadruped").read_text(encoding="utf-8")
    (right,) = re.findall("^coordinates: .*$", text, flags=re.MULTILINE)
    less = re.sub(r"B\.\d, ", "", right)
    with pytest.raises(FileError) as caught:
        loads(text.replace(right, less))
    (mistake,) = caught.value.mistakes
    assert mistake.path == "coordinates"
    assert "excitation names B.1 to B.6 too" in mistake.message
    assert mistake.message.split("`")[1] == right
