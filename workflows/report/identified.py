"""An identification as a page: torque measured and of the model, residuals, parameters.

What a raw log's columns were taken for is written here too.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.signal import welch

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.identification import Identification, Validation
from basepar_core.identification.logs import written
from basepar_core.texts import naming, plot, plural
from workflows.drawing import canvas
from workflows.jobs import LogRead
from workflows.views import base, payload

from . import html
from .html import Section, joined, paragraph, table, unit_text
from .numbers import digits
from .svg import PEN, embedded

#: Points of a curve; pieces of a record that a spectrum is the mean of.
POINTS, PIECES = 1200, 8
#: Inches of a picture's row and of its width.
ROW, WIDTH = 1.9, 9.6


def check_ending(output: Path) -> None:
    """UsageError for a file that is neither a page nor a mapping."""
    if output.suffix not in (".html", ".yaml", ".yml"):
        raise UsageError(
            f"`output={output}`: write FILE.html, a page, or FILE.yaml, the mapping of a raw "
            "log's columns.",
            ["output="],
        )


def write(
    found: Identification, facts: dict[str, Any], read: LogRead | None, output: Path
) -> Path:
    """Write the page, or what a raw log's columns were taken for.

    Parameters
    ----------
    found, facts
        The identification, and its document.
    read
        The raw log that it comes from.
    output
        FILE.html or FILE.yaml.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    UsageError
        Another ending; a mapping of a record that has titles of its own.
    """
    check_ending(output)
    if output.suffix == ".html":
        return _page(found, facts, output)
    if read is None:
        raise UsageError(
            f"`output={output}`: this record has titles of its own; only a raw log has a mapping.",
            ["output="],
        )
    with naming(output):
        output.write_text(written(read.mapping), encoding="utf-8")
    return output


def _page(found: Identification, facts: dict[str, Any], output: Path) -> Path:
    records = [("Its own record", "training", found.training)]
    if found.validation is not None:
        records.append(("The second record", "validation", found.validation))
    parts = [_torques(found, facts, *one) for one in records]
    parts += [_parameters(facts), *_payload(facts), *_notes(facts)]
    name = str(facts["mechanism"])
    head = html.header("Identification", name, [], _tiles(found, facts), parts)
    with naming(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(html.page(version("basepar"), name, head, parts), encoding="utf-8")
    return output


def _tiles(found: Identification, facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    made = [
        ("parameters", str(len(found.names)), f"method {facts['method']}"),
        ("torque error", f"{found.training.error:.2%}", "of its norm, on its own record"),
    ]
    if found.validation is not None:
        made.append(("second record", f"{found.validation.error:.2%}", "of its norm"))
    if facts["lowpass"]:
        made.append(("low-pass", f"{facts['lowpass']:g} Hz", "of torque and model"))
    return made


def _torques(
    found: Identification, facts: dict[str, Any], title: str, anchor: str, of: Validation
) -> Section:
    names = found.model.mechanism.coordinates
    units = dict(zip(names, facts["sigma_unit"].values(), strict=True))
    rows = [
        (name, f"{100 * error:.2f}", digits(float(rms)), unit_text(units[name]))
        for name, error, rms in zip(names, of.errors, of.rms, strict=True)
        if np.isfinite(error)
    ]
    label = f"Torque of {of.source} measured and of the model, and spectra of the residuals."
    picture = embedded(_figure(names, units, of), label, "curves")
    frame = Markup('<div class="frame" role="region" aria-label="{}" tabindex="0">{}</div>')
    body = joined(
        [
            paragraph(f"{of.source}: error {of.error:.2%} of the torque's norm."),
            html.figure(frame.format(title, picture), label),
            table(
                f"Errors on {of.source}",
                ["Coordinate", "#Error, %", "#RMS of the residual", "Unit"],
                rows,
            ),
        ]
    )
    return Section(anchor, title, body)


def _figure(names: tuple[str, ...], units: dict[str, str], of: Validation) -> Any:
    """A row per coordinate: curves at the left, the residual's spectrum at the right."""
    there = [k for k in range(len(names)) if np.isfinite(of.measured[k]).any()]
    figure = canvas(WIDTH, ROW * len(there) + 0.4)
    grid = figure.subplots(len(there), 2, squeeze=False, width_ratios=[3, 1.3])
    every = max(1, of.t.size // POINTS)
    for (left, right), k in zip(grid, there, strict=True):
        t, measured, model = of.t[::every], of.measured[k, ::every], of.predicted[k, ::every]
        left.plot(t, measured, color=PEN["ink"], lw=1.4, label="measured")
        left.plot(t, model, color=PEN["worst"], lw=0.9, label="model")
        left.set_ylabel(plot(f"{names[k]}, {units[names[k]]}"), fontsize=8)
        f, density = residual_spectrum(of.t, of.measured[k] - of.predicted[k])
        right.loglog(f, np.maximum(density, density.max() * 1e-8), color=PEN["accent"], lw=0.9)
        left.set_xlim(of.t[0], of.t[-1])
        for axes in (left, right):
            axes.tick_params(which="both", labelsize=7)
    grid[0, 0].legend(fontsize=7, loc="upper right", ncols=2)
    grid[0, 1].set_title(plot("residual, amplitude per √Hz"), fontsize=8)
    grid[-1, 0].set_xlabel("t, s", fontsize=8)
    grid[-1, 1].set_xlabel("frequency, Hz", fontsize=8)
    return figure


def residual_spectrum(t: Array, residual: Array) -> tuple[Array, Array]:
    """Frequencies (Hz) and amplitude density of a residual, from the lowest frequency on.

    Parameters
    ----------
    t, residual
        (sample,); uneven steps are interpolated, and where nothing was measured it is zero.
    """
    step = float(np.median(np.diff(t)))
    grid = np.arange(t[0], t[-1], step)
    even = np.interp(grid, t, np.nan_to_num(residual))
    f, power = welch(even, 1 / step, nperseg=max(16, even.size // PIECES))
    return f[1:], np.sqrt(power[1:])


def _parameters(facts: dict[str, Any]) -> Section:
    rows = [
        (
            one["parameter"],
            digits(one["value"]),
            digits(one["deviation"], 2),
            f"{digits(one['interval'][0])} to {digits(one['interval'][1])}",
            "" if one["file"] is None else digits(one["file"]),
            unit_text(one["unit"]),
        )
        for one in facts["parameters"]
    ]
    columns = ["Parameter", "#Value", "#Deviation", "#95 % interval", "#From the file", "Unit"]
    said = "Deviations are of white noise."
    if of := facts["deviations"]:
        said = f"Deviations are by resampling {of['blocks']} blocks of {of['length']:.3g} s."
    if facts["searched"]:
        found = [f"{n} {one['value']:.4g} {one['unit']}" for n, one in facts["searched"].items()]
        said += f" Searched for: {', '.join(text.strip() for text in found)}."
    title = plural(len(rows), "identified parameter")
    parts = [paragraph(said), table(title, columns, rows), *_combinations(facts)]
    return Section("parameters", "Parameters", joined(parts))


def _combinations(facts: dict[str, Any]) -> list[Markup]:
    """What each base parameter is the sum of, whole, where one is more than its parameter."""
    rows = [
        (row["parameter"], base.combination(row))
        for row in facts["base"]
        if len(row["values"]) > 0
    ]
    if not rows:
        return []
    said = (
        "What is identified are combinations: a value above that is named like a parameter is of "
        "all of this sum (SI, at the file's geometry where it has no symbols)."
    )
    return [paragraph(said), table("Base parameters as sums", ["Parameter", "Combination"], rows)]


def _payload(facts: dict[str, Any]) -> list[Section]:
    if not (of := facts.get("payload")):
        return []
    titles, rows = payload.columns(of)
    between = [
        f"{digits(one['interval'][0])} to {digits(one['interval'][1])}" for one in of["parameters"]
    ]
    between += [""] * (len(rows) - len(between))
    rows = [
        [
            row[0],
            digits(float(row[1])),
            row[2] and digits(float(row[2]), 2),
            text,
            unit_text(row[3]),
        ]
        for row, text in zip(rows, between, strict=True)
    ]
    headed = ["Parameter", "#Value", "#Deviation", "#95 % interval", "Unit"]
    said = (
        f"The load of body {of['body']}, about its frame's origin, from both records. Error with "
        f"the load, {of['record']}: {of['torque_error']:.2%} of the torque's norm; without it "
        f"{of['empty_error']:.2%}."
    )
    if of["gains"]:
        said += " Gains are factors of the torques as they were stated."
    body = [paragraph(said), table(titles[0], headed, rows)]
    if of["notes"]:
        notes = [(one["kind"], one["text"]) for one in of["notes"]]
        body.append(table("Notes on the load", ["Kind", "What"], notes))
    return [Section("payload", "Payload", joined(body))]


def _notes(facts: dict[str, Any]) -> list[Section]:
    rows = [(one["kind"], one["text"]) for one in facts["notes"]]
    if not rows:
        return []
    return [Section("diagnostics", "Diagnostics", table("Notes", ["Kind", "What"], rows))]
