"""`show --centres` and `--cognates`: facts, files, drawings, and what is rejected."""

import json

import numpy as np

import basepar
from workflows.cli.main import main
from workflows.drawing import Overlay, figure_of
from workflows.drawing.overlay import INK_OVER

LINKAGE = "workflows/examples/mechanisms/straight-line.yaml"


def facts(capsys, *arguments):
    assert main(["show", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_centres_are_those_of_the_model(capsys):
    model = basepar.load("watt-i")
    expected = model.instant_centres(model.assembly)
    found = facts(capsys, "watt-i", "--centres")["centres"]
    names = len(expected.bodies)
    assert len(found) == names * (names - 1) // 2
    for one in found:
        at = [np.nan, np.nan] if one["at"] is None else one["at"]
        # Far centres have the rounding of small turns.
        np.testing.assert_allclose(at, expected[tuple(one["bodies"])], rtol=1e-9, atol=1e-12)


def test_cognates_are_written_and_drawn(tmp_path, capsys):
    stem = tmp_path / "leg"
    drawing = tmp_path / "leg.svg"
    arguments = (LINKAGE, "--cognates", "P", "--cognate-files", str(stem), "-o", str(drawing))
    found = facts(capsys, *arguments)["cognates"]
    expected = basepar.cognates(basepar.load(LINKAGE), "P")
    for k, (one, other) in enumerate(zip(found, expected, strict=True), start=1):
        assert one["pins"] == other.pins.tolist()
        assert one["file"] == f"{stem}-{k}.yaml"
        assert (tmp_path / f"leg-{k}.yaml").read_text(encoding="utf-8") == other.text
        np.testing.assert_allclose(
            one["lengths"], np.linalg.norm(np.roll(other.pins, -1, 0) - other.pins, axis=1)
        )
    assert drawing.is_file()
    assert main(["show", *arguments]) == 2  # files that may have been changed
    assert main(["show", *arguments, "--overwrite"]) == 0
    assert "straight-line-cognate-2" in capsys.readouterr().out


def test_overlays_have_their_place(tmp_path):
    model = basepar.load(LINKAGE).prepared
    far, near = np.array([9.0, 9.0]), np.array([0.2, 0.3])
    bar = (np.array([[0.0, 0], [0.5, 0], [0.5, 0.6], [0, 0.6]]), np.array([0.1, 0.1]))
    axes = figure_of(model, overlay=Overlay([bar], {"a–b": near, "a–c": near, "far": far})).axes[0]
    words = [text.get_text() for text in axes.texts]
    assert "a–b, a–c" in words
    assert not any("far" in word for word in words)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert -1 < left < 0
    assert 0.5 < right < 2
    assert low < 0
    assert 0.6 < high < 2


def test_of_two_targets_each_has_marks_and_a_name():
    model = basepar.load(LINKAGE).prepared
    line, arc = np.array([[0.2, 0.1], [0.4, 0.1]]), np.array([[0.5, 0.3], [0.6, 0.2]])
    for named, marks in (({"line": line}, ["o"]), ({"line": line, "arc": arc}, ["o", "s"])):
        axes = figure_of(model, overlay=Overlay(targets=named)).axes[0]
        found = [one for one in axes.lines if one.get_color() == INK_OVER]
        assert [one.get_marker() for one in found] == marks
        for one, points in zip(found, named.values(), strict=True):
            assert np.array_equal(np.transpose(one.get_data()), points)
        said = [one.get_text() for one in axes.texts if one.get_text() in named]
        assert said == ([*named] if len(named) > 1 else [])


def test_what_has_none_is_rejected(capsys):
    for arguments, word in (
        (["five-bar", "--centres"], "qd"),
        (["rssr", "--centres"], "spatial"),
        (["four-bar", "--cognates", "P"], "there are none"),
        (["four-bar", "--cognate-files", "x"], "--cognates"),
    ):
        assert main(["show", *arguments]) == 2
        assert word in capsys.readouterr().err
