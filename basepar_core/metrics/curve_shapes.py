"""Shapes of closed plane curves: elliptic Fourier descriptors, and how near two shapes are.

A curve is taken over its arc length, so that how fast it is run through does not count, and its
Fourier coefficients are those of the polygon through its samples, in closed form (Kuhl & Giardina,
Computer Graphics and Image Processing 18, 1982). Descriptors are these without the constant,
of size 1, turned and begun where the first harmonic's ellipse has its long axis: they are the
same for a curve that is moved, turned, enlarged, begun elsewhere or run through backwards.

Where that ellipse is nearly a circle or a line its axis is nobody's, and descriptors of near
curves are far from each other. `distances` therefore asks for none: it turns and begins one curve
against the other as they fit best, by correlation.
"""

from typing import Any

import numpy as np

from basepar_core.arrays import Array

#: Harmonics of a curve. Of random crank-rockers 10 leave 0.5 % of the size out at the median and
#: 1.3 % of 99 in 100, by corners and cusps.
HARMONICS = 10
#: Names of a curve's numbers: cosine and sine of x, then of y, harmonic by harmonic.
LABELS = tuple(f"{letter}{n}" for n in range(1, HARMONICS + 1) for letter in "abcd")
#: Corners of the curve through a target's points, and points that say which curve they are of.
CORNERS, LEAST = 256, 5
#: Beginnings that are tried for a correlation, and Newton's steps from the best of these.
_GRID, _STEPS = 64, 4
#: Rows whose correlations are made at once.
_BLOCK = 1 << 14
_N = np.arange(1, HARMONICS + 1)
_ORDERS = np.concatenate([_N, -_N])


def coefficients(points: Array) -> Array:
    """Complex Fourier coefficients (…, order) of closed polygons over their arc length.

    Parameters
    ----------
    points
        (…, point, 2) corners, m; the last is joined to the first.

    Returns
    -------
    Of orders 1 to `HARMONICS`, then −1 to −`HARMONICS`, m: the curve is the sum of the
    coefficients times exp(i·order·s), s from 0 to 2π, and of its mean.
    """
    corners = points[..., 0] + 1j * points[..., 1]
    sides = np.roll(corners, -1, axis=-1) - corners
    lengths = np.abs(sides)
    ends = np.cumsum(lengths, axis=-1)
    around = ends[..., -1:]
    with np.errstate(all="ignore"):
        directions = np.where(lengths > 0, sides / np.where(lengths > 0, lengths, 1.0), 0.0)
        place = 2j * np.pi * ends / around
    found = np.empty((*corners.shape[:-1], len(_ORDERS)), complex)
    for k, n in enumerate(_ORDERS):
        turned = np.exp(-n * place)
        stepped = turned - np.concatenate(
            [np.ones_like(turned[..., :1]), turned[..., :-1]], axis=-1
        )
        found[..., k] = (directions * stepped).sum(axis=-1) * around[..., 0] / (2 * np.pi * n) ** 2
    return found


def descriptors(points: Array) -> Array:
    """(…, label) of closed polygons (…, point, 2); nan where all corners are one."""
    return _real(_normal(coefficients(points)))


def outline(points: Array) -> Array:
    """Even corners (corner, 2) of the smooth closed curve through points (point, 2), in order.

    A periodic cubic spline over the roots of the chords (Lee, Computer-Aided Design 21, 1989),
    which does not swing where points are close together.
    """
    from scipy.interpolate import CubicSpline  # a fifth of a worker's start, and few need it

    apart = (points != np.roll(points, 1, axis=0)).any(axis=1)
    ring = points[apart] if apart.any() else points[:1]
    ring = np.concatenate([ring, ring[:1]])
    chords = np.sqrt(np.linalg.norm(np.diff(ring, axis=0), axis=1))
    at = np.concatenate([[0.0], np.cumsum(chords)])
    curve = CubicSpline(at, ring, bc_type="periodic")
    found: Array = curve(np.linspace(0, at[-1], CORNERS, endpoint=False))
    return found


