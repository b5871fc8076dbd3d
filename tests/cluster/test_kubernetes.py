"""Manifests against Kubernetes' published schema; the way to a client with a stand-in kubectl."""

import base64
import dataclasses
import os
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from cluster.client import connect
from cluster.errors import PlaceError
from cluster.manifests import owned_manifests, scheduler_manifest
from cluster.places import Kubernetes

from .private_slurm import free_ports
from .scheduler_asked import workers_of

validator = pytest.importorskip("kubernetes_validate")

GOLDEN = Path(__file__).parent / "golden"
FULL = Kubernetes(
    image="registry.example.org/basepar:1",
    workers=3,
    memory="4 GiB",
    cpu=0.5,
    claim="stores",
    mount="/data",
    namespace="robots",
    pull_secret="registry",
)
BARE = Kubernetes(image="basepar", workers=1)


def manifests(place):
    pair = "certificate\n", "key\n"
    return [
        scheduler_manifest(place, "basepar-1"),
        *owned_manifests(place, "basepar-1", pair, "7"),
    ]


@pytest.mark.parametrize("place", [FULL, BARE], ids=["full", "bare"])
def test_manifests_are_what_kubernetes_takes(place):
    found = manifests(place)
    assert [one["kind"] for one in found] == ["Job", "Secret", "Service", "Deployment"]
    for manifest in found:
        validator.validate(manifest, validator.latest_version(), strict=True)


def test_the_schema_would_notice():
    (job, *_) = manifests(BARE)
    job["spec"]["template"]["spec"]["containers"][0]["imagePull"] = "Always"
    with pytest.raises(validator.ValidationError):
        validator.validate(job, validator.latest_version(), strict=True)


def test_manifests_are_the_golden_ones():
    assert manifests(FULL) == list(yaml.safe_load_all((GOLDEN / "kubernetes.yaml").read_text()))


def test_everything_belongs_to_the_scheduler_and_finds_each_other():
    job, secret, service, workers = manifests(FULL)
    for owned in (secret, service, workers):
        (owner,) = owned["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == (
            "Job",
            job["metadata"]["name"],
            "7",
        )
    assert base64.b64decode(secret["data"]["key.pem"]) == b"key\n"
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["selector"] != workers["spec"]["selector"]["matchLabels"]
    (container,) = workers["spec"]["template"]["spec"]["containers"]
    assert f"tls://{service['metadata']['name']}:8786" in container["args"]
    assert container["resources"]["limits"]["memory"] == str(4 * 2**30)


@pytest.fixture
def kubectl(tmp_path, monkeypatch):
    """The stand-in on the PATH; its folder."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "port").write_text(str(free_ports(1)[0]))
    script = tmp_path / "bin" / "kubectl"
    script.parent.mkdir()
    here = Path(__file__).with_name("kubectl_here.py")
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {here} {folder} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return folder


@pytest.mark.slow
def test_a_client_of_pods(kubectl):
    place = Kubernetes(
        "here", 2, memory="600 MB", python=sys.executable, context="lab", namespace="robots"
    )
    with connect(place) as client:
        client.wait_for_workers(2, timeout=60)
        assert client.submit(sum, [1, 2]).result() == 3
        info = workers_of(client)
        assert all(address.startswith("tls://") for address in info)
        assert len({worker["name"] for worker in info.values()}) == 2  # the pods' names
        pids = client.run(os.getpid).values()
    _, left = psutil.wait_procs([psutil.Process(p) for p in pids if psutil.pid_exists(p)], 20)
    assert [process for process in left if process.status() != psutil.STATUS_ZOMBIE] == []
    assert not list(kubectl.glob("*.json"))
    calls = (kubectl / "calls").read_text().splitlines()
    assert all(call.startswith("--context=lab --namespace=robots ") for call in calls)


def test_an_image_that_is_not_there_is_told(kubectl):
    place = Kubernetes("BROKEN", 1, patience=60)
    with pytest.raises(PlaceError, match=r"ImagePullBackOff\. no such image"), connect(place):
        pass
    assert not list(kubectl.glob("*.json"))


def test_a_scheduler_that_fails_is_told(kubectl):
    place = Kubernetes("here", 1, python="/no/python", patience=60)
    with pytest.raises(PlaceError, match=r"failed: see its logs"), connect(place):
        pass


def test_patience_has_an_end(kubectl):
    place = Kubernetes("BROKEN", 1, patience=1e-3)
    with pytest.raises(PlaceError, match=r"within 0\.001 s|ImagePull"), connect(place):
        pass


@pytest.mark.parametrize(
    ("text", "said"),
    [("exit 1", "`kubectl create`: failed"), ("echo no >&2; exit 1", "`kubectl create`: no")],
)
def test_what_kubectl_says(kubectl, tmp_path, text, said):
    (tmp_path / "bin" / "kubectl").write_text(f"#!/bin/sh\n{text}\n")
    with pytest.raises(PlaceError, match=said), connect(BARE):
        pass


def test_without_kubectl(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlaceError, match="no `kubectl`"), connect(dataclasses.replace(BARE)):
        pass
