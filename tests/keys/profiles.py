"""Profiles: their keys are the fields of the places, whose docstrings say what they are."""

import re
import types
import typing
from dataclasses import MISSING, fields
from textwrap import dedent

from cluster.places import KINDS, MOST, POSITIVE, Keys

_TYPES = {str: ["string", "number", "boolean"], int: "integer", float: "number", bool: "boolean"}


def profile():
    """The schema of profiles."""
    cases = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": _of(place, {"kind": {"const": kind}}),
        }
        for kind, place in KINDS.items()
    ]
    kinds = {"kind": {"enum": list(KINDS), "description": "where to compute"}}
    return {"type": "object", "required": ["kind"], "properties": kinds, "allOf": cases}


def groups(place):
    """Fields as the docstring has them together: (names, what they are, what None means)."""
    body = dedent(place.__doc__.partition("----------\n")[2])
    for names, text in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)+)", body, re.MULTILINE):
        what, _, none = " ".join(text.split()).rstrip(".").partition("; None: ")
        yield names.split(", "), what[0].lower() + what[1:], none or "none"


def rows(place):
    """Rows of a table: names, what they are, defaults."""
    by_name = {field.name: field for field in fields(place)}
    for names, what, none in groups(place):
        defaults = dict.fromkeys(_default(by_name[name], none) for name in names)
        yield ", ".join(f"`{name}`" for name in names), what, ", ".join(defaults)


def _default(field, none):
    """As a file would write it."""
    if field.default is MISSING:
        return "required"
    if field.name == "python" and field.default != "python":
        return "the interpreter that runs the command"
    match field.default:
        case None | ():
            return none
        case bool():
            return f"`{field.default}`".lower()
        case float():
            return f"`{field.default:g}`"
    return f"`{field.default}`"


def _of(made, further):
    told = {name: what for names, what, _ in groups(made) for name in names}
    hints = typing.get_type_hints(made)
    return {
        "type": "object",
        "required": [*further, *(one.name for one in fields(made) if one.default is MISSING)],
        "properties": further
        | {one.name: _value(one.name, hints[one.name], told[one.name]) for one in fields(made)},
        "additionalProperties": False,
    }


def _value(name, hint, told):
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    wanted = next(option for option in options if option is not type(None))
    if typing.get_origin(wanted) is tuple:
        found = {"type": "array", "items": {"type": _TYPES[str]}}
    elif wanted is Keys:
        found = _of(Keys, {})
    else:
        found = {"type": _TYPES[wanted]}
    if name in POSITIVE:
        found |= {"exclusiveMinimum": 0, "maximum": MOST}
    if type(None) in options:
        found = {"anyOf": [found, {"type": "null"}]}
    return {"description": told, **found}
