"""An ordinary NumPy function at 10⁴ points: `FunctionSweep`, xyzpy and pipefunc side by side.

The function integrates a damped sine over 100 samples, on a grid of 100 by 100. Each program runs
in a process of its own, stores what comes out on the disk, and is run `TIMES` times; CPU of the
process and its children, from the call until the data are stored and read, without imports.
Overhead is what is above the function's own CPU, called in a loop (or, where a program calls it
with arrays, in pieces of 500 points, once before it counts: whole grids do not fit into caches).

Then each is killed (SIGKILL) at half of the points and run again; calls are counted by the
function.

    [SIDE=100] python -m tests.campaigns.functions FOLDER

The others are no dependencies: put them on PYTHONPATH.
"""

import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIDE, TIMES = int(os.environ.get("SIDE", "100")), 3
DIES_AT = SIDE**2 // 2
OMEGA, DECAY = np.linspace(1, 20, SIDE), np.linspace(0.1, 2, SIDE)
T = np.linspace(0, 3, 100)


def _noted(points: int) -> None:
    """Note calls, where somebody counts them; kill whoever sweeps when it is time."""
    if (file := os.environ.get("COUNT")) is None:
        return
    with open(file, "ab", buffering=0) as counted:
        counted.write(b"x" * points)
    dies = os.environ.get("DIES")
    if dies and os.stat(file).st_size >= DIES_AT:
        os.kill(int(Path(dies).read_text()), signal.SIGKILL)
        os._exit(1)  # a child of it


def one(omega: float, decay: float) -> float:
    """Of one point."""
    _noted(1)
    return float(np.trapezoid(np.sin(omega * T) * np.exp(-decay * T), T))


def many(omega: np.ndarray, decay: np.ndarray) -> dict[str, np.ndarray]:
    """Of many points at once, point by point."""
    return {"y": np.array([one(*point) for point in zip(omega, decay, strict=True)])}


def arrays(omega: np.ndarray, decay: np.ndarray) -> dict[str, np.ndarray]:
    """Of many points, by arrays."""
    _noted(len(omega))
    samples = np.sin(omega[:, None] * T) * np.exp(-decay[:, None] * T)
    return {"y": np.trapezoid(samples, T, axis=1)}


def basepar_points(
    folder: Path,
    function: Callable[..., Any] = many,
    chunk: int | None = 500,
    workers: int = 1,
) -> np.ndarray:
    """`FunctionSweep`, whose function takes the points of a chunk one by one."""
    from basepar import FunctionSweep

    space = {"plan": "grid", "variables": {"omega": OMEGA.tolist(), "decay": DECAY.tolist()}}
    sweep = FunctionSweep(function, space, {"y": "1"}, version="1", chunk=chunk)
    return sweep.run(folder / "y.zarr", workers=workers, quiet=True).y.values


def basepar_arrays(folder: Path) -> np.ndarray:
    """`FunctionSweep` as it is meant."""
    return basepar_points(folder, arrays)


def basepar_default(folder: Path) -> np.ndarray:
    """The same, a chunk by a pilot: half a second's points."""
    return basepar_points(folder, arrays, None)


def basepar_alone(folder: Path) -> np.ndarray:
    """The same by this process, as the others are: nothing protects it from the function."""
    return basepar_points(folder, arrays, None, 0)


def xyzpy_harvester(folder: Path) -> np.ndarray:
    """A harvester: all points, then one file."""
    import xyzpy

    runner = xyzpy.Runner(one, var_names=["y"])
    harvester = xyzpy.Harvester(runner, data_name=str(folder / "y.h5"))
    harvester.harvest_combos({"omega": OMEGA, "decay": DECAY}, verbosity=0)
    return harvester.full_ds.y.transpose("omega", "decay").values.ravel()


def xyzpy_crop(folder: Path) -> np.ndarray:
    """A crop: batches of 500 points in files, gathered at the end."""
    import xyzpy

    runner = xyzpy.Runner(one, var_names=["y"])
    crop = runner.Crop(name="y", parent_dir=str(folder), batchsize=500)
    if not crop.is_prepared():
        crop.sow_combos({"omega": OMEGA, "decay": DECAY}, verbosity=0)
    crop.grow_missing(verbosity=0)
    found = crop.reap()
    found.to_netcdf(folder / "y.h5", engine="h5netcdf")
    return found.y.transpose("omega", "decay").values.ravel()


