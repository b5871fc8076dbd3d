"""What stores hold, as plain data: `--json` prints it, the terminal formats it."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import StoreError
from sweeps.run import Summary
from sweeps.spec import as_damage
from sweeps.store import (
    REASONS,
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

from .flags import flagged


def sweep_store(path: Path, checked: bool = False) -> dict[str, Any]:
    """`basepar status`: what a store holds and what is missing; `checked` somebody has it.

    Raises
    ------
    StoreError
        It is missing, damaged, of somebody else, or says of itself what no store of ours does.
    """
    if not checked:
        check_and_repair.check(path)
    with as_damage("account of itself"):
        return _sweep_store(path)


def _sweep_store(path: Path) -> dict[str, Any]:
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
    return sweep_store(Path(result.store)) | {
        "evaluated": result.evaluated,
        "seconds": result.seconds,
        "lost": result.lost,
        "notes": [flagged(note) for note in result.notes],
        "failed": result.failed,
        "unsettled": result.unsettled,
    }
