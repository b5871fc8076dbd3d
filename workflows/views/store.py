"""What people see of a store: counts, reasons, who fills it, spread of the results."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from basepar_core.texts import plural
from sweeps.store import WITH_RESULTS, PreciseStatus, Status

from .hints import typed
from .terminal import number, out, said, table

_COLOURS = {
    Status.SOLVED.meaning: "green",
    Status.CRASHED.meaning: "red",
    Status.TIMED_OUT.meaning: "red",
    Status.AWAITING_PRECISE.meaning: "yellow",
    Status.SPECIAL.meaning: "cyan",
    "settled precisely: certified": "green",
    "settled precisely: numerically evident": "green",
    "in doubt: still doubtful": "yellow",
}
#: Why float64 doubted, which stays true when the doubt is settled.
IN_DOUBT = "in doubt"


def show_notes(notes: Iterable[str]) -> None:
    for note in notes:
        out.print(note, style="yellow")


def _running(now: Mapping[str, Any]) -> str:
    """Who fills a store, how fast, how long still."""
    words = f"being filled by process {now['pid']} on {now['host']} since {now['since']}"
    if now["rate"]:
        words += f", {now['rate']:,.0f} variants per second on {plural(now['workers'], 'worker')}"
    if now["seconds_left"]:
        words += f", about {timedelta(seconds=round(now['seconds_left']))} left"
    if now["silent"] > 30:
        words += f"; no sign of life for {now['silent']:.0f} s"
    return words


def standing(document: Mapping[str, Any]) -> dict[str, int]:
    """Variants by where they stand by now: doubtful ones that variable precision settled as such.

    A store keeps *awaiting precise* as float64's word on a variant, also when the answer is there.
    """
    found: dict[str, int] = {}
    for word, count in document["counts"].items():
        if word == Status.AWAITING_PRECISE.meaning:
            for meaning, part in document["precise"].items():
                found[after_doubt(meaning)] = part
                count -= part
        if count:
            found[word] = count
    return found


def after_doubt(meaning: str) -> str:
    """A status of the precise stage as a variant's status."""
    settled = (PreciseStatus.CERTIFIED.meaning, PreciseStatus.EVIDENT.meaning)
    return f"{'settled precisely' if meaning in settled else IN_DOUBT}: {meaning}"


def show_status(document: Mapping[str, Any]) -> None:
    kind = "study" if document["title"].startswith("study") else "sweep"
    again = f"not complete: run the same {kind} again to go on"
    state = "complete" if document["done"] else again
    state = _running(document["running"]) if document["running"] else state
    out.print(said((document["title"], "bold"), f" in {document['store']}: {state}"))
    rows = (
        (said((word, _COLOURS.get(word, "default"))), f"{n:,}", f"{n / document['total']:.1%}")
        for word, n in standing(document).items()
    )
    out.print(table("status", "#variants", "#share", rows=rows))
    if found := document["special"] - document["counts"].get(Status.SPECIAL.meaning, 0):
        out.print(f"special by their rank in variable precision: {found:,}")
    if document["precise_ranks"]:
        found = ", ".join(f"{rank} ({n:,})" for rank, n in document["precise_ranks"].items())
        out.print(f"rank in variable precision: {found}")
    causes = [*document["reasons"], *document["precise_reasons"]]
    if causes:
        why = table("why", "#variants", "#for example")
        for reason in causes:
            word = reason["status"]
            word = IN_DOUBT if word == Status.AWAITING_PRECISE.meaning else word
            text = f"{word}: {reason['reason']}"
            why.add_row(text, f"{reason['count']:,}", f"variant {reason['example']}")
        out.print()
        out.print(why)
    if document["done"] and not any(one.meaning in document["counts"] for one in WITH_RESULTS):
        total = document["total"]
        none = f"None of the {total:,} variants" if total != 1 else "The variant"
        out.print(f"{none} {'has a' if total != 1 else 'has no'} result.", style="bold red")
    show_notes(document["notes"])
    for times, count in document["retries"].items():
        again = plural(int(times), "time")
        out.print(f"asked for again {again} after failing: {plural(count, 'variant')}")
    for line in document.get("damage", ()):
        out.print(said(("damaged", "red"), f": {line}"))
    if document.get("damage"):
        out.print(f"`{typed('basepar')} sweep … --repair` does these variants again.")
    for variant, text in list(document["errors"].items())[:5]:
        out.print(said((f"variant {variant}", "red"), f": {text}"))


def show_extremes(found: Sequence[Mapping[str, Any]]) -> None:
    ends = ("least", "median", "most")
    rows = table("result", "unit", *(f"#{end}" for end in ends), "least in variants")
    for row in found:
        best = ", ".join(map(str, row["best"]))
        rows.add_row(row["name"], row["unit"], *(number(row[end]) for end in ends), best)
    out.print()
    out.print(rows)


def show_rate(document: Mapping[str, Any]) -> None:
    """What this run did."""
    evaluated, seconds = document["evaluated"], document["seconds"]
    rate = evaluated / seconds if seconds else 0.0
    out.print(
        f"\n{plural(evaluated, 'variant')} in {seconds:.1f} s ({rate:,.0f} per second), "
        "starting and compiling apart"
        if evaluated
        else "\nnothing was missing"
    )
