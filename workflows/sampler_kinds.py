"""Which samplers there are, what each can, and from what it learns.

Optuna's by a short name; any other of Optuna's, OptunaHub's or the user's by `module:Class`.
"""

import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler

from basepar_core.errors import Mistake, UsageError

#: What a sampler makes of trials that it did not ask for: uses them; breeds from those that come
#: through it with given parameters; takes them when it is made; nothing is known of it.
TOLD, BRED, SOURCE, UNKNOWN = "told", "bred", "source", "unknown"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sampler.

    Attributes
    ----------
    path
        `module:Class`; "" for the Sobol sequence, which is ours.
    several, constrained
        Whether it takes several objectives, and heeds constraints.
    learns
        What it makes of trials that it did not ask for.
    batch
        Trials asked for at once where the file does not say (decision 0060).
    ahead
        Whether it learns nothing from trials: then it is asked for a batch while the one before
        is evaluated (decision 0063).
    package
        What must be installed besides Optuna.
    """

    path: str
    several: bool = True
    constrained: bool = True
    learns: str = UNKNOWN
    batch: int = 20
    package: str = ""
    ahead: bool = False


_OPTUNA = "optuna.samplers"
KINDS: Mapping[str, Kind] = {
    "tpe": Kind(f"{_OPTUNA}:TPESampler", learns=TOLD, batch=10),
    "random": Kind(f"{_OPTUNA}:RandomSampler", batch=500, ahead=True),
    "qmc": Kind("", batch=500, ahead=True),
    "cmaes": Kind(f"{_OPTUNA}:CmaEsSampler", False, False, SOURCE, 20, "cmaes"),
    "nsga2": Kind(f"{_OPTUNA}:NSGAIISampler", learns=BRED, batch=50),
    "nsga3": Kind(f"{_OPTUNA}:NSGAIIISampler", learns=BRED, batch=50),
    "gp": Kind(f"{_OPTUNA}:GPSampler", learns=TOLD, batch=5, package="torch"),
}


def kind_of(name: str) -> Kind:
    """A kind by its name or `module:Class`."""
    return KINDS.get(name) or Kind(name)


def made(name: str, seed: int, options: Mapping[str, Any]) -> BaseSampler:
    """A sampler; `seed` goes to those that take one.

    Raises
    ------
    UsageError
        It cannot be imported or made; the message says why.
    """
    kind = kind_of(name)
    if kind.package and not _is_there(kind.package):
        raise UsageError(
            f"The sampler {name} needs the package of that name: pip install {kind.package}."
            if name == kind.package
            else f"The sampler {name} needs a package: pip install {kind.package}.",
            ["sampler.kind"],
        )
    try:
        make, takes_seed = _constructor(kind.path)
        with warnings.catch_warnings():
            # For every trial anew: that NSGA-III or CMA-ES's source_trials may change.
            warnings.simplefilter("ignore", category=ExperimentalWarning)
            return make(**({"seed": seed} if takes_seed else {}), **options)
    except Exception as cause:
        raise UsageError(
            f"The sampler {name} cannot be made: {type(cause).__name__}: {cause}.",
            ["sampler"],
        ) from cause


@cache
def _constructor(path: str) -> tuple[Callable[..., BaseSampler], bool]:
    """A sampler's class, and whether it takes a seed: asked for every trial, found once."""
    module, _, title = path.partition(":")
    make = getattr(importlib.import_module(module), title)
    return make, "seed" in inspect.signature(make).parameters


def _is_there(package: str) -> bool:
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def mistakes(name: str, objectives: int, constraints: int) -> list[Mistake]:
    """What is wrong with asking this sampler for that."""
    if name not in KINDS and ":" not in name:
        known = f"{', '.join(KINDS)}, or module:Class"
        return [Mistake("sampler.kind", f"no sampler {name!r} ({known})")]
    kind, found = kind_of(name), []
    if objectives > 1 and not kind.several:
        message = f"{name} takes one objective, not {objectives}; use nsga2 or tpe."
        found.append(Mistake("sampler.kind", message))
    if constraints and not kind.constrained:
        message = f"{name} does not heed constraints; use tpe or nsga2."
        found.append(Mistake("sampler.kind", message))
    return found
