"""Small real stores, studies and journals, filled in this process, and a program in a file."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from sweeps.chunks.evaluator import prepare
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.spec.reader import parse_sweep
from sweeps.spec.sweep_spec import SweepSpec
from sweeps.store import Store, store
from workflows.studies.ask_tell_log import opened
from workflows.studies.feasibility import judge
from workflows.studies.reader import parse_study
from workflows.studies.spec import StudySpec

#: Importing it leaves a file; calling it another.
PROGRAM = '''
from pathlib import Path

HERE = Path(__file__).parent
(HERE / "imported").touch()


def reach(cycle):
    """Farthest the rocker comes."""
    (HERE / "called").touch()
    return cycle.joint("D").max(axis=1)
'''
SWEEP = """
mechanism: four-bar
space: {plan: zip, variables: {lx1: [0.3, 0.35, 0.4], lx3: [1.3, 1.35, 1.4]}}
evaluate:
  rank: none
  metrics: [mass]
  own: {reach: reach.py:reach}
store: {chunk: 2}
"""
STUDY = """
mechanism: four-bar
variables: {lx1: [0.2, 0.4], lx3: [1.2, 1.4]}
objectives: {reach: minimize}
own_metrics: {reach: reach.py:reach}
sampler: {kind: random, seed: 3}
trials: 4
batch: 4
study: {name: bar}
"""


def program(folder: Path, text: str = PROGRAM) -> Path:
    """`reach.py`, and no trace of its having run."""
    file = folder / "reach.py"
    file.write_text(text)
    return file


def traces(folder: Path) -> list[str]:
    """What ran of `PROGRAM` since; forgotten now."""
    found = [name for name in ("imported", "called") if (folder / name).exists()]
    for name in found:
        (folder / name).unlink()
    return found


def swept(folder: Path, text: str = SWEEP, name: str = "sweep") -> SweepSpec:
    """A finished sweep's store, `NAME.zarr`."""
    spec = parse_sweep(text, str(folder / f"{name}.yaml")).at(str(folder / f"{name}.zarr"))
    fill(spec)
    return spec


def fill(spec: SweepSpec, whole: SweepSpec | None = None) -> None:
    """Make a sweep's store and evaluate every variant, here."""
    evaluator = prepare(spec)
    layout = layout_of(whole or spec, evaluator)
    path = Path(spec.store)
    store.create(path, layout)
    stages = (Stage(evaluator, layout.parts[0]),)
    work = Work(str(path), str(path), spec.plan, Filter.of(spec.mechanism, spec.where), stages)
    work(Task(0, 0, len(spec)))


def studied(folder: Path, text: str = STUDY, name: str = "study") -> StudySpec:
    """A finished study's store and journal, `NAME.zarr` and `NAME.journal`."""
    spec = parse_study(text, str(folder / f"{name}.yaml")).at(str(folder / f"{name}.zarr"))
    with opened(spec) as journal:
        nothing = np.full((spec.trials, len(spec.names)), np.nan)
        values = journal.ask(0, spec.trials, nothing)
        fill(replace(spec.sweep, plan=spec.plan.knowing(0, values)), spec.sweep)
        journal.tell(0, judge(spec, Store.open(spec.path), 0, spec.trials))
    return spec


def attributes(path: Path) -> dict:
    """A store's attributes."""
    return json.loads((path / "zarr.json").read_text())["attributes"]


def set_attributes(path: Path, attrs: dict) -> None:
    """Put others in their place, as a stranger would."""
    file = path / "zarr.json"
    plain = json.loads(file.read_text())
    plain["attributes"] = attrs
    file.write_text(json.dumps(plain))


class Bomb:
    """Unpickled, it leaves a file."""

    def __init__(self, path: Path):
        self.path = str(path)

    def __reduce__(self) -> tuple:
        return (open, (self.path, "w"))

    def pickled(self) -> bytes:
        return pickle.dumps(self)

    def hex(self) -> str:
        """As Optuna keeps pickles in attributes."""
        return self.pickled().hex()
