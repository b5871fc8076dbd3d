"""A program that asks a bucket for a process that cannot: a copy of one whose threads are gone.

The program (`bucket_program`) is started when it is first needed, and ends after who
started it, its last question answered.
"""

import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any


class Requester:
    """Questions to a program of our own, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._program: subprocess.Popen[bytes] | None = None

    def answers(self, url: str, asked: Sequence[Any]) -> list[Any]:
        """As `bucket_requests.answers`; a program that died is started once more."""
        with self._lock:
            for last in (False, True):
                try:
                    found = self._answer(url, asked)
                    break
                except (OSError, EOFError):
                    self._end()
                    if last:
                        raise
                except BaseException:  # its answer, not read, would be the next question's
                    self._end()
                    raise
        if isinstance(found, Exception):
            raise found
        return list(found)

    def _answer(self, url: str, asked: Sequence[Any]) -> Any:
        if self._program is None:
            paths = os.pathsep.join(path for path in sys.path if path)
            # -P: what lies in the current folder is not imported.
            self._program = subprocess.Popen(
                [sys.executable, "-P", "-m", "sweeps.store.bucket_program"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": paths},
                start_new_session=True,  # Ctrl-C is for who started it
            )
        program = self._program
        assert program.stdin is not None
        assert program.stdout is not None
        write(program.stdin, (url, list(asked)))
        return read(program.stdout)

    def _end(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._program.wait()
            self._program = None


def write(file: IO[bytes], message: Any) -> None:
    """Send something."""
    content = pickle.dumps(message)
    file.write(struct.pack("<Q", len(content)))
    file.write(content)
    file.flush()


def read(file: IO[bytes]) -> Any:
    """What comes; EOFError where nobody is there any more."""
    head = file.read(8)
    if len(head) < 8:
        raise EOFError
    size = struct.unpack("<Q", head)[0]
    content = file.read(size)
    if len(content) < size:
        raise EOFError
    return pickle.loads(content)
