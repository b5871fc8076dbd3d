"""What stores hold, as plain facts and in the terminal: counts, reasons, who fills them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import StoreError
from basepar_core.files import library_names
from basepar_core.texts import plural, shell
from sweeps.run import Summary
from sweeps.spec import as_damage
from sweeps.store import (
    REASONS,
    WITH_RESULTS,
    Part,
    PreciseStatus,
    Reason,
    Status,
    Store,
    check_and_repair,
    holder,
    reason_texts,
)
from sweeps.store import status as survey
from workflows.jobs import study_names

from . import terminal
from .flags import flagged
from .hints import near, typed

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


def document(path: Path, checked: bool = False) -> dict[str, Any]:
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


def _held(path: Path) -> dict[str, Any]:
    held = Store.open(path)
    if "spec_hash" not in held.attrs:
        raise StoreError(
            f"{path} is not the store of a sweep. Name one that `basepar sweep` made.", [str(path)]
        )
    found = survey.take(held, Part((), int(held.spec["store"]["chunk"])))
    precise = survey.precise_counts(held)
    waiting = found.counts.get(Status.AWAITING_PRECISE, 0) - sum(precise.values())
    total = sum(found.counts.values())
    pending = found.counts.get(Status.PENDING, 0)
    return {
        "store": str(path),
        "title": str(held.attrs["title"]),
        "total": total,
        "done": pending == 0 and waiting == 0,
        "settled": total - pending - waiting,
        "counts": {status.meaning: n for status, n in found.counts.items()},
        "precise": {status.meaning: n for status, n in precise.items()},
        "precise_ranks": _precise_ranks(held),
        "special": found.counts.get(Status.SPECIAL, 0) + _low_ranks(held),
        "reasons": reasons(held),
        "precise_reasons": reasons(held, "precise_"),
        "errors": {str(variant): text for variant, text in held.errors.items()},
        "spec_hash": str(held.attrs["spec_hash"]),
        "created": held.provenance["created"],
        "versions": held.provenance["versions"],
        "notes": held.notes,
        "retries": _retries(held),
        "runs": held.runs,
        "running": running(path),
    }


def running(path: Path) -> dict[str, Any] | None:
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


def _retries(held: Store) -> dict[str, int]:
    """Variants by how often they were asked for again after they had failed."""
    counts: Counter[int] = Counter()
    for name in ("retries", "precise_retries"):
        if name not in held:
            continue
        for _, block in survey.blocks(held, name, 1):
            found, count = np.unique(block[block > 0], return_counts=True)
            counts.update(dict(zip(found.tolist(), count.tolist(), strict=True)))
    return {str(times): n for times, n in sorted(counts.items())}


def _precise_ranks(held: Store) -> dict[str, int]:
    """Variants by the rank that variable precision found."""
    if "precise_rank" not in held:
        return {}
    counts: Counter[int] = Counter()
    pairs = zip(
        survey.blocks(held, "precise_rank", 1),
        survey.blocks(held, "precise_status", 1),
        strict=True,
    )
    for (_, ranks), (_, statuses) in pairs:
        found, count = np.unique(
            ranks[(statuses != PreciseStatus.NONE) & (ranks >= 0)], return_counts=True
        )
        counts.update(dict(zip(found.tolist(), count.tolist(), strict=True)))
    return {str(rank): n for rank, n in sorted(counts.items())}


def _low_ranks(held: Store) -> int:
    """Variants that variable precision found to be of a rank below the generic one."""
    if "precise_reason" not in held:
        return 0
    blocks = survey.blocks(held, "precise_reason", 1)
    return sum(int((codes == Reason.LOW_RANK).sum()) for _, codes in blocks)


def reasons(held: Store, prefix: str = "") -> list[dict[str, Any]]:
    """Why variants have the status they have: counted, each with its first example.

    Conditions of the filter are counted one by one; of other reasons the number in the text is
    the example's. `prefix` is "precise_" for the reasons of variable precision.
    """
    if f"{prefix}reason" not in held:
        return []
    values, statuses = (held[prefix + name] for name in ("reason_value", "status"))
    name = f"{prefix}reason_value"
    counts: Counter[tuple[int, float]] = Counter()
    examples: dict[tuple[int, float], int] = {}
    for start, block in survey.blocks(held, f"{prefix}reason", 1):
        if not block.any():
            continue
        here, kinds = block.astype(float), np.zeros(len(block))
        if (filtered := block == Reason.FILTER).any():
            stop = start + len(block)
            kinds[filtered] = survey.piece(values, name, start, stop)[filtered]
        pairs, first, count = np.unique(
            np.stack([here, kinds]), axis=1, return_index=True, return_counts=True
        )
        for pair, row, n in zip(pairs.T, first, count, strict=True):
            if pair[0]:
                key = int(pair[0]), float(pair[1])
                counts[key] += int(n)
                examples.setdefault(key, start + int(row))
    templates = held.texts(f"{prefix}reason") or REASONS
    kind_of = PreciseStatus if prefix else Status
    where = held.spec.get("space", {}).get("where", [])
    found = []
    for key, total in counts.most_common():
        example = examples[key]
        number = survey.piece(values, name, example, example + 1)
        words = reason_texts(np.array([key[0]]), number, templates, where)
        found.append(
            {
                "status": kind_of(
                    int(survey.piece(statuses, "status", example, example + 1)[0])
                ).meaning,
                "reason": str(words[0]),
                "count": total,
                "example": example,
            }
        )
    return found


def summary(result: Summary) -> dict[str, Any]:
    """`basepar sweep`: what this run did, and the store's status."""
    return document(Path(result.store)) | {
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
        why = terminal.table("why", "#variants", "#for example")
        for reason in causes:
            text = f"{met_with(reason)}: {reason['reason']}"
            why.add_row(text, f"{reason['count']:,}", f"variant {reason['example']}")
        terminal.out.print()
        terminal.out.print(why)
    if document["done"] and not any(one.meaning in document["counts"] for one in WITH_RESULTS):
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
        where = f"{row['best'][0]}", f"{row['worst']}"
        count = f"{row['count']:,}"
        rows.add_row(row["name"], row["unit"], count, low, where[0], median, high, where[1])
    terminal.out.print()
    terminal.out.print(rows)


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


def show_next_steps(document: Mapping[str, Any], mechanism: str) -> None:
    """Commands to try after a sweep; `mechanism` is the name its file states."""
    place = near(document["store"])
    steps = [f"report {shell(place)}", f"status {shell(place)}"]
    if mechanism in library_names():
        steps += [f"reduce {mechanism}", f"base {mechanism}", f"show {mechanism} -o drawing.png"]
        lost = (Status.LOST.meaning, Status.SINGULAR.meaning)
        for reason in [one for one in document["reasons"] if one["status"] in lost][:1]:
            variant = shell(f"{place}:{reason['example']}")
            steps.append(f"show {mechanism} --variant {variant} -o lost.png")
    if mechanism in study_names():
        steps.append(f"study {mechanism}")
    terminal.show_next(*steps)
    reading = f"import basepar; print(basepar.open({json.dumps(place)}))"
    terminal.out.print(f"in Python: {reading}", soft_wrap=True)
