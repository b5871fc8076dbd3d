"""Pieces of HTML: tables that scroll on narrow screens, figures, sections.

Everything goes through `markupsafe`: what is no Markup is escaped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

Cell = Markup | str


@dataclass(frozen=True)
class Section:
    """A part of the page; `anchor` is its id."""

    anchor: str
    title: str
    body: Markup


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


def joined(parts: Iterable[Markup | str], between: str = "") -> Markup:
    """Pieces one after another."""
    return Markup(between).join(parts)


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell]],
    *,
    group: str = "",
    style: str = "",
) -> Markup:
    """A table in a frame that scrolls sideways; the first cell of a row is its heading."""
    return framed(caption, columns, [(group, list(rows))], style)


def framed(
    caption: str,
    columns: Sequence[Column],
    groups: Sequence[tuple[str, list[Sequence[Cell]]]],
    style: str = "",
    titled: bool = True,
) -> Markup:
    """A table of groups of rows, each with a heading of its own.

    Not `titled`: where a heading says the same, the caption is for screen readers only.
    """
    head = joined(
        Markup('<th scope="col"{}>{}</th>').format(_number(column), column.title)
        for column in columns
    )
    bodies = joined(_group(columns, title, rows) for title, rows in groups)
    # Shown above the frame, so that it does not scroll; the table's own is for screen readers.
    line = Markup('<p class="caption" aria-hidden="true">{}</p>').format(caption)
    above = line if titled else Markup()
    return Markup(
        '<div class="table">{4}<div class="frame" role="region" aria-label="{0}" tabindex="0">'
        '<table class="{1}">'
        "<caption>{0}</caption><thead><tr>{2}</tr></thead>{3}</table></div></div>"
    ).format(caption, style, head, bodies, above)


def _group(columns: Sequence[Column], title: str, rows: list[Sequence[Cell]]) -> Markup:
    heading = Markup('<tr><th scope="rowgroup" colspan="{}" class="group">{}</th></tr>').format(
        len(columns), title
    )
    lines = joined(_line(columns, row) for row in rows)
    return Markup("<tbody>{}{}</tbody>").format(heading if title else Markup(), lines)


def _line(columns: Sequence[Column], row: Sequence[Cell]) -> Markup:
    cells = [Markup('<th scope="row"{}>{}</th>').format(_number(columns[0]), row[0])]
    for column, cell in zip(columns[1:], row[1:], strict=True):
        cells.append(Markup("<td{}>{}</td>").format(_number(column), cell))
    return Markup("<tr>{}</tr>").format(joined(cells))


def _number(column: Column) -> Markup:
    return Markup(' class="number"') if column.number else Markup()


def facts(pairs: Iterable[tuple[Cell, Cell]]) -> Markup:
    """A list of names and what they are."""
    rows = joined(Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(*pair) for pair in pairs)
    return Markup("<dl>{}</dl>").format(rows)


def figure(picture: Markup, caption: Cell, style: str = "") -> Markup:
    """A picture and its caption."""
    return Markup('<figure class="{}">{}<figcaption>{}</figcaption></figure>').format(
        style, picture, caption
    )


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
