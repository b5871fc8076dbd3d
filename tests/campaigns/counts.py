"""Counts of base parameters by the symbolic route, held against an oracle in 80 digits.

    python -m tests.campaigns.counts run 0 1000 >> counts.jsonl
    python -m tests.campaigns.counts report counts.jsonl
    python -m tests.campaigns.counts run 0 300 --coupled >> coupled.jsonl
    python -m tests.campaigns.counts run 0 90 --families free_tree floating_gripper >> some.jsonl

A case is a number: its family is `case % len(FAMILIES)`, and it seeds all else. A draw that does
not assemble, or cannot be walked, is drawn anew (the attempt is recorded). A count is *wrong* if
`rank` is stated, differs from the oracle's, and nothing is doubted. Results: docs/campaigns.md.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basepar_core.base.symbolic_route import nominal_observation, symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.errors import BaseparError
from tests.campaigns.count_families import COUPLED, FAMILIES, Family
from tests.campaigns.homes import Written
from tests.mechanisms import build
from tests.oracles.energy_rank import EnergyRank, NoAnswerError, energy_rank

#: Draws of a case; and what a small motion replaces where a large one cannot be followed.
DRAWS = 30
Record = dict[str, Any]


def drawn(
    case: int, attempt: int, families: Mapping[str, Family] = FAMILIES
) -> tuple[Model, Written]:
    """The mechanism of a case."""
    names = list(families)
    rng = np.random.default_rng([case, attempt, 20261122])
    made = families[names[case % len(names)]](rng)
    it = Written.random(rng, getattr(made, "loose", False))
    document = made.document(rng, it, f"{names[case % len(names)]} {case}")
    if document is None:
        raise NoAnswerError("no pose was found")
    return closure.prepare(build(document, f"case {case}")), it


def examine(case: int, families: Mapping[str, Family] = FAMILIES) -> Record:
    """What the route claims of a case, and what is true."""
    names = list(families)
    record: Record = {"case": case, "family": names[case % len(names)], "refused": []}
    for attempt in range(DRAWS):
        try:
            model, it = drawn(case, attempt, families)
            nominal_observation(model)
            started = time.process_time()
            truth = energy_rank(model, case)
        except (BaseparError, NoAnswerError) as error:
            record["refused"].append(f"{type(error).__name__}: {error}"[:160])
            continue
        seconds = time.process_time() - started
        record |= {"attempt": attempt, **vars(it), "oracle_seconds": round(seconds, 2)}
        return record | _true(truth) | claimed(model, truth)
    return record | {"verdict": "none drawn"}


def _true(truth: EnergyRank) -> Record:
    return {"true": truth.rank, "last": truth.last, "freedoms": truth.freedoms}


def claimed(model: Model, truth: EnergyRank) -> Record:
    """The symbolic route's claim, and the verdict."""
    started = time.process_time()
    try:
        base = symbolic(model)
    except BaseparError as error:
        return {"verdict": "error", "error": str(error)[:300]}
    seconds = round(time.process_time() - started, 2)
    stated = base.document()["rank"]
    right = stated == truth.rank
    verdict = "doubtful" if base.doubt or stated is None else "right" if right else "wrong"
    return {
        "verdict": verdict,
        "rank": stated,
        "listed": len(base.kept),
        "generic": base.generic,
        "doubt": base.doubt,
        "at_least": [base.certificate.at_least, base.certificate.at_least_grade],
        "at_most": [base.certificate.at_most, base.certificate.at_most_grade],
        "seconds": seconds,
        "redundant": len(model.loops.redundant),
    }


def report(records: Sequence[Record]) -> str:
    """A table by family, and the totals."""
    kinds = ("right", "doubtful", "wrong", "error", "none drawn")
    lines = [f"| family | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    total: Counter[str] = Counter()
    for family in dict.fromkeys(r["family"] for r in records):
        counts = Counter(r["verdict"] for r in records if r["family"] == family)
        total += counts
        lines.append(f"| {family} | {' | '.join(str(counts[k]) for k in kinds)} |")
    lines.append(f"| all {len(records)} | {' | '.join(str(total[k]) for k in kinds)} |")
    done = [r for r in records if "seconds" in r]
    special = [r for r in done if r["generic"] not in (None, r["true"])]
    lines.append(f"generic rank is another: {len(special)}")
    for key in ("seconds", "oracle_seconds"):
        spent = np.array([r[key] for r in done])
        if spent.size:
            lines.append(f"{key}: median {np.median(spent):.2f}, most {spent.max():.2f}")
    for kind in kinds[1:]:
        shown = [r for r in records if r["verdict"] == kind]
        for r in shown[:60]:
            why = r.get("doubt") or r.get("error") or "; ".join(r["refused"][:2])
            lines.append(
                f"{kind}: {r['case']} {r['family']} {r.get('style')} {r.get('amplitude')} near "
                f"{r.get('near')}: {r.get('rank')} for {r.get('true')}: {why[:300]}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("given", nargs="+", help="first and last case, or files of records")
    parser.add_argument("--coupled", action="store_true", help="couplings, bases that float")
    parser.add_argument("--families", nargs="+", default=[], help="only these, by name")
    chosen = parser.parse_args()
    if chosen.what == "run":
        first, last = map(int, chosen.given)
        every = {**FAMILIES, **COUPLED}
        named = {name: every[name] for name in chosen.families}
        families = named or (COUPLED if chosen.coupled else FAMILIES)
        for case in range(first, last):
            found = examine(case, families)
            print(json.dumps(found), flush=True)
        return
    records = []
    for name in chosen.given:
        with open(name, encoding="utf-8") as file:
            records += [json.loads(line) for line in file]
    sys.stdout.write(report(records) + "\n")


if __name__ == "__main__":
    main()
