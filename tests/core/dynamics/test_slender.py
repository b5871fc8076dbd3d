"""Slender bodies between balls: torque of their end points, however the spin is held; and stubs.

The rod's torque is that of Lagrange's equation in forty digits for its two ends, which have no
spin; counts are held against energies of ends between free balls by `tests/campaigns`
(`idle_families.py`, a case of each in `test_counts_sample.py`).
"""

import json

import mpmath
import numpy as np
import pytest
import yaml

import basepar
from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import black_box, numeric, symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.make import certify, verify
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import Motion, closure, constraints_found, nearby_states, observe
from basepar_core.dynamics.energy import energies
from basepar_core.errors import FileError, UsageError
from basepar_core.files import loads
from basepar_core.single_dof.reaction_freedoms import freed, reaction
from tests.mechanisms import build

ROD = """
name: rod
space: spatial
gravity: [0, 0, -9.81]
geometry: {l: {value: 0.4, unit: m}, r: {value: 0.1, unit: m}, k: {value: 0.3, unit: m}}
bodies:
  crank: {mass: 1, centre: [0.05, 0, 0], central_inertia: [0, 0, 0, 0, 0, 0.01]}
  rod:
    {form: slender, mass: 0.8, centre: [0, 0, 0.17], central_inertia: [0.012, 0, 0, 0.012, 0, 0]}
  rocker: {mass: 1, centre: [0.15, 0, 0], central_inertia: [0, 0, 0, 0.01, 0, 0]}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: spherical, connects: [crank, rod], at: [[r, 0, 0], [0, 0, 0]]}
  C: {type: spherical, connects: [rocker, rod], at: [[k, 0, 0], [0, 0, l]]}
  D: {type: revolute, connects: [ground, rocker], at: [[0.1, 0.2, 0.1], [0, 0, 0]],
      axis: [[0, 1, 0], [0, 1, 0]]}
coordinates: [A]
assembly:
  A: 20 deg
  bodies: {rod: {at: [0.09, 0.03, 0], rotation: [-0.4, 0.3, 0]},
    rocker: {at: [0.1, 0.2, 0.1], rotation: [0, -1, 0]}}
excitation: {kind: states, samples: 40, seed: 1, amplitude: {A: 0.4 rad}, frequency: 1 Hz}
"""
#: Of revolution and thick; and its origin and axes anywhere.
THICK = ROD.replace("0.012, 0, 0]}\n  rocker", "0.012, 0, 0.002]}\n  rocker")
T = np.linspace(0, 1, 5)
MOTION = Motion(T, 0.35 + 0.5 * np.sin(T)[None], 2 + T[None], 7 - 20 * T[None])
#: Rounding of closure and W.
ROUNDING = 1e-12


def torques(text):
    """Of the crank (sample,), by NumPy and by the kernels."""
    it = loads(text)
    model = closure.prepare(it)
    phi = it.inertial_parameters(it.nominal)
    ways = (lambda m: observe(model, {}, m), lambda m: Engine(model).observe({}, m))
    return [(way(MOTION).W[0] @ phi)[:, 0] for way in ways]


