"""What stores hold, as plain facts and in the terminal: counts, reasons, who fills them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core.api import load
from basepar_core.errors import StoreError
from basepar_core.files import library_names
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural, shell
from sweeps.store import (
    ERRORS_KEPT,
    REASONS,
    WITH_RESULTS,
    Facts,
    Location,
    PreciseStatus,
    Reason,
    Status,
    Store,
    as_damage,
    check_and_repair,
    holder,
    locate,
    reason_texts,
    runs,
    untaken,
)
from sweeps.store import status as survey
from workflows.jobs import study_names

from . import terminal
from .flags import flagged
from .hints import near, typed

if TYPE_CHECKING:
    from sweeps.run import Summary

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
IN_DOUBT = "in doubt"


def document(path: Location, checked: bool = False) -> dict[str, Any]:
    """`basepar status`: what a store holds and what is missing; `checked` somebody has it.

    Raises
    ------
    StoreError
        It is missing, damaged, of somebody else, or says of itself what no store of ours does.
    """
    if not checked:
        check_and_repair.check(path)
    with as_damage("account of itself"):
        return _held(path)


def _held(path: Location) -> dict[str, Any]:
    held = Store.open(path)
    if "spec_hash" not in held.attrs:
        raise StoreError(
            f"{path} is not the store of a sweep. Name one that `basepar sweep` made.", [str(path)]
        )
    found, precise = survey.take(held), survey.take_precise(held)
    settled = survey.precise_counts(precise)
    waiting = found.counts.get(Status.AWAITING_PRECISE, 0) - sum(settled.values())
    pending = found.counts.get(Status.PENDING, 0)
    told = found.facts
    low = sum(
        why.variants for (code, _), why in precise.reasons.items() if code == Reason.LOW_RANK
    )
    errors = dict(sorted({**told.errors, **precise.errors}.items())[:ERRORS_KEPT])
    return {
        "store": str(path),
        "title": str(held.attrs["title"]),
        "total": found.total,
        "done": pending == 0 and waiting == 0,
        "settled": found.total - pending - waiting,
        "counts": {status.meaning: n for status, n in found.counts.items()},
        "precise": {status.meaning: n for status, n in settled.items()},
        "precise_ranks": {str(rank): n for rank, n in sorted(precise.ranks.items())},
        "special": found.counts.get(Status.SPECIAL, 0) + low,
        "reasons": reasons(held, told),
        "precise_reasons": reasons(held, precise, "precise_"),
        "errors": {str(variant): text for variant, text in errors.items()},
        "spec_hash": str(held.attrs["spec_hash"]),
        "created": held.provenance["created"],
        "versions": held.provenance["versions"],
        "notes": held.notes,
        "retries": {str(n): k for n, k in sorted((told.retries + precise.retries).items())},
        "runs": [{key: run[key] for key in run if key != "used"} for run in runs(held)],
        "running": running(path),
    }


def running(path: Location) -> dict[str, Any] | None:
    """Who fills a store at this moment, how fast, and for how long still; None: nobody."""
    found = holder(path)
    if found is None:
        return None
    told = dict(found.told)
    rate = told.get("evaluated", 0) / told["seconds"] if told.get("seconds") else 0.0
    left = told["total"] - told["done"] if {"total", "done"} <= told.keys() else None
    return {
        "host": found.host,
        "pid": found.pid,
        "since": found.since,
        "silent": round(found.silent, 1),
        # `done` is the store's, a truth value; here it is a number of variants.
        **{"settled" if key == "done" else key: number for key, number in told.items()},
        "rate": rate,
        "seconds_left": left / rate if rate and left is not None else None,
    }


def reasons(held: Store, told: Facts, prefix: str = "") -> list[dict[str, Any]]:
    """Why variants have the status they have: counted, each with its first example.

    Conditions of the filter are counted one by one; of other reasons the number in the text is
    the example's. `prefix` is "precise_" for the reasons of variable precision.
    """
    if not told.reasons:
        return []
    templates = held.texts(f"{prefix}reason") or REASONS
    kind_of = PreciseStatus if prefix else Status
    where = held.spec.get("space", {}).get("where", [])
    found = []
    for (code, _), why in sorted(told.reasons.items(), key=lambda one: -one[1].variants):
        words = reason_texts(np.array([code]), np.array([why.value]), templates, where)
        found.append(
            {
                "status": kind_of(why.status).meaning,
                "reason": str(words[0]),
                "count": why.variants,
                "example": why.first,
            }
        )
    return found


def summary(result: "Summary") -> dict[str, Any]:
    """`basepar sweep`: what this run did, and the store's status."""
    return document(locate(result.store)) | {
        "evaluated": result.evaluated,
        "seconds": result.seconds,
        "lost": result.lost,
        "notes": [flagged(note) for note in result.notes],
        "failed": result.failed,
        "unsettled": result.unsettled,
    }


