"""`basepar show`: the branch found where the file states none, and where a motion ends."""

import re
from math import atan2, degrees, hypot, radians

import numpy as np
import pytest

from basepar_core.files import library_path

FOUR_BAR = library_path("four-bar").read_text(encoding="utf-8")
PRESS = """\
name: press
gravity: [0, -9.81]
space: planar
geometry: {{r: {{value: 40, unit: mm}}, l: {{value: 160, unit: mm}}}}
bodies: {{crank: {{}}, rod: {{}}, ram: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: revolute, connects: [crank, rod], at: [[r, 0], [0, 0]]}}
  C: {{type: revolute, connects: [rod, ram], at: [[l, 0], [0, 0]]}}
  D: {{type: prismatic, connects: [ground, ram], axis: [[1, 0], [1, 0]]}}
coordinates: [A]
assembly: {{A: 40 deg, {}}}
"""
ASSEMBLY = "assembly: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}"


@pytest.fixture
def shown(run, tmp_path):
    def show(*changes):
        text = FOUR_BAR
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "mine.yaml"
        file.write_text(text, encoding="utf-8")
        return run("show", str(file), "--json").json, " ".join(run("show", str(file)).out.split())

    return show


def test_a_stated_branch_and_a_motion_that_goes_through_are_not_reported(shown):
    facts, text = shown()
    assert facts["branch_found"] == facts["motion_ends"] == []
    assert "branch" not in text
    assert "locks" not in text


def test_values_over_which_bodies_were_laid_out_at_zero_are_reported(shown):
    facts, text = shown((ASSEMBLY, "assembly: {A: 34 deg}"))
    assert [one["name"] for one in facts["branch_found"]] == ["B", "C"]
    assert all(one["stated"] is None for one in facts["branch_found"])
    line = text.split("not stated: ")[1].split(";")[0]
    again, _ = shown((ASSEMBLY, f"assembly: {{A: 34 deg, {line}}}"))  # pasted as it is printed
    assert again["branch_found"] == []


def test_a_slide_that_counts_the_other_way(run, tmp_path):
    file, turned = tmp_path / "press.yaml", PRESS.replace("[ground, ram]", "[ram, ground]")
    file.write_text(turned.format("B: -50 deg, D: 189 mm"), encoding="utf-8")
    text = " ".join(run("show", str(file)).out.split())
    said = re.search(
        r"write (.*?); it counts from ram to ground: or write `connects: (.*?)`", text
    )
    for good in (
        turned.format(f"B: -50 deg, {said[1]}"),
        PRESS.format("B: -50 deg, D: 189 mm"),
    ):
        file.write_text(good, encoding="utf-8")
        assert run("show", str(file), "--json").json["branch_found"] == []
    assert said[2] == "[ground, ram]"


#: By hand D is at 97.04°, and at 112.815° where coupler and rocker have each other's length.
VALUES = """\
name: stated values
gravity: [0, -9.81]
space: planar
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[80 mm, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[260 mm, 0], [220 mm, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[280 mm, 0], [0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -25 deg, C: 62 deg, D: 97 deg}
"""


def test_points_in_the_wrong_order_of_a_loop_that_closes(run, tmp_path):
    file, right = tmp_path / "mine.yaml", "at: [[260 mm, 0], [220 mm, 0]]"
    file.write_text(VALUES.replace(right, "at: [[220 mm, 0], [260 mm, 0]]"), encoding="utf-8")
    found = run("show", str(file), "--json").json["swapped_points"]
    assert (found["joint"], found["line"], found["write"]) == ("C", 8, right)
    assert found["off"]["unit"] == found["off_swapped"]["unit"] == "rad"
    assert found["off"]["value"] == pytest.approx(radians(112.815 - 97), abs=1e-4)  # D
    assert found["off_swapped"]["value"] < 0.01  # whole degrees are stated
    text = " ".join(run("show", str(file)).out.split())
    assert "joints.C.at (line 8): its two points look exchanged: D is 16 deg off" in text
    assert f"write {right}" in text


