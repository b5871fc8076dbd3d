"""Beyond this machine nobody gets in without the certificate: real processes, real sockets."""

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from distributed.utils import get_ip

from cluster.client import connect
from cluster.dask_settings import ENVIRONMENT, scheduler_arguments, worker_arguments
from cluster.errors import PlaceError
from cluster.keys import lent_keys, make_keys, security
from cluster.places import Address, Keys, is_loopback

from .private_slurm import free_ports
from .scheduler_asked import workers_of
from .test_strangers import listening


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """Host, port and keys of a scheduler with a worker, started by hand on all interfaces."""
    if is_loopback(host := get_ip()):
        pytest.skip("this machine has no address beyond loopback")
    folder = tmp_path_factory.mktemp("keys")
    keys = make_keys(folder / "keys")
    (port,) = free_ports(1)
    commands = (
        [
            "distributed.cli.dask_scheduler",
            *scheduler_arguments(keys, port=port, idle="5 minutes"),
        ],
        [
            "distributed.cli.dask_worker",
            *worker_arguments(
                f"tls://{host}:{port}", keys, count=1, memory=str(6 * 10**8), name="w"
            ),
        ],
    )
    with contextlib.ExitStack() as stack:
        for words in commands:
            log = stack.enter_context((folder / words[0]).open("w"))
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                stdout=log,
                stderr=log,
                env=os.environ | ENVIRONMENT,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        end = time.monotonic() + 240
        while not _answers(host, port):
            assert time.monotonic() < end, (folder / commands[0][0]).read_text()
            time.sleep(0.1)
        yield host, port, keys


def _answers(host, port):
    with socket.socket() as one:
        return one.connect_ex((host, port)) == 0


@pytest.mark.slow
def test_with_the_certificate(scheduler):
    host, port, keys = scheduler
    with connect(Address(f"tls://{host}:{port}", keys, patience=60)) as client:
        client.wait_for_workers(1, timeout=60)
        assert client.submit(sum, [1, 2]).result() == 3
        (worker,) = workers_of(client)
        assert worker.startswith(f"tls://{host}:")


@pytest.mark.slow
def test_no_web_servers(scheduler):
    """The scheduler, the worker and its nanny listen with keys, and nobody else does."""
    host, port, keys = scheduler
    with connect(Address(f"tls://{host}:{port}", keys, patience=60)) as client:
        client.wait_for_workers(1, timeout=60)
        ((worker, about),) = workers_of(client).items()
        heads = (client.scheduler.address, worker, about["nanny"])
        pids = {client.run(os.getpid)[worker], client.run_on_scheduler(os.getpid)}
    known = {psutil.Process(pid) for pid in pids}
    known |= {one.parent() for one in known} - {psutil.Process()}  # the nanny
    found = listening(*known)
    assert {address.port for address in found} == {
        int(address.rpartition(":")[2]) for address in heads
    }


@pytest.mark.slow
def test_without_and_with_another(scheduler, tmp_path):
    host, port, _ = scheduler
    other = make_keys(tmp_path / "other")
    for place in (
        Address(f"tls://{host}:{port}", other, patience=3),
        Address(f"tcp://{host}:{port}", unencrypted=True, patience=3),
    ):
        with pytest.raises(PlaceError, match="No scheduler answers"), connect(place):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False], ids=["its own certificate", "none"])
def test_the_socket_itself_asks_for_it(scheduler, own):
    """Python's own TLS client, no Dask: refused by the scheduler unless it has the certificate."""
    host, port, keys = scheduler
    context = ssl.create_default_context(cafile=keys.authority)
    context.check_hostname = False
    if own:
        context.load_cert_chain(keys.certificate, keys.key)
    with socket.create_connection((host, port), timeout=20) as plain:
        refusal = contextlib.nullcontext() if own else pytest.raises(ssl.SSLError, match="certif")
        with refusal, context.wrap_socket(plain) as secured:
            # In TLS 1.3 the client hears of the refusal when it reads first; else this is the
            # first bytes of Dask's handshake.
            assert secured.recv(8)


def test_an_unencrypted_address_beyond_this_machine_needs_consent():
    place = Address("tcp://192.0.2.1:8786", patience=1)
    with pytest.raises(PlaceError, match="unencrypted and beyond this machine"), connect(place):
        pass


def test_keys_are_for_the_user_alone(tmp_path):
    keys = make_keys(tmp_path / "new" / "keys")
    for path, mode in ((keys.key, 0o600), (Path(keys.key).parent, 0o700)):
        assert os.stat(path).st_mode & 0o777 == mode
    before = Path(keys.key).read_bytes()
    with pytest.raises(PlaceError, match="is there already"):
        make_keys(tmp_path / "new" / "keys")
    assert Path(keys.key).read_bytes() == before
    with lent_keys(str(tmp_path)) as lent:
        folder = Path(lent.key).parent
        assert folder.parent == tmp_path
        assert Path(lent.key).read_bytes() != before
    assert not folder.exists()


def test_missing_files_are_named_together():
    keys = Keys("/no/authority.pem", __file__, "/no/key.pem")
    with pytest.raises(PlaceError, match=r"authority: /no/authority.pem; key: /no/key.pem"):
        security(keys)
