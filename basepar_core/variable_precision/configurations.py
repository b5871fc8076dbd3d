"""Poses, velocities and accelerations of one variant at one sample, to all working digits.

Newton's method on all bodies' poses from a float64 configuration, in midpoints only (balls would
grow by every step). What it ends at is then proved: Krawczyk's operator encloses the true
configuration, and the linear systems of velocities and accelerations are solved for everything
that the enclosure allows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from flint import arb, arb_mat, ctx

from basepar_core.dynamics import independent_rows
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import add

from .arithmetic import ZERO, Quaternion, Vec, ball, exact, of_quaternion, turned_by, working
from .constraints import (
    Drive,
    Equation,
    Poses,
    Row,
    Twists,
    joint_equations,
)
from .coupled_equations import coupled_equations, near, values_in
from .exact_geometry import Geometry
from .krawczyk import FloatMatrix, Inverse, NotClosedError, worst
from .motion import State

#: Newton doubles its digits; from 15 of them to 2 000 takes eight steps, and chords between them.
NEWTON_STEPS = 32
#: A float64 configuration is off by rounding times the loops' condition, at most 1e-8 (closure's
#: bound on dead points); a first update larger than this may lead to another branch.
NEAR = 1e-6
#: Bits that Newton's first step, from some 48 right ones, can make use of.
FIRST_BITS = 128
#: Steps with one Jacobian: each gains as many bits as were right where the Jacobian was made, at a
#: quarter of the cost of a new one, which doubles them.
CHORDS = 3
#: Bits that the loops' second derivatives and condition take of those.
LOST_BITS = 8
#: Loops that are open by so many of the last bits (m or rad) are closed.
LAST_BITS = 12


@dataclass(frozen=True)
class Placement:
    """Exact poses: quaternions (of any length) and origins of the bodies in the world.

    A rotation matrix of rounded numbers is not orthogonal; that of a quaternion is. `coupled`
    are the joint values of couplings, in the order of their terms, in float64; `jacobian` that of
    the equations, where a configuration was closed.
    """

    q: list[Quaternion]
    p: list[Vec]
    coupled: tuple[float, ...] = ()
    jacobian: arb_mat | None = None

    def poses(self) -> Poses:
        """Orientations and origins, as narrow as the precision in force makes them."""
        return Poses([of_quaternion(q) for q in self.q], list(self.p))

    def within(self, log2_radius: float) -> Poses:
        """All poses turned by Cayley vectors, and shifted, by at most this in any component."""
        shift = ball(log2_radius)
        found = Poses([], [])
        for q, p in zip(self.q, self.p, strict=True):
            # A turn t changes a quaternion's components by less than 3/2 |t| times the largest.
            change = ball(log2_radius + worst(q) + 0.6)
            found.R.append(of_quaternion([x + change for x in q]))
            found.p.append((p[0] + shift, p[1] + shift, p[2] + shift))
        return found

    def moved(self, turns: Sequence[Vec], shifts: Sequence[Vec]) -> "Placement":
        """Turned by Cayley vectors (rad) and shifted (m), rounded."""
        q = [turned_by(turn, old) for turn, old in zip(turns, self.q, strict=True)]
        p = [add(old, shift) for old, shift in zip(self.p, shifts, strict=True)]
        return Placement(
            [(w.mid(), x.mid(), y.mid(), z.mid()) for w, x, y, z in q],
            [(x.mid(), y.mid(), z.mid()) for x, y, z in p],
            self.coupled,
        )


@dataclass
class Closings:
    """How far a variant's samples have been closed: more digits begin there.

    Attributes
    ----------
    at
        Per sample where Newton's method last ended, with the Jacobian there.
    rows
        Numbers of the equations that are solved; None: not chosen yet.
    """

    at: dict[int, Placement] = field(default_factory=dict)
    rows: list[int] | None = None


@dataclass(frozen=True)
class Closed:
    """One sample: balls of poses and of unit-rate motions per coordinate, and what solves them.

    `at` is the configuration in their midst.
    """

    at: Placement
    poses: Poses
    modes: tuple[Twists, ...]
    jacobian: arb_mat
    inverse: Inverse


class System:
    """The equations of one variant; rows chosen once, if not given, from its first sample.

    Parameters
    ----------
    mechanism
        For its coordinates.
    dims
        Geometry at the precision in force.
    rows
        Equations to solve, as another `System` of this variant chose them.

    Attributes
    ----------
    redundant
        Whether some equations were left out because others imply them (in floats): they are
        seen to hold to all digits, but not proved to.
    norm
        What the inverse of a sample's Jacobian is expected not to exceed.
    """

    def __init__(self, mechanism: Mechanism, dims: Geometry, rows: list[int] | None = None):
        self.bodies, self.planar = len(mechanism.bodies), mechanism.planar
        self.kept = (2, 3, 4) if self.planar else tuple(range(6))
        self.unknowns = len(self.kept) * self.bodies
        self.joints: list[Equation] = [
            equation for joint in dims.joints for equation in joint_equations(joint, self.planar)
        ]
        self.further = coupled_equations(mechanism, dims)
        #: Of joints, then the further ones as of the sample that is looked at.
        self.fixed: list[Equation] = [*self.joints, *self.further]
        self.drives, self.order = _drives(mechanism, dims)
        self.rows = rows
        self.norm = 1.0

    @property
    def redundant(self) -> bool:
        return len(self.fixed) + sum(map(len, self.order)) > self.unknowns

    def close(self, start: Placement, state: State) -> Closed:
        """Close all joints at prescribed coordinates, from nearby poses, and prove it.

        Raises
        ------
        NotClosedError
            Where Newton's method does not converge, its end cannot be proved to be one, or an
            equation that was not solved for (a loop with redundant constraints) stays open.
        """
        self.fixed = [*self.joints, *near(self.further, start.coupled)]
        q = [[state[0][k] for k in indices] for indices in self.order]
        driven = [e for d, mine in zip(self.drives, q, strict=True) for e in d.equations(mine)]
        at, residual = self._newton(start, driven)
        poses, jacobian, proved = self._enclosed(at, residual, driven)
        unit = proved.solve(jacobian, self._unit_rates(poses, q))
        at = replace(at, jacobian=jacobian)
        return Closed(at, poses, tuple(self._twists(unit)), jacobian, proved)

    def coupled_values(self, at: Poses) -> dict[str, arb]:
        """Joint values that couplings name, next to `close`'s."""
        return values_in(self.fixed[len(self.joints) :], at)

    def _newton(self, start: Placement, driven: Sequence[Equation]) -> tuple[Placement, float]:
        """Where Newton's steps and chords between them end, and log2 of what stays open."""
        at, full, gain, right = start, ctx.prec, 0.0, 0.0
        matrix, fresh = start.jacobian, True
        # Where it was closed to fewer digits, the first step is a chord of that Jacobian's.
        bits = full if matrix is not None else min(full, FIRST_BITS)
        for turn in range(NEWTON_STEPS):
            with working(bits):
                poses = at.poses()
                if matrix is None or (fresh and turn):
                    matrix = self._matrix(self._rows(poses, driven))
                gaps = self._gaps(poses, driven)
                residual = worst(gaps)
                if bits == full and (residual < LAST_BITS - full or right >= full):
                    return at, residual
                step = self._step(matrix, gaps)
                update = worst(step.entries())
                if turn == 0 and not update < math.log2(NEAR):
                    raise NotClosedError(f"the float64 configuration is off by {_decimal(update)}")
                (change,) = self._twists(step)
                at = at.moved(change.omega, change.v)
            gain = min(-update, bits) if fresh else gain
            right = gain - update - LOST_BITS
            fresh = full - right > CHORDS * gain
            expected = right + (right if fresh else gain)
            bits = (
                full if expected + FIRST_BITS / 2 > full else max(FIRST_BITS, int(expected) + 32)
            )
        raise NotClosedError(f"Newton's steps do not fall below {_decimal(update)}")

    def _step(self, matrix: arb_mat, gaps: list[arb]) -> arb_mat:
        try:
            return matrix.solve(
                arb_mat(len(gaps), 1, [-gap for gap in gaps]), algorithm="approx"
            ).mid()
        except ZeroDivisionError:
            raise NotClosedError("the mechanism is singular at a sample") from None

    def _enclosed(
        self, at: Placement, residual: float, driven: Sequence[Equation]
    ) -> tuple[Poses, arb_mat, Inverse]:
        """Balls that hold the configuration, the Jacobian there, and its inverse."""
        residual = max(residual, -2.0 * ctx.prec)
        for _ in range(2):
            # The box is as wide as the inverse's norm asks, here the last sample's and some.
            box = math.log2(self.norm) + residual + 2
            if not box < -ctx.prec / 2:  # an honest radius, but not of what was asked for
                raise NotClosedError(
                    f"the loops are open by {_decimal(residual)} where the iteration ended"
                )
            poses = at.within(box)
            matrix = self._matrix(self._rows(poses, driven))
            held = FloatMatrix.around(matrix)
            proved = Inverse.of(held)
            self.norm = 2 * proved.norm
            if proved.closes(held, residual, box):
                _check_closed([equation.gap(poses) for equation in (*self.fixed, *driven)])
                return poses, matrix, proved
        raise NotClosedError(
            f"no configuration can be proved within {_decimal(box)} of where the loops are "
            f"open by {_decimal(residual)}"
        )

    def accelerations(self, closed: Closed, state: State) -> tuple[Twists, Twists]:
        """Velocities and accelerations of the bodies at a closed sample's prescribed motion."""
        assert self.rows is not None
        twists = Twists(
            [_combined([mode.omega[b] for mode in closed.modes], state[1]) for b in self._bodies],
            [_combined([mode.v[b] for mode in closed.modes], state[1]) for b in self._bodies],
        )
        at = closed.poses
        right = [-self.fixed[k].bias(at, twists) for k in self.rows if k < len(self.fixed)]
        for drive, indices in zip(self.drives, self.order, strict=True):
            mine, speeds, seconds = ([state[d][k] for k in indices] for d in (0, 1, 2))
            right += drive.second(at, twists, mine, speeds, seconds)
        column = arb_mat(len(right), 1, right)
        return twists, self._twists(closed.inverse.solve(closed.jacobian, column))[0]

    @property
    def _bodies(self) -> range:
        return range(self.bodies)

    def _rows(self, at: Poses, driven: Sequence[Equation]) -> list[Row]:
        equations = [*self.fixed, *driven]
        if self.rows is None:
            self.rows = self._independent([equation.row(at) for equation in equations])
        return [equations[k].row(at) for k in self.rows]

    def _gaps(self, at: Poses, driven: Sequence[Equation]) -> list[arb]:
        equations = [*self.fixed, *driven]
        return [equations[k].gap(at) for k in self.rows or ()]

    def _independent(self, rows: list[Row]) -> list[int]:
        """As many equations as unknowns, the drives' among them, in order."""
        if not self.redundant:
            return list(range(len(rows)))
        count = len(self.fixed)
        flat = np.array([float(x) for row in rows for x in self._dense(row)])
        dense = flat.reshape(len(rows), self.unknowns)
        drives = np.linalg.qr(dense[count:].T)[0]
        rest = dense[:count] - dense[:count] @ drives @ drives.T
        order, _ = independent_rows(rest)
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

    def _matrix(self, rows: list[Row]) -> arb_mat:
        flat = [entry for row in rows for entry in self._dense(row)]
        return arb_mat(self.unknowns, self.unknowns, flat)

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


