"""Stores in Azure's blobs, on Microsoft's own emulator (Azurite), where it is installed."""

import base64
import hashlib
import hmac
import http.client
import shutil
import socket
import subprocess
import time
from email.utils import formatdate

import pytest

from basepar_core.errors import StoreError
from sweeps.store import locate
from sweeps.store.bucket_lock import locked
from sweeps.store.bucket_requests import Unreachable
from tests.sweeps.store.bucket_checks import check_conditions, check_sweep

#: Public: every emulator's.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@pytest.fixture
def container(monkeypatch):
    """The address of a container, and the environment that leads there."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("not installed: azurite-blob (npm install azurite)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--blobPort", str(port), "--inMemoryPersistence", "--skipApiVersionCheck"]
    server = subprocess.Popen(
        [program, *words, "--disableTelemetry", "--silent"], stdout=subprocess.DEVNULL
    )
    try:
        made(port, "results")
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        for name, value in {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_ENDPOINT": endpoint,
            "AZURE_ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield "az://results"
    finally:
        server.kill()
        server.wait()


def made(port, name):
    """Have the emulator make a container, by Azure's signature of requests."""
    date, version = formatdate(usegmt=True), "2021-08-06"
    text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{version}\n"
    text += f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    headers = {"x-ms-date": date, "x-ms-version": version, "Content-Length": "0"}
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    end = time.monotonic() + 60
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("PUT", f"/{ACCOUNT}/{name}?restype=container", None, headers)
            assert connection.getresponse().status == 201
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)
        finally:
            connection.close()


@pytest.mark.slow
def test_conditions_and_errors(container):
    there = locate(f"{container}/folder/x.zarr")
    check_conditions(there)
    with pytest.raises(StoreError, match="is no store, and something lies there"), locked(there):
        pass
    with pytest.raises(Unreachable, match="there is no such bucket") as caught:
        locate("az://nowhere/x.zarr").get("a")
    assert KEY not in str(caught.value)


@pytest.mark.slow
def test_a_sweep_is_a_folder_s(container, tmp_path):
    check_sweep(f"{container}/x.zarr", tmp_path / "x.zarr")
