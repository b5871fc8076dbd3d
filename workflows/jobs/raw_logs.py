"""Raw logs: from words and files to a record, and what its columns were taken for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import FileError, Mistake, UsageError
from basepar_core.identification import Measurement, Record
from basepar_core.identification.logs import (
    LogMapping,
    Proposal,
    has_titles,
    propose,
    read_log,
    read_mapping,
    read_tables,
)
from basepar_core.mechanism import Mechanism
from basepar_core.texts import text_of

#: Hz of the low-pass that torque and model go through where none is stated, and at most this share
#: of the sampling rate: robots' own motion is below it, their drives' ripples and play above.
LOWPASS, SHARE = 10.0, 0.1


@dataclass(frozen=True)
class LogWords:
    """What its user states of a raw log.

    Attributes
    ----------
    mapping
        A mapping file, or its text; None: proposed from a look at the log.
    rate
        Hz, where no column is a clock.
    gains
        Of the torques' columns, per coordinate; none: 1.
    rows, second_rows
        First and last row that count, from 1, of the log and of the second one; None: all.
    """

    mapping: str | Path | None = None
    rate: float | None = None
    gains: tuple[float, ...] = ()
    rows: tuple[int, int] | None = None
    second_rows: tuple[int, int] | None = None


@dataclass(frozen=True)
class LogRead:
    """A raw log that was read.

    Attributes
    ----------
    record
        What it says, joint side.
    mapping
        What its columns were taken for.
    reasons
        Why; none where a mapping file says it.
    lowpass
        Hz, where none is stated.
    """

    record: Measurement
    mapping: LogMapping
    reasons: tuple[str, ...]
    lowpass: float

    def document(self) -> dict[str, Any]:
        """Plain data."""
        return {"mapping": self.mapping.document(), "reasons": list(self.reasons)}


def is_raw(data: Record, titles: Mapping[str, str] | None, log: LogWords | None) -> bool:
    """Whether a file is a raw log: something is stated of it as one, or it has no titles."""
    if titles:
        return False
    if log is not None and log != LogWords():
        return True
    if not isinstance(data, str | Path):
        return False
    several = not Path(data).exists() and any(sign in str(data) for sign in "+,")
    return several or not has_titles(data)


def read_raw(mechanism: Mechanism, data: Record, log: LogWords | None) -> LogRead:
    """A raw log by what is stated of it, or by a look at it.

    Raises
    ------
    FileError
        All mistakes of the log or of its mapping.
    UsageError
        Rows that are not there.
    """
    words = log or LogWords()
    tables = read_tables(data)
    if words.mapping is None:
        found = propose(tables, mechanism, words.rate, words.gains)
    else:
        found = Proposal(read_mapping(_text(words.mapping), mechanism, str(words.mapping)), ())
    record = read_log(tables, found.mapping, mechanism, words.rows)
    lowpass = min(LOWPASS, SHARE / float(np.median(np.diff(record.t))))
    return LogRead(record, found.mapping, found.reasons, lowpass)


def read_second(
    mechanism: Mechanism, data: Record, first: LogRead, log: LogWords | None
) -> Measurement:
    """A second log with the columns of the first."""
    rows = None if log is None else log.second_rows
    return read_log(read_tables(data), first.mapping, mechanism, rows)


def rows_of(text: str | None, option: str) -> tuple[int, int] | None:
    """First and last row of A:B.

    Raises
    ------
    UsageError
    """
    if text is None:
        return None
    first, colon, last = text.partition(":")
    if not (colon and first.strip().isdecimal() and last.strip().isdecimal()):
        raise UsageError(f"{option} {text!r} are no rows; write 355:5090, from 1.", [option])
    return int(first), int(last)


def _text(path: str | Path) -> str:
    if isinstance(path, str) and "\n" in path:
        return path
    try:
        return text_of(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileError(str(path), [Mistake("", message)]) from None


def gains_of(texts: Sequence[str], option: str) -> tuple[float, ...]:
    """Numbers between commas.

    Raises
    ------
    UsageError
    """
    try:
        return tuple(float(word) for word in texts)
    except ValueError:
        said = ",".join(texts)
        raise UsageError(
            f"{option} {said!r} are no numbers; write 14.87,13.26.", [option]
        ) from None
