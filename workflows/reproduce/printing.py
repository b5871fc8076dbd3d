"""A reproduction in the terminal: every number, then what it came to."""

from rich.markup import escape

from .. import terminal
from . import PAPERS
from .comparison import RULE, Reproduction, Table, Verdict

_COLOURS = {
    Verdict.AGREES: "green",
    Verdict.ERRATUM: "cyan",
    Verdict.NOT_COMPARABLE: "yellow",
    Verdict.DIFFERS: "red",
}


def show_papers() -> None:
    """The papers that are known."""
    rows = terminal.table("paper", "compared", "title")
    for paper in PAPERS:
        rows.add_row(f"[bold]{paper.name}[/]", paper.holds, escape(paper.title))
    terminal.out.print(rows)
    terminal.out.print(f"Try [bold]basepar reproduce {PAPERS[0].name}[/].")


def show(found: Reproduction) -> None:
    """All tables number by number, their counts, and the verdict."""
    for one in found.tables:
        _show_table(one)
    out = terminal.out
    counts = terminal.table("", *(verdict.value for verdict in Verdict), right=tuple(Verdict))
    for one in found.tables:
        counts.add_row(one.name, *(_count(one.counts[v], v) for v in Verdict))
    counts.add_row("[bold]all[/]", *(_count(found.counts[v], v) for v in Verdict))
    out.print(counts)
    for path in found.figures:
        out.print(f"drawn: {path}", markup=False)
    out.print(f"\n{escape(RULE)}", style="dim")
    state = "[green]reproduced[/]" if found.reproduced else "[red]not reproduced[/]"
    out.print(f"[bold]{found.paper}[/] is {state}, {found.seconds:.1f} s")


def _show_table(one: Table) -> None:
    out = terminal.out
    out.print(f"[bold]{one.name}[/]: {escape(one.title)}")
    rows = terminal.table("", "printed", "ours", "difference", "")
    for number in one.numbers:
        colour = _COLOURS[number.verdict]
        why = f": {number.reason}" if number.reason else ""
        rows.add_row(
            *map(escape, (number.where, number.printed, number.ours, number.difference)),
            f"[{colour}]{number.verdict}[/]{escape(why)}",
        )
    out.print(rows)
    if one.note:
        out.print(escape(one.note), style="dim")
    out.print()


def _count(count: int, verdict: Verdict) -> str:
    return f"[{_COLOURS[verdict]}]{count}[/]" if count else "[dim]0[/]"
