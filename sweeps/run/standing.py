"""What a sweep's store holds, whether it is the sweep's, and what is missing; without workers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from basepar_core.errors import StoreError, UsageError
from basepar_core.texts import shell
from sweeps.spec import FROM_PILOT, is_asked
from sweeps.store import (
    ERRORS_KEPT,
    Evaluator,
    Layout,
    Location,
    Part,
    PreciseStatus,
    Status,
    Store,
    as_damage,
    busy,
    check_and_repair,
    holder,
    locate,
    members_of,
    provenance,
    status,
    untaken,
)

from .job import Job

#: Variants among which a precise task takes those that wait: few, so that a small sweep of heavy
#: variants keeps all workers busy; more where there are MANY, each with a task of its own.
PIECE, PIECE_OF_MANY, MANY = 8, 128, 16_384


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep's store holds after a run.

    `evaluated` counts this run's variants; `lost` is how often a task was lost with its worker;
    `notes` are sentences about the run that somebody should read; `stopped`: somebody wanted it
    to end before all was done.
    """

    store: str
    total: int
    counts: Mapping[Status, int]
    precise: Mapping[PreciseStatus, int] = field(default_factory=dict)
    evaluated: int = 0
    seconds: float = 0.0
    errors: Mapping[int, str] = field(default_factory=dict)
    lost: int = 0
    notes: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def done(self) -> bool:
        """Whether no variant is pending."""
        return not self.counts.get(Status.PENDING)

    @property
    def failed(self) -> int:
        """Variants that crashed or timed out, in float64 or in the precise task."""
        return (
            self.counts.get(Status.CRASHED, 0)
            + self.counts.get(Status.TIMED_OUT, 0)
            + self.precise.get(PreciseStatus.CRASHED, 0)
            + self.precise.get(PreciseStatus.TIMED_OUT, 0)
        )

    @property
    def unsettled(self) -> int:
        """Variants pending, or awaiting a precise task that has not answered."""
        waiting = self.counts.get(Status.AWAITING_PRECISE, 0) - sum(self.precise.values())
        return self.counts.get(Status.PENDING, 0) + waiting


def as_stored(spec: Job, path: Location, attrs: Mapping[str, Any] | None = None) -> Job:
    """The sweep with what its store knows: direction numbers, and the chunk that a pilot chose."""
    if attrs is None:
        if not path.exists():
            return spec
        attrs = Store.open(path).attrs
    if "spec_hash" not in attrs:  # no sweep's, which `refuse_other` says
        return spec
    with as_damage("specification"):
        plain = json.loads(str(attrs["spec"]))
        spec = spec.recalled(plain.get("space", {}))
        return spec.chunked(int(plain["store"]["chunk"])) if spec.chunk == FROM_PILOT else spec


def complete(spec: Job, retry_failed: bool = False) -> Summary | None:
    """What a store holds where nothing is missing; None: there is something to do.

    Quick, and without workers: whoever starts some asks here first.

    Raises
    ------
    StoreError
        As `sweep`.
    """
    path = path_of(spec)
    if not path.exists():
        _refuse_busy(path)
        return None
    attrs = Store.open(path).attrs
    refuse_other(as_stored(spec, path, attrs), path, attrs)
    check_and_repair.check(path)
    if not _nothing_missing(path):
        _refuse_busy(path)
        return None
    found = summary(path)
    return None if retry_failed and found.failed else found


def _refuse_busy(path: Location) -> None:
    found = holder(path)
    if found is not None and found.here:  # of other machines the lock knows more
        raise busy(path, found)


def layout_of(spec: Job, evaluator: Evaluator, precise: Evaluator | None = None) -> Layout:
    """What the store of a sweep holds."""
    parts = [Part((*spec.swept, *evaluator.outputs), spec.chunk)]
    coords, attrs = dict(evaluator.coords), dict(evaluator.attrs)
    texts = attrs.pop("reasons", {})
    if precise is not None:
        parts.append(Part(precise.outputs, spec.chunk, "precise_"))
        coords |= precise.coords
        attrs |= precise.attrs
        texts = texts | attrs.pop("reasons", {})
    attrs |= {
        "title": spec.title,
        "swept": list(spec.plan.names),
        "spec": spec.document(),
        "spec_hash": spec.hash,
        "notes": json.dumps(spec.notes),
        "provenance": provenance(),
    }
    return Layout(len(spec), tuple(parts), coords, attrs, texts, grows=is_asked(spec.plan))


def refuse_other(spec: Job, path: Location, attrs: Mapping[str, Any] | None = None) -> None:
    """Make sure that a store is of this specification; StoreError names the difference."""
    attrs = Store.open(path).attrs if attrs is None else attrs
    if "spec_hash" not in attrs:
        raise StoreError(
            f"{path} is not the store of a sweep. Name another store.",
            [str(path)],
        )
    if attrs["spec_hash"] == spec.hash:
        return
    lines = spec.difference(json.loads(str(attrs.get("spec", "{}"))))
    listed = "".join(f"\n  {line}" for line in lines[:10])
    raise StoreError(
        f"{path} holds another sweep or study (here: this specification; there: the store's):"
        f"{listed}\nRun with `store={_other_store(spec, path)}`, or remove this one; of a study, "
        "with its journal.",
        [str(path)],
    )


def _other_store(spec: Job, path: Location) -> str:
    """A store to take instead; of a family's member, one for the family."""
    place = str(spec.store)
    if path.name in members_of(path.parent):
        place = str(locate(place).parent)
    return shell(untaken(place))


def summary(path: Location, rows: tuple[int, int] | None = None) -> Summary:
    """What the store holds now, of some rows or of all."""
    return summary_of(Store.open(path), rows)


def summary_of(held: Store, rows: tuple[int, int] | None = None, **run: Any) -> Summary:
    """What a store that is open holds now, and what is to be said of a run."""
    found, precise = status.take(held, rows), status.take_precise(held, rows)
    return Summary(
        str(held.path),
        found.total,
        found.counts,
        status.precise_counts(precise),
        errors=dict(sorted({**found.facts.errors, **precise.errors}.items())[:ERRORS_KEPT]),
        **run,
    )


def path_of(spec: Job) -> Location:
    """Where a sweep's store lies, absolute; UsageError where it has none."""
    if not spec.store:
        raise UsageError("The sweep has no store; name one in `store.path` or with `store=`.")
    return locate(spec.store).absolute()  # workers need not stand in the same directory


def piece_of(spec: Job) -> int:
    """Variants among which a precise task takes those that wait."""
    # A divisor of the chunk: no piece straddles two.
    most = PIECE if len(spec) < MANY else PIECE_OF_MANY
    return max(size for size in range(1, most + 1) if spec.chunk % size == 0)


def _nothing_missing(path: Location) -> bool:
    held = Store.open(path)
    if status.take(held).pending:
        return False
    return "precise_status" not in held or next(status.awaiting(held, held.chunk), None) is None
