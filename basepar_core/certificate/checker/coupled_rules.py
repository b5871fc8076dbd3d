"""Null vectors that follow from couplings alone, decided exactly for every geometry.

A vector is null when the kinetic energy that it adds vanishes identically, and gravity does no
work on it. Decided here are parts whose energies are quadratic forms of speeds with constant
coefficients: in the plane second moments J of any bodies, by their angular velocities; else parts
of bodies on the ground, by the twists of the joint that ties them to it. The speeds are those
that the couplings leave. Loops only take motions away. Nothing of the maker's rules is used.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from .exact import Field, Ratio
from .joints import KINDS
from .natural import PARAMETERS, Joint, Mechanism, dot
from .rules import JointRules, Ten

#: A speed as a linear form in unknown speeds: angular velocities of bodies, rates of values.
Form = dict[Hashable, Any]
#: Two speeds whose product has an energy, and its coefficient.
Product = tuple[Form, Form, Any]
#: Kinds whose twists stay the same in the body.
_STEADY = ("revolute", "prismatic", "cylindrical")


class CoupledRules:
    """Rules of couplings of one mechanism."""

    name = "couplings"

    def __init__(self, mechanism: Mechanism, field: Field, rules: JointRules):
        self.mechanism, self.field, self.rules = mechanism, field, rules

    def fault(self, entries: Mapping[str, str], reason: str) -> str:
        """What is wrong with a vector claimed to follow from couplings; empty if nothing."""
        parts = self._parts(entries)
        names = ", ".join(self.mechanism.bodies[body] for body in sorted(parts))
        wanted = f"inertia of {names}, whose speeds couplings tie"
        if reason != wanted:
            return f"it is “{wanted}”, not what its reason says"
        if wrong := self.rules.forms.fault(parts):
            return wrong
        energies: list[Product] = []
        for body, ten in parts.items():
            found = self._energy(body, ten)
            if isinstance(found, str):
                return found
            energies += found
        if self._moves(energies):
            return "the energy of a motion that the couplings leave depends on it"
        # Another number could stand in an entry without effect.
        for name, text in entries.items():
            ((body, ten),) = self._parts({name: text}).items()
            alone = self._energy(body, ten)
            if isinstance(alone, str) or not self._moves(alone):
                return f"{name} has no energy of the coupled speeds"
        return ""

    def _moves(self, energies: Sequence[Product]) -> bool:
        """Whether energies do not vanish in all motions that the couplings leave."""
        modes = self._modes(energies)
        for i, one in enumerate(modes):
            for two in modes[i:]:
                total = self.field.numbers.of("0")
                for a, b, size in energies:
                    both = _at(a, one) * _at(b, two) + _at(a, two) * _at(b, one)
                    total = total + size * both
                if not total.is_zero():
                    return True
        return False

    def _parts(self, entries: Mapping[str, str]) -> dict[int, Ten]:
        kinds = PARAMETERS[self.mechanism.planar]
        kept = (0, 1, 2, 9) if self.mechanism.planar else range(10)
        places = dict(zip(kinds, kept, strict=True))
        found: dict[int, Ten] = {}
        for name, text in entries.items():
            body, _, kind = name.rpartition(".")
            number = self.mechanism.number(body)
            zeros = [self.field.numbers.of("0") for _ in range(10)]
            found.setdefault(number, zeros)[places[kind]] = self.field.numbers.of(text)
        return found

    # Energies.

    def _energy(self, body: int, ten: Ten) -> list[Product] | str:
        """A part's energy as products of two speeds; or why it has none here."""
        one = self.field.numbers.of("1")
        if self.mechanism.planar and all(x.is_zero() for x in ten[:9]):
            speed: Form = {body: one}
            return [(speed, speed, ten[9])]
        why = "it is on no joint to the ground whose twists stay the same"
        for joint in self.rules.joints.values():
            if joint.kind not in _STEADY or set(joint.bodies) != {body, -1}:
                continue
            side = joint.bodies.index(body)
            why = self.rules.potential_fault(joint, side, ten)
            if not why:
                return self._on_joint(joint, side, ten)
        return why

    def _on_joint(self, joint: Joint, side: int, ten: Ten) -> list[Product]:
        twists = self.rules.twists(joint, side)
        kind = KINDS[joint.kind]
        places = len(kind.lengths) + len(kind.angles)
        # Twists are of turning, then of sliding; values are lengths, then angles.
        order = [*range(places - len(kind.angles), places), *range(len(kind.lengths))]
        rates = [self._rate(joint, place) for place in order]
        z = joint.axes[side]["z"]
        # A twist is as long as the axis; in the plane turning is about a unit.
        plain = self.mechanism.planar and kind.free
        square = self.field.numbers.of("1") if plain else dot(z, z)
        return [
            (rates[i], rates[k], self.rules.bilinear(ten, x, y) / square)
            for i, x in enumerate(twists)
            for k, y in enumerate(twists)
        ]

    # Speeds.

    def _rate(self, joint: Joint, place: int) -> Form:
        one, kind = self.field.numbers.of("1"), KINDS[joint.kind]
        if self.mechanism.planar and place >= len(kind.lengths):
            ends = zip(joint.bodies, (-one, one), strict=True)
            return {body: sign for body, sign in ends if body >= 0}
        return {(joint.name, place): one}

    def _value(self, name: str) -> Form:
        label, _, number = name.partition(".")
        return self._rate(self.rules.joints[label], int(number or 1) - 1)

    def _modes(self, energies: Sequence[Product]) -> list[Mapping[Hashable, Ratio]]:
        """A basis of the speeds that couplings leave, and in the plane joints that do not turn."""
        rows = []
        for coupling in self.mechanism.couplings:
            row: Form = {}
            for name, text in coupling["values"].items():
                factor = self.field.numbers.of(text)
                for key, x in self._value(name).items():
                    row[key] = row[key] + factor * x if key in row else factor * x
            rows.append(row)
        if self.mechanism.planar:
            rows += [
                self._between(joint)
                for joint in self.rules.joints.values()
                if not KINDS[joint.kind].free
            ]
        keys = list(dict.fromkeys(key for row in rows for key in row))
        keys += [key for one, two, _ in energies for key in (*one, *two) if key not in keys]
        return _null(self.field, rows, list(dict.fromkeys(keys)))

    def _between(self, joint: Joint) -> Form:
        one = self.field.numbers.of("1")
        ends = zip(joint.bodies, (-one, one), strict=True)
        return {body: sign for body, sign in ends if body >= 0}


def _at(form: Form, mode: Mapping[Hashable, Ratio]) -> Any:
    total: Any = 0
    for key, x in form.items():
        total = x * mode[key] + total
    return total


def _null(
    field: Field, rows: Sequence[Form], keys: Sequence[Hashable]
) -> list[Mapping[Hashable, Ratio]]:
    """A basis of what all rows vanish on."""
    zero, one = field.numbers.of("0"), field.numbers.of("1")
    left = [{key: row.get(key, zero) for key in keys} for row in rows]
    solved: dict[Hashable, dict[Hashable, Any]] = {}
    for key in keys:
        head = next((row for row in left if not row[key].is_zero()), None)
        if head is None:
            continue
        left = [row for row in left if row is not head]
        pivot = head[key]
        unit = {k: x / pivot for k, x in head.items()}
        for row in (*left, *solved.values()):
            factor = row[key]
            if not factor.is_zero():
                row.update({k: x - factor * unit[k] for k, x in row.items()})
        solved[key] = unit
    modes: list[Mapping[Hashable, Ratio]] = []
    for free in (key for key in keys if key not in solved):
        mode = {key: -solved[key][free] if key in solved else zero for key in keys}
        modes.append(mode | {free: one})
    return modes
