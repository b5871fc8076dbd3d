"""Whether a place works: who answers there, and the keys of one's own scheduler."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from cluster import Place, PlaceError, make_keys

from .outputs import check_outputs
from .sweep import ClusterError, connected

#: Seconds until a scheduler that runs already must have a worker.
PATIENCE = 30.0


def roll_call(place: Place) -> list[dict[str, str]]:
    """Where each worker of a place is, and with which versions, by asking all of them.

    Raises
    ------
    ClusterError
        The place does not work.
    """
    try:
        with connected(place) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            found = client.run(_presence)
    except TimeoutError as error:
        raise ClusterError(str(error)) from error
    return [{"worker": address} | facts for address, facts in sorted(found.items())]


def make_own_keys(folder: Path) -> dict[str, str]:
    """Keys of a scheduler that the user starts: the files' paths by what they are.

    Raises
    ------
    ClusterError
        They cannot be made.
    UsageError
        The folder is an address.
    """
    check_outputs([folder])
    try:
        return asdict(make_keys(folder.absolute()))
    except PlaceError as error:
        raise ClusterError(str(error)) from error


def _presence() -> dict[str, str]:
    packages = ("basepar", "numpy", "distributed")
    versions = " ".join(f"{package} {version(package)}" for package in packages)
    return {"host": platform.node(), "python": platform.python_version(), "packages": versions}
