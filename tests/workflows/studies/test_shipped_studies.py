"""Every shipped study reads, and runs small."""

import warnings

import numpy as np
import pytest

from basepar_core.errors import BaseparWarning
from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import Store
from workflows.jobs.examples import study_names
from workflows.studies.feasibility import judge
from workflows.studies.store import study_of
from workflows.studies.study import load_job, study
from workflows.views.study import study as facts_of

#: Two batches of a study, enough that the sampler has been told something.
BATCHES = 2


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


def test_the_three_worked_ones_ship():
    assert {"four-bar", "quick-return", "3-rrr"} <= set(study_names())


@pytest.mark.parametrize("name", study_names())
def test_nothing_is_odd_about_its_mechanism(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaseparWarning)
        job = load_job(name, str(tmp_path / "study.zarr"))
    assert job.sweep.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", study_names())
def test_runs_small(name, tmp_path, client):
    job = load_job(name, str(tmp_path / "study.zarr"))
    small = job.of(BATCHES * job.batch)
    result = study(small, client)
    assert result.summary.done
    assert result.summary.failed == 0
    verdict = judge(small, Store.open(small.path), 0, small.trials)
    # The bounds are sensible: of the first points a fifth and more closes, and one is feasible.
    assert np.isfinite(verdict.values).all(axis=1).mean() > 0.2
    assert verdict.feasible.any()
    document = facts_of(small, result)
    assert document["best"]
    assert study_of(small.path).hash == small.hash
