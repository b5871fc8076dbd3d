"""Two turns of machines with one degree of freedom: many variants, tables and all."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof import cycle_integrator
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.periodic_tables import Turner
from basepar_core.single_dof.range import find_way

from .conftest import seconds

#: As many as a sweep's task takes; the plain tables of a few are timed, and compared.
VARIANTS, PLAIN = 1024, 16
FINEST = 2880
#: A drive for the shipped four-bar, which has none.
DRIVEN = (
    "\nmotors: {drive: {joint: A, voltage: 24, resistance: 0.6, constant: 0.2, ratio: 10}}\n"
    "friction: {D: {viscous: 0.5, coulomb: 1}}\n"
)
CASES = {
    "dwell": (
        load("dwell").source,
        {"AB": (0.028, 0.031), "gear": (6, 12), "flywheel": (0, 0.01)},
    ),
    "four-bar": (
        load("four-bar").source.replace("friction:", "# friction:") + DRIVEN,
        {"lx1": (0.25, 0.35), "Dx": (0.9, 1.1)},
    ),
}
START = {"dwell": 23.0, "four-bar": 10.0}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.benchmark(group="two turns of 1024 variants with a motor, error 1e-5")
def test_two_turns_of_many_variants(name, benchmark, capsys):
    text, bounds = CASES[name]
    model, rng = prepare(loads(text)), np.random.default_rng(4)
    values = {key: rng.uniform(*ends, VARIANTS) for key, ends in bounds.items()}
    way = find_way(model)
    turner = Turner(Engine(model), way)

    def ran(intervals):
        """Tables and two turns of all variants, from their dimensions to their speeds."""
        found = turner(values, intervals)
        assert found.rows.size == VARIANTS
        return [
            (rows, cycle_integrator.run(turn, np.full(len(rows), START[name]), turns=2))
            for rows, _, turn in found.parts()
        ]

    # Against the plain path, on four times as many nodes and more, of a few.
    few = {key: x[:PLAIN] for key, x in values.items()}
    _, finest = turn_at(model, way, few, FINEST)
    best = cycle_integrator.run(finest, np.full(PLAIN, START[name]), turns=2).speed
    scale = np.ptp(best, axis=(1, 2))[:, None, None]
    for intervals in (120, 180, 240, 360, 480, 576, 720):
        speed = np.empty((VARIANTS, 2, intervals // 2 + 1))
        for rows, one in ran(intervals):
            speed[rows] = one.speed
        off = np.abs(speed[:PLAIN] - best[..., :: FINEST // intervals]) / scale
        if off.max() < 1e-5:
            break
    assert off.max() < 1e-5  # of every variant's range, the slowest included
    benchmark.pedantic(lambda: ran(intervals), rounds=5, warmup_rounds=1)
    turns = [(turn, len(rows)) for rows, _, turn in turner(values, intervals).parts()]
    whole = seconds(lambda: ran(intervals))
    moving = seconds(
        lambda: [
            cycle_integrator.run(t, np.full(count, START[name]), turns=2) for t, count in turns
        ]
    )
    plain = seconds(lambda: turn_at(model, way, few, intervals), 1)[1] / PLAIN
    info = benchmark.extra_info
    info["variants per cpu second"] = VARIANTS / whole[1]
    info["variants per cpu second, tables given"] = VARIANTS / moving[1]
    info["cpu us of a variant's tables through NumPy"] = plain * 1e6
    with capsys.disabled():
        print(f"\n  {name}: {intervals} intervals, error {off.max():.1e} of the speed's range")
        print(f"  {VARIANTS / whole[1]:,.0f} variants per cpu s with their tables", end=" ")
        print(f"({whole[0] / VARIANTS * 1e6:.0f} us wall, {whole[1] / VARIANTS * 1e6:.0f} us cpu)")
        print(f"  {VARIANTS / moving[1]:,.0f} per cpu s when tables are given", end="; ")
        print(f"tables through NumPy: {plain * 1e3:.1f} cpu ms each")