def is_ring(points: Array) -> bool:
    """Whether points (point, 2) go round: the last is as near to the first as neighbours are."""
    if len(np.unique(points, axis=0)) < LEAST:
        return False
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    gap = np.linalg.norm(points[0] - points[-1])
    return bool(gap <= 2 * max(steps[0], steps[-1], np.median(steps)))


def polygon(described: Array, count: int) -> Array:
    """Points (…, point, 2) of the curve that descriptors (…, label) are of, of size 1."""
    s = 2 * np.pi * np.arange(count) / count
    found = _complex(described) @ np.exp(1j * _ORDERS[:, None] * s)
    return np.stack([found.real, found.imag], axis=-1)


def distances(described: Array, wanted: Array) -> Array:
    """How far shapes (row, label) are from one (label,): 0 for the same one, at most 1.

    The root mean square distance of one curve from the other over their arc lengths, where the
    first is moved, turned, enlarged, begun and directed as fits best, over the root mean square
    radius of the other. nan for rows without descriptors.
    """
    rows, target = _complex(np.atleast_2d(described)), _complex(wanted)
    return np.concatenate(
        [_distances(rows[k : k + _BLOCK], target) for k in range(0, len(rows), _BLOCK)]
    )


def _distances(rows: Array, target: Array) -> Array:
    ways = (target, np.roll(target, HARMONICS))  # backwards, orders change their signs
    best = np.max([_correlation(rows.conj() * way) for way in ways], axis=0)
    return np.sqrt(np.maximum(1 - best, 0.0))


def _correlation(products: Array) -> Array:
    """(row,) greatest square of |Σ products·exp(i·order·s)| over s."""
    spread = np.zeros((len(products), _GRID), complex)
    spread[:, _ORDERS] = products
    tried = np.abs(np.fft.ifft(spread, axis=1)) * _GRID
    s = 2 * np.pi / _GRID * tried.argmax(axis=1)
    best = tried.max(axis=1) ** 2
    for _ in range(_STEPS):
        turned = products * np.exp(1j * s[:, None] * _ORDERS)
        value, rate, bend = ((turned * (1j * _ORDERS) ** order).sum(axis=1) for order in range(3))
        best = np.maximum(best, np.abs(value) ** 2)
        slope = 2 * (value.conj() * rate).real
        curved = 2 * (np.abs(rate) ** 2 + (value.conj() * bend).real)
        s = s - np.where(curved < 0, slope / np.where(curved < 0, curved, 1.0), 0.0)
    return best


def _normal(found: Array) -> Array:
    """Coefficients of size 1, turned and begun by the first harmonic."""
    with np.errstate(all="ignore"):
        found = found / np.sqrt((np.abs(found) ** 2).sum(axis=-1, keepdims=True))
    back = np.abs(found[..., HARMONICS]) > np.abs(found[..., 0])
    found = np.where(back[..., None], np.roll(found, HARMONICS, axis=-1), found)
    first, last = np.angle(found[..., 0]), np.angle(found[..., HARMONICS])
    turn, begin = -(first + last) / 2, -(first - last) / 2
    found = found * np.exp(1j * (turn[..., None] + begin[..., None] * _ORDERS))
    # Half a turn and half a way round leave the ellipse, and change signs of even orders: the
    # second one's is chosen.
    even = _ORDERS % 2 == 0
    second = (found[..., 1] + found[..., HARMONICS + 1]).real
    return np.where(even & (second < 0)[..., None], -found, found)


def _real(found: Array) -> Array:
    """As cosine and sine of x and y."""
    up, down = found[..., :HARMONICS], found[..., HARMONICS:]
    cosine, sine = up + down, 1j * (up - down)
    parts = np.stack([cosine.real, sine.real, cosine.imag, sine.imag], axis=-1)
    return parts.reshape(*found.shape[:-1], 4 * HARMONICS)


def _complex(described: Array) -> Array:
    parts: Any = np.moveaxis(described.reshape(*described.shape[:-1], HARMONICS, 4), -1, 0)
    cosine, sine = parts[0] + 1j * parts[2], parts[1] + 1j * parts[3]
    return np.concatenate([(cosine - 1j * sine) / 2, (cosine + 1j * sine) / 2], axis=-1)
