"""`show --variant` of a store with a target: where the design is to stand."""

import numpy as np
import pytest

from sweeps.store import Store

SWEEP = """
mechanism: {folder}/workflows/examples/mechanisms/straight-line.yaml
space: {{plan: random, variables: {{e: [220, 260], f: [-10, 10]}}, candidates: 4, seed: 1}}
evaluate:
  rank: none
  metrics: ["path_error(P, wanted)"]
  targets:
    wanted: {{points: [[0, 0], [0.1, 0.02], [0.2, 0]], fit: [timing, position, rotation]}}
"""


@pytest.mark.slow
def test_a_stored_design_says_where_it_is_to_stand(run, tmp_path, pytestconfig):
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP.format(folder=pytestconfig.rootpath))
    store = f"{tmp_path}/run.zarr"
    assert run("sweep", str(file), "--workers", "1", "--store", store).status == 0
    place = f"{store}:2"
    shown = run("show", "--variant", place, "-o", f"{tmp_path}/two.png", "--json").json
    (placed,) = shown["placed"]
    stored = np.asarray(Store.open(tmp_path / "run.zarr")["path_error_P_wanted"][:])[2]
    # The same fit, of loops that close to 1e-12 m by the plain path and by the kernels.
    assert placed["error"] == pytest.approx(stored, abs=1e-10)
    # Rounding of a rotation and back.
    moved = np.array(placed["points"]) @ np.array(placed["rotation"]).T + placed["shift"]
    np.testing.assert_allclose(moved, [[0, 0], [0.1, 0.02], [0.2, 0]], rtol=0, atol=1e-14)
    assert placed["scale"] == pytest.approx(1.0, rel=1e-14)
    assert "path_error(P,wanted)" in run("show", "--variant", place).out
