"""What tolerances make of a design, as plain facts and in the terminal."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from basepar_core.texts import plural
from workflows.studies import StudySpec, plain, shown_units, si_units
from workflows.studies import tolerances as monte_carlo

from . import terminal
from .designs import head, in_shown_unit
from .hints import near
from .polish import say_aside
from .study import next_steps
from .terminal import out, table

#: Where the samples' deviation and that by slopes differ by so many times, slopes do not tell; of
#: fewer samples it does so by chance (three times 1/√(2 samples)).
CURVED, TELLING = 1.5, 18


def document(spec: StudySpec, found: monte_carlo.Spread) -> dict[str, Any]:
    """`basepar tolerances --json`."""
    verdict, tried = found.verdict, found.tolerances.samples
    feasible = verdict.feasible[1:]
    missed = (verdict.violations[1:] > 0).sum(axis=0)
    return {
        "store": str(found.path),
        "study": spec.store,
        "aside": str(found.aside) if found.aside else None,
        "units": si_units(spec, list(found.tolerances.half)),
        "shown_in": plain(shown_units(spec, list(found.tolerances.half))),
        "design": found.origin,
        "parameters": dict(found.design),
        "tolerances": dict(found.tolerances.half),
        "notes": _notes(spec, found, {**spec.mechanism.nominal, **found.design}),
        "shape": found.tolerances.shape,
        "samples": tried,
        "seed": found.tolerances.seed,
        "feasible": int(feasible.sum()),
        "feasible_share": float(feasible.mean()),
        "missed": {key: int(n) for key, n in zip(spec.limits, missed, strict=True)},
        "objectives": {
            line.text: _numbers(found, k, float(sign))
            for k, (line, sign) in enumerate(zip(spec.objectives, spec.signs, strict=True))
        },
    }


def _notes(spec: StudySpec, found: monte_carlo.Spread, known: Mapping[str, float]) -> list[str]:
    """Dimensions whose sign the tolerance changes, none of those that are zero by design; and
    objectives of which slopes do not tell."""
    known_well = len(found.samples) >= TELLING
    sampled = found.samples.std(axis=0) if known_well else found.predicted
    curved = [
        f"{line.text}: its samples deviate by {deviation:.3g}, slopes say {predicted:.3g} (SI): "
        "it bends within the tolerances, as about a least"
        for line, deviation, predicted in zip(
            spec.objectives, sampled, found.predicted, strict=True
        )
        if predicted > 0 and not 1 / CURVED < deviation / predicted < CURVED
    ]
    return curved + [
        f"{name} of {known[name]:.4g} lies within ± {half:.4g} (SI), so that its sign "
        "changes; is a smaller unit meant?"
        for name, half in found.tolerances.half.items()
        if half >= abs(known[name]) > 0
    ]


def _numbers(found: monte_carlo.Spread, k: int, sign: float) -> dict[str, Any]:
    values = found.samples[:, k]
    if not values.size:
        return {"nominal": float(found.verdict.values[0, k]), "closed": 0}
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    return {
        "nominal": float(found.verdict.values[0, k]),
        "closed": int(values.size),
        "mean": float(values.mean()),
        "standard_deviation": float(values.std(ddof=1)) if values.size > 1 else 0.0,
        "quantiles": {"0.05": float(low), "0.5": float(middle), "0.95": float(high)},
        "worst": float((sign * values).max() * sign),
        "predicted_standard_deviation": float(found.predicted[k]),
        "shares": dict(zip(found.tolerances.half, map(float, found.shares[k]), strict=True))
        if np.isfinite(found.shares[k]).all()
        else {},
    }


def show(facts: Mapping[str, Any]) -> None:
    """What tolerances make of a design."""
    heads = ("#nominal", "#mean", "#± deviation", "#by slopes", "#5 %", "#95 %", "#worst")
    rows = (
        (head(facts, name), *(in_shown_unit(facts, name, x) for x in spread_numbers(one)))
        for name, one in facts["objectives"].items()
        if one["closed"]
    )
    made_within = ", ".join(within(facts))
    out.print(
        f"{facts['design']}, {plural(facts['samples'], 'sample')}, {facts['shape']}: {made_within}"
    )
    for note in facts["notes"]:
        out.print(note, style="yellow")
    out.print(table("objective", *heads, rows=rows))
    share = 100 * facts["feasible_share"]
    missed = [f"{name}: {count}" for name, count in facts["missed"].items() if count]
    out.print(
        f"\n{share:.1f} % meet all constraints"
        + (f"; missed: {', '.join(missed)}" if missed else "")
    )
    for name, one in facts["objectives"].items():
        if one.get("shares"):
            order = sorted(one["shares"].items(), key=lambda pair: -pair[1])
            parts = ", ".join(f"{symbol} {100 * part:.0f} %" for symbol, part in order)
            rest = 100 * (1 - sum(one["shares"].values()))
            parts += f", several together {rest:.0f} %" if rest >= 1 else ""
            out.print(f"variance of {name}: {parts}")
    out.print(f"\nsamples are in {near(facts['store'])}")
    say_aside(facts["aside"], "samples of an earlier question")
    terminal.show_next(*next_steps(facts["study"], ("report", "pictures"), {}))


def spread_numbers(one: Mapping[str, Any]) -> list[float]:
    """Nominal, mean, deviation, the slopes' deviation, 5 %, 95 %, worst; SI."""
    deviations = (one["standard_deviation"], one["predicted_standard_deviation"])
    ends = (one["quantiles"]["0.05"], one["quantiles"]["0.95"])
    return [one["nominal"], one["mean"], *deviations, *ends, one["worst"]]


def within(facts: Mapping[str, Any]) -> list[str]:
    """Tolerances as people read them: `lx1 ± 0.5 mm`."""
    return [
        f"{name} ± {in_shown_unit(facts, name, half)} {facts['shown_in'][name]['unit']}"
        for name, half in facts["tolerances"].items()
    ]
