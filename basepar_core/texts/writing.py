"""Files that cannot be written are named: a full disk does not say where it was met."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """An `OSError` within has a `filename`: this one, if it had none.

    `open` says which file it is about; `write` and `close` do not (disk full, file too large).
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
