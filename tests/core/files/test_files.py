"""Mechanism files: the shipped ones against hand calculations, and every way to go wrong."""

import pickle
import re
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from basepar_core.api import load
from basepar_core.errors import FileError
from basepar_core.expressions.grammar import parse, parse_unit
from basepar_core.expressions.tree import Name, Number, Pi, evaluate, multiply, number
from basepar_core.files.mechanism_file import library_names, library_path, loads
from basepar_core.mechanism import (
    ConstantSpeed,
    Data,
    Friction,
    Pose,
    RestToRest,
    Sines,
    SineSum,
    States,
)
from tests.sweeps.fourbar import FOUR_BAR

TABLE = yaml.safe_load(
    (Path(__file__).parents[2] / "fixtures" / "malformed.yaml").read_text(encoding="utf-8")
)
GOOD = TABLE["good"]
ZERO, ONE = number(0), number(1)


def changed(base, *replacements):
    """A good file with pieces replaced, each of which must be there."""
    text = GOOD[base]
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def mistakes(text):
    with pytest.raises(FileError) as caught:
        loads(text)
    return [str(mistake) for mistake in caught.value.mistakes]


def floats(expressions, values=()):
    return [float(value) for value in evaluate(expressions, dict(values))]


# Mistakes


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["name"])
def test_malformed_file_is_refused_with_all_its_mistakes(case):
    assert mistakes(changed(case["base"], *case["replace"])) == case["mistakes"]


def test_error_names_source_count_and_paths():
    text = changed("planar", ["seed: 1", "seed: x"], ["number: 1", "number: 2"])
    with pytest.raises(FileError) as caught:
        loads(text, "my.yaml")
    error = caught.value
    assert error.message.splitlines()[0] == "my.yaml: 2 mistakes"
    assert error.where == ("bodies.rod", "excitation.seed")
    assert pickle.loads(pickle.dumps(error)).mistakes == error.mistakes


@pytest.mark.parametrize("text", ["", "# only a comment", "\n\n"])
def test_empty_file(text):
    assert mistakes(text) == ["file: the file is empty"]


@pytest.mark.parametrize("text", ["four-bar", "[1, 2]", "t,A,tau.A\n0,1,2\n"])
def test_file_that_is_no_mapping(text):
    (mistake,) = mistakes(text)
    assert mistake.startswith("file: it has no keys, and a mechanism file begins with `name: …`")


def test_ten_thousand_brackets():
    (mistake,) = mistakes("[" * 10_000)
    assert mistake.endswith("(line 1): nested deeper than 12")


def test_not_text(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="cannot be read: it is not UTF-8 text"):
        load(tmp_path / "a.yaml")


def test_unprintable_character():
    text = changed("planar", ["name: slider-crank", "name: a\n#\x07"])
    assert mistakes(text) == ["file (line 2): not YAML: the character '\\x07' is not allowed"]


def test_no_such_file_suggests_a_shipped_one():
    meant = r"no such file; did you mean 'four-bar'\? The library has 3-rps, "
    with pytest.raises(FileError, match=meant):
        load("four_bar")
    with pytest.raises(FileError, match="no such file"):
        library_path("elsewhere/four-bar")


def test_angle_beyond_a_turn_warns_with_its_path():
    text = changed("planar", ["assembly: {A: 40 deg", "assembly: {A: 40"])
    with pytest.warns(UserWarning, match=r"assembly.A \(line 22\): 40 is taken as 40 rad"):
        loads(text)


