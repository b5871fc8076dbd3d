"""Workers on hosts reached by a real ssh: this machine, by an sshd of our own."""

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from cluster.client import connect
from cluster.errors import PlaceError
from cluster.places import Ssh

from .scheduler_asked import workers_of

DRIVER = """
import os, sys, time
from cluster.client import connect
from cluster.places import Ssh

if __name__ == "__main__":
    place = Ssh(("127.0.0.1",), memory="600 MB", interface="lo", options=tuple(sys.argv[1:]))
    with connect(place) as client:
        print(*client.run(os.getpid).values(), flush=True)
        time.sleep(600)
"""


@pytest.fixture
def place(sshd):
    return Ssh(("127.0.0.1",), memory="600 MB", interface="lo", options=sshd.options, patience=120)


def command_lines():
    return [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]


@pytest.mark.slow
def test_workers_on_two_hosts(place):
    user = psutil.Process().username()
    place = dataclasses.replace(place, hosts=("127.0.0.1", f"{user}@127.0.0.1"), per_host=2)
    with connect(place) as client:
        info = workers_of(client)
        names = {worker["name"] for worker in info.values()}
        assert names == {f"{host}/-{i}" for host in place.hosts for i in (0, 1)}
        assert all(address.startswith("tls://127.0.0.1:") for address in info)
        assert client.submit(sum, [1, 2]).result() == 3
        pids = client.run(os.getpid).values()
        environments = client.run(lambda: dict(os.environ)).values()
        assert {one["OMP_NUM_THREADS"] for one in environments} == {"1"}
        # The key went through the pipe.
        assert not any("BEGIN PRIVATE KEY" in line for line in command_lines())
        key = client.run(lambda: Path("key.pem").read_text()).values()
        modes = client.run(lambda: (os.stat("key.pem").st_mode, os.stat(".").st_mode)).values()
        folders = client.run(os.getcwd).values()
        assert all("BEGIN PRIVATE KEY" in text for text in key)
        assert {(file & 0o77, folder & 0o77) for file, folder in modes} == {(0, 0)}
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert not any(os.path.exists(folder) for folder in folders)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"python": "/no/python"}, "(?s)127.0.0.1: ended before .*/no/python"),
        (
            {"options": ("-F none -p 1",)},
            "(?s)127.0.0.1: ended before .*port 1: Connection refused",
        ),
    ],
    ids=["python", "port"],
)
def test_a_host_that_does_not_work_is_told(place, changes, said):
    with pytest.raises(PlaceError, match=said), connect(dataclasses.replace(place, **changes)):
        pass


def test_a_host_that_is_not_known_is_not_trusted(place, tmp_path):
    (tmp_path / "known").touch()
    place = dataclasses.replace(
        place, options=(f"-o UserKnownHostsFile={tmp_path}/known", *place.options)
    )
    with pytest.raises(PlaceError, match="Host key verification failed"), connect(place):
        pass


def test_patience_has_an_end(place, tmp_path):
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec cat\n")  # until the pipe closes
    slow.chmod(0o755)
    with (
        pytest.raises(PlaceError, match="no workers within 1 s"),
        connect(dataclasses.replace(place, patience=1, python=str(slow))),
    ):
        pass


@pytest.mark.slow
def test_workers_end_with_a_killed_driver(place, tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    driver = subprocess.Popen(
        [sys.executable, str(tmp_path / "driver.py"), *place.options],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
    )
    assert driver.stdout is not None
    (pid,) = map(int, driver.stdout.readline().split())
    worker = psutil.Process(pid)
    leash = [
        process for process in worker.parents() if "cluster.remote_worker" in process.cmdline()
    ]
    assert len(leash) == 1
    driver.kill()
    driver.wait()
    driver.stdout.close()
    end = time.monotonic() + 60
    while worker.is_running() or leash[0].is_running():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)
