"""Assembly: what is held, which branch, and messages that say what is wrong."""

import re
from fractions import Fraction

import numpy as np
import pytest

from basepar_core.dynamics import kinematics
from basepar_core.dynamics.assembly import assemble
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.topology import topology
from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.files import mechanism_file
from tests.mechanisms import RRS3, C, E, R, S, U, linkage, loop
from tests.oracles import closed_form, dust, maximal

FOUR_BAR = mechanism_file.load("four-bar").source.split("coordinates:")[0]
SPATIAL = """
name: bar
space: spatial
gravity: [0, 0, -9.81]
geometry: {l: {value: 0.3, unit: m}}
"""


def four_bar(coordinates="[A]", assembly="{A: 34 deg, B: 91.3 deg, C: -203.8 deg}", change=()):
    text = f"{FOUR_BAR}coordinates: {coordinates}\nassembly: {assembly}\n"
    for old, new in change:
        assert old in text
        text = text.replace(old, new)
    return mechanism_file.loads(text)


def values(assembled):
    """Values of the tree joints by name (no spherical joints)."""
    names = assembled.mechanism.joints
    return {
        value: assembled.q[node.position + k]
        for node in assembled.topology.tree
        for k, value in enumerate(names[node.joint].values)
    }


@pytest.mark.parametrize("crank", [34, -10, 70])
@pytest.mark.parametrize("side", [1, -1])
def test_crank_is_held_and_the_rest_picks_the_branch(crank, side):
    angle = np.radians(crank)
    nominal = mechanism_file.load("four-bar").nominal
    B, C_, _ = closed_form.four_bar_angles(nominal, np.array(angle), side)
    # Stated 0.15 rad away, on either side.
    near = f"{{A: {crank} deg, B: {B + 0.15:.3f}, C: {C_ - 0.15:.3f}}}"
    assembled = assemble(four_bar(assembly=near))
    found = values(assembled)
    # 34 deg is 34π/180, rounded once or twice.
    assert assembled.coordinates[0] == found["A"] == pytest.approx(angle, rel=1e-15)
    # Newton ends at rounding; the loop's condition is below ten.
    assert [found["B"], found["C"]] == pytest.approx([B, C_], abs=1e-14)


def test_angles_stay_nearest_to_the_stated_ones():
    found = values(assemble(four_bar(assembly="{A: 394 deg, B: 434 deg, C: -932 deg}")))
    usual = values(assemble(four_bar()))
    turns = {"A": 1, "B": 1, "C": -2}
    for name, count in turns.items():
        assert found[name] - usual[name] == pytest.approx(2 * np.pi * count, abs=1e-14)


def test_a_coordinate_without_value_is_measured_on_the_starting_pose():
    stated = assemble(four_bar())
    rocker = maximal.Bodies(stated.mechanism, {}).joint_values()["D"]
    # The poses of crank and rocker stand in for the value of A.
    pose = f"{{bodies: {{crank: {{rotation: [0.3 rad]}}, rocker: {{rotation: [{rocker}]}}}}}}"
    assembled = assemble(four_bar(assembly=pose))
    assert assembled.coordinates == pytest.approx(0.3, abs=1e-15)
    assert assembled.residual < 1e-12  # of lengths near one


@pytest.mark.parametrize(
    ("kinds", "coordinates", "seed"),
    [
        ((R, C, C, C), ["a"], 3),
        ((S, C, U, C), ["a.1", "a.2", "a.3"], 9),
        ((E, C, U, R), ["a.1", "a.3"], 8),
    ],
)
def test_spatial_loops_close_where_the_coordinates_are_held(kinds, coordinates, seed):
    """Held away from where the linkage was designed to close; judged by dust's own loops."""
    mechanism = linkage(seed, loop(*kinds), coordinates, swapped=["b"])
    target = dict(zip(coordinates, (0.12, -0.07, 0.05), strict=False))
    stated = ", ".join(f'"{name}": {value}' for name, value in target.items())
    text = mechanism.source[:-1] + f', "assembly": {{{stated}}}}}'
    assembled = assemble(mechanism_file.loads(text))
    np.testing.assert_allclose(assembled.coordinates, list(target.values()), rtol=0, atol=0)
    at = kinematics.poses(
        assembled.topology, kinematics.geometry(mechanism, {}), assembled.q[:, None]
    )
    oracle = dust.Dust(mechanism, {})
    expected = oracle.poses(oracle.walk(list(target.values())))
    for k, body in enumerate(mechanism.bodies):
        R_, p = (np.array(part, float) for part in expected[body.name])
        # Newton ends at rounding; the loops' condition is below 100.
        np.testing.assert_allclose(at.R[k][..., 0], R_, rtol=0, atol=1e-13)
        np.testing.assert_allclose(at.p[k][..., 0], p, rtol=0, atol=1e-13)


