"""Several mechanisms or assemblies in one study file: each a study, and the best of all."""

import json

import numpy as np
import pytest
import yaml

import basepar
from basepar_core.errors import FileError, UsageError
from tests.sweeps.spec.test_families import _stroke
from workflows.studies.families import best_of_all, parse_studies
from workflows.studies.study import load_job, load_jobs

BRANCHES = """
mechanism: four-bar
assemblies:
  open: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}
  crossed: {A: 34 deg, B: -130 deg, C: 212 deg}
variables: {lx1: [0.2, 0.35]}
objectives: {"stroke(D)": minimize}
sampler: {kind: random, seed: 4}
trials: 12
"""
TOPOLOGIES = """
mechanisms:
  bars: four-bar
  slide:
    mechanism: slider-crank
    variables: {lx1: [0.05, 0.09]}
    constraints: ["stroke(D) >= 120 mm"]
variables: {lx1: [0.2, 0.35], lx3: [1.2, 1.4]}
objectives: {torque_rms: minimize, mass: minimize}
constraints: ["stroke(D) >= 20 deg"]
sampler: {kind: random, seed: 4}
trials: 12
store: {path: made/some.zarr}
"""


def test_stores_journals_and_names_have_the_members_behind():
    found = parse_studies(TOPOLOGIES, "wanted.yaml")
    places = {name: (one.store, one.storage, one.name) for name, one in found.items()}
    assert places == {
        "bars": ("made/some-bars.zarr", "wanted-study-bars.journal", "wanted-bars"),
        "slide": ("made/some-slide.zarr", "wanted-study-slide.journal", "wanted-slide"),
    }
    assert found["bars"].names == ("lx1", "lx3")
    assert found["slide"].names == ("lx1",)
    assert [line.text for line in found["slide"].constraints] == ["stroke(D) >= 120 mm"]
    database = TOPOLOGIES + "study: {storage: 'sqlite:///all.db'}\n"
    assert {one.storage for one in parse_studies(database).values()} == {"sqlite:///all.db"}


def test_an_ordinary_file_is_one_study():
    text = BRANCHES.replace("assemblies:", "#").replace("  open:", "#").replace("  crossed:", "#")
    assert list(parse_studies(text)) == [""]


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        ("mechanism: four-bar", "mechanisms: [four-bar]", "assemblies", "not both"),
        ("{A: 34 deg, B: -130", "{A: 34 deg, X: -130", "assemblies.crossed", "X"),
        ("  crossed:", "  'a/b':", "assemblies.a/b", "letters"),
    ],
)
def test_mistakes_of_assemblies(old, new, path, words):
    with pytest.raises(FileError) as raised:
        parse_studies(BRANCHES.replace(old, new))
    assert any(one.path == path and words in one.message for one in raised.value.mistakes)


def test_members_have_no_objectives_of_their_own():
    """Else there were no best of all."""
    text = TOPOLOGIES.replace(
        "    mechanism: slider", "    objectives: {mass: minimize}\n    mechanism: slider"
    )
    with pytest.raises(FileError, match=r"mechanisms\.slide\.objectives.*same for all members"):
        parse_studies(text)


def test_one_study_cannot_be_several():
    with pytest.raises(UsageError, match=r"several studies \(open, crossed\)"):
        load_job(_keys(BRANCHES))


def _keys(text):
    return yaml.safe_load(text)


@pytest.mark.slow
def test_the_best_of_both_branches(tmp_path, monkeypatch, run):
    """By triangles: B and C lie on either side of the line from B to D."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both.yaml").write_text(BRANCHES)
    done = run("study", "both.yaml", "--store", "x.zarr", "--workers", "1", "--json", "--quiet")
    document = json.loads(done.out)
    assert list(document["members"]) == ["open", "crossed"]
    crank = np.asarray(basepar.open("x-open.zarr").lx1)
    np.testing.assert_array_equal(crank, basepar.open("x-crossed.zarr").lx1)
    strokes = np.array([[_stroke(one, sign) for one in crank] for sign in (1, -1)])
    side, row = np.unravel_index(strokes.argmin(), strokes.shape)
    (best,) = document["together"]["best"]
    assert best["member"] == ("open", "crossed")[side]
    assert best["variant"] == row
    assert best["values"]["stroke(D)"] == pytest.approx(strokes.min(), rel=1e-9)
    shown = run("study", "both.yaml", "--store", "x.zarr", "--workers", "1", "--quiet").out
    assert "best of all" in shown


@pytest.mark.slow
def test_the_common_front_of_two_topologies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = basepar.study(_keys(TOPOLOGIES), workers=1, quiet=True, certify=0)
    assert list(found) == ["bars", "slide"]
    every = []
    for name, one in found.items():
        table = one.to_dataframe()
        limit = {"bars": np.radians(20), "slide": 0.12}[name]
        met = table[table["stroke_D"] >= limit]
        every += [
            (name, v, t, m) for v, t, m in zip(met.index, met.torque_rms, met.mass, strict=True)
        ]
    front = [
        (name, int(v))
        for name, v, t, m in every
        if not any(a <= t and b <= m and (a < t or b < m) for _, _, a, b in every)
    ]
    specs = load_jobs(_keys(TOPOLOGIES))
    assert sorted(front) == sorted((one.member, one.variant) for one in best_of_all(specs))
