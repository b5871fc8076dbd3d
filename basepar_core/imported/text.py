"""A draft as the text of a mechanism file.

Numbers are decimals as the other file printed them; those that had to be computed (merged
bodies, turned frames) have 17 digits. Directions are whole numbers, because the lengths of a
joint's axes must agree exactly.
"""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from basepar_core.mechanism import GROUND, joint_type
from basepar_core.texts import visible, yaml_comment, yaml_word

from .draft import WORLD, Connection, Draft, Inertia, Merged, Names, merge, value_names
from .rationals import UNITS, Vec

#: Characters of a mechanism's name.
_LONGEST = 100
#: Of the room between a joint's start and its limits, what an excitation uses.
MARGIN = 0.95
#: Less of a wished amplitude than this is no room: it would leave nothing that moves.
LEAST_ROOM = 1e-3
#: Digits of numbers that have no finite decimal.
DIGITS = 17


def mechanism_text(draft: Draft, amplitude: float, away: Fraction = Fraction(0)) -> str:
    """The file.

    Parameters
    ----------
    draft
        Without mistakes.
    amplitude
        Of the excitation's angles (rad); its lengths move a fifth as many metres.
    away
        How far from their starts coordinates begin: rad; lengths a fifth as many metres.
    """
    merged = merge(draft)
    bodies = Names([GROUND])
    body_names = {name: bodies.give(name, "body") for name in merged.bodies} | {WORLD: GROUND}
    joints = Names([GROUND, "bodies"])
    joint_names = [joints.give(one.name, "joint") for one in draft.connections]
    changed = [*bodies.changed, *joints.changed]
    notes = [*draft.notes, *(f"{old!r} is called {new}" for old, new in changed)]
    lines = [
        f"name: {_name(draft.name)}",
        *_comment(f"From {draft.format}, by basepar import."),
        *(line for note in notes for line in _comment(note)),
        *(line for what in draft.dropped for line in _comment(f"dropped: {what}")),
        "space: spatial",
        f"gravity: {_row(draft.gravity)}",
        "bodies:",
        *(
            line
            for name, x in merged.bodies.items()
            for line in _body(body_names[name], None if name in merged.massless else x)
        ),
        "joints:",
    ]
    for name, one in zip(joint_names, draft.connections, strict=True):
        lines += _joint(name, one, merged, body_names)
    lines += _values(draft, joint_names, amplitude, away, len(merged.bodies))
    lines += _columns(draft, joint_names, merged, body_names)
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    clean = yaml_comment(text)
    return textwrap.wrap(clean, 96, initial_indent="# ", subsequent_indent="#   ")


def _name(text: str) -> str:
    """A name of one line that mechanism files allow."""
    return yaml_word(visible(" ".join(text.split()))[:_LONGEST] or "unnamed")


def _body(name: str, inertia: Inertia | None) -> list[str]:
    if inertia is None:
        return [f"  {name}: {{form: massless}}"]
    return [
        f"  {name}:",
        f"    mass: {number(inertia.mass)}",
        f"    centre: {_row(inertia.centre)}",
        f"    central_inertia: {_row(inertia.central)}",
    ]


def _joint(name: str, one: Connection, merged: Merged, names: dict[str, str]) -> list[str]:
    connected, ends = merged.joined(one)
    lines = [
        f"  {name}:",
        f"    type: {'screw' if one.pitch else one.kind}",
        f"    connects: [{names[connected[0]]}, {names[connected[1]]}]",
    ]
    if any(x for end in ends for x in end.at):
        lines.append(f"    at: [{_row(ends[0].at)}, {_row(ends[1].at)}]")
    axes, references = _pair([end.axis for end in ends]), _pair([end.reference for end in ends])
    if (axes, references) != (_pair([UNITS[2]] * 2), _pair([UNITS[0]] * 2)):
        lines += [f"    axis: {axes}", f"    reference: {references}"]
    if one.pitch:
        lines.append(f"    pitch: {number(one.pitch)}")
    return lines


def _pair(vectors: Sequence[Vec]) -> str:
    """Two directions by whole numbers, scaled alike."""
    common = math.lcm(*(x.denominator for v in vectors for x in v))
    whole = [[int(x * common) for x in v] for v in vectors]
    divisor = math.gcd(*(x for v in whole for x in v))
    return f"[{', '.join(str([x // divisor for x in v]) for v in whole)}]"


def _within(amplitude: float, at: float, span: tuple[float, float] | None) -> float:
    """An amplitude about a value that stays between a joint's limits, where there is room."""
    if span is None:
        return amplitude
    room = MARGIN * min(span[1] - at, at - span[0])
    return min(amplitude, room) if room > LEAST_ROOM * amplitude else amplitude


