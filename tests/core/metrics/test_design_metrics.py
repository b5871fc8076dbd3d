"""Metrics of a linkage's design: circles that meet, energies, d'Alembert, hulls of differences."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial import ConvexHull

from basepar_core.compiled import Engine
from basepar_core.dynamics import motion
from basepar_core.dynamics.closure import prepare
from basepar_core.files import mechanism_file
from basepar_core.metrics import ClosedCycle, Target, cycle, drives, sensitivity
from basepar_core.metrics.clearances import separation
from basepar_core.metrics.cycle import of_cycle
from tests.core.dynamics.test_points import pins

SPEED, SAMPLES = 6.28, 128
#: Crank-rockers: their cranks turn all the way round.
LENGTHS = {"lx1": np.array([0.3, 0.25, 0.28]), "lx2": np.array([0.7, 0.75, 0.68])}
TEXT = (
    mechanism_file.load("four-bar")
    .source.replace(
        "crank:   {", "crank:   {shape: {capsule: [[0, 0], [lx1, 0]], radius: 20 mm}, ", 1
    )
    .replace("coupler: {", "coupler: {shape: {polygon: [[0, 0], [0, -1.1 m], [0.3 m, 0]]}, ", 1)
)
POINTS = """
points:
  P: {body: coupler, at: [lx2/2, 0.2 m]}
  O: {body: ground, at: [0.6 m, 0.9 m]}
shape: [{circle: [0.2, 0.9], radius: 50 mm}, {polygon: [[0.9, 0.2], [1.3, 0.2], [1.2, 0.6]]}]
"""
FUNCTION = Target("f", ((2.0,), (2.2,), (1.9,)), "A", (0.7, 2.0, 4.0), ())
POSES = Target(
    "p", ((0.5, 0.3), (0.2, 0.8), (0.1, 0.4)), "A", (0.7, 2.0, 4.0), (), (0.5, 0.7, 0.2), 0.3
)


@pytest.fixture(scope="module")
def model():
    found = mechanism_file.loads(TEXT + POINTS)
    assert len(found.shapes) == 4
    return prepare(found)


@pytest.fixture(scope="module")
def closed(model):
    """Three crank-rockers over a turn, by kernels."""
    return closed_at(model, LENGTHS)


def closed_at(model, values):
    moving = motion.cycle(model.mechanism, model.assembled.coordinates)
    variants = Engine(model).variants(values)
    q = variants.close(moving).trace.q
    return ClosedCycle(model, values, moving, q, variants)


def number(closed, name, *targets):
    return of_cycle(closed, [name], targets)[name]


def each(closed):
    nominal = closed.model.mechanism.nominal
    return [{**nominal, **{n: x[k] for n, x in LENGTHS.items()}} for k in range(closed.count)]


def rocker(values, crank):
    """Angle from the ground's x axis to the rocker's, which points from C to D."""
    _, C, _, _ = pins(values, crank, 1)
    return np.unwrap(np.angle(values["Dx"] + 1j * values["Dy"] - C))


def point(values, crank):
    B, _, coupler, _ = pins(values, crank, 1)
    return B + coupler * (values["lx2"] / 2 + 0.2j)


def differences(function, crank, h=2e-3):
    """First and second derivative, of sixth order; errors of h⁶ times a seventh derivative."""
    f = [function(crank + k * h) for k in range(-3, 4)]
    first = sum(w * x for w, x in zip((-1, 9, -45, 0, 45, -9, 1), f, strict=True)) / (60 * h)
    weights = (2, -27, 270, -490, 270, -27, 2)
    return first, sum(w * x for w, x in zip(weights, f, strict=True)) / (180 * h * h)


def test_joint_values_and_angles_of_bodies(closed):
    crank = closed.motion.q[0]
    for k, values in enumerate(each(closed)):
        angle = rocker(values, crank)
        for word, reduce in (("min", np.min), ("max", np.max)):
            found = number(closed, f"angle_{word}(rocker)")[k]
            turns = (found - reduce(angle)) / (2 * np.pi)
            # Loops close to 1e-12; whole turns are where the first sample's angle is.
            assert turns == pytest.approx(round(turns), abs=1e-12)
        assert number(closed, "angle_range(rocker)")[k] == pytest.approx(np.ptp(angle), abs=1e-11)
        # Joint D's value is that of the rocker's frame against the ground's.
        spans = [number(closed, f"joint_{w}(D)")[k] for w in ("max", "min")]
        assert spans[0] - spans[1] == pytest.approx(np.ptp(angle), abs=1e-11)
        assert number(closed, "stroke(D)")[k] == pytest.approx(np.ptp(angle), abs=1e-11)
    # The coupler's angle goes back and forth, the crank's once round.
    step = 2 * np.pi / SAMPLES
    assert number(closed, "angle_range(crank)") == pytest.approx(2 * np.pi - step, abs=1e-12)


@pytest.mark.slow
def test_time_ratio_is_that_of_the_reversals(closed):
    """Crank angles at which coupler and crank are in line: the rocker's dead positions."""
    found = number(closed, "time_ratio(D)")
    assert (number(closed, "dead_points(D)") == 2).all()
    for k, values in enumerate(each(closed)):

        def angle(crank, values=values):
            return rocker(values, np.atleast_1d(crank))[0]

        def rate(crank, angle=angle):
            return differences(angle, crank)[0]

        grid = np.linspace(0, 2 * np.pi, 721)
        rates = [rate(x) for x in grid]
        zeros = [
            brentq(rate, a, b, xtol=1e-13)
            for a, b, u, v in zip(grid, grid[1:], rates, rates[1:], strict=False)
            if u * v < 0
        ]
        assert len(zeros) == 2
        share = (zeros[1] - zeros[0]) / (2 * np.pi)
        # The cubic through four of 128 samples errs by 3/128 h⁴ of a derivative near ten.
        assert found[k] == pytest.approx(max(share, 1 - share) / min(share, 1 - share), rel=1e-5)


