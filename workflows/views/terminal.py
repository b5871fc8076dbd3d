"""What all views write with: two consoles, texts, tables, numbers, steps."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .hints import spoken, typed


class _Plain(Console):
    """A console that takes texts as they are: no markup, no emoji, no control characters."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(spoken(text), **options)


#: In a pipe lines are as long as they need to be.
out = _Plain(width=None if sys.stdout and sys.stdout.isatty() else 160)
err = _Plain(stderr=True)


def beside(table: bool) -> Console:
    """Where written files are named: with a table, or on stderr beside a text for programs."""
    return out if table else err


def said(*parts: str | tuple[str, str]) -> Text:
    """A line of texts, some with a style: `said(("four-bar", "bold"), ": 8")`."""
    return Text.assemble(
        *(spoken(part) if isinstance(part, str) else (spoken(part[0]), part[1]) for part in parts)
    )


def table(*columns: str, rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """An unobtrusive table; a column with # in front of its title is one of numbers."""
    made = Table(box=None, pad_edge=False)
    for column in columns:
        is_number = column.startswith("#")
        justify: Literal["left", "right"] = "right" if is_number else "left"
        title = column.removeprefix("#")
        made.add_column(title, justify=justify, header_style="dim", no_wrap=is_number)
    for row in rows:
        made.add_row(*row)
    return made


def fitted(
    titles: Sequence[str], lines: Sequence[Sequence[str]], console: Console | None = None
) -> Table:
    """A table of numbers without a shortened cell, for `console` (`out` if None).

    Where it is wider than the terminal, each of `lines` is a column, of which as many are shown
    as there is room for, and at least one.
    """
    console = console or out
    upright = table(*(f"#{title}" for title in titles), rows=lines)
    if not lines or _fits(upright, console):
        return upright
    for shown in range(len(lines), 0, -1):
        first = [*zip(titles, *lines[:shown], strict=True)]
        turned = table(first[0][0], *(f"#{cell}" for cell in first[0][1:]), rows=first[1:])
        if _fits(turned, console):
            break
    if more := len(lines) - shown:
        turned.caption, turned.caption_justify = f"and {more} more", "left"
    return turned


def _fits(made: Table, console: Console) -> bool:
    unbounded = console.options.update(max_width=10_000)
    return console.measure(made, options=unbounded).maximum <= console.width


def number(value: float | None) -> str:
    """A number for reading: four digits."""
    return "" if value is None else f"{value:.4g}"


@contextmanager
def steps(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Says on stderr what is being done, where somebody watches."""
    if quiet or not err.is_terminal:
        yield lambda _: None
        return
    with err.status(Text("…")) as status:
        yield lambda what: status.update(said(what))


#: Seconds that a step lasts, without a terminal, before a line says so, and between such lines.
_SILENT = 10.0
#: Kinds of notes after which values are hardly worth reading.
_WRONG_DATA = (
    "exchanged",
    "offset",
    "omitted",
    "left out",
    "sign",
    "scale",
    "unexplained",
    "unlike the file",
)


@dataclass(frozen=True)
class _Lasting:
    """A step and for how long there have been any, whenever it is drawn."""

    step: str
    started: float

    def __rich__(self) -> Text:
        return said(f"{self.step} ({time.monotonic() - self.started:.0f} s)")


@contextmanager
def long_steps() -> Iterator[Callable[[str], None]]:
    """Says on stderr what is being done and for how long, also into a file or a pipe.

    What it gives is called with a step as it begins, and again while it lasts.
    """
    started, said_at, before = time.monotonic(), 0.0, ""

    def line(step: str) -> None:
        nonlocal said_at, before
        now = time.monotonic() - started
        if now - said_at >= _SILENT or (step != before and now - said_at >= _SILENT / 2):
            said_at, before = now, step
            err.print(f"{now:.0f} s: {step}", soft_wrap=True)

    if not err.is_terminal:
        yield line
        return
    status = err.status("")

    def show(step: str) -> None:
        status.update(_Lasting(step, started))
        status.start()  # a thread of its own; not before, for processes are copied without threads

    try:
        yield show
    finally:
        status.stop()


def show_before(name: str, notes: Iterable[str]) -> None:
    """What somebody should know before a sweep begins; on stderr, which programs leave alone."""
    for note in notes:
        err.print(f"{name}: " * bool(name) + note, style="yellow", soft_wrap=True)


def show_wrong_data(notes: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Notes that a table of values is not to be read without, before it; returns the others."""
    notes = list(notes)
    show_findings(note for note in notes if note["kind"] in _WRONG_DATA)
    return [note for note in notes if note["kind"] not in _WRONG_DATA]


def show_findings(notes: Iterable[Mapping[str, str]]) -> None:
    """Notes on a record or a result, by kind."""
    for note in notes:
        out.print(said((note["kind"], "yellow"), f": {note['text']}"))


def if_right(warnings: int, what: str = "the file") -> str:
    """The condition under which what led to so many warnings is to be corrected."""
    which = "the warning" if warnings == 1 else f"one of the {warnings} warnings"
    return f"If {which} above is right, correct {what}"


def show_next(*steps: str) -> None:
    """Commands to try next, without the program's name."""
    out.print("\nNext:")
    for step in steps:
        out.print(f"  {typed('basepar')} {step}", soft_wrap=True)
