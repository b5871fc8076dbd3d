"""Runs exported code in a process of its own: text that we wrote a moment ago, never a file's.

Python's isolated mode, an empty folder, an environment without the user's, and a time limit: if a
text were more than the function that it should be, it would meet neither our data nor our memory.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from basepar_core.errors import BaseparError

#: Seconds for the code to be read and called as often as asked.
PATIENCE = 60.0
#: What the process runs: least processor time of a torque, following the motion. Reads the code
#: as data; one line of JSON comes back.
_RUNNER = """
import json, sys, time
given = json.load(sys.stdin)
module = {"__name__": "exported"}
exec(compile(given["text"], "torque", "exec"), module)
best = float("inf")
for _ in range(given["rounds"]):
    state = list(module["START"])
    started = time.process_time()
    for q, qd, qdd in given["samples"]:
        module["torque"](q, qd, qdd, state=state)
    best = min(best, (time.process_time() - started) / len(given["samples"]))
json.dump({"seconds": best}, sys.stdout)
"""


class ExportError(BaseparError):
    """Exported code that does not run."""

    kind = "export"


def seconds_of(
    text: str,
    samples: Sequence[tuple[list[float], ...]],
    rounds: int,
    patience: float = PATIENCE,
) -> float:
    """Processor time of one torque of an exported Python module.

    Parameters
    ----------
    text
        Of `torque_code.write`.
    samples
        (q, q', q'') one after another.
    rounds
        The least of so many counts.
    patience
        Seconds.

    Raises
    ------
    ExportError
        It fails, or takes longer than `patience`.
    """
    given = json.dumps({"text": text, "samples": list(samples), "rounds": rounds})
    return float(_run(given, patience)["seconds"])


def _run(given: str, patience: float) -> dict[str, Any]:
    try:
        with tempfile.TemporaryDirectory(prefix="basepar-") as folder:
            ran = subprocess.run(
                [sys.executable, "-I", "-c", _RUNNER],
                input=given,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=patience,
                cwd=folder,
                env={"PATH": "/usr/bin:/bin"},
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise ExportError(
            f"The exported function did not follow the cycle within {patience:g} s. Export fewer "
            "parameters, or shorten the cycle."
        ) from None
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["nothing"])[-1]
        raise ExportError(
            f"The exported function does not run; it said: {last}. This is a defect of the "
            "program: please report it with the mechanism's file."
        )
    return json.loads(ran.stdout)
