"""How time and memory of every route grow: arms of 3 to 40 bodies, ladders of 1 to 20 loops.

Every point is a process of its own: CPU seconds (median of three runs of 0.1 s or more, or one
where it takes more than 20 s), and the peak of memory above what was there before the first. Not
counted is what a route is given (an assembled model, the symbolic result, W), nor what a process
does once: imports and compiled code. Kernels have 32 variants at once; times are for one, memory
for all. A point that takes more CPU than the limit is ended, and recorded as such.

Samples stay fixed, 64 random states at every size, in `growth_routes.py` with the mechanisms.
Exponents are slopes of least squares between logarithms: of the upper three sizes, and of all.

    python -m tests.campaigns.growth files FOLDER
    python -m tests.campaigns.growth run found.jsonl [FAMILY [ROUTE]]
    python -m tests.campaigns.growth table found.jsonl
"""

import ctypes
import gc
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import BaseparError
from tests.campaigns.growth_routes import FAMILIES, ROUTES, SAMPLES, Job, Subject

#: At once, as many as stand side by side in kernels that work in lanes.
VARIANTS = 32
#: CPU seconds that a preparation may take, and each run; that one run is enough for; that a run
#: takes at least, by repetition.
LIMIT, LONG, SHORT = 300.0, 20.0, 0.1
#: Peaks below this, in MB, say nothing of how memory grows: pages, and Python's own.
SEEN = 2.0
#: What kernels and the numeric route may grow with.
STEEP = 3.3

Record = dict[str, Any]


def timed(job: Job, times: int = 1) -> tuple[Any, float]:
    """A result or the program's error in its place, and CPU seconds of doing it once."""
    signal.setitimer(signal.ITIMER_PROF, LIMIT)  # unhandled, it ends the process
    begun = time.thread_time()  # a process's goes by ticks of 4 ms while the timer is set
    try:
        for _ in range(times):
            found = job()
    except BaseparError as error:
        found = error
    spent = time.thread_time() - begun
    signal.setitimer(signal.ITIMER_PROF, 0)
    return found, spent / times


