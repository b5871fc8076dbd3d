"""Bodies whose form a mechanism states: massless ones, and slender ones, whose mass is on a line.

A slender body is felt as points of mass on its line a + s d: as the parabola through three of
them. Its parameters count by the moments of mass along the line that they have, the mean inertia
across the line standing for the second; this says what such a body is, and proves nothing of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .exact import Field
from .joints import KINDS
from .natural import PARAMETERS, Joint, Mechanism, cross, dot, less, plus, sized

SLENDER, MASSLESS = "slender", "massless"
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def line(mechanism: Mechanism, joints: Sequence[Joint], body: int) -> tuple[Any, Any]:
    """Point and direction of a slender body's line.

    Raises
    ------
    ValueError
        Its joints leave it none.
    """
    here = [(joint, joint.bodies.index(body)) for joint in joints if body in joint.bodies]
    ends = [(one, side) for one, side in here if KINDS[one.kind].free > 1]
    ends = [(one, side) for one, side in ends if not KINDS[one.kind].lengths]
    slides = [(one, side) for one, side in here if _is_slide(one)]
    if len(here) != 2 or not ends or len(ends) + len(slides) != 2:
        raise ValueError(
            f"{mechanism.bodies[body]} is slender, and has other joints than two ends"
        )
    start, side = ends[0]
    a = start.at[side]
    if slides:
        ((slide, other),) = slides
        return a, slide.axes[other]["z"]
    end, other = ends[1]
    return a, less(end.at[other], a)


def _is_slide(joint: Joint) -> bool:
    return KINDS[joint.kind].lengths == "z" and not KINDS[joint.kind].free


class Forms:
    """What the forms of bodies leave of rows and of parameters, in any numbers."""

    def __init__(self, mechanism: Mechanism, joints: Sequence[Joint]):
        self.width = len(PARAMETERS[mechanism.planar])
        numbers = {mechanism.number(body): form for body, form in mechanism.forms.items()}
        self.massless = {body for body, form in numbers.items() if form == MASSLESS}
        self.lines = {
            body: line(mechanism, joints, body)
            for body, form in numbers.items()
            if form == SLENDER
        }

    def row(self, entries: Sequence[Any]) -> list[Any]:
        """Entries of all parameters as the bodies' forms leave them."""
        found = list(entries)
        for body in self.massless:
            for k in range(body * self.width, (body + 1) * self.width):
                found[k] = 0 * found[k]
        for body, (a, d) in self.lines.items():
            own = slice(body * self.width, (body + 1) * self.width)
            felt = _parabola(found[own], a, d)
            units = _moments_of_units(a, d)
            found[own] = [dot(felt, moments) for moments in units]
        return found

    def fault(self, parts: Mapping[int, Sequence[Any]]) -> str:
        """Why parts on bodies are none that these can have; empty if they are."""
        for body, ten in parts.items():
            if body in self.massless:
                return "it has entries of a massless body"
            if body in self.lines:
                a, d = self.lines[body]
                moments = _moments(ten, a, d)
                points = _points(a, d)
                kept = [dot(moments, [point[k] for point in points]) for k in range(10)]
                if not all((x - y).is_zero() for x, y in zip(ten, kept, strict=True)):
                    return "a part of a slender body is no mass on its line"
        return ""


