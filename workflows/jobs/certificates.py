"""Checking a certificate, from a file or as it is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from basepar_core.api import load
from basepar_core.certificate import CertificateError, RejectedError, Verdict, verify
from basepar_core.errors import UsageError
from basepar_core.texts import text_of


def verified(certificate: Mapping[str, Any] | str | Path, mechanism: str | None = None) -> Verdict:
    """What a certificate proves, once it has been checked.

    Parameters
    ----------
    certificate
        The document, or a file that holds it.
    mechanism
        A mechanism, file or name, whose very text it must be of.

    Returns
    -------
    Verdict of the checker: rank, mechanism, grade, statements, columns.

    Raises
    ------
    CertificateError
        Something in it is wrong, missing, or cannot be confirmed.
    UsageError
        No such file, or no JSON.
    """
    document = certificate if isinstance(certificate, Mapping) else _read(Path(certificate))
    try:
        if mechanism is not None:
            _of(document, mechanism)
        return verify(document)
    except RejectedError as error:
        name = "The certificate" if isinstance(certificate, Mapping) else certificate
        raise CertificateError(
            f"{name} is rejected at {error.where}: {error.why}.", [error.where]
        ) from error


def _read(path: Path) -> Any:
    try:
        return json.loads(text_of(path))
    except FileNotFoundError:
        made = "`basepar base MECH --certificate FILE` writes a certificate"
        raise UsageError(f"There is no file {path}; {made}.", [str(path)]) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", [str(path)]) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not a certificate: it is not JSON ({error}).", [str(path)]
        ) from None


def _of(document: Any, wanted: str) -> None:
    """Whether a certificate is of the very text of a mechanism file."""
    text = load(wanted).source
    given = document.get("mechanism") if isinstance(document, dict) else None
    if not isinstance(given, dict) or given.get("text") != text:
        raise RejectedError("mechanism.text", f"it is not the text of {wanted!r}")
