"""Checks certificates, and shares nothing with what makes them.

It imports the standard library and python-flint's exact and ball arithmetic only (a test holds
it to that), and derives W anew in another formulation: bodies as twelve natural coordinates
(origin and axes), in which every closure equation is quadratic, and inertias as second moments.

    verdict = check(document)      # raises RejectedError: where, and what is wrong

What it takes from the document on trust is listed in docs/certificate.md.
"""

from .checking import FORMAT, HERE, SCOPES, STATED, Verdict, check, digest
from .expressions import names_of
from .family import SURE
from .rejection import RejectedError

__all__ = [
    "FORMAT",
    "HERE",
    "SCOPES",
    "STATED",
    "SURE",
    "RejectedError",
    "Verdict",
    "check",
    "digest",
    "names_of",
]