def memory(what: str) -> float:
    """A line of the process's status, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def point(family: str, size: int, route: str) -> Record:
    """What one route takes at one size, in this process."""
    make, sizes = FAMILIES[family]
    compiled = route.startswith("kernels")
    it, count = Subject(make(size)), VARIANTS if compiled else 1

    def prepared() -> Job:
        # Once before: kernels as they will be called, others at the least size.
        ROUTES[route](it if compiled else Subject(make(sizes[0])), 1)()
        return ROUTES[route](it, count)

    job, _ = timed(prepared)
    print("prepared", flush=True)
    if isinstance(job, BaseparError):
        return {"error": job.message}
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # peaks are counted from here on
    before = memory("VmRSS")
    found, one = timed(job)
    if isinstance(found, BaseparError):
        return {"error": found.message}
    peak, rank = memory("VmHWM") - before, getattr(found, "rank", None)
    del found
    times = math.ceil(SHORT / max(one, 1e-6))
    spent = [one] if one > LONG else [timed(job, times)[1] for _ in range(3)]
    return {
        "parameters": len(it.mechanism.parameter_names),
        "coordinates": len(it.mechanism.coordinates),
        "rank": rank if isinstance(rank, int) else None,
        "seconds": statistics.median(spent) / count,
        "runs": len(spent),
        "peak_MB": round(peak, 1),
    }


def run(family: str, size: int, route: str) -> Record:
    """A point in a process of its own."""
    own = [sys.executable, "-m", "tests.campaigns.growth", "point", family, str(size), route]
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    alone["PYTHONPATH"] = ":".join(sys.path)  # the tests are not installed
    ran = subprocess.run(own, capture_output=True, text=True, env=alone)
    record: Record = {"family": family, "size": size, "route": route, "samples": SAMPLES}
    said = ran.stdout.splitlines()
    if ran.returncode == 0:
        record |= json.loads(said[-1])
    elif ran.returncode == -signal.SIGPROF:
        record |= {"beyond": LIMIT, "at": "run" if said else "preparation"}
    else:
        record |= {"failed": ran.returncode, "stderr": ran.stderr[-500:]}
    return record | {"load": round(os.getloadavg()[0], 1)}


# The table.


def exponent(points: Iterable[tuple[float, float]]) -> float | None:
    """Slope between logarithms of (size, value); None: of less than three points."""
    pairs = list(points)
    if len(pairs) < 3:
        return None
    sizes, values = np.log(pairs).T
    return float(np.polyfit(sizes, values, 1)[0])


def table(records: Iterable[Record]) -> Iterator[str]:
    """Markdown, a table per family; of a point in several processes the median."""
    points: dict[tuple[str, str, int], list[Record]] = {}
    for r in sorted(records, key=lambda r: r.get("seconds", math.inf)):
        points.setdefault((r["family"], r["route"], r["size"]), []).append(r)
    middle = {key: found[(len(found) - 1) // 2] for key, found in points.items()}
    for family, (_, sizes) in FAMILIES.items():
        heads = [f"{family}: CPU", *map(str, sizes), "exponent (all)", "peak MB", "exponent"]
        yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
        for route in ROUTES:
            yield _row(route, [middle.get((family, route, n), {"size": n}) for n in sizes])


def _row(route: str, row: Sequence[Record]) -> str:
    times = [(r["size"], r["seconds"]) for r in row if "rank" in r]
    peaks = [(r["size"], r["peak_MB"]) for r in row if r.get("peak_MB", 0) >= SEEN]
    if not times and not any("beyond" in r for r in row):
        errors = {r.get("error", r.get("failed", "not run")) for r in row}
        return f"| {route} | {'; '.join(map(str, errors))} |"
    short = "" if len(times) == len(row) else f" of {len(times)} sizes"
    upper, every = exponent(times[-3:]), exponent(times)
    grown = exponent(peaks[-3:])
    said = "–" if upper is None else f"{upper:.2f} ({every:.2f}){short}"
    said = f"**{said}**" if upper is not None and upper > STEEP else said
    largest = next((f"{r['peak_MB']:.0f}" for r in row[::-1] if "peak_MB" in r), "–")
    cells = [route, *map(_cell, row), said, largest, "–" if grown is None else f"{grown:.2f}"]
    return f"| {' | '.join(cells)} |"


def _cell(record: Record) -> str:
    if "rank" in record:
        spent = record["seconds"]
        unit, scale = ("s", 1) if spent >= 1 else ("ms", 1e3) if spent >= 1e-3 else ("µs", 1e6)
        return f"{spent * scale:.3g} {unit}"
    if "beyond" in record:
        return f"> {record['beyond']:.0f} s{'' if record['at'] == 'run' else ' to prepare'}"
    return "no answer" if "error" in record else "failed" if "failed" in record else ""


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case ["files", folder]:
            for family, (make, sizes) in FAMILIES.items():
                for size in sizes:
                    (Path(folder) / f"{family}-{size}.yaml").write_text(make(size).source)
        case ["run", file, *wanted] if len(wanted) < 3:
            families, routes = wanted[:1] or [*FAMILIES], wanted[1:] or [*ROUTES]
            with open(file, "a", encoding="utf-8") as found:
                for family in families:
                    for route in routes:
                        for size in FAMILIES[family][1]:
                            record = run(family, size, route)
                            print(json.dumps(record, ensure_ascii=False), file=found, flush=True)
        case ["point", family, size, route]:
            print(json.dumps(point(family, int(size), route)), flush=True)
        case ["table", *files]:
            texts = [Path(file).read_text(encoding="utf-8") for file in files]
            print("\n".join(table(json.loads(x) for text in texts for x in text.splitlines())))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
