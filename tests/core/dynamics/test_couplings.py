"""Couplings: W and torques against Pinocchio's trees, Lagrangians by hand, and geometry."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base import numeric_route
from basepar_core.base.symbolic_route import symbolic
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics import (
    Motion,
    closure,
    columns,
    excitation,
    observe,
    observe_columns,
    topology,
)
from basepar_core.dynamics.findings import branch_found
from basepar_core.errors import AssemblyError, BaseparError, MechanismError
from basepar_core.expressions import evaluate
from basepar_core.files import loads
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import sensitivity
from tests.oracles import pinocchio_model

#: Rounding of two programs' sums of about a hundred terms.
ROUNDING = 1e-12
GEARS = """
name: gears
space: planar
gravity: [0, -9.81]
geometry: {n: {value: 2.5}, d: {value: 0.3, unit: m}}
bodies:
  pinion: {mass: 1 kg, centre: [0.01 m, 0.02 m], central_inertia: 0.1 kg*m^2}
  wheel: {mass: 2 kg, centre: [0.03 m, -0.02 m], central_inertia: 0.4 kg*m^2}
joints:
  A: {type: revolute, connects: [ground, pinion]}
  B: {type: revolute, connects: [wheel, ground], at: [[0, 0], [d, 0]]}
couplings:
  mesh: {values: {A: 1, B: -n}, offset: 0.2 rad}
coordinates: [A]
assembly: {A: 0.3 rad}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, samples: 40, seed: 1,
   amplitude: {A: 9 rad}}
friction: {A: [rotor], B: [rotor]}
"""
ARM = """
name: coupled arm
space: spatial
gravity: [1, 2, -9.81]
geometry: {a: {value: 0.4, unit: m}, n: {value: 1.7}, p: {value: 12, unit: mm}}
bodies: {b1: {}, b2: {}, b3: {}, b4: {}}
joints:
  A: {type: revolute, connects: [ground, b1], axis: [[0, 1, 1], [1, 1, 0]]}
  B:
    type: revolute
    connects: [b2, b1]
    at: [[a, 0, 0], [0, a, 0]]
    axis: [[1, 0, 0], [0, 0.6, 0.8]]
  C: {type: screw, connects: [b2, b3], at: [[0, a, 0], [0, 0, 0]], pitch: p}
  D: {type: prismatic, connects: [b3, b4], axis: [[0, 1, 0], [0, 1, 0]]}
couplings:
  belt: {values: {A: 1, B: n, C.angle: 1}, offset: 0.1 rad}
  rack: {values: {D: 1, A: -a/2}}
coordinates: [A, B]
assembly: {A: 0.4 rad, B: 0.3 rad}
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, samples: 40, seed: 1,
   amplitude: {A: 2 rad, B: 1.5 rad}}
"""
BELT = """
name: belt
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  D: {type: revolute, connects: [ground, rocker], at: [[0.7 m, 0], [0.4 m, 0]]}
couplings: {belt: {values: {D: 1, A: -1}, offset: 180 deg}}
coordinates: [A]
assembly: {A: 60 deg}
"""
DIFFERENTIAL = """
name: differential
space: spatial
gravity: [0, 0, 0]
geometry: {k: {value: 1.5}, e: {value: 40, unit: mm}}
bodies: {left: {}, right: {}, cage: {}, spider: {}}
joints:
  L: {type: revolute, connects: [ground, left], axis: [[1, 0, 0], [1, 0, 0]]}
  R: {type: revolute, connects: [ground, right], axis: [[1, 0, 0], [1, 0, 0]]}
  D: {type: revolute, connects: [ground, cage], axis: [[1, 0, 0], [1, 0, 0]]}
  S:
    type: revolute
    connects: [cage, spider]
    at: [[0, e, 0], [0, 0, 0]]
    axis: [[0, 1, 0], [0, 1, 0]]
