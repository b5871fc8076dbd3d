"""Configurations of the real mechanism, enclosed in balls, and W there.

Some natural coordinates, the pins, are prescribed; closure determines the others. A box about
the stated pose in which there is exactly one closed configuration for any values of the pins
between those of the samples (Krawczyk's test with the pins as intervals) shows that all samples
lie on one sheet of the mechanism's configurations: its branch.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat, ctx

from .couplings import Coupling, in_balls
from .exact import Field
from .expressions import Numbers
from .force_laws import UnsignedError, laws
from .forms import Forms
from .natural import Form, Joint, Mechanism, power_row
from .nominal import ball
from .redundant import independent

#: Digits after the point of poses and pins.
DECIMALS = 12
#: What rounding to them may change, and a hair: some entries lie exactly in between.
_HALF = Fraction(501, 1000 * 10**DECIMALS)
#: Bits of the approximate inverses that prove things; those of Newton's first steps.
_ROUGH = 128


class UnprovedError(Exception):
    """Something is not shown by balls of this precision; more may show it."""


class FalseError(Exception):
    """Something is not so, or not shown at any precision."""


class UndeterminedError(FalseError):
    """There are not as many equations as unknowns."""


@dataclass(frozen=True)
class Motion:
    """Rates and accelerations of the pins."""

    rates: Sequence[Fraction]
    accelerations: Sequence[Fraction]


@dataclass(frozen=True)
class Sample:
    """Values of the pins, and motions through them."""

    pins: Sequence[Fraction]
    motions: Sequence[Motion]


class Configurations:
    """Enclosures at one precision, that in force when it is made.

    Parameters
    ----------
    mechanism, field, numbers
        What closes, its symbols, and their values.
    pose
        Approximate values of all unknowns.
    pins
        Numbers of the pinned unknowns, from 1.
    stated
        Joint values of the file's assembly.
    values
        Angles of couplings at the pose, rad.

    Raises
    ------
    FalseError
        Joints, couplings and pins are not independent.
    UndeterminedError
        They are not as many equations as unknowns.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        field: Field,
        numbers: Numbers,
        pose: Sequence[Fraction],
        pins: Sequence[int],
        stated: Mapping[str, str],
        values: Mapping[str, Fraction],
    ):
        self.mechanism, self.pose, self.pins, self.values = mechanism, pose, pins, values
        self.joints: list[Joint] = mechanism.frames(numbers)
        self.gravity = [numbers.of(text) for text in mechanism.gravity]
        forms = mechanism.equations(self.joints)
        further = in_balls(mechanism, self.joints, numbers, values)
        self.size, self.factors = mechanism.unknowns, set[int]()
        if len(forms) + len(further) + len(pins) > self.size:
            kept, self.factors = independent(mechanism, field, pose)
            forms = [forms[k] for k in kept]
        self.equations: list[Form | Coupling] = [*map(Form, forms), *further]
        self.held = len(self.equations)
        if self.held + len(pins) != self.size:
            raise UndeterminedError(
                f"{self.held} equations and {len(pins)} pins do not determine {self.size} "
                f"unknowns; of redundant constraints those are left out that are seen to follow "
                f"from others"
            )
        self.start = [arb(1), *(ball(x).mid() for x in pose)]
        self.of_bodies = Forms(mechanism, self.joints)
        self.laws = laws(mechanism, self.joints, numbers, stated, pose)
        with ctx.workprec(_ROUGH):
            self.rough = _inverse(self._jacobian(self.start).mid())

    def _gaps(self, x: Sequence[arb], pins: Sequence[arb]) -> list[arb]:
        found = [one.gap(x) for one in self.equations]
        return found + [x[i] - wanted for i, wanted in zip(self.pins, pins, strict=True)]

    def _jacobian(self, x: Sequence[arb]) -> arb_mat:
        table = [[arb(0)] * self.size for _ in range(self.size)]
        slopes = [one.slope(x) for one in self.equations]
        for row, entries in zip(table, slopes, strict=False):
            for i, entry in entries.items():
                row[i - 1] = entry
        for k, i in enumerate(self.pins):
            table[self.held + k][i - 1] = arb(1)
        return arb_mat(table)

    def _krawczyk(
        self, middle: Sequence[arb], residual: Sequence[arb], wide: Sequence[arb]
    ) -> list[arb]:
        """Where the solutions within the box are: middle − Y F + (1 − Y J)(box − middle)."""
        box = [arb(1), *(m + arb(0, w) for m, w in zip(middle[1:], wide, strict=True))]
        rest = self.rough * self._jacobian(box)
        spread = [arb(0, w) for w in wide]
        moved = []
        for k, row in enumerate(rest.tolist()):
            total = -residual[k]
            for j, entry in enumerate(row):
                if j == k:
                    total += (1 - entry) * spread[j]
                elif not entry.is_zero():
                    total -= entry * spread[j]
            moved.append(total)
        return moved

    def _solution(
        self, middle: Sequence[arb], pins: Sequence[arb], turns: int
    ) -> tuple[list[arb], list[arb]]:
        """A box about `middle`, and the one solution in it for each value of the pins."""
        residual = _column(self.rough * arb_mat(self.size, 1, self._gaps(middle, pins)))
        floor = arb(2) ** (16 - ctx.prec)
        wide = [2 * r.abs_upper() + floor for r in residual]
        for _ in range(turns):
            moved = self._krawczyk(middle, residual, wide)
            if all(abs(x) < w for x, w in zip(moved, wide, strict=True)):
                return (
                    [arb(1), *(m + arb(0, w) for m, w in zip(middle[1:], wide, strict=True))],
                    [arb(1), *(m + x for m, x in zip(middle[1:], moved, strict=True))],
                )
            wide = [w.max(2 * x.abs_upper()) for x, w in zip(moved, wide, strict=True)]
        raise UnprovedError("no box holds exactly one closed configuration")

    def sheet(self, samples: Sequence[Sample]) -> list[arb]:
        """The box with one configuration for all values of the pins in between.

        Raises
        ------
        FalseError
            There is none, or the pose is not that of its pins to the last decimal.
        """
        at = [self.pose[i - 1] for i in self.pins]
        reach = [
            max([abs(sample.pins[k] - x) for sample in samples], default=Fraction(0))
            for k, x in enumerate(at)
        ]
        with ctx.workprec(_ROUGH):
            between = [ball(x) + arb(0, ball(r)) for x, r in zip(at, reach, strict=True)]
            try:
                box, _ = self._solution(self.start, between, 8)
            except UnprovedError:
                raise FalseError(
                    "no box about the pose holds exactly one closed configuration for all values "
                    "of the pins"
                ) from None
        if any(box[i].contains(0) for i in self.factors):
            raise FalseError("a direction that redundant constraints need may vanish nearby")
        exact = self.closed([ball(x) for x in at], box)
        for label, x, stated in zip(self.mechanism.labels, exact[1:], self.pose, strict=True):
            if not abs(x - ball(stated)) <= ball(_HALF):
                raise FalseError(f"the closed pose has {label} = {x.str(18)}, not {stated}")
        for one in self.equations:
            if wrong := one.fault(exact, self.values):
                raise FalseError(wrong)
        return box

    def closed(self, pins: Sequence[arb], box: Sequence[arb]) -> list[arb]:
        """The configuration of given pins, within the sheet's box.

        Raises
        ------
        UnprovedError
            It is not found, or outside.
        """
        x, full, bits = list(self.start), ctx.prec, _ROUGH // 2
        while True:
            bits = min(full, 2 * bits)
            with ctx.workprec(bits + 32):
                for _ in range(3 if bits == _ROUGH else 1):
                    gaps = arb_mat(self.size, 1, [-g for g in self._gaps(x, pins)]).mid()
                    try:
                        step = self._jacobian(x).mid().solve(gaps, algorithm="approx")
                    except ZeroDivisionError:
                        raise UnprovedError("the mechanism is singular at a sample") from None
                    x = [
                        arb(1),
                        *((a + b).mid() for a, b in zip(x[1:], _column(step), strict=True)),
                    ]
            if bits == full:
                break
        _, found = self._solution(x, pins, 3)
        if not all(b.contains(a) for a, b in zip(found, box, strict=True)):
            raise UnprovedError("a sample is not on the pose's sheet")
        return found

    def rows(
        self, sample: Sample, box: Sequence[arb]
    ) -> tuple[list[arb], list[list[arb]], list[list[list[arb]]]]:
        """The configuration, its modes (of unit rates), and W's rows (motion, pin, parameter)."""
        at = self.closed([ball(x) for x in sample.pins], box)
        jacobian, held, count = self._jacobian(at), self.held, len(self.pins)
        unit = arb_mat(self.size, count)
        for k in range(count):
            unit[held + k, k] = arb(1)
        modes = _solve(jacobian, unit).transpose().tolist()
        right, speeds, every = [], [], []
        for motion in sample.motions:
            v = [arb(0)] * (self.size + 1)
            for rate, mode in zip(motion.rates, modes, strict=True):
                v = [arb(0), *(a + ball(rate) * b for a, b in zip(v[1:], mode, strict=True))]
            speeds.append(v[1:])
            bent = [one.bend(at, v) for one in self.equations]
            right.append([-x for x in bent] + [ball(a) for a in motion.accelerations])
        solved = _solve(jacobian, arb_mat(right).transpose()).transpose().tolist()
        for v, a in zip(speeds, solved, strict=True):
            further = self._further(at, modes, v, a)
            every.append(
                [[*self._row(mode, a), *more] for mode, more in zip(modes, further, strict=True)]
            )
        return at, modes, every

    def _further(
        self,
        at: Sequence[arb],
        modes: Sequence[Sequence[arb]],
        v: Sequence[arb],
        a: Sequence[arb],
    ) -> list[list[arb]]:
        """Entries (pin, force-law column) of W's rows at one motion."""
        try:
            found = [law.entries(at, modes, v, a) for law in self.laws]
        except UnsignedError as error:
            raise UnprovedError(str(error)) from None
        return [[column[k] for column in found] for k in range(len(modes))]

    def _row(self, mode: Sequence[arb], acceleration: Sequence[arb]) -> list[arb]:
        row, width, planar = [], self.mechanism.width, self.mechanism.planar
        for o in range(0, self.size, width):
            moved = list(acceleration[o : o + width])
            for k in range(2 if planar else 3):
                moved[k] -= self.gravity[k]
            row += power_row(planar, mode[o : o + width], moved)
        return self.of_bodies.row(row)


