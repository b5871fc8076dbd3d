"""Why a certificate is rejected: where in the document, and in words."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .balls import FalseError, UnprovedError
from .expressions import MalformedError
from .points import UnconfirmedError

#: Characters of a message; a document may hold words of any length.
MOST = 400


class RejectedError(Exception):
    """A certificate that does not hold: where in the document, and why."""

    def __init__(self, where: str, why: str):
        self.where, self.why = where[:MOST], why if len(why) <= MOST else f"{why[:MOST]}…"
        super().__init__(f"{self.where}: {self.why}")


def must(holds: bool, where: str, why: str) -> None:
    """Reject what does not hold."""
    if not holds:
        raise RejectedError(where, why)


def exactly(given: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    """Reject a mapping of other keys."""
    odd = sorted(set(given) ^ set(keys))
    must(not odd, where, f"keys missing or unknown: {', '.join(odd)}")


@contextmanager
def blamed(where: str) -> Iterator[None]:
    """Whatever a malformed document does to the code is the document's fault."""
    try:
        yield
    except RejectedError:
        raise
    except (FalseError, UnprovedError, UnconfirmedError, MalformedError) as error:
        raise RejectedError(where, str(error)) from error
    except (
        AttributeError,
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        ArithmeticError,
    ) as error:
        raise RejectedError(where, f"malformed ({type(error).__name__}: {error})") from error
