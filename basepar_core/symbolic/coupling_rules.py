"""Null vectors that couplings imply by themselves, exact in the geometry symbols.

Where couplings keep speeds in fixed ratios, kinetic energies that depend on these speeds alone
can be moved from one body to another: a gear's inertia to its partner's shaft, by the square of
the ratio. Such energies are, in the plane, that of any body's turning; else, of a body on the
ground, that about the axis of its joint, and that of a point of the axis along it where gravity
does no work. Loops only take motions away, so that the vectors stay null in them. (Ours.)
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from basepar_core.errors import ExpressionError
from basepar_core.mechanism import GROUND, Joint, joint_type

from .joint_rules import Exact, NullVector, Transfers
from .quotients import Quotient
from .vectors import dot, times

#: What reasons of these vectors end with.
TIED = "whose speeds couplings tie"
#: What certificates call what proves them.
RULE = "couplings"

#: A speed as a linear form in unknown speeds.
Form = dict[Hashable, Exact]


@dataclass(frozen=True)
class Energy:
    """A part on a body whose kinetic energy is half of `size` times the square of a speed."""

    body: str
    ten: list[Exact]
    size: Exact
    speed: Form


def coupled_vectors(transfers: Transfers) -> list[NullVector]:
    """Null vectors of a mechanism's couplings; none without couplings.

    Parameters
    ----------
    transfers
        Of the mechanism, in its geometry field.
    """
    if not transfers.mechanism.couplings:
        return []
    speeds, reduce = _Speeds(transfers), transfers.field.reduce
    every, rows = [], []
    for one in speeds.energies():
        along = [speeds.at(one.speed, mode) for mode in speeds.modes]
        products = [reduce(one.size * a * b) for k, a in enumerate(along) for b in along[k:]]
        if any(products):  # else a joint's rule is about it
            every.append(one)
            rows.append(products)
    names = [body.name for body in transfers.mechanism.bodies]
    found = []
    for shares in null_space(transfers, [list(x) for x in zip(*rows, strict=True)], len(every)):
        whole = zip(every, _whole(shares), strict=True)
        parts = [(one.body, x, one.ten) for one, x in whole if x != 0]
        bodies = sorted({body for body, *_ in parts}, key=names.index)
        reason = f"inertia of {', '.join(bodies)}, {TIED}"
        found.append(transfers.vector(parts, "theorem", reason))
    return found


class _Speeds:
    """Unknown speeds, and the motions that couplings leave of them.

    In the plane the bodies' angular velocities and the rates of slides; in space the rates of
    all joint values that are coupled.
    """

    def __init__(self, transfers: Transfers):
        self.transfers, self.field = transfers, transfers.field
        self.mechanism = transfers.mechanism
        coupled = [name for one in self.mechanism.couplings for name, _ in one.terms]
        keys: list[Hashable] = [] if not self.mechanism.planar else [*transfers.number.values()]
        for name in dict.fromkeys(coupled):
            if not self.mechanism.planar or self.mechanism.value(name).is_length:
                keys.append(name)
        self.keys = keys
        rows = [*self._couplings(), *self._turning_alike()]
        table = [[row.get(key, self.field.zero) for key in keys] for row in rows]
        self.modes = null_space(transfers, table, len(keys))

    def at(self, form: Form, mode: Sequence[Exact]) -> Exact:
        """A speed in a motion."""
        values = dict(zip(self.keys, mode, strict=True))
        return sum((x * values[key] for key, x in form.items()), self.field.zero)

    def rate(self, name: str) -> Form | None:
        """A joint value's rate; None where it is of no unknown speeds."""
        value = self.mechanism.value(name)
        if self.mechanism.planar and value.is_angle:
            return self._between(value.joint)
        return {name: self.field.one} if name in self.keys else None

    def _between(self, joint: Joint) -> Form:
        one, form = self.field.one, Form()
        for body, sign in zip(joint.bodies, (-one, one), strict=True):
            if body != GROUND:
                form[self.transfers.number[body]] = sign
        return form

    def _couplings(self) -> Iterator[Form]:
        for coupling in self.mechanism.couplings:
            row: Form = {}
            try:
                terms = [(name, self.field.element(x)) for name, x in coupling.terms]
            except ExpressionError:  # π of a screw: it ties, but not in this field
                continue
            for name, factor in terms:
                for key, x in (self.rate(name) or {}).items():
                    row[key] = row.get(key, self.field.zero) + factor * x
            yield row

    def _turning_alike(self) -> Iterator[Form]:
        """In the plane, joints that do not turn."""
        if self.mechanism.planar:
            for joint in self.mechanism.joints:
                if not joint_type(joint.type).rotations:
                    yield self._between(joint)

    def energies(self) -> Iterator[Energy]:
        """All parts whose energy is that of one unknown speed."""
        transfers, one = self.transfers, self.field.one
        if self.mechanism.planar:
            inertia = transfers.second_moment(list(transfers.six())[-1])
            for body, number in transfers.number.items():
                yield Energy(body, inertia, one, {number: one})
        for joint in self.mechanism.joints:
            if GROUND in joint.bodies:
                yield from self._on_ground(joint)

    def _on_ground(self, joint: Joint) -> Iterator[Energy]:
        """Of a joint about and along one axis."""
        transfers, shape = self.transfers, joint_type(joint.type)
        if shape.slides not in ("", "z") or shape.turns not in ("", "z"):
            return
        side = 1 - joint.bodies.index(GROUND)
        own, ground = transfers.frame(joint, side), transfers.frame(joint, 1 - side)
        level = self.field.reduce(dot(transfers.gravity, ground.z)) == 0
        rates = [(value, self.rate(value)) for value in joint.values]
        for value, rate in rates:
            if rate is None:
                continue
            if self.mechanism.value(value).is_length:
                # A mass off the axis about which a body turns as well has other energies too.
                if level and not (shape.turns and any(own.at)):
                    part = transfers.monopole(transfers.origin)
                    yield Energy(joint.bodies[side], part, self.field.one, rate)
            elif not self.mechanism.planar:
                for E in transfers.six():
                    size = self.field.reduce(dot(own.z, times(E, own.z)) / dot(own.z, own.z))
                    if size != 0:
                        part = transfers.second_moment(E)
                        yield Energy(joint.bodies[side], part, size, rate)
                        break


def _whole(shares: Sequence[Exact]) -> list[Exact]:
    """A multiple without denominators, so that it has values at every geometry."""
    common = shares[0].denom
    for x in shares[1:]:
        common = common.lcm(x.denom)
    return [x * common for x in shares]


def null_space(transfers: Transfers, rows: Sequence[list[Exact]], width: int) -> list[list[Exact]]:
    """A basis of the null space of some rows (entry by column), by Gauss and Jordan."""
    field, of = transfers.field, transfers.field.quotients
    left = [[of.of(x) for x in row] for row in rows]
    pivots: dict[int, list[Quotient]] = {}
    for column in range(width):
        found = next((row for row in left if row[column]), None)
        if found is None:
            continue
        left = [row for row in left if row is not found]
        head = found[column]
        top = [of.divide(x, head) for x in found]
        for row in [*left, *pivots.values()]:
            if factor := row[column]:
                row[:] = [of.less(x, factor, y) for x, y in zip(row, top, strict=True)]
        pivots[column] = top
    basis = []
    for free in (k for k in range(width) if k not in pivots):
        vector = [field.zero] * width
        vector[free] = field.one
        for column, row in pivots.items():
            vector[column] = field.reduce(-of.back(row[free]))
        basis.append(vector)
    return basis
