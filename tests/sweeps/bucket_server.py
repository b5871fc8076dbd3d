"""A real S3 server on loopback (moto), and a proxy before it that fails and is slow."""

import contextlib
import http.client
import io
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "not-to-be-repeated"
#: What programs find in their environment.
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}
BUCKET = "results"


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of a server that has the bucket; it ends with us."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-P", __file__, str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while True:
            try:
                assert asked(port, "PUT", f"/{BUCKET}")[0] == 200
                break
            except OSError:
                assert server.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def asked(port: int, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """What a server on loopback answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def error(code: str) -> bytes:
    """S3's answer to a request that fails."""
    keys = f"<AWSAccessKeyId>AKIAEXAMPLE</AWSAccessKeyId><Token>{SECRET}</Token>"
    return f"<Error><Code>{code}</Code><Message>said</Message>{keys}</Error>".encode()


@dataclass
class Faults:
    """What a proxy does to requests, and how often it did.

    Attributes
    ----------
    failed, lost, slow
        Shares of requests that get 500 or 503 and do nothing; that are done, and whose answer is
        500; that are answered `delay` s late.
    always
        Status and code of the answer to everything; None: faults by chance.
    asked
        Requests by method; GET that lists is LIST.
    """

    failed: float = 0.0
    lost: float = 0.0
    slow: float = 0.0
    delay: float = 0.3
    always: tuple[int, str] | None = None
    chance: random.Random = field(default_factory=lambda: random.Random(3))
    done: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)

    def drawn(self) -> str:
        """What becomes of the next request."""
        number, kind = self.chance.random(), "plain"
        for name in ("slow", "lost", "failed"):
            share = getattr(self, name)
            if number < share:
                kind = name
                break
            number -= share
        self.done[kind] += 1
        return kind


@contextlib.contextmanager
def proxied(server: str, faults: Faults) -> Iterator[str]:
    """The address of a proxy before a server."""
    port = int(server.rpartition(":")[2])
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                kind = faults.drawn()
                faults.asked["LIST" if "list-type=" in self.path else self.command] += 1
            if faults.always is not None:
                status, code = faults.always
                self.answer(status, error(code), {})
                return
            if kind == "slow":
                time.sleep(faults.delay)
            if kind == "failed":
                self.answer(
                    *((500, error("InternalError")), (503, error("SlowDown")))[len(body) % 2], {}
                )
                return
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.request(self.command, self.path, body, dict(self.headers))
                found = connection.getresponse()
                content = found.read()
            finally:
                connection.close()
            if kind == "lost":
                self.answer(500, error("InternalError"), {})
            else:
                self.answer(found.status, content, dict(found.getheaders()))

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

        def answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            length = headers.get("Content-Length", str(len(content)))
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *said: object) -> None:
            """Nothing."""

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.shutdown()
        proxy.server_close()


def serve(port: int) -> None:
    """moto's server, one conditional request at a time.

    moto looks whether there is an object, then stores it: of two requests at once both may succeed
    (18 of 500 objects that four processes made on a busy machine), which S3 excludes.
    """
    import moto.server

    lock = threading.Lock()

    class OneByOne(moto.server.DomainDispatcherApplication):
        def __call__(self, environ, start_response):
            if environ.keys().isdisjoint(("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")):
                return super().__call__(environ, start_response)
            # First: nobody waits for a client that does not send it.
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            with lock:
                return super().__call__(environ, start_response)

    moto.server.DomainDispatcherApplication = OneByOne
    moto.server.main(["-H", "127.0.0.1", "-p", str(port)])


if __name__ == "__main__":
    serve(int(sys.argv[1]))
