"""Commands that write files: what basepar did not make stays; what is written is reported."""

import argparse
import io
import json
import shutil

import numpy as np
import pytest

import basepar
from basepar_core.errors import UsageError
from workflows.cli.main import parser
from workflows.drawing import canvas
from workflows.jobs import check_outputs

from . import made

#: Command, what it writes, and whether it knows its own file when it comes again.
COMMANDS = [
    ("show four-bar -o {folder}/bar.png", "bar.png", True),
    ("show four-bar -o {folder}/bar.svg", "bar.svg", True),
    ("show four-bar -o {folder}/bar.pdf", "bar.pdf", True),
    ("show {data}/../hoeken.yaml --trace {folder}/paths.csv", "paths.csv", False),
    ("animate four-bar -o {folder}/bar.html", "bar.html", True),
    ("animate slider-crank --seconds 0.2 -o {folder}/crank.gif", "crank.gif", True),
    ("animate slider-crank -o {folder}/crank.svg", "crank.svg", True),
    ("export four-bar -o {folder}/bar.xml", "bar.xml", True),
    ("base four-bar --certificate {folder}/bar.json", "bar.json", True),
    ("base slider-crank --route all -o {folder}/sigma.png", "sigma.png", True),
    ("reduce slider-crank --export {folder}/crank.py", "crank.py", True),
    ("reduce slider-crank --export {folder}/crank.c", "crank.c", True),
    ("excite slider-crank --random 1 --starts 1 -o {folder}/e.yaml", "e.yaml", False),
    ("excite slider-crank --random 1 --starts 1 -o {folder}/e.csv", "e.csv", False),
    ("simulate slider-crank -o {folder}/run.csv", "run.csv", False),
    (
        "identify {data}/../../../workflows/reproduce/identification-mechanism.yaml "
        "{data}/../../../workflows/reproduce/identification-train.csv "
        "--rows 1:900 -o {folder}/map.yaml",
        "map.yaml",
        False,
    ),
    (
        "identify slider-crank {data}/../../../workflows/reproduce/identification-train.csv "
        "--rows 1:900 -o {folder}/found.html",
        "found.html",
        True,
    ),
    ("onedof slider-crank -o {folder}/curves.png", "curves.png", True),
    ("onedof slider-crank -o {folder}/curves.csv", "curves.csv", False),
    ("onedof slider-crank -o {folder}/crank.html", "crank.html", True),
    ("import {data}/four-bar.xml -o {folder}/four.yaml", "four.yaml", False),
    ("report {store} -o {folder}/page.html", "page.html", True),
    ("report {store}", "sweep.html", True),
    ("explore {store}", "sweep.explorer.html", True),
    ("report {store} --format csv -o {folder}/page.csv", "page.csv", False),
    ("report {store} --format json -o {folder}/page.json", "page.json", False),
    ("report {store} --batch {folder}/pages", "pages/index.html", True),
    ("report {store} --batch {folder}/pages --variants 1", "pages/variant-1.html", True),
    ("pictures {study} -o {folder}/png", "png/history.png", True),
    ("around {study} --trust-metrics -o {folder}/a.yaml", "a.yaml", True),
    ("reproduce planar-symbolic -o {folder}/p", "p/planar-symbolic.csv", True),
    ("reproduce planar-symbolic -o {folder}/p", "p/planar-symbolic-figure-5.png", True),
]
#: Seconds each; others write as they do.
LONG = (
    "base slider-crank --route all -o {folder}/sigma.png",
    "identify {data}/../../../workflows/reproduce/identification-mechanism.yaml "
    "{data}/../../../workflows/reproduce/identification-train.csv "
    "--rows 1:900 -o {folder}/map.yaml",
    "identify slider-crank {data}/../../../workflows/reproduce/identification-train.csv "
    "--rows 1:900 -o {folder}/found.html",
    "excite slider-crank --random 1 --starts 1 -o {folder}/e.csv",
    "reduce slider-crank --export {folder}/crank.c",
    "onedof slider-crank -o {folder}/curves.png",
    "onedof slider-crank -o {folder}/crank.html",
    "report {store}",
    "report {store} --batch {folder}/pages",
    "report {store} --batch {folder}/pages --variants 1",
    "pictures {study} -o {folder}/png",
    "reproduce planar-symbolic -o {folder}/p",
)
#: Besides those that write what one names: what they make has a name of its own.
OTHERS = (
    "base four-bar --certificate {folder}/bar.json --format latex",
    "reduce slider-crank --export {folder}/crank.py --format csv",
    "reduce slider-crank --export {folder}/crank.py --format latex",
    "tls {folder}/keys",
)
DATA = made.Path(__file__).parents[1] / "data" / "imports"
#: Options by which commands are told what to write.
WRITING = {"output", "export", "certificate", "batch"}