def pipefunc_files(folder: Path, storage: str = "file_array") -> np.ndarray:
    """A map in this process, whose results are files of single points."""
    from pipefunc import Pipeline, pipefunc
    from pipefunc.map import load_xarray_dataset

    step = pipefunc("y", mapspec="omega[i], decay[j] -> y[i, j]")(one)
    Pipeline([step]).map(
        {"omega": OMEGA, "decay": DECAY},
        run_folder=folder / "run",
        parallel=False,
        storage=storage,
        resume=(folder / "run").exists(),
        show_progress=False,
    )
    return load_xarray_dataset("y", run_folder=folder / "run").y.values.astype(float).ravel()


def pipefunc_dict(folder: Path) -> np.ndarray:
    """A map in this process, kept in memory and written at its end."""
    return pipefunc_files(folder, "dict")


PROGRAMS = {
    function.__name__: function
    for function in (
        basepar_arrays,
        basepar_default,
        basepar_alone,
        basepar_points,
        xyzpy_harvester,
        xyzpy_crop,
        pipefunc_files,
        pipefunc_dict,
    )
}


def used() -> float:
    """CPU seconds of this process and of children that have ended."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


def timed(name: str, folder: Path) -> None:
    """Run a program once on 100 points elsewhere (imports), then as asked."""
    (folder / "pid").write_text(str(os.getpid()))
    if "COUNT" not in os.environ:
        global OMEGA, DECAY
        whole, OMEGA, DECAY = (OMEGA, DECAY), OMEGA[:10], DECAY[:10]
        (folder / "first").mkdir()
        PROGRAMS[name](folder / "first")
        OMEGA, DECAY = whole
    cpu, wall = used(), time.monotonic()
    found = PROGRAMS[name](folder)
    cpu, wall = used() - cpu, time.monotonic() - wall
    points = [axis.ravel() for axis in np.meshgrid(OMEGA, DECAY, indexing="ij")]
    os.environ.pop("COUNT", None)
    function = many
    if name.startswith("basepar") and name != "basepar_points":
        function = arrays
    for _ in range(2):
        begun = time.process_time()
        pieces = [
            function(*(axis[k : k + 500] for axis in points))["y"] for k in range(0, SIDE**2, 500)
        ]
        own = time.process_time() - begun
    expected = np.concatenate(pieces)
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # sums in another order
    print(json.dumps({"cpu": cpu, "wall": wall, "own": own}))


def _ran(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.campaigns.functions", "timed", name, str(folder)]
    given = os.environ | {"PYTHONPATH": ":".join(sys.path)} | environment
    return subprocess.run(words, env=given, capture_output=True, text=True)


def main(folder: Path) -> None:
    for name in PROGRAMS:
        runs = []
        for _ in range(TIMES):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            ran = _ran(name, folder)
            assert ran.returncode == 0, ran.stderr
            runs.append(json.loads(ran.stdout.splitlines()[-1]))
        cpu, wall, own = (statistics.median(run[key] for run in runs) for key in runs[0])
        shutil.rmtree(folder)
        folder.mkdir()
        counted = folder / "calls"
        dead = _ran(name, folder, COUNT=str(counted), DIES=str(folder / "pid"))
        before = counted.stat().st_size
        again = _ran(name, folder, COUNT=str(counted))
        line = {
            "program": name,
            "us_a_point": round(1e6 * cpu / SIDE**2, 1),
            "overhead_us": round(1e6 * (cpu - own) / SIDE**2, 1),
            "wall_s": round(wall, 2),
            "killed": dead.returncode,
            "again": again.returncode,
            "error": again.stderr.splitlines()[-1][:200] if again.returncode else "",
            "evaluated_twice": counted.stat().st_size - SIDE**2,
            "points_before": before,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    from tests.campaigns import functions  # under the name by which processes know it

    match sys.argv[1:]:
        case ["timed", name, folder]:
            functions.timed(name, Path(folder))
        case [folder]:
            functions.main(Path(folder).absolute())
        case _:
            sys.exit(__doc__)
