"""Feet of points on sampled curves, against the nearest points of the curves themselves."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from basepar_core.metrics.sampled_curves import Feet

VARIANTS, POINTS, WAVES = 12, 9, np.array([1, 2])


def curve(shares, angle, order=0):
    """Trigonometric curves (…, angle) of shares (…, 4), or derivatives of theirs."""
    turned = WAVES[:, None] * angle + order * np.pi / 2
    basis = np.concatenate([np.cos(turned), np.sin(turned)])
    return shares @ (np.tile(WAVES**order, 2)[:, None] * basis)


def drawn(axes):
    """Shares (variant, axis, 4) and targets (1, point, axis)."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(VARIANTS, axes, 4)), rng.normal(size=(1, POINTS, axes))


def distance(shares, target, end, ring):
    """Of a point from a curve: the nearest of many points, then Newton's method."""
    angle = np.linspace(0, end, 4000, endpoint=False)
    away = ((curve(shares, angle) - target[:, None]) ** 2).sum(axis=0)
    at = angle[[away.argmin()]]
    for _ in range(8):
        gap, rate, bend = (curve(shares, at, order) for order in range(3))
        gap = gap - target[:, None]
        at = at - (gap * rate).sum(axis=0) / (rate * rate + gap * bend).sum(axis=0)
        at = at if ring else np.clip(at, 0, end)
    return np.sqrt(((curve(shares, at) - target[:, None]) ** 2).sum())


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("samples", [13, 16, 37, 128])
def test_feet_are_as_far_as_the_curve_is(samples, ring, axes):
    shares, targets = drawn(axes)
    end = 2 * np.pi if ring else np.pi
    angle, step = np.linspace(0, end, samples, endpoint=not ring, retstep=True)
    feet = Feet.nearest(curve(shares, angle), np.full(VARIANTS, ring), targets)
    away = np.linalg.norm(feet.at()[0] - targets, axis=2)
    for v in range(VARIANTS):
        exact = [distance(shares[v], target, end, ring) for target in targets[0]]
        # The cubic errs by h⁴/24 of the fourth derivative at most, outside its interval too.
        fourth = (np.abs(shares[v]) * np.tile(WAVES**4, 2)).sum(axis=1)
        assert np.abs(away[v] - exact).max() <= step**4 / 24 * np.linalg.norm(fourth)


def tipped(kind, angle, loop):
    """A curve (axis, angle) that reverses in cusps (of a deltoid three), or in small loops about
    where they were."""
    if kind == "two tips":
        return np.stack([np.cos(angle), np.sin(angle) ** 3 + loop * np.sin(angle)])
    along = np.cos(angle) - (0.5 + loop) * np.cos(2 * angle)
    return np.stack([along, np.sin(angle) + 0.5 * np.sin(2 * angle)])


def cubic_distance(track, ring, target):
    """Of a point from the curve of cubics: the least of 400 points on each of them."""
    count, least = track.shape[1], np.inf
    for first in range(count if ring else count - 1):
        node = first if ring else min(max(first, 1), count - 3)
        share = np.linspace(0, 1, 401)[:, None] + first - node
        four = track[:, np.arange(node - 1, node + 3) % count].T
        found = np.polynomial.polynomial.polyvander(share[:, 0], 3) @ np.linalg.solve(
            np.vander([-1.0, 0.0, 1.0, 2.0], increasing=True), four
        )
        least = min(least, np.linalg.norm(found - target, axis=1).min())
    return least


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("samples", [24, 37, 128])
@pytest.mark.parametrize("kind", ["two tips", "three tips"])
def test_next_to_a_tip_the_nearest_of_several_feet_is_found(kind, samples, ring):
    """A foot on either side of a tip, samples apart, of which none is the nearest sample."""
    rng = np.random.default_rng(5)
    angle = np.linspace(0, 2 * np.pi, samples, endpoint=not ring)
    for loop, ahead in product((-0.02, 0.0, 0.02), (0.0, 0.02)):
        track = tipped(kind, angle + ahead, loop)
        speed = np.linalg.norm(np.gradient(track, axis=1), axis=0)[2:-2]
        tip = track[:, 2 + speed.argmin()]
        targets = tip + rng.normal(size=(30, 2)) * np.repeat([0.002, 0.01, 0.05], 10)[:, None]
        feet = Feet.nearest(track[None].copy(), np.array([ring]), targets[None])
        away = np.linalg.norm(feet.at()[0][0] - targets, axis=1)
        dense = [cubic_distance(track, ring, target) for target in targets]
        assert (away <= np.array(dense) * (1 + 1e-12)).all()  # they are no nearer than feet
        between = np.linalg.norm(np.diff(track, axis=1), axis=0).max() / 400
        assert (away >= dense - between).all()


