"""Two turns of the dwell linkage with its motor, many variants at once."""

import numpy as np
import pytest

from basepar_core.closure import prepare
from basepar_core.files import load
from basepar_core.onedof import turning
from basepar_core.onedof.machine import turn_at
from basepar_core.onedof.way import find_way

from .conftest import seconds

VARIANTS = 64


@pytest.fixture(scope="module")
def dwells():
    model = prepare(load("dwell"))
    rng = np.random.default_rng(4)
    values = {
        "AB": rng.uniform(0.028, 0.031, VARIANTS),
        "gear": rng.uniform(6, 12, VARIANTS),
        "flywheel": rng.uniform(0, 0.01, VARIANTS),
    }
    way = find_way(model)
    return {n: turn_at(model, way, values, n)[1] for n in (360, 720, 1440)}, model, way, values


@pytest.mark.benchmark(group="two turns of the dwell linkage with its motor, 64 variants")
def test_two_turns_of_many_variants(dwells, benchmark, capsys):
    turns, model, way, values = dwells
    start = np.full(VARIANTS, 23.0)
    finest = turning.run(turns[1440], start, turns=2)
    scale = np.ptp(finest.speed, axis=(1, 2))[:, None, None]
    for intervals in (360, 720):
        ran = turning.run(turns[intervals], start, turns=2)
        every = 1440 // intervals
        off = np.abs(ran.speed - finest.speed[..., ::every]) / scale
        if off.max() < 1e-5:
            break
    assert off.max() < 1e-5  # of every variant's range, the slowest included
    benchmark.pedantic(
        lambda: turning.run(turns[intervals], start, turns=2), rounds=5, warmup_rounds=1
    )
    wall, cpu = seconds(lambda: turning.run(turns[intervals], start, turns=2))
    tabulated = seconds(lambda: turn_at(model, way, values, intervals), 1)
    benchmark.extra_info["variants per cpu second"] = VARIANTS / cpu
    benchmark.extra_info["cpu ms of tables per variant"] = tabulated[1] / VARIANTS * 1e3
    rate, alone, table = VARIANTS / cpu, wall / VARIANTS * 1e6, tabulated[1] / VARIANTS * 1e3
    with capsys.disabled():
        print(f"\n  {intervals} intervals a turn, error {off.max():.1e} of the speed's range")
        print(f"  {rate:,.0f} variants per cpu s ({alone:.0f} us wall each)")
        print(f"  tables of m, loads and motors before that: {table:.2f} cpu ms each")
