"""SECURITY.md's sentences have tests, and a sample of the campaign of hostile files."""

import re
from pathlib import Path

import pytest

from tests.campaigns import hostile_files

ROOT = Path(__file__).parents[2]


def test_every_sentence_names_tests_that_there_are():
    text = (ROOT / "SECURITY.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", text))
    sources = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^ *def (test_\w+)", sources, re.MULTILINE))
    assert len(named) > 15
    assert named <= there


@pytest.mark.slow
def test_hostile_files_run_nothing():
    """One case of each kind of file, three times; the campaign has thousands."""
    found = hostile_files.run(3 * len(hostile_files.COMMANDS), seed=7, show=True)
    assert found["cases"] == 3 * len(hostile_files.COMMANDS)
    assert found["executed"] == 0


def test_the_campaign_sees_what_runs(tmp_path, monkeypatch):
    """A sweep file's own metric is the user's program: named by him, it does run."""
    monkeypatch.chdir(tmp_path)
    hostile_files.made.program(tmp_path)
    (tmp_path / "sweep.yaml").write_text(hostile_files.made.SWEEP)
    path = ("evaluate", "own", "reach")
    (wrong, *_) = hostile_files.case(tmp_path, "sweep.yaml", path, "evil.py:reach")
    assert wrong == "executed by sweep"
