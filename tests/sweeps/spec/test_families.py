"""Mechanisms and assemblies as an axis: each a sweep of its own."""

import numpy as np
import pytest

from basepar_core.errors import FileError
from basepar_core.files.mechanism_file import library_path
from sweeps.chunks.evaluator import prepare
from sweeps.spec.families import parse_family
from sweeps.spec.reader import from_document
from sweeps.store import make_root, members_of

REST = """
space: {plan: grid, variables: {lx1: [0.25, 0.3]}}
evaluate: {rank: none, metrics: [stroke(D)]}
store: {path: family.zarr, chunk: 2}
"""
ASSEMBLIES = (
    """
mechanism: four-bar
assemblies:
  open: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}
  crossed: {A: 34 deg, B: -130 deg, C: 212 deg}
"""
    + REST
)
MECHANISMS = "mechanisms: {plain: four-bar, mine: ./mine.yaml}\n" + REST


@pytest.fixture
def folder(tmp_path):
    text = library_path("four-bar").read_text()
    assert "assembly: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}" in text
    (tmp_path / "mine.yaml").write_text(text.replace("value: 0.7", "value: 0.72"))
    return tmp_path


def family(folder, text):
    return parse_family(text, str(folder / "sweep.yaml"))


def test_an_ordinary_file_is_a_family_of_one(folder):
    (name,) = family(folder, "mechanism: four-bar\n" + REST)
    assert name == ""


def test_two_mechanisms(folder):
    found = family(folder, MECHANISMS)
    assert {name: spec.store for name, spec in found.items()} == {
        "plain": "family.zarr/plain",
        "mine": "family.zarr/mine",
    }
    assert found["plain"].mechanism.nominal["lx2"] == 0.7
    assert found["mine"].mechanism.nominal["lx2"] == 0.72
    assert found["plain"].difference(found["mine"].canonical)


def test_two_assemblies_are_two_branches(folder):
    """By triangles: B and C lie on either side of the line from B to D."""
    found = family(folder, ASSEMBLIES)
    strokes, branches = {}, {}
    for name, spec in found.items():
        again = from_document(spec.document())  # what the store keeps is enough
        assert again.hash == spec.hash
        results = prepare(again)(spec.plan.rows(0, 2), np.ones(2, bool))
        assert (results["status"] == 1).all()
        strokes[name], branches[name] = results["stroke_D"], results["branch"]
    assert (branches["open"] != branches["crossed"]).all()
    for name, sign in (("open", 1), ("crossed", -1)):
        expected = [_stroke(lx1, sign) for lx1 in (0.25, 0.3)]
        np.testing.assert_allclose(strokes[name], expected, rtol=1e-9)


def _stroke(crank, sign, lx2=0.7, ly2=1.1, rocker=1.3, Dx=1.0, Dy=0.1):
    """Swing of the rocker over the cycle's 128 samples of the crank, from 34 deg on."""
    angles = np.radians(34) + 2 * np.pi * np.arange(128) / 128
    x, y = Dx - crank * np.cos(angles), Dy - crank * np.sin(angles)
    span, coupler = np.hypot(x, y), np.hypot(lx2, ly2)
    inner = np.arccos((span**2 + rocker**2 - coupler**2) / (2 * span * rocker))
    return np.ptp(np.unwrap(np.arctan2(-y, -x) - sign * inner))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MECHANISMS.replace("./mine", "./none"), "none.yaml"),
        (MECHANISMS + "mechanism: four-bar\n", "not both"),
        (ASSEMBLIES.replace("B: -130 deg", "Q: 1"), "assembl"),
        ("assemblies: {}\nmechanism: four-bar\n" + REST, "nothing here"),
        (ASSEMBLIES.replace("crossed", "a/b"), "a name has letters"),
        (ASSEMBLIES.replace("[0.25, 0.3]", "[0.25, x]"), "lx1"),
    ],
)
def test_mistakes_are_named(folder, text, words):
    with pytest.raises(FileError, match=words):
        family(folder, text)


def test_the_root_names_its_members(tmp_path):
    make_root(tmp_path / "family.zarr", ["open", "crossed"])
    assert members_of(tmp_path / "family.zarr") == ("open", "crossed")
    assert members_of(tmp_path) == ()
