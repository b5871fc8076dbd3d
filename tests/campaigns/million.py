"""Very many four-bars: what the driver, Dask and the store cost beside the evaluation itself.

Everything is counted in CPU time, which a loaded machine does not change (much): each worker adds
up the CPU of its evaluations; whatever else workers and driver spend between the first task and
the last is overhead, here as a share of the workers' time and of the evaluations'. Call it with a
small number first: the first sweep of a process loads libraries. The driver's memory is looked at
after every batch of receipts.

    python -m tests.campaigns.million FOLDER WORKERS VARIANTS …
"""

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.run.driver import sweep
from sweeps.run.progress import Advance
from sweeps.spec.plans import Plan
from sweeps.spec.reader import parse_sweep
from sweeps.store.outputs import Arrays, Columns

SWEEP = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.6], lx2: [0.5, 0.9], ly2: [0.9, 1.3], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: %d
  seed: 7
evaluate: {rank: auto, metrics: [torque_rms, torque_peak]}
store: {chunk: 16384}
"""
#: CPU seconds of this process's evaluations.
SPENT = [0.0]


@dataclass(frozen=True)
class Timed:
    """An evaluator that adds up its CPU time."""

    evaluator: ChunkEvaluator

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # while it is unpickled it has nobody to ask
        return getattr(self.evaluator, name)

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        begun = time.thread_time()
        found = self.evaluator(columns, passed)
        SPENT[0] += time.thread_time() - begun
        return found


def spent() -> tuple[float, float]:
    """CPU of evaluations and of the whole process, in a worker."""
    return SPENT[0], time.process_time()


def warmed(evaluator: Timed, plan: Plan) -> None:
    """Load and compile, which is not this campaign's subject."""
    evaluator(plan.rows(0, 256), np.ones(256, dtype=bool))


def run(folder: Path, workers: int, variants: int) -> dict[str, Any]:
    """One sweep."""
    spec = parse_sweep(SWEEP % variants)
    path = folder / f"{variants}-{workers}.zarr"
    shutil.rmtree(path, ignore_errors=True)
    evaluator = Timed(prepare(spec))
    evaluator.evaluator.warm(spec.plan.names)
    memory: list[int] = []

    def look(advance: Advance) -> None:
        memory.append(psutil.Process().memory_info().rss)

    with connect(Laptop(workers=workers)) as client:
        client.run(warmed, evaluator, spec.plan)
        before, driver, begun = client.run(spent), time.process_time(), time.monotonic()
        found = sweep(spec.at(str(path)), client, look, evaluator=evaluator)
        seconds, driver = time.monotonic() - begun, time.process_time() - driver
        after = client.run(spent)
    assert found.done
    evaluating = [after[key][0] - before[key][0] for key in after]
    busy = [after[key][1] - before[key][1] for key in after]
    overhead = driver + sum(busy) - sum(evaluating)
    return {
        "variants": variants,
        "workers": workers,
        "wall": round(seconds, 1),
        "evaluating": [round(one, 2) for one in evaluating],
        "workers_cpu": [round(one, 2) for one in busy],
        "driver_cpu": round(driver, 2),
        "overhead_of_busy": round(overhead / sum(busy), 4),
        "overhead_of_evaluating": round(overhead / sum(evaluating), 4),
        "us_per_variant": round(1e6 * sum(evaluating) / variants, 1),
        "driver_MB": [round(one / 1e6) for one in (memory[0], max(memory))],
        "counts": {status.meaning: count for status, count in found.counts.items()},
        "store_MB": round(sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 1e6),
    }


def main(arguments: list[str]) -> None:
    if len(arguments) < 3:
        sys.exit(__doc__)
    folder = Path(arguments[0]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for count in arguments[2:]:
        print(json.dumps(run(folder, int(arguments[1]), int(count))), flush=True)


if __name__ == "__main__":
    from tests.campaigns import million  # under the name by which workers know it

    million.main(sys.argv[1:])
