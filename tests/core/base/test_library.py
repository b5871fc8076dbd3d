"""The library of mechanisms: what ships assembles, moves, and has the count it is known for."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base import plain_result
from basepar_core.base.precise_route import precise_rank
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure, motion
from basepar_core.dynamics.closure import Model
from basepar_core.dynamics.motion import Motion
from basepar_core.dynamics.regressor import observe
from basepar_core.files.mechanism_file import library_names
from basepar_core.finite_field.rank import generic_rank
from tests.oracles import pinocchio_model

#: Degrees of freedom, base parameters, and who counted them. "pins": counted by hand below;
#: "ours": not in print that we know of, so that it rests on the three arithmetics here.
COUNTS = {
    "3-rps": (3, 25, "another implementation, in variable precision"),
    "3-rrr": (3, 19, "pins"),
    "bicycle": (1, 7, "pins"),
    "delta": (3, 34, "ours"),
    "dwell": (1, 7, "pins"),
    "five-bar": (2, 11, "pins; another implementation"),
    "four-bar": (1, 8, "pins; planar paper, Eq. 25"),
    "gripper": (2, 7, "by hand, in the file"),
    "panda": (7, 43, "Gaz et al., RA-L 4(4), 2019"),
    "parallelogram": (1, 3, "another implementation, in variable precision"),
    "planetary-gear": (1, 9, "by hand, in the file"),
    "puma-560": (6, 36, "Mayeda, Yoshida & Osuka, TRA 6(3), 1990"),
    "quadruped": (18, 94, "10 a body less 3 a revolute; Ayusawa et al., IJRR 33(3), 2014"),
    "quick-return": (1, 11, "pins"),
    "rack-steering": (3, 42, "the suspension's, and one by hand, in the file"),
    "rssr": (2, 19, "ours"),
    "rsur": (1, 12, "dust of forty digits, tests of the symbolic route"),
    "scara": (4, 8, "by hand, in the file"),
    "screw-jack": (1, 2, "by hand, in the file"),
    "sla-suspension": (2, 41, "low-mobility paper, Table 2"),
    "slider-crank": (1, 6, "pins; identification paper, Table 2"),
    "stephenson-iii": (1, 13, "pins"),
    "stewart-gough": (6, 82, "another implementation, in variable precision"),
    "ur10": (6, 36, "Mayeda, Yoshida & Osuka"),
    "ur5": (6, 36, "Mayeda, Yoshida & Osuka"),
    "watt-i": (1, 13, "pins"),
    "watt-ii": (1, 13, "pins; another implementation"),
    "whitworth": (1, 9, "pins"),
}
TREES = ("panda", "puma-560", "quadruped", "scara", "ur10", "ur5")


def slow(*names: str) -> list:
    """All names, the given ones marked: they take more than 3 s."""
    return [pytest.param(n, marks=pytest.mark.slow) if n in names else n for n in COUNTS]


@cache
def model(name: str) -> Model:
    return closure.prepare(load(name))


def test_every_mechanism_has_its_count():
    assert set(COUNTS) == set(library_names())


@pytest.mark.parametrize("name", slow("rack-steering", "sla-suspension"))
def test_is_complete(name):
    """All that sweeps and metrics ask of a mechanism is there, and its motions can be followed."""
    prepared = model(name)
    mechanism = prepared.mechanism
    assert len(mechanism.coordinates) == COUNTS[name][0]
    assert prepared.assembled.residual < 1e-14  # of dimensions about 1 m: rounding
    assert mechanism.has_inertias
    assert [coordinate for coordinate, _ in mechanism.noise] == list(mechanism.coordinates)
    assert any(symbol.bounds for symbol in mechanism.geometry)
    assert [body.number for body in mechanism.bodies] == list(range(1, 1 + len(mechanism.bodies)))
    start = prepared.assembled.coordinates
    for moving in (motion.excitation(mechanism, start), motion.cycle(mechanism, start)):
        seen = observe(prepared, {}, moving)
        assert seen.closed[0]
        phi = mechanism.inertial_parameters(mechanism.nominal)
        assert np.isfinite(seen.W[0] @ phi).all()


#: Printed so: measured moments of 0.066, 0.086 and 0.0125 kg m² miss the triangle inequality.
AS_MEASURED = {("puma-560", "forearm")}


@pytest.mark.parametrize("name", COUNTS)
def test_masses_are_possible(name):
    """Every body's pseudo-inertia is a sum of point masses: no eigenvalue below zero.

    Wensing, Kim & Slotine, IEEE Robotics and Automation Letters 3(1), 2018.
    """
    mechanism = model(name).mechanism
    phi = mechanism.inertial_parameters(mechanism.nominal)
    for body, row in zip(mechanism.bodies, phi.reshape(len(mechanism.bodies), -1), strict=True):
        if mechanism.planar:
            m, x, y, J = row
            # Only the trace of the second moments is known; they can be chosen above the
            # centre's if J is at least the Steiner part.
            assert m >= 0, body.name
            assert J * m >= (x * x + y * y) * (1 - 1e-12), body.name
            continue
        m, *c = row[:4]
        xx, xy, xz, yy, yz, zz = row[4:]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        P = np.zeros((4, 4))
        P[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
        P[:3, 3] = P[3, :3] = c
        P[3, 3] = m
        possible = np.linalg.eigvalsh(P)[0] > -1e-12 * np.abs(P).max()
        assert possible == ((name, body.name) not in AS_MEASURED), body.name


@pytest.mark.parametrize(
    "name", slow("delta", "planetary-gear", "rack-steering", "sla-suspension", "stewart-gough")
)
def test_symbolic_route(name):
    base = symbolic(model(name))
    again = plain_result.of_plain(
        json.loads(json.dumps(plain_result.plain(base))), model(name).mechanism
    )
    assert again == base
    rank = COUNTS[name][1]
    assert base.certificate.at_least == rank
    assert base.rank == rank
    # float64 alone may be in doubt (the suspension); the two exact counts must agree.
    assert "over finite fields" not in base.doubt
    # That constraints are redundant is counted at random points (decision 18).
    grade = "probability" if model(name).loops.redundant else "proved generically"
    assert base.certificate.at_least_grade == grade
    # The fingers mirror each other by their coupling's offset, which is free in the family.
    special = ("numerical",) if name == "gripper" else ()
    assert base.certificate.at_most_grade in ("theorem", "identity", "probability", *special)


@pytest.mark.parametrize("name", COUNTS)
def test_generic_rank(name):
    """At random members of the family over two finite fields."""
    assert generic_rank(model(name), seed=5, pairs=2).rank == COUNTS[name][1]


@pytest.mark.parametrize(
    "name",
    slow("delta", "panda", "quadruped", "rack-steering", "sla-suspension", "stewart-gough", "ur5"),
)
def test_precise_rank(name):
    """W of the nominal geometry in variable precision."""
    assert precise_rank(model(name)).rank == COUNTS[name][1]


@pytest.mark.parametrize("name", TREES)
def test_trees_by_pinocchio(name):
    """Regressor and rank of Pinocchio's model of the same joints."""
    prepared = model(name)
    moving = motion.excitation(prepared.mechanism, prepared.assembled.coordinates)
    chain = pinocchio_model.Chain(prepared.mechanism, {})
    states = zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
    expected = np.stack([chain.columns(*state) for state in states])
    W = observe(prepared, {}, moving).W[0]
    # Two programs' rounding of sums of about a hundred terms.
    assert np.abs(W - expected).max() < 1e-12 * np.abs(expected).max()
    stacked = expected.reshape(-1, expected.shape[-1])
    norms = np.linalg.norm(stacked, axis=0)
    # Columns without effect are rounding, 1e-13 of the others.
    stacked = stacked[:, norms > 1e-11 * norms.max()]
    values = np.linalg.svd(stacked / np.linalg.norm(stacked, axis=0), compute_uv=False)
    assert (values > 1e-9).sum() == (values > 1e-12).sum() == COUNTS[name][1]


