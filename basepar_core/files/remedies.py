"""What to write instead, with the file's own names and numbers: the ends of messages."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Dimension, Unit, parse, parse_unit
from basepar_core.mechanism import JOINT_TYPES

from . import parentheses
from .keys import Keys
from .yaml_nodes import Fields, Items, Node, Text, entry_at

#: What a missing key may be given, where that depends on nothing else in the file.
_EXAMPLES: Mapping[str, str] = {
    "name": "my-mechanism",
    "mass": "1 kg",
    "samples": "64",
    "seed": "1",
    "harmonics": "5",
    "base_frequency": "0.5 Hz",
    "frequency": "0.5 Hz",
    "duration": "10 s",
    "trials": "100",
    "candidates": "64",
    "objectives": "{torque_rms: minimize}",
}
#: Other words for keys.
_CALLED: Mapping[str, Collection[str]] = {
    "connects": ("bodies", "links", "between", "parts", "members"),
    "body": ("link", "part", "on"),
    "at": ("origin", "position", "location", "anchor", "anchors", "pos", "frames", "xy", "xyz"),
    "axis": ("direction", "axes"),
    "centre": ("com", "cog", "cg", "center_of_mass", "centre_of_mass", "center_of_gravity"),
    "inertia": ("j", "i", "izz", "moment", "moment_of_inertia"),
    "mass": ("m",),
    "stiffness": ("k", "rate", "spring_constant"),
    "rest": ("l0", "length", "free_length", "natural_length", "rest_length", "length0"),
    "damping": ("c", "d", "viscous"),
    "speed": ("rpm", "omega", "velocity", "rate"),
    "turns": ("revolutions", "rotations", "revs", "cycles"),
    "duration": ("time", "period", "t"),
    "base_frequency": ("frequency", "freq", "f0"),
    "value": ("nominal", "default", "val", "length"),
    "from": ("start", "begin", "first"),
    "to": ("stop", "end", "last"),
    "viscous": ("damping",),
    "coulomb": ("friction",),
    "count": ("steps", "n", "num", "number", "points", "levels", "size"),
    "plan": ("sampler", "sampling", "method", "design", "kind", "type"),
    "variables": ("parameters", "design_variables", "symbols", "params", "ranges", "space"),
    "objectives": ("goal", "goals"),
    "metrics": ("outputs", "quantities", "results"),
    "where": ("filter", "filters", "condition", "conditions", "constraints"),
    "kind": ("type", "name", "algorithm"),
    "type": ("kind",),
}
#: What joints of other formats have, and these do not.
_NOT_HERE = dict.fromkeys(
    ("limit", "limits", "range", "safety_controller"),
    "joints have no limits here, take it out: a motion's are given to `basepar excite --range`",
) | {
    "rpy": "take it out: frames are turned by `axis` and `reference`, in both bodies",
    "mimic": "take it out, and write a coupling of both joints in `couplings`",
}
#: What bounds are called by their ends.
_LOW_HIGH = {
    key: pair
    for pair in (("min", "max"), ("low", "high"), ("lower", "upper"), ("from", "to"))
    for key in pair
}
#: Keys that say how many; all that others might call so is a whole number.
_COUNTS = ("samples", "candidates", "trials")
_NO_COUNTS = ("seed", "workers", "harmonics")
#: Sections of which each entry has a name that other sections use.
_NAMED = ("joints", "bodies")
#: Units of what symbols of mechanisms are, the most frequent first.
_LIKELY = ("m", "kg", "kg/m", "kg*m^2", "kg/m^2", "kg/m^3", "s", "N", "N*m", "N/m", "m/s", "m/s^2")
_RANGE = re.compile(r"([-+0-9.eE]*[0-9])\s*(?:\.\.\.?|-|–|…|to|:)\s*([-+]?[0-9.][-+0-9.eE]*)")
_QUANTITY = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z].*)?\Z")


def written(node: Node) -> str:
    """A node as a file may write it on one line."""
    if isinstance(node, Text):
        return _written_text(node.value)
    if isinstance(node, Items):
        return f"[{', '.join(map(written, node.items))}]"
    if isinstance(node, Fields):
        return f"{{{', '.join(f'{key}: {written(one)}' for key, one in node.entries.items())}}}"
    return "…"


def _written_text(text: str) -> str:
    return f'"{text}"' if set(text) & set(",:[]{}#'") else text


def missing(key: str, lines: Mapping[str, str]) -> str:
    """That a key is missing, and the line to write."""
    value = lines.get(key) or _EXAMPLES.get(key)
    return f"missing; write `{key}: {value}`" if value else "missing"


def how_many(key: str, given: Node, lacking: Collection[str]) -> str:
    """The key that says how many, for another word, where just that one is lacking."""
    counts = [one for one in lacking if one in _COUNTS]
    whole = isinstance(given, Text) and given.value.strip().isdigit()
    if len(counts) != 1 or not whole or key in _NO_COUNTS:
        return ""
    return f"; write `{counts[0]}: {written(given)}`"


def decimal_comma(key: str, entries: Mapping[str, Node]) -> str:
    """The remedy for a key that is the rest of a number with a decimal comma, else nothing."""
    order = list(entries)
    before = entries[order[order.index(key) - 1]]
    # A unit may follow: `mass: 0,8 kg`.
    if (
        re.match(r" *[0-9]+( |$)", key)
        and isinstance(before, Text)
        and before.value.lstrip("-").isdigit()
    ):
        return f"; the decimal sign is a point: write {before.value}.{key.strip()}"
    return ""


def mapping(node: Node, one: str, vector: str = "") -> str:
    """The remedy for a list or a text where a mapping is expected; nothing where none is known.

    `one`: the entry that a text («») most likely is, `path: «»` or `«»: minimize`; `vector`: the
    entries that a list of numbers most likely is, `at: «»`.
    """
    if isinstance(node, Text) and one and node.value.strip():
        return f"; write {{{one.replace('«»', written(node))}}}"
    items = node.items if isinstance(node, Items) else ()
    texts = [item.value for item in items if isinstance(item, Text)]
    if items and len(texts) == len(items):
        if vector:
            return f"; write {{{vector.replace('«»', written(node))}}}"
        if not (one.startswith("«»") or all(text[:1].isalpha() for text in texts)):
            return ""  # numbers are no keys
        entry = one if one.startswith("«»") else "«»: …"
        return f"; write {{{', '.join(entry.replace('«»', written(item)) for item in items)}}}"
    first = items[0] if items else None
    if isinstance(first, Fields) and isinstance(name := first.entries.get("name"), Text):
        return (
            f"; names are keys, without dashes: write {name.value}: {{…}} for "
            f"- {{name: {name.value}, …}}"
        )
    return ""


def list_of(node: Node, size: int | None, what: str) -> str:
    """The remedy for one entry where a list is expected: of any length, or the x of a vector, or
    a range as `0.2..0.6`."""
    if isinstance(node, Fields) and what == "a pair [low, high]":
        pair = [written(node.entries[key]) for key in _LOW_HIGH if key in node.entries]
        return f"; write [{', '.join(pair)}]" if len(pair) == 2 else ""
    if isinstance(node, Fields) and what in ("a list of conditions", "a list of constraints"):
        values = {
            key: one.value.strip() for key, one in node.entries.items() if isinstance(one, Text)
        }
        lines = [f'"{key} {one}"' for key, one in values.items() if one[:1] in "<>"]
        return f"; write [{', '.join(lines)}]" if lines and len(lines) == len(node.entries) else ""
    if not isinstance(node, Text) or not node.value.strip():
        return ""
    if meant := parentheses.listed(node.value):
        return f"; {parentheses.remedy(meant)}: write {meant}"
    if size is not None and what.startswith("a vector"):
        return f"; write [{', '.join([written(node), *['0'] * (size - 1)])}]"
    ends = _RANGE.fullmatch(node.value.strip()) if what == "a pair [low, high]" else None
    if ends is not None:
        return f"; write [{ends[1]}, {ends[2]}]"
    if what == "a pair [low, high]" and _QUANTITY.match(node.value.strip()):
        return (
            "; what is not varied keeps its value of the mechanism's file: take it out here, or "
            "write it in `derive`, with its unit"
        )
    return f"; write [{written(node)}]" if size is None else ""


def parted(node: Items) -> tuple[str, str] | None:
    """Of a list that commas inside parentheses have parted: what is wrong, and what was meant."""
    if not all(isinstance(one, Text) for one in node.items):
        return None
    texts = [one.value for one in node.items if isinstance(one, Text)]
    groups: list[list[str]] = []
    for text in texts:
        if groups and sum(map(_opened, groups[-1])) > 0:
            groups[-1].append(text)
        else:
            groups.append([text])
    meant = [parentheses.whole(one) if len(one) > 1 else _written_text(one[0]) for one in groups]
    if len(groups) == len(texts) or not all(meant):
        return None
    wrong = dict.fromkeys(
        parentheses.remedy(one)
        for one, group in zip(meant, groups, strict=True)
        if one and len(group) > 1
    )
    return ", ".join(wrong), f"[{', '.join(map(str, meant))}]"


def _opened(text: str) -> int:
    return text.count("(") - text.count(")")


@dataclass(frozen=True)
class Top:
    """The whole file: its keys, and what it has."""

    keys: Keys
    entries: Mapping[str, Node]


def other_word(key: str, entries: Mapping[str, Node], known: Collection[str]) -> str:
    """The key that another word is here, with what it was given; nothing for words of nobody."""
    if "bounds" in known and key in _LOW_HIGH:
        ends = [written(entries[one]) if one in entries else "…" for one in _LOW_HIGH[key]]
        return f"; write `bounds: [{', '.join(ends)}]`"
    if key in _NOT_HERE and {"connects", "reference"} <= {*known}:
        return f"; {_NOT_HERE[key]}"
    if key == "candidates" and "plan" in known:
        return (
            "; a grid has values, or a `count` for each variable, as in {from: 1, to: 2, "
            "count: 4}: write these without it, or `plan: sobol`"
        )
    entry = entries[key]
    inner = entry.entries if isinstance(entry, Fields) else {}
    for name, words in _CALLED.items():
        called = key.lower() in words and name not in inner
        if called and name in known and name not in entries:
            given = written(entries[key])
            if key == "origin" and "reference" in known:
                return _of_origin(entries[key])
            return f"; write `{name}: {f'{given} rpm' if key.lower() == 'rpm' else given}`"
    return ""


def _of_origin(node: Node) -> str:
    """The points of a joint, from its origin in its first body as URDF has it."""
    xyz = node.entries.get("xyz") if isinstance(node, Fields) else node
    items = xyz.items if isinstance(xyz, Items) else ()
    if [type(one) for one in items] not in ([Text] * 2, [Text] * 3):
        return "; write `at`, a point in each of the two bodies' frames"
    assert xyz is not None
    return f"; write `at: [{written(xyz)}, [{', '.join('0' for _ in items)}]]`"


def moved(key: str, entry: Node, path: str, keys: Keys, top: Top | None) -> str:
    """Where else in the file a key belongs, with its entry; nothing if nowhere: below `keys`, its
    mapping's, or at the top, or in another section."""
    text = written(entry)
    in_joint = path.startswith("joints.") and isinstance(entry, Text)
    if in_joint and key in ("damping", "viscous", "friction", "coulomb"):
        law = "viscous" if key in ("damping", "viscous") else "coulomb"
        inner = f"{{{path.partition('.')[2]}: {{{law}: {text}}}}}"
        return f"; friction stands beside the joints: write `friction: {inner}`"
    if top and key in top.keys.names and path:
        of = path.split(".")
        named = len(of) == 2 and of[0] in _NAMED
        there = top.entries.get(key)
        if there is None:
            inner = f"{{{of[1]}: {text}}}" if named else text
            return f"; its place is at the top of the file: `{key}: {inner}`"
        if named and isinstance(there, Fields):
            return f"; its place is in `{key}` at the top of the file: `{of[1]}: {text}`"
        return ""
    section = keys.below(key) or (top.keys.below(key) if top else "")
    if isinstance(entry, Fields) and entry.entries and entry.entries.keys() <= {*keys.names}:
        inner = ", ".join(f"{name}: {written(one)}" for name, one in entry.entries.items())
        return f"; what is in it stands here: write `{inner}`"
    if section == path.rpartition(".")[2]:
        return ""
    return f"; its place is in `{section}`: `{key}: {text}`" if section else ""