def test_mechanical_advantage_is_by_the_instant_centre(closed):
    """Rates go as the instant centre on the line of the fixed pins divides it (Kennedy)."""
    found = number(closed, "mechanical_advantage(D)")
    for k, values in enumerate(each(closed)):
        B, C, _, _ = pins(values, closed.motion.q[0], 1)
        D = values["Dx"] + 1j * values["Dy"]
        # Where BC meets the line through A (the origin) and D, as a share of AD.
        line = C - B
        share = (B.real * line.imag - B.imag * line.real) / (
            D.real * line.imag - D.imag * line.real
        )
        ratio = share / (share - 1)  # ω of the rocker over the crank's
        assert found[k] == pytest.approx(1 / np.abs(ratio).max(), rel=1e-9)


def test_function_error(closed):
    found = number(closed, "function_error(D,f)", FUNCTION)
    free = Target("f", FUNCTION.points, "A", FUNCTION.at, ("position",))
    shifted = number(closed, "function_error(D,f)", free)
    wanted = np.array(FUNCTION.points)[:, 0]
    for k, values in enumerate(each(closed)):
        first = closed.joint("D")[k, 0]
        start = rocker(values, closed.motion.q[0][:1])[0]
        angle = np.array(
            [rocker(values, np.linspace(0.59341194567807205, a, 400))[-1] for a in FUNCTION.at]
        )
        angle = angle - start + first
        angle -= 2 * np.pi * np.round((closed.joint("D")[k].mean() - wanted.mean()) / (2 * np.pi))
        # The cubic between samples, as above.
        assert found[k] == pytest.approx(np.sqrt(((angle - wanted) ** 2).mean()), abs=1e-6)
        assert shifted[k] == pytest.approx(np.std(angle - wanted), abs=1e-6)


