"""Overconstrained loops, locked joints, idle rods and singular assemblies are named."""

import re

import numpy as np
import pytest
import yaml

from basepar_core.dynamics import closure, constraints_found, excitation, observe
from basepar_core.dynamics.assembly import assemble
from basepar_core.errors import MechanismError
from basepar_core.files.mechanism_file import load, loads
from basepar_core.mechanism import Mechanism, free_spins, idle_spins
from tests.core.dynamics import test_joint_matrix as matrix
from tests.mechanisms import build

#: Crank and rocker with crossed axes; a rod between them.
ROD = """
name: rod
space: spatial
gravity: [0, 0, -9.81]
bodies: {{crank: {{}}, rod: {{}}, {more} rocker: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: {B}, connects: [crank, rod], at: [[0.1, 0, 0], [0, 0, 0]]{axis}}}
  {slide}
  C: {{type: spherical, connects: [{last}, rocker], at: [[0, 0, 0.4], [0.3, 0, 0]]}}
  D: {{type: revolute, connects: [ground, rocker], at: [[0.1, 0.2, 0.1], [0, 0, 0]],
      axis: [[0, 1, 0], [0, 1, 0]]}}
coordinates: [{coordinates}]
assembly:
  A: 20 deg
  bodies: {{rod: {{at: [0.09, 0.03, 0], rotation: [-0.4, 0.3, 0]}},
    rocker: {{at: [0.1, 0.2, 0.1], rotation: [0, -1, 0]}}}}
"""
PLAIN = {"more": "", "axis": "", "slide": "", "last": "rod"}
LEG = {
    "more": "tube: {},",
    "axis": "",
    "slide": "P: {type: prismatic, connects: [rod, tube]}",
    "last": "tube",
}
ACROSS = ", axis: [[0, 1, 0], [1, 0, 0]], reference: [[1, 0, 0], [0, 1, 0]]"


def spins(mechanism: Mechanism):
    return idle_spins([body.name for body in mechanism.bodies], mechanism.joints)


def test_a_rod_between_two_balls_is_named_with_what_to_do():
    """Two degrees of freedom, of which one coordinate drives one."""
    mechanism = loads(ROD.format(B="spherical", coordinates="A", **PLAIN))
    (spin,) = spins(mechanism)
    assert (spin.bodies, spin.joints) == (("rod",), ("B", "C"))
    with pytest.raises(
        MechanismError,
        match=r"rod turns idly between B and C, .*`form: slender` in rod; else .* universal",
    ) as found:
        assemble(mechanism)
    assert found.value.where == ("joints.B", "joints.C")
    repaired = loads(ROD.format(B="universal", coordinates="A", **PLAIN | {"axis": ACROSS}))
    assert assemble(repaired).residual < 1e-11
    assert spins(repaired) == ()


TWO_RODS = """
name: two rods
space: spatial
gravity: [0, 0, -9.81]
bodies: {a: {}, b: {}, c: {}, s: {form: slender}, t: {}}
joints:
  A: {type: revolute, connects: [ground, a], axis: [[1, 0, 0], [1, 0, 0]]}
  B: {type: revolute, connects: [ground, b], at: [[0, 1, 0], [0, 0, 0]],
      axis: [[1, 0, 0], [1, 0, 0]]}
  C: {type: revolute, connects: [ground, c], at: [[0, 2, 0], [0, 0, 0]],
      axis: [[1, 0, 0], [1, 0, 0]]}
  P: {type: spherical, connects: [a, s], at: [[0, 0, 0.3], [0, 0, 0]]}
  Q: {type: spherical, connects: [s, b], at: [[0, 1, 0], [0, 0, 0.4]]}
  R: {type: spherical, connects: [b, t], at: [[0, 0, 0.3], [0, 0, 0]]}
  S: {type: spherical, connects: [t, c], at: [[0, 1, 0], [0, 0, 0.4]]}
coordinates: [A]
"""


def test_a_second_rod_is_named_where_the_first_is_slender():
    with pytest.raises(MechanismError, match=r"t turns idly between R and S, .*slender` in t"):
        assemble(loads(TWO_RODS))
    assert assemble(loads(TWO_RODS.replace("t: {}", "t: {form: slender}"))).residual < 1e-11


