"""YAML with every scalar as text, and nothing that hides what a file says.

PyYAML's events, not its constructors: `0.2501` stays exact text, `on` and `1:30` stay words.
Anchors, aliases, tags and merge keys are rejected, a key given twice is a mistake, and every node
knows its path and line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from basepar_core.errors import Mistake
from basepar_core.texts import is_unseen, visible

from . import parentheses

_MAX_CHARACTERS = 2_000_000
_MAX_NESTING = 12
#: A key and its value without the blank between them.
GLUED = re.compile(r"([\w.]+):(\S.*)")
#: Characters without a shape that texts need all the same: line ends, tabs, joiners of letters.
_SHAPELESS = "\n\t\u00ad\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as it stands."""

    value: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple["Node", ...]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping from names to nodes, in file order; `lines` are those of the keys."""

    entries: dict[str, "Node"]
    path: str
    line: int
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """An alias, or a text that nobody sees: reported, and nothing more to say about it."""

    path: str
    line: int


Node = Text | Items | Fields | Refused


class Unreadable(Exception):
    """The text cannot be read on from here."""

    def __init__(self, mistake: Mistake):
        super().__init__(mistake.message)
        self.mistake = mistake


def read(text: str) -> tuple[Node | None, list[Mistake]]:
    """The one document of a text, and all its mistakes of form.

    Returns
    -------
    node
        None where the text cannot be read as YAML.
    mistakes
        Duplicate keys, anchors, tags …; reading goes on behind them.
    """
    if len(text) > _MAX_CHARACTERS:
        return None, [Mistake("", f"more than {_MAX_CHARACTERS} characters; this is no mechanism")]
    reader = _Reader(text)
    try:
        return reader.document(), reader.mistakes
    except Unreadable as error:
        return None, [*reader.mistakes, error.mistake]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        reason = _reason(error) + (blank_after_colon(text, line) if line else "")
        return None, [*reader.mistakes, Mistake("", f"not YAML: {reason}", line)]
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the character {chr(error.character)!r} is not allowed"
        return None, [*reader.mistakes, Mistake("", f"not YAML: {what}", line)]


#: What YAML stumbles over inside brackets, by its words for it.
_OPEN = {
    "while parsing a flow sequence": ("list", "[", "]"),
    "while parsing a flow mapping": ("mapping", "{", "}"),
}


def _reason(error: yaml.MarkedYAMLError) -> str:
    if error.context in _OPEN and error.context_mark is not None:
        what, opening, closing = _OPEN[error.context]
        line = error.context_mark.line + 1
        return (
            f"the {what} that begins with '{opening}' in line {line} has no "
            f"'{closing}', or no comma between two of its entries"
        )
    parts = [part for part in (error.context, error.problem) if part]
    reason = ", ".join(parts)
    if "\\t" in reason:
        reason += "; indent with blanks, not with tabs"
    return reason


def blank_after_colon(text: str, line: int) -> str:
    """The remedy where YAML stumbles over `name:four-bar` in this line or the one before."""
    rows = text.splitlines()
    for number in (line - 1, line):
        row = rows[number - 1] if 0 < number <= len(rows) else ""
        if match := re.match(r"\s*([A-Za-z]\w*):([^\s:].*)\Z", row):
            return f"; a key needs a blank after its colon, line {number}: {match[1]}: {match[2]}"
    return ""


def key_path(path: str, key: str) -> str:
    """Path of an entry: `joints.B`."""
    key = visible(key[:80])
    return f"{path}.{key}" if path else key


def entry_at(node: Node | None, *keys: str) -> Node | None:
    """The entry of nested mappings that is reached by these keys; None where one is not there."""
    for key in keys:
        node = node.entries.get(key) if isinstance(node, Fields) else None
    return node


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Reader:
    """Builds nodes from events; one method per kind of node."""

    def __init__(self, text: str):
        self.mistakes: list[Mistake] = []
        self.events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)

    def document(self) -> Node:
        next(self.events)
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            raise Unreadable(Mistake("", "the file is empty"))
        node = self._node(next(self.events), "", 0)
        next(self.events)
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            message = "a second document ('---'); one file holds one"
            raise Unreadable(Mistake("", message, _line(event)))
        return node

    def _refuse(self, path: str, event: yaml.Event, message: str) -> None:
        self.mistakes.append(Mistake(path, message, _line(event)))

    def _node(self, event: yaml.Event, path: str, depth: int) -> Node:
        line = _line(event)
        if depth > _MAX_NESTING:
            raise Unreadable(Mistake(path[:80], f"nested deeper than {_MAX_NESTING}", line))
        if isinstance(event, yaml.AliasEvent):
            self._refuse(path, event, f"alias '*{event.anchor}'; write the value out")
            return Refused(path, line)
        if (anchor := getattr(event, "anchor", None)) is not None:
            self._refuse(path, event, f"anchor '&{anchor}'; write the value out twice")
        if (tag := getattr(event, "tag", None)) is not None:
            tag = tag.replace("tag:yaml.org,2002:", "!!")
            self._refuse(path, event, f"tag {tag!r}; every scalar is plain text here")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._items(path, line, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._fields(path, line, depth)
        value = getattr(event, "value", "")
        unseen = [one for one in value if is_unseen(one) and one not in _SHAPELESS]
        if unseen:
            said = ", ".join(f"U+{ord(one):04X}" for one in dict.fromkeys(unseen[:5]))
            self._refuse(path, event, f"a text with {said}, which nobody sees; leave it out")
            return Refused(path, line)
        return Text(value, path, line)

    def _items(self, path: str, line: int, depth: int) -> Items:
        items: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._node(event, f"{path}[{len(items)}]", depth + 1))
        return Items(tuple(items), path, line)

    def _fields(self, path: str, line: int, depth: int) -> Fields:
        fields = Fields({}, path, line)
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            at = _line(event)
            key = self._key(event, path, depth)
            node = self._node(next(self.events), key_path(path, key or "?"), depth + 1)
            if key is None:
                continue
            if key == "<<":
                self._refuse(path, event, "merge key '<<'; write the entries out")
            elif key in fields.entries:
                before = fields.lines[key]
                message = f"given twice, first in line {before}; keep one"
                if path and "." not in path:  # bodies, joints, symbols …
                    message += ", or give this one another name"
                self.mistakes.append(Mistake(key_path(path, key), message, at))
            elif isinstance(node, Text) and not node.value and (glued := GLUED.fullmatch(key)):
                message = f"a blank is missing behind the colon: write '{glued[1]}: {glued[2]}'"
                self.mistakes.append(Mistake(key_path(path, key), message, at))
                fields.entries.setdefault(glued[1], Refused(node.path, at))  # stated, so to say
                fields.lines.setdefault(glued[1], at)
            elif isinstance(node, Text) and not node.value and key.endswith(")"):
                self._parted(fields, key, node)
            else:
                fields.entries[key] = node
                fields.lines[key] = at
        return fields

    def _parted(self, fields: Fields, key: str, node: Text) -> None:
        """Take `max(a, b)` or `(1, 2)`, of which YAML has made keys without values, together."""
        parts, names = [key], list(fields.entries)
        while names and isinstance(before := fields.entries[names[-1]], Text):
            name = names.pop()
            parts.insert(0, before.value or name)
            if before.value:
                break
        else:
            name = ""
        meant = parentheses.whole(parts) if name and "(" in parts[0] else None
        if meant is None:
            fields.entries[key], fields.lines[key] = node, node.line
            return
        message = f"{parentheses.remedy(meant)}: write {name}: {meant}"
        self.mistakes.append(Mistake(key_path(fields.path, name), message, fields.lines[name]))
        for one in [*fields.entries][len(names) :]:
            del fields.entries[one], fields.lines[one]
        fields.entries[name], fields.lines[name] = Refused(before.path, before.line), before.line

    def _key(self, event: yaml.Event, path: str, depth: int) -> str | None:
        node = self._node(event, path, depth + 1)
        if isinstance(node, Text):
            return node.value
        if not isinstance(node, Refused):
            self._refuse(path, event, "a key is a list or a mapping; keys are names")
        return None
