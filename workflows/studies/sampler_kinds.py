"""Which samplers there are, what each can, and from what it learns.

Optuna's by a short name or by the name of their class, from a list: no name is imported. Any other
(OptunaHub's, the user's) is named as an own metric is, `own: file.py:Class`.
"""

import importlib.util
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler

from basepar_core.errors import Mistake, UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.metrics import words
from sweeps.spec import own_code

from .cmaes_state import CmaEs

#: What a sampler makes of trials that it did not ask for: uses them; breeds from those that come
#: through it with given parameters; takes them when it is made; nothing is known of it.
TOLD, BRED, SOURCE, UNKNOWN = "told", "bred", "source", "unknown"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sampler.

    Attributes
    ----------
    title
        Name of its class in `optuna.samplers`; "" for screening and the Sobol sequence, which
        are ours, and for a class of the user's.
    several, constrained
        Whether it takes several objectives, and honours constraints.
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

    title: str = ""
    several: bool = True
    constrained: bool = True
    learns: str = UNKNOWN
    batch: int = 20
    package: str = ""
    ahead: bool = False


#: The study's own: quasi-random designs, boxes and descents (`screening`).
SCREEN = "screen"
KINDS: Mapping[str, Kind] = {
    SCREEN: Kind(batch=64),
    "tpe": Kind("TPESampler", learns=TOLD, batch=10),
    "random": Kind("RandomSampler", batch=500, ahead=True),
    "qmc": Kind(batch=500, ahead=True),
    "cmaes": Kind("CmaEsSampler", False, False, SOURCE, 20, "cmaes"),
    "nsga2": Kind("NSGAIISampler", learns=BRED, batch=50),
    "nsga3": Kind("NSGAIIISampler", learns=BRED, batch=50),
    "gp": Kind("GPSampler", learns=TOLD, batch=5, package="torch"),
}
#: Classes of `optuna.samplers` that plain options can make.
CLASSES = (
    *("BruteForceSampler", "CmaEsSampler", "GPSampler", "GridSampler", "NSGAIIISampler"),
    *("NSGAIISampler", "QMCSampler", "RandomSampler", "TPESampler"),
)
#: `kind` of a sampler of the user's own.
OWN = "own"
#: Words in the annotation of an option that a file can give.
_PLAIN = {"int", "float", "bool", "str", "None", "Any", "dict", "list", "tuple", "Mapping"} | {
    "Sequence",
    "GridValueType",
}


@dataclass(frozen=True, slots=True)
class OwnSampler:
    """A user's sampler: where it comes from, its file's sha256, and its class.

    `make` is None where a store only describes it.
    """

    entry: str
    digest: str
    make: Callable[..., BaseSampler] | None = field(default=None, compare=False)

    def describe(self) -> dict[str, str]:
        return {"entry": self.entry, "sha256": self.digest}

    def fetched(self, trust: bool) -> "OwnSampler":
        """With its class; OwnCodeError where its file may not be run (`own_code.fetched`)."""
        if self.make is not None:
            return self
        return replace(self, make=own_code.fetched("sampler", self.entry, self.digest, trust))


def usual(results: Sequence[str], own: Sequence[str], continuous: bool) -> tuple[str, str]:
    """The sampler of a study that names none, and why.

    By what it speaks of, not by a clock: the same file is the same study everywhere.

    Parameters
    ----------
    results
        What objectives and constraints speak of beside symbols.
    own
        Those of them that are the user's metrics.
    continuous
        Whether any variable is.
    """
    if not continuous:
        return "tpe", "the variables are discrete, and there are no slopes to follow"
    slow = [name for name in results if name.partition("(")[0] in words("regime")]
    if own:
        return "tpe", f"{', '.join(own)} may take longer than a sampler does"
    if slow:
        return "tpe", f"{', '.join(slow)} of a steady regime takes as long as a sampler does"
    said = ", ".join(results) or "symbols alone"
    return SCREEN, f"{said}: evaluated in less time than a sampler takes to ask"


