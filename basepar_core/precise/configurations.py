"""Poses, velocities and accelerations of one variant at one sample, to all working digits.

Newton's method on all bodies' poses from a float64 configuration; midpoints after every solve;
what is left open is measured afterwards, never assumed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx
from scipy.linalg import qr

from ..errors import BaseparError
from ..mechanism import Mechanism
from ..topology import joint_of_value
from .arithmetic import (
    ZERO,
    Matrix,
    Vec,
    add,
    cayley,
    exact,
    log2_size,
    middle,
    of_quaternion,
    product,
)
from .constraints import Drive, Equation, Poses, Row, Twists, joint_equations
from .geometry import Geometry
from .motion import State

#: Newton doubles its digits; from 15 of them to 2 000 takes eight steps.
NEWTON_STEPS = 12
#: A float64 configuration is off by rounding times the loops' condition, at most 1e-8 (closure's
#: bound on dead points); a first update larger than this may lead to another branch.
NEAR = 1e-6
#: Rounding of a gap: bits lost in some tens of operations on numbers of order one.
ROUNDING_BITS = 16


class NotClosedError(BaseparError):
    """Newton's method left a loop open at a precision at which it should be closed."""

    kind = "not closed"


@dataclass(frozen=True)
class Closed:
    """One sample: poses, their motion, and unit-rate motions per coordinate.

    `gap` is the base-2 logarithm of a bound on every equation's residual (m or rad), those not
    solved for included: at 320 digits no float holds the residual itself.
    """

    poses: Poses
    twists: Twists
    accelerations: Twists
    modes: tuple[Twists, ...]
    gap: float


class System:
    """The equations of one variant; rows chosen once from its first sample.

    Parameters
    ----------
    mechanism
        For its coordinates.
    dims
        Geometry at the precision in force.
    """

    def __init__(self, mechanism: Mechanism, dims: Geometry):
        self.bodies, self.planar = len(mechanism.bodies), mechanism.planar
        self.kept = (2, 3, 4) if self.planar else tuple(range(6))
        self.unknowns = len(self.kept) * self.bodies
        self.fixed: list[Equation] = [
            equation for joint in dims.joints for equation in joint_equations(joint, self.planar)
        ]
        self.drives, self.order = _drives(mechanism, dims)
        self.rows: list[int] | None = None

    def close(self, start: Poses, state: State) -> Closed:
        """Close all joints at prescribed coordinates, from nearby poses.

        Raises
        ------
        NotClosedError
            Where Newton's method does not converge, or an equation that was not solved for
            (a loop with redundant constraints) stays open.
        """
        q = [[state[0][k] for k in indices] for indices in self.order]
        driven = [e for d, mine in zip(self.drives, q, strict=True) for e in d.equations(mine)]
        at = start
        for turn in range(NEWTON_STEPS):
            gaps, rows = self._rows(at, driven)
            step = self._solve(rows, arb_mat(len(gaps), 1, [-gap for gap in gaps]))
            update = max(map(log2_size, step.entries()), default=-math.inf)
            if turn == 0 and not update < math.log2(NEAR):
                raise NotClosedError(f"the float64 configuration is off by {_decimal(update)}")
            at = self._moved(at, step)
            # Quadratic convergence: after an update of half the digits all digits are right.
            if update < -ctx.prec / 2 - 4:
                break
        return self._moving(at, driven, q, state)

    def _moving(
        self, at: Poses, driven: Sequence[Equation], q: list[list[arb]], state: State
    ) -> Closed:
        gaps, rows = self._rows(at, driven, every=True)
        gap = max(map(log2_size, gaps), default=-math.inf)
        closed = ROUNDING_BITS - ctx.prec
        if not gap < closed:
            raise NotClosedError(
                f"the loops stay open by {_decimal(gap)}, where {ctx.prec} bits close them to "
                f"{_decimal(closed)}"
            )
        assert self.rows is not None
        rows = [rows[k] for k in self.rows]
        unit = self._twists(self._solve(rows, self._unit_rates(at, q)))
        rates = state[1]
        twists = Twists(
            [_combined([mode.omega[b] for mode in unit], rates) for b in range(self.bodies)],
            [_combined([mode.v[b] for mode in unit], rates) for b in range(self.bodies)],
        )
        equations = [*self.fixed, *driven]
        right = [-equations[k].bias(at, twists) for k in self.rows if k < len(self.fixed)]
        for drive, mine, indices in zip(self.drives, q, self.order, strict=True):
            speeds, seconds = ([state[d][k] for k in indices] for d in (1, 2))
            right += drive.second(at, twists, mine, speeds, seconds)
        second = self._twists(self._solve(rows, arb_mat(len(right), 1, right)))[0]
        return Closed(at, twists, second, tuple(unit), gap)

    def _rows(
        self, at: Poses, driven: Sequence[Equation], every: bool = False
    ) -> tuple[list[arb], list[Row]]:
        found = [equation.row(at) for equation in (*self.fixed, *driven)]
        if self.rows is None:
            self.rows = self._independent([row for _, row in found])
        if not every:
            found = [found[k] for k in self.rows]
        return [gap for gap, _ in found], [row for _, row in found]

    def _independent(self, rows: list[Row]) -> list[int]:
        """As many equations as unknowns, the drives' among them, in order."""
        count = len(self.fixed)
        flat = np.array([float(x) for row in rows for x in self._dense(row)])
        dense = flat.reshape(len(rows), self.unknowns)
        if len(rows) == self.unknowns:
            return list(range(len(rows)))
        drives = np.linalg.qr(dense[count:].T)[0]
        rest = dense[:count] - dense[:count] @ drives @ drives.T
        order = qr(rest.T, mode="r", pivoting=True)[1]
        chosen = sorted(int(k) for k in order[: self.unknowns - (len(rows) - count)])
        return [*chosen, *range(count, len(rows))]

    def _dense(self, row: Row) -> list[arb]:
        entries = [ZERO] * self.unknowns
        width = len(self.kept)
        for body, omega, v in row:
            if body >= 0:
                six = (*omega, *v)
                entries[body * width : (body + 1) * width] = [six[k] for k in self.kept]
        return entries

    def _solve(self, rows: list[Row], right: arb_mat) -> arb_mat:
        flat = [entry for row in rows for entry in self._dense(row)]
        matrix = arb_mat(self.unknowns, self.unknowns, flat)
        try:
            return matrix.solve(right, algorithm="approx").mid()
        except ZeroDivisionError:
            raise NotClosedError("the mechanism is singular at a sample") from None

    def _unit_rates(self, at: Poses, q: list[list[arb]]) -> arb_mat:
        assert self.rows is not None
        count = sum(map(len, self.order))
        free = self.unknowns - count
        table = [[ZERO] * count for _ in range(self.unknowns)]
        top = free
        for drive, mine, indices in zip(self.drives, q, self.order, strict=True):
            for line in drive.modes(at, mine):
                for k, entry in zip(indices, line, strict=True):
                    table[top][k] = entry
                top += 1
        return arb_mat(table)

    def _twists(self, solution: arb_mat) -> list[Twists]:
        width = len(self.kept)
        found = []
        for column in zip(*solution.tolist(), strict=True):
            omega: list[Vec] = []
            v: list[Vec] = []
            for b in range(self.bodies):
                six = [ZERO] * 6
                mine = column[b * width : (b + 1) * width]
                for place, entry in zip(self.kept, mine, strict=True):
                    six[place] = entry
                omega.append((six[0], six[1], six[2]))
                v.append((six[3], six[4], six[5]))
            found.append(Twists(omega, v))
        return found

    def _moved(self, at: Poses, step: arb_mat) -> Poses:
        (change,) = self._twists(step)
        R: list[Matrix] = []
        for turn, old in zip(change.omega, at.R, strict=True):
            a, b, c = product(cayley(turn), old)
            R.append((middle(a), middle(b), middle(c)))
        return Poses(R, [middle(add(p, shift)) for p, shift in zip(at.p, change.v, strict=True)])