@pytest.mark.parametrize("value", ["6.28", "-6.28", "0", "40 rad", "2000 deg"])
def test_angle_within_a_turn_or_with_a_unit_is_silent(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(changed("planar", ["assembly: {A: 40 deg", f"assembly: {{A: {value}"]))


# The library


BASIC = ("five-bar", "four-bar", "parallelogram", "rsur", "slider-crank", "ur10")


@pytest.mark.parametrize("name", sorted({*BASIC, *library_names()}))
def test_library_file_loads_by_name_and_by_path(name):
    mechanism = load(name)
    assert mechanism.name == name
    assert mechanism.description
    assert mechanism == load(library_path(name))
    assert mechanism.source == library_path(name).read_text(encoding="utf-8")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@pytest.mark.parametrize("name", BASIC)
def test_basic_mechanism_is_complete(name):
    mechanism = load(name)
    assert mechanism.has_inertias
    assert mechanism.excitation is not None
    assert mechanism.cycle is not None
    assert [coordinate for coordinate, _ in mechanism.noise] == list(mechanism.coordinates)
    assert any(symbol.bounds for symbol in mechanism.geometry)
    numbers = [body.number for body in mechanism.bodies]
    assert numbers == list(range(1, len(numbers) + 1))
    phi = mechanism.inertial_parameters(mechanism.nominal)
    assert phi.shape == (len(mechanism.parameter_names),)
    assert np.isfinite(phi).all()


def test_four_bar_parameters_by_hand():
    mechanism = load("four-bar")
    bodies = ("crank", "coupler", "rocker")
    assert mechanism.parameter_names == tuple(
        f"{body}.{kind}" for body in bodies for kind in ("m", "mx", "my", "J")
    )
    assert mechanism.parameter_aliases["mx3"] == "rocker.mx"
    rho, lx1, lx3 = Fraction(27, 10), Fraction(3, 10), Fraction(13, 10)
    length = (Fraction(7, 10) ** 2 + Fraction(11, 10) ** 2) ** 0.5
    half_x, half_y = 0.35, -0.55
    expected = [
        *(rho * lx1, rho * lx1**2 / 2, 0, rho * lx1**3 / 3),
        *(2.7 * length, 2.7 * length * half_x, 2.7 * length * half_y, 2.7 * length**3 / 3),
        *(rho * lx3, rho * lx3**2 / 2, 0, rho * lx3**3 / 3),
    ]
    # A handful of float64 operations on either side.
    assert_allclose(
        mechanism.inertial_parameters(mechanism.nominal), np.array(expected, float), rtol=1e-14
    )


# The four-bar's stated values are those of the format's example, and rougher than this.
@pytest.mark.parametrize("name", ["five-bar", "parallelogram", "slider-crank"])
def test_planar_library_file_closes_at_its_stated_assembly(name):
    """The open chain laid out by hand, to the few digits that a file states."""
    mechanism = load(name)
    values = {k: float(v) for k, v in zip(*_columns(mechanism.assembly.values), strict=True)}
    angle, point = 0.0, np.zeros(2)
    *chain, cut = mechanism.joints
    for joint in chain:
        first, second = (floats(frame.at, mechanism.nominal)[:2] for frame in joint.frames)
        point = point + _turned(first, angle)
        angle += values[joint.name]
        point = point - _turned(second, angle)
    ground, last = (floats(frame.at, mechanism.nominal)[:2] for frame in cut.frames)
    gap = point + _turned(last, angle) - ground
    if cut.type == "prismatic":
        gap -= [values[cut.name], 0]
    # Half a degree of rounding in each of four joints, on chains shorter than 1 m.
    assert np.abs(gap).max() < 0.035


def _columns(pairs):
    names, expressions = zip(*pairs, strict=True)
    return names, evaluate(expressions, {})


def _turned(vector, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def test_parallelogram_has_equal_sides_by_symbol():
    joints = {joint.name: joint for joint in load("parallelogram").joints}
    side, base = Name("lx1"), Name("lx2")
    assert joints["B"].frames[0].at == (side, ZERO, ZERO)
    assert joints["D"].frames[1].at == (side, ZERO, ZERO)
    assert joints["C"].frames[0].at == (base, ZERO, ZERO)
    assert joints["D"].frames[0].at == (base, ZERO, ZERO)


def test_ur10_moves_as_its_table_says():
    """Joint frames composed, against the standard Denavit–Hartenberg product."""
    mechanism = load("ur10")
    d = [0.1273, 0, 0, 0.163941, 0.1157, 0.0922]
    a = [0, -0.612, -0.5723, 0, 0, 0]
    alpha = np.radians([90, 0, 0, 90, -90, 0])
    q = np.array([0.3, -1.1, 0.7, 2.0, -0.4, 1.3])
    expected = composed = np.eye(4)
    for k, joint in enumerate(mechanism.joints):
        expected = expected @ _about_z(q[k], d[k]) @ _about_x(alpha[k], a[k])
        first, second = (_frame(frame, mechanism.nominal) for frame in joint.frames)
        composed = composed @ first @ _about_z(q[k], 0) @ np.linalg.inv(second)
    # Six products of matrices of order one.
    assert_allclose(composed, expected, atol=1e-14)


def _about_z(angle, shift):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, shift], [0, 0, 0, 1.0]])


