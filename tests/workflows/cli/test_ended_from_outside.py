"""A sweep whose surroundings fail: it ends with a sentence, and leaves nothing behind."""

import os
import resource
import signal
import subprocess
import sys
import time

import psutil
import pytest

from basepar_core.errors import StoreError
from sweeps.run.driver import sweep
from sweeps.run.stall_watchdog import WorkersError
from tests.sweeps.conftest import client  # noqa: F401
from tests.sweeps.fourbar import FourBar, spec

SECONDS = 240


@pytest.mark.slow
def test_sigterm_puts_workers_and_semaphores_away(tmp_path):
    command = [
        sys.executable,
        "-m",
        "workflows.cli.main",
        "sweep",
        "four-bar",
        "--workers",
        "1",
        "--quiet",
    ]
    store = tmp_path / "four-bar.zarr"
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    driver = subprocess.Popen(
        [*command, "--store", str(store)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    end, family = time.monotonic() + SECONDS, []
    while not any("spawn_main" in str(one.cmdline()) for one in family):
        assert time.monotonic() < end
        family = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGTERM)  # in the midst of the workers' start
    _, said = driver.communicate(timeout=SECONDS)
    assert driver.returncode == 1
    assert said.splitlines() == ["basepar: stopped; the same command goes on from here"]
    _, orphans = psutil.wait_procs(family, timeout=SECONDS)
    assert orphans == []


def test_a_store_that_is_moved_away_stays_away(tmp_path, client):  # noqa: F811
    path, elsewhere = tmp_path / "sweep.zarr", tmp_path / "elsewhere.zarr"

    def move(advance):
        if path.exists() and not elsewhere.exists():
            path.rename(elsewhere)

    # Arrays of whose chunks none is written are the ones that were made anew.
    with pytest.raises(StoreError, match="removed or moved while it was filled"):
        sweep(spec(path), client, move, evaluator=FourBar(delay=0.05))
    assert not path.exists()
    assert sweep(spec(elsewhere), client, evaluator=FourBar()).done


def _limit_files(size):
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def test_files_that_may_not_grow(tmp_path, client):  # noqa: F811
    """Python ignores the signal that would end the worker; writing fails, and is told."""
    before, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    client.run(_limit_files, 1000)
    try:
        with pytest.raises(WorkersError, match=r"could not be evaluated and stored.*too large"):
            sweep(spec(tmp_path / "s.zarr", 4096, 1024), client, evaluator=FourBar(samples=64))
    finally:
        client.run(_limit_files, before)
    assert sweep(spec(tmp_path / "s.zarr", 4096, 1024), client, evaluator=FourBar(samples=64)).done
