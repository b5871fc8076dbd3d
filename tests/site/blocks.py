"""Blocks of code of the pages, in the order in which a reader runs them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
#: Before a block that needs a store which an earlier page makes: its name.
GIVEN = re.compile(r"<!-- given: (\S+) -->\s*$")
#: Before a block that tests do not run: why.
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*$")
BLOCK = re.compile(r"^( *)```([a-z]*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Text between fences; `title` names the file that it is, `given` the store that it
    needs, `why` says why it is not run."""

    language: str
    title: str
    text: str
    line: int
    why: str
    given: str

    @property
    def commands(self) -> list[list[str]]:
        """Words of its commands of basepar, which begin with a prompt."""
        lines = re.findall(r"^\$ (?:\.venv/bin/)?basepar (.*)$", self.text, re.MULTILINE)
        return [shlex.split(line, comments=True) for line in lines]


def blocks(page: Path) -> Iterator[Block]:
    """All blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        indent, language, rest, body = found.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        title = re.search(r'title="([^"]+)"', rest)
        before = text[: found.start()].rstrip() + "\n"
        why, given = (sign.search(before) for sign in (NOT_RUN, GIVEN))
        line = text.count("\n", 0, found.start()) + 1
        notes = (found[1] if found else "" for found in (why, given))
        yield Block(language, title[1] if title else "", body, line, *notes)


def pages() -> list[Path]:
    """The pages of docs/, decisions left out: those have no programs."""
    return sorted(p for p in DOCS.rglob("*.md") if "decisions" not in p.parts)