couplings:
  left_mesh: {values: {L: 1, D: -1, S: -k}}
  right_mesh: {values: {R: 1, D: -1, S: k}}
coordinates: [L, R]
excitation:
  {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, samples: 40, seed: 1,
   amplitude: {L: 2 rad, R: 3 rad}}
"""

GEARED_FIVE_BAR = """
name: geared five-bar
space: planar
gravity: [0, -9.81]
geometry: {a: {value: 0.2, unit: m}, b: {value: 0.5, unit: m}}
bodies: {crank: {}, rod: {}, link: {}, lever: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, link], at: [[b, 0], [b, 0]]}
  D: {type: revolute, connects: [lever, link], at: [[a, 0], [0, 0]]}
  E: {type: revolute, connects: [ground, lever], at: [[0.6 m, 0], [0, 0]]}
couplings: {mesh: {values: {A: 1, E: 2}, offset: 0.5 rad}}
coordinates: [A]
assembly: {A: 0.5, E: 0.3, B: 0.5, C: -1.5, D: 1.6}
excitation: {kind: states, samples: 20, seed: 1, amplitude: {A: 0.2 rad}, frequency: 1 Hz}
"""


def moved(mechanism: Mechanism) -> tuple[closure.Model, Motion]:
    """A mechanism ready, and its excitation."""
    model = closure.prepare(mechanism)
    return model, excitation(mechanism, model.assembled.coordinates)


def both_ways(model: closure.Model, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """W (sample, coordinate, parameter) by NumPy and by the kernels."""
    found = [
        ways({}, motion) for ways in (lambda v, m: observe(model, v, m), Engine(model).observe)
    ]
    assert all(one.closed[0] for one in found)
    return found[0].W[0], found[1].W[0]


def free_tree(mechanism: Mechanism) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """The same without couplings, its values as (map, start) of the coordinates: v = G q + v0."""
    names = [value for joint in mechanism.joints for value in joint.values]
    rows = np.zeros((len(mechanism.couplings), len(names)))
    right = np.zeros(len(rows))
    for row, coupling in enumerate(mechanism.couplings):
        for value, coefficient in coupling.terms:
            rows[row, names.index(value)] = evaluate([coefficient], mechanism.nominal)[0]
        right[row] = evaluate([coupling.offset], mechanism.nominal)[0]
    driven = [names.index(name) for name in mechanism.coordinates]
    others = [k for k in range(len(names)) if k not in driven]
    G, start = np.zeros((len(names), len(driven))), np.zeros(len(names))
    G[driven] = np.eye(len(driven))
    G[others] = -np.linalg.solve(rows[:, others], rows[:, driven])
    start[others] = np.linalg.solve(rows[:, others], right)
    return replace(mechanism, couplings=(), coordinates=tuple(names)), G, start


@pytest.mark.parametrize("mechanism", [loads(ARM), load("gripper")], ids=["arm", "gripper"])
def test_regressor_by_pinocchio(mechanism):
    """A coupled tree is the free tree on the couplings' plane: W = Gᵀ Y(G q + v0)."""
    model, motion = moved(mechanism)
    tree, G, start = free_tree(mechanism)
    chain = pinocchio_model.Chain(tree, {})
    expected = np.stack(
        [
            G.T @ chain.columns(G @ q + start, G @ v, G @ a)
            for q, v, a in zip(motion.q.T, motion.q_dot.T, motion.q_ddot.T, strict=True)
        ]
    )
    for W in both_ways(model, motion):
        assert np.abs(W - expected).max() < ROUNDING * np.abs(expected).max()


