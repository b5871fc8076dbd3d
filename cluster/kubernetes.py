"""Workers as pods, by the user's `kubectl` with its contexts and credentials.

The client reaches the scheduler through `kubectl port-forward`, which listens on this machine's
loopback interface; TLS goes all the way to the pod.
"""

import contextlib
import json
import re
import secrets
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from distributed import Client

from .errors import PlaceError
from .keys import make_keys, security
from .manifests import PORT, RUN, owned_manifests, scheduler_manifest
from .places import Keys, Kubernetes
from .scheduler import BLINK, await_workers, quietly

#: Seconds for one request of kubectl.
REQUEST = 60.0
#: Reasons for which a container waits that time does not heal.
HOPELESS = {"ErrImageNeverPull", "InvalidImageName", "ImagePullBackOff", "CrashLoopBackOff",
            "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}  # fmt: skip


@contextlib.contextmanager
def kubernetes(place: Kubernetes) -> Iterator[Client]:
    """A client of workers in pods; all that was created is deleted after the block.

    Raises
    ------
    PlaceError
        kubectl fails, an image is unavailable, or no worker came in time.
    """
    name = f"basepar-{secrets.token_hex(4)}"
    end = time.monotonic() + place.patience
    with contextlib.ExitStack() as stack:
        keys = make_keys(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.callback(_delete, place, name)
        _create(place, name, keys)
        await_workers(
            lambda: any(_runs(pod) for pod in _pods(place, name, "scheduler")),
            lambda: _hopeless(_pods(place, name)),
            lambda: f"No scheduler within {place.patience:g} s. {_state(place, name)}",
            end - time.monotonic(),
        )
        url = stack.enter_context(_forward(place, name))
        try:
            client = Client(url, security=security(keys), timeout=REQUEST)
        except (OSError, TimeoutError) as cause:
            raise PlaceError(f"The scheduler's pod does not answer: {cause}.") from cause
        stack.callback(quietly, client.close, timeout=10)
        await_workers(
            lambda: bool(client.scheduler_info()["workers"]),
            lambda: _hopeless(_pods(place, name)),
            lambda: f"No worker within {place.patience:g} s. {_state(place, name)}",
            end - time.monotonic(),
        )
        yield client


def _create(place: Kubernetes, name: str, keys: Keys) -> None:
    job = _kubectl(place, ["create", "-f", "-", "-o", "json"], [scheduler_manifest(place, name)])
    owner = json.loads(job)["metadata"]["uid"]
    pair = Path(keys.certificate).read_text(), Path(keys.key).read_text()
    _kubectl(place, ["create", "-f", "-"], owned_manifests(place, name, pair, owner))


def _delete(place: Kubernetes, name: str) -> None:
    with contextlib.suppress(PlaceError):
        kinds = "job,deployment,service,secret"
        _kubectl(place, ["delete", kinds, "-l", f"{RUN}={name}", "--ignore-not-found"])


@contextlib.contextmanager
def _forward(place: Kubernetes, name: str) -> Iterator[str]:
    """An address on this machine that leads to the scheduler's pod."""
    with tempfile.TemporaryFile("w+") as said:
        words = ["port-forward", "--address=127.0.0.1", f"job/{name}", f":{PORT}"]
        process = subprocess.Popen(
            _words(place, words), stdout=said, stderr=said, start_new_session=True
        )
        try:
            end = time.monotonic() + REQUEST
            while not (port := re.search(r"127\.0\.0\.1:(\d+) ->", _text(said))):
                if process.poll() is not None or time.monotonic() > end:
                    raise PlaceError(f"`kubectl port-forward` failed: {_text(said).strip()}")
                time.sleep(BLINK)
            yield f"tls://127.0.0.1:{port[1]}"
        finally:
            process.terminate()
            process.wait()


def _text(file: Any) -> str:
    file.seek(0)
    return file.read()


def _pods(place: Kubernetes, name: str, role: str | None = None) -> list[dict[str, Any]]:
    labels = f"{RUN}={name}" + (f",basepar/role={role}" if role else "")
    return json.loads(_kubectl(place, ["get", "pods", "-l", labels, "-o", "json"]))["items"]


def _runs(pod: dict[str, Any]) -> bool:
    return pod.get("status", {}).get("phase") == "Running"


def _waits(pod: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(reason, message) of its containers that wait, and of what keeps it from a node."""
    status = pod.get("status", {})
    for container in status.get("containerStatuses", []):
        if waiting := container.get("state", {}).get("waiting"):
            yield waiting.get("reason", ""), waiting.get("message", "")
    for condition in status.get("conditions", []):
        if condition.get("status") == "False" and condition.get("reason") == "Unschedulable":
            yield condition["reason"], condition.get("message", "")


def _hopeless(pods: list[dict[str, Any]]) -> str | None:
    for pod in pods:
        for reason, message in _waits(pod):
            if reason in HOPELESS:
                return f"Pod {pod['metadata']['name']} does not start: {reason}. {message}"
        if pod.get("status", {}).get("phase") == "Failed":
            return f"Pod {pod['metadata']['name']} failed: see its logs with `kubectl logs`."
    return None


def _state(place: Kubernetes, name: str) -> str:
    waits = {said for pod in _pods(place, name) for said in _waits(pod)}
    return "; ".join(f"{reason}: {message}" for reason, message in sorted(waits)) or (
        "Its pods wait without a reason that Kubernetes gives."
    )


def _words(place: Kubernetes, words: list[str]) -> list[str]:
    context = [f"--context={place.context}"] if place.context else []
    namespace = [f"--namespace={place.namespace}"] if place.namespace else []
    return ["kubectl", *context, *namespace, *words]


def _kubectl(
    place: Kubernetes, words: list[str], manifests: list[dict[str, Any]] | None = None
) -> str:
    """What kubectl prints; PlaceError with what it complains of."""
    given = yaml.safe_dump_all(manifests, sort_keys=False) if manifests else None
    try:
        ran = subprocess.run(
            _words(place, words),
            input=given,
            capture_output=True,
            text=True,
            timeout=REQUEST,
            check=False,
        )
    except FileNotFoundError as cause:
        raise PlaceError("There is no `kubectl` on this machine: install it.") from cause
    except subprocess.TimeoutExpired as cause:
        raise PlaceError(f"`kubectl {words[0]}` did not answer within {REQUEST:g} s.") from cause
    if ran.returncode:
        raise PlaceError(f"`kubectl {words[0]}`: {ran.stderr.strip() or 'failed'}")
    return ran.stdout
