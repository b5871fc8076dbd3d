"""Options that several commands take, and how their words are read."""

import argparse
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from basepar_core.errors import BaseparWarning

if TYPE_CHECKING:
    from basepar_core.dynamics import Model
    from sweeps.store import Location


#: Where the work is done; `jobs.place_of` reads them.
PLACE = {
    "--cluster C laptop": "laptop (default); the name or file of a profile (SLURM, SSH, "
    "Kubernetes, see docs/profiles.md); or the address of a Dask scheduler such as tls://host:8786",
    "--workers N int": "worker processes (default: one per core, or the profile's)",
}
#: Columns of W besides the inertial ones.
COLUMNS = {
    "--with C,…": "force-law columns of W: friction, springs, dampers, a kind (viscous, coulomb, "
    "offset, rotor, stiffness, damping) or a name (A.viscous); without it only inertial "
    "parameters count",
}
#: The mechanism at other values than its file's; `model_of` reads them.
GEOMETRY = {
    "mechanism?": "a mechanism file, or the name of a shipped one; with --variant it may be left "
    "out: then the one that the store keeps",
    "--set NAME=VALUE,… append": "other values of symbols and constants, such as lx1=0.31, "
    "alpha=20deg; bare numbers in the symbol's own unit",
    "--variant STORE:N": "the values of variant N of a sweep's or a study's store; of a study "
    "also best, or 'polished 0'",
}
#: Own metrics that a store names may be run.
TRUST_METRICS = {
    "--trust-metrics": "run your own metrics that the store names, if their files are unchanged",
}
#: What it writes may take the place of files that are not basepar's.
OVERWRITE = {
    "--overwrite": "overwrite existing files, also those that basepar did not make (drawings, "
    "pages, exported code and certificates that it made are overwritten in any case)",
}


class _Given(argparse.Action):
    """Keeps the value of an option; the last of several words would hide the others.

    An option whose words stand between commas (`--noise A=S,…`) may be repeated, and keeps all.
    Of any other, a second word that differs from the first is a mistake.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = namespace.__dict__.setdefault("given", set())
        before = getattr(namespace, self.dest)
        if self.dest in given and str(self.metavar).endswith(",…"):
            values = f"{before},{values}"
        elif self.dest in given and values != before:
            raise argparse.ArgumentError(
                self, f"it is given twice, as {_words(before)} and as {_words(values)}; leave one"
            )
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def _words(values: Any) -> str:
    return " ".join(map(str, values)) if isinstance(values, list) else str(values)


#: What flags are called that are words of Python.
_CALLED = {"--with": "columns_with", "--from": "origin", "--try": "tried"}


def arguments(command: argparse.ArgumentParser, options: Mapping[str, str]) -> None:
    """Add arguments by their words.

    `store` is needed, `spec?` may be missing, `--quiet` is a switch, `-o --output FILE` takes a
    text (`_`: without a word for it), `--essential N?` one that may be missing, which makes it
    True, `--range FROM TO` two. Behind that stand, where
    there are any: a type (`--trials N int`), a default, whose type it has (`--seed N 0`),
    `required`, `append`. Of choices the first is the default, unless another stands behind them
    (`--method ols|weighted|irls weighted`).
    """
    for words, text in options.items():
        names = [word for word in words.split() if word.startswith("-")] or words.split()[:1]
        rest = words.split()[len(names) :]
        more: dict[str, Any] = {"help": text or None}
        if names[0] in _CALLED:
            more["dest"] = _CALLED[names[0]]
        if names[0].endswith("?"):
            names, more["nargs"] = [names[0][:-1]], "?"
        elif not rest and names[0].startswith("-"):
            more["action"] = "store_true"
        if names[0].startswith("-") and rest and "append" not in rest:
            more["action"] = _Given
        command.add_argument(*names, **more, **_values(rest))


def _values(words: Sequence[str]) -> dict[str, Any]:
    """How an option's values are read, from the words behind its names."""
    if not words:
        return {}
    shown = [words[0], *(word for word in words[1:] if word.isupper())]
    found: dict[str, Any] = {} if shown[0] == "_" else {"metavar": shown[0].rstrip("?")}
    if shown[0].endswith("?"):
        found |= {"nargs": "?", "const": True, "default": False}
    if "|" in shown[0]:
        choices = shown[0].split("|")
        found = {"choices": choices, "default": choices[0]}
    elif len(shown) > 1:
        found = {"metavar": tuple(shown), "nargs": len(shown)}
    for word in words[len(shown) :]:
        if word in _TYPES:
            found["type"] = _TYPES[word]
        elif word == "required":
            found["required"] = True
        elif word == "append":
            found |= {"action": "append", "default": []}
        else:
            found["default"] = _number_or_text(word)
            found["type"] = type(found["default"])
    return found


