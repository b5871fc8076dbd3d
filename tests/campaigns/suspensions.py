"""SLA suspensions, each with its precise check: variants a second, counted in CPU time.

python -m tests.campaigns.suspensions FOLDER WORKERS VARIANTS
"""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import ChunkEvaluator, prepare
from sweeps.run.driver import sweep
from sweeps.spec.reader import parse_sweep
from sweeps.store.outputs import Columns

SWEEP = """
mechanism: sla-suspension
space:
  plan: sobol
  variables: {D12: [0.315, 0.325], D22: [0.245, 0.255], L10: [0.314, 0.322]}
  candidates: %d
  seed: 7
evaluate: {rank: precise}
store: {chunk: 2}
"""


def warmed(evaluator: ChunkEvaluator, columns: Columns) -> None:
    """Two variants end to end."""
    both = np.ones(2, dtype=bool)
    evaluator(columns, both)
    assert evaluator.precise is not None
    evaluator.precise(columns, both)


def run(folder: Path, workers: int, variants: int) -> dict[str, Any]:
    """One sweep; kernels are compiled and loaded before time is taken."""
    spec = parse_sweep(SWEEP % variants)
    path = folder / f"{variants}-{workers}.zarr"
    shutil.rmtree(path, ignore_errors=True)
    evaluator = prepare(spec)
    evaluator.warm(spec.plan.names)
    with connect(Laptop(workers=workers)) as client:
        client.run(warmed, evaluator, spec.plan.rows(0, 2))
        before, begun = client.run(time.process_time), time.monotonic()
        found = sweep(spec.at(str(path)), client, evaluator=evaluator, precise=evaluator.precise)
        seconds, after = time.monotonic() - begun, client.run(time.process_time)
    busy = [after[key] - before[key] for key in after]
    return {
        "variants": variants,
        "workers": workers,
        "wall_s": round(seconds, 1),
        "workers_cpu_s": [round(one, 1) for one in busy],
        "per_cpu_second": round(variants / sum(busy), 2),
        "with_cores_free": round(variants / max(busy), 2),
        "precise": {status.meaning: count for status, count in found.precise.items()},
    }


def main(arguments: list[str]) -> None:
    if len(arguments) != 3:
        sys.exit(__doc__)
    folder = Path(arguments[0]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(run(folder, int(arguments[1]), int(arguments[2]))))


if __name__ == "__main__":
    from tests.campaigns import suspensions  # under the name by which workers know it

    suspensions.main(sys.argv[1:])
