"""Any function as a sweep: labelled, resumable, by parts, and what it dies of is found."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

import basepar
from sweeps.store import Status, Store, check_and_repair

SPACE = {"plan": "sobol", "variables": {"b": [-3, 3], "c": [-1, 1]}, "candidates": 200, "seed": 7}


def root(b, c):
    inner = b**2 - 4 * c
    real = inner >= 0
    found = np.where(real, (np.sqrt(np.maximum(inner, 0)) - b) / 2, np.nan)
    return {"root": found, "both": np.stack([found, -b - found], axis=1), "reason": 1 - real}


def slow_root(b, c):
    time.sleep(0.05)
    return root(b, c)


def made(function=root, **more):
    outputs = {"root": "m", "both": {"unit": "m", "dims": {"which": ["larger", "smaller"]}}}
    given = {"units": {"b": "m", "c": "m^2"}, "reasons": ["complex roots"], "chunk": 16} | more
    return basepar.FunctionSweep(function, SPACE, outputs, **given)


def test_a_function_is_swept(tmp_path):
    data = made().run(tmp_path / "roots.zarr", workers=2, quiet=True)
    rows = zip(data.b.values, data.c.values, strict=True)
    roots = np.array([np.sort_complex(np.roots([1, b, c])) for b, c in rows])
    real = (roots.imag == 0).all(axis=1)
    assert 0 < real.sum() < 200
    np.testing.assert_array_equal(data.status, np.where(real, Status.SOLVED, Status.SPECIAL))
    # Eigenvalues of the companion matrix: rounding of numbers of size one, of its square root
    # where both roots are nearly the same.
    np.testing.assert_allclose(data.root[real], roots[real].real[:, 1], atol=1e-7)
    np.testing.assert_allclose(
        data.both.sel(which="smaller")[real], roots[real].real[:, 0], atol=1e-7
    )
    assert (data.b.attrs["units"], data.c.attrs["units"]) == ("m", "m^2")
    assert check_and_repair.find(tmp_path / "roots.zarr") == []
    with pytest.raises(basepar.StoreError, match=r"function: .*here.*there"):
        made(version="2").run(tmp_path / "roots.zarr", quiet=True)


def test_parts_and_going_on(tmp_path):
    def never(b, c):
        raise AssertionError("evaluated again")

    sweep = made(version="1")
    sweep.prepare(tmp_path / "roots.zarr")
    assert sweep.part(tmp_path / "roots.zarr", 2, 3) == 64
    assert sweep.part(tmp_path / "roots.zarr", 2, 3) == 0
    found = sweep.run(tmp_path / "roots.zarr", workers=1, quiet=True)
    assert (found.status.values > 0).all()
    again = made(never, name="root", version="1").run(tmp_path / "roots.zarr", quiet=True)
    np.testing.assert_array_equal(found.root, again.root)


DRIVER = """
import sys
from tests.door.test_function_sweep import made, slow_root