def test_pose_error(closed):
    found = number(closed, "pose_error(P,p)", POSES)
    for k, values in enumerate(each(closed)):
        at = np.array(POSES.at)
        _, _, coupler, _ = pins(values, at, 1)
        away = np.abs(point(values, at) - [complex(*x) for x in POSES.points]) ** 2
        turned = np.angle(coupler * np.exp(-1j * np.array(POSES.angles)))
        expected = np.sqrt((away + 0.3**2 * turned**2).mean())
        assert found[k] == pytest.approx(expected, abs=1e-6)


def test_speed_and_its_variation(closed):
    crank = closed.motion.q[0]
    for k, values in enumerate(each(closed)):
        first, second = differences(lambda x, v=values: point(v, x), crank)
        speed = SPEED * np.abs(first)
        # Differences: h⁶ times a seventh derivative below 1e4, and rounding over h and h².
        assert number(closed, "point_speed(P)")[k] == pytest.approx(speed.max(), rel=1e-9)
        pull = SPEED**2 * np.abs(second).max()
        assert number(closed, "point_acceleration(P)")[k] == pytest.approx(pull, rel=1e-7)
        expected = np.ptp(speed) / speed.mean()
        assert number(closed, "speed_variation(P)")[k] == pytest.approx(expected, rel=1e-8)


def lengths_of(values):
    a, c = values["lx1"], values["lx3"]
    return a, np.hypot(values["lx2"], values["ly2"]), c, np.hypot(values["Dx"], values["Dy"])


def turns(a, b, c, d):
    """Whether the circles about B and D meet at every crank angle."""
    angle = np.linspace(0, 2 * np.pi, 40001)
    span = np.abs(a * np.exp(1j * angle) - d)
    return bool(((span <= b + c) & (span >= abs(b - c))).all())


def test_full_rotation_is_the_length_to_spare(closed):
    """Against circles at 40,000 crank angles: a little longer than that it does not turn."""
    found = number(closed, "full_rotation(A)")
    other = number(closed, "full_rotation(D)")
    for k, values in enumerate(each(closed)):
        a, b, c, d = lengths_of(values)
        assert turns(a, b, c, d)
        spare = found[k]
        assert spare > 0
        assert turns(a + 0.999 * spare, b, c, d)
        assert not turns(a + 1.001 * spare, b, c, d)
        # The rocker does not turn; shorter by what it is short of, it would.
        assert other[k] < 0
        assert not turns(c, b, a, d)


def test_full_rotation_of_a_slider_crank():
    mechanism = mechanism_file.load("slider-crank")
    model = prepare(mechanism)
    values = {"lx1": np.array([0.1, 0.15]), "lx2": np.array([0.4, 0.5])}
    closed = closed_at(model, values)
    found = number(closed, "full_rotation(A)")
    np.testing.assert_allclose(found, values["lx2"] - values["lx1"], rtol=1e-14)


def test_order_and_missed_points(closed):
    values = each(closed)[0]
    cranks = np.array([0.7, 1.4, 2.6, 3.3, 4.4, 5.5])
    P = point(values, cranks)

    def target(order, shift=0.0):
        return Target("w", tuple((P[k].real + shift, P[k].imag) for k in order))

    for order, defects in (
        ((0, 1, 2, 3, 4, 5), 0),
        ((3, 4, 5, 0, 1, 2), 0),  # begins elsewhere
        ((5, 4, 3, 2, 1, 0), 0),  # the other way round
        ((0, 2, 1, 3, 4, 5), 1),
        ((3, 4, 5, 0, 1, 2, 3), 0),  # ends where it began
        ((3, 4, 0, 5, 1, 2, 3), 1),
    ):
        assert number(closed, "order_defects(P,w)", target(order))[0] == defects
    assert number(closed, "missed_points(P,w)", target(range(6)))[0] == 0
    away = np.array([complex(*x) for x in target(range(6), 0.02).points])
    path = point(values, np.linspace(0, 2 * np.pi, 20000))
    far = np.abs(path - away[:, None]).min(axis=1)
    size = np.sqrt((np.abs(away - away.mean()) ** 2).mean())
    assert 0 < (far > 0.01 * size).sum() < 7
    found = number(closed, "missed_points(P,w)", target(range(6), 0.02))[0]
    assert found == (far > 0.01 * size).sum()


