"""The kinds of file that `mutations` changes: good files, and the cheapest use of each."""

import contextlib
import io
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.files.mechanism_file import library_path
from sweeps.chunks.evaluator import prepare
from sweeps.spec.filters import Filter
from sweeps.spec.sweep_spec import SweepSpec
from workflows.cli.main import main as basepar
from workflows.jobs.store import load_jobs
from workflows.studies.study import load_job as load_study

Work = list[str] | Callable[[], int]
DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Seed:
    """A good file."""

    suffix: str
    content: bytes


@dataclass(frozen=True)
class Kind:
    """A kind of file: its language, what it is called, and what is done with it."""

    name: str
    language: str
    stem: str
    work: Callable[[Path, random.Random], Work]


@dataclass(frozen=True)
class Seeds:
    """Good files by kind, and the files that lie beside them."""

    files: dict[str, list[Seed]]
    beside: dict[str, dict[str, bytes]]


MECHANISMS = (
    "four-bar", "slider-crank", "five-bar", "scara", "rssr", "quick-return", "parallelogram",
    "bicycle", "dwell", "rsur", "3-rrr",
)  # fmt: skip

SWEEPS = (
    """mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 1.5], lx2: [0.5, 0.9], Dx: [0.6, 1.4]}
  where: ["lx1 + sqrt(Dx^2 + Dy^2) <= sqrt(lx2^2 + ly2^2) + lx3", "abs(lx1) >= 10 mm"]
  candidates: 32768
  seed: 7
evaluate:
  rank: auto
  reduction: {criteria: [tolerance, aic, bic, mdl, fpe], tolerance: 0.01}
  metrics: [torque_rms, torque_peak, stroke(D)]
  beta: true
store: {path: four-bar.zarr, chunk: 2048}
limits: {variant_seconds: 60}
""",
    """mechanism: slider-crank
space:
  plan: product
  of:
    - {plan: zip, variables: {lx1: [0.06, 0.07], lx2: [0.4, 0.5]}}
    - plan: chain
      of:
        - {plan: grid, variables: {m3: [0.5, {from: 1, to: 1.6, count: 7}]}}
        - {plan: random, variables: {m3: [0.3, 0.6]}, candidates: 100, seed: 1}
  derive: {rho: 3*m3/kg * 1 kg/m}
evaluate: {rank: numeric, with: [friction]}
store: {path: mine.zarr}
""",
    """mechanism: slider-crank
space: {plan: grid, variables: {lx1: [0.06, 0.07], lx2: {from: 0.4, to: 0.5, count: 3}}}
evaluate: {rank: none, metrics: [torque_rms]}
store: {path: mine.zarr, chunk: 4}
""",
    """mechanism: four-bar
assemblies:
  open: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}
  crossed: {A: 34 deg, B: -130 deg, C: 212 deg}
space: {plan: lhs, variables: {lx1: [0.25, 0.3]}, candidates: 100}
evaluate: {metrics: [stroke(D)]}
""",
    """mechanism: four-bar
space: {plan: table, rows: [{lx1: 0.3, lx3: 1.2}, {lx1: 0.31, lx3: 1.25}]}
evaluate: {rank: precise}
""",
)
PROFILES = (
    "kind: laptop\nworkers: 2\nmemory: 2 GB\nthreads: 1\ndashboard: false\n",
    "kind: address\nurl: tls://host:8786\npatience: 10.5\n"
    "keys: {authority: a.pem, certificate: c.pem, key: k.pem}\n",
    "kind: address\nurl: tcp://127.0.0.1:8786\nunencrypted: true\n",
    "kind: slurm\nworkers: 8\nper_job: 2\nmemory: 2 GB\nwalltime: 02:00:00\npartition: cpu\n"
    'account: me\ndirectives: ["--constraint=avx2"]\nsetup: [module load python]\n'
    "python: /opt/python\ninterface: ib0\ndirectory: .\npatience: 900\ninterval: 5\n",
    'kind: ssh\nhosts: [one, me@two]\nper_host: 2\nmemory: 512 MiB\noptions: ["-p 2222"]\n'
    "python: python3\ninterface: eth0\npatience: 60\n",
    "kind: kubernetes\nimage: registry/basepar:1\nworkers: 4\nmemory: 2 GiB\ncpu: 1.5\n"
    "claim: data\nmount: /data\nnamespace: me\ncontext: here\npython: python\npull_secret: s\n",
)


def _mechanism(path: Path, rng: random.Random) -> Work:
    name = path.name
    return rng.choice(
        [["show", name, "--json"]] * 12
        + [["base", name, "--route", "numeric", "--json"]] * 3
        + [["base", name, "--json"], ["base", name, "--with", "friction,springs", "--json"]]
        + [
            ["reduce", name, "--json"],
            ["onedof", name, "--json"],
            ["simulate", name, "-o", "r.csv", "--json"],
        ]
    )


def _sweep(path: Path, _: random.Random) -> Work:
    def work() -> int:
        for job in load_jobs(path.name).values():
            _first_rows(job)
        return 0

    return work


def _first_rows(job: SweepSpec) -> None:
    """What a sweep does first: warnings, preparation, and its first rows."""
    assert isinstance(job.notes, tuple)
    assert job.hash
    evaluator = prepare(job)
    columns = job.plan.rows(0, min(4, len(job)))
    failed = Filter.of(job.mechanism, job.where).first_failed(columns)
    evaluator(columns, failed == 0)


def _study(path: Path, _: random.Random) -> Work:
    def work() -> int:
        job = load_study(path.name)
        names = job.names
        row = np.array([[job.sweep.mechanism.nominal[name] for name in names]])
        evaluator = prepare(job.sweep)
        evaluator({name: row[:, k] for k, name in enumerate(names)}, np.ones(1, bool))
        return 0

    return work


