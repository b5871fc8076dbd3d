"""What a store keeps of a mechanism: motions of other files go with it, exact."""

import json

import numpy as np
import pytest

from basepar_core.errors import FileError
from basepar_core.files.mechanism_file import loads
from sweeps.chunks.evaluator import prepare
from sweeps.spec.plans import Random
from sweeps.spec.reader import from_document
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from tests.sweeps.fourbar import FOUR_BAR

MEASURED = (
    FOUR_BAR + "excitation: {kind: data, file: run.csv}\ncycle: {kind: data, file: turn.csv}\n"
)


def csv(amplitude, samples=24):
    """Motion of a swinging crank, as measuring programs print it."""
    t = np.arange(samples) / samples
    q = 1.0 + amplitude * np.sin(2 * np.pi * t)
    rate = 2 * np.pi * amplitude * np.cos(2 * np.pi * t)
    lines = [
        f"{a:.4f},{b:.6e},{c:.3f},{-39.5 * (b - 1.0):.2f}"
        for a, b, c in zip(t, q, rate, strict=True)
    ]
    return "\n".join(["t,A,A',A''", *lines]) + "\n"


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A sweep of it; then one stands where other files have these names."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "run.csv").write_text(csv(0.5))
    (folder / "turn.csv").write_text(csv(0.25, 16))
    mechanism = loads(MEASURED, str(folder / "measured.yaml"))
    away = tmp_path / "away"
    away.mkdir()
    (away / "run.csv").write_text(csv(0.1))
    (away / "turn.csv").write_text(csv(0.1, 16))
    monkeypatch.chdir(away)
    plan = Random((("lx1", 0.25, 0.35),), 3, 1)
    evaluation = Evaluation("numeric", metrics=("torque_rms",))
    return SweepSpec(mechanism, plan, evaluation=evaluation)


def test_the_samples_are_in_the_document(measured):
    again = from_document(measured.document())
    assert again.hash == measured.hash
    assert again.mechanism == measured.mechanism  # every number exact
    assert from_document(again.document()) == measured
    columns, everyone = measured.plan.rows(0, 3), np.ones(3, bool)
    one, two = (prepare(spec)(columns, everyone) for spec in (measured, again))
    assert np.isfinite(one["torque_rms"]).all()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name)


def test_other_samples_are_not_taken_for_the_stores(measured):
    """Stores of earlier versions do not keep them."""
    plain = json.loads(measured.document())
    del plain["samples"]
    with pytest.raises(FileError, match="not the sweep's"):
        from_document(json.dumps(plain))


def test_mechanisms_without_recorded_motions_say_nothing_of_them():
    spec = SweepSpec(loads(FOUR_BAR), Random((("lx1", 0.25, 0.35),), 3, 1))
    assert "samples" not in json.loads(spec.document())


def test_a_stored_symbol_that_is_a_unit_now(measured):
    """A store of a version to which `cm` was no unit: what is wrong, and what to do."""
    plain = json.loads(measured.document())
    plain["source"] = plain["source"].replace("lx1", "cm")
    with pytest.raises(FileError) as caught:
        from_document(json.dumps(plain))
    first, *_, last = caught.value.mistakes
    assert first.path == "geometry.cm"
    assert "'cm' is a unit" in first.message
    assert "run it into a new store" in last.message
