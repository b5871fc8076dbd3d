"""A user's own metrics: Python functions over the arrays of a cycle, registered by name.

A function takes a `ClosedCycle` (some variants, closed along their cycle) and returns a number
per variant. It is named by a decorator,

    from sweeps.spec.own_metrics import metric

    @metric("rocker_speed", unit="rad/s")
    def rocker_speed(cycle):
        return abs(numpy.gradient(cycle.joint("D"), cycle.motion.t, axis=1)).max(axis=1)

or by an entry `module:function`, or `file.py:function` beside the file that speaks of it. It goes
to the workers by value, so they need neither the file nor its folder. The sha256 of its file is
part of the specification's hash: another text is another sweep.

A store only describes its metrics (`described`): reading one imports nothing. Whoever evaluates
has the functions by `fetched`, which compares the file first and asks whether it is trusted.
"""

import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.metrics import ClosedCycle
from basepar_core.texts import plural

from . import own_code
from .own_code import OwnCodeError

Function = Callable[[ClosedCycle], Any]
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class MetricError(OwnCodeError):
    """A user's metric is unavailable, or failed."""

    kind = "metric"


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A user's metric.

    Attributes
    ----------
    name, entry
        What it is called; where it comes from, `module:function`.
    function
        From a `ClosedCycle` to (variant,); None where a store only describes it.
    unit, digest
        SI text, "1" where there is none; sha256 of its file (`own_code.digest_of`).
    """

    name: str
    entry: str
    function: Function | None
    unit: str = "1"
    digest: str = ""

    @property
    def words(self) -> str:
        """A line about it: the first of its docstring."""
        text = inspect.getdoc(self.function) if self.function else None
        return (text or self.entry).splitlines()[0]

    def describe(self) -> dict[str, str]:
        """Plain data to find it again."""
        return {"entry": self.entry, "sha256": self.digest, "unit": self.unit}

    def __call__(self, cycle: ClosedCycle) -> np.ndarray:
        """Its values (variant,).

        Not finite where it has none: such a variant's reason says so (`Reason.OWN_METRIC`).

        Raises
        ------
        MetricError
            The function raised, or did not return a real number per variant.
        """
        if self.function is None:
            message = f"The metric {self.name} ({self.entry}) is only described by a store."
            raise MetricError(message, [self.name])
        try:
            found = np.ma.filled(self.function(cycle), np.nan)  # masked: no value
        except Exception as cause:
            last = traceback.extract_tb(cause.__traceback__)[-1]
            raise MetricError(
                f"The metric {self.name} ({self.entry}) raised {type(cause).__name__}: {cause} "
                f"(line {last.lineno} of {last.filename}). It is given "
                f"{plural(cycle.count, 'variant')} and "
                f"{plural(cycle.q.shape[2], 'sample')}; correct the function.",
                [self.name],
            ) from cause
        if found.shape != (cycle.count,):
            raise MetricError(
                f"The metric {self.name} ({self.entry}) returned an array of shape {found.shape}; "
                f"({cycle.count},) is needed, a number per variant.",
                [self.name],
            )
        return self._real(found)

    def _real(self, found: np.ndarray) -> np.ndarray:
        """Values as float64; nothing of them may be lost by that."""
        if found.dtype.kind in "biuf":
            return found.astype(float)
        if found.dtype.kind != "c":
            raise MetricError(
                f"The metric {self.name} ({self.entry}) returned values of the type "
                f"{found.dtype}; real numbers are needed. Convert them in the function.",
                [self.name],
            )
        if (rows := np.flatnonzero(found.imag != 0)).size:
            raise MetricError(
                f"The metric {self.name} ({self.entry}) returned complex numbers, such as "
                f"{found[rows[0]]:.6g}; real ones are needed. Return .real, .imag or abs(…), "
                "whichever is meant.",
                [self.name],
            )
        return found.real.astype(float)


_registered: dict[str, OwnMetric] = {}


def metric(name: str = "", unit: str = "1") -> Callable[[Function], Function]:
    """Register a function as a metric; `unit` is SI text such as `N*m`.

    Objectives, constraints and `Evaluation.metrics` may then speak of it by its name. A name
    that is given again replaces the earlier function, as a rerun of a notebook's cell should.
    """

    def register(function: Function) -> Function:
        title = name or function.__name__
        entry = f"{function.__module__}:{function.__qualname__}"
        digest = own_code.digest_of(function)
        _registered[title] = OwnMetric(title, entry, function, unit, digest)
        return function

    return register


def registered() -> Mapping[str, OwnMetric]:
    """Metrics that `metric` has registered, by name."""
    return dict(_registered)


def load(name: str, entry: str, folder: Path | str = ".") -> OwnMetric:
    """A metric by its entry, `package.module:function` or `file.py:function`.

    Raises
    ------
    MetricError
        There is no such module, file or function, or importing it failed.
    """
    try:
        found, function = own_code.loaded(entry, folder)
    except OwnCodeError as error:
        raise MetricError(f"The metric {name}: {error.message}", [name]) from error
    return OwnMetric(name, found.entry, function, _unit_of(function), found.digest)


def described(plain: Mapping[str, Mapping[str, str]]) -> tuple[OwnMetric, ...]:
    """Metrics as a store describes them, without their functions."""
    found = []
    for name, one in plain.items():
        entry, unit, digest = own_code.stated(one, "entry", "unit", "sha256")
        found.append(OwnMetric(name, entry, None, unit, digest))
    return tuple(found)


def fetched(metrics: Iterable[OwnMetric], trust: bool = False) -> tuple[OwnMetric, ...]:
    """Metrics with their functions; those that a store only describes are fetched.

    One that the running program has registered itself is taken as it is, if it is the same.

    Parameters
    ----------
    trust
        Whether files that a store names may be run.

    Raises
    ------
    OwnCodeError
        A file is not what it was, or not said to be trusted; nothing has run then.
    """
    return tuple(one if one.function else _fetched(one, trust) for one in metrics)


def check(metrics: Iterable[OwnMetric], trust: bool = False) -> None:
    """Reject what `fetched` rejects, and import nothing."""
    for one in metrics:
        if one.function is None and _running(one) is None:
            own_code.checked(f"metric {one.name}", one.entry, one.digest, trust)


def _fetched(one: OwnMetric, trust: bool) -> OwnMetric:
    function = _running(one) or own_code.fetched(
        f"metric {one.name}", one.entry, one.digest, trust
    )
    return replace(one, function=function)


def _running(one: OwnMetric) -> Function | None:
    """The same function, where the running program has registered it."""
    known = _registered.get(one.name)
    return known.function if known is not None and known.digest == one.digest else None


def named(names: Iterable[str]) -> tuple[OwnMetric, ...]:
    """Registered metrics of these names, others left out."""
    return tuple(_registered[name] for name in names if name in _registered)


def name_mistake(name: str, taken: Iterable[str]) -> str:
    """Why a metric cannot be called so; "" if it can."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name: letters, digits and _, starting with a letter"
    return f"{name!r} is taken; give the metric another name" if name in taken else ""


def _unit_of(function: Function) -> str:
    """The unit that a function was registered with, if it was."""
    known = next((one for one in _registered.values() if one.function is function), None)
    return known.unit if known else "1"
