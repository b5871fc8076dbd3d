"""Elliptic Fourier descriptors: sums on paper, moved copies, and aligned distances by search."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from basepar_core.metrics import curve_shapes

ROUND = np.linspace(0, 2 * np.pi, 256, endpoint=False)


def plane(z):
    return np.stack([z.real, z.imag], axis=-1)


def four_bar(rng):
    """The closed path of a random crank-rocker: circles that meet."""
    ground, coupler, rocker = rng.uniform(2.5, 3.5, 3)
    line = ground - np.exp(1j * ROUND)
    along = (coupler**2 - rocker**2 + np.abs(line) ** 2) / (2 * np.abs(line))
    turned = line / np.abs(line) * (along + 1j * np.sqrt(coupler**2 - along**2)) / coupler
    return np.exp(1j * ROUND) + turned * complex(*rng.uniform(-4, 4, 2))


def moved(z, rng):
    """A copy that is turned, enlarged, elsewhere, begun elsewhere, run through backwards."""
    z = np.roll(z, rng.integers(len(z)))[:: rng.choice([1, -1])]
    turn = np.exp(1j * rng.uniform(0, 2 * np.pi))
    return rng.uniform(0.1, 9) * turn * z + complex(*rng.normal(size=2))


def test_coefficients_are_integrals_over_the_arc():
    """A triangle, by quadrature of its sides."""
    corners = np.array([0.2 + 0.1j, 1.3 - 0.4j, 0.6 + 0.9j])
    lengths = np.abs(np.roll(corners, -1) - corners)
    ends = np.concatenate([[0], np.cumsum(lengths)]) / lengths.sum() * 2 * np.pi
    found = curve_shapes.coefficients(plane(corners))
    node, weight = np.polynomial.legendre.leggauss(40)
    for order, one in ((1, found[0]), (3, found[2]), (-2, found[curve_shapes.HARMONICS + 1])):
        total = 0j
        for k, (low, high) in enumerate(pairwise(ends)):
            s = (low + high) / 2 + (high - low) / 2 * node
            share = (s - low) / (high - low)
            z = corners[k] + share * (corners[(k + 1) % 3] - corners[k])
            total += (high - low) / 2 * (weight * z * np.exp(-1j * order * s)).sum()
        assert one == pytest.approx(total / (2 * np.pi), abs=1e-14)


def test_a_moved_copy_has_the_same_descriptors():
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = four_bar(rng)
        here, there = (curve_shapes.descriptors(plane(one)) for one in (z, moved(z, rng)))
        # Rounding, times the inverse of the first harmonic's smaller part.
        np.testing.assert_allclose(there, here, atol=1e-11)
        assert curve_shapes.distances(there, here)[0] < 3e-8  # a root of rounding


def test_a_mirrored_copy_has_others():
    rng = np.random.default_rng(1)
    z = four_bar(rng)
    here, there = (curve_shapes.descriptors(plane(one)) for one in (z, z.conj()))
    assert curve_shapes.distances(there, here)[0] > 0.01


def test_an_ellipse_is_made_again():
    """Of size 1, its long axis along x; over its arc 10 harmonics leave 1e-3 out."""
    z = 3 * np.exp(0.7j) * (np.cos(ROUND) + 0.6j * np.sin(ROUND)) + 2 - 1j
    again = curve_shapes.polygon(curve_shapes.descriptors(plane(z)), 64) @ [1, 1j]
    wide, high = again.real.max(), again.imag.max()
    assert high / wide == pytest.approx(0.6, abs=2e-3)
    on = (again.real / wide) ** 2 + (again.imag / high) ** 2
    np.testing.assert_allclose(on, 1, atol=5e-3)
    assert np.sqrt((np.abs(again) ** 2).mean()) == pytest.approx(1, abs=1e-12)  # Parseval


def aligned(z, wanted):
    """Least root mean square distance over place, turn, size, beginning and direction."""
    count, best = len(z), np.inf
    for one in (z, z[::-1]):
        tried = np.array([_left(np.roll(one, k), wanted) for k in range(0, count, 4)])
        near = 4 * int(tried.argmin())

        orders = np.fft.fftfreq(count, 1 / count)

        def away(shift, one=one, near=near, orders=orders):
            ahead = np.exp(2j * np.pi * orders * (shift - near) / count)
            return _left(np.fft.ifft(np.fft.fft(one) * ahead), wanted)

        found = minimize_scalar(away, bounds=(-4, 4), options={"xatol": 1e-10})
        best = min(best, found.fun)
    return best


def _left(z, wanted):
    a, b = z - z.mean(), wanted - wanted.mean()
    w = (a.conj() @ b) / (a.conj() @ a).real
    return np.sqrt((np.abs(w * a - b) ** 2).mean() / (np.abs(b) ** 2).mean())


def test_distances_are_those_of_curves_laid_onto_each_other():
    """Against points at even lengths, and least squares over all that is free."""
    rng = np.random.default_rng(2)
    described = curve_shapes.descriptors(plane(np.array([four_bar(rng) for _ in range(12)])))
    curves = curve_shapes.polygon(described, 128) @ [1, 1j]
    wanted = 0
    found = curve_shapes.distances(described[1:], described[wanted])
    expected = [aligned(one, curves[wanted]) for one in curves[1:]]
    np.testing.assert_allclose(found, expected, atol=1e-6)  # the search's last steps
    assert np.argmin(found) == np.argmin(expected)
