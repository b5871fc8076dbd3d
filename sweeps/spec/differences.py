"""Where two values of plain data differ."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_MISSING = object()


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Lines like `space.seed: 7 here, 8 there`; the order of keys counts."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*ours, *theirs]):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(ours.get(key, _MISSING), theirs.get(key, _MISSING), inner)
        if ours.keys() == theirs.keys() and list(ours) != list(theirs):
            yield f"{path}: {', '.join(ours)} here, in the order {', '.join(theirs)} there"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(left, right, f"{path}[{place}]")
    elif ours != theirs:
        yield f"{path}: {_shown(ours)} here, {_shown(theirs)} there"


def as_in_study(lines: Iterable[str]) -> list[str]:
    """Lines of a study's sweep with the keys of study files: `constraints[1]: … here, … there`.

    What is evaluated follows from objectives and constraints: it is listed only where it differs
    alone.
    """
    found = [_STUDY_KEY.sub(lambda match: _STUDY_KEYS[match[1]], line, count=1) for line in lines]
    own = [line for line in found if not line.startswith(("evaluate.metrics", "evaluate.rank"))]
    return own or found


#: Beginnings of a sweep's keys, and what study files have there.
_STUDY_KEYS = {
    "space.by.": "",
    "space.variables": "variables",
    "space.derive": "derive",
    "evaluate.own": "own_metrics",
    "evaluate.reduction": "reduction",
    "evaluate.targets": "targets",
}
_STUDY_KEY = re.compile(rf"^({'|'.join(map(re.escape, _STUDY_KEYS))})")


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
