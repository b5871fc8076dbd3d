"""A mechanism's text with another section `assembly`: another branch of the same mechanism."""

import re

from basepar_core.files import Fields, Items, Node, Refused, Text
from basepar_core.texts import yaml_word

_ASSEMBLY = re.compile(r"^assembly:.*(?:\n(?:[ \t#].*)?$)*", re.MULTILINE)


def reassembled(source: str, assembly: Node) -> str:
    """A mechanism's text with another assembly.

    Raises
    ------
    ValueError
        Where the text has no section `assembly` of its own lines (URDF, MJCF, one long mapping).
    """
    found = _ASSEMBLY.subn(lambda _: f"assembly: {_flow(assembly)}\n", source, count=1)
    if not found[1]:
        raise ValueError("the mechanism's file has no section `assembly` that could be replaced")
    return found[0]


def _flow(node: Node) -> str:
    match node:
        case Text():
            plain = re.fullmatch(r"[A-Za-z0-9_.*/^() +-]+", node.value)
            return node.value if plain else yaml_word(node.value)
        case Items():
            return f"[{', '.join(map(_flow, node.items))}]"
        case Fields():
            pairs = (f"{yaml_word(key)}: {_flow(one)}" for key, one in node.entries.items())
            return f"{{{', '.join(pairs)}}}"
        case Refused():
            pass
    return ""