class FormRules:
    """Null vectors that are null by the form of one body, decided exactly."""

    name = "forms"

    def __init__(self, mechanism: Mechanism, field: Field, joints: Sequence[Joint]):
        self.mechanism, self.field, self.joints = mechanism, field, joints
        self.forms = Forms(mechanism, joints)

    def line_fault(self) -> str:
        """Why a slender body has no line: its slide leaves it; empty if all have one."""
        for body, (a, d) in self.forms.lines.items():
            for joint in self.joints:
                if body in joint.bodies and _is_slide(joint):
                    off = cross(less(joint.at[joint.bodies.index(body)], a), d)
                    if not all(x.is_zero() for x in off):
                        return f"{self.mechanism.bodies[body]} slides beside its line"
            if dot(d, d).is_zero():
                return f"{self.mechanism.bodies[body]} has no line"
        return ""

    def fault(self, entries: Mapping[str, str], reason: str) -> str:
        """What is wrong with a vector claimed to be null by a body's form; empty if nothing."""
        names = {name.rpartition(".")[0] for name in entries}
        body = self.mechanism.number(min(names))
        if len(names) != 1 or body not in {*self.forms.massless, *self.forms.lines}:
            return "it is of no body whose form is stated"
        slender = body in self.forms.lines
        what = "whose mass lies on a line" if slender else "which has no mass"
        wanted = f"inertia of {min(names)}, {what}"
        if reason != wanted:
            return f"it is “{wanted}”, not what its reason says"
        if len(entries) == 1 and self.field.numbers.of(next(iter(entries.values()))) != 1:
            return "its entry is 1"
        if not slender:
            return "" if len(entries) == 1 else "it is of one parameter"
        ten = [self.field.numbers.of("0") for _ in range(10)]
        alone = []
        for name, text in entries.items():
            k = PARAMETERS[False].index(name.rpartition(".")[2])
            ten[k] = self.field.numbers.of(text)
            alone.append([*ten[:0], *(x if i == k else 0 * x for i, x in enumerate(ten))])
        a, d = self.forms.lines[body]
        if not all(x.is_zero() for x in _moments(ten, a, d)):
            return "mass on the line has such moments"
        # Another number could stand in an entry without effect.
        if len(entries) > 1 and any(
            all(x.is_zero() for x in _moments(one, a, d)) for one in alone
        ):
            return "an entry of it is null alone"
        return ""


def _points(a: Sequence[Any], d: Sequence[Any]) -> list[list[Any]]:
    """Parameters of unit moments 0, 1, 2 along the line, from unit masses at −d, 0 and d."""
    here, there, back = (_mass(a), _mass(plus(a, d)), _mass(less(a, d)))
    first = [(x - y) / 2 for x, y in zip(there, back, strict=True)]
    second = [(x + y) / 2 - z for x, y, z in zip(there, back, here, strict=True)]
    return [here, first, second]


def _mass(r: Sequence[Any]) -> list[Any]:
    """A unit mass at r."""
    square, one = dot(r, r), 0 * r[0] + 1
    return [one, *r, *((square if i == j else 0 * square) - r[i] * r[j] for i, j in _PLACES)]


def _parabola(row: Sequence[Any], a: Sequence[Any], d: Sequence[Any]) -> list[Any]:
    """What unit moments do in a row of ten entries."""
    return [
        sum((x * y for x, y in zip(row, one, strict=True)), 0 * row[0]) for one in _points(a, d)
    ]


def _moments_of_units(a: Sequence[Any], d: Sequence[Any]) -> list[list[Any]]:
    zero = 0 * d[0]
    one = zero + 1
    return [_moments([one if i == k else zero for i in range(10)], a, d) for k in range(10)]


def _moments(ten: Sequence[Any], a: Sequence[Any], d: Sequence[Any]) -> list[Any]:
    """Mass, first moment along d, and mean inertia across d about a, in units of d's length.

    By the second moments S = ½ tr(J) 1 − J about a: across u the mean inertia is
    ½ (tr S + u·S u).
    """
    m, h, J = ten[0], ten[1:4], dict(zip(_PLACES, ten[4:], strict=True))
    half = (J[0, 0] + J[1, 1] + J[2, 2]) / 2
    shift = less(h, sized(m / 2, a))
    S = {
        (i, j): (half if i == j else 0 * half) - J[i, j] - shift[i] * a[j] - a[i] * shift[j]
        for i, j in _PLACES
    }
    n = dot(d, d)
    along = sum((S[min(i, j), max(i, j)] * d[i] * d[j] for i in range(3) for j in range(3)), 0 * n)
    trace = S[0, 0] + S[1, 1] + S[2, 2]
    first = dot(d, less(h, sized(m, a))) / n
    return [m, first, (trace + along / n) / n / 2]
