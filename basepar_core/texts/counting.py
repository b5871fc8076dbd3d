"""Words of numbers, as every message has them."""


def plural(count: int, word: str, several: str = "") -> str:
    """A number of things: `1 worker`, `2,000 workers`; `several` where an s is not enough."""
    return f"{count:,} {word if count == 1 else several or f'{word}s'}"
