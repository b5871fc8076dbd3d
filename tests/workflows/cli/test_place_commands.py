"""`basepar cluster` and `basepar tls`, and what --cluster means."""

import json
from pathlib import Path

import pytest

from cluster.places import Address, Kubernetes, Laptop, Slurm, Ssh
from workflows.jobs.sweep import place_of


@pytest.fixture
def profile(tmp_path):
    def write(text):
        (tmp_path / "profile.yaml").write_text(text)
        return str(tmp_path / "profile.yaml")

    return write


def test_names_of_places(profile):
    assert place_of("laptop", None) == Laptop()
    assert place_of("laptop", 3) == Laptop(workers=3)
    assert place_of("tcp://127.0.0.1:1", None) == Address("tcp://127.0.0.1:1")
    assert place_of(profile("kind: slurm\nworkers: 2"), 64) == Slurm(workers=64)
    assert place_of(profile("kind: kubernetes\nimage: a\nworkers: 2"), 5) == Kubernetes("a", 5)
    assert place_of(profile("kind: ssh\nhosts: [a]"), None) == Ssh(("a",))


@pytest.mark.parametrize(
    ("text", "more", "status", "kind"),
    [
        ("kind: slurm\nwalltime: soon", (), 1, "file"),
        ("kind: ssh\nhosts: [a]", ("--workers", "3"), 2, "usage"),
        ("kind: slurm\nworkers: 1", ("--workers", "0"), 2, "usage"),
    ],
)
def test_what_makes_no_sense(run, profile, text, more, status, kind):
    ran = run("cluster", profile(text), *more, "--json")
    assert (ran.status, ran.json["error"]["kind"]) == (status, kind)
    if kind == "file":
        assert ran.json["error"]["where"] == ["workers", "walltime"]


def test_an_unencrypted_address_is_refused(run):
    ran = run("sweep", "four-bar", "--cluster", "tcp://192.0.2.1:8786", "--json")
    assert ran.status == 2
    assert "unencrypted" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: laptop\nworkers: 3", "3 worker processes on 127.0.0.1"),
        ("kind: address\nurl: tcp://127.0.0.1:1", "joins tcp://127.0.0.1:1"),
        ("kind: slurm\nworkers: 4\npartition: cpu", "#SBATCH --partition=cpu"),
        ("kind: ssh\nhosts: [node1]", "node1"),
        ("kind: kubernetes\nimage: a/b\nworkers: 2", "replicas: 2"),
    ],
)
def test_what_a_profile_would_start(run, profile, text, said):
    plain, document = run("cluster", profile(text)), run("cluster", profile(text), "--json").json
    assert said in plain.out
    assert document["starts"] == plain.out.removesuffix("\n")
    assert f"kind: {document['kind']}" in text


@pytest.mark.slow
def test_a_place_is_tried(run, profile):
    ran = run("cluster", profile("kind: laptop\nworkers: 1\nmemory: 600 MB"), "--try", "--json")
    (worker,) = ran.json["workers"]
    assert worker["worker"].startswith("tls://127.0.0.1:")
    assert "numpy" in worker["packages"]


def test_a_place_that_does_not_work(run, profile):
    ran = run("cluster", profile("kind: address\nurl: tcp://127.0.0.1:9\npatience: 0.5"), "--try")
    assert ran.status == 1
    assert "No scheduler answers" in ran.err


def test_keys(run, tmp_path):
    ran = run("tls", str(tmp_path / "keys"))
    key = tmp_path / "keys" / "key.pem"
    assert ran.status == 0
    assert f"--tls-key {key}" in ran.out
    assert key.stat().st_mode & 0o077 == 0
    # What it prints is a profile that works.
    (tmp_path / "p.yaml").write_text(
        ran.out.partition("in a profile:\n")[2].replace("  kind", "kind").replace("\n  ", "\n")
    )
    place = place_of(str(tmp_path / "p.yaml"), None)
    assert isinstance(place, Address)
    assert place.keys is not None
    assert Path(place.keys.key) == key
    again = run("tls", str(tmp_path / "keys"), "--json")
    assert again.status == 1
    assert "there already" in json.loads(again.out)["error"]["message"]
