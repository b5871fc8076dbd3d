"""What may vary in a mechanism, and in which order random values are given to it.

A family is the mechanism with every symbol of its geometry free. The same symbol twice is the
same unknown, a zero stays a zero and a number a number, so that structure is respected by
construction. Only where numbers keep the loops from closing at random orientations are some of
them freed, ground coordinates first (no null vector contains those), and the choice is recorded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Call, Expression, Name, Number, names
from basepar_core.mechanism import GROUND, Frame, Joint, Mechanism, Symbol, joint_type

from .couplings import coefficients_of
from .evaluation import Evaluator, spoilers
from .orientations import Closing, Edge, Forest, span


@dataclass(frozen=True)
class SpinRelation:
    """A relation between orientations seen on the real branch (−1: ground).

    Either a fixed relative rotation R_firstᵀ R_second, or an axis that both have in common.
    """

    first: int
    second: int
    rotation: tuple[tuple[Fraction, ...], ...] | None = None
    axes: tuple[tuple[Expression, ...], tuple[Expression, ...]] | None = None


@dataclass(frozen=True)
class Root:
    """An algebraic number: its symbol and its polynomial's coefficients from the constant up."""

    symbol: str
    coefficients: tuple[Expression, ...]


#: What tells components of one closure apart: rank of the closure equations, unknowns forced to
#: zero, relations between lengths alone that hold at the nominal ones.
Signature = tuple[int, frozenset[str], int]


@dataclass(frozen=True)
class Family:
    """A mechanism's family, ready for drawing points.

    Attributes
    ----------
    mechanism
        With freed numbers as symbols.
    directions
        Symbols (and irrational constants) that get random values first.
    angles
        Angle symbols: a point of the unit circle each.
    roots
        Algebraic numbers, roots of their polynomials at the values of the others.
    unknowns
        Lengths that closure may solve for, ground-side ones first.
    constants
        Rational values of constants and of prescribed symbols.
    forest
        Of the orientation graph.
    relations
        Detected relations that are edges of it.
    freed
        Numbers that vary all the same, in words.
    freed_on_bodies
        Whether one of them is a coordinate in a moving body, which null vectors may contain.
    symbols
        Number of independent symbols that occur in the geometry.
    nominal
        Nominal lengths that closure may solve for, where they are rational.
    signature
        Of points on the real component, where orientations close in two different ways.
    """

    mechanism: Mechanism
    directions: tuple[str, ...]
    angles: tuple[str, ...]
    roots: tuple[Root, ...]
    unknowns: tuple[str, ...]
    constants: Mapping[str, Fraction]
    forest: Forest
    relations: tuple[SpinRelation, ...] = ()
    freed: tuple[str, ...] = ()
    freed_on_bodies: bool = False
    symbols: int = 0
    nominal: Mapping[str, Fraction] = field(default_factory=dict)
    signature: Signature | None = None
    closing: Closing = field(default_factory=Closing, compare=False)


def build(
    mechanism: Mechanism,
    relations: Sequence[SpinRelation] = (),
    prescribed: Mapping[str, Fraction] | None = None,
    freed: Sequence["Slot"] = (),
) -> Family:
    """The family of a mechanism.

    Parameters
    ----------
    mechanism
        As its file has it.
    relations
        Detected relations that become edges of the orientation graph.
    prescribed
        Symbols that keep a value; for an angle the tangent of its half.
    freed
        Numbers that become unknowns.
    """
    wider = free(mechanism, freed)
    constants, irrational = rational_values(wider.constants)
    constants |= prescribed or {}
    at, directions = _slots(wider)
    directions += coefficients_of(wider)
    directions += [x for r in relations if r.axes for axis in r.axes for x in axis]
    used = frozenset().union(*(names(slot) for slot in at + directions))
    bound = wider.roots & used - constants.keys()
    roots = tuple(Root(r.symbol, r.coefficients) for r in wider.relations if r.symbol in bound)
    in_roots = frozenset().union(*(names(c) for root in roots for c in root.coefficients))
    symbols = {s.name: s for s in (*wider.geometry, *wider.constants)}
    angles = tuple(
        n for n, s in symbols.items() if s.is_angle and n in used and n not in constants
    )
    varying = (used | in_roots) - constants.keys() - frozenset(angles) - bound
    first = frozenset().union(*map(names, directions), in_roots) & varying
    lengths = varying - first
    first |= spoilers(at, lengths, lambda name: "m" in symbols[name].unit)
    return Family(
        mechanism=wider,
        directions=tuple(sorted(first)),
        angles=angles,
        roots=roots,
        unknowns=_ordered(wider, lengths - first),
        constants=constants,
        forest=span(_edges(wider, relations), len(wider.bodies)),
        relations=tuple(relations),
        freed=(
            *(slot.text for slot in freed),
            *(f"constant {n}" for n in irrational if n in used),
        ),
        freed_on_bodies=any(not slot.on_ground for slot in freed),
        symbols=len(varying) + len(angles),
        nominal=rational_values(symbols[name] for name in lengths - first)[0],
    )


