"""`basepar excite`: limits from words, the design as plain facts, in files and in the terminal."""

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import yaml

from basepar_core.api import load
from basepar_core.base import extended_observation
from basepar_core.dynamics import Model, prepare
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.identification import Design, measure_of
from basepar_core.mechanism import Sines
from basepar_core.texts import csv_cell, naming, plural
from workflows.jobs import Excited, excited, with_schema

from . import terminal
from .quantities import quantity

Pairs = Mapping[str, Mapping[str, str]]
ENDINGS = (".yaml", ".yml", ".csv")


def designed(
    options: argparse.Namespace,
    pairs: Pairs,
    columns: Sequence[str],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Design a motion, write it, and say what it is.

    Raises
    ------
    UsageError
        Words that name no joint value or no number; an ending that is not known.
    """
    path = Path(options.output) if options.output else None
    if path is not None:
        check_ending(path)
    model = prepare(load(options.mechanism))
    found = excited(
        model,
        ranges={name: _interval(model, name, word) for name, word in pairs["range"].items()},
        speed={
            name: _limit(model, "speed", name, word, "/s") for name, word in pairs["speed"].items()
        },
        acceleration={
            name: _limit(model, "acceleration", name, word, "/s^2")
            for name, word in pairs["acceleration"].items()
        },
        margin=options.margin,
        frequency=options.frequency,
        columns=columns,
        criterion=options.criterion,
        harmonics=options.harmonics,
        samples=options.samples,
        rest=options.rest,
        random=options.random,
        starts=options.starts,
        seed=options.seed,
        say=say,
    )
    document = described(found)
    if path is not None:
        write(model, found.design, path)
        document["output"] = str(path)
    return document


def check_ending(path: Path) -> None:
    """UsageError for a file that is neither a mechanism's nor a table."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"`output={path}`: write FILE.yaml or FILE.csv.", ["output="])


def _limit(model: Model, option: str, name: str, word: str, per: str = "") -> float:
    """A limit of a joint value, or of its rate `per` a power of time, in SI."""
    known = {value for joint in model.mechanism.joints for value in joint.values}
    if name not in known:
        raise UsageError(
            f"`{option}=`: {name} cannot be limited; known are {', '.join(sorted(known))}.", [name]
        )
    return quantity(word, model.mechanism.value(name).unit + per, f"--{option} {name}:")


def _interval(model: Model, name: str, word: str) -> tuple[float, float]:
    low, colon, high = word.partition(":")
    if not colon:
        raise UsageError(f"`range=`: {word!r} is no interval; write {name}=LO:HI.", ["range="])
    return _limit(model, "range", name, low), _limit(model, "range", name, high)


def described(of: Excited) -> dict[str, Any]:
    """A designed motion as plain facts, beside the file's own excitation."""
    model, found, limits = of.model, of.design, of.limits
    W = extended_observation(model, of.columns).W[0][..., list(of.base.kept)]
    kinds = ("position", "speed", "acceleration")
    used = [[None if np.isnan(x) else float(x) for x in row] for row in found.used.T]
    rows = [
        {
            "coordinate": name,
            "lowest": float(limits.lowest[k]),
            "highest": float(limits.highest[k]),
            "speed": float(limits.speed[k]),
            "acceleration": float(limits.acceleration[k]),
            "used": dict(zip(kinds, used[k], strict=True)),
        }
        for k, name in enumerate(model.mechanism.coordinates)
    ]
    return {
        "mechanism": model.mechanism.name,
        "criterion": of.measure,
        "value": found.criterion,
        "random": {
            "count": len(found.random),
            "best": min(found.random),
            "median": median(found.random),
        },
        "file": float(np.exp(measure_of(model, of.measure)(W)[0])),
        "condition": found.condition,
        "harmonics": of.harmonics,
        "frequency": of.frequency,
        "samples": found.motion.t.size,
        "limits": rows,
        "margin": {"allowed": limits.regularity, "least": found.regularity},
        "excitation": as_text(found.excitation, model.mechanism.coordinates),
    }


def as_text(law: Sines, coordinates: Sequence[str]) -> str:
    """The section `excitation` of a mechanism's file."""
    lines = []
    for name, terms in zip(coordinates, law.terms, strict=True):
        sines = [f"[{', '.join(repr(float(x)) for x in evaluate(one, {}))}]" for one in terms]
        lines.append(f"    {name}: [{', '.join(sines)}]")
    (duration,) = evaluate([law.duration], {})
    return "\n".join(
        [
            "excitation:",
            "  kind: sines",
            f"  duration: {float(duration)!r} s",
            f"  samples: {law.samples}",
            "  terms:",
            *lines,
            "",
        ]
    )


def write(model: Model, found: Design, path: Path) -> None:
    """The mechanism's file with this excitation (.yaml), or its samples (.csv).

    Raises
    ------
    UsageError
        The mechanism is at other values than its file's, which its text does not state.
    """
    if path.suffix == ".csv":
        with naming(path), path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            names = model.mechanism.coordinates
            out.writerow(
                ["t", *(csv_cell(f"{name}{prime}") for name in names for prime in ("", "'", "''"))]
            )
            motion = found.motion
            states = np.stack([motion.q, motion.q_dot, motion.q_ddot], axis=1)
            rows = np.concatenate([motion.t[:, None], states.reshape(-1, motion.t.size).T], axis=1)
            out.writerows([repr(float(x)) for x in row] for row in rows)
        return
    if not model.mechanism.source:
        raise UsageError(
            f"No file states {model.mechanism.name!r}, so {path.name} cannot be that file with "
            "another excitation: write the values into a file first, or the samples as .csv.",
            [str(path)],
        )
    text = as_text(found.excitation, model.mechanism.coordinates)
    with naming(path):
        whole = with_excitation(model.mechanism.source, text)
        path.write_text(with_schema(whole, "mechanism", path.parent), encoding="utf-8")


def with_excitation(source: str, text: str) -> str:
    """A mechanism file's text with another section `excitation`."""
    top = yaml.compose(source)
    assert isinstance(top, yaml.MappingNode)
    for key, value in top.value:
        if key.value == "excitation":
            rest = source[value.end_mark.index :]
            return source[: key.start_mark.index] + text + rest.lstrip("\n")
    return source.rstrip("\n") + "\n" + text


def show(facts: Mapping[str, Any]) -> None:
    """The same for reading."""
    out, random = terminal.out, facts["random"]
    what = "condition" if facts["criterion"] == "condition" else "mean half axis of confidence"
    out.print(
        terminal.said(
            (facts["mechanism"], "bold"),
            f": {what} ",
            (f"{facts['value']:.4g}", "bold"),
            f"; best of {plural(random['count'], 'random motion')} within the limits "
            f"{random['best']:.4g} (median {random['median']:.4g}), the file's own excitation "
            f"{facts['file']:.4g}",
        )
    )
    rows = (
        (one["coordinate"], *("free" if x is None else f"{x:.0%}" for x in one["used"].values()))
        for one in facts["limits"]
    )
    out.print(terminal.table("coordinate", "position", "speed", "acceleration", rows=rows))
    margin = facts["margin"]
    out.print(
        f"shares of limits that are used; {plural(facts['harmonics'], 'harmonic')} of "
        f"{facts['frequency']:.4g} Hz, {plural(facts['samples'], 'sample')}; condition "
        f"{facts['condition']:.4g}; loops {margin['least']:.3g} away from singular (allowed "
        f"{margin['allowed']:.3g})"
    )
    if "output" in facts:
        out.print(f"written to {facts['output']}")
    else:
        out.print(facts["excitation"])