def test_bodies_of_a_pin_exchanged_with_its_points_in_the_old_order(run, tmp_path):
    file, right = tmp_path / "mine.yaml", "connects: [coupler, rocker]"
    file.write_text(VALUES.replace(right, "connects: [rocker, coupler]"), encoding="utf-8")
    found = run("show", str(file), "--json").json["swapped_points"]
    assert (found["joint"], found["line"], found["write"]) == ("C", 8, right)
    assert found["off_swapped"]["value"] < 0.01


@pytest.mark.parametrize(
    "values",
    ["B: -25 deg, C: 62 deg, D: 97 deg", "B: -40 deg, C: 75 deg, D: 85 deg", "B: -25 deg"],
)
def test_rough_values_are_no_sign_of_points_in_the_wrong_order(run, tmp_path, values):
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub("A: 60 deg, .*", f"A: 60 deg, {values}}}", VALUES), encoding="utf-8")
    assert run("show", str(file), "--json").json["swapped_points"] is None


def test_values_of_two_lengths_exchanged(run, tmp_path):
    file = tmp_path / "mine.yaml"
    text = PRESS.format("B: -12.5 deg, C: 2.5 deg, D: 199.2 mm").replace("A: 40", "A: 10")
    file.write_text(text.replace("40, unit", "0.16 m, unit").replace("160, unit", "40, unit"))
    found = run("show", str(file), "--json").json["mistaken_entry"]
    partner = {"place": "geometry.l", "line": 4, "written": "40 mm", "meant": "160 mm"}
    assert found == {
        "place": "geometry.r",
        "line": 4,
        "written": "160 mm",
        "meant": "40 mm",
        "why": "",
        "partner": partner,
    }
    shown = " ".join(run("show", str(file)).out.split())
    assert (
        "geometry.r (line 4) and geometry.l (line 4): with their values exchanged (r = 40 mm, "
        "l = 160 mm) all loops close as stated" in shown
    )
    assert "far from" not in shown


def test_a_length_in_another_unit(run, tmp_path):
    file = tmp_path / "mine.yaml"
    text = PRESS.format("B: -49.2 deg, C: 9.2 deg, D: 188.6 mm")
    file.write_text(text.replace("160, unit: mm", "160, unit: m"), encoding="utf-8")
    found = run("show", str(file), "--json").json["mistaken_unit"]
    assert [found[key] for key in ("symbol", "line", "unit", "unit_meant")] == ["l", 4, "m", "mm"]
    shown = " ".join(run("show", str(file)).out.split())
    assert "geometry.l (line 4): 160 m; in mm D is as stated: write unit: mm" in shown
    assert "far from the stated" not in shown
    assert "another branch" not in shown
    file.write_text(text, encoding="utf-8")
    assert run("show", str(file), "--json").json["mistaken_unit"] is None