def top_lines(node: Node) -> dict[str, str]:
    """Values of the sections that a mechanism file must have, by what it says elsewhere."""
    entries = node.entries if isinstance(node, Fields) else {}
    gravity, space = entries.get("gravity"), entries.get("space")
    planar = isinstance(gravity, Items) and len(gravity.items) == 2
    if isinstance(space, Text):
        planar = space.value.strip() == "planar"
    lines = {
        "space": "planar" if planar else "spatial",
        "gravity": "[0, -9.81]" if planar else "[0, 0, -9.81]",
    }
    if names := _independent(entries.get("bodies"), entries.get("joints"), planar):
        lines["coordinates"] = f"[{', '.join(names)}]"
    return lines


def _independent(bodies: Node | None, joints: Node | None, planar: bool) -> list[str]:
    """As many joint values as there are degrees of freedom by Grübler's count, at least one.

    Where the count is wrong (redundant constraints), the check of the mobility says the number.
    """
    if not isinstance(bodies, Fields) or not isinstance(joints, Fields):
        return []
    freedom = 3 if planar else 6
    mobility, names, floating = freedom * len(bodies.entries), list[str](), list[str]()
    for name, joint in joints.entries.items():
        kind = entry_at(joint, "type")
        if not isinstance(kind, Text) or kind.value.strip() not in JOINT_TYPES:
            return []
        shape = JOINT_TYPES[kind.value.strip()]
        values = min(shape.values, freedom)
        mobility -= freedom - values
        if shape.is_free:
            floating += [f"{name}.{k}" for k in range(1, values + 1)]
        elif values == 1:
            names.append(name)
    return [*floating, *names][: max(mobility, 1)]


