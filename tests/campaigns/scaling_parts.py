"""10⁹ variants on 10,000 workers, by the driver and by parts, into a bucket: load simulated.

`measure` takes on this machine, in CPU time: the start of the command, a variant, a chunk, all by
commands of four-bars; and what a part and a chunk ask of a bucket, by a proxy that counts. Then it
predicts another sweep, of two parts, by these, and runs it. `simulate` has workers that evaluate
chunks, a bucket that serves so many requests a second and no more, and a driver that serves
receipts one after the other; a part is a start and its chunks. The bucket's rates are those that
AWS documents of a partition of S3, at least 3,500 writing and 5,500 reading requests a second
(docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html); the time of a request
is assumed.

    python -m tests.campaigns.scaling_parts measure FOLDER > tests/campaigns/scaling_parts.json
    python -m tests.campaigns.scaling_parts simulate [PICTURE.svg]

The latter takes `scaling_parts.json` beside it, which the former wrote on 2026-11-26.
"""

import heapq
import json
import math
import os
import random
import sys
from collections import Counter, deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from sweeps.run import fanout, task_queue
from tests.campaigns import parts, scaling
from tests.sweeps.bucket_server import BUCKET, CREDENTIALS, Faults, proxied, served

#: Of a partition of S3, requests a second; seconds of a request, assumed.
WRITES, READS, REQUEST = 3500.0, 5500.0, 0.03
#: Of the driver, measured by `scaling`: CPU of a task and of a heartbeat, s.
TASK, HEARTBEAT = 2.1e-3, 0.25e-3
VARIANTS, WORKERS = 10**9, 10_000
WRITING = ("PUT", "POST", "DELETE")


def swept(folder: Path, variants: int, chunk: int, count: int = 1) -> float:
    """CPU seconds of so many parts that do a whole new sweep, one after the other."""
    file, path = parts.made(folder, variants, chunk), str(folder / "x.zarr")
    words = ["sweep", file, "--store", path, "--quiet"]
    parts.called(*words, "--prepare")
    return sum(parts.called(*words, "--part", f"{n}/{count}") for n in range(1, count + 1))


def nothing(folder: Path) -> float:
    """CPU seconds of a part of one chunk of eight variants: its start."""
    return swept(folder, 8, 8)


def asked(folder: Path, chunks: int, count: int) -> Counter[str]:
    """Requests of so many parts that do a sweep of so many chunks into a bucket, by method."""
    file = parts.made(folder, 64 * chunks, 64)
    words = ["sweep", file, "--store", f"s3://{BUCKET}/{uuid4().hex}/x.zarr", "--quiet"]
    with served() as server, proxied(server, counted := Faults()) as proxy:
        parts.ENVIRONMENT.update({**CREDENTIALS, "AWS_ENDPOINT_URL": proxy})
        _apart(*words, "--prepare")
        counted.asked.clear()
        for number in range(1, count + 1):
            _apart(*words, "--part", f"{number}/{count}")
        return Counter(counted.asked)


