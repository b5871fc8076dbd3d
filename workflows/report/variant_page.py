"""The page of one variant: drawing, spectrum, path, criteria, formulas, torques of two models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.base import number_of
from basepar_core.dynamics import Model, Motion, cycle, observe
from basepar_core.dynamics import force_columns as columns
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import Path, effective_samples, noise_levels, own_path, select
from basepar_core.symbolic import symbol_values
from basepar_core.texts import plural

from . import figures, mathml, results
from .data import Facts
from .drawings import drawings
from .fronts import rows_with_paths
from .html import Cell, Section, facts, figure, joined, key, paragraph, table, unit_text
from .model import settled
from .numbers import brief, data, digits


@dataclass(frozen=True)
class Torques:
    """A variant's torques over its cycle, by its full and by its reduced model.

    Attributes
    ----------
    motion
        The cycle.
    full, reduced
        (sample, coordinate), N or N m.
    path, values
        The path, and the criteria along it (criterion, step).
    size
        Parameters of the reduced model: where the first criterion stops.
    """

    motion: Motion
    full: np.ndarray
    reduced: np.ndarray
    path: Path
    values: np.ndarray
    size: int


def torques(found: Facts, model: Model, row: int) -> Torques | None:
    """Computed again from the variant's symbols; None where the cycle cannot be followed."""
    assert found.base is not None
    mechanism = model.mechanism
    motion = cycle(mechanism, model.assembled.coordinates)
    values = {name: np.array([x]) for name, x in found.variant_values(row).items()}
    seen = observe(model, values, motion)
    if not seen.closed[0]:
        return None
    more = columns.select(mechanism, found.further)
    seen = columns.with_columns(model, values, motion, seen, more)
    names = (*mechanism.parameter_names, *found.further)
    kept = [names.index(line["parameter"]) for line in found.lines]
    known = symbol_values(mechanism, values)
    inertial = mechanism.inertial_parameters(known).reshape(1, -1)
    further = columns.column_values(mechanism, more, known).reshape(1, -1)
    phi = np.concatenate([inertial, further], axis=1)
    asked: dict[str, Any] = found.spec["evaluate"]["reduction"]
    noise = noise_levels(mechanism, asked.get("noise", "joint"))
    path = own_path(seen.W, phi, kept, noise, seen.error, asked.get("method", "backward"))
    chosen = select(
        path,
        found.labels("criterion"),
        effective_samples(mechanism, asked.get("effective_samples")),
        noise_known=noise is not None,
        tolerance=asked["tolerance"],
    )
    size = int(chosen.size[0, 0])
    reduced = seen.W[0][..., kept] @ path.values[0, len(kept) - size]
    return Torques(motion, seen.W[0] @ phi[0], reduced, path, chosen.values[0], size)


def sections(found: Facts, row: int) -> list[Section]:
    """The parts of a variant's page; what the store or the mechanism lacks is left out."""
    made = [_summary(found, row), _formulas(found, row), _generalised(found, row)]
    spectrum = found.read("singular_values")
    if spectrum is not None and found.base is not None and np.isfinite(spectrum[row]).all():
        made.append(_spectrum(found, row, spectrum[row]))
    if row in rows_with_paths(found):
        made.append(_reduction(found, row))
        again = torques(found, found.model, row) if found.model else None
        if again is not None:
            made += [_criteria(found, again), _torque(found, again)]
    return [part for part in made if part is not None]


def _summary(found: Facts, row: int) -> Section:
    pairs: list[tuple[Cell, Cell]] = [
        (
            mathml.inline(mathml.symbol(symbol.name)),
            f"{digits(float(symbol.values[row]))} {unit_text(symbol.unit)}",
        )
        for symbol in found.symbols
    ]
    pairs += [
        (results.metric_title(m), f"{digits(float(m.values[row]))} {unit_text(m.unit)}")
        for m in found.metrics
    ]
    pairs.append(("Status", str(found.words[row])))
    body = facts(pairs)
    if found.model is not None and found.has_results[row]:
        name = f"Drawing of variant {found.variants[row]}"
        picture = drawings(found.model, [found.variant_values(row)], [name])[0]
        drawn = figure(picture, "At the start of the motion.", "nominal-drawing")
        body = Markup('<div class="swept">{}{}</div>').format(body, drawn)
    return Section("summary", "Geometry and metrics", body)


def _formulas(found: Facts, row: int) -> Section | None:
    base, values = found.base, found.read("base_parameters")
    if base is None or values is None or not np.isfinite(values[row]).all():
        return None
    largest = float(np.abs(values[row]).max())
    columns = ["", "Base parameter", "#Value", "Unit"]
    rows: list[list[Cell]] = [
        [
            str(k + 1),
            _formula(line),
            settled(float(values[row, k]), largest),
            unit_text(line["unit"]),
        ]
        for k, line in enumerate(found.lines)
    ]
    body = table("Base parameters of this variant", columns, rows, style="formulas")
    return Section("base", "Base parameters", body)