def test_platform_by_its_pose():
    mechanism = linkage(0, RRS3, ["A1", "A2", "A3"])
    q = assemble(mechanism).q
    at = kinematics.poses(topology(mechanism), kinematics.geometry(mechanism, {}), q[:, None])
    number = [body.name for body in mechanism.bodies].index("platform")
    p = ", ".join(f"{x:.3f}" for x in at.p[number][:, 0])
    r = dust_vector(at.R[number][..., 0])
    posed = f', "assembly": {{"bodies": {{"platform": {{"at": [{p}], "rotation": [{r}]}}}}}}}}'
    again = assemble(mechanism_file.loads(mechanism.source[:-1] + posed))
    # The same assembly: coordinates held where the rough pose has them, at 0 by the layout.
    np.testing.assert_allclose(again.coordinates, 0, atol=0.02)
    assert again.residual < 1e-12


def dust_vector(R_):
    """A rotation vector rounded to three digits."""
    turn = maximal.Rotation.from_matrix(R_).as_rotvec()
    return ", ".join(f"{x:.3f}" for x in turn)


@pytest.mark.parametrize("vector", [(2, 2, 2), (0, "31/10", "4/5"), (-3, 3, 3), (1, "1/2", 2)])
def test_rotation_vectors_beyond_a_half_turn_are_held(vector):
    text = (
        "bodies: {one: {}}\n"
        "joints: {S: {type: spherical, connects: [ground, one]}}\n"
        "coordinates: [S.1, S.2, S.3]\n"
        "assembly: " + str({f"S.{k}": str(x) for k, x in zip((1, 2, 3), vector, strict=True)})
    )
    assembled = assemble(mechanism_file.loads(SPATIAL + text))
    r = [dust.mpf(x.numerator) / x.denominator for x in map(Fraction, vector)]
    np.testing.assert_allclose(assembled.coordinates, np.array(r, float), rtol=1e-15)
    expected = np.array(dust.joint_motion("spherical", r)[0], float)
    dims = kinematics.geometry(assembled.mechanism, {})
    at = kinematics.poses(assembled.topology, dims, assembled.q[:, None])
    # Products of two components of a unit quaternion.
    np.testing.assert_allclose(at.R[0][..., 0], expected, rtol=0, atol=2e-15)


def test_open_joint_is_named_with_its_gap():
    change = [("Dx: {value: 1.0, unit: m, bounds: [0.6, 1.4]}", "Dx: {value: 5, unit: m}")]
    with pytest.raises(AssemblyError, match=r"Joint '[ABCD]' stays open by \d.*allowed") as caught:
        assemble(four_bar(change=change))
    assert caught.value.where[0] in {f"joints.{name}" for name in "ABCD"}


def test_held_coordinate_that_cannot_be_reached():
    # lx1 0.3 and Dx 2.75: closes with the crank towards D only (reach 1.304 + 1.3).
    change = [("Dx: {value: 1.0, unit: m, bounds: [0.6, 1.4]}", "Dx: {value: 2.75, unit: m}")]
    assert assemble(four_bar(assembly="{A: 0, B: -50 deg, C: 0}", change=change)).residual < 1e-11
    with pytest.raises(AssemblyError, match="stays open by"):
        assemble(four_bar(assembly="{A: 90 deg, B: -90 deg, C: 0}", change=change))


@pytest.mark.parametrize(
    ("coordinates", "count", "named"),
    [
        ("[A, B]", 2, r"\(A, B\)"),
        ("[A, B, C, D]", 4, r"\(A, B, C, D\)"),  # before anything is said about loops
    ],
)
def test_wrong_number_of_coordinates(coordinates, count, named):
    message = rf"'four-bar' has 1 degree of freedom, but {count} coordinates are named {named}"
    with pytest.raises(MechanismError, match=message) as caught:
        assemble(four_bar(coordinates))
    assert caught.value.where == ("coordinates",)


