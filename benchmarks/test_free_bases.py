"""W of a quadruped that floats, against the same tree on six drives in series."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled.api import Kernels
from basepar_core.compiled.workspace import zeros
from basepar_core.dynamics import Motion, prepare
from basepar_core.files.mechanism_file import loads

from .conftest import seconds

VARIANTS, SAMPLES, CHUNKS = 8, 64, 40
#: Three slides and three revolute joints, with bodies between: what six rows cost without a base.
SERIES = """
  X: {type: prismatic, connects: [ground, g1], axis: [[1, 0, 0], [1, 0, 0]]}
  Y: {type: prismatic, connects: [g1, g2], axis: [[0, 1, 0], [0, 1, 0]]}
  Z: {type: prismatic, connects: [g2, g3]}
  U: {type: revolute, connects: [g3, g4]}
  V: {type: revolute, connects: [g4, g5], axis: [[0, 1, 0], [0, 1, 0]]}
  W: {type: revolute, connects: [g5, trunk], axis: [[1, 0, 0], [1, 0, 0]]}"""


def on_series(source: str) -> str:
    """The file with the base on drives in series, without its motions."""
    body = source[: source.index("excitation:")].replace("B.3: 0.3 m, ", "")
    body = body.replace("\n  B: {type: free, connects: [ground, trunk]}", SERIES)
    body = body.replace("B.1, B.2, B.3, B.4, B.5, B.6", "X, Y, Z, U, V, W")
    return body.replace("bodies:\n", "bodies:\n" + "".join(f"  g{k}: {{}}\n" for k in range(1, 6)))


@pytest.mark.benchmark(group="W of a quadruped, 8 variants of 64 samples")
def test_free_base_against_six_drives_in_series(benchmark, figure):
    free = load("quadruped")
    jobs, blocks = {}, {}
    for name, mechanism in (("free", free), ("series", loads(on_series(free.source)))):
        model = prepare(mechanism)
        count = len(mechanism.coordinates)
        q, v, a = np.random.default_rng(3).uniform(-1, 1, (3, count, SAMPLES))
        kernels, motion = Kernels(model), Motion(np.arange(SAMPLES, dtype=float), q, v, a)
        start = kernels.start({"x": np.linspace(0.18, 0.2, VARIANTS)})
        path = kernels.trace(start, q)
        W = zeros((VARIANTS, len(mechanism.parameter_names), count, SAMPLES))

        def job(kernels=kernels, G=start.G, q=path.q, motion=motion, W=W):
            for _ in range(CHUNKS):  # a chunk alone is over before the processor is awake
                kernels.regress(G, q, motion, SAMPLES, W)

        jobs[name] = job
        blocks[name] = kernels.plan.moved[:, kernels.plan.carries].sum()
    benchmark.pedantic(jobs["free"], rounds=5, warmup_rounds=1)
    times = {name: seconds(job)[1] for name, job in jobs.items()}
    ratio = times["free"] / times["series"]
    figure("CPU of the free base over that of six drives in series", ratio)
    # The bodies between have columns too: of those there are, row by row.
    each = ratio * blocks["series"] / blocks["free"]
    figure("the same per body and row that are not zero", each, 1.3)
