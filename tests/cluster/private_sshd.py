"""An sshd of one's own on loopback, with its own keys and port; nobody else may log in."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil

from .private_slurm import TIED, free_ports, search_path

#: sshd insists on this directory where it separates privileges, that is, as root.
SEPARATION = Path("/run/sshd")


def missing() -> list[str]:
    """Programs that are not installed."""
    return [
        name
        for name in ("sshd", "ssh", "ssh-keygen", "setpriv")
        if not shutil.which(name, path=search_path())
    ]


class Sshd:
    """Runs between entering and leaving; `options` are what ssh needs to get in."""

    def __init__(self, folder: Path):
        self.folder = folder
        (self.port,) = free_ports(1)

    @property
    def options(self) -> tuple[str, ...]:
        return (
            f"-F none -p {self.port} -i {self.folder}/id",
            f"-o UserKnownHostsFile={self.folder}/known_hosts -o IdentitiesOnly=yes",
        )

    def __enter__(self) -> "Sshd":
        folder = self.folder
        for name in ("host", "id"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(words, check=True)
        shutil.copy(folder / "id.pub", folder / "authorized")
        kind, key, *_ = (folder / "host.pub").read_text().split()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {kind} {key}\n")
        lines = [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {folder}/host",
            f"PidFile {folder}/pid",
            f"AuthorizedKeysFile {folder}/authorized",
            "StrictModes no",  # the directory above may be /tmp
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            f"AllowUsers {psutil.Process().username()}",
        ]
        (folder / "config").write_text("\n".join(lines) + "\n")
        if os.getuid() == 0:
            SEPARATION.mkdir(mode=0o755, exist_ok=True)
        # sshd wants to be called by its full path.
        sshd = str(shutil.which("sshd", path=search_path()))
        self.log = (folder / "log").open("w")
        self.daemon = subprocess.Popen(
            [*TIED, sshd, "-D", "-e", "-f", str(folder / "config")],
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        end = time.monotonic() + 120
        while not self._answers():
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"sshd: {(folder / 'log').read_text()}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        children = psutil.Process(self.daemon.pid).children(recursive=True)
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(10)
        for child in children:
            if child.is_running():
                child.kill()
        self.log.close()

    def _answers(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0
