"""Every shipped mechanism in every dialect, written and read back: the error of its torque.

    python -m tests.campaigns.round_trips [NAME…] [--table docs/campaigns.md]

The largest difference of the coordinates' torques at random states near the assembly, relative to
the largest torque; or what the dialect cannot represent, or why the file is not read back.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from basepar_core.api import load
from basepar_core.dynamics import Model, prepare
from basepar_core.errors import BaseparError
from basepar_core.files import library_names
from tests.workflows.robots.test_round_trips import errors
from workflows.robots import DIALECTS

#: Tables of a document stand between this and the next heading.
MARK = "<!-- campaign: round trips -->"


def result(model: Model, dialect: str) -> str:
    """One cell: an error, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ours, theirs = errors(model, dialect, Path(folder))
        except BaseparError as error:
            found = error.message
            lacking = re.match(rf"{re.escape(dialect)} cannot represent .*?: (.*?)\. ", found)
            return f"no: {_first(lacking.group(1))}" if lacking else f"not read back: {found}"
    return f"{np.abs(theirs - ours).max() / np.abs(ours).max():.0e}"


def _first(listed: str) -> str:
    """Of what a dialect cannot represent."""
    one, *others = listed.split("; ")
    return f"{one}, and {len(others)} more" if others else one


def main(words: list[str]) -> None:
    """Print the table; write it into a document."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*")
    options.add_argument("--table")
    given = options.parse_args(words)
    rows = [f"| | {' | '.join(DIALECTS)} |", "|---" * (len(DIALECTS) + 1) + "|"]
    for name in given.names or library_names():
        started = time.process_time()
        model = prepare(load(name))
        cells = [result(model, one) for one in DIALECTS]
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(f"{rows[-1]}  {time.process_time() - started:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(rows))
    if given.table:
        document = Path(given.table)
        before, after = document.read_text(encoding="utf-8").split(MARK)
        rest = after[after.index("\n## ") :] if "\n## " in after else ""
        text = f"{before}{MARK}\n\n" + "\n".join(rows) + f"\n{rest}"
        document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(sys.argv[1:])
