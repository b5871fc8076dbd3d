"""Where a laptop's workers come from."""

import os
import subprocess
import sys

import pytest

from cluster import fork_server
from tests.sweeps.conftest import client  # noqa: F401
from workflows.jobs.early_workers import MODULES

linux = pytest.mark.skipif(sys.platform != "linux", reason="workers are spawned elsewhere")


def test_modules_that_workers_need_exist():
    """The server passes over those that do not, without a word."""
    for name in MODULES:
        __import__(name)


@linux
def test_workers_have_imported_before_they_begin():
    code = (
        "import sys, time\n"
        "from cluster import Laptop, connect, fork_server\n"
        f"assert fork_server.start({MODULES!r}) == 'forkserver'\n"
        "def there(names): return [name for name in names if name not in sys.modules]\n"
        "with connect(Laptop(workers=1)) as client:\n"
        f"    print(client.submit(there, {MODULES!r}).result())\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


@linux
def test_a_server_that_somebody_else_has_started_is_left_alone():
    code = (
        "import multiprocessing.forkserver as theirs, os\n"
        "theirs.ensure_running()\n"
        "from cluster import Laptop, connect, fork_server\n"
        "assert fork_server.start() == 'spawn'\n"
        "with connect(Laptop(workers=1)) as client:\n"
        "    print(client.submit(os.getenv, 'OMP_NUM_THREADS').result())\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "1"


@linux
def test_workers_have_todays_environment(client, monkeypatch):  # noqa: F811
    """The server began before this variable was set."""
    from cluster import Laptop, connect

    monkeypatch.setenv("BASEPAR_TEST", "today")
    with connect(Laptop(workers=1)) as new:
        assert new.submit(os.getenv, "BASEPAR_TEST").result() == "today"


@linux
def test_the_server_has_one_thread():
    """A copy of a process with more may wait for ever for what the others held."""
    code = (
        "import multiprocessing.forkserver as server, os\n"
        "from cluster import Laptop, connect, fork_server\n"
        f"fork_server.start({MODULES!r})\n"
        "with connect(Laptop(workers=1)) as client:\n"
        "    print(len(os.listdir(f'/proc/{server._forkserver._forkserver_pid}/task')))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "1"


def test_interrupts_and_environment_are_as_before(monkeypatch):
    import signal

    mask, before = signal.pthread_sigmask(signal.SIG_BLOCK, []), dict(os.environ)
    fork_server.start()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask
    assert dict(os.environ) == before


@linux
def test_nobody_else_can_ask_for_copies():
    """Python 3.11.0 listened where every user of the machine could ask (CVE-2022-42919)."""
    code = (
        "import multiprocessing.forkserver as server, os, stat\n"
        "from cluster import fork_server\n"
        "assert fork_server.start() == 'forkserver'\n"
        "address = server._forkserver._forkserver_address\n"
        "print(oct(stat.S_IMODE(os.stat(os.path.dirname(address)).st_mode)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "0o700"