def _combined(vectors: Sequence[Vec], rates: Sequence[arb]) -> Vec:
    """Σ rate · vector."""
    return middle(
        [sum((v[i] * s for v, s in zip(vectors, rates, strict=True)), ZERO) for i in range(3)]
    )


def _decimal(log2: float) -> str:
    return f"10^{log2 * math.log10(2):.1f} (m or rad)"


def _drives(mechanism: Mechanism, dims: Geometry) -> tuple[list[Drive], list[tuple[int, ...]]]:
    """Driven joints, and per joint the numbers of its coordinates."""
    places: dict[int, list[tuple[int, int]]] = {}
    for k, name in enumerate(mechanism.coordinates):
        joint, place = joint_of_value(mechanism, name)
        places.setdefault(mechanism.joints.index(joint), []).append((place, k))
    drives, order = [], []
    for number, found in places.items():
        found.sort()
        drives.append(Drive(dims.joints[number], tuple(place for place, _ in found)))
        order.append(tuple(k for _, k in found))
    return drives, order


def poses_from_floats(R: np.ndarray, p: np.ndarray, planar: bool) -> Poses:
    """Exactly orthogonal poses next to float64 ones; R (body, 3, 3), p (body, 3)."""
    turned = []
    for matrix in R:
        w, x, y, z = _quaternion(matrix)
        if planar:
            x = y = 0.0
        a, b, c = of_quaternion([exact(float(entry)) for entry in (w, x, y, z)])
        turned.append((middle(a), middle(b), middle(c)))
    origins = [(exact(float(x)), exact(float(y)), exact(float(z))) for x, y, z in p]
    return Poses(turned, [(x, y, ZERO) for x, y, _ in origins] if planar else list(origins))


def _quaternion(R: np.ndarray) -> np.ndarray:
    """A quaternion of a rotation matrix: the largest of the four columns 4 q_k q."""
    trace = np.trace(R)
    table = np.empty((4, 4))
    table[0, 0] = 1 + trace
    table[1:, 1:] = R + R.T + np.diag([1 - trace] * 3)
    table[0, 1:] = table[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    return table[np.argmax(np.diag(table))]
