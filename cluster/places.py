"""Where the work is done: plain values, one per kind of place.

`problems` says what about their numbers and texts makes no sense; a profile file is read into
one of them by `profile.py`.
"""

import ipaddress
import os.path
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import get_args
from urllib.parse import urlsplit

from dask.utils import parse_bytes


@dataclass(frozen=True, slots=True)
class Laptop:
    """This machine: worker processes on the loopback interface only, with keys.

    Attributes
    ----------
    workers
        Processes; None: one per physical core.
    memory
        Of each worker, like "4 GB"; None: an equal share of the machine's.
    threads
        Per worker. With several, each evaluates in a child process of its own, since a variant
        that hangs can only be stopped with its process.
    """

    workers: int | None = None
    memory: str | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Keys:
    """Files that a scheduler, its workers and its clients know each other by (PEM).

    Attributes
    ----------
    authority
        Certificate that has signed everybody's.
    certificate, key
        One's own, and its private key.
    """

    authority: str
    certificate: str
    key: str


@dataclass(frozen=True, slots=True)
class Address:
    """A scheduler that runs already, like "tls://10.0.0.5:8786".

    Its workers must be able to import this package and must see the store's directory. For short
    tasks the scheduler is best started with `distributed.scheduler.worker-saturation: 4`.

    Attributes
    ----------
    url
        As the scheduler prints it when it starts.
    keys
        For tls:// addresses.
    unencrypted
        Consent to tcp:// beyond this machine: whoever reaches the scheduler's port there can
        run what he likes as its user.
    patience
        Seconds to wait for an answer.
    """

    url: str
    keys: Keys | None = None
    unencrypted: bool = False
    patience: float = 10.0


