"""Sweeps by parts: killed, asked to leave, counted in CPU, looked at while they are large.

`million`: 10⁶ four-bars in 1,000 parts, two processes at a time. Of each 1,000 a process is begun
that has the program loaded (a copy of this one, so that kills meet the work and not its start);
30 % get SIGKILL at a random moment of it and are run again. Then `--finish` by the command, and
every file of results must equal the one of the driver's store, byte for byte.

`leave`: the command, as often as asked, on one store; SIGTERM at a random moment of a chunk that
takes about a second. Exit status 4, every chunk that is written has its record, none that was
there is lost; the last run does the rest, and the files equal the driver's.

`cpu`: the same variants by the driver's way and by parts of 5 and 30 s of work, by commands, CPU
of all their processes.

`status`: a store of 10⁸ variants and 10⁶ chunks of which some are done, by `basepar status`:
seconds and its peak memory. `halves`: of each of 1,000 parts the first chunks, added up as the
processes do that are at them; `anywhere`: chunks anywhere, and no sums.

    python -m tests.campaigns.parts million FOLDER
    python -m tests.campaigns.parts leave FOLDER TIMES
    python -m tests.campaigns.parts cpu FOLDER
    python -m tests.campaigns.parts status FOLDER halves|anywhere DONE
"""

import contextlib
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sweeps.chunks.evaluator import prepare
from sweeps.run import here
from sweeps.run.filling import Filling
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store, check_and_repair, claims, facts
from sweeps.store import status as survey
from sweeps.store.statuses import Status

SWEEP = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.6], lx2: [0.5, 0.9], ly2: [0.9, 1.3], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: %d
  seed: 7
evaluate: {rank: auto, metrics: [torque_rms, torque_peak]}
store: {chunk: %d}
"""
COMMAND = [sys.executable, "-m", "workflows.cli.main"]
ENVIRONMENT = os.environ | {"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"}


def called(*words: str, status: int = 0) -> float:
    """CPU seconds of a command and its children, in s."""
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # orphans are ours (a child subreaper)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([*COMMAND, *words], env=ENVIRONMENT, capture_output=True, text=True)
    assert ran.returncode == status, ran.stderr
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def made(folder: Path, variants: int, chunk: int) -> str:
    """A sweep's file in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "sweep.yaml").write_text(SWEEP % (variants, chunk))
    return str(folder / "sweep.yaml")


def differing(one: Path, other: Path) -> tuple[int, int]:
    """Files of results of two stores, and how many of them differ or are in one only."""
    names = [
        {str(f.relative_to(path)) for f in path.rglob("*") if f.is_file() and "/c/" in str(f)}
        for path in (one, other)
    ]
    unequal = sum((one / n).read_bytes() != (other / n).read_bytes() for n in names[0] & names[1])
    return len(names[1]), unequal + len(names[0] ^ names[1])