def by_end_points(q, speed, acceleration):
    """The crank's torque, of a rod that is its two ends: Lagrange in forty digits, no spin.

    A point at a share s of the rod moves as (1 − s) P + s Q, so that its energy has the moments of
    mass 1, s and s² alone.
    """
    m, mean, square = 0.8, mpmath.mpf("0.17") / mpmath.mpf("0.4"), 0
    square = mpmath.mpf("0.012") / m / mpmath.mpf("0.16") + mean**2

    def crank(q):
        return mpmath.matrix([mpmath.cos(q), mpmath.sin(q), 0]) / 10

    def rocker(q):
        P = crank(q)

        def end(turn):
            arm = mpmath.matrix([mpmath.cos(turn), 0, -mpmath.sin(turn)])
            return mpmath.matrix(["0.1", "0.2", "0.1"]) + mpmath.mpf("0.3") * arm

        return end, mpmath.findroot(
            lambda turn: mpmath.norm(end(turn) - P) ** 2 - mpmath.mpf("0.16"), -1
        )

    def ends(q):
        end, turn = rocker(q)
        return crank(q), end(turn), turn

    def inertia(q):
        P, Q = (
            [mpmath.diff(lambda x, k=k, n=n: ends(x)[n][k], q) for k in range(3)] for n in (0, 1)
        )
        turn = mpmath.diff(lambda x: ends(x)[2], q)
        along = sum(
            p * p * (1 - 2 * mean + square) + 2 * p * r * (mean - square) + r * r * square
            for p, r in zip(P, Q, strict=True)
        )
        return m * along + mpmath.mpf("0.0125") + turn**2 * mpmath.mpf("0.0325")

    def height(q):
        P, Q, turn = ends(q)
        return m * ((1 - mean) * P[2] + mean * Q[2]) - mpmath.mpf("0.15") * mpmath.sin(turn)

    with mpmath.workdps(40):
        q, speed, acceleration = map(mpmath.mpf, (float(q), float(speed), float(acceleration)))
        slope = mpmath.diff(inertia, q)
        weight = mpmath.mpf("9.81") * mpmath.diff(height, q)
        return float(inertia(q) * acceleration + slope * speed**2 / 2 + weight)


@pytest.mark.parametrize("text", [ROD, THICK], ids=["on the line", "of revolution"])
def test_torque_is_that_of_the_ends(text):
    """Of revolution: started without spin it has none, and inertia about the line does no work."""
    states = zip(MOTION.q[0], MOTION.q_dot[0], MOTION.q_ddot[0], strict=True)
    by_hand = [by_end_points(*state) for state in states]
    for torque in torques(text):
        size = np.abs(by_hand).max()
        np.testing.assert_allclose(torque, by_hand, rtol=0, atol=ROUNDING * size)


def held(joint, axis):
    """The rod's W (sample, parameter) where a universal joint of the file holds the spin."""
    document = yaml.safe_load(ROD)
    document["joints"][joint] |= {"type": "universal", "axis": axis, "reference": axis[::-1]}
    return observe(closure.prepare(build(document)), {}, MOTION).W[0, :, 0]


def test_all_columns_are_the_same_however_the_spin_is_held():
    """Not the torque alone: either end, any axes; only a rod of any mass tells them apart."""
    x, y, z = np.eye(3, dtype=int).tolist()
    own = observe(closure.prepare(loads(ROD)), {}, MOTION).W[0, :, 0]
    for joint, axis in (("B", [y, x]), ("B", [z, x]), ("B", [z, y]), ("C", [y, x])):
        found = held(joint, axis)
        np.testing.assert_allclose(found, own, rtol=0, atol=ROUNDING * np.abs(own).max())


@pytest.mark.slow
def test_kernels_follow_a_swept_rod():
    model = closure.prepare(loads(ROD))
    values = {"l": np.linspace(0.38, 0.42, 5), "r": np.linspace(0.09, 0.11, 5)}
    plain, fast = observe(model, values, MOTION), Engine(model).observe(values, MOTION)
    assert plain.closed.all()
    np.testing.assert_allclose(fast.W, plain.W, rtol=0, atol=ROUNDING * np.abs(plain.W).max())
    np.testing.assert_allclose(fast.terms, plain.terms, rtol=1e-9)


