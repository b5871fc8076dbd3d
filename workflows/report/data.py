"""What a report is made from: the store's attributes, and the arrays it needs, once each.

Of a store with more variants than anybody plots, whole chunks evenly spread over it are read;
status counts are of all variants whatever the size.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.dynamics import Model, prepare
from basepar_core.errors import BaseparError, StoreError
from basepar_core.expressions import parse_unit
from basepar_core.mechanism import Mechanism, parameter_unit
from basepar_core.metrics import array_name
from sweeps.spec import mechanism_of
from sweeps.store import WITH_RESULTS, Location, PreciseStatus, Status, Store
from workflows.views import after_doubt, standing, store

from .feasibility_view import Judged, judged
from .metric import Metric

#: Variants whose results are read (2-D arrays of so many are about 100 MB).
MOST_ROWS = 1 << 18


@dataclass(frozen=True, slots=True)
class Swept:
    """A swept symbol: values (row,) and nominal value in its own unit, SI times `per_si`."""

    name: str
    unit: str
    values: np.ndarray
    nominal: float | None = None
    per_si: float = 1.0


@dataclass(frozen=True)
class Facts:
    """A store as a report sees it.

    Attributes
    ----------
    status
        The document of `basepar status`.
    spec, base
        The specification and the base parameters, as the store keeps them.
    mechanism, model
        None where the mechanism cannot be read or assembled here; `trouble` says why.
    whole
        Whether all rows are read, however many there are.
    """

    store: Store = field(repr=False)
    status: Mapping[str, Any]
    spec: Mapping[str, Any]
    base: Mapping[str, Any] | None
    mechanism: Mechanism | None
    model: Model | None
    trouble: str = ""
    whole: bool = False
    _read: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    _labels: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @property
    def total(self) -> int:
        return int(self.status["total"])

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """Ranges of variants that are read."""
        if self.whole or self.total <= MOST_ROWS:
            return [(0, self.total)]
        chunk = int(self.spec["store"]["chunk"])
        chunks = -(-self.total // chunk)
        chosen = np.unique(np.linspace(0, chunks - 1, max(1, MOST_ROWS // chunk)).astype(int))
        return [(k * chunk, min((k + 1) * chunk, self.total)) for k in map(int, chosen)]

    @cached_property
    def variants(self) -> np.ndarray:
        """Number of the variant in each row that is read: (row,)."""
        return np.concatenate([np.arange(*block) for block in self._blocks])

    @property
    def is_sample(self) -> bool:
        """Whether only some of the variants are read."""
        return self.variants.size < self.total

    def read(self, name: str) -> np.ndarray | None:
        """An array's rows; None where the store has no such array."""
        if name not in self.store:
            return None
        if name not in self._read:
            array = self.store[name]
            try:
                parts = [np.asarray(array[start:stop]) for start, stop in self._blocks]
            except Exception as cause:
                raise StoreError(
                    f"{self.store.path} is damaged: array {name!r} cannot be read: {cause}. "
                    "Remove the store and run again.",
                    [f"{self.store.path}/{name}"],
                ) from cause
            self._read[name] = np.concatenate(parts)
        return self._read[name]

    def labels(self, name: str) -> list[str]:
        """Labels of a dimension; none where the store has no such dimension."""
        if name not in self._labels:
            self._labels[name] = [str(label) for label in self.store.labels(name)]
        return self._labels[name]

    @cached_property
    def lines(self) -> list[Mapping[str, Any]]:
        """Base parameters as `BaseParameters.document` has them, force-law columns behind them.

        Each with its `unit`.
        """
        if self.base is None:
            return []
        further = [{"parameter": name, "terms": {}, "values": {}} for name in self.further]
        lines = [*self.base["base"], *further]
        units = self.labels("base_parameter_unit")
        units = units or [parameter_unit(line["parameter"]) for line in lines]
        return [{**line, "unit": unit} for line, unit in zip(lines, units, strict=True)]

    @cached_property
    def further(self) -> list[str]:
        """Names of columns besides the inertial ones (`evaluate.with`)."""
        names = self.store.attrs.get("columns")
        return [str(name) for name in names] if isinstance(names, list) else []

    def unit(self, name: str) -> str:
        """An array's unit, "" for a plain number."""
        text = str(self.store[name].attrs.get("units", "1"))
        return "" if text == "1" else text

    @cached_property
    def has_results(self) -> np.ndarray:
        """Whether each row's variant carries results: (row,) bool."""
        return np.isin(self._status_codes, WITH_RESULTS)

    @cached_property
    def _status_codes(self) -> np.ndarray:
        codes = self.read("status")
        return np.zeros(0, np.int8) if codes is None else codes

    @cached_property
    def words(self) -> np.ndarray:
        """Each row's status in words, as it stands after the precise stage: (row,)."""
        named = {int(status): status.meaning for status in Status}
        words = np.array([named[int(code)] for code in self._status_codes], dtype=object)
        precise = self.read("precise_status")
        if precise is not None:
            for row in np.flatnonzero(
                (self._status_codes == Status.AWAITING_PRECISE) & (precise > 0)
            ):
                words[row] = after_doubt(PreciseStatus(int(precise[row])).meaning)
        return words

    @cached_property
    def standing(self) -> dict[str, int]:
        """Variants by status in words, as they stand after the precise stage."""
        return standing(self.status)

    @cached_property
    def symbols(self) -> tuple[Swept, ...]:
        """The swept symbols, and those that follow them, in the units of the mechanism's file."""
        space = self.spec["space"]
        names = self.store.swept or list(space.get("variables") or space.get("names") or ())
        return tuple(self._swept(name) for name in names if name in self.store)

    def _swept(self, name: str) -> Swept:
        values = self.read(name)
        assert values is not None
        known = (
            {symbol.name: symbol for symbol in self.mechanism.geometry} if self.mechanism else {}
        )
        if name not in known or self.mechanism is None:
            return Swept(name, self.unit(name), values)
        text = known[name].unit
        per_si = 1.0 / parse_unit(text).size if text else 1.0
        return Swept(name, text, values * per_si, self.mechanism.nominal[name] * per_si, per_si)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics asked for, one per coordinate where there are several, and `condition`."""
        names = [array_name(metric) for metric in self.spec["evaluate"]["metrics"]]
        asked = [name for name in names if name in self.store]
        found = [
            metric
            for name in [*asked, *(["condition"] if "condition" in self.store else [])]
            for metric in self._metric(name)
            if np.isfinite(metric.values).any()
        ]
        if self.unjudged:  # which of them may win is not known
            nobody = np.zeros(self.variants.size, bool)
            return tuple(replace(one, may_win=nobody, is_asked=False) for one in found)
        return tuple(found) if self.judged is None else self.judged.metrics(found)

    @cached_property
    def _judgement(self) -> tuple[Judged | None, str]:
        if self.kind == "sweep":
            return None, ""
        return judged(self.store, self.variants)

    @property
    def judged(self) -> Judged | None:
        """What the study makes of its variants; None for a sweep's store."""
        return self._judgement[0]

    @property
    def unjudged(self) -> str:
        """Why a study's variants cannot be judged, so that none is the best; "" else."""
        return self._judgement[1]

    @property
    def kind(self) -> str:
        """`study` or `sweep`."""
        return "study" if "objectives" in self.spec["space"].get("by", {}) else "sweep"

    def _metric(self, name: str) -> list[Metric]:
        values = self.read(name)
        assert values is not None
        unit, meaning = self.unit(name), str(self.store[name].attrs.get("long_name", name))
        good = np.where(self.has_results.reshape(-1, *[1] * (values.ndim - 1)), values, np.nan)
        if values.ndim == 1:
            return [Metric(name, unit, meaning, good)]
        labels = self.labels("coordinate")
        units = self.labels("coordinate_unit") or [unit] * len(labels)
        return [
            Metric(f"{name} of {label}", units[k], meaning, good[:, k])
            for k, label in enumerate(labels)
        ]

    def variant_values(self, row: int) -> dict[str, float]:
        """Swept symbols of a row, SI."""
        return {s.name: float(s.values[row] / s.per_si) for s in self.symbols}