def _generalised(found: Facts, row: int) -> Section | None:
    """What the reduced models' parameters are, where the sweep kept them."""
    values, base = found.read("generalised"), found.read("base_parameters")
    if values is None or base is None or not np.isfinite(values[row]).any():
        return None
    largest = float(np.abs(base[row]).max())
    words = [results.criterion_name(found, name) for name in found.labels("criterion")]
    columns = ["Parameter", "#Full model", *(f"#{w}" for w in words)]
    rows: list[list[Cell]] = [
        [
            Markup('{} <span class="unit">{}</span>').format(
                mathml.inline(mathml.parameter(line["parameter"])), unit_text(line["unit"])
            ),
            data(float(base[row, k])),
            *(_carried(float(x), float(base[row, k]), largest) for x in values[row, :, k]),
        ]
        for k, line in enumerate(found.lines)
    ]
    note = paragraph(
        "What is left carries what the dropped parameters did over the cycle: generalised base "
        "parameters."
    )
    body = table("Parameters of the reduced models", columns, rows)
    return Section("generalised", "Generalised base parameters", note + body)


def _carried(value: float, full: float, largest: float) -> Cell:
    """φ_g, or that it was dropped; what a projection makes of a zero is rounding."""
    if not np.isfinite(value):
        return "–"
    return data(value, "≈ 0" if full == 0 and 0 < abs(value) < 1e-12 * largest else None)


def _formula(line: Mapping[str, Any]) -> Markup:
    """The combination in symbols: its numbers in the store are those of nominal geometry."""
    if "terms" in line:
        return mathml.combination(line["parameter"], line["terms"])
    return mathml.inline(mathml.parameter(line["parameter"]))


def _spectrum(found: Facts, row: int, values: np.ndarray) -> Section:
    assert found.base is not None
    spectra = figures.Spectra(
        np.empty((0, len(values))),
        {f"variant {found.variants[row]}": values},
        len(found.base["base"]),
    )
    label = f"Singular values of W; rank {number_of(found.base)} of {len(values)}."
    columns = ", inertial columns" if found.further else ""
    caption = f"Observation matrix of the excitation{columns}. Exact zeros lie on the lower edge."
    return Section(
        "spectrum", "Singular values", figure(figures.spectrum(spectra, label), caption)
    )


def _reduction(found: Facts, row: int) -> Section:
    arrays = [found.read(name) for name in ("removed", "torque_error", "selected_size")]
    picked = [array[row] for array in arrays if array is not None]
    title = "Elimination path" if results.is_elimination(found) else "Addition path"
    return Section("reduction", title, results.path_of(found, row, *picked))


def _criteria(found: Facts, again: Torques) -> Section:
    """Criteria along the path, the least of each marked."""
    names = [results.criterion_name(found, name) for name in found.labels("criterion")]
    columns = ["#Parameters", *(f"#{name}" for name in names)]
    stops = np.argmin(again.values[:, ::-1], axis=1)
    rows: list[list[Cell]] = []
    for step, size in enumerate(again.path.sizes):
        cells: list[Cell] = [str(size)]
        for k, value in enumerate(again.values[:, step]):
            error = found.labels("criterion")[k] == "tolerance"
            rounded = "≈ 0" if error and value <= figures.NO_ERROR else None
            shown = data(float(value), rounded) if np.isfinite(value) else Markup("–")
            least = size == stops[k] and not error
            cells.append(Markup("<strong>{}</strong>").format(shown) if least else shown)
        rows.append(cells)
    body = table("Criteria along the path; the least of each is bold", columns, rows)
    return Section("criteria", "Criteria", body + paragraph(_assumed(found)))


def _assumed(found: Facts) -> str:
    """The n and σ that the criteria rest on."""
    assert found.model is not None
    mechanism, asked = found.model.mechanism, found.spec["evaluate"]["reduction"]
    n = effective_samples(mechanism, asked.get("effective_samples"))
    said = f"Effective sample size n = {brief(n)}"
    noise = noise_levels(mechanism, asked.get("noise", "joint"))
    if noise is None:
        return f"{said}; no noise is stated."
    levels = [
        f"{name}\u00a0{brief(float(level))}\u00a0{_torque_unit(mechanism, name)}"
        for name, level in zip(mechanism.coordinates, noise, strict=True)
    ]
    pooled = ", pooled over the drives" if asked.get("noise") == "pooled" else ""
    return f"{said}; standard deviation of the torque's noise{pooled}: {', '.join(levels)}."


def _torque_unit(mechanism: Mechanism, name: str) -> str:
    return mechanism.value(name).effort_unit.replace(" ", "\u202f")


def _torque(found: Facts, again: Torques) -> Section:
    assert found.model is not None
    mechanism = found.model.mechanism
    parts = []
    for k, name in enumerate(mechanism.coordinates):
        off = float(np.abs(again.full[:, k] - again.reduced[:, k]).max())
        unit = _torque_unit(mechanism, name)
        what = "force" if unit == "N" else "torque"
        label = (
            f"{what.capitalize()} at {name} over the cycle by the full model and by the one of "
            f"{plural(again.size, 'parameter')}; they differ by at most {digits(off, 3)} {unit}."
        )
        title = (f"{what} at {name}", unit)
        lines = again.full[:, k], again.reduced[:, k]
        picture = figures.torque_lines(again.motion.t, *lines, title, label)
        parts.append(figure(picture, label))
    keys = joined((key("middle", "full model"), key("dashed", "reduced model")), ", ")
    return Section("torque", "Torque over the cycle", joined([*parts, paragraph(keys)]))


def title_of(found: Facts, row: int) -> str:
    """The page's title."""
    title = str(found.status["title"])
    return f"{title[:1].upper()}{title[1:]}: variant {found.variants[row]}"