@pytest.mark.slow
def test_every_route_counts_five():
    """Crank and rocker about their axes, the rocker's weight, and of the rod what is not its
    ends': Izz; J, mx and mz of the rocker, of which mx and mass at either end are one; a moment.
    """
    model = closure.prepare(loads(ROD))
    found = [route(model) for route in (symbolic, numeric, black_box, precise)]
    assert [one.rank for one in found] == [5] * 4
    assert found[0].certificate.at_least_grade == "proved generically"
    assert found[0].certificate.at_most_grade == "theorem"
    assert found[0].doubt == ""
    seen = observe(model, {}, nearby_states(model))
    other = energies(model, {}, nearby_states(model), seen)
    for W in (seen.stacked[0], other.stacked[0]):
        values = np.linalg.svd(W, compute_uv=False)
        # Rounding of some hundred rows; the fifth is four digits below the first.
        assert values[4] > 1e-6 * values[0] > 1e5 * values[5]


#: A cylinder and its piston rod between balls, and an arm; body frames along the leg.
LEG = """
name: leg
space: spatial
gravity: [0, 0, -9.81]
geometry: {l: {value: 0.5, unit: m}}
bodies: {tube: {form: slender}, piston: {form: slender}, arm: {}}
joints:
  A: {type: revolute, connects: [ground, arm], at: [[0, 0, 1], [0, 0, 0]],
      axis: [[0, 1, 0], [0, 1, 0]]}
  B: {type: spherical, connects: [ground, tube], at: [[0.3, 0.1, 0], [0, 0, 0]]}
  L: {type: prismatic, connects: [tube, piston], at: [[0, 0, l], [0, 0, 0]]}
  C: {type: spherical, connects: [piston, arm], at: [[0, 0, 0.3], [0.6, 0, 0]]}
coordinates: [A]
excitation: {kind: states, samples: 60, seed: 1, amplitude: {A: 0.3 rad}, frequency: 1 Hz}
"""


def test_a_leg_along_the_axes_of_its_ends():
    """Vertical at home, as its balls' axes are: other axes are chosen, for both directions."""
    for text in (
        LEG,
        LEG.replace(
            "[ground, tube], at: [[0.3, 0.1, 0], [0, 0, 0]]",
            "[tube, ground], at: [[0, 0, 0], [0.3, 0.1, 0]]",
        ),
    ):
        model = closure.prepare(loads(text))
        found = symbolic(model)
        # Of tube and piston along the line: second moments about the ends, a first one of each
        # with the arm's weight; of the arm its moments and inertia.
        assert (found.rank, found.certificate.at_most_grade) == (6, "theorem")
        assert numeric(model).rank == 6
        assert constraints_found(model).idle == ()


@pytest.mark.slow
def test_certificates_are_confirmed_and_forged_ones_are_not():
    for text in (ROD, LEG):
        model = closure.prepare(loads(text))
        document = json.loads(json.dumps(certify(model, symbolic(model))))
        assert verify(document).grade == "theorem"
        rejected = 0
        for k, vector in enumerate(document["at_most"]["vectors"]):
            if vector.get("rule") != "forms":
                continue
            for name in vector["entries"]:
                forged = json.loads(json.dumps(document))
                forged["at_most"]["vectors"][k]["entries"][name] += "*2"
                forged["digest"] = checker.digest(forged)
                with pytest.raises(checker.RejectedError):
                    checker.check(forged)
                rejected += 1
        assert rejected > 7
        any_body = json.loads(json.dumps(document))
        any_body["mechanism"].pop("forms")
        any_body["digest"] = checker.digest(any_body)
        with pytest.raises(checker.RejectedError):
            checker.check(any_body)


