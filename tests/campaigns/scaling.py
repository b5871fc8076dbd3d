"""What limits a sweep of 10⁸ variants on 1,000 workers: constants measured here, load simulated.

`measure` takes the constants on this machine, in CPU time: what a task costs the driver (fan-out,
client and scheduler in one process), what an idle worker costs it by its heartbeat, what a task in
flight keeps in memory, how long it takes to look at the statuses of a huge store, and how long a
plan takes to give rows far down. `simulate` has one driver that serves receipts one after the
other and workers that wait for their next task, with the windows and task lengths of
`sweeps.run.fanout`; it prints the share of time that workers do work.

    python -m tests.campaigns.scaling measure FOLDER > constants.json
    python -m tests.campaigns.scaling simulate constants.json
"""

import gc
import heapq
import json
import random
import shutil
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from distributed import Client

from cluster.client import connect
from cluster.places import Laptop
from sweeps.run import fanout, task_queue
from sweeps.run.worker import Receipt, Task
from sweeps.spec.plans import LatinHypercube, Random, Sobol
from sweeps.store import Facts, Store, status, store
from sweeps.store.outputs import Output
from sweeps.store.store import Layout, Part

TASKS = 3000
BOUNDS = (("a", 0.0, 1.0), ("b", 0.0, 1.0), ("c", 0.0, 1.0), ("d", 0.0, 1.0), ("e", 0.0, 1.0))


def nothing(task: Task) -> Receipt:
    """A task that takes no time."""
    counts = ((0, task.start - task.stop), (1, task.stop - task.start))
    return Receipt(task.stage, task.start, task.stop, counts, 0.5, task.stop - task.start)


def sleep(task: Task) -> Receipt:
    """A task that takes all the time there is."""
    time.sleep(3600)
    return nothing(task)


def measure(folder: Path) -> dict[str, Any]:
    """The constants."""
    with connect(Laptop(workers=2)) as client:
        fanout.run(nothing, [(0, 200)], client, chunks=[1])  # whatever is done only once
        idle = cpu_of(lambda: time.sleep(10)) / 10
        begun = time.monotonic()
        tasks = cpu_of(lambda: fanout.run(nothing, [(0, TASKS)], client, chunks=[1]))
        tasks -= idle * (time.monotonic() - begun)
        heartbeat = heartbeat_cpu(client)
        memory = memory_in_flight(client)
    return {
        "ms_per_task": 1e3 * tasks / TASKS,
        "ms_per_heartbeat": 1e3 * heartbeat,
        "kB_per_task_in_flight": memory / 1e3,
        **survey_seconds(folder),
        **plan_seconds(),
    }


def cpu_of(work: Any) -> float:
    """CPU of this process, all its threads."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def heartbeat_cpu(client: Client, count: int = 1000) -> float:
    """CPU of one heartbeat; sent from this process too, so rather too much."""
    address, state = next(iter(client.cluster.scheduler.workers.items()))
    metrics = {**state.metrics, "task_counts": {}, "digests_total_since_heartbeat": {}}

    async def beats() -> None:
        for _ in range(count):
            await client.scheduler.heartbeat_worker(
                address=address,
                resolve_address=False,
                now=time.time(),
                metrics=metrics,
                executing={},
                extensions={},
            )

    return cpu_of(lambda: client.sync(beats)) / count


def memory_in_flight(client: Client, count: int = 2000) -> float:
    """Bytes that a task in flight keeps in this process: client and scheduler."""
    program = client.submit(int, 0, pure=False)
    gc.collect()
    before = psutil.Process().memory_info().rss
    futures = [
        client.submit(sleep_on, program, Task(0, k, k + 1), key=f"chunk_m-{k}", pure=False)
        for k in range(count)
    ]
    time.sleep(5)
    after = psutil.Process().memory_info().rss
    client.cancel(futures, force=True)
    return (after - before) / count


def sleep_on(program: Any, task: Task) -> Receipt:
    return sleep(task)


def survey_seconds(folder: Path) -> dict[str, float]:
    """Looking at the statuses of 10⁸ variants: nothing stored yet, and all of it."""
    found = {}
    for chunk in (16_384, 131_072):
        path, count = folder / "survey.zarr", 10**8
        shutil.rmtree(path, ignore_errors=True)
        attrs = {"spec_hash": "x"}
        store.create(path, Layout(count, (Part((Output("x"),), chunk),), attrs=attrs))
        group = Store.open(path, "r+")
        found[f"survey_empty_{chunk}_s"] = cpu_of(lambda g=group: status.take(g))
        known = group.records()
        for number in range(known.count):
            told = Facts(Counter({1: known.rows(number, number + 1)}))
            record = known.encode(number, known.rows(number, number + 1), {}, told)
            group.objects.put(known.name(number), record)
        found[f"survey_records_{chunk}_s"] = cpu_of(lambda g=group: status.take(g))
        status.sum_up(group)
        found[f"survey_full_{chunk}_s"] = cpu_of(lambda g=group: status.take(g))
        assert not status.take(group).pending
        shutil.rmtree(path)
    return found


def plan_seconds() -> dict[str, float]:
    """16,384 rows at the end of 10⁸: the first time a worker asks, and the next."""
    found = {}
    for plan in (Sobol, LatinHypercube, Random):
        made, end = plan(BOUNDS, 10**8, 1), 10**8 - 40_000
        first = cpu_of(lambda m=made, e=end: m.rows(e, e + 16_384))
        again = cpu_of(lambda m=made, e=end: m.rows(e + 16_384, e + 32_768))
        found |= {f"{plan.__name__}_first_s": first, f"{plan.__name__}_next_s": again}
    return found


def beat(workers: int) -> float:
    """Seconds between a worker's heartbeats (distributed 2026.8)."""
    small = ((10, 0.5), (50, 1.0), (200, 2.0))
    return next((one for count, one in small if workers <= count), workers / 200 + 1)


