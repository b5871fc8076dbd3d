"""An identification as plain facts, and in the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.files import effort, value_units
from basepar_core.identification import Consistent, Identification, Validation, units
from basepar_core.texts import plural
from workflows.jobs import LogRead

from . import terminal
from .base import combination
from .flags import flagged


def document(
    found: Identification, standard: Mapping[str, float], read: LogRead | None = None
) -> dict[str, Any]:
    """What `basepar identify --json` prints; `read`: the raw log that it comes from."""
    fit, mechanism = found.estimate, found.model.mechanism
    names = mechanism.coordinates
    slots = value_units(mechanism.joints)
    parameters = [
        {
            "parameter": name,
            "unit": unit,
            "value": float(value),
            "deviation": float(deviation),
            "relative_deviation": float(deviation / abs(value)) if value else None,
            "interval": [float(value - half), float(value + half)],
            "file": float(stated) if np.isfinite(stated) else None,
            "off": float((value - stated) / deviation)
            if np.isfinite(stated) and deviation
            else None,
        }
        for name, unit, value, deviation, half, stated in zip(
            found.names,
            units(mechanism, found.columns, found.names),
            fit.values,
            fit.deviations,
            fit.half_widths(),
            found.stated,
            strict=True,
        )
    ]
    return {
        "mechanism": mechanism.name,
        "record": found.training.source,
        "method": found.method,
        "rows": int(fit.residual.size),
        "cutoffs": dict(zip(names, found.prepared.cutoffs, strict=False)),
        "position_noise": dict(zip(names, found.prepared.position_noise, strict=False)),
        "condition": fit.condition,
        "lowpass": found.training.lowpass,
        **_errors(found, found.training),
        "sigma": dict(zip(found.drives, map(float, fit.sigma), strict=True)),
        "sigma_unit": {
            drive: effort(slots[name]).text.replace("*", " ")
            for drive, name in zip(found.drives, names, strict=True)
        },
        "deviations": {"blocks": fit.blocks, "length": fit.block_length} if fit.blocks else None,
        "delay": found.delay,
        "searched": {name: asdict(one) for name, one in found.searched.items()},
        "parameters": parameters,
        "covariance": fit.covariance.tolist(),
        "known": dict(found.known),
        "dropped": list(found.dropped),
        "base": found.base.document()["base"],
        "eliminated": list(found.base.eliminated_names),
        "standard": dict(standard),
        "units": dict(
            zip(
                found.base.parameters,
                units(mechanism, found.columns, found.base.parameters),
                strict=True,
            )
        ),
        "validation": None if found.validation is None else _validation(found, found.validation),
        "log": None if read is None else read.document(),
        "notes": [{"kind": note.kind, "text": flagged(note.text)} for note in found.notes],
    }


def consistent(found: Identification, near: Consistent) -> dict[str, Any]:
    """Parameters that bodies can have, as `document` has them under `consistent`."""
    return {
        "distance": near.distance,
        "chance": near.chance,
        "parameters": dict(near.parameters),
        "base": dict(zip(found.base.base_names, map(float, near.base_values), strict=True)),
        "least": dict(near.least),
    }


def _errors(found: Identification, of: Validation) -> dict[str, Any]:
    """Errors of torque; None where a coordinate has no torque."""
    return {
        "relative_error": of.relative_error,
        "torque_error": of.error,
        "torque_errors": _by_name(found.model.mechanism.coordinates, of.errors),
        "drive_errors": None if of.drives is None else _by_name(found.drives, of.drive_errors),
        "unfiltered_error": of.unfiltered_error,
    }


def _by_name(names: Sequence[str], errors: Array) -> dict[str, float | None]:
    return {
        name: float(x) if np.isfinite(x) else None for name, x in zip(names, errors, strict=True)
    }


def _validation(found: Identification, second: Validation) -> dict[str, Any]:
    names = found.model.mechanism.coordinates
    return {
        "record": second.source,
        **_errors(found, second),
        "rms": dict(zip(names, map(float, second.rms), strict=True)),
        "samples": int(np.isfinite(second.measured).all(axis=0).sum()),
    }


def show(facts: Mapping[str, Any], standard: bool = False) -> None:
    """The same for reading; `standard`: with all parameters."""
    out = terminal.out
    smoothed = ", ".join(f"{name} {x:.3g} Hz" for name, x in facts["cutoffs"].items())
    out.print(
        terminal.said(
            (facts["mechanism"], "bold"),
            f" from {facts['record']}: {plural(len(facts['parameters']), 'parameter')} from "
            f"{plural(facts['rows'], 'row')}, {facts['method']}; "
            + (f"smoothed at {smoothed}" if smoothed else "rates as given"),
        )
    )
    below = terminal.show_wrong_data(facts["notes"])
    titles, lines = columns(facts)
    out.print(terminal.table(titles[0], *(f"#{x}" for x in titles[1:-1]), titles[-1], rows=lines))
    if "off by" in titles:
        out.print("off by: value less the file's, in standard deviations")
    if facts["known"]:
        said = ", ".join(f"{name} = {value:g}" for name, value in facts["known"].items())
        out.print(f"known: {said}")
    if facts["dropped"]:
        out.print(
            f"not essential, left out: {', '.join(facts['dropped'])}; the others carry what these "
            f"did, and so does the column from the file"
        )
    kinds = facts["sigma_unit"]
    noise = ", ".join(f"{name} {x:.3g} {kinds[name]}" for name, x in facts["sigma"].items())
    out.print(f"\ntorque error {_error(facts)}; noise {noise}; condition {facts['condition']:.3g}")
    if facts["validation"]:
        second = facts["validation"]
        out.print(
            f"validation on {second['record']}: torque error {_error(second)} over "
            f"{plural(second['samples'], 'sample')}"
        )
    if facts["lowpass"]:
        out.print(f"torque and model low-passed at {facts['lowpass']:g} Hz, without delay")
    if of := facts["deviations"]:
        text = f"deviations: by resampling {of['blocks']} blocks of {of['length']:.3g} s"
        out.print(f"{text}, longer than residuals follow one another")
    if facts["searched"]:
        out.print(f"searched for: {'; '.join(_searched(facts['searched']))}")
    if facts["log"]:
        _show_log(facts["log"])
    kinds = facts["units"]
    if standard:
        out.print("\nall parameters (--dependent), which give these base parameters:")
        _show_parameters(facts["standard"], kinds)
    if "consistent" in facts:
        _show_consistent(facts["consistent"], kinds)
    terminal.show_findings(below)
    if "output" in facts:
        out.print(f"written to {facts['output']}")


def _searched(facts: Mapping[str, Any]) -> list[str]:
    """What W is not linear in, a text each."""
    return [
        f"{name} {one['value']:.4g}{' ' * bool(one['unit'])}{one['unit']} ± {one['deviation']:.2g}"
        for name, one in facts.items()
    ]


def _error(facts: Mapping[str, Any]) -> str:
    """Errors in one line: over all, each, of motors, and as measured."""
    raw, motors = facts["unfiltered_error"], facts["drive_errors"]
    text = f"{facts['torque_error']:.2%} of its norm"
    if len(facts["torque_errors"]) > 1:
        text += f" ({_each(facts['torque_errors'])})"
    if motors:
        text += f", of motors' torques ({_each(motors)})"
    return text + ("" if raw is None else f", {raw:.2%} before the low-pass")


def _each(errors: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} {x:.2%}" for name, x in errors.items() if x is not None)


def _show_log(facts: Mapping[str, Any]) -> None:
    """What the columns of a raw log were taken for."""
    said = []
    for name, one in facts["mapping"].items():
        if isinstance(one, dict):
            more = [f"{key} {value}" for key, value in one.items() if key != "from"]
            said.append(f"{name} from {one['from']}" + (f" ({', '.join(more)})" if more else ""))
        elif name == "rate":
            said.append(f"{one:g} Hz")
    terminal.out.print(f"\ncolumns of the log: {'; '.join(said)}")
    if facts["reasons"]:
        terminal.out.print(f"as proposed: {'; '.join(facts['reasons'])}")


def columns(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the parameters, as sums, with their deviations and the file's values."""
    sums = {row["parameter"]: row for row in facts["base"]}
    compared = any(one["file"] is not None for one in facts["parameters"])
    titles = ["base parameter", "value", "deviation", "%"]
    titles += [*["from the file", "off by"] * compared, "unit"]
    rows = []
    for one in facts["parameters"]:
        share = one["relative_deviation"]
        cells = [
            combination(sums[one["parameter"]]),
            f"{one['value']:.6g}",
            f"{one['deviation']:.2g}",
            "" if share is None else f"{100 * share:.2g}",
        ]
        if compared:
            cells += [
                "" if one["file"] is None else f"{one['file']:.6g}",
                "" if one["off"] is None else f"{one['off']:+.1f} σ",
            ]
        rows.append([*cells, _printed(one["unit"])])
    return titles, rows


def _show_parameters(values: Mapping[str, float], kinds: Mapping[str, str]) -> None:
    rows = ((name, f"{value:.6g}", _printed(kinds[name])) for name, value in values.items())
    terminal.out.print(terminal.table("parameter", "#value", "unit", rows=rows))


def _printed(unit: str) -> str:
    return unit.replace("^2", "²")


def _show_consistent(facts: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    far, chance = facts["distance"], facts["chance"]
    terminal.out.print(
        f"\nparameters that bodies can have: {far:.2g} deviations from the estimate"
        + (f" (by chance: {chance:.1%})" if far > 0.01 else ", which is consistent itself")
    )
    _show_parameters(facts["parameters"], kinds)
