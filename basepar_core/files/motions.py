"""The sections `excitation`, `cycle` and `noise`: motions of exactly the coordinates."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from math import ceil, isclose, pi
from typing import TypeVar

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import UNITS, ZERO, Expression, Unit, evaluate
from basepar_core.mechanism import (
    ConstantSpeed,
    Cycle,
    Data,
    Excitation,
    Fourier,
    RestToRest,
    Sines,
    SineSum,
    States,
)
from basepar_core.texts import plural

from . import remedies
from .bare_numbers import warn_of_millimetres, warn_of_rpm
from .mechanism_keys import (
    CYCLE_OF_DATA,
    CYCLE_OF_LAWS,
    EXCITATION,
    LAW,
    MOST_HARMONICS,
    MOST_SAMPLES,
)
from .motion_csv import read_data
from .reader import Reading
from .yaml_nodes import Fields, Items, Node, Text

T = TypeVar("T")
_SECOND, _HZ = UNITS["s"], UNITS["Hz"]
#: Fewer samples of a turn do not tell which way it goes.
_SAMPLES_OF_A_TURN = 4
Slots = Mapping[str, Unit]
Term = tuple[Expression, Expression, Expression]


def rate(slot: Unit) -> Unit:
    """rad/s or m/s of a coordinate in rad or m."""
    return slot / _SECOND


def effort(slot: Unit) -> Unit:
    """Torque or force of a coordinate in rad or m."""
    return UNITS["N"] if slot.text == "m" else UNITS["N"] * UNITS["m"]


def read_excitation(reading: Reading, node: Node | None, slots: Slots) -> Excitation | None:
    """The motion that rank and condition see.

    Parameters
    ----------
    reading
        Where mistakes go.
    node
        The section, None where there is none.
    slots
        Unit of every coordinate, in their order.
    """
    kind = _kind(reading, node, tuple(EXCITATION.cases))
    if kind is None:
        return None
    assert node is not None
    return _READERS[kind](reading, node, slots)


def _kind(reading: Reading, node: Node | None, kinds: Sequence[str]) -> str | None:
    entries = reading.entries(node, f"a mapping with kind ({', '.join(kinds)})")
    if node is None or entries is None:
        return None
    if "kind" not in entries:
        reading.mistake(node, f"kind is missing ({', '.join(kinds)})")
    return reading.choice(entries.get("kind"), kinds, "kind")


def _fourier(reading: Reading, node: Node, slots: Slots) -> Fourier:
    entries = reading.fields(node, EXCITATION.cases["fourier"])
    return Fourier(
        reading.whole(entries.get("harmonics"), 1, MOST_HARMONICS),
        reading.positive(entries.get("base_frequency"), _HZ),
        _amplitude(reading, entries.get("amplitude"), slots),
        reading.whole(entries.get("samples"), 1, MOST_SAMPLES),
        reading.whole(entries.get("seed"), 0),
    )


def _states(reading: Reading, node: Node, slots: Slots) -> States:
    entries = reading.fields(node, EXCITATION.cases["states"])
    return States(
        _amplitude(reading, entries.get("amplitude"), slots),
        reading.positive(entries.get("frequency"), _HZ),
        reading.whole(entries.get("samples"), 1, MOST_SAMPLES),
        reading.whole(entries.get("seed"), 0),
    )


def _sines(reading: Reading, node: Node, slots: Slots) -> Sines:
    entries = reading.fields(node, EXCITATION.cases["sines"])
    return Sines(
        reading.positive(entries.get("duration"), _SECOND),
        per_coordinate(reading, entries.get("terms"), slots, _terms, ()),
        reading.whole(entries.get("samples"), 1, MOST_SAMPLES),
    )


def _data(reading: Reading, node: Node, slots: Slots) -> Data:
    entries = reading.fields(node, EXCITATION.cases["data"])
    return read_data(reading, entries.get("file"), tuple(slots))


_READERS: Mapping[str, Callable[[Reading, Node, Slots], Excitation]] = {
    "fourier": _fourier,
    "states": _states,
    "sines": _sines,
    "data": _data,
}


def per_coordinate(
    reading: Reading,
    node: Node | None,
    slots: Slots,
    read: Callable[[Reading, Node, Unit], T],
    missing: T,
) -> tuple[T, ...]:
    """One entry for exactly every coordinate, in their order."""
    listed = "" if "coordinates" in reading.unknown else f" ({', '.join(slots)})"
    each = ", ".join(f"{name}: «»" for name in slots) if listed else ""
    if isinstance(node, Items) and listed and len(node.items) == len(slots):
        pairs = zip(slots, node.items, strict=True)
        meant = ", ".join(f"{name}: {remedies.written(item)}" for name, item in pairs)
        reading.mistake(
            node, f"a list, and a mapping over the coordinates is expected; write {{{meant}}}"
        )
        return (missing,) * len(slots)
    entries = reading.entries(node, f"a mapping over the coordinates{listed}", each)
    if node is None or entries is None:
        return (missing,) * len(slots)
    for name in [name for name in entries if reading.called.get(name, name) != name]:
        if reading.called[name] in entries:
            reading.mistake(entries[name], f"{name!r} is given twice")
    entries = {reading.called.get(name, name): entry for name, entry in entries.items()}
    if "coordinates" not in reading.unknown:
        _check_names(reading, node, entries, slots)
    return tuple(
        read(reading, entries[name], slot) if name in entries else missing
        for name, slot in slots.items()
    )


def _check_names(reading: Reading, node: Node, entries: Mapping[str, Node], slots: Slots) -> None:
    strangers = [name for name in entries if name not in slots and name not in reading.spoilt]
    lacking = [name for name in slots if name not in entries]
    if strangers:
        _strangers(reading, node, {name: entries[name] for name in strangers}, slots, lacking)
    for name in lacking[len(strangers) :]:  # a stranger is most likely a coordinate misspelt
        said = f"coordinate {name!r} is missing: give it here, or take it out of `coordinates`"
        given = [one for one in slots if one not in lacking]
        if len(given) == reading.freedom:  # else more may be wrong than one name too many
            told = (
                f"{plural(len(slots), 'value')} named, and the joints leave "
                f"{plural(len(given), 'degree')} of freedom: write `coordinates: "
                f"[{', '.join(given)}]`, without {', '.join(lacking)}"
            )
            at = reading.coordinates or node
            if (at.path, told) not in [(one.path, one.message) for one in reading.mistakes]:
                reading.mistake(at, told)
            continue
        reading.mistake(node, said)


def _strangers(
    reading: Reading,
    node: Node,
    strangers: Mapping[str, Node],
    slots: Slots,
    lacking: Sequence[str],
) -> None:
    """Report names that are not among the coordinates, those with one remedy together."""
    known = [x for x in reading.joint_values if x in strangers and not lacking]
    whole = ", ".join(x for x in reading.joint_values if x in slots or x in known)
    if len(known) > 1 and reading.freedom != len(slots):
        told = (
            f"{_listed(reading, known)} too, which are not among them: write `coordinates: "
            f"[{whole}]`, or take them out there; what is driven stands in `actuated`"
        )
        if not any(one.message.endswith(told) for one in reading.mistakes):  # once, not by section
            section = node.path.partition(".")[0]
            reading.mistake(reading.coordinates or node, f"{section} names {told}")
        strangers = {name: entry for name, entry in strangers.items() if name not in known}
    names, remedy = list(strangers), ""
    if len(lacking) == len(names) == 1:
        remedy = f"; write {lacking[0]}"
    elif set(known) == {*names} and reading.freedom == len(slots):
        remedy = f"; take {'it' if len(known) == 1 else 'them'} out here"
    elif set(known) == {*names}:
        remedy = f"; write `coordinates: [{whole}]`, or take it out here"
    if names:
        be = "is" if len(names) == 1 else "are"
        reading.mistake(
            strangers[names[0]] if len(names) == 1 else node,
            f"{', '.join(map(repr, names))} {be} not among the coordinates "
            f"({', '.join(slots)}){remedy}",
        )


def _listed(reading: Reading, names: Sequence[str]) -> str:
    """Joint values in words, of many in a row the first and the last."""
    first = reading.joint_values.index(names[0])
    in_a_row = list(names) == list(reading.joint_values[first : first + len(names)])
    return f"{names[0]} to {names[-1]}" if in_a_row and len(names) > 2 else ", ".join(names)


def _amplitude(reading: Reading, node: Node | None, slots: Slots) -> tuple[Expression, ...]:
    def size(reading: Reading, node: Node, slot: Unit) -> Expression:
        warn_of_millimetres(node, slot)
        return reading.positive(node, slot, zero=True)

    missing: Expression = ZERO
    return per_coordinate(reading, node, slots, size, missing)


def _terms(reading: Reading, node: Node, slot: Unit) -> tuple[Term, ...]:
    """Sines (a, ω, φ) of one coordinate."""
    items = reading.items(node, None, "a list of sines [amplitude, rad/s, phase]") or ()
    return tuple(_sine(reading, item, slot) for item in items)


def _sine(reading: Reading, node: Node, slot: Unit) -> Term:
    parts = reading.items(node, 3, "a sine [amplitude, rad/s, phase]")
    if parts is None:
        return ZERO, ZERO, ZERO
    radians = UNITS["rad"]
    warn_of_millimetres(parts[0], slot)
    slots = (slot, rate(radians), radians)
    a, w, p = (reading.motion(part, unit) for part, unit in zip(parts, slots, strict=True))
    return a, w, p


def read_noise(
    reading: Reading, node: Node | None, slots: Slots
) -> tuple[tuple[str, Expression], ...]:
    """Standard deviation of each coordinate's torque or force measurement."""
    if node is None:
        return ()

    def level(reading: Reading, node: Node, slot: Unit) -> Expression:
        return reading.positive(node, effort(slot))

    missing: Expression = ZERO
    return tuple(zip(slots, per_coordinate(reading, node, slots, level, missing), strict=True))


