"""`basepar warmup`: what it says, and that a fresh process then compiles nothing."""

import json
import os
import subprocess
import sys

import pytest

from basepar_core.compiled.simd.lane_types import _forget_older

#: A sweep of a loop in the plane, geometries of a spatial one and of an arm.
SWEEP = """
import numpy as np
from basepar_core.dynamics.closure import prepare
from basepar_core.compiled.backend import Engine
from basepar_core.api import load
from basepar_core.dynamics.motion import excitation
from sweeps.chunks import evaluator, warmup
from sweeps.spec.reader import parse_sweep

spec = parse_sweep(
    "{mechanism: four-bar, space: {plan: random, variables: {lx1: [0.25, 0.35]}, candidates: 9,"
    " seed: 1}, evaluate: {rank: auto, reduction: {criteria: [bic]}, metrics: [torque_rms]}}"
)
evaluator.prepare(spec)(spec.plan.rows(0, 9), np.ones(9, dtype=bool))
for name in ("sla-suspension", "ur5"):
    model = prepare(load(name))
    motion = excitation(model.mechanism, model.assembled.coordinates)
    nominal, shares = model.mechanism.nominal, np.array([0.995, 1.0, 1.005])
    nearby = {symbol.name: nominal[symbol.name] * shares for symbol in model.mechanism.geometry}
    assert Engine(model).observe(nearby, motion).closed.all()
print(warmup._compiled())
"""


@pytest.mark.slow  # compiles, where nothing has compiled before
def test_a_second_process_compiles_nothing():
    """Neither `warmup` again, nor sweeps."""
    command = [sys.executable, "-m", "workflows.cli.main", "warmup", "--json"]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert [group["compiled"] for group in document["kernels"]] == [0] * len(document["kernels"])
    assert os.path.isdir(document["cache"])
    assert document["seconds"] == pytest.approx(sum(g["seconds"] for g in document["kernels"]))
    command = [sys.executable, "-c", SWEEP]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


@pytest.mark.slow  # compiles
def test_half_is_compiled_beside(tmp_path):
    """Into the cache that this process reads; and nothing where it is there already."""
    script = (
        "from sweeps.chunks import warmup\n"
        "first = warmup.beside()\n"
        "first.join()\n"
        "assert warmup.beside() is None"
    )
    _run(script, cache=tmp_path)
    assert list(tmp_path.rglob("paths*.nbi"))


def test_one_process_compiles_for_all(tmp_path):
    """While somebody compiles, the process of another sweep ends at once."""
    script = (
        "import fcntl, os\n"
        "from sweeps.chunks import warmup\n"
        "held = os.open(warmup.cache_directory(), os.O_RDONLY)\n"
        "fcntl.flock(held, fcntl.LOCK_EX)\n"
        "warmup.beside().join()"
    )
    _run(script, cache=tmp_path)
    assert not list(tmp_path.rglob("*.nbi"))


def _run(script, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_kernels_older_than_a_source_are_forgotten(tmp_path):
    """The cached ones of this function only; a newer one stays."""
    names = ["m.f-3.py311.nbi", "m.f-9.py311.nbi", "m.other-3.py311.nbi"]
    for name in names:
        (tmp_path / name).touch()
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (0, 0))
    _forget_older(str(tmp_path), "*.f-*.nbi")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
