"""Pieces of HTML: tables that scroll on narrow screens, figures, sections.

Everything goes through `markupsafe`: what is no Markup is escaped. Larger pieces are templates
(`parts.html`; docs/decisions/0093).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workflows import pages

Cell = Markup | str
_PARTS: Any = (
    Environment(loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined)
    .get_template("parts.html")
    .module
)


@dataclass(frozen=True)
class Section:
    """A part of the page; `anchor` is its id, `scripts` run at the page's end."""

    anchor: str
    title: str
    body: Markup
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """A part that the page has not, and why."""

    anchor: str
    title: str
    reason: str


@dataclass(frozen=True)
class Column:
    """A column's heading; `number` aligns right."""

    title: Cell
    number: bool = False

    @property
    def mark(self) -> Markup:
        """The attribute of its cells."""
        return Markup(' class="number"') if self.number else Markup()


#: A column, or its heading: with # in front it is one of numbers.
Heading = Column | str


def joined(parts: Iterable[Markup | str], between: str = "") -> Markup:
    """Pieces one after another."""
    return Markup(between).join(parts)


def table(
    caption: str,
    columns: Sequence[Heading],
    rows: Iterable[Sequence[Cell]],
    *,
    group: str = "",
    style: str = "",
) -> Markup:
    """A table in a frame that scrolls sideways; the first cell of a row is its heading."""
    return framed(caption, columns, [(group, list(rows))], style)


def framed(
    caption: str,
    columns: Sequence[Heading],
    groups: Sequence[tuple[str, list[Sequence[Cell]]]],
    style: str = "",
    titled: bool = True,
) -> Markup:
    """A table of groups of rows, each with a heading of its own.

    Not `titled`: where a heading says the same, the caption is for screen readers only.
    """
    for _, rows in groups:
        if any(len(row) != len(columns) for row in rows):
            raise ValueError(f"Table {caption!r}: a row has not {len(columns)} cells.")
    heads = [
        one if isinstance(one, Column) else Column(one.removeprefix("#"), one.startswith("#"))
        for one in columns
    ]
    return _PARTS.framed(caption, heads, groups, style, titled)


def facts(pairs: Iterable[tuple[Cell, Cell]]) -> Markup:
    """A list of names and what they are."""
    return _PARTS.facts(pairs)


def figure(picture: Markup, caption: Cell, style: str = "") -> Markup:
    """A picture and its caption."""
    return _PARTS.figure(picture, caption, style)


def header(
    kind: str,
    title: str,
    notes: Iterable[str],
    tiles: Iterable[tuple[Cell, ...]],
    sections: Sequence[Section],
) -> Markup:
    """What a page begins with: notes, the few numbers (name, number, remark), its contents."""
    return _PARTS.header(kind, title, notes, tiles, sections)


def main(sections: Sequence[Section]) -> Markup:
    """A page's parts."""
    return _PARTS.main(sections)


def page(
    version: str,
    title: str,
    head: Markup,
    sections: Sequence[Section],
    *,
    foot: Markup | None = None,
    scripts: Sequence[str] = (),
) -> str:
    """A whole page of some parts, with what they run at its end.

    Parameters
    ----------
    version
        Of the program that made what is shown.
    title
        Of its window.
    head, foot
        What goes before and behind the parts.
    scripts
        What runs besides those of the parts; they have their places.
    """
    own = tuple(dict.fromkeys(text for part in sections for text in part.scripts))
    moves = pages.text_beside("workflows.moving", "player.css") if own else ""
    style = moves + pages.text_beside(__package__, "style.css")
    body = joined([head, main(sections), *filter(None, [foot]), *map(pages.script, own)], "\n")
    return pages.page(version, title, style, body, (*scripts, *own))


def folded(summary: str, body: Markup) -> Markup:
    """What only some readers open."""
    return Markup("<details><summary>{}</summary>{}</details>").format(summary, body)


def paragraph(text: Cell, style: str = "") -> Markup:
    """A paragraph."""
    return Markup('<p class="{}">{}</p>' if style else "<p>{1}</p>").format(style, text)


def key(style: str, words: str) -> Markup:
    """A mark as plots have it, and what it means; never on two lines."""
    return Markup('<span class="whole"><span class="key {}"></span> {}</span>').format(
        style, words
    )


def bar(part: float, style: str = "") -> Markup:
    """A bar of 0 to 1 of its cell's width; the number beside it says it in words."""
    return Markup('<span class="bar {}" style="--part:{}" aria-hidden="true"></span>').format(
        style, f"{part:.4f}"
    )


def unit_text(unit: str) -> str:
    """A unit as print has it: `N m`, `kg m²`."""
    return unit.replace("*", "\u202f").replace(" ", "\u202f").replace("^2", "²").replace("^3", "³")


def with_unit(title: Cell, unit: str) -> Markup:
    """A heading with its unit below."""
    if not unit:
        return Markup("{}").format(title)
    return Markup('{} <span class="unit">{}</span>').format(title, unit_text(unit))