def test_a_value_of_the_wrong_sign(run, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(VALUES.replace("C: 62 deg", "C: -62 deg"), encoding="utf-8")
    (found,) = run("show", str(file), "--json").json["mistaken_signs"]
    assert found == {
        "name": "C",
        "place": "assembly.C",
        "line": 11,
        "write": "C: 62 deg",
        "connects": ["coupler", "rocker"],
    }
    text = " ".join(run("show", str(file)).out.split())
    assert (
        "the sign of assembly.C (line 11) turned round all loops close as stated: write C: 62 deg"
        in text
    )
    assert "far from" not in text


def test_another_length_in_a_point_and_nothing_that_follows_from_it(run, tmp_path):
    file = tmp_path / "mine.yaml"
    text = PRESS.format("B: -49.2 deg, C: 9.2 deg, D: 188.6 mm")
    file.write_text(text.replace("at: [[l, 0], ", "at: [[r, 0], "), encoding="utf-8")
    found = run("show", str(file), "--json").json["mistaken_entry"]
    assert found == {
        "place": "joints.C.at[0][0]",
        "line": 9,
        "written": "r",
        "meant": "l",
        "why": "",
        "partner": None,
    }
    shown = " ".join(run("show", str(file)).out.split())
    assert "joints.C.at[0][0] (line 9): r; with l in its place all loops close as" in shown
    assert "far from" not in shown
    assert "branch" not in shown


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("[[280 mm, 0], [0, 0]]", "[[-280 mm, 0], [0, 0]]", "joints.D.at[0][0] (line 9)"),
        ("[[80 mm, 0], [0, 0]]", "[[-80 mm, 0], [0, 0]]", "joints.B.at[0][0] (line 7)"),
        (
            "[[260 mm, 0], [220 mm, 0]]",
            "[[260 mm, 0], [-220 mm, 0]]",
            "joints.C.at[1][0] (line 8)",
        ),
        ("[[280 mm, 0], [0, 0]]", "[[-2*140 mm, 0], [0, 0]]", "joints.D.at[0][0] (line 9)"),
        ("[[280 mm, 0], [0, 0]]", "[[20 mm - 300 mm, 0], [0, 0]]", "joints.D.at[0][0] (line 9)"),
    ],
)
def test_an_entry_of_a_point_with_the_wrong_sign(run, tmp_path, right, wrong, place):
    file = tmp_path / "mine.yaml"
    file.write_text(VALUES.replace(right, wrong), encoding="utf-8")
    text = " ".join(run("show", str(file)).out.split())
    assert f"with the sign of {place} turned round all loops close about as stated: write" in text
    (found,) = run("show", str(file), "--json").json["mistaken_signs"]
    file.write_text(VALUES.replace(f"at: {right}", found["write"]), encoding="utf-8")
    again = run("show", str(file), "--json").json
    assert again["mistaken_signs"] == again["branch_found"] == []


def test_a_body_far_from_its_stated_pose(run, tmp_path):
    file = tmp_path / "mine.yaml"
    text = library_path("sla-suspension").read_text("utf-8")
    file.write_text(text.replace("[0.3995, 0.02, 0.4025]", "[0.4995, 0.12, 0.4025]"), "utf-8")
    (far,) = run("show", str(file), "--json").json["far_poses"]
    assert far["body"] == "upper_arm"
    assert far["at"] == pytest.approx([0.3995, 0.02, 0.4025], abs=2e-4)
    assert far["off"] == pytest.approx(hypot(0.1, 0.1), abs=2e-4)
    shown = " ".join(run("show", str(file)).out.split())
    assert (
        "far from the stated: upper_arm is found up to 0.141 m from its stated pose, at" in shown
    )


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("[-D22, 0, 0]", "[D22, 0, 0]", "the sign of joints.R02.at[1][0] (line 95) turned round"),
        ("Jz], [L10, 0, 0]", "Jz], [L7, 0, 0]", "joints.U04.at[1][0] (line 99): L7; with L10"),
        ("[0, 0, 0], [-D13, 0, 0]", "[0, 0, 0], [-D12, 0, 0]", "(line 106): D12; with D13"),
        (
            "[[0, 0, 0], [0, 0, L7/2]]",
            "[[0, 0, L7/2], [0, 0, 0]]",
            "joints.S23.at (line 97): its two points look exchanged",
        ),
    ],
)
def test_stated_poses_tell_a_mistaken_joint(run, tmp_path, right, wrong, told):
    file = tmp_path / "mine.yaml"
    text = library_path("sla-suspension").read_text("utf-8")
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    shown = " ".join(run("show", str(file)).out.split())
    assert told in shown
    assert "write" in shown
    assert "far from the stated" not in shown


def test_stated_poses_tell_values_of_two_joints_exchanged(run, tmp_path):
    file = tmp_path / "mine.yaml"
    text = library_path("stewart-gough").read_text("utf-8")
    wrong = text.replace("P2: 0.6852 m", "P2: 0.6175 m")
    file.write_text(wrong.replace("P5: 0.6175 m", "P5: 0.6852 m"), "utf-8")
    shown = " ".join(run("show", str(file)).out.split())
    assert "with their values exchanged (P2 = 0.6852 m, P5 = 0.6175 m) all loops close as" in shown
    assert "the stated pose of platform has it so" in shown
    file.write_text(wrong, "utf-8")
    found = run("show", str(file), "--json").json["mistaken_entry"]
    assert (found["place"], found["written"]) == ("assembly.P2", "0.6175 m")
    assert (found["meant"], found["partner"]) == ("0.6852 m", None)
    file.write_text(
        text.replace("P2: 0.6852 m", "P2: 0.67 m"), "utf-8"
    )  # where a motion may start
    assert run("show", str(file), "--json").json["mistaken_entry"] is None