def short_symbol(name: str, node: Text, unit: str) -> str:
    """The remedy for `lx1: 0.3`: the same with its unit; nothing where it is no quantity."""
    match = _QUANTITY.match(node.value.strip())
    if match is None:
        return ""
    entries = f"{{value: {match[1]}, unit: {match[2] or unit}}}"
    if match[2]:
        return f"a symbol is a mapping: write {name}: {entries}"
    return f"a symbol has a unit: write {name}: {entries}, or the unit that it has"


def lacking_units(
    text: str, slot: Unit, names: Mapping[str, Dimension | None], bare: Collection[str]
) -> dict[str, str]:
    """Units with which an expression fits its slot, for its symbols that state none.

    Parameters
    ----------
    text, slot
        An expression that does not fit, and the unit that it must have.
    names
        Dimensions of the symbols.
    bare
        Those of its symbols that have no unit; of more than two nothing is guessed.
    """
    likely = (slot.text, *_LIKELY) if slot.text else _LIKELY
    for units in product(likely, repeat=len(bare)) if 0 < len(bare) <= 2 else ():
        guess = dict(zip(bare, units, strict=True))
        dimensions = {name: parse_unit(unit).dimension for name, unit in guess.items()}
        if parses_as(text, slot, {**names, **dimensions}):
            return guess
    return {}


