"""Exact poses from Python; what they are is tests/core/dynamics/test_exact_poses.py's."""

import numpy as np
import pytest

import basepar

PLACES = [[0.0, 0.0], [0.1, 0.02], [0.2, 0.05], [0.28, 0.12], [0.3, 0.2]]
ANGLES = [0.0, 0.1, 0.3, 0.6, 1.0]


def test_bars_keep_their_length():
    ground, body = basepar.exact_bars(PLACES, ANGLES)
    turn, at = np.exp(1j * np.array(ANGLES)), np.array(PLACES) @ [1, 1j]
    assert len(ground) in (2, 4)
    for pin, own in zip(ground @ [1, 1j], body @ [1, 1j], strict=True):
        lengths = np.abs(at + turn * own - pin)
        assert np.ptp(lengths) < 1e-9 * lengths.mean()  # Newton's method ends at 1e-9


@pytest.mark.parametrize(
    ("places", "angles", "said"),
    [
        (PLACES[:4], ANGLES[:4], "5 poses are needed"),
        (PLACES, ["a"] * 5, "are numbers"),
        ([*PLACES[:4], PLACES[0]], [*ANGLES[:4], 0.0], "no two are the same"),
    ],
)
def test_mistakes(places, angles, said):
    with pytest.raises(basepar.UsageError, match=said):
        basepar.exact_bars(places, angles)
