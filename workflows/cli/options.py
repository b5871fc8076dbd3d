"""Options that several commands take, and how their words are read."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from basepar_core.dynamics import Model


def with_columns(command: argparse.ArgumentParser) -> None:
    """Add --with: columns of W besides the inertial ones."""
    command.add_argument(
        "--with",
        dest="columns_with",
        metavar="C,…",
        help="further columns of W: friction, springs, dampers, a kind (viscous, coulomb, offset, "
        "rotor, stiffness, damping) or a name (A.viscous); without it only inertial parameters "
        "count",
    )


def trust_metrics(command: argparse.ArgumentParser) -> None:
    """Add --trust-metrics: own metrics that a store names may be run."""
    command.add_argument(
        "--trust-metrics",
        action="store_true",
        help="run the own metrics that the store names, if their files are what they were",
    )


def overwrite(command: argparse.ArgumentParser, *also: str) -> None:
    """Add --overwrite: what it writes may take the place of files that are not basepar's."""
    command.add_argument(
        "--overwrite",
        *also,
        dest="overwrite",
        action="store_true",
        help="write over files that are there, also those that basepar did not make (drawings, "
        "pages, exported code and certificates that it made are written over in any case)",
    )


def check_output(options: argparse.Namespace, *paths: str | Path | None) -> None:
    """Refuse to write over what is not basepar's, before anything is computed.

    Raises
    ------
    UsageError
    """
    from workflows.jobs import check_outputs

    check_outputs([Path(path) for path in paths if path], options.overwrite)


def listed(text: str | None) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def wanted(model: "Model", eliminate: str | None) -> list[int] | None:
    """Indices of the parameters that --eliminate names."""
    from basepar_core.base import parameter_indices

    return parameter_indices(model.mechanism, listed(eliminate)) if eliminate else None


def quantity(text: str, unit: str, option: str) -> float:
    """A number of the command line in SI; a bare one is in `unit`, which is SI.

    A bare angle of more than a turn is said to be rad; of more than two it is refused.

    Raises
    ------
    UsageError
        No number, or of another unit.
    """
    import warnings
    from math import pi

    from basepar_core.errors import BaseparWarning, ExpressionError, UsageError
    from basepar_core.expressions import evaluate, is_literal, parse, parse_unit

    text = text.strip()
    try:
        value = float(evaluate([parse(text, parse_unit(unit), {})], {})[0])
    except ExpressionError as error:
        raise UsageError(f"{option} {text}: {error.message}", [option]) from None
    if unit == "rad" and is_literal(text) and abs(value) > 2 * pi:
        said = (
            f"{option} {text} is {text} rad, {abs(value) / (2 * pi):.1f} turns; write {text}deg, "
            f"or {text}rad"
        )
        if abs(value) > 4 * pi + 1e-6:
            raise UsageError(f"{said} if that is meant.", [option])
        warnings.warn(f"{said}.", BaseparWarning, stacklevel=2)
    return value