def _about_x(angle, shift):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, shift], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def _frame(frame, values):
    at, axis, reference = (
        np.array(floats(v, values)) for v in (frame.at, frame.axis, frame.reference)
    )
    z = axis / np.linalg.norm(axis)
    x = reference - (reference @ z) * z
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    T[:3, 3] = at
    return T


def test_ur10_central_inertias_are_shifted_to_the_frames():
    """Each link as a rod of dust: its own second moments about the frame's origin."""
    mechanism = load("ur10")
    phi = mechanism.inertial_parameters(mechanism.nominal).reshape(6, 10)
    masses = [7.1, 12.7, 4.27, 2.0, 2.0, 0.365]
    centres = np.array(
        [
            [0.021, 0, 0.027],
            [0.38, 0, 0.158],
            [0.24, 0, 0.068],
            [0, 0.007, 0.018],
            [0, 0.007, 0.018],
            [0, 0, -0.026],
        ]
    )
    radii = [0.075, 0.075, 0.06, 0.045, 0.045, 0.045]
    lengths = [0.178, 0.612, 0.5723, 0.12, 0.12, 0.05]
    along = [1, 0, 0, 2, 2, 2]
    for k, row in enumerate(phi):
        # Six points whose second moments are the cylinder's: ±σ along each axis.
        spread = np.full(3, radii[k] ** 2 / 4)
        spread[along[k]] = lengths[k] ** 2 / 12
        offsets = np.concatenate([np.diag(np.sqrt(3 * spread)), -np.diag(np.sqrt(3 * spread))])
        points, m = centres[k] + offsets, masses[k] / 6
        assert row[0] == pytest.approx(masses[k], rel=1e-15)
        assert_allclose(row[1:4], m * points.sum(axis=0), atol=1e-14)
        inertia = m * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        # Float64 on numbers of order one.
        assert_allclose(row[4:], inertia[np.triu_indices(3)], atol=1e-14)


def test_rsur_crank_turns_fully():
    """The coupler reaches the circle of the universal joint on both branches at any angle."""
    mechanism = load("rsur")
    at = mechanism.nominal
    D, n = np.array([at["Dx"], at["Dy"], at["Dz"]]), np.array([0, -0.6, 0.8])
    x = np.array([1.0, 0, 0])
    turn = np.linspace(0, 2 * np.pi, 721)[:, None]
    circle = D + at["l3"] * (np.cos(turn) * x + np.sin(turn) * np.cross(n, x))
    for angle in np.linspace(0, 2 * np.pi, 73):
        end = at["l1"] * np.array([np.cos(angle), np.sin(angle), 0])
        reach = np.linalg.norm(circle - end, axis=1)
        # 10 mm to spare: no dead point is near.
        assert reach.min() < at["l2"] - 0.01
        assert reach.max() > at["l2"] + 0.01


# What a file's words become


def test_planar_frames():
    joints = {joint.name: joint for joint in loads(GOOD["planar"]).joints}
    lx1 = Name("lx1")
    first, second = joints["B"].frames
    assert first.at == (lx1, ZERO, ZERO)
    assert (second.at, second.axis, second.reference) == (
        (ZERO, ZERO, ZERO),
        (ZERO, ZERO, ONE),
        (ONE, ZERO, ZERO),
    )
    for frame in joints["D"].frames:
        assert (frame.axis, frame.reference) == ((ONE, ZERO, ZERO), (ZERO, ZERO, ONE))


