"""The README's files and its program, as printed."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import basepar
from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from sweeps.chunks.evaluator import prepare as evaluator_of
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.spec.reader import parse_sweep
from sweeps.store import store
from sweeps.store.statuses import Status
from workflows.cli.main import parser
from workflows.studies.reader import parse_study

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
MECHANISM, SWEEP, STUDY = re.findall(r"```yaml\n(.*?)```", README, re.S)
FIRST, PROGRAM = re.findall(r"```python\n(.*?)```", README, re.S)


def test_a_mechanism_of_your_own():
    model = prepare(loads(MECHANISM))
    found = symbolic(model)
    assert found.rank == 6
    assert not found.doubt
    # Of the shipped one's bodies, geometry, motions and noise, as the text says.
    mechanism, shipped = model.mechanism, load("slider-crank")
    phi = [one.inertial_parameters(one.nominal) for one in (mechanism, shipped)]
    np.testing.assert_allclose(*phi, rtol=1e-15)
    for part in ("geometry", "excitation", "cycle", "coordinates", "noise"):
        assert getattr(mechanism, part) == getattr(shipped, part), part


def test_a_sweep_of_your_own(tmp_path, monkeypatch, capsys):
    """Sixteen of its variants; then the program that looks at a store."""
    spec = parse_sweep(SWEEP)
    assert len(spec) == 4096
    few = replace(spec, plan=replace(spec.plan, candidates=16))
    evaluator = evaluator_of(few)
    layout = layout_of(few, evaluator)
    store.create(tmp_path / "four-bar.zarr", layout)
    where = Filter.of(few.mechanism, few.where)
    stages = (Stage(evaluator, layout.parts[0]),)
    work = Work(str(tmp_path / "four-bar.zarr"), "here", few.plan, where, stages)
    assert dict(work(Task(0, 0, 16)).counts)[Status.SOLVED] >= 8
    monkeypatch.chdir(tmp_path)
    exec(PROGRAM, {})
    assert "torque_rms" in capsys.readouterr().out


def test_the_first_lines_of_python(monkeypatch):
    """All of them; the sweep and the study, minutes long, only by name (tests/door runs some)."""
    asked = []
    for word in ("sweep", "study"):
        run = partial(_noted, asked, word)
        monkeypatch.setattr(basepar, word, run)
    exec(FIRST, {})
    assert asked == [("sweep", "four-bar", {"workers": 2}), ("study", "four-bar", {})]


def _noted(asked, word, spec, **options):
    asked.append((word, spec, options))
    return SimpleNamespace(best=None)


def test_a_study_of_your_own():
    spec = parse_study(STUDY)
    assert (spec.sampler.kind, spec.trials) == ("screen", 16_384)


def test_the_commands_it_names():
    named = set(re.findall(r"(?:^\$ \.venv/bin/|`)basepar ([a-z]+)", README, re.M))
    assert {"list", "show", "base", "reduce", "sweep", "status", "report", "study"} <= named
    for command in named:
        with pytest.raises(SystemExit) as ended:
            parser().parse_args([command, "--help"])
        assert ended.value.code == 0
