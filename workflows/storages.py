"""Where Optuna keeps a study: any storage of Optuna's, held by one driver at a time.

- A file name is a journal, Optuna's own format: about 300 trials a second, and readable while it
  grows. A last line that a crash left torn is cut off before anyone reads it.
- `sqlite:///best.db` is a file too: 10 to 50 trials a second. SQLite mends itself.
- `postgresql://…`, `mysql://…` and the like are servers; `redis://…` is a journal on one.

Files are locked by `flock`, which dies with its process (Optuna's own file lock would outlive a
killed driver by half a minute); PostgreSQL and MySQL by their advisory locks, which die with the
connection. For other servers there is no such lock, and the study's store, which is always
locked, is all that keeps two drivers apart.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import (
    JournalFileBackend,
    JournalRedisBackend,
)

from basepar_core.errors import StoreError, UsageError

_SQLITE = "sqlite:///"


class _File(JournalFileBackend):
    """Optuna's file, without its wait for the disk after every line (seven to a trial).

    A line is the operating system's when `append_logs` returns, so a killed driver loses none;
    `sync` waits for the disk, once for a batch, so that a power failure loses nothing that was
    acted on. The whole run holds a lock; single lines need none.
    """

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        lines = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        with open(self._file_path, "ab") as file:
            file.write(lines.encode())

    def sync(self) -> None:
        with open(self._file_path, "ab") as file:
            os.fsync(file.fileno())


class _Journal(JournalStorage):
    """A journal in a `_File`."""

    def __init__(self, path: Path):
        self.file = _File(str(path))
        super().__init__(self.file)


def sync(storage: BaseStorage) -> None:
    """Return when all that was written is on the disk; databases see to that themselves."""
    if isinstance(storage, _Journal):
        storage.file.sync()


def file_of(storage: str) -> Path | None:
    """The file of a storage, absolute; None where it is a server's, or SQLite's in memory."""
    if "://" not in storage:
        return Path(storage).absolute()
    if storage.startswith(_SQLITE):
        name = storage[len(_SQLITE) :].split("?")[0]
        return Path(name).absolute() if name and name != ":memory:" else None
    return None


def shown(storage: str) -> str:
    """A storage as messages may show it: without the password."""
    if "://" not in storage or "@" not in storage:
        return storage
    scheme, rest = storage.split("://", 1)
    user, place = rest.rsplit("@", 1)
    return f"{scheme}://{user.split(':')[0]}@{place}"


@contextmanager
def opened(storage: str, name: str) -> Iterator[BaseStorage]:
    """A storage, held for one driver of the study `name`.

    Raises
    ------
    StoreError
        Another process is at it, or it cannot be opened.
    UsageError
        Its driver is not installed.
    """
    if (path := file_of(storage)) is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise _unopened(storage, cause) from cause
        with _file_locked(path):
            if "://" in storage:
                yield _made(storage)
            else:
                mend(path)
                yield _Journal(path)
        return
    made = _made(storage)
    with _server_locked(made, storage, name):
        yield made


def _made(storage: str) -> BaseStorage:
    try:
        if storage.startswith("redis"):
            return JournalStorage(JournalRedisBackend(storage))
        return RDBStorage(storage)
    except ImportError as cause:
        raise UsageError(
            f"The storage {shown(storage)} needs a package that is not installed: {cause}",
            ["study.storage"],
        ) from cause
    except Exception as cause:
        raise _unopened(storage, cause) from cause


def _unopened(storage: str, cause: Exception) -> StoreError:
    first = (str(cause).splitlines() or [type(cause).__name__])[0]
    return StoreError(
        f"The storage {shown(storage)} cannot be opened: {first[:200]}. Name a file, or a URL "
        "such as sqlite:///best.db, in `study.storage`.",
        [shown(storage)],
    )


def _busy(storage: str) -> StoreError:
    return StoreError(
        f"Another process is running a study in {storage}. Wait for it, or name another storage "
        "in `study.storage`.",
        [storage],
    )


@contextmanager
def _file_locked(path: Path) -> Iterator[None]:
    with open(f"{path}.lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(str(path)) from None
        yield


#: Statements that take a lock for as long as a connection lives; the answer is 1 or true.
_ADVISORY = {
    "postgresql": "SELECT pg_try_advisory_lock({number})",
    "mysql": "SELECT GET_LOCK('basepar-{number}', 0)",
    "mariadb": "SELECT GET_LOCK('basepar-{number}', 0)",
}


@contextmanager
def _server_locked(made: BaseStorage, storage: str, name: str) -> Iterator[None]:
    """Hold a server's advisory lock of a study, where it has such locks."""
    engine: Any = getattr(made, "engine", None)
    text = _ADVISORY.get(engine.dialect.name) if engine is not None else None
    if text is None:
        yield
        return
    from sqlalchemy import text as statement

    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
    with engine.connect() as connection:
        if not connection.execute(statement(text.format(number=number))).scalar():
            raise _busy(shown(storage))
        yield


def mend(path: Path) -> None:
    """Cut off a last line that is torn: what it would have said was not acted on yet."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    last = whole[whole.rfind(b"\n", 0, -1) + 1 :]
    try:
        json.loads(last or b"0")
    except ValueError:
        whole = whole[: len(whole) - len(last)]
    if len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))


def has_study(storage: BaseStorage, name: str) -> bool:
    """Whether a study of this name is there."""
    return name in optuna.get_all_study_names(storage)
