"""W of an arm whose last joint follows the one before by a gear, against the arm without it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled.api import Kernels
from basepar_core.compiled.workspace import zeros
from basepar_core.dynamics import Motion, prepare
from basepar_core.expressions import ONE, Number
from basepar_core.mechanism import Coupling, Mechanism
from tests.mechanisms import nearby

from .conftest import seconds

VARIANTS, SAMPLES, CHUNKS = 8, 64, 40


def geared(arm: Mechanism) -> Mechanism:
    """Its last coordinate by the one before."""
    *_, before, last = arm.coordinates
    gear = Coupling("gear", ((last, ONE), (before, Number(Fraction(-3, 2)))))
    coordinates = arm.coordinates[:-1]
    return replace(arm, couplings=(gear,), coordinates=coordinates, excitation=None, cycle=None)


@pytest.mark.benchmark(group="W of an arm, 8 variants of 64 samples")
def test_gear_against_the_same_tree(benchmark, figure):
    arm = load("ur5")
    jobs = {}
    for name, mechanism in (("gear", geared(arm)), ("tree", arm)):
        model = prepare(mechanism)
        count = len(mechanism.coordinates)
        q, v, a = np.random.default_rng(3).uniform(-1, 1, (3, count, SAMPLES))
        kernels, motion = Kernels(model), Motion(np.arange(SAMPLES, dtype=float), q, v, a)
        start = kernels.start(nearby(mechanism, VARIANTS, 0.05, 1))
        path = kernels.trace(start, q)
        W = zeros((VARIANTS, 60, count, SAMPLES))

        def job(kernels=kernels, G=start.G, q=path.q, motion=motion, W=W):
            for _ in range(CHUNKS):  # a chunk alone is over before the processor is awake
                kernels.regress(G, q, motion, SAMPLES, W)

        jobs[name] = job
    benchmark.pedantic(jobs["gear"], rounds=5, warmup_rounds=1)
    times = {name: seconds(job)[1] for name, job in jobs.items()}
    figure("CPU with the gear over that of the tree", times["gear"] / times["tree"], 1.15)
