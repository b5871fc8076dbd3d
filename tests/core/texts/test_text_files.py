"""What is no file is refused, never waited for or read without end; and messages have an end."""

import os
import pickle
from pathlib import Path

import pytest

from basepar_core.api import load
from basepar_core.errors import MOST_LISTED, FileError, Mistake
from basepar_core.files.mechanism_file import loads
from basepar_core.identification.measurement import read_measurement
from basepar_core.imported.formats import read_file
from basepar_core.texts.opening import opened, text_of
from basepar_core.texts.writing import naming
from sweeps.spec.reader import load_sweep
from sweeps.spec.table_reader import read_table


@pytest.fixture
def pipe(tmp_path):
    """A pipe that nobody writes to: opening it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def _readers():
    mechanism = load("four-bar")
    return {
        "mechanism": load,
        "sweep": load_sweep,
        "import": read_file,
        "measurement": lambda path: read_measurement(path, mechanism),
        "table": lambda path: read_table(path, {}),
    }


READERS = _readers()


@pytest.mark.parametrize("what", READERS)
def test_no_reader_waits_for_a_pipe(pipe, what):
    with pytest.raises(FileError, match="a pipe or a device"):
        READERS[what](pipe)


@pytest.mark.parametrize("what", READERS)
def test_no_reader_reads_a_device_without_end(tmp_path, what):
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(FileError, match="a pipe or a device"):
        READERS[what](tmp_path / "endless")


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("name", ["nul\0.yaml", "x" * 5000, "loop"])
def test_names_that_no_file_has(tmp_path, what, name):
    if name == "loop":
        (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileError):
        READERS[what](tmp_path / name)


def test_a_mechanism_of_a_sweep_with_a_name_too_long(tmp_path):
    (tmp_path / "s.yaml").write_text(f"mechanism: {'x' * 300}\nspace: {{plan: grid}}\n")
    with pytest.raises(FileError, match="name too long"):
        load_sweep(tmp_path / "s.yaml")


def test_not_utf8(tmp_path):
    (tmp_path / "latin").write_bytes("ä".encode("latin-1"))
    with pytest.raises(OSError, match="not UTF-8"):
        text_of(tmp_path / "latin")
    with opened(tmp_path / "latin", "rb") as file:
        assert file.read() == b"\xe4"


def test_very_many_mistakes():
    error = FileError("f.yaml", [Mistake(f"a{k}", "wrong", k) for k in range(30_000)])
    first, *listed, last = error.message.splitlines()
    assert first == "f.yaml: 30000 mistakes"
    assert len(listed) == len(error.where) == MOST_LISTED
    assert last == f"  … and {30_000 - MOST_LISTED} more"
    assert pickle.loads(pickle.dumps(error)).message == error.message


def test_very_long_words():
    error = FileError("f" * 9999, [Mistake("p" * 9999, "m" * 9999)])
    assert len(error.message) < 1000
    assert len(error.where[0]) < 1000


def test_a_scalar_is_of_bounded_length():
    good = load("four-bar").source
    text = good.replace("name: ", f"name: {'x' * 10_001} # ", 1)
    with pytest.raises(FileError, match="at most 10000"):
        loads(text)
    loads(good.replace("description: >-\n", f"description: >-\n  {'x ' * 9999}\n", 1))


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_a_full_disk_has_a_name(mode):
    """`write` and `close` do not say which file they are about."""
    with (
        pytest.raises(OSError, match="No space left on device: 'a file'"),
        naming("a file"),
        open("/dev/full", mode) as file,
    ):
        file.write("x" if mode == "w" else b"x")
    with pytest.raises(FileNotFoundError, match="nowhere"), naming("a file"):
        Path("/nowhere/at/all").read_text()  # names itself
