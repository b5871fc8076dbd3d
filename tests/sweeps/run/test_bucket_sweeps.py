"""Sweeps into buckets of a real S3 server: the bytes of a folder's, whatever fails on the way."""

import json
import os
import random
import signal
import time
from functools import partial

import numpy as np
import pytest

import basepar
from basepar_core.errors import StoreError
from sweeps.run import crew, here
from sweeps.run.driver import sweep
from sweeps.run.filling import Filling
from sweeps.run.leave import Leave, heard
from sweeps.store import Store, bucket_lock, check_and_repair, claims, status, store
from sweeps.store.bucket_requests import Unreachable
from sweeps.store.claims import Taken
from sweeps.store.location import locate
from tests.sweeps import fourbar
from tests.sweeps.bucket_server import CREDENTIALS, SECRET, Faults, proxied
from tests.sweeps.fourbar import Digits, FourBar
from workflows.cli.main import main

BEAT, STALE, TICK = 0.2, 2.5, 0.1
COUNT, CHUNK = 48, 8
spec = partial(fourbar.spec, count=COUNT, chunk=CHUNK)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Of a real one, a twentieth: a process that is killed leaves a claim for so long."""
    for module in (claims, bucket_lock):
        monkeypatch.setattr(module, "BEAT", BEAT)
        monkeypatch.setattr(module, "STALE", STALE)
        monkeypatch.setattr(module, "LOOK", TICK)
    monkeypatch.setattr(crew, "TICK", TICK)


def evaluators(delay=0.0):
    return FourBar(doubtful=0.9, delay=delay), Digits()


def files(place):
    """Every chunk and its record, by key."""
    held = Store.open(place)
    names = [f"{array}/c" for array in held] + ["chunk-records/chunks/0"]
    if "precise_status" in held:
        names += ["chunk-records/precise_chunks/0"]
    found = {}
    for folder in names:
        for name in held.objects.names(folder):
            deeper = list(held.objects.names(f"{folder}/{name}"))
            keys = [f"{folder}/{name}/{one}" for one in deeper] or [f"{folder}/{name}"]
            found |= {key: held.objects.get(key) for key in keys}
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """What one process makes of it in one go, in a folder."""
    path = tmp_path_factory.mktemp("whole") / "sweep.zarr"
    evaluator, precise = evaluators()
    assert here.sweep(spec(path), 1, evaluator=evaluator, precise=precise).unsettled == 0
    return files(path)


@pytest.fixture
def place(bucket):
    return f"{bucket}/sweep.zarr"


@pytest.fixture
def workers(client, bucket, bucket_server):
    """Worker processes with the environment of somebody who may use the bucket."""
    client.run(os.environ.update, {**CREDENTIALS, "AWS_ENDPOINT_URL": bucket_server})
    return client


def finish(place, **given):
    evaluator, precise = evaluators()
    return here.sweep(spec(place), 1, evaluator=evaluator, precise=precise, **given)


def begun(place, number, count, delay=0.0):
    """A process of its own that evaluates a part; its id. 0: done, 4: stopped, 9: taken."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with heard(Leave()) as leave:
            filling = partial(Filling.of, spec(place), *evaluators(delay))
            found = here.part(spec(place), number, count, filling=filling, leave=leave)
        code = 4 if found.stopped else 0
    except Taken:
        code = 9
    finally:
        os._exit(code)


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.slow
def test_the_drivers_way(place, reference, workers):
    evaluator, precise = evaluators()
    found = sweep(spec(place), workers, evaluator=evaluator, precise=precise)
    assert (found.store, found.unsettled) == (place, 0)
    assert files(place) == reference
    assert check_and_repair.find(locate(place)) == []
    again = sweep(spec(place), workers, evaluator=evaluator, precise=precise)
    assert again.evaluated == 0


def test_attributes_and_labels_are_a_folders(place, tmp_path):
    for where in (place, tmp_path / "sweep.zarr"):
        here.prepare(spec(where), evaluator=evaluators()[0], precise=evaluators()[1])
    one, other = (Store.open(where) for where in (place, tmp_path / "sweep.zarr"))
    known = {key: value for key, value in other.attrs.items() if key not in ("digest", "seal")}
    known.pop("provenance")
    told = str(known.pop("spec"))
    assert {key: one.attrs[key] for key in known} == known
    assert str(one.attrs["spec"]).replace(place, str(tmp_path / "sweep.zarr")) == told
    assert one.metadata == other.metadata
    assert one.labels("parameter") == other.labels("parameter") == ["a", "bc"]


def test_parts_by_processes(place, reference):
    evaluator, precise = evaluators()
    here.prepare(spec(place), evaluator=evaluator, precise=precise)
    flying = [begun(place, number, 3) for number in (2, 1)]
    assert [ended(pid) for pid in flying] == [0, 0]
    assert ended(begun(place, 3, 3)) == 0
    assert finish(place).evaluated == 0
    assert files(place) == reference
    assert check_and_repair.find(locate(place)) == []
    assert claims.found(Store.open(place).objects) == []


