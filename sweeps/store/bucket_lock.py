"""The lock of a store in a bucket: an object whose holder replaces it, again and again.

No kernel holds it. Whoever makes or replaces it does so on the condition that it is still what he
saw, so of several one succeeds; a holder that was thought dead sees it at his next beat. Nobody's
clock is compared with another's: a lock is stale when it has not changed for `STALE` seconds of
the observer's own clock, or at once where its holder was a process of this machine that is no
more. It is never removed, for removing knows no condition: who leaves says so in it.
"""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from basepar_core.errors import StoreError

from .bucket import Bucket
from .bucket_requests import Tag, Unreachable
from .holders import Holder, born, busy, holder_of, machine
from .names import HIDDEN, LOCK

#: Seconds between two signs of life, and without one after which a lock is nobody's.
BEAT, STALE = 5.0, 45.0
#: Seconds between two looks at somebody else's.
LOOK = 1.0
_KEY = f"{HIDDEN}/{LOCK}"
#: Tokens of the locks that this process holds.
_held: set[str] = set()
_LEFT = json.dumps({"lock": "basepar", "released": True}).encode()


def holder(path: Bucket) -> Holder | None:
    """Who fills a store at this moment; None: nobody. One elsewhere may be dead (`silent`)."""
    found = _seen(path)[0]
    return None if found is None or _is_left(found) else found


def watched(path: Bucket) -> Holder | None:
    """Who fills a store and is alive: one of another machine is watched for a sign."""
    found, tag = _seen(path)
    if found is None or _is_left(found):
        return None
    return found if found.here else _sign(path, found, tag)


class BucketLock:
    """Held (`holders.Lock`)."""

    def __init__(self, path: Bucket, stale: Holder | None):
        self.stale = stale
        self._path, self._told, self._beats = path, dict[str, Any](), 0
        self._since = datetime.now(UTC).isoformat(timespec="seconds")
        self._token = os.urandom(8).hex()
        self._tag: Tag | None = None
        self._lost = False
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True)

    def take(self, before: Tag | None) -> bool:
        """Make it ours, if it is still what it was."""
        self._tag = self._path.try_put(_KEY, self._content(), before)
        if self._tag is None:
            return False
        _held.add(self._token)
        self._heart.start()
        return True

    def tell(self, **numbers: Any) -> None:
        """What the next sign of life says; StoreError where the lock is no longer ours."""
        self._told = numbers
        if self._lost:
            raise busy(self._path, holder(self._path))

    def release(self) -> None:
        """Say that it is nobody's any more."""
        self._over.set()
        self._heart.join()
        _held.discard(self._token)
        if not self._lost:
            with contextlib.suppress(Unreachable):  # it is stale for others then
                self._path.try_put(_KEY, _LEFT, self._tag)

    def _beat(self) -> None:
        while not self._lost and not self._over.wait(BEAT):
            self._beats += 1
            with contextlib.suppress(Unreachable):  # which is the sweep's to report
                tag = self._path.try_put(_KEY, self._content(), self._tag) or self._own_tag()
                self._tag, self._lost = tag or self._tag, tag is None

    def _own_tag(self) -> Tag | None:
        """Of the lock, where it is still ours: a beat was written, and all its answers lost."""
        try:
            found, tag = _seen(self._path)
        except Unreachable:
            raise
        except StoreError:
            return None
        return tag if found is not None and found.token == self._token else None

    def _content(self) -> bytes:
        plain = {
            "lock": "basepar",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "since": self._since,
            "beats": self._beats,
            "told": self._told,
            "machine": machine(),
            "born": born(os.getpid()),
            "token": self._token,
        }
        return json.dumps(plain).encode()


@contextlib.contextmanager
def locked(path: Bucket, is_store: bool = True) -> Iterator[BucketLock]:
    """Hold the lock of a store, or of something else.

    Raises
    ------
    StoreError
        Somebody else fills the store, the bucket cannot be written, or what lies there is no
        store: then nothing is written.
    """
    while True:
        found, before = _seen(path)
        if before is None and is_store:
            path.refuse_foreign()
        others = found is not None and not _is_left(found)
        if found is not None and others and (now := _sign(path, found, before)):
            raise busy(path, now)
        # Nobody's, on the condition that it is still what we saw.
        lock = BucketLock(path, found)
        if lock.take(before):
            break
    try:
        yield lock
    finally:
        lock.release()


def _sign(path: Bucket, found: Holder, before: Tag | None) -> Holder | None:
    """Whoever shows a sign of life within `STALE` s; at once where it is a live neighbour."""
    end = time.monotonic() + STALE
    while time.monotonic() < end:
        if found.here and found.born and not _is_left(found):
            return found
        time.sleep(LOOK)
        now, tag = _seen(path)
        if now is None:
            return None
        if tag != before:
            return now
    return None


def _is_left(found: Holder) -> bool:
    """Whether a holder is known to have ended, or is this process, which could not say so."""
    return found.is_left or (
        found.here and found.pid == os.getpid() and bool(found.token) and found.token not in _held
    )


def _seen(path: Bucket) -> tuple[Holder | None, Tag | None]:
    """Whom the lock names (None: nobody), and what tells it from what it will be."""
    there = path.get_tagged(_KEY)
    if there is None:
        return None, None
    content, tag, changed = there
    try:
        plain = json.loads(content)
        ours = plain["lock"] == "basepar"
    except (ValueError, KeyError, TypeError, RecursionError):
        ours = False
    if not ours:
        raise StoreError(
            f"{path}/{_KEY} is where a store's lock goes, and is none: {len(content)} bytes of "
            "something else. Remove it, or name another store.",
            [f"{path}/{_KEY}"],
        )
    return holder_of(plain, changed), tag