def own_sampler(entry: str, folder: Any = ".") -> OwnSampler:
    """A sampler that a study file names; OwnCodeError where it is unavailable."""
    found, make = own_code.loaded(entry, folder)
    return OwnSampler(found.entry, found.digest, make)


def kind_of(name: str) -> Kind:
    """A kind by its short name, its class's name, or `OWN`."""
    return KINDS.get(name) or Kind(name if name in CLASSES else "")


def made(
    name: str, seed: int, options: Mapping[str, Any], own: OwnSampler | None = None
) -> BaseSampler:
    """A sampler; `seed` goes to those that take one.

    Raises
    ------
    UsageError
        It cannot be made; the message says why.
    """
    kind = kind_of(name)
    if kind.package and importlib.util.find_spec(kind.package) is None:
        raise UsageError(
            f"The sampler {name} needs the package of that name: pip install {kind.package}."
            if name == kind.package
            else f"The sampler {name} needs a package: pip install {kind.package}.",
            ["sampler.kind"],
        )
    make = own.fetched(trust=False).make if own is not None else _class(kind.title)
    assert make is not None
    try:
        with warnings.catch_warnings():
            # For every trial anew: that NSGA-III or CMA-ES's source_trials may change.
            warnings.simplefilter("ignore", category=ExperimentalWarning)
            return make(**({"seed": seed} if "seed" in _options_of(make) else {}), **options)
    except Exception as cause:
        raise UsageError(
            f"The sampler {own.entry if own else name} cannot be made: "
            f"{type(cause).__name__}: {cause}.",
            ["sampler"],
        ) from cause


def _class(title: str) -> Callable[..., BaseSampler]:
    """A class of Optuna's; nothing but the names of `CLASSES` is looked up."""
    if title == "CmaEsSampler":
        return CmaEs
    found: Callable[..., BaseSampler] = getattr(optuna.samplers, CLASSES[CLASSES.index(title)])
    return found


@cache
def _options_of(make: Callable[..., BaseSampler]) -> dict[str, str]:
    """Annotations of a constructor's arguments: asked for every trial, found once."""
    return {name: str(one.annotation) for name, one in inspect.signature(make).parameters.items()}


def plain_options(name: str) -> list[str]:
    """Options of one of Optuna's samplers that a file can give; `seed` is none of them.

    A file gives numbers, texts and lists of them: no option of it can mean a function.
    """
    title = kind_of(name).title
    return [
        key
        for key, text in (_options_of(_class(title)) if title else {}).items()
        if key != "seed" and set(re.findall(r"\w+", text)) <= _PLAIN
    ]


def option_mistakes(name: str, options: Mapping[str, Any]) -> list[Mistake]:
    """What is wrong with options of one of Optuna's samplers in a file."""
    if not kind_of(name).title:
        return (
            [Mistake("sampler.options", f"{name} takes none")] if options and name != OWN else []
        )
    plain = plain_options(name)
    return [
        Mistake(
            f"sampler.options.{key}",
            f"{name} has no option {key!r} that a file can give"
            f"{did_you_mean(key, plain)}; there are {', '.join(plain)}",
        )
        for key in options
        if key not in plain
    ]


def mistakes(name: str, objectives: int, constraints: int) -> list[Mistake]:
    """What is wrong with asking this sampler for that."""
    if name not in (*KINDS, *CLASSES, OWN):
        known = f"{', '.join(KINDS)}; {', '.join(CLASSES)}; yours: own: file.py:Class"
        hint = did_you_mean(name, (*KINDS, *CLASSES))
        return [Mistake("sampler.kind", f"no sampler {name!r} ({known}){hint}")]
    kind, found = kind_of(name), []
    if objectives > 1 and not kind.several:
        message = f"{name} takes one objective, not {objectives}; use nsga2 or tpe."
        found.append(Mistake("sampler.kind", message))
    if constraints and not kind.constrained:
        message = f"{name} ignores constraints; use tpe or nsga2."
        found.append(Mistake("sampler.kind", message))
    return found
