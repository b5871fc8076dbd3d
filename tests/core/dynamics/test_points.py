"""Points of bodies: their motion against circles that meet, and branches picked by a drawing."""

from itertools import product

import numpy as np
import pytest

from basepar_core.dynamics import kinematics, movements, places
from basepar_core.dynamics.closure import prepare, trace
from basepar_core.dynamics.motion import Motion, cycle
from basepar_core.dynamics.points import carried
from basepar_core.files import mechanism_file
from tests.oracles.closed_form import four_bar_angles

FOUR_BAR = mechanism_file.load("four-bar").source.split("coordinates:")[0]
MOVES = """
coordinates: [A]
excitation: {kind: fourier, harmonics: 5, base_frequency: 0.2 Hz, amplitude: {A: 0.5 rad},
             samples: 40, seed: 2}
cycle: {joints: {A: {kind: constant_speed, speed: 6.28 rad/s, turns: 1}}, samples: 24}
points:
  P: {body: coupler, at: [lx2/2, sqrt(ly2^2)/4]}
  T: {body: rocker, at: [lx3, 0.2 m]}
  O: {body: ground, at: [Dx, 0.1 m]}
"""


def four_bar(assembly):
    return mechanism_file.loads(f"{FOUR_BAR}{MOVES}assembly: {assembly}\n")


def pins(values, crank, side):
    """B, C and both bodies' directions as complex numbers: two circles that meet."""
    B = values["lx1"] * np.exp(1j * crank)
    angle_B, angle_C, _ = four_bar_angles(values, crank, side)
    coupler = np.exp(1j * (crank + angle_B))
    C = B + coupler * (values["lx2"] - 1j * values["ly2"])
    return B, C, coupler, coupler * np.exp(1j * angle_C)


def drawn(*named):
    return ", ".join(f"{name}: [{z.real:.2f}, {z.imag:.2f}]" for name, z in named)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("crank", [34, 200])
def test_a_drawing_picks_the_branch_of_a_four_bar(crank, side):
    values = mechanism_file.load("four-bar").nominal
    B, C, coupler, _ = pins(values, np.radians(crank), side)
    P = B + coupler * (values["lx2"] / 2 + 1j * values["ly2"] / 4)
    for named in ((("B", B), ("C", C)), (("B", B), ("P", P)), (("B", B), ("C", C), ("P", P))):
        mechanism = four_bar(f"{{A: {crank} deg, points: {{{drawn(*named)}}}}}")
        assembled = prepare(mechanism).assembled
        found = places(
            prepare(mechanism),
            kinematics.geometry(mechanism, {}),
            assembled.q[:, None],
            mechanism.points,
            carried(mechanism.points, mechanism.nominal),
        )[0, :, 0]
        # Newton ends at rounding; the loop's condition is below ten.
        assert found == pytest.approx([P.real, P.imag, 0], abs=1e-13)


def test_the_crank_is_where_it_is_drawn_unless_its_value_is_stated():
    values = mechanism_file.load("four-bar").nominal
    B, C, _, _ = pins(values, 0.6, 1)
    found = prepare(four_bar(f"{{points: {{{drawn(('B', B), ('C', C))}}}}}")).assembled
    rounded = np.angle(round(B.real, 2) + 1j * round(B.imag, 2))
    # A turns about the origin through the drawn pin; the pull towards the axes is of 1e-9.
    assert found.coordinates[0] == pytest.approx(rounded, abs=1e-9)


def test_a_stated_pose_goes_before_the_drawing():
    values = mechanism_file.load("four-bar").nominal
    B, C, _, _ = pins(values, 0.6, 1)
    text = f"{{bodies: {{crank: {{rotation: [0.6]}}}}, points: {{{drawn(('B', B), ('C', C))}}}}}"
    assert prepare(four_bar(text)).assembled.coordinates[0] == pytest.approx(0.6, abs=1e-15)