def test_a_leg_of_two_bodies_turns_as_one():
    """Slides keep them from turning alone; its length and the crank are what can be driven."""
    mechanism = loads(ROD.format(B="spherical", coordinates="A, P", **LEG))
    (spin,) = spins(mechanism)
    assert spin.bodies == ("rod", "tube")
    with pytest.raises(MechanismError, match=r"3 degrees of freedom, but 2 .*rod and tube turn"):
        assemble(mechanism)


STRUT = LEG | {"slide": "P: {type: cylindrical, connects: [rod, tube]AT}"}
ON_THE_LINE = "mass: 2 kg, centre: [0, 0, 0.1], central_inertia: [0.03, 0, 0, 0.03, 0, 0]"


def strut(at: str = "", coordinates: str = "A, P.1", B: str = "spherical", axis: str = ""):
    parts = STRUT | {"axis": axis, "slide": STRUT["slide"].replace("AT", at)}
    return ROD.format(B=B, coordinates=coordinates, **parts)


def test_halves_of_a_strut_turn_by_themselves():
    mechanism = loads(strut())
    assert [(one.bodies, one.joints) for one in free_spins(mechanism)] == [
        (("rod",), ("B", "P")),
        (("tube",), ("C", "P")),
    ]
    with pytest.raises(
        MechanismError,
        match=r"4 degrees of freedom, but 2 .*: rod turns idly between B and P; tube turns idly "
        r"between C and P, .*make P prismatic, and write `form: slender` in rod and tube; else",
    ) as found:
        assemble(mechanism)
    assert found.value.where == ("joints.B", "joints.P", "joints.C", "joints.P")


def test_a_strut_whose_halves_do_not_turn_by_themselves():
    """Off the balls' line the tube's angle moves others; stated, the halves turn together."""
    for text in (
        strut(at=", at: [[0.01, 0, 0], [0.01, 0, 0]]"),
        strut(at=", at: [[0, 0, 0], [0, 0.01, 0]]"),
        strut(coordinates="A, P.1, P.2"),
        strut(coordinates="A, P.1") + "couplings: {gear: {values: {A: 1, P.2: 2}}}",
    ):
        (spin,) = free_spins(loads(text))
        assert (spin.bodies, spin.joints) == (("rod", "tube"), ("B", "C"))
    with pytest.raises(MechanismError, match=r"4 .*but 3 .*: rod and tube turn idly between B"):
        assemble(loads(strut(coordinates="A, P.1, P.2")))


def test_a_struts_torques_do_not_know_its_spins():
    """Slender halves on a slide, or two universal joints that hold both: the remedies' torques."""
    laws = (
        "excitation: {kind: states, seed: 3, samples: 9, frequency: 1 Hz, "
        "amplitude: {A: 0.05, VALUE: 0.01}}"
    )
    slender = ROD.format(B="spherical", coordinates="A, P", **LEG) + laws.replace("VALUE", "P")
    held = strut(B="universal", axis=ACROSS).replace(
        "C: {type: spherical, connects: [tube, rocker], at: [[0, 0, 0.4], [0.3, 0, 0]]",
        "C: {type: universal, connects: [tube, rocker], at: [[0, 0, 0.4], [0.3, 0, 0]], "
        "axis: [[0, 1, 0], [1, 0, 0]], reference: [[1, 0, 0], [0, 1, 0]]",
    ) + laws.replace("VALUE", "P.1")
    found = []
    for text, form, value in ((slender, "form: slender, ", "P"), (held, "", "P.1")):
        text = text.replace("  A: 20 deg", f"  A: 20 deg\n  {value}: -0.05 m", 1)
        for name in ("rod", "tube"):
            text = text.replace(f"{name}: {{}}", f"{name}: {{{form}{ON_THE_LINE}}}", 1)
        mechanism = loads(text)
        model = closure.prepare(mechanism)
        seen = observe(model, {}, excitation(mechanism, model.assembled.coordinates))
        found.append(seen.W[0][..., 10:30] @ mechanism.inertial_parameters(mechanism.nominal))
    # Two ways about one loop, each to its condition.
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-11 * np.abs(found[0]).max())


