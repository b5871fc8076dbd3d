"""Files that are not ours are left as they are: journals, databases, locks."""

import os
import sqlite3

import pytest

from basepar_core.errors import FileError, StoreError, UsageError
from sweeps.store.lock import holder, lock_file, locked
from workflows.studies import storages
from workflows.studies.reader import parse_study
from workflows.studies.store import study_of

from . import made

NOTES = b"Buy milk.\nWrite the thesis"  # the last line is not ended
FOREIGN = {
    "notes.txt": NOTES,
    "data.json": b'{"op_code": 1}\n',
    "lines.jsonl": b'{"op_code":1}\n{"op_code":2}\n',
    "uv.lock": b"version = 1\n",
    "zeros": bytes(4096),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_journal_in_a_foreign_file_is_refused(name, tmp_path):
    file = tmp_path / name
    file.write_bytes(FOREIGN[name])
    with pytest.raises(StoreError, match="left as it is"), storages.opened(str(file), "one"):
        pass
    url = f"sqlite:///{file}"
    with pytest.raises(StoreError, match="left as it is"), storages.opened(url, "one"):
        pass
    assert file.read_bytes() == FOREIGN[name]
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_study_named_uv_does_not_touch_uv_lock(tmp_path):
    (tmp_path / "uv.lock").write_bytes(FOREIGN["uv.lock"])
    with storages.opened(str(tmp_path / "uv"), "one") as storage:
        assert not storages.has_study(storage, "one")
    assert (tmp_path / "uv.lock").read_bytes() == FOREIGN["uv.lock"]
    with storages.opened(f"sqlite:///{tmp_path}/uv", "one"):
        pass
    assert (tmp_path / "uv.lock").read_bytes() == FOREIGN["uv.lock"]


def test_a_foreign_database_is_refused(tmp_path):
    file = tmp_path / "photos.db"
    base = sqlite3.connect(file)
    base.execute("CREATE TABLE photos (name TEXT)")
    base.commit()
    base.close()
    before = file.read_bytes()
    with (
        pytest.raises(StoreError, match="left as it is"),
        storages.opened(f"sqlite:///{file}", "one"),
    ):
        pass
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["best.journal", "sqlite:///{folder}/best.db"])
def test_ones_own_are_opened_again(name, tmp_path):
    storage = name.format(folder=tmp_path) if "://" in name else str(tmp_path / name)
    for _ in range(2):
        with storages.opened(storage, "one") as opened:
            if not storages.has_study(opened, "one"):
                storages.optuna.create_study(storage=opened, study_name="one")
            assert storages.has_study(opened, "one")


@pytest.mark.parametrize("torn", [b"", b"{", b'{"op_code":0,"worker', b'{"op_code":'])
def test_a_journal_torn_in_its_first_line_is_mended(torn, tmp_path):
    file = tmp_path / "best.journal"
    file.write_bytes(torn)
    with storages.opened(str(file), "one") as opened:
        assert not storages.has_study(opened, "one")
    assert file.read_bytes() == b""


@pytest.mark.parametrize(
    "content", [b'{"op_code":0,"worker_id":"a"}\n', b'{"op_code":"x","worker_id":[]}\n[1]\n']
)
def test_a_journal_of_nonsense_is_said_to_be_unreadable(content, tmp_path):
    file = tmp_path / "best.journal"
    file.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be opened"), storages.opened(str(file), "one"):
        pass
    assert file.read_bytes() == content


@pytest.mark.parametrize("word", [".sweep.zarr.lock"])
def test_a_foreign_file_with_the_name_of_a_lock(word, tmp_path):
    path = tmp_path / "sweep.zarr"
    file = lock_file(path)
    assert file.name == word
    file.write_bytes(NOTES)
    with pytest.raises(StoreError, match="is none: "), locked(path):
        pass
    assert holder(path) is None
    assert file.read_bytes() == NOTES


def test_a_lock_follows_no_link(tmp_path):
    path, other = tmp_path / "sweep.zarr", tmp_path / "other"
    other.touch()
    lock_file(path).symlink_to(other)
    with pytest.raises(StoreError, match="cannot be locked"), locked(path):
        pass
    assert other.read_bytes() == b""
    lock_file(path).unlink()
    os.mkfifo(lock_file(path))
    with pytest.raises(StoreError, match="is none: "), locked(path):
        pass
    assert holder(path) is None


@pytest.mark.parametrize(
    "storage",
    [
        "canary://host/db",
        "canary+driver://host/db",
        "sqlite+canary:///best.db",
        "sqlite+pysqlite:///notes.db",
        "sqlite:///file:notes.db?uri=true",
        "sqlite:///best.db?plugin=canary",
        "sqlite://host/best.db",
        "postgresql://host/db?plugin=canary",
        "mysql+canary://host/db",
        "redis.evil://host",
        "unix:///run/redis.sock",
        "file:///best.journal",
    ],
)
def test_a_storage_is_a_name_of_a_list(storage, tmp_path, monkeypatch):
    """What SQLAlchemy would import or open by a scheme, a driver or a plugin."""
    monkeypatch.chdir(tmp_path)
    text = made.STUDY.replace("name: bar", f"name: bar, storage: '{storage}'")
    made.program(tmp_path)
    with pytest.raises(FileError, match=r"study\.storage"):
        parse_study(text, str(tmp_path / "study.yaml"))
    made.traces(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError), storages.opened(storage, "one"):
        pass
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "storage",
    [
        "best.journal",
        "sqlite:///best.db",
        "postgresql://me@host/db",
        "postgresql+psycopg2://me:pw@host:1/db",
        "mysql+pymysql://host/db",
        "mariadb://host/db",
        "redis://host:6379/0",
    ],
)
def test_storages_that_there_are(storage):
    assert storages.mistake(storage) == ""


def test_reading_a_study_makes_no_journal_and_reads_no_foreign_one(tmp_path):
    made.program(tmp_path)
    spec = made.studied(tmp_path)
    journal = tmp_path / "study.journal"
    assert study_of(spec.path).name == "bar"
    journal.write_bytes(NOTES)
    assert study_of(spec.path).name == "study"
    assert journal.read_bytes() == NOTES
    journal.unlink()
    study_of(spec.path)
    assert not journal.exists()
