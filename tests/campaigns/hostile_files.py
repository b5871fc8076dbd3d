"""Hostile files: every entry of a received file in turn is what nobody would write there.

Texts that would run if they could (an import, an expression, a shell's substitution, a YAML tag,
a format, a pickle), and values of another kind than belongs there. Stores, studies, sweeps and
mechanisms, journals, databases, certificates and profiles, through the commands that take them;
every second store is sealed again after the change, as a stranger would. Each case is in a folder
of its own; a program, a command or an import that ran leaves a file there. Of a study or sweep
file the entries that name programs (own metrics, own samplers) stay as they are: they are the
user's.

python -m tests.campaigns.hostile_files --cases 2000 --seed 1
"""

import argparse
import contextlib
import copy
import io
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from cluster.errors import PlaceError
from sweeps.store import seal
from tests.security import made
from tests.security.made import Bomb
from workflows.cli.main import main

#: What would run: by an import, an expression, a shell, a loader of YAML or a format.
PAYLOADS = (
    "{folder}/evil.py:reach",
    "evil.py:reach",
    "basepar_canary:reach",
    "basepar_canary",
    "os:system",
    "__import__('basepar_canary')",
    "$(touch {folder}/CANARY)",
    "`touch {folder}/CANARY`; touch {folder}/CANARY",
    "!!python/object/apply:os.system ['touch {folder}/CANARY']",
    '"""\n__import__("basepar_canary")\n"""',
    "{{value.__class__.__init__.__globals__}}",
    "../../evil.py",
    "{bomb}",
)
#: Values of a kind that an entry mostly has not.
ODD = (None, True, -1, 0.5, 1e308, 10**400, "", "x", "NaN", [], [[]], {}, {"x": 1}, [1, "x", None])
EVIL = (
    "from pathlib import Path\n\nPath({canary!r}).touch()\n\n\ndef reach(cycle):\n    return 0\n"
)
#: Entries of the user's own files that name programs, and those that name where results go.
PROGRAMS = ("own_metrics", "own", "path", "storage")
STORE = [
    ("status", "{store}"),
    ("report", "{store}", "--format", "json"),
    ("around", "{store}", "-o", "{folder}/around.yaml"),
    ("polish", "{store}"),
    ("tolerances", "{store}", "--tolerance", "lx1=1mm"),
    ("sweep", "--from", "{store}", "--store", "{folder}/again.zarr"),
    ("report", "{store}", "-o", "{folder}/page.html"),
    ("report", "{store}", "--batch", "{folder}/pages"),
    ("pictures", "{store}", "-o", "{folder}/pictures"),
]
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "sweep.zarr": STORE,
    "study.zarr": STORE,
    "study.journal": [("study", "study.yaml"), ("polish", "study.zarr"), STORE[2]],
    "study.db": [("study", "db.yaml"), ("study", "db.yaml", "--trials", "8")],
    "study.yaml": [("study", "study.yaml", "--store", "{folder}/new.zarr")],
    "sweep.yaml": [("sweep", "sweep.yaml", "--store", "{folder}/new.zarr")],
    "mechanism.yaml": [("show", "mechanism.yaml"), ("base", "mechanism.yaml", "--json")],
    "certificate.json": [("verify", "certificate.json")],
    "profile.yaml": [
        ("sweep", "sweep.yaml", "--store", "{folder}/n", "--cluster", "profile.yaml")
    ],
}
PROFILE = """
kind: slurm
workers: 2
memory: 2 GB
walltime: "00:10:00"
directives: ["--account=x"]
setup: ["module load python"]
"""


def prepare(folder: Path) -> None:
    """Good files of every kind."""
    from basepar_core.files.mechanism_file import library_path

    made.program(folder)
    made.swept(folder)
    made.studied(folder)
    (folder / "sweep.yaml").write_text(made.SWEEP)
    text = made.STUDY.replace("study: {name: bar}", "study: {name: bar, storage: study.journal}")
    (folder / "study.yaml").write_text(f"{text}store: {{path: study.zarr}}\n")
    data = made.STUDY.replace("name: bar", f"name: bar, storage: 'sqlite:///{folder}/study.db'")
    made.studied(folder, data, "db")
    data = made.STUDY.replace("name: bar", "name: bar, storage: 'sqlite:///study.db'")
    (folder / "db.yaml").write_text(f"{data}store: {{path: db.zarr}}\n")
    (folder / "profile.yaml").write_text(PROFILE)
    shutil.copy(library_path("four-bar"), folder / "mechanism.yaml")
    silent(["base", "four-bar", "--certificate", str(folder / "certificate.json")])


