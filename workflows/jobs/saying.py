"""Who is told of each step of long work as it begins."""

from collections.abc import Callable

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Say nothing."""
