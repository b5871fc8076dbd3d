"""Symbols that a mechanism file declares and nothing in it names."""

import re
from collections.abc import Iterator

import yaml

_NAME = re.compile(r"[^\W\d]\w*")
#: Sections whose words are no symbols.
_PROSE = ("name", "description")


def unused_symbols(text: str) -> dict[str, int]:
    """Symbols and constants of a mechanism file's text that nothing names, and their lines.

    Parameters
    ----------
    text
        Of a mechanism that was read; an empty one has none.
    """
    top = yaml.compose(text, yaml.SafeLoader)
    sections = {key.value: one for key, one in top.value} if top else {}
    declared = {
        key.value: key.start_mark.line + 1
        for section in ("geometry", "constants")
        if isinstance(found := sections.get(section), yaml.MappingNode)
        for key, _ in found.value
    }
    named = {word for key, one in sections.items() if key not in _PROSE for word in _words(one)}
    return {name: line for name, line in declared.items() if name not in named}


def _words(node: yaml.Node) -> Iterator[str]:
    """Names in a node's texts; keys name nothing."""
    if isinstance(node, yaml.ScalarNode):
        yield from _NAME.findall(node.value)
    else:
        for one in node.value:
            yield from _words(one[1] if isinstance(node, yaml.MappingNode) else one)