def parses_as(text: str, slot: Unit, names: Mapping[str, Dimension | None]) -> bool:
    """Whether a text is an expression in a unit."""
    try:
        parse(text, slot, names)
    except ExpressionError:
        return False
    return True


def unit_apart(name: str, entries: Mapping[str, Node]) -> str:
    """The remedy for a symbol whose value has the unit; nothing for others."""
    value = entries.get("value")
    parts = _QUANTITY.match(value.value.strip()) if isinstance(value, Text) else None
    if parts is None or not parts[2] or "unit" in entries:
        return ""
    try:
        parse_unit(parts[2])
    except ExpressionError:
        return ""
    pair = f"{{value: {parts[1]}, unit: {parts[2]}}}"
    return f"a symbol's unit is apart: write {name}: {pair}, or a bare {parts[1]} if it has none"


def with_unit(name: str, node: Fields, unit: str) -> str:
    """The line of a symbol with a unit."""
    entries = {key: written(entry) for key, entry in node.entries.items()}
    value = entries.pop("value", "…")
    pairs = {"value": value, "unit": unit, **entries}
    return f"{name}: {{{', '.join(f'{key}: {entry}' for key, entry in pairs.items())}}}"


def flat_cycle(node: Fields, coordinates: Sequence[str]) -> str:
    """The remedy for a cycle that states its law without the coordinate it is of."""
    outside = ("samples", "effective_samples")
    law = {key: written(one) for key, one in node.entries.items() if key not in outside}
    samples = written(node.entries["samples"]) if "samples" in node.entries else "128"
    inner = ", ".join(f"{key}: {value}" for key, value in law.items())
    laws = ", ".join(f"{name}: {{{inner}}}" for name in coordinates or ("A",))
    return (
        f"{law['kind']} is a law of a coordinate: write "
        f"cycle: {{joints: {{{laws}}}, samples: {samples}}}"
    )
