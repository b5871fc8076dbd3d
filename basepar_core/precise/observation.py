"""W of one variant along its excitation, as integers: inverse dynamics to any number of digits.

The float64 loops tell where the mechanism is (`closure.trace`); every sample is then closed anew
at the precision asked for. W comes from the Newton–Euler regressor of a free body about its
frame's origin and the virtual motions at unit rates (d'Alembert).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx, fmpz, fmpz_mat

from .. import kinematics
from ..closure import Model, Outcome, trace
from ..errors import UsageError
from ..mechanism import Mechanism
from ..motion import excitation
from . import motion as exact_motion
from .arithmetic import (
    BITS_PER_DIGIT,
    ORIGIN,
    UNITS,
    Vec,
    add,
    bits_of,
    cross,
    dot,
    minus,
    scale,
    times,
    transpose,
    working,
)
from .configurations import Closed, NotClosedError, System, poses_from_floats
from .geometry import geometry, symbol_values
from .motion import Start

#: Decimal digits carried beyond those of W, for rounding on the way.
GUARD_DIGITS = 20


@dataclass(frozen=True)
class IntegerMatrix:
    """W ≈ entries · 2^scale, row by sample and coordinate, with every entry's error below
    radius · 2^scale. `bits` is the size of the largest entry."""

    entries: fmpz_mat
    scale: int
    radius: int
    bits: int

    def columns(self, chosen: Sequence[int]) -> "IntegerMatrix":
        """Some of its columns."""
        table = [[row[k] for k in chosen] for row in self.entries.tolist()]
        return replace(self, entries=fmpz_mat(table))


def rounded(
    rows: Sequence[Sequence[arb]], digits: float, error: float = -math.inf
) -> IntegerMatrix:
    """Numbers as integers of so many digits, the largest full.

    Parameters
    ----------
    rows
        (row, parameter).
    digits
        Decimal digits of the largest entry.
    error
        What each entry may be wrong by, relative to the largest: base-2 logarithm.
    """
    flat = [x.mid().man_exp() for row in rows for x in row]
    top = max((int(man).bit_length() + int(exp) for man, exp in flat if man != 0), default=0)
    bits = bits_of(digits)
    lowest = top - bits
    entries = [_shifted(man, int(exp) - lowest) for man, exp in flat]
    radius = 1 if error == -math.inf else 1 + (1 << max(0, math.ceil(error + bits)))
    return IntegerMatrix(fmpz_mat(len(rows), len(rows[0]), entries), lowest, radius, bits)


def _shifted(mantissa: fmpz, by: int) -> fmpz:
    """mantissa · 2^by, to the nearest integer."""
    if by >= 0:
        return mantissa << by
    return (mantissa + (fmpz(1) << (-by - 1))) >> (-by)


@dataclass(frozen=True)
class Variant:
    """One variant's excitation followed in float64, from which W is made at any precision.

    Attributes
    ----------
    values
        Swept symbols, SI; the others are nominal.
    R, p
        Poses (sample, body, 3, 3) and (sample, body, 3) of all samples, in float64.
    start
        Where the motion starts, and which samples are used.
    amplification
        What an error of a configuration may grow by on its way to the other joints.
    """

    model: Model
    values: Mapping[str, float]
    R: np.ndarray
    p: np.ndarray
    start: Start
    amplification: float

    @property
    def picks(self) -> tuple[int, ...]:
        """Samples that are used."""
        return self.start.picks

    @property
    def available(self) -> int:
        """Samples of the excitation."""
        return len(self.R)

    def with_samples(self, count: int) -> "Variant":
        """The same with so many samples, evenly over the excitation, if there are so many."""
        count = min(count, self.available)
        picks = tuple(k * self.available // count for k in range(count))
        return replace(self, start=replace(self.start, picks=picks))

    def observe(self, digits: float) -> IntegerMatrix:
        """W to so many decimal digits, computed from the float64 configurations anew.

        Raises
        ------
        NotClosedError
            A sample cannot be closed to these digits.
        """
        # Errors of a configuration reach W through the loops' equations twice.
        lost = 2 * math.log10(self.amplification)
        with working(bits_of(digits + GUARD_DIGITS + lost)):
            rows, gap = self._rows()
            if not gap < (3 - digits) * BITS_PER_DIGIT:
                raise NotClosedError(f"the loops stay open by 2^{gap:.0f} (m or rad)")
            return rounded(rows, digits, gap + 2 * math.log2(self.amplification))

    def _rows(self) -> tuple[list[list[arb]], float]:
        mechanism = self.model.mechanism
        dims = geometry(mechanism, symbol_values(mechanism, self.values))
        system = System(mechanism, dims)
        rows: list[list[arb]] = []
        gap = -float(ctx.prec)
        states = exact_motion.samples(mechanism, self.start)
        for sample, state in zip(self.picks, states, strict=True):
            near = poses_from_floats(self.R[sample], self.p[sample], mechanism.planar)
            closed = system.close(near, state)
            rows += _sample_rows(mechanism, closed, dims.gravity)
            gap = max(gap, closed.gap)
        return rows, gap


def variant(model: Model, values: Mapping[str, float], samples: int | None = None) -> Variant:
    """Follow one variant's excitation in float64.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, SI; others are nominal.
    samples
        How many samples W is to use; None: enough for 1.5 rows per parameter.

    Raises
    ------
    UsageError
        The excitation cannot be followed at this geometry.
    """
    (found,) = variants(model, {name: np.array([x]) for name, x in values.items()}, samples)
    if found is None:
        raise UsageError(
            f"{model.mechanism.name!r} cannot follow its excitation at this geometry: its loops "
            f"do not close all the way. Lower the amplitude, or change the geometry.",
            ["excitation"],
        )
    return found


def variants(
    model: Model, columns: Mapping[str, np.ndarray], samples: int | None = None
) -> list[Variant | None]:
    """Follow the excitation with several variants at once; None where the loops do not close.

    `columns` are the swept symbols, (variant,) arrays, SI.
    """
    mechanism = model.mechanism
    motion = excitation(mechanism, model.assembled.coordinates)
    path = trace(model, columns, motion.q)
    R, p = _placed(model, columns, path.q)
    count = math.ceil(1.5 * len(mechanism.parameter_names) / len(mechanism.coordinates))
    start = Start(model.assembled.coordinates, motion.q, ())
    found: list[Variant | None] = []
    for k, outcome in enumerate(path.outcome):
        if outcome != Outcome.CLOSED:
            found.append(None)
            continue
        # A block whose rows are this near to dependent multiplies errors by its inverse; ten
        # more for the lengths that the ratio does not see.
        amplification = 10.0 / float(path.margin[k])
        values = {name: float(column[k]) for name, column in columns.items()}
        one = Variant(model, values, R[k], p[k], start, amplification)
        found.append(one.with_samples(samples or count))
    return found


def _placed(
    model: Model, columns: Mapping[str, np.ndarray], q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (variant, sample, body, 3, 3) and (variant, sample, body, 3) of configurations."""
    dims = kinematics.geometry(model.mechanism, columns).over_samples()
    at = kinematics.poses(model.topology, dims, q)
    bodies, batch = range(model.topology.bodies), q.shape[1:]
    R = np.stack([np.broadcast_to(at.R[b], (3, 3, *batch)) for b in bodies])
    p = np.stack([np.broadcast_to(at.p[b], (3, *batch)) for b in bodies])
    return np.moveaxis(R, (3, 4, 0), (0, 1, 2)), np.moveaxis(p, (2, 3, 0), (0, 1, 2))


