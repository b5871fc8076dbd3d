"""Sweep after sweep on the same workers: does anything grow?

Four-bars (reduction, metrics) and SLA suspensions with precise checks take turns, each into a new
store that is removed again. After every sweep the memory, open files and threads of the driver
and of each worker are noted. The first third warms up; the report says what the others grew by.

    python -m tests.campaigns.soak FOLDER WORKERS MINUTES
"""

import gc
import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import psutil

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run.driver import sweep
from sweeps.spec.reader import parse_sweep

SWEEPS = (
    """
mechanism: four-bar
space:
  plan: random
  variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: 50000
  seed: %d
evaluate:
  rank: auto
  reduction: {criteria: [tolerance, bic], tolerance: 0.01}
  metrics: [torque_rms, torque_peak]
""",
    """
mechanism: sla-suspension
space:
  plan: random
  variables: {D12: [0.315, 0.325], D22: [0.245, 0.255]}
  candidates: 4
  seed: %d
evaluate: {rank: precise}
store: {chunk: 2}
""",
)


def held() -> list[int]:
    """Resident bytes, open files and sockets, threads of this process."""
    gc.collect()
    process = psutil.Process()
    return [process.memory_info().rss, process.num_fds(), process.num_threads()]


def growth(notes: np.ndarray) -> list[float]:
    """Rise from the first to the last round, by a line through all (round, number)."""
    rounds = np.arange(len(notes))
    slopes = np.polyfit(rounds, notes, 1)[0] if len(notes) > 1 else np.zeros(notes.shape[1])
    rise: list[float] = (slopes * (len(notes) - 1)).round(1).tolist()
    return rise


def run(folder: Path, workers: int, minutes: float) -> dict[str, object]:
    """Until time is up."""
    notes: dict[str, list[list[int]]] = {"driver": []}
    end, done, variants = time.monotonic() + 60 * minutes, 0, 0
    with connect(Laptop(workers=workers)) as client:
        while time.monotonic() < end:
            text = SWEEPS[done % 2] % done
            path = folder / f"soak-{done}.zarr"
            found = sweep(parse_sweep(text).at(str(path)), client)
            assert found.done, found
            assert not found.failed, found
            variants += found.total
            shutil.rmtree(path)
            done += 1
            if done % 2 == 0:
                notes["driver"].append(held())
                for worker, mine in client.run(held).items():
                    notes.setdefault(worker, []).append(mine)
    report: dict[str, object] = {"sweeps": done, "variants": variants, "minutes": minutes}
    for place, (name, rows) in enumerate(notes.items()):
        kept = np.array(rows[len(rows) // 3 :], float) / [1e6, 1, 1]
        report["driver" if name == "driver" else f"worker {place}"] = {
            "last: MB, files, threads": kept[-1].round(1).tolist(),
            "growth": growth(kept),
        }
    return report


def main(arguments: list[str]) -> None:
    if len(arguments) != 3:
        sys.exit(__doc__)
    folder = Path(arguments[0]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(run(folder, int(arguments[1]), float(arguments[2])), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
