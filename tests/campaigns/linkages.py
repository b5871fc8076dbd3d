"""Linkages by screening: Jansen's leg against his own lengths.

python -m tests.campaigns.linkages jansen [--seeds 5] [--rows 8192]
"""

import argparse
import json
import tempfile
import time
from dataclasses import replace

import numpy as np

from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks import prepare
from sweeps.store import Store
from workflows.studies.feasibility import judge, weigh
from workflows.studies.gradients import column
from workflows.studies.study import load_job, study


def at(spec, design):
    """Every result of one design, by the study's own evaluation."""
    evaluator = prepare(spec.sweep)
    columns = {name: np.array([value]) for name, value in design.items()}
    arrays = evaluator(columns, np.ones(1, bool))
    results = {name: column(evaluator, arrays, name) for name in spec.results}
    fate = (arrays[name] for name in ("status", "reason", "reason_value"))
    return results, weigh(spec, columns, results, *fate)


def searched(spec, workers):
    """The verdict on every row of a study that runs now, and its seconds."""
    begun = time.time()
    with connect(Laptop(workers=workers)) as client:
        study(spec, client)
    return judge(spec, Store.open(spec.path), 0, spec.trials), time.time() - begun


def jansen(options):
    """Whether one design of each front is better than his in straightness, torque and lift."""
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            spec = load_job("jansen", f"{folder}/run.zarr")
            spec = replace(spec, sampler=replace(spec.sampler, seed=seed))
            spec = replace(spec, trials=options.rows, chunk=0)
            own, _ = at(spec, {name: spec.mechanism.nominal[name] for name in spec.names})
            classical = {name: float(value[0]) for name, value in own.items()}
            found, seconds = searched(spec, options.workers)
            lift = Store.open(spec.path).rows("point_range_toe.y", 0, spec.trials)
            error, torque = found.values.T
            better = (
                found.feasible
                & (error < classical["path_error(toe,floor)"])
                & (torque < classical["torque_rms"])
                & (lift > classical["point_range(toe.y)"])
            )
            rows = np.flatnonzero(better)
            best = rows[np.argsort(error[rows])[:1]]
            line = {
                "seed": seed,
                "rows": spec.trials,
                "seconds": round(seconds, 1),
                "feasible": int(found.feasible.sum()),
                "better in all three": int(better.sum()),
                "classical": classical,
                "one": {
                    "path_error": error[best].tolist(),
                    "torque_rms": torque[best].tolist(),
                    "lift": lift[best].tolist(),
                },
            }
            print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(required=True)
    for run, seeds, rows in ((jansen, 5, 8192),):
        one = kinds.add_parser(run.__name__)
        one.add_argument("--seeds", type=int, default=seeds)
        one.add_argument("--first", type=int, default=0)
        one.add_argument("--rows", type=int, default=rows)
        one.add_argument("--workers", type=int, default=1)
        one.set_defaults(run=run)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