@pytest.mark.parametrize(("upper", "lower"), [*product((1, -1), repeat=2)])
def test_a_drawing_picks_the_assembly_of_a_six_bar(upper, lower):
    """A dyad on a four-bar's coupler point: two circles that meet, twice."""
    text = """
name: six-bar
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, coupler: {}, rocker: {}, link: {}, arm: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[1, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[2.5, 0], [2.5, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[2, 0], [0, 0]]}
  E: {type: revolute, connects: [coupler, link], at: [[2, 1], [0, 0]]}
  F: {type: revolute, connects: [link, arm], at: [[3, 0], [0, 0]]}
  G: {type: revolute, connects: [ground, arm], at: [[4, -1], [2, 0]]}
coordinates: [A]
"""
    B = np.exp(0.7j)
    C = met(B, 2.5, 2, 2.5, upper)
    E = B + (C - B) / 2.5 * (2 + 1j)
    F = met(E, 3, 4 - 1j, 2, lower)
    named = drawn(*zip("BCEF", (B, C, E, F), strict=True))
    model = prepare(mechanism_file.loads(f"{text}assembly: {{A: 0.7, points: {{{named}}}}}\n"))
    dims = kinematics.geometry(model.mechanism, {})
    at = kinematics.poses(model.topology, dims, model.assembled.q[:, None])
    for joint, z in zip((2, 5), (C, F), strict=True):
        # Newton ends at rounding of lengths near 4; the loops' conditions are below ten.
        assert at.P2[joint][:2, 0] == pytest.approx([z.real, z.imag], abs=1e-13)


def met(a, r, b, s, side):
    """Where circles about a and b meet."""
    d = abs(b - a)
    along = (r**2 - s**2 + d**2) / (2 * d)
    return a + (b - a) / d * (along + 1j * side * np.sqrt(r**2 - along**2))


@pytest.mark.slow
def test_a_drawing_in_space_places_a_rod_between_two_balls():
    rssr = mechanism_file.load("rssr")
    model = prepare(rssr)
    at = kinematics.poses(
        model.topology, kinematics.geometry(rssr, {}), model.assembled.q[:, None]
    )
    pins = {
        joint.name: np.round(at.P2[k][:, 0], 2)
        for k, joint in enumerate(rssr.joints)
        if "ground" not in joint.bodies
    }
    named = ", ".join(f"{n}: [{', '.join(map(str, p))}]" for n, p in pins.items())
    values = ", ".join(
        f"{name}: {value}"
        for name, value in zip(rssr.coordinates, model.assembled.coordinates, strict=True)
    )
    kept = [line for line in rssr.source.splitlines() if not line.startswith("assembly:")]
    text = "\n".join([*kept, f"assembly: {{{values}, points: {{{named}}}}}"])
    again = prepare(mechanism_file.loads(text))
    found = kinematics.poses(
        again.topology, kinematics.geometry(rssr, {}), again.assembled.q[:, None]
    )
    for k, name in enumerate(joint.name for joint in rssr.joints):
        np.testing.assert_allclose(found.P2[k], at.P2[k], rtol=0, atol=1e-12, err_msg=name)


def moved(mechanism, values):
    """Positions, velocities, accelerations of all points along the cycle, and its motion."""
    model = prepare(mechanism)
    motion = cycle(mechanism, model.assembled.coordinates)
    path = trace(model, values, motion.q)
    assert (path.outcome == 1).all()
    known = {**mechanism.nominal, **values}
    local = carried(mechanism.points, known)[..., None]
    dims = kinematics.geometry(mechanism, values).over_samples()
    return model, motion, movements(model, dims, path.q, motion, mechanism.points, local)


