"""Every array, label and metadata file of real stores, damaged in every way; found and mended.

Four stores are filled in this process: a four-bar's sweep with reduction, a Watt II with precise
ranks, a member of a family (the root above it too), a study that was made longer. Each case
damages one file (two where they are exchanged), looks at the store as commands do, mends it, and
compares what is there then with the store as it was; where chunks became pending, they are done
again in a share of the cases and all arrays compared bit for bit. A damage that changes nothing
(two equal chunks exchanged, a blank in JSON) is no case.

    python -m tests.campaigns.damage FOLDER [CASES [SHARE]]
"""

import copy
import json
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import BaseparError, StoreError
from sweeps.chunks.evaluator import prepare
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.families import parse_family
from sweeps.spec.filters import Filter
from sweeps.spec.reader import parse_sweep
from sweeps.spec.sweep_spec import SweepSpec
from sweeps.store import Store, check_and_repair, chunk_files, make_root, status, store
from sweeps.store.outputs import Evaluator
from workflows.studies.reader import parse_study
from workflows.views.store import document

FOUR_BAR = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: %d
  seed: %d
evaluate:
  rank: auto
  reduction: {criteria: [tolerance], tolerance: 0.02}
  metrics: [torque_rms, stroke(D)]
store: {chunk: 8}
"""
WATT = """
mechanism: watt-ii
space:
  plan: sobol
  variables: {l2: [0.324, 0.396], l4: [0.306, 0.374], l5: [0.216, 0.264]}
  candidates: 20
  seed: %d
evaluate: {rank: auto}
store: {chunk: 8}
"""
FAMILY = """
mechanism: four-bar
assemblies:
  open: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}
  crossed: {A: 34 deg, B: -130 deg, C: 212 deg}
space: {plan: grid, variables: {lx1: [0.25, 0.3], lx3: [1.2, 1.3, 1.4]}}
evaluate: {rank: none, metrics: [stroke(D)]}
store: {path: family.zarr, chunk: 2}
"""
STUDY = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
objectives: {torque_rms: minimize}
constraints: ["stroke(D) >= 40 deg"]
sampler: {kind: random, seed: 3}
trials: 15
batch: 5
store: {chunk: 5}
"""


@dataclass(frozen=True)
class Filled:
    """A whole store, its twin of other rows, and how its chunks are done."""

    name: str
    path: Path
    twin: Path
    spec: SweepSpec
    evaluator: Evaluator
    precise: Evaluator | None

    def fill(self, path: Path) -> None:
        """Do whatever is pending at a path, as workers do."""
        layout = layout_of(self.spec, self.evaluator, self.precise)
        if not path.exists():
            store.create(path, layout)
        group = store.check(path, layout)
        stages = [Stage(self.evaluator, layout.parts[0])]
        stages += [Stage(self.precise, layout.parts[1], 8)] if self.precise is not None else []
        conditions = Filter.of(self.spec.mechanism, self.spec.where)
        made = f"{path} {time.monotonic_ns()}"
        work = Work(str(path), made, self.spec.plan, conditions, tuple(stages))
        for start, stop in status.take(group).pending:
            work(Task(0, start, stop))
        if self.precise is not None:
            for start, stop in list(status.awaiting(group, 8)):
                work(Task(1, start, stop))
        status.sum_up(group)


def filled(folder: Path) -> Iterator[Filled]:
    """The stores."""
    four_bar = parse_sweep(FOUR_BAR % (24, 7))
    yield _made(folder, "four-bar", four_bar, parse_sweep(FOUR_BAR % (24, 8)))
    yield _made(folder, "watt-ii", parse_sweep(WATT % 3), parse_sweep(WATT % 4))
    members = parse_family(FAMILY)
    make_root(folder / "family.zarr", list(members))
    yield _made(folder, "family.zarr/open", members["open"], members["crossed"])
    study = parse_study(STUDY)
    bounds = np.array([[0.2, 0.6], [1.0, 1.6], [0.6, 1.4]]).T
    values = bounds[0] + np.random.default_rng(5).random((15, 3)) * (bounds[1] - bounds[0])
    one, other = (
        replace(study.sweep, plan=study.plan.knowing(0, rows)) for rows in (values, values[::-1])
    )
    yield _made(folder, "study", one, other)


def _made(folder: Path, name: str, spec: SweepSpec, other: SweepSpec) -> Filled:
    evaluator = prepare(spec)
    found = Filled(
        name, folder / name, folder / f"{name}-twin", spec, evaluator, evaluator.precise
    )
    for path, one in ((found.path, spec), (found.twin, other)):
        replace(found, spec=one, **_prepared(one)).fill(path)
        store.set_attribute(path, "incumbents", '[{"variant": 1}]')
        assert check_and_repair.find(path) == []
    return found


def _prepared(spec: SweepSpec) -> dict[str, Any]:
    evaluator = prepare(spec)
    return {"evaluator": evaluator, "precise": evaluator.precise}


