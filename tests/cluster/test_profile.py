"""Profiles: files become places, and all their mistakes are told at once."""

import sys

import pytest

from cluster.errors import PlaceError, ProfileError
from cluster.places import Address, Keys, Kubernetes, Laptop, Slurm, Ssh, problems
from cluster.profile import find_profile, load_profile

GOOD = {
    "kind: laptop": Laptop(),
    "kind: laptop\nworkers: 3\nmemory: 2 GB\nthreads: 2": Laptop(3, "2 GB", 2),
    "kind: address\nurl: tcp://127.0.0.1:8786\npatience: 3": Address(
        "tcp://127.0.0.1:8786", patience=3.0
    ),
    "kind: address\nurl: tls://node7:8786\n"
    "keys: {authority: a.pem, certificate: c.pem, key: k.pem}": Address(
        "tls://node7:8786", Keys("a.pem", "c.pem", "k.pem")
    ),
    # Not the sexagesimal number 43200, not the number 1234, and not nothing.
    "kind: slurm\nworkers: 64\nwalltime: 12:00:00\naccount: 1234\npartition:\n"
    "setup: [module load python]\ninterval: 10\ndirectory: ~": Slurm(
        64,
        walltime="12:00:00",
        account="1234",
        setup=("module load python",),
        interval=10.0,
        directory="~",
    ),
    "kind: ssh\nhosts: [alice@node1, node2.example.org]\nper_host: 4": Ssh(
        ("alice@node1", "node2.example.org"), per_host=4
    ),
    "kind: kubernetes\nimage: registry.example.org:5000/a/basepar:1@sha256:12\nworkers: 8\n"
    "claim: data\nmount: /data\ncpu: 0.5": Kubernetes(
        "registry.example.org:5000/a/basepar:1@sha256:12", 8, claim="data", mount="/data", cpu=0.5
    ),
}


@pytest.mark.parametrize("text", GOOD, ids=[type(place).__name__ for place in GOOD.values()])
def test_files_become_places(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    place = load_profile(tmp_path / "p.yaml")
    assert place == GOOD[text]
    assert list(problems(place)) == []
    if isinstance(place, Slurm | Ssh):
        assert place.python == sys.executable


BAD = {
    "": {""},
    "- laptop": {""},
    "{": {""},
    "workers: 3": {"kind"},
    "kind: moon": {"kind"},
    "kind: [slurm]": {"kind"},
    "kind: laptop\nworkers: 0\nthreads: 1.5\nmemory: much\ndashboard: true\ncolour: red": {
        "workers",
        "threads",
        "memory",
        "dashboard",
        "colour",
    },
    "kind: laptop\nworkers: 1\nworkers: 2": {"workers"},
    "kind: slurm\nwalltime: soon\nper_job: -1\npartition: --wrap=x\nsetup: module\n"
    "directives: [constraint]": {
        "workers",
        "walltime",
        "per_job",
        "partition",
        "setup",
        "directives[0]",
    },
    "kind: ssh\nhosts: [-oProxyCommand=x, a, a]\npatience: 0": {
        "hosts[0]",
        "hosts[2]",
        "patience",
    },
    "kind: ssh\nhosts: []": {"hosts"},
    "kind: ssh\nhosts: {a: b}": {"hosts"},
    "kind: ssh\nhosts: [[a]]": {"hosts[0]"},
    "kind: address\nurl: somewhere": {"url"},
    "kind: address\nurl: tls://node7": {"url"},
    "kind: address\nurl: tls://node7:8786": {"keys"},
    'kind: address\nurl: "tls://[x]:8786"': {"url"},
    "kind: address\nurl: tls://node7:99999": {"url"},
    "kind: laptop\nmemory: 1e400 GB": {"memory"},
    "kind: laptop\nmemory: nan GB": {"memory"},
    f"kind: laptop\nworkers: {'9' * 400}\nthreads: -{'9' * 400}": {"workers", "threads"},
    "kind: ssh\nhosts: [a]\npatience: .inf": {"patience"},
    "kind: ssh\nhosts: " + "[" * 10_000 + "]" * 10_000: {""},
    "a: " * 40_000: {""},
    "kind: address\nurl: tls://node7:8786\nkeys: {key: k.pem, color: c}": {
        "keys.authority",
        "keys.certificate",
        "keys.color",
    },
    "kind: address\nurl: tls://node7:8786\nkeys: k.pem": {"keys"},
    "kind: address\nurl: tcp://node7:8786": {"url"},
    "kind: kubernetes\nclaim: data\ncpu: 0": {"image", "workers", "mount", "cpu"},
    "kind: kubernetes\nimage: -x\nworkers: 1\nclaim: data\nmount: data": {"image", "mount"},
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_all_mistakes_at_once(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(ProfileError) as caught:
        load_profile(tmp_path / "p.yaml")
    assert {mistake.path for mistake in caught.value.mistakes} == BAD[text]
    assert len(caught.value.mistakes) == len(BAD[text])
    assert str(tmp_path / "p.yaml") in str(caught.value)


def test_very_many_mistakes_are_counted_and_the_first_listed(tmp_path):
    (tmp_path / "p.yaml").write_text("kind: laptop\n" + "".join(f"a{k}: 1\n" for k in range(5000)))
    with pytest.raises(ProfileError) as caught:
        load_profile(tmp_path / "p.yaml")
    assert len(caught.value.mistakes) == 5000
    first, *listed, last = str(caught.value).splitlines()
    assert first.endswith("5000 mistakes")
    assert len(listed) == 40
    assert last == "  … and 4960 more"


def test_mistakes_have_lines_and_hints(tmp_path):
    (tmp_path / "p.yaml").write_text("kind: slurm\nworkers: 2\nparttion: cpu\n")
    with pytest.raises(ProfileError, match=r"parttion \(line 3\): unknown; did you mean 'part"):
        load_profile(tmp_path / "p.yaml")


def test_consent_to_an_unencrypted_address(tmp_path):
    (tmp_path / "p.yaml").write_text("kind: address\nurl: tcp://node7:1\nunencrypted: yes")
    assert load_profile(tmp_path / "p.yaml") == Address("tcp://node7:1", unencrypted=True)


def test_by_path_or_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "basepar" / "hpc.yaml"
    there.parent.mkdir()
    there.write_text("kind: laptop")
    assert find_profile("hpc") == there
    assert find_profile("basepar/hpc.yaml").samefile(there)
    with pytest.raises(PlaceError, match=r"'moon'.* are: hpc\."):
        find_profile("moon")


def test_unreadable(tmp_path):
    (tmp_path / "p.yaml").write_bytes(b"kind: \xff")
    with pytest.raises(PlaceError, match="cannot be read"):
        load_profile(tmp_path / "p.yaml")
