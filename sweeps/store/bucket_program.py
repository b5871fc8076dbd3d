"""The program that asks a bucket for a process that cannot (`bucket_requester`).

python -P -m sweeps.store.bucket_program    # questions on stdin, answers on stdout
"""

import contextlib
import sys
from typing import Any

from . import bucket_requests
from .bucket_requester import read, write


def _main() -> None:
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nobody else writes there
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            url, asked = read(sys.stdin.buffer)
            found: Any
            try:
                found = bucket_requests.perform(url, asked)
            except Exception as error:
                found = error
            write(answers, found)


if __name__ == "__main__":
    _main()
