"""Where Optuna keeps a study: any storage of Optuna's, held by one driver at a time.

- A file name is a journal, Optuna's own format: about 300 trials a second, and readable while it
  grows. A last line that a crash left torn is cut off before anyone reads it.
- `sqlite:///best.db` is a file too: 10 to 50 trials a second. SQLite repairs itself.
- `s3://bucket/best.journal` (`gs://…`, `az://…`) is a journal in a bucket (`bucket_journal`).
- `postgresql://…`, `mysql://…` and `mariadb://…` are servers; `redis://…` is a journal on one.

A file that holds something else is left alone. Files are locked as stores are (`store.lock`;
Optuna's own file lock would outlive a killed driver by half a minute); PostgreSQL and MySQL by
their advisory locks, which die with the connection. For other servers there is no such lock, and
the study's store, which is always locked, is all that keeps two drivers apart.
"""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import (
    BaseJournalBackend,
    JournalFileBackend,
    JournalRedisBackend,
)

from basepar_core.errors import BaseparError, StoreError, UsageError
from basepar_core.texts import naming
from sweeps.store import Bucket, Location, Unreachable, bucket_of, locked

from .bucket_journal import BucketJournal
from .bucket_journal import is_there as is_in

_SQLITE = "sqlite:///"
#: Schemes of buckets.
ADDRESSES = ("s3", "gs", "az")
#: Databases and their drivers. SQLAlchemy would import what a scheme or a `plugin` names.
_SCHEMES = re.compile(
    r"sqlite|rediss?"
    r"|postgresql(\+(psycopg|psycopg2|pg8000))?"
    r"|(mysql|mariadb)(\+(pymysql|mysqldb|mysqlconnector|mariadbconnector))?"
)
#: Every line of Optuna's journal begins so, and an SQLite file so.
_JOURNAL, _DATABASE = b'{"op_code":', b"SQLite format 3\0"


class _File(JournalFileBackend):
    """Optuna's file, without its wait for the disk after every line (seven to a trial).

    A line is the operating system's when `append_logs` returns, so a killed driver loses none;
    `sync` waits for the disk, once for a batch, so that a power failure loses nothing that was
    acted on. The whole run holds a lock; single lines need none.
    """

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        lines = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        with naming(self._file_path), open(self._file_path, "ab") as file:
            file.write(lines.encode())

    def sync(self) -> None:
        with open(self._file_path, "ab") as file:
            os.fsync(file.fileno())


class _Journal(JournalStorage):
    """A journal in a `_File` or a bucket."""

    def __init__(self, inner: _File | BucketJournal):
        self.inner = inner
        super().__init__(inner)


class Shared(BaseJournalBackend):
    """A journal on a server, without snapshots: those are pickles, and the server may be anyone's.

    The study is read from its lines, as from a file.
    """

    def __init__(self, inner: BaseJournalBackend):
        self._inner = inner

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        return self._inner.read_logs(log_number_from)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._inner.append_logs(logs)


def sync(storage: BaseStorage) -> None:
    """Return when all that was written is stored; databases see to that themselves."""
    if isinstance(storage, _Journal):
        storage.inner.sync()


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


def mistake(storage: str) -> str:
    """What is wrong with a storage's name; "" if nothing."""
    scheme, there, rest = storage.partition("://")
    if there and scheme in ADDRESSES:
        try:
            bucket_of(storage)
        except UsageError as error:
            return str(error)
        return ""
    if not there and _SCHEMES.fullmatch(scheme.partition(":")[0]) and ":" in scheme:
        kind, _, rest = scheme.partition(":")
        return f"a URL has two slashes and more: write {kind}:///{rest.lstrip('/')}"
    if not there:
        return "" if storage.strip() else "a file, or a URL such as sqlite:///best.db, is needed"
    if not _SCHEMES.fullmatch(scheme):
        return (
            f"no storage {scheme!r}; there are sqlite, postgresql, mysql, mariadb and redis, "
            f"with their usual drivers, and {', '.join(ADDRESSES)} for buckets"
        )
    if scheme == "sqlite" and ("?" in rest or not storage.startswith(_SQLITE)):
        return "an SQLite file is named sqlite:///FILE, and nothing behind it"
    if "plugin" in rest.partition("?")[2]:
        return "a storage loads no plugin; drop it from the URL"
    return ""