def test_another_branch_than_stated_is_reported(shown):
    facts, text = shown((ASSEMBLY, "assembly: {A: 34 deg, B: 200 deg, C: 20 deg}"))
    (b, c) = facts["branch_found"]
    assert (b["name"], c["name"]) == ("B", "C")
    # Both triangles over the diagonal from the crank's pin B to D are assemblies; the other one
    # than the file's has the coupler mirrored.
    pin = 0.3 * np.exp(1j * np.radians(34))
    diagonal = 1.0 + 0.1j - pin
    coupler, rocker = hypot(0.7, 1.1), 1.3
    cosine = (coupler**2 + abs(diagonal) ** 2 - rocker**2) / (2 * coupler * abs(diagonal))
    spread, tilt = np.arccos(cosine), atan2(-1.1, 0.7)
    ways = [np.angle(diagonal) + sign * spread - tilt - np.radians(34) for sign in (1, -1)]
    assert min(abs(np.exp(1j * way) - np.exp(1j * b["value"])) for way in ways) < 1e-9  # Newton
    (other,) = facts["other_branches"]
    assert not other["nearer"]
    assert "far from the stated: B:" in text
    assert "200.0 deg stated (turn of coupler against crank)" in text  # as the file has it
    assert text.count("change the `assembly` or the lengths") == 1
    (there,) = (one["value"] for one in other["values"] if one["name"] == "B")
    both = np.exp(1j * np.array([b["value"], there]))
    assert max(min(abs(np.exp(1j * way) - both)) for way in ways) < 1e-9  # Newton


def test_the_branch_that_was_meant_can_be_pasted(tmp_path, run):
    file = tmp_path / "press.yaml"
    file.write_text(PRESS.format("B: 50 deg, C: 9.2 deg, D: -0.1"))  # B with the wrong sign
    shown = run("show", str(file)).out
    assert "another branch than stated: B: 149.2 deg found, 50.0 deg stated" in " ".join(
        shown.split()
    )
    (pasted,) = re.findall(r"another branch, as `assembly` takes it: (.*)", shown)
    file.write_text(PRESS.format(pasted))
    facts = run("show", str(file), "--json").json
    assert facts["branch_found"] == facts["other_branches"] == []
    crank, rod = 0.04 * np.exp(1j * np.radians(40)), 0.16
    (ram,) = (float(one.split()[1]) for one in pasted.split(", ") if one.startswith("D"))
    ahead = crank.real + np.sqrt(rod**2 - crank.imag**2)
    assert abs(ram - ahead) < 1e-4  # four digits are printed


def test_the_place_where_a_cycle_locks_is_reported(shown):
    """A rocker of 0.5 m: the crank's pin must be 1.304 - 0.5 m from D at least."""
    facts, text = shown(("lx3: {value: 1.3,", "lx3: {value: 0.5,"), ("A: 34 deg", "A: 120 deg"))
    ends = {end["motion"]: end for end in facts["motion_ends"]}
    end = ends["cycle"]
    assert end["ends"] == "locks"
    ground, least = hypot(1.0, 0.1), hypot(0.7, 1.1) - 0.5
    opening = degrees(np.arccos((0.3**2 + ground**2 - least**2) / (2 * 0.3 * ground)))
    dead = 360 - opening + degrees(atan2(0.1, 1.0))
    at = degrees(end["at"][0]["value"])
    assert dead < at < dead + 2 * 360 / 128  # the first sample beyond, or the one after it
    assert f"locks before A = {at:.1f} deg" in text
    low, high = (degrees(x) for x in facts["reach"])
    # From one dead point to the other, about D's line; two looks of 180 places a turn.
    assert (low, high) == pytest.approx((dead + 2 * opening - 360, dead), abs=2 * 360 / 180**2)
    assert f"on this branch A goes from {low:.1f} deg to {high:.1f} deg" in text


