"""Four-bar and slider-crank on paper: circles that meet, and a torque written out by hand."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
GRAVITY = 9.81


@dataclass(frozen=True)
class Reach:
    """Whether a four-bar closes, per variant.

    Attributes
    ----------
    assembles, moves
        bool: on the straight way from the nominal geometry to the variant's at the crank's
        assembly angle; and all the way between the least and the greatest crank angle.
    clearance
        How far the nearest failure or the nearest pass is, as a share of the reach: decisions
        closer to zero than rounding mean nothing.
    """

    assembles: Array
    moves: Array
    clearance: Array


def _sides(v: Mapping[str, Array]) -> tuple[Array, Array]:
    return np.hypot(v["lx2"], v["ly2"]), v["lx3"]


def _clearances(v: Mapping[str, Array], angle: Array) -> Array:
    """Distance from the crank's tip to D against what coupler and rocker span: < 0 fails."""
    two, three = _sides(v)
    x, y = v["Dx"] - v["lx1"] * np.cos(angle), v["Dy"] - v["lx1"] * np.sin(angle)
    d = np.hypot(x, y)
    return np.minimum(two + three - d, d - abs(two - three)) / (two + three)


def reach(
    nominal: Mapping[str, float], v: Mapping[str, Array], start: float, low: float, high: float
) -> Reach:
    """Reachability of the library's four-bar.

    Parameters
    ----------
    nominal, v
        Lengths: nominal, and of the variants.
    start, low, high
        Crank angle at assembly, and the range of the motion, rad.
    """
    lengths = ("lx1", "lx2", "ly2", "lx3", "Dx", "Dy")
    share = np.linspace(0, 1, 2001)[:, None]
    way = {n: nominal[n] + share * (v[n] - nominal[n]) for n in lengths}
    building = _clearances(way, np.array(start)).min(axis=0)
    # The distance is extreme at the ends of the range, or where crank and ground are in line.
    inline = np.arctan2(v["Dy"], v["Dx"])
    angles = [np.full_like(inline, low), np.full_like(inline, high)]
    for k in range(-4, 5):
        angles.append(np.clip(inline + k * np.pi, low, high))
    moving = np.min([_clearances(v, angle) for angle in angles], axis=0)
    both = np.minimum(building, moving)
    return Reach(building > 0, moving > 0, np.minimum(abs(building), abs(both)))


def expected_outcomes(
    nominal: Mapping[str, float], v: Mapping[str, Array], start: float, drive: Array
) -> Array:
    """Status (variant,) of following the crank's values `drive` from `start`, rad.

    1 closed, 3 unassemblable, 4 lost during motion: numbers of docs/sweep-files.md, "Statuses".
    """
    low, high = min(start, drive.min()), max(start, drive.max())
    truth = reach(nominal, v, start, low, high)
    # Clearances this small are decided by rounding: the caller's variants must have none.
    assert truth.clearance.min() > 1e-7
    return np.where(truth.assembles, np.where(truth.moves, 1, 4), 3)


def four_bar_angles(v: Mapping[str, Array], crank: Array, side: int) -> tuple[Array, Array, Array]:
    """Values of joints B, C and D at crank angles; `side` +1 or −1 is where C lies from B to D.

    B turns the coupler against the crank, C the rocker against the coupler, and D the rocker
    (its frame sits at C, its x-axis points to D) against the world.
    """
    two, three = _sides(v)
    bx, by = v["lx1"] * np.cos(crank), v["lx1"] * np.sin(crank)
    x, y = v["Dx"] - bx, v["Dy"] - by
    d = np.hypot(x, y)
    inner = np.arccos((two**2 + d**2 - three**2) / (2 * two * d))
    to_c = np.arctan2(y, x) + side * inner
    cx, cy = bx + two * np.cos(to_c), by + two * np.sin(to_c)
    coupler = to_c - np.arctan2(-v["ly2"], v["lx2"])
    rocker = np.arctan2(v["Dy"] - cy, v["Dx"] - cx)
    return coupler - crank, rocker - coupler, rocker


def slider_crank_columns(l1: float, l2: float, q: Array, dq: Array, ddq: Array) -> Array:
    """W (sample, parameter) of the library's slider-crank: τ by virtual work.

    Everything is a function of the crank angle q: a point r(q) has r̈ = r″ q̇² + r′ q̈.
    """
    s, c = np.sin(q), np.cos(q)
    ratio = l1 / l2
    root = np.sqrt(1 - (ratio * s) ** 2)
    # The rod's angle b: l1 sin q + l2 sin b = 0.
    b = -np.arcsin(ratio * s)
    b1, b2 = -ratio * c / root, ratio * s * (1 - ratio**2) / root**3
    still = np.zeros_like(q)
    pin_joint = [(-l1 * s, -l1 * c), (l1 * c, -l1 * s)]  # first and second derivatives by q
    slide = [
        pin_joint[0][0] - l2 * np.sin(b) * b1,
        pin_joint[0][1] - l2 * np.cos(b) * b1**2 - l2 * np.sin(b) * b2,
    ]
    crank = _body(q, np.ones_like(q), still, [(still, still)] * 2, dq, ddq)
    rod = _body(b, b1, b2, pin_joint, dq, ddq)
    slider = _body(still, still, still, [(slide[0], slide[1]), (still, still)], dq, ddq)
    return np.concatenate([crank, rod, slider], axis=1)


def _body(
    angle: Array,
    turn: Array,
    bend: Array,
    origin: list[tuple[Array, Array]],
    dq: Array,
    ddq: Array,
) -> Array:
    """Virtual work per unit m, mx, my, J of a body at an angle; derivatives are by q."""
    c, s = np.cos(angle), np.sin(angle)
    (x1, x2), (y1, y2) = origin
    ax, ay = x2 * dq**2 + x1 * ddq, y2 * dq**2 + y1 * ddq + GRAVITY
    w, dw = turn * dq, bend * dq**2 + turn * ddq
    columns = [x1 * ax + y1 * ay]
    for ex, ey in ((c, s), (-s, c)):  # the body's axes; a dipole along each
        nx, ny = -ey, ex
        along = turn * (nx * ax + ny * ay)
        own = x1 * (nx * dw - ex * w**2) + y1 * (ny * dw - ey * w**2)
        columns.append(along + own)
    columns.append(turn * dw)
    return np.stack(columns, axis=1)
