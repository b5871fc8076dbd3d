"""Which chunks' presence is looked at where nobody wants to read all of them.

A store of 10⁶ chunks and twenty arrays has names that would take gigabytes. Of such a store some
chunks are chosen, evenly, and each of their files is looked for by itself.
"""

from collections.abc import Mapping, Sequence

from .bucket import Bucket
from .objects import Objects

#: Up to so many chunks all are looked at; of more, so many; of one in a bucket, where each file
#: is a request, fewer. They lie in so many ranges.
ALL, CHOSEN, CHOSEN_THERE, RANGES = 1 << 14, 1 << 12, 64, 16


def is_large(count: int) -> bool:
    """Whether a store has more chunks than are all looked at."""
    return count > ALL


def ranges(count: int, there: Objects) -> list[tuple[int, int]]:
    """The chosen chunks of a store that is large."""
    each = (CHOSEN_THERE if isinstance(there, Bucket) else CHOSEN) // RANGES
    return [(k * (count // RANGES), k * (count // RANGES) + each) for k in range(RANGES)]


def look(
    there: Objects, numbers: Sequence[int], keys: Mapping[str, Sequence[str]]
) -> dict[str, set[int]]:
    """Numbers of the chunks that are there, by array; of `numbers`, whose keys these are."""
    found: dict[str, set[int]] = {}
    for name, wanted in keys.items():
        have = there.have(wanted) if there.is_plain(f"{name}/c") else ()
        found[name] = {number for number, here in zip(numbers, have, strict=False) if here}
    return found
