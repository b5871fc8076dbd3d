"""Who prepares a sweep loads no compiler."""

import subprocess
import sys

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
