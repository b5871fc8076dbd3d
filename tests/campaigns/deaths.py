"""Workers die in mid-sweep, again and again: nothing is given up, nobody innocent is marked.

Three kinds: all workers killed at once, two of three killed at once, and a metric that ends its
process with `os._exit(3)` at one variant. No sweep is run twice: the first run must end by itself,
all variants done, and all arrays must equal, bit for bit, those of a run that nothing disturbed,
the guilty variant excepted.

    python -m tests.campaigns.deaths TIMES FOLDER [SEED] > deaths.jsonl
"""

import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from distributed import Client
from xarray import Dataset

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run.driver import sweep
from sweeps.run.progress import Advance
from sweeps.store import store
from sweeps.store.statuses import Reason, Status
from tests.sweeps.fourbar import Deadly, FourBar, spec

WORKERS = 3
#: How many of them are killed.
KILLED = {"all": WORKERS, "two": 2, "exit": 0}
#: The variant whose lx1 is 0.433 m, and its mark.
GUILTY, MARK = 199, 433


class Killer:
    """Kills workers once, when a share of the variants is done."""

    def __init__(self, pids: list[int], share: float):
        self.pids, self.share, self.struck = pids, share, 0

    def __call__(self, advance: Advance) -> None:
        if self.pids and not self.struck and self.share <= advance.done / advance.total < 1:
            for pid in self.pids:
                psutil.Process(pid).kill()
                self.struck += 1


def once(kind: str, client: Client, folder: Path, expected: Dataset, share: float) -> dict:
    """One sweep with its deaths; whether it is right, and what it took."""
    client.wait_for_workers(WORKERS, timeout=600)
    pids = sorted(client.run(os.getpid).values())
    killer, path = Killer(pids[: KILLED[kind]], share), folder / "deaths.zarr"
    shutil.rmtree(path, ignore_errors=True)
    marks = frozenset({MARK}) if kind == "exit" else frozenset()
    begun, facts = time.monotonic(), {"kind": kind, "share": round(share, 3)}
    try:
        summary = sweep(spec(path), client, killer, evaluator=Deadly(delay=0.02, raises=marks))
    except Exception as error:
        return facts | {"struck": killer.struck, "right": False, "error": str(error)}
    guilty = [GUILTY] if marks else []
    right = summary.done and as_expected(store.read(path).load(), expected, guilty)
    return facts | {
        "struck": killer.struck,
        "lost": summary.lost,
        "right": bool(right),
        "seconds": round(time.monotonic() - begun, 1),
    }


def as_expected(found: Dataset, expected: Dataset, guilty: list[int]) -> bool:
    """Whether the guilty are marked and all others equal, bit for bit (nan equals nan)."""
    innocent = np.delete(np.arange(found.sizes["variant"]), guilty)
    marked = (found.status.values[guilty] == Status.CRASHED).all()
    marked &= (found.reason.values[guilty] == Reason.DIED).all()
    return bool(marked) and all(
        np.array_equal(
            found[name].values[innocent],
            values.values[innocent],
            equal_nan=values.dtype.kind == "f",
        )
        for name, values in expected.items()
    )


def run(times: int, folder: Path, seed: int = 1) -> Iterator[dict[str, Any]]:
    """So many rounds of each kind; one record for each."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "whole.zarr", ignore_errors=True)
    rng = random.Random(seed)
    with connect(Laptop(workers=WORKERS, memory="1 GB")) as client:
        assert sweep(spec(folder / "whole.zarr"), client, evaluator=FourBar()).done
        expected = store.read(folder / "whole.zarr").load()
        for number in range(times):
            for kind in KILLED:
                share = rng.uniform(0.05, 0.8)
                yield {"round": number} | once(kind, client, folder, expected, share)


def main(arguments: list[str]) -> int:
    """1 where a round was not right."""
    if len(arguments) < 2:
        sys.exit(__doc__)
    rounds: Counter[tuple[str, bool]] = Counter()
    for line in run(int(arguments[0]), Path(arguments[1]).absolute(), *map(int, arguments[2:])):
        print(json.dumps(line), flush=True)
        rounds[line["kind"], line["right"]] += 1
    for kind in KILLED:
        print(f"{kind}: {rounds[kind, True]} right, {rounds[kind, False]} not", file=sys.stderr)
    return int(any(not right for _, right in rounds))


if __name__ == "__main__":
    from tests.campaigns import deaths  # under the name by which workers know it

    sys.exit(deaths.main(sys.argv[1:]))
