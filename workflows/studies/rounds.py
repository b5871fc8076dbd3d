"""Which rows of a study are asked for together."""

from collections.abc import Iterator
from dataclasses import dataclass

from .sampler_kinds import kind_of

#: Variants of a screening's first round; the rounds are so many times as large, the last for ever.
FIRST, GROWTH = 64, (1, 1, 2, 4, 8, 16, 32)
#: Least batch of a sampler that goes on from a screening, where the file does not say: screened
#: rows share the store's chunks with it, and small ones would be written for long.
LEAST_BATCH = 32
#: Variants of a study that screens all of them, where its file does not say: seconds of work.
SCREENED = 16_384


def usual_batch(kind: str, goes_on: bool) -> int:
    """Trials asked for at once, where nobody says how many."""
    batch = kind_of(kind).batch
    return max(batch, LEAST_BATCH) if goes_on else batch


def whole(count: int, batch: int) -> int:
    """At least so many rows, in whole batches."""
    return -(-count // batch) * batch


@dataclass(frozen=True, slots=True)
class Round:
    """Rows start … stop − 1; `size` is how many they would be if more trials were wanted.

    `descends` tells whether ends of descents by slopes may be among them.
    """

    start: int
    stop: int
    size: int
    descends: bool


def of(batch: int, screened: int, trials: int, several: bool) -> Iterator[Round]:
    """The rounds of the screening, then batches.

    Of several objectives a large round is cut in three, so that its later parts are proposed with
    the ends of its descents, which are in the first.
    """
    start = number = 0
    while start < screened:
        size = GROWTH[min(number, len(GROWTH) - 1)]
        parts = (1, (size - 1) // 2, size // 2) if several and size > 2 else (size,)
        for k, part in enumerate(parts):
            length = part * whole(FIRST, batch)
            if start < screened:
                yield Round(start, min(start + length, screened), length, descends=k == 0)
            start += length
        number += 1
    for start in range(screened, trials, batch):
        yield Round(start, min(start + batch, trials), batch, descends=False)
