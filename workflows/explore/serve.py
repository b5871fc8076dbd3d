"""The explorer on loopback: the same page, following a store that fills.

A small server for one person on one machine. It listens on loopback, answers whoever has the key
in the address and nobody else, and knows two things: the page, and the page's data.
"""

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from basepar_core.errors import BaseparError, UsageError
from basepar_core.texts import script_json
from sweeps.store import as_damage
from workflows.report import gather
from workflows.views import store as stores

from .page import document, page

HOST = "127.0.0.1"
#: Of every answer: nothing is kept, framed, guessed, or told to others.
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Followed:
    """A store's page and data, made anew when the store has more."""

    def __init__(self, store: Path) -> None:
        self._store, self._lock = store, threading.Lock()
        self._stamp, self._page = "", ""
        self._made: dict[str, Any] = {}
        self.renew()

    def renew(self) -> None:
        """Look at the store; where nothing has changed nothing is made.

        Raises
        ------
        StoreError
            It is missing or damaged.
        """
        with self._lock, as_damage("account of itself"):
            status = stores.document(self._store)
            told = json.dumps([status["counts"], status["precise"], status["spec_hash"]])
            stamp = hashlib.sha256(told.encode()).hexdigest()
            if stamp == self._stamp:
                return
            found = gather(self._store, whole=True)
            follow = {"stamp": stamp, "done": status["done"], "settled": status["settled"]}
            made = {**document(found, self._store), "follow": follow}
            version = found.status["versions"].get("basepar", "")
            self._page = page(str(found.status["title"]), version, made)
            self._stamp, self._made = stamp, made

    def page(self) -> str:
        """The page as it is now."""
        self.renew()
        return self._page

    def data(self, known: str) -> str | None:
        """The page's data; None where somebody knows them already."""
        self.renew()
        return None if known == self._stamp else script_json(self._made)


class Server:
    """The page of a store at `address`, until `close`.

    Parameters
    ----------
    store
        Of a sweep or a study, finished or not.
    port
        0: any that is free.

    Raises
    ------
    StoreError
        The store is missing or damaged.
    UsageError
        The port is taken.
    """

    def __init__(self, store: Path, port: int = 0) -> None:
        self.key = secrets.token_urlsafe(24)
        followed = Followed(store)
        try:
            self._server = ThreadingHTTPServer((HOST, port), _handler(followed, self.key))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"--port {port}: {error}. Name another, or none for any that is free.", ["--port"]
            ) from error
        self._server.daemon_threads = True
        self.address = f"http://{HOST}:{self._server.server_address[1]}/{self.key}/"

    def run(self) -> None:
        """Answer until somebody interrupts, or `close`."""
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


def _name(host: str) -> str:
    """The name of a host with a port: names have no case."""
    return host.rpartition(":")[0].lower()


def _handler(followed: Followed, key: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version, timeout = "basepar", "", 30

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            given, slash, rest = path.removeprefix("/").partition("/")
            # A name that somebody else's domain server gave to this address is none of ours.
            hosts = self.headers.get_all("Host", [])
            local = len(hosts) == 1 and _name(hosts[0]) in (HOST, "localhost")
            if not local or not hmac.compare_digest(given.encode(), key.encode()):
                self._answer(HTTPStatus.NOT_FOUND, b"", "text/plain")
            elif slash and not rest:
                self._made(followed.page, "text/html")
            elif rest == "data":
                stamp = parse_qs(query).get("known", [""])[0]
                self._made(lambda: followed.data(stamp), "application/json")
            else:
                self._answer(HTTPStatus.NOT_FOUND, b"", "text/plain")

        def _made(self, make: Callable[[], str | None], kind: str) -> None:
            try:
                text = make()
            except (BaseparError, OSError) as error:  # between two writes of whoever fills it
                said = getattr(error, "message", str(error)).encode()
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, said, "text/plain")
                return
            if text is None:
                self._answer(HTTPStatus.NO_CONTENT, b"", kind)
            else:
                self._answer(HTTPStatus.OK, text.encode(), kind)

        def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing: the address has the key."""

    return Handler