def _column(matrix: arb_mat) -> list[arb]:
    return list(matrix.entries())


def _inverse(matrix: arb_mat) -> arb_mat:
    try:
        return matrix.inv().mid()
    except ZeroDivisionError:
        raise FalseError("joints and pins are not independent at the pose") from None


def _solve(matrix: arb_mat, right: arb_mat) -> arb_mat:
    try:
        return matrix.solve(right)
    except ZeroDivisionError:
        raise UnprovedError("the mechanism may be singular at a sample") from None


def determinant(rows: Sequence[Sequence[arb]]) -> arb:
    """Of a square table, its rows scaled to similar size first."""
    scales = [arb(2) ** _exponent(max(x.abs_upper() for x in row)) for row in rows]
    scaled = arb_mat([[x / s for x in row] for row, s in zip(rows, scales, strict=True)])
    found = scaled.det()
    for s in scales:
        found *= s
    return found


def _exponent(x: arb) -> int:
    mantissa, exponent = x.mid().man_exp()
    return int(exponent) + int(mantissa).bit_length()


_DECIMAL = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,20})?")


def fractions(texts: Sequence[str]) -> list[Fraction]:
    """Decimals of a document."""
    if not all(_DECIMAL.fullmatch(text) for text in texts):
        raise FalseError(f"decimal numbers are expected, not {', '.join(map(repr, texts))}")
    return [Fraction(text) for text in texts]