def test_too_few_coordinates():
    text = mechanism_file.load("five-bar").source.split("excitation:")[0]
    text = text.replace("coordinates: [A, E]", "coordinates: [A]")
    with pytest.raises(MechanismError, match=r"has 2 degrees of freedom, but 1 .*exactly 2"):
        assemble(mechanism_file.loads(text))


def test_opposed_axes():
    text = (
        SPATIAL
        + """
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[l, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[2*l, 0, 0], [0, 0, 0]]}
  D:
    type: revolute
    connects: [three, ground]
    at: [[2*l, 0, 0], [2*l, 0, 0]]
    axis: [[0, 0, 1], [0, 0, SIGN]]
coordinates: [A]
assembly: {A: 80 deg, B: -60 deg, C: -100 deg}
"""
    )
    assert assemble(mechanism_file.loads(text.replace("SIGN", "1"))).residual < 1e-12
    message = "Joint 'D' closes only the wrong way round.*Reverse one axis"
    with pytest.raises(AssemblyError, match=message) as caught:
        assemble(mechanism_file.loads(text.replace("SIGN", "-1")))
    assert caught.value.where == ("joints.D",)
    assert "write `axis: [[0, 0, 1], [0, 0, 1]]` in joints.D." in caught.value.message


@pytest.mark.parametrize("wrong", "ABCD")
@pytest.mark.parametrize("side", [0, 1])
def test_the_only_joint_whose_own_axes_are_opposed(wrong, side):
    """A body drawn with its axes would stand upside down with another joint's axis reversed."""
    right = "axis: [[0, 1, 0], [0, 1, 0]]"
    text = (
        SPATIAL.replace("{l:", "{d: {value: 0.3, unit: m}, l:")
        + f"""
bodies: {{crank: {{}}, coupler: {{}}, rocker: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank], {right}}}
  B: {{type: revolute, connects: [crank, coupler], at: [[0.1, 0, 0], [0, 0, 0]], {right}}}
  C: {{type: revolute, connects: [coupler, rocker], at: [[0.3, 0, 0], [0.25, 0, 0]], {right}}}
  D: {{type: revolute, connects: [ground, rocker], at: [[d, 0, 0], [0, 0, 0]], {right}}}
coordinates: [A]
assembly: {{A: -60 deg, points: {{B: [50 mm, 0, 87 mm], C: [330 mm, 0, 240 mm]}}}}
"""
    )
    assemble(mechanism_file.loads(text))
    axes = ("[0, -1, 0], [0, 1, 0]", "[0, 1, 0], [0, -1, 0]")[side]
    spoilt = re.sub(rf"(  {wrong}: .*axis: )\[\[.*?\]\]", rf"\1[{axes}]", text)
    assert spoilt != text
    with pytest.raises(
        AssemblyError, match=f"write `{re.escape(right)}` in joints.{wrong}"
    ) as one:
        assemble(mechanism_file.loads(spoilt))
    assert one.value.where == (f"joints.{wrong}",)


@pytest.mark.parametrize("D", ["0.471", "-0.471"])
@pytest.mark.parametrize("axes", ["[1, 0], [-1, 0]", "[-1, 0], [1, 0]"])
def test_which_of_two_opposed_axes_is_reversed(axes, D):
    """The slider's stated value counts along the axis in the ground."""
    text = mechanism_file.load("slider-crank").source
    text = text.replace("axis: [[1, 0], [1, 0]]", f"axis: [{axes}]").replace("0.471", D)
    along = "1" if float(D) > 0 else "-1"
    write = re.escape(f"write `axis: [[{along}, 0], [{along}, 0]]` in joints.D.")
    with pytest.raises(AssemblyError, match=write):
        assemble(mechanism_file.loads(text))


def test_dead_point_is_told():
    """Stretched out, the crank of a slider-crank cannot be driven by its slider."""
    text = mechanism_file.load("slider-crank").source.split("coordinates:")[0]
    text += "coordinates: [D]\nassembly: {A: 0, B: 0, C: 0, D: 0.5 m}\n"
    with pytest.raises(MechanismError, match=r"do not determine the motion|degrees of freedom"):
        prepare(mechanism_file.loads(text))
    spare = text.replace("geometry:\n", "geometry:\n  spare: {value: 1, unit: m}  # spare\n")
    spare = spare.replace("description: >-\n", "description: >-\n  Has a spare.\n")
    with pytest.raises(MechanismError, match=r"spare is used nowhere, and .* no `at`"):
        prepare(mechanism_file.loads(spare))
