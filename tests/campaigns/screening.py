"""Screening against Optuna's samplers at equal wall time, start included.

    python -m tests.campaigns.screening race --seeds 10 --seconds 60 [--studies four-bar,dwell]
    python -m tests.campaigns.screening table RESULTS.jsonl

Every run is a process of its own, timed from before it is started: imports, workers, kernels read
from their cache, the mechanism's analysis. It is ended when its time is over; what its store held
after 5, 20 and 60 s is judged. CMA-ES, which takes no constraints, asks in the same process that
evaluates, and gets infeasible designs with a penalty.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store
from tests.campaigns.studies import hypervolume
from workflows.studies.feasibility import judge, weigh
from workflows.studies.gradients import column
from workflows.studies.spec import Sampler
from workflows.studies.study import load_job, study

LOOKS = (5.0, 20.0, 60.0)
#: Corner of the hypervolume: worse than every design of a front.
WORST = {"quick-return": (14.0, 11.5), "3-rrr": (120.0, 5.5), "dwell": (0.4, 0.02)}
#: No run gets so far.
TRIALS = 400_000
KINDS = ("screen", "tpe", "nsga2", "cmaes")


def job(name, kind, seed, store):
    """A shipped study with another sampler, its usual batch."""
    one = load_job(name, store)
    return replace(one, sampler=Sampler(kind, seed), batch=0, chunk=0, trials=TRIALS)


def one(options):
    """A run: lines of seconds and rows, until its time is over."""
    spec = job(options.study, options.kind, options.seed, f"{options.folder}/run.zarr")
    with open(f"{options.folder}/rows", "w", encoding="utf-8") as file:

        def look(rows):
            print(time.time() - options.begun, rows, file=file, flush=True)
            if time.time() - options.begun > options.seconds:
                os._exit(0)

        with connect(Laptop(workers=options.workers)) as client:
            study(spec, client, lambda advance: look(advance.done))


def by_cmaes(options):
    """CMA-ES by Optuna's ask and tell: as `one`, values instead of rows."""
    import optuna

    from sweeps.chunks import prepare

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spec = job(options.study, "random", options.seed, f"{options.folder}/run.zarr")
    evaluator, best = prepare(spec.sweep), np.inf
    sampler = optuna.samplers.CmaEsSampler(seed=options.seed, popsize=20)
    asked = optuna.create_study(sampler=sampler)
    with open(f"{options.folder}/rows", "w", encoding="utf-8") as file:
        while time.time() - options.begun < options.seconds:
            trials = [asked.ask() for _ in range(20)]
            values = np.array(
                [[t.suggest_float(n, v.low, v.high) for n, v in spec.variables] for t in trials]
            )
            columns = dict(zip(spec.names, np.ascontiguousarray(values.T), strict=True))
            arrays = evaluator(columns, np.ones(20, bool))
            results = {name: column(evaluator, arrays, name) for name in spec.results}
            fate = (arrays[name] for name in ("status", "reason", "reason_value"))
            verdict = weigh(spec, columns, results, *fate)
            goals = verdict.values[:, 0] * spec.signs[0]
            worst = 100 + verdict.violation
            for trial, goal in zip(trials, np.where(verdict.feasible, goals, worst), strict=True):
                asked.tell(trial, float(goal))
            best = min(best, np.where(verdict.feasible, goals, np.inf).min())
            print(time.time() - options.begun, best, file=file, flush=True)
    os._exit(0)


def found(spec, name, rows):
    """Best feasible value, or minus the hypervolume: the less the better; nan for nothing."""
    if not rows:
        return np.nan
    verdict = judge(spec, Store.open(spec.path), 0, rows)
    goals = verdict.values[verdict.feasible] * spec.signs
    if not len(goals):
        return np.nan
    return float(goals.min()) if goals.shape[1] == 1 else -hypervolume(goals, WORST[name])


def run(name, kind, seed, options):
    """One line of a race."""
    with tempfile.TemporaryDirectory() as folder:
        words = [name, kind, str(seed), folder, str(options.seconds), str(options.workers)]
        words = [sys.executable, "-m", __spec__.name, "one", *words, str(time.time())]
        subprocess.run(words, check=True, capture_output=True)
        lines = Path(f"{folder}/rows").read_text().splitlines()
        seen = np.array([list(map(float, line.split())) for line in lines]).reshape(-1, 2)
        line = {"study": name, "sampler": kind, "seed": seed, "load": os.getloadavg()[0]}
        for look in (x for x in LOOKS if x <= options.seconds):
            last = seen[seen[:, 0] <= look, 1]
            if kind == "cmaes":
                line[f"{look:g}"] = float(last.min()) if last.size else None
                continue
            rows = int(last.max()) if last.size else 0
            spec = job(name, kind, seed, f"{folder}/run.zarr")
            line[f"{look:g}"] = found(spec, name, rows)
            line[f"rows {look:g}"] = rows
        return line


def race(options):
    for name in options.studies.split(","):
        for seed in range(options.seeds):
            for kind in options.kinds.split(","):
                if kind == "cmaes" and name != "four-bar":
                    continue  # one objective
                print(json.dumps(run(name, kind, seed, options)), flush=True)


def table(options):
    """Medians over seeds, and in how many the value is within 1 % of the best of all."""
    lines = [json.loads(line) for line in Path(options.results).read_text().splitlines()]
    for name in dict.fromkeys(line["study"] for line in lines):
        mine = [line for line in lines if line["study"] == name]
        for look in (f"{x:g}" for x in LOOKS):
            here = [line for line in mine if line.get(look) is not None]
            least = min((line[look] for line in here), default=np.nan)
            for kind in KINDS:
                values = [line[look] for line in here if line["sampler"] == kind]
                if values:
                    near = sum(value <= least + 0.01 * abs(least) for value in values)
                    print(name, look, kind, round(float(np.median(values)), 6), near, len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(required=True)
    racing = kinds.add_parser("race")
    racing.add_argument("--studies", default="four-bar,quick-return,3-rrr,dwell")
    racing.add_argument("--kinds", default=",".join(KINDS))
    racing.add_argument("--seeds", type=int, default=10)
    racing.add_argument("--seconds", type=float, default=60.0)
    racing.add_argument("--workers", type=int, default=2)
    racing.set_defaults(run=race)
    single = kinds.add_parser("one")
    for word, kind in (("study", str), ("kind", str), ("seed", int), ("folder", str)):
        single.add_argument(word, type=kind)
    for word, kind in (("seconds", float), ("workers", int), ("begun", float)):
        single.add_argument(word, type=kind)
    single.set_defaults(run=lambda it: (by_cmaes if it.kind == "cmaes" else one)(it))
    shown = kinds.add_parser("table")
    shown.add_argument("results")
    shown.set_defaults(run=table)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
