"""A stranger's store, sealed after it was changed: what it says of itself is odd, and is told."""

import json
import os
from pathlib import Path

import pytest

from basepar_core.errors import StoreError
from sweeps.store import Store, check_and_repair, objects, seal

from . import made

PLAIN = made.SWEEP.replace("  own: {reach: reach.py:reach}\n", "")
COMMANDS = [
    ("status", "{store}"),
    ("report", "{store}", "-o", "{folder}/page.html"),
    ("report", "{store}", "--format", "json"),
    ("report", "{store}", "--batch", "{folder}/pages"),
]
CHANGES = {
    "spec without evaluate": lambda spec: spec.pop("evaluate"),
    "spec without mechanism": lambda spec: spec.pop("mechanism"),
    "spec as a list": lambda spec: spec.__setitem__("space", []),
    "odd metrics": lambda spec: spec["evaluate"].__setitem__("metrics", 3),
    "odd conditions": lambda spec: spec["space"].__setitem__("where", 3),
}


def sealed_again(store, change):
    """Change a store's specification, and its digests with it, as a stranger would."""
    root = json.loads((store / seal.ROOT).read_text())
    attributes = root["attributes"]
    spec = json.loads(attributes["spec"])
    change(spec)
    attributes["spec"] = json.dumps(spec)
    about = {seal.SEAL, seal.DIGEST, *seal.MUTABLE}
    fixed = {key: entry for key, entry in attributes.items() if key not in about}
    mutable = {key: entry for key, entry in attributes.items() if key in seal.MUTABLE}
    there = objects.of(store)
    seal.write(there, seal.take(there, fixed, seal.shown(root)), mutable)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_odd_accounts_are_no_internal_errors(run, tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    store = Path(made.swept(tmp_path, PLAIN).store)
    sealed_again(store, change)
    told = []
    for words in COMMANDS:
        ran = run(*(word.format(store=store, folder=tmp_path) for word in words), "--json")
        if ran.status:
            told.append(ran.json["error"]["kind"])
    # What does not need the part that is odd may answer all the same; nobody gives up unsaid.
    assert set(told) <= {"store"}
    assert told


@pytest.mark.parametrize("odd", [[], None, 3, {"a": 1}])
def test_an_own_metric_whose_entry_is_no_text(run, tmp_path, monkeypatch, odd):
    monkeypatch.chdir(tmp_path)
    made.program(tmp_path)
    store = Path(made.swept(tmp_path).store)
    sealed_again(store, lambda spec: spec["evaluate"]["own"]["reach"].__setitem__("entry", odd))
    found = run("sweep", "--from", str(store), "--store", "new.zarr", "--trust-metrics", "--json")
    assert found.json["error"]["kind"] == "store"
    assert "entry of an own function is" in found.json["error"]["message"]


def test_symbols_that_are_no_list(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Path(made.swept(tmp_path, PLAIN).store)
    root = json.loads((store / seal.ROOT).read_text())
    fixed = seal.fixed_of(root) | {"swept": 1e308}
    there = objects.of(store)
    seal.write(there, seal.take(there, fixed, seal.shown(root)), seal.mutable_of(root))
    assert run("status", str(store)).status == 0  # which does not need them
    with pytest.raises(StoreError, match=r"'swept' is 1e\+308"):
        _ = Store.open(store).swept


@pytest.mark.slow
def test_unchanged_they_all_answer(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Path(made.swept(tmp_path, PLAIN).store)
    sealed_again(store, lambda spec: None)
    for words in COMMANDS:
        ran = run(*(word.format(store=store, folder=tmp_path) for word in words), "--json")
        assert ran.status == 0, ran.err


@pytest.mark.parametrize("file", ["zarr.json", "lx1/zarr.json", "lx1/c/0", "mass/c/0"])
@pytest.mark.timeout(60)
def test_nothing_waits_for_a_pipe(run, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    store = Path(made.swept(tmp_path, PLAIN).store)
    (store / file).unlink()
    os.mkfifo(store / file)
    ran = run("status", str(store), "--check", "--json")
    assert ran.status != 0
    check_and_repair.repair(store, check_and_repair.find(store))
    assert check_and_repair.find(store) == []
