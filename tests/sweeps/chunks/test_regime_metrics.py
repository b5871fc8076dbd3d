"""Metrics of steady regimes in sweeps: values, and words where a variant has no regime."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare as assemble
from basepar_core.errors import FileError
from basepar_core.single_dof.machines import machine
from basepar_core.single_dof.results import measures
from sweeps.chunks.evaluator import prepare
from sweeps.spec.reader import parse_sweep
from sweeps.store.statuses import Reason, Status

SWEEP = """
mechanism: {mechanism}
space: {{plan: grid, variables: {variables}}}
evaluate: {{rank: none, metrics: [{metrics}]}}
"""


def evaluated(mechanism, variables, metrics):
    text = SWEEP.format(mechanism=mechanism, variables=variables, metrics=metrics)
    spec = parse_sweep(text)
    evaluator = prepare(spec)
    found = evaluator(spec.plan.rows(0, len(spec)), np.ones(len(spec), bool))
    return {output.name: output.unit for output in evaluator.outputs}, found


@pytest.mark.slow
def test_regimes_of_a_sweep():
    names = '"motor_current_rms(drive)", speed_fluctuation'
    units, found = evaluated("dwell", "{AB: [0.03, 0.2]}", names)
    assert units["motor_current_rms_drive"] == "A"
    # The second crank is too long for its loop: lost, as in any sweep, and without numbers.
    assert found["status"].tolist()[0] == Status.SOLVED
    assert found["status"].tolist()[1] in (Status.LOST, Status.SINGULAR, Status.UNASSEMBLABLE)
    assert np.isnan(found["speed_fluctuation"][1])
    made = machine(assemble(load("dwell")))
    one = measures(made.table, made.motion)
    # The sweep's steps err by 3e-5 of the speed's range.
    for name, array in (
        ("speed_fluctuation", "speed_fluctuation"),
        ("motor_current_rms(drive)", "motor_current_rms_drive"),
    ):
        assert found[array][0] == pytest.approx(one[name][0], rel=1e-4)


@pytest.mark.slow
def test_without_a_regime_a_variant_is_special(tmp_path):
    text = load("bicycle").source.replace("125 W", "150 W")
    (tmp_path / "tired.yaml").write_text(text)
    _, found = evaluated(tmp_path / "tired.yaml", "{l1: [0.42]}", "speed_fluctuation")
    assert found["status"].tolist() == [Status.SPECIAL]
    assert found["reason"].tolist() == [Reason.NO_REGIME]
    assert np.isnan(found["speed_fluctuation"][0])
    assert np.isfinite(found["base_parameters"]).all()  # what does not need a regime stays


def test_a_mechanism_without_motors_has_none():
    with pytest.raises(FileError, match="no steady regime"):
        evaluated("four-bar", "{lx1: [0.4]}", "speed_fluctuation")
    with pytest.raises(FileError, match=r"motor_current_rms\(drive\)"):
        evaluated("dwell", "{AB: [0.03]}", '"motor_current_rms(drove)"')
