"""What texts refer to is there: pages, headings, decisions, files of the source."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("basepar", "basepar_core", "sweeps", "workflows", "cluster")
FOLDERS = (*PRODUCT, "tests", "benchmarks", "docs")
ENDINGS = {".md", ".py", ".pyi", ".yaml", ".toml", ".js", ".css", ".html", ".j2", ".c"}
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TEXTS = sorted(
    [
        *ROOT.glob("*.*"),
        *(ROOT / ".ci").iterdir(),
        *(one for folder in FOLDERS for one in (ROOT / folder).rglob("*")),
    ]
)
#: Names that examples make up, and endings of names.
EXAMPLES = re.compile(r"NNNN-|-files\.md$")
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
SOURCE = re.compile(rf"(?<![\w/.])(?:{'|'.join(FOLDERS)})/[\w./-]*\w\b")
#: Pages that the site makes of the program and of files at the top.
MADE = re.compile(
    r"(?:^|/)(?:(?:commands|library|sweeps|studies)/[\w-]+"
    r"|changelog|contributing|security|code_of_conduct)\.md$"
)
#: Notes that the program was written from, and that are no part of it.
NOTES = re.compile(r"\bshared/|\(?\bmethods[,:] |\bnotes on symbolic|\bthe contract\b")


def texts():
    """Every file that ships or is read with it, this one excepted: (path, text)."""
    for path in TEXTS:
        if path.suffix in ENDINGS and path.is_file() and path != Path(__file__):
            yield path, path.read_text(encoding="utf-8")


@cache
def files():
    return {
        str(path.relative_to(ROOT))
        for folder in (ROOT, *(ROOT / one for one in FOLDERS))
        for path in (folder.iterdir() if folder == ROOT else folder.rglob("*"))
    }


@cache
def anchors(page):
    """Headings as GitHub names them: lower case, signs left out, blanks as dashes."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = []
    for title in re.findall(r"^#+ +(.*?) *$", text, re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = sum(one == name or one.startswith(f"{name}-") for one in found)
        found.append(f"{name}-{again}" if name in found else name)
    return set(found)


def test_documents_that_are_named_ship():
    missing = [
        (str(path.relative_to(ROOT)), name)
        for path, text in texts()
        for name in re.findall(r"[\w./-]*\w\.md\b", text)
        if not (EXAMPLES.search(name) or MADE.search(name))
        and not any(f"/{one}".endswith("/" + name.lstrip("./")) for one in files())
    ]
    assert missing == []


def test_notes_that_do_not_ship_are_not_named():
    found = [(str(path), line) for path, text in texts() for line in NOTES.findall(text)]
    assert found == []


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            place, _, anchor = (target[0] or target[1]).partition("#")
            file = page.parent / place if place else page
            there = file.exists() and (not anchor or anchor in anchors(file))
            if there or ":" in place or MADE.search(place):
                continue
            broken.append((page.name, target))
    assert broken == []


def test_the_index_of_decisions_is_complete():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[^)]*\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in folder.glob("0*.md"))


def test_decisions_that_are_named_exist():
    there = {int(path.name[:4]) for path in (ROOT / "docs" / "decisions").glob("0*.md")}
    missing = [
        (str(path.relative_to(ROOT)), number)
        for path, text in texts()
        for names in re.findall(r"\b[Dd]ecisions?[ /]+(\d+(?:(?:, | and )\d+)*)", text)
        for number in re.findall(r"\d+", names)
        if int(number) not in there
    ]
    assert missing == []


def test_files_that_are_named_in_pages_exist():
    """Of today's pages; decisions name files as they were when they were taken."""
    missing = [
        (page.name, name)
        for page in PAGES
        if page.parent.name != "decisions"
        for name in SOURCE.findall(page.read_text(encoding="utf-8"))
        if name not in files() and "NAME" not in name
    ]
    assert missing == []


def test_the_checks_find_what_they_are_for():
    assert "bases-that-float" in anchors(ROOT / "docs" / "mechanism-files.md")
    assert NOTES.search("rank (methods: finite fields)")
    assert len(PAGES) > 90
    assert len(list(texts())) > 800
