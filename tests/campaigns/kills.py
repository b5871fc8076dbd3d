"""A hundred kill -9 at random moments, each followed by the same sweep again.

Driver, worker, scheduler, and a worker in the middle of a write (half of a file is on the disk).
The scheduler and two workers with nannies are processes of their own, as on a cluster; they live
on from kill to kill. After each kill the sweep is run again, and all arrays must equal, bit for
bit, those of a run that nothing disturbed.

    python -m tests.campaigns.kills run 100 FOLDER > kills.jsonl
    python -m tests.campaigns.kills report kills.jsonl
"""

import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import psutil
from xarray import Dataset

from cluster.client import connect
from cluster.dask_settings import ENVIRONMENT
from cluster.places import Address
from sweeps.run.driver import sweep
from sweeps.store import objects, store
from sweeps.store.outputs import Arrays, Columns
from tests.sweeps.fourbar import Digits, FourBar, spec

KINDS = ("driver", "worker", "scheduler", "mid-write")
VARIANTS, CHUNK = 4000, 32
#: A run that neither ends nor fails in this time hangs.
PATIENCE = 300.0


@dataclass(frozen=True)
class Mortal(FourBar):
    """A four-bar whose worker dies in the middle of a write, once, where `fuse` lies."""

    fuse: str = ""

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.fuse, f"{self.fuse}.{os.getpid()}")  # only one worker takes it
            _die_in_write(int(Path(f"{self.fuse}.{os.getpid()}").read_text()))
        return super().__call__(columns, passed)


