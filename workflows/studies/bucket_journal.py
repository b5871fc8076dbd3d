"""Optuna's journal in a bucket: numbered objects of lines, of which each writer makes the next.

The object N is created on the condition that there is none, so of several writers at once one
succeeds, and the others read what he wrote and try N + 1: nobody's line is lost, all see the same
lines in the same order, and there are no gaps, so that reading means asking for the next number
until there is none. Nothing is ever changed or removed. A writer that is killed loses lines that
he had not appended.

Optuna appends seven lines to a trial, each of which would be a request. Whoever holds the journal
alone (`is_held`) keeps lines until `sync`, as a driver does for its batch.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from basepar_core.errors import StoreError
from sweeps.store import Bucket

Line = dict[str, Any]
#: Objects asked for at once, at most: twice as many each time all were there.
AT_ONCE = 64
#: What every line of Optuna's has.
_KEYS = {"op_code", "worker_id"}


class BucketJournal(BaseJournalBackend):
    """A backend of Optuna's `JournalStorage`, below a prefix of a bucket.

    Parameters
    ----------
    place
        The prefix.
    is_held
        Whether nobody else writes: lines are appended by `sync`, an object for all of them.
    """

    def __init__(self, place: Bucket, is_held: bool = False):
        self.place, self.is_held = place, is_held
        self._starts: list[int] = []  # number of the first line of each object
        self._total = 0  # lines of these objects
        self._first = 0  # number of the first of `_lines`
        self._lines: list[Line] = []  # of the objects, as far as nobody has read them
        self._waiting: list[Line] = []  # not appended yet
        self._is_read = False

    def append_logs(self, logs: list[Line]) -> None:
        """Append lines, or keep them for `sync`.

        Where that fails they are forgotten: who asks again says them anew. If only the answer was
        lost they are there, and a trial that they ask for stays running.

        Raises
        ------
        StoreError
            The bucket does not answer; or, at `sync`, somebody else has written.
        """
        self._waiting += logs
        if not self.is_held:
            try:
                self.sync()
            finally:
                self._waiting = []

    def sync(self) -> None:
        """Return when all lines are in the bucket."""
        while self._waiting:
            number = len(self._starts)
            if self.place.create(_key(number), _written(self._waiting)):
                self._landed(self._waiting)
                self._waiting = []
            elif self.is_held:  # what Optuna made of them here is not what it is there
                raise StoreError(
                    f"Another process has written to the study's journal {self.place} meanwhile. "
                    "Run the same command again; what is stored is kept.",
                    [str(self.place)],
                )
            else:
                self._read_new()

    def release(self) -> None:
        """Others may write from now on."""
        self.sync()
        self.is_held = False

    def read_logs(self, log_number_from: int) -> list[Line]:
        """Lines from a number on, those of others too."""
        if not (self.is_held and self._is_read):
            self._read_new()
            self._is_read = True
        if log_number_from < self._first:
            self._read_again(log_number_from)
        done = min(log_number_from, self._total) - self._first
        del self._lines[:done]
        self._first += done
        return [*self._lines, *self._waiting[max(0, log_number_from - self._total) :]]

    def _read_new(self) -> None:
        count = 1
        while True:
            first = len(self._starts)
            numbers = range(first, first + count)
            contents = self.place.get_all([_key(number) for number in numbers])
            for number, content in zip(numbers, contents, strict=True):
                if content is None:
                    return
                self._landed(_read(self.place, number, content))
            count = min(2 * count, AT_ONCE)

    def _read_again(self, line: int) -> None:
        """Have lines from a number on, which were read before."""
        number = bisect_right(self._starts, line) - 1
        keys = [_key(one) for one in range(number, len(self._starts))]
        self._first, self._lines = self._starts[number], []
        for place, content in enumerate(self.place.get_all(keys), number):
            self._lines += _read(self.place, place, content or b"")

    def _landed(self, lines: list[Line]) -> None:
        self._starts.append(self._total)
        self._lines += lines
        self._total += len(lines)


def is_there(place: Bucket) -> bool:
    """Whether a journal lies there."""
    return place.get(_key(0)) is not None


def _key(number: int) -> str:
    return f"{number:012d}"


def _written(lines: list[Line]) -> bytes:
    return "".join(_texts(lines)).encode()


def _texts(lines: list[Line]) -> Iterator[str]:
    for line in lines:
        yield f"{json.dumps(line, separators=(',', ':'))}\n"


def _read(place: Bucket, number: int, content: bytes) -> list[Line]:
    try:
        found = [json.loads(line) for line in content.decode().splitlines()]
        good = bool(found) and all(isinstance(one, dict) and one.keys() >= _KEYS for one in found)
    except (ValueError, RecursionError):
        good = False
    if not good:
        raise StoreError(
            f"{place}/{_key(number)} is not of a journal of Optuna's, and is left as it is. Name "
            "another storage in `study.storage`.",
            [f"{place}/{_key(number)}"],
        )
    return found
