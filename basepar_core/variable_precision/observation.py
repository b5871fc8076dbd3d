"""W of one variant along its excitation, as integers with a proved error.

The float64 loops tell where the mechanism is (`closure.trace`); every sample is then closed anew
at the precision asked for, enclosed, and its rows are made of balls (`regressors`). The largest
radius among them is the error of the integers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpz, fmpz_mat

from basepar_core.dynamics import (
    Model,
    Outcome,
    Trace,
    coupled_positions,
    excitation,
    kinematics,
    trace,
    trace_alone,
    trace_states,
)
from basepar_core.errors import MotionError
from basepar_core.mechanism import States

from . import motion as exact_motion
from .arithmetic import bits_of, working
from .companion import Companion
from .configurations import Closings, System, poses_from_floats
from .exact_geometry import geometry, symbol_values
from .krawczyk import NotClosedError, worst
from .motion import Start
from .regressors import energy_rows, inverse_dynamics_rows, mode_rows

#: Decimal digits carried beyond those of W, for rounding on the way.
GUARD_DIGITS = 20

#: Rows of W per parameter; and samples per parameter at least, for the rank is only believed on
#: more samples than itself, and W is made anew where there are fewer. Arms and platforms have a
#: rank below 0.64 of their parameters (Stewart–Gough 82 of 130).
ROWS, USUAL_RANK = 1.5, 0.65

#: This process's share of the samples where another has begun ahead: `rung` takes it as long as
#: some tenth of them, and the other closes as many meanwhile.
AHEAD = 0.4

#: An error of the integers above this many units is repeated with more guard digits.
UNITS_LOST = 64


@dataclass(frozen=True)
class IntegerMatrix:
    """W ≈ entries · 2^scale, row by sample and coordinate, with every entry's error at most
    radius · 2^scale. `bits` is the size of the largest entry.

    `proved` tells whether the error was (by enclosures of every configuration), or whether a
    loop's redundant equations were only seen to hold.
    """

    entries: fmpz_mat
    scale: int
    radius: int
    bits: int
    proved: bool = True

    @cached_property
    def columns(self) -> list[list[fmpz]]:
        """Its columns."""
        return self.entries.transpose().tolist()

    @cached_property
    def gram(self) -> fmpz_mat:
        """entriesᵀ · entries."""
        return self.entries.transpose() * self.entries

    def part(self, chosen: Sequence[int]) -> fmpz_mat:
        """Entries of some of its columns."""
        return fmpz_mat([self.columns[k] for k in chosen]).transpose()

    def shortened(self, bits: int) -> "IntegerMatrix":
        """The same with so many bits, its error grown by what was cut off."""
        cut = self.bits - bits
        if cut <= 0:
            return self
        shape = self.entries.nrows(), self.entries.ncols()
        entries = [nearest(x, -cut) for x in self.entries.entries()]
        radius = (self.radius >> cut) + 2
        return IntegerMatrix(
            fmpz_mat(*shape, entries), self.scale + cut, radius, bits, self.proved
        )


@dataclass(frozen=True)
class Midpoints:
    """Balls as integers times powers of two, row by row, and log2 of their largest radius.

    Plain integers, which may cross to another process, as balls may not. `proved` tells whether
    the balls are.
    """

    parts: list[tuple[int, int]]
    width: int
    off: float
    proved: bool = True

    @classmethod
    def of(cls, rows: Sequence[Sequence[arb]], proved: bool = True) -> "Midpoints":
        """Of balls (row, parameter).

        Raises
        ------
        NotClosedError
            A ball is unbounded.
        """
        flat = [x for row in rows for x in row]
        off = worst([max((x.rad() for x in flat), default=arb(0))])
        if not off < math.inf or not all(x.is_finite() for x in flat):
            raise NotClosedError("W has entries that its enclosures do not bound")
        parts = [x.mid().man_exp() for x in flat]
        return cls([(int(man), int(exp)) for man, exp in parts], len(rows[0]), off, proved)

    def __add__(self, further: "Midpoints") -> "Midpoints":
        off, proved = max(self.off, further.off), self.proved and further.proved
        return Midpoints(self.parts + further.parts, self.width, off, proved)


def rounded(found: Midpoints, digits: float) -> IntegerMatrix:
    """Balls as integers of so many decimal digits, the largest full, and the largest error."""
    top = max((man.bit_length() + exp for man, exp in found.parts if man), default=0)
    bits = bits_of(digits)
    lowest, off = top - bits, found.off
    entries = [nearest(man, exp - lowest) for man, exp in found.parts]
    # Half a unit of rounding, and the balls' own; the logarithm is from floats.
    radius = 1 + (math.ceil(2.0 ** (off - lowest) * (1 + 1e-9)) if off - lowest < 60 else 0)
    if off - lowest >= 60:
        radius = 1 << math.ceil(off - lowest + 1)
    shape = len(entries) // found.width, found.width
    return IntegerMatrix(fmpz_mat(*shape, entries), lowest, radius, bits, found.proved)


def nearest(mantissa: Any, by: int) -> Any:
    """mantissa · 2^by, to the nearest integer; of Python's or FLINT's integers."""
    if by >= 0:
        return mantissa << by
    return (mantissa + (1 << (-by - 1))) >> (-by)


@dataclass(frozen=True)
class Variant:
    """One variant's excitation followed in float64, from which W is made at any precision.

    Attributes
    ----------
    values
        Swept symbols, SI; the others are nominal.
    R, p
        Poses (sample, body, 3, 3) and (sample, body, 3) of all samples, in float64.
    coupled
        Joint values (sample, term) of all couplings' terms, in float64.
    start
        Where the motion starts, and which samples are used.
    amplification
        What an error of a configuration may grow by on its way to the other joints.
    closings
        How far its samples have been closed.
    companion
        Answers by `closed`, so that half of the samples can be closed by another process.
    """

    model: Model
    values: Mapping[str, float]
    R: np.ndarray
    p: np.ndarray
    coupled: np.ndarray
    start: Start
    amplification: float
    closings: Closings = field(default_factory=Closings, init=False, repr=False, compare=False)
    companion: Companion | None = field(default=None, repr=False, compare=False)

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

    def observe(self, digits: float, form: str = "W") -> IntegerMatrix:
        """W to so many decimal digits.

        Configurations are closed from the float64 ones or, with more digits, from the last; W is
        computed anew. However near a start is, its loops must close at the precision in force.

        Parameters
        ----------
        digits
            Decimal digits of the largest entry.
        form
            "W": rows of inverse dynamics. "energy": bilinear kinetic energies of the unit
            motions and differences of the potential, which have the same null space, need no
            accelerations and have other singular values (a second opinion on the rank).

        Raises
        ------
        NotClosedError
            A sample cannot be closed to these digits, or not be proved to be.
        """
        bits = self._bits(digits)
        for _ in range(3):
            found = rounded(self._all_closed(bits, form), digits)
            if found.radius <= UNITS_LOST:
                break
            bits += found.radius.bit_length()
        return found

    def ahead(self, digits: float, form: str) -> None:
        """Have the companion, where there is one, begin with what `observe` will ask it."""
        if self.companion is not None and form != "energy":
            self.companion.ask(self._parts(AHEAD)[1], self._bits(digits), form)

    def _bits(self, digits: float) -> int:
        # Errors of a configuration reach W through the loops' equations twice.
        return bits_of(digits + GUARD_DIGITS + 2 * math.log10(self.amplification))

    def _all_closed(self, bits: int, form: str) -> Midpoints:
        if self.companion is None or form == "energy":  # of energies the first is taken off all
            return self.closed(self.picks, bits, form)
        first, rest = self._parts(AHEAD)
        if self.companion.asked != (rest, bits, form):
            first, rest = self._parts(0.5)
        self.companion.ask(rest, bits, form)
        found = self.closed(first, bits, form)
        return found + (self.companion.answer() or self.closed(rest, bits, form))

    def _parts(self, share: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        here = int(share * len(self.picks))
        return self.picks[:here], self.picks[here:]

    def closed(self, picks: Sequence[int], bits: int, form: str) -> Midpoints:
        """Some samples closed at so many bits, and their rows; where they were is kept."""
        mechanism, closings = self.model.mechanism, self.closings
        # The equations to solve are chosen at the first sample, whoever closes the others.
        head = self.picks[:1] if closings.rows is None and picks[0] != self.picks[0] else ()
        start = replace(self.start, picks=(*head, *picks))
        rows: list[list[arb]] = []
        first: list[arb] | None = None
        with working(bits):
            dims = geometry(mechanism, symbol_values(mechanism, self.values))
            system = System(mechanism, dims, closings.rows)
            states = exact_motion.samples(mechanism, start)
            for place, (sample, state) in enumerate(zip(start.picks, states, strict=True)):
                near = closings.at.get(sample) or poses_from_floats(
                    self.R[sample], self.p[sample], mechanism.planar, self.coupled[sample]
                )
                closed = system.close(near, state)
                closings.at[sample], closings.rows = closed.at, system.rows
                if place < len(head):
                    continue
                if form == "modes":
                    rows += mode_rows(mechanism.planar, closed, dims)
                elif form == "energy":
                    kinetic, potential = energy_rows(mechanism.planar, closed, dims)
                    first = first or potential
                    rows += [*kinetic, [a - b for a, b in zip(potential, first, strict=True)]]
                else:
                    moving = system.accelerations(closed, state)
                    rows += inverse_dynamics_rows(mechanism.planar, closed, *moving, dims)
            return Midpoints.of(rows, not system.redundant)


def variant(model: Model, values: Mapping[str, float], samples: int | None = None) -> Variant:
    """Follow one variant's excitation in float64.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, SI; others are nominal.
    samples
        How many samples W is to use; None: enough for 1.5 rows per parameter and, usually, for
        more samples than the rank.

    Raises
    ------
    MotionError
        The excitation cannot be followed at this geometry.
    """
    (found,) = variants(model, {name: np.array([x]) for name, x in values.items()}, samples)
    if found is None:
        raise MotionError(
            f"{model.mechanism.name!r} cannot follow its excitation at this geometry: its loops "
            f"do not close all the way. Lower the amplitude, or change the geometry.",
            ["excitation"],
        )
    return found


def variants(
    model: Model,
    columns: Mapping[str, np.ndarray],
    samples: int | None = None,
    path: Trace | None = None,
) -> list[Variant | None]:
    """Follow the excitation with several variants at once; None where the loops do not close.

    `columns` are the swept symbols, (variant,) arrays, SI; `path` is the excitation, if somebody
    has followed it already.
    """
    mechanism = model.mechanism
    motion = excitation(mechanism, model.assembled.coordinates)
    if path is None and columns:
        path = trace(model, columns, motion.q)
    elif path is None:
        states = isinstance(mechanism.excitation, States)
        path = (trace_states if states else trace_alone)(model, motion.q)
    R, p = _placed(model, columns, path.q)
    share = max(ROWS / len(mechanism.coordinates), USUAL_RANK)
    count = math.ceil(share * len(mechanism.parameter_names))
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
        coupled = path.q[coupled_positions(model.topology), k].T
        one = Variant(model, values, R[k], p[k], coupled, start, amplification)
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
