"""Checking a certificate, from a file or as it is."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from basepar_core.api import load
from basepar_core.base import BaseParameters
from basepar_core.certificate import CertificateError, RejectedError, Verdict, certify, verify
from basepar_core.dynamics import Column, Model, Observation
from basepar_core.errors import UsageError
from basepar_core.texts import text_of

from . import base_routes
from .apart import TimeOverError, apart
from .saying import Say

_REMEDY = (
    "Write as symbols only what is to vary, and the rest as numbers; or allow more time. "
    "float64 and variable precision judge the file's own geometry, exact expressions every one."
)


@dataclass(frozen=True)
class CertifiedBase:
    """Base parameters, with a certificate where one was asked for and done in time.

    Attributes
    ----------
    base
        Of the symbolic route, or of another where that was not done.
    document
        The certificate; None where there is none.
    not_done
        What was not done in time, at which step it was, and what was done in its place; empty
        where everything was.
    """

    base: BaseParameters
    document: dict[str, Any] | None
    not_done: str


def certified_base(
    model: Model,
    wanted: Sequence[int] | None,
    say: Say,
    *,
    seconds: float | None = None,
    columns: Sequence[Column] | None = None,
    seen: Observation | None = None,
) -> CertifiedBase:
    """Base parameters by the symbolic route, and their certificate, in the time there is.

    Where the time ends before the symbolic route does, variable precision has as long again, and
    float64 answers where that is not enough either; both say what their number rests on.

    Parameters
    ----------
    model, wanted, seen
        As in `base_routes.find`.
    say
        Called with each step as it begins, and again while it lasts.
    seconds
        For both together; None: as long as it takes.
    columns
        Of the certificate, besides the inertial ones; None: no certificate.

    Raises
    ------
    BaseparError
        As `base_routes.find` and `certify`.
    """
    started = time.monotonic()
    try:
        job = partial(base_routes.find, model, "symbolic", wanted, None, seen)
        base = apart(lambda say: job(say=say), say, seconds)
    except TimeOverError as over:
        return _other_route(model, wanted, say, seconds or 0.0, over, seen)
    if columns is None:
        return CertifiedBase(base, None, "")
    left = None if seconds is None else max(0.0, seconds - (time.monotonic() - started))
    try:
        document = apart(lambda say: certify(model, base, columns, say), say, left)
    except TimeOverError as over:
        why = f"no certificate file in {seconds:g} s; it was at: {over.step}. {_REMEDY}"
        return CertifiedBase(base, None, why)
    return CertifiedBase(base, document, "")


def _other_route(
    model: Model,
    wanted: Sequence[int] | None,
    say: Say,
    seconds: float,
    over: TimeOverError,
    seen: Observation | None,
) -> CertifiedBase:
    route = "numeric"
    base: BaseParameters | None = None
    if seen is None:  # what is given is float64's
        with suppress(TimeOverError):
            base = apart(
                lambda say: base_routes.find(model, "precise", wanted, say=say),
                lambda _: say("variable precision, in place of the symbolic route"),
                seconds,
            )
            route = "precise"
    if base is None:
        base = base_routes.find(model, "numeric", wanted, seen=seen)
    why = (
        f"the symbolic route: {over.message}. In its place this is the {route} route's. {_REMEDY}"
    )
    return CertifiedBase(base, None, why)


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
