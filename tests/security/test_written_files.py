"""A command reports each file that it has written, in text and with --json."""

import shutil

import pytest

from .test_outputs import COMMANDS, DATA, stores

__all__ = ["stores"]
#: Besides those that write what one names: what they make has a name of its own.
OTHERS = [
    "base four-bar --certificate {folder}/bar.json --format latex",
    "reduce slider-crank --export {folder}/crank.py --format csv",
    "reduce slider-crank --export {folder}/crank.py --format latex",
    "tls {folder}/keys",
]
LINES = list(dict.fromkeys([line for line, _, _ in COMMANDS] + OTHERS))


def files(folder):
    """Files by their place and time; a store is one."""
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file()
        and not any(one.suffix == ".zarr" for one in path.relative_to(folder).parents)
    } | dict.fromkeys(folder.glob("*.zarr"), 0)


@pytest.mark.parametrize(
    "further",
    [pytest.param((), id="text", marks=pytest.mark.slow), pytest.param(("--json",), id="json")],
)
@pytest.mark.parametrize("line", LINES)
def test_what_is_written_is_said(line, further, run, tmp_path, stores):
    for path in stores.iterdir():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    places = {"store": tmp_path / "sweep.zarr", "study": tmp_path / "study.zarr"}
    before = files(tmp_path)
    ran = run(*line.format(folder=tmp_path, data=DATA, **places).split(), *further)
    assert ran.status == 0, ran.err
    written = [path for path, time in files(tmp_path).items() if before.get(path) != time]
    if "-o" in line or "--export" in line or "--certificate" in line:
        assert written
    said = ran.out + ran.err
    if further:
        said = str(list(texts(ran.json)))
    said = "".join(said.split())
    unsaid = [
        str(path)
        for path in written
        if not path.name.startswith(".") and "".join(str(path).split()) not in said
    ]
    assert not unsaid


def texts(document):
    """All texts of a document."""
    match document:
        case dict():
            for inner in document.values():
                yield from texts(inner)
        case list():
            for inner in document:
                yield from texts(inner)
        case str():
            yield document