@pytest.mark.slow
def test_parts_that_are_killed_and_run_again(place, reference):
    evaluator, precise = evaluators()
    here.prepare(spec(place), evaluator=evaluator, precise=precise)
    chance, waiting, flying, killed = random.Random(5), list(range(1, 4)), {}, 0
    while waiting or flying:
        while waiting and len(flying) < 2:
            number = waiting.pop(0)
            pid = begun(place, number, 3, delay=0.3)
            flying[pid] = number
            if killed < 4 and number % 3:
                time.sleep(0.2 + 0.6 * chance.random())
                os.kill(pid, signal.SIGKILL)
        pid = next(iter(flying))
        number, code = flying.pop(pid), ended(pid)
        killed += code == -signal.SIGKILL
        if code != 0:
            waiting.append(number)
    assert killed >= 3
    finish(place)
    assert files(place) == reference
    assert check_and_repair.find(locate(place)) == []


@pytest.mark.slow
def test_two_at_the_same_part_and_one_that_wakes_late(place, reference):
    evaluator, precise = evaluators()
    here.prepare(spec(place), evaluator=evaluator, precise=precise)
    late = begun(place, 1, 2, delay=0.4)
    held = Store.open(place)
    end = time.monotonic() + 30
    while not claims.found(held.objects):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert ended(begun(place, 1, 2)) == 9
    with pytest.raises(StoreError, match="parts of it are being evaluated by process"):
        finish(place)
    os.kill(late, signal.SIGSTOP)
    assert ended(begun(place, 1, 2)) == 0  # after `STALE`
    os.kill(late, signal.SIGCONT)
    assert ended(late) in (0, 4)
    finish(place)
    assert files(place) == reference


@pytest.mark.slow
@pytest.mark.parametrize("way", ["driver", "parts"])
def test_faults_lose_nothing(place, reference, bucket_server, workers, monkeypatch, way):
    """A tenth of all requests fail, half of those after they were done; a tenth are slow."""
    faults = Faults(failed=0.05, lost=0.05, slow=0.1, delay=0.2)
    evaluator, precise = evaluators()
    with proxied(bucket_server, faults) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        if way == "parts":
            here.prepare(spec(place), evaluator=evaluator, precise=precise)
            assert [ended(begun(place, number, 3)) for number in (1, 2, 3)] == [0, 0, 0]
            finish(place)
        else:
            workers.run(os.environ.update, {"AWS_ENDPOINT_URL": proxy})
            sweep(spec(place), workers, evaluator=evaluator, precise=precise)
        assert check_and_repair.find(locate(place)) == []
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket_server)
    assert files(place) == reference
    assert min(faults.done[kind] for kind in ("failed", "lost", "slow")) > 10


@pytest.mark.slow
@pytest.mark.parametrize("way", ["children", "driver"])
def test_credentials_that_expire_on_the_way(
    place, reference, bucket_server, workers, monkeypatch, way
):
    """An error that says so; renewed, the same command goes on."""
    faults = Faults()
    evaluator, precise = evaluators(delay=0.05)

    def expire(advance):
        if advance.done >= 16:
            faults.always = (400, "ExpiredToken")

    how = {
        "children": partial(here.sweep, spec(place), 2, expire),
        "driver": partial(sweep, spec(place), workers, expire),
    }
    with proxied(bucket_server, faults) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        workers.run(os.environ.update, {"AWS_ENDPOINT_URL": proxy})
        with pytest.raises(Unreachable, match=r"credentials have expired.*same command") as found:
            how[way](evaluator=evaluator, precise=precise)
        assert SECRET not in str(found.value)
        faults.always = None
        left = status.take(Store.open(place))
        assert 0 < sum(stop - start for start, stop in left.pending) < COUNT
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket_server)
    assert finish(place).unsettled == 0
    assert files(place) == reference


@pytest.mark.slow
def test_damage_is_found_and_repaired(place, reference):
    finish(place)
    there = locate(place)
    held = Store.open(place)
    there.remove("stroke/c/3")
    there.put("rocker/c/5/0", b"torn")
    there.put("zarr.json", b"{}")
    found = check_and_repair.find(there)
    assert {(one.array, one.start) for one in found} >= {
        ("stroke", 24),
        ("rocker", 40),
        ("zarr.json", None),
    }
    with pytest.raises(StoreError, match="is damaged"):
        finish(place)
    check_and_repair.repair(there, found)
    assert finish(place).evaluated == 16
    assert files(place) == reference
    assert Store.open(place).attrs == held.attrs


@pytest.mark.slow
def test_a_store_whose_maker_was_killed_is_made_again(place, monkeypatch, reference):
    there = locate(place)

    def killed(self, key, content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(there), "create", killed)
        with pytest.raises(KeyboardInterrupt):
            finish(place)
    assert not there.exists()
    with pytest.raises(StoreError, match="no store at"):
        Store.open(place)
    finish(place)
    assert files(place) == reference