def test_a_foot_does_not_depend_on_the_other_curves():
    shares, targets = drawn(2)
    track = curve(shares, np.linspace(0, 2 * np.pi, 37, endpoint=False))
    whole = Feet.nearest(track, np.ones(VARIANTS, bool), targets)
    for v in range(VARIANTS):
        alone = Feet.nearest(track[v : v + 1].copy(), np.ones(1, bool), targets)
        assert np.array_equal(alone.index[0], whole.index[v])
        assert np.array_equal(alone.share[0], whole.share[v])


def test_a_curve_that_did_not_close_leaves_the_others_alone():
    shares, targets = drawn(2)
    track = curve(shares, np.linspace(0, 2 * np.pi, 37, endpoint=False))
    whole = Feet.nearest(track, np.ones(VARIANTS, bool), targets)
    track[3] = np.nan
    found = Feet.nearest(track, np.ones(VARIANTS, bool), targets)
    others = np.arange(VARIANTS) != 3
    assert np.array_equal(found.share[others], whole.share[others])
    assert np.array_equal(found.index[others], whole.index[others])


def test_four_samples_of_an_open_curve_are_one_cubic():
    u = np.linspace(0, 1, 4)
    track = np.stack([u, u**3 - u])[None]
    target = np.array([[[0.5, 0.25], [-1.0, 0.0], [2.0, 0.0]]])
    feet = Feet.nearest(track, np.zeros(1, bool), target)
    dense = np.linspace(0, 1, 100_001)
    away = np.hypot(dense - 0.5, dense**3 - dense - 0.25).min()
    # A cubic through four of its own points is itself; the dense ones are 1e-5 apart.
    assert np.linalg.norm(feet.at()[0][0, 0] - target[0, 0]) == pytest.approx(away, abs=1e-10)
    assert (feet.index + feet.share)[0, 1:].tolist() == [0, 3]  # beyond its ends
    assert feet.ends[0].tolist() == [False, True, True]


@pytest.mark.parametrize("ring", [True, False])
def test_a_path_that_rests_and_one_that_is_lost_have_feet(ring):
    shares, targets = drawn(2)
    track = curve(shares, np.linspace(0, np.pi, 37))
    track[0, :, 10:20] = track[0, :, [10]].T  # it stays there
    track[1] = 0.25  # a point
    track[2, :, 20:] = np.nan
    feet = Feet.nearest(track, np.full(VARIANTS, ring), targets)
    away = np.linalg.norm(feet.at()[0] - targets, axis=2)
    nearest = np.linalg.norm(track.swapaxes(1, 2)[:, :, None] - targets[:, None], axis=3).min(1)
    sound = np.arange(VARIANTS) != 2
    assert (away[sound] <= nearest[sound] * (1 + 1e-14)).all()
    np.testing.assert_allclose(away[1], nearest[1], rtol=1e-14)


#: Curves that end where memory ends: whoever reads on is killed.
AT_THE_END = """
import ctypes, mmap
import numpy as np
from basepar_core.metrics.sampled_curves import Feet

size = mmap.PAGESIZE
area = mmap.mmap(-1, 2 * size)
start = ctypes.addressof(ctypes.c_char.from_buffer(area))
if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), size, 0):
    raise OSError(ctypes.get_errno())
angle = np.linspace(0, 6, 37)
track = np.frombuffer(area, count=2 * 2 * 37, offset=size - 2 * 2 * 37 * 8).reshape(2, 2, 37)
track[:] = np.cos(angle), np.sin(angle)
feet = Feet.nearest(track, np.array([True, False]), np.array([[[2.0, 1.0], [-1.0, 0.3]]]))
print(np.sqrt(((feet.at()[0] - [[2.0, 1.0], [-1.0, 0.3]]) ** 2).sum(axis=-1)).tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect of the C library")
def test_nothing_is_read_beyond_a_curve():
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    away = np.hypot([2.0, -1.0], [1.0, 0.3]) - 1
    # Cubics err by 3/128 h⁴, h a sixth.
    np.testing.assert_allclose(json.loads(done.stdout), [away, away], rtol=0, atol=1.9e-5)
