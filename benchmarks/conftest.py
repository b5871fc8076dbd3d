"""Both sides of every ratio in one run, at equal error; CPU time beside wall time."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest


def seconds(job: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Median wall and CPU time of a job, after one warm-up."""
    job()
    wall, cpu = [], []
    for _ in range(repeats):
        begun = time.perf_counter(), time.process_time()
        job()
        wall.append(time.perf_counter() - begun[0])
        cpu.append(time.process_time() - begun[1])
    return statistics.median(wall), statistics.median(cpu)


@pytest.fixture
def against(benchmark, capsys):
    """`against(ours, theirs, per=…)`: benchmark ours, and record how many times faster it is."""

    def compare(ours: Callable[[], Any], theirs: Callable[[], Any], per: int, unit: str) -> None:
        benchmark.pedantic(ours, rounds=5, warmup_rounds=1)
        rows = {"ours": seconds(ours), "theirs": seconds(theirs)}
        for who, (wall, cpu) in rows.items():
            benchmark.extra_info[f"{who} wall us/{unit}"] = wall / per * 1e6
            benchmark.extra_info[f"{who} cpu us/{unit}"] = cpu / per * 1e6
        ratio = rows["theirs"][1] / rows["ours"][1]
        benchmark.extra_info["ratio of cpu"] = ratio
        with capsys.disabled():
            print(
                f"\n  ours {rows['ours'][0] / per * 1e6:.2f} us wall, "
                f"{rows['ours'][1] / per * 1e6:.2f} us cpu; theirs "
                f"{rows['theirs'][0] / per * 1e6:.2f}, {rows['theirs'][1] / per * 1e6:.2f} "
                f"per {unit}: {ratio:.2f} times"
            )

    return compare
