"""Closed loops and W against C++: Pinocchio's headers and coordinate partitioning, one thread.

The peer is `partitioned.cpp`, compiled by `g++ -std=c++17 -O3 -march=native -DNDEBUG` from the
headers of the package `pin` and Eigen's, and called by ctypes once for all variants and samples.
Both sides bring 256 variants within 2 % of the nominal geometry from the nominal assembly through
64 samples, store q of all and W of as many variants as stay in the cache, over and over.

On the clock are processor times of one thread. Ours: geometries' constants from their symbols, the
way to each geometry, q, W, its error bounds, memory for q, copies of G and q, all calls from
Python. Theirs: model and data once, placements copied, Newton's first closure, q, W, one call from
Python; not the joints' placements from symbols, nor the change from the parameters of Pinocchio's
joint frames to the bodies'. Memory for W, and their q, is taken before. Both leave gaps of
rounding; the test holds these, and compares q and W.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.compiled.api import Kernels
from basepar_core.compiled.workspace import zeros
from basepar_core.dynamics.closure import prepare
from tests.mechanisms import nearby

from .test_kernels import IN_CACHE, SAMPLES, _in_chunks, _smooth

VARIANTS, CHECKED = 256, 16
#: Where Eigen's headers may be, besides Pinocchio's own prefix.
EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3")
FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC"),
    # Types that Python's Pinocchio has too, compiled for another machine, are not taken for ours.
    *("-fvisibility=hidden", "-fno-gnu-unique", "-Wl,-Bsymbolic"),
    # Those of Pinocchio's own CMake targets: its joints are more than Boost's lists hold.
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)
POINTERS = (
    *("kinds", "parents", "carriers", "free", "gravity", "placements", "points", "start"),
    *("q", "v", "a", "W", "path", "gaps"),
)
KINDS = ("JointModelRZ", "JointModelPZ", "JointModelUniversal", "JointModelSpherical")


@pytest.fixture(scope="module")
def run_batch(tmp_path_factory):
    """`run_batch` of partitioned.cpp, compiled once: 40 s of processor time."""
    pin = pytest.importorskip("pinocchio")
    prefix = Path(pin.__file__).parents[4] / "include"
    compiler = shutil.which("g++")
    eigen = [p for p in (prefix / "eigen3", *map(Path, EIGEN)) if (p / "Eigen/LU").exists()]
    if compiler is None:
        pytest.skip("the peer is compiled by g++, which is not installed (apt install g++)")
    if not eigen:
        pytest.skip("the peer needs Eigen's headers (apt install libeigen3-dev)")
    if not (prefix / "pinocchio/algorithm/regressor.hpp").exists():
        pytest.skip(f"this package of Pinocchio has no headers in {prefix} (pip install pin)")
    library = tmp_path_factory.mktemp("peer") / "partitioned.so"
    source = Path(__file__).with_name("partitioned.cpp")
    folders = [x for p in (prefix, eigen[0]) for x in ("-isystem", str(p))]
    command = [compiler, *FLAGS, *folders, str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library)).run_batch


class _Fields(ctypes.Structure):
    """`Batch` of partitioned.cpp."""

    _fields_ = (
        *(
            (n, ctypes.c_int)
            for n in ("joints", "cuts", "freedoms", "variants", "samples", "kept")
        ),
        ("step", ctypes.c_double),
        *((n, ctypes.c_void_p) for n in POINTERS),
    )


class Batch:
    """The models of `partitioned.py` and a motion as arrays, and memory for what comes out."""

    def __init__(self, models, motion, kept):
        first, samples = models[0], motion.t.size
        joints = [list(m.model.joints)[1:] for m in models]
        placements = [list(m.model.jointPlacements)[1:] for m in models]
        columns = 10 * len(joints[0])
        self.W = zeros((kept, samples, columns, len(first.free)))
        self.path = zeros((len(models), samples, first.model.nq))
        self.gaps = zeros((len(models),))
        self.arrays = {
            "kinds": np.int32([KINDS.index(j.shortname()) for j in joints[0]]),
            "parents": np.int32(list(first.model.parents)[1:]),
            "carriers": np.int32([joint for joint, _, _ in first.points]),
            "free": np.int32(first.free),
            "gravity": first.model.gravity.linear.copy(),
            "placements": np.array(
                [[(*p.rotation.flat, *p.translation) for p in own] for own in placements]
            ),
            "points": np.array([[point for _, point, _ in m.points] for m in models]),
            "start": np.array([m.q for m in models]),
            "q": np.ascontiguousarray(motion.q.T),
            "v": np.ascontiguousarray(motion.q_dot.T),
            "a": np.ascontiguousarray(motion.q_ddot.T),
            **{"W": self.W, "path": self.path, "gaps": self.gaps},
        }
        self.fields = _Fields(
            *(len(joints[0]), len(first.points) // 2, len(first.free), len(models), samples, kept),
            *(motion.t[1], *(self.arrays[n].ctypes.data for n in POINTERS)),
        )


@pytest.mark.parametrize("name", ["3-rps", "stewart-gough", "sla-suspension"])
@pytest.mark.benchmark(group="spatial loops and W against C++, 64 samples")
def test_loops_against_cpp(against_each, figure, run_batch, name):
    from .partitioned import Partitioned

    model = prepare(load(name))
    motion = _smooth(model, SAMPLES)
    values = nearby(model.mechanism, VARIANTS, 0.02, 1)
    kernels = Kernels(model)
    few = {n: x[:CHECKED] for n, x in values.items()}
    found = kernels.observe(few, motion)
    models = [Partitioned(model, {n: x[k] for n, x in values.items()}) for k in range(VARIANTS)]
    check = Batch(models[:CHECKED], motion, CHECKED)
    assert run_batch(ctypes.byref(check.fields)) == 0
    for who, gaps in (("ours", found.residual), ("theirs", check.gaps)):
        figure(f"largest gap of a loop, {who}, m", gaps.max())
        # Coordinates of points about a metre from the ground, some ten roundings deep.
        assert gaps.max() < 1e-14
    # Both close their loops to rounding; some hundred roundings on either side.
    theirs_q, ours_q = check.path, found.trace.q[models[0].order].transpose(1, 2, 0)
    np.testing.assert_allclose(theirs_q, ours_q, rtol=0, atol=1e-12)
    for W, ours_W, one in zip(check.W, found.W, models, strict=False):
        W = one.ours(W.transpose(0, 2, 1))
        assert np.abs(ours_W - W).max() < 1e-12 * np.abs(W).max()

    def in_cache(size):
        return next(n for n in (8, 4, 2, 1) if n == 1 or n * size <= IN_CACHE)

    buffer = zeros((in_cache(found.W[0].nbytes), *found.W.shape[:0:-1]))
    batch = Batch(models, motion, in_cache(check.W[0].nbytes))

    def ours():
        return _in_chunks(kernels, values, motion, buffer)

    def theirs():
        assert run_batch(ctypes.byref(batch.fields)) == 0

    count = VARIANTS * SAMPLES
    against_each((ours, count), (theirs, count), f"sample of {name}", 2, 5)