def test_gear_pair_by_its_lagrangian():
    mechanism = loads(GEARS)
    model, motion = moved(mechanism)
    phi = mechanism.inertial_parameters(mechanism.nominal)
    q, q_ddot = motion.q[0], motion.q_ddot[0]
    # B turns the ground against the wheel: the wheel's own angle is −B.
    rate = -1 / 2.5
    wheel = rate * (q - 0.2)
    (_, x1, y1, J1), (_, x2, y2, J2) = phi.reshape(2, 4)
    expected = (J1 + rate**2 * J2) * q_ddot + 9.81 * (x1 * np.cos(q) - y1 * np.sin(q))
    expected += 9.81 * rate * (x2 * np.cos(wheel) - y2 * np.sin(wheel))
    for W in both_ways(model, motion):
        assert np.abs(W[:, 0] @ phi - expected).max() < ROUNDING * np.abs(expected).max()


def test_a_rotor_behind_a_gear():
    """A rotor on the wheel is felt as 1/n² of one on the pinion."""
    mechanism = loads(GEARS)
    model, motion = moved(mechanism)
    path = closure.trace(model, {}, motion.q)
    rotors = observe_columns(model, {}, motion, path.q, columns(mechanism))[0, :, 0]
    np.testing.assert_allclose(rotors[:, 1], rotors[:, 0] / 2.5**2, rtol=ROUNDING)


def test_bevel_differential_by_its_lagrangian():
    model, motion = moved(loads(DIFFERENTIAL))
    rng = np.random.default_rng(2)
    mass, about, across = rng.uniform(0.5, 2, 3)  # of the spider: about its axis, across it
    J_left, J_right, J_cage = rng.uniform(0.01, 0.1, 3)
    phi = np.zeros((4, 10))
    phi[:3, 4] = J_left, J_right, J_cage
    phi[3, [0, 4, 7, 9]] = mass, across, about, across
    left, right = motion.q_ddot
    cage = (J_cage + across + mass * 0.04**2) * (left + right) / 4
    spin = about * (left - right) / (2 * 1.5) ** 2
    expected = np.stack([J_left * left + cage + spin, J_right * right + cage - spin], axis=1)
    for W in both_ways(model, motion):
        assert np.abs(W @ phi.ravel() - expected).max() < ROUNDING * np.abs(expected).max()


def test_planetary_gear_by_its_lagrangian():
    """Speeds after Willis: carrier zs/(2(zs + zp)), planets seen from it −zr/zp of that."""
    mechanism = load("planetary-gear")
    model, motion = moved(mechanism)
    phi = mechanism.inertial_parameters(mechanism.nominal).reshape(4, 4)
    carrier = 24 / (24 + 60)
    planet = carrier * (1 - 60 / 18)
    a, q = 0.042, motion.q[0]
    inertia = phi[0, 3] + carrier**2 * phi[3, 3]
    inertia += sum(planet**2 * one[3] + (carrier * a) ** 2 * one[0] for one in phi[1:3])
    # Planets balance each other; the carrier's centre of mass does not lie on its axis.
    expected = inertia * motion.q_ddot[0] + 9.81 * carrier * phi[3, 1] * np.cos(carrier * q)
    for W in both_ways(model, motion):
        torque = W[:, 0] @ phi.ravel()
        assert np.abs(torque - expected).max() < ROUNDING * np.abs(expected).max()


def test_screw_jack_by_its_lagrangian():
    mechanism = load("screw-jack")
    model, motion = moved(mechanism)
    phi = mechanism.inertial_parameters(mechanism.nominal).reshape(2, 10)
    lead, mass = 0.005 / (2 * np.pi), phi[:, 0].sum()
    expected = (phi[0, 9] + lead**2 * mass) * motion.q_ddot[0] + lead * mass * 9.81
    for W in both_ways(model, motion):
        assert np.abs(W[:, 0] @ phi.ravel() - expected).max() < ROUNDING * np.abs(expected).max()


def test_one_to_one_is_a_parallelogram():
    """Two cranks that a coupler of their distance keeps parallel, or a belt."""
    linkage = load("parallelogram")
    model, motion = moved(linkage)
    belt = loads(BELT)
    W = observe(model, {}, motion).W[0]
    V = observe(closure.prepare(belt), {}, motion).W[0]
    kept = [0, 1, 2, 3, 8, 9, 10, 11]
    assert np.abs(W[..., kept] - V).max() < ROUNDING * np.abs(W).max()


