"""The explorer on loopback: the same page, following a store that fills.

A small server for one person on one machine. It listens on loopback, answers whoever has the key
in the address and nobody else, and knows two things: the page, and the page's data.
"""

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup

from basepar_core.errors import BaseparError, UsageError
from basepar_core.texts import script_json
from sweeps.store import Location, as_damage
from workflows.report import Facts, gather
from workflows.views import store as stores

from .page import assembled, document, heading

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


@dataclass(frozen=True)
class Snapshot:
    """A store's page at one moment, and its data as they are sent; `stamp` tells moments apart."""

    stamp: str
    heading: tuple[str, str]
    said: str
    data: str = field(repr=False)

    def page(self) -> str:
        """The page; the data in it are those that are sent."""
        return assembled(*self.heading, self.said, Markup(self.data), follows=True)


class Followed:
    """A store, looked at anew when it has more."""

    def __init__(self, store: Location) -> None:
        self._store, self._lock = store, threading.Lock()
        self._snapshot: Snapshot | None = None

    def now(self) -> Snapshot:
        """What it is now, for one answer; where nothing has changed nothing is made.

        Raises
        ------
        StoreError
            It is missing or damaged.
        """
        with self._lock, as_damage("account of itself"):
            known = self._snapshot
            if known is None or known.stamp != _stamp(stores.document(self._store)):
                # The stamp is of what was read before the numbers: newer ones are asked for again.
                self._snapshot = known = self._taken(gather(self._store, whole=True))
            return known

    def _taken(self, found: Facts) -> Snapshot:
        status = found.status
        stamp = _stamp(status)
        follow = {"stamp": stamp, "done": status["done"], "settled": status["settled"]}
        made = {**document(found, self._store), "follow": follow}
        return Snapshot(stamp, heading(found), made["said"], script_json(made))


def _stamp(status: Mapping[str, Any]) -> str:
    told = json.dumps([status["counts"], status["precise"], status["spec_hash"]])
    return hashlib.sha256(told.encode()).hexdigest()


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

    def __init__(self, store: Location, port: int = 0) -> None:
        self.key = secrets.token_urlsafe(24)
        self._ran, followed = False, Followed(store)
        followed.now()
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
        self._ran = True
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Answer no more, and free the port."""
        if self._ran:
            self._server.shutdown()
        self._server.server_close()


def _newer(now: Snapshot, known: str) -> str | None:
    """The data; None where somebody knows them already."""
    return None if known == now.stamp else now.data


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
                self._made(lambda: followed.now().page(), "text/html")
            elif rest == "data":
                self._made(
                    lambda: _newer(followed.now(), parse_qs(query).get("known", [""])[0]),
                    "application/json",
                )
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