@dataclass(frozen=True)
class Case:
    """A damage: what is done to a copy of the store; False where that changes nothing."""

    kind: str
    where: str
    spoil: Callable[[Path], bool]


def cases(whole: Filled, rng: random.Random) -> list[Case]:
    """Everything that is done to a store."""
    names = sorted(str(f.relative_to(whole.path)) for f in whole.path.rglob("*") if f.is_file())
    chunks = [name for name in names if "/c/" in name]
    documents = [name for name in names if name.endswith("zarr.json")]
    found = [one for name in names for one in _on_any(name, rng)]
    for name in chunks:
        found += _on_chunk(whole, name, chunks)
    for name in documents:
        found += _on_document(whole, name, documents)
    return found


def _bytes(kind: str, name: str, change: Callable[[bytes], bytes]) -> Case:
    def spoil(path: Path) -> bool:
        before = (path / name).read_bytes()
        after = change(before)
        (path / name).unlink()
        (path / name).write_bytes(after)
        return _differs(name, before, after)

    return Case(kind, name, spoil)


def _differs(name: str, before: bytes, after: bytes) -> bool:
    if before == after:
        return False
    if not name.endswith(".json"):
        return True
    try:
        return json.loads(before) != json.loads(after)
    except (ValueError, RecursionError):
        return True


def _flip(share: float, bit: int) -> Callable[[bytes], bytes]:
    def flipped(content: bytes) -> bytes:
        place = min(int(share * len(content)), len(content) - 1)
        changed = bytes([content[place] ^ (1 << bit)])
        return content[:place] + changed + content[place + 1 :]

    return flipped


def _on_any(name: str, rng: random.Random) -> Iterator[Case]:
    def gone(path: Path) -> bool:
        (path / name).unlink()
        return True

    def folder(path: Path) -> bool:
        (path / name).unlink()
        (path / name).mkdir()
        return True

    def link(path: Path) -> bool:
        shutil.move(path / name, path.with_name("elsewhere"))
        (path / name).symlink_to(path.with_name("elsewhere"))
        return True

    def no_array(path: Path) -> bool:
        top = path / Path(name).parts[0]
        shutil.rmtree(top) if top.is_dir() else top.unlink()
        top.write_text("a file in a folder's place")
        return True

    yield from (Case(kind.__name__, name, kind) for kind in (gone, folder, link, no_array))
    yield _bytes("empty", name, lambda content: b"")
    yield _bytes("longer", name, lambda content: content + b"\0")
    for share in (0.1, 0.5, 0.95):
        yield _bytes("torn", name, lambda content, s=share: content[: int(s * len(content))])
    for share in (0.0, rng.random(), rng.random(), 1.0):
        yield _bytes("bit", name, _flip(share, rng.randrange(8)))


def _on_chunk(whole: Filled, name: str, chunks: list[str]) -> Iterator[Case]:
    array, key = name.split("/c/")
    for other in chunks:
        if other == name or other.count("/") != name.count("/"):
            continue
        theirs, place = other.split("/c/")
        kind = "within" if theirs == array else "between" if place == key else ""
        if kind and name < other:
            yield Case(f"swapped {kind}", f"{name} {other}", _swap(name, other))
        if kind:
            yield _bytes(f"copied {kind}", name, _taken(whole.path / other))
    if (whole.twin / name).is_file():
        yield _bytes("of another store", name, _taken(whole.twin / name))
    group = Store.open(whole.path)
    if array in group and (files := group.files(array)) is not None:
        dense = np.full(files.shape, files.fill)
        content = files.codec.encode(dense)
        sealed = content + chunk_files.google_crc32c.value(content).to_bytes(4, "little")
        yield _bytes("filled", name, lambda _: sealed)


def _taken(file: Path) -> Callable[[bytes], bytes]:
    return lambda _: file.read_bytes()


def _swap(one: str, other: str) -> Callable[[Path], bool]:
    def spoil(path: Path) -> bool:
        left, right = (path / one).read_bytes(), (path / other).read_bytes()
        (path / one).write_bytes(right)
        (path / other).write_bytes(left)
        return _differs(one, left, right)

    return spoil


def _on_document(whole: Filled, name: str, names: list[str]) -> Iterator[Case]:
    plain = json.loads((whole.path / name).read_text())
    for keys in _places(plain):
        yield _edited("key gone", name, keys, _drop)
        for value in (None, "x", 10**30, [], {}, "changed"):
            yield _edited("value changed", name, keys, _setter(value))
    for other in names:
        if other != name:
            yield _bytes("another's metadata", name, _taken(whole.path / other))
    yield _bytes("of another store", name, _taken(whole.twin / name))
    yield _bytes("deep", name, lambda _: b"[" * 100_000)
    yield _bytes("no text", name, lambda _: b"\xff\xfe\x00")