#: Pinion, rack, two rods to two levers; half of it is mirrored. Weights along the rack.
STEERING = """
name: steering
space: planar
gravity: [-9.81, 0]
geometry:
  r: {value: 20, unit: mm}
  a: {value: 0.3, unit: m}
  e: {value: 0.12, unit: m}
bodies:
  pinion: {mass: 0.2 kg, centre: [0, 0], central_inertia: 4e-4 kg*m^2}
  rack: {mass: 1.5 kg, centre: [0, 0], central_inertia: 0.05 kg*m^2}
  right: {mass: 0.6 kg, centre: [0.12, 0], central_inertia: 5e-3 kg*m^2}
  left: {mass: 0.6 kg, centre: [0.12, 0], central_inertia: 5e-3 kg*m^2}
  lever: {mass: 2 kg, centre: [0.01, 0.04], central_inertia: 0.03 kg*m^2}
  other: {mass: 2 kg, centre: [-0.01, 0.04], central_inertia: 0.03 kg*m^2}
joints:
  P: {type: revolute, connects: [ground, pinion], at: [[0, -r], [0, 0]]}
  K: {type: prismatic, connects: [ground, rack], axis: [[1, 0], [1, 0]]}
  A: {type: revolute, connects: [rack, right], at: [[0.2 m, 0], [0, 0]]}
  B: {type: revolute, connects: [right, lever], at: [[a, 0], [0, e]]}
  C: {type: revolute, connects: [ground, lever], at: [[0.48 m, -0.1 m], [0, 0]]}
  D: {type: revolute, connects: [rack, left], at: [[-0.2 m, 0], [0, 0]]}
  E: {type: revolute, connects: [left, other], at: [[a, 0], [0, e]]}
  F: {type: revolute, connects: [ground, other], at: [[-0.48 m, -0.1 m], [0, 0]]}
couplings:
  teeth: {values: {K: 1, P: r}}
coordinates: [P]
assembly: {P: 0, A: 0, C: 0, D: 180 deg, F: 0}
excitation:
  {kind: fourier, harmonics: 4, base_frequency: 0.5 Hz, samples: 12, seed: 1,
   amplitude: {P: 1.2 rad}}
"""


def steering_energies(q):
    """Twice the kinetic energy at unit rate, and the potential, of the pinion's angle; by hand."""
    r, a, e, half, g = (mpf(x) for x in ("0.02", "0.3", "0.12", "0.2", "9.81"))
    rod, lever = (mpf("0.6"), mpf("0.12"), mpf("0.005")), (2, mpf("0.03"))

    def places(q):
        """Rack's way; and of each side the rod's and the lever's angle and centre."""
        x = -r * q
        found = []
        for side in (1, -1):
            foot, end = (side * mpf("0.48"), -mpf("0.1")), (x + side * half, mpf(0))
            # The lever's ball is on two circles, about its pivot and about the rack's end.
            dx, dy = end[0] - foot[0], end[1] - foot[1]
            far = mpmath.sqrt(dx * dx + dy * dy)
            along = (far * far + e * e - a * a) / (2 * far)
            up = -side * mpmath.sqrt(e * e - along * along)
            ball = (
                foot[0] + (along * dx - up * dy) / far,
                foot[1] + (along * dy + up * dx) / far,
            )
            turn = mpmath.atan2(foot[0] - ball[0], ball[1] - foot[1])
            lean = mpmath.atan2(ball[1] - end[1], ball[0] - end[0])
            lean += 2 * mpmath.pi * (lean < -1)
            c, s = mpmath.cos(turn), mpmath.sin(turn)
            u, w = side * mpf("0.01"), mpf("0.04")
            own = (foot[0] + c * u - s * w, foot[1] + s * u + c * w)
            middle = tuple(p + rod[1] * (b - p) / a for p, b in zip(end, ball, strict=True))
            found.append((lean, middle, turn, own))
        return x, found

    def flat(q):
        x, found = places(q)
        return [x, *(v for lean, m, turn, o in found for v in (lean, *m, turn, *o))]

    rates = [mpmath.diff(lambda t, k=k: flat(t)[k], q) for k in range(13)]
    inertia = mpf("4e-4") + mpf("1.5") * rates[0] ** 2
    x, found = places(q)
    height = mpf("1.5") * x
    for k, (_, middle, _, own) in enumerate(found):
        v = rates[1 + 6 * k : 7 + 6 * k]
        inertia += rod[2] * v[0] ** 2 + rod[0] * (v[1] ** 2 + v[2] ** 2)
        inertia += lever[1] * v[3] ** 2 + lever[0] * (v[4] ** 2 + v[5] ** 2)
        height += rod[0] * middle[0] + lever[0] * own[0]
    return inertia, g * height


