"""Rotations against SciPy and against derivatives in thirty digits."""

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from basepar_core.dynamics import spatial

RNG = np.random.default_rng(8)


def vectors(count, length):
    """Random rotation vectors (3, count) of a given angle."""
    r = RNG.standard_normal((3, count))
    return length * r / np.linalg.norm(r, axis=0)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 9e-5, 1.1e-4, 0.3, 2.0, 3.14159, 5.0])
def test_matrix_is_the_exponential(angle):
    r = vectors(5, angle)
    expected = np.moveaxis(Rotation.from_rotvec(r.T).as_matrix(), 0, -1)
    # Products of two components of a unit quaternion: a few roundings.
    np.testing.assert_allclose(spatial.matrix(r), expected, rtol=0, atol=2e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.9e-4, 0.5, 2.5, 3.1, np.pi - 1e-9])
def test_rotation_vector_comes_back(angle):
    r = vectors(40, angle)
    R = np.moveaxis(Rotation.from_rotvec(r.T).as_matrix(), 0, -1)
    # The half angle's sine and cosine are known to rounding, whatever the angle.
    np.testing.assert_allclose(spatial.rotation_vector(R), r, rtol=0, atol=3e-15)


def test_half_turns_come_back_up_to_sign():
    r = vectors(40, np.pi)
    found = spatial.rotation_vector(spatial.matrix(r))
    sign = np.sign((found * r).sum(axis=0))
    np.testing.assert_allclose(found * sign, r, rtol=0, atol=3e-15)


def test_continued_is_the_same_rotation_and_the_nearest():
    for near in vectors(20, 4.6).T:
        r = spatial.rotation_vector(spatial.matrix(near))
        assert np.linalg.norm(r) < np.pi
        # Back to where it came from: whole turns, each known to rounding.
        np.testing.assert_allclose(spatial.continued(r, near), near, rtol=0, atol=1e-14)
    still = spatial.continued(np.zeros(3), np.array([0.0, 6.0, 0.0]))
    np.testing.assert_allclose(still, [0, 2 * np.pi, 0], rtol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.01, 0.199, 0.201, 1.0, 3.0, 5.0])
def test_rate_map_gives_the_angular_velocity(angle):
    """ω of exp(r(t)) and its rate, from the matrix itself by differences in forty digits."""
    r, dr, ddr = vectors(3, angle), vectors(3, 1.0), vectors(3, 2.0)
    J, dJ = spatial.rate_map(r), spatial.rate_map_derivative(r, dr)
    w = spatial.rotate(J, dr)
    dw = spatial.rotate(J, ddr) + spatial.rotate(dJ, dr)
    for k in range(3):
        expected = spins(r[:, k], dr[:, k], ddr[:, k])
        # J itself is exact to a few roundings; its derivative loses at most two digits where
        # the series hand over to the quotients (0.2 rad).
        np.testing.assert_allclose(w[:, k], expected[0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(dw[:, k], expected[1], rtol=0, atol=2e-13)


def spins(r, dr, ddr):
    """ω and dω/dt of R = exp(r + ṙ t + r̈ t²/2) at t = 0: ω× = Ṙ Rᵀ."""
    with mpmath.workdps(50):
        three = [[mpmath.mpf(float(x)) for x in v] for v in (r, dr, ddr)]

        def matrix(t):
            x, y, z = (a + t * b + t * t / 2 * c for a, b, c in zip(*three, strict=True))
            return mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]))

        h = mpmath.mpf(10) ** -12
        before, now, after = (matrix(t) for t in (-h, mpmath.mpf(0), h))
        first = (after - before) / (2 * h)
        second = (after - 2 * now + before) / h**2
        turning = first * now.T
        growing = second * now.T + first * first.T
        return [[float(M[2, 1]), float(M[0, 2]), float(M[1, 0])] for M in (turning, growing)]


def test_products_against_matrices():
    A, B = RNG.standard_normal((2, 3, 3, 4, 5))
    v, w = RNG.standard_normal((2, 3, 4, 5))
    full = np.einsum("ijab,jkab->ikab", A, B)
    # Sums of three products: rounding only.
    np.testing.assert_allclose(spatial.compose(A, B), full, rtol=0, atol=1e-14)
    rotated = np.einsum("ijab,jab->iab", A, v)
    np.testing.assert_allclose(spatial.rotate(A, v), rotated, rtol=0, atol=1e-14)
    back = np.einsum("jiab,jab->iab", A, v)
    np.testing.assert_allclose(spatial.rotate_back(A, v), back, rtol=0, atol=1e-14)
    np.testing.assert_allclose(spatial.contract(A, v), rotated, rtol=0, atol=1e-14)
    crossed = np.cross(v, w, axis=0)
    np.testing.assert_allclose(spatial.cross(v, w), crossed, rtol=0, atol=1e-14)


def test_quaternion_product_is_the_later_rotation_on_the_left():
    one, two = vectors(6, 1.3), vectors(6, 2.2)
    found = spatial.matrix_of_quaternion(
        spatial.quaternion_product(spatial.quaternion(one), spatial.quaternion(two))
    )
    expected = (Rotation.from_rotvec(one.T) * Rotation.from_rotvec(two.T)).as_matrix()
    np.testing.assert_allclose(np.moveaxis(found, -1, 0), expected, rtol=0, atol=3e-15)


def test_frame_has_axis_as_z_and_reference_towards_x():
    axis, reference = RNG.standard_normal((2, 3, 7))
    F = spatial.frame(axis, reference)
    np.testing.assert_allclose(np.cross(F[:, 2], axis, axis=0), 0, atol=1e-15)
    assert ((F[:, 2] * axis).sum(axis=0) > 0).all()
    # y is across axis and reference alike, so that x lies in their plane.
    np.testing.assert_allclose((F[:, 1] * reference).sum(axis=0), 0, atol=1e-15)
    assert ((F[:, 0] * reference).sum(axis=0) > 0).all()
    for k in range(7):
        np.testing.assert_allclose(F[..., k].T @ F[..., k], np.eye(3), atol=3e-15)
        assert np.linalg.det(F[..., k]) > 0