def test_what_is_no_store_is_left_alone(place):
    there = locate(place)
    there.put("notes.txt", b"mine")
    with pytest.raises(StoreError, match="something lies there"):
        finish(place)
    assert sorted(set(there.names("")) - {"chunk-records"}) == ["notes.txt"]


@pytest.mark.slow
def test_another_sweeps_store_is_refused(place):
    finish(place)
    with pytest.raises(StoreError, match="holds another sweep or study"):
        here.sweep(spec(place, count=40), 1, evaluator=evaluators()[0])


@pytest.mark.slow
def test_a_store_that_is_gone_meanwhile(place):
    evaluator, precise = evaluators()
    filling = here.prepare(spec(place), evaluator=evaluator, precise=precise)
    there = locate(place)
    for name in list(there.names("")):
        there.remove(f"{name}/zarr.json")
    there.remove("zarr.json")
    with pytest.raises(StoreError):
        Store.open(filling.store.path, "r+")


@pytest.mark.slow
def test_functions_from_python(bucket, workers):
    def squares(x):
        return {"y": x**2}

    space = {"plan": "grid", "variables": {"x": list(map(float, range(50)))}}
    swept = basepar.FunctionSweep(squares, space, {"y": "1"}, version="1", chunk=8)
    place = f"{bucket}/squares.zarr"
    swept.prepare(place)
    assert swept.part(place, 1, 2) == 24
    found = swept.run(place, workers=2, quiet=True)
    np.testing.assert_array_equal(found.y, np.arange(50.0) ** 2)
    assert basepar.open(place).status.attrs == found.status.attrs
    np.testing.assert_array_equal(basepar.open(place).y.load(), found.y)


@pytest.mark.slow
def test_retries_and_notes(place):
    crashing = FourBar(raises=frozenset(range(250, 270)))
    first = here.sweep(spec(place), 2, evaluator=crashing)
    assert first.failed > 0
    whole = here.sweep(spec(place), 1, evaluator=FourBar(), retry_failed=True)
    assert whole.failed == 0
    held = Store.open(place)
    assert int(held.rows("retries", 0, COUNT).sum()) == first.failed
    assert store.read(place).sizes["variant"] == COUNT


SWEEP = """\
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.2, 0.3]}, candidates: 16, seed: 1}
store: {chunk: 8}
"""


@pytest.mark.slow
def test_commands(bucket, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SWEEP)
    place, other = f"{bucket}/s.zarr", f"{bucket}/again.zarr"

    def said(*words, status=0):
        assert main([*words, "--json"]) == status
        return json.loads(capsys.readouterr().out)

    words = ["sweep", "s.yaml", "--store", place]
    assert said(*words, "--prepare")["counts"] == {"pending": 16}
    assert said(*words, "--part", "1/2")["evaluated"] == 8
    assert said(*words, "--finish")["done"]
    found = said("status", place, "--check")
    assert (found["store"], found["damage"], found["running"]) == (place, [], None)
    assert found["runs"][0]["part"] == "1/2"
    assert said("report", place)["report"] == "s.html"
    assert said("explore", place)["explorer"] == "s.explorer.html"
    assert said("sweep", "--from", place, "--store", other, "--workers", "1")["evaluated"] == 16
    one, again = (Store.open(where) for where in (place, other))
    assert one.objects.get("condition/c/1") == again.objects.get("condition/c/1") is not None
    assert main(["status", place]) == 0
    assert f"in {place}: complete" in " ".join(capsys.readouterr().out.split())
    page = f"{bucket}/page.html"
    assert said("report", place, "-o", page)["report"] == page
    # But for the time it was written, the page of this machine.
    there, local = locate(bucket).get("page.html"), (tmp_path / "s.html").read_bytes()
    assert len(there) == len(local) > 10_000
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "s.explorer.html",
        "s.html",
        "s.yaml",
    ]


@pytest.mark.slow
def test_families(bucket, tmp_path, monkeypatch, capsys):
    """Stores below a group, all in a bucket."""
    (tmp_path / "f.yaml").write_text(SWEEP.replace("mechanism: four-bar", FAMILY))
    place = f"{bucket}/family.zarr"
    assert main(["sweep", str(tmp_path / "f.yaml"), "--store", place, "--workers", "1"]) == 0
    capsys.readouterr()
    assert main(["status", place, "--json"]) == 0
    members = json.loads(capsys.readouterr().out)["members"]
    assert {name: one["done"] for name, one in members.items()} == {
        "open": True,
        "crossed": True,
    }
    assert main(["report", place, "-o", str(tmp_path / "f.html")]) != 0
    assert "damaged" not in capsys.readouterr().err


FAMILY = """\
mechanism: four-bar
assemblies:
  open: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}
  crossed: {A: 34 deg, B: -130 deg, C: 212 deg}"""