def test_the_box_holds_pins_points_and_shapes(closed):
    crank = closed.motion.q[0]
    for k, values in enumerate(each(closed)):
        B, C, coupler, _ = pins(values, crank, 1)
        D = values["Dx"] + 1j * values["Dy"]
        places = [B, C, point(values, crank), B - 1.1j * coupler, B + 0.3 * coupler]
        still = [D, 0.6 + 0.9j, 0.9 + 0.2j, 1.3 + 0.2j, 1.2 + 0.6j]
        whole = np.concatenate([*places, still])
        # Circles with their radii: the crank's ends 20 mm, the one on the ground 50 mm.
        round_ = [(B, 0.02), (np.zeros(1), 0.02), (np.array([0.2 + 0.9j]), 0.05)]
        for axis, part in (("x", np.real), ("y", np.imag)):
            high = max(part(whole).max(), *(part(z).max() + r for z, r in round_))
            low = min(part(whole).min(), *(part(z).min() - r for z, r in round_))
            assert number(closed, f"box_max({axis})")[k] == pytest.approx(high, abs=1e-12)
            assert number(closed, f"box_min({axis})")[k] == pytest.approx(low, abs=1e-12)
            assert number(closed, f"box_size({axis})")[k] == pytest.approx(high - low, abs=1e-12)


def signed(A, B):
    """Distance of the origin from the hull of all differences; below zero inside of it."""
    away = (A[:, None] - B[None]).reshape(-1, 2)
    if np.linalg.matrix_rank(away - away[0], tol=1e-12) < 2:  # a line or a point
        ends = away[np.argsort((away - away[0]) @ (away[-1] - away[0]))][[0, -1]]
        way = ends[1] - ends[0]
        share = np.clip(-(ends[0] @ way) / max(way @ way, 1e-300), 0, 1)
        return np.linalg.norm(ends[0] + share * way)
    hull = ConvexHull(away)
    beyond = hull.equations[:, 2].max()
    if beyond <= 0:
        return beyond
    corners = away[hull.vertices]
    ends = np.roll(corners, -1, axis=0)
    way = ends - corners
    share = np.clip(-(corners * way).sum(axis=1) / (way * way).sum(axis=1), 0, 1)
    return np.linalg.norm(corners + share[:, None] * way, axis=1).min()


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (2, 2), (2, 4), (4, 3), (1, 5)])
def test_separation_is_the_distance_of_the_hull_of_differences(first, second):
    from basepar_core.compiled import least_apart

    rng = np.random.default_rng(first + 10 * second)

    def shape(count):
        if count < 3:
            return rng.uniform(-1, 1, (count, 2))
        hull = rng.uniform(-1, 1, (30, 2))
        angle = np.sort(rng.uniform(0, 2 * np.pi, count))
        hull = np.stack([np.cos(angle), np.sin(angle)], axis=1) * rng.uniform(0.3, 1)
        return hull[:: rng.choice([1, -1])] + rng.uniform(-1, 1, 2)

    pairs = [(shape(first), shape(second)) for _ in range(300)]
    A, B = (np.stack(side) for side in zip(*pairs, strict=True))
    expected = np.array([signed(*pair) for pair in pairs])
    np.testing.assert_allclose(separation(A, B), expected, rtol=0, atol=1e-12)
    least, where = np.empty(300), np.empty(300, np.int64)
    least_apart(A[..., None].copy(), B[..., None].copy(), least, where)
    np.testing.assert_allclose(least, expected, rtol=0, atol=1e-12)
    if first * second > 2:
        assert (expected < 0).sum() > 20 or min(first, second) == 1


