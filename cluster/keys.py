"""Keys: who holds them is in, nobody else.

A scheduler that listens beyond this machine speaks TLS, and wants the same certificate of
everybody who connects. For the places we start it is made anew each time, one pair for scheduler,
workers and client, and destroyed with them.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from distributed.security import Security

from .errors import PlaceError
from .places import Keys


def make_keys(folder: Path) -> Keys:
    """A self-signed certificate and its private key (RSA 2048, one year) as files in a folder.

    Parameters
    ----------
    folder
        Made if it is not there, for the user alone.

    Raises
    ------
    PlaceError
        The library that makes them is not installed; or keys are there already.
    """
    certificate, key = new_pair()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths = folder / "certificate.pem", folder / "key.pem"
    for path, text in zip(paths, (certificate, key), strict=True):
        try:
            # Nobody else ever reads it, not even before its mode is changed.
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
        except FileExistsError as cause:
            raise PlaceError(
                f"{path} is there already, and running schedulers may use it. Name another "
                "directory, or remove it."
            ) from cause
    return Keys(str(paths[0]), str(paths[0]), str(paths[1]))


def new_pair() -> tuple[str, str]:
    """A new certificate and its private key, as PEM texts.

    Raises
    ------
    PlaceError
        The library that makes them is not installed.
    """
    try:
        made = Security.temporary()
    except ImportError as cause:
        raise PlaceError(
            "Keys for TLS are made by the package `cryptography`, which is not installed: "
            "pip install 'basepar[cluster]'."
        ) from cause
    return made.tls_ca_file, made.tls_client_key


def directory_of(text: str) -> str:
    """A directory of a profile, as this machine and the nodes name it."""
    return os.path.abspath(os.path.expanduser(text))


@contextlib.contextmanager
def lent_keys(directory: str = "") -> Iterator[Keys]:
    """Keys in a new folder under `directory` (or this machine's own), gone after the block.

    Raises
    ------
    PlaceError
        Nothing can be written there.
    """
    parent = directory_of(directory) if directory else None
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=".basepar-", dir=parent, ignore_cleanup_errors=True
        )
    except OSError as cause:
        raise PlaceError(
            f"Nothing can be written to {parent}: {cause.strerror}. Set `directory` to one that "
            "this machine and the workers' see."
        ) from cause
    with folder as name:
        yield make_keys(Path(name))


def security(keys: Keys) -> Security:
    """What Dask calls it: the same keys in every role, and no word unencrypted.

    Raises
    ------
    PlaceError
        Files that are missing, all of them.
    """
    given = {"authority": keys.authority, "certificate": keys.certificate, "key": keys.key}
    paths = {name: os.path.expanduser(path) for name, path in given.items()}
    missing = [f"{name}: {path}" for name, path in paths.items() if not os.path.isfile(path)]
    if missing:
        raise PlaceError(f"No such files of keys: {'; '.join(missing)}.")
    return Security(
        require_encryption=True,
        tls_ca_file=paths["authority"],
        **{
            f"tls_{role}_{part}": paths[name]
            for role in ("client", "scheduler", "worker")
            for part, name in (("cert", "certificate"), ("key", "key"))
        },
    )