def rational_values(symbols: Iterable[Symbol]) -> tuple[dict[str, Fraction], list[str]]:
    """Values of the rational ones; names of the others, which vary."""
    exact = Evaluator(lambda value: value, {}, {})
    rational: dict[str, Fraction] = {}
    irrational = []
    for symbol in symbols:
        try:
            value = exact.scalar(symbol.value)
        except ExpressionError:
            irrational.append(symbol.name)
            continue
        if symbol.is_angle:  # its sine and cosine are not rational
            irrational.append(symbol.name)
        else:
            rational[symbol.name] = value
    return rational, irrational


def _slots(mechanism: Mechanism) -> tuple[list[Expression], list[Expression]]:
    """Expressions of points, and of axes, references and gravity."""
    frames = [frame for joint in mechanism.joints for frame in joint.frames]
    at = [x for frame in frames for x in frame.at]
    directions = [x for frame in frames for v in (frame.axis, frame.reference) for x in v]
    return at, directions + list(mechanism.gravity)


def _ordered(mechanism: Mechanism, lengths: frozenset[str]) -> tuple[str, ...]:
    """Symbols that occur in ground points only come first; else in the order of the file."""
    carried = symbols_of_bodies(mechanism)
    listed = [s.name for s in (*mechanism.geometry, *mechanism.constants) if s.name in lengths]
    return tuple(sorted(listed, key=lambda name: name in carried))


def symbols_of_bodies(mechanism: Mechanism) -> frozenset[str]:
    """Symbols in points of moving bodies."""
    return frozenset().union(
        *(
            names(entry)
            for joint in mechanism.joints
            for body, frame in zip(joint.bodies, joint.frames, strict=True)
            if body != GROUND
            for entry in frame.at
        )
    )


def _edges(mechanism: Mechanism, relations: Sequence[SpinRelation]) -> list[Edge]:
    names_ = [body.name for body in mechanism.bodies] + [GROUND]
    edges = [
        Edge(
            r.first,
            r.second,
            0 if r.rotation else 1,
            ~k,
            f"{names_[r.first]} and {names_[r.second]}",
        )
        for k, r in enumerate(relations)
    ]
    number = mechanism.body_index
    for k, joint in enumerate(mechanism.joints):
        freedoms = joint_type(joint.type).rotations
        if freedoms < (1 if mechanism.planar else 3):  # else it restricts none
            first, second = (number[name] for name in joint.bodies)
            edges.append(Edge(first, second, freedoms, k, joint.name))
    return edges


# Numbers that become symbols.


@dataclass(frozen=True)
class Slot:
    """Numbers of points that become one unknown: (joint, side, axis, sign) each."""

    places: tuple[tuple[int, int, int, int], ...]
    value: Fraction
    text: str
    on_ground: bool


def candidates(mechanism: Mechanism) -> list[Slot]:
    """Numbers that may be freed, in this order.

    Ground coordinates that are not zero, ground coordinates that are (a zero is structure where
    it matters; a rank that differs from the null vectors' shows it), then numbers other than
    zero in bodies, equal ones as one unknown because equality is structure.
    """
    found: list[Slot] = []
    sizes: dict[Fraction, list[tuple[int, int, int, int]]] = {}
    for k, joint in enumerate(mechanism.joints):
        for side, (body, frame) in enumerate(zip(joint.bodies, joint.frames, strict=True)):
            for axis in range(2 if mechanism.planar else 3):
                entry = frame.at[axis]
                if not isinstance(entry, Number):
                    continue
                where = f"joints.{joint.name}.at[{side}][{axis}]"
                if body == GROUND:
                    place = ((k, side, axis, 1),)
                    found.append(Slot(place, entry.value, f"{where} = {entry.value}", True))
                elif entry.value != 0:
                    sign = 1 if entry.value > 0 else -1
                    sizes.setdefault(abs(entry.value), []).append((k, side, axis, sign))
    found.sort(key=lambda slot: slot.value == 0)
    for value, places in sizes.items():
        k, side, axis, _ = places[0]
        text = f"joints.{mechanism.joints[k].name}.at[{side}][{axis}] = {value}"
        more = f" and {len(places) - 1} equal" if len(places) > 1 else ""
        found.append(Slot(tuple(places), value, text + more, False))
    return found


def free(mechanism: Mechanism, slots: Sequence[Slot]) -> Mechanism:
    """The mechanism with numbers replaced by symbols, which no file can have named so."""
    if not slots:
        return mechanism
    entry: dict[tuple[int, int, int], Expression] = {}
    fresh = []
    for count, slot in enumerate(slots):
        name = f"?{count}"
        fresh.append(Symbol(name, Number(slot.value), "m"))
        for k, side, axis, sign in slot.places:
            entry[k, side, axis] = Name(name) if sign > 0 else Call("-", (Name(name),))

    def frame(k: int, side: int, old: Frame) -> Frame:
        x, y, z = (entry.get((k, side, axis), value) for axis, value in enumerate(old.at))
        return replace(old, at=(x, y, z))

    joints = tuple(
        Joint(
            joint.name,
            joint.type,
            joint.bodies,
            (frame(k, 0, joint.frames[0]), frame(k, 1, joint.frames[1])),
        )
        for k, joint in enumerate(mechanism.joints)
    )
    return replace(mechanism, joints=joints, geometry=(*mechanism.geometry, *fresh))
