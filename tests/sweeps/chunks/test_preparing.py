"""Who prepares a sweep loads no compiler; who goes on with one, no computer algebra either."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from basepar_core.errors import StoreError
from sweeps.chunks import SYMBOLIC, prepare
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
    again = prepare(spec, Store.open(path).attrs[SYMBOLIC])
    assert again.base == prepare(spec).base


EVALUATE = """
import pickle, sys
import numpy as np
from sweeps.store import WITH_RESULTS

evaluator, columns = pickle.loads(sys.stdin.buffer.read())
found = evaluator(columns, np.ones(2, bool))
assert np.isin(found["status"], WITH_RESULTS).all()
print(*sorted({"sympy", "scipy.stats"} & set(sys.modules)))
"""


def test_a_worker_follows_algebraic_numbers_without_computer_algebra(pytestconfig):
    """The triangles' heights of Jansen's leg are roots that move with the swept lengths."""
    mechanism = pytestconfig.rootpath / "workflows" / "examples" / "mechanisms" / "jansen.yaml"
    spec = parse_sweep(
        f"{{mechanism: {mechanism}, space: {{plan: random, variables: {{lb: [41, 42]}}, "
        "candidates: 2}, evaluate: {rank: none, metrics: [torque_rms]}}"
    )
    work = pickle.dumps((prepare(spec), {"lb": np.array([41.4e-3, 41.6e-3])}))
    ran = subprocess.run(
        [sys.executable, "-c", EVALUATE], input=work, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.split() == []


def entry(place, value):
    return lambda plain: plain["beta"][0].__setitem__(place, value)


CHANGES = {
    "parameters": lambda plain: plain["parameters"].pop(),
    "function": entry(3, ["open", "lx1"]),
    "name": entry(3, "nobody"),
    "arguments": entry(3, ["/", "lx1"]),
    "nothing": entry(3, None),
    "number": entry(3, "1" + 400 * "0"),
    "row": entry(0, 9999),
    "column": entry(1, -1),
    "order": lambda plain: plain["kept"].reverse(),
    "kept": lambda plain: plain["kept"].__setitem__(0, 9999),
    "no effect": lambda plain: plain["no_effect"].append(plain["kept"][0]),
    "grade": lambda plain: plain["bounds"].update(at_most_grade="x"),
    "rank": lambda plain: plain["bounds"].update(at_most="8"),
    "shape": lambda plain: plain["validity"].append([["+"], 1, 2]),
    "missing": lambda plain: plain.pop("bounds"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_kept_is_read_with_care(change):
    spec = parse_sweep(SWEEP)
    derived = prepare(spec)
    plain = json.loads(json.dumps(derived.attrs[SYMBOLIC]))
    assert prepare(spec, json.dumps(plain)).base == derived.base
    change(plain)
    for text in (json.dumps(plain), 100_000 * "["):
        with pytest.raises(StoreError, match="symbolic result that the store keeps is damaged"):
            prepare(spec, text)


def test_what_another_version_kept_is_derived_again():
    spec = parse_sweep(SWEEP)
    assert prepare(spec, '{"version": 0}').base == prepare(spec).base