def show_notes(notes: Iterable[str]) -> None:
    for note in notes:
        terminal.out.print(note, style="yellow")


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


def met_with(reason: Mapping[str, Any]) -> str:
    """A reason's status as people read it: why float64 doubted stays true when it is settled."""
    word = str(reason["status"])
    return IN_DOUBT if word == Status.AWAITING_PRECISE.meaning else word


def show_status(document: Mapping[str, Any]) -> None:
    kind = "study" if document["title"].startswith("study") else "sweep"
    again = f"not complete: run the same {kind} again to go on"
    state = "complete" if document["done"] else again
    state = _running(document["running"]) if document["running"] else state
    terminal.out.print(
        terminal.said((document["title"], "bold"), f" in {document['store']}: {state}")
    )
    rows = (
        (
            terminal.said((word, _COLOURS.get(word, "default"))),
            f"{n:,}",
            _share(n / document["total"]),
        )
        for word, n in standing(document).items()
    )
    terminal.out.print(terminal.table("status", "#variants", "#share", rows=rows))
    if found := document["special"] - document["counts"].get(Status.SPECIAL.meaning, 0):
        terminal.out.print(f"special by their rank in variable precision: {found:,}")
    if document["precise_ranks"]:
        found = ", ".join(f"{rank} ({n:,})" for rank, n in document["precise_ranks"].items())
        terminal.out.print(f"rank in variable precision: {found}")
    causes = [*document["reasons"], *document["precise_reasons"]]
    if causes:
        why = terminal.table("why (numbers are the example's)", "#variants", "#example")
        for reason in causes:
            text = f"{met_with(reason)}: {reason['reason']}"
            why.add_row(text, f"{reason['count']:,}", f"variant {reason['example']}")
        terminal.out.print()
        terminal.out.print(why)
    if without_results(document):
        total = document["total"]
        none = f"None of the {total:,} variants" if total != 1 else "The variant"
        terminal.out.print(
            f"{none} {'has a' if total != 1 else 'has no'} result.", style="bold red"
        )
    show_notes(document["notes"])
    for times, count in document["retries"].items():
        again = plural(int(times), "time")
        terminal.out.print(f"asked for again {again} after failing: {plural(count, 'variant')}")
    for line in document.get("damage", ()):
        terminal.out.print(terminal.said(("damaged", "red"), f": {line}"))
    if document.get("damage"):
        terminal.out.print(f"`{typed('basepar')} sweep … --repair` does these variants again.")
    for variant, text in list(document["errors"].items())[:5]:
        terminal.out.print(terminal.said((f"variant {variant}", "red"), f": {text}"))


def _share(part: float) -> str:
    """A few among very many are not none."""
    return f"{part:.1%}" if part == 0 or part >= 0.001 else "< 0.1%"