def million(folder: Path, variants: int = 1_000_000, parts: int = 1000) -> dict[str, Any]:
    """Parts that are killed and run again, against the driver."""
    file = made(folder, variants, variants // parts)
    whole, path = folder / "whole.zarr", folder / "parts.zarr"
    begun = time.monotonic()
    driver = called("sweep", file, "--store", str(whole), "--workers", "2", "--quiet")
    seconds = time.monotonic() - begun
    spec = parse_sweep(Path(file).read_text()).at(str(path))
    evaluator = prepare(spec)
    evaluator.warm(spec.plan.names)
    here.prepare(spec, evaluator=evaluator, precise=evaluator.precise)
    filling = partial(Filling.of, spec, evaluator, evaluator.precise)
    begun, chance = time.monotonic(), random.Random(1)
    waiting = [(n, chance.random() < 0.3) for n in range(1, parts + 1)]
    chance.shuffle(waiting)
    flying: dict[int, tuple[int, float]] = {}
    killed, again, usual = 0, 0, 0.3
    while waiting or flying:
        while waiting and len(flying) < 2:
            number, doomed = waiting.pop()
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    found = here.part(spec, number, parts, filling=filling)
                    code = 4 if found.stopped else 0
                finally:
                    os._exit(code)
            end = time.monotonic() + chance.random() * usual if doomed else np.inf
            flying[pid] = number, end
        for pid, (number, end) in list(flying.items()):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                flying[pid] = number, np.inf
            done, code = os.waitpid(pid, os.WNOHANG)
            if done:
                del flying[pid]
                ended = os.waitstatus_to_exitcode(code)
                assert ended in (0, -signal.SIGKILL), ended
                if ended:
                    killed += 1
                    waiting.insert(chance.randrange(len(waiting) + 1), (number, False))
                    again += 1
        time.sleep(0.002)
    took = time.monotonic() - begun
    left = claims.found(Store.open(path).objects)
    called("sweep", file, "--store", str(path), "--finish", "--quiet")
    count, unequal = differing(path, whole)
    return {
        "driver_s": round(seconds, 1),
        "driver_cpu": round(driver, 1),
        "parts_s": round(took, 1),
        "killed": killed,
        "run_again": again,
        "claims_left": len(left),
        "files": count,
        "differ": unequal,
        "damage": len(check_and_repair.find(path)),
    }


def leave(folder: Path, times: int, chunk: int = 24_000) -> Iterator[dict[str, Any]]:
    """The command is asked to leave in the midst of a chunk, again and again."""
    chance, chunks = random.Random(2), 4 * times
    file = made(folder, chunks * chunk, chunk)
    path = folder / "parts.zarr"
    words = ["sweep", file, "--store", str(path), "--quiet"]
    called(*words, "--prepare")
    held = Store.open(path)
    records = held.records()
    for number in range(times):
        before = set(records.numbers(0, chunks))
        part = subprocess.Popen(
            [*COMMAND, *words, "--part", "1/1", "--json"],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        )
        while len(records.numbers(0, chunks)) == len(before):  # one is done: it is at work
            time.sleep(0.01)
            assert part.poll() is None
        time.sleep(chance.random() * 1.2)
        seen, asked = set(records.numbers(0, chunks)), time.monotonic()
        part.send_signal(signal.SIGTERM)
        told = json.loads(part.communicate()[0])
        after = set(records.numbers(0, chunks))
        yield {
            "time": number,
            "status": part.returncode,
            "seconds": round(time.monotonic() - asked, 2),
            "evaluated": told["evaluated"] // chunk,
            "new": len(after - before),
            "after_the_signal": len(after - seen),
            "lost": len(seen - after),
            "half_written": len(held.objects.chunks("status", 1) ^ after),
            "claims": len(claims.found(held.objects)),
        }
    yield {"damage": len(check_and_repair.find(path)), "chunks": len(after)}


def cpu(folder: Path, total: float = 120.0) -> dict[str, Any]:
    """CPU of parts against the driver's."""
    trial = 200_000
    file = made(folder / "trial", trial, 4096)
    store = ["--store", str(folder / "trial/x.zarr"), "--quiet"]
    called("sweep", file, *store, "--prepare")
    nothing = called("sweep", file, *store, "--part", "1/49")
    each = (called("sweep", file, *store, "--part", "1/1") - nothing) / trial
    variants = round(total / each / 4096) * 4096
    file, found = made(folder / "all", variants, 4096), {"start_cpu": nothing}
    path = folder / "all/driver.zarr"
    found["driver"] = called("sweep", file, "--store", str(path), "--workers", "2", "--quiet")
    for seconds in (30, 5):
        store, count = ["--store", str(folder / f"all/{seconds}.zarr"), "--quiet"], total / seconds
        called("sweep", file, *store, "--prepare")
        parts = range(1, round(count) + 1)
        spent = [called("sweep", file, *store, "--part", f"{n}/{len(parts)}") for n in parts]
        found[f"parts_{seconds}"] = sum(spent)
        found[f"ratio_{seconds}"] = sum(spent) / found["driver"]
        assert differing(folder / f"all/{seconds}.zarr", path)[1] == 0
    return {"variants": variants} | {key: round(one, 3) for key, one in found.items()}


def status(folder: Path, where: str, done: int, variants: int = 100_000_000) -> dict[str, Any]:
    """A store with records here and there, as its parts would have left it."""
    file, path = made(folder, variants, 100), folder / "large.zarr"
    called("sweep", file, "--store", str(path), "--prepare")
    held, records = Store.open(path, "r+"), Store.open(path).records()
    numbers = np.random.default_rng(3).permutation(records.count)[:done]
    if where == "halves":
        numbers = np.array([n for n in range(records.count) if n % 1000 < done // 1000])
    rows = np.ones(100, np.int8) * Status.SOLVED
    for number in numbers.tolist():
        told = facts.Facts()
        told.statuses[int(rows[0])] = 100
        told.ends["torque_rms"] = facts.Ends(100, 1.0, number * 100, 2.0, number * 100 + 1)
        held.objects.put(records.name(number), records.encode(number, 100, {}, told))
    if where == "halves":
        survey.sum_up(held)
    found: dict[str, Any] = {"chunks": records.count, where: done}
    for how in ("first", "second"):
        begun = time.monotonic()
        pid = os.posix_spawn(
            sys.executable,
            [*COMMAND, "status", str(path), "--json"],
            ENVIRONMENT,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, str(folder / "out"), os.O_CREAT | os.O_WRONLY, 0o644)
            ],
        )
        _, code, used = os.wait4(pid, 0)
        assert code == 0
        counts = json.loads((folder / "out").read_text())["counts"]
        assert counts["solved"] == 100 * done, counts
        found[how] = {
            "seconds": round(time.monotonic() - begun, 2),
            "cpu": round(used.ru_utime + used.ru_stime, 2),
            "peak_MB": round(used.ru_maxrss / 1024),
        }
    return found


def main(arguments: list[str]) -> None:
    match arguments:
        case ["million", folder, *sizes]:
            print(json.dumps(million(Path(folder).absolute(), *map(int, sizes))), flush=True)
        case ["leave", folder, times, *chunk]:
            for line in leave(Path(folder).absolute(), int(times), *map(int, chunk)):
                print(json.dumps(line), flush=True)
        case ["cpu", folder, *total]:
            print(json.dumps(cpu(Path(folder).absolute(), *map(float, total))), flush=True)
        case ["status", folder, where, done]:
            print(json.dumps(status(Path(folder).absolute(), where, int(done))), flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
