"""Finds what a certificate states of rank ≥ r: pins, samples, and a minor that is not zero.

Rows are made by the precise route's closure and inverse dynamics; its digits rise until
elimination with row pivoting finds r pivots above the noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat

from basepar_core.dynamics import (
    Column,
    Model,
    Outcome,
    coupled_positions,
    independent_rows,
    kinematics,
    trace,
)
from basepar_core.errors import MotionError, UsageError
from basepar_core.symbolic import cross, times
from basepar_core.variable_precision import (
    UNITS,
    Closed,
    Geometry,
    Placement,
    Poses,
    System,
    exact,
    geometry,
    inverse_dynamics_rows,
    poses_from_floats,
    symbol_values,
    working,
)

from .decimals import DIGITS, VALUE_DECIMALS, decimal, rounded, scientific, short
from .force_columns import Laws
from .pins import Pin, Pins

#: Bits to try, and how many times more rows than the rank are looked through.
BITS, MORE_ROWS = (256, 512, 1024, 2048), (1.4, 3.0)
#: Motions per sample: one sample's rows are quadratic in the rates, which soon is spanned.
MOTIONS = 3
#: Longest denominator of a null vector's entry.
SHORT = 10**18
#: A pivot below this share of the precision's bits is noise.
NOISE = 0.75
#: Pins move by this much over the square of the inverse Jacobian's norm: Newton's method for
#: quadratic equations then contracts on the whole box.
REACH = 1 / 8


@dataclass(frozen=True)
class PinnedSample:
    """Decimal values of the pins, and rates and accelerations of theirs; and where that is."""

    pins: tuple[str, ...]
    motions: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    near: Placement


@dataclass(frozen=True)
class Proof:
    """rank ≥ len(rows); rows are (sample, motion, pin).

    `values` are the angles of couplings in the pose (rad), which tells them up to whole turns;
    None without couplings.
    `null` are vectors that vanish on all rows looked through, one for each force-law column that
    is not in the minor, as far as their entries are rational numbers.
    """

    pose: dict[str, dict[str, list[str]]]
    pins: list[str]
    samples: list[PinnedSample]
    rows: list[tuple[int, int, int]]
    columns: list[str]
    determinant: str
    values: dict[str, str] | None
    null: tuple[dict[str, Fraction], ...] = ()

    @property
    def rank(self) -> int:
        return len(self.rows)

    def document(self) -> dict[str, Any]:
        values = {} if self.values is None else {"values": self.values}
        return values | {
            "rank": self.rank,
            "pose": self.pose,
            "pins": self.pins,
            "samples": [
                {
                    "pins": list(sample.pins),
                    "motions": [
                        {"rates": list(rates), "accelerations": list(accelerations)}
                        for rates, accelerations in sample.motions
                    ],
                }
                for sample in self.samples
            ],
            "minor": {
                "rows": [list(row) for row in self.rows],
                "columns": self.columns,
                "determinant": self.determinant,
            },
        }


def prove(
    model: Model, kept: Sequence[int], reach: float = 1.0, further: Sequence[Column] = ()
) -> Proof:
    """A minor of W in these columns that is not zero; of as many of them as there is one.

    Parameters
    ----------
    model
        The mechanism, prepared.
    kept
        Columns that are believed independent.
    reach
        How far pins move, as a share of what is expected to be small enough.
    further
        Columns behind the inertial ones, whichever depend on others.

    Raises
    ------
    UsageError
        No minor is found.
    """
    mechanism, best = model.mechanism, None
    inertial = len(mechanism.parameter_names)
    wanted = [*kept, *range(inertial, inertial + len(further))]
    for more in MORE_ROWS:
        count = int(np.ceil(more * len(wanted) / len(mechanism.coordinates))) + 2
        for bits in BITS:
            with working(bits):
                finder = _Finder(model, reach, further)
                samples = finder.samples(-(-count // MOTIONS))
                rows = finder.rows(samples)
                chosen, columns = _eliminate(rows, wanted, bits)
                minor = _minor(rows, chosen, columns)
                if not minor.rel_accuracy_bits() > 4 * DIGITS:
                    continue
                null = _null(rows, chosen, columns, range(inertial, inertial + len(further)))
                if best is None or len(chosen) > best.rank:
                    best = finder.proof(samples, minor, chosen, columns, null)
                if len(chosen) + len(null) == len(wanted):
                    return best
    if best is None:
        raise UsageError(f"No minor of {mechanism.name!r} is found.", ["certificate="])
    return best


class _Finder:
    """At the precision in force: pins, samples and their rows."""

    def __init__(self, model: Model, reach: float, further: Sequence[Column] = ()):
        self.model, mechanism = model, model.mechanism
        known = symbol_values(mechanism, {})
        self.dims: Geometry = geometry(mechanism, known)
        self.laws = Laws(mechanism, self.dims, known, further)
        self.names = (*mechanism.parameter_names, *(one.name for one in further))
        base = System(mechanism, self.dims)
        (near,) = _placed(model, model.assembled.coordinates[:, None])
        q = [exact(float(x)) for x in model.assembled.coordinates]
        closed = base.close(near.placement(mechanism.planar), (q, [], []))
        self.modes = _natural(closed, mechanism.planar)
        self.pins = _chosen(self.modes)
        inverse = max(closed.inverse.norm, 1.0)
        self.reach = reach * REACH / inverse**2
        self.system = System(mechanism, self.dims)
        self.system.drives = [Pins(self.pins)]  # type: ignore[list-item]
        self.system.order = [tuple(range(len(self.pins)))]

    def samples(self, count: int) -> list[PinnedSample]:
        """Random ones near the assembly; the first is the assembly."""
        rng = np.random.default_rng(0)
        width, coordinates = len(self.pins), self.model.assembled.coordinates
        fastest = np.abs(np.stack([self.modes[pin] for pin in self.pins])).max(axis=0)
        off = rng.uniform(-1, 1, (count, width)) * self.reach / np.maximum(fastest, 1e-3)
        off[0] = 0.0
        found = []
        for near in _placed(self.model, (coordinates + off).T):
            motions = tuple(
                (
                    tuple(short(x) for x in rng.integers(-99, 100, width)),
                    tuple(short(x) for x in rng.integers(-99, 100, width)),
                )
                for _ in range(MOTIONS)
            )
            pins = tuple(decimal(pin.value(near.R, near.p)) for pin in self.pins)
            placement = near.placement(self.model.mechanism.planar)
            found.append(PinnedSample(pins, motions, placement))
        return found

    def _close(self, sample: PinnedSample) -> tuple[Closed, list[arb]]:
        pins = [exact(Fraction(x)) for x in sample.pins]
        return self.system.close(sample.near, (pins, [], [])), pins

    def rows(self, samples: Sequence[PinnedSample]) -> dict[tuple[int, int, int], list[arb]]:
        """W's rows (parameter) by sample, motion and pin."""
        found: dict[tuple[int, int, int], list[arb]] = {}
        for k, sample in enumerate(samples):
            closed, pins = self._close(sample)
            for m, (rates, accelerations) in enumerate(sample.motions):
                state = (
                    pins,
                    [exact(Fraction(x)) for x in rates],
                    [exact(Fraction(x)) for x in accelerations],
                )
                moving, pushed = self.system.accelerations(closed, state)
                rows = inverse_dynamics_rows(
                    self.model.mechanism.planar, closed, moving, pushed, self.dims
                )
                more = self.laws.rows(closed, moving, pushed)
                found |= {(k, m, pin): [*rows[pin], *more[pin]] for pin in range(len(rows))}
        return found

    def proof(
        self,
        samples: Sequence[PinnedSample],
        minor: arb,
        chosen: Sequence[tuple[int, int, int]],
        columns: Sequence[int],
        null: Sequence[dict[int, Fraction]],
    ) -> Proof:
        """The minor, with the samples and motions that it uses only."""
        mechanism = self.model.mechanism
        used = sorted({(s, m) for s, m, _ in chosen})
        numbers = {s: k for k, s in enumerate(sorted({s for s, _ in used}))}
        motions = {s: [m for t, m in used if t == s] for s in numbers}
        kept = [
            PinnedSample(
                samples[s].pins,
                tuple(samples[s].motions[m] for m in motions[s]),
                samples[s].near,
            )
            for s in numbers
        ]
        bodies = [body.name for body in mechanism.bodies]
        start, _ = self._close(samples[0])
        return Proof(
            pose=_pose(start.poses, bodies, mechanism.planar),
            pins=[pin.label(bodies) for pin in self.pins],
            samples=kept,
            rows=[(numbers[s], motions[s].index(m), pin) for s, m, pin in sorted(chosen)],
            columns=[self.names[k] for k in columns],
            determinant=scientific(minor),
            values=self._angles(start.poses),
            null=tuple({self.names[k]: x for k, x in sorted(one.items())} for one in null),
        )

    def _angles(self, at: Poses) -> dict[str, str] | None:
        """Angles of couplings at the sample that was closed last, rounded; None without any."""
        values = self.system.coupled_values(at)
        angles = {
            name: rounded(x, VALUE_DECIMALS)
            for name, x in values.items()
            if not self.model.mechanism.value(name).is_length
        }
        return angles if values else None


