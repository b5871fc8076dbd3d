"""The program that asks a bucket for a process that cannot (`bucket_requester`).

python -P -m sweeps.store.bucket_program    # questions on stdin, answers on stdout
"""

import contextlib
import os
import select
import sys
import threading
from typing import Any

from . import bucket_requests
from .bucket_requester import read, write


def _main() -> None:
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nobody else writes there
    bucket_requests.be_patient()
    threading.Thread(target=_end_with_asker, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            url, asked = read(sys.stdin.buffer)
            found: Any
            try:
                found = bucket_requests.perform(url, asked)
            except Exception as error:
                found = error
            write(answers, found)


def _end_with_asker() -> None:
    """Who was killed waits for no answer: a request may be tried again for minutes."""
    ended = select.poll()
    ended.register(sys.stdin.fileno(), 0)  # that nobody writes there any more is always told
    ended.poll()
    os._exit(0)


if __name__ == "__main__":
    _main()