def test_rack_and_pinion_steering_by_its_lagrangian():
    """M q̈ + ½ M′ q̇² + V′ in forty digits, positions by intersecting circles."""
    mechanism = loads(STEERING)
    model, motion = moved(mechanism)
    phi = mechanism.inertial_parameters(mechanism.nominal)
    expected = []
    with mpmath.workdps(40):
        for state in zip(motion.q[0], motion.q_dot[0], motion.q_ddot[0], strict=True):
            q, speed, acceleration = map(mpf, state)
            inertia = steering_energies(q)[0]
            slopes = [mpmath.diff(lambda t, k=k: steering_energies(t)[k], q) for k in (0, 1)]
            expected.append(float(inertia * acceleration + slopes[0] * speed**2 / 2 + slopes[1]))
    # Loops of condition below ten, closed to rounding.
    size = 10 * ROUNDING * np.abs(expected).max()
    for W in both_ways(model, motion):
        np.testing.assert_allclose(W[:, 0] @ phi, expected, rtol=0, atol=size)


TWO_PARALLELOGRAMS = """
name: coupled wheels
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, wheel: {}, rod: {}, other: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  D: {type: revolute, connects: [ground, wheel], at: [[0.7 m, 0], [0, 0]]}
  B: {type: revolute, connects: [crank, rod], at: [[0.4 m, 0], [0, 0]]}
  C: {type: revolute, connects: [wheel, rod], at: [[0.4 m, 0], [0.7 m, 0]]}
  E: {type: revolute, connects: [crank, other], at: [[0, 0.4 m], [0, 0]]}
  F: {type: revolute, connects: [wheel, other], at: [[0, 0.4 m], [0.7 m, 0]]}
coordinates: [A]
assembly: {A: 0.5, D: 0.5, B: -0.5, C: -0.5, E: -0.5, F: -0.5}
"""


def test_one_to_one_is_two_parallelograms():
    """Wheels that two rods at right angles couple turn all the way round, dead points and all."""
    t = np.linspace(0, 1, 41)
    motion = Motion(t, 0.5 + 7 * t[None], 7 + t[None], 1 - 20 * t[None])
    belt = BELT.replace(", offset: 180 deg", "").replace("[0.4 m, 0]", "[0, 0]")
    belt = belt.replace("A: 60 deg", "A: 0.5 rad")
    W = observe(closure.prepare(loads(TWO_PARALLELOGRAMS)), {}, motion)
    V = observe(closure.prepare(loads(belt)), {}, motion)
    assert W.closed[0]
    apart = W.W[0][..., :8] - V.W[0]
    # Dead points lie between samples, ten degrees off at most: of that condition, squared.
    assert np.abs(apart).max() < 1e3 * ROUNDING * np.abs(V.W).max()