#: Reduced inertia (kg m²) and its derivative (kg m²/rad) at crank angles, from the reference
#: data of the paper's two cases: energy route, held there against Exudyn and MuJoCo. No gravity.
BICYCLE = """
0,12.9078994771,0.249494787374
0.785398163397,12.9575768675,-0.242889501203
1.57079632679,12.630320709,-0.241242878414
2.35619449019,12.6818975111,0.267703661489
3.14159265359,12.9078994771,0.249494787374
3.92699081699,12.9575768675,-0.242889501203
4.71238898038,12.630320709,-0.241242878414
5.49778714378,12.6818975111,0.267703661489
"""
DWELL = """
0,0.0112735947695,0.00292026347056
0.785398163397,0.0065323430366,-0.00173110417366
1.57079632679,0.006563,0.0003645
2.35619449019,0.00667440096522,-3.70631745715e-05
3.14159265359,0.00659133333333,-0.000129166666667
3.92699081699,0.00649974315508,-0.000117503266236
4.71238898038,0.006377,-0.0001971
5.49778714378,0.00899437910339,0.00407654686518
"""


@pytest.mark.parametrize(("name", "table"), [("bicycle", BICYCLE), ("dwell", DWELL)])
def test_reduced_inertia_of_the_papers_cases(name, table):
    phi, m, slope = np.loadtxt(table.split(), delimiter=",").T
    prepared = model(name)
    parameters = prepared.mechanism.inertial_parameters(prepared.mechanism.nominal)

    def torque(speed: float, acceleration: float) -> np.ndarray:
        moving = Motion(
            np.arange(phi.size),
            phi[None],
            np.full((1, phi.size), speed),
            np.full((1, phi.size), acceleration),
        )
        return observe(prepared, {}, moving).W[0, :, 0] @ parameters

    # Twelve digits are printed.
    np.testing.assert_allclose(torque(0, 1), m, rtol=1e-11)
    np.testing.assert_allclose(torque(1, 0), slope / 2, atol=1e-11 * m.max())