ROLLER = """
name: roller
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, roller: {}, slide: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, roller], at: [[0.1, 0], [0.02, 0]]}
  S: {type: pin_slot, connects: [slide, roller], reference: [[0, 1], [1, 0]],
      at: [[0, 0], [0.02, 0]]}
  K: {type: prismatic, connects: [ground, slide], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, K: 0.07 m}
"""


def test_a_roller_in_a_slot_is_idle():
    with pytest.raises(
        MechanismError,
        match=r"roller turns idly between B and S \(about \[0, 0, 1\] through \[0.02, 0, 0\] of "
        r"roller\).* Name B or S.2 in `coordinates`",
    ):
        assemble(loads(ROLLER))
    model = closure.prepare(loads(ROLLER.replace("[A]", "[A, S.2]")))
    (spin,) = constraints_found(model).idle
    assert (spin.bodies, spin.joints) == (("roller",), ("B", "S"))
    with pytest.raises(MechanismError, match="Name exactly 2") as found:  # off the pin: it moves
        assemble(loads(ROLLER.replace("[0, 0], [0.02, 0]", "[0, 0], [0.03, 0]")))
    assert "idly" not in str(found.value)


#: Of the rod above, the half next to the rocker on a hinge of its own along the line.
HALVES = LEG | {
    "axis": ", axis: [[0, 1, 0], [1, 0, 0]], reference: [[1, 0, 0], [0, 1, 0]]",
    "slide": "P: {type: revolute, connects: [rod, tube], at: [[0, 0, 0.2], [0, 0, 0.2]]}",
}


@pytest.mark.parametrize(("ball", "idle"), [("0", True), ("0.01", False)])
def test_half_a_rod_turns_on_a_hinge_along_its_line(ball, idle):
    """Where its ball is on the hinge's axis; a centimetre off it the turn moves the rest."""
    text = ROD.format(B="universal", coordinates="A", **HALVES)
    text = text.replace("[[0, 0, 0.4], [0.3, 0, 0]]", f"[[{ball}, 0, 0.4], [0.3, 0, 0]]")
    with pytest.raises(MechanismError, match="has 2 degrees of freedom, but 1") as found:
        assemble(loads(text))
    named = "tube turns idly between P and C (about [0, 0, 1] through [0, 0, 0] of tube)"
    assert (named in str(found.value)) == idle


def test_bodies_that_turn_as_one_are_named_together():
    """A bush, and a block that slides across it, with its ball on the bush's axis."""
    text = """
name: bush
space: spatial
gravity: [0, 0, -9.81]
bodies: {cart: {}, bush: {}, block: {}}
joints:
  X: {type: prismatic, connects: [ground, cart], axis: [[1, 0, 0], [1, 0, 0]]}
  P: {type: cylindrical, connects: [ground, bush], axis: [[1, 0, 0], [1, 0, 0]]}
  S: {type: prismatic, connects: [bush, block]}
  Q: {type: spherical, connects: [block, cart], at: [[0.3, 0, 0], [0.3, 0, 0]]}
coordinates: [X]
"""
    with pytest.raises(MechanismError) as found:
        assemble(loads(text))
    assert "bush and block turn idly between P and Q (about [1, 0, 0]" in str(found.value)
    assert "Name P.2 in `coordinates` too" in str(found.value)


def test_a_spin_is_told_also_where_more_is_missing():
    mechanism = loads(ROD.format(B="spherical", coordinates="A", **LEG))
    with pytest.raises(
        MechanismError,
        match=r"3 degrees of freedom, but 1 .*turn idly between .*Besides, name 2 joint values",
    ):
        assemble(mechanism)


def test_a_body_on_one_ball_or_on_three_is_not_idle():
    assert spins(load("stewart-gough")) == ()  # a platform on six, legs with universal joints
    assert spins(load("3-rps")) == ()  # on three


def constraints_found_of(name):
    return constraints_found(closure.prepare(load(name)))