def simulate(constants: dict[str, float], workers: int, seconds: float = 60.0) -> dict[str, float]:
    """A driver with a queue, workers with `worker-saturation` tasks each.

    Tasks vary by a third around the length the fan-out chooses. The driver's time goes to
    heartbeats first, then to receipts in the order they come; a worker whose tasks are all done
    waits until its receipt has been served and the next task sent.
    """
    length = max(task_queue.TASK_SECONDS, workers / task_queue.RECEIPTS_PER_SECOND)
    service = constants["ms_per_task"] / 1e3
    heartbeats = workers / beat(workers) * constants["ms_per_heartbeat"] / 1e3
    service /= max(1e-3, 1 - heartbeats)
    rng, ahead = random.Random(1), fanout.WINDOW - 1
    horizon = max(seconds, 20 * length)

    def takes() -> float:
        return length * rng.uniform(2 / 3, 4 / 3)

    queued = [ahead - 1] * workers  # tasks that wait at a worker, one more in hand
    events = [(rng.random() * length, k, "done") for k in range(workers)]
    heapq.heapify(events)
    free, busy, idle, served = 0.0, 0.0, 0, 0
    waiting = [False] * workers
    while events and events[0][0] < horizon:
        now, worker, kind = heapq.heappop(events)
        if kind == "done":
            free = max(free, now) + service
            served += 1
            heapq.heappush(events, (free, worker, "sent"))
            if queued[worker]:
                queued[worker] -= 1
                begin(events, now, worker, taken := takes())
                busy += taken
            else:
                waiting[worker], idle = True, idle + 1
        elif waiting[worker]:
            waiting[worker] = False
            begin(events, now, worker, taken := takes())
            busy += taken
        else:
            queued[worker] += 1
    return {
        "workers": workers,
        "task_s": length,
        "receipts_per_s": served / horizon,
        "driver_busy": min(1.0, heartbeats + served * constants["ms_per_task"] / 1e3 / horizon),
        "workers_busy": min(1.0, busy / (workers * horizon)),
        "in_flight": workers * fanout.WINDOW,
        "memory_MB": workers * fanout.WINDOW * constants["kB_per_task_in_flight"] / 1e3,
    }


def begin(events: list[tuple[float, int, str]], now: float, worker: int, taken: float) -> None:
    heapq.heappush(events, (now + taken, worker, "done"))


def table(constants: dict[str, float]) -> str:
    """The simulation for growing numbers of workers."""
    rows = [
        "| workers | task | receipts/s | driver busy | workers busy | tasks in flight | memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for workers in (2, 64, 256, 1000, 4000, 10_000):
        one = simulate(constants, workers)
        rows.append(
            f"| {workers:,} | {one['task_s']:.1f} s | {one['receipts_per_s']:.0f} "
            f"| {one['driver_busy']:.0%} | {one['workers_busy']:.1%} "
            f"| {one['in_flight']:,} | {one['memory_MB']:.0f} MB |"
        )
    return "\n".join(rows)


def main(arguments: list[str]) -> None:
    match arguments:
        case ["measure", folder]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            print(json.dumps(measure(Path(folder).absolute()), indent=1))
        case ["simulate", *files]:
            known = [json.loads(Path(file).read_text()) for file in files]
            middle = {key: statistics.median(one[key] for one in known) for key in known[0]}
            print(json.dumps(middle, indent=1), table(middle), sep="\n\n")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    from tests.campaigns import scaling  # under the name by which workers know it

    scaling.main(sys.argv[1:])
