"""Motions by docs/mechanism-files.md, written plainly; derivatives by differences, 40 digits."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from basepar_core.api import load
from basepar_core.dynamics import motion
from basepar_core.errors import FileError, MissingDataError, MotionError
from basepar_core.files.mechanism_file import loads

MACHINE = """
name: two
space: planar
gravity: [0, -9.81]
bodies: {{one: {{}}, two: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one]}}
  B: {{type: prismatic, connects: [one, two], axis: [[1, 0], [1, 0]]}}
coordinates: [{order}]
{motion}
"""
START = np.array([0.25, -0.5])
DIGITS = 40


def machine(text, order="A, B"):
    return loads(MACHINE.format(motion=text, order=order))


def check(found, t, laws: list[Callable], size=1.0):
    """Every sample of q, q̇, q̈ of every coordinate against a law in forty digits."""
    with mp.workdps(DIGITS):
        h = mpf(10) ** -10  # errs by 1e-20 and loses 20 digits of 40 to cancellation
        np.testing.assert_allclose(found.t, [float(x) for x in t], rtol=1e-15)
        for k, law in enumerate(laws):
            three = [(law(x - h), law(x), law(x + h)) for x in t]
            q = [float(b) for _, b, _ in three]
            q_dot = [float((c - a) / (2 * h)) for a, _, c in three]
            q_ddot = [float((c - 2 * b + a) / h**2) for a, b, c in three]
            # Sums of a dozen products with angles of up to 100 rad, reduced in float64.
            np.testing.assert_allclose(found.q[k], q, rtol=0, atol=1e-14 * size)
            np.testing.assert_allclose(found.q_dot[k], q_dot, rtol=0, atol=1e-13 * size)
            np.testing.assert_allclose(found.q_ddot[k], q_ddot, rtol=0, atol=1e-12 * size)


def test_fourier():
    text = (
        "excitation: {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, "
        "amplitude: {A: 0.6 rad, B: 50 mm}, samples: 24, seed: 3}"
    )
    found = motion.excitation(machine(text), START)
    with mp.workdps(DIGITS):
        draws = np.random.default_rng(3).standard_normal((2, 5, 2))
        t = [mpf(i) / (24 * mpf("0.5")) for i in range(24)]

        def series(k):
            def shape(x):
                w = 2 * mp.pi * mpf("0.5")
                return sum(
                    mpf(a) * mp.sin((j + 1) * w * x) + mpf(b) * mp.cos((j + 1) * w * x)
                    for j, (a, b) in enumerate(draws[k].tolist())
                )

            return shape

        laws = []
        for k, size in enumerate((mpf("0.6"), mpf("0.05"))):
            shape = series(k)
            scale = size / max(abs(shape(x)) for x in t)
            laws.append(lambda x, k=k, f=shape, s=scale: mpf(START[k]) + s * f(x))
        check(found, t, laws, size=20)
    reached = np.abs(found.q - START[:, None]).max(axis=1)
    np.testing.assert_allclose(reached, [0.6, 0.05], rtol=1e-14)  # rounding of the scale


def test_sines_are_absolute():
    text = (
        "excitation: {kind: sines, duration: 10 s, samples: 15, terms: "
        "{A: [[0.5, 3, 0], [0.1, 10, 90 deg]], B: [[0.2, sqrt(2) rad/s, 1]]}}"
    )
    found = motion.excitation(machine(text), START)
    with mp.workdps(DIGITS):
        t = [mpf(i) * 10 / 15 for i in range(15)]
        laws = [
            lambda x: mpf("0.5") * mp.sin(3 * x) + mpf("0.1") * mp.sin(10 * x + mp.pi / 2),
            lambda x: mpf("0.2") * mp.sin(mp.sqrt(2) * x + 1),
        ]
        check(found, t, laws, size=10)


def test_states():
    text = (
        "excitation: {kind: states, samples: 7, seed: 5, amplitude: {A: 0.6 rad, B: 0.2 m}, "
        "frequency: 0.2 Hz}"
    )
    found = motion.excitation(machine(text, "B, A"), START)
    draws = np.random.default_rng(5).uniform(-1, 1, (7, 3, 2))
    omega = 2 * np.pi * 0.2
    for i in range(7):
        for k, size in enumerate((0.2, 0.6)):  # in the order of the coordinates, not the file's
            u, v, w = draws[i, :, k]
            state = (found.q[k, i], found.q_dot[k, i], found.q_ddot[k, i])
            expected = (START[k] + size * u, size * omega * v, size * omega**2 * w)
            np.testing.assert_allclose(state, expected, rtol=1e-15)


def test_data(tmp_path):
    (tmp_path / "run.csv").write_text(
        "B'',t,A,A',A'',B,B'\n6,0,1,2,3,4,5\n-6,0.5,-1,-2,-3,-4,-5\n"
    )
    text = MACHINE.format(motion="excitation: {kind: data, file: run.csv}", order="A, B")
    found = motion.excitation(loads(text, str(tmp_path / "two.yaml")), START)
    np.testing.assert_array_equal(found.t, [0, 0.5])
    np.testing.assert_array_equal(found.q, [[1, -1], [4, -4]])
    np.testing.assert_array_equal(found.q_dot, [[2, -2], [5, -5]])
    np.testing.assert_array_equal(found.q_ddot, [[3, -3], [6, -6]])


def test_constant_speed_by_turns_and_sines_beside_it():
    text = (
        "cycle: {joints: {A: {kind: constant_speed, speed: -90 deg/s, turns: 2}, "
        "B: {kind: sines, terms: [[0.1, 2, 0]], duration: 8 s}}, samples: 16}"
    )
    found = motion.cycle(machine(text), START)
    with mp.workdps(DIGITS):
        t = [mpf(i) * 8 / 16 for i in range(16)]  # two turns at 90 deg/s take 8 s
        laws = [
            lambda x: mpf(START[0]) - mp.pi / 2 * x,
            lambda x: mpf("0.1") * mp.sin(2 * x),
        ]
        check(found, t, laws, size=10)


def test_rest_to_rest_is_the_quintic():
    text = (
        "cycle: {joints: {A: {kind: rest_to_rest, to: 1.5 rad, duration: 2 s}, "
        "B: {kind: constant_speed, speed: 0.1 m/s, duration: 2 s}}, samples: 10}"
    )
    found = motion.cycle(machine(text), START)
    with mp.workdps(DIGITS):
        # Six conditions: value, rate and acceleration at both ends.
        T = mpf(2)
        rows = mpmath.matrix(6, 6)
        for k in range(6):
            for row, x in ((0, mpf(0)), (3, T)):
                rows[row, k] = x**k
                rows[row + 1, k] = k * x ** (k - 1) if k else 0
                rows[row + 2, k] = k * (k - 1) * x ** (k - 2) if k > 1 else 0
        a = mpmath.lu_solve(rows, mpmath.matrix([mpf(START[0]), 0, 0, mpf("1.5"), 0, 0]))
        t = [mpf(i) * T / 10 for i in range(10)]
        laws = [
            lambda x: sum(a[k] * x**k for k in range(6)),
            lambda x: mpf(START[1]) + x / 10,
        ]
        check(found, t, laws)


@pytest.mark.parametrize("what", ["excitation", "cycle"])
def test_no_motion_stated(what):
    with pytest.raises(MissingDataError, match=f"states no {what}") as caught:
        getattr(motion, what)(machine(""), START)
    assert caught.value.where == (what,)


def test_library_cycle_turns_the_crank_once():
    mechanism = load("slider-crank")
    found = motion.cycle(mechanism, np.array([0.7]))
    assert found.q[0, 0] == 0.7
    # 128 samples of one turn: the last is one step short of it.
    np.testing.assert_allclose(found.q[0, -1] - 0.7, 2 * np.pi * 127 / 128, rtol=1e-14)


@pytest.mark.parametrize("size", ["1e18", "101"])
@pytest.mark.parametrize("role", ["excitation", "cycle"])
def test_a_motion_too_far_to_be_followed_in_small_steps(tmp_path, role, size):
    """Steps are fractions of a radian: a file of one wrong cell once kept Newton busy for ever."""
    rows = ["t,A,A',A'',B,B',B''", "0,0.25,0,0,-0.5,0,0", f"1,{size},0,0,-0.5,0,0"]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    text = MACHINE.format(motion=f"{role}: {{kind: data, file: run.csv}}", order="A, B")
    found = loads(text, str(tmp_path / "m.yaml"))
    with pytest.raises(MotionError, match=r"moves A by .* before sample 2"):
        getattr(motion, role)(found, START)
    text = text.replace("run.csv", "near.csv")
    (tmp_path / "near.csv").write_text("\n".join(rows).replace(size, "99"))
    getattr(motion, role)(loads(text, str(tmp_path / "m.yaml")), START)


@pytest.mark.parametrize("entry", ["samples", "harmonics"])
def test_counts_of_a_motion_have_a_limit(entry):
    counts = {"samples": 8, "harmonics": 2} | {entry: 10**12}
    law = ", ".join(f"{name}: {count}" for name, count in counts.items())
    amplitude = "amplitude: {A: 1, B: 1}, base_frequency: 1 Hz, seed: 1"
    with pytest.raises(FileError, match=rf"excitation.{entry}.*at most"):
        machine(f"excitation: {{kind: fourier, {law}, {amplitude}}}")
