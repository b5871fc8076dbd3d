"""Tables of keys for docs/*.md."""

import re
from pathlib import Path

from basepar_core.files.mechanism_keys import (
    BODY,
    COUPLING,
    EXCITATION,
    JOINT,
    LAW,
    MECHANISM,
    MOTOR,
    POINT,
    SHAPE,
    TORQUE,
    TORQUE_OF_PIECES,
)
from cluster.places import KINDS
from sweeps.spec.sweep_keys import EVALUATE, LIMITS, PLAN, REDUCTION, STORE, SWEEP, TARGET
from workflows.studies import study_keys

from .profiles import rows

DOCS = Path(__file__).parents[2] / "docs"
_HEADER = ("key", "what it holds", "default")
_PLACE = re.compile(r"(<!-- keys: (.*?) -->\n).*?(<!-- end of keys -->)", re.DOTALL)


def pages():
    """Every page with its tables renewed, by its place."""
    found = {}
    for place in sorted(DOCS.glob("*.md")):
        page = place.read_text(encoding="utf-8")
        if _PLACE.search(page):
            found[place] = _PLACE.sub(lambda m: f"{m[1]}{TABLES[m[2]]()}{m[3]}", page)
    return found


def _table(header, rows):
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]) + "\n"


def _keys(*several, header=_HEADER):
    found = {
        key.name: (f"`{key.name}`", key.what, key.default) for keys in several for key in keys.keys
    }
    return _table(header, found.values())


def _torque():
    """Both kinds of torque in one table."""
    value = {"value": "this or `pieces`", "pieces": "this or `value`"}
    rows = {
        key.name: (f"`{key.name}`", key.what, value.get(key.name, key.default))
        for keys in (TORQUE, TORQUE_OF_PIECES)
        for key in keys.keys
    }
    return _table(("key of a torque", "what it holds", "default"), rows.values())


def _cases(shape, header):
    """Kinds with their keys in one row each, then what the keys are."""
    rows, each = [], {}
    for word, keys in shape.cases.items():
        own = [key for key in keys.keys if key.name != shape.key]
        listed = ", ".join(f"`{key.name}`" for key in own)
        for group in keys.one_of:
            names = [f"`{name}`" for name in group]
            listed = listed.replace(", ".join(names), " or ".join(names))
        rows.append((f"`{word}`", listed, keys.what))
        each |= {f"`{key.name}`": key.what for key in reversed(own)}
    listed = "; ".join(f"{name} {what}" for name, what in sorted(each.items()))
    return _table(header, rows) + f"\nKeys: {listed}.\n"


def _plans():
    groups = {}
    for word, keys in PLAN.cases.items():
        own = tuple(key for key in keys.keys if key.name != "plan")
        groups.setdefault(own, []).append(f"`{word}`")
    rows = [
        (", ".join(plans), f"`{key.name}`", key.what, key.default)
        for own, plans in groups.items()
        for key in own
    ]
    return _table(("plan", "key", "what it holds", "default"), rows)


def _inner(*sections):
    """Keys of several mappings within one, by their paths."""
    rows = [
        (f"`{path}.{key.name}`", key.what, key.default)
        for path, keys in sections
        for key in keys.keys
    ]
    return _table(_HEADER, rows)


TABLES = {
    "mechanism": lambda: _keys(MECHANISM),
    "bodies": lambda: _keys(BODY),
    "points": lambda: _keys(POINT),
    "shape": lambda: _keys(SHAPE),
    "joints": lambda: _keys(JOINT, header=("key", "what it is", "default")),
    "couplings": lambda: _keys(COUPLING),
    "excitation": lambda: _cases(EXCITATION, ("`excitation: {kind: …}`", "keys", "motion")),
    "laws": lambda: _cases(LAW, ("`kind` of a joint's cycle", "keys", "motion")),
    "motors": lambda: _keys(MOTOR, header=("key of a motor", "what it holds", "default")),
    "torques": _torque,
    "sweep": lambda: _keys(SWEEP),
    "plans": _plans,
    "evaluate": lambda: _keys(EVALUATE),
    "reduction": lambda: _keys(
        REDUCTION, header=("key of `reduction`", "what it holds", "default")
    ),
    "target": lambda: _keys(TARGET, header=("key of a target", "what it holds", "default")),
    "store": lambda: _inner(("store", STORE), ("limits", LIMITS)),
    "study": lambda: _keys(study_keys.STUDY),
    "study parts": lambda: _inner(
        ("sampler", study_keys.SAMPLER), ("store", study_keys.STORE), ("study", study_keys.PLACE)
    ),
    **{f"profile {kind}": lambda kind=kind: _table(_HEADER, rows(KINDS[kind])) for kind in KINDS},
}
