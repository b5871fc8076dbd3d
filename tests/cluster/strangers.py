"""What somebody without the keys gets from a port, by the standard library alone.

Reads {ports, certificate, key, user} from its input, a pair of keys of its own and the user id to
become (null: stay), and prints what each port answered: {port: {way: text}}, "" for a refusal.
"""

import contextlib
import json
import os
import socket
import ssl
import sys
import tempfile
from pathlib import Path

SECONDS = 20.0
#: First byte of TLS's word for "no".
ALERT = 0x15
#: The first words of a web browser; and nothing, for servers that speak first, like Dask's.
WORDS = {"http": b"GET /health HTTP/1.0\r\n\r\n", "silence": b""}


def plain(port: int, words: bytes) -> str:
    """The answer without TLS."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
        try:
            one.sendall(words)
            with contextlib.suppress(OSError):  # it may have hung up already, its answer sent
                one.shutdown(socket.SHUT_WR)
            answer = one.recv(100)
        except ConnectionError:
            return ""
    return "" if answer[:1] == bytes([ALERT]) else answer.decode("latin1")


def secured(port: int, context: ssl.SSLContext) -> str:
    """The answer with TLS."""
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), SECONDS) as one,
            context.wrap_socket(one) as wrapped,
        ):
            return wrapped.recv(100).decode("latin1")
    except (ssl.SSLError, ConnectionError) as error:
        return "" if "timed out" not in str(error) else str(error)


def main() -> None:
    given = json.load(sys.stdin)
    "".encode("idna")  # loaded by the first connection, and nobody can read the library
    if given["user"] is not None:  # not from the start: he may not enter the interpreter's folder
        os.setgroups([])
        os.setgid(given["user"])
        os.setuid(given["user"])
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("certificate", "key"):
            (Path(folder) / name).write_text(given[name])
        own.load_cert_chain(f"{folder}/certificate", f"{folder}/key")
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found = {
        port: {way: plain(port, words) for way, words in WORDS.items()}
        | {"TLS": secured(port, none), "TLS with other keys": secured(port, own)}
        for port in given["ports"]
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
