"""W in variable precision: against the float64 formulation, and exact in what goes into it."""

import math
import threading
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base.precise_route import precise, precise_rank
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.files.mechanism_file import library_path, loads
from basepar_core.symbolic.algebraic_roots import roots
from basepar_core.variable_precision import motion as exact_motion
from basepar_core.variable_precision import rotations
from basepar_core.variable_precision.arithmetic import bits_of, exact, working
from basepar_core.variable_precision.exact_geometry import symbol_values
from basepar_core.variable_precision.observation import variant
from tests.mechanisms import C, E, F, P, R, S, U, linkage, loop, random_tree


@pytest.fixture(scope="module")
def models():
    cache = {}

    def get(name):
        if name not in cache:
            cache[name] = prepare(load(name))
        return cache[name]

    return get


def as_floats(W):
    return np.array([[math.ldexp(int(x), W.scale) for x in row] for row in W.entries.tolist()])


# W against the float64 formulation, for every joint type.


def assert_same_regressor(mechanism, digits=30):
    model = prepare(mechanism)
    seen = observe(model, {}, excitation(mechanism, model.assembled.coordinates))
    assert seen.closed[0]
    W = as_floats(variant(model, {}, 10**6).observe(digits))
    plain = seen.W[0].reshape(W.shape)
    # The float64 side's rounding: 1e-15 and the loops' condition.
    assert np.abs(W - plain).max() < 1e-12 * np.abs(plain).max()


@pytest.mark.parametrize("seed", range(4))
def test_every_joint_as_a_drive(seed):
    assert_same_regressor(random_tree(seed, [R, P, C, U, S, E, F]))


@pytest.mark.parametrize(
    ("kinds", "coordinates", "seed"),
    [
        ((R, S, U, R), ["a"], 1),
        ((R, C, C, C), ["a"], 0),
        ((U, S, R, P), ["a.1"], 2),
        ((U, S, R, P), ["a.2"], 3),
        ((E, S, R), ["a.3"], 2),
        ((C, S, U), ["a.1"], 2),
        ((C, S, U), ["a.2"], 2),
        ((R, R, S, F, U), ["a"], 1),
        ((S, R, R, R, R, R, R), ["a.1", "a.2", "a.3"], 5),
    ],
)
def test_loops_of_every_joint(kinds, coordinates, seed):
    assert_same_regressor(linkage(seed, loop(*kinds), coordinates, amplitude=0.02))


PLANAR_LOOP = """
name: slides
space: planar
gravity: [1, -9.81]
geometry: {a: {value: 0.3, unit: m}, b: {value: 0.7, unit: m}}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: prismatic, connects: [one, two], axis: [[3, 4], [5, 0]], at: [[a, 0], [0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[b, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, three], axis: [[1, 0], [1, 0]]}
coordinates: [COORDINATES]
assembly: {A: 70 deg, B: 0.1 m, C: -120 deg, D: 0.4 m}
excitation: {kind: states, samples: 12, seed: 3, amplitude: {AMPLITUDE}, frequency: 0.3 Hz}
"""


@pytest.mark.parametrize(
    ("coordinates", "amplitude"), [("A", "A: 0.1 rad"), ("B", "B: 20 mm"), ("D", "D: 20 mm")]
)
def test_planar_slides(coordinates, amplitude):
    text = PLANAR_LOOP.replace("COORDINATES", coordinates).replace("AMPLITUDE", amplitude)
    assert_same_regressor(loads(text))


PLANAR_TREE = """
name: floating
space: planar
gravity: [0, -9.81]
bodies: {base: {}, lid: {}, arm: {}}
joints:
  A: {type: planar, connects: [ground, base]}
  B: {type: fixed, connects: [lid, base], at: [[1/2, 0], [0, 1/3]]}
  C: {type: revolute, connects: [lid, arm], at: [[1/5, 0], [0, 0]]}
coordinates: [A.1, A.2, A.3, C]
excitation: {kind: states, samples: 12, seed: 3, frequency: 1 Hz,
  amplitude: {A.1: 0.1, A.2: 0.2, A.3: 1, C: 2}}
"""


def test_planar_and_fixed_joint_in_the_plane():
    assert_same_regressor(loads(PLANAR_TREE))


def test_redundant_loops_are_closed_and_held():
    """A planar four-bar modelled in space: three equations repeat others."""
    text = """
name: flat
space: spatial
gravity: [0, -9.81, 0]
geometry: {a: {value: 0.3, unit: m}, b: {value: 0.7, unit: m}, c: {value: 0.6, unit: m}}
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[a, 0, 0], [0, 0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[b, 0, 0], [c, 0, 0]]}
  D: {type: revolute, connects: [ground, three], at: [[1/2, 0, TILT], [0, 0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -40 deg, C: 70 deg}
excitation: {kind: fourier, harmonics: 5, base_frequency: 1 Hz, samples: 64, seed: 1,
  amplitude: {A: 0.3 rad}}
"""
    found = precise_rank(prepare(loads(text.replace("TILT", "0"))))
    assert (found.rank, found.evident) == (8, True)  # as in the plane
    # Out of plane by less than assembly notices: float64 closes it, forty digits do not.
    crooked = precise_rank(prepare(loads(text.replace("TILT", "1e-13"))))
    assert not crooked.evident
    assert "stay open" in crooked.reason


# Precision, exactness, threads.


def _divide_by_zero_at(bits):
    with working(bits):
        assert ctx.prec == bits
        return 1 // 0


def test_precision_is_left_as_it_was(models):
    ctx.prec = 77
    try:
        precise_rank(models("slider-crank"))
        precise(models("slider-crank"))
        with pytest.raises(ZeroDivisionError):
            _divide_by_zero_at(500)
        assert ctx.prec == 77
    finally:
        ctx.prec = 53


