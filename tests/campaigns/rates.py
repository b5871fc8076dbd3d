"""Variants a second and worker, everything on: rank, spectra, reduction, two metrics.

What a worker of a sweep does to a chunk, in this process: the evaluator of a sweep over some
lengths of a shipped mechanism, 3 % to both sides, of as many variants as half a second takes (as
sweeps cut their chunks). CPU of one thread, median of so many rounds; kernels are compiled before.

    python -m tests.campaigns.rates ROUNDS [MECHANISM …]
"""

import json
import sys
import time
from typing import Any

import numpy as np

from basepar_core.api import load
from sweeps.chunks.evaluator import prepare
from sweeps.run.chunk_size import fitting
from sweeps.run.task_queue import TASK_SECONDS
from sweeps.spec.reader import parse_sweep
from sweeps.store.statuses import Status

SWEEP = """
mechanism: %s
space: {plan: random, variables: {%s}, candidates: 16384, seed: 3}
evaluate:
  rank: auto
  reduction: {criteria: [tolerance, aic, bic, mdl, fpe], tolerance: 0.01}
  metrics: [torque_rms, torque_peak]
"""
SHIPPED = "four-bar stephenson-iii watt-ii ur10 sla-suspension delta stewart-gough 3-rrr"
#: Lengths that vary.
VARIED = 4


def rate(name: str, rounds: int) -> dict[str, Any]:
    """Variants a second of CPU."""
    mechanism = load(name)
    lengths = [s.name for s in mechanism.geometry if abs(mechanism.nominal[s.name]) > 1e-9]
    ends = {k: sorted((0.97 * mechanism.nominal[k], 1.03 * mechanism.nominal[k])) for k in lengths}
    ranges = ", ".join(f"{k}: {ends[k]}" for k in lengths[:VARIED])
    spec = parse_sweep(SWEEP % (name, ranges))
    evaluator = prepare(spec)

    def spent(count: int) -> tuple[float, dict[str, np.ndarray]]:
        columns, passed = spec.plan.rows(0, count), np.ones(count, bool)
        begun = time.process_time()
        arrays = evaluator(columns, passed)
        return time.process_time() - begun, arrays

    spent(32)
    count = fitting(TASK_SECONDS * 32 / spent(32)[0])
    times = [spent(count) for _ in range(rounds)]
    done = np.isin(times[0][1]["status"], (Status.SOLVED, Status.AWAITING_PRECISE))
    each = float(np.median([seconds for seconds, _ in times])) / count
    return {
        "mechanism": name,
        "variants": count,
        "evaluated": round(float(np.mean(done)), 3),
        "variants_a_second": round(1 / each),
        "best": round(count / min(seconds for seconds, _ in times)),
    }


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit(__doc__)
    for name in arguments[1:] or SHIPPED.split():
        print(json.dumps(rate(name, int(arguments[0]))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