def test_reactions_do_not_depend_on_how_the_spin_is_held():
    """Forces at a ball of the rod and at the rocker's pivot, against a universal joint's own."""
    found = []
    document = yaml.safe_load(ROD)
    y, x = [0, 1, 0], [1, 0, 0]
    document["joints"]["B"] |= {"type": "universal", "axis": [y, x], "reference": [x, y]}
    for it in (loads(ROD), build(document)):
        model = closure.prepare(it)
        wanted = [reaction(it, text) for text in ("C:rocker:x", "C:rocker:z", "D:rocker:y")]
        full = freed(model, wanted)
        still = np.zeros((3, MOTION.t.size))
        motion = Motion(
            MOTION.t, *(np.vstack([one, still]) for one in (MOTION.q, MOTION.q_dot, MOTION.q_ddot))
        )
        phi = full.mechanism.inertial_parameters(full.mechanism.nominal)
        found.append(observe(full, {}, motion).W[0] @ phi)
    np.testing.assert_allclose(*found, rtol=0, atol=1e-11 * np.abs(found[0]).max())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("centre: [0, 0, 0.17]", "centre: [0.01, 0, 0.17]", "0.01 m off the line"),
        (
            "[0.012, 0, 0, 0.012, 0, 0]}\n  rocker",
            "[0.012, 0, 0, 0.011, 0, 0]}\n  rocker",
            "not of revolution",
        ),
        (
            "[0.012, 0, 0, 0.012, 0, 0]}\n  rocker",
            '["(0.03 kg*m)*l", 0, 0, 0.012, 0, 0]}\n  rocker',
            "where symbols have other values",
        ),
        ("at: [[k, 0, 0], [0, 0, l]]", "at: [[k, 0, 0], [0, 0, 0]]", "at one point"),
        ("C: {type: spherical", "C: {type: revolute", "B (spherical), C (revolute); a slender"),
        ("form: slender", "form: thin", "no form 'thin'"),
        ("form: slender", "form: massless", "a massless body has no mass"),
        ("  A: 20 deg", "  A: 20 deg\n  B.1: 0\n  C.1: 0", "'B' holds the idle spin of a slender"),
        ("excitation:", "points: {P: {body: rod, at: [0, r, 0]}}\nexcitation:", "off the line"),
        (
            "excitation:",
            "springs: {S: {connects: [ground, rod], at: [[0, 0, 0], [r, 0, 0]], rest: 0.1 m}}\n"
            "excitation:",
            "its point is off the line of slender 'rod'",
        ),
    ],
)
def test_mistakes(old, new, said):
    assert old in ROD
    with pytest.raises(FileError) as caught:
        loads(ROD.replace(old, new))
    assert said in str(caught.value)


def test_a_rod_that_is_stated_along_another_axis():
    wrong = ROD.replace("centre: [0, 0, 0.17]", "centre: [0.17, 0, 0]")
    wrong = wrong.replace(
        "[0.012, 0, 0, 0.012, 0, 0]}\n  rocker", "[0, 0, 0, 0.012, 0, 0.012]}\n  rocker"
    )
    with pytest.raises(FileError) as caught:
        loads(wrong)
    (mistake,) = caught.value.mistakes
    assert "with x and z exchanged all is along that line" in mistake.message
    told = mistake.message.split("`")[1]
    assert told.startswith("centre: [0, 0, 0.17], ")
    assert told.endswith("inertia: [0.012, 0, 0, 0.012, 0, 0]")


def test_nobody_pushes_along_axes_that_turn_idly(tmp_path):
    path = tmp_path / "rod.yaml"
    path.write_text(ROD)
    model = basepar.load(path)
    push = basepar.Contact("rod", [1, 0, 0, 0, 0, 0])
    with pytest.raises(UsageError, match="turns about its line as it likes"):
        model.torque([[0.35]], [[1.0]], [[0.0]], contacts=[push])


def test_a_slide_beside_the_line():
    with pytest.raises(FileError, match="the axis of L does not go through B"):
        loads(LEG.replace("at: [[0, 0, l], [0, 0, 0]]", "at: [[0.1, 0, l], [0, 0, 0]]"))


@pytest.mark.parametrize("body", ["tube", "piston"])
def test_a_slide_that_turns_it(body):
    """The inertia about its line is felt by what turns it, unless that turns idly too."""
    with pytest.raises(FileError) as caught:
        loads(LEG.replace(f"{body}: {{form: slender}}", f"{body}: {{}}"))
    assert "L (prismatic) turns it" in str(caught.value)
    assert f"with {body!r}" in str(caught.value)