def read_cycle(reading: Reading, node: Node | None, slots: Slots) -> Cycle | None:
    """The motion that torques, reduction and metrics see."""
    entries = reading.entries(node, "a mapping with joints and samples")
    if node is None or entries is None:
        return None
    assert isinstance(node, Fields)
    if "kind" in entries:
        law = entries["kind"]
        if isinstance(law, Text) and law.value.strip() in LAW.cases:
            reading.mistake(node, remedies.flat_cycle(node, tuple(slots)))
            return None
        if reading.choice(entries["kind"], ("data",), "kind") is None:
            return None
        entries = reading.fields(node, CYCLE_OF_DATA)
        data = read_data(reading, entries.get("file"), tuple(slots))
        return Cycle(data, data.samples, _effective(reading, entries))
    before = reading.count
    if "joints" not in entries and (given := [one for one in slots if one in entries]):
        inner = ", ".join(f"{one}: {remedies.written(entries[one])}" for one in given)
        reading.mistake(node, f"laws are in `joints`: write `joints: {{{inner}}}`")
        return None
    entries = reading.fields(node, CYCLE_OF_LAWS)
    laws = per_coordinate(reading, entries.get("joints"), slots, _law, None)
    known = {name: law for name, law in zip(slots, laws, strict=True) if law is not None}
    if reading.count == before:
        _check_durations(reading, entries["joints"], known)
    samples = reading.whole(entries.get("samples"), 1, MOST_SAMPLES)
    if reading.count == before:
        _warn_of_turns(entries["joints"], known, samples)
    return Cycle(tuple(known.values()), samples, _effective(reading, entries))


