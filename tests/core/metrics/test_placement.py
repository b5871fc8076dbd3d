"""Where a mechanism is to stand to meet a target, against a target that was put somewhere."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.dynamics import cycle, prepare, trace
from basepar_core.files import mechanism_file
from basepar_core.metrics import ClosedCycle, placements
from basepar_core.metrics.targets import FITTED, Target


@pytest.fixture(scope="module")
def model():
    return prepare(mechanism_file.load("workflows/examples/mechanisms/straight-line.yaml"))


@pytest.fixture(scope="module")
def own(model):
    """Places (point, 2) of its point P at some samples."""
    motion = cycle(model.mechanism, model.assembled.coordinates)
    closed = ClosedCycle(model, {}, motion, trace(model, {}, motion.q).q)
    return closed.tracks("P")[0, :, 5::20].T


@pytest.mark.parametrize(
    ("fit", "angle", "scale", "shift"),
    [
        (FITTED, 0.7, 1.3, (0.2, -0.1)),
        (("timing", "position", "rotation"), -2.1, 1.0, (0.02, 0.5)),
        (("timing", "position"), 0.0, 1.0, (-0.3, 0.1)),
        (("timing",), 0.0, 1.0, (0.0, 0.0)),
    ],
)
def test_a_target_that_was_moved_is_found(model, own, fit, angle, scale, shift):
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = own @ turn.T + shift
    target = Target("wanted", tuple(map(tuple, points.tolist())), fit=fit)
    metrics = ["torque_rms", "path_error(P,wanted)", "path_error(P,other)"]
    (found,) = placements(model, metrics, [target])
    assert found.metric == "path_error(P,wanted)"
    # Samples are met: Newton ends at rounding, whose root is what turn and shift may differ by.
    assert found.error < 1e-12
    assert found.angle == pytest.approx(angle, abs=1e-8)
    assert found.scale == pytest.approx(scale, rel=1e-8)
    np.testing.assert_allclose(found.shift, shift, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.points, own, rtol=0, atol=1e-8)


def test_a_file_that_lost_its_cycle_or_its_timing_has_none(model, own):
    points = tuple(map(tuple, own.tolist()))
    target = Target("wanted", points, "t", tuple(float(k) for k in range(len(own))), ())
    without = replace(model, mechanism=replace(model.mechanism, cycle=None))
    assert list(placements(without, ["path_error(P,wanted)"], [target])) == []
    once = mechanism_file.loads(model.mechanism.source.replace("turns: 1", "turns: 0.5"))
    assert list(placements(prepare(once), ["path_error(P,wanted)"], [target])) == []


def test_metrics_that_nobody_asked_for_have_none(model, own):
    target = Target("wanted", tuple(map(tuple, own.tolist())))
    assert list(placements(model, ["torque_rms"], [target])) == []