def show_extremes(found: Sequence[Mapping[str, Any]]) -> None:
    heads = ("result", "unit", "#variants", "#min", "#variant", "#median", "#max", "#variant")
    rows = terminal.table(*heads)
    for row in found:
        low, median, high = (terminal.number(row[end]) for end in ("min", "median", "max"))
        where = f"{row['best']}", f"{row['worst']}"
        count = f"{row['count']:,}"
        rows.add_row(row["name"], row["unit"], count, low, where[0], median, high, where[1])
    terminal.out.print()
    terminal.out.print(rows)
    if read := [row["median_of"] for row in found if row["median_of"] < row["count"]]:
        terminal.out.print(f"Medians are of {max(read):,} variants, evenly chosen.")


def show_rate(document: Mapping[str, Any]) -> None:
    """What this run did."""
    evaluated, seconds = document["evaluated"], document["seconds"]
    rate = evaluated / seconds if seconds else 0.0
    terminal.out.print(
        f"\n{plural(evaluated, 'variant')} in {seconds:.1f} s ({rate:,.0f} per second), "
        "without start-up and compilation"
        if evaluated
        else "\nnothing was missing"
    )


def without_results(document: Mapping[str, Any]) -> bool:
    """Whether a complete store has no variant with a result."""
    return document["done"] and not any(one.meaning in document["counts"] for one in WITH_RESULTS)


def show_after_nothing(
    document: Mapping[str, Any],
    file: str,
    kind: str = "sweep",
    further: str = ", or remove that one",
) -> None:
    """What to do where a sweep or a study is in vain: the store keeps it as it was.

    Parameters
    ----------
    kind
        sweep or study.
    further
        What else is to be done than to take another store.
    """
    place, path = near(document["store"]), near(file)
    terminal.out.print(
        f"\nCorrect {path}; {place} keeps the {kind} as it was, so take another store{further}.",
        soft_wrap=True,
    )
    looks = ("report", "explore") if kind == "study" else ("status",)
    terminal.show_next(
        f"{kind} {shell(path)} --store {shell(untaken(place))}",
        *(f"{command} {shell(place)}" for command in looks),
    )


def show_after_warnings(
    count: int, store: str, file: str, kind: str = "sweep", further: str = ""
) -> list[str]:
    """What to do if a warning that was shown is right: the store keeps what the file says now.

    Parameters
    ----------
    count
        How many warnings were shown while the file was read.
    file
        The sweep's or the study's; "": none, and nothing is shown.
    kind
        sweep or study.
    further
        What else is to be done than to take another store.

    Returns
    -------
    The command to run then, without the program's name.
    """
    if not count or not file:
        return []
    place = near(store)
    terminal.out.print(
        f"\n{terminal.if_right(count)}; {place} keeps the {kind} as it was, so take another "
        f"store{further}.",
        soft_wrap=True,
    )
    return [f"{kind} {shell(near(file))} --store {shell(untaken(place))}"]


def show_next_steps(
    document: Mapping[str, Any], swept: Mechanism, before: Sequence[str] = ()
) -> None:
    """Commands to try after a sweep, behind those `before`.

    Those by name where the mechanism is the shipped one.
    """
    place = near(document["store"])
    steps = [*before, f"report {shell(place)}", f"explore {shell(place)}"]
    steps.append(f"status {shell(place)}")
    mechanism = swept.name
    if mechanism in library_names() and load(mechanism) == swept:
        steps += [f"reduce {mechanism}", f"base {mechanism}", f"show {mechanism} -o drawing.png"]
        lost = (Status.LOST.meaning, Status.SINGULAR.meaning)
        for reason in [one for one in document["reasons"] if one["status"] in lost][:1]:
            variant = shell(f"{place}:{reason['example']}")
            steps.append(f"show {mechanism} --variant {variant} -o lost.png")
        steps += [f"study {mechanism}"] * (mechanism in study_names())
    terminal.show_next(*steps)
    reading = f"import basepar; print(basepar.open({json.dumps(place)}))"
    terminal.out.print(f"in Python: {reading}", soft_wrap=True)