def test_an_inertia_that_no_body_has(run, tmp_path):
    file = tmp_path / "heavy.yaml"
    file.write_text(
        "name: heavy\nspace: planar\ngravity: [0, -9.81]\n"
        "bodies: {rod: {mass: -1, centre: [0, 0], inertia: 1}}\n"
        "joints: {A: {type: revolute, connects: [ground, rod]}}\ncoordinates: [A]\n"
    )
    assert "no body has the inertia of rod: its mass is -1 kg" in run("show", str(file)).out


def test_an_inertia_about_the_centre_by_the_key_of_the_origin(run, tmp_path):
    """A rod of 3 kg and 1 m: 1/12 about its centre, a quarter of what its origin has at least."""
    text = (
        "name: rod\nspace: planar\ngravity: [0, -9.81]\n"
        "bodies: {rod: {mass: 3, centre: [0.5, 0], inertia: 0.25}}\n"
        "joints: {A: {type: revolute, connects: [ground, rod]}}\ncoordinates: [A]\n"
    )
    file = tmp_path / "rod.yaml"
    file.write_text(text)
    said = run("show", str(file)).out
    assert "-0.5 kg m²; where it is given as `inertia`, which is about the frame's origin" in said
    file.write_text(text.replace("inertia:", "central_inertia:"))
    assert "no body has the inertia" not in run("show", str(file)).out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gripper", "coupling mimic: 1 R - 1 L = 0"),
        ("planetary-gear", "coupling ring: 60 C + 18 P1 = 0"),
        ("screw-jack", "N      screw "),
        ("screw-jack", " m N.2 = 0"),
        ("quadruped", "B.6 = 0 rad"),
        ("watt-ii", "loop: A – B – C – E – F – G"),
        ("rssr", "loop: A – D – U – C – B"),
    ],
)
def test_couplings_bases_and_loops_are_shown(run, name, said):
    ran = run("show", name)
    assert ran.status == 0
    assert said in ran.out


#: A motor of 400 turns to one of the crank, which a drawing places.
WORM = (
    FOUR_BAR.replace(ASSEMBLY, "assembly: {POINTS}").replace(
        "\njoints:\n",
        "\n  motor: {}\njoints:\n  M: {type: revolute, connects: [ground, motor]}\n",
    )
    + "couplings: {worm: {values: {M: 1, A: -400}}}\n"
)
DRAWN = "points: {B: [250 mm, 170 mm], C: [160 mm, 1480 mm]}"


def test_a_coupled_value_is_reported_with_its_turns(run, tmp_path):
    """It follows from the crank's where that is stated, and is no branch of its own."""
    file = tmp_path / "worm.yaml"
    file.write_text(WORM.replace("POINTS", f"A: 34 deg, {DRAWN}"), encoding="utf-8")
    assert run("show", str(file), "--json").json["branch_found"] == []
    file.write_text(WORM.replace("POINTS", DRAWN), encoding="utf-8")
    (one,) = run("show", str(file), "--json").json["branch_found"]
    crank = atan2(170, 250)  # where the drawing has it
    assert (one["name"], one["stated"]) == ("M", None)
    # Drawn bodies are drawn to the axes of the ground by a share of 1e-9, here times 400.
    assert one["value"] == pytest.approx(400 * crank, abs=400e-9)
    line = " ".join(run("show", str(file)).out.split()).split("not stated: ")[1].split(";")[0]
    file.write_text(WORM.replace("POINTS", f"{line}, {DRAWN}"), encoding="utf-8")
    assert run("show", str(file), "--json").json["branch_found"] == []  # pasted as printed


def test_masses_are_listed(run):
    assert "mass: crank 0.81 kg, coupler 3.52 kg, rocker 3.51 kg" in run("show", "four-bar").out
