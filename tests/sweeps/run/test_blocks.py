"""Rows that are asked for, block by block over one open store."""

from dataclasses import replace

import cloudpickle
import numpy as np
import pytest

from basepar_core.expressions import Call, Name, number
from sweeps.chunks import prepare
from sweeps.run import blocks, fanout
from sweeps.run.shared_program import SHELF, fetch
from sweeps.spec import Asked, Derived, Formula
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store
from sweeps.store import status as survey

SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.25, 0.35]}, candidates: 60, seed: 1}
evaluate: {rank: none, metrics: [torque_rms]}
store: {chunk: 16}
"""
VALUES = np.linspace(0.25, 0.35, 60)[:, None]


def asked(path, derived=False):
    """A sweep whose rows are asked for."""
    spec = parse_sweep(SWEEP).at(str(path))
    plan = Asked({"lx1": {}}, 60, {})
    if derived:
        twice = Formula("lx3", "4*lx1", Call("*", (number(4), Name("lx1"))))
        plan = Derived(plan, (twice,), spec.mechanism)
    return replace(spec, plan=plan)


@pytest.fixture
def noted(monkeypatch):
    """Works and ranges of all fan-outs."""
    found, run = [], fanout.run

    def noted(work, ranges, *others, **options):
        found.append((work, list(ranges)))
        return run(work, found[-1][1], *others, **options)

    monkeypatch.setattr(fanout, "run", noted)
    return found


def test_neighbouring_chunks_are_one_range(client, tmp_path, noted):
    """So that a task may take several; what is stored is not among them."""
    spec = asked(tmp_path / "run.zarr")
    with blocks.opened(spec, prepare(spec), client) as opened:
        for start, stop in ((16, 32), (0, 60), (0, 60)):
            opened.evaluate(start, VALUES[start:stop])
    assert [ranges for _, ranges in noted] == [[(16, 32)], [(0, 16), (32, 60)], []]
    held = Store.open(f"{tmp_path}/run.zarr")
    assert survey.take(held).pending == []
    np.testing.assert_array_equal(held["lx1"][:], VALUES[:, 0])
    # Chunk by chunk every bit is the same.
    alone = asked(tmp_path / "alone.zarr")
    with blocks.opened(alone, prepare(alone), client) as opened:
        for start in range(0, 60, 16):
            opened.evaluate(start, VALUES[start : start + 16])
    torques = Store.open(f"{tmp_path}/alone.zarr")["torque_rms"][:]
    np.testing.assert_array_equal(torques, held["torque_rms"][:])


def _evaluator(program):
    return id(fetch(program).stages[0].evaluator)


@pytest.mark.parametrize("derived", [False, True])
def test_the_mechanism_crosses_once(client, tmp_path, noted, derived):
    """A block brings its rows alone; workers keep the rest of their work until the end."""
    spec = asked(tmp_path / "run.zarr", derived)
    evaluator, kept = prepare(spec), []
    with blocks.opened(spec, evaluator, client) as opened:
        name = opened.program.name
        for start in (0, 16):
            opened.evaluate(start, VALUES[start : start + 16])
            kept.append(
                [
                    client.submit(_evaluator, name, workers=[one], pure=False).result()
                    for one in client.nthreads()
                ]
            )
    assert kept[0] == kept[1]
    held = Store.open(f"{tmp_path}/run.zarr")
    assert survey.take(held).pending == [(32, 60)]
    if derived:
        np.testing.assert_array_equal(held["lx3"][:32], 4 * held["lx1"][:32])  # 4 rounds nothing
    sizes = [len(cloudpickle.dumps(work)) for work, _ in noted]
    assert len(sizes) == 2
    assert max(sizes) < 0.1 * len(cloudpickle.dumps(evaluator))
    assert client.get_metadata([SHELF, name]) is None
