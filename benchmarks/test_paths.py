"""Variants of which a path is asked, against the same variants of which a torque is asked."""

import numpy as np
import pytest

from basepar_core.files import mechanism_file
from basepar_core.metrics import Target
from sweeps.chunks.evaluator import prepare
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, SweepSpec

from .conftest import seconds

VARIANTS, POINTS = 4000, 25
RANGES = (("lx1", 0.25, 0.35), ("lx2", 0.65, 0.75), ("lx3", 1.25, 1.35), ("Dx", 0.9, 1.1))
CRANK = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
CURVE = tuple(
    (0.3 + 0.3 * float(x), 0.3 + 0.3 * float(y))
    for x, y in zip(np.cos(CRANK), np.sin(CRANK), strict=True)
)
STATED = ("A", tuple(CRANK.tolist()))
#: Feet, turn, size and place found together, from eight directions: another order of work.
PLACED = Target("placed", CURVE, fit=("timing", "position", "rotation", "scale"))
TARGETS = (
    Target("free", CURVE),
    Target("stated", CURVE, *STATED, ()),
    Target("fitted", CURVE, *STATED, ("position", "rotation", "scale")),
)


def job(metric, targets=()):
    source = mechanism_file.load("four-bar").source
    points = "points: {P: {body: coupler, at: [lx2/2, 0.2 m]}}"
    mechanism = mechanism_file.loads(f"{source}\n{points}\n")
    asked = Evaluation("none", metrics=(metric,), targets=targets)
    plan = Random(RANGES, VARIANTS, 3)
    evaluator = prepare(SweepSpec(mechanism, plan, evaluation=asked))
    columns, passed = plan.rows(0, VARIANTS), np.ones(VARIANTS, bool)
    return lambda: evaluator(columns, passed)


@pytest.mark.benchmark(group="four-bar variants, 25 points of a target, 128 samples")
def test_path_error_against_torque(benchmark, figure):
    torque = job("torque_rms")
    benchmark.pedantic(torque, rounds=3, warmup_rounds=1)
    for target in TARGETS:
        path = job(f"path_error(P,{target.name})", (target,))
        ratio = seconds(path)[1] / seconds(torque)[1]
        figure(f"CPU with path_error, {target.name}, over that with torque_rms", ratio, 1.15)
    placed = job(f"path_error(P,{PLACED.name})", (PLACED,))
    ratio = seconds(placed, 1)[1] / seconds(torque)[1]
    figure(f"CPU with path_error, {PLACED.name}, over that with torque_rms", ratio)
