"""How a sweep says where it stands; who prints, prints elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sweeps.store import PreciseStatus, Status


@dataclass(frozen=True, slots=True)
class Advance:
    """Where a sweep stands. `done` and `counts` include what earlier runs left in the store."""

    done: int
    total: int
    counts: Mapping[Status, int] = field(default_factory=dict)
    precise: Mapping[PreciseStatus, int] = field(default_factory=dict)
    seconds: float = 0.0  # since this run began
    workers: int = 0  # threads that evaluate

    @property
    def unsettled(self) -> int:
        """Variants evaluated whose precise task has not answered."""
        return self.counts.get(Status.AWAITING_PRECISE, 0) - sum(self.precise.values())


class Progress(Protocol):
    """Called in the driver, after each batch of receipts; must return quickly."""

    def __call__(self, advance: Advance) -> None: ...
