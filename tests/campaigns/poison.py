"""Three poisonous variants in 10,000: a segmentation fault, an endless loop, 30 GiB of memory.

The real four-bar, compiled kernels and all; three of its variants do harm to their process before
they are evaluated. Those three must be marked, the other 9,997 must be, bit for bit, what they are
in a sweep without poison. The endless loop holds the interpreter's lock, as a kernel would.

    python -m tests.campaigns.poison FOLDER [CHUNK …]
    python -m tests.campaigns.poison rounds TIMES FOLDER [SEED] > poisons.jsonl

Rounds are small, 1,000 variants in chunks of 64, each with its three at other places.
"""

import ctypes
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.run.driver import sweep
from sweeps.spec.reader import parse_sweep
from sweeps.store import store
from sweeps.store.outputs import Arrays, Columns
from sweeps.store.statuses import FAILED

VARIANTS = 10_000
POISONED = {2222: "segfault", 5555: "endless", 8888: "greedy"}
SWEEP = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.25, 0.35], lx2: [0.65, 0.75], lx3: [1.25, 1.35], Dx: [0.9, 1.1]}
  candidates: %d
  seed: 3
evaluate: {rank: auto, metrics: [torque_rms]}
store: {chunk: %d}
limits: {variant_seconds: 10}
"""


@dataclass(frozen=True)
class Poisoned:
    """An evaluator three of whose variants are found by their lx1 and do harm."""

    evaluator: ChunkEvaluator
    harms: tuple[tuple[float, str], ...]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # while it is unpickled it has nobody to ask
        return getattr(self.evaluator, name)

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        present = set(columns["lx1"][passed].tolist())
        for mark, harm in self.harms:
            if mark in present:
                do(harm)
        return self.evaluator(columns, passed)


def do(harm: str) -> None:
    """Harm this process."""
    if harm == "segfault":
        ctypes.string_at(0)
    if harm == "endless":
        ctypes.PyDLL(None).sleep(10**6)  # holds the interpreter's lock
    hoard = []
    while len(hoard) < 120:
        hoard.append(np.ones(1 << 25))  # 256 MB
        if psutil.virtual_memory().available < 4e9:  # others live here too
            os.kill(os.getpid(), signal.SIGKILL)


def run(
    folder: Path, chunk: int, variants: int = VARIANTS, harms: Mapping[int, str] = POISONED
) -> dict[str, Any]:
    """Both sweeps, and what sets them apart."""
    spec = parse_sweep(SWEEP % (variants, chunk))
    evaluator = prepare(spec)
    evaluator.warm(spec.plan.names)
    values = spec.plan.rows(0, variants)["lx1"]
    assert len(set(values.tolist())) == variants
    poisoned = Poisoned(evaluator, tuple((float(values[k]), how) for k, how in harms.items()))
    clean = folder / f"clean-{chunk}.zarr"
    with connect(Laptop(workers=2, memory="1500 MB")) as client:
        sweep(spec.at(str(clean)), client, evaluator=evaluator, precise=evaluator.precise)
        begun = time.monotonic()
        path = folder / f"poisoned-{chunk}.zarr"
        found = sweep(spec.at(str(path)), client, evaluator=poisoned, precise=evaluator.precise)
        seconds = time.monotonic() - begun
    return {"chunk": chunk, "done": found.done, "lost": found.lost, "errors": found.errors} | {
        "seconds": round(seconds, 1),
        **compared(store.read(path).load(), store.read(clean).load(), harms),
    }


def compared(found: Any, clean: Any, harms: Mapping[int, str]) -> dict[str, Any]:
    """Who is marked, and whether the others are as they should be."""
    innocent = np.ones(found.sizes["variant"], dtype=bool)
    innocent[list(harms)] = False
    differing = [
        name
        for name, array in clean.data_vars.items()
        if "variant" in array.dims
        and not np.array_equal(
            found[name].values[innocent],
            array.values[innocent],
            equal_nan=array.dtype.kind == "f",
        )
    ]
    marked = {
        str(k): f"{how}: status {int(found.status[k])}, reason {int(found.reason[k])}"
        for k, how in harms.items()
    }
    finished = int((found.status.values[innocent] != 0).sum())
    right = not differing and finished == innocent.sum()
    right &= bool(np.isin(found.status.values[~innocent], FAILED).all())
    return {"marked": marked, "finished": finished, "differing": differing, "right": bool(right)}


def rounds(times: int, folder: Path, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Small ones, one record for each."""
    rng = random.Random(seed)
    for number in range(times):
        places = rng.sample(range(1000), 3)
        for name in ("clean-64.zarr", "poisoned-64.zarr"):
            shutil.rmtree(folder / name, ignore_errors=True)
        harms = dict(zip(places, POISONED.values(), strict=True))
        yield {"round": number} | run(folder, 64, 1000, harms)


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit(__doc__)
    small = arguments[0] == "rounds"
    folder = Path(arguments[2 if small else 0]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if small:
        for line in rounds(int(arguments[1]), folder, *map(int, arguments[3:])):
            print(json.dumps(line), flush=True)
        return
    for chunk in map(int, arguments[1:] or ["1024"]):
        print(json.dumps(run(folder, chunk)), flush=True)


if __name__ == "__main__":
    from tests.campaigns import poison  # under the name by which workers know it

    poison.main(sys.argv[1:])