def _check_closed(gaps: Sequence[arb]) -> None:
    """All equations, those not solved for among them, must be able to hold where some do."""
    for gap in gaps:
        if not gap.contains(0):
            raise NotClosedError(
                f"the loops stay open by {_decimal(worst([gap]))}, where {ctx.prec} bits close "
                f"them to {_decimal(worst([gap.rad()]))}"
            )


def _combined(vectors: Sequence[Vec], rates: Sequence[arb]) -> Vec:
    """Σ rate · vector."""
    x, y, z = (
        sum((v[i] * s for v, s in zip(vectors, rates, strict=True)), ZERO) for i in range(3)
    )
    return x, y, z


def _decimal(log2: float) -> str:
    return f"10^{log2 * math.log10(2):.1f} (m or rad)"


def _drives(mechanism: Mechanism, dims: Geometry) -> tuple[list[Drive], list[tuple[int, ...]]]:
    """Driven joints, and per joint the numbers of its coordinates."""
    places: dict[int, list[tuple[int, int]]] = {}
    for k, name in enumerate(mechanism.coordinates):
        value = mechanism.value(name)
        places.setdefault(value.number, []).append((value.place, k))
    drives, order = [], []
    for number, found in places.items():
        found.sort()
        drives.append(Drive(dims.joints[number], tuple(place for place, _ in found)))
        order.append(tuple(k for _, k in found))
    return drives, order


