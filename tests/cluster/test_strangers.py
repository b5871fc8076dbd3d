"""A laptop's run is the user's alone: other users of the machine, and programs without keys."""

import json
import os
import pwd
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from distributed import LocalCluster

from cluster import fork_server
from cluster.client import connect
from cluster.keys import new_pair
from cluster.places import Laptop

from .scheduler_asked import workers_of

STRANGERS = Path(__file__).with_name("strangers.py").read_text()


def listening(*roots):
    """Where these processes and their children listen: addresses of TCP, and names of sockets."""
    family = [one for root in roots for one in (root, *root.children(recursive=True))]
    return {
        connection.laddr
        for process in family
        for connection in process.net_connections("all")
        if connection.status == psutil.CONN_LISTEN
        or (connection.family.name == "AF_UNIX" and connection.laddr)
    }


@pytest.fixture(scope="module")
def run():
    """A client, and who listens for it: a client of the tests before may live in this process."""
    fork_server.start()  # its socket is a matter of `test_fork_server.py`
    before = listening(psutil.Process())
    with connect(Laptop(workers=2)) as client:
        yield client, listening(psutil.Process()) - before


def answers(ports, user=None):
    """What `strangers.py` gets as somebody."""
    certificate, key = new_pair()
    ran = subprocess.run(
        [sys.executable, "-I", "-c", STRANGERS],
        input=json.dumps(
            {"ports": sorted(ports), "certificate": certificate, "key": key, "user": user}
        ),
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_whoever_listens_is_known(run):
    """The scheduler, two workers, two nannies: no web server, no socket of multiprocessing's."""
    client, found = run
    workers = workers_of(client)
    addresses = [client.scheduler.address, *workers]
    addresses += [worker["nanny"] for worker in workers.values()]
    assert len(set(addresses)) == 5
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    assert {f"tls://{address.ip}:{address.port}" for address in found} == set(addresses)


@pytest.mark.parametrize("who", ["the same user", "nobody"])
def test_strangers_get_nothing(run, who):
    client, found = run
    if who == "nobody" and os.getuid() != 0:
        pytest.skip("only root may become somebody else")
    user = pwd.getpwnam("nobody").pw_uid if who == "nobody" else None
    ports = {address.port for address in found}
    assert len(ports) == 5
    for port, ways in answers(ports, user).items():
        assert ways == dict.fromkeys(ways, ""), port
        assert len(ways) == 4
    assert client.submit(sum, [1, 2]).result() == 3


def test_strangers_do_get_answers_where_there_are_no_keys():
    """So that the silence above means something."""
    with (
        LocalCluster(n_workers=0, processes=False, protocol="tcp://", host="127.0.0.1") as there,
        ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as web,
    ):
        threading.Thread(target=web.serve_forever, daemon=True).start()
        found = answers({there.scheduler.port, web.server_port})
        web.shutdown()
    assert found[str(there.scheduler.port)]["silence"]
    assert "501" in found[str(web.server_port)]["http"]


def test_the_key_is_in_no_command_line_and_no_environment(run):
    client, _ = run
    assert workers_of(client)
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        words = [*process.cmdline(), *process.environ().values()]
        assert not any("PRIVATE KEY" in word for word in words)
