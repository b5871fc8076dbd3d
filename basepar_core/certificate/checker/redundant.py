"""Equations that follow from others, as identities: joints that lock what others lock.

All zeros of what is left are then zeros of all, and configurations are enclosed as without them.
Used are affine equations, factors that are not zero where the mechanism stands, and that the axes
of a hinge are parallel; what follows in other ways is not seen.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .exact import Field
from .joints import KINDS
from .natural import Affine, Joint, Mechanism, Quadratic

#: A coordinate of the pose this far from zero may be a factor that is none.
_FAR = Fraction(1, 100)
#: What makes a hinge: both of the first's other axes stay perpendicular to the second's z.
_HINGE = {"xz", "yz"}


def independent(
    mechanism: Mechanism, field: Field, pose: Sequence[Fraction]
) -> tuple[list[int], set[int]]:
    """Equations to keep, by number; and the unknowns (from 1) that they need not to be zero."""
    joints = mechanism.frames(field.numbers)
    work = _Reduction(mechanism.equations(joints), field, pose)
    rigid = (1 if mechanism.planar else 6) * len(mechanism.bodies)
    turning: list[int] = []
    placing: list[int] = []
    hinges = []
    start = rigid
    for joint in joints:
        points, along, about = KINDS[joint.kind].locks(mechanism.planar)
        first = start + points * (2 if mechanism.planar else 3) + len(along)
        placing += range(start, first)
        start = first + len(about)
        turning += range(first, start)
        if set(about) >= _HINGE:
            mine = [first + about.index(pair) for pair in sorted(_HINGE)]
            hinges.append((mine, _components(mechanism, joint)))
    while work.look(turning, range(rigid)) or work.carry(hinges):
        pass
    while work.look(placing, ()):
        pass
    return [k for k in range(start) if k not in work.dropped], work.factors


def _components(mechanism: Mechanism, joint: Joint) -> list[tuple[Affine, Affine]]:
    """World components of both bodies' axes z."""
    ends = zip(joint.bodies, joint.axes, strict=True)
    first, second = (mechanism.place(body, axes["z"], True) for body, axes in ends)
    return list(zip(first, second, strict=True))


class _Reduction:
    """Equations with what is known of unknowns put in.

    Attributes
    ----------
    used
        Those from which something was concluded: they stay.
    dropped
        Those that vanish by what was concluded from others.
    """

    def __init__(self, forms: Sequence[Quadratic], field: Field, pose: Sequence[Fraction]):
        self.forms, self.field = [_without_zeros(form) for form in forms], field
        self.known: dict[int, Affine] = {}
        self.used: set[int] = set()
        self.dropped: set[int] = set()
        self.factors: set[int] = set()
        self.pose, self.far = pose, {k for k, x in enumerate(pose, 1) if abs(x) > _FAR}

    def look(self, some: Sequence[int], further: Sequence[int]) -> bool:
        """Drop what vanishes of `some`, then conclude from one more equation, if any says more.

        First from `further`, which are never dropped.
        """
        left = [k for k in some if k not in self.used]
        self.dropped |= {k for k in left if not self.forms[k]}
        for k in (*further, *left):
            if k not in self.used | self.dropped and self._conclude(self._affine(self.forms[k])):
                self.used.add(k)
                return True
        return False

    def carry(self, hinges: Sequence[tuple[list[int], list[tuple[Affine, Affine]]]]) -> bool:
        """What one axis of a hinge is not along, its other is not either.

        Each hinge: its two equations, and the world components of its two axes. Those whose
        equations stay anyway come first.
        """
        for mine, axes in sorted(hinges, key=lambda hinge: len(set(hinge[0]) - self.used)):
            for pair in axes:
                one, other = map(self._reduced, pair)
                if bool(one) != bool(other) and self._conclude(one or other):
                    self.used.update(set(mine) - self.dropped)
                    return True
        return False

    def _affine(self, form: Quadratic) -> Affine:
        """An affine form that vanishes with this one; empty if none is seen."""
        if all(i == 0 for i, _ in form):
            return _affine_of(form)
        for j in sorted(self.far):
            if form == {(0, 0): -1, (j, j): 1}:
                self.factors.add(j)
                return {0: -1 if self.pose[j - 1] > 0 else 1, j: 1}
            if all(j in pair for pair in form):
                self.factors.add(j)
                return {(i if k == j else k): c for (i, k), c in form.items()}
        return {}

    def _conclude(self, form: Affine) -> bool:
        """Put in what an affine equation says of an unknown whose coefficient is a number."""
        at = next((i for i in sorted(form, reverse=True) if i and self._is_number(form[i])), 0)
        if not at:
            return False
        pivot = self.field.number(Fraction(-1)) / form[at]
        self.known[at] = {i: c * pivot for i, c in form.items() if i != at}
        self.known = {i: self._reduced(expression) for i, expression in self.known.items()}
        self.forms = [self._known_in(form) for form in self.forms]
        return True

    def _reduced(self, form: Affine) -> Affine:
        return _affine_of(self._known_in(_without_zeros({(0, i): c for i, c in form.items()})))

    def _is_number(self, x: Any) -> bool:
        ratio = x + self.field.number(Fraction(0))
        return bool(ratio.bottom == self.field.one and ratio.top.is_constant())

    def _known_in(self, form: Quadratic) -> Quadratic:
        if not any(i in self.known for pair in form for i in pair):
            return form
        total: Quadratic = {}
        for (i, j), c in form.items():
            for k, a in self.known.get(i, {i: 1}).items():
                for l, b in self.known.get(j, {j: 1}).items():
                    key = (min(k, l), max(k, l))
                    total[key] = total.get(key, 0) + c * a * b
        return _without_zeros(total)


def _affine_of(form: Quadratic) -> Affine:
    """Of a form whose pairs have the constant."""
    return {j: c for (_, j), c in form.items()}


def _without_zeros(form: Quadratic) -> Quadratic:
    return {pair: c for pair, c in form.items() if c != 0}