#: A rack steers a lever by a rod: every frame lies along the ground's where nothing has moved.
HOME = """
name: home
space: spatial
gravity: [0, 0, -9.81]
geometry: {l: {value: 0.3, unit: m}, a: {value: 0.1, unit: m}}
bodies: {rack: {}, rod: {form: slender}, lever: {}}
joints:
  H: {type: prismatic, connects: [ground, rack], axis: [[0, 1, 0], [0, 1, 0]]}
  U: {type: spherical, connects: [rack, rod]}
  V: {type: spherical, connects: [rod, lever], at: [[0, l, 0], [-a, 0, 0]]}
  D: {type: revolute, connects: [ground, lever], at: [[a, l, 0], [0, 0, 0]]}
coordinates: [H]
"""


def test_where_everything_is_zero_the_file_is_assembled():
    """Bodies are laid out over the ball of the file, not over the joint that holds its spin."""
    found = closure.prepare(loads(HOME)).assembled
    assert found.coordinates.tolist() == [0.0]
    lever = next(node for node in found.topology.tree if node.joint == 3)
    assert abs(found.q[lever.position]) < 1e-15
    assert found.residual < 1e-15


#: Two hinges that meet, with a stub between; and a third, askew.
STUB = """
name: stub
space: spatial
gravity: [0, 0, -9.81]
geometry: {a: {value: 0.4, unit: m}}
bodies: {link: {}, stub: {form: massless}, hand: {}}
joints:
  A: {type: revolute, connects: [ground, link], axis: [[0, 1, 1], [0, 1, 1]]}
  B: {type: revolute, connects: [link, stub], at: [[a, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [stub, hand], axis: [[1, 0, 0], [0, 1, 0]],
      reference: [[0, 0, 1], [0, 0, 1]]}
coordinates: [A, B, C]
excitation:
  {kind: states, samples: 60, seed: 1, amplitude: {A: 1 rad, B: 1 rad, C: 1 rad},
   frequency: 1 Hz}
"""


def test_a_stub_without_mass_is_a_universal_joint():
    """Its columns do not count; the others', and what they share, are the universal joint's."""
    stub = closure.prepare(loads(STUB))
    text = STUB.replace("stub: {form: massless}, ", "").replace("[A, B, C]", "[A, B.1, B.2]")
    text = text.replace("B: 1 rad, C: 1 rad", "B.1: 1 rad, B.2: 1 rad")
    first, second = text.index("  C:"), text.index("coordinates")
    text = (text[:first] + text[second:]).replace(
        "B: {type: revolute, connects: [link, stub], at: [[a, 0, 0], [0, 0, 0]]}",
        "B: {type: universal, connects: [link, hand], at: [[a, 0, 0], [0, 0, 0]], "
        "axis: [[0, 0, 1], [0, 1, 0]], reference: [[1, 0, 0], [0, 0, 1]]}",
    )
    joint = closure.prepare(loads(text))
    found = [symbolic(one) for one in (stub, joint)]
    assert found[0].rank == found[1].rank == numeric(stub).rank == precise(stub).rank
    assert set(found[0].eliminated) >= set(range(10, 20))
    assert set(found[0].no_effect) >= set(range(10, 20))
    assert not found[0].doubt
    motion = nearby_states(stub)
    own, other = (Engine(one).observe({}, motion).W[0] for one in (stub, joint))
    kept = [*range(10), *range(20, 30)]
    np.testing.assert_allclose(own[..., kept], other, rtol=0, atol=1e-12 * np.abs(other).max())


def test_a_certificate_of_a_stub():
    model = closure.prepare(loads(STUB))
    document = certify(model, symbolic(model))
    assert document["at_most"]["rank"] == document["at_least"]["rank"]
    assert verify(document).rank == symbolic(model).rank
