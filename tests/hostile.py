"""Texts that try to leave the place they stand in, and second opinions on whether they did.

The judges know nothing of how texts are quoted: they read what was written as its reader would,
by Python's parser, a tokenizer of C's comments, HTML's parser, bash, a CSV reader, PyYAML.
"""

import ast
import csv
import io
import re
import subprocess
import unicodedata
from html.parser import HTMLParser

TEXTS = (
    '"""\nimport os; os.system("touch owned")\n"""',
    "'''\nraise SystemExit\n'''",
    "\\",
    '\\"""',
    'a"',
    "a\nraise SystemExit",
    "a\rraise SystemExit",
    "a\x0craise SystemExit",
    "{0} {mechanism} {__class__} %s",
    "@torque@ @about@ @values@",
    "*/ int main(void) { return 1; } /*",
    "**/ /*/ //",
    "*\\\n/ int x;",
    "??/\n*??/",
    "*/\n#include </etc/passwd>\n/*",
    "$x$ $\\frac{$",
    "$",
    "\\input{/etc/passwd}",
    "\\end{align}\\write18{touch owned}%",
    "50% & #1 ~ ^ _ {}",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "</title></style></script><h1>",
    "<!-- --> ]]> <![CDATA[",
    "&lt;b&gt; &amp; &#0;",
    "⟦x onload=alert(1)⟧",
    "`touch owned`",
    "$(touch owned)",
    "; touch owned #",
    "'; touch owned; '",
    "a && touch owned | tee owned > owned",
    "!! !$ ~ * ? [a-z] {a,b}",
    "-rf",
    "--help",
    '=cmd|"/c calc"!A1',
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "＝1+1",
    'a,b;c"d',
    "a: b",
    "- a",
    "# a",
    "{a: b}",
    "[a, b]",
    "&a *a !!python/object/apply:os.system ['touch owned']",
    "%YAML 1.1\n---",
    "null",
    "yes",
    "1e3",
    "x\n  bodies: {}",
    "[red]a[/red]",
    "[/]",
    "[bold",
    "[link=https://example.org]a[/link]",
    "\\[red]",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\bb\x00c\x7f",
    "abc\r\x1b[Kdone",
    "\u202etxt.exe",
    "a\u200bb\u2066c\u2028d\u2029e",
    "\ufeffname",
    "\ud800",
    "\ufffe",
    "\U000e0001",
    "θ₁ – Ω 机构 🦾",
    "x" * 500,
    "",
    " ",
)


def spellings(text: str) -> set[str]:
    """What a reader may see in the place of a text; empty where that is not one spelling."""
    return {text} if text.isprintable() else set()


def python_faults(made: str, text: str, harmless: str, plain: str) -> list[str]:
    """Of a module with `text` where another has `plain`: constants apart, both are one tree.

    Every text that differs must be the other one with the name put in its place.
    """
    try:
        tree, other = ast.parse(made), ast.parse(harmless)
    except (SyntaxError, ValueError) as error:
        return [f"no Python: {error}"]
    found, wanted = list(ast.walk(tree)), list(ast.walk(other))
    if [type(node) for node in found] != [type(node) for node in wanted]:
        return ["other nodes than with a harmless name"]
    faults = []
    for node, twin in zip(found, wanted, strict=True):
        if not isinstance(node, ast.Constant):
            same = {k: v for k, v in vars(node).items() if isinstance(v, str)}
            if same != {k: v for k, v in vars(twin).items() if isinstance(v, str)}:
                faults.append(f"{same} in the place of {vars(twin)}")
        elif isinstance(twin.value, str):
            if node.value != twin.value.replace(plain, text):
                faults.append(f"{node.value!r} in the place of {twin.value!r}")
        elif node.value != twin.value:
            faults.append(f"{node.value!r} in the place of {twin.value!r}")
    return faults


def c_code(made: str) -> str:
    """A C file without its comments, by a tokenizer of its own; lines are joined first."""
    text = made.replace("??/", "\\").replace("\\\n", "")
    found, at = [], 0
    while at < len(text):
        if text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                return "".join([*found, "UNENDED"])
            at = end + 2
            found.append(" ")
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            found.append(text[at])
            at += 1
    return "".join(found)


def c_faults(made: str, harmless: str) -> list[str]:
    """Of a C file: without comments it is the harmless one's, and no comment begins in another."""
    faults = [] if c_code(made) == c_code(harmless) else ["other code than with a harmless name"]
    return faults + unseen_faults(made, "\n")


def compiles(made: str) -> list[str]:
    """What the C compiler complains of, comments within comments and marks of direction too."""
    ran = subprocess.run(
        ["cc", "-Wall", "-Werror", "-Wcomment", "-trigraphs", "-fsyntax-only", "-xc", "-"],
        input=made.encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=False,
    )
    return ran.stderr.decode(errors="replace").splitlines()[:3] if ran.returncode else []


def unseen_faults(made: str, allowed: str) -> list[str]:
    """Characters that no reader sees, those allowed apart."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    stray = {one for one in made if unicodedata.category(one) in kinds and one not in allowed}
    return [f"unseen {sorted(map(hex, map(ord, stray)))}"] if stray else []


#: What one character of a text may become in LaTeX, so that none is active.
_HARMLESS_LATEX = re.compile(
    r"\\(?:textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar"
    r"|textquotedbl)\{\}|\\[{}$&#_%]|[^\\{}$&#_%^~]"
)


def latex_faults(made: str) -> list[str]:
    """Of a text in LaTeX: characters that would be active, or commands of its own."""
    rest = _HARMLESS_LATEX.sub("", made)
    return ([f"active {rest!r}"] if rest else []) + unseen_faults(made, "")


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[tuple[str, ...]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.events.append(("start", tag, *(name for name, _ in attrs)))
        self.words += [value or "" for _, value in attrs]

    def handle_endtag(self, tag):
        self.events.append(("end", tag))

    def handle_comment(self, data):
        self.events.append(("comment",))

    def handle_decl(self, decl):
        self.events.append(("declaration",))

    unknown_decl = handle_decl
    handle_pi = handle_decl

    def handle_data(self, data):
        self.words.append(data)


def html_events(made: str) -> list[tuple[str, ...]]:
    """Elements and names of attributes of a page, in order, by HTML's rules."""
    tree = _Tree()
    tree.feed(made)
    tree.close()
    return tree.events


def html_faults(made: str, harmless: str) -> list[str]:
    """Of a page: its elements are the harmless one's."""
    if html_events(made) == html_events(harmless):
        return []
    return ["other elements than with a harmless name"]


def bash(script: str, folder) -> str:
    """What a script prints, run where nothing is."""
    ran = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, capture_output=True, check=False
    )
    return ran.stdout.decode("utf-8", "surrogateescape") if ran.returncode == 0 else "FAILED"


def csv_faults(made: str, harmless: str) -> list[str]:
    """Of a table: as many cells as the harmless one, and none that is a formula."""
    rows, twins = (list(csv.reader(io.StringIO(text))) for text in (made, harmless))
    faults = [] if [*map(len, rows)] == [*map(len, twins)] else ["other cells"]
    for cell in (cell for row in rows for cell in row):
        begins = cell.lstrip()[:1]
        if begins and begins in "=+-@＝＋－＠" and not is_number(cell):
            faults.append(f"a formula {cell[:20]!r}")
    return faults + unseen_faults(made, "\n")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
