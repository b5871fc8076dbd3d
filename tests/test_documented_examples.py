"""What the pages show is what the program takes: files by their readers, commands, Python."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

import basepar
from basepar_core.api import load
from basepar_core.files import library_path
from basepar_core.identification.logs.mapping import read_mapping
from cluster.profile import load_profile
from sweeps.spec.families import parse_family
from sweeps.spec.reader import parse_sweep
from workflows.cli.main import parser
from workflows.studies.families import parse_studies
from workflows.studies.reader import parse_study

ROOT = Path(__file__).parents[1]
FOUR = "mechanism: four-bar\n"
GRID = "space: {plan: grid, variables: {lx1: [0.25, 0.3]}}\n"
CURVE = "x,y\n0.3,0.2\n0.4,0.3\n0.5,0.4\n0.4,0.5\n0.3,0.4\n"
#: What a page leaves out of a command: alternatives, and names in capitals.
PLACES = re.compile(r"\[|…|\||\b(MECH|SPEC|STORE|DATA|ROBOT|LOG|FILE|SECOND|DIR|PROFILE)\b")


def blocks(page, language):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(library_path("four-bar"), tmp_path / "mine.yaml")
    (wear,) = (one for one in blocks("study-files", "python") if one.startswith("# wear.py"))
    (tmp_path / "wear.py").write_text(wear, encoding="utf-8")
    (tmp_path / "curve.csv").write_text(CURVE, encoding="utf-8")
    return tmp_path


def test_sweep_files(folder):
    outline, plans, mechanisms, assemblies = blocks("sweep-files", "yaml")
    filled = outline.replace("space: …", GRID).replace("evaluate: …", "evaluate: {rank: auto}")
    assert parse_sweep(filled).variant_seconds == 60
    spec = parse_sweep(FOUR + plans)
    assert len(spec) == 2 * (2 + 100)  # two pairs, each with two values and a hundred draws
    assert list(parse_family(mechanisms, str(folder / "sweep.yaml"))) == ["plain", "mine"]
    assert list(parse_family(assemblies)) == ["open", "crossed"]
    (reduction,) = blocks("reduction", "yaml")
    asked = parse_sweep(FOUR + GRID + reduction).evaluation.reduction
    assert (asked.method, asked.noise, asked.effective_samples) == ("forward", "pooled", 64)


def test_study_files(folder):
    whole, several, targets, after = blocks("study-files", "yaml")
    spec = parse_study(whole, str(folder / "study.yaml"))
    assert (spec.trials, spec.batch, spec.sampler.kind) == (400, 50, "nsga2")
    replaced = re.sub("^sampler: .*$", after.strip(), whole, flags=re.MULTILINE)
    assert parse_study(replaced, str(folder / "study.yaml")).sampler.screen == 4096
    members = parse_studies(several)
    assert {name: one.names for name, one in members.items()} == {
        "bars": ("lx1", "lx3"),
        "slide": ("lx1",),
    }
    # Targets of a mechanism with a point, in the place of the objectives.
    crank = library_path("four-bar").read_text(encoding="utf-8")
    (folder / "drawn.yaml").write_text(crank + "points: {P: {body: coupler}}\n", encoding="utf-8")
    followed = (
        "mechanism: drawn.yaml\nvariables: {lx1: [0.2, 0.6]}\ntrials: 4\n"
        "objectives: {'path_error(P, wanted)': minimize, 'path_error(P, stops)': minimize}\n"
    )
    spec = parse_study(followed + targets, str(folder / "study.yaml"))
    names = ["wanted", "shape", "stops", "stations", "swing"]
    assert [one.name for one in spec.targets] == names


def test_a_mapping_of_a_log():
    (mapping,) = blocks("identification", "yaml")
    read = read_mapping(mapping, load("five-bar"))
    read = read_mapping(mapping.replace("…", ""), load("five-bar"))
    assert set(read.channels) == {"t", "A", "E", "tau.A", "tau.E"}


@pytest.mark.parametrize("place", range(4))
def test_profiles(place, tmp_path):
    (tmp_path / "profile.yaml").write_text(blocks("profiles", "yaml")[place], encoding="utf-8")
    assert load_profile(tmp_path / "profile.yaml")


def commands():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for line in re.findall(r"^(?:\$ |    |)((?:\.venv/bin/)?basepar [a-z].*)$", text, re.M):
            for one in line.partition("  #")[0].split("&&"):
                if not PLACES.search(one):
                    yield pytest.param(shlex.split(one)[1:], id=f"{page.stem}: {one.strip()}")


@pytest.mark.parametrize("words", list(commands()))
def test_commands(words):
    values = [f" {one}" if re.match(r"-\d", one) else one for one in words]  # as `main` has them
    assert parser().parse_args(values).command


def test_python_of_a_study(monkeypatch):
    """Its specification; tests/door runs studies."""
    asked = []
    monkeypatch.setattr(basepar, "study", lambda *given: asked.append(given) or basepar)
    monkeypatch.setattr(basepar, "best", 0, raising=False)
    monkeypatch.setattr(basepar, "dataset", 0, raising=False)
    exec(blocks("study-files", "python")[0], {})
    ((spec, store),) = asked
    assert parse_study(json.dumps(spec)).trials == 200
    assert store == "best.zarr"


def test_python_of_a_moving_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (program,) = blocks("pictures", "python")
    exec(program, {})
    assert (tmp_path / "four-bar.html").stat().st_size > 10_000


def test_python_of_beta(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = {
        "mechanism": "four-bar",
        "space": {"plan": "grid", "variables": {"lx2": [0.6, 0.7]}},
        "evaluate": {"beta": True},
    }
    basepar.sweep(spec, "mine.zarr", workers=1, quiet=True)
    (program,) = blocks("sweep-files", "python")
    names = {}
    exec(program, names)
    ratio = eval(program.strip().splitlines()[-1].partition("  #")[0], names)
    ly2 = load("four-bar").nominal["ly2"]
    np.testing.assert_allclose(ratio.values, [ly2 / 0.6, ly2 / 0.7], rtol=1e-15)


def test_python_of_one_degree_of_freedom():
    """Kernels and plain NumPy find the same regimes."""
    names = {}
    for program in blocks("onedof", "python"):
        exec(program, names)
    assert names["found"].regime["mean_speed"] > 0
    again = names["regimes"](names["turn"], np.array([20.0, 20.0]))
    np.testing.assert_allclose(again.speed, names["steady"].speed, rtol=1e-9)
    assert names["measured"].values["dwell(Q)"].shape == (2,)
