"""A motion that tells base parameters apart, as plain facts and in the terminal."""

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np

from basepar_core.base import extended_observation
from basepar_core.identification import measure_of
from basepar_core.texts import plural
from workflows.jobs import Excited, excitation_section

from . import terminal


def document(of: Excited) -> dict[str, Any]:
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
        "excitation": excitation_section(found.excitation, model.mechanism.coordinates),
    }


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
    loops = (
        f"; loops {margin['least']:.3g} away from singular (allowed {margin['allowed']:.3g})"
        if margin["allowed"]
        else ""
    )
    out.print(
        f"shares of limits that are used; {plural(facts['harmonics'], 'harmonic')} of "
        f"{facts['frequency']:.4g} Hz, {plural(facts['samples'], 'sample')}; condition "
        f"{facts['condition']:.4g}{loops}"
    )
    if "output" in facts:
        out.print(f"written to {facts['output']}")
    else:
        out.print(facts["excitation"])
