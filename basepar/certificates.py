"""Checking what proves a number of base parameters."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from basepar_core.certificate import Verdict


def verify(certificate: Mapping[str, Any] | str | Path, mechanism: str | None = None) -> "Verdict":
    """Check a certificate with mechanics of its own, as `basepar verify` does.

    Parameters
    ----------
    certificate
        What `Base.certificate` returned, or a file with it.
    mechanism
        A mechanism file or name: the certificate must be of its very text.

    Returns
    -------
    Confirmed facts: `rank` (None where only bounds are proved), `mechanism`, `grade`,
    `statements` (each with statement, grade, scope), `columns`, `bits`.

    Raises
    ------
    BaseparError
        It is rejected: where, and why.
    UsageError
        No such file, or no JSON.

    Examples
    --------
    >>> import basepar
    >>> basepar.verify(basepar.load("four-bar").base().certificate()).rank
    8
    """
    from workflows.jobs import verified

    return verified(certificate, mechanism)