def test_default_reference_is_decided_by_identity():
    """At 0° by value y, at any angle by symbol x: only what is written along x gets y."""
    tilted, along_x = "[cos(alpha), sin(alpha), 0]", "[l1, l1 - l1, 0]"
    text = changed("spatial", ["[0, sin(alpha), cos(alpha)], [0, 0, 1]", f"{tilted}, [0, 1, 0]"])
    first, second = loads(text).joints[0].frames
    assert (first.reference, second.reference) == ((ONE, ZERO, ZERO), (ONE, ZERO, ZERO))
    text = changed("spatial", ["[0, sin(alpha), cos(alpha)], [0, 0, 1]", f"{along_x}, [0, l1, 0]"])
    first, second = loads(text).joints[0].frames
    assert (first.reference, second.reference) == ((ZERO, ONE, ZERO), (ONE, ZERO, ZERO))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[sin(alpha), cos(alpha), 0]", "[0, 0, 1]"),
        ("[3, 4, 0]", "[0, 0, 5]"),
        ("[l1, l2, 0]", "[0, -l2, l1]"),
        ("[1, 1, 0]", "[r2, 0, 0]"),
        ("[cos(2*alpha), -sin(alpha + alpha), 0]", "[cos(90 deg), 0, 2*cos(60 deg)]"),
        ("[l1/r2, l1/r2, 0]", "[l1, 0, 0]"),
    ],
)
def test_axes_equal_as_an_identity(first, second):
    replacement = ["[0, sin(alpha), cos(alpha)], [0, 0, 1]", f"{first}, {second}"]
    mechanism = loads(changed("spatial", replacement))
    lengths = [
        np.linalg.norm(floats(frame.axis, mechanism.nominal))
        for frame in mechanism.joints[0].frames
    ]
    # Rounding of a square root of a sum.
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-14)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[sin(alpha), cos(alpha), 1]", "[0, 0, 1]"),
        ("[1, 1, 0]", "[0, 0, 1]"),
        ("[l1, 0, 0]", "[0, 0, 0.15 m]"),  # equal by value, not by symbol
        ("[sin(alpha), 0, 0]", "[0, 0, 1/2]"),
    ],
)
def test_axes_that_are_not(first, second):
    replacement = ["[0, sin(alpha), cos(alpha)], [0, 0, 1]", f"{first}, {second}"]
    (mistake,) = mistakes(changed("spatial", replacement))
    assert "joints.A (line 15): the axes of the two bodies have different lengths" in mistake


def test_inertia_forms_agree():
    """A rod by centre, by first moment and by its central inertia, planar."""
    forms = [
        "mass: rho*lx2, centre: [lx2/2, 0], inertia: rho*lx2^3/3",
        "mass: rho*lx2, centre: [lx2/2, 0], central_inertia: rho*lx2^3/12",
        "mass: rho*lx2, first_moment: [rho*lx2^2/2, 0], inertia: rho*lx2^3/3",
        "mass: rho*lx2, first_moment: [rho*lx2^2/2, 0], central_inertia: rho*lx2^3/12",
    ]
    old = forms[3]
    rho, lx2 = 2.7, 0.4
    for form in forms:
        mechanism = loads(changed("planar", [old, form]))
        parameters = floats(mechanism.bodies[1].parameters, mechanism.nominal)
        expected = [rho * lx2, rho * lx2**2 / 2, 0, rho * lx2**3 / 3]
        assert parameters == pytest.approx(expected, rel=1e-15 * 8)  # a few roundings


def test_spatial_central_inertia_exactly():
    """Against m(|c|² 1 − c cᵀ) in Python's fractions."""
    body = "mass: 2, centre: [1/2, -1/3, 1/5], central_inertia: [7, 1, 2, 8, 3, 9]"
    text = changed("spatial", ["mass: 1, centre: [l1, 0, 0], inertia: [1, 0, 0, 1, 0, 1]", body])
    c = [Fraction(1, 2), Fraction(-1, 3), Fraction(1, 5)]
    square = sum(x * x for x in c)
    central = [[7, 1, 2], [1, 8, 3], [2, 3, 9]]
    expected = [
        central[i][j] + 2 * (square * (i == j) - c[i] * c[j])
        for i in range(3)
        for j in range(i, 3)
    ]
    parameters = loads(text).bodies[0].parameters
    exact = {"number": lambda x: x, "*": _product, "+": lambda *x: sum(x), "-": lambda x: -x}
    assert evaluate(parameters, {}, exact) == [2, *(2 * x for x in c), *expected]


def _product(*factors):
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result


def test_body_without_inertia():
    mechanism = loads(GOOD["planar"])
    assert mechanism.bodies[2].parameters is None
    assert not mechanism.has_inertias


def test_symbols_in_si():
    mechanism = loads(
        changed(
            "planar",
            ["lx2: {value: 0.4, unit: m}", "lx2: {value: 400, unit: mm, bounds: [300, 0.5 m]}"],
        )
    )
    lx2 = mechanism.geometry[1]
    assert (lx2.value, lx2.unit) == (number("2/5"), "mm")
    assert lx2.bounds == (number("3/10"), number("1/2"))
    alpha = mechanism.geometry[2]
    assert alpha.is_angle
    assert alpha.value == multiply(number("1/6"), Pi())


