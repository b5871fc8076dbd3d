"""What a Kubernetes place asks for, as manifests: a pure function of the profile's values.

The scheduler is a Job and owns everything else. Left alone, because the driver was killed, it
ends after `IDLE`; Kubernetes then removes it, and what it owns. Workers are a Deployment, so
that Kubernetes itself replaces the lost ones.
"""

import base64
from typing import Any

from dask.utils import parse_bytes

from .dask_settings import ENVIRONMENT, scheduler_arguments, worker_arguments
from .places import Keys, Kubernetes

PORT = 8786
#: A driver that computes for longer than this between two tasks is taken for dead.
IDLE = "30 minutes"
#: Label of everything that belongs to one client.
RUN = "basepar/run"

Manifest = dict[str, Any]

_FOLDER = "/etc/basepar-keys"
_FAR_KEYS = Keys(f"{_FOLDER}/certificate.pem", f"{_FOLDER}/certificate.pem", f"{_FOLDER}/key.pem")


def scheduler_manifest(place: Kubernetes, name: str) -> Manifest:
    """The Job of the scheduler."""
    arguments = scheduler_arguments(_FAR_KEYS, port=PORT, idle=IDLE)
    container = _container(place, "distributed.cli.dask_scheduler", arguments)
    container["ports"] = [{"containerPort": PORT}]
    container["resources"] = _resources(1, 2 * 2**30)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(name, name, "scheduler"),
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": 60,
            "template": _pod(place, name, "scheduler", container, restart="Never"),
        },
    }


def owned_manifests(
    place: Kubernetes, name: str, pair: tuple[str, str], owner: str
) -> list[Manifest]:
    """The keys, the scheduler's service, and the workers.

    Parameters
    ----------
    place, name
        Values of the profile; the run's name.
    pair
        Certificate and private key, PEM.
    owner
        The `uid` Kubernetes gave to the scheduler's Job.
    """
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner}]
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(name, name, "keys"),
        "type": "Opaque",
        "data": {
            file: base64.b64encode(text.encode()).decode()
            for file, text in zip(("certificate.pem", "key.pem"), pair, strict=True)
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(name, name, "scheduler"),
        "spec": {
            "selector": _labels(name, "scheduler"),
            "ports": [{"port": PORT, "targetPort": PORT}],
        },
    }
    found = [secret, service, _workers(place, name)]
    for manifest in found:
        manifest["metadata"]["ownerReferences"] = owners
    return found


def _workers(place: Kubernetes, name: str) -> Manifest:
    memory = parse_bytes(place.memory)
    arguments = worker_arguments(
        f"tls://{name}:{PORT}", _FAR_KEYS, count=1, memory=str(memory), name="$(POD)"
    )
    container = _container(place, "distributed.cli.dask_worker", arguments)
    pod = {"fieldRef": {"fieldPath": "metadata.name"}}
    container["env"] = [{"name": "POD", "valueFrom": pod}, *container["env"]]
    container["resources"] = _resources(place.cpu, memory)
    template = _pod(place, name, "worker", container, restart="Always")
    if place.claim is not None:
        claim = {"name": "stores", "persistentVolumeClaim": {"claimName": place.claim}}
        template["spec"]["volumes"].append(claim)
        container["volumeMounts"].append({"name": "stores", "mountPath": place.mount})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(name, f"{name}-workers", "worker"),
        "spec": {
            "replicas": place.workers,
            "selector": {"matchLabels": _labels(name, "worker")},
            "template": template,
        },
    }


def _pod(
    place: Kubernetes, name: str, role: str, container: Manifest, *, restart: str
) -> Manifest:
    pull = {"imagePullSecrets": [{"name": place.pull_secret}]} if place.pull_secret else {}
    return {
        "metadata": {"labels": _labels(name, role)},
        "spec": {
            "restartPolicy": restart,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            **pull,
            "containers": [container],
            "volumes": [{"name": "keys", "secret": {"secretName": name, "defaultMode": 0o444}}],
        },
    }


def _container(place: Kubernetes, module: str, arguments: list[str]) -> Manifest:
    return {
        "name": "dask",
        "image": place.image,
        # Kubernetes fills $(NAME) in; here it is a name of a file.
        "command": [place.python.replace("$(", "$$("), "-P", "-m", module],
        "args": arguments,
        "env": [{"name": key, "value": value} for key, value in ENVIRONMENT.items()],
        "volumeMounts": [{"name": "keys", "mountPath": _FOLDER, "readOnly": True}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def _resources(cpu: float, memory: int) -> Manifest:
    # No limit on processor time: throttled workers miss their heartbeats.
    return {
        "requests": {"cpu": f"{round(1000 * cpu)}m", "memory": str(memory)},
        "limits": {"memory": str(memory)},
    }


def _metadata(run: str, name: str, role: str) -> Manifest:
    return {"name": name, "labels": _labels(run, role)}


def _labels(run: str, role: str) -> dict[str, str]:
    return {RUN: run, "basepar/role": role}
