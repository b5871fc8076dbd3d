"""Rows that are asked for, block by block over one open store."""

import cloudpickle
import numpy as np

from sweeps.chunks import prepare
from sweeps.run import blocks, fanout
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store
from sweeps.store import status as survey

SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.25, 0.35]}, candidates: 60, seed: 1}
evaluate: {rank: none, metrics: [torque_rms]}
store: {chunk: 16}
"""


def test_neighbouring_chunks_are_one_range(client, tmp_path, monkeypatch):
    """So that a task may take several; what is stored is not among them."""
    spec, ranges, run = parse_sweep(SWEEP).at(f"{tmp_path}/run.zarr"), [], fanout.run

    def noted(work, asked, *others, **options):
        ranges.append(list(asked))
        return run(work, ranges[-1], *others, **options)

    monkeypatch.setattr(fanout, "run", noted)
    with blocks.opened(spec, prepare(spec), client) as opened:
        for start, stop in ((16, 32), (0, 60), (0, 60)):
            opened.evaluate(spec, start, stop)
    assert ranges == [[(16, 32)], [(0, 16), (32, 60)], []]
    held = Store.open(f"{tmp_path}/run.zarr")
    assert survey.take(held).pending == []
    # Chunk by chunk every bit is the same.
    alone = spec.at(f"{tmp_path}/alone.zarr")
    with blocks.opened(alone, prepare(alone), client) as opened:
        for start in range(0, 60, 16):
            opened.evaluate(alone, start, min(start + 16, 60))
    torques = Store.open(f"{tmp_path}/alone.zarr")["torque_rms"][:]
    np.testing.assert_array_equal(torques, held["torque_rms"][:])


def test_the_mechanism_crosses_once(client, tmp_path, monkeypatch):
    """A block brings its rows alone; workers keep the rest of their work."""
    spec, sizes, run = parse_sweep(SWEEP).at(f"{tmp_path}/run.zarr"), [], fanout.run

    def noted(work, *others, **options):
        sizes.append(len(cloudpickle.dumps(work)))
        return run(work, *others, **options)

    monkeypatch.setattr(fanout, "run", noted)
    evaluator = prepare(spec)
    with blocks.opened(spec, evaluator, client) as opened:
        for start in (0, 16):
            opened.evaluate(spec, start, start + 16)
        assert survey.take(opened.store).pending == [(32, 60)]
    assert len(sizes) == 2
    assert max(sizes) < 0.1 * len(cloudpickle.dumps(evaluator))
