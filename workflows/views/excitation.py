"""`basepar excite`: limits from words, the design as plain facts, in files and in the terminal."""

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import yaml

from basepar_core.api import load
from basepar_core.base import extend, extended_observation, nominal_observation, symbolic
from basepar_core.dynamics import Model, Motion, excitation, prepare, select
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.identification import Design, Limits, design, limits_of, measure_of
from basepar_core.mechanism import Sines
from basepar_core.texts import csv_cell, plural

from . import terminal

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
    if path is not None and path.suffix not in ENDINGS:
        raise UsageError(f"-o {path}: write FILE.yaml or FILE.csv.", ["--output"])
    model = prepare(load(options.mechanism))
    chosen = select(model.mechanism, columns)
    own = excitation(model.mechanism, model.assembled.coordinates)
    limits = _limits(model, limits_of(model, own), pairs, options.margin)
    frequency = options.frequency or _frequency(own)
    say("base parameters")
    base = extend(model, symbolic(model, seen=nominal_observation(model)), chosen)
    found = design(
        model,
        base,
        limits,
        frequency,
        criterion=options.criterion,
        harmonics=options.harmonics,
        samples=options.samples,
        columns=chosen,
        rest=options.rest,
        draws=options.random,
        starts=options.starts,
        seed=options.seed,
        say=say,
    )
    measure = measure_of(model, options.criterion)
    W = extended_observation(model, chosen).W[0][..., list(base.kept)]
    document = _document(model, found, limits, options.criterion)
    document["file"] = float(np.exp(measure(W)[0]))
    document["harmonics"], document["frequency"] = options.harmonics, frequency
    if path is not None:
        _write(model, found, path)
        document["output"] = str(path)
    return document


def _frequency(own: Motion) -> float:
    """One over the period of the file's excitation: its samples are even, the last left out."""
    return float(1 / (own.t[-1] - own.t[0] + np.median(np.diff(own.t))))


def _limits(model: Model, own: Limits, pairs: Pairs, margin: float | None) -> Limits:
    """The file's own limits with those that are given in their place."""
    names = list(model.mechanism.coordinates)
    every = [name for joint in model.mechanism.joints for name in joint.values]
    found = {
        key: getattr(own, key).copy() for key in ("lowest", "highest", "speed", "acceleration")
    }
    values: dict[str, tuple[float, float]] = {}
    for option, given in pairs.items():
        known = every if option == "range" else names
        unknown = [name for name in given if name not in known]
        if unknown:
            raise UsageError(
                f"--{option}: {', '.join(unknown)} cannot be limited; known are "
                f"{', '.join(known)}.",
                unknown,
            )
        for name, word in given.items():
            low, _, high = word.partition(":") if option == "range" else ("0", "", word)
            pair = _number(low, option), _number(high, option)
            if name not in names:
                values[name] = pair
            elif option == "range":
                found["lowest"][names.index(name)], found["highest"][names.index(name)] = pair
            else:
                found[option][names.index(name)] = pair[1]
    regularity = own.regularity if margin is None else margin
    if not 0 <= regularity < 1:
        raise UsageError(f"--margin {regularity:g} is not between 0 and 1.", ["--margin"])
    if not model.loops.blocks:
        regularity = 0.0
    return replace(own, **found, regularity=regularity, values=values)


def _number(word: str, option: str) -> float:
    try:
        return float(word)
    except ValueError:
        form = "A=LO:HI" if option == "range" else "A=NUMBER"
        raise UsageError(f"--{option}: {word!r} is no number; write {form}.", [option]) from None


def _document(model: Model, found: Design, limits: Limits, criterion: str) -> dict[str, Any]:
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
        "criterion": criterion,
        "value": found.criterion,
        "random": {
            "count": len(found.random),
            "best": min(found.random),
            "median": median(found.random),
        },
        "condition": found.condition,
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


def _write(model: Model, found: Design, path: Path) -> None:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
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
    text = as_text(found.excitation, model.mechanism.coordinates)
    path.write_text(with_excitation(model.mechanism.source, text), encoding="utf-8")


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
    rows = terminal.table("coordinate", "position", "speed", "acceleration")
    for one in facts["limits"]:
        used = {key: "free" if x is None else f"{x:.0%}" for key, x in one["used"].items()}
        rows.add_row(one["coordinate"], *used.values())
    out.print(rows)
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