#: In line, a parallelogram may fold or turn; at any other pose it only turns.
PARALLELOGRAM = """
name: flat
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[0.5, 0], [0.3, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[0.5, 0], [0, 0]]}
coordinates: [A]
assembly: {A: ANGLE, B: -ANGLE, C: ANGLE}
"""
#: Two bars in line between pins of one body: the pin in the middle moves at first order only,
#: its distance from the line of the others being the square root of nothing.
SHAKY = """
name: shaky
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, left: {}, right: {}}
joints:
  O: {type: revolute, connects: [ground, crank]}
  A: {type: revolute, connects: [BODY, left]}
  B: {type: revolute, connects: [left, right], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [right, BODY], at: [[0.2, 0], [END, 0]]}
coordinates: [O, A]
assembly: {A: 0 deg, B: 0 deg}
"""


MIDDLE = "  E: {type: revolute, connects: [mid, right], at: [[0.1, 0], [0, 0]]}\n"


def in_space(text: str) -> str:
    """The same mechanism with three-vectors: every planar loop is overconstrained then."""
    text = text.replace("space: planar", "space: spatial").replace("[0, -9.81]", "[0, -9.81, 0]")
    return re.sub(r"\[([\d.A-Z]+), 0\]", r"[\1, 0, 0]", text)


def test_a_singular_assembly_is_told_from_a_missing_coordinate():
    with pytest.raises(MechanismError, match=r"singular pose: it has 2 .* and 1 at poses nearby"):
        assemble(loads(PARALLELOGRAM.replace("ANGLE", "0 deg")))
    assert assemble(loads(PARALLELOGRAM.replace("ANGLE", "40 deg"))).residual < 1e-11


@pytest.mark.parametrize("form", [str, in_space])
def test_as_many_coordinates_as_a_singular_pose_has_freedoms_are_too_many(form):
    """Either branch has one degree of freedom."""
    text = form(PARALLELOGRAM).replace("ANGLE", "0 deg").replace("[A]", "[A, B]")
    with pytest.raises(
        MechanismError,
        match=r"singular pose: it has 2 .* and 1 at poses nearby, but 2 coordinates are named "
        r"\(A, B\).*away from it in `assembly`, and name exactly 1 joint value: "
        r"`coordinates: \[A\]`",
    ) as found:
        assemble(loads(text))
    assert found.value.where == ("coordinates", "assembly")


@pytest.mark.parametrize("form", [str, in_space])
@pytest.mark.parametrize(
    ("body", "coordinates", "freedoms", "lead"),
    [
        ("ground", "[A]", "1 degree", "none leads"),
        ("crank", "[O, A]", "2 degrees", "1 leads"),
        ("crank", "[O]", "2 degrees", "1 leads"),
    ],
)
def test_what_moves_at_first_order_only_is_named(form, body, coordinates, freedoms, lead):
    text = form(SHAKY.replace("BODY", body).replace("END", "0.5"))
    text = text.replace("[O, A]", coordinates)
    if body == "ground":
        text = text.replace("crank: {}, ", "").replace(
            "  O: {type: revolute, connects: [ground, crank]}\n", ""
        )
    with pytest.raises(
        MechanismError,
        match=rf"first order only at joints A, B, C: its .* allow {freedoms} of freedom .* of "
        rf"which {lead} to another pose.* change lengths",
    ) as found:
        assemble(loads(text))
    assert found.value.where == ("joints.A", "joints.B", "joints.C")


@pytest.mark.parametrize("form", [str, in_space])
@pytest.mark.parametrize(
    ("body", "coordinates", "freedoms", "lead"),
    [("ground", "[A]", "2 degrees", "none leads"), ("crank", "[O]", "3 degrees", "1 leads")],
)
def test_three_bars_stretched_between_two_pins(form, body, coordinates, freedoms, lead):
    """Either pin between moves across the line at first order, and nowhere."""
    text = form(
        SHAKY.replace("BODY", body).replace("END", "0.6").replace("left: {}", "left: {}, mid: {}")
    )
    middle = in_space(MIDDLE) if form is in_space else MIDDLE
    text = text.replace("  C: {", middle + "  C: {").replace("[left, right]", "[left, mid]")
    text = text.replace("[O, A]", coordinates)
    if body == "ground":
        text = text.replace("crank: {}, ", "").replace(
            "  O: {type: revolute, connects: [ground, crank]}\n", ""
        )
    with pytest.raises(
        MechanismError,
        match=rf"first order only at joints A, B, E, C: .* allow {freedoms} .* which {lead} to",
    ):
        assemble(loads(text))