@pytest.mark.parametrize(
    ("value", "relation", "root"),
    [
        ("1.73", "r3^2 = 3", 3**0.5),
        ("-1.73", "3 = r3^2", -(3**0.5)),
        ("1.62", "r3^2 = r3 + 1", (1 + 5**0.5) / 2),
        ("-0.62", "r3^2 - r3 = 1", (1 - 5**0.5) / 2),
        ("1.26", "r3^3 = 2", 2 ** (1 / 3)),
        ("0.58", "3*r3^2 = 1", 3**-0.5),
    ],
)
def test_value_picks_the_root_of_a_relation(value, relation, root):
    mechanism = loads(
        changed("planar", ["value: 1.73", f"value: {value}"], ["r3^2 = 3", relation])
    )
    assert mechanism.relations[0].symbol == "r3"
    assert mechanism.nominal["r3"] == pytest.approx(root, rel=4e-16)  # two roundings
    assert abs(floats([mechanism.relations[0].polynomial], mechanism.nominal)[0]) < 1e-14


def test_quadratic_root_is_exact():
    r3 = loads(GOOD["planar"]).geometry[3]
    assert str(evaluate([r3.value], {}, {"number": str, "sqrt": "√{}".format})[0]) == "√3"


def test_root_may_depend_on_symbols():
    text = changed("planar", ["r3: {value: 1.73}", "r3: {value: 0.41, unit: m}"])
    text = text.replace("r3^2 = 3", "r3^2 = lx1^2 + lx2^2")
    assert loads(text).nominal["r3"] == pytest.approx(np.hypot(0.1, 0.4), rel=4e-16)


def test_springs_friction_and_noise():
    mechanism = loads(GOOD["planar"])
    assert mechanism.friction == (
        Friction("A", "viscous"),
        Friction("A", "coulomb"),
        Friction("D", "viscous", number(3)),
    )
    on_joint, between = mechanism.springs
    assert (on_joint.coordinate, on_joint.rest, on_joint.bodies) == ("A", ZERO, None)
    assert (between.bodies, between.rest) == (("ground", "slider"), number("1/10"))
    assert between.points == ((ZERO,) * 3, (ZERO,) * 3)
    assert mechanism.noise == (("A", number("5/1000")),)


@pytest.mark.parametrize(
    ("kind", "planar_unit"),
    [
        ("viscous", "N*m*s/rad"),
        ("coulomb", "N*m"),
        ("offset", "N*m"),
        ("rotor", "kg*m^2"),
    ],
)
def test_friction_units_follow_the_joint(kind, planar_unit):
    sliding = {"viscous": "N*s/m", "coulomb": "N", "offset": "N", "rotor": "kg"}[kind]
    entry = f"{{A: {{{kind}: 2 {planar_unit}}}, D: {{{kind}: 3 {sliding}}}}}"
    text = changed("planar", ["{A: [viscous, coulomb], D: {viscous: 3 N*s/m}}", entry])
    assert [column.value for column in loads(text).friction] == [number(2), number(3)]
    (mistake,) = mistakes(text.replace(f"3 {sliding}", f"3 {planar_unit}"))
    assert mistake.startswith(f"friction.D.{kind} (line 26): ")


def test_assembly_with_poses():
    mechanism = loads(GOOD["planar"])
    assert [name for name, _ in mechanism.assembly.values] == ["A", "B", "C"]
    assert mechanism.assembly.poses == (
        Pose("slider", (number("47/100"), ZERO, ZERO), (ZERO, ZERO, ZERO)),
    )


def test_motions_of_a_spatial_file():
    mechanism = loads(GOOD["spatial"])
    assert mechanism.coordinates == mechanism.actuated == ("A", "D.1")
    assert isinstance(mechanism.excitation, Sines)
    assert floats(mechanism.excitation.terms[1][0]) == pytest.approx(
        [0.01, 2**0.5, np.pi / 2], rel=4e-16
    )
    spin, slide = mechanism.cycle.laws
    assert isinstance(spin, SineSum)
    assert slide == RestToRest(number("1/10"), number(2))


