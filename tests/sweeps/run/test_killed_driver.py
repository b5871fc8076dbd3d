"""The driver is killed in the middle, and the sweep goes on as if nothing had happened."""

import subprocess
import sys
import time

import psutil
import pytest
import zarr

from sweeps.run.driver import sweep
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand

DRIVER = """
import sys
from cluster.client import connect
from cluster.places import Laptop
from sweeps.run.driver import sweep
from tests.sweeps.fourbar import Endless, spec

if __name__ == "__main__":
    columns = spec().plan.rows(200, 400)
    late = frozenset(int(x * 1000) for x in columns["lx1"])  # never done before the driver dies
    early = spec().plan.rows(0, 80)
    late -= {int(x * 1000) for x in early["lx1"]}
    with connect(Laptop(workers=2)) as client:
        sweep(spec(sys.argv[1], variant_seconds=600.0), client, evaluator=Endless(raises=late))
"""


def wait_until(condition, seconds=400.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def finished(path):
    try:
        return int((zarr.open_array(path / "status", mode="r")[:] != 0).sum())
    except FileNotFoundError:
        return 0


@pytest.mark.slow
def test_driver_killed_and_run_again(tmp_path, client):
    script, path = tmp_path / "driver.py", tmp_path / "sweep.zarr"
    script.write_text(DRIVER)
    driver = subprocess.Popen(
        [sys.executable, str(script), str(path)], env={"PYTHONPATH": ":".join(sys.path)}
    )
    wait_until(lambda: finished(path) >= 16)
    children = psutil.Process(driver.pid).children(recursive=True)
    driver.kill()
    driver.wait()
    assert len(children) >= 2
    _, orphans = psutil.wait_procs(children, timeout=240)
    assert orphans == []

    done = finished(path)
    assert 16 <= done < 400
    summary = sweep(spec(path, variant_seconds=600.0), client, evaluator=FourBar())
    assert summary.evaluated == 400 - done
    assert_equal_arrays(path, by_hand(spec(tmp_path / "whole.zarr"), FourBar()))
