"""Run workers for a driver elsewhere: `python -m cluster.remote_worker`, at the far end of ssh.

The driver writes one line of JSON to the standard input, {certificate, key, arguments,
environment}, and keeps the pipe open. Keys thus never show in a command line, and lie in a folder
of this machine only as long as the workers run. When the pipe closes, because the driver is done
or dead, the workers end.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

#: Seconds for workers to end by themselves.
GRACE = 10.0


def main() -> int:
    """Exit status of the workers."""
    order = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory(prefix="basepar-") as folder:
        for name in ("certificate", "key"):
            path = Path(folder) / f"{name}.pem"
            path.touch(mode=0o600)
            path.write_text(order[name])
        arguments = [word.replace("KEYS", folder) for word in order["arguments"]]
        workers = subprocess.Popen(
            [sys.executable, "-P", "-m", "distributed.cli.dask_worker", *arguments],
            env=os.environ | order["environment"],
            stdin=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )
        threading.Thread(target=_hold, args=(workers,), daemon=True).start()
        try:
            return workers.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(workers.pid, signal.SIGKILL)


def _hold(workers: subprocess.Popen[bytes]) -> None:
    """End the workers when the pipe closes."""
    sys.stdin.read()
    workers.terminate()
    try:
        workers.wait(GRACE)
    except subprocess.TimeoutExpired:
        workers.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the pipe says when to end, not the terminal
    sys.exit(main())