@pytest.mark.parametrize("samples", [1, 7, 8, 9, 13])
@pytest.mark.parametrize(("axes", "corners"), [(2, (2, 4)), (2, (1, 3)), (3, (2, 2)), (3, (1, 2))])
def test_the_least_separation_along_a_cycle(samples, axes, corners):
    from basepar_core.compiled import least_apart

    rng = np.random.default_rng(samples)
    A, B = (rng.uniform(-1, 1, (40, count, axes, samples)) for count in corners)
    A[1, 0, :, samples // 2] = np.nan  # what has no place is not the nearest
    A[2, 0] = np.nan  # a shape that is undefined is nowhere, not far away
    every = np.stack([separation(A[..., s], B[..., s]) for s in range(samples)], axis=1)
    expected = every.min(axis=1, where=~np.isnan(every), initial=np.inf)
    expected[np.isnan(every).all(axis=1)] = np.nan
    least, where = np.empty(40), np.empty(40, np.int64)
    least_apart(A, B, least, where)
    # Rounding; of lines in space that nearly meet its root.
    np.testing.assert_allclose(least, expected, rtol=0, atol=1e-12)
    assert np.isnan(least[2])
    filled = np.where(np.isnan(every), np.inf, every)
    np.testing.assert_array_equal(where, filled.argmin(axis=1))


def test_clearances_along_the_cycle(closed):
    crank = closed.motion.q[0]
    circle, triangle = np.array([[0.2, 0.9]]), np.array([[0.9, 0.2], [1.3, 0.2], [1.2, 0.6]])

    def flat(*places):
        return np.array([[z.real, z.imag] for z in places])

    for k, values in enumerate(each(closed)):
        B, _, coupler, _ = pins(values, crank, 1)
        plates = [flat(b, b - 1.1j * c, b + 0.3 * c) for b, c in zip(B, coupler, strict=True)]
        bars = [flat(0j, b) for b in B]
        ground = min(min(signed(x, circle) - 0.05, signed(x, triangle)) for x in plates)
        # Joints close to 1e-12.
        assert number(closed, "clearance(coupler,ground)")[k] == pytest.approx(ground, abs=1e-11)
        assert number(closed, "clearance(ground,coupler)")[k] == pytest.approx(ground, abs=1e-11)
        crank_ground = min(min(signed(x, circle) - 0.07, signed(x, triangle) - 0.02) for x in bars)
        found = number(closed, "clearance(crank,ground)")[k]
        assert found == pytest.approx(crank_ground, abs=1e-11)
        bar = min(signed(flat(0.6 + 0.9j), x) for x in plates)
        assert number(closed, "clearance(O,coupler)")[k] == pytest.approx(bar, abs=1e-11)


def test_lines_in_space_are_as_far_apart_as_a_search_says():
    from scipy.optimize import minimize

    from basepar_core.compiled import least_apart

    rng = np.random.default_rng(4)
    A, B = rng.uniform(-1, 1, (2, 60, 2, 3))
    A[:10], B[10:20] = A[:10, :1], B[10:20, :1]  # balls
    least, where = np.empty(60), np.empty(60, np.int64)
    least_apart(A[..., None].copy(), B[..., None].copy(), least, where)
    plain = separation(A, B)
    for k in range(60):

        def away(x, k=k):
            return (
                np.linalg.norm(
                    A[k, 0] + x[0] * (A[k, 1] - A[k, 0]) - B[k, 0] - x[1] * (B[k, 1] - B[k, 0])
                )
                ** 2
            )

        best = min(
            minimize(away, start, bounds=[(0, 1)] * 2, tol=1e-14).fun
            for start in ([0.5, 0.5], [0, 1], [1, 0])
        )
        # The search's function is flat at its least: half of the digits.
        assert least[k] == pytest.approx(np.sqrt(best), abs=1e-6)
        assert plain[k] == pytest.approx(least[k], abs=1e-14)


def dynamics(values, crank):
    """Mass, moment about the centre, and accelerations (centre, angle) of each bar, by motion."""
    rho = values["rho"]
    D = values["Dx"] + 1j * values["Dy"]

    def crank_middle(x):
        return values["lx1"] / 2 * np.exp(1j * x)

    def coupler_middle(x):
        B, C, _, _ = pins(values, x, 1)
        return (B + C) / 2

    def rocker_middle(x):
        return (pins(values, x, 1)[1] + D) / 2

    def coupler_angle(x):
        B, C, _, _ = pins(values, x, 1)
        return np.log(C - B).imag

    lengths = lengths_of(values)[:3]
    found = []
    for size, middle, angle in zip(
        lengths,
        (crank_middle, coupler_middle, rocker_middle),
        (lambda x: 1.0 * x, coupler_angle, lambda x: rocker(values, np.atleast_1d(x))),
        strict=True,
    ):
        pull = SPEED**2 * differences(middle, crank)[1]
        turn = SPEED**2 * differences(lambda x, f=angle: np.unwrap(f(x)), crank)[1]
        found.append((rho * size, rho * size**3 / 12, pull, turn, middle(crank)))
    return found


def test_joint_forces_are_those_of_free_bodies(closed):
    """Three equations of equilibrium of each bar, with d'Alembert's forces; nine unknowns."""
    crank = closed.motion.q[0]
    for k, values in enumerate(each(closed)[:2]):
        B, C, _, _ = pins(values, crank, 1)
        D = values["Dx"] + 1j * values["Dy"] + 0 * B
        bars = dynamics(values, crank)
        ends = ((0 * B, B), (B, C), (C, D))  # A B, B C, C D
        forces = np.empty((len(crank), 9))
        for s in range(len(crank)):
            M, rhs = np.zeros((9, 9)), np.zeros(9)
            for b, (mass, J, pull, turn, middle) in enumerate(bars):
                # Force of joint b on bar b, minus that of joint b + 1, D's the other way round.
                for joint, sign in ((b, 1.0), (b + 1, -1.0)):
                    r = ends[b][0 if joint == b else 1][s] - middle[s]
                    M[3 * b, 2 * joint] = M[3 * b + 1, 2 * joint + 1] = sign
                    M[3 * b + 2, 2 * joint : 2 * joint + 2] = sign * np.array([-r.imag, r.real])
                rhs[3 * b : 3 * b + 2] = mass * pull[s].real, mass * (pull[s].imag + 9.81)
                rhs[3 * b + 2] = J * turn[s]
            M[2, 8] = 1.0  # the drive's torque on the crank
            forces[s] = np.linalg.solve(M, rhs)
        for joint, name in enumerate("ABCD"):
            size = np.hypot(forces[:, 2 * joint], forces[:, 2 * joint + 1])
            # Second differences: 1e-16/h² of a metre, times a mass and a lever.
            peak = number(closed, f"joint_force_peak({name})")[k]
            assert peak == pytest.approx(size.max(), rel=1e-7)
            rms = number(closed, f"joint_force_rms({name})")[k]
            assert rms == pytest.approx(np.sqrt((size**2).mean()), rel=1e-7)


OFFSET = """
name: block
space: planar
gravity: [0, -9.81]
geometry: {r: {value: 0.1, unit: m}, l: {value: 0.4, unit: m}}
bodies:
  inner: {mass: 1, centre: [0, 0], inertia: 0.1}
  crank: {mass: 2, centre: [0.06, 0.02], central_inertia: 0.01}    # welded to the inner part
  rod: {mass: 0.5, centre: [l/2, 0], inertia: (0.5 kg)*l^2/3}
  block: {mass: 3, centre: [0.05, 0.02], inertia: 0.2}
joints:
  A: {type: revolute, connects: [ground, inner]}
  W: {type: fixed, connects: [inner, crank], at: [[0.03, 0], [0, 0]]}
  B: {type: revolute, connects: [crank, rod], at: [[r - 30 mm, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, block], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, block], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, points: {B: [0.0766, 0.0643], C: [0.471, 0]}}
cycle: {joints: {A: {kind: constant_speed, speed: 2 rad/s, turns: 1}}, samples: 96}
"""


def test_joint_moments_are_those_of_free_bodies():
    """A block off its guide's line, and a weld in a crank, about the first body's point."""
    model = prepare(mechanism_file.loads(OFFSET))
    sizes = {"r": np.array([0.1, 0.12]), "l": np.array([0.4, 0.45])}
    closed = closed_at(model, sizes)
    crank, weight = closed.motion.q[0], 9.81j
    for k, (r, long) in enumerate(zip(*sizes.values(), strict=True)):

        def pin(x, r=r, long=long):
            """The block's pin, on its guide."""
            return r * np.cos(x) + np.sqrt(long**2 - (r * np.sin(x)) ** 2) + 0j

        def rod(x, r=r, long=long):
            """The rod's direction."""
            return (pin(x) - r * np.exp(1j * x)) / long

        pull = 2.0**2 * differences(pin, crank)[1]
        # The block does not turn; at its pin nothing but forces acts.
        block = _cross(0.05 + 0.02j, 3 * (pull + weight))
        middle = 2.0**2 * differences(lambda x, long=long: pin(x) - long / 2 * rod(x), crank)[1]
        turn = 2.0**2 * differences(lambda x: np.unwrap(np.log(rod(x)).imag), crank)[1]
        # Of the rod: along the guide the block pulls, across it the guide carries what is left.
        along = 3 * pull.real + 0.5 * middle.real
        upright = 0.5 * (middle.imag + 9.81)
        lever = long * rod(crank)
        # Moments about the middle: at C (-3 pull, Y), at B (along, upright - Y).
        spin = 0.5 * long**2 / 12 * turn
        rest = spin - _cross(lever / 2, -3 * pull) - _cross(-lever / 2, along + 1j * upright)
        Y = rest / lever.real
        at_B = along + 1j * (upright - Y)  # on the rod
        way = np.exp(1j * crank)
        centre = (0.03 + 0.06 + 0.02j) * way
        own = 2 * (-(2.0**2) * centre + weight)
        weld = _cross((0.06 + 0.02j) * way, own) + _cross((r - 0.03) * way, at_B)
        guide = block + pin(crank).real * (3 * 9.81 + Y)  # about the ground's point of the joint
        for name, course in (("D", guide), ("W", weld)):
            # Second differences, as above.
            peak = number(closed, f"joint_moment_peak({name})")[k]
            assert peak == pytest.approx(np.abs(course).max(), rel=1e-7)
            rms = number(closed, f"joint_moment_rms({name})")[k]
            assert rms == pytest.approx(np.sqrt((course**2).mean()), rel=1e-7)


def _cross(first, second):
    return (np.conj(first) * second).imag


def efforts(values, crank):
    """The drive's torque: the rate of the bars' energy over the speed."""

    def energy(x):
        total = 0.0
        lengths = lengths_of(values)[:3]
        D = values["Dx"] + 1j * values["Dy"]
        middles = (
            lambda y: values["lx1"] / 2 * np.exp(1j * y),
            lambda y: sum(pins(values, y, 1)[:2]) / 2,
            lambda y: (pins(values, y, 1)[1] + D) / 2,
        )
        ways = (
            lambda y: np.exp(1j * y),
            lambda y: pins(values, y, 1)[1] - pins(values, y, 1)[0],
            lambda y: D - pins(values, y, 1)[1],
        )
        for size, middle, way in zip(lengths, middles, ways, strict=True):
            mass = values["rho"] * size
            speed = SPEED * np.abs(differences(middle, x)[0])
            turn = SPEED * (differences(way, x)[0] / way(x)).imag
            total = total + mass / 2 * speed**2 + mass * size**2 / 24 * turn**2
            total = total + mass * 9.81 * middle(x).imag
        return total

    return differences(energy, crank)[0]


def test_ripple_power_and_work_are_of_the_energy(closed):
    """By kernels and by the functions that slopes are of, against the energy's derivative."""
    from basepar_core.compiled import paths

    mechanism, moving = closed.model.mechanism, closed.motion
    shares = drives.shares(mechanism, moving)
    assert shares.sum() == pytest.approx(2 * np.pi / SPEED, rel=1e-12)
    W = Engine(closed.model).variants(LENGTHS).observe(moving).W
    phi = closed.parameters
    found = paths.efforts(W, phi, np.arange(3), moving.q_dot, shares)
    for k, values in enumerate(each(closed)):
        torque = efforts(values, moving.q[0])
        expected = {
            "torque_ripple": np.ptp(torque),
            "power_peak": SPEED * np.abs(torque).max(),
            "drive_energy": (np.maximum(torque, 0) * SPEED * shares).sum(),
            "torque_rms": np.sqrt((torque**2).mean()),
            "torque_peak": np.abs(torque).max(),
        }
        kernel = {
            "torque_ripple": found.greatest - found.least,
            "power_peak": found.power,
            "drive_energy": found.energy,
            "torque_rms": found.rms,
            "torque_peak": found.peak,
        }
        for word, wanted in expected.items():
            plain = drives.DRIVE_METRICS[word].value(
                closed.torques[..., 0], moving.q_dot[0], shares
            )
            # Third differences in all: 1e-16/h³ of a joule.
            assert plain[k] == pytest.approx(wanted, rel=1e-6), word
            assert kernel[word][k, 0] == pytest.approx(plain[k], rel=1e-12)


EXACT = [
    *("joint_min(D)", "joint_max(D)", "stroke(C)", "time_ratio(D)", "mechanical_advantage(D)"),
    *("full_rotation(A)", "full_rotation(C)", "angle_min(coupler)", "angle_range(rocker)"),
    *("box_size(x)", "box_min(y)", "clearance(coupler,ground)", "clearance(O,coupler)"),
    *("point_speed(P)", "point_acceleration(P)", "speed_variation(P)", "straightness(P)"),
    *("curvature_max(P)",),
    *("transmission_angle(B,C,D)", "shaking_force_rms", "shaking_moment_peak", "mass"),
    *("joint_force_rms(C)", "joint_force_peak(B)", "function_error(D,f)", "pose_error(P,p)"),
]


@pytest.mark.parametrize("symbol", ["lx1", "ly2", "Dx"])
def test_slopes_are_exact(model, symbol):
    """All at once, against differences of fourth order of what kernels give."""
    h = 2e-4
    moving = motion.cycle(model.mechanism, model.assembled.coordinates)
    seen = sensitivity.slopes(model, {}, moving, [symbol])
    nominal = model.mechanism.nominal[symbol]
    values = {symbol: nominal + h * np.array([-2.0, -1.0, 1.0, 2.0])}
    around = closed_at(model, values)
    for name in EXACT:
        metric = cycle.find(model.mechanism, name, (FUNCTION, POSES))
        value, slope = seen.of_cycle(metric.value)
        ends = metric.value(around)
        expected = np.array([1.0, -8.0, 8.0, -1.0]) @ ends / (12 * h)
        # Differences err by h⁴ times a fifth derivative, and by rounding over h.
        scale = max(abs(expected), abs(value[0]), 1e-3)
        assert slope[0, 0] == pytest.approx(expected, abs=3e-8 * scale), name
        assert value[0] == pytest.approx((ends[1] + ends[2]) / 2, abs=1e-4 * scale), name


def test_kernels_and_the_plain_path_agree(model, closed):
    """Every metric of the mechanism, on both paths."""
    plain = ClosedCycle(model, LENGTHS, closed.motion, closed.q)
    names = cycle.names(model.mechanism, (FUNCTION, POSES))
    # The steady regime needs a motor, which the file has not.
    assert len(names) > 80
    for name in names:
        metric = cycle.find(model.mechanism, name, (FUNCTION, POSES))
        np.testing.assert_allclose(
            metric.value(plain), metric.value(closed), rtol=1e-9, atol=1e-11, err_msg=name
        )