def silent(words: list[str]) -> str:
    """Run a command here; what it said on stderr. No worker is had."""
    said = io.StringIO()

    @contextlib.contextmanager
    def none(place: Any) -> Iterator[Any]:
        raise PlaceError("there are no workers here")
        yield

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch("workflows.jobs.sweep.connect", none))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(said))
        with contextlib.suppress(SystemExit):
            main(words)
    return said.getvalue()


def entries(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where anything stands in plain data, the whole and JSON within texts included."""
    yield path
    if isinstance(plain, str) and isinstance(inner := _json(plain), dict | list):
        yield from entries(inner, (*path, "(json)"))
    elif isinstance(plain, dict):
        for key in plain:
            yield from entries(plain[key], (*path, key))
    elif isinstance(plain, list):
        for place, entry in enumerate(plain):
            yield from entries(entry, (*path, place))


def texts(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts stand in plain data, keys and JSON within texts included."""
    if isinstance(plain, str):
        yield path
        if plain[:1] in ("{", "[") and isinstance(inner := _json(plain), dict | list):
            yield from texts(inner, (*path, "(json)"))
    elif isinstance(plain, dict):
        for key in plain:
            yield (*path, ("(key)", key))
            yield from texts(plain[key], (*path, key))
    elif isinstance(plain, list):
        for place, entry in enumerate(plain):
            yield from texts(entry, (*path, place))


def put(plain: Any, path: tuple[Any, ...], text: Any) -> Any:
    """The same data with something else there."""
    if not path:
        return text
    first, *rest = path
    if first == "(json)":
        return json.dumps(put(_json(plain), tuple(rest), text))
    if isinstance(first, tuple):
        return {text if key == first[1] else key: entry for key, entry in plain.items()}
    found = copy.copy(plain)
    found[first] = put(plain[first], tuple(rest), text)
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


class Kind:
    """A kind of file as plain data, and back."""

    def __init__(self, folder: Path, name: str):
        self.file = folder / name / "zarr.json" if name.endswith(".zarr") else folder / name
        self.name = name
        if name.endswith(".db"):
            self.plain: Any = _tables(self.file)
            return
        text = self.file.read_text()
        if name.endswith(".journal"):
            self.plain = [json.loads(line) for line in text.splitlines()]
        else:
            self.plain = yaml.load(text, yaml.BaseLoader) if "yaml" in name else json.loads(text)

    def write(self, plain: Any) -> None:
        if self.name.endswith(".db"):
            _fill(self.file, plain)
        elif self.name.endswith(".journal") and isinstance(plain, list):
            lines = (json.dumps(one, separators=(",", ":")) + "\n" for one in plain)
            self.file.write_text("".join(lines))
        else:  # JSON is YAML
            self.file.write_text(json.dumps(plain, indent=1 if "yaml" in self.name else None))

    def places(self, odd: bool = False) -> list[tuple[Any, ...]]:
        found = list((entries if odd else texts)(self.plain))
        if self.name in ("study.yaml", "sweep.yaml"):
            found = [one for one in found if one and not set(PROGRAMS) & {*map(_word, one)}]
        return found


def _tables(file: Path) -> dict[str, list[list[Any]]]:
    """Rows of a database by table."""
    with contextlib.closing(sqlite3.connect(file)) as base:
        names = [
            row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {
            name: [list(row) for row in base.execute(f"SELECT * FROM {name}")] for name in names
        }


def _fill(file: Path, plain: Any) -> None:
    """Put other rows in place of a database's; what SQLite has no value for becomes a text."""
    with contextlib.closing(sqlite3.connect(file)) as base:
        for name, before in _tables(file).items():
            rows = plain.get(name) if isinstance(plain, dict) else []
            base.execute(f"DELETE FROM {name}")
            for row in rows if isinstance(rows, list) else []:
                if not before:
                    continue
                cells = row if isinstance(row, list) and len(row) == len(before[0]) else before[0]
                marks = ", ".join("?" * len(cells))
                with contextlib.suppress(sqlite3.IntegrityError):  # an absent key and the like
                    base.execute(f"INSERT INTO {name} VALUES ({marks})", [*map(_cell, cells)])
        base.commit()


def _cell(entry: Any) -> Any:
    small = isinstance(entry, int) and abs(entry) < 2**63
    return entry if entry is None or small or isinstance(entry, str | float) else json.dumps(entry)


def seal_again(store: Path) -> None:
    """Make the digests of a store's attributes right, as a stranger would."""
    root = json.loads((store / seal.ROOT).read_text())
    attributes = root["attributes"]
    about = {seal.SEAL, seal.DIGEST, *seal.MUTABLE}
    fixed = {key: entry for key, entry in attributes.items() if key not in about}
    mutable = {key: entry for key, entry in attributes.items() if key in seal.MUTABLE}
    with contextlib.suppress(seal.Wrong):  # an array is named that is none: nobody can seal that
        seal.write(store, seal.take(store, fixed, seal.shown(root)), mutable)


def _word(step: Any) -> Any:
    return step[1] if isinstance(step, tuple) else step


def case(
    folder: Path, name: str, path: tuple[Any, ...], payload: Any, sealed: bool = False
) -> tuple[str, ...]:
    """Run one; what is wrong: *executed*, *internal error*; nothing if nothing is."""
    canary = folder / "CANARY"
    for module in ("evil.py", "basepar_canary.py"):
        (folder / module).write_text(EVIL.format(canary=str(canary)))
    kind = Kind(folder, name)
    bomb = Bomb(canary).hex()
    text = payload.format(folder=folder, bomb=bomb) if isinstance(payload, str) else payload
    kind.write(put(kind.plain, path, text))
    if sealed:
        with contextlib.suppress(AttributeError, KeyError, TypeError):  # no store any more
            seal_again(folder / name)
    found = []
    for words in COMMANDS[name]:
        sys.modules.pop("basepar_canary", None)
        said = silent([word.format(store=folder / name, folder=folder) for word in words])
        if canary.exists():
            found.append(f"executed by {words[0]}")
            canary.unlink()
        if "internal error" in said.lower():
            found.append(f"internal error of {words[0]}: {' '.join(said.split())[:160]}")
    return tuple(found)


def run(
    cases: int, seed: int, show: bool = True, names: Sequence[str] = tuple(COMMANDS)
) -> Counter[str]:
    """A random sample of the cases of these files; counts of what happened."""
    counts: Counter[str] = Counter()
    rng, here = random.Random(seed), Path.cwd()
    with tempfile.TemporaryDirectory() as base:
        good = Path(base) / "good"
        good.mkdir()
        prepare(good)
        kinds = [Kind(good, name) for name in names]
        places = {kind.name: (kind.places(), kind.places(odd=True)) for kind in kinds}
        for number in range(cases):
            turn, place = divmod(number, len(kinds))
            name, odd = kinds[place].name, bool(turn % 2)
            path, payload = rng.choice(places[name][odd]), rng.choice(ODD if odd else PAYLOADS)
            sealed = name.endswith(".zarr") and turn % 4 > 1
            folder = Path(base) / "case"
            shutil.copytree(good, folder)
            os.chdir(folder)
            sys.path.insert(0, str(folder))
            try:
                wrong = case(folder, name, path, payload, sealed)
            finally:
                sys.path.remove(str(folder))
                os.chdir(here)
                shutil.rmtree(folder)
            counts["cases"] += 1
            for one in wrong:
                counts[one.split()[0]] += 1
                if show:
                    print(f"{number} {name} {path} {str(payload)[:80]!r}: {one}", flush=True)
    return counts


if __name__ == "__main__":
    given = argparse.ArgumentParser()
    given.add_argument("--cases", type=int, default=2000)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("files", nargs="*", help=f"among {', '.join(COMMANDS)} (default: all)")
    options = given.parse_args()
    found = run(options.cases, options.seed, names=options.files or tuple(COMMANDS))
    for word in ("cases", "executed", "internal"):
        print(f"{word}: {found[word]}")
