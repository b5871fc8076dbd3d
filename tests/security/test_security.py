"""SECURITY.md's sentences have tests, and a sample of the campaign of hostile files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import Laptop, Slurm, load_profile, preview
from tests.campaigns import hostile_files
from workflows.jobs import place_of

from .made import Bomb

ROOT = Path(__file__).parents[2]


def test_every_sentence_names_tests_that_there_are():
    text = (ROOT / "SECURITY.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", text))
    sources = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^ *def (test_\w+)", sources, re.MULTILINE))
    assert len(named) > 15
    assert named <= there


def test_every_point_names_a_test():
    """What begins with a dash, or is no heading, and is not the first or the last word."""
    text = (ROOT / "SECURITY.md").read_text()
    points = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(points) > 20
    assert [line for line in points if not re.search(r"Tests?: `test_", line)] == []
    others = [line for line in text.splitlines() if line and line[0] not in "-#"]
    assert [line.split()[0] for line in others] == ["What", "Look"]


def test_a_profile_is_a_program(tmp_path):
    line = "touch '$HOME/owned'; `id`"
    text = hostile_files.PROFILE.replace("module load python", line)
    (tmp_path / "p.yaml").write_text(f"{text}python: /opt/their/python\n")
    place = load_profile(tmp_path / "p.yaml")
    assert isinstance(place, Slurm)
    script = preview(place)
    assert {line, "#SBATCH --account=x"} <= {*script.splitlines()}
    assert "exec /opt/their/python -P -m" in script


@pytest.mark.parametrize("name", ["laptop", "basepar.yaml", "default.yaml", "dask.yaml"])
def test_no_profile_is_read_that_nobody_named(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(hostile_files.PROFILE)
    assert place_of("laptop", None) == Laptop()


def _ran(code, folder, **more):
    """Python code in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_who_writes_the_kernel_cache_runs_code(tmp_path):
    """Numba unpickles the index of a kernel before it looks what it is of."""
    (tmp_path / "kernels.py").write_text(
        "import numba\n\n\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    code = "import sys; sys.path.insert(0, '.'); import kernels; print(kernels.twice(2))"
    cache = tmp_path / "cache"
    assert _ran(code, tmp_path, NUMBA_CACHE_DIR=str(cache)).stdout == "4\n"
    (index,) = cache.rglob("*.nbi")
    index.write_bytes(Bomb(tmp_path / "owned").pickled())
    _ran(code, tmp_path, NUMBA_CACHE_DIR=str(cache))
    assert (tmp_path / "owned").exists()


def test_the_environment_is_trusted(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "yaml.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    code = "from workflows.cli.main import main; main(['list'])"
    _ran(code, tmp_path, PYTHONPATH=f"{tmp_path / 'theirs'}:{ROOT}")
    assert (tmp_path / "owned").exists()


SWEEP = """
mechanism: four-bar
space: {variables: {lx1: [0.3, 0.35, 0.4]}, plan: grid}
evaluate: {own: {deadly: deadly.py:deadly}, metrics: [deadly]}
store: {path: s.zarr, chunk: 3}
"""
DEADLY = """
import os

def deadly(motion):
    if (abs(motion.symbols["lx1"] - 0.35) < 1e-9).any():
        os._exit(3)
    return 0 * motion.symbols["lx1"]
"""
#: What the driver, workers, those that replace dead ones, and isolated variants import.
BESIDE = (
    *("zarr", "numpy", "psutil", "distributed", "dask", "numba", "yaml"),
    *("sweeps", "cluster", "workflows", "basepar_core"),
    *("pickle", "socket", "struct", "selectors", "subprocess", "multiprocessing", "queue"),
)


@pytest.mark.slow
def test_files_beside_a_sweep_are_not_imported(tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP)
    (tmp_path / "deadly.py").write_text(DEADLY)
    for name in BESIDE:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    code = "import sys; from workflows.cli.main import main; sys.exit(main(['sweep', 's.yaml']))"
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "exit status 3" in ran.stdout + ran.stderr, ran
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("ending", ["urdf", "xacro"])
def test_xacro_is_not_run(ending, run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("xacro", "rosrun", "ros2"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\n")
        (tmp_path / name).chmod(0o755)
    file = tmp_path / f"arm.{ending}"
    file.write_text(
        '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        "<xacro:property name=\"x\" value=\"${open('owned', 'w')}\"/></robot>"
    )
    ran = run("show", str(file))
    assert ran.status == 1
    assert "xacro" in ran.err
    assert not (tmp_path / "owned").exists()


@pytest.mark.slow
def test_hostile_files_run_nothing():
    """One case of each kind of file, three times; the campaign has thousands."""
    found = hostile_files.run(3 * len(hostile_files.COMMANDS), seed=7, show=True)
    assert found["cases"] == 3 * len(hostile_files.COMMANDS)
    assert found["executed"] == 0


def test_the_campaign_sees_what_runs(tmp_path, monkeypatch):
    """A sweep file's own metric is the user's program: named by him, it does run."""
    monkeypatch.chdir(tmp_path)
    hostile_files.made.program(tmp_path)
    (tmp_path / "sweep.yaml").write_text(hostile_files.made.SWEEP)
    path = ("evaluate", "own", "reach")
    (wrong, *_) = hostile_files.case(tmp_path, "sweep.yaml", path, "evil.py:reach")
    assert wrong == "executed by sweep"
