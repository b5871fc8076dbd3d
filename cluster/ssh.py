"""Workers on machines one can log into, by the `ssh` of the system.

It is the user's own ssh that connects: with his ~/.ssh/config, agent, jump hosts and known hosts.
On each host `remote_worker.py` starts the workers and ends them when the connection does.
"""

import contextlib
import json
import logging
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dask.utils import parse_bytes
from distributed import Client

from .dask_settings import ENVIRONMENT, worker_arguments
from .errors import PlaceError
from .keys import lent_keys
from .places import Keys, Ssh
from .scheduler import await_workers, listening

#: Seconds for the far end to stop its workers when the pipe to it is closed.
GRACE = 15.0
#: Never ask for a password, and notice within a minute and a half that a host is gone.
OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=30")
#: Where the far end puts the keys it is sent.
FAR_KEYS = Keys("KEYS/certificate.pem", "KEYS/certificate.pem", "KEYS/key.pem")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Login:
    host: str
    process: subprocess.Popen[bytes]
    said: IO[bytes]  # what it and the workers complained of

    def tail(self) -> str:
        self.said.seek(0)
        lines = self.said.read().decode(errors="replace").splitlines()
        return "".join(f"\n    {line}" for line in lines[-8:]) or " nothing"


@contextlib.contextmanager
def ssh(place: Ssh) -> Iterator[Client]:
    """A client of workers on hosts, which end with the block.

    Raises
    ------
    PlaceError
        Hosts where it did not work, each with what it said.
    """
    with (
        lent_keys() as keys,
        listening(keys, place.interface) as (address, client, arrivals),
        contextlib.ExitStack() as stack,
    ):
        logins: list[_Login] = []
        stack.callback(_end, logins)
        for host in place.hosts:
            said = stack.enter_context(tempfile.TemporaryFile())
            logins.append(_log_in(place, host, address, keys, said))
        expected = len(place.hosts) * place.per_host

        def trouble() -> str | None:
            failed = [login for login in logins if login.process.poll() is not None]
            return _report("ended before its workers came", failed) if failed else None

        def late() -> str:
            missing = [login for login in logins if not _came(login.host, arrivals.here())]
            return _report(f"no workers within {place.patience:g} s", missing)

        await_workers(lambda: len(arrivals.here()) >= expected, trouble, late, place.patience)
        yield client


def command(place: Ssh, host: str) -> list[str]:
    """How the far end is started on a host."""
    options = [word for option in place.options for word in shlex.split(option)]
    # A home directory is the host's own: only its shell knows it.
    home = "~/" * place.python.startswith("~/")
    far = [place.python.removeprefix(home), "-P", "-m", "cluster.remote_worker"]
    return ["ssh", *OPTIONS, *options, host, f"{home}{shlex.join(far)}"]


def order(place: Ssh, host: str, scheduler: str, keys: Keys) -> str:
    """What the far end receives, one line."""
    arguments = worker_arguments(
        scheduler,
        FAR_KEYS,
        count=place.per_host,
        memory=str(parse_bytes(place.memory)),
        name=f"{host}/",
    )
    document = {
        "certificate": Path(keys.certificate).read_text(),
        "key": Path(keys.key).read_text(),
        "arguments": arguments,
        "environment": ENVIRONMENT,
    }
    return json.dumps(document) + "\n"


def _log_in(place: Ssh, host: str, scheduler: str, keys: Keys, said: IO[bytes]) -> _Login:
    try:
        process = subprocess.Popen(
            command(place, host),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            start_new_session=True,  # Ctrl-C is the driver's affair
        )
    except FileNotFoundError as cause:
        raise PlaceError("There is no `ssh` on this machine: install OpenSSH's client.") from cause
    with contextlib.suppress(BrokenPipeError):  # it has ended; its complaint is read later
        assert process.stdin is not None
        process.stdin.write(order(place, host, scheduler, keys).encode())
        process.stdin.flush()
    return _Login(host, process, said)


def _end(logins: list[_Login]) -> None:
    """Close the pipes, all before waiting for any."""
    for login in logins:
        with contextlib.suppress(BrokenPipeError):
            assert login.process.stdin is not None
            login.process.stdin.close()
    for login in logins:
        try:
            login.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            log.warning("%s did not end within %g s", login.host, GRACE)
            login.process.kill()
            login.process.wait()


def _came(host: str, names: set[str]) -> bool:
    return any(name.startswith(f"{host}/") for name in names)


def _report(what: str, logins: list[_Login]) -> str:
    lines = "".join(f"\n  {login.host}: {what}; it said:{login.tail()}" for login in logins)
    return (
        f"Not all hosts have workers:{lines}\nTry `ssh -o BatchMode=yes HOST`; `python` must be "
        "an interpreter there that has this package."
    )