made(slow_root).run(sys.argv[1], workers=2, quiet=True)
"""


@pytest.mark.slow
def test_killed_in_the_middle_and_run_again(tmp_path):
    """The process that sweeps gets SIGKILL; what is stored stays, the rest comes, all is equal."""
    path, whole = tmp_path / "roots.zarr", tmp_path / "whole.zarr"
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(path)], env=environment)
    end, done = time.monotonic() + 120, []
    while len(done) < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
        done = Store.open(path).records().numbers(0, 13) if path.exists() else []
    children = psutil.Process(driver.pid).children()
    os.kill(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert psutil.wait_procs(children, timeout=60)[1] == []  # who evaluates, ends with it
    held = Store.open(path)
    done = held.records().numbers(0, 13)
    assert 3 <= len(done) < 13
    written = {n: (path / held.records().name(n)).stat().st_mtime_ns for n in done}
    found = made(slow_root).run(path, workers=2, quiet=True)
    assert {n: (path / held.records().name(n)).stat().st_mtime_ns for n in done} == written
    expected = made(slow_root).run(whole, workers=1, quiet=True)
    assert set(found) == set(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name].values, expected[name].values)
    assert check_and_repair.find(path) == []


@pytest.mark.slow
def test_on_the_workers_of_a_profile(tmp_path):
    """Through Dask's workers, which import the function's module: the arrays of one process."""
    (tmp_path / "two.yaml").write_text("kind: laptop\nworkers: 2\n")
    given = {"where": str(tmp_path / "two.yaml"), "quiet": True}
    found = made().run(tmp_path / "there.zarr", **given)
    expected = made().run(tmp_path / "here.zarr", workers=1, quiet=True)
    for name in expected:
        np.testing.assert_array_equal(found[name].values, expected[name].values)
    with pytest.raises(basepar.BaseparError, match="neither `laptop`, nor an address"):
        made().run(tmp_path / "nowhere.zarr", "nowhere", quiet=True)


@pytest.mark.parametrize("verb", ["run", "prepare", "part"])
def test_an_address_is_no_folder(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    given = (1, 2) if verb == "part" else ()
    with pytest.raises(basepar.UsageError, match="is an address"):
        getattr(made(), verb)("memory://bucket/roots.zarr", *given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 1500], ids=["pilot", "run"])
def test_what_kills_its_process_is_found_without_a_chunk(tmp_path, row):
    """Row 0 kills the pilot, another one the child that was the pilot."""
    poison = row + 0.5

    def deadly(x):
        if (x == poison).any():
            os._exit(7)
        return {"y": 2 * x}

    space = {"plan": "grid", "variables": {"x": [k + 0.5 for k in range(6000)]}}
    sweep = basepar.FunctionSweep(deadly, space, {"y": "1"}, version="1")
    data = sweep.run(tmp_path / "y.zarr", workers=1, quiet=True)
    np.testing.assert_array_equal(np.flatnonzero(data.status != Status.SOLVED), [row])
    assert data.status[row] == Status.CRASHED
    np.testing.assert_array_equal(np.delete(data.y - 2 * data.x, row), np.zeros(5999))
    assert check_and_repair.find(tmp_path / "y.zarr") == []


@pytest.mark.slow
def test_what_never_ends_is_timed_out_without_a_chunk(tmp_path):
    def endless(x):
        while (x == 3000.5).any():
            time.sleep(1)
        return {"y": 2 * x}

    space = {"plan": "grid", "variables": {"x": [k + 0.5 for k in range(6000)]}}
    sweep = basepar.FunctionSweep(endless, space, {"y": "1"}, version="1", variant_seconds=1.0)
    data = sweep.run(tmp_path / "y.zarr", workers=1, quiet=True)
    np.testing.assert_array_equal(np.flatnonzero(data.status != Status.SOLVED), [3000])
    assert data.status[3000] == Status.TIMED_OUT


def all_bytes(path):
    chunks = (file for file in path.glob("*/c/**/*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in chunks}


def test_by_this_process_itself(tmp_path):
    """The same bytes as by copies of it; `reason` and all."""
    seen = []

    def noted(b, c):
        seen.append(os.getpid())
        return root(b, c)

    given = {"version": "1", "name": "root"}
    found = made(noted, **given).run(tmp_path / "here.zarr", workers=0, quiet=True)
    assert set(seen) == {os.getpid()}
    assert (found.status.values > 0).all()
    made(**given).run(tmp_path / "children.zarr", workers=2, quiet=True)
    here, there = (all_bytes(tmp_path / name) for name in ("here.zarr", "children.zarr"))
    assert here == there
    assert len(here) > 60  # 13 chunks of b, c, root, status, and reason where it is not 0
    part = made(**given)
    part.prepare(tmp_path / "part.zarr")
    assert part.part(tmp_path / "part.zarr", 1, 1, workers=0) == 200
    assert all_bytes(tmp_path / "part.zarr") == here
    for asked in (
        lambda n: part.run(tmp_path / "x", workers=n),
        lambda n: part.part("x", 1, 1, workers=n),
    ):
        with pytest.raises(basepar.UsageError, match="workers=-1: 0 or more"):
            asked(-1)


ALONE = """
import os, sys
import basepar

