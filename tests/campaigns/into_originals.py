"""Robots' files that take back what was read of them, unchanged and with other inertias.

    python -m tests.campaigns.into_originals FOLDER… [--seconds 20]

Every URDF and MJCF file below the folders that is read with its own folder alone: exported into
itself it must stay byte by byte; with every inertia 1.25 times its own it must be read back as
such (which `into` checks), and every line without a number of an inertia must stay. Counts, and a
line per file that is not so.
"""

import argparse
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

from basepar_core.dynamics import prepare
from basepar_core.errors import BaseparError
from basepar_core.imported import read_file
from workflows.robots import exported

FACTOR = 1.25


def became(path: Path, seconds: float) -> str:
    """What a file became, within seconds of processor time each way."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        found = read_file(path)
        if found.failure is not None:
            return "not read"
        model = prepare(found.mechanism)
    except (BaseparError, TimeoutError):
        return "not read"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    it, before = found.mechanism, path.read_bytes()
    values = it.inertial_parameters(it.nominal)
    heavier = dict(zip(it.parameter_names, FACTOR * values, strict=True))
    signal.setitimer(signal.ITIMER_PROF, 3 * seconds)
    try:
        if exported(model, path, original=path).text != before:
            return "not unchanged"
        exported(model, path, parameters=heavier, original=path)
    except BaseparError as error:
        return f"rejected: {' '.join(error.message.split())[:200]}"
    except TimeoutError:
        return "too long"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "right"


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _late)
    counts: Counter[str] = Counter()
    for folder in options.folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".urdf", ".xml", ".sdf") or not path.is_file():
                continue
            said = became(path, options.seconds)
            counts[said.partition(":")[0]] += 1
            if said not in ("right", "not read"):
                print(f"{folder.name}: {path.relative_to(folder)}: {said}", flush=True)
    print(dict(counts))
    return int(bool(counts["not unchanged"]))


if __name__ == "__main__":
    sys.exit(main())