@dataclass(frozen=True)
class _Near:
    """A configuration in float64: R (body, 3, 3), p (body, 3), values of couplings (term,)."""

    R: np.ndarray
    p: np.ndarray
    coupled: np.ndarray

    def placement(self, planar: bool) -> Placement:
        return poses_from_floats(self.R, self.p, planar, self.coupled.tolist())


def _placed(model: Model, targets: np.ndarray) -> list[_Near]:
    """Configurations at coordinates (coordinate, sample)."""
    path = trace(model, {}, targets)
    if path.outcome[0] != Outcome.CLOSED:
        raise MotionError(f"{model.mechanism.name!r} cannot move near its assembly.", ["assembly"])
    at = kinematics.poses(model.topology, kinematics.geometry(model.mechanism, {}), path.q[:, 0])
    shape = targets.shape[1:]
    bodies = range(model.topology.bodies)
    R = np.stack([np.broadcast_to(at.R[b].reshape(3, 3, -1), (3, 3, *shape)) for b in bodies])
    p = np.stack([np.broadcast_to(at.p[b].reshape(3, -1), (3, *shape)) for b in bodies])
    coupled = path.q[coupled_positions(model.topology), 0].T
    return list(map(_Near, np.moveaxis(R, -1, 0), np.moveaxis(p, -1, 0), coupled))