def gather(path: Location, whole: bool = False) -> Facts:
    """Open a store for a report.

    Parameters
    ----------
    whole
        Whether all rows are read; else of large stores some chunks, evenly spread.

    Raises
    ------
    StoreError
        It is missing, damaged, or not the store of a sweep.
    """
    if not path.exists():
        other = path.parent / f"{path.name}.zarr"
        named = path if path.stem != path.name else other
        remedy = f"`basepar sweep SPEC --store {named}` makes one."
        hint = f"; did you mean {other}?" if other.exists() else f". {remedy}"
        raise StoreError(f"There is no store {path}{hint}", [str(path)])
    held = Store.open(path)
    spec, base = _attribute(held, "spec"), _attribute(held, "base", needed=False)
    _attribute(held, "provenance")
    for name in ("status", "reason", "reason_value"):
        held[name]
    mechanism, model, trouble = _mechanism(spec)
    return Facts(held, store.document(path), spec, base, mechanism, model, trouble, whole)


def _attribute(held: Store, name: str, needed: bool = True) -> Any:
    if name not in held.attrs:
        if not needed:
            return None
        raise StoreError(
            f"{held.path} is not the store of a sweep: it has no attribute {name!r}. Name a store "
            "that `basepar sweep` made.",
            [str(held.path)],
        )
    try:
        return held.plain(name, "")
    except json.JSONDecodeError as cause:
        raise StoreError(
            f"{held.path} is damaged: its attribute {name!r} is no JSON ({cause}). Remove the "
            "store and run again.",
            [f"{held.path}/zarr.json"],
        ) from cause


def _mechanism(spec: Mapping[str, Any]) -> tuple[Mechanism | None, Model | None, str]:
    """The mechanism from the text that the store keeps; else why not."""
    try:
        mechanism = mechanism_of(spec)
    except (BaseparError, KeyError) as error:
        return None, None, f"The mechanism cannot be read from the store: {error}"
    try:
        return mechanism, prepare(mechanism), ""
    except BaseparError as error:
        return mechanism, None, f"The mechanism cannot be assembled: {error}"
