"""A user's own metrics: Python functions over the arrays of a cycle, registered by name.

A function takes a `ClosedCycle` (some variants, closed along their cycle) and returns a number
per variant. It is named by a decorator,

    from sweeps.own_metrics import metric

    @metric("rocker_speed", unit="rad/s")
    def rocker_speed(cycle):
        return abs(numpy.gradient(cycle.joint("D"), cycle.motion.t, axis=1)).max(axis=1)

or by an entry `module:function`, or `file.py:function` beside the file that speaks of it. It goes
to the workers by value, so they need neither the file nor its folder. Its source is part of the
specification's hash: another function of the name is another sweep.
"""

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np

from basepar_core.cycle_metrics import ClosedCycle
from basepar_core.errors import BaseparError

Function = Callable[[ClosedCycle], Any]
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class MetricError(BaseparError):
    """A user's metric is not to be had, or failed."""

    kind = "metric"


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A user's metric.

    Attributes
    ----------
    name, entry
        What it is called; where it comes from, `module:function`.
    function
        From a `ClosedCycle` to (variant,).
    unit, digest
        SI text, "1" where there is none; sha256 of its source.
    """

    name: str
    entry: str
    function: Function
    unit: str = "1"
    digest: str = ""

    @property
    def words(self) -> str:
        """A line about it: the first of its docstring."""
        return (inspect.getdoc(self.function) or self.entry).splitlines()[0]

    def describe(self) -> dict[str, str]:
        """Plain data to find it again."""
        return {"entry": self.entry, "sha256": self.digest, "unit": self.unit}

    def __call__(self, cycle: ClosedCycle) -> np.ndarray:
        """Its values (variant,).

        Raises
        ------
        MetricError
            The function raised, or did not return a number per variant.
        """
        try:
            found = np.asarray(self.function(cycle), float)
        except Exception as cause:
            last = traceback.extract_tb(cause.__traceback__)[-1]
            raise MetricError(
                f"The metric {self.name} ({self.entry}) raised {type(cause).__name__}: {cause} "
                f"(line {last.lineno} of {last.filename}). It is given {cycle.count} variants and "
                f"{cycle.q.shape[2]} samples; mend the function.",
                [self.name],
            ) from cause
        if found.shape != (cycle.count,):
            raise MetricError(
                f"The metric {self.name} ({self.entry}) returned an array of shape {found.shape}; "
                f"({cycle.count},) is needed, a number per variant.",
                [self.name],
            )
        return found


_registered: dict[str, OwnMetric] = {}


def metric(name: str = "", unit: str = "1") -> Callable[[Function], Function]:
    """Register a function as a metric; `unit` is SI text such as `N*m`.

    Objectives, constraints and `Evaluation.metrics` may then speak of it by its name. A name
    that is given again replaces the earlier function, as a rerun of a notebook's cell should.
    """

    def register(function: Function) -> Function:
        title = name or function.__name__
        entry = f"{function.__module__}:{function.__qualname__}"
        _registered[title] = _made(title, entry, function, unit)
        return function

    return register


def registered() -> Mapping[str, OwnMetric]:
    """Metrics that `metric` has registered, by name."""
    return dict(_registered)


def of_function(name: str, function: Function) -> OwnMetric:
    """A metric of a function at hand; its unit is the one it was registered with, if it was."""
    known = next((one for one in _registered.values() if one.function is function), None)
    entry = f"{function.__module__}:{function.__qualname__}"
    return _made(name, entry, function, known.unit if known else "1")


def load(name: str, entry: str, folder: Path | str = ".") -> OwnMetric:
    """A metric by its entry, `package.module:function` or `file.py:function`.

    Raises
    ------
    MetricError
        There is no such module, file or function, or importing it failed.
    """
    where, _, title = entry.rpartition(":")
    if not where or not title:
        message = f"{entry!r} names no function; it reads like 'wear.py:wear' or 'package:wear'."
        raise MetricError(message, [name])
    is_file = where.endswith(".py")
    path = (Path(folder) / where).absolute() if is_file else None
    try:
        module = _of_file(path) if path else importlib.import_module(where)
    except Exception as cause:
        raise MetricError(
            f"{where} of the metric {name} cannot be imported: {type(cause).__name__}: {cause}.",
            [name],
        ) from cause
    function = getattr(module, title, None)
    if not callable(function):
        raise MetricError(f"{where} has no function {title!r} for the metric {name}.", [name])
    if path or not _everywhere(module):
        cloudpickle.register_pickle_by_value(module)
    known = next((one for one in _registered.values() if one.function is function), None)
    where = str(path) if path else where
    return _made(name, f"{where}:{title}", function, known.unit if known else "1")


def _everywhere(module: ModuleType) -> bool:
    """Whether workers can import it too: Python's own, or installed."""
    own = module.__name__.partition(".")[0] in sys.stdlib_module_names
    return own or "site-packages" in (module.__file__ or "")


def again(plain: Mapping[str, Mapping[str, str]]) -> tuple[OwnMetric, ...]:
    """Metrics as a store describes them."""
    found = []
    for name, one in plain.items():
        known = _registered.get(name)
        if known is None or known.entry != one["entry"]:
            known = load(name, one["entry"])
        found.append(_made(name, known.entry, known.function, one["unit"]))
    return tuple(found)


def named(names: Iterable[str]) -> tuple[OwnMetric, ...]:
    """Registered metrics of these names, others left out."""
    return tuple(_registered[name] for name in names if name in _registered)


def name_mistake(name: str, taken: Iterable[str]) -> str:
    """Why a metric cannot be called so; "" if it can."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name: letters, digits and _, starting with a letter"
    return f"{name!r} is taken; give the metric another name" if name in taken else ""


def _made(name: str, entry: str, function: Function, unit: str) -> OwnMetric:
    try:
        source = inspect.getsource(function).encode()
    except (OSError, TypeError):  # typed at a prompt, or compiled
        code = getattr(function, "__code__", None)
        source = code.co_code + repr(code.co_consts).encode() if code else entry.encode()
    return OwnMetric(name, entry, function, unit, hashlib.sha256(source).hexdigest())


def _of_file(path: Path) -> ModuleType:
    title = f"basepar_metrics_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(title, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module  # where pickling and inspection look for it
    spec.loader.exec_module(module)
    return module
