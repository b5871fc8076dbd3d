"""`basepar warmup`: what it says, and that a fresh process then compiles nothing."""

import json
import os
import subprocess
import sys

import pytest

from basepar_core.kernels.lanes import _forget_older


@pytest.mark.slow  # compiles, where nothing has compiled before
def test_a_second_process_compiles_nothing():
    command = [sys.executable, "-m", "workflows.cli", "warmup", "--json"]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert [group["compiled"] for group in document["kernels"]] == [0] * len(document["kernels"])
    assert os.path.isdir(document["cache"])
    assert document["seconds"] == pytest.approx(sum(g["seconds"] for g in document["kernels"]))


@pytest.mark.slow  # compiles
def test_half_is_compiled_beside(tmp_path):
    """Into the cache that this process reads; and nothing where it is there already."""
    script = (
        "from basepar_core.kernels import warmup\n"
        "first = warmup.beside()\n"
        "first.join()\n"
        "assert warmup.beside() is None"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list(tmp_path.rglob("paths*.nbi"))


def test_kernels_older_than_a_source_are_forgotten(tmp_path):
    """The cached ones of this function only; a newer one stays."""
    names = ["m.f-3.py311.nbi", "m.f-9.py311.nbi", "m.other-3.py311.nbi"]
    for name in names:
        (tmp_path / name).touch()
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (0, 0))
    _forget_older(str(tmp_path), "*.f-*.nbi")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