def test_swept_ratios():
    """Variants with ratios of their own: kernels as NumPy, and the ratio in the last column."""
    model, motion = moved(loads(GEARS))
    values = {"n": np.array([1.5, 2.5, 40.0])}
    plain, fast = observe(model, values, motion), Engine(model).observe(values, motion)
    assert plain.closed.all()
    assert fast.closed.all()
    assert np.abs(plain.W - fast.W).max() < ROUNDING * np.abs(plain.W).max()
    ratio = plain.W[..., 7] / plain.W[..., 3]
    np.testing.assert_allclose(ratio[..., 0], 1 / values["n"][:, None] ** 2 * np.ones(40))


@pytest.mark.parametrize(
    ("shipped", "values", "said"),
    [
        # Cranks are parallel where the belt comes to 180 degrees, whatever A is.
        (
            "parallelogram",
            "{A: 1, D: -1}, offset: 179.9 deg",
            r"'belt' comes to 180 deg there, and its `offset` is 179.9 deg: off by 0.001745 rad "
            r"\(allowed 1e-11\). Correct the offset, or the coefficients.",
        ),
        ("four-bar", "{A: 1, C: 2}", r"'belt' comes to .* 0 degrees of .* leave out 1 coupling"),
        ("four-bar", "{B: 1, D: 50}", r"'belt' comes to .* 0 degrees of .* leave out 1 coupling"),
    ],
)
def test_loops_that_contradict_a_coupling(shipped, values, said):
    couplings = f"\ncouplings: {{belt: {{values: {values}}}}}\ncoordinates:"
    text = load(shipped).source.replace("\ncoordinates:", couplings)
    with pytest.raises(AssemblyError, match=said) as found:
        closure.prepare(loads(text))
    assert found.value.where == ("couplings.belt",)


def test_a_coupling_more_than_freedoms():
    """Whether its offset fits or not; nothing is there twice."""
    for offset, said in (
        ("0", "'two' comes to .* leave out 1 coupling"),
        ("-0.26", "of them out"),
    ):
        more = f"\n  two: {{values: {{B: 1, A: -1}}, offset: {offset} rad}}\ncoordinates:"
        with pytest.raises(BaseparError, match=said) as found:
            closure.prepare(loads(GEARS.replace("\ncoordinates:", more)))
        assert "twice" not in str(found.value)


def test_nothing_is_left_to_close_a_loop():
    linkage = load("four-bar")
    names = ", ".join(f"{joint.name}: 1" for joint in linkage.joints)
    text = linkage.source.replace(
        "coordinates:", f"couplings: {{all: {{values: {{{names}}}}}}}\ncoordinates:"
    )
    with pytest.raises(MechanismError, match="Leave one joint of every loop free of couplings"):
        topology.topology(loads(text))


@pytest.mark.slow
def test_rounding_of_a_fast_screws_speed_is_no_rank():
    """Two parameters are felt, as counted by hand in the file; ω² h is 10⁶ times the mass's pull,
    and of a body along the axis none of it."""
    text = load("screw-jack").source.replace("{N.2: 20 rad}", "{N.2: 100 rad}")
    model, motion = moved(loads(text))
    for seen in (observe(model, {}, motion), Engine(model).observe({}, motion)):
        W = seen.W.reshape(1, -1, 20)
        found = numeric_route.spectrum(W, seen.error, seen.terms)
        assert found.rank[0] == found.at_least[0] == 2
        assert found.scaled[0, 2] < found.noise[0] / 10


def test_a_screw_is_a_cylindrical_joint_with_its_pitch_as_a_coupling():
    screw, motion = moved(loads(ARM))
    text = ARM.replace("C: {type: screw", "C: {type: cylindrical").replace(", pitch: p}", "}")
    text = text.replace(
        "couplings:", "couplings:\n  thread: {values: {C.1: 1, C.2: -p/(360 deg)}}"
    )
    written = closure.prepare(loads(text))
    for ours, theirs in zip(both_ways(screw, motion), both_ways(written, motion), strict=True):
        assert np.abs(ours - theirs).max() < ROUNDING * np.abs(theirs).max()
    assert symbolic(written).rank == symbolic(screw).rank


