"""Screening against Optuna's samplers on the shipped studies, at equal time.

    python -m tests.campaigns.race run RESULTS.jsonl --seeds 10 --seconds 60
    python -m tests.campaigns.race table RESULTS.jsonl

Every run is a process of its own with one worker (or `--workers`), which begins as the command
does. Its clock runs from the process's start on: imports, workers, the mechanism's analysis,
asking, evaluating, descents, writing. It is wall time, of a machine with an idle core for every
run; or with `--clock processor` the processor time of this process and of all that it started, so
that load favours nobody.
What the store held when the clock passed a look is judged afterwards. Kernels are compiled before,
as after a first run of any study. CMA-ES, which takes no constraints, asks in the process that
evaluates, which spares it a worker's start, and is told infeasible designs with a penalty.

A line of RESULTS is a run; those that are there are not run again. Seeds are outermost: what is
there at any moment is of as many seeds for all. A table is of one clock and number of workers.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks import prepare
from sweeps.store import Store
from workflows.studies.feasibility import dominated, judge, weigh
from workflows.studies.gradients import column
from workflows.studies.spec import Sampler
from workflows.studies.study import load_job, study
from workflows.studies.study import run as run_study

LOOKS = (5.0, 20.0, 60.0)
#: Time within which screening is to be near the optimum, and how near.
SOON, NEAR = 10.0, 0.01
#: What two values may differ by and be the same: 1e-6 of them is below what a drawing states.
TIE = 1e-6
#: The studies that are screened where their file names no sampler. Of those with two objectives
#: the corner of the hypervolume, SI: beyond both ends of the front, or where one goes on beyond
#: all use (straight-line: errors above 1 mm; dwell-slide: above the own design's 7 mm).
STUDIES = {
    "four-bar": None,
    "wiper": None,
    "quick-return": (14.0, 11.5),
    "3-rrr": (120.0, 5.5),
    "straight-line": (1e-3, 0.5),
    "dwell-slide": (7e-3, 0.5),
    "press": (5e-3, 20.0),
    "jansen": (0.5e-3, 12e-3),
}
SAMPLERS = ("screen", "tpe", "nsga2", "cmaes", "gp")
#: No run gets so far within a minute.
TRIALS = 65_536
#: Seconds between looks at which processes there are.
PROCESSES = 2.0


def job(name, kind, seed, store):
    """A shipped study with another sampler, in the sampler's usual batches."""
    one = load_job(name, store)
    return replace(one, sampler=Sampler(kind, seed), batch=0, chunk=0, trials=TRIALS)


class Clock:
    """Wall time since this process began, or processor time of it and of all below it; but for
    what is spent in `write`. When it began is told by who started it, by the clock of all
    processes: the system counts that from its own start, which it knows in whole seconds."""

    def __init__(self, options):
        self.file = os.open(f"{options.folder}/lines", os.O_WRONLY | os.O_CREAT)
        self.seconds, self.clock, self.begun = options.seconds, options.clock, options.begun
        self.own, self.family, self.known = 0.0, [], 0.0

    def write(self, value):
        """A line of time and value; over when the time is."""
        begun = time.thread_time()
        now = self.read()
        os.write(self.file, f"{now} {value}\n".encode())
        if now > self.seconds:
            os._exit(0)
        self.own += time.thread_time() - begun

    def read(self):
        if self.clock == "wall":
            return time.monotonic() - self.begun - self.own
        if time.monotonic() - self.known > PROCESSES:
            self.known = time.monotonic()
            self.family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        total = 0.0
        for process in self.family:
            with contextlib.suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                total += used.user + used.system + used.children_user + used.children_system
        return total - self.own


def one(options):
    """A run: lines of time and rows, until its time is over."""
    spec = job(options.study, options.kind, options.seed, f"{options.folder}/run.zarr")
    clock = Clock(options)
    run_study(spec, Laptop(options.workers), lambda advance: clock.write(advance.done))


