"""What can go wrong with a place."""

from collections.abc import Sequence
from dataclasses import dataclass


class PlaceError(Exception):
    """A place that cannot be reached, or cannot be what was asked."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake of a profile: which value, what is wrong with it, and its line."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line is not None else ""
        return f"{self.path or 'file'}{line}: {self.message}"


#: Mistakes of one profile that its message lists.
MOST_LISTED = 40


class ProfileError(PlaceError):
    """All mistakes of one profile at once; the message lists the first `MOST_LISTED`."""

    def __init__(self, source: str, mistakes: Sequence[Mistake]):
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = [f"  {mistake}" for mistake in mistakes[:MOST_LISTED]]
        if rest := len(mistakes) - len(lines):
            lines.append(f"  … and {rest} more")
        super().__init__("\n".join([f"{source}: {count}", *lines]))
        self.source = source
        self.mistakes = tuple(mistakes)