@contextmanager
def opened(storage: str, name: str) -> Iterator[BaseStorage]:
    """A storage, held for one driver of the study `name`.

    Raises
    ------
    StoreError
        Another process is at it, it holds something else, or it cannot be opened.
    UsageError
        There is no such storage, or its driver is not installed.
    """
    if wrong := mistake(storage):
        raise UsageError(f"study.storage {shown(storage)}: {wrong}.", ["study.storage"])
    if (place := bucket_of(storage)) is not None:
        with locked(place, is_store=False):
            journal = BucketJournal(place, is_held=True)
            yield _in_bucket(journal)
            journal.release()
        return
    if (path := file_of(storage)) is not None:
        with locked(path):
            refuse_foreign(path, is_database="://" in storage)
            yield _made(storage) if "://" in storage else _journal(path)
        return
    made = _made(storage)
    with _server_locked(made, storage, name):
        yield made


def refuse_foreign(path: Path, is_database: bool) -> None:
    """Leave files alone that hold no study.

    Raises
    ------
    StoreError
        It is neither empty nor what Optuna writes.
    """
    if not path.exists():
        return
    try:
        good = path.is_file() and (_is_study(path) if is_database else is_journal(path))
    except (OSError, sqlite3.Error) as cause:
        raise _unopened(str(path), cause) from cause
    if not good:
        kind = "an SQLite database of Optuna's" if is_database else "a journal of Optuna's"
        raise StoreError(
            f"{path} is not {kind}, and is left as it is. Name another storage in "
            "`study.storage`.",
            [str(path)],
        )


def is_journal(path: Path) -> bool:
    """Whether a file is empty or begins as a journal does, torn within the first line or not."""
    with path.open("rb") as file:
        first = file.readline(1 << 16)
    if not first.endswith(b"\n"):
        return first.startswith(_JOURNAL[: len(first)])
    try:
        plain = json.loads(first)
    except ValueError:
        return False
    return first.startswith(_JOURNAL) and isinstance(plain, dict) and "worker_id" in plain


def _is_study(path: Path) -> bool:
    """Whether a file is empty, or an SQLite database with Optuna's tables, or none."""
    with path.open("rb") as file:
        head = file.read(len(_DATABASE))
    if head != _DATABASE:
        return not head
    base = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        rows = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    finally:
        base.close()
    tables = {name for (name,) in rows}
    return not tables or {"studies", "trials", "version_info"} <= tables


def _journal(path: Path) -> "_Journal":
    mend(path)
    try:
        return _Journal(_File(str(path)))
    except Exception as cause:  # lines that are no operations of Optuna's
        raise _unopened(str(path), cause) from cause


def _in_bucket(journal: BucketJournal) -> "_Journal":
    try:
        return _Journal(journal)
    except BaseparError:
        raise
    except Exception as cause:  # lines that are no operations of Optuna's
        raise _unopened(str(journal.place), cause) from cause


def _made(storage: str) -> BaseStorage:
    try:
        if storage.startswith("redis"):
            return JournalStorage(Shared(JournalRedisBackend(storage)))
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
    """Cut off a last line that is torn: what it would have said was not acted on yet.

    Of a journal only: `refuse_foreign` has looked.
    """
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


def names_in(journal: Location) -> list[str]:
    """Studies in a journal, which is only read; none where there is no journal."""
    try:
        if isinstance(journal, Bucket):
            # Held: it is read once.
            return optuna.get_all_study_names(_Journal(BucketJournal(journal, is_held=True)))
        if not journal.is_file() or not is_journal(journal):
            return []
        return optuna.get_all_study_names(JournalStorage(JournalFileBackend(str(journal))))
    except Unreachable:
        raise
    except Exception:  # lines that are no operations of Optuna's
        return []


def is_there(storage: str) -> bool:
    """Whether a storage that is a file or in a bucket exists; others may."""
    if (place := bucket_of(storage)) is not None:
        return is_in(place)
    path = file_of(storage)
    return path is None or path.exists()
