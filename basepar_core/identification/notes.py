"""What there is to know about a record or a result besides its numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something to know about a result: what kind, and in a sentence what and what to do."""

    kind: str
    text: str
