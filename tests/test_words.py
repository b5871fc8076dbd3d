"""Plain words: the glossary, over what people read (pages, help, messages)."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("basepar", "basepar_core", "sweeps", "workflows", "cluster")
#: What is not written, and what is written instead.
GLOSSARY = {
    r"\bat hand\b": "available, given",
    r"\b(is|are) (said|told)\b|\ba word on\b": "is reported, report",
    r"\brefuse[sd]?\b": "rejected (input)",
    r"\bmend(s|ed|ing)?\b": "fixed",
    r"\bnobody is at\b": "stalled",
    r"\b(to|can|cannot) be had\b": "unavailable, undefined",
    r"\bwhat to doubt\b": "diagnostics, warnings",
    r"\bheed(s|ed|ing)?\b": "honour",
    r"\bfurther columns?\b": "force-law columns",
    r"\broll call\b": "worker check",
    r"\bstores? beside (a|the|its) study\b": "companion",
    r"(?<![\w&])#(least|most|greatest)\b": "min, max (titles of columns)",
}
#: Texts that other programs read: a certificate's reasons, and a route's name in documents.
READ_BY_PROGRAMS = (
    "a further column that acts as these do at the samples",
    ": vectors with further columns are numerical",
    ", further columns numeric",
)
#: Pages, and what else ships as text: scripts and templates of pages, descriptions of mechanisms.
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "workflows").rglob("*.js")),
    *sorted((ROOT / "workflows").rglob("*.html")),
    *sorted((ROOT / "workflows").rglob("*.jinja")),
    *sorted((ROOT / "workflows").rglob("*.yaml")),
    *sorted((ROOT / "basepar_core").rglob("*.yaml")),
]
MODULES = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]
#: Where a text goes on in the next line.
GOES_ON = re.compile(r" ?[\"']?\s*\n\s*(?:[rf]*[\"']|#)? ?")
ANY = re.compile("|".join(GLOSSARY), re.IGNORECASE)


def dialect(text):
    """What of the glossary's left side stands in a text: (what, what to write)."""
    return [
        (found[0], plain)
        for pattern, plain in GLOSSARY.items()
        for found in re.finditer(pattern, text, re.IGNORECASE)
    ]


@cache
def suspects():
    """Modules that have such a word anywhere, also over two lines; only these are parsed."""
    whole = ((path, path.read_text(encoding="utf-8")) for path in MODULES)
    return [path for path, text in whole if ANY.search(GOES_ON.sub(" ", text))]


def texts_of(path):
    """Texts of a module that are no docstrings: messages, help, tables."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in alone
        ):
            yield node.lineno, node.value


def test_pages_are_plain():
    assert len(PAGES) > 150
    found = [
        (str(page.relative_to(ROOT)), one)
        for page in PAGES
        for one in dialect(CODE.sub("", page.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_messages_and_help_are_plain():
    assert len(MODULES) > 300
    found = [
        (f"{path.relative_to(ROOT)}:{line}", one)
        for path in suspects()
        for line, text in texts_of(path)
        if text not in READ_BY_PROGRAMS
        for one in dialect(text)
    ]
    assert found == []


#: Optuna asks and tells; `Refused` is a node of a file's tree, `refuse`, `mend` are functions.
CODE = re.compile(r"\b(are|is) told\b|`[^`\n]*`|\]\([^)]*\)|told apart")


def comments_of(path):
    """Docstrings and comments of a module, line by line."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_and_comments_are_plain():
    found = [
        (f"{path.relative_to(ROOT)}:{line}", one)
        for path in suspects()
        for line, text in comments_of(path)
        for one in dialect(CODE.sub("", text))
    ]
    assert found == []


def test_the_glossary_finds_what_it_is_for():
    assert dialect("An input is refused, and that is said.") == [
        ("is said", "is reported, report"),
        ("refused", "rejected (input)"),
    ]