def _natural(closed: Closed, planar: bool) -> dict[Pin, np.ndarray]:
    """Rates of all natural coordinates per unit rate of each joint coordinate."""
    found = {}
    size, axes = (2, 1) if planar else (3, 3)
    for body in range(len(closed.poses.R)):
        R = closed.poses.R[body]
        for axis in range(-1, axes):
            moved = [
                mode.v[body] if axis < 0 else cross(mode.omega[body], times(R, UNITS[axis]))
                for mode in closed.modes
            ]
            for k in range(size):
                found[Pin(body, axis, k)] = np.array([float(v[k]) for v in moved])
    return found


def _chosen(modes: dict[Pin, np.ndarray]) -> list[Pin]:
    """As many natural coordinates as there are freedoms, moving as independently as they can."""
    labels = list(modes)
    table = np.stack([modes[pin] for pin in labels])
    order, _ = independent_rows(table)
    return [labels[k] for k in sorted(order[: table.shape[1]])]


def _eliminate(
    rows: dict[tuple[int, int, int], list[arb]], kept: Sequence[int], bits: int
) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Rows and columns of a minor that is not zero, by elimination in midpoints."""
    left = {}
    for key, row in rows.items():
        entries = [row[k].mid() for k in kept]
        size = max(abs(x) for x in entries)
        if size > 0:
            left[key] = [(x / size).mid() for x in entries]
    noise = arb(2) ** -int(NOISE * bits)
    chosen, columns = [], []
    for place, column in enumerate(kept):
        if not left:
            break
        best = max(left, key=lambda key: abs(left[key][place]))
        top = left.pop(best)
        if not abs(top[place]) > noise:
            left[best] = top
            continue
        chosen.append(best)
        columns.append(column)
        for key, row in left.items():
            factor = (row[place] / top[place]).mid()
            if factor != 0:
                tail = zip(row[place:], top[place:], strict=True)
                left[key] = [*row[:place], *((x - factor * y).mid() for x, y in tail)]
    return chosen, columns


def _null(
    rows: dict[tuple[int, int, int], list[arb]],
    chosen: Sequence[tuple[int, int, int]],
    columns: Sequence[int],
    further: Sequence[int],
) -> list[dict[int, Fraction]]:
    """Null vectors of force-law columns outside the minor, where rational ones vanish on all rows.

    Entries are read off balls of all digits, and are as short as the numbers of a file make them.
    """
    minor = arb_mat([[rows[key][k] for k in columns] for key in chosen])
    found = []
    for j in further:
        if j in columns:
            continue
        right = arb_mat(len(chosen), 1, [rows[key][j] for key in chosen])
        solved = minor.solve(right).entries() if columns else []
        shares = {k: _rational(x) for k, x in zip(columns, solved, strict=True)}
        vector = {k: -x for k, x in shares.items() if x} | {j: Fraction(1)}
        gaps = (
            sum((exact(x) * row[k] for k, x in vector.items()), arb(0)) for row in rows.values()
        )
        if all(gap.contains(0) for gap in gaps):
            found.append(vector)
    return found


def _rational(x: arb) -> Fraction:
    """The rational of short numerator and denominator within a ball, or next to it."""
    mantissa, exponent = x.mid().man_exp()
    near = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return near.limit_denominator(SHORT)


def _minor(
    rows: dict[tuple[int, int, int], list[arb]],
    chosen: Sequence[tuple[int, int, int]],
    columns: Sequence[int],
) -> arb:
    """Determinant of some rows, in order, and columns."""
    if not chosen:
        return arb(1)
    return arb_mat([[rows[key][k] for k in columns] for key in sorted(chosen)]).det()


def _pose(poses: Poses, bodies: Sequence[str], planar: bool) -> dict[str, dict[str, list[str]]]:
    found = {}
    size, axes = (2, "x") if planar else (3, "xyz")
    for name, R, p in zip(bodies, poses.R, poses.p, strict=True):
        found[name] = {"at": [rounded(p[k]) for k in range(size)]} | {
            axis: [rounded(R[k][j]) for k in range(size)] for j, axis in enumerate(axes)
        }
    return found
