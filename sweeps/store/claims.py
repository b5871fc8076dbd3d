"""Who fills which chunks: claims that save work, and no more.

Chunks are idempotent, so a claim that is wrong costs time and changes nothing. A claim is an
object, `claims/FIRST-STOP.GENERATION`, of who made it and a counter that he advances. Nobody's
clock is compared with another's: whoever finds a claim watches it, and if its counter stands still
for `STALE` seconds of his own clock, he makes the next generation; at once, where the claim is of
a process of this machine that is no more. Of several who do one succeeds, and the one that was
thought dead sees it at his next beat.
"""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from basepar_core.errors import StoreError

from .holders import born, machine
from .names import HIDDEN
from .objects import Objects
from .records import range_of

#: Seconds between two beats, and without one after which a claim is nobody's.
BEAT, STALE = 5.0, 45.0
#: Seconds between two looks at somebody else's.
LOOK = 1.0
_FOLDER = f"{HIDDEN}/claims"


class Taken(StoreError):
    """Somebody else is at these chunks."""

    kind = "taken"


@dataclass(frozen=True, slots=True)
class Claim:
    """Chunks first … stop − 1 for one process; `content` is the object as it was last seen."""

    first: int
    stop: int
    generation: int
    content: bytes = b""

    @property
    def key(self) -> str:
        return f"{_FOLDER}/{self.first}-{self.stop}.{self.generation}"

    @property
    def who(self) -> str:
        """The holder, in words."""
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            told = json.loads(self.content)
            job = f", job {told['job']}" if told.get("job") else ""
            return f"process {int(told['pid'])} on {str(told['host'])[:80]}{job}"
        return "somebody"

    @property
    def is_left(self) -> bool:
        """Whether it is of a process of this machine, as it was booted last, that has ended."""
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            told = json.loads(self.content)
            here = bool(told["born"]) and told["machine"] == machine()
            return here and told["born"] != born(int(told["pid"]))
        return False

    def meets(self, first: int, stop: int) -> bool:
        """Whether it is about some of chunks first … stop − 1."""
        return first < self.stop and self.first < stop


def found(there: Objects) -> list[Claim]:
    """The claims of a store, of each range the latest."""
    latest: dict[tuple[int, int], int] = {}
    for name in there.names(_FOLDER):
        chunks, _, generation = name.rpartition(".")
        if (one := range_of(chunks)) is not None and generation.isdecimal():
            latest[one] = max(latest.get(one, 0), int(generation))
    claims = [Claim(first, stop, generation) for (first, stop), generation in latest.items()]
    contents = there.get_all([claim.key for claim in claims])
    seen = zip(claims, contents, strict=True)
    return [replace(claim, content=content) for claim, content in seen if content]


def alive(
    there: Objects,
    claims: Sequence[Claim],
) -> list[Claim]:
    """Those whose counter moves; watches the others for `STALE` seconds."""
    end, moving = time.monotonic() + STALE, list[Claim]()
    still = [claim for claim in claims if not claim.is_left]
    while still and time.monotonic() < end:
        time.sleep(LOOK)
        for claim in list(still):
            now = there.get(claim.key)
            if now is None:  # released
                still.remove(claim)
            elif now != claim.content:
                still.remove(claim)
                moving.append(claim)
    return moving


def refuse_busy(there: Objects) -> None:
    """Make sure that no part of a store is being evaluated; claims that nobody holds are removed.

    Raises
    ------
    Taken
        Somebody is.
    """
    others = found(there)
    if busy := alive(there, others):
        more = f" and {len(busy) - 1} more" if len(busy) > 1 else ""
        raise Taken(
            f"{there.place}: parts of it are being evaluated by {busy[0].who}{more}. Wait for "
            "them or stop them; what they stored is kept.",
            [there.place],
        )
    for claim in others:
        there.remove(claim.key)


@dataclass
class Held:
    """A claim of ours, which lives as long as it beats."""

    there: Objects
    claim: Claim
    told: dict[str, Any] = field(default_factory=dict)
    beats: int = 0
    last: float = 0.0

    def beat(self) -> bool:
        """Advance the counter, every `BEAT` seconds at most; whether it is still ours."""
        if time.monotonic() - self.last < BEAT:
            return True
        self.last = time.monotonic()
        if {one.generation for one in self._same()} != {self.claim.generation}:
            return False
        self.beats += 1
        self.there.put(self.claim.key, _content(self.beats, self.told))
        return True

    def release(self) -> None:
        """Nobody's any more."""
        self.there.remove(self.claim.key)

    def _same(self) -> Iterator[Claim]:
        for name in list(self.there.names(_FOLDER)):
            chunks, _, generation = name.rpartition(".")
            ours = range_of(chunks) == (self.claim.first, self.claim.stop)
            if ours and generation.isdecimal():
                yield replace(self.claim, generation=int(generation))


@contextlib.contextmanager
def claimed(there: Objects, first: int, stop: int, **told: Any) -> Iterator[Held]:
    """Hold chunks first … stop − 1 of a store; stale claims that are in the way are taken over.

    Raises
    ------
    Taken
        Somebody else is at some of them, and alive.
    """
    held = Held(there, _taken(there, first, stop, told), told)
    try:
        yield held
    finally:
        held.release()


def _taken(there: Objects, first: int, stop: int, told: dict[str, Any]) -> Claim:
    while True:
        others = [claim for claim in found(there) if claim.meets(first, stop)]
        if busy := alive(there, others):
            raise Taken(
                f"{there.place}: these variants are being evaluated by {busy[0].who}. Wait for it "
                "or stop it; what it stored is kept.",
                [there.place],
            )
        same = [one.generation for one in others if (one.first, one.stop) == (first, stop)]
        claim = Claim(first, stop, max(same, default=0) + 1)
        if there.create(claim.key, _content(0, told)):
            for other in others:  # nobody's
                there.remove(other.key)
            return claim


def _content(beats: int, told: dict[str, Any]) -> bytes:
    ours = {"host": socket.gethostname(), "pid": os.getpid(), "beats": beats}
    known = {"machine": machine(), "born": born(os.getpid())}
    return json.dumps(ours | known | told).encode()
