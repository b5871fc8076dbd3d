"""Texts from files where another language reads them: one function per language.

A mechanism's name may be any line of text, and stores, records and files of other programs are
written by others. Whatever such a text holds, it stays text: in code a comment or a docstring, on
a page a text node, in a table a cell, for a shell one word, in the terminal printed characters.
HTML is escaped by `markupsafe`, elements of lists in Python by `repr`.
"""

import json
import re
import shlex
import unicodedata
from keyword import iskeyword
from typing import Any

#: Characters that no reader sees and machines obey: control characters, marks of direction,
#: separators of lines, halves of surrogate pairs, private and unassigned ones.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
#: A spreadsheet takes a cell that begins so for a formula; full width forms too.
_FORMULA = tuple("=+-@＝＋－＠")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        **{sign: f"\\{sign}" for sign in "{}$&#_%"},
    }
)
#: What YAML's readers do not take for texts.
_YAML_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
#: Macros of <math.h> and <stddef.h> that no argument of a function can be called.
_C_MACROS = {"NULL", "NAN", "INFINITY", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "MATH_ERRNO"}
_C_MACROS |= {"DOMAIN", "SING", "OVERFLOW", "UNDERFLOW", "TLOSS", "PLOSS", "MAXFLOAT", "HUGE"}


def is_unseen(character: str) -> bool:
    """Whether no reader sees a character as itself."""
    return unicodedata.category(character) in _UNSEEN


def visible(text: str, keep: str = "") -> str:
    r"""Unseen characters as `\x1b`, `\u202e`; those in `keep` stay. For terminals and messages."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escaped(ord(one)) if is_unseen(one) and one not in keep else one for one in text
    )


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def lines(text: str) -> str:
    """A text of several lines for the terminal: only its ends of lines and tabs are obeyed."""
    return visible(text, "\n\t")


def python_text(text: str) -> str:
    """Within a string or docstring in double quotes of Python: it has the value `text`."""
    return visible(text.replace("\\", "\\\\").replace('"', '\\"'))


def python_comment(text: str) -> str:
    """Within a comment of Python."""
    return visible(text)


def c_comment(text: str) -> str:
    """Within a comment of C, which it neither ends nor begins anew."""
    plain = visible(text).replace("??", "? ?")  # a trigraph could be a backslash
    return plain.replace("*/", "* /").replace("/*", "/ *")


def is_taken_by_code(name: str) -> bool:
    """Whether an argument of a function cannot have a name, in Python or in C."""
    from sympy.printing.c import reserved_words, reserved_words_c99

    words = {*reserved_words, *reserved_words_c99}
    return iskeyword(name) or name in words or name in _C_MACROS or name.startswith(("M_", "FP_"))


def latex(text: str) -> str:
    """In LaTeX: no character of it is active."""
    return visible(text).translate(_LATEX)


def csv_cell(text: str) -> str:
    """A cell of words, on one line, that no spreadsheet computes."""
    plain = visible(text)
    formula = plain.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(plain)
    return f"'{plain}" if formula else plain


def yaml_word(text: str) -> str:
    """A scalar of YAML that is read back as `text`; plain where it is a plain name."""
    plain = text.replace("-", "").replace("_", "").replace(" ", "")
    named = plain.isascii() and plain.isalnum() and text[0].isalpha() and text[-1] != " "
    if named and text.lower() not in _YAML_WORDS:
        return text
    return f'"{python_text(text)}"'


def yaml_comment(text: str) -> str:
    """Within a comment of YAML."""
    return visible(" ".join(text.split()))


def script_json(document: Any) -> str:
    """JSON that ends no script, whatever is in it."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def json_text(document: Any, indent: int | None = 1) -> str:
    """JSON of readable characters; the others are spelled. Raises ValueError for nan."""
    text = json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    # Beyond its own line ends, they can only stand within strings.
    return "".join(
        json.dumps(one)[1:-1] if is_unseen(one) and one != "\n" else one for one in text
    ).replace("\x7f", "\\u007f")


def shell(word: str) -> str:
    """One word of a shell's line, as it can be read, copied and typed."""
    if word == visible(word):
        return shlex.quote(word)
    # Unseen characters as bash, zsh, ksh and POSIX of 2024 spell them.
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(_octets(one) if is_unseen(one) else one for one in plain) + "'"


def _octets(character: str) -> str:
    # Three octal digits end by themselves; hexadecimal ones would take the next letter in.
    return "".join(f"\\{octet:03o}" for octet in character.encode("utf-8", "surrogateescape"))


def plot(text: str) -> str:
    """A text of Matplotlib, dollars included, that is no formula."""
    return visible(text, "\n").replace("$", r"\$")
