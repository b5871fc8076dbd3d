"""Keys: who holds them is in, nobody else.

Every scheduler we start, its workers and their nannies speak TLS, on this machine too, and want
the same certificate of everybody who connects. It is made anew each time, one pair for scheduler,
workers and client, and destroyed with them.
"""

import contextlib
import datetime
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from distributed.security import Security

from .errors import PlaceError
from .places import Keys


def make_keys(folder: Path) -> Keys:
    """A self-signed certificate and its private key (P-256, one year) as files in a folder.

    Parameters
    ----------
    folder
        Made if it is not there, for the user alone.

    Raises
    ------
    PlaceError
        Keys are there already.
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

    On a curve: RSA keys take fifty times as long to make, and every handshake longer.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "basepar")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        # An hour back: the clocks of nodes differ.
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), secret.decode()


def own_security() -> Security:
    """New keys for processes of this one: they pass through memory and pipes.

    Python loads a certificate from files only, so each process has one for a moment, in a
    temporary folder that the user alone can enter.
    """
    certificate, key = new_pair()
    return _security(certificate, key, certificate)


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
    return _security(paths["certificate"], paths["key"], paths["authority"])


def _security(certificate: str, key: str, authority: str) -> Security:
    return Security(
        require_encryption=True,
        tls_ca_file=authority,
        **{
            f"tls_{role}_{part}": value
            for role in ("client", "scheduler", "worker")
            for part, value in (("cert", certificate), ("key", key))
        },
    )
