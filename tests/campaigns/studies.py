"""Design studies at length: the figures of docs/campaigns.md, one command each.

    python -m tests.campaigns.studies optimum --seeds 10 --trials 2000
    python -m tests.campaigns.studies batches --seeds 5 --trials 500
    python -m tests.campaigns.studies volumes --seeds 20 --trials 300
    python -m tests.campaigns.studies overhead --trials 2000
    python -m tests.campaigns.studies front --sampler nsga2 --trials 500 --seeds 5
    python -m tests.campaigns.studies front --study quick-return --sampler nsga2 --trials 500
    python -m tests.campaigns.studies kills --kills 20 --trials 200

Times are CPU where it says so; ratios are of the same run.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
from optuna.trial import TrialState
from scipy.stats import qmc

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.store import Store
from tests.oracles.four_bar_design import designs
from tests.workflows.study_specs import study_from
from workflows.studies import ask_tell_log as journals
from workflows.studies.feasibility import Verdict, judge, weigh
from workflows.studies.gradients import column
from workflows.studies.rows import Rows
from workflows.studies.sampler_kinds import kind_of
from workflows.studies.spec import Sampler
from workflows.studies.study import load_job, study

BOUNDS = {"lx1": (0.2, 0.6), "lx3": (1.0, 1.6), "Dx": (0.6, 1.4)}
STROKE = np.radians(40)


def job(folder, name="study", **others):
    """The shipped study's question, less its bound on the condition (not active at the best)."""
    return study_from(
        "four-bar",
        BOUNDS,
        **{
            "objectives": {"torque_rms": "minimize"},
            "constraints": ["stroke(D) >= 40 deg"],
            "trials": 2000,
            "store": f"{folder}/{name}.zarr",
        }
        | others,
    )


# Optimum


