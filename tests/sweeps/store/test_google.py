"""Stores in Google's buckets, on fake-gcs-server, where it is installed.

obstore uploads by Google's XML interface, which that server lacks: a proxy of ours writes uploads
anew for its JSON interface, with the condition that obstore stated. What conditions mean, and all
else, is the server's.
"""

import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from sweeps.store import locate
from tests.sweeps.store.bucket_checks import check_conditions, check_sweep

CONDITION, META = "x-goog-if-generation-match", "x-goog-meta-"
HOP = ("host", "content-length", "connection", "transfer-encoding")


@pytest.fixture
def bucket(monkeypatch):
    """The address of a bucket, and the environment that leads there."""
    program = shutil.which("fake-gcs-server")
    if program is None:
        pytest.skip("not installed: fake-gcs-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    server = subprocess.Popen(
        [program, *words, "-public-host", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    )
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), handler(port))
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        make(port)
        account = {"gcs_base_url": f"http://127.0.0.1:{proxy.server_address[1]}"}
        account |= {"disable_oauth": True}
        account |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(account))
        monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")
        yield "gs://results"
    finally:
        proxy.shutdown()
        proxy.server_close()
        server.kill()
        server.wait()


def asked(port, method, path, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        found = connection.getresponse()
        return found.status, found.read(), dict(found.getheaders())
    finally:
        connection.close()


def make(port):
    end, kind = time.monotonic() + 60, {"Content-Type": "application/json"}
    while True:
        try:
            made = asked(port, "POST", "/storage/v1/b?project=x", b'{"name": "results"}', kind)
            assert made[0] == 200
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)


def handler(port):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def serve(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.command == "PUT":
                status, content, headers = self.uploaded(body)
            else:
                plain = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
                status, content, headers = asked(port, self.command, self.path, body, plain)
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_DELETE = do_POST = serve

        def uploaded(self, body):
            bucket, key = self.path.lstrip("/").split("/", 1)
            meta = {k[len(META) :]: v for k, v in self.headers.items() if k.lower()[:12] == META}
            about = {"name": unquote(key), "metadata": meta}
            path = f"/upload/storage/v1/b/{bucket}/o?uploadType=multipart"
            if (condition := self.headers.get(CONDITION)) is not None:
                path += f"&ifGenerationMatch={condition}"
            text = b"--=\r\nContent-Type: application/json\r\n\r\n%s\r\n--=\r\nContent-Type: "
            text += b"application/octet-stream\r\n\r\n%s\r\n--=--"
            whole = text % (json.dumps(about).encode(), body)
            kind = {"Content-Type": 'multipart/related; boundary="="'}
            status, content, _ = asked(port, "POST", path, whole, kind)
            if status != 200:
                return status, content, {}
            made = json.loads(content)
            return 200, b"", {"ETag": made["etag"], "x-goog-generation": made["generation"]}

        def log_message(self, *said):
            """Nothing."""

    return Handler


@pytest.mark.slow
def test_conditions(bucket):
    tag = check_conditions(locate(f"{bucket}/folder/x.zarr"))
    assert set(tag) == {"e_tag", "version"}


@pytest.mark.slow
def test_a_sweep_is_a_folder_s(bucket, tmp_path):
    check_sweep(f"{bucket}/x.zarr", tmp_path / "x.zarr")