def strangers(ending: str) -> bytes:
    """What another program wrote into a file of that kind."""
    if ending in (".png", ".svg", ".pdf"):
        file = io.BytesIO()
        canvas(1, 1).savefig(file, format=ending[1:])
        return file.getvalue()
    texts = {".html": "<!DOCTYPE html>\n<title>About basepar</title>\n", ".py": "import basepar\n"}
    return texts.get(ending, "t,A,tau.A\n0,1,2\n").encode()


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    made.program(folder)
    made.swept(folder)
    made.studied(folder)
    return folder


@pytest.fixture
def words_of(tmp_path, stores):
    """A line as the words of a command in a folder with copies of the stores."""
    for path in stores.iterdir():
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, tmp_path / path.name)
    places = {"store": tmp_path / "sweep.zarr", "study": tmp_path / "study.zarr"}
    return lambda line: line.format(folder=tmp_path, data=DATA, **places).split()


@pytest.mark.parametrize(
    ("line", "name", "knows"),
    [
        pytest.param(*one, marks=pytest.mark.slow if one[0] in LONG else (), id=one[0])
        for one in COMMANDS
    ],
)
def test_what_you_name_is_written_over_only_if_it_is_basepars(
    line, name, knows, run, tmp_path, words_of
):
    words, file = words_of(line), tmp_path / name
    file.parent.mkdir(exist_ok=True)
    foreign = strangers(file.suffix)
    file.write_bytes(foreign)
    refused = run(*words, "--json")
    assert refused.status == 2, refused.err
    assert refused.json["error"]["where"] == [str(file), "--overwrite"]
    assert "nothing was written" in refused.json["error"]["message"]
    assert file.read_bytes() == foreign
    before = files(tmp_path)
    ran = run(*words, "--overwrite", "--json")
    assert ran.status == 0, ran.err
    assert file in written(tmp_path, before)
    assert unsaid(tmp_path, before, str(list(texts(ran.json)))) == []
    own = file.read_bytes()
    assert own != foreign
    before = files(tmp_path)
    again = run(*words)
    assert again.status == (0 if knows else 2), again.err
    if knows:
        assert unsaid(tmp_path, before, again.out + again.err) == []
    else:
        assert file.read_bytes() == own


@pytest.mark.parametrize(
    "further",
    [pytest.param((), id="text", marks=pytest.mark.slow), pytest.param(("--json",), id="json")],
)
@pytest.mark.parametrize("line", OTHERS)
def test_what_is_written_is_said(line, further, run, tmp_path, words_of):
    before = files(tmp_path)
    ran = run(*words_of(line), *further)
    assert ran.status == 0, ran.err
    said = str(list(texts(ran.json))) if further else ran.out + ran.err
    assert unsaid(tmp_path, before, said) == []


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line, _, knows in COMMANDS if not knows])
def test_what_is_written_is_said_in_the_terminal(line, run, tmp_path, words_of):
    before = files(tmp_path)
    ran = run(*words_of(line))
    assert ran.status == 0, ran.err
    assert written(tmp_path, before) or "-o" not in line
    assert unsaid(tmp_path, before, ran.out + ran.err) == []


def files(folder):
    """Files by their place and time; a store is one."""
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file()
        and not any(one.suffix == ".zarr" for one in path.relative_to(folder).parents)
    } | dict.fromkeys(folder.glob("*.zarr"), 0)


def written(folder, before):
    return [path for path, time in files(folder).items() if before.get(path) != time]


def unsaid(folder, before, said):
    """What has been written since, and is not named."""
    said = "".join(said.split())
    return [
        str(path)
        for path in written(folder, before)
        if not path.name.startswith(".") and "".join(str(path).split()) not in said
    ]


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