def deadly(x):
    if (x == 2500.5).any() and os.environ.get("DEADLY"):
        os.kill(os.getpid(), int(os.environ["DEADLY"]))
    if (x == 2500.5).any():
        os._exit(7)
    return {"y": 2 * x}

space = {"plan": "grid", "variables": {"x": [k + 0.5 for k in range(6000)]}}
sweep = basepar.FunctionSweep(deadly, space, {"y": "1"}, version="1", chunk=500)
data = sweep.run(sys.argv[1], workers=int(sys.argv[2]), quiet=True)
print([(int(row), int(data.status[row])) for row in range(6000) if data.status[row] != 1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, signal.SIGKILL])
def test_what_kills_this_process_is_found_by_a_copy_of_it(tmp_path, number):
    """By itself it dies, with what is done; the next run goes on, and finds the row."""
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path), "DEADLY": str(number or "")}
    words = [sys.executable, "-c", ALONE, str(tmp_path / "y.zarr")]
    died = subprocess.run([*words, "0"], env=environment, capture_output=True)
    assert died.returncode == (-number or 7)
    held = Store.open(tmp_path / "y.zarr")
    assert held.records().numbers(0, 12) == [0, 1, 2, 3, 4]
    written = [(tmp_path / "y.zarr/y/c" / str(n)).stat().st_mtime_ns for n in range(5)]
    del environment["DEADLY"]
    again = subprocess.run([*words, "1"], env=environment, capture_output=True, text=True)
    assert again.stdout.strip() == f"[(2500, {int(Status.CRASHED)})]", again.stderr
    assert [(tmp_path / "y.zarr/y/c" / str(n)).stat().st_mtime_ns for n in range(5)] == written


LIGHT = """
import sys
import basepar

space = {"plan": "grid", "variables": {"x": [1, 2, 3]}}
sweep = basepar.FunctionSweep(lambda x: {"y": x**2}, space, {"y": "1"}, version="1")
assert sweep.run(sys.argv[1], workers=1, quiet=True).y.values.tolist() == [1.0, 4.0, 9.0]
print(sorted({"dask", "distributed", "zarr", "yaml", "scipy", "numba"} & set(sys.modules)))
print([one for one in sys.modules if one.startswith("basepar_core.mech")])
"""


def test_neither_dask_nor_mechanisms_are_loaded(tmp_path):
    """They take a second, which no function needs."""
    words = [sys.executable, "-c", LIGHT, str(tmp_path / "y.zarr")]
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["[]", "[]"]


def test_what_returns_something_else_crashes(tmp_path):
    sweep = basepar.FunctionSweep(
        lambda b, c: {"root": b[:-1]}, SPACE | {"candidates": 8}, {"root": "m"}, version="1"
    )
    data = sweep.run(tmp_path / "roots.zarr", workers=1, quiet=True)
    assert (data.status == Status.CRASHED).all()


@pytest.mark.parametrize(
    ("space", "outputs", "said"),
    [
        ({"plan": "spiral"}, {"r": "m"}, "`plan` is one of grid, zip, random, lhs, sobol"),
        ({"plan": "grid"}, {"r": "m"}, "`variables` has values by name"),
        (SPACE | {"candidates": "many"}, {"r": "m"}, r"\[least, greatest\]"),
        (SPACE | {"seeds": 1}, {"r": "m"}, "unknown seeds"),
        (SPACE, {}, "none are stated"),
        (SPACE, {"b": "m"}, "'b' is a variable too"),
        (SPACE, {"r": {"units": "m"}}, "'r' has no 'units'"),
        (SPACE, {"r": {"dtype": "complex128"}}, "'r': dtype 'complex128' is none of bool, int8"),
        (SPACE, {"r": {"dtype": "uint8"}}, "'r': dtype 'uint8' is none of"),
        (SPACE, {"r": {"dtype": "<U5"}}, "'r': dtype '<U5' is none of"),
    ],
)
def test_what_makes_no_sense(space, outputs, said):
    with pytest.raises(basepar.UsageError, match=said):
        basepar.FunctionSweep(root, space, outputs)
