"""An XML file of which single values are changed: every other byte stays as it is.

Expat says where elements begin and end; what stands between is never written anew.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, indent, tostring
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from basepar_core.errors import FileError, Mistake

#: A declaration with what stands before it: readers of robots' files read on over blank lines and
#: versions that there are not, expat does not.
_DECLARATION = re.compile(rb"""\s*<\?xml\b[^>]*?(?:encoding=["']([\w.-]+)["'])?\s*\?>""")
_OPENING = re.compile(rb"""<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>""")


@dataclass(eq=False)
class Node:
    """An element: where its opening tag begins and ends, its closing tag begins and ends."""

    tag: str
    attributes: dict[str, str]
    parent: "Node | None"
    begin: int
    inside: int
    close: int = 0
    end: int = 0
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether it is one tag, `<a/>`."""
        return self.close == self.begin

    def get(self, name: str, otherwise: str = "") -> str:
        """An attribute."""
        return self.attributes.get(name, otherwise)

    def find(self, tag: str) -> "Node | None":
        """Its first child of a kind."""
        return next((one for one in self.children if one.tag == tag), None)

    def all(self, *tags: str) -> Iterator["Node"]:
        """It and everything in it of some kinds, in the order of the file."""
        if self.tag in tags:
            yield self
        for one in self.children:
            yield from one.all(*tags)


class Document:
    """A file's text, and what is to be changed of it.

    Parameters
    ----------
    text
        The file's bytes, which its reader has accepted.
    source
        Its name, for messages.

    Raises
    ------
    FileError
        It is in an encoding whose letters are not single bytes.
    """

    def __init__(self, text: bytes, source: str):
        self._text = text
        if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
            what = "is written in UTF-16, and can be changed in UTF-8 only; convert it"
            raise FileError(source, [Mistake("", what)])
        self._edits: list[tuple[int, int, bytes]] = []
        self._attributes = defaultdict[Node, list[str]](list)
        self._texts: dict[Node, str] = {}
        self._elements = defaultdict[Node, list[Element]](list)
        self.root = self._parsed()

    def _parsed(self) -> Node:
        declared = _DECLARATION.match(self._text)
        skipped = declared.end() if declared else 0
        encoding = declared and declared[1]
        parser = expat.ParserCreate(encoding.decode() if encoding else None)
        self.encoding = encoding.decode() if encoding else "utf-8"
        opened: list[Node] = []
        done: list[Node] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            at = skipped + parser.CurrentByteIndex
            tag_text = _OPENING.match(self._text, at)
            assert tag_text is not None
            parent = opened[-1] if opened else None
            made = Node(tag, attributes, parent, at, tag_text.end())
            if parent is not None:
                parent.children.append(made)
            opened.append(made)

        def ended(_: str) -> None:
            node = opened.pop()
            if self._text[: node.inside].endswith(b"/>"):
                node.close, node.end = node.begin, node.inside
            else:
                node.close = skipped + parser.CurrentByteIndex
                node.end = self._text.index(b">", node.close) + 1
            done.append(node)

        def said(text: str) -> None:
            opened[-1].text += text

        parser.StartElementHandler = start
        parser.EndElementHandler = ended
        parser.CharacterDataHandler = said
        parser.Parse(self._text[skipped:], True)
        return done[-1]

    def set(self, node: Node, **values: str | None) -> None:
        """Give attributes of an element other values; None takes one away."""
        tag = self._text[node.begin : node.inside]
        for name, value in values.items():
            pattern = rb"""\s+%s\s*=\s*("[^"]*"|'[^']*')""" % re.escape(name.encode())
            found = re.search(pattern, tag)
            if found is None:
                if value is not None:
                    self._attributes[node].append(f" {name}={quoteattr(value)}")
            elif value is None:
                self._replace(node.begin + found.start(), node.begin + found.end(), "")
            elif node.get(name) != value:
                at = node.begin + found.start(1), node.begin + found.end(1)
                self._replace(*at, quoteattr(value))

    def write(self, node: Node, text: str) -> None:
        """Give an element that holds nothing but text another one."""
        if node.text != text:
            self._texts[node] = escape(text)

    def insert(self, node: Node, made: Element) -> None:
        """Put a new element first into one."""
        self._elements[node].append(made)

    def _replace(self, begin: int, end: int, text: str) -> None:
        self._edits.append((begin, end, text.encode(self.encoding, "xmlcharrefreplace")))

    @property
    def text(self) -> bytes:
        """The file with everything changed."""
        before = len(self._edits)
        for node in {*self._attributes, *self._texts, *self._elements}:
            self._fill(node)
        found, position = b"", 0
        for begin, end, new in sorted(self._edits, key=lambda one: one[:2]):
            found += self._text[position:begin] + new
            position = end
        del self._edits[before:]
        return found + self._text[position:]

    def _fill(self, node: Node) -> None:
        """What stands behind the attributes of an opening tag, and inside an element."""
        tail = node.inside - (2 if node.is_empty else 1)
        while self._text[tail - 1 : tail].isspace():
            tail -= 1
        more = "".join(self._attributes.get(node, []))
        inner = self._texts.get(node, "") + self._inserted(node)
        if node.is_empty:
            space = self._text[tail : node.inside].decode()
            self._replace(tail, node.inside, more + (f">{inner}</{node.tag}>" if inner else space))
            return
        if more:
            self._replace(tail, tail, more)
        if node in self._texts:
            self._replace(node.inside, node.close, inner)
        elif inner:
            self._replace(node.inside, node.inside, inner)

    def _inserted(self, node: Node) -> str:
        """New elements as text, indented as what stands there already is."""
        own = self._line(node.begin)
        inside = own + "  "
        if node.children and node.children[0].begin > node.inside:
            inside = self._line(node.children[0].begin)
        found = ""
        for made in self._elements.get(node, ()):
            indent(made)
            found += "".join(f"{inside}{line}" for line in tostring(made, "unicode").splitlines())
        return found + own * bool(found and node.is_empty)

    def _line(self, at: int) -> str:
        """The line break and the blanks before an element; none where it begins no line."""
        begin = at
        while self._text[begin - 1 : begin] in (b" ", b"\t"):
            begin -= 1
        ends = re.search(rb"\r?\n\Z", self._text[max(0, begin - 2) : begin])
        return ends[0].decode() + self._text[begin:at].decode() if ends else ""
