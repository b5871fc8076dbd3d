"""A chunk is moved in pieces: of whatever size, with the same bits."""

import numpy as np
import pytest

from sweeps.chunks import chunk
from sweeps.chunks.evaluator import prepare
from sweeps.spec.reader import parse_sweep
from sweeps.store.statuses import Status

FOUR_BAR = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: 64
  seed: 7
evaluate:
  rank: auto
  beta: true
  reduction: {criteria: [tolerance, bic], tolerance: 0.01}
  metrics: [torque_rms, torque_peak, "stroke(D)"]
"""
DWELL = """
mechanism: dwell
space:
  plan: sobol
  variables: {AB: [0.028, 0.032]}
  candidates: 8
  seed: 3
evaluate: {rank: none, metrics: [speed_fluctuation]}
"""


@pytest.mark.parametrize(
    ("text", "least"), [(FOUR_BAR, 1), (FOUR_BAR, 7), (FOUR_BAR, 33), (DWELL, 3)]
)
def test_pieces_change_no_bit(monkeypatch, text, least):
    spec = parse_sweep(text)
    evaluator = prepare(spec)
    columns, passed = spec.plan.rows(0, len(spec)), np.ones(len(spec), dtype=bool)
    whole = evaluator(columns, passed)
    assert (whole["status"] == Status.SOLVED).sum() > len(spec) // 2
    monkeypatch.setattr(chunk, "PIECE_BYTES", 0)
    monkeypatch.setattr(chunk, "LEAST_PIECE", least)
    parts = evaluator(columns, passed)
    for name, values in whole.items():
        np.testing.assert_array_equal(parts[name], values, err_msg=name)
