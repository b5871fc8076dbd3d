"""One writer per store: a lock beside it that says who holds it and how far he has come.

`.NAME.lock` beside the store NAME is locked by the kernel (`flock`) as long as its holder lives,
so that a killed run leaves nothing to clean up on its own machine. Other machines may share the
directory without sharing kernel locks; for them the holder's text counts its beats, and a lock
of another machine is stale when its count stands still. Stores in buckets: `bucket_lock`.
"""

import contextlib
import fcntl
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from basepar_core.errors import StoreError

from . import bucket_lock
from .bucket import Bucket
from .holders import Holder, Lock, busy, holder_of
from .location import Location, folder

#: Seconds between two signs of life.
BEAT = 2.0
#: Seconds that a lock of another machine is watched for one; a network's caches hold back some.
WATCHED = 15.0
#: Somebody who only looks (`holder`) locks for a moment; that long it is tried again.
PATIENCE = 1.0
#: The text is padded to this many bytes, so that readers never see half of one.
LENGTH = 1024
#: How its text begins, also that of one that was torn.
BEGINS = b'{"lock": "basepar", '


def lock_file(path: Path) -> Path:
    """The lock of a store that is a folder."""
    return folder(path).with_name(f".{path.name}.lock")


def holder(path: Location) -> Holder | None:
    """Who fills a store at this moment; None: nobody.

    A holder on another machine may be dead: then `silent` grows.
    """
    if isinstance(path, Bucket):
        return bucket_lock.holder(path)
    file = lock_file(path)
    try:
        # A pipe of this name would be waited for.
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            found = _said(opened.fileno()) if _is_lock(opened.fileno()) else None
            if found is None or not found.here:
                return found
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return found
    except OSError:
        return None
    return None  # nobody of this machine holds it: left behind


def watched(path: Location) -> Holder | None:
    """Who fills a store as a whole, and is alive: one of another machine is watched for a sign."""
    if isinstance(path, Bucket):
        return bucket_lock.watched(path)
    found = holder(path)
    if found is None or found.here:
        return found
    end = time.monotonic() + WATCHED
    while time.monotonic() < end:
        time.sleep(0.2)
        if (now := holder(path)) is None or now.beats != found.beats:
            return now
    return None


class FileLock:
    """Held (`holders.Lock`); `tell` puts numbers beside the holder's name."""

    def __init__(self, opened: int, stale: Holder | None):
        self.stale = stale
        self._opened = opened
        self._since = datetime.now(UTC).isoformat(timespec="seconds")
        self._told: dict[str, Any] = {}
        self._beats = 0
        self._over = threading.Event()
        self._write()
        self._heart = threading.Thread(target=self._beat, daemon=True)
        self._heart.start()

    def tell(self, **numbers: Any) -> None:
        """What the next sign of life says, for `basepar status`."""
        self._told = numbers

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            self._beats += 1
            with contextlib.suppress(OSError):  # a full disk is the sweep's to report
                self._write()

    def _write(self) -> None:
        plain = {
            "lock": "basepar",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": self._since,
            "beats": self._beats,
            "told": self._told,
        }
        os.pwrite(self._opened, json.dumps(plain).encode().ljust(LENGTH), 0)

    def release(self, file: Path) -> None:
        """Remove the lock, then let go of it."""
        self._over.set()
        self._heart.join()
        if _same(self._opened, file):
            file.unlink(missing_ok=True)
        os.close(self._opened)


def locked(path: Location, is_store: bool = True) -> contextlib.AbstractContextManager[Lock]:
    """Hold the lock of a store, or of another file or prefix.

    Raises
    ------
    StoreError
        Somebody else fills the store, or its directory or bucket cannot be written.
    """
    return bucket_lock.locked(path, is_store) if isinstance(path, Bucket) else _locked(path)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[FileLock]:
    file = lock_file(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = _taken(path, file)
    except OSError as cause:
        raise StoreError(
            f"{path} cannot be locked: {cause.strerror or cause}. Name a directory that can be "
            "written.",
            [str(path)],
        ) from cause
    try:
        stale = _said(opened)
        if stale is not None and not stale.here:
            _watch(path, opened, stale)
        lock = FileLock(opened, stale)
    except BaseException:
        os.close(opened)
        raise
    try:
        yield lock
    finally:
        lock.release(file)


def _taken(path: Path, file: Path) -> int:
    """The lock's file, open and locked; StoreError names who holds it."""
    end = time.monotonic() + PATIENCE
    while True:
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            _refuse_foreign(opened, file)
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same(opened, file):
                return opened
            os.close(opened)  # its holder has just removed it
        except StoreError:
            os.close(opened)
            raise
        except BlockingIOError:
            found = _said(opened)
            os.close(opened)
            if time.monotonic() > end:
                raise busy(path, found) from None
        time.sleep(0.05)


def _same(opened: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), file.stat())
    except FileNotFoundError:
        return False


def _watch(path: Path, opened: int, before: Holder) -> None:
    """Wait for a sign of life from another machine, which is none of our kernel's locks."""
    end = time.monotonic() + WATCHED
    while time.monotonic() < end:
        time.sleep(0.2)
        now = _said(opened)
        if now is not None and now.beats != before.beats:
            raise busy(path, now)


def _said(opened: int) -> Holder | None:
    """What the lock's text says; None where it is empty, or no lock's."""
    try:
        plain = json.loads(os.pread(opened, LENGTH, 0))
    except (ValueError, RecursionError):
        return None
    return holder_of(plain, os.fstat(opened).st_mtime)


def _is_lock(opened: int) -> bool:
    """Whether an open file begins as a lock does, or is what a crash leaves of one."""
    regular = stat.S_ISREG(os.fstat(opened).st_mode)
    return regular and BEGINS.startswith(os.pread(opened, len(BEGINS), 0))


def _refuse_foreign(opened: int, file: Path) -> None:
    """Make sure that a file of the lock's name is a lock: it will be written over and removed."""
    if not _is_lock(opened):
        raise StoreError(
            f"{file} is where a store's lock goes, and is none: {os.fstat(opened).st_size} bytes "
            "of something else. Move it away, or name another store.",
            [str(file)],
        )
