"""Certificates: `base --certificate` writes them, `verify` checks them.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .command import Command, emit


def write(document: Mapping[str, Any], path: Path) -> None:
    """Write a certificate."""
    from basepar_core.texts import naming

    with naming(path):
        path.write_text(
            json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _verify(options: argparse.Namespace) -> int:
    from workflows.jobs import verified

    path = Path(options.certificate)
    started = time.perf_counter()
    verdict = verified(path, options.mechanism)
    seconds = time.perf_counter() - started
    facts = {
        "certificate": str(path),
        "confirmed": True,
        "rank": verdict.rank,
        "mechanism": verdict.mechanism,
        "grade": verdict.grade,
        "statements": list(verdict.statements),
        "columns": list(verdict.columns),
        "bits": verdict.bits,
        "null_vectors_vanish_to_digits": int(verdict.vanish),
        "seconds": round(seconds, 3),
    }
    if options.json:
        emit(facts)
        return 0
    from basepar_core.texts import plural
    from workflows.views import out

    if verdict.rank is not None:
        number = plural(verdict.rank, "base parameter")
        out.print(f"{path}: confirmed, {number} of {verdict.mechanism}")
    else:
        out.print(
            f"{path}: confirmed, two bounds of the number of base parameters of "
            f"{verdict.mechanism}; the number itself is not"
        )
    if verdict.columns:
        out.print(f"  with {', '.join(verdict.columns)} beside the inertial parameters")
    for line in verdict.statements:
        out.print(f"  {line['statement']}: {line['grade']} ({line['scope']})")
    out.print(
        f"in {seconds:.2f} s with {verdict.bits} bits; null vectors vanish there to "
        f"{int(verdict.vanish)} digits"
    )
    return 0


COMMANDS = (
    Command(
        "verify",
        _verify,
        "check a certificate that `basepar base --certificate` wrote",
        "basepar verify four-bar.certificate.json",
        {
            "certificate": "a certificate",
            "--mechanism MECH": "a mechanism, file or name, that it must be of",
        },
    ),
)