#: Planar mechanisms, and how many parameters no motion shows besides point masses on pins.
HIDDEN = {
    "3-rrr": 0,
    "five-bar": 0,
    "four-bar": 0,
    "stephenson-iii": 0,
    "watt-i": 0,
    "watt-ii": 0,
    # A ram that does not turn: its first moments and J.
    "slider-crank": 3,
    # That, and the block that turns with the lever: one J for both.
    "quick-return": 4,
    "whitworth": 3,
    # No gravity: the first moments of crank and thighs, which turn about ground points.
    "bicycle": 6,
    # No gravity: those of crank, link and rocker; and one J for slider and rocker.
    "dwell": 7,
}


@pytest.mark.parametrize("name", HIDDEN)
def test_planar_counts_by_hand(name):
    """Four per body, less a point mass on each pin: it is either neighbour's, or stands still."""
    mechanism = load(name)
    pins = sum(joint.type == "revolute" for joint in mechanism.joints)
    assert len(mechanism.parameter_names) - pins - HIDDEN[name] == COUNTS[name][1]


@pytest.mark.parametrize("name", COUNTS)
def test_the_file_says_its_count_and_from_where(name):
    """What `basepar list` and `basepar show` print; pins are counted in the file."""
    mechanism = load(name)
    said = re.fullmatch(
        r".*\. (\d+) base parameters of (\d+) \((.+)\)\.", mechanism.description, re.DOTALL
    )
    assert said, mechanism.description
    rank, parameters, source = said.groups()
    assert (int(rank), int(parameters)) == (COUNTS[name][1], len(mechanism.parameter_names))
    pins = re.search(r"each of (\d+) pins", source)
    assert (pins is not None) == (name in HIDDEN)
    if pins:
        counted = sum(joint.type == "revolute" for joint in mechanism.joints)
        assert int(pins[1]) == counted


def test_the_page_of_the_library_says_the_same():
    """docs/library.md: every mechanism with its drawing, counts and their source."""
    docs = Path(__file__).parents[3] / "docs"
    rows = [line.split("|") for line in (docs / "library.md").read_text().splitlines()]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) > 6 and "<img" in row[1]]
    assert len(rows) == len(COUNTS)
    for _, image, words, freedom, parameters, rank, source, *_ in rows:
        name = words.split("**")[1]
        drawing = docs / image.split('"')[1]
        assert drawing.stem == name
        assert 1000 < drawing.stat().st_size < 60_000
        counted = (COUNTS[name][0], len(load(name).parameter_names), COUNTS[name][1])
        assert (int(freedom), int(parameters), int(rank)) == counted
        assert source, name
