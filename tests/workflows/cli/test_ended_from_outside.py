"""A sweep whose surroundings fail: it ends with a sentence, and leaves nothing behind."""

import json
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
from tests.security import made
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
    while sum("forkserver" in str(one.cmdline()) for one in family) < 2:  # the server and a copy
        assert time.monotonic() < end
        family = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGTERM)  # in the midst of the workers' start
    _, said = driver.communicate(timeout=SECONDS)
    assert driver.returncode == 4
    assert said.splitlines() == ["basepar: stopped; the same command goes on from here"]
    _, orphans = psutil.wait_procs(family, timeout=SECONDS)
    assert orphans == []


@pytest.mark.slow
def test_a_store_that_is_moved_away_stays_away(tmp_path, client):  # noqa: F811
    path, elsewhere = tmp_path / "sweep.zarr", tmp_path / "elsewhere.zarr"

    def move(advance):
        if path.exists() and not elsewhere.exists():
            path.rename(elsewhere)

    # Arrays of whose chunks none is written are the ones that were made anew.
    with pytest.raises(StoreError, match="removed or moved while it was filled"):
        sweep(spec(path), client, move, evaluator=FourBar(delay=0.5))
    assert not path.exists()
    assert sweep(spec(elsewhere), client, evaluator=FourBar()).done


def _limit_files(size):
    sys.dont_write_bytecode = True  # Python would put half a module's code in the place of all
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def test_files_that_may_not_grow(tmp_path, client):  # noqa: F811
    """Python ignores the signal that would end the worker; writing fails, and is told."""
    before, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    client.run(_limit_files, 1000)
    try:
        said = r"could not be evaluated and stored.*too large: '.*/s\.zarr/\w+/c/[0-9/]+'\. "
        with pytest.raises(WorkersError, match=said):
            sweep(spec(tmp_path / "s.zarr", 4096, 1024), client, evaluator=FourBar(samples=64))
        end = time.monotonic() + SECONDS
        while list(tmp_path.rglob("*.partial")):  # the other worker is in the middle of a chunk
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        client.run(_limit_files, before)
    assert sweep(spec(tmp_path / "s.zarr", 4096, 1024), client, evaluator=FourBar(samples=64)).done


#: Commands in a process whose files have a greatest length, and what they say.
LIMITED = """
import contextlib, io, json, resource, sys
from workflows.cli.main import main
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for limit, line in json.load(sys.stdin):
    said = io.StringIO()
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main(line)
    print(json.dumps([status, said.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """What each command said, by the file that it could not write."""
    folder = tmp_path_factory.mktemp("full")
    made.program(folder)
    made.swept(folder)
    made.studied(folder)
    (folder / "sweep.yaml").write_text(made.SWEEP)
    study = made.STUDY.replace("name: bar", "name: bar, storage: 'FILE'")
    (folder / "one.yaml").write_text(study.replace("FILE", f"{folder}/1.journal"))
    (folder / "two.yaml").write_text(study.replace("FILE", f"sqlite:///{folder}/two.db"))
    lines = {
        "bar.png": "show four-bar -o FILE",
        "bar.svg": "show four-bar -o FILE",
        "bar.json": "base four-bar --certificate FILE",
        "crank.py": "reduce slider-crank --export FILE",
        "e.yaml": "excite slider-crank --random 1 --starts 1 -o FILE",
        "e.csv": "excite slider-crank --random 1 --starts 1 -o FILE",
        "run.csv": "simulate slider-crank -o FILE",
        "curves.csv": "onedof slider-crank -o FILE",
        "four.yaml": f"import {made.Path(__file__).parents[2]}/data/imports/four-bar.xml -o FILE",
        "page.html": "report sweep.zarr -o FILE",
        "page.csv": "report sweep.zarr --format csv -o FILE",
        "pages": "report sweep.zarr --batch FILE",
        "png/history.png": "pictures study.zarr -o png",
        "a.yaml": "around study.zarr --trust-metrics -o FILE",
        "new.zarr": "sweep sweep.yaml --workers 1 --quiet --store FILE",
        "1.journal": "study one.yaml --workers 1 --quiet --store 1.zarr",
        "two.db": "study two.yaml --workers 1 --quiet --store 2.zarr",
        # Last: workers are copies of a process that keeps the limit under which it began.
        "basepar-": "sweep sweep.yaml --workers 1 --quiet --store no.zarr",
    }
    # Keys of a run have up to 700 bytes, what is fixed of a store has more than 3,000.
    limits = {"new.zarr": 2000, "1.journal": 2000, "two.db": 2000}
    asked = [
        (limits.get(name, 100), text.replace("FILE", str(folder / name)).split())
        for name, text in lines.items()
    ]
    environment = os.environ | {
        "PYTHONPATH": ":".join([*sys.path, str(made.Path.cwd())]),
        # Python would put half of a module's code in the place of all, for everybody.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    child = subprocess.run(
        [sys.executable, "-c", LIMITED],
        input=json.dumps(asked),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    found = map(json.loads, child.stdout.splitlines())
    return dict(zip(lines, found, strict=True))


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_named(limited):
    """Disk full and a limit of size look alike: `write` fails, and knows no name."""
    found = limited
    for name, (status, said) in found.items():
        assert status in (1, 2), name
        assert name in said, said
        assert "too large" in said or "disk" in said.lower(), said
        assert "internal error" not in said
        assert len(said.splitlines()) == 1, said
