"""Both sides of every ratio in one run, at equal error; CPU time beside wall time."""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest

#: Under CI: that it runs and both sides agree. Medians are for `make bench`.
ONCE = "CI" in os.environ


@pytest.fixture
def benchmark(benchmark):
    """pytest-benchmark's, of a single round under CI."""
    if ONCE:
        pedantic = benchmark.pedantic
        benchmark.pedantic = lambda job, *given, **options: pedantic(
            job, *given, **(options | {"rounds": 1, "warmup_rounds": 0})
        )
    return benchmark


def seconds(job: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Median wall and CPU time of a job, after one warm-up."""
    job()
    wall, cpu = [], []
    for _ in range(1 if ONCE else repeats):
        begun = time.perf_counter(), time.process_time()
        job()
        wall.append(time.perf_counter() - begun[0])
        cpu.append(time.process_time() - begun[1])
    return statistics.median(wall), statistics.median(cpu)


def goals(must: float | None, wanted: float | None) -> str:
    """What a ratio is measured by, in words."""
    named = {"must": must, "wanted": wanted}
    return "".join(f", {name} {value:g}" for name, value in named.items() if value is not None)


@pytest.fixture
def figure(benchmark, capsys):
    """`figure(what, found, allowed)`: recorded, and printed beside what it may be.

    Nothing is asserted on time: whoever else uses the machine would decide it.
    """

    def compare(what: str, found: float, allowed: float | None = None, *, least=False) -> None:
        benchmark.extra_info |= {what: found, f"{what}, figure": allowed}
        told = f"\n  {what}: {found:.4g}"
        if allowed is not None:
            met = found >= allowed if least else found <= allowed
            told += f", figure {allowed:g} {'met' if met else 'MISSED'}"
        with capsys.disabled():
            print(told)

    return compare


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


@pytest.fixture
def against_each(benchmark, capsys):
    """`against_each((ours, count), (theirs, count), unit, must, wanted)`: times and their ratio.

    must, wanted: ratios asked for, printed beside what is found; nothing is asserted on time.
    """

    def compare(ours, theirs, unit, must=None, wanted=None):
        benchmark.pedantic(ours[0], rounds=5, warmup_rounds=1)
        lines = []
        for who, (job, count) in (("ours", ours), ("theirs", theirs)):
            wall, cpu = seconds(job, 9 if who == "ours" else 3)
            benchmark.extra_info[f"{who} wall us/{unit}"] = wall / count * 1e6
            benchmark.extra_info[f"{who} cpu us/{unit}"] = cpu / count * 1e6
            lines.append(f"{who} {wall / count * 1e6:.3g} us wall, {cpu / count * 1e6:.3g} us cpu")
        info = benchmark.extra_info
        ratio = info[f"theirs cpu us/{unit}"] / info[f"ours cpu us/{unit}"]
        info |= {"ratio of cpu": ratio, "must": must, "wanted": wanted}
        with capsys.disabled():
            print(f"\n  {'; '.join(lines)} per {unit}: {ratio:.3g} times{goals(must, wanted)}")

    return compare
