"""JSON Schemas (draft 7) from shapes.

Draft 7, because it is what editors' YAML servers know best. Every scalar of a file is text to
its reader, so what looks like a number may be one or a text wherever a quantity stands.
"""

import json
import re
from collections import Counter
from pathlib import Path

from basepar_core.files import (
    Again,
    AnyOf,
    Anything,
    ByKey,
    BySpace,
    ByWord,
    Each,
    Keys,
    Named,
    Quantity,
    Scalar,
    Whole,
)
from basepar_core.files.mechanism_keys import MECHANISM
from sweeps.spec.sweep_keys import PLAN, SWEEP_FILE
from workflows.studies.study_keys import STUDY_FILE

from .profiles import profile

FOLDER = Path(__file__).parents[2] / "workflows" / "schemas"
#: Characters of what is rather written again than named.
_SHORT = 300
WRITTEN_AS_WORDS = {"true": True, "false": False}


def schemas():
    """Every schema by its kind."""
    planar, spatial = (of(MECHANISM, space) for space in ("planar", "spatial"))
    space = {"properties": {"space": {"const": "spatial"}}, "required": ["space"]}
    found = {
        "mechanism": {"if": space, "then": spatial, "else": planar},
        "sweep": {**of(SWEEP_FILE), "definitions": {"plan": of(PLAN)}},
        "study": of(STUDY_FILE),
        "profile": profile(),
    }
    return {
        kind: {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": f"basepar: {kind} file",
            **schema,
        }
        for kind, schema in found.items()
    }


def text(schema):
    """As it is shipped."""
    return json.dumps(_shared(schema), ensure_ascii=False, indent=1) + "\n"


def _shared(schema):
    """With what occurs more than once written once, as a definition."""
    counts = Counter(json.dumps(one) for one in _objects(schema))
    often = [one for one, count in counts.items() if count > 1 and len(one) > _SHORT]
    names = {one: f"part-{k}" for k, one in enumerate(often, 1)}

    def named(node, whole=False):
        match node:
            case dict() if not whole and (name := names.get(json.dumps(node))):
                return {"$ref": f"#/definitions/{name}"}
            case dict():
                return {key: named(one) for key, one in node.items()}
            case list():
                return [named(one) for one in node]
        return node

    found = named(schema, whole=True)
    parts = {name: named(json.loads(one), whole=True) for one, name in names.items()}
    return found | {"definitions": found.get("definitions", {}) | parts} if parts else found


def _objects(node):
    """Schemas of mappings within one."""
    if isinstance(node, dict) and node.get("type") == "object":
        yield node
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from _objects(inner)


def of(shape, space="spatial"):
    """The schema of a shape in a planar or spatial file."""
    match shape:
        case Scalar(()):
            return {"type": ["string", "number", "boolean"], "pattern": r"\S"}
        case Scalar(words):
            return {
                "enum": [*words, *(WRITTEN_AS_WORDS[w] for w in words if w in WRITTEN_AS_WORDS)]
            }
        case Quantity():
            return {"type": ["number", "string"], "pattern": r"\S"}
        case Whole(least, most):
            limits = {"minimum": least, "maximum": most}
            return {
                "type": ["integer", "string"],
                "pattern": r"^\s*[+-]?[0-9]{1,18}\s*$",
                **limits,
            }
        case Anything():
            return {}
        case Each(inner, None, least):
            return {"type": "array", "items": of(inner, space), "minItems": least}
        case Each(inner, size):
            entries = {"minItems": size, "maxItems": size}
            return {"type": "array", "items": of(inner, space), **entries}
        case Named():
            return _named(shape, space)
        case Keys():
            return _keys(shape, space)
        case ByWord():
            return _by_word(shape, space)
        case ByKey(key, given, absent):
            chosen = {"then": of(given, space), "else": of(absent, space)}
            return {"type": "object", "if": {"required": [key]}, **chosen}
        case BySpace(planar, spatial):
            return of(planar if space == "planar" else spatial, space)
        case AnyOf(shapes):
            return {"anyOf": [of(one, space) for one in shapes]}
        case Again(name):
            return {"$ref": f"#/definitions/{name}"}
    raise TypeError(shape)


def _named(shape, space):
    found = {"type": "object", "minProperties": shape.least}
    if shape.names:
        found["propertyNames"] = {"pattern": f"^{shape.names}$"}
    if shape.own:
        found["properties"] = {name: of(one, space) for name, one in shape.own.items()}
    return found | {"additionalProperties": of(shape.of, space)}


def _keys(shape, space):
    found = {
        "type": "object",
        "required": list(shape.required),
        "properties": {key.name: _key(key, space) for key in shape.keys},
        "additionalProperties": False,
    }
    rules = [_one(group) for group in shape.one_of]
    if shape.together:
        given = [{"required": [key]} for group in shape.together for key in group]
        each = {"allOf": [_one(group) for group in shape.together]}
        rules.append({"if": {"anyOf": given}, "then": each})
    return found | ({"allOf": rules} if rules else {})


def _key(key, space):
    default = "" if key.default == "required" else f" (default: {key.default})"
    what = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", key.what)  # links of pages
    return {"description": f"{what}{default}", **of(key.holds, space)}


def _one(group):
    """That exactly one of these keys is there."""
    return {"oneOf": [{"required": [key]} for key in group]}


def _by_word(shape, space):
    cases = [
        {
            "if": {"properties": {shape.key: {"const": word}}, "required": [shape.key]},
            "then": _keys(keys, space),
        }
        for word, keys in shape.cases.items()
    ]
    return {
        "type": "object",
        "required": [shape.key],
        "properties": {shape.key: {"enum": list(shape.cases)}},
        "allOf": cases,
    }
