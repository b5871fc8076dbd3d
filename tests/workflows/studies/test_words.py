"""Words and pictures about studies: standings, bands of whole numbers, documented results."""

import io
import re
from pathlib import Path

import numpy as np
import pytest

from tests.workflows.study_specs import study_from
from workflows.studies.feasibility import Verdict
from workflows.studies.picture_axes import levels
from workflows.studies.study_pictures import Shown, front
from workflows.views.store import standing

pytestmark = pytest.mark.slow

plt = pytest.importorskip("matplotlib.pyplot")


def test_doubtful_variants_that_are_settled_are_not_awaited():
    counts = {"solved": 5, "awaiting precise": 3}
    part = {"counts": counts, "precise": {"certified": 2}}
    assert standing(part) == {
        "solved": 5,
        "awaiting precise": 1,
        "settled precisely: certified": 2,
    }
    whole = {"counts": counts, "precise": {"certified": 2, "still doubtful": 1}}
    assert standing(whole) == {
        "solved": 5,
        "settled precisely: certified": 2,
        "in doubt: still doubtful": 1,
    }


def test_whole_numbers_are_drawn_as_bands(tmp_path):
    assert levels(np.array([4.0, 5.0, 7.0])) == 4
    assert levels(np.array([4.0, 5.5])) == 0
    assert levels(np.array([1.0, 500.0])) == 0
    spec = study_from(
        "four-bar",
        {"lx1": (0.2, 0.6)},
        {"torque_rms": "minimize", "selected_size(bic)": "minimize"},
        trials=40,
        store=str(tmp_path / "no.zarr"),
    )
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.uniform(5, 9, 40), rng.integers(4, 6, 40)])
    parameters = rng.uniform(0.2, 0.6, (40, 1))
    everything = np.ones(40, bool)
    shown = Shown(spec, Verdict(parameters, {}, values, -np.ones((40, 1)), everything))
    figure = front(shown)
    figure.savefig(file := io.BytesIO(), format="png")
    painted = 255 * plt.imread(io.BytesIO(file.getvalue()))[..., :3]
    # Two rows of points on white were 1 % of the picture; two bands and the points are a third.
    assert (painted.min(axis=2) < 250).mean() > 0.3


def test_results_of_variable_precision_are_documented():
    from basepar_core.api import load
    from basepar_core.dynamics.closure import prepare
    from sweeps.chunks.precise import PreciseEvaluator

    text = (Path(__file__).parents[3] / "docs" / "sweep-files.md").read_text()
    outputs = PreciseEvaluator(prepare(load("four-bar")), 8).outputs
    assert len(outputs) >= 6
    for one in outputs:
        assert re.search(rf"^\| .*`{one.name}`.* \| ", text, re.MULTILINE), one.name