def test_a_nut_that_drives_its_screw():
    """0.1 m of slide are twenty turns: steps are as small as these need."""
    text = load("screw-jack").source.replace("N.2", "G").replace("20 rad", "0.1 m")
    text = text.replace("speed: 60 rad/s", "speed: 50 mm/s").replace("0.05 N*m", "1 N")
    model, motion = moved(loads(text))
    assert observe(model, {}, motion).closed[0]


@pytest.mark.parametrize("size", ["1e-10", "1e8"])
def test_a_relation_may_be_written_in_any_size(size):
    """What is closed is so in m or rad of the values, whatever the relation is multiplied by."""
    couplings = f"{{A: {size}, E: 2*{size}}}, offset: {size}*0.5 rad"
    text = GEARED_FIVE_BAR.replace("{A: 1, E: 2}, offset: 0.5 rad", couplings)
    assert text != GEARED_FIVE_BAR
    seen = []
    for given in (GEARED_FIVE_BAR, text):
        model, motion = moved(loads(given))
        seen.append(both_ways(model, motion))
    # Newton's last update is below 1e-9 and squares: loops are closed to rounding.
    for found in (seen[1][0], *seen[0], seen[1][1]):
        np.testing.assert_allclose(found, seen[0][0], rtol=0, atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("name", ["planetary-gear", "gripper", "screw-jack"])
def test_fixed_ratios_are_as_far_from_dead_points_as_can_be(name):
    """By both ways; the error of W, which counts with the loops' condition, stays what it was."""
    model = closure.prepare(load(name))
    motion = excitation(model.mechanism, model.assembled.coordinates)
    plain, fast = observe(model, {}, motion), Engine(model).observe({}, motion)
    for seen in (plain, fast):
        assert seen.trace.margin[0] == pytest.approx(1.0, rel=1e-9)
    assert fast.error[0] == pytest.approx(plain.error[0], rel=0.5)


def test_a_ratio_swept_through_zero():
    """On the other side the wheel turns the other way: each variant as a file of its own.

    Beyond n = 0 no straight way leads, where the wheel would turn without bound.
    """
    model, motion = moved(loads(GEARS))
    ratios = np.array([2.5, 0.7, -0.01, -1.5, 0.0, -40.0])
    seen = [
        way({"n": ratios}, motion)
        for way in (lambda v, m: observe(model, v, m), Engine(model).observe)
    ]
    assert all(one.closed.tolist() == [True] * 4 + [False, True] for one in seen)
    for k in np.flatnonzero(seen[0].closed):
        file = GEARS.replace("n: {value: 2.5}", f"n: {{value: {ratios[k]}}}")
        alone = observe(closure.prepare(loads(file)), {}, motion).W[0]
        for one in seen:
            # The wheel's angle is 0.2 rad + 9 rad a turn over the ratio: 1e-16 of it.
            size = np.abs(alone).max() * max(1.0, 10 / abs(ratios[k]))
            np.testing.assert_allclose(one.W[k], alone, rtol=0, atol=ROUNDING * size)


#: The five-bar's two cranks are phased by an angle; `lead` is what the offset is beside 0.2 rad.
PHASED = GEARED_FIVE_BAR.replace(
    "b: {value: 0.5, unit: m}}",
    "b: {value: 0.5, unit: m}, lead: {value: 17, unit: deg}, k: {value: 2}}",
)
PHASED = PHASED.replace("offset: 0.5 rad", "offset: k*lead + 0.2 rad - lead*(k - 1)")


def test_a_swept_offset():
    """Each variant is the file whose offset is a number."""
    model, motion = moved(loads(PHASED))
    values = {"lead": np.array([0.1, 0.3, 0.42])}
    plain, fast = observe(model, values, motion), Engine(model).observe(values, motion)
    assert plain.closed.all()
    assert fast.closed.all()
    for k, lead in enumerate(values["lead"]):
        text = GEARED_FIVE_BAR.replace("offset: 0.5 rad", f"offset: {float(lead) + 0.2} rad")
        alone = observe(closure.prepare(loads(text)), {}, motion).W[0]
        for seen in (plain, fast):
            assert np.abs(seen.W[k] - alone).max() < ROUNDING * np.abs(alone).max()


def test_slopes_by_an_offset():
    """Central differences of float64: h² = 1e-10, and 1e-16/h of rounding, times what is there."""
    model, motion = moved(loads(PHASED))
    seen, h = sensitivity.slopes(model, {}, motion, ("lead",)), 1e-5
    lead = model.mechanism.nominal["lead"]
    up, down = observe(model, {"lead": lead + h * np.array([1.0, -1.0])}, motion).W
    expected = (up - down) / (2 * h)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(
        seen.W_slope[0, ..., 0], expected, rtol=0, atol=1e-8 * np.abs(expected).max()
    )


def test_a_coupling_within_a_loop_keeps_its_branch():
    """There the dependent value closes a loop too: where its coefficient is zero it is locked."""
    text = GEARED_FIVE_BAR.replace("{A: 1, E: 2}", "{A: 1, E: n}").replace(
        "b: {value: 0.5, unit: m}", "b: {value: 0.5, unit: m}, n: {value: 2}"
    )
    model, motion = moved(loads(text))
    assert model.loops.linear == (False,)
    assert model.loops.jumping == frozenset()
    for way in (lambda v, m: observe(model, v, m), Engine(model).observe):
        closed = way({"n": np.array([2.0, 1.5, -2.0])}, motion).closed
        assert closed.tolist() == [True, True, False]


def test_a_ratio_of_zero_fails_alone():
    """B = (A - 0.2 rad)/n: with n = 0 nothing closes, and the other variants do."""
    model, motion = moved(loads(GEARS))
    ratios = np.array([2.5, 1.0, 0.0, 1e-12, 0.5])
    for way in (lambda v, m: observe(model, v, m), Engine(model).observe):
        found = way({"n": ratios}, motion)
        assert found.closed.tolist() == [True, True, False, False, True]
        alone = way({"n": ratios[-1:]}, motion)
        np.testing.assert_array_equal(found.W[-1], alone.W[0])


def test_couplings_are_solved_together():
    """Sun and ring give carrier and planets, sixty turns on; Willis's ratios."""
    text = load("planetary-gear").source.replace(
        "coordinates:", "assembly: {S: 60 rev}\ncoordinates:"
    )
    q = dict(zip("SC12", closure.prepare(loads(text)).assembled.q, strict=True))
    carrier = 120 * np.pi * 24 / (24 + 60)
    # Of 377 rad, 1e-12 is 25 units in the last place.
    np.testing.assert_allclose(q["C"], carrier, rtol=ROUNDING)
    np.testing.assert_allclose([q["1"], q["2"]], -carrier * 60 / 18, rtol=ROUNDING)


@pytest.mark.parametrize(
    ("driven", "worm", "wheel"), [("B", 1080, 10.8), ("B", 1000, 10), ("A", 0, 0)]
)
def test_stated_turns_that_a_worm_contradicts_are_reported(driven, worm, wheel):
    """A worm that turns a hundred times is three turns off; its wheel is 11 degrees off."""
    text = GEARS.replace("{A: 1, B: -n}, offset: 0.2 rad", "{A: 1, B: -100}").split("excit")[0]
    text = text.replace("coordinates: [A]", f"coordinates: [{driven}]")
    model = closure.prepare(
        loads(text.replace("{A: 0.3 rad}", f"{{A: 0, B: {wheel or 10.8} deg}}"))
    )
    found = [(one.name, one.value, one.coupling, one.offset) for one in branch_found(model)]
    turned = np.deg2rad(worm)
    if driven == "A":
        assert found == []
    else:
        assert found == [("A", pytest.approx(turned), "mesh", pytest.approx(-turned))]