@pytest.mark.parametrize("form", [str, in_space])
def test_a_flat_rigid_triangle_is_not_shaky(form):
    """Half a millimetre less between the outer pins, and the three are one rigid body."""
    text = form(SHAKY.replace("BODY", "crank").replace("END", "0.4995"))
    text = text.replace("[O, A]", "[O]").replace("A: 0 deg, B: 0 deg", "A: 3 deg, B: -8 deg")
    assert assemble(loads(text)).residual < 1e-11


def test_a_slide_at_its_dead_point_is_not_locked():
    """Crank and rod in line: the slide stands still at first order there, and only there."""
    text = """
name: dead
space: spatial
gravity: [0, -9.81, 0]
bodies: {crank: {}, rod: {}, slide: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[0.1, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [rod, slide], at: [[0.3, 0, 0], [0, 0, 0]]}
  S: {type: cylindrical, connects: [ground, slide], axis: [[1, 0, 0], [1, 0, 0]]}
coordinates: [A]
assembly: {A: 0 deg, S.1: 0.4 m}
"""
    found = constraints_found(closure.prepare(loads(text)))
    assert found.locked == ("S.2",)  # its turn the pins lock at every pose


@pytest.mark.parametrize(
    ("text", "names", "excess"),
    [
        (matrix.FLAT, "ABCD", 3),
        (matrix.BENNETT, "ABCD", 3),
        (matrix.SPHERE, None, 3),
        (matrix.SARRUS, "ABCDEF", 1),
    ],
    ids=["four-bar", "Bennett", "spherical", "Sarrus"],
)
def test_overconstrained_loops_are_named(text, names, excess):
    """By Grübler's count: six a body less five a revolute joint, and one that moves."""
    model = closure.prepare(loads(text))
    (one,) = constraints_found(model).overconstrained
    assert one.excess == excess == len(model.loops.redundant)
    joints = model.mechanism.joints
    assert one.names == (tuple(names) if names else tuple(joint.name for joint in joints))


def test_two_loops_apart_are_two_groups():
    """Two copies of a planar loop in space."""
    document = yaml.safe_load(matrix.FLAT)
    for name, body in [*document["bodies"].items()]:
        document["bodies"][f"{name}2"] = body
    for name, joint in [*document["joints"].items()]:
        ends = [end if end == "ground" else f"{end}2" for end in joint["connects"]]
        document["joints"][f"{name}2"] = joint | {"connects": ends}
    document["coordinates"] += [f"{name}2" for name in document["coordinates"]]
    document["assembly"] |= {f"{name}2": x for name, x in document["assembly"].items()}
    document.pop("excitation")
    found = constraints_found(closure.prepare(build(document))).overconstrained
    assert [one.names for one in found] == [("A", "B", "C", "D"), ("A2", "B2", "C2", "D2")]
    assert [one.excess for one in found] == [3, 3]


def test_a_slide_in_a_loop_of_parallel_pins_is_locked():
    """Cylindrical joints where a planar loop has pins: one of four may slide nowhere."""
    text = matrix.FLAT.replace("C: {type: revolute", "C: {type: cylindrical")
    assert text != matrix.FLAT
    model = closure.prepare(loads(text))
    found = constraints_found(model)
    assert found.locked == ("C.1",)
    (one,) = found.overconstrained
    assert one.excess == 2


def test_what_is_neither_is_not_reported():
    for name in ("four-bar", "rsur", "planetary-gear", "panda", "quadruped"):
        found = constraints_found_of(name)
        assert (found.overconstrained, found.locked, found.idle) == ((), (), ()), name


def test_a_screws_coupling_is_named_once():
    (one,) = constraints_found_of("screw-jack").overconstrained
    assert one.excess == len(closure.prepare(load("screw-jack")).loops.redundant)
    assert len(set(one.names)) == len(one.names)
