"""Where a laptop's workers come from."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import fork_server
from tests.sweeps.conftest import client  # noqa: F401
from workflows.jobs.early_workers import MODULES

linux = pytest.mark.skipif(sys.platform != "linux", reason="workers are spawned elsewhere")


def printed(code):
    """What a process of its own prints: a fork server is one for all that a process does."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_modules_that_workers_need_exist():
    """The server passes over those that do not, without a word."""
    named = (*MODULES, *fork_server._DASK, fork_server._FIRST, fork_server._LAST)
    assert [name for name in named if importlib.util.find_spec(name) is None] == []


@pytest.mark.slow
@linux
def test_workers_have_imported_before_they_begin():
    code = (
        "import sys, time\n"
        "from cluster import Laptop, connect, fork_server\n"
        f"assert fork_server.start({MODULES!r}) == 'forkserver'\n"
        "def there(names): return [name for name in names if name not in sys.modules]\n"
        "with connect(Laptop(workers=1)) as client:\n"
        f"    print(client.submit(there, {MODULES!r}).result())\n"
        # Half a second and more, for nothing.
        "    print(client.submit(there, ['scipy.stats']).result())\n"
    )
    assert printed(code) == "[]\n['scipy.stats']"


@pytest.mark.slow
@linux
def test_workers_look_for_garbage_among_their_own():
    """What the server has imported is kept out of it, and nothing else is."""
    code = (
        "import gc\n"
        "from cluster import Laptop, connect, fork_server\n"
        f"fork_server.start({('no_such_module', *MODULES)!r})\n"
        "def found(): return gc.isenabled(), gc.get_freeze_count(), len(gc.get_objects())\n"
        "with connect(Laptop(workers=1)) as client:\n"
        "    enabled, kept, own = client.submit(found).result()\n"
        "    print(enabled, kept > 100_000, own < 50_000)\n"
    )
    assert printed(code) == "True True True"


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
    assert printed(code) == "1"


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
    assert printed(code) == "1"


def blocked(pid):
    """Whether a process blocks SIGINT."""
    (line,) = [
        one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigBlk" in one
    ]
    return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)


#: A driver that says which processes it has; the terminal's Ctrl-C goes to all of them.
DRIVER = """
import multiprocessing.forkserver as server, os, signal, sys, time
from cluster import Laptop, connect, fork_server
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run behind a shell
mask, before = signal.pthread_sigmask(signal.SIG_BLOCK, []), dict(os.environ)
fork_server.start()
assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask and dict(os.environ) == before
with connect(Laptop(workers=1)) as client:
    try:
        print(server._forkserver._forkserver_pid, *client.run(os.getpid).values(), flush=True)
        sys.stdin.readline()
        time.sleep(60)
    except KeyboardInterrupt:
        print(client.submit(abs, -3).result(timeout=60), flush=True)
"""


@linux
def test_an_interrupt_is_the_driver_s_affair():
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pids = list(map(int, driver.stdout.readline().split()))
    assert len(pids) == 2
    assert all(map(blocked, pids))
    driver.stdin.write("\n")
    driver.stdin.flush()
    os.killpg(driver.pid, signal.SIGINT)
    said, errors = driver.communicate(timeout=120)
    assert (said.strip(), errors) == ("3", "")


@linux
def test_a_server_that_died_comes_back_as_it_was():
    code = (
        "import multiprocessing.forkserver as server, os, signal, time\n"
        "from cluster import Laptop, connect, fork_server\n"
        "fork_server.start()\n"
        "os.kill(server._forkserver._forkserver_pid, signal.SIGKILL)\n"
        "time.sleep(1)\n"
        "assert fork_server.start() == 'forkserver'\n"
        "with connect(Laptop(workers=1)) as client:\n"
        "    pid = server._forkserver._forkserver_pid\n"
        "    print('OMP_NUM_THREADS=1' in open(f'/proc/{pid}/environ').read().split(chr(0)))\n"
    )
    assert printed(code) == "True"


@linux
def test_what_a_script_wants_of_its_server_is_left_alone():
    code = (
        "import multiprocessing\n"
        "multiprocessing.set_forkserver_preload(['json'])\n"
        "from cluster import fork_server\n"
        "print(fork_server.start())\n"
    )
    assert printed(code) == "spawn"


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
    assert printed(code) == "0o700"


@linux
def test_a_copy_of_the_process_spawns():
    """Python's server is its parent's child, and cannot be waited for in a copy."""
    code = (
        "import os\n"
        "from cluster import Laptop, connect, fork_server\n"
        "assert fork_server.start() == 'forkserver'\n"
        "if not (child := os.fork()):\n"
        "    with connect(Laptop(workers=1)) as client:\n"
        "        print(client.submit(abs, -3).result(), flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    assert printed(code) == "3"


def test_who_ends_first_takes_nothing_from_others():
    code = (
        "from multiprocessing import util\n"
        "from cluster.fork_server import outside_folder\n"
        "counted = lambda: util._args_from_interpreter_flags().count('-P')\n"
        "plain, first, second = counted(), outside_folder(), outside_folder()\n"
        "first.__enter__(), second.__enter__(), first.__exit__(None, None, None)\n"
        "print(counted() - plain)\n"
        "second.__exit__(None, None, None)\n"
        "print(counted() - plain)\n"
    )
    assert printed(code).split() == ["1", "0"]


def test_workers_have_what_a_first_kernel_loads():
    """Numba's registries, by the module that says so, without a word; but for its extensions."""
    code = (
        "import importlib.metadata, sys\n"
        "found = [] if sys.argv[1] == 'plain' else ['one']\n"
        "importlib.metadata.entry_points = lambda group: found\n"
        "import basepar_core.compiled.numba_loaded\n"
        "print('numba.np.arraymath' in sys.modules)"
    )
    for kind, expected in (("plain", "True"), ("extended", "False")):
        command = [sys.executable, "-W", "error", "-c", code, kind]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert (ran.stdout.strip(), ran.stderr) == (expected, "")
