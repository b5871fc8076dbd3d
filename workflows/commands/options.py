"""Options that several commands take, and how their words are read."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from basepar_core.closure import Model


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


def listed(text: str | None) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def wanted(model: "Model", eliminate: str | None) -> list[int] | None:
    """Indices of the parameters that --eliminate names."""
    from basepar_core.base.symbolic import parameter_indices

    return parameter_indices(model.mechanism, listed(eliminate)) if eliminate else None