def _effective(reading: Reading, entries: Mapping[str, Node]) -> Expression | None:
    node = entries.get("effective_samples")
    return None if node is None else reading.positive(node, Unit(""))


Law = ConstantSpeed | SineSum | RestToRest


def _law(reading: Reading, node: Node, slot: Unit) -> Law | None:
    kind = _kind(reading, node, tuple(LAW.cases))
    if kind == "constant_speed":
        return _constant_speed(reading, node, slot)
    if kind == "sines":
        entries = reading.fields(node, LAW.cases[kind])
        terms = _terms(reading, entries["terms"], slot) if "terms" in entries else ()
        return SineSum(terms, reading.positive(entries.get("duration"), _SECOND))
    if kind == "rest_to_rest":
        entries = reading.fields(node, LAW.cases[kind])
        warn_of_millimetres(entries.get("to"), slot)
        to = reading.motion(entries.get("to"), slot)
        return RestToRest(to, reading.positive(entries.get("duration"), _SECOND))
    return None


def _constant_speed(reading: Reading, node: Node, slot: Unit) -> ConstantSpeed:
    before = reading.count
    entries = reading.fields(node, LAW.cases["constant_speed"])
    speed = reading.motion(entries.get("speed"), rate(slot))
    if "speed" in entries:
        warn_of_rpm(entries["speed"], slot)
    turns = reading.motion(entries["turns"], Unit("")) if "turns" in entries else None
    duration = entries.get("duration")
    length = None if duration is None else reading.positive(duration, _SECOND)
    if reading.count > before:
        return ConstantSpeed(speed, turns, length)
    if (turns is None) == (length is None):
        reading.mistake(node, "give turns or duration, one of them")
    elif turns is not None and slot.text == "m":
        reading.mistake(node, "a sliding coordinate makes no turns; give a duration")
    elif turns is not None and 0 in evaluate([turns, speed], {}):
        reading.mistake(node, "turns and speed must not be zero; to rest, give a duration")
    return ConstantSpeed(speed, turns, length)


