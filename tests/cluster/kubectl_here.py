"""A stand-in for kubectl and its cluster: pods become processes of this machine.

No Kubernetes is to be had where these tests run. This takes the same command lines, checks every
manifest against the published schema, and does what they say with real processes: a container's
command and arguments, its environment, its secret as files. It schedules nothing, pulls nothing
and replaces nothing; `BROKEN` in an image's name makes it one that cannot be pulled.

Run as `python kubectl_here.py FOLDER …`; FOLDER holds what was created.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import kubernetes_validate
import psutil
import yaml

FOLDER = Path(sys.argv[1])


def created() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}


def create(as_json: bool) -> None:
    for manifest in yaml.safe_load_all(sys.stdin):
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
        name, kind = manifest["metadata"]["name"], manifest["kind"]
        manifest["metadata"]["uid"] = f"uid-of-{name}"
        for owner in manifest["metadata"].get("ownerReferences", []):
            assert created()[f"{owner['kind']}+{owner['name']}"]["metadata"]["uid"] == owner["uid"]
        if kind == "Secret":
            for file, text in manifest["data"].items():
                (FOLDER / file).write_bytes(base64.b64decode(text))
        if "template" in manifest["spec"] if "spec" in manifest else False:
            count = manifest["spec"].get("replicas", 1)
            manifest["pods"] = [start(manifest, f"{name}-{number}") for number in range(count)]
        (FOLDER / f"{kind}+{name}.json").write_text(json.dumps(manifest))
        if as_json:
            print(json.dumps(manifest))


def start(manifest: dict, name: str) -> dict:
    """A pod: its process waits for the secret it mounts, as a real one does."""
    template = manifest["spec"]["template"]
    (container,) = template["spec"]["containers"]
    if "BROKEN" in container["image"]:
        return {"name": name, "pid": 0, "labels": template["metadata"]["labels"]}
    variables = {one["name"]: one.get("value", name) for one in container["env"]}
    run = template["metadata"]["labels"]["basepar/run"]
    port = (FOLDER / "port").read_text()

    def here(word: str) -> str:
        for there, local in (
            (container["volumeMounts"][0]["mountPath"], str(FOLDER)),
            (f"tls://{run}:8786", f"tls://127.0.0.1:{port}"),
            *((f"$({key})", value) for key, value in variables.items()),
        ):
            word = word.replace(there, local)
        return port if word == "8786" else word

    words = [here(word) for word in (*container["command"], *container["args"])]
    wait = f'until [ -e {FOLDER}/key.pem ]; do sleep 0.1; done; exec "$@"'
    with (FOLDER / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            ["sh", "-c", wait, "sh", *words],
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return {"name": name, "pid": process.pid, "labels": template["metadata"]["labels"]}


def status(pod: dict) -> dict:
    if not pod["pid"]:
        waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
        return {"phase": "Pending", "containerStatuses": [{"state": {"waiting": waiting}}]}
    try:
        lives = psutil.Process(pod["pid"]).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        lives = False
    return {"phase": "Running" if lives else "Failed"}


def get_pods(selector: str) -> None:
    wanted = dict(pair.split("=") for pair in selector.split(","))
    pods = [pod for manifest in created().values() for pod in manifest.get("pods", [])]
    items = [
        {"metadata": {"name": pod["name"]}, "status": status(pod)}
        for pod in pods
        if wanted.items() <= pod["labels"].items()
    ]
    print(json.dumps({"items": items}))


def forward(target: str) -> None:
    assert f"Job+{target.removeprefix('job/')}" in created()
    print(f"Forwarding from 127.0.0.1:{(FOLDER / 'port').read_text()} -> 8786", flush=True)
    time.sleep(600)


def delete(kinds: str, selector: str) -> None:
    run = selector.removeprefix("basepar/run=")
    for name, manifest in created().items():
        assert manifest["kind"].lower() in kinds.split(",")
        assert manifest["metadata"]["labels"]["basepar/run"] == run
        for pod in manifest.get("pods", []):
            if pod["pid"] and psutil.pid_exists(pod["pid"]):
                os.killpg(pod["pid"], signal.SIGKILL)
        (FOLDER / f"{name}.json").unlink()


def main(words: list[str]) -> None:
    with (FOLDER / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    words = [word for word in words if not word.startswith(("--context=", "--namespace="))]
    match words:
        case ["create", "-f", "-", *rest]:
            create(rest == ["-o", "json"])
        case ["get", "pods", "-l", selector, "-o", "json"]:
            get_pods(selector)
        case ["port-forward", "--address=127.0.0.1", target, ":8786"]:
            forward(target)
        case ["delete", kinds, "-l", selector, "--ignore-not-found"]:
            delete(kinds, selector)
        case _:
            sys.exit(f"error: unknown command {shutil.which('kubectl')} {words}")


if __name__ == "__main__":
    main(sys.argv[2:])