def poses_from_floats(
    R: np.ndarray, p: np.ndarray, planar: bool, coupled: Sequence[float] = ()
) -> Placement:
    """Exact poses next to float64 ones; R (body, 3, 3), p (body, 3); `coupled` as of Placement."""
    turned: list[Quaternion] = []
    for w, x, y, z in _quaternions(R).tolist():
        if planar:
            x = y = 0.0
        turned.append((exact(w), exact(x), exact(y), exact(z)))
    origins = [(exact(x), exact(y), exact(z)) for x, y, z in p.tolist()]
    at = [(x, y, ZERO) for x, y, _ in origins] if planar else origins
    return Placement(turned, at, tuple(map(float, coupled)))


def _quaternions(R: np.ndarray) -> np.ndarray:
    """Of rotation matrices (body, 3, 3): the largest of the four columns 4 q_k q, (body, 4)."""
    trace = np.trace(R, axis1=1, axis2=2)[:, None, None]
    table = np.empty((len(R), 4, 4))
    table[:, :1, :1] = 1 + trace
    table[:, 1:, 1:] = R + R.swapaxes(1, 2) + (1 - trace) * np.eye(3)
    table[:, 0, 1:] = table[:, 1:, 0] = (R - R.swapaxes(1, 2))[:, (2, 0, 1), (1, 2, 0)]
    most = np.argmax(np.diagonal(table, axis1=1, axis2=2), axis=1)
    found = table[np.arange(len(R)), most]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
