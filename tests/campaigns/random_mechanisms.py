"""All routes on many random mechanisms: do any two claim different ranks without a doubt said?

    python -m tests.campaigns.random_mechanisms run 0 50 >> found.jsonl
    python -m tests.campaigns.random_mechanisms report found.jsonl

A line per seed; seeds whose mechanism does not assemble or move are recorded and not counted.
Results: docs/campaigns.md.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from basepar_core.base.precise_route import precise
from basepar_core.base.symbolic_route import nominal_observation, numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.errors import BaseparError, EliminationError, FamilyError
from basepar_core.finite_field.rank import generic_rank
from tests.campaigns.generator import random_mechanism

#: Excitations that are tried; a mechanism near a singularity allows only a small one.
AMPLITUDES = (0.3, 0.1, 0.03)
#: β of two routes is the same within this share of the largest entry: W's condition is at most
#: 1e8 where float64 does not doubt its rank, and precise β is right to 17 digits.
SAME = 1e-6

Record = dict[str, Any]


def assembled(seed: int) -> Model | str:
    """The mechanism of a seed, moving; or why there is none."""
    why = ""
    for amplitude in AMPLITUDES:
        try:
            mechanism = random_mechanism(seed, amplitude)
            if not mechanism.coordinates:
                return "rigid"
            model = closure.prepare(mechanism)
            nominal_observation(model)
        except BaseparError as error:
            why = f"{type(error).__name__}: {error}"
        else:
            return model
    return why


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result or the program's error in its place, and CPU seconds."""
    start = time.process_time()
    try:
        found = work()
    except BaseparError as error:
        found = error
    return found, time.process_time() - start


def examine(seed: int) -> Record:
    """What every route says of one mechanism."""
    model = assembled(seed)
    if isinstance(model, str):
        return {"seed": seed, "skipped": model}
    mechanism = model.mechanism
    record: Record = {
        "seed": seed,
        "space": "planar" if mechanism.planar else "spatial",
        "bodies": len(mechanism.bodies),
        "loops": len(model.topology.cuts),
        "symbols": len(mechanism.geometry),
        "parameters": len(mechanism.parameter_names),
        "freedoms": len(mechanism.coordinates),
        "cpu": {},
        "claims": {},
        "doubts": {},
        "float64_doubt": "",
    }
    base, record["cpu"]["symbolic"] = timed(lambda: symbolic(model, own=False))
    if isinstance(base, BaseparError):
        record["error"] = f"symbolic: {base}"
        return record
    stated = base.certificate
    record["certificate"] = [
        stated.at_least,
        stated.at_least_grade,
        stated.at_most,
        stated.at_most_grade,
        stated.at_least_scope,
        stated.at_most_scope,
    ]
    record["grades"] = dict(Counter(vector.grade for vector in stated.vectors))
    record["recovered"] = sum("recovered" in vector.reason for vector in stated.vectors)
    _says(record, "symbolic", base.rank, base.doubt)
    record["float64_doubt"] = base.float64_doubt

    other, record["cpu"]["numeric"] = timed(lambda: numeric(model))
    _says(record, "numeric", other.rank, other.doubt)

    found, record["cpu"]["precise"] = timed(lambda: _precise(model, list(base.eliminated)))
    if isinstance(found, BaseparError):
        record["doubts"]["precise"] = str(found)
    else:
        _says(record, "precise", found.rank, found.doubt)
        record["precise_grade"] = found.certificate.at_least_grade
        record["same_eliminated"] = found.eliminated == base.eliminated
        if record["same_eliminated"]:
            largest = np.abs(base.nominal_beta).max(initial=1.0)
            gap = np.abs(base.nominal_beta - found.nominal_beta).max(initial=0.0) / largest
            record["beta_gap"] = float(gap)
    generic, record["cpu"]["generic"] = timed(lambda: generic_rank(model, seed=seed + 1))
    if isinstance(generic, FamilyError):
        record["doubts"]["generic"] = str(generic)
    else:
        _says(record, "generic", generic.rank, "; ".join([*generic.notes, *generic.freed]))
        record["redundant"] = generic.redundant
    record["silent"] = silent(record)
    return record


def _precise(model: Model, wanted: list[int]) -> Any:
    try:
        return precise(model, wanted)
    except EliminationError:  # its rank is another: then it chooses for itself
        return precise(model)


