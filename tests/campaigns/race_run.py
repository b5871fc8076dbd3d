"""A run of the race, in a process of its own: begins as the command `study` does."""

import argparse
import gc
import os

from basepar.command import THREADS

WORDS = {
    "study": str,
    "kind": str,
    "seed": int,
    "folder": str,
    "seconds": float,
    "clock": str,
    "workers": int,
    "begun": float,
}


def main() -> None:
    for name in THREADS:
        os.environ.setdefault(name, "1")
    from workflows.cli.main import COLLECT_AFTER
    from workflows.jobs import start_early

    gc.set_threshold(COLLECT_AFTER)
    parser = argparse.ArgumentParser(description=__doc__)
    for word, kind in WORDS.items():
        parser.add_argument(word, type=kind)
    options = parser.parse_args()
    if options.kind != "cmaes":
        start_early("laptop", None)
    # What is heavy comes after.
    from .race import by_cmaes, one

    (by_cmaes if options.kind == "cmaes" else one)(options)


if __name__ == "__main__":
    main()