def _number_or_text(word: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(word)
    return word


def _samples(text: str) -> float | str:
    try:
        return text if text == "estimated" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, nor `estimated`") from None


def _essential(text: str) -> int | str:
    from basepar_core.identification import CHOOSERS

    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text in CHOOSERS:
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is no number from 1, nor one of {', '.join(CHOOSERS)}; what is no value of an "
        "option stands before it"
    )


_TYPES: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "samples": _samples,
    "essential": _essential,
}


def check_output(options: argparse.Namespace, *paths: "str | Location | None") -> None:
    """Do not write over what is not basepar's, before anything is computed.

    Raises
    ------
    UsageError
    """
    from workflows.jobs import check_outputs

    places = [Path(path) if isinstance(path, str) else path for path in paths if path]
    check_outputs(places, options.overwrite)


def listed(text: str | None) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def model_of(options: argparse.Namespace, uses_inertias: bool = True) -> "Model":
    """The mechanism that a command names, prepared, at the values that it asks for.

    Parameters
    ----------
    uses_inertias
        Whether to warn of inertias of the file that no body has.

    Raises
    ------
    UsageError, StoreError, AssemblyError
        The values make no sense, are in no store, or do not close.

    Warns
    -----
    BaseparWarning
        Of each body whose inertia is impossible.
    """
    model = _model_of(options)
    if uses_inertias:
        from basepar_core.dynamics import impossible_inertias, impossible_text

        for body, why in impossible_inertias(model.mechanism).items():
            warnings.warn(f"{impossible_text(body, why)}.", BaseparWarning, stacklevel=2)
    return model


def _model_of(options: argparse.Namespace) -> "Model":
    from basepar_core.api import load
    from basepar_core.dynamics import at_geometry, prepare
    from basepar_core.errors import UsageError

    variant, texts = getattr(options, "variant", None), pairs(getattr(options, "set", []), "--set")
    if options.mechanism is not None:
        mechanism = load(options.mechanism)
    elif variant is not None:
        from workflows.studies import sweep_of_store

        mechanism = sweep_of_store(variant).mechanism
    else:
        raise UsageError(
            "Name a mechanism: a file, or one of `basepar list`; or a stored variant by "
            "--variant STORE:N.",
            ["mechanism"],
        )
    if variant is None and not texts:
        return prepare(mechanism)
    from basepar_core.files import read_values, with_values

    values = {}
    if variant is not None:
        from workflows.studies import values_of

        values = values_of(mechanism, variant)
    values |= read_values(mechanism, texts)
    return at_geometry(prepare(mechanism), with_values(mechanism, values))


def pairs(texts: Sequence[str], option: str, example: str = "NAME") -> dict[str, str]:
    """NAME=WORD pairs between commas; `example` is a name that there may be.

    Raises
    ------
    UsageError
        A word without "=", or a name twice.
    """
    from basepar_core.errors import UsageError

    found: dict[str, str] = {}
    for word in (one for text in texts for one in listed(text)):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not (name and equals and value) or name in found:
            why = "is given twice" if name in found else "is not of the form NAME=VALUE"
            whose, end = (name, value) if value else (next(reversed(found), ""), name)
            low = found.get(whose, ":")
            if option == "--range" and ":" not in low and re.fullmatch(r"[-+0-9.][^:]*", end):
                why += f"; a range has a colon: write {option} {whose}={low}:{end}"
            elif not equals and not value and re.fullmatch(r"[-+0-9.].*", name):
                why += f"; write whose it is, as in {option} {example}={word.strip()}"
            elif not equals and re.fullmatch(r"[^:]+:[^:]+", word):
                why += f"; write {word.replace(':', '=')}"
            raise UsageError(f"{option}: {word!r} {why}.", [option])
        if re.search(r"\s\S+=", value):
            several = re.sub(r"\s+(?=\S+=)", ",", word)
            raise UsageError(f"{option}: {word!r} has several values; write {several}.", [option])
        found[name] = value
    return found


def wanted(model: "Model", eliminate: str | None) -> list[int] | None:
    """Indices of the parameters that --eliminate names."""
    from basepar_core.base import parameter_indices

    return parameter_indices(model.mechanism, listed(eliminate)) if eliminate else None
