"""Real clusters on this machine, where their programs are installed (`.ci/run` installs them)."""

import tempfile
from pathlib import Path

import pytest

from . import private_slurm, private_sshd


@pytest.fixture(scope="session")
def slurm():
    """A private SLURM; for the whole session, with jobs of one test after the other."""
    if missing := private_slurm.missing():
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: slurm-wlm, munge)")
    # Not pytest's: munged wants its socket in the open. Keys are in folders of their own.
    with tempfile.TemporaryDirectory(prefix="basepar-slurm-") as folder:
        Path(folder).chmod(0o755)
        with private_slurm.Slurm(Path(folder)) as found:
            yield found
        assert found.processes() == []


@pytest.fixture
def in_slurm(slurm, monkeypatch):
    """The private SLURM as the one this process sees."""
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, slurm.environment[name])
    return slurm


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    """A private sshd that lets this user in."""
    if missing := private_sshd.missing():
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: openssh-server)")
    with private_sshd.Sshd(tmp_path_factory.mktemp("sshd")) as found:
        yield found