def test_threads_do_not_share_a_precision(models):
    expected = {name: precise_rank(models(name)) for name in ("four-bar", "slider-crank")}
    found = {}

    def work(name, digits):
        found[name] = precise_rank(models(name), digits=digits)

    threads = [
        threading.Thread(target=work, args=x) for x in (("four-bar", 40), ("slider-crank", 40))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_geometry_is_exact(models):
    mechanism = models("sla-suspension").mechanism
    with working(bits_of(60)):
        known = symbol_values(mechanism, {"L7": 0.427})
        assert known["D22"].overlaps(exact(Fraction(2501, 10000)))
        assert known["L7"].overlaps(exact(Fraction(0.427)))
        assert not known["L7"].overlaps(exact(Fraction(427, 1000)))


def test_roots_follow_the_sweep_to_all_digits():
    text = library_path("slider-crank").read_text()
    text = text.replace(
        "  lx2: {value: 0.4, unit: m, bounds: [0.3, 0.8]}\n", "  lx2: {value: 0.14, unit: m}\n"
    ).replace("bodies:\n", "relations: {lx2: lx2^2 = 2*lx1^2}\nbodies:\n", 1)
    mechanism = loads(text)
    assert float(roots(mechanism, {"lx1": 0.5})["lx2"]) == pytest.approx(math.sqrt(0.5))
    with working(bits_of(100)):
        square = symbol_values(mechanism, {"lx1": 0.5})["lx2"] ** 2
        assert abs(square - arb(1) / 2) < arb(10) ** -98


MOTIONS = {
    "fourier": "harmonics: 3, base_frequency: 0.3 Hz, amplitude: {A: 20 deg}, seed: 5",
    "sines": "duration: 3 s, terms: {A: [[0.2, sqrt(2) rad/s, 0], [0.1, 3, 10 deg]]}",
    "states": "seed: 2, amplitude: {A: 20 deg}, frequency: 0.3 Hz",
}


@pytest.mark.parametrize("kind", MOTIONS)
def test_motions_agree_with_float64_and_are_exact(kind):
    text = library_path("slider-crank").read_text()
    start = text.index("excitation:")
    law = f"excitation: {{kind: {kind}, samples: 24, {MOTIONS[kind]}}}\n"
    text = text[:start] + law + text[text.index("cycle:") :]
    mechanism = loads(text)
    model = prepare(mechanism)
    plain = excitation(mechanism, model.assembled.coordinates)
    begin = exact_motion.Start(model.assembled.coordinates, plain.q, tuple(range(24)))
    found = {}
    for digits in (40, 80):
        with working(bits_of(digits)):
            found[digits] = exact_motion.samples(mechanism, begin)
    for sample, (low, high) in enumerate(zip(found[40], found[80], strict=True)):
        for k, floats in enumerate((plain.q, plain.q_dot, plain.q_ddot)):
            assert float(low[k][0]) == pytest.approx(floats[0, sample], rel=1e-12, abs=1e-12)
            with working(300):
                assert abs(low[k][0] - high[k][0]) < arb(10) ** -37


def test_data_motions_are_exact_decimals(tmp_path):
    rows = ["t,A,A',A''", *(f"{k / 10},{0.6 + k / 50},{k / 7:.3f},{k / 3:.2f}" for k in range(12))]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    text = library_path("slider-crank").read_text()
    start = text.index("excitation:")
    text = (
        text[:start] + "excitation: {kind: data, file: run.csv}\n" + text[text.index("cycle:") :]
    )
    mechanism = loads(text, str(tmp_path / "crank.yaml"))
    assert_same_regressor(mechanism)
    with working(200):
        begin = exact_motion.Start(np.zeros(1), np.zeros((1, 12)), (3,))
        ((q, q_dot, _),) = exact_motion.samples(mechanism, begin)
        assert q[0].overlaps(exact(Fraction(rows[4].split(",")[1])))
        assert q_dot[0].overlaps(exact(Fraction("0.429")))


def turned(size, t):
    """exp of a rotation vector that moves, by mpmath's matrix exponential."""
    along, speed, push = (0.48, -0.6, 0.64), (0.3, 0.8, -0.2), (-0.5, 0.1, 0.9)
    x, y, z = (
        mpf(size) * a + t * mpf(v) + t * t * mpf(w) / 2
        for a, v, w in zip(along, speed, push, strict=True)
    )
    return mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


def turning(size, t, h):
    """Angular velocity from the rotation's difference."""
    K = (turned(size, t + h) - turned(size, t - h)) / (2 * h) * turned(size, t).T
    return [K[2, 1], K[0, 2], K[1, 0]]


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.7, 3.0, 7.5])
def test_rotation_vectors_against_matrix_exponentials(size):
    with mpmath.workdps(60), working(bits_of(60)):
        h = mpf(10) ** -12
        r = tuple(exact(size) * exact(d) for d in (0.48, -0.6, 0.64))
        speed, push = (tuple(map(exact, v)) for v in ((0.3, 0.8, -0.2), (-0.5, 0.1, 0.9)))
        R, (_, w, change) = rotations.rotation(r), rotations.rates(r, speed, push)
        expected = turned(size, mpf(0))
        later, earlier = turning(size, h, h), turning(size, -h, h)
        for i in range(3):
            for j in range(3):
                assert float(R[i][j]) == pytest.approx(float(expected[i, j]), abs=1e-15)
            # Central differences at 1e-12 err by 1e-24.
            rate = float(turning(size, mpf(0), h)[i])
            second = float((later[i] - earlier[i]) / (2 * h))
            assert float(w[i]) == pytest.approx(rate, abs=1e-14)
            assert float(change[i]) == pytest.approx(second, abs=1e-13)