def addressed(line):
    """To an address of a kind where nothing is written: reports go to buckets too."""
    kind = "memory" if line.startswith("report") else "s3"
    return line.replace("{folder}/", f"{kind}://bucket/")


LINES = [addressed(line) for line, _, _ in COMMANDS]
LINES = [line for line in LINES if "://" in line] + ["tls s3://bucket/keys"]


@pytest.mark.parametrize("line", LINES)
def test_an_address_becomes_no_folder(line, run, tmp_path, stores, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = {"store": stores / "sweep.zarr", "study": stores / "study.zarr"}
    refused = run(*line.format(data=DATA, **places).split(), "--json")
    assert refused.status == 2, refused.err
    assert "is an address" in refused.json["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def _identified():
    t = np.linspace(0, 5, 501)
    q = basepar.load("parallelogram").assembly + 0.3 * np.sin(2 * t)
    return basepar.identify("parallelogram", {"t": t, "A": q, "tau.A": q})


def test_python_makes_no_folder_of_an_address(stores, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = basepar.load("four-bar")
    for door in (
        lambda: model.draw("s3://bucket/bar.png"),
        lambda: model.export("s3://bucket/bar.xml"),
        lambda: model.animate("s3://bucket/bar.html"),
        lambda: _identified().write("s3://bucket/page.html"),
        lambda: basepar.report(stores / "sweep.zarr", "memory://bucket/page.html"),
        lambda: basepar.report("memory://bucket/sweep.zarr"),
        lambda: basepar.open("memory://bucket/sweep.zarr"),
    ):
        with pytest.raises(UsageError, match="is an address"):
            door()
    assert list(tmp_path.iterdir()) == []


def test_every_command_that_writes_files_is_among_these():
    commands = next(
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    writing = {
        name
        for name, one in commands.choices.items()
        if WRITING & {action.dest for action in one._actions if action.option_strings}
    }
    assert writing == {line.split()[0] for line, _, _ in COMMANDS}
    told = {
        name
        for name, one in commands.choices.items()
        if any(action.dest == "overwrite" for action in one._actions)
    }
    assert told == writing


def test_the_mechanism_beside_a_sweep_is_ones_own_too(run, tmp_path):
    """`around` writes two files where no shipped mechanism is meant."""
    from basepar_core.files import library_path

    text = library_path("four-bar").read_text("utf-8")
    (tmp_path / "bar.yaml").write_text(text + "# mine\n")
    made.program(tmp_path)
    spec = made.studied(tmp_path, made.STUDY.replace("four-bar", "bar.yaml"))
    beside = tmp_path / "a-mechanism.yaml"
    beside.write_text(text)
    words = ("around", str(spec.path), "--trust-metrics", "-o", str(tmp_path / "a.yaml"))
    assert run(*words).status == 2
    assert beside.read_text() == text
    assert not (tmp_path / "a.yaml").exists()
    beside.unlink()
    assert "".join(str(beside).split()) in "".join(run(*words).out.split())
    assert run(*words, "--json").json["mechanism"] == str(beside)
    assert run("show", str(beside)).status == 0


def test_nothing_is_lost_in_empty_files_pipes_and_devices(tmp_path):
    (tmp_path / "empty").touch()
    check_outputs([tmp_path / "empty", tmp_path / "none", tmp_path, made.Path("/dev/null")])
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(UsageError, match="link exists"):
        check_outputs([tmp_path / "link"])
    check_outputs([tmp_path / "link"], overwrite=True)


def test_keys_are_not_written_over(run, tmp_path):
    (tmp_path / "key.pem").write_text("mine")
    ran = run("tls", str(tmp_path), "--json")
    assert ran.status == 1
    assert "is there already" in ran.json["error"]["message"]
    assert (tmp_path / "key.pem").read_text() == "mine"


@pytest.mark.parametrize("word", ["sweep", "study"])
def test_a_store_does_not_go_into_a_foreign_folder(word, run, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"meow")
    made.program(tmp_path)
    text = {"sweep": made.SWEEP, "study": made.STUDY}[word]
    (tmp_path / "file.yaml").write_text(text)
    ran = run(word, str(tmp_path / "file.yaml"), "--store", str(tmp_path / "photos"), "--json")
    assert ran.status == 1
    assert json.loads(ran.out)["error"]["kind"] == "store"
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.png"]