def _places(plain: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every entry of plain data by its keys."""
    entries = plain.items() if isinstance(plain, dict) else ()
    entries = enumerate(plain) if isinstance(plain, list) else entries
    for key, value in entries:
        yield (*before, key)
        yield from _places(value, (*before, key))


def _edited(kind: str, name: str, keys: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> Case:
    def change(content: bytes) -> bytes:
        plain = json.loads(content)
        place = plain
        for key in keys[:-1]:
            place = place[key]
        edit(place, keys[-1])
        return json.dumps(plain).encode()

    return _bytes(kind, f"{name}", change)


def _drop(place: Any, key: Any) -> None:
    del place[key]


def _setter(value: Any) -> Callable[[Any, Any], None]:
    def edit(place: Any, key: Any) -> None:
        place[key] = copy.deepcopy(value) if value != "changed" else _another(place[key])

    return edit


def _another(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[::-1] if value[::-1] != value else value + "x"
        case _:
            return [value]


def outcome(whole: Filled, case: Case, place: Path, again: bool) -> dict[str, Any] | None:
    """One case: what became of it; None where it changed nothing."""
    shutil.rmtree(place.parent, ignore_errors=True)
    shutil.copytree(whole.path, place)
    if not case.spoil(place):
        return None
    facts: dict[str, Any] = {"store": whole.name, "kind": case.kind, "where": case.where}
    try:
        facts |= _examined(whole, place, again)
    except Exception:
        facts["internal"] = traceback.format_exc(limit=-4)
    return facts


def _examined(whole: Filled, place: Path, again: bool) -> dict[str, Any]:
    try:
        document(place)
        shown = True  # contents are looked at only where somebody asks
    except BaseparError:
        shown = False
    try:
        found = check_and_repair.find(place)
    except StoreError as error:
        return {"detected": True, "shown": shown, "lost": error.message}
    if not found:
        return {"detected": False, "shown": shown}
    check_and_repair.repair(place, found)
    facts: dict[str, Any] = {
        "detected": True,
        "shown": shown,
        "left": len(check_and_repair.find(place)),
    }
    if again:
        whole.fill(place)
        facts["differing"] = differing(whole.path, place)
        facts["left"] += len(check_and_repair.find(place))
    return facts


def differing(one: Path, other: Path) -> list[str]:
    """Arrays, and attributes that are fixed, that are not equal bit for bit."""
    left, right = (store.read(path) for path in (one, other))
    with left, right:
        names = [
            name
            for name in left.variables
            if name not in right.variables
            or (
                left[name].values.tobytes() != right[name].values.tobytes()
                and left[name].values.tolist() != right[name].values.tolist()
            )
            or left[name].attrs != right[name].attrs
        ]
        loose = ("incumbents", "digest")
        attrs = [
            {key: value for key, value in both.attrs.items() if key not in loose}
            for both in (left, right)
        ]
    return [str(name) for name in names] + (["attributes"] if attrs[0] != attrs[1] else [])


def run(folder: Path, most: int, share: float) -> dict[str, Any]:
    """The campaign: at most so many cases, chosen by chance; a share of them done again."""
    rng, begun = random.Random(11), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    stores = list(filled(folder))
    all_cases = [(whole, case) for whole in stores for case in cases(whole, rng)]
    kinds = Counter(case.kind for _, case in all_cases)
    rng.shuffle(all_cases)
    # JSON's entries are seven in eight of all cases, and a third of those that are chosen.
    entries = [one for one in all_cases if one[1].kind in ("key gone", "value changed")]
    others = [one for one in all_cases if one[1].kind not in ("key gone", "value changed")]
    chosen = [*others[: 2 * most // 3], *entries[: most // 3]]
    rng.shuffle(chosen)
    found = []
    for number, (whole, case) in enumerate(chosen):
        again = rng.random() < share
        facts = outcome(whole, case, folder / "spoiled" / str(number % 2), again)
        if facts is not None:
            found.append(facts)
            if not facts.get("detected") or facts.get("left") or facts.get("differing"):
                print(json.dumps(facts), flush=True)
    return {
        "cases": len(found),
        "without effect": len(chosen) - len(found),
        "possible": dict(kinds),
        "by kind": dict(Counter(one["kind"] for one in found)),
        "undetected": sum(not one.get("detected") and "internal" not in one for one in found),
        "internal errors": sum("internal" in one for one in found),
        "not to be mended": dict(Counter(one["kind"] for one in found if "lost" in one)),
        "left after repair": sum(bool(one.get("left")) for one in found),
        "done again": sum("differing" in one for one in found),
        "differing": sum(bool(one.get("differing")) for one in found),
        "known without contents": sum(not one.get("shown", True) for one in found),
        "seconds": round(time.monotonic() - begun, 1),
    }


def main(arguments: list[str]) -> None:
    if not 1 <= len(arguments) <= 3:
        sys.exit(__doc__)
    most = int(arguments[1]) if len(arguments) > 1 else 4000
    share = float(arguments[2]) if len(arguments) > 2 else 0.1
    print(json.dumps(run(Path(arguments[0]).absolute(), most, share), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