def brute_force(count):
    """Least feasible torque of so many designs of a Sobol sequence, by triangles and energy."""
    points = qmc.Sobol(3, seed=0).random(count)
    low, high = np.array(list(BOUNDS.values())).T
    best, where = np.inf, None
    for part in np.array_split(qmc.scale(points, low, high), max(1, count // 20000)):
        torque, swing = designs(*part.T, start=0.59341194567807205)  # 34 degrees
        torque = np.where(swing >= STROKE, torque, np.inf)
        torque = np.where(np.isfinite(torque), torque, np.inf)
        if torque.min() < best:
            best, where = float(torque.min()), part[torque.argmin()].tolist()
    return best, where


#: Trials between two looks.
PIECE = 100


def optimum(options):
    """Trials until a study is within 1 % of the best of a brute force, by seed."""
    best, where = brute_force(options.designs)
    print(json.dumps({"brute force": options.designs, "best": best, "at": where}), flush=True)
    with tempfile.TemporaryDirectory() as folder, connect(Laptop(workers=options.workers)) as it:
        for seed in range(options.seeds):
            whole = job(
                folder,
                f"seed{seed}",
                trials=options.trials,
                seed=seed,
                sampler=options.sampler,
                batch=options.batch,
            )
            begun = time.monotonic()
            # Prolonged until it is there: the same trials as in one run of all.
            for trials in range(PIECE, options.trials + 1, PIECE):
                spec = whole.of(trials)
                study(spec, it)
                verdict = judge(spec, Store.open(spec.path), 0, spec.trials)
                values = np.where(verdict.feasible, verdict.values[:, 0], np.inf)
                within = np.flatnonzero(values <= 1.01 * best)
                if within.size:
                    break
            line = {
                "trials": trials,
                "seed": seed,
                "best": float(values.min()),
                "above": float(values.min() / best - 1),
                "first within 1 %": int(within[0]) + 1 if within.size else None,
                "seconds": round(time.monotonic() - begun, 1),
            }
            print(json.dumps(line), flush=True)


# Batches


def by_triangles(spec, values):
    """A verdict without the program's evaluation."""
    torque, swing = designs(*values.T, start=0.59341194567807205)
    good = np.isfinite(torque) & np.isfinite(swing)
    missed = np.where(good, (STROKE - swing) / (STROKE + np.abs(swing)), 0.0)
    return Verdict(
        values,
        {},
        np.where(good, torque, np.inf)[:, None],
        np.column_stack([np.where(good, 0.0, 2.0), missed]),
        np.ones(len(values), bool),
    )


def batches(options):
    """Best after so many trials by batch, medians over seeds; the sampler's own CPU time."""
    for kind in options.samplers.split(","):
        for batch in map(int, options.sizes.split(",")):
            bests, seconds = [], []
            for seed in range(options.seeds):
                with tempfile.TemporaryDirectory() as folder:
                    spec = job(folder, trials=options.trials, batch=batch, sampler=kind, seed=seed)
                    begun = time.process_time()
                    with journals.opened(spec) as journal:
                        best = _played(spec, journal)
                    seconds.append(time.process_time() - begun)
                    bests.append(best)
            line = {
                "sampler": kind,
                "batch": batch,
                "best": [round(float(x), 3) for x in np.quantile(bests, (0, 0.5, 1))],
                "cpu": round(float(np.median(seconds)), 1),
            }
            print(json.dumps(line), flush=True)


def _played(spec, journal):
    best = np.inf
    for start in range(0, spec.trials, spec.batch):
        stop = min(start + spec.batch, spec.trials)
        values = journal.ask(start, stop, np.full((stop - start, 3), np.nan))
        verdict = by_triangles(spec, values)
        journal.tell(start, verdict)
        best = min(best, np.where(verdict.feasible, verdict.values[:, 0], np.inf).min())
    return best


# Overhead


class Clock:
    """Adds up the wall time that is spent inside functions, inner calls once."""

    def __init__(self):
        self.seconds, self.depth = 0.0, 0

    def wrap(self, owner, name):
        real = getattr(owner, name)

        def timed(*arguments, **others):
            self.depth += 1
            begun = time.perf_counter()
            try:
                return real(*arguments, **others)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += time.perf_counter() - begun

        setattr(owner, name, timed)


def overhead(options):
    """A random study: wall time beyond what is spent inside Optuna, in the same run."""
    clock = Clock()
    for owner, names in (
        (optuna.Study, ("ask", "tell", "get_trials", "add_trials")),
        (optuna.trial.Trial, ("__init__", "set_constraint")),
        (optuna.samplers.RandomSampler, ("sample_independent",)),
        (optuna, ("create_study", "load_study", "get_all_study_names")),
    ):
        for name in names:
            clock.wrap(owner, name)
    before = Clock()  # the mechanism's analysis, kernels read from their cache, the store made
    before.wrap(Rows, "open")
    with tempfile.TemporaryDirectory() as folder, connect(Laptop(workers=options.workers)) as it:
        study(job(folder, "warm", trials=options.workers * 8, sampler="random", batch=8), it)
        for kind in options.samplers.split(","):
            spec = job(folder, kind, trials=options.trials, sampler=kind, batch=options.batch)
            clock.seconds = before.seconds = 0.0
            cpu, begun = time.process_time(), time.monotonic()
            result = study(spec, it)
            wall = time.monotonic() - begun
            line = {
                "sampler": kind,
                "trials": spec.trials,
                "batch": spec.batch,
                "wall": round(wall, 2),
                "in Optuna": round(clock.seconds, 2),
                "preparing": round(before.seconds, 2),
                "beyond, of Optuna's": round(wall / clock.seconds - 1, 3),
                "without preparing": round((wall - before.seconds) / clock.seconds - 1, 3),
                "evaluating": round(result.summary.seconds, 2),
                "driver's CPU": round(time.process_time() - cpu, 2),
            }
            print(json.dumps(line), flush=True)


# Two objectives

FRONT = {"torque_rms": "minimize", "stroke(D)": "maximize"}
REFERENCE = (14.0, 0.0)  # N m, rad


def to_minimize(spec, verdict):
    """(variant, objective) of the feasible ones; less is better."""
    return verdict.values[verdict.feasible] * spec.signs


def hypervolume(points, worst=REFERENCE):
    """Area between points (point, objective) and the worst; less is better."""
    points = points[(points < worst).all(axis=1)]
    area, floor = 0.0, worst[1]
    for x, y in points[np.argsort(points[:, 0])]:
        if y < floor:
            area += (worst[0] - x) * (floor - y)
            floor = y
    return area


def volumes(options):
    """Hypervolume after so many trials by batch, mean and spread over seeds, by triangles."""
    for batch in map(int, options.sizes.split(",")):
        found, seconds = [], time.process_time()
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                others = {"objectives": FRONT, "constraints": [], "seed": seed}
                others |= {"trials": options.trials, "batch": batch, "sampler": options.sampler}
                spec = job(folder, **others)
                with journals.opened(spec) as journal:
                    found.append(hypervolume(_front_played(spec, journal)))
        line = {
            "sampler": options.sampler,
            "batch": batch,
            "mean": round(float(np.mean(found)), 3),
            "deviation": round(float(np.std(found, ddof=1)), 3),
            "each": np.round(found, 3).tolist(),
            "cpu of a study": round((time.process_time() - seconds) / options.seeds, 1),
        }
        print(json.dumps(line), flush=True)


def _front_played(spec, journal):
    points = []
    for start in range(0, spec.trials, spec.batch):
        stop = min(start + spec.batch, spec.trials)
        values = journal.ask(start, stop, np.full((stop - start, 3), np.nan))
        torque, swing = designs(*values.T, start=0.59341194567807205)
        good = np.isfinite(torque) & np.isfinite(swing)
        found = np.where(good[:, None], np.column_stack([torque, swing]), [np.inf, -np.inf])
        closing = np.where(good, 0.0, 2.0)[:, None]
        verdict = Verdict(values, {}, found, closing, np.ones(len(values), bool))
        journal.tell(start, verdict)
        points.append(to_minimize(spec, verdict))
    return np.concatenate(points)


def one_by_one(spec, evaluator):
    """The same sampler, told each trial before it is asked for the next; the chunk function."""
    verdicts = []
    with journals.opened(spec) as journal:
        for row in range(spec.trials):
            values = journal.ask(row, row + 1, np.full((1, len(spec.names)), np.nan))
            columns = dict(zip(spec.names, values.T, strict=True))
            arrays = evaluator(columns, np.ones(1, bool))
            results = {name: column(evaluator, arrays, name) for name in spec.results}
            fate = (arrays[name] for name in ("status", "reason", "reason_value"))
            verdicts.append(weigh(spec, columns, results, *fate))
            journal.tell(row, verdicts[-1])
    whole = {
        name: np.concatenate([getattr(one, name) for one in verdicts])
        for name in ("parameters", "values", "violations", "settled")
    }
    return Verdict(results={}, **whole)


def front(options):
    """Two objectives: batches on workers against one at a time, the same sampler and trials."""
    with tempfile.TemporaryDirectory() as folder, connect(Laptop(workers=options.workers)) as it:
        study(job(folder, "warm", trials=8, batch=8, sampler="random", objectives=FRONT), it)
        lines = []
        for seed in range(options.seeds):
            spec = question(options, seed, f"{folder}/batch{seed}.zarr", options.batch)
            begun = time.monotonic()
            study(spec, it)
            wall = time.monotonic() - begun
            found = to_minimize(spec, judge(spec, Store.open(spec.path), 0, spec.trials))
            fed = {"population_size": spec.batch} if "nsga" in options.sampler else {}
            single = question(options, seed, f"{folder}/single{seed}.zarr", 1, fed)
            begun = time.monotonic()
            evaluator = prepare(single.sweep)
            evaluator.warm(single.swept)
            other = to_minimize(single, one_by_one(single, evaluator))
            alone = time.monotonic() - begun
            both = np.concatenate([found, other])
            low, high = both.min(axis=0), both.max(axis=0)  # of the four-bar: known beforehand
            shift, size = (0.0, 1.0) if not options.study else (low, high - low)
            worst = REFERENCE if not options.study else (1.0, 1.0)
            areas = [hypervolume((one - shift) / size, worst) for one in (found, other)]
            lines.append((areas[0] / areas[1], alone / wall))
            line = {
                "seed": seed,
                "batch": spec.batch,
                "hypervolume, batches": round(areas[0], 4),
                "one at a time": round(areas[1], 4),
                "ratio": round(lines[-1][0], 4),
                "wall, batches": round(wall, 2),
                "wall, one at a time": round(alone, 2),
                "times less": round(lines[-1][1], 2),
            }
            print(json.dumps(line), flush=True)
        mean, spread = np.mean(lines, axis=0), np.std(lines, axis=0, ddof=1)
        line = {"hypervolume's ratio": mean[0], "±": spread[0], "times less": mean[1]}
        print(json.dumps({key: round(float(value), 3) for key, value in line.items()}), flush=True)


def question(options, seed, path, batch, fed=None):
    """The four-bar's, or a shipped study's with another sampler."""
    sampler = Sampler(options.sampler, seed, tuple((fed or {}).items()))
    others = {"trials": options.trials, "batch": batch, "sampler": sampler}
    if not options.study:
        objectives = {"objectives": FRONT, "constraints": []}
        return job(Path(path).parent, Path(path).stem, **objectives | others)
    if not batch:
        others["batch"] = kind_of(options.sampler).batch
    return replace(load_job(options.study, path), chunk=0, **others)


# Kills


def driver(options):
    """What is killed: a study from beginning to end."""
    spec = job(options.folder, **json.loads(options.others))
    with connect(Laptop(workers=1)) as it:
        study(spec, it)


def trials_of(spec):
    """By Optuna alone."""
    name = spec.storage
    if "://" not in name:
        backend = optuna.storages.journal.JournalFileBackend(name)
        name = optuna.storages.JournalStorage(backend)
    return optuna.load_study(study_name=spec.name, storage=name).trials


def kills(options):
    """SIGKILL at random moments of one study, run again and again until it ends."""
    for kind in options.storages.split(","):
        with tempfile.TemporaryDirectory() as folder:
            others = {"trials": options.trials, "sampler": options.sampler, "seed": 3, "batch": 10}
            there = Path(folder) / "killed"
            there.mkdir()
            if kind == "sqlite":
                others["storage"] = f"sqlite:///{there}/study.db"
            done = _killed(there, others, options.kills)
            (Path(folder) / "whole").mkdir()
            whole = job(Path(folder) / "whole", **others | {"storage": ""})
            with connect(Laptop(workers=1)) as it:
                study(whole, it)
            spec = job(there, **others)
            found, expected = trials_of(spec), trials_of(whole)
            alike = [
                (one.params, one.values, one.constraints, one.state)
                == (other.params, other.values, other.constraints, other.state)
                for one, other in zip(found, expected, strict=True)
            ]
            line = {
                "storage": kind,
                "kills": done,
                "trials": len(found),
                "finished": sum(one.state == TrialState.COMPLETE for one in found),
                "same": sum(alike),
                "distinct": len({tuple(one.params.items()) for one in found}),
                "told twice": _told_twice(spec),
            }
            print(json.dumps(line), flush=True)


def _killed(folder, others, wanted):
    """Kills at random moments, one in each equal part of the run: how many before it ended."""
    steps = STEPS + 10 * (others["sampler"] == "tpe")  # which keeps a note of its own per trial
    part = steps * others["trials"] / 10 / wanted
    rng, done, command = random.Random(1), 0, [sys.executable, "-m", "tests.campaigns.studies"]
    before = 0
    command += ["driver", "--folder", str(folder), "--others", json.dumps(others)]
    while True:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done >= wanted:
            assert child.wait() == 0
            return done
        # At a random point, whether parameters or results are written.
        name = others.get("storage", f"{folder}/study.journal").removeprefix("sqlite:///")
        before = max(before, _steps(name))  # 0 for a database that must be mended first
        moment = max(before + 1, (done + rng.random()) * part)
        while child.poll() is None and _steps(name) < moment:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.1))
        if child.poll() is not None:
            return done
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        done += 1
        before = max(before, _steps(name))
        print(
            f"kill {done} with {before / steps:.2f} batches written", file=sys.stderr, flush=True
        )


