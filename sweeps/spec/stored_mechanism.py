"""A mechanism as a store keeps it: its file's text, and motions that come from files of their own.

The text only names such a file. Its samples stand in the store's specification, exact, so that a
store runs again where the file is not, or where another one bears its name.
"""

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from basepar_core.errors import FileError, Mistake
from basepar_core.expressions import Expression, Number
from basepar_core.files import Fields, Items, Node, Text, loads, read, recorded_motions
from basepar_core.mechanism import Data, Mechanism

#: What to do where the text was right for the version that wrote the store.
_EARLIER = (
    "this is the text that the store keeps, of the version that made it; names that are units now "
    "(cm, inch, ms, rev, rpm) are no names of symbols. Read the store with that version, or "
    "change the mechanism's own file as said and run it into a new store"
)

#: Where the hash of samples stands among the entries of the mechanism's file.
HASH = "(data)"


def plain_mechanism(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism's file less comments, layout and description, as text; order counts."""
    if not mechanism.source:
        return {"value": mechanism.in_full}
    node, _ = read(mechanism.source)
    # URDF and MJCF are no YAML mappings, and count as they stand.
    tree = _plain_node(node) if isinstance(node, Fields) else {"text": mechanism.source}
    tree = {key: entry for key, entry in tree.items() if key != "description"}
    measured = list(recorded_motions(mechanism).values())
    if measured:
        tree = tree | {HASH: hashlib.sha256(repr(measured).encode()).hexdigest()}
    return tree


def samples(mechanism: Mechanism) -> dict[str, list[list[str]]]:
    """Samples of recorded motions by their entry in the mechanism's file.

    Returns
    -------
    Rows of exact numbers as text: t, then position, velocity and acceleration per coordinate, SI.
    """
    return {
        path: [
            [_text(t), *(_text(number) for triple in row for number in triple)]
            for t, row in zip(motion.times, motion.values, strict=True)
        ]
        for path, motion in recorded_motions(mechanism).items()
    }


def mechanism_of(document: Mapping[str, Any]) -> Mechanism:
    """The mechanism of a store's specification (`SweepSpec.document`).

    Raises
    ------
    FileError
        A motion's samples are not in the store, an earlier version's, and unavailable as they
        were; or this version does not read the mechanism's text.
    """
    tree = document["mechanism"]
    name = tree.get("name", "mechanism")
    recorded = {path: _motion(rows) for path, rows in document.get("samples", {}).items()}
    try:
        found = loads(document["source"], name, recorded)
    except FileError as error:
        raise FileError(name, [*error.mistakes, Mistake("", _EARLIER)]) from None
    if plain_mechanism(found).get(HASH) != tree.get(HASH):
        message = (
            "the motion in its CSV file is not the sweep's, and the store does not keep the "
            "sweep's own. Stand where that file is, or run the sweep's file into a new store"
        )
        raise FileError(name, [Mistake("", message)])
    return found


def _text(number: Expression) -> str:
    assert isinstance(number, Number)  # what a CSV file has
    return str(number.value)


def _motion(rows: list[list[str]]) -> Data:
    numbers = [[Number(Fraction(text)) for text in row] for row in rows]
    return Data(
        tuple(row[0] for row in numbers),
        tuple(tuple(zip(row[1::3], row[2::3], row[3::3], strict=True)) for row in numbers),
    )


def _plain_node(node: Node) -> Any:
    match node:
        case Text():
            return node.value
        case Items():
            return [_plain_node(item) for item in node.items]
        case Fields():
            return {key: _plain_node(entry) for key, entry in node.entries.items()}
    return None