def _sample_rows(mechanism: Mechanism, closed: Closed, gravity: Vec) -> list[list[arb]]:
    """Rows of W (coordinate, parameter) at one sample."""
    rows: list[list[arb]] = [[] for _ in closed.modes]
    kept = (0, 1, 2, 9) if mechanism.planar else range(10)
    for b in range(len(mechanism.bodies)):
        into_body = transpose(closed.poses.R[b])
        w = times(into_body, closed.twists.omega[b])
        w_dot = times(into_body, closed.accelerations.omega[b])
        a = times(into_body, minus(closed.accelerations.v[b], gravity))
        moments, forces = _body_regressor(w, w_dot, a)
        for row, mode in zip(rows, closed.modes, strict=True):
            turn, slide = times(into_body, mode.omega[b]), times(into_body, mode.v[b])
            row += [dot(turn, moments[k]) + dot(slide, forces[k]) for k in kept]
    return rows


def _body_regressor(w: Vec, w_dot: Vec, a: Vec) -> tuple[list[Vec], list[Vec]]:
    """Moment about the origin and force that move a body, per unit parameter; body axes.

    `a` is the origin's acceleration less gravity (Atkeson, An & Hollerbach, Int. J. Robotics
    Research 5(3), 1986).
    """
    moments, forces = [ORIGIN], [a]
    for k in range(3):  # a first moment along axis k
        e = UNITS[k]
        moments.append(cross(e, a))
        forces.append(add(cross(w_dot, e), cross(w, cross(w, e))))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        spun = cross(w, _entry(w, i, j))
        moments.append(add(_entry(w_dot, i, j), spun))
        forces.append(ORIGIN)
    return moments, forces


def _entry(v: Vec, i: int, j: int) -> Vec:
    """I v for the inertia matrix with ones at (i, j) and (j, i)."""
    one = scale(v[j], UNITS[i])
    return one if i == j else add(one, scale(v[i], UNITS[j]))