def by_cmaes(options):
    """CMA-ES by Optuna's ask and tell: as `one`, values instead of rows."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spec = job(options.study, "random", options.seed, f"{options.folder}/run.zarr")
    clock = Clock(options)
    evaluator, best = prepare(spec.sweep), np.inf
    sampler = optuna.samplers.CmaEsSampler(seed=options.seed, popsize=20)
    asked = optuna.create_study(sampler=sampler)
    while True:
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
        clock.write(best)


def course(spec, lines, worst):
    """(time, value) whenever it got better: the best, or minus the hypervolume."""
    from .studies import hypervolume  # imports what runs do without

    rows = int(lines[:, 1].max(initial=0))
    verdict = judge(spec, Store.open(spec.path), 0, rows) if rows else None
    found, front, before = [], np.empty((0, len(spec.objectives))), 0
    for moment, count in lines:
        new = slice(before, int(count))
        before = max(before, int(count))
        goals = verdict.values[new][verdict.feasible[new]] * spec.signs
        if not len(goals):
            continue
        front = np.concatenate([front, goals])
        if worst is None:
            value = float(front.min())
        else:
            front = front[~dominated(front)]
            value = -hypervolume(front, worst)
        if (not found or value < found[-1][1]) and (worst is None or value < 0):
            found.append((round(float(moment), 2), value))
    return found


def run(name, kind, seed, options):
    """One line of a race."""
    seconds, clock = options.seconds, options.clock
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [name, kind, seed, folder, seconds, clock, options.workers, begun]
        words = [sys.executable, "-m", f"{__package__}.race_run", *map(str, words)]
        process = subprocess.Popen(
            words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        said = []
        reader = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)
        reader.start()
        status = process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its worker
        reader.join(5)
        if status:
            raise SystemExit(f"{words}: {b''.join(said).decode()}")
        wall = time.monotonic() - begun
        text = Path(f"{folder}/lines").read_text().splitlines()
        lines = np.array([list(map(float, line.split())) for line in text]).reshape(-1, 2)
        line = {"study": name, "sampler": kind, "seed": seed, "seconds": seconds, "clock": clock}
        line |= {"workers": options.workers, "wall": round(wall, 1)}
        line |= {"load": round(os.getloadavg()[0], 1)}
        if kind == "cmaes":
            found = [(round(t, 2), v) for t, v in lines.tolist() if np.isfinite(v)]
            better = np.minimum.accumulate([v for _, v in found])
            return line | {
                "course": [p for k, p in enumerate(found) if not k or p[1] < better[k - 1]]
            }
        spec = job(name, kind, seed, f"{folder}/run.zarr")
        rows = {f"{x:g}": int(lines[lines[:, 0] <= x, 1].max(initial=0)) for x in LOOKS}
        return line | {"rows": rows, "course": course(spec, lines, STUDIES[name])}


def is_run(name, kind):
    """CMA-ES takes one objective."""
    return kind != "cmaes" or STUDIES[name] is None


def identity(line):
    return tuple(line[x] for x in ("study", "sampler", "seed", "seconds", "clock", "workers"))


def race(options):
    path = Path(options.results)
    done = {identity(x) for x in read(path)} if path.exists() else set()
    for name in options.studies.split(","):  # kernels
        with (
            tempfile.TemporaryDirectory() as folder,
            connect(Laptop(workers=1)) as client,
        ):
            study(replace(job(name, "screen", 0, f"{folder}/warm.zarr"), trials=256), client)
    for seed in range(options.seeds):
        for name in options.studies.split(","):
            for kind in options.samplers.split(","):
                asked = {"study": name, "sampler": kind, "seed": seed} | vars(options)
                if identity(asked) in done or not is_run(name, kind):
                    continue
                line = json.dumps(run(name, kind, seed, options))
                with path.open("a", encoding="utf-8") as file:
                    print(line, file=file)


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def value(line, moment):
    """What a run had by then; ∞ for nothing."""
    return min((v for t, v in line["course"] if t <= moment), default=np.inf)


def table(options):
    """Medians at each time, whether screening's is no worse, and how often it is soon near."""
    lines = longest(read(options.results))
    print("| study | seeds | time, s |", " | ".join(SAMPLERS), "| no worse |")
    print("|---" * (len(SAMPLERS) + 4) + "|")
    for name in [one for one in STUDIES if any(line["study"] == one for line in lines)]:
        here = [line for line in lines if line["study"] == name]
        for look in LOOKS:
            row = compared(name, [line for line in here if line["seconds"] >= look], look)
            if row:
                print(row)
        least = min(value(line, np.inf) for line in here)
        mine = [value(line, SOON) for line in here if line["sampler"] == "screen"]
        near = sum(one <= least + NEAR * abs(least) for one in mine)
        print(f"{name}: within 1 % of {shown(least)} within {SOON:g} s: {near} of {len(mine)}")


def longest(lines):
    """Of each study, sampler and seed the longest run; all with one clock and as many workers."""
    kinds = {(line["clock"], line["workers"]) for line in lines}
    if len(kinds) > 1:
        raise SystemExit(f"runs that do not compare, (clock, workers): {sorted(kinds)}")
    lines = sorted(lines, key=lambda line: line["seconds"])
    return list({(x["study"], x["sampler"], x["seed"]): x for x in lines}.values())


def compared(name, lines, look):
    """A row of the table: medians over the seeds that all samplers have."""
    each = [{x["seed"] for x in lines if x["sampler"] == kind} for kind in SAMPLERS]
    seeds = set.intersection(*[one for one in each if one] or [set()])
    lines = [line for line in lines if line["seed"] in seeds]
    medians = {
        kind: float(np.median(values))
        for kind in SAMPLERS
        if (values := [value(x, look) for x in lines if x["sampler"] == kind])
    }
    if "screen" not in medians:
        return ""
    rest = [median for kind, median in medians.items() if kind != "screen"]
    others = min(rest, default=np.nan)
    good = medians["screen"] <= others + TIE * abs(others) if np.isfinite(others) else bool(rest)
    cells = " | ".join(shown(medians.get(kind)) for kind in SAMPLERS)
    return f"| {name} | {len(seeds)} | {look:g} | {cells} | {good} |"


def shown(number):
    """A value; a hypervolume without its sign."""
    if number is None:
        return ""
    return f"{abs(number):.7g}" if np.isfinite(number) else "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(required=True)
    racing = kinds.add_parser("run")
    racing.add_argument("results")
    racing.add_argument("--studies", default=",".join(STUDIES))
    racing.add_argument("--samplers", default=",".join(SAMPLERS))
    racing.add_argument("--seeds", type=int, default=10)
    racing.add_argument("--seconds", type=float, default=20.0)
    racing.add_argument("--clock", choices=("wall", "processor"), default="wall")
    racing.add_argument("--workers", type=int, default=1)
    racing.set_defaults(run=race)
    printed = kinds.add_parser("table")
    printed.add_argument("results")
    printed.set_defaults(run=table)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