def _values(
    draft: Draft, names: Sequence[str], amplitude: float, away: Fraction, bodies: int
) -> list[str]:
    """Everything that speaks of joint values; importers name them after their own joints."""
    called = _called(draft, names)
    lengths: set[str] = set()
    starts: dict[str, Fraction] = {}
    for name, one in zip(names, draft.connections, strict=True):
        ours = value_names(name, one.kind)
        lengths |= {ours[k] for k in joint_type(one.kind).lengths}
        starts |= one.start
    chosen = draft.coordinates or list(called)
    limits = {value: span for one in draft.connections for value, span in one.limits.items()}
    moving = {}
    for name in chosen:
        slides = called[name] in lengths
        shift = away / 5 if slides else away
        at = starts.get(name, Fraction(0)) + shift
        most = _within(amplitude / 5 if slides else amplitude, float(at), limits.get(name))
        moving[called[name]] = f"{most:.3g} {'m' if slides else 'rad'}"
    coupled = {name for one in draft.couplings for name in one.terms}
    begin = {
        called[name]: number(
            starts.get(name, Fraction(0))
            + (name in chosen) * (away / 5 if called[name] in lengths else away)
        )
        for name in called
        if name in chosen or (name in starts and name not in coupled)
    }
    closed = bool(draft.coordinates)
    law = (
        "fourier, harmonics: 5, base_frequency: 0.2 Hz" if closed else "states, frequency: 0.3 Hz"
    )
    samples = max(24, math.ceil(30 * bodies / len(chosen)))  # three rows per parameter
    return [
        *_couplings(draft, called, names),
        f"coordinates: [{', '.join(moving)}]",
        f"assembly: {_mapping(begin)}",
        f"excitation: {{kind: {law}, samples: {samples}, seed: 1, amplitude: {_mapping(moving)}}}",
    ]


def _called(draft: Draft, names: Sequence[str]) -> dict[str, str]:
    """Joint values as the file calls them, by the importers' names."""
    return {
        theirs: ours
        for name, one in zip(names, draft.connections, strict=True)
        for theirs, ours in zip(
            value_names(one.name, one.kind), value_names(name, one.kind), strict=True
        )
    }


def _couplings(draft: Draft, called: Mapping[str, str], joints: Sequence[str]) -> list[str]:
    """Linear relations of values; numbers without a unit are SI."""
    taken = Names([*joints, GROUND, "bodies"])
    lines = []
    for one in draft.couplings:
        values = _mapping({called[name]: number(x) for name, x in one.terms.items()})
        offset = f", offset: {number(one.offset)}" if one.offset else ""
        name = taken.give(one.name, "coupling")
        lines.append(f"  {name}: {{values: {values}{offset}}}")
    return ["couplings:"] * bool(lines) + lines


def _columns(
    draft: Draft, joints: Sequence[str], merged: Merged, bodies: Mapping[str, str]
) -> list[str]:
    """Friction, springs and dampers; values and bodies are called differently here."""
    found: dict[str, list[str]] = {"friction": [], "springs": [], "dampers": []}
    taken, called = Names([*joints, GROUND, "bodies"]), _called(draft, joints)
    for one in draft.connections:
        for name, values in one.friction.items():
            numbers = {kind: number(x) for kind, x in values.items()}
            found["friction"].append(f"  {called[name]}: {_mapping(numbers)}")
        for name, (stiffness, rest) in one.springs.items():
            label = taken.give(f"{called[name].replace('.', '_')}_spring", "spring")
            of = {"joint": called[name], "rest": number(rest), "stiffness": number(stiffness)}
            found["springs"].append(f"  {label}: {_mapping(of)}")
    for tie in draft.between:
        carried = [merged.carried[link] for link in tie.links]
        at = [_row(pose.point(p)) for (_, pose), p in zip(carried, tie.points, strict=True)]
        ends = {
            "connects": f"[{', '.join(bodies[body] for body, _ in carried)}]",
            "at": f"[{', '.join(at)}]",
        }
        if tie.stiffness:
            more = {"rest": number(tie.rest), "stiffness": number(tie.stiffness)}
            label = taken.give(tie.name, "spring")
            found["springs"].append(f"  {label}: {_mapping(ends | more)}")
        if tie.damping:
            label = taken.give(tie.name, "damper")
            more = {"damping": number(tie.damping)}
            found["dampers"].append(f"  {label}: {_mapping(ends | more)}")
    return [line for section, lines in found.items() if lines for line in (f"{section}:", *lines)]


def _mapping(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entries.items()) + "}"


def _row(values: Iterable[Fraction]) -> str:
    return f"[{', '.join(map(number, values))}]"


def number(value: Fraction) -> str:
    """A decimal: exact where it is short, else to 17 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        decimal = Decimal(value.numerator) / Decimal(value.denominator)
        text = format(decimal.normalize(), "f")
    if len(text) > DIGITS + 6 and value != 0:
        mantissa, exponent = f"{decimal:.{DIGITS - 1}e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text