def test_states_and_constant_speed():
    text = changed(
        "planar",
        [
            "kind: fourier, harmonics: 5, base_frequency: 0.5 Hz",
            "kind: states, frequency: 0.5 Hz",
        ],
        ["samples: 128", "samples: 128, effective_samples: 100"],
    )
    mechanism = loads(text)
    assert mechanism.excitation == States((number("6/5"),), number("1/2"), 64, 1)
    assert mechanism.cycle.laws == (ConstantSpeed(multiply(number(2), Pi()), ONE),)
    assert mechanism.cycle.effective_samples == number(100)


def test_constants_may_stand_in_motions():
    text = changed("planar", ["rho: {", "w: {value: 3, unit: rad/s}, rho: {"])
    text = text.replace("speed: 360 deg/s", "speed: 2*w")
    (law,) = loads(text).cycle.laws
    assert floats([law.speed]) == [6.0]


FOURIER = (
    "{kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {A: 1.2 rad}, "
    "samples: 64, seed: 1}"
)


def with_data(folder, table):
    (folder / "motion.csv").write_text(table, encoding="utf-8")
    text = changed("planar", [FOURIER, "{kind: data, file: motion.csv}"])
    return loads(text, str(folder / "mechanism.yaml"))


def test_data_beside_the_file_exactly(tmp_path):
    table = "t,A'',A,A'\n0,3,0.1,-2e-1\n 0.5 ,4,.2,1\n"
    data = with_data(tmp_path, table).excitation
    assert isinstance(data, Data)
    assert data.times == (ZERO, number("1/2"))
    assert data.values[0] == ((number("1/10"), number("-1/5"), number(3)),)
    assert data.values[1] == ((number("1/5"), ONE, number(4)),)


def test_cycle_from_data(tmp_path):
    (tmp_path / "c.csv").write_text("t,A,A',A''\n0,1,2,3\n1,4,5,6\n", encoding="utf-8")
    old = "{joints: {A: {kind: constant_speed, speed: 360 deg/s, turns: 1}}, samples: 128}"
    text = changed("planar", [old, "{kind: data, file: c.csv, effective_samples: 1.5}"])
    cycle = loads(text, str(tmp_path / "m.yaml")).cycle
    assert (cycle.samples, cycle.effective_samples) == (2, number("3/2"))
    assert cycle.laws.values[1] == ((number(4), number(5), number(6)),)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "t,A,A'\n0,1,2\n",
            "has no column A''; it has t, A, A', and its first line must name t,A,A',A'' (SI)",
        ),
        (
            "t,A,A',A'',B\n",
            "has columns to spare; it has t, A, A', A'', B, and its first line must name "
            "t,A,A',A'' (SI)",
        ),
        ("t,A,A',A'',A\n", "has two columns of one name"),
        ("t,A,A',A''\n0,1,2,x\n", "row 2: 'x' is no number; write it in SI, without a unit"),
        ("t,A,A',A''\n0,1,2,nan\n", "row 2: 'nan' is no number; write it in SI, without a unit"),
        (
            "t,A,A',A''\n0,1,2,3\n1,2,3,1e999\n",
            "row 3: a number beyond 1e±60 or 60 digits; no dimension of a mechanism needs it",
        ),
        (
            f"t,A,A',A''\n0,1,2,{'7' * 5000}\n",
            "row 2: a number beyond 1e±60 or 60 digits; no dimension of a mechanism needs it",
        ),
        ("t,A,A',A''\n0,1,2,3\n1,2\n", "row 3: too few or too many entries, 2 where 4 are named"),
        ("t,A,A',A''\n0,1,2,3,4\n", "row 2: too few or too many entries, 5 where 4 are named"),
        ("t,A,A',A''\n0,1,2,3\n0,1,2,3\n", "row 3: t does not increase"),
        ("t,A,A',A''\n", "has no samples"),
        (
            "t,A,A',A''\n0,1,2,3\n\n ,,,\n1,2,3,x\n",
            "row 5: 'x' is no number; write it in SI, without a unit",
        ),
        (
            "",
            "has no columns t, A, A', A''; the file is empty, and its first line must name "
            "t,A,A',A''",
        ),
    ],
)
def test_malformed_data(tmp_path, table, message):
    with pytest.raises(FileError) as caught:
        with_data(tmp_path, table)
    assert [str(m) for m in caught.value.mistakes] == [f"excitation.file (line 23): {message}"]


