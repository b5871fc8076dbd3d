"""A SLURM of one's own: munged, slurmctld and slurmd from Debian, on loopback and free ports.

Runs as whoever runs the tests (root or not), in a directory of its own; nothing of the system's
is read or changed. Two real cores pose as eight, and a requeued job starts after 20 s: SLURM waits
for its old credential to expire, else the node refuses it.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "setpriv")

#: Daemons end even when the tests are killed.
TIED = ("setpriv", "--pdeathsig", "TERM")

CONFIGURATION = """\
ClusterName=basepar
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={socket},cred_expire=20
CredType=cred/munge
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/{proctrack}
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=20
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 \
ThreadsPerCore=1 RealMemory=16000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
"""


def missing() -> list[str]:
    """Programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=search_path())]


def search_path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody had a moment ago."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


class Slurm:
    """Starts on entering; on leaving cancels all jobs first, then ends every process."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": search_path(),
        }
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self) -> "Slurm":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(subprocess.SubprocessError):
            self.run("scancel", f"--user={os.getuid()}")
            self._until(lambda: not self.run("squeue", "-h"), "jobs to end")
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        # Steps of jobs outlive their slurmd, by SLURM's design.
        for process in self.processes():
            process.kill()

    def run(self, *words: str) -> str:
        """What a command of SLURM prints."""
        ran = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=True
        )
        return ran.stdout.strip()

    def processes(self) -> list[psutil.Process]:
        """Everything alive that was started with this configuration."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("SLURM_CONF") == self.environment["SLURM_CONF"]:
                    found.append(process)
        return [process for process in found if process.pid != os.getpid()]

    def _start(self) -> None:
        folder = self.folder
        for name in ("state", "spool", "munge"):
            (folder / name).mkdir(mode=0o700)
        # munged wants its socket where everybody may look.
        (folder / "run").mkdir(mode=0o755)
        key, pipe = folder / "munge" / "key", folder / "run" / "socket"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        host = socket.gethostname().partition(".")[0]
        text = CONFIGURATION.format(
            host=host,
            ports=free_ports(2),
            user=psutil.Process().username(),
            socket=pipe,
            folder=folder,
            proctrack="linuxproc" if os.getuid() == 0 else "pgid",
        )
        (folder / "slurm.conf").write_text(text)
        munge = [
            *("munged", "--foreground", f"--key-file={key}", f"--socket={pipe}"),
            *(f"--{name}-file={folder}/munge/{name}" for name in ("pid", "log", "seed")),
            *("--num-threads=2", "--force"),
        ]
        self._daemon(munge)
        self._until(pipe.exists, "munged")
        self._daemon(["slurmctld", "-D", "-c"])
        self._daemon(["slurmd", "-D", "-N", host])
        self._until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T"), "the node")

    def _daemon(self, words: list[str]) -> None:
        output = (self.folder / f"{words[0]}.out").open("w")
        with output:
            self.daemons.append(
                subprocess.Popen(
                    [*TIED, *words],
                    env=self.environment,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )

    def _until(self, done, what: str, patience: float = 60.0) -> None:
        end = time.monotonic() + patience
        while True:
            with contextlib.suppress(subprocess.SubprocessError):
                if done():
                    return
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            if time.monotonic() > end:
                break
            time.sleep(0.1)
        said = "".join(f"\n{log}:\n{log.read_text()[-800:]}" for log in self.folder.glob("*.out"))
        raise RuntimeError(f"waited for {what}{said}")
