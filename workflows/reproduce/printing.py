"""A reproduction in the terminal: every number, then what it came to."""

from rich.text import Text

from workflows.views import said, terminal, typed

from .comparison import RULE, Reproduction, Table, Verdict
from .papers import PAPERS

_COLOURS = {
    Verdict.AGREES: "green",
    Verdict.ERRATUM: "cyan",
    Verdict.NOT_COMPARABLE: "yellow",
    Verdict.DIFFERS: "red",
}


def show_papers() -> None:
    """The papers that are known."""
    rows = ((said((one.name, "bold")), one.holds, one.title) for one in PAPERS)
    terminal.out.print(terminal.table("paper", "compared", "title", rows=rows))
    shown = f"{typed('basepar')} reproduce {PAPERS[0].name}"
    terminal.out.print(said("Try ", (shown, "bold"), "."))


def show(found: Reproduction, table: str | None = None) -> None:
    """All tables number by number, their counts, and the verdict."""
    for one in found.tables:
        _show_table(one)
    out = terminal.out
    counts = terminal.table("", *(f"#{verdict.value}" for verdict in Verdict))
    for one in found.tables:
        counts.add_row(one.name, *(_count(one.counts[v], v) for v in Verdict))
    counts.add_row(said(("all", "bold")), *(_count(found.counts[v], v) for v in Verdict))
    out.print(counts)
    for path in found.figures:
        out.print(f"drawn: {path}")
    if table:
        out.print(f"numbers: {table}")
    out.print(f"\n{RULE}", style="dim")
    state = ("reproduced", "green") if found.reproduced else ("not reproduced", "red")
    out.print(said((found.paper, "bold"), " is ", state, f", {found.seconds:.1f} s"))


def _show_table(one: Table) -> None:
    out = terminal.out
    out.print(said((one.name, "bold"), f": {one.title}"))
    rows = terminal.table("", "printed", "ours", "difference", "")
    for number in one.numbers:
        colour = _COLOURS[number.verdict]
        why = f": {number.reason}" if number.reason else ""
        rows.add_row(
            *(number.where, number.printed, number.ours, number.difference),
            said((number.verdict, colour), why),
        )
    out.print(rows)
    if one.note:
        out.print(one.note, style="dim")
    out.print()


def _count(count: int, verdict: Verdict) -> Text:
    return said((str(count), _COLOURS[verdict] if count else "dim"))