def test_motion_of_points_of_a_four_bar():
    """By circles that meet, differentiated by the crank's angle in complex steps of 40 digits."""
    import mpmath

    mechanism = four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}")
    mechanism_values = {"lx1": np.array([0.3, 0.25]), "lx2": np.array([0.7, 0.75])}
    _, motion, found = moved(mechanism, mechanism_values)
    at = {**mechanism.nominal}

    def point(v, crank):
        B = v["lx1"] * mpmath.expj(crank)
        D = mpmath.mpc(v["Dx"], v["Dy"])
        side2, side3 = mpmath.sqrt(v["lx2"] ** 2 + v["ly2"] ** 2), v["lx3"]
        d = abs(D - B)
        along = (side2**2 - side3**2 + d**2) / (2 * d)
        up = mpmath.sqrt(side2**2 - along**2)
        C = B + (D - B) / d * mpmath.mpc(along, up)
        coupler = (C - B) / mpmath.mpc(v["lx2"], -v["ly2"])
        return B + coupler * mpmath.mpc(v["lx2"] / 2, v["ly2"] / 4)

    for variant in range(2):
        v = at | {name: float(x[variant]) for name, x in mechanism_values.items()}
        v = {name: mpmath.mpf(x) for name, x in v.items()}
        for sample in (0, 5, 17):
            with mpmath.workdps(40):
                q, rate = (mpmath.mpf(float(x[0, sample])) for x in (motion.q, motion.q_dot))
                P, first, second = (
                    mpmath.diff(lambda x, v=v: point(v, x), q, n) for n in range(3)
                )
            expected = (P, first * rate, second * rate**2)  # at constant speed
            for name, one, z in zip(
                ("position", "velocity", "acceleration"), found, expected, strict=True
            ):
                # Rounding of the closure (1e-15) through two derivatives of order 10 to 100.
                np.testing.assert_allclose(
                    one[0, :2, variant, sample],
                    [float(z.real), float(z.imag)],
                    rtol=1e-11,
                    atol=1e-12,
                    err_msg=name,
                )


def test_points_of_the_ground_stand_still():
    mechanism = four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}")
    _, _, (position, velocity, acceleration) = moved(mechanism, {"Dx": np.array([1.0, 1.02])})
    assert np.abs(velocity[2]).max() == 0
    assert np.abs(acceleration[2]).max() == 0  # gravity is taken off and added: exactly
    np.testing.assert_array_equal(position[2][:, 1, 3], [1.02, 0.1, 0])


@pytest.mark.parametrize("name", ["rsur", "ur10", "rssr", "quick-return", "rack-steering"])
def test_velocities_and_accelerations_are_rates(name):
    """In space, on trees and loops, slides and slots: differences of positions over time."""
    mechanism = mechanism_file.load(name)
    body = mechanism.bodies[-1].name
    at = "[0.11, 0.07]" if mechanism.planar else "[0.11, 0.07, -0.05]"
    text = f"{mechanism.source}\npoints: {{P: {{body: {body}, at: {at}}}}}\n"
    mechanism = mechanism_file.loads(text)
    model = prepare(mechanism)
    count = len(mechanism.coordinates)
    start = model.assembled.coordinates[:, None]
    rng = np.random.default_rng(4)
    speed, pull = rng.uniform(-1, 1, (2, count, 1))
    h = 2e-4
    t = h * np.arange(-3, 4)
    motion = Motion(t, start + speed * t + pull * t**2 / 2, speed + pull * t, pull + 0 * t)
    path = trace(model, {}, motion.q)
    local = carried(mechanism.points, mechanism.nominal)[..., None]
    dims = kinematics.geometry(mechanism, {}).over_samples()
    P, v, a = (
        one[0, :, 0] for one in movements(model, dims, path.q, motion, mechanism.points, local)
    )
    first = P @ np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h)
    second = P @ np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * h**2)
    # Differences of sixth order: rounding 1e-15/h and 1e-15/h², larger than their h⁶.
    np.testing.assert_allclose(v[:, 3], first, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(a[:, 3], second, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(places(model, dims, path.q, mechanism.points, local)[0, :, 0], P)
