"""Base parameters in the terminal: their combinations, and routes side by side."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import terminal

if TYPE_CHECKING:
    from workflows.drawing import Spectra


def _term(text: str | None, value: float | str, name: str) -> str:
    """A signed term of a combination; values that are text have the digits asked for."""
    number = value if isinstance(value, str) else f"{value:.4g}"
    coefficient = number if text is None else text
    sign = "+"
    if coefficient.startswith("-") and not _is_sum(coefficient[1:]):
        sign, coefficient = "−", coefficient[1:]
    if coefficient in ("1", "1.0"):
        return f"{sign} {name}"
    if _is_sum(coefficient):
        coefficient = f"({coefficient})"
    if coefficient.startswith("1/"):
        return f"{sign} {name}{coefficient[1:]}"
    return f"{sign} {coefficient}*{name}"


def _is_sum(text: str) -> bool:
    """Whether there is a + or − outside parentheses and exponents."""
    depth = 0
    for k, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if k and depth == 0 and sign in "+-" and text[k - 1] not in "*e/(":
            return True
    return False


#: Coefficients (SI) that vanish at these numbers leave what float64 rounds to: lengths of a metre.
_ROUNDING = 1e-15


def combination(row: Mapping[str, Any], symbolic: bool = True) -> str:
    """A base parameter as a sum: `crank.mx − crank.J/lx1`."""
    terms = row.get("terms") if symbolic else None
    parts = [
        _term(terms[name] if terms else None, value, name)
        for name, value in row["values"].items()
        if terms or isinstance(value, str) or abs(value) > _ROUNDING
    ]
    return " ".join([row["parameter"], *parts])


def show(document: Mapping[str, Any], numbered: bool = False, uncounted: int = 0) -> None:
    """Base parameters as a table; `numbered` with the column of W that each multiplies.

    `uncounted` of the parameters are massless bodies', and not among those of which there are so
    many.
    """
    from basepar_core.base import number_of

    rank, total = len(document["base"]), len(document["parameters"]) - uncounted
    terminal.out.print(
        terminal.said(
            (document["mechanism"], "bold"),
            f": {number_of(document)} base parameter{'s' * (document['rank'] != 1)} of {total}, "
            f"{document['route']} route",
        )
    )
    special = document["generic_rank"] not in (None, document["rank"])
    if special:  # expressions would look as if they held with other numbers
        terminal.out.print(
            f"of these numbers only: with others the mechanism has {document['generic_rank']} "
            "(`generic` of --json; Base.family in Python; what --format exports)"
        )
    symbolic = not special and any("terms" in row for row in document["base"])
    columns = ["", "base parameter", "at nominal geometry"] if symbolic else ["", "base parameter"]
    rows = terminal.table(*columns, *(["column of W, from 0"] if numbered else []))
    for k, row in enumerate(document["base"]):
        shown = [combination(row, not special)]
        shown += [combination(row, symbolic=False)] if symbolic else []
        shown += [str(document["columns"][k])] if numbered else []
        rows.add_row(str(k + 1), *shown)
    terminal.out.print(rows)
    terminal.out.print(f"\neliminated: {', '.join(document['eliminated']) or 'none'}")
    if document["no_effect"]:
        terminal.out.print(f"of these without effect: {', '.join(document['no_effect'])}")
    if document["validity"] and not special:
        terminal.out.print(f"valid where none vanishes: {', '.join(document['validity'])}")
    certificate = document["certificate"]
    low, high = certificate["at_least"], certificate["at_most"]
    terminal.out.print(
        f"certificate: rank ≥ {low['rank']} {low['grade']} ({low['scope']}), rank ≤ "
        f"{high['rank']} {high['grade']} ({high['scope']})"
    )
    arithmetic = "variable precision" if document["route"] == "precise" else "float64"
    terminal.out.print(f"{arithmetic}: gap {document['gap']:.2g} across the rank")
    if "bounds" in document:
        low, high = document["bounds"]["at_least"], document["bounds"]["next_at_most"]
        terminal.out.print(
            f"bounds of W's singular values: σ_{rank} ≥ {low}, σ_{rank + 1} ≤ {high}"
        )
    if "search" in document:
        _show_search(document["search"])
    if document["near"]:
        terminal.out.print(f"nearly met, so not counted on: {'; '.join(document['near'])}")
    if document["doubt"]:
        terminal.out.print(terminal.said(("doubtful", "yellow"), f": {document['doubt']}"))
    if document.get("float64_doubt"):
        terminal.out.print(f"float64 alone does not decide: {document['float64_doubt']}")


def _show_search(search: Mapping[str, Any]) -> None:
    origins = ", ".join(f"{n} in {origin}" for origin, n in search["matched"].items())
    found = sum(search["matched"].values())
    terminal.out.print(f"search: {found} of {search['entries']} entries of β matched ({origins})")
    for base, gone in search["missing"]:
        terminal.out.print(f"  no product for {gone} in {base}: its value only")
    for row in search["ambiguous"]:
        base, gone = row["entry"]
        texts = ", ".join(row["candidates"])
        terminal.out.print(f"  several for {gone} in {base}: {texts}")
    for row in search["conditions"]:
        state = "holds" if row["holds"] else ("does not hold", "yellow")
        terminal.out.print(terminal.said(f"  {row['condition']}: ", state, f" ({row['detail']})"))


def show_routes(document: Mapping[str, Any], spectra: "Spectra", numbered: bool = False) -> None:
    """The symbolic result, the routes side by side, the singular values and the verdict."""
    from workflows.drawing import BOTH, DOUBLE, PRECISE, chart

    show({**document, "route": "symbolic", "doubt": "", "float64_doubt": ""}, numbered)
    heads = ("route", "#rank", "rank ≥", "rank ≤", "#gap, decades", "doubt", "#digits")
    rows = terminal.table(*heads, "#s", "#CPU s")
    for row in document["side_by_side"]:
        rows.add_row(
            row["route"],
            "?" if row["rank"] is None else str(row["rank"]),
            row["at_least"],
            row["at_most"],
            f"{row['gap_decades']:.1f}",
            terminal.said(("doubtful", "yellow")) if row["doubtful"] else "none",
            str(row["digits"] or "exact"),
            f"{row['seconds']:.2f}",
            f"{row['cpu_seconds']:.2f}",
        )
    terminal.out.print()
    terminal.out.print(rows)
    for route, reason in document["not_run"].items():
        terminal.out.print(f"{route}: not run ({reason})")
    terminal.out.print(
        f"\nsingular values of W, {spectra.samples} samples: {PRECISE} variable precision "
        f"({spectra.digits} digits), {DOUBLE} double precision, {BOTH} both"
    )
    for line in chart(spectra, min(terminal.out.width, 120)):
        terminal.out.print(line, no_wrap=True, crop=True)
    colour = {"agreed": "green", "doubtful": "yellow"}.get(document["agreed"], "red")
    terminal.out.print(terminal.said("\nthe routes are ", (document["agreed"], colour)))
    for reason in document["why"]:
        terminal.out.print(f"  {reason}")
    if document.get("drawing"):
        terminal.out.print(f"drawing: {document['drawing']}")