def test_missing_data(tmp_path):
    with pytest.raises(FileError) as caught:
        loads(changed("planar", [FOURIER, "{kind: data, file: no.csv}"]), str(tmp_path / "m.yaml"))
    (mistake,) = caught.value.mistakes
    assert mistake.path == "excitation.file"
    assert mistake.message.endswith("no.csv: No such file or directory")


def test_scalars_are_text():
    text = changed("planar", ["name: slider-crank", "name: 1:30"])
    assert loads(text.replace("T: {connects", "on: {connects")).springs[1].name == "on"
    assert loads(text).name == "1:30"


def test_quoted_commas():
    text = changed("planar", ["centre: [lx1/2, 0]", 'centre: ["max(lx1, 0)/2", 0]'])
    mechanism = loads(text)
    moment = floats(mechanism.bodies[0].parameters, mechanism.nominal)[1]
    assert moment == pytest.approx(2.7 * 0.1 * 0.05, rel=1e-15 * 4)  # three roundings


def test_decimals_are_exact():
    lx1 = loads(changed("planar", ["value: 0.1,", "value: 0.2501,"])).geometry[0]
    assert lx1.value == Number(Fraction(2501, 10000))


@pytest.mark.parametrize("word", ["²", "9" * 5000, "٣٣", "1e3", "-4"])
def test_numbers_that_are_no_whole_ones(word):
    """Digits that `int` does not take, and more of them than it takes."""
    text = library_path("four-bar").read_text(encoding="utf-8")
    odd = text.replace("samples: 64", f"samples: '{word}'", 1)
    assert odd != text
    with pytest.raises(FileError, match="where a whole number of at least"):
        loads(odd)


def test_inches_revolutions_and_turns_per_minute_are_units():
    """The same machine in metres, degrees and rad/s, to the last digit of its numbers."""
    ours = loads(FOUR_BAR)
    theirs = loads(
        FOUR_BAR.replace("{value: 0.3, unit: m}", "{value: 300/25.4, unit: inch}")
        .replace("{value: 700, unit: mm}", "{value: 70, unit: cm}")
        .replace("{value: 10, unit: deg}", "{value: 1/36, unit: rev}")
    )
    assert theirs.nominal == ours.nominal
    assert [symbol.is_angle for symbol in theirs.geometry] == [s.is_angle for s in ours.geometry]
    speeds = [parse(text, parse_unit("rad/s"), {}) for text in ("60 rpm", "1 rev/s", "360 deg/s")]
    assert len(set(evaluate(speeds, {}))) == 1


def test_mechanism_files_beside_a_missing_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, name in {"arm": "arm", "rocker": "wiper"}.items():
        (tmp_path / f"{file}.yaml").write_text(f"name: {name}\njoints: {{}}\n")
    listed = r"no such file; mechanism files there: arm.yaml, rocker.yaml"
    with pytest.raises(FileError, match=listed + "; rocker.yaml is named wiper"):
        load("wiper.yaml")
    with pytest.raises(FileError, match=listed + r"; did you mean 'arm.yaml'\?"):
        load("amr.yaml")
    with pytest.raises(FileError, match="the library has four-bar, which is written without"):
        load("four-bar.yaml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="the library has 3-rps"):
        load("empty/wiper.yaml")


@pytest.mark.parametrize("ratio", [1, 8])
@pytest.mark.parametrize("motion", [True, False])
def test_a_speed_constant_in_the_place_of_the_torque_constant(ratio, motion):
    text = library_path("four-bar").read_text(encoding="utf-8")
    if not motion:
        text = re.sub(r"^(cycle|excitation):.*\n(?:[ ].*\n)*", "", text, flags=re.MULTILINE)
    drive = f"{{joint: A, voltage: 24, resistance: 0.6, constant: CONST, ratio: {ratio}}}"
    text += f"motors: {{drive: {drive}}}\n"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        loads(text.replace("CONST", "149"))
    if ratio == 1:  # it may stand for a slow motor with its gear
        assert not told
        return
    message = str(told[0].message)
    assert "idles at 1.5 rpm; if 149 is in mN m/A, write 0.149; if it is the" in message
    assert message.endswith("speed constant in rpm/V, write 0.0641.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(text.replace("CONST", "0.0641"))