@dataclass(frozen=True, slots=True)
class Slurm:
    """Jobs of a SLURM cluster; the scheduler is this process, which must run in its network.

    Attributes
    ----------
    workers
        Worker processes of one thread each, in all.
    per_job
        Worker processes in a job.
    memory
        Of each worker.
    walltime, partition, account
        As in `sbatch --time`, `--partition`, `--account`; None: the cluster's defaults.
    directives
        More options of sbatch, like "--constraint=avx2".
    setup
        Shell commands before a worker starts, like "module load python".
    python
        The interpreter with this package, as the nodes see it.
    interface
        Network interface of this machine that the nodes reach, like "ib0"; None: the one with
        the default route.
    directory
        Seen by this machine and the nodes: keys and logs, as long as the jobs run.
    patience
        Seconds to wait in the queue for the first worker.
    interval
        Seconds between looks at the queue; lost jobs are replaced then.
    container
        Image in which the interpreter runs, by apptainer, like "/images/basepar.sif"; `python` is
        the image's then. None: no container.
    container_options
        Of `apptainer exec`, like "--bind=/scratch".
    """

    workers: int
    per_job: int = 1
    memory: str = "2 GB"
    walltime: str | None = None
    partition: str | None = None
    account: str | None = None
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    python: str = sys.executable
    interface: str | None = None
    directory: str = "~"
    patience: float = 900.0
    interval: float = 5.0
    container: str | None = None
    container_options: tuple[str, ...] = ()

    @property
    def jobs(self) -> int:
        """How many jobs carry the workers."""
        return -(-self.workers // self.per_job)


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs of a batch system that evaluate parts of a sweep, by a script; nobody waits for them.

    Attributes
    ----------
    system
        Which: slurm, pbs (OpenPBS), lsf, sge (Grid Engine), htcondor, parallel (GNU parallel).
    workers
        Worker processes of one thread each, in all.
    per_job
        Worker processes in a job.
    memory
        Of each worker.
    walltime
        Of a job, like "02:00:00"; None: the system's default, and jobs do not know when they end.
    partition, account
        Queue and account as the system has them; None: its defaults.
    directives
        More options, as the system's script has them.
    setup
        Shell commands before a worker starts, like "module load python".
    python
        The interpreter with this package, as the nodes see it.
    container
        Image in which the interpreter runs, by apptainer, like "/images/basepar.sif"; `python` is
        the image's then. None: no container.
    container_options
        Of `apptainer exec`, like "--bind=/scratch".
    """

    system: str
    workers: int
    per_job: int = 1
    memory: str = "2 GB"
    walltime: str | None = None
    partition: str | None = None
    account: str | None = None
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    python: str = sys.executable
    container: str | None = None
    container_options: tuple[str, ...] = ()

    @property
    def jobs(self) -> int:
        """How many jobs carry the workers; each evaluates a part."""
        return -(-self.workers // self.per_job)


@dataclass(frozen=True, slots=True)
class Ssh:
    """Machines that one can log into without a password; the scheduler is this process.

    Attributes
    ----------
    hosts
        As one gives them to `ssh`: names, user@name, or aliases of ~/.ssh/config.
    per_host
        Worker processes on each, one thread each.
    memory
        Of each worker.
    options
        More options of ssh, like "-p 2222" or "-i key".
    python
        The interpreter with this package, as the hosts see it.
    interface
        Network interface of this machine that the hosts reach; None: the one with the default
        route.
    patience
        Seconds until every host must have its workers.
    """

    hosts: tuple[str, ...]
    per_host: int = 1
    memory: str = "2 GB"
    options: tuple[str, ...] = ()
    python: str = sys.executable
    interface: str | None = None
    patience: float = 60.0


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """Pods of a Kubernetes cluster that `kubectl` reaches; the scheduler is one of them.

    Attributes
    ----------
    image
        A container image with this package.
    workers
        Pods of one worker with one thread each.
    memory, cpu
        Requested for each, `cpu` in cores.
    claim, mount
        A persistent volume claim and where it is mounted; stores lie there, under the path that
        this machine sees too.
    namespace, context
        As kubectl has them; None: its current ones.
    python
        The interpreter in the image.
    pull_secret
        Name of the secret for the image's registry.
    patience
        Seconds until the first worker must be there.
    """

    image: str
    workers: int
    memory: str = "2 GB"
    cpu: float = 1.0
    claim: str | None = None
    mount: str | None = None
    namespace: str | None = None
    context: str | None = None
    python: str = "python"
    pull_secret: str | None = None
    patience: float = 600.0


def interpreter(place: Slurm | Batch) -> list[str]:
    """Words by which a job calls the interpreter, in its container where it has one."""
    if place.container is None:
        return [os.path.expanduser(place.python)]
    inside = "python" if place.python == sys.executable else place.python
    image = os.path.expanduser(place.container)
    return ["apptainer", "exec", *place.container_options, image, inside]


Place = Laptop | Address | Slurm | Batch | Ssh | Kubernetes

#: By the word that a profile has for it.
KINDS: dict[str, type[Place]] = {one.__name__.lower(): one for one in get_args(Place)}

POSITIVE = ("workers", "threads", "per_job", "per_host", "patience", "interval", "cpu")
#: Batch systems whose scripts are written (`scripts.py`).
SYSTEMS = ("slurm", "pbs", "lsf", "sge", "htcondor", "parallel")
#: Of any of them: a billion seconds or processes are a slip.
MOST = 1_000_000_000
#: Forms of `sbatch --time`.
WALLTIME = re.compile(r"\d+|\d+:\d+(:\d+)?|\d+-\d+(:\d+){0,2}")
#: A name that a shell, sbatch, ssh and kubectl take for a name and not for an option.
NAME = re.compile(r"[\w@][\w.@:%/+=,-]*")


def problems(place: Place) -> Iterator[tuple[str, str]]:
    """What makes no sense: (name of the value, what is wrong with it), all of them."""
    yield from _unseen(place)
    for name in POSITIVE:
        value = getattr(place, name, None)
        if value is not None and not 0 < value <= MOST:
            at_least = "at least 1" if isinstance(value, int) else "above 0"
            yield name, f"is {str(value)[:40]}; {at_least}, at most {MOST:,}"
    memory = getattr(place, "memory", None)
    if memory is not None and not _bytes(memory):
        yield "memory", f"{memory!r} is no amount of memory; write like `4 GB` or `512 MiB`"
    if isinstance(place, Slurm | Batch):
        if place.container is not None and place.container[:1] in ("", "-"):
            yield "container", f"{place.container!r} is no image; write like `/images/basepar.sif`"
        if place.container_options and place.container is None:
            yield "container_options", "are there without `container`"
    match place:
        case Address():
            yield from _address(place)
        case Slurm():
            if place.walltime is not None and not WALLTIME.fullmatch(place.walltime):
                yield "walltime", f"{place.walltime!r}; write like `02:00:00` or `1-12:00:00`"
            yield from _names(place, "partition", "account", "interface")
            for number, directive in enumerate(place.directives):
                if not directive.startswith("-") or "\n" in directive:
                    yield f"directives[{number}]", f"{directive!r} is no option of sbatch"
        case Batch():
            if place.system not in SYSTEMS:
                yield "system", f"is {place.system!r}; one of {', '.join(SYSTEMS)}"
            if place.walltime is not None and not WALLTIME.fullmatch(place.walltime):
                yield "walltime", f"{place.walltime!r}; write like `02:00:00` or `1-12:00:00`"
            yield from _names(place, "partition", "account")
        case Ssh():
            if not place.hosts:
                yield "hosts", "none given"
            for number, host in enumerate(place.hosts):
                if not NAME.fullmatch(host):
                    yield f"hosts[{number}]", f"{host!r} is no name of a machine"
                elif host in place.hosts[:number]:
                    yield f"hosts[{number}]", f"{host!r} is there twice; raise `per_host`"
            yield from _names(place, "interface")
        case Kubernetes():
            if (place.claim is None) != (place.mount is None):
                yield "mount" if place.mount is None else "claim", "is missing; both or neither"
            if place.mount is not None and not place.mount.startswith("/"):
                yield "mount", f"{place.mount!r} does not begin with /"
            yield from _names(place, "image", "claim", "namespace", "context", "pull_secret")


def _unseen(place: Place) -> Iterator[tuple[str, str]]:
    """Texts with characters that no shell, file or reader takes for part of a name."""
    for field in fields(place):
        value = getattr(place, field.name)
        for number, text in enumerate(value if isinstance(value, tuple) else (value,)):
            commands = field.name == "setup"  # may have several lines
            if (
                isinstance(text, str)
                and not (
                    text.replace("\n", "").replace("\t", "") if commands else text
                ).isprintable()
            ):
                where = f"{field.name}[{number}]" if isinstance(value, tuple) else field.name
                yield where, f"{text!r} has characters that nobody sees"


def is_loopback(host: str) -> bool:
    """Whether nobody outside this machine can listen or answer at `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(place: Address) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(place.url)
        complete = bool(parts.scheme in ("tcp", "tls") and parts.hostname and parts.port)
    except ValueError:  # an unfinished IPv6 address, a port that is no number
        complete = False
    if not complete:
        yield "url", f"{place.url!r} is no address; write like tls://host:8786"
    elif parts.scheme == "tls" and place.keys is None:
        yield (
            "keys",
            "is missing, and tls:// needs it: keys: {authority: …, certificate: …, key: …}",
        )
    elif parts.scheme == "tcp" and not (place.unencrypted or is_loopback(parts.hostname or "")):
        yield (
            "url",
            f"{place.url} is unencrypted and beyond this machine, where anybody who reaches it "
            "runs what he likes. Start the scheduler with TLS (`basepar tls DIR` makes the keys) "
            "and name tls://… and the keys in a profile; or consent there: unencrypted: true",
        )


def _names(place: Place, *names: str) -> Iterator[tuple[str, str]]:
    for name in names:
        value = getattr(place, name)
        if value is not None and not NAME.fullmatch(value):
            yield name, f"{value!r} is no name"


def _bytes(text: str) -> int:
    try:
        return max(0, int(parse_bytes(text)))
    except (ValueError, OverflowError):  # "1e400 GB" is infinite
        return 0
