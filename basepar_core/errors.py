"""Everything this package raises on purpose, one tree.

Each message says what, where, measured, allowed and remedy. Mistakes in a file are collected
and raised together (`FileError.mistakes`), each with its path.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any


class BaseparError(Exception):
    """Root of the tree; `kind` and `where` are what `--json` prints."""

    kind = "error"

    def __init__(self, message: str, where: Sequence[str] = ()):
        super().__init__(message)
        self.message = message
        self.where = tuple(where)

    def __reduce__(self) -> tuple[Any, ...]:  # keep `where` when the error crosses a process
        return type(self), (self.message, self.where)


class BaseparWarning(UserWarning):
    """Something that is done as it stands, but may not be what was meant."""


class UsageError(BaseparError):
    """The command cannot mean what was asked (exit status 2)."""

    kind = "usage"


class ExpressionError(BaseparError):
    """Text that is not an expression of the grammar, or whose units do not fit."""

    kind = "expression"


class MechanismError(BaseparError):
    """A mechanism that contradicts itself (coordinates, mobility, loops)."""

    kind = "mechanism"


class AssemblyError(BaseparError):
    """The nominal mechanism cannot be put together at its stated geometry."""

    kind = "assembly"


class MotionError(BaseparError):
    """A motion that the mechanism cannot follow: excitation, cycle or record."""

    kind = "motion"


class EliminationError(BaseparError):
    """The parameters asked to be eliminated are not admissible."""

    kind = "elimination"


class FamilyError(BaseparError):
    """The generic member of a family has no point over finite fields that we know how to find.

    What is proved for generic geometry needs one; without it, statements stay numerical.
    """

    kind = "family"


class MissingDataError(BaseparError):
    """The mechanism lacks what the question needs (inertias, noise, a motion ...)."""

    kind = "missing data"


class StoreError(BaseparError):
    """A store that is damaged, or belongs to another specification."""

    kind = "store"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake of a file: where (a path like `joints.B.connects[1]`), what, and its line."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line is not None else ""
        return f"{self.path or 'file'}{line}: {self.message}"


#: Mistakes of one file that its message lists, and characters of each.
MOST_LISTED, MOST_CHARACTERS = 40, 400


class FileError(BaseparError):
    """All mistakes of one file at once; the message lists the first `MOST_LISTED`."""

    kind = "file"

    def __init__(self, source: str, mistakes: Sequence[Mistake]):
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        listed = mistakes[:MOST_LISTED]
        lines = [f"  {_clipped(str(mistake))}" for mistake in listed]
        if rest := len(mistakes) - len(listed):
            lines.append(f"  … and {rest} more")
        message = "\n".join([f"{_clipped(source)}: {count}", *lines])
        super().__init__(message, [_clipped(mistake.path) for mistake in listed])
        self.source = source
        self.mistakes = tuple(mistakes)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.mistakes)


def _clipped(text: str) -> str:
    """A text from a file, shortened where no message needs all of it."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def wrong_count(
    names: Sequence[str], chosen: Collection[int], silent: Collection[int], rank: int
) -> EliminationError:
    """That φ₂ has another number of parameters than there are null vectors.

    `chosen` are all that are to go, `silent` those among them that go anyway.
    """
    also = f" ({', '.join(names[k] for k in sorted(silent))} without effect among them)"
    return EliminationError(
        f"{len(chosen)} {'parameter is' if len(chosen) == 1 else 'parameters are'} to be "
        f"eliminated{also if silent else ''}, but the rank is "
        f"{rank} of {len(names)}: exactly {len(names) - rank} must be.",
        [names[k] for k in sorted(chosen)],
    )