def _says(record: Record, route: str, rank: int, doubt: str) -> None:
    record["claims"][route] = rank
    if doubt:
        record["doubts"][route] = doubt


def silent(record: Record) -> str:
    """A disagreement of routes that say no doubt of their own, or nothing.

    What float64 alone cannot decide is no doubt of the other routes.
    The generic rank speaks of other geometries too: it may be higher than this one's, and then
    the symbolic route, whose null vectors are generic as well, must doubt.
    """
    sure = {r: rank for r, rank in record["claims"].items() if r not in record["doubts"]}
    here = {sure[route] for route in ("numeric", "precise") if route in sure}
    generic = sure.get("generic")
    if len(here) > 1 or (generic is not None and here and generic < max(here)):
        return f"ranks {sure}"
    if "symbolic" in sure and len(set(sure.values())) > 1:
        return f"ranks {sure}"
    both = {"symbolic", "precise"} <= sure.keys()
    if both and not record.get("same_eliminated", True):
        return f"φ₂ of the symbolic route is not admissible to variable precision at rank {sure}"
    # So written, a β that is not finite is a difference.
    if both and not record.get("beta_gap", 0.0) <= SAME:
        return f"β differs by {record['beta_gap']:.1e}"
    return ""


# The report.


def report(records: Iterable[Record]) -> str:
    """Counts, grades, times and shortfalls, as the table in docs/campaigns.md."""
    every = list({r["seed"]: r for r in records}.values())  # the last word on each seed
    done = [r for r in every if "skipped" not in r and "error" not in r]
    lines = [
        f"seeds {len(every)}, assembled {len([r for r in every if 'skipped' not in r])}",
        f"errors {[(r['seed'], r['error'][:200]) for r in every if 'error' in r]}",
        f"silent disagreements {[(r['seed'], silent(r)) for r in done if silent(r)]}",
        f"kinds {dict(Counter((r['space'], min(r['loops'], 2)) for r in done))}",
        f"rank ≥: {_shares(r['certificate'][1] for r in done)}",
        f"rank ≤: {_shares(r['certificate'][3] for r in done)}",
        f"precise rank ≥: {_shares(str(r.get('precise_grade')) for r in done)}",
        f"recovered {[(r['seed'], r['recovered']) for r in done if r['recovered']]}",
    ]
    loose = [r["seed"] for r in done if r.get("redundant")]
    lines.append(f"redundant constraints: {len(loose)} {loose}")
    short = [r for r in done if r["certificate"][0] != r["certificate"][2]]
    lines.append(f"at least ≠ at most: {len(short)} {[r['seed'] for r in short]}")
    doubted = [r for r in done if "symbolic" in r["doubts"]]
    lines.append(f"symbolic doubts: {len(doubted)} {[r['seed'] for r in doubted]}")
    blind = [r["seed"] for r in done if r.get("float64_doubt")]
    lines.append(f"float64 alone does not decide: {len(blind)} {blind}")
    sure = [r for r in done if {"symbolic", "precise"} <= r["claims"].keys() - r["doubts"].keys()]
    lines.append(f"symbolic held against variable precision, neither in doubt: {len(sure)}")
    refused = [r["seed"] for r in done if "generic" not in r["claims"]]
    lines.append(f"families refused: {len(refused)} {refused}")
    for route in ("symbolic", "numeric", "precise", "generic"):
        spent = np.array([r["cpu"][route] for r in done if route in r["cpu"]])
        lines.append(
            f"CPU {route}: median {np.median(spent):.3f} s, 95 % {np.quantile(spent, 0.95):.2f}"
            f" s, most {spent.max():.2f} s"
        )
    return "\n".join(lines)


def _shares(grades: Iterable[str]) -> str:
    counted = Counter(grades)
    total = max(sum(counted.values()), 1)
    return ", ".join(f"{k} {n} ({n / total:.0%})" for k, n in counted.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("given", nargs="+", help="first and last seed, or files of records")
    chosen = parser.parse_args()
    if chosen.what == "run":
        first, last = map(int, chosen.given)
        for seed in range(first, last):
            print(json.dumps(examine(seed)), flush=True)
        return
    records = []
    for name in chosen.given:
        with open(name, encoding="utf-8") as file:
            records += [json.loads(line) for line in file]
    sys.stdout.write(report(records) + "\n")


if __name__ == "__main__":
    main()
