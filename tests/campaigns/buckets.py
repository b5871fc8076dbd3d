"""Sweeps into a bucket against sweeps into a folder: CPU, and that the bytes are the same.

A real S3 server (`moto_server`) on loopback, whose own CPU does not count. The same variants by
commands, folder and bucket in turns; CPU of all processes of a command.

`driver`: with two workers. `parts`: by two parts, with their `--prepare` and `--finish`.
`faults`: the driver's way through a proxy, a tenth of all requests failed and a tenth slow.
`listing`: N objects below one prefix of a server that knows pages of 1,000 names and nothing else:
seconds and memory to know which chunks are there.

    python -m tests.campaigns.buckets driver|parts|faults FOLDER [VARIANTS [ROUNDS]]
    python -m tests.campaigns.buckets listing OBJECTS
"""

import json
import os
import resource
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from sweeps.store import Store, check_and_repair
from sweeps.store.location import locate
from tests.campaigns import parts
from tests.sweeps.bucket_server import BUCKET, CREDENTIALS, Faults, proxied, served

#: Variants of a chunk: as the pilot chooses for these four-bars, about.
CHUNK = 8192


def filled(file: str, store: str, way: str) -> float:
    """CPU seconds to fill a store, s."""
    words = ["sweep", file, "--store", store, "--quiet"]
    if way == "driver":
        return parts.called(*words, "--workers", "2")
    steps = ["--prepare"], ["--part", "1/2"], ["--part", "2/2"], ["--finish"]
    return sum(parts.called(*words, *step) for step in steps)


def differing(one: str, other: str) -> tuple[int, int]:
    """Chunks of two stores, and how many arrays or records of them differ."""
    a, b = Store.open(one), Store.open(other)
    keys, unequal = 0, 0
    for name in a:
        files = a.files(name)
        if files is None or "variant" not in a.metadata[name]["dimension_names"]:
            continue
        for number in range(a.records().count):
            keys += 1
            key = files.key(number)
            unequal += a.objects.get(key) != b.objects.get(key)
    for number in range(a.records().count):
        keys += 1
        key = a.records().name(number)
        unequal += a.objects.get(key) != b.objects.get(key)
    return keys, unequal


def beside(server: str, work: Callable[[], dict[str, Any]]) -> None:
    """Work in a process whose children the server is not: it waits for all that it has."""
    environment = {**CREDENTIALS, "AWS_ENDPOINT_URL": server}
    os.environ.update(environment)
    parts.ENVIRONMENT.update(environment)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            print(json.dumps(work()), flush=True)
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        sys.exit(1)


def compare(way: str, folder: Path, variants: int = 100_000, rounds: int = 3) -> dict[str, Any]:
    """Folder and bucket in turns."""
    file = parts.made(folder, variants, CHUNK)
    filled(file, str(folder / "warm.zarr"), way)  # kernels are compiled
    spent: dict[str, list[float]] = {"folder": [], "bucket": []}
    for number in range(rounds):
        pair = {
            "folder": str(folder / f"{number}.zarr"),
            "bucket": f"s3://{BUCKET}/{uuid4().hex}/{number}.zarr",
        }
        for kind, store in sorted(pair.items(), reverse=bool(number % 2)):
            spent[kind].append(filled(file, store, way))
        keys, unequal = differing(*pair.values())
    ratios = [b / a for a, b in zip(spent["folder"], spent["bucket"], strict=True)]
    told = {kind: [round(one, 2) for one in each] for kind, each in spent.items()}
    return {"way": way, "variants": variants, **told, "keys": keys, "differ": unequal} | {
        "ratios": [round(one, 3) for one in ratios]
    }


def faults(server: str, folder: Path, variants: int = 100_000) -> dict[str, Any]:
    """What is lost where requests fail."""
    file = parts.made(folder, variants, 512)
    whole, place = str(folder / "whole.zarr"), f"s3://{BUCKET}/{uuid4().hex}/x.zarr"
    filled(file, whole, "driver")
    drawn = Faults(failed=0.05, lost=0.05, slow=0.1)
    with proxied(server, drawn) as proxy:
        parts.ENVIRONMENT["AWS_ENDPOINT_URL"] = proxy
        begun = time.monotonic()
        filled(file, place, "driver")
        seconds = time.monotonic() - begun
        damage = len(check_and_repair.find(locate(place)))
        keys, unequal = differing(whole, place)
    return {
        "requests": sum(drawn.done.values()),
        **drawn.done,
        "seconds": round(seconds, 1),
        "keys": keys,
        "differ": unequal,
        "damage": damage,
    }


class _Pages(BaseHTTPRequestHandler):
    """`ListObjectsV2` of a/c/0 … a/c/N−1, numbers padded to sort as they count."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    count = 0

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        prefix, start = asked["prefix"][0], int(asked.get("continuation-token", ["0"])[0])
        stop = min(start + 1000, self.count)
        one = (
            "<Contents><Key>{}{}</Key><LastModified>2026-11-25T00:00:00.000Z</LastModified>"
            '<ETag>"0"</ETag><Size>9</Size></Contents>'
        )
        listed = "".join(one.format(prefix, 10**9 + n) for n in range(start, stop))
        more = f"<NextContinuationToken>{stop}</NextContinuationToken>" * (stop < self.count)
        truncated = str(stop < self.count).lower()
        said = f"<IsTruncated>{truncated}</IsTruncated>{more}{listed}"
        content = f"<ListBucketResult>{said}</ListBucketResult>".encode()
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *said: object) -> None:
        """Nothing."""


def listing(objects: int) -> dict[str, Any]:
    """Which of so many chunks are there."""
    pages = type("Pages", (_Pages,), {"count": objects})
    server = ThreadingHTTPServer(("127.0.0.1", 0), pages)
    pid = os.fork()  # the server's memory and CPU are another's
    if pid == 0:
        server.serve_forever()
    server.server_close()
    threading.Event().wait(0.2)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    os.environ.update({**CREDENTIALS, "AWS_ENDPOINT_URL": address})
    there = locate(f"s3://{BUCKET}/x.zarr")
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.monotonic()
    found = there.chunks("a", 1)  # type: ignore[union-attr]
    seconds = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    assert len(found) == objects
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "objects": objects,
        "seconds": round(seconds, 1),
        "cpu": round(cpu, 1),
        "peak_MB": round(after.ru_maxrss / 1024),
        "before_MB": round(before.ru_maxrss / 1024),
    }


def main(arguments: list[str]) -> None:
    match arguments:
        case [("driver" | "parts") as way, folder, *sizes]:
            work = partial(compare, way, Path(folder).absolute(), *map(int, sizes))
            with served() as server:
                beside(server, work)
        case ["faults", folder, *sizes]:
            with served() as server:
                place = Path(folder).absolute()
                beside(server, partial(faults, server, place, *map(int, sizes)))
        case ["listing", objects]:
            print(json.dumps(listing(int(objects))))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