#: Steps of a batch of ten: three parameters, two constraints and an end for each trial.
STEPS = 60


def _steps(name):
    """How far a study is: parameters, constraints and ends of trials that are written."""
    if not Path(name).exists():
        return 0
    if name.endswith(".db"):
        with closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=0.1)) as base:
            try:
                return sum(
                    base.execute(f"select count(*) from {table}").fetchone()[0]
                    for table in ("trial_params", "trial_system_attributes", "trial_values")
                )
            except sqlite3.OperationalError:  # locked, or not made yet
                return 0
    lines = Path(name).read_bytes().splitlines()
    return sum(f'"op_code":{op},'.encode() in line for line in lines for op in (5, 6, 9))


def _told_twice(spec):
    """How many trials were finished more than once, by the journal's lines."""
    if "://" in spec.storage:
        return None  # a database has no history
    lines = [json.loads(line) for line in Path(spec.storage).read_text().splitlines()]
    told = Counter(line["trial_id"] for line in lines if line["op_code"] == 6)
    return sum(count > 1 for count in told.values())


def main(arguments=None):
    warnings.filterwarnings("ignore", message="The balance properties of Sobol")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, function, defaults in (
        ("optimum", optimum, {"sampler": "tpe", "batch": 0, "trials": 2000, "seeds": 10}),
        ("batches", batches, {"trials": 500, "seeds": 5}),
        ("overhead", overhead, {"trials": 2000, "batch": 0}),
        ("front", front, {"sampler": "nsga2", "batch": 0, "trials": 500, "seeds": 3}),
        ("volumes", volumes, {"sampler": "tpe", "trials": 300, "seeds": 20}),
        ("kills", kills, {"sampler": "tpe", "trials": 300, "kills": 20}),
        ("driver", driver, {"folder": "", "others": "{}"}),
    ):
        one = commands.add_parser(name)
        one.set_defaults(function=function)
        for option, value in defaults.items():
            one.add_argument(f"--{option}", type=type(value), default=value)
        one.add_argument("--workers", type=int, default=1)
        one.add_argument("--designs", type=int, default=1_000_000)
        one.add_argument("--samplers", default="random" if name == "overhead" else "tpe")
        one.add_argument("--study", default="")
        one.add_argument("--sizes", default="5,10,20,50,100")
        one.add_argument("--storages", default="journal,sqlite")
    options = parser.parse_args(arguments)
    options.function(options)


if __name__ == "__main__":
    main()
