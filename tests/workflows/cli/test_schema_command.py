"""`basepar schema`, and the line by which files that commands write name their schema."""

import json
from pathlib import Path

import pytest

from workflows.jobs import KINDS, schema_file

DATA = Path(__file__).parents[2] / "data" / "imports"


@pytest.mark.parametrize("kind", KINDS)
def test_prints_the_schema_that_ships(run, kind):
    printed = json.loads(run("schema", kind).out)
    assert printed["title"] == f"basepar: {kind} file"
    document = run("schema", kind, "--json").json
    assert document["schema"] == printed
    assert Path(document["file"]) == schema_file(kind)


@pytest.mark.parametrize(
    "words",
    [
        ("import", str(DATA / "arm6.urdf")),
        ("excite", "four-bar", "--speed", "A=2", "--harmonics", "1", "--samples", "20"),
    ],
    ids=lambda words: words[0],
)
def test_written_files_name_the_installed_schema_once(run, tmp_path, words):
    output = tmp_path / "written.yaml"
    assert run(*words, "-o", str(output)).status == 0
    source = output.read_text(encoding="utf-8")
    assert source.count("yaml-language-server") == 1
    address = source.splitlines()[0].partition("$schema=")[2]
    assert not Path(address).is_absolute()
    assert (tmp_path / address).resolve() == schema_file("mechanism").resolve()
