"""What the columns of a log are, as a file says it.

    log:
      time: {from: 1, unit: ms}            # or  rate: 200 Hz
      q1: {from: 2, unit: deg}
      tau1: {from: 14, gain: 14.87}        # N m = 14.87 × the column, a current in A
      motor to joint: [[1/32, 0], [0, 1/45]]

Columns are counted from 1, or named by title. Names are those of records (`A`, `A'`, `A''`,
`tau.A` of coordinate A) or count the coordinates: `q1`, `q1'`, `q1''`, `tau1`. A value is gain ·
column, in its unit; `motor to joint` then makes joint values of motors' values, q = M x, and joint
torques of motors' torques by virtual work, τ = M⁻ᵀ u; `joint to motor` is its inverse. The offset
is added last, on the joint's side.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import ExpressionError, FileError, Mistake
from basepar_core.expressions import DIMENSIONLESS, UNITS, Unit, did_you_mean, evaluate, parse_unit
from basepar_core.files import Fields, Key, Keys, Node, Reading, Scalar, effort, read, value_units
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural

#: Beyond this condition a matrix is taken for singular: couplings have ratios, not millions.
SINGULAR = 1e6
_CHANNEL = Keys(
    (
        Key("from", Scalar(), "the column: its number from 1, or its title"),
        Key("unit", Scalar(), "of the column; without it SI", "SI"),
        Key(
            "gain", Scalar(), "factor of the column: N m/A of a current, −1 to turn it round", "1"
        ),
        Key("offset", Scalar(), "added to the joint's value", "0"),
    )
)
_SHORT = re.compile(r"(q|tau)([0-9]{1,4})('{0,2})\Z")


@dataclass(frozen=True)
class Channel:
    """Where a value comes from: value = gain · unit · column + offset.

    Attributes
    ----------
    column
        Its number, from 1, or its title.
    gain
        Factor of the column.
    unit
        Of the column, as text; "" is SI.
    offset
        SI, added on the joint's side.
    """

    column: int | str
    gain: float = 1.0
    unit: str = ""
    offset: float = 0.0


@dataclass(frozen=True)
class LogMapping:
    """What the columns of a log are.

    Attributes
    ----------
    channels
        By the names of records: `t`, `A`, `A'`, `A''`, `tau.A`.
    rate
        Hz, where no column has the time.
    motor_to_joint
        (coordinate, motor) as rows; None: columns are joints' values.
    """

    channels: Mapping[str, Channel] = field(default_factory=dict)
    rate: float | None = None
    motor_to_joint: tuple[tuple[float, ...], ...] | None = None

    @property
    def matrix(self) -> Array | None:
        """M (coordinate, motor)."""
        return None if self.motor_to_joint is None else np.array(self.motor_to_joint)

    def document(self) -> dict[str, Any]:
        """Plain data, as `read_mapping` takes it under `log`."""
        found: dict[str, Any] = {} if self.rate is None else {"rate": self.rate}
        for name, one in self.channels.items():
            entry: dict[str, Any] = {"from": one.column}
            entry |= {"unit": one.unit} if one.unit else {}
            entry |= {"gain": one.gain} if one.gain != 1 else {}
            found[name] = entry | ({"offset": one.offset} if one.offset else {})
        if self.motor_to_joint is not None:
            found["motor to joint"] = [list(row) for row in self.motor_to_joint]
        return found


def written(mapping: LogMapping) -> str:
    """A mapping as its file, which `read_mapping` reads again."""
    lines = ["log:"]
    for name, entry in mapping.document().items():
        if name == "motor to joint":
            lines.append(f"  {name}:")
            lines += [f"    - [{', '.join(map(repr, row))}]" for row in entry]
        elif name == "rate":
            lines.append(f"  rate: {entry!r}")
        else:
            words = ", ".join(f"{key}: {_scalar(value)}" for key, value in entry.items())
            lines.append(f"  {_scalar(name)}: {{{words}}}")
    return "\n".join(lines) + "\n"


def _scalar(value: str | float) -> str:
    if not isinstance(value, str):
        return repr(value)
    return (
        value if re.fullmatch(r"[A-Za-z][\w.*/^ ]*", value) else '"' + value.replace('"', "") + '"'
    )


def names_of(mechanism: Mechanism) -> dict[str, Unit]:
    """Names of what a log may hold of a mechanism, and the SI unit of each."""
    slots = value_units(mechanism.joints)
    found = {"t": UNITS["s"]}
    for name in mechanism.coordinates:
        slot = slots[name]
        found |= {name: slot, f"{name}'": slot / UNITS["s"], f"{name}''": slot / UNITS["s"] ** 2}
        found[f"tau.{name}"] = effort(slot)
    return found


def read_mapping(text: str, mechanism: Mechanism, source: str = "the mapping") -> LogMapping:
    """Read a mapping file.

    Raises
    ------
    FileError
        All mistakes at once.
    """
    node, mistakes = read(text)
    reading = Reading(mistakes)
    top = (
        reading.fields(node, Keys((Key("log", Scalar(), "what the columns are"),))) if node else {}
    )
    entries = reading.entries(top.get("log"), "a mapping of names to columns", "q1: {from: «»}")
    found = _entries(reading, entries or {}, mechanism)
    if not reading.mistakes and not found.channels:
        reading.mistakes.append(Mistake("log", "names no column; write `q1: {from: 2}`"))
    if reading.mistakes:
        raise FileError(source, reading.mistakes)
    return found


def _entries(reading: Reading, entries: Mapping[str, Node], mechanism: Mechanism) -> LogMapping:
    channels: dict[str, Channel] = {}
    rate, matrix, known = None, None, names_of(mechanism)
    for key, node in entries.items():
        name = _full(key, mechanism)
        if key == "rate":
            rate = float(evaluate([reading.positive(node, UNITS["Hz"])], {})[0])
        elif key in ("motor to joint", "joint to motor"):
            matrix = _matrix(reading, node, mechanism, key)
        elif name not in known:
            hint = did_you_mean(key, [*known, "time", "rate", "motor to joint"])
            reading.mistake(
                node,
                f"nothing of {mechanism.name!r} is called {key!r}"
                f"{hint or '; its coordinates are ' + ', '.join(mechanism.coordinates)}",
            )
        elif name in channels:
            reading.mistake(node, f"{name} is there twice")
        else:
            channels[name] = _channel(reading, node, known[name])
    if rate is not None and "t" in channels:
        reading.mistake(entries["rate"], "a column has the time already; leave one of them out")
    return LogMapping(channels, rate, matrix)


def _full(key: str, mechanism: Mechanism) -> str:
    """The name of records for a key of the file."""
    if key == "time":
        return "t"
    if (match := _SHORT.match(key)) and key not in names_of(mechanism):
        place = int(match[2]) - 1
        if 0 <= place < len(mechanism.coordinates):
            name = mechanism.coordinates[place]
            return f"tau.{name}" if match[1] == "tau" else name + match[3]
    return key


def _channel(reading: Reading, node: Node, slot: Unit) -> Channel:
    entry = reading.fields(node, _CHANNEL)
    word = reading.text(entry.get("from"), "a column's number or title")
    column: int | str = int(word) if word and re.fullmatch(r"[0-9]{1,6}", word) else word or ""
    if column == 0:
        reading.mistake(entry["from"], "columns are counted from 1")
    unit = reading.text(entry.get("unit"), "a unit") or ""
    try:
        if unit and parse_unit(unit).dimension != slot.dimension:
            reading.mistake(entry["unit"], f"[{unit}] is no multiple of {slot.text}")
    except ExpressionError as error:
        reading.mistake(entry["unit"], error.message)
    gain = _number(reading, entry.get("gain"), 1.0, DIMENSIONLESS)
    if gain == 0:
        reading.mistake(entry["gain"], "a gain of 0 leaves nothing of the column")
    return Channel(column, gain, unit, _number(reading, entry.get("offset"), 0.0, slot))


def _number(reading: Reading, node: Node | None, default: float, slot: Unit) -> float:
    if node is None:
        return default
    return float(evaluate([reading.motion(node, slot)], {})[0])


def _matrix(
    reading: Reading, node: Node, mechanism: Mechanism, key: str
) -> tuple[tuple[float, ...], ...] | None:
    """M as rows, of all coordinates, or of some: `{of: [A, B], matrix: [[…], […]]}`."""
    names, before = mechanism.coordinates, reading.count
    places, rows = list(range(len(names))), node
    if isinstance(node, Fields):
        keys = (Key("of", Scalar(), "coordinates"), Key("matrix", Scalar(), "rows"))
        entry = reading.fields(node, Keys(keys))
        chosen = reading.items(entry.get("of"), None, "a list of coordinates") or ()
        known = [reading.known(one, _numbered(names), "coordinate") for one in chosen]
        places = [_numbered(names).index(one) % len(names) for one in known if one]
        rows = entry.get("matrix", node)
    size = len(places)
    lines = reading.items(rows, size, plural(size, "row")) or () if reading.count == before else ()
    cells = [reading.items(line, size, plural(size, "number")) or () for line in lines]
    block = [[_number(reading, cell, 0.0, DIMENSIONLESS) for cell in line] for line in cells]
    if reading.count > before:
        return None
    if not np.isfinite(condition := float(np.linalg.cond(block))) or condition > SINGULAR:
        reading.mistake(node, f"the matrix is singular (condition {condition:.2g})")
        return None
    whole: Array = np.eye(len(names))
    whole[np.ix_(places, places)] = block
    if key == "joint to motor":
        whole = np.linalg.inv(whole)
    return tuple(tuple(map(float, row)) for row in whole)


def _numbered(names: Sequence[str]) -> list[str]:
    """Coordinates by name, then by number."""
    return [*names, *(f"q{k + 1}" for k in range(len(names)))]
