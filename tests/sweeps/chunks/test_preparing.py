"""Who prepares a sweep loads no compiler; who goes on with one, no computer algebra either."""

import json
import subprocess
import sys

import pytest

from basepar_core.errors import StoreError
from sweeps.chunks import KEPT, prepare
from sweeps.run import here
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store

PREPARE = """
import pickle, sys
from sweeps.chunks import prepare
from sweeps.run import standing
from sweeps.spec.reader import parse_sweep

spec = parse_sweep('''
mechanism: four-bar
space: {plan: random, variables: {lx1: [0.2, 0.4]}, candidates: 8, seed: 1}
evaluate:
  metrics: [torque_rms, stroke(D)]
  reduction: {criteria: [bic]}
''', "sweep.yaml")
made = prepare(spec)
layout = standing.layout_of(spec.chunked(8), made, made.precise)
assert len(pickle.dumps(made)) > 1000
print(*sorted({"numba", "scipy", "pandas", "xarray"} & set(sys.modules)))
"""


def test_it_loads_neither_the_compiler_nor_scipy():
    ran = subprocess.run(
        [sys.executable, "-c", PREPARE], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []


SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.2, 0.4], lx2: [0.5, 0.8]}, candidates: 64, seed: 1}
store: {chunk: 16}
"""
PART = f"""
import sys
from sweeps.run import here
from sweeps.spec.reader import parse_sweep

found = here.part(parse_sweep({SWEEP!r}).at(sys.argv[1]), 1, 4, 0)
assert found.evaluated == 16, found
print(*sorted({{"sympy", "scipy.stats", "dask", "zarr"}} & set(sys.modules)))
"""


def test_a_part_derives_nothing_again(tmp_path):
    path = tmp_path / "sweep.zarr"
    spec = parse_sweep(SWEEP).at(str(path))
    here.prepare(spec)
    words = [sys.executable, "-c", PART, str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == []
    again = prepare(spec, Store.open(path).attrs[KEPT])
    assert again.base == prepare(spec).base


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["parameters"].pop(),
        lambda plain: plain["beta"][0].__setitem__(3, ["open", "'/etc/passwd'"]),
        lambda plain: plain["beta"][0].__setitem__(3, "nobody"),
        lambda plain: plain["validity"].append([["+"], 1, 2]),
        lambda plain: plain.pop("bounds"),
    ],
    ids=["parameters", "function", "name", "shape", "missing"],
)
def test_what_is_kept_is_read_with_care(change):
    spec = parse_sweep(SWEEP)
    plain = json.loads(json.dumps(prepare(spec).attrs[KEPT]))
    assert prepare(spec, json.dumps(plain)).base.rank == 8
    change(plain)
    with pytest.raises(StoreError, match="symbolic result that the store keeps is damaged"):
        prepare(spec, json.dumps(plain))
