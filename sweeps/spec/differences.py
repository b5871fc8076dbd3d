"""Where two values of plain data differ."""

import json
from collections.abc import Iterator
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


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