def _warn_of_turns(node: Node, laws: Mapping[str, Law], samples: int) -> None:
    """Say that samples are too few to see a turn; most often the turns are in deg."""
    for name, law in laws.items():
        if not isinstance(law, ConstantSpeed) or law.turns is None:
            continue
        turns = abs(float(evaluate([law.turns], {})[0]))
        if turns * _SAMPLES_OF_A_TURN <= samples:
            continue
        meant = f"write at least `samples: {ceil(turns * _SAMPLES_OF_A_TURN)}`"
        if turns >= 90:
            meant = f"if {turns:g} deg are meant, write `turns: {turns / 360:g}`"
        warnings.warn(
            f"{node.path}.{name} (line {node.line}): {turns:g} turns in "
            f"{plural(samples, 'sample')}, {turns / samples:.3g} turns from one sample to the "
            f"next; {meant}.",
            BaseparWarning,
            stacklevel=2,
        )


def _duration(law: Law) -> float:
    if isinstance(law, ConstantSpeed) and law.turns is not None:
        turns, speed = evaluate([law.turns, law.speed], {})
        return float(abs(2 * pi * turns / speed))
    assert law.duration is not None
    return float(evaluate([law.duration], {})[0])


def _check_durations(reading: Reading, node: Node, laws: Mapping[str, Law]) -> None:
    durations = {name: _duration(law) for name, law in laws.items()}
    for name, duration in durations.items():
        first = next(iter(durations))
        # Two ways of writing one duration (2π/speed, seconds) differ by rounding only.
        if not isclose(duration, durations[first], rel_tol=1e-12):
            assert isinstance(node, Fields)
            reading.mistake(
                node.entries[name],
                f"lasts {duration:.6g} s, {first!r} lasts {durations[first]:.6g} s; a cycle has "
                f"one duration",
            )
