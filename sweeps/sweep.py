"""The sweep itself: its store, what is missing there, and a client to do it with.

`sweep` is idempotent: called again it does only what is missing, and with nothing missing it
does nothing.
"""

import json
import math
import platform
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import zarr
from distributed import Client

from basepar_core.errors import StoreError, UsageError

from . import fanout, store
from .asked import Asked
from .outputs import Evaluator, Output
from .progress import Advance, Progress
from .space import Filter, dimensions
from .spec import SweepSpec
from .statuses import PreciseStatus, Status
from .store import Layout, Part
from .work import Receipt, Stage, Work

#: Variants per chunk of the precise arrays, each of which a precise task writes alone.
PRECISE_CHUNK = 8
#: Error texts kept in the store's attributes.
ERRORS_KEPT = 100


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep's store holds after a run.

    `evaluated` counts this run's variants; `unfinished` are ranges given up because their
    workers died again and again (they stay pending).
    """

    store: str
    total: int
    counts: Mapping[Status, int]
    precise: Mapping[PreciseStatus, int] = field(default_factory=dict)
    evaluated: int = 0
    seconds: float = 0.0
    errors: Mapping[int, str] = field(default_factory=dict)
    unfinished: tuple[tuple[int, int], ...] = ()

    @property
    def done(self) -> bool:
        """Whether no variant is pending."""
        return not self.counts.get(Status.PENDING) and not self.unfinished

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


def sweep(
    spec: SweepSpec,
    client: Client,
    progress: Progress | None = None,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    rows: tuple[int, int] | None = None,
) -> Summary:
    """Evaluate every variant of a sweep that its store does not hold yet.

    Parameters
    ----------
    spec
        The sweep; `spec.store` is created, or continued if it is of the same specification.
    client
        A Dask client; its workers must see the store's directory.
    progress
        Called after each batch of receipts.
    evaluator, precise
        What to compute; by default what `prepare(spec)` makes of the specification, together
        with its attribute `precise`.
    rows
        (start, stop), whole chunks: only these variants; by default all.

    Raises
    ------
    StoreError
        If the store belongs to another specification (the difference is named), or is damaged.
    WorkersError
        If no worker turns up, or results cannot be written.
    """
    path = _path(spec)
    if path.exists():
        refuse_other(spec, path)
        if _nothing_missing(spec, path):
            return summary(spec, path)
    if evaluator is None:
        from .evaluate import prepare  # may take long: only when there is something to do

        evaluator = prepare(spec)
        precise = getattr(evaluator, "precise", None)
    layout = layout_of(spec, evaluator, precise)
    if not path.exists():
        store.create(path, layout)
    stages = [Stage(evaluator, layout.parts[0])]
    stages += [Stage(precise, layout.parts[1])] if precise is not None else []
    group = store.check(path, layout)
    return _fill(spec, path, group, tuple(stages), client, progress, rows or (0, len(spec)))


def layout_of(spec: SweepSpec, evaluator: Evaluator, precise: Evaluator | None = None) -> Layout:
    """What the store of a sweep holds."""
    parts = [Part((*swept_outputs(spec), *evaluator.outputs), spec.chunk)]
    coords, attrs = dict(evaluator.coords), dict(evaluator.attrs)
    texts = attrs.pop("reasons", {})
    if precise is not None:
        parts.append(Part(precise.outputs, _precise_chunk(spec), "precise_"))
        coords |= precise.coords
        attrs |= precise.attrs
        texts = texts | attrs.pop("reasons", {})
    kind = "study" if isinstance(spec.plan, Asked) else "sweep"
    attrs |= {
        "title": f"{kind} of {spec.mechanism.name}",
        "spec": spec.document(),
        "spec_hash": spec.hash,
        "provenance": provenance(),
    }
    return Layout(len(spec), tuple(parts), coords, attrs, texts)


def swept_outputs(spec: SweepSpec) -> tuple[Output, ...]:
    """The swept symbols as arrays, SI."""
    measures = dimensions(spec.mechanism)
    angles = {symbol.name for symbol in spec.mechanism.geometry if symbol.is_angle}

    def unit(name: str) -> str:
        text = "rad" if name in angles else str(measures[name])
        return "1" if text == "no unit" else text

    return tuple(Output(name, unit=unit(name), long_name=name) for name in spec.plan.names)


def provenance() -> dict[str, Any]:
    """When, and with which versions."""
    packages = ("basepar", "numpy", "scipy", "sympy", "mpmath", "numba", "python-flint", "zarr")
    found = {"python": platform.python_version()}
    for package in (*packages, "xarray", "distributed"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"created": datetime.now(UTC).isoformat(), "versions": found}


def refuse_other(spec: SweepSpec, path: Path) -> None:
    """Make sure that a store is of this specification; StoreError names the difference."""
    attrs = store.open_group(path).attrs
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
        f"{listed}\nName another store, or remove this one.",
        [str(path)],
    )


def summary(spec: SweepSpec, path: Path, **run: Any) -> Summary:
    """What the store holds now."""
    group = store.open_group(path)
    found = store.survey(group, Part((), spec.chunk))
    return Summary(
        str(path),
        len(spec),
        found.counts,
        store.precise_counts(group),
        errors=kept_errors(group),
        **run,
    )


def kept_errors(group: zarr.Group) -> dict[int, str]:
    """Texts of the first exceptions, by variant."""
    kept = json.loads(str(group.attrs.get("errors", "{}")))
    return {int(variant): text for variant, text in kept.items()}


def _path(spec: SweepSpec) -> Path:
    if not spec.store:
        raise UsageError("The sweep has no store; name one in `store.path` or with --store.")
    return Path(spec.store).absolute()  # workers need not stand in the same directory


def _precise_chunk(spec: SweepSpec) -> int:
    # A divisor of the chunk: no precise chunk straddles two of the sweep's.
    return math.gcd(PRECISE_CHUNK, spec.chunk)


def _nothing_missing(spec: SweepSpec, path: Path) -> bool:
    group = store.open_group(path)
    if store.survey(group, Part((), spec.chunk)).pending:
        return False
    if "precise_status" not in group:
        return True
    return next(store.awaiting(group, Part((), _precise_chunk(spec), "precise_")), None) is None


def _fill(
    spec: SweepSpec,
    path: Path,
    group: zarr.Group,
    stages: tuple[Stage, ...],
    client: Client,
    progress: Progress | None,
    rows: tuple[int, int],
) -> Summary:
    begun = time.monotonic()
    created = str(group.attrs["provenance"])
    conditions = Filter.of(spec.mechanism, spec.where)
    work = Work(str(path), created, spec.plan, conditions, stages, spec.variant_seconds)
    chunks = [stage.part.chunk for stage in stages]
    found = store.survey(group, stages[0].part)
    tally = _Tally(len(spec), found.counts, store.precise_counts(group), progress)
    lost = []
    if len(stages) > 1:  # doubtful variants that an interrupted run left behind
        left = store.awaiting(group, stages[1].part)
        lost += fanout.run(work, left, client, chunks=chunks, stage=1, on_receipts=tally)
    pending = [(max(start, rows[0]), min(stop, rows[1])) for start, stop in found.pending]
    pending = [(start, stop) for start, stop in pending if start < stop]
    lost += fanout.run(work, pending, client, chunks=chunks, on_receipts=tally)
    if tally.errors:
        errors = kept_errors(group) | tally.errors
        kept = dict(sorted(errors.items())[:ERRORS_KEPT])
        store.set_attribute(path, "errors", json.dumps(kept))
    return summary(
        spec,
        path,
        evaluated=tally.evaluated,
        seconds=time.monotonic() - begun,
        unfinished=tuple(sorted((task.start, task.stop) for task in lost)),
    )


class _Tally:
    """Adds up receipts, and tells the progress."""

    def __init__(
        self,
        total: int,
        counts: Mapping[Status, int],
        precise: Mapping[PreciseStatus, int],
        progress: Progress | None,
    ):
        self.total = total
        self.counts: list[Counter[int]] = [Counter(counts), Counter(precise)]
        self.progress = progress
        self.begun = time.monotonic()
        self.evaluated = 0
        self.errors: dict[int, str] = {}

    def __call__(self, receipts: Sequence[Receipt], threads: int) -> None:
        for receipt in receipts:
            self.counts[receipt.stage].update(dict(receipt.counts))
            if receipt.stage == 0:
                self.evaluated += receipt.stop - receipt.start
                self.counts[0][Status.PENDING] -= receipt.stop - receipt.start
            if len(self.errors) < ERRORS_KEPT:
                self.errors.update(receipt.errors)
        if self.progress is not None:
            self.progress(self._advance(threads))

    def _advance(self, threads: int) -> Advance:
        counts = store.named(self.counts[0], Status)
        return Advance(
            done=self.total - counts.get(Status.PENDING, 0),
            total=self.total,
            counts=counts,
            precise=store.named(self.counts[1], PreciseStatus),
            seconds=time.monotonic() - self.begun,
            workers=threads,
        )