def _die_in_write(number: int) -> None:
    """Let this process die halfway through the file after so many others."""
    write, left = objects._write, [number]

    def dying(draft: str, content: bytes, file: str) -> None:
        if left[0] == 0:
            write(draft, content[: len(content) // 2], file)
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        write(draft, content, file)

    objects._write = dying


def drive(address: str, path: str, fuse: str) -> None:
    """The driver: a process of its own."""
    evaluator = Mortal(doubtful=0.9, delay=0.02, fuse=fuse)
    with connect(Address(address)) as client:
        summary = sweep(spec(path, VARIANTS, CHUNK), client, evaluator=evaluator, precise=Digits())
    sys.exit(0 if summary.done and not summary.unsettled else 9)


@dataclass
class Machines:
    """A scheduler and two workers with nannies."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: subprocess.Popen[bytes]

    def await_workers(self) -> None:
        """Both are up: who was killed the last time has come back."""
        with connect(Address(self.address, patience=60)) as client:
            client.wait_for_workers(2, timeout=PATIENCE)

    @property
    def pids(self) -> list[int]:
        """Processes that evaluate."""
        children = psutil.Process(self.workers.pid).children(recursive=True)
        return [
            child.pid
            for child in children
            if any("spawn_main" in word for word in child.cmdline())
        ]


def start(folder: Path) -> Machines:
    """A new scheduler and its workers; returns when both are there."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    common = {
        "env": os.environ | ENVIRONMENT | {"PYTHONPATH": ":".join(sys.path)},
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    dask = [sys.executable, "-m"]
    quiet = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    scheduler = subprocess.Popen(
        [
            *(*dask, "distributed.cli.dask_scheduler", *quiet),
            *("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)),
        ],
        **common,
    )
    workers = subprocess.Popen(
        [
            *(*dask, "distributed.cli.dask_worker", *quiet, "--scheduler-file", str(file)),
            *("--nworkers", "2", "--nthreads", "1", "--memory-limit", "1 GB"),
            *("--host", "127.0.0.1", "--death-timeout", "20", "--local-directory", str(folder)),
        ],
        **common,
    )
    until(file.exists)
    found = Machines(json.loads(file.read_text())["address"], scheduler, workers)
    found.await_workers()
    return found


def stop(machines: Machines) -> None:
    """End what is left of them."""
    for process in (machines.workers, machines.scheduler):
        family = [process.pid]
        with contextlib.suppress(psutil.NoSuchProcess):
            family += [one.pid for one in psutil.Process(process.pid).children(recursive=True)]
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait; False if it did not come true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def finished(path: Path) -> int:
    """Chunks whose status is written."""
    with contextlib.suppress(FileNotFoundError):
        return sum(name.isdigit() for name in os.listdir(path / "status/c"))
    return 0


def run(kills: int, folder: Path, seed: int = 1) -> Iterator[dict]:
    """Kill and run again; one record for each kill."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    kinds = [KINDS[k % len(KINDS)] for k in range(kills)]
    rng.shuffle(kinds)
    campaign = Campaign(folder, start(folder), rng)
    try:
        assert ended(campaign.driver("whole.zarr")) == 0
        expected = store.read(folder / "whole.zarr").load()
        for number, kind in enumerate(kinds):
            yield {"kill": number, "kind": kind} | campaign.once(kind, expected)
    finally:
        stop(campaign.machines)


@dataclass
class Campaign:
    """What lives on from kill to kill."""

    folder: Path
    machines: Machines
    rng: random.Random

    def driver(self, name: str, fresh: bool = True) -> BaseProcess:
        """Start one on a store of the folder."""
        if fresh:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        arguments = self.machines.address, str(self.folder / name), str(self.folder / "fuse")
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.campaigns.kills", "sweeps.run.family_runs"])
        started = context.Process(target=drive, args=arguments)
        started.start()
        return started

    def once(self, kind: str, expected: Dataset) -> dict:
        """One kill, and the sweep again."""
        share, begun, path = self.rng.random(), time.monotonic(), self.folder / "killed.zarr"
        self.machines.await_workers()
        first = self.driver(path.name)
        some = max(1.0, share * VARIANTS / CHUNK)  # workers are at it: one chunk is done at least
        until(lambda: finished(path) >= some or not first.is_alive())
        time.sleep(self.rng.random() * 0.05)
        self.strike(kind, first)
        code, stored = ended(first), finished(path)
        unused = (self.folder / "fuse").exists()
        (self.folder / "fuse").unlink(missing_ok=True)
        if kind == "scheduler":
            stop(self.machines)
            self.machines = start(self.folder)
        again = ended(self.driver(path.name, fresh=False))
        return {
            "share": round(share, 3),
            "missed": unused,
            "ended": code,
            "chunks": stored,
            "again": again,
            "equal": again == 0 and equal(store.read(path).load(), expected),
            "seconds": round(time.monotonic() - begun, 1),
        }

    def strike(self, kind: str, driver: BaseProcess) -> None:
        """Kill one, hard; in mid-write a worker does it itself."""
        match kind:
            case "mid-write":
                (self.folder / "fuse.new").write_text(str(self.rng.randrange(12)))
                (self.folder / "fuse.new").rename(self.folder / "fuse")
                return
            case "driver":
                pid = driver.pid
            case "scheduler":
                pid = self.machines.scheduler.pid
            case _:
                pid = self.rng.choice(self.machines.pids)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ended(driver: BaseProcess) -> int | None:
    """A driver's exit status; None where it hangs."""
    driver.join(PATIENCE)
    code = driver.exitcode
    if code is None:
        driver.kill()
    return code


def equal(found: Dataset, expected: Dataset) -> bool:
    """Whether all arrays are, bit for bit (nan equals nan)."""
    return set(found) == set(expected) and all(
        np.array_equal(
            found[name].values, expected[name].values, equal_nan=values.dtype.kind == "f"
        )
        for name, values in expected.items()
    )


def report(lines: list[dict]) -> str:
    """A table by kind."""
    rows = [
        "| killed | times | all arrays equal after the rerun | a run that hung |",
        "|---|---|---|---|",
    ]
    kinds = Counter(line["kind"] for line in lines)
    for kind, count in kinds.items():
        of_kind = [line for line in lines if line["kind"] == kind]
        good = sum(line["equal"] for line in of_kind)
        hung = sum(line["ended"] is None or line["again"] is None for line in of_kind)
        rows.append(f"| {kind} | {count} | {good} | {hung} |")
    return "\n".join(rows)


def main(arguments: list[str]) -> None:
    match arguments:
        case ["run", kills, folder, *seed]:
            for line in run(int(kills), Path(folder).absolute(), *map(int, seed)):
                print(json.dumps(line), flush=True)
        case ["report", *files]:
            texts = [Path(file).read_text().splitlines() for file in files]
            print(report([json.loads(line) for text in texts for line in text]))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    from tests.campaigns import kills  # under the name by which workers know it

    kills.main(sys.argv[1:])