def _profile(path: Path, _: random.Random) -> Work:
    return ["cluster", path.name, "--json"]


def _motion(_: Path, rng: random.Random) -> Work:
    return rng.choice(
        [["show", "moved.yaml", "--json"], ["base", "moved.yaml", "--route", "numeric", "--json"]]
    )


def _record(path: Path, rng: random.Random) -> Work:
    identify = ["identify", "slider-crank", path.name, "--json"]
    return rng.choice([identify, ["reduce", "slider-crank", "--data", path.name, "--json"]])


def _table(_: Path, rng: random.Random) -> Work:
    return _sweep(Path("table.yaml"), rng)


def _import(path: Path, rng: random.Random) -> Work:
    return rng.choice(
        [["import", path.name, "-o", "made.yaml", "--json"], ["show", path.name, "--json"]]
    )


def _verify(path: Path, rng: random.Random) -> Work:
    of = rng.choice([[], [], [], ["--mechanism", "four-bar"]])
    return ["verify", path.name, *of, "--json"]


def _store(path: Path, rng: random.Random) -> Work:
    return ["status", path.parent.name, *rng.choice([[], ["--check"]]), "--json"]


KINDS = {
    one.name: one
    for one in (
        Kind("mechanism", "yaml", "mine", _mechanism),
        Kind("sweep", "yaml", "mine", _sweep),
        Kind("study", "yaml", "mine", _study),
        Kind("profile", "yaml", "mine", _profile),
        Kind("motion", "csv", "motion", _motion),
        Kind("record", "csv", "record", _record),
        Kind("table", "csv", "rows", _table),
        Kind("urdf", "xml", "robot", _import),
        Kind("mjcf", "xml", "model", _import),
        Kind("certificate", "json", "certificate", _verify),
        Kind("store", "json", "s.zarr/zarr", _store),
    )
}


def seeds(folder: Path) -> Seeds:
    """Good files of every kind, each made or read once, and used once so that all is compiled."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        files = {
            "mechanism": [_undescribed(library_path(name)) for name in MECHANISMS],
            "sweep": [Seed(".yaml", text.encode()) for text in SWEEPS],
            "study": _studies(),
            "profile": [Seed(".yaml", text.encode()) for text in PROFILES],
            "table": [Seed(".csv", b"lx1,lx3\n0.3,1.2\n0.31,1.25\n0.35,1.3\n")],
            "urdf": [_read(path) for path in sorted((DATA / "imports").glob("*.urdf"))],
            "mjcf": [_read(path) for path in sorted((DATA / "imports").glob("*.xml"))],
            "certificate": _certificates(folder),
        }
        made = _records(folder) | _made_store(folder)
    files |= {name: [seed] for name, (seed, _) in made.items()}
    beside: dict[str, dict[str, bytes]] = {name: {} for name in KINDS}
    beside |= {name: other for name, (_, other) in made.items()}
    beside["table"] = {
        "table.yaml": b"mechanism: four-bar\nspace: {plan: table, file: rows.csv}\n"
        b"evaluate: {rank: numeric}\n"
    }
    return Seeds(files, beside)


def _read(path: Path) -> Seed:
    return Seed(path.suffix, path.read_bytes())


def _undescribed(path: Path) -> Seed:
    """A shipped file without its description, whose commas and colons hide what is behind it."""
    text = re.sub(r"^description:.*\n(?:[ \t].*\n)*", "", path.read_text(), flags=re.MULTILINE)
    return Seed(path.suffix, text.encode())


def _must(*words: str) -> None:
    assert basepar([*words, "--json"]) == 0, words


def _studies() -> list[Seed]:
    from workflows.jobs.examples import study_file

    names = ("four-bar", "quick-return", "dwell")
    return [Seed(".yaml", Path(study_file(name)).read_bytes()) for name in names]


def _certificates(folder: Path) -> list[Seed]:
    found = []
    for words in (["four-bar"], ["slider-crank", "--with", "friction"], ["rssr"], ["scara"]):
        path = folder / "c.json"
        _must("base", *words, "--certificate", path.name)
        found.append(Seed(".json", path.read_bytes()))
    return found


def _records(folder: Path) -> dict[str, tuple[Seed, dict[str, bytes]]]:
    """A motion for a mechanism, and a record of one."""
    times = np.linspace(0, 2, 25)
    rows = np.stack([times, np.sin(times), np.cos(times), -np.sin(times)], axis=1)
    lines = [",".join(f"{x:.6f}" for x in row) for row in rows]
    text = library_path("slider-crank").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("excitation:")]
    moved = "\n".join([*kept, "excitation: {kind: data, file: motion.csv}", ""])
    _must("simulate", "slider-crank", "-o", "record.csv")
    record = (folder / "record.csv").read_text().splitlines()[:120]
    return {
        "motion": (
            Seed(".csv", "\n".join(["t,A,A',A''", *lines, ""]).encode()),
            {"moved.yaml": moved.encode()},
        ),
        "record": (Seed(".csv", "\n".join(record).encode()), {}),
    }


def _made_store(folder: Path) -> dict[str, tuple[Seed, dict[str, bytes]]]:
    """A small store: its root attributes are changed, the rest lies beside."""
    text = "mechanism: four-bar\nspace: {plan: grid, variables: {lx1: [0.3, 0.31]}}\n"
    (folder / "small.yaml").write_text(text + "evaluate: {rank: numeric}\nstore: {chunk: 2}\n")
    _must("sweep", "small.yaml", "--store", "s.zarr", "--workers", "1", "--quiet")
    store = folder / "s.zarr"
    rest = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path != store / "zarr.json"
    }
    root: Any = _read(store / "zarr.json")
    shutil.rmtree(store)
    return {"store": (root, rest)}
