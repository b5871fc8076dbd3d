"""Where two values of plain data differ."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from basepar_core.expressions import Unit

_MISSING = object()


def differences(
    ours: Any,
    theirs: Any,
    path: str = "",
    units: Mapping[str, Unit] | None = None,
    unit: Unit | None = None,
) -> Iterator[str]:
    """Lines like `space.seed: 7 here, 8 there`; the order of keys counts.

    Values of variables that `units` names are told in these, of SI numbers in `unit`.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys([*ours, *theirs]):
            inner = f"{path}.{key}" if path else str(key)
            own = (units or {}).get(key) if path.endswith("variables") else unit
            own = None if key == "integer" else own  # counted in the unit as they stand
            one, other = ours.get(key, _MISSING), theirs.get(key, _MISSING)
            yield from differences(one, other, inner, units, own)
        if ours.keys() == theirs.keys() and list(ours) != list(theirs):
            yield f"{path}: {', '.join(ours)} here, in the order {', '.join(theirs)} there"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(left, right, f"{path}[{place}]", units, unit)
    elif ours != theirs:
        here, there = _shown(ours, unit), _shown(theirs, unit)
        if here == there:  # apart by a rounding, which the unit hides
            here, there = _shown(ours), _shown(theirs)
        yield f"{path}: {here} here, {there} there"


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


def _shown(value: Any, unit: Unit | None = None) -> str:
    if value is _MISSING:
        return "nothing"
    if unit is not None and isinstance(value, int | float):
        return f"{value / unit.size:.15g} {unit.text}"
    if unit is not None and isinstance(value, list):
        value = f"[{', '.join(_shown(one, unit) for one in value)}]"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