def _apart(*words: str) -> None:
    """A command, by a process whose children the server is not: it waits for all that it has."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            parts.called(*words)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0, words


def measure(folder: Path) -> dict[str, Any]:
    """The constants, and a sweep predicted by them."""
    nothing(folder)  # kernels are compiled
    large, many, count = 16_384, 1024, 131_072
    start = min(nothing(folder) for _ in range(2))
    coarse, fine = swept(folder, count, large), swept(folder, count, many)
    each = (fine - coarse) / (count / many - count / large)
    variant = (coarse - start - each * count / large) / count
    few, more = asked(folder, 4, 1), asked(folder, 12, 1)
    verbs = sorted({*few, *more})
    of_chunk = {verb: (more[verb] - few[verb]) / 8 for verb in verbs}
    of_part = {verb: few[verb] - 4 * of_chunk[verb] for verb in verbs}
    predicted = 2 * start + count * variant + each * count / 4096
    measured = swept(folder, count, 4096, 2)
    found = asked(folder, 20, 2)
    guess = {verb: round(2 * of_part[verb] + 20 * of_chunk[verb], 1) for verb in verbs}
    return {
        "start_s": start,
        "variant_s": variant,
        "chunk_s": each,
        "requests_of_a_part": of_part,
        "requests_of_a_chunk": of_chunk,
        "validation": {
            "cpu_s": {"predicted": round(predicted, 2), "measured": round(measured, 2)},
            "requests": {"predicted": guess, "measured": dict(found)},
        },
    }


@dataclass
class Bucket:
    """Requests served one after the other at a rate; what comes too fast waits."""

    partitions: int = 1
    writes_free: float = 0.0
    reads_free: float = 0.0
    count: int = 0

    def ask(self, now: float, writes: float, reads: float, rounds: int) -> float:
        """When requests that are made now, in so many rounds, are answered."""
        self.writes_free = max(self.writes_free, now) + writes / (WRITES * self.partitions)
        self.reads_free = max(self.reads_free, now) + reads / (READS * self.partitions)
        self.count += round(writes + reads)
        return max(now + rounds * REQUEST, self.writes_free, self.reads_free)


def split(requests: dict[str, float]) -> tuple[float, float]:
    """Writing and reading requests."""
    writes = sum(n for verb, n in requests.items() if verb in WRITING)
    return writes, sum(requests.values()) - writes


def simulate(
    constants: dict[str, Any], each: float, chunk: int, count: int, partitions: int = 1
) -> dict[str, float]:
    """A sweep whose variants take `each` s, in chunks of `chunk`, by parts; by the driver (0).

    Chunks vary by a third around their time; the bucket has so many partitions.
    """
    chunks = -(-VARIANTS // chunk)
    source: Driver | Parts = (
        Parts(constants, chunks, count)
        if count
        else Driver(chunks, each * chunk + constants["chunk_s"])
    )
    bucket, rng = Bucket(partitions), random.Random(1)
    requests = split(constants["requests_of_a_chunk"])
    events = [(0.0, worker, "take") for worker in range(WORKERS)]
    left, end = [0] * WORKERS, 0.0
    while events:
        now, worker, what = heapq.heappop(events)
        if what == "take" and left[worker] == 0:
            begin, left[worker] = source.take(worker, now, bucket)
            if left[worker]:
                heapq.heappush(events, (begin, worker, "take"))
        elif what == "take":
            takes = chunk * each * rng.uniform(2 / 3, 4 / 3) + constants["chunk_s"]
            heapq.heappush(events, (now + takes, worker, "write"))
        else:
            left[worker] -= 1
            end = max(end, written := bucket.ask(now, *requests, rounds=3))
            if left[worker] == 0:
                source.done(worker, written)
            heapq.heappush(events, (written, worker, "take"))
    return {
        "seconds": end,
        "workers_busy": VARIANTS * each / (end * WORKERS),
        "driver_busy": source.busy(end),
        "requests_per_s": bucket.count / end,
        "objects": chunks * constants["requests_of_a_chunk"]["PUT"],
    }


class Parts:
    """So many parts, each a start of the command and its chunks."""

    def __init__(self, constants: dict[str, Any], chunks: int, count: int):
        self.start, self.requests = constants["start_s"], split(constants["requests_of_a_part"])
        count = min(count, chunks)
        bounds = [k * chunks // count for k in range(count + 1)]
        self.waiting = deque(b - a for a, b in pairwise(bounds))

    def take(self, worker: int, now: float, bucket: Bucket) -> tuple[float, int]:
        """When the next part begins its chunks, and how many they are; 0: there is none."""
        if not self.waiting:
            return now, 0
        return bucket.ask(now + self.start, *self.requests, rounds=8), self.waiting.popleft()

    def done(self, worker: int, now: float) -> None:
        """Nobody is told."""

    def busy(self, end: float) -> float:
        return 0.0


class Driver:
    """Receipts served one after the other; a worker waits where too many of its own are not."""

    def __init__(self, chunks: int, chunk_s: float):
        length = max(task_queue.TASK_SECONDS, WORKERS / task_queue.RECEIPTS_PER_SECOND)
        self.beats = WORKERS / scaling.beat(WORKERS) * HEARTBEAT
        self.service = TASK / max(1e-3, 1 - self.beats)
        self.left, self.wanted = chunks, max(1, int(length / chunk_s))
        self.least = max(1, math.ceil(task_queue.LEAST_SECONDS / chunk_s))
        self.free, self.tasks = 0.0, 0
        self.served: dict[int, deque[float]] = {worker: deque() for worker in range(WORKERS)}

    def take(self, worker: int, now: float, bucket: Bucket) -> tuple[float, int]:
        """When the next task begins, and its chunks; 0: there is none."""
        count = min(self.left, self.wanted, max(self.least, self.left // (2 * WORKERS)))
        self.left -= count
        waits = self.served[worker]
        while waits and waits[0] <= now:
            waits.popleft()
        return (waits[-fanout.WINDOW] if len(waits) >= fanout.WINDOW else now), count

    def done(self, worker: int, now: float) -> None:
        """A receipt, in its turn."""
        self.free = max(self.free, now) + self.service
        self.tasks += 1
        self.served[worker].append(self.free)

    def busy(self, end: float) -> float:
        return min(1.0, self.beats + self.tasks * TASK / end)


#: Seconds a variant: a four-bar (measured), a mechanism with loops, one that is checked precisely.
TIMES, CHUNKS = (None, 1e-3, 20e-3), (4096, 16_384, 131_072)
#: Ways by name: number of parts (0: a driver), partitions of the bucket.
WAYS = {
    "driver": (0, 1),
    f"{WORKERS:,} parts": (WORKERS, 1),
    f"{10 * WORKERS:,} parts": (10 * WORKERS, 1),
    f"{WORKERS:,} parts, 8 partitions": (WORKERS, 8),
}

Case = tuple[float, int]


def cases(constants: dict[str, Any]) -> dict[Case, dict[str, dict[str, float]]]:
    """All of them, by seconds a variant and chunk, then by way."""
    return {
        (each, chunk): {
            way: simulate(constants, each, chunk, *which) for way, which in WAYS.items()
        }
        for each in (one or constants["variant_s"] for one in TIMES)
        for chunk in CHUNKS
    }


def table(found: dict[Case, dict[str, dict[str, float]]]) -> str:
    """Of all cases: wall time and share of it that workers evaluate."""
    lines = [
        f"| a variant | chunk | {' | '.join(WAYS)} | driver busy | requests/s, asked | objects |",
        f"|---|---|{'---|' * len(WAYS)}---|---|---|",
    ]
    for (each, chunk), by in found.items():
        walls = " | ".join(
            f"{one['seconds']:,.0f} s, {one['workers_busy']:.0%}" for one in by.values()
        )
        most = max(one["requests_per_s"] for one in by.values())
        driver = by["driver"]
        lines.append(
            f"| {1e3 * each:.3g} ms | {chunk:,} | {walls} | {driver['driver_busy']:.0%} "
            f"| {most:,.0f} | {driver['objects']:,.0f} |"
        )
    return "\n".join(lines)


def picture(found: dict[Case, dict[str, dict[str, float]]], file: Path) -> None:
    """Share of time that workers evaluate, by the chunk."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "scaling", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    times = sorted({each for each, _ in found})
    for colour, each in zip(("C0", "C1", "C2"), times, strict=True):
        for style, way in zip(("-", "--", "-.", ":"), WAYS, strict=True):
            busy = [100 * found[each, chunk][way]["workers_busy"] for chunk in CHUNKS]
            label = f"{1e3 * each:.2g} ms: {way}"
            axes.plot(CHUNKS, busy, style, color=colour, marker="o", ms=3, label=label)
    axes.set(xscale="log", ylim=(0, 101), xlabel="variants of a chunk", ylabel="workers busy, %")
    axes.set_xticks(CHUNKS, [f"{chunk:,}" for chunk in CHUNKS])
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(file, metadata={"Date": None})


def main(arguments: list[str]) -> None:
    match arguments:
        case ["measure", folder]:
            print(json.dumps(measure(Path(folder).absolute()), indent=1))
        case ["simulate", *pictures]:
            found = cases(json.loads(Path(__file__).with_suffix(".json").read_text()))
            print(table(found))
            for one in pictures:
                picture(found, Path(one))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
