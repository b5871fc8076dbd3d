"""Names of bodies that are not there: what may be meant."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import GROUND

from .yaml_nodes import Fields, Items, Node, Text

#: Two names of bodies that mean one differ by so many letters in length.
_LONGER = 2
#: Likeness (of `difflib`) from which a word may be the ground.
_GROUND = 0.8


def body_meant(word: str, bodies: Iterable[str]) -> str:
    """As `did_you_mean`, of closer names; the ground is there in every file and fits little."""
    near = [
        one
        for one in bodies
        if one.lower().startswith(word.lower())
        or (
            abs(len(one) - len(word)) <= _LONGER
            and (one != GROUND or difflib.SequenceMatcher(None, word, one).ratio() >= _GROUND)
        )
    ]
    return did_you_mean(word, near)


def lacking_joints(joints: Node | None, bodies: Sequence[str]) -> str:
    """`; coupler has one joint only` where, as joints name bodies, one alone has so few."""
    count = Counter(
        item.value.strip()
        for joint in (joints.entries.values() if isinstance(joints, Fields) else ())
        if isinstance(joint, Fields) and isinstance(pair := joint.entries.get("connects"), Items)
        for item in pair.items
        if isinstance(item, Text)
    )
    few = [body for body in bodies if count[body] < 2]
    if len(few) != 1:
        return ""
    return f"; {few[0]} has {'one joint only' if count[few[0]] else 'no joint'}"
