"""Places become clients, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

from cluster.client import GATHERED, ONE_THREAD, PlaceError, _without_interrupts, connect
from cluster.places import Address, Laptop

from .scheduler_asked import workers_of


def environment():
    return {name: os.environ.get(name) for name in ONE_THREAD}


def test_laptop_is_quiet_local_and_single_threaded(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # the user's, for other programs
    before = dask.config.get("distributed.scheduler.worker-saturation")
    with connect(Laptop(workers=2, memory="600 MB")) as client:
        found = workers_of(client)
        assert len(found) == 2
        for address, worker in found.items():
            assert address.startswith("tls://127.0.0.1:")
            assert worker["nthreads"] == 1
            assert worker["memory_limit"] == 600_000_000
        for found in client.run(environment).values():
            assert set(found.values()) == {"1"}
        assert os.environ["OMP_NUM_THREADS"] == "7"
        assert client.cluster.scheduler.WORKER_SATURATION == 4.0
        with Client(client.cluster) as plain:  # a number that Dask reads, under this name
            assert client.scheduler_comm.interval == GATHERED < plain.scheduler_comm.interval
        pids = client.run(os.getpid).values()
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert dask.config.get("distributed.scheduler.worker-saturation") == before


def test_what_all_workers_were_given_stays_with_all():
    """Or tasks that need it would wait in one's queue, while the others idle."""
    with connect(Laptop(workers=2)) as client:
        given = client.scatter(b"a landscape", broadcast=True)
        time.sleep(5)  # Dask's memory manager would look every 2 s
        (holders,) = client.who_has([given]).values()
        assert len(holders) == 2


def copies():
    """Workers of this process: what its server of copies has made."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # some end meanwhile
            if "forkserver" in str(one.parent().cmdline()):
                found.append(one)
    return found


@pytest.mark.slow
def test_a_worker_that_takes_long_to_come_back():
    """On a busy machine all of them do; Dask's own patience is 15 s."""
    with connect(Laptop(workers=1, memory="600 MB")) as client:
        (pid,) = client.run(os.getpid).values()
        before = set(copies())
        psutil.Process(pid).kill()
        heirs = []
        while not heirs:
            heirs = list(set(copies()) - before)
        heirs[0].suspend()
        time.sleep(18)
        heirs[0].resume()
        client.wait_for_workers(1, timeout=240)
        time.sleep(3)  # a nanny that was given up would take it along now
        assert client.submit(os.getpid).result(timeout=60) == heirs[0].pid


def test_an_exception_passes_and_the_workers_go():
    pids = []

    def leave_by_exception():
        with connect(Laptop(workers=1)) as client:
            pids.extend(client.run(os.getpid).values())
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        leave_by_exception()
    assert pids
    assert not any(psutil.pid_exists(pid) for pid in pids)


@pytest.mark.parametrize("place", [Laptop(workers=0), Laptop(threads=0)])
def test_numbers_that_make_no_sense(place):
    with pytest.raises(PlaceError, match="at least 1"), connect(place):
        pass


def test_an_address_is_joined_and_left_running():
    with LocalCluster(
        n_workers=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=":0"
    ) as there:
        with connect(Address(there.scheduler_address)) as client:
            assert client.submit(sum, [1, 2]).result() == 3
        with Client(there) as again:
            assert again.submit(sum, [3, 4]).result() == 7


def test_nobody_answers():
    with (
        pytest.raises(PlaceError, match="No scheduler answers"),
        connect(Address("tcp://127.0.0.1:9", patience=0.5)),
    ):
        pass


BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.fixture
def interruptible():
    """Processes that share the tests out ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_workers_start_is_kept_until_they_have():
    """And the processes started meanwhile never hear of one."""
    done = False
    with pytest.raises(KeyboardInterrupt), _without_interrupts():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        child = [sys.executable, "-c", BLOCKED]
        assert subprocess.run(child, capture_output=True, text=True).stdout == "True\n"
        done = True
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
